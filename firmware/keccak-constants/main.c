/* The designers' reference implementation of Keccak computes the constants of iota and the offsets
   of rho every time it initialises a state (Keccak Code Package, KeccakP1600_StaticInitialize).
   This program times that computation between the marker's edges and reports on the serial line
   whether the results are those of FIPS 202. */
#include <stdbool.h>

#include "hal.h"
#include "permutation/keccak-tables.h"

static uint64_t made_constants[24];
static uint8_t made_offsets[25];

/* FIPS 202, section 3.2.5: the LFSR of algorithm 5, one bit at a time. */
static uint8_t next_bit(uint8_t *lfsr) {
    uint8_t bit = *lfsr & 1;
    *lfsr = (uint8_t)(*lfsr << 1 ^ (*lfsr & 0x80 ? 0x71 : 0));
    return bit;
}

static void make_constants(void) {
    uint8_t lfsr = 1;
    for (uint8_t round = 0; round < 24; round++) {
        made_constants[round] = 0;
        for (uint8_t j = 0; j <= 6; j++) {
            if (next_bit(&lfsr))
                made_constants[round] ^= (uint64_t)1 << ((1u << j) - 1);
        }
    }
}

/* FIPS 202, section 3.2.2: the offset of the t-th lane of the walk is (t + 1)(t + 2) / 2. */
static void make_offsets(void) {
    unsigned x = 1, y = 0;
    made_offsets[0] = 0;
    for (unsigned t = 0; t < 24; t++) {
        made_offsets[x + 5 * y] = (uint8_t)((t + 1) * (t + 2) / 2 % 64);
        unsigned next = (2 * x + 3 * y) % 5;
        x = y;
        y = next;
    }
}

static bool is_right(void) {
    unsigned lane = 1;
    for (unsigned i = 0; i < 24; i++) {
        if (made_constants[i] != round_constants[i] || made_offsets[lane] != rho_offset[i])
            return false;
        lane = pi_lane[i];
    }
    return made_offsets[0] == 0;
}

int main(void) {
    hal_init();
    hal_marker_high();
    make_constants();
    make_offsets();
    hal_marker_low();
    for (const char *text = is_right() ? "right " : "wrong "; *text != 0; text++)
        hal_serial_write((uint8_t)*text);
    hal_serial_write(0);
    for (;;)
        continue;
}
