/* The RP2350: registers and bits as in its data sheet and in the register headers of the Pico SDK.
 */
#include "hal.h"

/* RESETS. */
enum { RESET_IO = 1 << 6, RESET_PADS = 1 << 9, RESET_PLL_SYS = 1 << 14, RESET_UART0 = 1 << 26 };
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
/* mie. */
enum { MTIE = 1 << 7, MEIE = 1 << 11 };
/* SIO's machine timer. */
enum { MTIME_EN = 1, MTIME_FULLSPEED = 2 };

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

/* The UART's interrupt is enabled in the controller, in the window of 16 that meiea shows, and
   mstatus.MIE is clear: it ends a sleep, but no handler runs. */
static void start_serial(void) {
    SERIAL_TX_PAD = PAD_DRIVE_4MA;
    SERIAL_TX_CTRL = FUNCTION_UART;
    SERIAL_RX_PAD = PAD_INPUT;
    SERIAL_RX_CTRL = FUNCTION_UART;
    SERIAL_CR = 0;
    SERIAL_IBRD = SERIAL_DIVIDER >> 6;
    SERIAL_FBRD = SERIAL_DIVIDER & 63;
    SERIAL_LCR_H = WORD_8 | FIFOS;
    SERIAL_CR = UARTEN | TXE | RXE;
    uint32_t window = SERIAL_INTERRUPT / 16 | 1ul << (16 + SERIAL_INTERRUPT % 16);
    __asm__ volatile("csrw 0xbe0, %0" ::"r"(window));
    __asm__ volatile("csrs mie, %0" ::"r"(MEIE));
}

void hal_init(void) {
    uint32_t used = RESET_IO | RESET_PADS | RESET_PLL_SYS | RESET_UART0;
    RESETS_RESET &= ~used;
    while ((RESETS_RESET_DONE & used) != used)
        continue;
    start_clock();
    start_marker();
    start_serial();
}

static void wait_while(uint32_t flag, uint32_t interrupts) {
    SERIAL_IMSC = interrupts;
    for (;;) {
        SERIAL_ICR = TX;
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

/* The machine timer, counting the core's clock from 0, ends the sleep; the UART does not. */
void hal_quiet(uint16_t ms) {
    uint64_t end = (uint64_t)ms * (CLOCK_HZ / 1000);
    SIO_MTIME_CTRL = 0;
    SIO_MTIME = 0;
    SIO_MTIMEH = 0;
    SIO_MTIMECMP = (uint32_t)end;
    SIO_MTIMECMPH = (uint32_t)(end >> 32);
    __asm__ volatile("csrc mie, %0" ::"r"(MEIE));
    __asm__ volatile("csrs mie, %0" ::"r"(MTIE));
    SIO_MTIME_CTRL = MTIME_EN | MTIME_FULLSPEED;
    while (SIO_MTIMEH < (uint32_t)(end >> 32) || SIO_MTIME < (uint32_t)end)
        __asm__ volatile("wfi" ::: "memory");
    __asm__ volatile("csrc mie, %0" ::"r"(MTIE));
    __asm__ volatile("csrs mie, %0" ::"r"(MEIE));
}

uint8_t *hal_stack_limit(void) {
    extern uint8_t stack_limit[];
    return stack_limit;
}

uint32_t hal_timer_ticks(void) {
    uint32_t ticks;
    __asm__ volatile("csrr %0, mcycle" : "=r"(ticks));
    return ticks;
}
