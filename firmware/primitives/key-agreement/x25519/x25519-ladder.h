/* X25519 (RFC 7748, section 5) over any implementation of its field: the ladder of its appendix,
   one exchange of the two points a step. Whoever includes this has included a field. */
#include "field/p25519.h"
#include "x25519.h"

CRYPTO_NOT_INLINE static void multiply(uint8_t out[32], const uint8_t scalar[32],
                                       const uint8_t u[32]) {
    struct {
        fe x, z;
    } p = {.x = {1}}, q = {.z = {1}};
    fe x1, a, b, c, d;
    uint8_t k[32];
    for (unsigned i = 0; i < 32; i++)
        k[i] = scalar[i];
    k[0] &= 248;
    k[31] = (uint8_t)((k[31] & 127) | 64);
    fe_from_bytes(x1, u);
    fe_copy(q.x, x1);
    unsigned before = 0;
    for (unsigned i = 255; i-- > 0;) {
        unsigned bit = k[i / 8] >> i % 8 & 1u;
        p25519_swap(&p, &q, crypto_mask32(bit ^ before));
        before = bit;
        fe_add(a, p.x, p.z);
        fe_subtract(b, p.x, p.z);
        fe_add(c, q.x, q.z);
        fe_subtract(d, q.x, q.z);
        fe_multiply(d, d, a);
        fe_multiply(c, c, b);
        fe_square(a, a);
        fe_square(b, b);
        fe_add(q.x, d, c);
        fe_subtract(c, d, c);
        fe_square(q.x, q.x);
        fe_square(c, c);
        fe_multiply(q.z, c, x1);
        fe_multiply(p.x, a, b);
        fe_subtract(b, a, b);
        p25519_multiply_a24(c, b);
        fe_add(c, c, a);
        fe_multiply(p.z, b, c);
    }
    p25519_swap(&p, &q, crypto_mask32(before));
    fe_invert(a, p.z);
    fe_multiply(a, a, p.x);
    fe_to_bytes(out, a);
    crypto_wipe(k, sizeof k);
    crypto_wipe(&p, sizeof p);
    crypto_wipe(&q, sizeof q);
}

CRYPTO_WIPE_FRAMES(wipe_frames, 1000)

crypto_status x25519_keygen(uint8_t *public_key, const uint8_t *secret_key) {
    static const uint8_t base[32] = {9};
    multiply(public_key, secret_key, base);
    wipe_frames();
    return CRYPTO_OK;
}

crypto_status x25519_agree(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer_key) {
    static const uint8_t zero[32];
    multiply(shared, secret_key, peer_key);
    wipe_frames();
    return crypto_equal(shared, zero, sizeof zero) ? CRYPTO_BAD_TAG : CRYPTO_OK;
}
