/* What an implementation in mupq's layout does besides its kind's operations. */
#ifndef MUPQ_H
#define MUPQ_H

#include "crypto.h"

/* Makes the private key of a seed, by which it signs from then on. */
crypto_status mupq_expand(const uint8_t *seed);

#endif
