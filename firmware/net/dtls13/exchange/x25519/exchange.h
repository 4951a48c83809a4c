/* The group x25519 (RFC 8446, section 4.2.8.2). The client offers a share, the server answers with
   its own and has the shared secret, and the client finishes. Secrets are uniformly random. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "x25519.h"

#define EXCHANGE_GROUP 0x001d

enum {
    EXCHANGE_SECRET_BYTES = X25519_SECRET_BYTES,
    EXCHANGE_SHARED_BYTES = X25519_SHARED_BYTES,
    EXCHANGE_OFFER_BYTES = X25519_PUBLIC_BYTES,
    EXCHANGE_ANSWER_BYTES = X25519_PUBLIC_BYTES
};

static inline crypto_status exchange_offer(uint8_t *offer, const uint8_t *secret) {
    return x25519_keygen(offer, secret);
}

static inline crypto_status exchange_answer(uint8_t *answer, uint8_t *shared, const uint8_t *secret,
                                            const uint8_t *offer) {
    crypto_status status = x25519_keygen(answer, secret);
    return status == CRYPTO_OK ? x25519_agree(shared, secret, offer) : status;
}

static inline crypto_status exchange_finish(uint8_t *shared, const uint8_t *secret,
                                            const uint8_t *answer) {
    return x25519_agree(shared, secret, answer);
}

#endif
