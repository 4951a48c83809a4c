#include "pl011.h"

#include "hal.h"

#ifdef SERIAL_PL011
enum { WORD_8 = 0x60, FIFOS = 0x10 };
enum { UARTEN = 1, TXE = 1 << 8, RXE = 1 << 9 };
enum { RXFE = 1 << 4, TXFF = 1 << 5 };

void pl011_start(void) {
    SERIAL_CTL = 0;
    SERIAL_IBRD = SERIAL_DIVIDER >> 6;
    SERIAL_FBRD = SERIAL_DIVIDER & 63;
    SERIAL_LCRH = WORD_8 | FIFOS;
    SERIAL_CTL = UARTEN | TXE | RXE;
}

uint8_t hal_serial_read(void) {
    while ((SERIAL_FR & RXFE) != 0)
        continue;
    return (uint8_t)SERIAL_DR;
}

void hal_serial_write(uint8_t byte) {
    while ((SERIAL_FR & TXFF) != 0)
        continue;
    SERIAL_DR = byte;
}
#endif
