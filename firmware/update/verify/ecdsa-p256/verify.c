#include "verify.h"

#include "ecdsa_p256.h"

int update_verify(unsigned number, const uint8_t *signature, size_t signature_length,
                  const update_signed *what) {
    (void)number;
    return signature_length == ECDSA_P256_SIGNATURE_BYTES &&
           ecdsa_p256_verify(signature, what->public_keys, what->message, what->length) ==
               CRYPTO_OK;
}
