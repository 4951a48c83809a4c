#include "pl011.h"

#include "hal.h"

#ifdef SERIAL_PL011
#include "series.h"

enum { WORD_8 = 0x60, FIFOS = 0x10 };
enum { UARTEN = 1, TXE = 1 << 8, RXE = 1 << 9 };
enum { RXFE = 1 << 4, TXFF = 1 << 5 };
/* Interrupts. RX: the receive FIFO has reached its trigger level. TX: the transmit FIFO has fallen
   to its level. RT: bytes have waited in the receive FIFO for 32 bit times. */
enum { RX = 1 << 4, TX = 1 << 5, RT = 1 << 6 };

void pl011_start(void) {
    SERIAL_CTL = 0;
    SERIAL_IBRD = SERIAL_DIVIDER >> 6;
    SERIAL_FBRD = SERIAL_DIVIDER & 63;
    SERIAL_LCRH = WORD_8 | FIFOS;
    SERIAL_CTL = UARTEN | TXE | RXE;
    serial_interrupt_wakes();
}

static void wait_while(uint32_t flag, uint32_t interrupts) {
    SERIAL_IMSC = interrupts;
    for (;;) {
        SERIAL_ICR = TX;
        serial_interrupt_forget();
        if ((SERIAL_FR & flag) == 0)
            return;
        sleep_until_serial_interrupt();
    }
}

uint8_t hal_serial_read(void) {
    if ((SERIAL_FR & RXFE) != 0)
        wait_while(RXFE, RX | RT);
    return (uint8_t)SERIAL_DR;
}

void hal_serial_write(uint8_t byte) {
    if ((SERIAL_FR & TXFF) != 0)
        wait_while(TXFF, TX);
    SERIAL_DR = byte;
}
#endif
