/* Bytes that nobody can foresee and that never come twice, not even after a reboot: AES-128 under
   the mote's own seed of how often it booted and how often it was asked. For nonces of protocols
   and for keys that a manager draws. */
#ifndef FRESH_H
#define FRESH_H

#include <stdint.h>

enum { FRESH_BYTES = 16 };

void fresh_bytes(uint8_t out[FRESH_BYTES]);

#endif
