/* The root queries its leaves, each in its slot, and each leaf echoes the question. */
#include "console.h"
#include "hal.h"
#include "tsch.h"

enum { ROOT = MOTE == TSCH_ROOT };

/* Volatile, so that the code is the same for all values. 0: runs for ever. */
static const volatile uint32_t ping_slots = PING_SLOTS;

static struct {
    uint8_t payload[RADIO_FRAME_BYTES_MAX];
    uint8_t length; /* 0: nothing to answer */
    uint16_t number, answered, wrong;
} ping;

/* Makes a question: a number, and bytes derived from it. */
static uint8_t question(uint8_t *payload) {
    uint8_t length = PING_BYTES == 0 ? tsch_payload_bytes : PING_BYTES;
    for (uint8_t i = 0; i < length; i++)
        payload[i] = (uint8_t)(ping.number + i);
    payload[1] = (uint8_t)(ping.number >> 8);
    return length;
}

uint8_t tsch_next(uint8_t mote, uint8_t *payload) {
    (void)mote;
    if (ROOT)
        return question(payload);
    __builtin_memcpy(payload, ping.payload, ping.length);
    return ping.length;
}

void tsch_acknowledged(uint8_t mote) {
    (void)mote;
    if (!ROOT)
        ping.length = 0;
}

static void say(const char *what, uint32_t number) {
    console_text(what);
    console_number(number);
    console_text("\n");
}

void tsch_received(uint8_t mote, const uint8_t *payload, uint8_t length) {
    (void)mote;
    if (!ROOT) {
        __builtin_memcpy(ping.payload, payload, length);
        ping.length = length;
        return;
    }
    uint8_t expected[RADIO_FRAME_BYTES_MAX];
    bool right = length == question(expected);
    for (uint8_t i = 0; i < length; i++)
        right = right && payload[i] == expected[i];
    ping.answered += right;
    ping.wrong += !right;
    ping.number++;
    if (ping_slots == 0)
        say(right ? "answer " : "wrong answer ", (uint16_t)(ping.number - 1));
}

/* Writes lines of a name and a number, for programs to read. */
static void report(void) {
    say("slots ", tsch_count.slots);
    say("sent ", tsch_count.sent);
    say("acknowledged ", tsch_count.acknowledged);
    say("received ", tsch_count.received);
    say("refused ", tsch_count.refused);
    say("joins ", tsch_count.joins);
    say("payload ", tsch_payload_bytes);
    say("answered ", ping.answered);
    say("wrong ", ping.wrong);
    for (uint8_t i = 0; i < TSCH_DEADLINES; i++) {
        console_text("late ");
        console_text(tsch_deadline_names[i]);
        say(" ", tsch_count.late[i]);
    }
    console_text("done\n");
}

int main(void) {
    hal_init();
    if (!tsch_init()) {
        console_text("no radio\n");
        for (;;)
            continue;
    }
    while (ping_slots == 0 || tsch_slot_number() < ping_slots)
        tsch_slot();
    report();
    for (;;)
        hal_quiet(1000);
}
