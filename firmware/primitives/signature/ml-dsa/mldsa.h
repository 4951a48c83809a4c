/* ML-DSA (FIPS 204). The secret key is the 32-byte seed xi, from which each signature derives what
   it needs. The seed of a signature is rnd of algorithm 2: fresh random bytes for the hedged
   variant, zeros for the deterministic one. */
#ifndef MLDSA_H
#define MLDSA_H

#include "signature.h"

#define MLDSA_SEED_BYTES 32

/* FIPS 204, section 4. */
enum {
    MLDSA_SECRET_BYTES = 32,
    MLDSA_PUBLIC_BYTES = 32 + 320 * MLDSA_K,
    MLDSA_SIGNATURE_BYTES =
        MLDSA_CHALLENGE_BYTES + 32 * (MLDSA_GAMMA1_BITS + 1) * MLDSA_L + MLDSA_OMEGA + MLDSA_K
};

typedef struct {
    char unused; /* all working data is on the stack */
} mldsa_ctx;

/* What is signed. */
typedef struct {
    const uint8_t *context;
    uint8_t context_bytes;
    uint8_t is_hashed; /* 1: HashML-DSA (section 5.4) of DER-encoded object identifier and hash */
    const uint8_t *bytes; /* the message or, if is_hashed, those two together */
    size_t length;
} mldsa_message;

crypto_status mldsa_keygen(uint8_t *public_key, const uint8_t *secret_key);
/* Signs with an empty context. While it works, the signature's buffer holds intermediate results
   that are secret: read it only after the return. */
crypto_status mldsa_sign(uint8_t *signature, const uint8_t *secret_key, const uint8_t *public_key,
                         const uint8_t *seed, const uint8_t *message, size_t length);
crypto_status mldsa_verify(const uint8_t *signature, const uint8_t *public_key,
                           const uint8_t *message, size_t length);

crypto_status mldsa_sign_message(uint8_t *signature, const uint8_t *secret_key,
                                 const uint8_t *public_key, const uint8_t *seed,
                                 const mldsa_message *message);
crypto_status mldsa_verify_message(const uint8_t *signature, const uint8_t *public_key,
                                   const mldsa_message *message);

#endif
