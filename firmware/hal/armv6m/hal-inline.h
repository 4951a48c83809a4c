/* ARMv6-M; the core's registers as in ARM DDI 0419E. A series' folder has hal-timer.h, which
   defines hal_timer_start and hal_timer_stop: the core has no counter of cycles that is wide
   enough. */
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

/* The serial port's interrupt is enabled in the NVIC, and PRIMASK is set: it ends a sleep, but no
   handler runs (section B1.5.18). */
#define SERIAL_INTERRUPT_BIT (1ul << SERIAL_INTERRUPT)

static inline void serial_interrupt_wakes(void) {
    __asm__ volatile("cpsid i" ::: "memory");
    NVIC_ISER = SERIAL_INTERRUPT_BIT;
}

#include "hal-timer.h"
