/* Elliptic-curve Diffie-Hellman (SP 800-56A, 5.7.1.2) with the prefix ECDH(name), over a curve that
   the including file has included; ECDH(SECRET_BYTES) and so on are constants. Public keys are X
   and Y, the shared secret is X. */
#ifdef CURVE_HEADER
#include CURVE_HEADER
#elif CURVE_IS_BINARY
#include "curve/binary.h"
#else
#include "curve/prime.h"
#endif

CRYPTO_NOT_INLINE static crypto_status keygen(uint8_t *public_key, const uint8_t *secret_key) {
    scalar k;
    point p;
    int good = scalar_from_secret(k, secret_key, SECRET_BYTES);
    if (good) { /* public: whether the keys are valid */
        point_times(&p, k, NULL);
        point_to_bytes(public_key, public_key + FIELD_BYTES, &p);
        crypto_wipe(&p, sizeof p);
    }
    crypto_wipe(k, sizeof k);
    return good ? CRYPTO_OK : CRYPTO_BAD_TAG;
}

/* The end of an agreement, with a point that decoding may have rejected. */
CRYPTO_NOT_INLINE static crypto_status agree_with(uint8_t *shared, const uint8_t *secret_key,
                                                  point *p, int good) {
    scalar k;
    good &= scalar_from_secret(k, secret_key, SECRET_BYTES);
    if (good) { /* public: whether the keys are valid */
        point_times(p, k, p);
        point_to_bytes(shared, NULL, p);
    }
    crypto_wipe(p, sizeof *p);
    crypto_wipe(k, sizeof k);
    return good ? CRYPTO_OK : CRYPTO_BAD_TAG;
}

CRYPTO_NOT_INLINE static crypto_status agree(uint8_t *shared, const uint8_t *secret_key,
                                             const uint8_t *peer_key) {
    point p;
    int good = point_from_bytes(&p, peer_key);
    return agree_with(shared, secret_key, &p, good);
}

CRYPTO_WIPE_FRAMES(wipe_frames, CURVE_FRAME_BYTES)

crypto_status ECDH(keygen)(uint8_t *public_key, const uint8_t *secret_key) {
    crypto_status status = keygen(public_key, secret_key);
    wipe_frames();
    return status;
}

crypto_status ECDH(agree)(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer_key) {
    crypto_status status = agree(shared, secret_key, peer_key);
    wipe_frames();
    return status;
}

#ifdef ECDH_WITH_X
CRYPTO_NOT_INLINE static crypto_status agree_x(uint8_t *shared, const uint8_t *secret_key,
                                               const uint8_t *peer_x) {
    point p;
    int good = point_from_x(&p, peer_x);
    return agree_with(shared, secret_key, &p, good);
}

/* Agrees with a peer whose key is X only: both points with this X give the same secret. */
crypto_status ECDH(agree_x)(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer_x) {
    crypto_status status = agree_x(shared, secret_key, peer_x);
    wipe_frames();
    return status;
}
#endif
