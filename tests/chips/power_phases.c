/*
 * Phases of an nRF52840's current, as power tests of operating systems have them: asleep, awake for
 * a quarter and for three quarters of each 4 ms, asleep again; between them it is awake for 8 ms.
 * Times are ticks of the real-time counter RTC0, 32,768 Hz.
 */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define CLOCK(offset) REGISTER(0x40000000 + (offset))
#define RTC(offset) REGISTER(0x4000b000 + (offset))
#define RTC0_IRQ 11

enum { QUARTER_S = 8192, PERIOD = 131, BURST = 262 };

static uint32_t now;

static void awake(uint32_t ticks) {
    now += ticks;
    while (RTC(0x504) < now) {
    }
}

static void asleep(uint32_t ticks) {
    now += ticks;
    RTC(0x540) = now;
    while (RTC(0x504) < now) {
        __asm__ volatile("wfi");
        RTC(0x140) = 0;
        REGISTER(0xe000e280) = 1u << RTC0_IRQ;
    }
}

static void phase(uint32_t ticks_awake) {
    for (int turn = 0; turn < QUARTER_S / PERIOD; turn++) {
        awake(ticks_awake);
        asleep(PERIOD - ticks_awake);
    }
    awake(BURST);
}

void start(void) {
    /* Interrupts wake, and are not taken. */
    __asm__ volatile("cpsid i");
    CLOCK(0x518) = 0;
    CLOCK(0x008) = 1;
    RTC(0x304) = 1u << 16;
    REGISTER(0xe000e100) = 1u << RTC0_IRQ;
    RTC(0x000) = 1;
    now = RTC(0x504);
    phase(1);
    phase(PERIOD / 4);
    phase(3 * PERIOD / 4);
    for (;;) {
        asleep(QUARTER_S);
    }
}

__attribute__((section(".vectors"), used)) static void *const vectors[] = {(void *)0x20010000,
                                                                           start};
