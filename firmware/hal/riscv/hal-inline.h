/* Hazard3; CSRs as in the RISC-V privileged architecture. */
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
    __asm__ volatile("mv %0, sp" : "=r"(pointer));
    return pointer;
}

/* mcycle counts core cycles, here modulo 2^32: 28 s at 150 MHz. Bit 0 of mcountinhibit stops it. */
static inline void hal_timer_start(void) {
    __asm__ volatile("csrw mcycle, zero\n csrci mcountinhibit, 1" ::: "memory");
}

static inline void hal_timer_stop(void) {
    __asm__ volatile("csrsi mcountinhibit, 1" ::: "memory");
}
