#include "slhdsa.h"

#include "sha256.h"

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
enum { WOTS_HASH = 0, WOTS_PK = 1, TREE_NODE = 2, FORS_TREE = 3, FORS_ROOTS = 4 };

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

/* Climbs from a node to the root of its tree (algorithm 11, lines 8 to 18; algorithm 17, lines 8 to
   17). */
static void climb(hashes *h, uint8_t *node, uint32_t leaf, uint32_t index, const uint8_t *path,
                  unsigned height) {
    for (unsigned i = 0; i < height; i++, path += N, leaf >>= 1) {
        index >>= 1;
        put_32(h->block + HEIGHT, i + 1);
        put_32(h->block + INDEX, index);
        copy(h->block + ADDRESS_BYTES + (leaf & 1 ? N : 0), node, N);
        copy(h->block + ADDRESS_BYTES + (leaf & 1 ? 0 : N), path, N);
        pad(h, 2);
        hash(h, node);
    }
}

/* Takes the place of a FORS public key (algorithm 17); returns what follows in the signature. */
static const uint8_t *fors_key(hashes *h, uint8_t *key, const uint8_t *signature,
                               const uint8_t *digest, uint32_t key_pair) {
    uint8_t roots[SLHDSA_K][N];
    sha256_ctx s;
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
        copy(h->block + ADDRESS_BYTES, signature, N);
        pad(h, 1);
        hash(h, roots[i]);
        climb(h, roots[i], leaf, index, signature + N, SLHDSA_A);
        signature += N * (1 + SLHDSA_A);
    }
    set_type(h, FORS_ROOTS, key_pair);
    start_many(&s, h);
    sha256_update(&s, roots[0], sizeof roots);
    end_many(&s, key);
    return signature;
}

/* Replaces a message by the one-time public key that signs it (algorithm 8). */
static void one_time_key(hashes *h, uint8_t *message, const uint8_t *signature, uint32_t key_pair) {
    uint8_t digits[CHAINS + 1], ends[CHAINS][N];
    sha256_ctx s;
    unsigned sum = 0;
    for (unsigned i = 0; i < DIGITS; i++) {
        digits[i] = i % 2 == 0 ? message[i / 2] >> 4 : message[i / 2] & 15;
        sum += 15u - digits[i];
    }
    digits[DIGITS] = (uint8_t)(sum >> 8);
    digits[DIGITS + 1] = (uint8_t)(sum >> 4 & 15);
    digits[DIGITS + 2] = (uint8_t)(sum & 15);
    set_type(h, WOTS_HASH, key_pair);
    pad(h, 1);
    for (unsigned i = 0; i < CHAINS; i++, signature += N) {
        put_32(h->block + CHAIN, i);
        copy(h->block + ADDRESS_BYTES, signature, N);
        for (unsigned j = digits[i]; j < 15; j++) {
            h->block[STEP + 3] = (uint8_t)j;
            hash(h, h->block + ADDRESS_BYTES);
        }
        copy(ends[i], h->block + ADDRESS_BYTES, N);
    }
    set_type(h, WOTS_PK, key_pair);
    start_many(&s, h);
    sha256_update(&s, ends[0], sizeof ends);
    end_many(&s, message);
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

/* slh_verify_internal (algorithm 20). */
crypto_status slhdsa_verify(const uint8_t *signature, const uint8_t *public_key,
                            const uint8_t *message, size_t length) {
    uint8_t digest[SHA256_DIGEST_BYTES + DIGEST_BYTES], node[N];
    hashes h;
    uint64_t tree = 0;
    uint32_t leaf = 0;
    digest_message(digest, signature, public_key, message, length);
    const uint8_t *numbers = digest + FORS_BYTES;
    for (unsigned i = 0; i < TREE_BYTES; i++)
        tree = tree << 8 | *numbers++;
    for (unsigned i = 0; i < LEAF_BYTES; i++)
        leaf = leaf << 8 | *numbers++;
    tree &= ((uint64_t)1 << (SLHDSA_H - LAYER_HEIGHT)) - 1;
    leaf &= (1u << LAYER_HEIGHT) - 1;
    begin(&h, public_key);
    h.block[LAYER] = 0;
    put_32(h.block + TREE, (uint32_t)(tree >> 32));
    put_32(h.block + TREE + 4, (uint32_t)tree);
    signature = fors_key(&h, node, signature + N, digest, leaf);
    for (unsigned i = 0; i < SLHDSA_D; i++) { /* algorithm 13 */
        h.block[LAYER] = (uint8_t)i;
        put_32(h.block + TREE, (uint32_t)(tree >> 32));
        put_32(h.block + TREE + 4, (uint32_t)tree);
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
