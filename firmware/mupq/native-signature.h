/* What of mldsa-native is built, and its functions under mupq's names. */
#ifndef NATIVE_SIGNATURE_H
#define NATIVE_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

/* Sizes of keys and signatures: FIPS 204, table 2. */
#if MLDSA_K == 4
#define MLD_CONFIG_PARAMETER_SET 44
#define CRYPTO_SECRETKEYBYTES 2560
#define CRYPTO_PUBLICKEYBYTES 1312
#define CRYPTO_BYTES 2420
#elif MLDSA_K == 6
#define MLD_CONFIG_PARAMETER_SET 65
#define CRYPTO_SECRETKEYBYTES 4032
#define CRYPTO_PUBLICKEYBYTES 1952
#define CRYPTO_BYTES 3309
#else
#define MLD_CONFIG_PARAMETER_SET 87
#define CRYPTO_SECRETKEYBYTES 4896
#define CRYPTO_PUBLICKEYBYTES 2592
#define CRYPTO_BYTES 4627
#endif
#define MLD_CONFIG_NAMESPACE_PREFIX native

int native_keypair(uint8_t *public_key, uint8_t *private_key);
int native_signature(uint8_t *signature, size_t *bytes, const uint8_t *message, size_t length,
                     const uint8_t *context, size_t context_length, const uint8_t *private_key);
int native_verify(const uint8_t *signature, size_t bytes, const uint8_t *message, size_t length,
                  const uint8_t *context, size_t context_length, const uint8_t *public_key);
#define crypto_sign_keypair native_keypair
#define crypto_sign_signature(signature, bytes, message, length, key)                              \
    native_signature(signature, bytes, message, length, NULL, 0, key)
#define crypto_sign_verify(signature, bytes, message, length, key)                                 \
    native_verify(signature, bytes, message, length, NULL, 0, key)

#endif
