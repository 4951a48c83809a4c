// Levels of caches: the lines they hold, and how often one was missing.
#ifndef ESTIMATES_CACHES_H
#define ESTIMATES_CACHES_H

#include "core.h"

enum { MOST_LINES = 16384 };

typedef struct level {
    uint64_t misses;
    struct level *below; // the next level, searched after a miss
    unsigned ways, mask;
    bool random;                // replacement: random, else least recently used
    uint64_t lines[MOST_LINES]; // the ways of each set, most recently used first; 0: empty
} level;

void level_init(level *made, cache of, unsigned line_bytes, level *below);

void level_search(level *in, uint64_t *set, uint64_t line);

// Lines count from 1. The most recently used line of a set is found at once.
static inline void level_use(level *in, uint64_t line) {
    uint64_t *set = &in->lines[(line & in->mask) * in->ways];
    if (set[0] != line)
        level_search(in, set, line);
}

#endif
