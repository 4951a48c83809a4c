#ifndef X25519_H
#define X25519_H

#include "crypto.h"

void x25519_multiply(uint8_t out[32], const uint8_t scalar[32], const uint8_t u[32]);

#endif
