#include "manager.h"

#include <string.h>

#include "crypto.h"
#include "fresh.h"
#include "provisioning.h"

static uint32_t epoch;
static uint32_t renewed_in[MANAGER_KEYS];

void manager_start(void) {
    uint8_t kek[KEYDB_KEY_BYTES];
    fresh_bytes(kek);
    keydb_set(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK, kek);
    crypto_wipe(kek, sizeof kek);
    epoch = 0;
}

uint32_t manager_epoch(void) {
    return epoch;
}

/* Writes a message that carries a key: a renewal or an answer. */
static void tell(uint8_t kind, uint8_t id, const uint8_t *key, const uint8_t *nonce,
                 const uint8_t *under, uint8_t message[RENEWAL_BYTES]) {
    message[0] = kind;
    memcpy(message + 1, provisioned_manager, PROVISIONED_EUI_BYTES);
    message[RENEWAL_ID_AT] = id;
    message[RENEWAL_FLAGS_AT] = KEYDB_GROUP;
    message_put32(message + RENEWAL_EPOCH_AT, renewed_in[id - KEY_DATA]);
    memcpy(message + RENEWAL_OPEN_BYTES, key, KEYDB_KEY_BYTES);
    message_seal(message, nonce, under);
}

static bool is_data(uint8_t id) {
    return id >= KEY_DATA && id < KEY_DATA + MANAGER_KEYS;
}

bool manager_renew(uint8_t id, uint8_t renewal[RENEWAL_BYTES]) {
    uint8_t key[KEYDB_KEY_BYTES], kek[KEYDB_KEY_BYTES];
    const uint8_t *group = keydb_get(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK);
    if (!is_data(id) || group == 0)
        return false;
    fresh_bytes(key);
    bool is_kept = keydb_set(id, KEYDB_GROUP, key) == KEYDB_OK;
    if (is_kept) {
        renewed_in[id - KEY_DATA] = epoch++;
        memcpy(kek, group, sizeof kek);
        tell(MESSAGE_RENEWAL, id, key, renewal, kek, renewal);
        message_ratchet(kek);
        keydb_set(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK, kek);
        crypto_wipe(kek, sizeof kek);
    }
    crypto_wipe(key, sizeof key);
    return is_kept;
}

bool manager_request(uint8_t pairwise_id, uint8_t *request, uint8_t length,
                     uint8_t answer[RENEWAL_BYTES]) {
    const uint8_t *pairwise = keydb_get(pairwise_id, KEYDB_PAIRWISE);
    if (!message_is(MESSAGE_REQUEST, request, length) || pairwise == 0 || !is_data(request[1]))
        return false;
    const uint8_t *key = keydb_get(request[1], KEYDB_GROUP);
    if (key == 0 || !message_unseal(request, request + 2, pairwise))
        return false;
    tell(MESSAGE_ANSWER, request[1], key, request + 2, pairwise, answer);
    return true;
}
