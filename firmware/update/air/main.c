/* Mote 1 sends bytes to mote 2 in filled frames, each acknowledged. Mote 2 reports how many came,
   and a sum that shows that they are right and in order. */
#include "console.h"
#include "csma.h"
#include "hal.h"

enum { PAN = 0x4a4d, SENDER = 1, RECEIVER = 2, SECOND_TICKS = RADIO_TICK_HZ - 1 };

/* Set before the program starts, and not 0 here so that they can be: how many, and how many of each
   frame's are of other layers. */
volatile uint32_t air_bytes = 1;
volatile uint8_t air_header_bytes = 1;

static uint8_t byte_at(uint32_t number) {
    return (uint8_t)(number ^ number >> 8 ^ number >> 16);
}

static void send_all(void) {
    uint8_t payload[CSMA_PAYLOAD_BYTES_MAX] = {0};
    const uint8_t header = air_header_bytes;
    for (uint32_t at = 0; at < air_bytes;) {
        uint32_t left = air_bytes - at;
        uint8_t room = (uint8_t)(CSMA_PAYLOAD_BYTES_MAX - header);
        uint8_t count = left < room ? (uint8_t)left : room;
        for (uint8_t i = 0; i < count; i++)
            payload[header + i] = byte_at(at + i);
        /* What is not acknowledged is sent again; who receives drops what it has. */
        while (csma_send(RECEIVER, payload, (uint8_t)(header + count)) != CSMA_OK)
            continue;
        at += count;
    }
}

static void receive_all(void) {
    uint32_t received = 0;
    uint16_t sum = 0;
    while (received < air_bytes) {
        csma_message message;
        if (!csma_receive((radio_time)(radio_now() + SECOND_TICKS), &message) ||
            message.from != SENDER)
            continue;
        for (uint8_t i = air_header_bytes; i < message.length; i++) {
            sum = (uint16_t)((sum << 1 | sum >> 15) + message.payload[i]);
            received++;
        }
    }
    console_number(received);
    console_text(" ");
    console_number(sum);
    console_text("\n");
}

int main(void) {
    hal_init();
    if (!csma_init(AIR_CHANNEL, PAN, MOTE))
        console_text("no radio\n");
    else if (MOTE == SENDER)
        send_all();
    else
        receive_all();
    /* Awake, so that what was said leaves the serial line. */
    for (;;)
        continue;
}
