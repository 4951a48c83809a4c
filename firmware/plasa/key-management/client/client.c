#include "client.h"

#include "crypto.h"
#include "fresh.h"

static uint32_t next_epoch;
static uint8_t asked_id; /* 0: nothing is asked for */
static uint8_t asked_nonce[MESSAGE_NONCE_BYTES];

void client_start(uint32_t epoch) {
    next_epoch = epoch;
}

bool client_renewal(uint8_t *renewal, uint8_t length) {
    uint8_t id, flags, kek[KEYDB_KEY_BYTES], nonce[MESSAGE_NONCE_BYTES];
    uint32_t epoch;
    const uint8_t *group = keydb_get(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK);
    if (!renewal_read(MESSAGE_RENEWAL, renewal, length, &id, &flags, &epoch) || group == 0 ||
        epoch < next_epoch || epoch - next_epoch > CLIENT_MISSED)
        return false;
    for (uint8_t i = 0; i < KEYDB_KEY_BYTES; i++)
        kek[i] = group[i];
    for (uint32_t missed = next_epoch; missed < epoch; missed++)
        renewal_ratchet(kek, missed);
    message_sealing sealed = renewal_sealing(kek, nonce, renewal);
    bool is_right = message_unseal(&sealed) && keydb_set(id, flags, sealed.text) == KEYDB_OK;
    if (is_right) {
        renewal_ratchet(kek, epoch);
        keydb_set(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK, kek);
        next_epoch = epoch + 1;
    }
    crypto_wipe(sealed.text, KEYDB_KEY_BYTES);
    crypto_wipe(kek, sizeof kek);
    return is_right;
}

bool client_request(uint8_t id, uint8_t request[REQUEST_BYTES]) {
    const uint8_t *key = keydb_get(KEY_MANAGER, KEYDB_PAIRWISE);
    if (key == 0)
        return false;
    request[0] = MESSAGE_REQUEST;
    request[1] = id;
    fresh_bytes(request + 2);
    request[1 + MESSAGE_NONCE_BYTES] = 0;
    for (uint8_t i = 0; i < MESSAGE_NONCE_BYTES; i++)
        asked_nonce[i] = request[2 + i];
    asked_id = id;
    message_sealing sealed = request_sealing(key, request);
    message_seal(&sealed);
    return true;
}

bool client_answer(uint8_t *answer, uint8_t length) {
    uint8_t id, flags;
    uint32_t epoch;
    const uint8_t *key = keydb_get(KEY_MANAGER, KEYDB_PAIRWISE);
    if (!renewal_read(MESSAGE_ANSWER, answer, length, &id, &flags, &epoch) || key == 0 ||
        id != asked_id)
        return false;
    message_sealing sealed = answer_sealing(key, asked_nonce, answer);
    bool is_right = message_unseal(&sealed) && keydb_set(id, flags, sealed.text) == KEYDB_OK;
    crypto_wipe(sealed.text, KEYDB_KEY_BYTES);
    if (is_right)
        asked_id = 0;
    return is_right;
}
