#include "verify.h"

#include "ecdsa_p256.h"
#include "lms.h"

int update_verify(unsigned number, const uint8_t *signature, size_t signature_length,
                  const update_signed *what) {
    const uint8_t *second_key = what->public_keys + ECDSA_P256_PUBLIC_BYTES;
    if (number == 0)
        return signature_length == ECDSA_P256_SIGNATURE_BYTES &&
               ecdsa_p256_verify(signature, what->public_keys, what->message, what->length) ==
                   CRYPTO_OK;
    return lms_verify(signature, signature_length, second_key, what->message, what->length) ==
           CRYPTO_OK;
}
