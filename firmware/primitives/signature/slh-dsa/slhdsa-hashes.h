/* The hashes of SLH-DSA with SHA-256 (FIPS 205, section 11.2.1), and what verification and signing
   have in common. */
#ifndef SLHDSA_HASHES_H
#define SLHDSA_HASHES_H

#include "sha256.h"
#include "slhdsa.h"

enum {
    N = SLHDSA_N,
    CHAINS = SLHDSA_CHAINS,
    DIGITS = 2 * N, /* of 4 bits, of what a one-time signature signs; the others are a checksum's */
    LAYER_HEIGHT = SLHDSA_H / SLHDSA_D,
    FORS_BYTES = (SLHDSA_K * SLHDSA_A + 7) / 8, /* of the message's digest */
    TREE_BYTES = (SLHDSA_H - LAYER_HEIGHT + 7) / 8,
    LEAF_BYTES = (LAYER_HEIGHT + 7) / 8,
    DIGEST_BYTES = FORS_BYTES + TREE_BYTES + LEAF_BYTES
};

/* A compressed address (FIPS 205, section 11.2): where its parts lie. */
enum { LAYER = 0, TREE = 1, TYPE = 9, KEY_PAIR = 10, HEIGHT = 14, INDEX = 18, ADDRESS_BYTES = 22 };
enum { CHAIN = HEIGHT, STEP = INDEX }; /* of a one-time signature's hashes */

/* Types of addresses (section 4.2, table 1). */
enum {
    WOTS_HASH = 0,
    WOTS_PK = 1,
    TREE_NODE = 2,
    FORS_TREE = 3,
    FORS_ROOTS = 4,
    WOTS_PRF = 5,
    FORS_PRF = 6
};

/* Hashes under a public seed: the seed and the zeros after it are one block (section 11.2.1), which
   is compressed once. The address and an input of up to two hashes are another, padded. */
typedef struct {
    uint32_t seeded[8];
    uint8_t block[SHA256_BLOCK_BYTES];
} hashes;

static void put_32(uint8_t *to, uint32_t number) {
    for (unsigned i = 4; i-- > 0; number >>= 8)
        to[i] = (uint8_t)number;
}

static void copy(uint8_t *to, const uint8_t *from, unsigned length) {
    for (unsigned i = 0; i < length; i++)
        to[i] = from[i];
}

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

/* Sets an address's type, and what follows it to the number of a key pair and zeros. */
static void set_type(hashes *h, unsigned type, uint32_t key_pair) {
    h->block[TYPE] = (uint8_t)type;
    put_32(h->block + KEY_PAIR, key_pair);
    put_32(h->block + HEIGHT, 0);
    put_32(h->block + INDEX, 0);
}

/* Pads the block after an input of some hashes. */
static void pad(hashes *h, unsigned count) {
    unsigned at = ADDRESS_BYTES + N * count, bits = 8 * (SHA256_BLOCK_BYTES + at);
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

/* Begins T_l, the hash of many: further inputs are added by sha256_update. */
static void start_many(sha256_ctx *s, const hashes *h) {
    for (unsigned i = 0; i < 8; i++)
        s->state[i] = h->seeded[i];
    s->length = SHA256_BLOCK_BYTES;
    sha256_update(s, h->block, ADDRESS_BYTES);
}

static void end_many(sha256_ctx *s, uint8_t *out) {
    uint8_t digest[SHA256_DIGEST_BYTES];
    sha256_final(s, digest);
    copy(out, digest, N);
}

/* H_msg (section 11.2.1) of a message with an empty context (algorithm 24, line 9). */
static void digest_message(uint8_t digest[SHA256_DIGEST_BYTES + DIGEST_BYTES],
                           const uint8_t *randomizer, const uint8_t *public_key,
                           const uint8_t *message, size_t length) {
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

/* Writes the digits that a one-time signature signs: a message's and their checksum's (algorithm 7,
   lines 2 to 7). The array has one more than there are chains. */
static void split(uint8_t digits[CHAINS + 1], const uint8_t *message) {
    unsigned sum = 0;
    for (unsigned i = 0; i < DIGITS; i++) {
        digits[i] = i % 2 == 0 ? message[i / 2] >> 4 : message[i / 2] & 15;
        sum += 15u - digits[i];
    }
    digits[DIGITS] = (uint8_t)(sum >> 8);
    digits[DIGITS + 1] = (uint8_t)(sum >> 4 & 15);
    digits[DIGITS + 2] = (uint8_t)(sum & 15);
}

typedef struct {
    uint64_t tree;
    uint32_t leaf;
} place;

/* The numbers of a tree and of its leaf in a digest (algorithm 19, lines 7 to 10). */
static place place_in(const uint8_t *digest) {
    place p = {0, 0};
    const uint8_t *numbers = digest + FORS_BYTES;
    for (unsigned i = 0; i < TREE_BYTES; i++)
        p.tree = p.tree << 8 | *numbers++;
    for (unsigned i = 0; i < LEAF_BYTES; i++)
        p.leaf = p.leaf << 8 | *numbers++;
    p.tree &= ((uint64_t)1 << (SLHDSA_H - LAYER_HEIGHT)) - 1;
    p.leaf &= (1u << LAYER_HEIGHT) - 1;
    return p;
}

static void set_tree(hashes *h, unsigned layer, uint64_t tree) {
    h->block[LAYER] = (uint8_t)layer;
    put_32(h->block + TREE, (uint32_t)(tree >> 32));
    put_32(h->block + TREE + 4, (uint32_t)tree);
}

#endif
