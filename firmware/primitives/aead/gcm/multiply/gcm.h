/* GCM (SP 800-38D), whose GHASH multiplies with the core's multiplication of integers. */
#ifndef GCM_H
#define GCM_H

#include "aead.h"
#include "over.h"

typedef struct {
    block_cipher_ctx cipher;
    uint32_t h[4]; /* lowest word first; the highest bit of all is x^0 */
} gcm_ctx;

#include "aead/gcm/gcm-api.h"

#endif
