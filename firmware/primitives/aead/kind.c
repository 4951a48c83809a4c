#include "context.h"

static HAL_NOINIT aead_message job;

/* The message is prepared outside the window, as a caller would have it ready. */
static crypto_status check(void) {
    job.nonce = slots[SLOT_NONCE].bytes;
    job.nonce_length = slots[SLOT_NONCE].length;
    job.ad = slots[SLOT_AD].bytes;
    job.ad_length = slots[SLOT_AD].length;
    job.in = harness_input;
    job.out = slots[SLOT_OUTPUT].bytes;
    job.length = slots[SLOT_MESSAGE].length;
    job.tag = slots[SLOT_TAG].bytes;
    job.tag_length = slots[SLOT_TAG].length;
    return slot_has(SLOT_KEY, PRIMITIVE_KEY_BYTES) ? CRYPTO_OK : CRYPTO_BAD_LENGTH;
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
    return primitive_encrypt(&primitive_context, &job);
}

static crypto_status decrypt(void) {
    return primitive_decrypt(&primitive_context, &job);
}

static void after_init(void) {
    encrypt();
    show_message_length();
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_INIT] = {check, init, after_init, false},
    [OPERATION_ENCRYPT] = {before, encrypt, show_message_length, false},
    [OPERATION_DECRYPT] = {before, decrypt, show_message_length, false},
};
const uint8_t kind_operation_count = OPERATIONS;
