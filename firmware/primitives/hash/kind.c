#include "context.h"

static crypto_status init(void) {
    primitive_init(&primitive_context);
    return CRYPTO_OK;
}

static crypto_status update(void) {
    primitive_update(&primitive_context, harness_input, slots[SLOT_MESSAGE].length);
    return CRYPTO_OK;
}

static crypto_status update_split(void) {
    pieces p = {0, 0};
    const uint8_t *in;
    for (int32_t n; (n = next_piece(&p, &in)) >= 0;)
        primitive_update(&primitive_context, in, (size_t)n);
    return CRYPTO_OK;
}

static crypto_status final(void) {
    primitive_final(&primitive_context, slots[SLOT_OUTPUT].bytes);
    return CRYPTO_OK;
}

static crypto_status init_and_update(void) {
    init();
    return update();
}

static crypto_status whole(void) {
    init();
    update();
    return final();
}

static void show_digest(void) {
    slots[SLOT_OUTPUT].length = PRIMITIVE_DIGEST_BYTES;
}

static void after_update(void) {
    final();
    show_digest();
}

static void after_init(void) {
    update();
    after_update();
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_INIT] = {nothing, init, after_init, false},
    [OPERATION_UPDATE] = {init, update, after_update, true},
    [OPERATION_FINAL] = {init_and_update, final, show_digest, true},
    [OPERATION_HASH] = {nothing, whole, show_digest, false},
    [OPERATION_UPDATE_SPLIT] = {init, update_split, after_update, true},
};
const uint8_t kind_operation_count = OPERATIONS;
