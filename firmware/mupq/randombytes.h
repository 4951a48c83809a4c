/* The source of random bytes that implementations laid out as in mupq call; here it hands out the
   inputs of the operation that is measured, in order. */
#ifndef RANDOMBYTES_H
#define RANDOMBYTES_H

#include <stddef.h>
#include <stdint.h>

int randombytes(uint8_t *out, size_t length);

#endif
