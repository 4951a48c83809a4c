/* Carries UDP datagrams between the air and the serial line, for a peer on the host.

   It says `next`, and is told a length of two bytes and a datagram to send; or 0 and for how many
   milliseconds to listen, whereupon it says `heard HEX`, or `silent`. */
#include "console.h"
#include "hal.h"
#include "udp.h"

static udp_datagram in;
static uint8_t out[UDP_BYTES_MAX];

static uint16_t read_number(void) {
    uint16_t high = hal_serial_read();
    return (uint16_t)(high << 8 | hal_serial_read());
}

static void listen(uint16_t ms) {
    udp_timer timer = udp_timer_of(ms);
    if (!udp_hear(&timer, &in)) {
        console_text("silent\n");
        return;
    }
    console_text("heard ");
    for (uint16_t i = 0; i < in.length; i++)
        console_hex(in.bytes[i], 2);
    console_text("\n");
}

int main(void) {
    hal_init();
    if (!udp_init(RELAY_MOTE)) {
        console_text("no radio\n");
        return 1;
    }
    for (;;) {
        console_text("next\n");
        uint16_t length = read_number();
        if (length == 0) {
            listen(read_number());
            continue;
        }
        for (uint16_t i = 0; i < length; i++)
            out[i] = hal_serial_read();
        udp_send(RELAY_PEER, RELAY_PORT, RELAY_PEER_PORT, out, length);
    }
}
