#include "verify.h"

#include "ed25519.h"

int update_verify(unsigned number, const uint8_t *signature, size_t signature_length,
                  const update_signed *what) {
    (void)number;
    return signature_length == ED25519_SIGNATURE_BYTES &&
           ed25519_verify(signature, what->public_keys, what->message, what->length) == CRYPTO_OK;
}
