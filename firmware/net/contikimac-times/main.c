/* Mote 1 sends numbered messages, each a part of a period later in the period than the one before;
   mote 2 checks the channel in each period. The marker is high while a message is sent, and during
   each check. At the end each mote reports, up to a zero byte, `right` or `wrong` and a letter for
   each of its windows: a message was acknowledged (a), not acknowledged (n) or not sent (c); a
   check found silence (s), a message (m) or anything else (x). */
#include "console.h"
#include "contikimac.h"
#include "hal.h"

enum {
    PAN = 0xabcd,
    RIME_CHANNEL = 146,
    /* Rime before a unicast message: channel, sender, receiver. */
    RIME_BYTES = 6,
    BYTES = RIME_BYTES + TIMES_BYTES,
    BEFORE = 4, /* periods, until mote 2 checks */
    APART = 3,  /* periods from one message to the next */
    CHECKS = BEFORE + APART * TIMES_SENDS + 8
};

_Static_assert(BYTES <= CONTIKIMAC_PAYLOAD_BYTES_MAX, "a message fits a frame");

static char windows[MOTE == 2 ? CHECKS + 1 : TIMES_SENDS + 1];

static void make(uint8_t *payload, uint8_t number) {
    const uint8_t rime[RIME_BYTES] = {RIME_CHANNEL, 0, 1, 0, TIMES_TO, 0};
    for (uint8_t i = 0; i < BYTES; i++)
        payload[i] = i < RIME_BYTES ? rime[i] : (uint8_t)(number + 7 * i);
}

static bool send_all(void) {
    static const char letters[] = "ancc";
    bool right = true;
    radio_time at = radio_now();
    for (uint8_t i = 0; i < BEFORE; i++)
        radio_sleep_until(at += CONTIKIMAC_PERIOD_TICKS);
    for (uint8_t number = 0; number < TIMES_SENDS; number++) {
        uint8_t payload[BYTES];
        make(payload, number);
        hal_marker_high();
        contikimac_status status = contikimac_send(TIMES_TO, payload, BYTES);
        hal_marker_low();
        windows[number] = letters[status];
        right = right && status == (TIMES_TO == 2 ? CONTIKIMAC_OK : CONTIKIMAC_NO_ACK);
        at += APART * CONTIKIMAC_PERIOD_TICKS + CONTIKIMAC_PERIOD_TICKS / TIMES_SENDS;
        radio_sleep_until(at);
    }
    return right;
}

static bool receive_all(void) {
    static const char letters[] = "sxm";
    bool right = true;
    uint8_t number = 0;
    for (uint16_t i = 0; i < CHECKS; i++) {
        contikimac_message message;
        radio_sleep_until(contikimac_next_check());
        hal_marker_high();
        contikimac_found found = contikimac_check(&message);
        hal_marker_low();
        windows[i] = letters[found];
        if (found != CONTIKIMAC_MESSAGE)
            continue;
        uint8_t expected[BYTES];
        make(expected, number++);
        right = right && message.from == 1 && message.length == BYTES;
        for (uint8_t j = 0; j < BYTES; j++)
            right = right && message.payload[j] == expected[j];
    }
    return right && number == (TIMES_TO == 2 ? TIMES_SENDS : 0);
}

int main(void) {
    hal_init();
    bool right =
        contikimac_init(TIMES_CHANNEL, PAN, MOTE) && (MOTE == 2 ? receive_all() : send_all());
    console_text(right ? "right " : "wrong ");
    console_text(windows);
    hal_serial_write(0);
    for (;;)
        radio_sleep_until((radio_time)(radio_now() + CONTIKIMAC_PERIOD_TICKS));
}
