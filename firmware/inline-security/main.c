/* To secure a frame by itself (SWRS041B, section 21), the CC2420 needs a nonce and two registers
   from the core. This program times that preparation between the marker's edges, with the key
   already in the radio, then reads the values back from the radio and reports on the serial line
   whether they are right. */
#include "chip.h"
#include "hal.h"
#include "radio.h"

static const uint8_t key[16] = {0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7,
                                0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf};
static const uint8_t nonce[13] = {0xac, 0xde, 0x48, 0, 0, 0, 0, 1, 0, 0, 0, 5, 6};
enum { OPEN_BYTES = 9, MIC_BYTES = 8, FRAME_BYTES = 40 };

/* SWRS041B, tables 6 and 11 and section 13: the radio's memory and registers over SPI. Chip select
   is P4.2 of the TelosB. */
enum {
    SELECT = 0x04,
    RECEIVED = 0x40,
    RAM = 0x80,
    RAM_READ = 0x20,
    RXNONCE = 0x110,
    SECCTRL1_READ = 0x5a
};

static uint8_t exchange(uint8_t byte) {
    U0TXBUF = byte;
    while ((IFG1 & RECEIVED) == 0)
        continue;
    return U0RXBUF;
}

static bool is_prepared(void) {
    uint8_t there[16];
    P4OUT &= (uint8_t)~SELECT;
    exchange(RAM | (RXNONCE & 0x7f));
    exchange((uint8_t)((RXNONCE >> 7) << 6) | RAM_READ);
    for (uint8_t i = 0; i < sizeof there; i++)
        there[i] = exchange(0);
    P4OUT |= SELECT;
    P4OUT &= (uint8_t)~SELECT;
    exchange(SECCTRL1_READ);
    bool is_right = exchange(0) == OPEN_BYTES;
    is_right &= exchange(0) == OPEN_BYTES;
    P4OUT |= SELECT;
    /* Least significant byte first: a counter of 1, the nonce, and flags. */
    is_right &= there[0] == 1 && there[1] == 0 && there[15] == 0x09;
    for (uint8_t i = 0; i < sizeof nonce; i++)
        is_right &= there[14 - i] == nonce[i];
    return is_right;
}

int main(void) {
    static const radio_ccm ccm = {key, nonce, OPEN_BYTES, MIC_BYTES, true};
    hal_init();
    bool is_right = radio_init();
    radio_keep_key(key);
    hal_marker_high();
    radio_ccm_expect(&ccm, FRAME_BYTES);
    hal_marker_low();
    is_right &= is_prepared();
    for (const char *text = is_right ? "right " : "wrong "; *text != 0; text++)
        hal_serial_write((uint8_t)*text);
    hal_serial_write(0);
    for (;;)
        continue;
}
