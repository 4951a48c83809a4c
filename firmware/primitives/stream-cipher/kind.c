#include "context.h"

static crypto_status check(void) {
    return slot_has(SLOT_KEY, PRIMITIVE_KEY_BYTES) && slot_has(SLOT_NONCE, PRIMITIVE_NONCE_BYTES)
               ? CRYPTO_OK
               : CRYPTO_BAD_LENGTH;
}

static crypto_status init(void) {
    primitive_init(&primitive_context, slots[SLOT_KEY].bytes, slots[SLOT_NONCE].bytes);
    return CRYPTO_OK;
}

static crypto_status before(void) {
    crypto_status status = check();
    return status == CRYPTO_OK ? init() : status;
}

static crypto_status encrypt(void) {
    primitive_encrypt(&primitive_context, slots[SLOT_OUTPUT].bytes, harness_input,
                      slots[SLOT_MESSAGE].length);
    return CRYPTO_OK;
}

static crypto_status encrypt_split(void) {
    pieces p = {0, 0};
    const uint8_t *in;
    for (int32_t n; (n = next_piece(&p, &in)) >= 0;)
        primitive_encrypt(&primitive_context, slots[SLOT_OUTPUT].bytes + (in - harness_input), in,
                          (size_t)n);
    return CRYPTO_OK;
}

static void after_init(void) {
    encrypt();
    show_message_length();
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_INIT] = {check, init, after_init, false},
    [OPERATION_ENCRYPT] = {before, encrypt, show_message_length, true},
    [OPERATION_ENCRYPT_SPLIT] = {before, encrypt_split, show_message_length, true},
};
const uint8_t kind_operation_count = OPERATIONS;
