// Models of cores: pipeline, caches and branch prediction, from their manuals.
#ifndef ESTIMATES_CORE_H
#define ESTIMATES_CORE_H

#include "instruction.h"

typedef struct {
    unsigned issue;   // cycles until the next instruction can issue in its slot
    unsigned latency; // cycles until its result can be used
} cost;

// An in-order pipeline.
typedef struct {
    unsigned width; // instructions that issue in one cycle
    // How many cycles before the adding stage operands are needed: shifted ones, and addresses, the
    // latter by whether they were loaded.
    unsigned early, address, address_loaded;
    unsigned added_sooner; // how much earlier a vector product is available as an addend
    unsigned words;        // words per cycle of a multiple transfer
    cost costs[KINDS];
} pipeline;

typedef struct {
    unsigned bytes, ways;
    bool random; // random replacement; else least recently used
} cache;

typedef struct {
    const char *name;
    const char *target; // QEMU's name for the architecture it executes
    instruction (*decode)(uint32_t code);
    // Null if the pipeline is modelled elsewhere: the plugin then writes blocks and their order.
    const pipeline *pipeline;
    unsigned line_bytes;
    cache instructions, data, l2;
    unsigned l2_cycles, memory_cycles;
    // Prediction of conditional branches: two-bit counters, indexed by address and recent
    // directions.
    unsigned counters, history_bits;
    bool tagged;      // a counter belongs to one branch; branches without one use static prediction
    unsigned returns; // return addresses that are remembered
    // Cycles in addition to a branch's issue.
    unsigned mispredicted, static_taken;
    // The same for returns, by the remembered address: right, wrong, or none.
    unsigned returning, return_wrong, return_unknown;
} core;

const core *core_named(const char *name);

// Returns the cycles of a stretch of code that runs from its first instruction to its last.
unsigned core_cycles(const pipeline *where, const instruction *code, unsigned count);

#endif
