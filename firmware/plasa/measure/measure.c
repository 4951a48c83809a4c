/* The operations of daidone-2014, section IV-B, for the command loop. Each takes its input from the
   slot `message` and leaves in `output` evidence that it did its work. */
#include <string.h>

#include "authentication.h"
#include "boots.h"
#include "client.h"
#include "hal.h"
#include "harness.h"
#include "radio.h"
#include "reconfiguration.h"
#include "recovery.h"
#include "star.h"

enum { SLOT_BYTES = 160, MESSAGE = 0, OUTPUT = 1 };
static HAL_NOINIT uint8_t message_bytes[SLOT_BYTES], output_bytes[SLOT_BYTES];
slot slots[] = {{message_bytes, 0, SLOT_BYTES}, {output_bytes, 0, SLOT_BYTES}};
const uint8_t slot_count = 2;
const uint16_t slots_cleared = 1 << OUTPUT;
slot *const slot_message = &slots[MESSAGE];
slot *const slot_output = &slots[OUTPUT];
const slot *const slot_pieces = NULL;
static uint8_t nothing_kept;
void *const kind_context = &nothing_kept;
void *const kind_saved_context = &nothing_kept;
const uint16_t kind_context_bytes = 0;

static uint16_t get16(const uint8_t *at) {
    return (uint16_t)(at[0] | at[1] << 8);
}

static crypto_status done(bool is_done) {
    return is_done ? CRYPTO_OK : CRYPTO_BAD_TAG;
}

static void show(const uint8_t *bytes, uint8_t length) {
    if (bytes != NULL)
        memcpy(output_bytes, bytes, length);
    slots[OUTPUT].length = bytes == NULL ? 0 : length;
}

/* Counts the boot in flash and starts the radio, whose AES is used, before anything is timed. */
static crypto_status ready(void) {
    static bool is_up;
    is_up = is_up || radio_init();
    boots_count();
    return CRYPTO_OK;
}

/* Message: identifier, flags, key. */
static crypto_status set_key(void) {
    return done(keydb_set(message_bytes[0], message_bytes[1], message_bytes + 2) == KEYDB_OK);
}

static const uint8_t *found;

static crypto_status get_key(void) {
    found = keydb_get(message_bytes[0], message_bytes[1]);
    return done(found != NULL);
}

static void show_found(void) {
    show(found, KEYDB_KEY_BYTES);
}

static void show_key(void) {
    show(keydb_get(message_bytes[0], message_bytes[1]), KEYDB_KEY_BYTES);
}

static crypto_status hello(void) {
    authentication_hello(output_bytes);
    return CRYPTO_OK;
}

static void show_hello(void) {
    slots[OUTPUT].length = HELLO_BYTES;
}

static uint32_t epoch;

static crypto_status challenge(void) {
    return done(authentication_challenge(PLASA_AUTHORITY, message_bytes,
                                         (uint8_t)slots[MESSAGE].length, output_bytes, &epoch));
}

static void show_confirmation(void) {
    client_start(epoch);
    recovery_start(epoch);
    slots[OUTPUT].length = CONFIRMATION_BYTES;
}

/* Message: a group KEK and its epoch. */
static crypto_status init_key(void) {
    client_start(message_get32(message_bytes + KEYDB_KEY_BYTES));
    return done(keydb_set(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK, message_bytes) == KEYDB_OK);
}

static void show_group(void) {
    show(keydb_get(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK), KEYDB_KEY_BYTES);
}

static crypto_status update_key(void) {
    return done(client_renewal(message_bytes, (uint8_t)slots[MESSAGE].length));
}

static void show_data(void) {
    show(keydb_get(KEY_DATA, KEYDB_GROUP), KEYDB_KEY_BYTES);
}

static crypto_status request_key(void) {
    return done(recovery_request(KEY_DATA, output_bytes));
}

static void show_request(void) {
    slots[OUTPUT].length = REQUEST_BYTES;
}

static crypto_status answer_key(void) {
    return done(recovery_answer(message_bytes, (uint8_t)slots[MESSAGE].length));
}

static uint8_t answered;

static void show_answered(void) {
    show(&answered, 1);
}

/* Message: peer 2, payload. */
static crypto_status retrieve_label(void) {
    answered =
        star_label(get16(message_bytes), message_bytes + 2, (uint8_t)(slots[MESSAGE].length - 2));
    return CRYPTO_OK;
}

static crypto_status retrieve_policy(void) {
    answered = star_policy_id(message_bytes[0]);
    return CRYPTO_OK;
}

/* Message: label, policy, identifier of the key. */
static crypto_status change_policy(void) {
    return done(star_change(message_bytes[0], message_bytes[1], message_bytes[2]));
}

static void show_policy(void) {
    answered = star_policy_id(message_bytes[0]);
    show_answered();
}

static uint8_t length;

/* Message: receiver 2, payload. */
static crypto_status secure(void) {
    length = star_secure(get16(message_bytes), message_bytes + 2,
                         (uint8_t)(slots[MESSAGE].length - 2), output_bytes, SLOT_BYTES);
    return done(length != 0);
}

static void show_packet(void) {
    slots[OUTPUT].length = length;
}

/* Message: sender 2, packet; the payload is left of it. */
static crypto_status copy_packet(void) {
    length = (uint8_t)(slots[MESSAGE].length - 2);
    memcpy(output_bytes, message_bytes + 2, length);
    return CRYPTO_OK;
}

static crypto_status unsecure(void) {
    return done(star_unsecure(get16(message_bytes), PLASA_MOTE, output_bytes, &length));
}

static crypto_status reconfigure(void) {
    return done(reconfiguration_take(message_bytes, (uint8_t)slots[MESSAGE].length));
}

static void show_reconfigured(void) {
    answered = star_policy_id(message_bytes[1]);
    show_answered();
}

/* In the order of part.toml. */
const operation kind_operations[] = {
    {nothing, nothing, show_nothing, false},
    {nothing, set_key, show_key, false},
    {nothing, get_key, show_found, false},
    {ready, hello, show_hello, false},
    {nothing, challenge, show_confirmation, false},
    {nothing, init_key, show_group, false},
    {nothing, update_key, show_data, false},
    {ready, request_key, show_request, false},
    {nothing, answer_key, show_data, false},
    {nothing, retrieve_label, show_answered, false},
    {nothing, retrieve_policy, show_answered, false},
    {nothing, change_policy, show_policy, false},
    {ready, secure, show_packet, false},
    {copy_packet, unsecure, show_packet, false},
    {nothing, reconfigure, show_reconfigured, false},
};
const uint8_t kind_operation_count = sizeof kind_operations / sizeof kind_operations[0];
