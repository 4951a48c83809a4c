/* Nothing survives a restart, so every boot counts as the first. A mote that restarts needs a new
   secret and a new seed; otherwise it sends the same values again under the same keys. */
#ifndef BOOTS_H
#define BOOTS_H

#include <stdint.h>

enum { BOOTS_MAX = 1 };

static inline uint16_t boots_count(void) {
    return 1;
}

static inline uint16_t boots_count_again(void) {
    return 1;
}

#define BOOTS_FLOOR_MAX ((1ul << 30) - 1)

static inline uint32_t boots_floor(void) {
    return 0;
}

static inline void boots_raise_floor(uint32_t floor) {
    (void)floor;
}

#endif
