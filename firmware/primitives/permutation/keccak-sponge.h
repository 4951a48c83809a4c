/* Sponges over Keccak-f[1600] (FIPS 202, section 4), whole lanes at a time. Include one of
     "permutation/keccak-f1600-ref.h"       portable
     "permutation/keccak-f1600-armv7m.h"    ARMv7-M assembly
     "permutation/keccak-f1600-msp430.h"    MSP430 assembly
   before. */
#ifndef KECCAK_SPONGE_H
#define KECCAK_SPONGE_H

#include "crypto.h"

enum { KECCAK_SHA3 = 0x06, KECCAK_SHAKE = 0x1f }; /* domain bits and the first bit of the padding */

typedef struct {
    keccak_lane state[25];
    uint8_t rate; /* in lanes */
    uint8_t next; /* lane to absorb into or to squeeze from */
} keccak_sponge;

static void keccak_start(keccak_sponge *s, uint8_t rate_lanes) {
    crypto_wipe(s->state, sizeof s->state);
    s->rate = rate_lanes;
    s->next = 0;
}

static void keccak_absorb(keccak_sponge *s, const uint8_t *bytes, unsigned lanes) {
    unsigned next = s->next;
    for (; lanes > 0; lanes--, bytes += 8) {
        keccak_add(s->state, next++, bytes);
        if (next == s->rate) {
            keccak_permute(s->state);
            next = 0;
        }
    }
    s->next = (uint8_t)next;
}

/* Absorbs the last bytes, fewer than 8, and pads. */
static void keccak_finish(keccak_sponge *s, uint8_t first, uint8_t second, unsigned bytes,
                          uint8_t suffix) {
    uint8_t last[8] = {first, second};
    last[bytes] = suffix;
    keccak_add(s->state, s->next, last);
    keccak_add_bit63(s->state, s->rate - 1u);
    keccak_permute(s->state);
    s->next = 0;
}

static void keccak_squeeze(keccak_sponge *s, uint8_t *bytes, unsigned lanes) {
    unsigned next = s->next;
    for (; lanes > 0; lanes--, bytes += 8) {
        if (next == s->rate) {
            keccak_permute(s->state);
            next = 0;
        }
        keccak_get(s->state, next++, bytes);
    }
    s->next = (uint8_t)next;
}

#endif
