#include "authentication.h"

#include "crypto.h"
#include "fresh.h"
#include "provisioning.h"

static handshake current;
static bool is_waiting;

void authentication_hello(uint8_t hello[HELLO_BYTES]) {
    current.mote = provisioned_address();
    current.authority = PLASA_AUTHORITY;
    fresh_bytes(current.mote_nonce);
    is_waiting = true;
    hello[0] = MESSAGE_HELLO;
    hello[1] = (uint8_t)current.mote;
    hello[2] = (uint8_t)(current.mote >> 8);
    for (uint8_t i = 0; i < MESSAGE_NONCE_BYTES; i++)
        hello[3 + i] = current.mote_nonce[i];
}

bool authentication_challenge(uint16_t from, uint8_t *challenge, uint8_t length,
                              uint8_t confirmation[CONFIRMATION_BYTES], uint32_t *epoch) {
    if (!is_waiting || from != current.authority || length != CHALLENGE_BYTES ||
        challenge[0] != MESSAGE_CHALLENGE || challenge[MESSAGE_NONCE_BYTES] != 0)
        return false;
    uint8_t secret[PROVISIONED_BYTES], key[KEYDB_KEY_BYTES], open[HANDSHAKE_OPEN_BYTES];
    provisioned_secret(current.mote, secret);
    message_sealing sealed = handshake_challenge(&current, open, secret, challenge);
    bool is_right = message_unseal(&sealed);
    if (is_right) {
        const uint8_t *keys = sealed.text;
        uint8_t id = keys[KEYDB_KEY_BYTES];
        handshake_derive(&sealed, key);
        is_right = id == KEY_GROUP &&
                   keydb_set(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK, keys) == KEYDB_OK &&
                   keydb_set(KEY_MANAGER, KEYDB_PAIRWISE, key) == KEYDB_OK;
        *epoch = message_get32(keys + KEYDB_KEY_BYTES + 1);
        confirmation[0] = MESSAGE_CONFIRMATION;
        confirmation[1] = (uint8_t)current.mote;
        confirmation[2] = (uint8_t)(current.mote >> 8);
        confirmation[3] = id;
        message_sealing confirmed = handshake_confirmation(key, challenge + 1, confirmation);
        message_seal(&confirmed);
    }
    crypto_wipe(sealed.text, HANDSHAKE_KEYS_BYTES);
    crypto_wipe(secret, sizeof secret);
    crypto_wipe(key, sizeof key);
    is_waiting = !is_right;
    return is_right;
}
