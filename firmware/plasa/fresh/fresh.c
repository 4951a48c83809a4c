#include "fresh.h"

#include <string.h>

#include "boots.h"
#include "cipher.h"
#include "provisioning.h"

void fresh_bytes(uint8_t out[FRESH_BYTES]) {
    static uint32_t asked;
    uint16_t boots = boots_count();
    asked++;
    memset(out, 0, FRESH_BYTES);
    memcpy(out, &boots, sizeof boots);
    memcpy(out + sizeof boots, &asked, sizeof asked);
    cipher_block(provisioned_seed(), out, out);
}
