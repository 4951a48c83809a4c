#include "messages.h"

#include "ascon_aead128.h"

typedef struct {
    ascon_aead128_ctx ctx;
    aead_message message;
    uint8_t nonce[MESSAGE_NONCE_BYTES];
} sealing;

static void prepare(sealing *s, const message_sealing *m) {
    ascon_aead128_init(&s->ctx, m->key);
    for (uint8_t i = 0; i < MESSAGE_NONCE_BYTES - 1; i++)
        s->nonce[i] = m->nonce[i];
    s->nonce[MESSAGE_NONCE_BYTES - 1] = (uint8_t)m->use;
    s->message = (aead_message){.nonce = s->nonce,
                                .nonce_length = MESSAGE_NONCE_BYTES,
                                .ad = m->open,
                                .ad_length = m->open_bytes,
                                .in = m->text,
                                .out = m->text,
                                .length = m->length,
                                .tag = m->text + m->length,
                                .tag_length = MESSAGE_TAG_BYTES};
}

void message_seal(const message_sealing *m) {
    sealing s;
    prepare(&s, m);
    ascon_aead128_encrypt(&s.ctx, &s.message);
    crypto_wipe(&s.ctx, sizeof s.ctx);
}

bool message_unseal(const message_sealing *m) {
    sealing s;
    prepare(&s, m);
    crypto_status status = ascon_aead128_decrypt(&s.ctx, &s.message);
    crypto_wipe(&s.ctx, sizeof s.ctx);
    return status == CRYPTO_OK;
}

void message_derive(const message_sealing *m, uint8_t key[KEYDB_KEY_BYTES]) {
    uint8_t sealed[KEYDB_KEY_BYTES + MESSAGE_TAG_BYTES] = {0};
    message_sealing derivation = *m;
    derivation.text = sealed;
    derivation.length = KEYDB_KEY_BYTES;
    message_seal(&derivation);
    for (uint8_t i = 0; i < KEYDB_KEY_BYTES; i++)
        key[i] = sealed[i];
    crypto_wipe(sealed, sizeof sealed);
}

uint8_t *message_put32(uint8_t *at, uint32_t number) {
    for (uint8_t i = 0; i < 4; i++, number >>= 8)
        *at++ = (uint8_t)number;
    return at;
}

uint32_t message_get32(const uint8_t *at) {
    uint32_t number = 0;
    for (uint8_t i = 4; i-- > 0;)
        number = number << 8 | at[i];
    return number;
}
