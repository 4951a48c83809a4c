#include "context.h"

static crypto_status check(void) {
    return slot_has(SLOT_PUBLIC_KEY, PRIMITIVE_PUBLIC_BYTES) &&
                   slot_has(SLOT_SIGNATURE, PRIMITIVE_SIGNATURE_BYTES)
               ? CRYPTO_OK
               : CRYPTO_BAD_LENGTH;
}

static crypto_status verify(void) {
    return primitive_verify(slots[SLOT_SIGNATURE].bytes, slots[SLOT_SIGNATURE].length,
                            slots[SLOT_PUBLIC_KEY].bytes, harness_input,
                            slots[SLOT_MESSAGE].length);
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_VERIFY] = {check, verify, show_nothing, false},
};
const uint8_t kind_operation_count = OPERATIONS;
