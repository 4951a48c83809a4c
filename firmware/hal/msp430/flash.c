/* Section numbers are those of the MSP430x1xx family user's guide, SLAU049F. */
#include "flash.h"

#include "board.h"
#include "chip.h"

/* Section 5.4. Writing a register takes a password in its high byte. */
enum { PASSWORD = 0xa500, ERASE = 0x02, WRITE = 0x40, LOCK = 0x10, SELECT_MCLK = 0x40 };

/* The flash timing generator runs at 257 to 476 kHz (data sheet, SLAS368G): as fast as it may. */
enum { GENERATOR_HZ_MAX = 476000 };
#define DIVIDER ((CLOCK_HZ + GENERATOR_HZ_MAX - 1) / GENERATOR_HZ_MAX)
_Static_assert(CLOCK_HZ / DIVIDER >= 257000, "no divider gives the generator's clock");

/* The core stands still while flash, which it runs from, changes (section 5.3.1). No interrupt is
   enabled. */
static void begin(uint16_t mode) {
    FCTL2 = PASSWORD | SELECT_MCLK | (uint16_t)(DIVIDER - 1);
    FCTL3 = PASSWORD;
    FCTL1 = PASSWORD | mode;
}

static void end(void) {
    FCTL1 = PASSWORD;
    FCTL3 = PASSWORD | LOCK;
}

void flash_write(uint32_t address, const uint32_t *words, unsigned count) {
    volatile uint16_t *to = (volatile uint16_t *)(uintptr_t)address;
    const uint16_t *from = (const uint16_t *)words;
    begin(WRITE);
    for (unsigned i = 0; i < 2 * count; i++)
        to[i] = from[i];
    end();
}

void flash_erase(uint32_t address) {
    begin(ERASE);
    *(volatile uint16_t *)(uintptr_t)address = 0; /* any address of the segment */
    end();
}
