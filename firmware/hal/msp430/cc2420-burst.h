/* Bursts of bytes to and from the radio, moved by the core between select and deselect. Sections
   are of SLAU049F. */
#ifndef CC2420_BURST_H
#define CC2420_BURST_H

#include "cc2420.h"

/* A byte takes 16 cycles of SMCLK, which is MCLK, and the next one waits in the transmit buffer
   (section 14.2.4): a loop of 15 cycles keeps the bus busy. */
__attribute__((unused)) static void put(const uint8_t *bytes, uint8_t count) {
    uint8_t byte;
    if (count == 0)
        return;
    __asm__ volatile(
        "1:\n"
        "bit.b %[ready], %[flags]\n"
        "jz 1b\n"
        "mov.b @%[bytes]+, %[byte]\n"
        "mov.b %[byte], %[out]\n"
        "dec.b %[count]\n"
        "jnz 1b\n"
        : [bytes] "+r"(bytes), [count] "+r"(count), [byte] "=&r"(byte), [out] "=m"(U0TXBUF)
        : [ready] "r"(READY), [flags] "m"(IFG1)
        : "memory", "cc");
    while ((U0TCTL & EMPTY) == 0)
        continue;
    (void)U0RXBUF; /* clears the flag too (section 14.2.6) */
}

/* Two bytes are in flight at a time: while one is read the next is shifted in. */
__attribute__((unused)) static void get(uint8_t *bytes, uint8_t count) {
    if (count == 0)
        return;
    uint8_t *last = bytes + count - 1;
    U0TXBUF = 0;
    if (bytes != last)
        __asm__ volatile(
            "1:\n"
            "mov.b #0, %[out]\n"
            "2:\n"
            "bit.b %[received], %[flags]\n"
            "jz 2b\n"
            "mov.b %[in], 0(%[bytes])\n"
            "inc %[bytes]\n"
            "cmp %[last], %[bytes]\n"
            "jne 1b\n"
            : [bytes] "+r"(bytes), [out] "=m"(U0TXBUF)
            : [last] "r"(last), [received] "r"(RECEIVED), [flags] "m"(IFG1), [in] "m"(U0RXBUF)
            : "memory", "cc");
    while ((IFG1 & RECEIVED) == 0)
        continue;
    *last = U0RXBUF;
}

#endif
