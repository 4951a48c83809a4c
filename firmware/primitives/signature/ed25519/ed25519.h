/* Ed25519 (RFC 8032, section 5.1). The secret key is the 32-byte seed. */
#ifndef ED25519_H
#define ED25519_H

#include "crypto.h"

enum { ED25519_SECRET_BYTES = 32, ED25519_PUBLIC_BYTES = 32, ED25519_SIGNATURE_BYTES = 64 };

void ed25519_keygen(uint8_t public_key[32], const uint8_t secret_key[32]);
void ed25519_sign(uint8_t signature[64], const uint8_t secret_key[32], const uint8_t public_key[32],
                  const uint8_t *message, size_t length);
/* Anybody's signature and key: the time depends on them. */
crypto_status ed25519_verify(const uint8_t signature[64], const uint8_t public_key[32], const uint8_t *message,
                             size_t length);

#endif
