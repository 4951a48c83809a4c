/* Verification of an update's signatures; each way to sign has a part that implements it. */
#ifndef VERIFY_H
#define VERIFY_H

#include <stddef.h>
#include <stdint.h>

/* What a signature signs, and the keys of the first signature and of the second, which some parts
   need. */
typedef struct {
    const uint8_t *message;
    size_t length;
    const uint8_t *public_keys;
} update_signed;

/* Returns 1 if the signature with this number, of any length, is valid. */
int update_verify(unsigned number, const uint8_t *signature, size_t signature_length,
                  const update_signed *what);

#endif
