#include "predictor.h"

#include <string.h>

enum { MOST_COUNTERS = 4096, MOST_TARGETS = 256, MOST_RETURNS = 8 };

branches predicted;
static const core *where;
static uint8_t counters[MOST_COUNTERS]; // 0, 1: not taken; 2, 3: taken
static uint64_t owners[MOST_COUNTERS];
static uint64_t targets[MOST_TARGETS]; // of indirect branches
static uint64_t returns[MOST_RETURNS];
static unsigned history, top, held;

void predictor_init(const core *made_for) {
    where = made_for;
    predicted = (branches){0};
    memset(counters, 1, sizeof counters);
    memset(owners, 0, sizeof owners);
    memset(targets, 0, sizeof targets);
    history = top = held = 0;
}

static void missed(void) {
    predicted.mispredicted++;
    predicted.cycles += where->mispredicted;
}

static void conditional(uint64_t at, uint64_t to, bool taken) {
    unsigned index = (unsigned)(at >> 2 ^ history) & (where->counters - 1);
    uint8_t *counter = &counters[index];
    history = (history << 1 | taken) & ((1u << where->history_bits) - 1);
    if (where->tagged && owners[index] != at) {
        // A backward branch is expected to be taken.
        if (taken != (to < at))
            missed();
        else if (taken)
            predicted.cycles += where->static_taken;
        if (!taken)
            return;
        owners[index] = at;
        *counter = 2;
        return;
    }
    if (taken != (*counter >= 2))
        missed();
    if (taken && *counter < 3)
        ++*counter;
    else if (!taken && *counter > 0)
        --*counter;
}

// A new return address replaces the oldest one if all places are in use.
static void called(uint64_t next) {
    returns[top++ % where->returns] = next;
    if (held < where->returns)
        held++;
}

static void returned(uint64_t to) {
    if (held == 0) {
        predicted.mispredicted++;
        predicted.cycles += where->return_unknown;
        return;
    }
    held--;
    if (returns[--top % where->returns] == to) {
        predicted.cycles += where->returning;
        return;
    }
    predicted.mispredicted++;
    predicted.cycles += where->return_wrong;
}

static void indirect(uint64_t at, uint64_t to) {
    uint64_t *target = &targets[at >> 2 & (MOST_TARGETS - 1)];
    if (*target != to || where->tagged)
        missed();
    *target = to;
}

void predictor_went(ending how, uint64_t at, uint64_t next, uint64_t to) {
    switch (how) {
    case ENDING_CONDITIONAL:
        conditional(at, to, to != next);
        return;
    case ENDING_CALL:
        called(next);
        return;
    case ENDING_CALL_INDIRECT:
        if (to == next)
            return;
        called(next);
        indirect(at, to);
        return;
    case ENDING_RETURN:
        if (to != next)
            returned(to);
        return;
    case ENDING_INDIRECT:
        if (to != next)
            indirect(at, to);
        return;
    default:
        return;
    }
}
