#ifndef MLKEM_H
#define MLKEM_H

#include "kem.h"

/* FIPS 203, section 8. */
enum {
    MLKEM_SEED_BYTES = 64,   /* d, then z */
    MLKEM_RANDOM_BYTES = 32, /* m */
    MLKEM_PUBLIC_BYTES = 384 * MLKEM_K + 32,
    MLKEM_PRIVATE_BYTES = 768 * MLKEM_K + 96,
    MLKEM_CIPHERTEXT_BYTES = 32 * (MLKEM_DU * MLKEM_K + MLKEM_DV),
    MLKEM_SHARED_BYTES = 32
};

typedef struct {
    char unused; /* all working data is on the stack */
} mlkem_ctx;

crypto_status mlkem_keygen(uint8_t *public_key, uint8_t *private_key, const uint8_t *seed);
/* Checks the public key (FIPS 203, section 7.2). */
crypto_status mlkem_encapsulate(uint8_t *ciphertext, uint8_t *shared, const uint8_t *public_key,
                                const uint8_t *random);
/* Does not compare the private key with the hash in it (FIPS 203, section 7.3, input check 3):
   one's own key is checked where it comes in, if anywhere. */
crypto_status mlkem_decapsulate(uint8_t *shared, const uint8_t *ciphertext,
                                const uint8_t *private_key);

#endif
