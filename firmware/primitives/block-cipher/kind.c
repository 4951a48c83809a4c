#include "context.h"

static uint16_t blocks;

static crypto_status check(void) {
    blocks = (uint16_t)(slots[SLOT_MESSAGE].length / PRIMITIVE_BLOCK_BYTES);
    bool whole = (uint16_t)(blocks * PRIMITIVE_BLOCK_BYTES) == slots[SLOT_MESSAGE].length;
    return whole && slot_has(SLOT_KEY, PRIMITIVE_KEY_BYTES) ? CRYPTO_OK : CRYPTO_BAD_LENGTH;
}

static crypto_status init(void) {
    primitive_init(&primitive_context, slots[SLOT_KEY].bytes);
    return CRYPTO_OK;
}

static crypto_status before(void) {
    crypto_status status = check();
    return status == CRYPTO_OK ? init() : status;
}

static crypto_status encrypt(void) {
    primitive_encrypt(&primitive_context, slots[SLOT_OUTPUT].bytes, harness_input, blocks);
    return CRYPTO_OK;
}

/* A hardware engine may only encrypt. */
#ifndef BLOCK_CIPHER_ENCRYPTS_ONLY
static crypto_status decrypt(void) {
    primitive_decrypt(&primitive_context, slots[SLOT_OUTPUT].bytes, harness_input, blocks);
    return CRYPTO_OK;
}
#endif

/* The effect of init is shown by encrypting. */
static void after_init(void) {
    encrypt();
    show_message_length();
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_INIT] = {check, init, after_init, false},
    [OPERATION_ENCRYPT] = {before, encrypt, show_message_length, false},
#ifndef BLOCK_CIPHER_ENCRYPTS_ONLY
    [OPERATION_DECRYPT] = {before, decrypt, show_message_length, false},
#endif
};
const uint8_t kind_operation_count = OPERATIONS;
