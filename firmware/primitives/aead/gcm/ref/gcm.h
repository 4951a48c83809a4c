/* GCM (SP 800-38D); GHASH multiplies one bit at a time. */
#ifndef GCM_H
#define GCM_H

#include "aead.h"
#include "over.h"

typedef struct {
    block_cipher_ctx cipher;
    uint32_t h[4]; /* H, most significant word first */
} gcm_ctx;

#include "aead/gcm/gcm-api.h"

#endif
