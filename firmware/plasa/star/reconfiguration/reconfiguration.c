#include "reconfiguration.h"

#include <string.h>

#include "star.h"

enum { NUMBER_AT = 4 };

/* The message's number is the nonce. */
static void make_nonce(uint8_t nonce[MESSAGE_NONCE_BYTES], const uint8_t *message) {
    memset(nonce, 0, MESSAGE_NONCE_BYTES);
    memcpy(nonce, message + NUMBER_AT, 4);
}

/* The number also sets the mapping's age, so that a mote that joins later has the same age. */
static bool change(const uint8_t *message) {
    if (!star_change(message[1], message[2], message[3]))
        return false;
    star_set_age(message[1], message[NUMBER_AT]);
    return true;
}

bool reconfiguration_write(uint8_t label, uint8_t policy, uint8_t key_id, uint32_t number,
                           uint8_t message[RECONFIGURATION_BYTES]) {
    const uint8_t *kek = keydb_get(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK);
    uint8_t nonce[MESSAGE_NONCE_BYTES];
    message[0] = MESSAGE_RECONFIGURATION;
    message[1] = label;
    message[2] = policy;
    message[3] = key_id;
    message_put32(message + NUMBER_AT, number);
    if (kek == 0 || !change(message))
        return false;
    make_nonce(nonce, message);
    message_seal(message, nonce, kek);
    return true;
}

bool reconfiguration_take(uint8_t *message, uint8_t length) {
    static uint32_t last;
    const uint8_t *kek = keydb_get(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK);
    if (kek == 0 || !message_is(MESSAGE_RECONFIGURATION, message, length))
        return false;
    uint32_t number = message_get32(message + NUMBER_AT);
    uint8_t nonce[MESSAGE_NONCE_BYTES];
    make_nonce(nonce, message);
    if (number <= last || !message_unseal(message, nonce, kek) || !change(message))
        return false;
    last = number;
    return true;
}
