/* Registers and fields as in SWCU117, chapters AON RTC, AON event fabric, and PRCM; the order of
   what standby needs as in cpu/cc26xx-cc13xx/lpm.c of Contiki (github.com/contiki-os/contiki). */
#include "wait.h"

#include "chip.h"

enum { RTC_INTERRUPT = 4 };
enum { CHANNEL_0 = 1, RTC_ON = 1, COMBINED_CHANNEL_0 = 1 << 16 };
/* MCUWUSEL: the first of four events that wake the core is channel 0's; the others are none. */
enum { WAKE_BY_CHANNEL_0 = 0x3f3f3f23 };
enum { MICRO_LDO = 1, SLEEP_DEEP = 4 };
/* A tick in units of 2^-16 s, which are the upper half of SUBSEC and the lower of SEC. */
enum { TICK = (1 << 16) / TICKS_A_SECOND };

#define NVIC_ISER (*(volatile uint32_t *)0xe000e100)
#define NVIC_ICPR (*(volatile uint32_t *)0xe000e280)

void wait_init(void) {
    __asm__ volatile("cpsid i");
    AON_EVENT_MCUWUSEL = WAKE_BY_CHANNEL_0;
    NVIC_ISER = 1 << RTC_INTERRUPT;
    AON_RTC_CTL = RTC_ON | COMBINED_CHANNEL_0;
}

static uint32_t now(void) {
    /* Reading SEC holds SUBSEC. */
    uint32_t seconds = AON_RTC_SEC;
    return seconds << 16 | AON_RTC_SUBSEC >> 16;
}

void wait_ticks(uint16_t ticks) {
    AON_RTC_CH0CMP = (now() / TICK + ticks) * TICK;
    AON_RTC_EVFLAGS = CHANNEL_0;
    AON_RTC_CHCTL = CHANNEL_0;
    uint32_t domains = PRCM_PDCTL1, cache = VIMS_CTL;
    PRCM_PDCTL1 = 0;
    PRCM_VDCTL = MICRO_LDO;
    SCB_SCR = SLEEP_DEEP;
    while ((AON_RTC_EVFLAGS & CHANNEL_0) == 0) {
        NVIC_ICPR = 1 << RTC_INTERRUPT;
        __asm__ volatile("dsb\n wfi" ::: "memory");
    }
    SCB_SCR = 0;
    PRCM_VDCTL = 0;
    PRCM_PDCTL1 = domains;
    VIMS_CTL = cache;
    AON_RTC_CHCTL = 0;
    AON_RTC_EVFLAGS = CHANNEL_0;
}
