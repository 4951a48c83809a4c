#include "xmss.h"

#include "sha256.h"

enum {
    N = XMSS_N,
    H = XMSS_HEIGHT,
    CHAINS = XMSS_CHAINS,
    DIGITS = 2 * N, /* of 4 bits, of a message's hash; the others are a checksum's */
    W = 16,
    PREFIX_BYTES = N == 24 ? 4 : N /* of a hash's domain (RFC 8391, section 5.1; SP 800-208, 5.3) */
};

/* Domains. */
enum { D_F = 0, D_H = 1, D_MESSAGE = 2, D_PRF = 3 };

/* An address (section 2.5): its words, of which the first three are 0: one layer, one tree. */
enum { TYPE = 3, LEAF = 4, CHAIN = 5, STEP = 6, HEIGHT = 5, INDEX = 6, WHICH = 7, WORDS = 8 };
enum { ONE_TIME = 0, L_TREE = 1, HASH_TREE = 2, ADDRESS_BYTES = 4 * WORDS };

enum {
    SEEDED_BYTES = PREFIX_BYTES + N,
    IS_SEEDED_BLOCK = SEEDED_BYTES == SHA256_BLOCK_BYTES, /* then it is compressed once */
    BLOCKS_BYTES = 3 * SHA256_BLOCK_BYTES                 /* for the longest input, of D_H */
};

/* What is hashed is put together in whole blocks. */
typedef struct {
    uint32_t seeded[8]; /* after the domain of the PRF and the public seed, if they are a block */
    const uint8_t *seed;
    uint8_t address[ADDRESS_BYTES];
    uint8_t blocks[BLOCKS_BYTES];
} hashes;

static void put_32(uint8_t *to, uint32_t number) {
    for (unsigned i = 4; i-- > 0; number >>= 8)
        to[i] = (uint8_t)number;
}

static uint32_t get_32(const uint8_t *from) {
    uint32_t number = 0;
    for (unsigned i = 0; i < 4; i++)
        number = number << 8 | from[i];
    return number;
}

static void copy(uint8_t *to, const uint8_t *from, unsigned length) {
    for (unsigned i = 0; i < length; i++)
        to[i] = from[i];
}

static void set(hashes *h, unsigned word, uint32_t value) {
    put_32(h->address + 4 * word, value);
}

static void set_type(hashes *h, unsigned type, uint32_t leaf) {
    for (unsigned i = TYPE; i < WORDS; i++)
        set(h, i, 0);
    set(h, TYPE, type);
    set(h, LEAF, leaf);
}

static void put_domain(uint8_t *to, unsigned domain) {
    for (unsigned i = 0; i < PREFIX_BYTES; i++)
        to[i] = 0;
    to[PREFIX_BYTES - 1] = (uint8_t)domain;
}

/* Ends the hash whose last bytes are in the blocks; the result may be what a key is put to. */
static void finish(hashes *h, uint8_t *out, uint32_t state[8], unsigned there, unsigned before) {
    unsigned bits = 8 * (before + there);
    unsigned end = (there + 9 + SHA256_BLOCK_BYTES - 1) / SHA256_BLOCK_BYTES * SHA256_BLOCK_BYTES;
    h->blocks[there++] = 0x80;
    for (; there < end - 2; there++)
        h->blocks[there] = 0;
    h->blocks[end - 2] = (uint8_t)(bits >> 8);
    h->blocks[end - 1] = (uint8_t)bits;
    sha256_compress(state, h->blocks, end / SHA256_BLOCK_BYTES);
    for (unsigned i = 0; i < N / 4; i++)
        put_32(out + 4 * i, state[i]);
}

static void begin(uint32_t state[8]) {
    sha256_ctx s;
    sha256_init(&s);
    for (unsigned i = 0; i < 8; i++)
        state[i] = s.state[i];
}

/* PRF(SEED, ADRS) with the last word of the address (section 5.1). */
static void prf(hashes *h, uint8_t *out, unsigned which) {
    uint32_t state[8];
    unsigned at = 0, before = 0;
    set(h, WHICH, which);
    if (IS_SEEDED_BLOCK) {
        for (unsigned i = 0; i < 8; i++)
            state[i] = h->seeded[i];
        before = SEEDED_BYTES;
    } else {
        begin(state);
        put_domain(h->blocks, D_PRF);
        copy(h->blocks + PREFIX_BYTES, h->seed, N);
        at = SEEDED_BYTES;
    }
    copy(h->blocks + at, h->address, ADDRESS_BYTES);
    finish(h, out, state, at + ADDRESS_BYTES, before);
}

static void start(hashes *h, const uint8_t *seed) {
    h->seed = seed;
    for (unsigned i = 0; i < TYPE; i++)
        set(h, i, 0);
    if (IS_SEEDED_BLOCK) {
        begin(h->seeded);
        put_domain(h->blocks, D_PRF);
        copy(h->blocks + PREFIX_BYTES, seed, N);
        sha256_compress(h->seeded, h->blocks, 1);
    }
}

/* Hashes inputs that are masked, under a key, both from the address: F of one (algorithm 2), H of
   two (RAND_HASH, algorithm 7). */
static void masked(hashes *h, uint8_t *out, unsigned domain, const uint8_t *const *inputs,
                   unsigned count) {
    uint32_t state[8];
    uint8_t key[N], masked_inputs[2][N];
    prf(h, key, 0);
    for (unsigned i = 0; i < count; i++) {
        prf(h, masked_inputs[i], i + 1);
        for (unsigned j = 0; j < N; j++)
            masked_inputs[i][j] ^= inputs[i][j];
    }
    begin(state);
    put_domain(h->blocks, domain);
    copy(h->blocks + PREFIX_BYTES, key, N);
    copy(h->blocks + SEEDED_BYTES, masked_inputs[0], count * N);
    finish(h, out, state, SEEDED_BYTES + count * N, 0);
}

static void join(hashes *h, uint8_t *out, const uint8_t *left, const uint8_t *right) {
    const uint8_t *const both[2] = {left, right};
    masked(h, out, D_H, both, 2);
}

/* Goes to the end of a chain (algorithm 2). */
static void finish_chain(hashes *h, uint8_t *value, unsigned from) {
    const uint8_t *const one[1] = {value};
    for (; from < W - 1; from++) {
        set(h, STEP, from);
        masked(h, value, D_F, one, 1);
    }
}

static unsigned digit(const uint8_t *bytes, unsigned i) {
    return i % 2 == 0 ? bytes[i / 2] >> 4 : bytes[i / 2] & 15;
}

/* Computes a leaf: ends of the chains (algorithm 6), joined as they come (algorithm 8). Of the
   L-tree, whose last node is lifted where it has no partner, the left neighbours that still have
   none are kept: one for each bit of the number of chains so far. */
static void leaf_of(hashes *h, uint8_t *leaf, const uint8_t *digits, const uint8_t *signature,
                    uint32_t number) {
    enum { LEVELS = 7 };
    _Static_assert(CHAINS < 1 << LEVELS, "a place for each bit");
    uint8_t waiting[LEVELS][N];
    for (unsigned i = 0; i < CHAINS; i++, signature += N) {
        copy(leaf, signature, N);
        set_type(h, ONE_TIME, number);
        set(h, CHAIN, i);
        finish_chain(h, leaf, digit(digits, i));
        set_type(h, L_TREE, number);
        unsigned level = 0;
        for (; i >> level & 1; level++) {
            set(h, HEIGHT, level);
            set(h, INDEX, i >> (level + 1));
            join(h, leaf, waiting[level], leaf);
        }
        copy(waiting[level], leaf, N);
    }
    int is_first = 1;
    for (unsigned level = 0; level < LEVELS; level++)
        if (CHAINS >> level & 1) {
            if (is_first) {
                copy(leaf, waiting[level], N);
            } else {
                set(h, HEIGHT, level);
                set(h, INDEX, CHAINS >> (level + 1));
                join(h, leaf, waiting[level], leaf);
            }
            is_first = 0;
        }
}

/* The type of a key with this hash and height (section 8; SP 800-208, section 5.3). */
enum { TYPE_NUMBER = (N == 24 ? 0x0d : 1) + (H == 10 ? 0 : H == 16 ? 1 : 2) };
_Static_assert((N == 24 || N == 32) && (H == 10 || H == 16 || H == 20), "no such type");

crypto_status xmss_verify(const uint8_t *signature, size_t signature_length,
                          const uint8_t *public_key, const uint8_t *message, size_t length) {
    hashes h;
    sha256_ctx s;
    uint8_t digits[SHA256_DIGEST_BYTES + 2], node[N];
    const uint8_t *root = public_key + 4, *path = signature + 4 + N * (1 + CHAINS);
    if (signature_length != XMSS_SIGNATURE_BYTES || get_32(public_key) != TYPE_NUMBER)
        return CRYPTO_BAD_TAG;
    uint32_t number = get_32(signature);
    if (number >> H != 0)
        return CRYPTO_BAD_TAG;

    /* H_msg(r || root || number, M) (section 4.1.9). */
    put_domain(h.blocks, D_MESSAGE);
    for (unsigned i = 0; i < N; i++)
        h.blocks[PREFIX_BYTES + i] = 0;
    put_32(h.blocks + PREFIX_BYTES + N - 4, number);
    sha256_init(&s);
    sha256_update(&s, h.blocks, PREFIX_BYTES);
    sha256_update(&s, signature + 4, N);
    sha256_update(&s, root, N);
    sha256_update(&s, h.blocks + PREFIX_BYTES, N);
    sha256_update(&s, message, length);
    sha256_final(&s, digits);
    unsigned sum = 0;
    for (unsigned i = 0; i < DIGITS; i++)
        sum += W - 1 - digit(digits, i);
    digits[N] = (uint8_t)(sum >> 4);
    digits[N + 1] = (uint8_t)(sum << 4);

    start(&h, root + N);
    leaf_of(&h, node, digits, signature + 4 + N, number);
    set_type(&h, HASH_TREE, 0);
    for (unsigned level = 0; level < H; level++, path += N) {
        int is_right = number & 1;
        number >>= 1;
        set(&h, HEIGHT, level);
        set(&h, INDEX, number);
        join(&h, node, is_right ? path : node, is_right ? node : path);
    }
    return crypto_equal(node, root, N) ? CRYPTO_OK : CRYPTO_BAD_TAG;
}
