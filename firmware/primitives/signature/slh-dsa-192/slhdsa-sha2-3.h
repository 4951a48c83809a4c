/* The hashes of SLH-DSA with SHA-2 in category 3: FIPS 205, section 11.2.2. One value is hashed by
   SHA-256, all else by SHA-512. */
#ifndef SLHDSA_SHA2_3_H
#define SLHDSA_SHA2_3_H

#include "sha256.h"
#include "sha512.h"
#include "signature/slh-dsa/slhdsa-sizes.h"

enum { DIGEST_ROOM = SHA512_DIGEST_BYTES }; /* one hash is enough for it */
_Static_assert((int)DIGEST_BYTES <= (int)SHA512_DIGEST_BYTES, "H_msg takes several hashes");

/* A compressed address (section 11.2): where its parts lie, and the input behind it. */
enum { LAYER = 0, TREE = 1, TYPE = 9, KEY_PAIR = 10, HEIGHT = 14, INDEX = 18, INPUT = 22 };

/* Hashes under a public seed: the seed and the zeros after it are one block of either hash, which
   is compressed once. The address and an input of one or two values are another, padded. */
typedef struct {
    uint32_t seeded[8];
    uint64_t seeded_512[8];
    uint8_t block[SHA512_BLOCK_BYTES];
    uint8_t is_pair;
} hashes;

static void begin(hashes *h, const uint8_t *seed) {
    sha256_ctx s;
    sha512_ctx t;
    sha256_init(&s);
    sha512_init(&t);
    copy(h->block, seed, N);
    for (unsigned i = N; i < sizeof h->block; i++)
        h->block[i] = 0;
    sha256_compress(s.state, h->block, 1);
    sha512_compress(t.h, h->block);
    for (unsigned i = 0; i < 8; i++) {
        h->seeded[i] = s.state[i];
        h->seeded_512[i] = t.h[i];
    }
}

/* Pads the block after an input of one or two values. */
static void pad(hashes *h, unsigned count) {
    h->is_pair = count == 2;
    unsigned size = h->is_pair ? SHA512_BLOCK_BYTES : SHA256_BLOCK_BYTES;
    unsigned at = INPUT + N * count, bits = 8 * (size + at);
    h->block[at++] = 0x80;
    for (; at < size - 2; at++)
        h->block[at] = 0;
    h->block[at++] = (uint8_t)(bits >> 8);
    h->block[at] = (uint8_t)bits;
}

static void put_64(uint8_t *to, uint64_t number) {
    put_32(to, (uint32_t)(number >> 32));
    put_32(to + 4, (uint32_t)number);
}

/* Hashes the padded block; the result may lie in it. */
static void hash(hashes *h, uint8_t *out) {
    if (h->is_pair) {
        uint64_t state[8];
        for (unsigned i = 0; i < 8; i++)
            state[i] = h->seeded_512[i];
        sha512_compress(state, h->block);
        for (unsigned i = 0; i < N / 8; i++)
            put_64(out + 8 * i, state[i]);
        return;
    }
    uint32_t state[8];
    for (unsigned i = 0; i < 8; i++)
        state[i] = h->seeded[i];
    sha256_compress(state, h->block, 1);
    for (unsigned i = 0; i < N / 4; i++)
        put_32(out + 4 * i, state[i]);
}

/* T_l, the hash of many: inputs are added one by one. */
typedef sha512_ctx many;

static void start_many(many *s, const hashes *h) {
    for (unsigned i = 0; i < 8; i++)
        s->h[i] = h->seeded_512[i];
    s->length = SHA512_BLOCK_BYTES;
    sha512_update(s, h->block, INPUT);
}

static void add_many(many *s, const uint8_t *data, size_t length) {
    sha512_update(s, data, length);
}

static void end_many(many *s, uint8_t *out) {
    uint8_t digest[SHA512_DIGEST_BYTES];
    sha512_final(s, digest);
    copy(out, digest, N);
}

static const uint8_t pure_empty[2] = {0, 0};

/* H_msg of a message with an empty context (algorithm 24, line 9). */
static void digest_message(uint8_t digest[DIGEST_ROOM], const uint8_t *randomizer,
                           const uint8_t *public_key, const uint8_t *message, size_t length) {
    static const uint8_t first[4] = {0};
    sha512_ctx s;
    sha512_init(&s);
    sha512_update(&s, randomizer, N);
    sha512_update(&s, public_key, SLHDSA_PUBLIC_BYTES);
    sha512_update(&s, pure_empty, sizeof pure_empty);
    sha512_update(&s, message, length);
    sha512_final(&s, digest);
    sha512_init(&s);
    sha512_update(&s, randomizer, N);
    sha512_update(&s, public_key, N);
    sha512_update(&s, digest, SHA512_DIGEST_BYTES);
    sha512_update(&s, first, sizeof first);
    sha512_final(&s, digest);
}

/* PRF_msg: HMAC with SHA-512 under SK.prf, of a message with an empty context. */
static inline void make_randomizer(uint8_t *randomizer, const uint8_t *key, const uint8_t *random,
                                   const uint8_t *message, size_t length) {
    uint8_t block[SHA512_BLOCK_BYTES], digest[SHA512_DIGEST_BYTES];
    sha512_ctx s;
    for (unsigned i = 0; i < sizeof block; i++)
        block[i] = (i < N ? key[i] : 0) ^ 0x36;
    sha512_init(&s);
    sha512_update(&s, block, sizeof block);
    sha512_update(&s, random, N);
    sha512_update(&s, pure_empty, sizeof pure_empty);
    sha512_update(&s, message, length);
    sha512_final(&s, digest);
    for (unsigned i = 0; i < sizeof block; i++)
        block[i] ^= 0x36 ^ 0x5c;
    sha512_init(&s);
    sha512_update(&s, block, sizeof block);
    sha512_update(&s, digest, sizeof digest);
    sha512_final(&s, digest);
    copy(randomizer, digest, N);
    crypto_wipe(block, sizeof block);
    crypto_wipe(&s, sizeof s);
}

#endif
