#include "verify.h"

#include "xmss.h"

int update_verify(unsigned number, const uint8_t *signature, size_t signature_length,
                  const update_signed *what) {
    (void)number;
    return xmss_verify(signature, signature_length, what->public_keys, what->message,
                       what->length) == CRYPTO_OK;
}
