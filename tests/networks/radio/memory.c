/* A radio that is two buffers. */
#include "air.h"

#include <stdlib.h>
#include <string.h>

#include "radio.h"

const bool air_has_faults = false;

static uint8_t loaded[RADIO_FRAME_BYTES_MAX], loaded_bytes;
static uint8_t *received; /* on the heap, of its exact size */
static uint8_t received_bytes;

void air_start(void) {
}

void air_calm(void) {
}

bool air_receive(const uint8_t *frame, uint8_t length, air_fault fault, bool streams) {
    (void)streams;
    free(received);
    received = malloc(length > 0 ? length : 1);
    if (received == NULL || length > RADIO_FRAME_BYTES_MAX || fault != AIR_RIGHT)
        abort();
    memcpy(received, frame, length);
    received_bytes = length;
    return true;
}

uint8_t air_loaded(uint8_t *frame) {
    memcpy(frame, loaded, loaded_bytes);
    return loaded_bytes;
}

void radio_load(const uint8_t *frame, uint8_t length) {
    if (length == 0 || length > RADIO_FRAME_BYTES_MAX)
        abort();
    memcpy(loaded, frame, length);
    loaded_bytes = length;
}

uint8_t radio_read(uint8_t *frame, radio_reception *reception) {
    if (reception != NULL)
        *reception = (radio_reception){-40, 255};
    uint8_t length = received_bytes;
    if (length > 0)
        memcpy(frame, received, length);
    received_bytes = 0;
    return length;
}

uint8_t radio_arriving(void) {
    return received_bytes;
}

void radio_fetch(uint8_t *to, uint8_t from, uint8_t count) {
    if (from + count > received_bytes)
        abort();
    memcpy(to, received + from, count);
}

bool radio_wait_frame(radio_time until) {
    (void)until;
    return true;
}

radio_time radio_now(void) {
    return 0;
}
