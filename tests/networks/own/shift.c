/* Somebody's own protocol, whose code lies beside the program and uses the C library. */
#include "shift.h"

#include <string.h>

void shift(uint8_t *bytes, size_t length, const uint8_t *key) {
    for (size_t i = 0; i < length; i++)
        bytes[i] ^= key[i % KEY_BYTES];
}

void agree(uint8_t *key, const uint8_t *nonces) {
    const char *secret = "known to both";
    for (size_t i = 0; i < KEY_BYTES; i++)
        key[i] = (uint8_t)(nonces[i] * 29 ^ secret[i % strlen(secret)]);
}
