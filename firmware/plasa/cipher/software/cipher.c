#include "cipher.h"

#include "aes.h"

void cipher_block(const uint8_t key[16], uint8_t out[16], const uint8_t in[16]) {
    aes_ctx ctx;
    aes_init(&ctx, key);
    aes_encrypt(&ctx, out, in, 1);
    crypto_wipe(&ctx, sizeof ctx);
}
