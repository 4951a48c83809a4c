/* A radio whose medium and time are another process: requests on standard output, answers on
   standard input, one per line. Code takes no time. The serial line is standard error.

     S time          sleep until a tick           -> now
     N               what time is it?             -> now
     C channel
     R, I            receiver on, off
     X frame         send: lasts to the SFD's end -> its time
     E               until the frame has left     -> now
     W time          wait for an SFD              -> its time, or -
     F time          wait for the frame           -> the frame, or - */
#include "hal.h"
#include "radio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t received[RADIO_FRAME_BYTES_MAX], received_bytes;
static uint8_t loaded[RADIO_FRAME_BYTES_MAX], loaded_bytes;
static char line[512];

static const char *answer(void) {
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        exit(0);
    return line;
}

static radio_time time_of_answer(void) {
    return (radio_time)strtoul(answer(), NULL, 10);
}

bool radio_init(void) {
    return true;
}

void radio_channel(uint8_t channel) {
    printf("C %u\n", channel);
}

void radio_set_filter(const radio_filter *filter) {
    (void)filter;
}

void radio_idle(void) {
    puts("I");
}

void radio_load(const uint8_t *frame, uint8_t length) {
    if (length == 0 || length > RADIO_FRAME_BYTES_MAX)
        abort();
    memcpy(loaded, frame, length);
    loaded_bytes = length;
}

bool radio_transmit(radio_time *sfd) {
    fputs("X ", stdout);
    for (uint8_t i = 0; i < loaded_bytes; i++)
        printf("%02x", loaded[i]);
    putchar('\n');
    *sfd = time_of_answer();
    return true;
}

void radio_transmit_end(void) {
    puts("E");
    answer();
    received_bytes = 0;
}

void radio_receive(void) {
    puts("R");
    received_bytes = 0;
}

bool radio_wait_sfd(radio_time until, radio_time *sfd) {
    printf("W %u\n", until);
    if (answer()[0] == '-')
        return false;
    *sfd = (radio_time)strtoul(line, NULL, 10);
    return true;
}

bool radio_wait_frame(radio_time until) {
    printf("F %u\n", until);
    if (answer()[0] == '-')
        return false;
    received_bytes = (uint8_t)(strlen(line) / 2);
    for (uint8_t i = 0; i < received_bytes; i++) {
        unsigned byte;
        sscanf(line + 2 * i, "%2x", &byte);
        received[i] = (uint8_t)byte;
    }
    return true;
}

uint8_t radio_read(uint8_t *frame, radio_reception *reception) {
    if (reception != NULL)
        *reception = (radio_reception){-50, 255};
    memcpy(frame, received, received_bytes);
    uint8_t length = received_bytes;
    received_bytes = 0;
    return length;
}

radio_time radio_now(void) {
    puts("N");
    return time_of_answer();
}

void radio_sleep_until(radio_time when) {
    printf("S %u\n", when);
    answer();
}

void hal_init(void) {
}

void hal_serial_write(uint8_t byte) {
    putc(byte, stderr);
}

/* The application has nothing left to do. */
void hal_quiet(uint16_t ms) {
    (void)ms;
    exit(0);
}
