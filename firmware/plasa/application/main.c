/* The application of daidone-2014, section V: one sender, payloads of 8 bytes. It uses its stack
   directly and knows nothing of security. */
#include "console.h"
#include "csma.h"
#include "hal.h"

enum { PAN = 0x504c, BYTES = 8 };

int main(void) {
    hal_init();
    if (!csma_init(PLASA_CHANNEL, PAN, PLASA_MOTE)) {
        console_text("no network\n");
        for (;;)
            continue;
    }
    for (uint16_t number = 0;; number++) {
        const uint8_t payload[BYTES] = {
            'd', (uint8_t)number, (uint8_t)(number >> 8), 0x11, 0x22, 0x33, 0x44, 0x55};
        csma_status status = csma_send(PLASA_TO, payload, sizeof payload);
        console_text(status == CSMA_OK ? "sent " : "not sent ");
        console_number(number);
        console_text("\n");
        radio_time end = (radio_time)(radio_now() + radio_ticks(PLASA_PERIOD_MS * 1000ul));
        for (csma_message message; csma_receive(end, &message);) {
            console_text("heard ");
            for (uint8_t i = 0; i < message.length; i++)
                console_hex(message.payload[i], 2);
            console_text(" from ");
            console_number(message.from);
            console_text("\n");
        }
    }
}
