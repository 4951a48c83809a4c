/* The RP2040; what it shares with the RP2350 is in rp2.h. */
#include "rp2.h"

/* RESETS. */
enum {
    RESET_IO = 1 << 5,
    RESET_PADS = 1 << 8,
    RESET_PLL_SYS = 1 << 12,
    RESET_TIMER = 1 << 21,
    RESET_UART0 = 1 << 22
};
/* WATCHDOG_TICK: the timer counts microseconds of the crystal's 12 MHz. */
enum { TICK_CYCLES = 12, TICK_ENABLE = 1 << 9 };

static void forget_serial_interrupt(void) {
    NVIC_ICPR = SERIAL_INTERRUPT_BIT;
}

void hal_init(void) {
    leave_reset(RESET_IO | RESET_PADS | RESET_PLL_SYS | RESET_TIMER | RESET_UART0);
    start_clock();
    WATCHDOG_TICK = TICK_CYCLES | TICK_ENABLE;
    start_marker();
    start_serial_line();
    serial_interrupt_wakes();
}

uint32_t hal_timer_us[2];

/* The timer's microseconds tell how often SysTick has wrapped. */
uint32_t hal_timer_ticks(void) {
    enum { CYCLES_PER_US = CLOCK_HZ / 1000000 };
    _Static_assert(CLOCK_HZ % 1000000 == 0, "a microsecond is a whole number of cycles");
    uint32_t us = hal_timer_us[1] - hal_timer_us[0];
    if (us >= UINT32_MAX / CYCLES_PER_US)
        return HAL_TIMER_OVERFLOW;
    uint32_t coarse = us * CYCLES_PER_US, fine = 0 - SYSTICK_CVR;
    /* The lower 24 bits are SysTick's, and the sum is the one that is nearest to the timer's. */
    uint32_t ahead = (fine - coarse) & 0xffffff;
    return ahead < 0x800000 ? coarse + ahead : coarse - (0x1000000 - ahead);
}
