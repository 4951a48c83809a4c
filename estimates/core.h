// In-order cores, as their manuals describe their pipelines.
#ifndef ESTIMATES_CORE_H
#define ESTIMATES_CORE_H

#include "a32.h"

typedef struct {
    unsigned issue;   // cycles until the next instruction of its slot can issue
    unsigned latency; // cycles until what it writes can be used
} cost;

typedef struct {
    const char *name;
    unsigned width; // instructions that issue in one cycle
    // Cycles sooner that an operand is needed, than where it is added: what is shifted, and what an
    // address is made of, by whether it was loaded.
    unsigned early, address, address_loaded;
    unsigned words;        // that a transfer of many moves in a cycle
    unsigned taken_branch; // cycles that a branch costs beside its issue, where predicted
    unsigned returning;    // the same where it goes to what a register holds
    cost costs[KINDS];
    // Cache and memory.
    unsigned line_bytes, l1_bytes, l1_ways, l2_bytes, l2_ways;
    unsigned l2_cycles, memory_cycles;
} core;

const core *core_named(const char *name);

// Cycles of a stretch of code that runs from its first instruction to its last.
unsigned core_cycles(const core *where, const instruction *code, unsigned count);

#endif
