/* The RP2350's RISC-V cores; what it shares with the RP2040 is in rp2.h. */
#include "rp2.h"

/* RESETS. */
enum { RESET_IO = 1 << 6, RESET_PADS = 1 << 9, RESET_PLL_SYS = 1 << 14, RESET_UART0 = 1 << 26 };
/* mie. */
enum { MTIE = 1 << 7, MEIE = 1 << 11 };
/* SIO's machine timer. */
enum { MTIME_EN = 1, MTIME_FULLSPEED = 2 };

/* The UART's interrupt is enabled in the controller, in the window of 16 that meiea shows, and
   mstatus.MIE is clear: it ends a sleep, but no handler runs. */
static void start_serial(void) {
    start_serial_line();
    uint32_t window = SERIAL_INTERRUPT / 16 | 1ul << (16 + SERIAL_INTERRUPT % 16);
    __asm__ volatile("csrw 0xbe0, %0" ::"r"(window));
    __asm__ volatile("csrs mie, %0" ::"r"(MEIE));
}

/* The controller keeps none. */
static void forget_serial_interrupt(void) {
}

void hal_init(void) {
    leave_reset(RESET_IO | RESET_PADS | RESET_PLL_SYS | RESET_UART0);
    start_clock();
    start_marker();
    start_serial();
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
