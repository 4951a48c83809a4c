#include "context.h"

static handshake_bytes slot_bytes(unsigned slot) {
    return (handshake_bytes){slots[slot].bytes, slots[slot].length};
}

static handshake initiator(void) {
    return (handshake){
        .own = {slots[SLOT_INITIATOR_EPHEMERAL].bytes, slots[SLOT_INITIATOR_KEY].bytes,
                slots[SLOT_INITIATOR_PUBLIC].bytes, slot_bytes(SLOT_INITIATOR_IDENTITY),
                slot_bytes(SLOT_INITIATOR_CREDENTIAL), slot_bytes(SLOT_INITIATOR_CONNECTION)},
        .peer = {.public_key = slots[SLOT_RESPONDER_PUBLIC].bytes,
                 .identity = slot_bytes(SLOT_RESPONDER_IDENTITY),
                 .credential = slot_bytes(SLOT_RESPONDER_CREDENTIAL)}};
}

static handshake responder(void) {
    return (handshake){
        .own = {slots[SLOT_RESPONDER_EPHEMERAL].bytes, slots[SLOT_RESPONDER_KEY].bytes,
                slots[SLOT_RESPONDER_PUBLIC].bytes, slot_bytes(SLOT_RESPONDER_IDENTITY),
                slot_bytes(SLOT_RESPONDER_CREDENTIAL), slot_bytes(SLOT_RESPONDER_CONNECTION)},
        .peer = {.public_key = slots[SLOT_INITIATOR_PUBLIC].bytes,
                 .identity = slot_bytes(SLOT_INITIATOR_IDENTITY),
                 .credential = slot_bytes(SLOT_INITIATOR_CREDENTIAL)}};
}

static handshake_bytes room(unsigned slot) {
    return (handshake_bytes){slots[slot].bytes, slots[slot].capacity};
}

static crypto_status message_1(void) {
    handshake h = initiator();
    handshake_bytes out = room(SLOT_MESSAGE_1);
    crypto_status status = primitive_message_1(&primitive_context, &h, &out);
    if (status == CRYPTO_OK)
        slots[SLOT_MESSAGE_1].length = (uint16_t)out.length;
    return status;
}

static crypto_status message_2(void) {
    handshake h = responder();
    handshake_bytes in = slot_bytes(SLOT_MESSAGE_1), out = room(SLOT_MESSAGE_2);
    crypto_status status = primitive_message_2(&primitive_context, &h, &in, &out);
    if (status == CRYPTO_OK)
        slots[SLOT_MESSAGE_2].length = (uint16_t)out.length;
    return status;
}

static crypto_status message_3(void) {
    handshake h = initiator();
    handshake_bytes in = slot_bytes(SLOT_MESSAGE_2), out = room(SLOT_MESSAGE_3);
    crypto_status status = primitive_message_3(&primitive_context, &h, &in, &out);
    if (status == CRYPTO_OK)
        slots[SLOT_MESSAGE_3].length = (uint16_t)out.length;
    return status;
}

static crypto_status finish(void) {
    handshake h = responder();
    handshake_bytes in = slot_bytes(SLOT_MESSAGE_3);
    return primitive_finish(&primitive_context, &h, &in);
}

static void show_key(void) {
    primitive_key(&primitive_context, slots[SLOT_KEY].bytes);
    slots[SLOT_KEY].length = PRIMITIVE_KEY_BYTES;
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_MESSAGE_1] = {nothing, message_1, show_nothing, false},
    [OPERATION_MESSAGE_2] = {nothing, message_2, show_nothing, false},
    [OPERATION_MESSAGE_3] = {message_1, message_3, show_key, true},
    [OPERATION_FINISH] = {message_2, finish, show_key, true},
};
const uint8_t kind_operation_count = OPERATIONS;
