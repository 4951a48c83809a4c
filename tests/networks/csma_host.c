/* net/csma over a radio that answers each frame as the test says: the sequence number of its
   acknowledgement differs from the frame's by `off`, or it is silent. */
#include "../../firmware/net/csma/csma.c"

#include <string.h>

int off, is_silent, sent;
static uint8_t loaded[RADIO_FRAME_BYTES_MAX], answer[3];
static uint8_t answer_bytes;
static radio_time now;

bool radio_init(void) {
    return true;
}
void radio_set_filter(const radio_filter *filter) {
    (void)filter;
}
void radio_channel(uint8_t channel) {
    (void)channel;
}
void radio_receive(void) {
}
void radio_listen(void) {
}
void radio_transmit_end(void) {
}
radio_time radio_now(void) {
    return now;
}
void radio_sleep_until(radio_time when) {
    now = when;
}

void radio_load(const uint8_t *frame, uint8_t length) {
    memcpy(loaded, frame, length);
}

bool radio_transmit_if_clear(radio_time *sfd) {
    *sfd = now;
    sent++;
    answer[0] = FRAME_ACK;
    answer[1] = 0;
    answer[2] = (uint8_t)(loaded[2] + off);
    answer_bytes = is_silent ? 0 : sizeof answer;
    return true;
}

bool radio_wait_sfd(radio_time until, radio_time *sfd) {
    *sfd = now;
    if (answer_bytes == 0)
        now = until;
    return answer_bytes > 0;
}

bool radio_wait_frame(radio_time until) {
    (void)until;
    return true;
}

uint8_t radio_peek(uint8_t *frame, uint8_t count) {
    (void)frame, (void)count;
    return answer_bytes;
}

uint8_t radio_read(uint8_t *frame, radio_reception *reception) {
    (void)reception;
    uint8_t length = answer_bytes;
    memcpy(frame, answer, length);
    answer_bytes = 0;
    return length;
}

int send(void) {
    sent = 0;
    return csma_send(2, (const uint8_t *)"text", 4);
}
