#include "fresh.h"

#include "ascon_aead128.h"
#include "boots.h"
#include "provisioning.h"

void fresh_bytes(uint8_t out[FRESH_BYTES]) {
    static uint32_t asked;
    uint16_t boots = boots_count();
    asked++;
    uint8_t nonce[ASCON_AEAD128_NONCE_BYTES] = {(uint8_t)boots,         (uint8_t)(boots >> 8),
                                                (uint8_t)asked,         (uint8_t)(asked >> 8),
                                                (uint8_t)(asked >> 16), (uint8_t)(asked >> 24)};
    uint8_t tag[ASCON_AEAD128_TAG_BYTES];
    ascon_aead128_ctx ctx;
    ascon_aead128_init(&ctx, provisioned_seed());
    for (uint8_t i = 0; i < FRESH_BYTES; i++)
        out[i] = 0;
    ascon_aead128_encrypt(&ctx, &(aead_message){.nonce = nonce,
                                                .nonce_length = sizeof nonce,
                                                .in = out,
                                                .out = out,
                                                .length = FRESH_BYTES,
                                                .tag = tag,
                                                .tag_length = sizeof tag});
    crypto_wipe(tag, sizeof tag);
    crypto_wipe(&ctx, sizeof ctx);
}
