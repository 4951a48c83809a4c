/* AES-128 of one block on the radio's engine; the radio must be up. */
#ifndef CIPHER_H
#define CIPHER_H

#include <stdint.h>

/* `out` may be `in`, or the key. */
void cipher_block(const uint8_t key[16], uint8_t out[16], const uint8_t in[16]);

#endif
