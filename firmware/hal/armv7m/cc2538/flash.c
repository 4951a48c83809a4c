/* Fields as in SWRU319, chapter flash. */
#include "series.h"

/* The ROM's function table, which begins at 0x48 (HARD_API_T in rom.h of TI's foundation
   firmware). */
typedef int32_t page_erase(uint32_t address, uint32_t bytes);
typedef int32_t program_flash(const uint32_t *words, uint32_t address, uint32_t bytes);
#define ROM_PAGE_ERASE (*(page_erase *const *)0x54)
#define ROM_PROGRAM_FLASH (*(program_flash *const *)0x58)

enum { CACHE_MODE = 0xc };

/* The ROM functions change the cache mode and do not restore it. */
void flash_write(uint32_t address, const uint32_t *words, unsigned count) {
    uint32_t mode = FLASH_CTRL_FCTL & CACHE_MODE;
    uint32_t masked = interrupts_off();
    (void)ROM_PROGRAM_FLASH(words, address, 4 * count);
    FLASH_CTRL_FCTL = mode;
    interrupts_restore(masked);
}

void flash_erase(uint32_t address) {
    uint32_t mode = FLASH_CTRL_FCTL & CACHE_MODE;
    uint32_t masked = interrupts_off();
    (void)ROM_PAGE_ERASE(address, FLASH_PAGE_BYTES);
    FLASH_CTRL_FCTL = mode;
    interrupts_restore(masked);
}
