/* ECDSA (FIPS 186-5, section 6) with SHA-256 and the nonces of RFC 6979, over a curve whose
   constants whoever includes this has included, for the prefix ECDSA(name). The signature is r and
   s, the public key X and Y, big endian. */
#if CURVE_IS_BINARY
#include "curve/binary.h"
#else
#include "curve/prime-public.h"
#endif
#include "mac/hmac-sha-256.h"

/* HMAC-SHA-256 of up to four pieces with a key of 32 bytes, which out may be. */
static void hmac(uint8_t out[32], const uint8_t key[32], const uint8_t *const pieces[4],
                 const uint8_t lengths[4]) {
    sha256_ctx hash;
    hmac_sha256_begin(&hash, key);
    for (unsigned i = 0; i < 4; i++)
        sha256_update(&hash, pieces[i], lengths[i]);
    hmac_sha256_end(&hash, key, out);
}

/* The leftmost bits of a string as a number that has as many bits as the order (RFC 6979, 2.3.2).
 */
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

/* Big-endian bytes that are above 0 and below the order, or 0. */
static int scalar_from_signature(scalar out, const uint8_t in[SCALAR_BYTES]) {
    return scalar_from_secret(out, in, SCALAR_BYTES);
}

/* The generator of nonces of RFC 6979, 3.2: HMAC_DRBG of the secret key and the message's hash. */
typedef struct {
    uint8_t key[32], value[32];
} nonces;

static void nonces_next(nonces *state, uint8_t separator, const uint8_t *secret,
                        const uint8_t *hash) {
    uint8_t length = secret ? SCALAR_BYTES : 0;
    const uint8_t *pieces[4] = {state->value, &separator, secret, hash};
    const uint8_t lengths[4] = {32, 1, length, length};
    const uint8_t *value[4] = {state->value, NULL, NULL, NULL};
    const uint8_t value_lengths[4] = {32, 0, 0, 0};
    hmac(state->key, state->key, pieces, lengths);
    hmac(state->value, state->key, value, value_lengths);
}

static void nonces_draw(nonces *state, scalar out) {
    uint8_t bytes[SCALAR_BYTES];
    const uint8_t *pieces[4] = {state->value, NULL, NULL, NULL};
    const uint8_t lengths[4] = {32, 0, 0, 0};
    for (unsigned have = 0; have < SCALAR_BYTES; have += 32) {
        hmac(state->value, state->key, pieces, lengths);
        for (unsigned i = 0; i < 32 && have + i < SCALAR_BYTES; i++)
            bytes[have + i] = state->value[i];
    }
    bits_to_scalar(out, bytes, SCALAR_BYTES);
    crypto_wipe(bytes, sizeof bytes);
}

/* x of a point, modulo the order. */
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
    if (good) {
        point_times(&p, k, NULL);
        point_to_bytes(public_key, public_key + FIELD_BYTES, &p);
        crypto_wipe(&p, sizeof p);
    }
    crypto_wipe(k, sizeof k);
    return good ? CRYPTO_OK : CRYPTO_BAD_TAG;
}

CRYPTO_NOT_INLINE static crypto_status sign(uint8_t *signature, const uint8_t *secret_key,
                                            const uint8_t *public_key, const uint8_t *message,
                                            size_t length) {
    scalar d, k;
    order_fe e, secret, r, s, t;
    nonces state;
    point p;
    uint8_t hash[32], octets[2][SCALAR_BYTES], x[FIELD_BYTES];
    (void)public_key;
    if (!scalar_from_secret(d, secret_key, SECRET_BYTES))
        return CRYPTO_BAD_TAG;
    hash_to_order(e, hash, message, length);
    scalar_to_bytes(octets[0], d);
    scalar_from_order(k, e);
    scalar_to_bytes(octets[1], k);
    for (unsigned i = 0; i < 32; i++) {
        state.key[i] = 0;
        state.value[i] = 1;
    }
    nonces_next(&state, 0, octets[0], octets[1]);
    nonces_next(&state, 1, octets[0], octets[1]);
    order_from_scalar(secret, d);
    order_multiply(secret, secret, order_r2);
    for (;;) {
        uint8_t candidate[SCALAR_BYTES];
        nonces_draw(&state, k);
        scalar_to_bytes(candidate, k);
        /* A nonce that is refused is not used: that it was says nothing of the one that is. */
        if (scalar_from_secret(k, candidate, SCALAR_BYTES)) {
            point_times(&p, k, NULL);
            point_to_bytes(x, NULL, &p);
            order_from_x(r, x);
            /* s = (e + r d) / k; a factor of R beside d cancels in the product, one beside 1 / k is
             * taken off. */
            order_multiply(t, r, secret);
            order_add(t, t, e);
            order_from_scalar(s, k);
            order_multiply(s, s, order_r2);
            order_invert(s, s);
            order_multiply(s, s, t);
            if (!order_is_zero(r) && !order_is_zero(s))
                break;
        }
        nonces_next(&state, 0, NULL, NULL);
    }
    scalar_from_order(d, r);
    scalar_to_bytes(signature, d);
    scalar_from_order(d, s);
    scalar_to_bytes(signature + SCALAR_BYTES, d);
    crypto_wipe(&state, sizeof state);
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
                          const uint8_t *message, size_t length) {
    crypto_status status = sign(signature, secret_key, public_key, message, length);
    wipe_frames();
    return status;
}

crypto_status ECDSA(verify)(const uint8_t *signature, const uint8_t *public_key,
                            const uint8_t *message, size_t length) {
    scalar k, u;
    order_fe r, s, e;
    point p;
    uint8_t hash[32], x[FIELD_BYTES];
    if (!scalar_from_signature(k, signature))
        return CRYPTO_BAD_TAG;
    order_from_scalar(r, k);
    if (!scalar_from_signature(k, signature + SCALAR_BYTES) || !point_from_bytes(&p, public_key))
        return CRYPTO_BAD_TAG;
    order_from_scalar(s, k);
    order_invert_public(s, s);
    order_multiply(s, s, order_r2);
    hash_to_order(e, hash, message, length);
    order_multiply(e, e, s);
    scalar_from_order(u, e);
    order_multiply(e, r, s);
    scalar_from_order(k, e);
    if (!point_sum_x(x, u, k, &p))
        return CRYPTO_BAD_TAG;
    order_from_x(e, x);
    order_subtract(e, e, r);
    return order_is_zero(e) ? CRYPTO_OK : CRYPTO_BAD_TAG;
}
