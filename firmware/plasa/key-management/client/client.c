#include "client.h"

#include <string.h>

#include "crypto.h"

/* Only the low byte of the next epoch is kept, to count missed renewals. Each epoch has its own
   KEK, so no other epoch's renewal is accepted as genuine. */
static uint8_t next_epoch;

void client_start(uint32_t epoch) {
    next_epoch = (uint8_t)epoch;
}

bool client_renewal(uint8_t *renewal, uint8_t length) {
    uint8_t kek[KEYDB_KEY_BYTES];
    uint8_t epoch = next_epoch;
    if (!message_is(MESSAGE_RENEWAL, renewal, length) ||
        (uint8_t)(renewal[RENEWAL_EPOCH_AT] - epoch) > CLIENT_MISSED)
        return false;
    const uint8_t *group = keydb_get(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK);
    if (group == 0)
        return false;
    memcpy(kek, group, sizeof kek);
    for (; epoch != renewal[RENEWAL_EPOCH_AT]; epoch++)
        message_ratchet(kek);
    /* The key database enforces the use of each key: this cannot replace a KEK. */
    bool is_right = message_unseal(renewal, renewal, kek) &&
                    keydb_set(renewal[RENEWAL_ID_AT], renewal[RENEWAL_FLAGS_AT],
                              renewal + RENEWAL_OPEN_BYTES) == KEYDB_OK;
    if (is_right) {
        message_ratchet(kek);
        keydb_set(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK, kek);
        next_epoch = (uint8_t)(epoch + 1);
    }
    crypto_wipe(kek, sizeof kek);
    return is_right;
}
