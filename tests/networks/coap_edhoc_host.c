/* Stands under firmware/net/coap-edhoc on this machine: what it sends and says goes to the standard
   output, a line each; when it listens it says for how long, and is told a datagram with the time
   that is left, or that the time is over. It ends with its input. */
#include <stdio.h>
#include <stdlib.h>

#include "console.h"
#include "hal.h"
#include "udp.h"

enum { PEER = 2, PEER_PORT = 61617, LINE = 4 * UDP_BYTES_MAX };

void hal_init(void) {
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
}

void marker_set(int level) {
    (void)level;
}

void radio_sleep(void) {
}

void radio_wake(void) {
}

void console_text(const char *text) {
    fputs(text, stdout);
}

void console_hex(uint32_t number, uint8_t count) {
    printf("%0*x", count, (unsigned)number);
}

bool udp_init(uint16_t address) {
    (void)address;
    return true;
}

csma_status udp_send(uint16_t to, uint16_t from_port, uint16_t to_port, const uint8_t *bytes,
                     uint16_t length) {
    (void)to, (void)from_port, (void)to_port;
    printf("send ");
    for (uint16_t i = 0; i < length; i++)
        printf("%02x", bytes[i]);
    printf("\n");
    return CSMA_OK;
}

udp_timer udp_timer_of(uint32_t ms) {
    return (udp_timer){.left = ms};
}

bool udp_hear(udp_timer *timer, udp_datagram *datagram) {
    static char line[LINE];
    unsigned left, byte;
    int at;
    printf("hear %u\n", (unsigned)timer->left);
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        exit(0);
    if (sscanf(line, "datagram %u %n", &left, &at) != 1)
        return false;
    timer->left = left;
    datagram->length = 0;
    for (const char *hex = line + at; datagram->length < UDP_BYTES_MAX; hex += 2) {
        if (sscanf(hex, "%2x", &byte) != 1)
            break;
        datagram->bytes[datagram->length++] = (uint8_t)byte;
    }
    datagram->from = PEER;
    datagram->from_port = LEDGER_PEER != 0 ? 5683 : PEER_PORT;
    datagram->to_port = LEDGER_PEER != 0 ? 0xf0b1 : 5683;
    return true;
}

void udp_rest(uint32_t ms) {
    (void)ms;
    exit(0);
}
