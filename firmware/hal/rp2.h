/* What the RP2040 and the RP2350 share: clocks, the marker's pin, the UART; registers and bits as
   in their data sheets and in the register headers of the Pico SDK. */
#ifndef RP2_H
#define RP2_H

#include "hal.h"

/* XOSC: 12 MHz is in its range of 1 to 15 MHz; it starts for 256 times this number of periods, 1 ms
   (pico-sdk, xosc.c). */
enum { XOSC_ENABLE = 0xfabaa0, XOSC_STARTUP_DELAY = 47 };
#define XOSC_STABLE (1ul << 31)
/* PLL_SYS: power-downs; post-dividers. */
enum { PLL_PD = 1, PLL_POSTDIV_PD = 1 << 3, PLL_VCO_PD = 1 << 5, PLL_DIV1 = 16, PLL_DIV2 = 12 };
#define PLL_LOCK (1ul << 31)
/* CLOCKS. */
enum { REF_XOSC = 2, SYS_AUX = 1, PERI_ENABLE = 1 << 11 };
/* IO_BANK0 and PADS_BANK0. */
enum { FUNCTION_UART = 2, FUNCTION_SIO = 5, PAD_INPUT = 1 << 6, PAD_DRIVE_4MA = 1 << 4 };
/* The PL011 (ARM DDI 0183). */
enum { WORD_8 = 0x60, FIFOS = 0x10, UARTEN = 1, TXE = 1 << 8, RXE = 1 << 9 };
enum { RXFE = 1 << 4, TXFF = 1 << 5, RX = 1 << 4, TX = 1 << 5, RT = 1 << 6 };
static void leave_reset(uint32_t used) {
    RESETS_RESET &= ~used;
    while ((RESETS_RESET_DONE & used) != used)
        continue;
}

/* The PLL multiplies the crystal's frequency by PLL_FEEDBACK and divides it twice. */
static void start_clock(void) {
    XOSC_STARTUP = XOSC_STARTUP_DELAY;
    XOSC_CTRL = XOSC_ENABLE;
    while ((XOSC_STATUS & XOSC_STABLE) == 0)
        continue;
    CLOCKS_CLK_REF_CTRL = REF_XOSC;
    while (CLOCKS_CLK_REF_SELECTED != 1ul << REF_XOSC)
        continue;
    CLOCKS_CLK_SYS_CTRL = 0;
    while (CLOCKS_CLK_SYS_SELECTED != 1)
        continue;
    PLL_SYS_CS = 1;
    PLL_SYS_FBDIV_INT = PLL_FEEDBACK;
    PLL_SYS_PWR &= ~(uint32_t)(PLL_PD | PLL_VCO_PD);
    PLL_SYS_PRIM = PLL_POSTDIV1 << PLL_DIV1 | PLL_POSTDIV2 << PLL_DIV2;
    PLL_SYS_PWR &= ~(uint32_t)PLL_POSTDIV_PD;
    while ((PLL_SYS_CS & PLL_LOCK) == 0)
        continue;
    CLOCKS_CLK_SYS_CTRL = SYS_AUX;
    while (CLOCKS_CLK_SYS_SELECTED != 1ul << SYS_AUX)
        continue;
    CLOCKS_CLK_PERI_CTRL = PERI_ENABLE;
}

static void start_marker(void) {
    hal_marker_low();
    SIO_GPIO_OE_SET = MARKER_VALUE;
    MARKER_PAD = PAD_DRIVE_4MA;
    MARKER_CTRL = FUNCTION_SIO;
}

static void start_serial_line(void) {
    SERIAL_TX_PAD = PAD_DRIVE_4MA;
    SERIAL_TX_CTRL = FUNCTION_UART;
    SERIAL_RX_PAD = PAD_INPUT;
    SERIAL_RX_CTRL = FUNCTION_UART;
    SERIAL_CR = 0;
    SERIAL_IBRD = SERIAL_DIVIDER >> 6;
    SERIAL_FBRD = SERIAL_DIVIDER & 63;
    SERIAL_LCR_H = WORD_8 | FIFOS;
    SERIAL_CR = UARTEN | TXE | RXE;
}

/* A core's own file has what forgets a pending interrupt of the UART. */
static void forget_serial_interrupt(void);

static void wait_while(uint32_t flag, uint32_t interrupts) {
    SERIAL_IMSC = interrupts;
    for (;;) {
        SERIAL_ICR = TX;
        forget_serial_interrupt();
        if ((SERIAL_FR & flag) == 0)
            return;
        __asm__ volatile("wfi" ::: "memory");
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
