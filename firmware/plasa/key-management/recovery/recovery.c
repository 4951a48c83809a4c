#include "recovery.h"

#include <string.h>

#include "crypto.h"
#include "fresh.h"

static uint32_t admitted_in;
static uint8_t asked_id; /* 0: no request pending */
static uint8_t asked_fresh[MESSAGE_FRESH_BYTES];

void recovery_start(uint32_t epoch) {
    admitted_in = epoch;
    asked_id = 0;
}

bool recovery_request(uint8_t id, uint8_t request[REQUEST_BYTES]) {
    const uint8_t *key = keydb_get(KEY_MANAGER, KEYDB_PAIRWISE);
    if (key == 0)
        return false;
    fresh_bytes(asked_fresh);
    asked_id = id;
    request[0] = MESSAGE_REQUEST;
    request[1] = id;
    memcpy(request + 2, asked_fresh, sizeof asked_fresh);
    message_seal(request, asked_fresh, key);
    return true;
}

bool recovery_answer(uint8_t *answer, uint8_t length) {
    const uint8_t *key = keydb_get(KEY_MANAGER, KEYDB_PAIRWISE);
    uint8_t *recovered = answer + RENEWAL_OPEN_BYTES;
    if (key == 0 || !message_is(MESSAGE_ANSWER, answer, length) || asked_id == 0 ||
        answer[RENEWAL_ID_AT] != asked_id)
        return false;
    bool is_right = message_unseal(answer, asked_fresh, key) &&
                    message_get32(answer + RENEWAL_EPOCH_AT) >= admitted_in &&
                    keydb_set(asked_id, answer[RENEWAL_FLAGS_AT], recovered) == KEYDB_OK;
    crypto_wipe(recovered, KEYDB_KEY_BYTES);
    if (is_right)
        asked_id = 0;
    return is_right;
}
