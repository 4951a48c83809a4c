#ifndef SHIFT_H
#define SHIFT_H

#include <stddef.h>
#include <stdint.h>

enum { KEY_BYTES = 16 };

void shift(uint8_t *bytes, size_t length, const uint8_t *key);
void agree(uint8_t *key, const uint8_t *nonces);

#endif
