#include "sha-1-policy.h"

#include "keydb.h"

/* FIPS 198-1, section 4, for a key shorter than a block. */
static void begin(sha1_ctx *ctx, const uint8_t *key, uint8_t pad) {
    uint8_t block[SHA1_BLOCK_BYTES];
    for (uint8_t i = 0; i < SHA1_BLOCK_BYTES; i++)
        block[i] = pad ^ (i < KEYDB_KEY_BYTES ? key[i] : 0);
    sha1_init(ctx);
    sha1_update(ctx, block, sizeof block);
    crypto_wipe(block, sizeof block);
}

void sha_1_tag(const star_context *packet, const uint8_t *data, uint8_t length,
               uint8_t tag[SHA1_DIGEST_BYTES]) {
    sha1_ctx ctx;
    const uint8_t header[] = {(uint8_t)packet->from, (uint8_t)(packet->from >> 8),
                              (uint8_t)packet->to, (uint8_t)(packet->to >> 8), packet->control};
    begin(&ctx, packet->key, 0x36);
    sha1_update(&ctx, header, sizeof header);
    sha1_update(&ctx, data, length);
    sha1_final(&ctx, tag);
    begin(&ctx, packet->key, 0x5c);
    sha1_update(&ctx, tag, SHA1_DIGEST_BYTES);
    sha1_final(&ctx, tag);
}

/* 20 bytes follow the payload: 12 bits of boots, 20 bits of count, and the first 16 bytes of the
   tag. */
enum { COUNTER_BYTES = 4, TAG_BYTES = 16, COUNT_BITS = 20, BOOTS_BITS = 12 };

static void authenticate(const star_context *packet, uint8_t *payload, uint8_t length,
                         uint8_t tag[SHA1_DIGEST_BYTES]) {
    sha_1_tag(packet, payload, (uint8_t)(length + COUNTER_BYTES), tag);
}

static bool secure(const star_context *packet, uint8_t *payload, uint8_t length) {
    uint8_t tag[SHA1_DIGEST_BYTES], *trailer = payload + length;
    if (packet->count >> COUNT_BITS != 0 || packet->boots >> BOOTS_BITS != 0)
        return false;
    uint32_t counter = (uint32_t)packet->boots << COUNT_BITS | packet->count;
    for (uint8_t i = 0; i < COUNTER_BYTES; i++)
        trailer[i] = (uint8_t)(counter >> 8 * i);
    authenticate(packet, payload, length, tag);
    for (uint8_t i = 0; i < TAG_BYTES; i++)
        trailer[COUNTER_BYTES + i] = tag[i];
    return true;
}

static bool unsecure(star_context *packet, uint8_t *payload, uint8_t length) {
    uint8_t tag[SHA1_DIGEST_BYTES], *trailer = payload + length;
    authenticate(packet, payload, length, tag);
    bool is_right = crypto_equal(tag, trailer + COUNTER_BYTES, TAG_BYTES);
    crypto_wipe(tag, sizeof tag);
    uint32_t counter = 0;
    for (uint8_t i = COUNTER_BYTES; i-- > 0;)
        counter = counter << 8 | trailer[i];
    packet->boots = (uint16_t)(counter >> COUNT_BITS);
    packet->count = counter & ((1ul << COUNT_BITS) - 1);
    return is_right;
}

STAR_POLICY = {.id = 2,
               .overhead = COUNTER_BYTES + TAG_BYTES,
               .is_authenticated = true,
               .secure = secure,
               .unsecure = unsecure};
