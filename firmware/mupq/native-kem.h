/* What of mlkem-native is built, and its functions under mupq's names. */
#ifndef NATIVE_KEM_H
#define NATIVE_KEM_H

#include <stdint.h>

#if MLKEM_K == 2
#define MLK_CONFIG_PARAMETER_SET 512
#elif MLKEM_K == 3
#define MLK_CONFIG_PARAMETER_SET 768
#else
#define MLK_CONFIG_PARAMETER_SET 1024
#endif
#define MLK_CONFIG_NAMESPACE_PREFIX native

int native_keypair(uint8_t *public_key, uint8_t *private_key);
int native_enc(uint8_t *ciphertext, uint8_t *shared, const uint8_t *public_key);
int native_dec(uint8_t *shared, const uint8_t *ciphertext, const uint8_t *private_key);
#define crypto_kem_keypair native_keypair
#define crypto_kem_enc native_enc
#define crypto_kem_dec native_dec

#endif
