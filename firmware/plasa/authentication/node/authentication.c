#include "authentication.h"

#include <string.h>

#include "crypto.h"
#include "fresh.h"
#include "provisioning.h"

static handshake current; /* kind 0: no handshake in progress */

void authentication_hello(uint8_t hello[HELLO_BYTES]) {
    handshake_begin(&current, provisioned_address(), PLASA_AUTHORITY);
    fresh_bytes(current.mote_fresh);
    hello[0] = MESSAGE_HELLO;
    memcpy(hello + 1, current.mote, 2);
    memcpy(hello + 3, current.mote_fresh, MESSAGE_FRESH_BYTES);
}

bool authentication_challenge(uint16_t from, uint8_t *challenge, uint8_t length,
                              uint8_t confirmation[CONFIRMATION_BYTES], uint32_t *epoch) {
    const uint8_t *keys = challenge + CHALLENGE_OPEN_BYTES;
    if (current.kind == 0 || from != PLASA_AUTHORITY ||
        !message_is(MESSAGE_CHALLENGE, challenge, length))
        return false;
    memcpy(current.authority_fresh, challenge + 1, MESSAGE_FRESH_BYTES);
    handshake_derive(&current);
    bool is_right = message_unseal(challenge, challenge + 1, current.key) &&
                    keys[KEYDB_KEY_BYTES] == KEY_GROUP &&
                    keydb_set(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK, keys) == KEYDB_OK &&
                    keydb_set(KEY_MANAGER, KEYDB_PAIRWISE, current.key) == KEYDB_OK;
    if (is_right) {
        *epoch = message_get32(keys + KEYDB_KEY_BYTES + 1);
        confirmation[0] = MESSAGE_CONFIRMATION;
        memcpy(confirmation + 1, current.mote, 2);
        confirmation[3] = KEY_GROUP;
        message_seal(confirmation, challenge + 1, current.key);
        current.kind = 0;
    }
    crypto_wipe(challenge, CHALLENGE_BYTES);
    crypto_wipe(current.key, sizeof current.key);
    return is_right;
}
