/* The hashes of SLH-DSA with SHAKE256: FIPS 205, section 11.1. Include
   "permutation/keccak-sponge.h" before. */
#ifndef SLHDSA_SHAKE_H
#define SLHDSA_SHAKE_H

#include "slhdsa-sizes.h"

enum { LANE = 8, RATE_LANES = 17, DIGEST_ROOM = (DIGEST_BYTES + LANE - 1) / LANE * LANE };

/* What is hashed: the public seed, an address (section 4.2) and an input of up to two hashes. Of
   the address's parts where the bytes lie that are not always zero. */
enum {
    LAYER = N + 3,
    TREE = N + 8,
    TYPE = N + 19,
    KEY_PAIR = N + 20,
    HEIGHT = N + 24,
    INDEX = N + 28,
    INPUT = N + 32
};

typedef struct {
    uint8_t block[INPUT + 2 * N];
    uint8_t lanes;
} hashes;

static void begin(hashes *h, const uint8_t *seed) {
    copy(h->block, seed, N);
    for (unsigned i = N; i < INPUT; i++)
        h->block[i] = 0;
}

/* States that an input of some hashes follows. */
static void pad(hashes *h, unsigned count) {
    h->lanes = (uint8_t)((INPUT + N * count) / LANE);
}

/* The result may lie in the block. */
static void hash(hashes *h, uint8_t *out) {
    keccak_sponge s;
    keccak_start(&s, RATE_LANES);
    keccak_absorb(&s, h->block, h->lanes);
    keccak_finish(&s, 0, 0, 0, KECCAK_SHAKE);
    keccak_squeeze(&s, out, N / LANE);
}

/* A hash of bytes that are added one by one. */
typedef struct {
    keccak_sponge sponge;
    uint8_t lane[LANE];
    uint8_t held;
} many;

static void add_many(many *s, const uint8_t *data, size_t length) {
    for (; length > 0; length--) {
        s->lane[s->held++] = *data++;
        if (s->held == LANE) {
            keccak_absorb(&s->sponge, s->lane, 1);
            s->held = 0;
        }
    }
}

static void start(many *s) {
    keccak_start(&s->sponge, RATE_LANES);
    s->held = 0;
}

static void end(many *s, uint8_t *out, unsigned lanes) {
    for (unsigned i = s->held; i < LANE; i++)
        s->lane[i] = i == s->held ? KECCAK_SHAKE : 0;
    keccak_add(s->sponge.state, s->sponge.next, s->lane);
    keccak_add_bit63(s->sponge.state, RATE_LANES - 1);
    keccak_permute(s->sponge.state);
    s->sponge.next = 0;
    keccak_squeeze(&s->sponge, out, lanes);
}

/* T_l, the hash of many. */
static void start_many(many *s, const hashes *h) {
    start(s);
    add_many(s, h->block, INPUT);
}

static void end_many(many *s, uint8_t *out) {
    end(s, out, N / LANE);
}

static const uint8_t pure_empty[2] = {0, 0};

/* H_msg of a message with an empty context (algorithm 24, line 9). */
static void digest_message(uint8_t digest[DIGEST_ROOM], const uint8_t *randomizer,
                           const uint8_t *public_key, const uint8_t *message, size_t length) {
    many s;
    start(&s);
    add_many(&s, randomizer, N);
    add_many(&s, public_key, SLHDSA_PUBLIC_BYTES);
    add_many(&s, pure_empty, sizeof pure_empty);
    add_many(&s, message, length);
    end(&s, digest, DIGEST_ROOM / LANE);
}

/* PRF_msg, of a message with an empty context. */
static inline void make_randomizer(uint8_t *randomizer, const uint8_t *key, const uint8_t *random,
                                   const uint8_t *message, size_t length) {
    many s;
    start(&s);
    add_many(&s, key, N);
    add_many(&s, random, N);
    add_many(&s, pure_empty, sizeof pure_empty);
    add_many(&s, message, length);
    end(&s, randomizer, N / LANE);
    crypto_wipe(&s, sizeof s);
}

#endif
