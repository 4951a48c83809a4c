/* Verification with SLH-DSA (FIPS 205). Include the header of a family of hashes before. */
#ifndef SLHDSA_VERIFY_H
#define SLHDSA_VERIFY_H

#include "slhdsa-places.h"

/* Climbs from a node to the root of its tree (algorithm 11, lines 8 to 18; algorithm 17, lines 8 to
   17). */
static void climb(hashes *h, uint8_t *node, uint32_t leaf, uint32_t index, const uint8_t *path,
                  unsigned height) {
    for (unsigned i = 0; i < height; i++, path += N, leaf >>= 1) {
        index >>= 1;
        put_32(h->block + HEIGHT, i + 1);
        put_32(h->block + INDEX, index);
        copy(h->block + INPUT + (leaf & 1 ? N : 0), node, N);
        copy(h->block + INPUT + (leaf & 1 ? 0 : N), path, N);
        pad(h, 2);
        hash(h, node);
    }
}

/* Takes the place of a FORS public key (algorithm 17); returns what follows in the signature. */
static const uint8_t *fors_key(hashes *h, uint8_t *key, const uint8_t *signature,
                               const uint8_t *digest, uint32_t key_pair) {
    uint8_t roots[SLHDSA_K][N];
    many s;
    uint32_t bits = 0;
    unsigned held = 0;
    set_type(h, FORS_TREE, key_pair);
    for (unsigned i = 0; i < SLHDSA_K; i++) {
        for (; held < SLHDSA_A; held += 8)
            bits = bits << 8 | *digest++;
        held -= SLHDSA_A;
        uint32_t leaf = bits >> held & ((1u << SLHDSA_A) - 1);
        uint32_t index = (uint32_t)i << SLHDSA_A | leaf;
        put_32(h->block + HEIGHT, 0);
        put_32(h->block + INDEX, index);
        copy(h->block + INPUT, signature, N);
        pad(h, 1);
        hash(h, roots[i]);
        climb(h, roots[i], leaf, index, signature + N, SLHDSA_A);
        signature += N * (1 + SLHDSA_A);
    }
    set_type(h, FORS_ROOTS, key_pair);
    start_many(&s, h);
    add_many(&s, roots[0], sizeof roots);
    end_many(&s, key);
    return signature;
}

/* Replaces a message by the one-time public key that signs it (algorithm 8). */
static void one_time_key(hashes *h, uint8_t *message, const uint8_t *signature, uint32_t key_pair) {
    uint8_t digits[CHAINS + 1], ends[CHAINS][N];
    many s;
    split(digits, message);
    set_type(h, WOTS_HASH, key_pair);
    pad(h, 1);
    for (unsigned i = 0; i < CHAINS; i++, signature += N) {
        put_32(h->block + CHAIN, i);
        copy(h->block + INPUT, signature, N);
        for (unsigned j = digits[i]; j < 15; j++) {
            h->block[STEP + 3] = (uint8_t)j;
            hash(h, h->block + INPUT);
        }
        copy(ends[i], h->block + INPUT, N);
    }
    set_type(h, WOTS_PK, key_pair);
    start_many(&s, h);
    add_many(&s, ends[0], sizeof ends);
    end_many(&s, message);
}

/* slh_verify_internal (algorithm 20). */
crypto_status slhdsa_verify(const uint8_t *signature, const uint8_t *public_key,
                            const uint8_t *message, size_t length) {
    uint8_t digest[DIGEST_ROOM], node[N];
    hashes h;
    digest_message(digest, signature, public_key, message, length);
    place at = place_in(digest);
    uint64_t tree = at.tree;
    uint32_t leaf = at.leaf;
    begin(&h, public_key);
    set_tree(&h, 0, tree);
    signature = fors_key(&h, node, signature + N, digest, leaf);
    for (unsigned i = 0; i < SLHDSA_D; i++) { /* algorithm 13 */
        set_tree(&h, i, tree);
        one_time_key(&h, node, signature, leaf);
        signature += N * CHAINS;
        set_type(&h, TREE_NODE, 0);
        climb(&h, node, leaf, leaf, signature, LAYER_HEIGHT);
        signature += N * LAYER_HEIGHT;
        leaf = (uint32_t)tree & ((1u << LAYER_HEIGHT) - 1);
        tree >>= LAYER_HEIGHT;
    }
    return crypto_equal(node, public_key + N, N) ? CRYPTO_OK : CRYPTO_BAD_TAG;
}

crypto_status slhdsa_keygen(uint8_t *public_key, const uint8_t *secret_key) {
    (void)public_key, (void)secret_key;
    return CRYPTO_BAD_TAG;
}

crypto_status slhdsa_sign(uint8_t *signature, const uint8_t *secret_key, const uint8_t *public_key,
                          const uint8_t *seed, const uint8_t *message, size_t length) {
    (void)signature, (void)secret_key, (void)public_key, (void)seed, (void)message, (void)length;
    return CRYPTO_BAD_TAG;
}

#endif
