#include "context.h"

static crypto_status check(void) {
    return slot_has(SLOT_SECRET_KEY, PRIMITIVE_SECRET_BYTES) ? CRYPTO_OK : CRYPTO_BAD_LENGTH;
}

static crypto_status check_both(void) {
    crypto_status status = check();
    return slot_has(SLOT_PEER_KEY, PRIMITIVE_PUBLIC_BYTES) ? status : CRYPTO_BAD_LENGTH;
}

static crypto_status keygen(void) {
    return primitive_keygen(slots[SLOT_PUBLIC_KEY].bytes, slots[SLOT_SECRET_KEY].bytes);
}

static crypto_status agree(void) {
    return primitive_agree(slots[SLOT_SHARED].bytes, slots[SLOT_SECRET_KEY].bytes,
                           slots[SLOT_PEER_KEY].bytes);
}

static void show_public_key(void) {
    slots[SLOT_PUBLIC_KEY].length = PRIMITIVE_PUBLIC_BYTES;
}

static void show_shared(void) {
    slots[SLOT_SHARED].length = PRIMITIVE_SHARED_BYTES;
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_KEYGEN] = {check, keygen, show_public_key, false},
    [OPERATION_AGREE] = {check_both, agree, show_shared, false},
};
const uint8_t kind_operation_count = OPERATIONS;
