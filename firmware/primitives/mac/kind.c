#include "context.h"

static crypto_status init(void) {
    return primitive_init(&primitive_context, slots[SLOT_KEY].bytes, slots[SLOT_KEY].length);
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
    primitive_final(&primitive_context, slots[SLOT_TAG].bytes);
    return CRYPTO_OK;
}

static crypto_status init_and_update(void) {
    crypto_status status = init();
    return status == CRYPTO_OK ? update() : status;
}

static crypto_status whole(void) {
    crypto_status status = init();
    if (status == CRYPTO_OK) {
        update();
        final();
    }
    return status;
}

static void show_tag(void) {
    slots[SLOT_TAG].length = PRIMITIVE_TAG_BYTES;
}

static void after_update(void) {
    final();
    show_tag();
}

static void after_init(void) {
    update();
    after_update();
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_INIT] = {nothing, init, after_init, false},
    [OPERATION_UPDATE] = {init, update, after_update, true},
    [OPERATION_FINAL] = {init_and_update, final, show_tag, true},
    [OPERATION_MAC] = {nothing, whole, show_tag, false},
    [OPERATION_UPDATE_SPLIT] = {init, update_split, after_update, true},
};
const uint8_t kind_operation_count = OPERATIONS;
