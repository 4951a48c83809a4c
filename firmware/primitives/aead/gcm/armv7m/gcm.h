/* GCM (SP 800-38D) for ARMv7-M, with a table of the 16 four-bit multiples of H. */
#ifndef GCM_H
#define GCM_H

#include "aead.h"
#include "over.h"

typedef struct {
    block_cipher_ctx cipher;
    uint32_t table[16][4]; /* [n]: H times n, whose highest bit is x^0; most significant word
                              first */
} gcm_ctx;

#include "aead/gcm/gcm-api.h"

#endif
