/* Section numbers are those of the MSP430x1xx family user's guide, SLAU049F. */
#include "boots.h"

#include <stdbool.h>

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

/* Segments B and A of information memory, 128 bytes each. Counts are appended to one; when it is
   full the other is erased and begun, so that a count is there at any moment. */
enum { SEGMENT = 128, COUNTS = SEGMENT / 2, EMPTY = 0xffff };
static volatile uint16_t *const segments[2] = {(volatile uint16_t *)0x1000,
                                               (volatile uint16_t *)0x1080};

static void write(volatile uint16_t *at, uint16_t mode, uint16_t value) {
    FCTL2 = KEY | SELECT_MCLK | (DIVIDER - 1);
    FCTL3 = KEY;
    FCTL1 = KEY | mode;
    *at = value;
    while ((FCTL3 & BUSY) != 0)
        continue;
    FCTL1 = KEY;
    FCTL3 = KEY | LOCK;
}

static uint8_t used(const volatile uint16_t *segment) {
    uint8_t count = 0;
    while (count < COUNTS && segment[count] != EMPTY)
        count++;
    return count;
}

uint16_t boots_count(void) {
    static uint16_t boots;
    if (boots != 0)
        return boots;
    uint8_t counts[2] = {used(segments[0]), used(segments[1])};
    uint16_t last[2];
    for (uint8_t i = 0; i < 2; i++)
        last[i] = counts[i] == 0 ? 0 : segments[i][counts[i] - 1];
    uint8_t newer = last[1] > last[0];
    uint16_t next = (uint16_t)(last[newer] + 1);
    uint8_t at = counts[newer];
    if (at == COUNTS) {
        newer ^= 1;
        at = 0;
        write(segments[newer], ERASE, 0);
    }
    bool is_counted = next <= BOOTS_MAX;
    if (is_counted) {
        write(segments[newer] + at, WRITE, next);
        is_counted = segments[newer][at] == next;
    }
    while (!is_counted)
        continue;
    boots = next;
    return boots;
}
