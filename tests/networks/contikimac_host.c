/* net/contikimac over a radio that a test scripts: what the channel is like at each assessment, and
   the frames that come after it. Time passes only where the radio waits. */
#include "../../firmware/net/contikimac/contikimac.c"

#include <string.h>

enum { SCRIPT_MAX = 64 };

/* A letter for each assessment, the last one for all that follow: c clear, b busy. */
static char channel[SCRIPT_MAX];
static int assessed;
static uint8_t arriving[RADIO_FRAME_BYTES_MAX], arriving_bytes;
static uint8_t loaded[RADIO_FRAME_BYTES_MAX];
static radio_time now;
int sent, answered_by, is_on;

bool radio_init(void) {
    return true;
}
void radio_set_filter(const radio_filter *filter) {
    (void)filter;
}
void radio_channel(uint8_t number) {
    (void)number;
}
void radio_wake(void) {
    is_on = 1;
}
void radio_sleep(void) {
    is_on = 0;
}
void radio_idle(void) {
}
void radio_receive(void) {
}
void radio_transmit_end(void) {
}
radio_time radio_now(void) {
    return now;
}
void radio_sleep_until(radio_time when) {
    now = when;
}
bool radio_wait_frame(radio_time until) {
    (void)until;
    return true;
}

bool radio_cca(void) {
    bool is_last = channel[assessed + 1] == 0;
    char state = channel[assessed];
    assessed += !is_last;
    return state == 'c';
}

void radio_load(const uint8_t *frame, uint8_t length) {
    memcpy(loaded, frame, length);
}

/* The receiver acknowledges the frame of number `answered_by`; 0: none. */
bool radio_transmit(radio_time *sfd) {
    *sfd = now;
    now += 80;
    if (++sent == answered_by) {
        const uint8_t acknowledgement[] = {FRAME_ACK, 0, loaded[2]};
        memcpy(arriving, acknowledgement, sizeof acknowledgement);
        arriving_bytes = sizeof acknowledgement;
    }
    return true;
}

bool radio_wait_sfd(radio_time until, radio_time *sfd) {
    *sfd = now;
    if (arriving_bytes == 0)
        now = until;
    return arriving_bytes > 0;
}

uint8_t radio_read(uint8_t *frame, radio_reception *reception) {
    (void)reception;
    uint8_t length = arriving_bytes;
    memcpy(frame, arriving, length);
    arriving_bytes = 0;
    return length;
}

static void begin(const char *script) {
    strncpy(channel, script, SCRIPT_MAX - 1);
    assessed = sent = 0;
    arriving_bytes = 0;
}

void start(void) {
    contikimac_init(25, 1, 7);
}

/* Checks a channel on which a frame comes, if there is one; returns what was found. */
int check(const char *script, const uint8_t *frame, int bytes, uint8_t *payload) {
    begin(script);
    if (bytes > 0)
        memcpy(arriving, frame, (size_t)bytes);
    arriving_bytes = (uint8_t)bytes;
    contikimac_message message = {0};
    contikimac_found found = contikimac_check(&message);
    memcpy(payload, message.payload, message.length);
    return (int)found;
}

/* Sends with `stray` arriving after the first frame, if any. */
int send(const char *script, int to, int answered, const uint8_t *stray, int bytes) {
    begin(script);
    answered_by = answered;
    if (bytes > 0)
        memcpy(arriving, stray, (size_t)bytes);
    arriving_bytes = (uint8_t)bytes;
    return (int)contikimac_send((uint16_t)to, (const uint8_t *)"text", 4);
}

int ticks(void) {
    return now;
}
