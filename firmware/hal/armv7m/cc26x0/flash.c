/* Fields as in SWCU117, chapters VIMS and flash. */
#include "series.h"

/* A chip file without a flash controller gives none of the registers used below. */
#ifdef FLASH_CFG_ADDRESS

/* The ROM's table of tables, and two functions of its flash table (rom.h and flash.c of
   CC26xxWare). */
typedef uint32_t sector_erase(uint32_t address);
typedef uint32_t program(const uint8_t *bytes, uint32_t address, uint32_t count);
#define ROM_FLASH (((void *const *const *)0x10000180)[10])
#define ROM_SECTOR_ERASE ((sector_erase *)ROM_FLASH[5])
#define ROM_PROGRAM ((program *)ROM_FLASH[6])

enum { MODE_OFF = 3, MODE_CHANGING = 8, LINE_BUFFERS_OFF = 3 << 4 };
enum { DIS_STANDBY = 2 };

/* The cache and the line buffers must be off: they would keep the old contents of the flash. */
static uint32_t set_vims(uint32_t control) {
    uint32_t before = VIMS_CTL;
    VIMS_CTL = control;
    while ((VIMS_STAT & MODE_CHANGING) != 0)
        continue;
    return before;
}

void flash_write(uint32_t address, const uint32_t *words, unsigned count) {
    uint32_t masked = interrupts_off();
    uint32_t control = set_vims(MODE_OFF | LINE_BUFFERS_OFF);
    (void)ROM_PROGRAM((const uint8_t *)words, address, 4 * count);
    FLASH_CFG &= ~(uint32_t)DIS_STANDBY;
    (void)set_vims(control);
    interrupts_restore(masked);
}

void flash_erase(uint32_t address) {
    uint32_t masked = interrupts_off();
    uint32_t control = set_vims(MODE_OFF | LINE_BUFFERS_OFF);
    (void)ROM_SECTOR_ERASE(address);
    FLASH_CFG &= ~(uint32_t)DIS_STANDBY;
    (void)set_vims(control);
    interrupts_restore(masked);
}
#endif
