/* Registers and fields as in PM0063. */
#include "series.h"

/* A chip file without a flash controller gives none of the registers used below. */
#ifdef FLASH_CR_ADDRESS

enum { BSY = 1, PG = 1, PER = 1 << 1, STRT = 1 << 6, LOCK = 1 << 7 };
#define KEY_1 0x45670123u
#define KEY_2 0xcdef89abu

static void unlock(uint32_t mode) {
    FLASH_KEYR = KEY_1;
    FLASH_KEYR = KEY_2;
    FLASH_CR = mode;
    finish_writes();
}

static void wait(void) {
    while ((FLASH_SR & BSY) != 0)
        continue;
}

void flash_write(uint32_t address, const uint32_t *words, unsigned count) {
    volatile uint16_t *to = (volatile uint16_t *)address;
    unlock(PG);
    for (unsigned i = 0; i < 2 * count; i++) {
        to[i] = (uint16_t)(words[i / 2] >> 16 * (i % 2));
        wait();
    }
    FLASH_CR = LOCK;
}

void flash_erase(uint32_t address) {
    unlock(PER);
    FLASH_AR = address;
    FLASH_CR = PER | STRT;
    wait();
    FLASH_CR = LOCK;
}
#endif
