#include "verify.h"

#include "mldsa.h"

int update_verify(unsigned number, const uint8_t *signature, size_t signature_length,
                  const update_signed *what) {
    (void)number;
    return signature_length == MLDSA_SIGNATURE_BYTES &&
           mldsa_verify(signature, what->public_keys, what->message, what->length) == CRYPTO_OK;
}
