/*
 * What small operating systems use of an nRF52840, in one program: a real-time counter that starts
 * a timer through the interconnect, flash that is programmed and erased by code in flash, and a
 * serial line by DMA, whose receiver is stopped, and which then echoes.
 */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define CLOCK(offset) REGISTER(0x40000000 + (offset))
#define UARTE(offset) REGISTER(0x40002000 + (offset))
#define TIMER(offset) REGISTER(0x40009000 + (offset))
#define RTC(offset) REGISTER(0x4000b000 + (offset))
#define NVMC(offset) REGISTER(0x4001e000 + (offset))
#define PPI(offset) REGISTER(0x4001f000 + (offset))
#define P0(offset) REGISTER(0x50000000 + (offset))
#define PAGE 0x000ff000

extern volatile uint32_t microseconds, programmed, erased, wakes, stopping;
volatile uint32_t microseconds, programmed, erased, wakes, stopping;
static volatile uint8_t text[] = "ready\n";
static volatile uint8_t typed[1];

__attribute__((interrupt)) static void handler(void) {
    wakes++;
    RTC(0x140) = 0;
    RTC(0x144) = 0;
}

static void program(uint32_t address, uint32_t value) {
#ifndef READS_ONLY
    NVMC(0x504) = 1;
#endif
    REGISTER(address) = value;
    while (!NVMC(0x400)) {
    }
    NVMC(0x504) = 0;
}

static void put(const volatile uint8_t *bytes, uint32_t count) {
    UARTE(0x120) = 0;
    UARTE(0x544) = (uint32_t)(uintptr_t)bytes;
    UARTE(0x548) = count;
    UARTE(0x008) = 1;
    while (!UARTE(0x120)) {
    }
}

__attribute__((noreturn)) void reset(void);
void reset(void) {
    for (unsigned byte = 0; byte < sizeof text; byte++) {
        text[byte] = (uint8_t)"ready\n"[byte];
    }
    CLOCK(0x008) = 1;
    while (!CLOCK(0x104)) {
    }
    /* RTC0's compare 0 starts timer 1 of 1 MHz, its compare 1 lets it capture. */
    PPI(0x510) = 0x4000b140;
    PPI(0x514) = 0x40009000;
    PPI(0x518) = 0x4000b144;
    PPI(0x51c) = 0x40009040;
    PPI(0x504) = 3;
    TIMER(0x508) = 3;
    RTC(0x540) = 10;
    RTC(0x544) = 10 + 4096;
    RTC(0x304) = 3 << 16;
    REGISTER(0xe000e100) = 1 << 11;
    RTC(0x000) = 1;
    while (wakes < 2) {
        __asm__ volatile("wfi");
    }
    microseconds = TIMER(0x540);
#ifdef TURNS_OFF
    /* The counter's next compare would interrupt; a low pin wakes. */
    RTC(0x540) = 10 + 2 * 4096;
    P0(0x700 + 4 * 11) = 3 << 16 | 3 << 2;
    REGISTER(0x40000500) = 1;
    for (;;) {
        __asm__ volatile("wfe");
    }
#endif

    program(PAGE, 0x12345678);
    program(PAGE, 0xff00ffff);
    programmed = REGISTER(PAGE);
    NVMC(0x504) = 2;
    NVMC(0x508) = PAGE;
    while (!NVMC(0x400)) {
    }
    NVMC(0x504) = 0;
    erased = REGISTER(PAGE);

    UARTE(0x524) = 0x01d60000;
    UARTE(0x500) = 8;
    put(text, 6);
    UARTE(0x534) = (uint32_t)(uintptr_t)typed;
    UARTE(0x538) = 1;
    UARTE(0x000) = 1;
    /* The receiver that is stopped ends its buffer, and tells so by RXTO. */
    TIMER(0x048) = 1;
    UARTE(0x004) = 1;
    while (!UARTE(0x144)) {
    }
    TIMER(0x04c) = 1;
    stopping = UARTE(0x110) ? TIMER(0x54c) - TIMER(0x548) : 0;
    UARTE(0x110) = 0;
    UARTE(0x000) = 1;
    for (;;) {
        while (!UARTE(0x110)) {
        }
        UARTE(0x110) = 0;
        put(typed, 1);
        UARTE(0x000) = 1;
    }
}

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[16 + 48] = {
    0x20001000, (uintptr_t)reset, [16 ... 16 + 47] = (uintptr_t)handler};
