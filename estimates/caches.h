// Levels of caches: which lines they hold, and how often one was missing.
#ifndef ESTIMATES_CACHES_H
#define ESTIMATES_CACHES_H

#include "core.h"

enum { MOST_LINES = 16384 };

typedef struct level {
    uint64_t misses;
    struct level *below; // of which a line that is missing is asked
    unsigned ways, mask;
    bool random;                // which line is replaced; else the one that was used longest ago
    uint64_t lines[MOST_LINES]; // of each set the ways, the last used first; 0: none
} level;

void level_init(level *made, cache of, unsigned line_bytes, level *below);

void level_search(level *in, uint64_t *set, uint64_t line);

// Lines count from 1. The one that was used last in its set is found at once.
static inline void level_use(level *in, uint64_t line) {
    uint64_t *set = &in->lines[(line & in->mask) * in->ways];
    if (set[0] != line)
        level_search(in, set, line);
}

#endif
