// Models of cores: what their manuals say of pipeline, caches and branch prediction.
#ifndef ESTIMATES_CORE_H
#define ESTIMATES_CORE_H

#include "instruction.h"

typedef struct {
    unsigned issue;   // cycles until the next instruction of its slot can issue
    unsigned latency; // cycles until what it writes can be used
} cost;

// An in-order pipeline.
typedef struct {
    unsigned width; // instructions that issue in one cycle
    // Cycles sooner that an operand is needed, than where it is added: what is shifted, and what an
    // address is made of, by whether it was loaded.
    unsigned early, address, address_loaded;
    unsigned added_sooner; // cycles that a vector's product is there sooner for what adds to it
    unsigned words;        // that a transfer of many moves in a cycle
    cost costs[KINDS];
} pipeline;

typedef struct {
    unsigned bytes, ways;
    bool random; // replaces any line of a set; else the one that was used longest ago
} cache;

typedef struct {
    const char *name;
    const char *target; // QEMU's name of what it executes
    instruction (*decode)(uint32_t code);
    // Null where the pipeline is modelled elsewhere: the plugin then gives blocks and their order.
    const pipeline *pipeline;
    unsigned line_bytes;
    cache instructions, data, l2;
    unsigned l2_cycles, memory_cycles;
    // Directions of conditional branches: counters of two bits, found by address and by the last
    // directions.
    unsigned counters, history_bits;
    bool tagged;      // a counter is one branch's own; one that has none goes as static prediction
    unsigned returns; // addresses that are kept of calls
    // Cycles beside a branch's issue.
    unsigned mispredicted, static_taken;
    // The same of returns, by what was kept of their calls: the right address, a wrong one, none.
    unsigned returning, return_wrong, return_unknown;
} core;

const core *core_named(const char *name);

// Cycles of a stretch of code that runs from its first instruction to its last.
unsigned core_cycles(const pipeline *where, const instruction *code, unsigned count);

#endif
