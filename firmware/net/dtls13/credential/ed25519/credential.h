/* Ed25519: SubjectPublicKeyInfo as in RFC 8410, as raw public keys (RFC 7250) and in certificates.
 */
#ifndef CREDENTIAL_H
#define CREDENTIAL_H

#include "ed25519.h"

#define CREDENTIAL_SCHEME 0x0807
/* id-Ed25519 (RFC 8410, section 3) */
#define CREDENTIAL_ALGORITHM {0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70}

enum {
    CREDENTIAL_PREFIX_BYTES = 12,
    CREDENTIAL_CERTIFICATE_BYTES = CREDENTIAL_PREFIX_BYTES + ED25519_PUBLIC_BYTES,
    CREDENTIAL_SIGNATURE_BYTES_MAX = ED25519_SIGNATURE_BYTES
};

static inline void credential_certificate(uint8_t *out, const uint8_t *public_key) {
    static const uint8_t prefix[CREDENTIAL_PREFIX_BYTES] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
                                                            0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
    for (unsigned i = 0; i < CREDENTIAL_PREFIX_BYTES; i++)
        out[i] = prefix[i];
    for (unsigned i = 0; i < ED25519_PUBLIC_BYTES; i++)
        out[CREDENTIAL_PREFIX_BYTES + i] = public_key[i];
}

/* Returns the signature's length; 0 if there is none. */
static inline size_t credential_sign(uint8_t *out, const uint8_t *secret_key,
                                     const uint8_t *public_key, const uint8_t *seed,
                                     const uint8_t *message, size_t length) {
    return ed25519_sign(out, secret_key, public_key, seed, message, length) == CRYPTO_OK
               ? ED25519_SIGNATURE_BYTES
               : 0;
}

static inline int credential_verify(const uint8_t *signature, size_t signature_length,
                                    const uint8_t *public_key, const uint8_t *message,
                                    size_t length) {
    return signature_length == ED25519_SIGNATURE_BYTES &&
           ed25519_verify(signature, public_key, message, length) == CRYPTO_OK;
}

#endif
