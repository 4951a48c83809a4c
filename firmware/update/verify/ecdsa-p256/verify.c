#include "verify.h"

#include "ecdsa_p256.h"

int update_verify(const uint8_t *signature, size_t signature_length, const uint8_t *public_key,
                  const uint8_t *message, size_t length) {
    return signature_length == ECDSA_P256_SIGNATURE_BYTES &&
           ecdsa_p256_verify(signature, public_key, message, length) == CRYPTO_OK;
}
