/* ECDSA over P-256: SubjectPublicKeyInfo with an uncompressed point (RFC 5480), as raw public keys
   (RFC 7250) and in certificates; signatures as two DER integers (RFC 3279, section 2.2.3). */
#ifndef CREDENTIAL_H
#define CREDENTIAL_H

#include "ecdsa_p256.h"

#define CREDENTIAL_SCHEME 0x0403
/* ecdsa-with-SHA256 (RFC 5758, section 3.2) */
#define CREDENTIAL_ALGORITHM                                                                       \
    {0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02}

enum {
    CREDENTIAL_PREFIX_BYTES = 27,
    CREDENTIAL_CERTIFICATE_BYTES = CREDENTIAL_PREFIX_BYTES + ECDSA_P256_PUBLIC_BYTES,
    CREDENTIAL_SIGNATURE_BYTES_MAX = 72
};

void credential_certificate(uint8_t *out, const uint8_t *public_key);

/* Returns the signature's length; 0 if there is none. */
size_t credential_sign(uint8_t *out, const uint8_t *secret_key, const uint8_t *public_key,
                       const uint8_t *seed, const uint8_t *message, size_t length);

int credential_verify(const uint8_t *signature, size_t signature_length, const uint8_t *public_key,
                      const uint8_t *message, size_t length);

#endif
