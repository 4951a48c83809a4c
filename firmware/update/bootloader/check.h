/* Whether a manifest is signed, and for this place. */
#ifndef CHECK_H
#define CHECK_H

#include "suit.h"

/* Where the image is to lie. */
typedef struct {
    const uint8_t *identity; /* vendor and class (SUIT_UUID_BYTES each), then the public key */
    uint8_t slot;
    uint32_t room; /* bytes */
} update_place;

/* Returns 1 if it is. The image itself is not looked at. */
int update_check_manifest(const suit_manifest *m, const update_place *place);

#endif
