#include "hal.h"

#include "series.h"

/* DEMCR (ARM DDI 0403E, section C1.6.5): TRCENA enables the DWT. */
enum { TRCENA = 1 << 24 };

void hal_init(void) {
    DEMCR |= TRCENA;
    start_clock();
    start_marker();
    start_serial();
}

/* SysTick and ICSR (ARM DDI 0403E, sections B3.3.3 and B3.2.4). */
#define ICSR (*(volatile uint32_t *)0xe000ed04)
enum { ENABLE = 1, TICKINT = 2, CLKSOURCE_CORE = 4, COUNTFLAG = 1 << 16, PENDSTCLR = 1 << 25 };
enum { PART_MS = 100 };
_Static_assert(CLOCK_HZ / 1000 * PART_MS <= 0x1000000, "SysTick counts 24 bits");

/* WFI without SLEEPDEEP, so SysTick keeps running. Its pending interrupt ends the sleep but is not
   taken, because PRIMASK is set (section B1.5.19). */
void hal_quiet(uint16_t ms) {
    __asm__ volatile("cpsid i" ::: "memory");
    while (ms > 0) {
        uint16_t part_ms = ms < PART_MS ? ms : PART_MS;
        ms = (uint16_t)(ms - part_ms);
        SYSTICK_LOAD = part_ms * (CLOCK_HZ / 1000) - 1;
        SYSTICK_VAL = 0;
        SYSTICK_CTRL = ENABLE | TICKINT | CLKSOURCE_CORE;
        while ((SYSTICK_CTRL & COUNTFLAG) == 0) {
            serial_interrupt_forget(); /* a pending one would end the sleep at once */
            __asm__ volatile("wfi" ::: "memory");
        }
        SYSTICK_CTRL = 0;
        ICSR = PENDSTCLR;
    }
}

uint8_t *hal_stack_limit(void) {
    extern uint8_t stack_limit[];
    return stack_limit;
}

uint32_t hal_timer_ticks(void) {
    return DWT_CYCCNT;
}
