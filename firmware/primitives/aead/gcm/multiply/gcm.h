/* GCM (SP 800-38D); GHASH uses the core's integer multiplication. */
#ifndef GCM_H
#define GCM_H

#include "aead.h"
#include "over.h"

typedef struct {
    block_cipher_ctx cipher;
    uint32_t h[4]; /* least significant word first; the highest bit of all is x^0 */
} gcm_ctx;

#include "aead/gcm/gcm-api.h"

#endif
