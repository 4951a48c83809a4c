/* Ed25519 over any implementation of its field. The including file has included a field. */
#include "curve/digits.h"
#include "curve/edwards25519.h"
#include "ed25519.h"
#include "sha512.h"

/* The order L, little-endian; its low 16 bytes are L - 2^252. */
static const uint8_t ORDER[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7,
                                  0xa2, 0xde, 0xf9, 0xde, 0x14, 0,    0,    0,    0,    0,    0,
                                  0,    0,    0,    0,    0,    0,    0,    0,    0,    0x10};

/* out = x mod L. x has 64 digits to base 256, each below 2^23, with a value below 2^512; it is
   destroyed.

   Subtracts the digits from 32 up one by one: 256^i = -16 (L - 2^252) 256^(i - 32) modulo L. Then
   subtracts the bits from 252 up, and adds L if the result is negative. */
static void scalar_reduce(uint8_t out[32], int32_t x[64]) {
    int32_t carry = 0;
    for (unsigned i = 0; i < 64; i++) {
        x[i] += carry;
        carry = x[i] >> 8;
        x[i] &= 255;
    }
    for (unsigned i = 64; i-- > 32;) {
        /* x[i]| <= 2^9, so that no sum exceeds 2^21. */
        int16_t times = (int16_t)(-x[i] * 16);
        carry = 0;
        unsigned j = i - 32;
        for (; j < i - 12; j++) {
            x[j] += carry + (int32_t)times * ORDER[j - (i - 32)];
            carry = (x[j] + 128) >> 8;
            x[j] -= carry * 256;
        }
        x[j] += carry;
        x[i] = 0;
    }
    carry = 0;
    int16_t times = (int16_t)-(x[31] >> 4);
    for (unsigned j = 0; j < 32; j++) {
        x[j] += carry + (int32_t)times * ORDER[j];
        carry = x[j] >> 8;
        x[j] &= 255;
    }
    int16_t below = (int16_t)-carry;
    carry = 0;
    for (unsigned j = 0; j < 32; j++) {
        x[j] += carry + (int32_t)below * ORDER[j];
        carry = x[j] >> 8;
        out[j] = (uint8_t)x[j];
    }
}

static void scalar_of_hash(uint8_t out[32], const uint8_t hash[64]) {
    int32_t x[64];
    for (unsigned i = 0; i < 64; i++)
        x[i] = hash[i];
    scalar_reduce(out, x);
    crypto_wipe(x, sizeof x);
}

/* out = (a b + c) mod L */
static void scalar_multiply_add(uint8_t out[32], const uint8_t a[32], const uint8_t b[32],
                                const uint8_t c[32]) {
    int32_t x[64] = {0};
    for (unsigned i = 0; i < 32; i++)
        x[i] = c[i];
    for (unsigned i = 0; i < 32; i++)
        for (unsigned j = 0; j < 32; j++)
            x[i + j] += (int32_t)(uint32_t)((uint16_t)a[i] * (unsigned)b[j]);
    scalar_reduce(out, x);
    crypto_wipe(x, sizeof x);
}

static void point_encode(uint8_t out[32], const point *p) {
    fe inverse, t;
    uint8_t x[32];
    fe_invert(inverse, p->z);
    fe_multiply(t, p->x, inverse);
    fe_to_bytes(x, t);
    fe_multiply(t, p->y, inverse);
    fe_to_bytes(out, t);
    out[31] = (uint8_t)(out[31] | (x[0] & 1) << 7);
}

/* Computes k B for k < L, with a comb of four rows of 64 columns whose digits are 1 and -1
   (Hedabou, Pinel, Beneteau, "Countermeasures for preventing comb method against SCA attacks on
   elliptic curve cryptosystems"): with k odd, or k + L, bit i of (k - 1) / 2 + 2^255 is the sign of
   2^i. */
static void multiply_base(point *p, const uint8_t k[32]) {
    uint8_t bits[32], even = (uint8_t)~crypto_mask(k[0] & 1u);
    uint16_t carry = 0;
    for (unsigned i = 0; i < 32; i++, carry >>= 8) {
        carry = (uint16_t)(carry + k[i] + (ORDER[i] & even));
        bits[i] = (uint8_t)carry;
    }
    for (unsigned i = 0; i < 31; i++)
        bits[i] = (uint8_t)(bits[i] >> 1 | bits[i + 1] << 7);
    bits[31] = (uint8_t)(bits[31] >> 1 | 128);
    *p = (point){.y = {1}, .z = {1}};
    for (unsigned column = 64; column-- > 0;) {
        affine_point entry;
        fe turned;
        unsigned index = 0;
        for (unsigned row = 0; row < 4; row++)
            index |= (bits[column / 8 + 8 * row] >> column % 8 & 1u) << row;
        fe_word minus = (fe_word)~crypto_mask32(index >> 3);
        index = (index ^ (unsigned)minus) & 7;
        for (unsigned i = 0; i < 8; i++) {
            fe_word mask = (fe_word)~crypto_mask32(crypto_not_zero(i ^ index));
            fe_word *to = entry.less;
            const fe_word *from = edwards25519_comb[i][0];
            for (unsigned n = 0; n < 3 * FE_WORDS; n++)
                to[n] = i == 0 ? from[n] : (fe_word)(to[n] ^ ((to[n] ^ from[n]) & mask));
        }
        fe_subtract(turned, (const fe_word[FE_WORDS]){0}, entry.product);
        for (unsigned n = 0; n < FE_WORDS; n++) {
            fe_word swap = (entry.less[n] ^ entry.more[n]) & minus;
            entry.less[n] ^= swap;
            entry.more[n] ^= swap;
            entry.product[n] ^= (entry.product[n] ^ turned[n]) & minus;
        }
        point_double(p);
        point_add_affine(p, &entry);
    }
    crypto_wipe(bits, sizeof bits);
}

/* Splits the secret key's hash into the scalar mod L and the prefix from which nonces are
   derived. */
static void expand(uint8_t scalar[32], uint8_t prefix[32], const uint8_t secret_key[32]) {
    sha512_ctx hash;
    uint8_t digest[64];
    int32_t x[64] = {0};
    sha512_init(&hash);
    sha512_update(&hash, secret_key, 32);
    sha512_final(&hash, digest);
    digest[0] &= 248;
    digest[31] = (uint8_t)((digest[31] & 127) | 64);
    for (unsigned i = 0; i < 32; i++) {
        x[i] = digest[i];
        prefix[i] = digest[32 + i];
    }
    scalar_reduce(scalar, x);
    crypto_wipe(x, sizeof x);
    crypto_wipe(digest, sizeof digest);
    crypto_wipe(&hash, sizeof hash);
}

/* Returns SHA-512 of up to three pieces as a scalar. */
static void hash_to_scalar(uint8_t out[32], const uint8_t *first, const uint8_t *second,
                           const uint8_t *message, size_t length) {
    sha512_ctx hash;
    uint8_t digest[64];
    sha512_init(&hash);
    sha512_update(&hash, first, 32);
    if (second)
        sha512_update(&hash, second, 32);
    sha512_update(&hash, message, length);
    sha512_final(&hash, digest);
    scalar_of_hash(out, digest);
    crypto_wipe(digest, sizeof digest);
    crypto_wipe(&hash, sizeof hash);
}

CRYPTO_NOT_INLINE static crypto_status keygen(uint8_t *public_key, const uint8_t *secret_key) {
    uint8_t scalar[32], prefix[32];
    point p;
    expand(scalar, prefix, secret_key);
    multiply_base(&p, scalar);
    point_encode(public_key, &p);
    crypto_wipe(scalar, sizeof scalar);
    crypto_wipe(prefix, sizeof prefix);
    crypto_wipe(&p, sizeof p);
    return CRYPTO_OK;
}

CRYPTO_NOT_INLINE static crypto_status sign(uint8_t *signature, const uint8_t *secret_key,
                                            const uint8_t *public_key, const uint8_t *message,
                                            size_t length) {
    uint8_t scalar[32], prefix[32], nonce[32], challenge[32];
    point p;
    expand(scalar, prefix, secret_key);
    hash_to_scalar(nonce, prefix, NULL, message, length);
    multiply_base(&p, nonce);
    point_encode(signature, &p);
    hash_to_scalar(challenge, signature, public_key, message, length);
    scalar_multiply_add(signature + 32, challenge, scalar, nonce);
    crypto_wipe(scalar, sizeof scalar);
    crypto_wipe(prefix, sizeof prefix);
    crypto_wipe(nonce, sizeof nonce);
    crypto_wipe(&p, sizeof p);
    return CRYPTO_OK;
}

static int fe_equal(const fe a, const fe b) {
    uint8_t x[32], y[32];
    fe_to_bytes(x, a);
    fe_to_bytes(y, b);
    return crypto_equal(x, y, 32);
}

/* Decodes a point and negates it (RFC 8032, section 5.1.3): y, and the sign of x. Fails for y >= p,
   if x is not a square root, and for -0. */
static int point_decode_negative(point *p, const uint8_t bytes[32]) {
    static const fe one = {1};
    fe u, v, t;
    uint8_t y[32], x[32];
    fe_from_bytes(p->y, bytes);
    fe_to_bytes(y, p->y);
    y[31] |= bytes[31] & 128;
    if (!crypto_equal(y, bytes, 32))
        return 0;
    fe_copy(p->z, one);
    fe_square(u, p->y);
    fe_multiply(v, u, edwards25519_d);
    fe_subtract(u, u, one);
    fe_add(v, v, one);
    /* x = u v^3 (u v^7)^((p - 5) / 8), perhaps times a root of -1 */
    fe_square(t, v);
    fe_multiply(t, t, v);
    fe_multiply(p->x, t, u);
    fe_square(t, t);
    fe_multiply(t, t, v);
    fe_multiply(p->t, t, u);
    {
        fe eleven, power;
        fe_power_250(power, eleven, p->t);
        fe_square_times(t, power, 2, p->t);
    }
    fe_multiply(p->x, p->x, t);
    fe_square(t, p->x);
    fe_multiply(t, t, v);
    if (!fe_equal(t, u)) {
        fe_add(t, t, u);
        if (!fe_equal(t, (const fe_word[FE_WORDS]){0}))
            return 0;
        fe_multiply(p->x, p->x, edwards25519_root);
    }
    fe_to_bytes(x, p->x);
    if (fe_equal(p->x, (const fe_word[FE_WORDS]){0}) && bytes[31] >> 7)
        return 0;
    if ((x[0] & 1) == bytes[31] >> 7)
        fe_subtract(p->x, (const fe_word[FE_WORDS]){0}, p->x);
    fe_multiply(p->t, p->x, p->y);
    return 1;
}

/* p, 3 p, ..., 15 p */
static void odd_multiples(ready_point table[8], const point *p) {
    point twice = *p, sum = *p;
    ready_point two;
    point_double(&twice);
    point_ready(&two, &twice);
    point_ready(&table[0], p);
    for (unsigned i = 1; i < 8; i++) {
        point_add(&sum, &two);
        point_ready(&table[i], &sum);
    }
}

static void add_digit(point *p, const ready_point table[8], int digit) {
    ready_point term;
    if (digit == 0)
        return;
    term = table[(digit < 0 ? -digit : digit) / 2];
    if (digit < 0) {
        fe swap;
        fe_copy(swap, term.p.less);
        fe_copy(term.p.less, term.p.more);
        fe_copy(term.p.more, swap);
        fe_subtract(term.p.product, (const fe_word[FE_WORDS]){0}, term.p.product);
    }
    point_add(p, &term);
}

CRYPTO_WIPE_FRAMES(wipe_frames, 1800)

crypto_status ed25519_keygen(uint8_t *public_key, const uint8_t *secret_key) {
    crypto_status status = keygen(public_key, secret_key);
    wipe_frames();
    return status;
}

crypto_status ed25519_sign(uint8_t *signature, const uint8_t *secret_key, const uint8_t *public_key,
                           const uint8_t *seed, const uint8_t *message, size_t length) {
    (void)seed;
    crypto_status status = sign(signature, secret_key, public_key, message, length);
    wipe_frames();
    return status;
}

crypto_status ed25519_verify(const uint8_t *signature, const uint8_t *public_key,
                             const uint8_t *message, size_t length) {
    static const uint8_t base[32] = {0x58, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
                                     0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
                                     0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
                                     0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0xe6};
    ready_point of_base[8], of_key[8];
    int8_t base_digits[257], key_digits[257];
    uint8_t challenge[32], sum[32];
    point p;
    unsigned borrow = 0;
    for (unsigned i = 0; i < 32; i++)
        borrow = ((unsigned)signature[32 + i] - ORDER[i] - borrow) >> 8 & 1;
    if (!borrow || !point_decode_negative(&p, public_key))
        return CRYPTO_BAD_TAG;
    odd_multiples(of_key, &p);
    /* The base point: the sign of this encoding is flipped, as decoding negates. */
    if (!point_decode_negative(&p, base))
        return CRYPTO_BAD_TAG;
    odd_multiples(of_base, &p);
    hash_to_scalar(challenge, signature, public_key, message, length);
    scalar_digits(key_digits, challenge, 32);
    scalar_digits(base_digits, signature + 32, 32);
    p = (point){.y = {1}, .z = {1}};
    for (unsigned i = 257; i-- > 0;) {
        point_double(&p);
        add_digit(&p, of_key, key_digits[i]);
        add_digit(&p, of_base, base_digits[i]);
    }
    point_encode(sum, &p);
    return crypto_equal(sum, signature, 32) ? CRYPTO_OK : CRYPTO_BAD_TAG;
}
