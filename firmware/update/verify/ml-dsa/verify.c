#include "verify.h"

#include "mldsa.h"

int update_verify(const uint8_t *signature, size_t signature_length, const uint8_t *public_key,
                  const uint8_t *message, size_t length) {
    return signature_length == MLDSA_SIGNATURE_BYTES &&
           mldsa_verify(signature, public_key, message, length) == CRYPTO_OK;
}
