#include "sha-1-policy.h"
#include "skipjack-policy.h"

/* Computes the tag over payload and counter block, then encrypts payload and tag. 28 bytes follow
   the payload: the tag, then the counter block. One key serves both; Skipjack uses its first ten
   bytes. */
static bool secure(const star_context *packet, uint8_t *payload, uint8_t length) {
    uint8_t *tag = payload + length, *iv = tag + SHA1_DIGEST_BYTES;
    if (!skipjack_iv(packet, tag))
        return false;
    skipjack_iv(packet, iv);
    sha_1_tag(packet, payload, (uint8_t)(length + SKIPJACK_IV_BYTES), tag);
    skipjack_ctr(packet->key, iv, payload, (uint8_t)(length + SHA1_DIGEST_BYTES));
    return true;
}

static bool unsecure(star_context *packet, uint8_t *payload, uint8_t length) {
    uint8_t received[SHA1_DIGEST_BYTES], computed[SHA1_DIGEST_BYTES];
    uint8_t *tag = payload + length, *iv = tag + SHA1_DIGEST_BYTES;
    packet->boots = (uint16_t)(iv[0] | iv[1] << 8);
    packet->count = (uint32_t)iv[4] << 16 | (uint16_t)(iv[3] << 8 | iv[2]);
    skipjack_ctr(packet->key, iv, payload, (uint8_t)(length + SHA1_DIGEST_BYTES));
    for (uint8_t i = 0; i < SHA1_DIGEST_BYTES; i++)
        received[i] = tag[i];
    for (uint8_t i = 0; i < SKIPJACK_IV_BYTES; i++)
        tag[i] = iv[i];
    sha_1_tag(packet, payload, (uint8_t)(length + SKIPJACK_IV_BYTES), computed);
    bool is_right = crypto_equal(computed, received, SHA1_DIGEST_BYTES);
    crypto_wipe(computed, sizeof computed);
    return is_right;
}

STAR_POLICY = {.id = 3,
               .overhead = SHA1_DIGEST_BYTES + SKIPJACK_IV_BYTES,
               .is_authenticated = true,
               .secure = secure,
               .unsecure = unsecure};
