/* Registers and fields as in SWRU319. */
#include "hal.h"
#include "pl011.h"
#include "series.h"

enum { OSC32K = 1 << 24, OSC_PD = 1 << 17, OSC = 1 << 16 };
enum { ON = 1, OUTPUT_ENABLE = 8, UART0_TXD = 0 };

/* Run from the undivided crystal and turn the unused oscillator off. */
void start_clock(void) {
    SYS_CTRL_CLOCK_CTRL = OSC32K;
    while ((SYS_CTRL_CLOCK_STA & OSC) != 0)
        continue;
    SYS_CTRL_CLOCK_CTRL = OSC32K | OSC_PD;
    SYS_CTRL_RCGCUART = ON;
    SYS_CTRL_SCGCUART = ON;
}

void start_marker(void) {
    hal_marker_low();
    MARKER_DIR |= MARKER_HIGH_VALUE;
}

void start_serial(void) {
    SERIAL_TX_SEL = UART0_TXD;
    SERIAL_TX_OVER = OUTPUT_ENABLE;
    IOC_UARTRXD_UART0 = SERIAL_RX_NUMBER;
    SERIAL_TX_AFSEL |= SERIAL_TX_BIT;
    SERIAL_RX_AFSEL |= SERIAL_RX_BIT;
    UART0_CC = 0;
    pl011_start();
}
