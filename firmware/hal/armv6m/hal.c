/* What every ARMv6-M chip has; the core's registers as in ARM DDI 0419E, chapter B3. */
#include "hal.h"

/* ICSR (section B3.2.4). */
enum { PENDSTCLR = 1 << 25 };
/* SYST_CSR (section B3.3.3). */
enum { TICKINT = 2, COUNTFLAG = 1 << 16 };
enum { PART_MS = 100 };
_Static_assert(CLOCK_HZ / 1000 * PART_MS <= 0x1000000, "SysTick counts 24 bits");

/* WFI without SLEEPDEEP, so SysTick keeps running. Its pending interrupt ends the sleep but is not
   taken, because PRIMASK is set (section B1.5.18); the serial port does not end it. */
void hal_quiet(uint16_t ms) {
    NVIC_ICER = SERIAL_INTERRUPT_BIT;
    while (ms > 0) {
        uint16_t part_ms = ms < PART_MS ? ms : PART_MS;
        ms = (uint16_t)(ms - part_ms);
        SYSTICK_RVR = part_ms * (CLOCK_HZ / 1000) - 1;
        SYSTICK_CVR = 0;
        SYSTICK_CSR = SYSTICK_ENABLE | TICKINT | SYSTICK_OF_CORE;
        while ((SYSTICK_CSR & COUNTFLAG) == 0)
            __asm__ volatile("wfi" ::: "memory");
        SYSTICK_CSR = 0;
        ICSR = PENDSTCLR;
    }
    NVIC_ICPR = SERIAL_INTERRUPT_BIT;
    NVIC_ISER = SERIAL_INTERRUPT_BIT;
}

uint8_t *hal_stack_limit(void) {
    extern uint8_t stack_limit[];
    return stack_limit;
}
