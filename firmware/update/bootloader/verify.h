/* Verification of an update's signature; each signature has a part that implements it. */
#ifndef VERIFY_H
#define VERIFY_H

#include <stddef.h>
#include <stdint.h>

/* Returns 1 if the signature, of any length, is valid. */
int update_verify(const uint8_t *signature, size_t signature_length, const uint8_t *public_key,
                  const uint8_t *message, size_t length);

#endif
