/* The hashes of SLH-DSA with SHA-256: FIPS 205, section 11.2.1. */
#ifndef SLHDSA_SHA2_H
#define SLHDSA_SHA2_H

#include "sha256.h"
#include "slhdsa-sizes.h"

enum { DIGEST_ROOM = SHA256_DIGEST_BYTES + DIGEST_BYTES }; /* it is written a hash at a time */

/* A compressed address (FIPS 205, section 11.2): where its parts lie, and the input behind it. */
enum { LAYER = 0, TREE = 1, TYPE = 9, KEY_PAIR = 10, HEIGHT = 14, INDEX = 18, INPUT = 22 };

/* Hashes under a public seed: the seed and the zeros after it are one block (section 11.2.1), which
   is compressed once. The address and an input of up to two hashes are another, padded. */
typedef struct {
    uint32_t seeded[8];
    uint8_t block[SHA256_BLOCK_BYTES];
} hashes;

static void begin(hashes *h, const uint8_t *seed) {
    sha256_ctx s;
    sha256_init(&s);
    copy(h->block, seed, N);
    for (unsigned i = N; i < SHA256_BLOCK_BYTES; i++)
        h->block[i] = 0;
    sha256_compress(s.state, h->block, 1);
    for (unsigned i = 0; i < 8; i++)
        h->seeded[i] = s.state[i];
}

/* Pads the block after an input of some hashes. */
static void pad(hashes *h, unsigned count) {
    unsigned at = INPUT + N * count, bits = 8 * (SHA256_BLOCK_BYTES + at);
    h->block[at++] = 0x80;
    for (; at < SHA256_BLOCK_BYTES - 2; at++)
        h->block[at] = 0;
    h->block[at++] = (uint8_t)(bits >> 8);
    h->block[at] = (uint8_t)bits;
}

/* Hashes the padded block; the result may lie in it. */
static void hash(hashes *h, uint8_t *out) {
    uint32_t state[8];
    for (unsigned i = 0; i < 8; i++)
        state[i] = h->seeded[i];
    sha256_compress(state, h->block, 1);
    for (unsigned i = 0; i < N / 4; i++)
        put_32(out + 4 * i, state[i]);
}

/* T_l, the hash of many (section 11.2.1): inputs are added one by one. */
typedef sha256_ctx many;

static void start_many(many *s, const hashes *h) {
    for (unsigned i = 0; i < 8; i++)
        s->state[i] = h->seeded[i];
    s->length = SHA256_BLOCK_BYTES;
    sha256_update(s, h->block, INPUT);
}

static void add_many(many *s, const uint8_t *data, size_t length) {
    sha256_update(s, data, length);
}

static void end_many(many *s, uint8_t *out) {
    uint8_t digest[SHA256_DIGEST_BYTES];
    sha256_final(s, digest);
    copy(out, digest, N);
}

/* H_msg (section 11.2.1) of a message with an empty context (algorithm 24, line 9). */
static void digest_message(uint8_t digest[DIGEST_ROOM], const uint8_t *randomizer,
                           const uint8_t *public_key, const uint8_t *message, size_t length) {
    static const uint8_t pure_empty[2] = {0, 0};
    uint8_t inner[SHA256_DIGEST_BYTES], counter[4] = {0};
    sha256_ctx s;
    sha256_init(&s);
    sha256_update(&s, randomizer, N);
    sha256_update(&s, public_key, SLHDSA_PUBLIC_BYTES);
    sha256_update(&s, pure_empty, sizeof pure_empty);
    sha256_update(&s, message, length);
    sha256_final(&s, inner);
    for (unsigned at = 0; at < DIGEST_BYTES; at += SHA256_DIGEST_BYTES, counter[3]++) {
        sha256_init(&s);
        sha256_update(&s, randomizer, N);
        sha256_update(&s, public_key, N);
        sha256_update(&s, inner, sizeof inner);
        sha256_update(&s, counter, sizeof counter);
        sha256_final(&s, digest + at);
    }
}

/* PRF_msg (section 11.2.1): HMAC with SHA-256 under SK.prf, of a message with an empty context. */
static inline void make_randomizer(uint8_t *randomizer, const uint8_t *key, const uint8_t *random,
                                   const uint8_t *message, size_t length) {
    static const uint8_t pure_empty[2] = {0, 0};
    uint8_t block[SHA256_BLOCK_BYTES], digest[SHA256_DIGEST_BYTES];
    sha256_ctx s;
    for (unsigned i = 0; i < sizeof block; i++)
        block[i] = (i < N ? key[i] : 0) ^ 0x36;
    sha256_init(&s);
    sha256_update(&s, block, sizeof block);
    sha256_update(&s, random, N);
    sha256_update(&s, pure_empty, sizeof pure_empty);
    sha256_update(&s, message, length);
    sha256_final(&s, digest);
    for (unsigned i = 0; i < sizeof block; i++)
        block[i] ^= 0x36 ^ 0x5c;
    sha256_init(&s);
    sha256_update(&s, block, sizeof block);
    sha256_update(&s, digest, sizeof digest);
    sha256_final(&s, digest);
    copy(randomizer, digest, N);
    crypto_wipe(block, sizeof block);
    crypto_wipe(&s, sizeof s);
}

#endif
