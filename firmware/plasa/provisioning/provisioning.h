/* What a mote is given before deployment: its address, the secret that it shares with the
   authority, and its own seed. A product writes these into each device during manufacture; here
   they are derived from the address, so that every build can be run and checked. */
#ifndef PROVISIONING_H
#define PROVISIONING_H

#include <stdint.h>

enum { PROVISIONED_BYTES = 16, PROVISIONED_EUI_BYTES = 8 };

uint16_t provisioned_address(void);

/* Returns the secret that the authority shares with the mote at an address. */
void provisioned_secret(uint16_t address, uint8_t secret[PROVISIONED_BYTES]);

const uint8_t *provisioned_seed(void);

/* EUI-64 of the key manager, in transmission order. */
extern const uint8_t provisioned_manager[PROVISIONED_EUI_BYTES];

#endif
