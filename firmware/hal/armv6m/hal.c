/* The RP2040; what it shares with the RP2350 is in rp2.h. The core's registers as in ARM DDI 0419E,
   chapter B3. */
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
/* The timer's first alarm, and its interrupt. */
enum { ALARM0 = 1 << 0, ALARM0_INTERRUPT = 1 << 0 };
#define SERIAL_INTERRUPT_BIT (1ul << SERIAL_INTERRUPT)

static void forget_serial_interrupt(void) {
    NVIC_ICPR = SERIAL_INTERRUPT_BIT;
}

/* The UART's interrupt is enabled in the NVIC, and PRIMASK is set: it ends a sleep, but no handler
   runs (section B1.5.18). */
void hal_init(void) {
    leave_reset(RESET_IO | RESET_PADS | RESET_PLL_SYS | RESET_TIMER | RESET_UART0);
    start_clock();
    WATCHDOG_TICK = TICK_CYCLES | TICK_ENABLE;
    start_marker();
    start_serial_line();
    __asm__ volatile("cpsid i" ::: "memory");
    NVIC_ISER = SERIAL_INTERRUPT_BIT;
}

/* The timer's alarm ends the sleep; the UART does not. */
void hal_quiet(uint16_t ms) {
    uint32_t start = TIMER_TIMERAWL, us = ms * 1000ul;
    NVIC_ICER = SERIAL_INTERRUPT_BIT;
    TIMER_INTE = ALARM0;
    NVIC_ISER = ALARM0_INTERRUPT;
    TIMER_ALARM0 = start + us;
    while (TIMER_TIMERAWL - start < us)
        __asm__ volatile("wfi" ::: "memory");
    TIMER_ARMED = ALARM0;
    TIMER_INTR = ALARM0;
    TIMER_INTE = 0;
    NVIC_ICER = ALARM0_INTERRUPT;
    NVIC_ICPR = ALARM0_INTERRUPT;
    NVIC_ISER = SERIAL_INTERRUPT_BIT;
}

uint8_t *hal_stack_limit(void) {
    extern uint8_t stack_limit[];
    return stack_limit;
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
