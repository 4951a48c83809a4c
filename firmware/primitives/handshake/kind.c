#include "context.h"

static handshake_bytes slot_bytes(unsigned slot) {
    return (handshake_bytes){slots[slot].bytes, slots[slot].length};
}

/* The item that is sent and understood if there is associated data; padding precedes it. */
enum { LABEL = 1 };

static uint8_t items[80];

static int hears(void *application, uint8_t message, const handshake_item *item) {
    slot *heard = application;
    (void)message;
    if (item->label != LABEL || item->length > (size_t)(heard->capacity - heard->length))
        return 0;
    for (size_t i = 0; i < item->length; i++)
        heard->bytes[heard->length++] = item->value[i];
    return 1;
}

static handshake_ad added(void) {
    const handshake_item padding = {.label = HANDSHAKE_PADDING};
    const handshake_item item = {LABEL, 1, slots[SLOT_AD].bytes, slots[SLOT_AD].length};
    handshake_ad ad = {{items, 0}, hears, &slots[SLOT_HEARD]};
    slots[SLOT_HEARD].length = 0;
    if (item.length > 0) {
        ad.says.length = primitive_item(items, sizeof items, &padding);
        ad.says.length +=
            primitive_item(items + ad.says.length, sizeof items - ad.says.length, &item);
    }
    return ad;
}

/* Nothing is reported of a refused message: zeros. */
static crypto_status heard(crypto_status status) {
    if (status != CRYPTO_OK) {
        crypto_wipe(slots[SLOT_HEARD].bytes, slots[SLOT_HEARD].capacity);
        slots[SLOT_HEARD].length = slots[SLOT_HEARD].capacity;
    }
    return status;
}

__attribute__((noinline)) static handshake initiator(void) {
    return (handshake){
        .ad = added(),
        .own = {slots[SLOT_INITIATOR_EPHEMERAL].bytes, slots[SLOT_INITIATOR_KEY].bytes,
                slots[SLOT_INITIATOR_PUBLIC].bytes, slot_bytes(SLOT_INITIATOR_IDENTITY),
                slot_bytes(SLOT_INITIATOR_CREDENTIAL), slot_bytes(SLOT_INITIATOR_CONNECTION)},
        .peer = {.public_key = slots[SLOT_RESPONDER_PUBLIC].bytes,
                 .identity = slot_bytes(SLOT_RESPONDER_IDENTITY),
                 .credential = slot_bytes(SLOT_RESPONDER_CREDENTIAL)}};
}

__attribute__((noinline)) static handshake responder(void) {
    return (handshake){
        .ad = added(),
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

/* A message received in one slot is answered in another. */
static crypto_status message_1(unsigned into) {
    handshake h = initiator();
    handshake_bytes out = room(into);
    crypto_status status = primitive_message_1(&primitive_context, &h, &out);
    if (status == CRYPTO_OK)
        slots[into].length = (uint16_t)out.length;
    return status;
}

static crypto_status message_2(unsigned from) {
    handshake h = responder();
    handshake_bytes in = slot_bytes(from), out = room(SLOT_SENT);
    crypto_status status = heard(primitive_message_2(&primitive_context, &h, &in, &out));
    if (status == CRYPTO_OK)
        slots[SLOT_SENT].length = (uint16_t)out.length;
    return status;
}

static crypto_status message_3(unsigned from) {
    handshake h = initiator();
    handshake_bytes in = slot_bytes(from), out = room(SLOT_SENT);
    crypto_status status = heard(primitive_message_3(&primitive_context, &h, &in, &out));
    if (status == CRYPTO_OK)
        slots[SLOT_SENT].length = (uint16_t)out.length;
    return status;
}

static crypto_status send_1(void) {
    return message_1(SLOT_SENT);
}

/* Runs as preparation of the next step, which overwrites the slot of the message or is refused and
   writes nothing. */
static crypto_status sent_1(void) {
    return message_1(SLOT_EARLIER);
}

static crypto_status answer_1(void) {
    return message_2(SLOT_RECEIVED);
}

static crypto_status answered_1(void) {
    return message_2(SLOT_EARLIER);
}

static crypto_status answer_2(void) {
    return message_3(SLOT_RECEIVED);
}

static crypto_status answered_2(void) {
    handshake h = initiator();
    handshake_bytes out = room(SLOT_SENT);
    crypto_status status = primitive_message_1(&primitive_context, &h, &out);
    return status == CRYPTO_OK ? message_3(SLOT_EARLIER) : status;
}

static crypto_status finish(void) {
    handshake h = responder();
    handshake_bytes in = slot_bytes(SLOT_RECEIVED);
    return heard(primitive_finish(&primitive_context, &h, &in));
}

static crypto_status finished(void) {
    crypto_status status = answered_1();
    return status == CRYPTO_OK ? finish() : status;
}

static crypto_status message_4(void) {
    handshake h = responder();
    handshake_bytes out = room(SLOT_SENT);
    crypto_status status = primitive_message_4(&primitive_context, &h, &out);
    if (status == CRYPTO_OK)
        slots[SLOT_SENT].length = (uint16_t)out.length;
    return status;
}

static crypto_status confirm(void) {
    handshake h = initiator();
    handshake_bytes in = slot_bytes(SLOT_RECEIVED);
    return heard(primitive_confirm(&primitive_context, &h, &in));
}

/* Labels and sizes of OSCORE's secret and salt (RFC 9528, appendix A.1), derived from the key after
   an update. */
enum { OSCORE_SECRET = 0, OSCORE_SALT = 1, OSCORE_SECRET_BYTES = 16, OSCORE_SALT_BYTES = 8 };

static crypto_status update(void) {
    uint8_t *out = slots[SLOT_KEY].bytes;
    primitive_update(&primitive_context, slots[SLOT_RECEIVED].bytes, slots[SLOT_RECEIVED].length);
    primitive_export(&primitive_context, OSCORE_SECRET, NULL, 0, out, OSCORE_SECRET_BYTES);
    primitive_export(&primitive_context, OSCORE_SALT, NULL, 0, out + OSCORE_SECRET_BYTES,
                     OSCORE_SALT_BYTES);
    return CRYPTO_OK;
}

static void show_updated(void) {
    slots[SLOT_KEY].length = OSCORE_SECRET_BYTES + OSCORE_SALT_BYTES;
}

static void show_key(void) {
    primitive_key(&primitive_context, slots[SLOT_KEY].bytes);
    slots[SLOT_KEY].length = PRIMITIVE_KEY_BYTES;
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_MESSAGE_1] = {nothing, send_1, show_nothing, false},
    [OPERATION_MESSAGE_2] = {nothing, answer_1, show_nothing, false},
    [OPERATION_MESSAGE_3] = {sent_1, answer_2, show_key, true},
    [OPERATION_FINISH] = {answered_1, finish, show_key, true},
    [OPERATION_MESSAGE_4] = {finished, message_4, show_nothing, true},
    [OPERATION_CONFIRM] = {answered_2, confirm, show_key, true},
    [OPERATION_UPDATE] = {answered_2, update, show_updated, true},
};
const uint8_t kind_operation_count = OPERATIONS;
