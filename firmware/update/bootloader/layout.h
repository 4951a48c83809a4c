/* Where things are in flash. The part's caller defines the numbers; each begins a page. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdint.h>

/* Vendor and class of this device (SUIT_UUID_BYTES each), then the public key; written once. */
#define IDENTITY ((const uint8_t *)(uintptr_t)UPDATE_IDENTITY)

#define COUNTER ((uint32_t)UPDATE_COUNTER)
enum { COUNTER_PAGE_BYTES = UPDATE_COUNTER_PAGE_BYTES };

/* A slot has room for a manifest, then for an image, which is linked to run there or, if slots are
   apart, at RUN. */
#define SLOT(number) ((uint32_t)UPDATE_SLOTS + (number) * (uint32_t)UPDATE_SLOT_BYTES)
#define MANIFEST_ROOM ((uint32_t)UPDATE_MANIFEST_BYTES)
#define IMAGE_ROOM ((uint32_t)UPDATE_IMAGE_BYTES)
#define SLOT_PAGE_BYTES ((uint32_t)UPDATE_SLOT_PAGE_BYTES)

#define RUN ((uint32_t)UPDATE_RUN)
enum { RUN_PAGE_BYTES = UPDATE_RUN_PAGE_BYTES };

#endif
