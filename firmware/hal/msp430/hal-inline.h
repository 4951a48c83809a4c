/* MSP430x1xx; section numbers are those of the family user's guide, SLAU049F. */
#include "board.h"
#include "chip.h"

/* bis.b and bic.b with a constant of the constant generator: 4 cycles (table 3-16). Pins of ports 1
   to 6 on bits 4 to 7 need an immediate: 5 cycles. */
static inline void hal_marker_high(void) {
    MARKER_OUT |= MARKER_BIT;
}

static inline void hal_marker_low(void) {
    MARKER_OUT &= (uint8_t)~MARKER_BIT;
}

static inline uint8_t *hal_stack_pointer(void) {
    uint8_t *pointer;
    __asm__ volatile("mov r1, %0" : "=r"(pointer));
    return pointer;
}

/* TACTL and TBCTL (sections 11.3 and 12.3). */
enum {
    TIMER_ACLK = 0x0100,
    TIMER_SMCLK = 0x0200,
    TIMER_CONTINUOUS = 0x0020,
    TIMER_CLEAR = 0x0004,
    TIMER_OVERFLOWED = 0x0001
};

/* Timer_A counts core cycles modulo 65536. Timer_B counts periods of the crystal and so tells how
   often Timer_A has wrapped. */
static inline void hal_timer_start(void) {
    TBCTL = TIMER_ACLK | TIMER_CONTINUOUS | TIMER_CLEAR;
    TACTL = TIMER_SMCLK | TIMER_CONTINUOUS | TIMER_CLEAR;
}

static inline void hal_timer_stop(void) {
    TACTL = 0;
    TBCTL &= (uint16_t)~TIMER_CONTINUOUS; /* keeps TIMER_OVERFLOWED */
}
