/* The parts of the driver that must be assembly. Sections are of SLAU049F. */
#ifndef CC2420_ASSEMBLY_H
#define CC2420_ASSEMBLY_H

#include "cc2420.h"

/* Sets SCG1, SCG0, CPUOFF and GIE: LPM3 until an interrupt. */
static inline void sleep_lpm3(void) {
    __asm__ volatile("bis #0x00d8, r2" ::: "memory");
}

#ifndef RADIO_DMA
#define RADIO_DMA 0
#endif
/* 1: a plain driver, for comparison. It waits for each byte on the bus, and copies a frame to be
   secured into the radio and back before it is sent or read. */
#ifndef RADIO_PLAIN
#define RADIO_PLAIN 0
#endif

#if RADIO_PLAIN
static uint8_t exchange(uint8_t byte);

static void put(const uint8_t *bytes, uint8_t count) {
    while (count-- > 0)
        exchange(*bytes++);
}

static void get(uint8_t *bytes, uint8_t count) {
    while (count-- > 0)
        *bytes++ = exchange(0);
}
#elif RADIO_DMA
/* Section 8.3: DMACTL0 and DMAxCTL. The receiver has the channel of higher priority, so that no
   byte is lost. */
enum {
    BUS_TRIGGERS = 0x0043, /* URXIFG0 for channel 0, UTXIFG0 for channel 1 */
    TO_INCREMENTS = 0x0c00,
    FROM_INCREMENTS = 0x0300,
    BYTES_MOVED = 0x00c0,
    ENABLED = 0x0010
};

static inline uint16_t place_of(const volatile void *object) {
    return (uint16_t)(uintptr_t)object;
}

/* Starts sending. The flag of the empty buffer is already set, but only its rising edge
   triggers. */
static void send(const uint8_t *bytes, uint16_t increments, uint8_t count) {
    DMA1SA = place_of(bytes);
    DMA1DA = place_of(&U0TXBUF);
    DMA1SZ = count;
    DMA1CTL = increments | BYTES_MOVED | ENABLED;
    IFG1 &= (uint8_t)~READY;
    IFG1 |= READY;
}

/* Bursts by the DMA controller; the core waits. */
static void put(const uint8_t *bytes, uint8_t count) {
    if (count == 0)
        return;
    DMACTL0 = BUS_TRIGGERS;
    send(bytes, FROM_INCREMENTS, count);
    while ((DMA1CTL & ENABLED) != 0)
        continue;
    while ((U0TCTL & EMPTY) == 0)
        continue;
    (void)U0RXBUF; /* clears the flag too (section 14.2.6) */
}

static void get(uint8_t *bytes, uint8_t count) {
    static const uint8_t nothing = 0;
    if (count == 0)
        return;
    DMACTL0 = BUS_TRIGGERS;
    DMA0SA = place_of(&U0RXBUF);
    DMA0DA = place_of(bytes);
    DMA0SZ = count;
    DMA0CTL = TO_INCREMENTS | BYTES_MOVED | ENABLED;
    send(&nothing, 0, count);
    while ((DMA0CTL & ENABLED) != 0)
        continue;
    __asm__ volatile("" ::: "memory");
}
#else
#include "cc2420-burst.h"
#endif

#endif
