/* ARMv7-M; the core's registers as in ARM DDI 0403E. */
#include "board.h"
#include "chip.h"

/* One store to a register that changes only this pin. */
static inline void hal_marker_high(void) {
    *(volatile uint32_t *)MARKER_HIGH_ADDRESS = MARKER_HIGH_VALUE;
}

static inline void hal_marker_low(void) {
    *(volatile uint32_t *)MARKER_LOW_ADDRESS = MARKER_LOW_VALUE;
}

static inline uint8_t *hal_stack_pointer(void) {
    uint8_t *pointer;
    __asm__ volatile("mov %0, sp" : "=r"(pointer));
    return pointer;
}

/* DWT_CTRL (section C1.8.7). */
enum { CYCCNTENA = 1 };

/* DWT_CYCCNT counts core cycles modulo 2^32: 89 s at 48 MHz. */
static inline void hal_timer_start(void) {
    DWT_CYCCNT = 0;
    DWT_CTRL |= CYCCNTENA;
}

static inline void hal_timer_stop(void) {
    DWT_CTRL &= ~(uint32_t)CYCCNTENA;
}
