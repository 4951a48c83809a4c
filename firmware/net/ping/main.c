/* Mote 1 queries the other motes in turn, by address, and each echoes the question. The serial line
   reports what was sent and received. */
#include "console.h"
#include "csma.h"
#include "hal.h"

enum { PAN = 0x4a4d, QUESTION = 'q', ANSWER = 'a' };

static void say(const char *what, uint16_t number, const char *whom, uint16_t mote) {
    console_text(what);
    console_number(number);
    console_text(whom);
    console_number(mote);
    console_text("\n");
}

static void ask(uint16_t mote, uint16_t number) {
    static const char *const failed[] = {"", "busy ", "no acknowledgement ", "refused "};
    uint8_t payload[PING_BYTES] = {QUESTION, (uint8_t)number, (uint8_t)(number >> 8)};
    for (uint8_t i = 3; i < PING_BYTES; i++)
        payload[i] = (uint8_t)(number + i);
    radio_time end = (radio_time)(radio_now() + radio_ticks(PING_PERIOD_MS / 2 * 1000ul) +
                                  radio_ticks(PING_PERIOD_MS / 2 * 1000ul));
    csma_status status = csma_send(mote, payload, PING_BYTES);
    if (status != CSMA_OK) {
        say(failed[status], number, " to ", mote);
    } else {
        csma_message message;
        bool right = false;
        while (!right && csma_receive(end, &message)) {
            right = message.from == mote && message.length == PING_BYTES &&
                    message.payload[0] == ANSWER;
            for (uint8_t i = 1; i < PING_BYTES; i++)
                right = right && message.payload[i] == payload[i];
        }
        say(right ? "answer " : "no answer ", number, " from ", mote);
    }
    radio_sleep_until(end);
}

static void answer(void) {
    csma_message message;
    if (!csma_receive((radio_time)(radio_now() + RADIO_TICK_HZ / 2), &message) ||
        message.length < 3 || message.payload[0] != QUESTION)
        return;
    uint16_t number = (uint16_t)(message.payload[1] | message.payload[2] << 8);
    message.payload[0] = ANSWER;
    csma_status status = csma_send(message.from, message.payload, message.length);
    say(status == CSMA_OK ? "answered " : "not heard ", number, " to ", message.from);
    radio_sleep_until((radio_time)(radio_now() + radio_ticks(PING_BUSY_MS * 1000ul)));
}

int main(void) {
    hal_init();
    if (!csma_init(PING_CHANNEL, PAN, MOTE)) {
        console_text("no radio\n");
        for (;;)
            continue;
    }
    say("mote ", MOTE, " of ", MOTES);
    if (MOTE != 1)
        for (;;)
            answer();
    for (uint16_t number = 0;; number++)
        ask((uint16_t)(2 + number % (MOTES - 1)), number);
}
