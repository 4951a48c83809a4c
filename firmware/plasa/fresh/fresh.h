/* Bytes that are unpredictable and never repeat, even after a reboot: AES-128, under the mote's own
   seed, of the number of boots and the number of calls. For nonces of protocols and for keys that a
   manager generates. */
#ifndef FRESH_H
#define FRESH_H

#include <stdint.h>

enum { FRESH_BYTES = 16 };

void fresh_bytes(uint8_t out[FRESH_BYTES]);

#endif
