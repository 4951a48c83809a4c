#include "caches.h"

#include <string.h>

void level_init(level *made, cache of, unsigned line_bytes, level *below) {
    memset(made, 0, sizeof *made);
    made->below = below;
    made->ways = of.ways;
    made->mask = of.bytes / of.ways / line_bytes - 1;
    made->random = of.random;
}

// xorshift (Marsaglia 2003), the same sequence in each run.
static unsigned drawn(void) {
    static uint32_t state = 1;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

// Valid lines come before empty ones. Beyond that, the order is meaningless if lines are replaced
// at random.
void level_search(level *in, uint64_t *set, uint64_t line) {
    unsigned last = in->ways - 1, way = 1;
    while (way <= last && set[way] != line)
        way++;
    bool found = way <= last;
    if (!found)
        way = in->random && set[last] != 0 ? drawn() % in->ways : last;
    memmove(set + 1, set, way * sizeof *set);
    set[0] = line;
    if (found)
        return;
    in->misses++;
    if (in->below != NULL)
        level_use(in->below, line);
}
