#include "lms.h"

#include "sha256.h"

/* Domains (RFC 8554, section 7.1). */
enum { D_PBLC = 0x8080, D_MESG = 0x8181, D_LEAF = 0x8282, D_INTR = 0x8383 };

enum {
    TYPES_BYTES = 8, /* of a tree and of its one-time signatures */
    IDENTIFIER_BYTES = 16,
    PREFIX_BYTES = IDENTIFIER_BYTES + 6, /* I, a number, a domain */
    HASH_BYTES_MAX = 32
};

/* A public key (section 5.3) in its parts. */
typedef struct {
    const uint8_t *types; /* TYPES_BYTES */
    const uint8_t *root;
    unsigned n; /* bytes of a hash */
    unsigned h; /* height of the tree */
    unsigned w; /* bits of a digit */
    unsigned p; /* digits, with those of the checksum */
    unsigned v; /* digits of the checksum */
    uint8_t prefix[PREFIX_BYTES];
} lms_key;

static uint32_t get_number(const uint8_t *from) {
    uint32_t number = 0;
    for (unsigned i = 0; i < 4; i++)
        number = number << 8 | from[i];
    return number;
}

static void put_number(uint8_t *to, uint32_t number) {
    for (unsigned i = 4; i-- > 0; number >>= 8)
        to[i] = (uint8_t)number;
}

static void set_prefix(lms_key *k, uint32_t number, unsigned domain) {
    put_number(k->prefix + IDENTIFIER_BYTES, number);
    k->prefix[IDENTIFIER_BYTES + 4] = (uint8_t)(domain >> 8);
    k->prefix[IDENTIFIER_BYTES + 5] = (uint8_t)domain;
}

static void start(sha256_ctx *s, lms_key *k, uint32_t number, unsigned domain) {
    set_prefix(k, number, domain);
    sha256_init(s);
    sha256_update(s, k->prefix, PREFIX_BYTES);
}

/* Reads a public key's types and identifier; returns its length, or 0 for types that there are
   not. */
static unsigned open_key(lms_key *k, const uint8_t *from) {
    /* Section 4.1, table 1, and section 5.1, table 2; SP 800-208, tables 3 and 4. */
    static const uint8_t checksum_digits[4] = {9, 5, 3, 2};
    uint32_t tree = get_number(from) - 5, chains = get_number(from + 4) - 1;
    if (tree > 9 || chains > 7 || (tree > 4) != (chains > 3))
        return 0;
    k->types = from;
    k->n = tree > 4 ? 24 : 32;
    k->h = 5 * ((unsigned)tree % 5 + 1);
    unsigned i = (unsigned)chains % 4;
    k->w = 1u << i;
    k->v = checksum_digits[i] - (k->n == 24 && i == 0);
    k->p = 8 * k->n / k->w + k->v;
    for (unsigned j = 0; j < IDENTIFIER_BYTES; j++)
        k->prefix[j] = from[TYPES_BYTES + j];
    k->root = from + TYPES_BYTES + IDENTIFIER_BYTES;
    return TYPES_BYTES + IDENTIFIER_BYTES + k->n;
}

static unsigned signature_bytes(const lms_key *k) {
    return 4 + 4 + k->n * (1 + k->p) + 4 + k->n * k->h;
}

/* Returns digit i of the message's hash, or of the checksum that follows it (section 3.1.3). */
static unsigned digit(const uint8_t *digits, unsigned i, unsigned w) {
    unsigned bit = i * w;
    return digits[bit / 8] >> (8 - w - bit % 8) & ((1u << w) - 1);
}

/* Goes to the end of a chain (section 4.6, algorithm 4b, step 3): a hash's input is one block,
   where its result is put for the next. */
static void finish_chain(uint8_t *end, const sha256_ctx *initial, const lms_key *k, unsigned number,
                         unsigned from, const uint8_t *y) {
    enum { AT = PREFIX_BYTES + 1 };
    uint8_t block[SHA256_BLOCK_BYTES] = {0};
    unsigned bits = 8 * (AT + k->n);
    for (unsigned i = 0; i < PREFIX_BYTES - 2; i++)
        block[i] = k->prefix[i];
    block[PREFIX_BYTES - 2] = (uint8_t)(number >> 8);
    block[PREFIX_BYTES - 1] = (uint8_t)number;
    for (unsigned i = 0; i < k->n; i++)
        block[AT + i] = y[i];
    block[AT + k->n] = 0x80;
    block[62] = (uint8_t)(bits >> 8);
    block[63] = (uint8_t)bits;
    for (; from < (1u << k->w) - 1; from++) {
        uint32_t state[8];
        for (unsigned i = 0; i < 8; i++)
            state[i] = initial->state[i];
        block[PREFIX_BYTES] = (uint8_t)from;
        sha256_compress(state, block, 1);
        for (unsigned i = 0; i < k->n / 4; i++)
            put_number(block + AT + 4 * i, state[i]);
    }
    for (unsigned i = 0; i < k->n; i++)
        end[i] = block[AT + i];
}

/* Verifies an LMS signature (section 5.4.2, algorithm 6a) of the length that the key gives. */
static int verified(lms_key *k, const uint8_t *signature, const uint8_t *message, size_t length) {
    sha256_ctx s, initial;
    uint8_t digits[HASH_BYTES_MAX + 2], node[HASH_BYTES_MAX];
    uint32_t number = get_number(signature);
    const uint8_t *y = signature + 8 + k->n, *type = y + k->p * k->n;
    const uint8_t *path = type + 4;
    int differs = 0;
    for (unsigned i = 0; i < 4; i++)
        differs |= (type[i] ^ k->types[i]) | (signature[4 + i] ^ k->types[4 + i]);
    if (differs != 0 || number >> k->h != 0)
        return 0;
    start(&s, k, number, D_MESG);
    sha256_update(&s, y - k->n, k->n);
    sha256_update(&s, message, length);
    sha256_final(&s, digits);
    /* The checksum (section 4.4), from the highest of 16 bits down. */
    unsigned sum = 0, chains = k->p - k->v;
    for (unsigned i = 0; i < chains; i++)
        sum += (1u << k->w) - 1 - digit(digits, i, k->w);
    sum <<= 16 - k->v * k->w;
    digits[k->n] = (uint8_t)(sum >> 8);
    digits[k->n + 1] = (uint8_t)sum;
    sha256_init(&initial);
    start(&s, k, number, D_PBLC);
    for (unsigned i = 0; i < k->p; i++, y += k->n) {
        finish_chain(node, &initial, k, i, digit(digits, i, k->w), y);
        sha256_update(&s, node, k->n);
    }
    sha256_final(&s, digits);
    number += (uint32_t)1 << k->h;
    start(&s, k, number, D_LEAF);
    sha256_update(&s, digits, k->n);
    for (;; path += k->n) {
        sha256_final(&s, node);
        if (number == 1)
            return crypto_equal(node, k->root, k->n);
        int is_right = number & 1;
        number >>= 1;
        start(&s, k, number, D_INTR);
        sha256_update(&s, is_right ? path : node, k->n);
        sha256_update(&s, is_right ? node : path, k->n);
    }
}

crypto_status lms_verify(const uint8_t *signature, size_t signature_length,
                         const uint8_t *public_key, const uint8_t *message, size_t length) {
    lms_key k;
#if LMS_IS_HSS
    uint32_t levels = get_number(public_key);
    if (levels - 1 > 7 || signature_length < 4 || get_number(signature) != levels - 1)
        return CRYPTO_BAD_TAG;
    public_key += 4;
    signature += 4;
    signature_length -= 4;
#endif
    /* A key of another length is not there as a whole. */
    if (open_key(&k, public_key) != LMS_PUBLIC_BYTES - 4 * LMS_IS_HSS)
        return CRYPTO_BAD_TAG;
#if LMS_IS_HSS
    /* Each level's signature is of the next level's public key. */
    for (; levels > 1; levels--) {
        lms_key next;
        if (signature_length < signature_bytes(&k) + TYPES_BYTES + IDENTIFIER_BYTES)
            return CRYPTO_BAD_TAG;
        signature_length -= signature_bytes(&k);
        public_key = signature + signature_bytes(&k);
        unsigned key_bytes = open_key(&next, public_key);
        if (key_bytes == 0 || signature_length < key_bytes ||
            !verified(&k, signature, public_key, key_bytes))
            return CRYPTO_BAD_TAG;
        k = next;
        signature = public_key + key_bytes;
        signature_length -= key_bytes;
    }
#endif
    if (signature_length != signature_bytes(&k) || !verified(&k, signature, message, length))
        return CRYPTO_BAD_TAG;
    return CRYPTO_OK;
}
