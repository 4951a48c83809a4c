#include "renewal.h"

enum { ID_AT = 1 + PROVISIONED_EUI_BYTES, FLAGS_AT, EPOCH_AT };

void renewal_write(uint8_t kind, uint8_t id, uint8_t flags, uint32_t epoch,
                   uint8_t renewal[RENEWAL_BYTES]) {
    renewal[0] = kind;
    for (uint8_t i = 0; i < PROVISIONED_EUI_BYTES; i++)
        renewal[1 + i] = provisioned_manager[i];
    renewal[ID_AT] = id;
    renewal[FLAGS_AT] = flags;
    message_put32(renewal + EPOCH_AT, epoch);
}

bool renewal_read(uint8_t kind, const uint8_t *renewal, uint8_t length, uint8_t *id, uint8_t *flags,
                  uint32_t *epoch) {
    if (length != RENEWAL_BYTES || renewal[0] != kind)
        return false;
    for (uint8_t i = 0; i < PROVISIONED_EUI_BYTES; i++)
        if (renewal[1 + i] != provisioned_manager[i])
            return false;
    *id = renewal[ID_AT];
    *flags = renewal[FLAGS_AT];
    *epoch = message_get32(renewal + EPOCH_AT);
    /* A renewal is for data: it replaces no key that protects keys. */
    return *id >= KEY_DATA && *flags == KEYDB_GROUP;
}

static message_sealing sealing(const uint8_t *key, const uint8_t *nonce, message_use use,
                               uint8_t *renewal) {
    return (message_sealing){.key = key,
                             .nonce = nonce,
                             .use = use,
                             .open = renewal,
                             .open_bytes = RENEWAL_OPEN_BYTES,
                             .text = renewal + RENEWAL_OPEN_BYTES,
                             .length = KEYDB_KEY_BYTES};
}

static void number_nonce(uint8_t nonce[MESSAGE_NONCE_BYTES], uint32_t number) {
    for (uint8_t *at = message_put32(nonce, number); at < nonce + MESSAGE_NONCE_BYTES; at++)
        *at = 0;
}

message_sealing renewal_sealing(const uint8_t *kek, uint8_t nonce[MESSAGE_NONCE_BYTES],
                                uint8_t renewal[RENEWAL_BYTES]) {
    number_nonce(nonce, message_get32(renewal + EPOCH_AT));
    return sealing(kek, nonce, USE_RENEWAL, renewal);
}

message_sealing answer_sealing(const uint8_t *key, const uint8_t *nonce,
                               uint8_t answer[RENEWAL_BYTES]) {
    return sealing(key, nonce, USE_ANSWER, answer);
}

void renewal_ratchet(uint8_t kek[KEYDB_KEY_BYTES], uint32_t epoch) {
    uint8_t nonce[MESSAGE_NONCE_BYTES];
    number_nonce(nonce, epoch);
    message_derive(&(message_sealing){.key = kek, .nonce = nonce, .use = USE_RATCHET}, kek);
}

message_sealing request_sealing(const uint8_t *key, uint8_t request[REQUEST_BYTES]) {
    return (message_sealing){.key = key,
                             .nonce = request + 2,
                             .use = USE_REQUEST,
                             .open = request,
                             .open_bytes = 2,
                             .text = request + 2 + MESSAGE_NONCE_BYTES,
                             .length = 0};
}
