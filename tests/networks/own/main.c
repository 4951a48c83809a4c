/* Both sides of a protocol without an oracle: two nonces of 8 bytes, then requests and responses
   under a key made of them and their number. It protects nothing; FAULT chooses what it does wrong.
 */
#include <string.h>

#include "console.h"
#include "hal.h"
#include "shift.h"
#include "udp.h"

enum { CLIENT_PORT = 0xf0b1, SERVER_PORT = 7777, HALF = KEY_BYTES / 2 };
enum { IN_THE_CLEAR = 1, OTHER_KEY = 2, NEVER_DONE = 3 };
enum { TIMES = FAULT == IN_THE_CLEAR ? 2 : 1 };

static uint8_t nonces[KEY_BYTES], key[KEY_BYTES], out[64];
static udp_datagram in;

static void say_key(void) {
    console_text("key ");
    for (uint8_t i = 0; i < KEY_BYTES; i++)
        console_hex(key[i] ^ (FAULT == OTHER_KEY ? LEDGER_MOTE : 0), 2);
    console_text("\n");
}

static void hear(void) {
    for (;;) {
        udp_timer timer = udp_timer_of(60000);
        if (udp_hear(&timer, &in))
            return;
    }
}

static void agree_now(void) {
    hal_marker_high();
    agree(key, nonces);
    hal_marker_low();
}

/* A letter and what follows it, under the key. */
static void protect(uint8_t first, uint8_t period, uint16_t length) {
    hal_marker_high();
    for (uint16_t i = 0; i < length; i++)
        out[i] = (uint8_t)(first + i % period);
    for (uint8_t i = 0; i < TIMES; i++)
        shift(out, length, key);
    hal_marker_low();
}

static bool open_it(uint8_t first, uint16_t length) {
    hal_marker_high();
    for (uint8_t i = 0; i < TIMES; i++)
        shift(in.bytes, in.length, key);
    bool is_right = in.length == length && (length == 0 || in.bytes[0] == first);
    hal_marker_low();
    return is_right;
}

int main(void) {
    hal_init();
    /* Before anything was said: no part of a server's handshake. */
    if (LEDGER_PEER == 0)
        agree_now();
    udp_init(LEDGER_MOTE);
#if LEDGER_PEER != 0
    bool is_good = FAULT != NEVER_DONE;
    hal_marker_high();
    memset(nonces, LEDGER_MOTE + 7, HALF);
    hal_marker_low();
    udp_send(LEDGER_PEER, CLIENT_PORT, SERVER_PORT, nonces, HALF);
    hear();
    memcpy(nonces + HALF, in.bytes, HALF);
    agree_now();
    say_key();
    for (uint16_t i = 0; i < LEDGER_RECORDS; i++) {
        protect('0', 10, LEDGER_REQUEST_BYTES);
        udp_send(LEDGER_PEER, CLIENT_PORT, SERVER_PORT, out, LEDGER_REQUEST_BYTES);
        hear();
        is_good &= open_it('A', LEDGER_RESPONSE_BYTES);
        key[0]++;
    }
    console_text(is_good ? "done\n" : "it was not to be\nfailed\n");
    for (;;)
        udp_rest(60000);
#else
    hear();
    memcpy(nonces, in.bytes, HALF);
    memset(nonces + HALF, LEDGER_MOTE + 7, HALF);
    agree_now();
    udp_send(in.from, SERVER_PORT, in.from_port, nonces + HALF, HALF);
    /* As a library does that computes nothing between two callbacks. */
    hal_marker_high();
    hal_marker_low();
    say_key();
    for (;;) {
        hear();
        if (open_it('0', LEDGER_REQUEST_BYTES)) {
            protect('A', 26, LEDGER_RESPONSE_BYTES);
            udp_send(in.from, SERVER_PORT, in.from_port, out, LEDGER_RESPONSE_BYTES);
            key[0]++;
        }
    }
#endif
}
