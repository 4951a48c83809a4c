#include "context.h"

static crypto_status load(void) {
    if (!slot_has(SLOT_FIRST, PRIMITIVE_POINT_BYTES) ||
        !slot_has(SLOT_SECOND, PRIMITIVE_POINT_BYTES))
        return CRYPTO_BAD_LENGTH;
    return primitive_load(&primitive_context, slots[SLOT_FIRST].bytes, slots[SLOT_SECOND].bytes);
}

static crypto_status load_all(void) {
    return slot_has(SLOT_SCALAR, PRIMITIVE_SCALAR_BYTES) ? load() : CRYPTO_BAD_LENGTH;
}

static crypto_status add(void) {
    primitive_add(&primitive_context);
    return CRYPTO_OK;
}

static crypto_status twice(void) {
    primitive_double(&primitive_context);
    return CRYPTO_OK;
}

static crypto_status multiply(void) {
    return primitive_multiply(&primitive_context, slots[SLOT_SCALAR].bytes);
}

static crypto_status multiply_base(void) {
    return primitive_multiply_base(&primitive_context, slots[SLOT_SCALAR].bytes);
}

static void show(void) {
    primitive_store(&primitive_context, slots[SLOT_RESULT].bytes);
    slots[SLOT_RESULT].length = PRIMITIVE_POINT_BYTES;
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_ADD] = {load, add, show, false},
    [OPERATION_DOUBLE] = {load, twice, show, false},
    [OPERATION_MULTIPLY] = {load_all, multiply, show, false},
    [OPERATION_MULTIPLY_BASE] = {load_all, multiply_base, show, false},
};
const uint8_t kind_operation_count = OPERATIONS;
