/* Where things are in flash. The part's caller defines the numbers; each begins a page. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdint.h>

/* Vendor and class of this device (SUIT_UUID_BYTES each), then the public key; written once. */
#define IDENTITY ((const uint8_t *)(uint32_t)UPDATE_IDENTITY)

#define COUNTER ((uint32_t)UPDATE_COUNTER)

/* A slot has room for a manifest, then for an image that is linked to run there. */
#define SLOT(number) ((uint32_t)UPDATE_SLOTS + (number) * (uint32_t)UPDATE_SLOT_BYTES)
#define MANIFEST_ROOM ((uint32_t)UPDATE_MANIFEST_BYTES)
#define IMAGE_ROOM ((uint32_t)UPDATE_SLOT_BYTES - MANIFEST_ROOM)

#endif
