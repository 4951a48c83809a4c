#include "ccm_star.h"
#include "policy.h"

/* CCM* of IEEE 802.15.4, over the radio's AES or one in software, as the program is wired. 16 bytes
   follow the payload: boots 2, count 4, two zeros, tag 8. The nonce consists of sender, boots and
   count. */
enum { COUNTER_BYTES = 8, TAG_BYTES = 8 };

typedef struct {
    ccm_star_ctx ctx;
    aead_message message;
    uint8_t nonce[CCM_STAR_NONCE_BYTES];
    uint8_t open[3];
} sealing;

static void prepare(sealing *s, const star_context *packet, uint8_t *payload, uint8_t length) {
    *s = (sealing){.nonce = {(uint8_t)packet->boots, (uint8_t)(packet->boots >> 8),
                             (uint8_t)packet->count, (uint8_t)(packet->count >> 8),
                             (uint8_t)(packet->count >> 16), (uint8_t)(packet->count >> 24), 0, 0,
                             (uint8_t)packet->from, (uint8_t)(packet->from >> 8)},
                   .open = {(uint8_t)packet->to, (uint8_t)(packet->to >> 8), packet->control}};
    ccm_star_init(&s->ctx, packet->key);
    s->message = (aead_message){.nonce = s->nonce,
                                .nonce_length = sizeof s->nonce,
                                .ad = s->open,
                                .ad_length = sizeof s->open,
                                .in = payload,
                                .out = payload,
                                .length = length,
                                .tag = payload + length + COUNTER_BYTES,
                                .tag_length = TAG_BYTES};
}

static bool secure(const star_context *packet, uint8_t *payload, uint8_t length) {
    sealing s;
    prepare(&s, packet, payload, length);
    crypto_status status = ccm_star_encrypt(&s.ctx, &s.message);
    for (uint8_t i = 0; i < COUNTER_BYTES; i++)
        payload[length + i] = s.nonce[i];
    crypto_wipe(&s.ctx, sizeof s.ctx);
    return status == CRYPTO_OK;
}

static bool unsecure(star_context *packet, uint8_t *payload, uint8_t length) {
    const uint8_t *counter = payload + length;
    packet->boots = (uint16_t)(counter[0] | counter[1] << 8);
    packet->count = (uint32_t)(uint16_t)(counter[5] << 8 | counter[4]) << 16 |
                    (uint16_t)(counter[3] << 8 | counter[2]);
    if (counter[6] != 0 || counter[7] != 0)
        return false;
    sealing s;
    prepare(&s, packet, payload, length);
    crypto_status status = ccm_star_decrypt(&s.ctx, &s.message);
    crypto_wipe(&s.ctx, sizeof s.ctx);
    return status == CRYPTO_OK;
}

STAR_POLICY = {.id = 4,
               .overhead = COUNTER_BYTES + TAG_BYTES,
               .is_authenticated = true,
               .secure = secure,
               .unsecure = unsecure};
