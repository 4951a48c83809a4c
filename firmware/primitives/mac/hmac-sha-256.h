/* HMAC-SHA-256 (FIPS 198-1) with a 32-byte key, for primitives that are tied to it. */
#ifndef MAC_HMAC_SHA_256_H
#define MAC_HMAC_SHA_256_H

#include "sha256.h"

__attribute__((noinline)) static void hmac_sha256_pad(sha256_ctx *hash, const uint8_t key[32],
                                                      uint8_t pad) {
    uint8_t block[SHA256_BLOCK_BYTES];
    for (unsigned i = 0; i < sizeof block; i++)
        block[i] = (uint8_t)((i < 32 ? key[i] : 0) ^ pad);
    sha256_init(hash);
    sha256_update(hash, block, sizeof block);
    crypto_wipe(block, sizeof block);
}

/* Begins the MAC; the caller then updates the hash with the message. */
static void hmac_sha256_begin(sha256_ctx *hash, const uint8_t key[32]) {
    hmac_sha256_pad(hash, key, 0x36);
}

/* out may be the key. */
__attribute__((noinline)) static void hmac_sha256_end(sha256_ctx *hash, const uint8_t key[32],
                                                      uint8_t out[32]) {
    uint8_t digest[32];
    sha256_final(hash, digest);
    hmac_sha256_pad(hash, key, 0x5c);
    sha256_update(hash, digest, sizeof digest);
    sha256_final(hash, out);
    crypto_wipe(digest, sizeof digest);
    crypto_wipe(hash, sizeof *hash);
}

#endif
