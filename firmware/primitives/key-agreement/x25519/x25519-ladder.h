/* X25519 (RFC 7748, section 5) over any implementation of its field: the RFC's ladder, with one
   swap of the two points per step. The including file has included a field. */
#include "field/p25519.h"
#include "x25519.h"

typedef struct {
    fe px, pz, qx, qz, x1, a, b, c, d;
} ladder;

#ifdef P25519_STEP
#define ladder_step(l, swap) P25519_STEP(&(l)->px, swap)
#elif !defined P25519_LADDER
/* Swaps the two points if swap is all ones, then doubles the first and adds it to the second. */
static void ladder_step(ladder *l, uint32_t swap) {
    p25519_swap(l->px, l->qx, swap);
    fe_add(l->a, l->px, l->pz);
    fe_subtract(l->b, l->px, l->pz);
    fe_add(l->c, l->qx, l->qz);
    fe_subtract(l->d, l->qx, l->qz);
    fe_multiply(l->d, l->d, l->a);
    fe_multiply(l->c, l->c, l->b);
    fe_square(l->a, l->a);
    fe_square(l->b, l->b);
    fe_add(l->qx, l->d, l->c);
    fe_subtract(l->c, l->d, l->c);
    fe_square(l->qx, l->qx);
    fe_square(l->c, l->c);
    fe_multiply(l->qz, l->c, l->x1);
    fe_multiply(l->px, l->a, l->b);
    fe_subtract(l->b, l->a, l->b);
    p25519_multiply_a24(l->c, l->b);
    fe_add(l->c, l->c, l->a);
    fe_multiply(l->pz, l->b, l->c);
}
#endif

CRYPTO_NOT_INLINE static void multiply(uint8_t out[32], const uint8_t scalar[32],
                                       const uint8_t u[32]) {
    ladder l = {.px = {1}, .qz = {1}};
    uint8_t k[32];
    for (unsigned i = 0; i < 32; i++)
        k[i] = scalar[i];
    k[0] &= 248;
    k[31] = (uint8_t)((k[31] & 127) | 64);
    fe_from_bytes(l.x1, u);
    fe_copy(l.qx, l.x1);
#ifdef P25519_LADDER
    P25519_LADDER(&l.px, l.x1, k);
#else
    unsigned before = 0;
    for (unsigned i = 255; i-- > 0;) {
        unsigned bit = k[i / 8] >> i % 8 & 1u;
        ladder_step(&l, crypto_mask32(bit ^ before));
        before = bit;
    }
    p25519_swap(l.px, l.qx, crypto_mask32(before));
#endif
    fe_invert(l.a, l.pz);
    fe_multiply(l.a, l.a, l.px);
    fe_to_bytes(out, l.a);
    crypto_wipe(k, sizeof k);
    crypto_wipe(&l, sizeof l);
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
