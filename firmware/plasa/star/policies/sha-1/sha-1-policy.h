/* HMAC-SHA-1 (FIPS 198-1) over sender, receiver, control field, payload and counters. */
#ifndef SHA_1_POLICY_H
#define SHA_1_POLICY_H

#include "policy.h"
#include "sha1.h"

/* Computes the tag of a packet. `length` counts the payload and any authenticated bytes after
   it. */
void sha_1_tag(const star_context *packet, const uint8_t *data, uint8_t length,
               uint8_t tag[SHA1_DIGEST_BYTES]);

#endif
