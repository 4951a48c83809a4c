// Branch prediction, and how often it fails.
#ifndef ESTIMATES_PREDICTOR_H
#define ESTIMATES_PREDICTOR_H

#include "core.h"
#include "ending.h"

typedef struct {
    uint64_t mispredicted;
    uint64_t cycles; // cycles of branches in addition to their issue
} branches;

void predictor_init(const core *made_for);

// Records that one block went on to another.
//
// Args: how it ended; the addresses of its last instruction, of the code after it in memory, and of
// the next block.
void predictor_went(ending how, uint64_t at, uint64_t next, uint64_t to);

extern branches predicted;

#endif
