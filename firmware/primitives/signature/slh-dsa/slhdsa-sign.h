/* Key generation and signing with SLH-DSA (FIPS 205). Include the header of a family of hashes
   before. */
#ifndef SLHDSA_SIGN_H
#define SLHDSA_SIGN_H

#include <stdbool.h>

#include "declared-public.h"
#include "slhdsa-places.h"

/* What a tree's leaves and nodes are made of. */
typedef struct {
    hashes h;
    const uint8_t *seed; /* SK.seed */
    uint32_t key_pair;   /* of FORS */
    /* Of a layer's tree: the leaf that signs, what it signs, and where its chains go. */
    uint32_t wanted;
    const uint8_t *digits;
    uint8_t *chains;
} forest;

/* PRF (section 11.2.1): the place of the secret has been set but for its type. */
static void make_secret(forest *f, unsigned type, uint8_t *out) {
    f->h.block[TYPE] = (uint8_t)type;
    copy(f->h.block + INPUT, f->seed, N);
    hash(&f->h, out);
}

/* A leaf of FORS (algorithm 15, lines 2 to 5); also leaves its secret. */
static void fors_leaf(forest *f, uint32_t index, uint8_t *secret, uint8_t *node) {
    set_type(&f->h, FORS_PRF, f->key_pair);
    put_32(f->h.block + INDEX, index);
    pad(&f->h, 1);
    make_secret(f, FORS_PRF, secret);
    f->h.block[TYPE] = FORS_TREE;
    copy(f->h.block + INPUT, secret, N);
    hash(&f->h, node);
}

/* A one-time public key (algorithm 6); the key that signs leaves its chains (algorithm 7). */
static void one_time_key(forest *f, uint32_t key_pair, uint8_t *node) {
    hashes *h = &f->h;
    uint8_t *const value = h->block + INPUT;
    uint8_t ends[CHAINS][N];
    many s;
    bool signs = f->chains != NULL && key_pair == f->wanted;
    set_type(h, WOTS_PRF, key_pair);
    pad(h, 1);
    for (unsigned i = 0; i < CHAINS; i++) {
        put_32(h->block + CHAIN, i);
        h->block[STEP + 3] = 0;
        make_secret(f, WOTS_PRF, value);
        h->block[TYPE] = WOTS_HASH;
        for (unsigned j = 0; j < 15; j++) {
            if (signs && f->digits[i] == j)
                copy(f->chains + N * i, value, N);
            h->block[STEP + 3] = (uint8_t)j;
            hash(h, value);
        }
        if (signs && f->digits[i] == 15)
            copy(f->chains + N * i, value, N);
        copy(ends[i], value, N);
    }
    set_type(h, WOTS_PK, key_pair);
    start_many(&s, h);
    add_many(&s, ends[0], sizeof ends);
    end_many(&s, node);
}

/* Builds a tree from left to right (algorithms 9 and 15), holding one node of each height at most.
   Leaves are numbered from `first` on; FORS is built where the type says so. Writes the path of the
   leaf `wanted`, counted from the tree's first, and for FORS its secret before it. */
static void build(forest *f, unsigned type, unsigned height, uint32_t first, uint32_t wanted,
                  uint8_t *path, uint8_t *root) {
    enum { MOST = SLHDSA_A > LAYER_HEIGHT ? SLHDSA_A : LAYER_HEIGHT };
    uint8_t held[MOST + 1][N], node[N], secret[N];
    for (uint32_t leaf = 0; leaf >> height == 0; leaf++) {
        if (type == FORS_TREE)
            fors_leaf(f, first + leaf, secret, node);
        else
            one_time_key(f, leaf, node);
        if (type == FORS_TREE && leaf == wanted)
            copy(path - N, secret, N);
        uint32_t index = leaf;
        unsigned level = 0;
        set_type(&f->h, type, type == FORS_TREE ? f->key_pair : 0);
        for (;; level++, index >>= 1) {
            if (path != NULL && level < height && index == (wanted >> level ^ 1))
                copy(path + N * level, node, N);
            if ((index & 1) == 0 || level == height)
                break;
            put_32(f->h.block + HEIGHT, level + 1);
            put_32(f->h.block + INDEX, (first >> (level + 1)) + (index >> 1));
            copy(f->h.block + INPUT, held[level], N);
            copy(f->h.block + INPUT + N, node, N);
            pad(&f->h, 2);
            hash(&f->h, node);
        }
        copy(held[level], node, N);
    }
    copy(root, held[height], N);
    crypto_wipe(secret, sizeof secret);
}

/* Builds a layer's tree without signing by it. */
static void top_root(forest *f, uint8_t *root) {
    set_tree(&f->h, SLHDSA_D - 1, 0);
    f->chains = NULL;
    build(f, TREE_NODE, LAYER_HEIGHT, 0, 0, NULL, root);
}

/* Of a secret key: SK.seed, SK.prf, PK.seed (section 9.1, without the root). */
enum { SK_PRF = N, PK_SEED = 2 * N };

/* slh_keygen_internal (algorithm 18). */
crypto_status slhdsa_keygen(uint8_t *public_key, const uint8_t *secret_key) {
    forest f = {.seed = secret_key};
    begin(&f.h, secret_key + PK_SEED);
    top_root(&f, public_key + N);
    copy(public_key, secret_key + PK_SEED, N);
    crypto_wipe(&f, sizeof f);
    return CRYPTO_OK;
}

/* slh_sign_internal (algorithm 19). */
crypto_status slhdsa_sign(uint8_t *signature, const uint8_t *secret_key, const uint8_t *public_key,
                          const uint8_t *seed, const uint8_t *message, size_t length) {
    uint8_t digest[DIGEST_ROOM], digits[CHAINS + 1], node[N];
    forest f = {.seed = secret_key, .digits = digits};
    many s;
    uint32_t bits = 0;
    unsigned held = 0;
    make_randomizer(signature, secret_key + SK_PRF, seed, message, length);
    digest_message(digest, signature, public_key, message, length);
    crypto_public(digest, sizeof digest); /* of what whoever verifies has */
    signature += N;
    place at = place_in(digest);
    uint64_t tree = at.tree;
    f.key_pair = at.leaf;
    begin(&f.h, secret_key + PK_SEED);
    set_tree(&f.h, 0, tree);
    set_type(&f.h, FORS_ROOTS, f.key_pair);
    start_many(&s, &f.h);
    const uint8_t *numbers = digest;
    for (uint32_t i = 0; i < SLHDSA_K; i++) { /* algorithm 16 */
        for (; held < SLHDSA_A; held += 8)
            bits = bits << 8 | *numbers++;
        held -= SLHDSA_A;
        uint32_t leaf = bits >> held & ((1u << SLHDSA_A) - 1);
        build(&f, FORS_TREE, SLHDSA_A, i << SLHDSA_A, leaf, signature + N, node);
        add_many(&s, node, N);
        signature += N * (1 + SLHDSA_A);
    }
    end_many(&s, node);
    f.wanted = f.key_pair;
    for (unsigned i = 0; i < SLHDSA_D; i++) { /* algorithm 12 */
        crypto_public(node, N);               /* whoever verifies computes the roots, too */
        split(digits, node);
        set_tree(&f.h, i, tree);
        f.chains = signature;
        signature += N * CHAINS;
        build(&f, TREE_NODE, LAYER_HEIGHT, 0, f.wanted, signature, node);
        signature += N * LAYER_HEIGHT;
        f.wanted = (uint32_t)tree & ((1u << LAYER_HEIGHT) - 1);
        tree >>= LAYER_HEIGHT;
    }
    crypto_wipe(&f, sizeof f);
    return CRYPTO_OK;
}

/* Not here: verification alone is another implementation. */
crypto_status slhdsa_verify(const uint8_t *signature, const uint8_t *public_key,
                            const uint8_t *message, size_t length) {
    (void)signature, (void)public_key, (void)message, (void)length;
    return CRYPTO_BAD_TAG;
}

#endif
