#include "boots.h"
#include "kept.h"

/* A floor is stored as two records, one for each half. Each holds its half plus one, because 0
   means no record. */
enum { HALF_BITS = 15, HALF = 0x7fff, FLOORS = KEPT_RECORDS / 2 };

/* Optimised for size: this runs once every few minutes. */
#define SHORT __attribute__((noinline)) static

SHORT uint32_t floor_at(unsigned at) {
    uint16_t high = kept_read(2 * at), low = kept_read(2 * at + 1);
    if (high == 0 || low == 0)
        return 0;
    return (uint32_t)(high - 1) << HALF_BITS | (low - 1);
}

/* Returns the highest floor, which is the last one written, and the place after it. */
SHORT uint32_t last(unsigned *after) {
    uint32_t floor = 0;
    *after = 0;
#pragma GCC unroll 1
    for (unsigned i = 0; i < FLOORS; i++) {
        uint32_t one = floor_at(i);
        if (one > floor) {
            floor = one;
            *after = i + 1;
        }
    }
    return floor;
}

uint32_t boots_floor(void) {
    unsigned at;
    return last(&at);
}

/* Places are used in the same order as in boots_count_again. */
void boots_raise_floor(uint32_t floor) {
    unsigned at, place;
    (void)last(&at);
    unsigned end = at + FLOORS / 2;
#pragma GCC unroll 1
    do {
        while (floor > BOOTS_FLOOR_MAX || at == end)
            continue;
        place = at++ % FLOORS;
        if (place % (FLOORS / 2) == 0)
            kept_erase(2 * place);
        kept_write(2 * place, (uint16_t)((floor >> HALF_BITS) + 1));
        kept_write(2 * place + 1, (uint16_t)((floor & HALF) + 1));
    } while (floor_at(place) != floor);
}
