/* ECDSA (FIPS 186-5, section 6) with SHA-256 and the prefix ECDSA(name), over a curve whose
   constants the including file has included. The signature is r and s, the public key X and Y,
   big-endian.

   Nonces are those of RFC 6979 or, if SEED_BYTES is not 0, come from a generator of SP 800-90A that
   is seeded for each signature: the caller's seed is its entropy and nonce, the secret key and the
   message's hash its personalization string. A seed that repeats or is known is therefore no worse
   than RFC 6979. */
#ifdef CURVE_HEADER
#include CURVE_HEADER
#elif CURVE_IS_BINARY
#include "curve/binary.h"
#else
#include "curve/prime-public.h"
#endif
#include "mac/hmac-drbg-sha-256.h"

/* Takes the leftmost bits of a string as a number with as many bits as the order (RFC 6979,
   2.3.2). */
static void bits_to_scalar(scalar out, const uint8_t *in, unsigned bytes) {
    enum { SURPLUS = 8 * SCALAR_BYTES - SCALAR_BITS };
    for (unsigned i = 0; i < SCALAR_BYTES; i++)
        out[i] = SCALAR_BYTES - 1 - i < bytes ? in[SCALAR_BYTES - 1 - i] : 0;
    for (unsigned i = 0; i < SCALAR_BYTES; i++) {
        unsigned pair = out[i] | (i + 1 < SCALAR_BYTES ? (unsigned)out[i + 1] << 8 : 0);
        out[i] = (uint8_t)(pair >> SURPLUS);
    }
}

static void scalar_to_bytes(uint8_t out[SCALAR_BYTES], const scalar a) {
    for (unsigned i = 0; i < SCALAR_BYTES; i++)
        out[i] = a[SCALAR_BYTES - 1 - i];
}

/* Reads big-endian bytes; returns 0 unless the number is above 0 and below the order. */
static int scalar_from_signature(scalar out, const uint8_t in[SCALAR_BYTES]) {
    return scalar_from_secret(out, in, SCALAR_BYTES);
}

/* Draws a nonce from a generator; returns 0 if the caller must draw again. Optimised for size, so
   that it fits a TelosB: it takes little time beside a multiplication. */
__attribute__((noinline, cold)) static int nonce_draw(drbg_state *generator, scalar out) {
#if SEED_BYTES
    /* FIPS 186-5, A.3.1: reduce 64 bits more than the order has modulo the order less 1, then add
       1. Nothing is ever rejected, so the time is the same for all nonces. The order is odd. */
    enum { WORDS_OF_ORDER = ORDER_BYTES / ORDER_WORD_BYTES };
    uint8_t bytes[SCALAR_BYTES + 8];
    static const order_fe one = {1};
    order_fe k, limit, less;
    drbg_draw(generator, bytes, sizeof bytes);
    for (unsigned i = 0; i < WORDS_OF_ORDER; i++)
        limit[i] = order_modulus[i];
    limit[0] ^= 1;
    bits_to_scalar(out, bytes, SCALAR_BYTES);
    order_words(k, out);
    for (unsigned bit = 0; bit <= 64; bit++) {
        unsigned carry = 0;
        if (bit > 0) {
            unsigned at = SCALAR_BITS + bit - 1;
            carry = bytes[at / 8] >> (7 - at % 8) & 1u;
            for (unsigned i = 0; i < WORDS_OF_ORDER; i++) {
                unsigned top = k[i] >> (ORDER_WORD_BITS - 1) & 1u;
                k[i] = (__typeof__(k[i]))(k[i] << 1 | carry);
                carry = top;
            }
        }
        unsigned borrow = order_less(less, k, limit);
        /* Keep k if the subtraction borrowed and there was no carry above it. */
        uint32_t keep = crypto_mask32(borrow & (carry ^ 1u));
        for (unsigned i = 0; i < WORDS_OF_ORDER; i++)
            k[i] = (__typeof__(k[i]))((k[i] & keep) | (less[i] & ~keep));
    }
    order_add(k, k, one);
    scalar_from_order(out, k);
    crypto_wipe(bytes, sizeof bytes);
    crypto_wipe(k, sizeof k);
    crypto_wipe(less, sizeof less);
    return 1;
#else
    /* RFC 6979, 3.2, step h. A rejected nonce is not used, and that it was rejected says nothing
       about the one that is used. */
    uint8_t bytes[SCALAR_BYTES];
    drbg_draw(generator, bytes, sizeof bytes);
    bits_to_scalar(out, bytes, SCALAR_BYTES);
    scalar_to_bytes(bytes, out);
    int good = scalar_from_secret(out, bytes, SCALAR_BYTES);
    crypto_wipe(bytes, sizeof bytes);
    return good;
#endif
}

/* Reduces x of a point modulo the order. */
static void order_from_x(order_fe out, const uint8_t x[FIELD_BYTES]) {
    scalar k = {0};
    for (unsigned i = 0; i < FIELD_BYTES && i < SCALAR_BYTES; i++)
        k[i] = x[FIELD_BYTES - 1 - i];
    order_from_scalar(out, k);
}

static uint8_t order_is_zero(const order_fe a) {
    scalar k;
    uint8_t any = 0;
    scalar_from_order(k, a);
    for (unsigned i = 0; i < SCALAR_BYTES; i++)
        any |= k[i];
    return any == 0;
}

static void hash_to_order(order_fe out, uint8_t hash[32], const uint8_t *message, size_t length) {
    sha256_ctx state;
    scalar k;
    sha256_init(&state);
    sha256_update(&state, message, length);
    sha256_final(&state, hash);
    bits_to_scalar(k, hash, 32);
    order_from_scalar(out, k);
}

CRYPTO_NOT_INLINE static crypto_status keygen(uint8_t *public_key, const uint8_t *secret_key) {
    scalar k;
    point p;
    int good = scalar_from_secret(k, secret_key, SECRET_BYTES);
    if (good) { /* public: whether the key is valid */
        point_times(&p, k, NULL);
        point_to_bytes(public_key, public_key + FIELD_BYTES, &p);
        crypto_wipe(&p, sizeof p);
    }
    crypto_wipe(k, sizeof k);
    return good ? CRYPTO_OK : CRYPTO_BAD_TAG;
}

CRYPTO_NOT_INLINE static crypto_status sign(uint8_t *signature, const uint8_t *secret_key,
                                            const uint8_t *seed, const uint8_t *message,
                                            size_t length) {
    scalar d, k;
    order_fe e, secret, r, s, t;
    drbg_state generator;
    point p;
    uint8_t hash[32], octets[2][SCALAR_BYTES], x[FIELD_BYTES];
    if (!scalar_from_secret(d, secret_key, SECRET_BYTES)) /* public: whether the key is valid */
        return CRYPTO_BAD_TAG;
    hash_to_order(e, hash, message, length);
    scalar_to_bytes(octets[0], d);
    scalar_from_order(k, e);
    scalar_to_bytes(octets[1], k);
    const drbg_piece pieces[DRBG_PIECES] = {
        {seed, SEED_BYTES}, {octets[0], SCALAR_BYTES}, {octets[1], SCALAR_BYTES}};
    drbg_instantiate(&generator, pieces);
    order_from_scalar(secret, d);
    order_multiply(secret, secret, order_r2);
    for (;;) {
        if (nonce_draw(&generator, k)) { /* public: whether a candidate is a nonce */
            point_times(&p, k, NULL);
            point_to_bytes(x, NULL, &p);
            order_from_x(r, x);
            /* s = (e + r d) / k. A factor of R with d cancels in the product; the one with 1 / k is
               removed first. */
            order_multiply(t, r, secret);
            order_add(t, t, e);
            order_from_scalar(s, k);
            order_multiply(s, s, order_r2);
            order_invert(s, s);
            order_multiply(s, s, t);
            if (!order_is_zero(r) && !order_is_zero(s)) /* public: whether it is a signature */
                break;
        }
        drbg_update(&generator, NULL);
    }
    scalar_from_order(d, r);
    scalar_to_bytes(signature, d);
    scalar_from_order(d, s);
    scalar_to_bytes(signature + SCALAR_BYTES, d);
    crypto_wipe(&generator, sizeof generator);
    crypto_wipe(octets, sizeof octets);
    crypto_wipe(secret, sizeof secret);
    crypto_wipe(t, sizeof t);
    crypto_wipe(k, sizeof k);
    crypto_wipe(&p, sizeof p);
    return CRYPTO_OK;
}

CRYPTO_WIPE_FRAMES(wipe_frames, CURVE_FRAME_BYTES + 600)

crypto_status ECDSA(keygen)(uint8_t *public_key, const uint8_t *secret_key) {
    crypto_status status = keygen(public_key, secret_key);
    wipe_frames();
    return status;
}

crypto_status ECDSA(sign)(uint8_t *signature, const uint8_t *secret_key, const uint8_t *public_key,
                          const uint8_t *seed, const uint8_t *message, size_t length) {
    (void)public_key, (void)seed;
    crypto_status status = sign(signature, secret_key, seed, message, length);
    wipe_frames();
    return status;
}

#ifndef CURVE_COMPARES_X
/* Returns 1 if the x of u G + v q is r modulo the order. */
static int point_sum_has_x(const scalar r, const scalar u, const scalar v, const point *q) {
    uint8_t x[FIELD_BYTES];
    order_fe wanted, found;
    if (!point_sum_x(x, u, v, q))
        return 0;
    order_from_x(found, x);
    order_from_scalar(wanted, r);
    order_subtract(found, found, wanted);
    return order_is_zero(found);
}
#endif

crypto_status ECDSA(verify)(const uint8_t *signature, const uint8_t *public_key,
                            const uint8_t *message, size_t length) {
    scalar r, u, v;
    order_fe s, t;
    point p;
    uint8_t hash[32];
    if (!scalar_from_signature(r, signature) ||
        !scalar_from_signature(v, signature + SCALAR_BYTES) || !point_from_bytes(&p, public_key))
        return CRYPTO_BAD_TAG;
    order_from_scalar(s, v);
    order_multiply(s, s, order_r2);
    order_invert(s, s);
    hash_to_order(t, hash, message, length);
    order_multiply(t, t, s);
    scalar_from_order(u, t);
    order_from_scalar(t, r);
    order_multiply(t, t, s);
    scalar_from_order(v, t);
    return point_sum_has_x(r, u, v, &p) ? CRYPTO_OK : CRYPTO_BAD_TAG;
}
