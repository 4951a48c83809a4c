// Prediction of branches, and how often it fails.
#ifndef ESTIMATES_PREDICTOR_H
#define ESTIMATES_PREDICTOR_H

#include "core.h"
#include "ending.h"

typedef struct {
    uint64_t mispredicted;
    uint64_t cycles; // that branches took beside their issue
} branches;

void predictor_init(const core *made_for);

// A block went on to another.
//
// Args: how it ended, the addresses of its last instruction, of what follows it in memory, and of
// where it went.
void predictor_went(ending how, uint64_t at, uint64_t next, uint64_t to);

extern branches predicted;

#endif
