#include "context.h"

static crypto_status instantiate(void) {
    primitive_instantiate(&primitive_context, slots[SLOT_ENTROPY].bytes, slots[SLOT_NONCE].bytes,
                          harness_input, slots[SLOT_MESSAGE].length);
    return CRYPTO_OK;
}

static crypto_status generate(void) {
    primitive_generate(&primitive_context, slots[SLOT_RANDOM].bytes, slots[SLOT_RANDOM].length);
    return CRYPTO_OK;
}

static crypto_status reseed(void) {
    primitive_reseed(&primitive_context, slots[SLOT_FRESH].bytes);
    return CRYPTO_OK;
}

static crypto_status asked_once(void) {
    instantiate();
    return generate();
}

static void ask_twice(void) {
    generate();
    generate();
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_INSTANTIATE] = {nothing, instantiate, ask_twice, false},
    [OPERATION_RESEED] = {instantiate, reseed, ask_twice, true},
    [OPERATION_GENERATE] = {asked_once, generate, show_nothing, true},
};
const uint8_t kind_operation_count = OPERATIONS;
