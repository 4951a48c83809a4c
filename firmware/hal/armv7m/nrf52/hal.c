/* Registers and fields as in the nRF52840 product specification. */
#include "hal.h"
#include "series.h"

enum { TRIGGER = 1, CACHEEN = 1 };
enum { UART_ENABLED = 4, RXDRDY = 1 << 2, TXDRDY = 1 << 7 };

/* The core runs at 64 MHz from reset. Clock it from the crystal and turn the cache on. */
void start_clock(void) {
    CLOCK_EVENTS_HFCLKSTARTED = 0;
    CLOCK_TASKS_HFCLKSTART = TRIGGER;
    while (CLOCK_EVENTS_HFCLKSTARTED == 0)
        continue;
    NVMC_ICACHECNF = CACHEEN;
}

void start_marker(void) {
    hal_marker_low();
    MARKER_DIRSET = MARKER_HIGH_VALUE;
}

void start_serial(void) {
    SERIAL_TX_OUTSET = SERIAL_TX_BIT; /* idle level, before the UART drives the pin */
    SERIAL_TX_DIRSET = SERIAL_TX_BIT;
    UART0_PSEL_TXD = SERIAL_TX_PIN;
    UART0_PSEL_RXD = SERIAL_RX_PIN;
    UART0_BAUDRATE = SERIAL_BAUDRATE;
    UART0_ENABLE = UART_ENABLED;
    UART0_TASKS_STARTRX = TRIGGER;
    UART0_TASKS_STARTTX = TRIGGER;
    UART0_INTENSET = RXDRDY | TXDRDY;
    serial_interrupt_wakes();
}

static void wait_for(volatile uint32_t *event) {
    for (;;) {
        serial_interrupt_forget();
        if (*event != 0)
            break;
        sleep_until_serial_interrupt();
    }
    *event = 0;
}

uint8_t hal_serial_read(void) {
    wait_for(&UART0_EVENTS_RXDRDY);
    return (uint8_t)UART0_RXD;
}

void hal_serial_write(uint8_t byte) {
    UART0_TXD = byte;
    wait_for(&UART0_EVENTS_TXDRDY);
}
