#include "handshake.h"

static uint8_t *put16(uint8_t *at, uint16_t number) {
    *at++ = (uint8_t)number;
    *at++ = (uint8_t)(number >> 8);
    return at;
}

message_sealing handshake_challenge(const handshake *h, uint8_t open[HANDSHAKE_OPEN_BYTES],
                                    const uint8_t *secret, uint8_t challenge[CHALLENGE_BYTES]) {
    uint8_t *at = open;
    *at++ = MESSAGE_CHALLENGE;
    at = put16(put16(at, h->mote), h->authority);
    for (uint8_t i = 0; i < MESSAGE_NONCE_BYTES; i++)
        at[i] = h->mote_nonce[i];
    return (message_sealing){.key = secret,
                             .nonce = challenge + 1,
                             .use = USE_CHALLENGE,
                             .open = open,
                             .open_bytes = HANDSHAKE_OPEN_BYTES,
                             .text = challenge + 1 + MESSAGE_NONCE_BYTES,
                             .length = HANDSHAKE_KEYS_BYTES};
}

void handshake_derive(const message_sealing *challenge, uint8_t key[KEYDB_KEY_BYTES]) {
    message_sealing derivation = *challenge;
    derivation.use = USE_DERIVATION;
    message_derive(&derivation, key);
}

message_sealing handshake_confirmation(const uint8_t *key, const uint8_t *authority_nonce,
                                       uint8_t confirmation[CONFIRMATION_BYTES]) {
    return (message_sealing){.key = key,
                             .nonce = authority_nonce,
                             .use = USE_CONFIRMATION,
                             .open = confirmation,
                             .open_bytes = CONFIRMATION_BYTES - MESSAGE_TAG_BYTES,
                             .text = confirmation + CONFIRMATION_BYTES - MESSAGE_TAG_BYTES,
                             .length = 0};
}
