#include "verify.h"

#include "lms.h"

int update_verify(const uint8_t *signature, size_t signature_length, const uint8_t *public_key,
                  const uint8_t *message, size_t length) {
    return lms_verify(signature, signature_length, public_key, message, length) == CRYPTO_OK;
}
