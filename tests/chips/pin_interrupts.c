/*
 * Sleeps, and counts the interrupts of three pins in `seen`: the first on rising edges, the second
 * on falling ones, the third on both. On the CC2538 a fourth interrupts on a high level.
 */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define ENABLE(line) (REGISTER(0xe000e100 + (line) / 32 * 4) = 1u << ((line) % 32))

extern volatile uint8_t seen[4];
volatile uint8_t seen[4];

#if defined(CC2538)

/* SWRU319, GPIO: IS, IBE, IEV, IE, RIS, MIS and IC of a port. */
#define PORT(port) (0x400d9000u + 0x1000u * (port))

static void begin(void) {
    REGISTER(PORT(0) + 0x40c) = 1 << 1;
    REGISTER(PORT(0) + 0x410) = 1 << 1;
    REGISTER(PORT(1) + 0x40c) = 0;
    REGISTER(PORT(1) + 0x410) = 1 << 2;
    REGISTER(PORT(2) + 0x408) = 1 << 3;
    REGISTER(PORT(2) + 0x410) = 1 << 3;
    REGISTER(PORT(3) + 0x404) = 1 << 4;
    REGISTER(PORT(3) + 0x40c) = 1 << 4;
    REGISTER(PORT(3) + 0x410) = 1 << 4;
    for (unsigned port = 0; port < 4; port++) {
        ENABLE(port);
    }
}

static void interrupted(void) {
    for (unsigned port = 0; port < 4; port++) {
        uint32_t pins = REGISTER(PORT(port) + 0x418);
        REGISTER(PORT(port) + 0x41c) = pins;
        seen[port] += pins == 1u << (port + 1);
    }
}

#elif defined(CC2650)

/* SWCU117: EVFLAGS31_0 of GPIO, and IOCFG of a pin with EDGE_IRQ_EN and EDGE_DET. */
#define EVFLAGS REGISTER(0x400220e0)
#define IOCFG(pin) REGISTER(0x40081000 + 4 * (pin))

static void begin(void) {
    IOCFG(1) = 1u << 29 | 1 << 18 | 2 << 16;
    IOCFG(2) = 1u << 29 | 1 << 18 | 1 << 16;
    IOCFG(3) = 1u << 29 | 1 << 18 | 3 << 16;
    ENABLE(0);
}

static void interrupted(void) {
    uint32_t pins = EVFLAGS;
    EVFLAGS = pins;
    for (unsigned pin = 1; pin < 4; pin++) {
        seen[pin - 1] += pins >> pin & 1;
    }
}

#elif defined(STM32F100RB)

/* RM0041: AFIO_EXTICR1 to 4, and IMR, RTSR, FTSR and PR of EXTI. */
#define EXTICR(line) REGISTER(0x40010008 + (line) / 4 * 4)
#define EXTI(offset) REGISTER(0x40010400 + (offset))

static void begin(void) {
    EXTICR(7) = 1 << 12;
    EXTICR(12) = 2;
    EXTI(0x08) = 1 << 1 | 1 << 12;
    EXTI(0x0c) = 1 << 7 | 1 << 12;
    EXTI(0x00) = 1 << 1 | 1 << 7 | 1 << 12;
    ENABLE(7);
    ENABLE(23);
    ENABLE(40);
}

static void interrupted(void) {
    uint32_t pins = EXTI(0x14);
    EXTI(0x14) = pins;
    seen[0] += pins >> 1 & 1;
    seen[1] += pins >> 7 & 1;
    seen[2] += pins >> 12 & 1;
}

#elif defined(NRF52840)

/* nRF52840 product specification, GPIOTE: IN, CONFIG and INTENSET of channels. */
#define GPIOTE(offset) REGISTER(0x40006000 + (offset))
#define PIN(port, pin, polarity) (1 | (pin) << 8 | (port) << 13 | (polarity) << 16)

static void begin(void) {
    GPIOTE(0x510) = PIN(0, 1, 1);
    GPIOTE(0x514) = PIN(0, 2, 2);
    GPIOTE(0x518) = PIN(1, 3, 3);
    GPIOTE(0x304) = 7;
    ENABLE(6);
}

static void interrupted(void) {
    for (unsigned channel = 0; channel < 3; channel++) {
        seen[channel] += (uint8_t)GPIOTE(0x100 + 4 * channel);
        GPIOTE(0x100 + 4 * channel) = 0;
    }
}

#endif

__attribute__((interrupt)) static void handler(void) {
    interrupted();
}

__attribute__((noreturn)) void reset(void);
void reset(void) {
    begin();
    for (;;) {
        __asm__ volatile("wfi");
    }
}

#if defined(CC2538)
__attribute__((section(".cca"), used)) static const uint32_t cca[3] = {0xf6ffffff, 0, 0x00200000};
#define STACK 0x20008000
#else
#define STACK 0x20001000
#endif

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[16 + 64] = {
    STACK, (uintptr_t)reset, [16 ... 16 + 63] = (uintptr_t)handler};
