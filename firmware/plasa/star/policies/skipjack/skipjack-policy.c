#include "skipjack-policy.h"

#include "skipjack.h"

bool skipjack_iv(const star_context *packet, uint8_t iv[SKIPJACK_IV_BYTES]) {
    iv[0] = (uint8_t)packet->boots;
    iv[1] = (uint8_t)(packet->boots >> 8);
    iv[2] = (uint8_t)packet->count;
    iv[3] = (uint8_t)(packet->count >> 8);
    iv[4] = (uint8_t)(packet->count >> 16);
    iv[5] = (uint8_t)packet->from;
    iv[6] = (uint8_t)(packet->from >> 8);
    iv[7] = 0;
    return packet->count >> 24 == 0;
}

void skipjack_ctr(const uint8_t *key, const uint8_t iv[SKIPJACK_IV_BYTES], uint8_t *data,
                  uint8_t length) {
    skipjack_ctx ctx;
    uint8_t block[SKIPJACK_BLOCK_BYTES], stream[SKIPJACK_BLOCK_BYTES];
    skipjack_init(&ctx, key);
    for (uint8_t i = 0; i < SKIPJACK_BLOCK_BYTES; i++)
        block[i] = iv[i];
    for (uint8_t at = 0; at < length; at++) {
        if (at % SKIPJACK_BLOCK_BYTES == 0) {
            skipjack_encrypt(&ctx, stream, block, 1);
            block[SKIPJACK_BLOCK_BYTES - 1]++;
        }
        data[at] ^= stream[at % SKIPJACK_BLOCK_BYTES];
    }
    crypto_wipe(stream, sizeof stream);
    crypto_wipe(&ctx, sizeof ctx);
}

static bool secure(const star_context *packet, uint8_t *payload, uint8_t length) {
    uint8_t *iv = payload + length;
    if (!skipjack_iv(packet, iv))
        return false;
    skipjack_ctr(packet->key, iv, payload, length);
    return true;
}

/* The sender in the counter block must be the one that the stack reports, so that a packet cannot
   be passed off as another sender's. */
static bool unsecure(star_context *packet, uint8_t *payload, uint8_t length) {
    uint8_t *iv = payload + length;
    if (iv[5] != (uint8_t)packet->from || iv[6] != (uint8_t)(packet->from >> 8) || iv[7] != 0)
        return false;
    skipjack_ctr(packet->key, iv, payload, length);
    return true;
}

STAR_POLICY = {.id = 1, .overhead = SKIPJACK_IV_BYTES, .secure = secure, .unsecure = unsecure};
