#include "reconfiguration.h"

#include "star.h"

enum { NUMBER_AT = 4, OPEN_BYTES = RECONFIGURATION_BYTES - MESSAGE_TAG_BYTES };

static message_sealing sealing(const uint8_t *kek, uint8_t nonce[MESSAGE_NONCE_BYTES],
                               uint8_t *message) {
    for (uint8_t i = 0; i < MESSAGE_NONCE_BYTES; i++)
        nonce[i] = i < 4 ? message[NUMBER_AT + i] : 0;
    return (message_sealing){.key = kek,
                             .nonce = nonce,
                             .use = USE_RECONFIGURATION,
                             .open = message,
                             .open_bytes = OPEN_BYTES,
                             .text = message + OPEN_BYTES,
                             .length = 0};
}

bool reconfiguration_write(uint8_t label, uint8_t policy, uint8_t key_id, uint32_t number,
                           uint8_t message[RECONFIGURATION_BYTES]) {
    const uint8_t *kek = keydb_get(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK);
    if (kek == 0)
        return false;
    uint8_t nonce[MESSAGE_NONCE_BYTES];
    message[0] = MESSAGE_RECONFIGURATION;
    message[1] = label;
    message[2] = policy;
    message[3] = key_id;
    message_put32(message + NUMBER_AT, number);
    message_sealing sealed = sealing(kek, nonce, message);
    message_seal(&sealed);
    return true;
}

bool reconfiguration_take(uint8_t *message, uint8_t length) {
    static uint32_t last;
    const uint8_t *kek = keydb_get(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK);
    if (length != RECONFIGURATION_BYTES || message[0] != MESSAGE_RECONFIGURATION || kek == 0)
        return false;
    uint32_t number = message_get32(message + NUMBER_AT);
    uint8_t nonce[MESSAGE_NONCE_BYTES];
    message_sealing sealed = sealing(kek, nonce, message);
    if (number <= last || !message_unseal(&sealed) ||
        !star_change(message[1], message[2], message[3]))
        return false;
    last = number;
    return true;
}
