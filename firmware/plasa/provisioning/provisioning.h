/* What a mote is given before it is deployed: its address, the secret that it shares with the
   authority, and a seed of its own. A product writes these into each device where it is made; here
   they follow from the address, so that every build can be run and checked. */
#ifndef PROVISIONING_H
#define PROVISIONING_H

#include <stdint.h>

enum { PROVISIONED_BYTES = 16, PROVISIONED_EUI_BYTES = 8 };

uint16_t provisioned_address(void);

/* The secret that the authority shares with the mote of an address. */
void provisioned_secret(uint16_t address, uint8_t secret[PROVISIONED_BYTES]);

const uint8_t *provisioned_seed(void);

/* Who manages keys, as EUI-64 in the order of transmission. */
extern const uint8_t provisioned_manager[PROVISIONED_EUI_BYTES];

#endif
