#include "context.h"

static crypto_status check_seed(void) {
    return slot_has(SLOT_SEED, PRIMITIVE_SEED_BYTES) ? CRYPTO_OK : CRYPTO_BAD_LENGTH;
}

static crypto_status check_public(void) {
    return slot_has(SLOT_SEED, PRIMITIVE_RANDOM_BYTES) && slot_has(SLOT_KEY, PRIMITIVE_PUBLIC_BYTES)
               ? CRYPTO_OK
               : CRYPTO_BAD_LENGTH;
}

static crypto_status check_private(void) {
    return slot_has(SLOT_KEY, PRIMITIVE_PRIVATE_BYTES) &&
                   slot_has(SLOT_SENT, PRIMITIVE_CIPHERTEXT_BYTES)
               ? CRYPTO_OK
               : CRYPTO_BAD_LENGTH;
}

static crypto_status keygen(void) {
    return primitive_keygen(slots[SLOT_SENT].bytes, slots[SLOT_KEY].bytes, slots[SLOT_SEED].bytes);
}

static crypto_status encapsulate(void) {
    return primitive_encapsulate(slots[SLOT_SENT].bytes, slots[SLOT_SHARED].bytes,
                                 slots[SLOT_KEY].bytes, slots[SLOT_SEED].bytes);
}

static crypto_status decapsulate(void) {
    return primitive_decapsulate(slots[SLOT_SHARED].bytes, slots[SLOT_SENT].bytes,
                                 slots[SLOT_KEY].bytes);
}

static void show_keys(void) {
    slots[SLOT_SENT].length = PRIMITIVE_PUBLIC_BYTES;
    slots[SLOT_KEY].length = PRIMITIVE_PRIVATE_BYTES;
}

static void show_shared(void) {
    slots[SLOT_SHARED].length = PRIMITIVE_SHARED_BYTES;
}

static void show_ciphertext(void) {
    slots[SLOT_SENT].length = PRIMITIVE_CIPHERTEXT_BYTES;
    show_shared();
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_KEYGEN] = {check_seed, keygen, show_keys, false},
    [OPERATION_ENCAPSULATE] = {check_public, encapsulate, show_ciphertext, false},
    [OPERATION_DECAPSULATE] = {check_private, decapsulate, show_shared, false},
    [OPERATION_REJECT] = {check_private, decapsulate, show_shared, false},
};
const uint8_t kind_operation_count = OPERATIONS;
