/* The group X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem, section 4): ML-KEM's part comes first in
   shares and in the shared secret. A client keeps the seed of its key pair, which is a fraction of
   the private key, and makes the pair again for the answer. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "mlkem.h"
#include "x25519.h"

#define EXCHANGE_GROUP 0x11ec

enum {
    EXCHANGE_SECRET_BYTES = MLKEM_SEED_BYTES + X25519_SECRET_BYTES,
    EXCHANGE_SHARED_BYTES = MLKEM_SHARED_BYTES + X25519_SHARED_BYTES,
    EXCHANGE_OFFER_BYTES = MLKEM_PUBLIC_BYTES + X25519_PUBLIC_BYTES,
    EXCHANGE_ANSWER_BYTES = MLKEM_CIPHERTEXT_BYTES + X25519_PUBLIC_BYTES
};

crypto_status exchange_offer(uint8_t *offer, const uint8_t *secret);
crypto_status exchange_answer(uint8_t *answer, uint8_t *shared, const uint8_t *secret,
                              const uint8_t *offer);
crypto_status exchange_finish(uint8_t *shared, const uint8_t *secret, const uint8_t *answer);

#endif
