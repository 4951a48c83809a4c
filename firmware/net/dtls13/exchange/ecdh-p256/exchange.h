/* The group secp256r1, whose shares are uncompressed points (RFC 8446, section 4.2.8.2). */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "ecdh_p256.h"

#define EXCHANGE_GROUP 0x0017

enum {
    EXCHANGE_SECRET_BYTES = ECDH_P256_SECRET_BYTES,
    EXCHANGE_SHARED_BYTES = ECDH_P256_SHARED_BYTES,
    EXCHANGE_OFFER_BYTES = 1 + ECDH_P256_PUBLIC_BYTES,
    EXCHANGE_ANSWER_BYTES = 1 + ECDH_P256_PUBLIC_BYTES,
    EXCHANGE_UNCOMPRESSED = 4
};

static inline crypto_status exchange_offer(uint8_t *offer, const uint8_t *secret) {
    offer[0] = EXCHANGE_UNCOMPRESSED;
    return ecdh_p256_keygen(offer + 1, secret);
}

static inline crypto_status exchange_finish(uint8_t *shared, const uint8_t *secret,
                                            const uint8_t *answer) {
    return answer[0] == EXCHANGE_UNCOMPRESSED ? ecdh_p256_agree(shared, secret, answer + 1)
                                              : CRYPTO_BAD_TAG;
}

static inline crypto_status exchange_answer(uint8_t *answer, uint8_t *shared, const uint8_t *secret,
                                            const uint8_t *offer) {
    crypto_status status = exchange_offer(answer, secret);
    return status == CRYPTO_OK ? exchange_finish(shared, secret, offer) : status;
}

#endif
