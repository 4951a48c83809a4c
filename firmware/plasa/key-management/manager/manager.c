#include "manager.h"

#include "crypto.h"
#include "fresh.h"

static uint32_t epoch;

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

static void put_key(uint8_t renewal[RENEWAL_BYTES], const uint8_t *key) {
    for (uint8_t i = 0; i < KEYDB_KEY_BYTES; i++)
        renewal[RENEWAL_OPEN_BYTES + i] = key[i];
}

bool manager_renew(uint8_t id, uint8_t renewal[RENEWAL_BYTES]) {
    uint8_t key[KEYDB_KEY_BYTES], kek[KEYDB_KEY_BYTES], nonce[MESSAGE_NONCE_BYTES];
    const uint8_t *group = keydb_get(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK);
    fresh_bytes(key);
    bool is_kept = id >= KEY_DATA && group != 0 && keydb_set(id, KEYDB_GROUP, key) == KEYDB_OK;
    if (is_kept) {
        renewal_write(MESSAGE_RENEWAL, id, KEYDB_GROUP, epoch, renewal);
        put_key(renewal, key);
        for (uint8_t i = 0; i < KEYDB_KEY_BYTES; i++)
            kek[i] = group[i];
        message_sealing sealed = renewal_sealing(kek, nonce, renewal);
        message_seal(&sealed);
        renewal_ratchet(kek, epoch++);
        keydb_set(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK, kek);
        crypto_wipe(kek, sizeof kek);
    }
    crypto_wipe(key, sizeof key);
    return is_kept;
}

bool manager_request(uint8_t pairwise_id, uint8_t *request, uint8_t length,
                     uint8_t answer[RENEWAL_BYTES]) {
    const uint8_t *pairwise = keydb_get(pairwise_id, KEYDB_PAIRWISE);
    if (length != REQUEST_BYTES || request[0] != MESSAGE_REQUEST || pairwise == 0 ||
        request[1 + MESSAGE_NONCE_BYTES] != 0)
        return false;
    const uint8_t *key = keydb_get(request[1], KEYDB_GROUP);
    message_sealing asked = request_sealing(pairwise, request);
    if (key == 0 || !message_unseal(&asked))
        return false;
    renewal_write(MESSAGE_ANSWER, request[1], KEYDB_GROUP, epoch, answer);
    put_key(answer, key);
    message_sealing sealed = answer_sealing(pairwise, asked.nonce, answer);
    message_seal(&sealed);
    return true;
}
