/* ARMv6-M; the core's registers as in ARM DDI 0419E. */
#include "board.h"
#include "chip.h"

/* One store to a register that changes only this pin. */
static inline void hal_marker_high(void) {
    *(volatile uint32_t *)MARKER_HIGH_ADDRESS = MARKER_VALUE;
}

static inline void hal_marker_low(void) {
    *(volatile uint32_t *)MARKER_LOW_ADDRESS = MARKER_VALUE;
}

static inline uint8_t *hal_stack_pointer(void) {
    uint8_t *pointer;
    __asm__ volatile("mov %0, sp" : "=r"(pointer));
    return pointer;
}

/* SYST_CSR (section B3.3.3). */
enum { SYSTICK_ENABLE = 1, SYSTICK_OF_CORE = 4 };

/* The timer in microseconds, at the start and at the end. */
extern uint32_t hal_timer_us[2];

/* SysTick counts core cycles down, modulo 2^24, from 0; the timer counts on. */
static inline void hal_timer_start(void) {
    SYSTICK_RVR = 0xffffff;
    hal_timer_us[0] = TIMER_TIMERAWL;
    SYSTICK_CVR = 0;
    SYSTICK_CSR = SYSTICK_ENABLE | SYSTICK_OF_CORE;
}

static inline void hal_timer_stop(void) {
    SYSTICK_CSR = SYSTICK_OF_CORE;
    hal_timer_us[1] = TIMER_TIMERAWL;
}
