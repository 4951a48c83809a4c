#include "context.h"

static crypto_status extract(void) {
    primitive_extract(slots[SLOT_PRK].bytes, slots[SLOT_SALT].bytes, slots[SLOT_SALT].length,
                      slots[SLOT_SECRET].bytes, slots[SLOT_SECRET].length);
    return CRYPTO_OK;
}

static crypto_status expand(void) {
    return primitive_expand(slots[SLOT_KEY].bytes, slots[SLOT_KEY].length, slots[SLOT_PRK].bytes,
                            harness_input, slots[SLOT_MESSAGE].length);
}

static crypto_status derive(void) {
    extract();
    return expand();
}

static void show_prk(void) {
    slots[SLOT_PRK].length = PRIMITIVE_PRK_BYTES;
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_EXTRACT] = {nothing, extract, show_prk, false},
    [OPERATION_EXPAND] = {nothing, expand, show_nothing, false},
    [OPERATION_DERIVE] = {nothing, derive, show_nothing, false},
};
const uint8_t kind_operation_count = OPERATIONS;
