/* CBC-MAC over any block cipher: ISO/IEC 9797-1, algorithm 1, with padding method 1 (zeros; an
   empty message is one block of zeros). Secure only if all messages have the same length. */
#ifndef CBC_MAC_H
#define CBC_MAC_H

#include "mac.h"
#include "over.h"

enum { CBC_MAC_KEY_BYTES = BLOCK_CIPHER_KEY_BYTES, CBC_MAC_TAG_BYTES = BLOCK_CIPHER_BLOCK_BYTES };

typedef struct {
    block_cipher_ctx cipher;
    uint8_t mac[CBC_MAC_TAG_BYTES];
    uint8_t used; /* bytes of the last block already added to mac; 0 only at the start */
} cbc_mac_ctx;

crypto_status cbc_mac_init(cbc_mac_ctx *ctx, const uint8_t *key, size_t key_length);
void cbc_mac_update(cbc_mac_ctx *ctx, const uint8_t *data, size_t length);
void cbc_mac_final(cbc_mac_ctx *ctx, uint8_t *tag);

#endif
