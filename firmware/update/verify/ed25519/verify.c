#include "verify.h"

#include "ed25519.h"

int update_verify(const uint8_t *signature, size_t signature_length, const uint8_t *public_key,
                  const uint8_t *message, size_t length) {
    return signature_length == ED25519_SIGNATURE_BYTES &&
           ed25519_verify(signature, public_key, message, length) == CRYPTO_OK;
}
