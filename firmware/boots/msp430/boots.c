/* Section numbers are those of the MSP430x1xx family user's guide, SLAU049F. */
#include "boots.h"

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

/* Segments B and A of information memory, 64 words each. A count goes where the one before it ends;
   where that is the begin of a segment, it is erased: the last count is then in the other one, so
   that it is there at any moment. A word whose writing was interrupted is a count that is not less.
 */
enum { SEGMENT_WORDS = 64, WORDS = 2 * SEGMENT_WORDS, EMPTY = 0xffff };
static volatile uint16_t *const words = (volatile uint16_t *)0x1000;

static void write(uint8_t at, uint16_t mode, uint16_t value) {
    FCTL3 = KEY;
    FCTL1 = KEY | mode;
    words[at] = value;
    while ((FCTL3 & BUSY) != 0)
        continue;
    FCTL1 = KEY;
    FCTL3 = KEY | LOCK;
}

static uint16_t boots;

uint16_t boots_count(void) {
    return boots != 0 ? boots : boots_count_again();
}

uint16_t boots_count_again(void) {
    uint16_t last = 0;
    uint8_t at = 0;
    for (uint8_t i = 0; i < WORDS; i++)
        if (words[i] != EMPTY && words[i] > last) {
            last = words[i];
            at = (uint8_t)(i + 1) % WORDS;
        }
    FCTL2 = KEY | SELECT_MCLK | (DIVIDER - 1);
    if (at % SEGMENT_WORDS == 0)
        write(at, ERASE, 0);
    last++;
    write(at, WRITE, last);
    while (last > BOOTS_MAX || words[at] != last)
        continue;
    boots = last;
    return boots;
}
