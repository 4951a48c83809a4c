/* Skipjack in counter mode (SP 800-38A, section 6.5). Its initial counter block of 8 bytes follows
   the payload: boots 2, count 3, sender 2, block 1. */
#ifndef SKIPJACK_POLICY_H
#define SKIPJACK_POLICY_H

#include "policy.h"

enum { SKIPJACK_IV_BYTES = 8 };

/* Returns false if the count or the boots do not fit. */
bool skipjack_iv(const star_context *packet, uint8_t iv[SKIPJACK_IV_BYTES]);

/* Encrypts or decrypts in place. */
void skipjack_ctr(const uint8_t *key, const uint8_t iv[SKIPJACK_IV_BYTES], uint8_t *data,
                  uint8_t length);

#endif
