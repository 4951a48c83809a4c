/* Information memory. Section numbers are those of the MSP430x1xx family user's guide, SLAU049F. */
#include "kept.h"

#include "board.h"
#include "chip.h"

/* Section 5.4: flash memory registers. */
enum {
    KEY = 0xa500,
    ERASE = 0x0002,
    WRITE = 0x0040,
    LOCK = 0x0010,
    BUSY = 0x0001,
    SELECT_MCLK = 0x0040
};

/* Section 5.3.1: the generator runs at 257 to 476 kHz. */
enum { DIVIDER = CLOCK_HZ / 400000 };
_Static_assert(DIVIDER >= 1 && DIVIDER <= 64, "FN5 to FN0 divide by 1 to 64");

/* Segments B and A. */
static volatile uint16_t *const words = (volatile uint16_t *)0x1000;

/* Kept out of line: it has three callers. */
__attribute__((noinline)) static void write(unsigned word, uint16_t mode, uint16_t value) {
    FCTL2 = KEY | SELECT_MCLK | (DIVIDER - 1);
    FCTL3 = KEY;
    FCTL1 = KEY | mode;
    words[word] = value;
    while ((FCTL3 & BUSY) != 0)
        continue;
    FCTL1 = KEY;
    FCTL3 = KEY | LOCK;
}

uint16_t kept_read(unsigned at) {
    uint16_t count = words[2 * at];
    return (count ^ words[2 * at + 1]) == 0xffff ? count : 0;
}

void kept_write(unsigned at, uint16_t count) {
    write(2 * at, WRITE, count);
    write(2 * at + 1, WRITE, (uint16_t)~count);
}

void kept_erase(unsigned at) {
    write(2 * at, ERASE, 0);
}
