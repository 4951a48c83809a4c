/* Registers and fields as in RM0432. */
#include "series.h"

/* A chip file without a flash controller gives none of the registers used below. */
#ifdef FLASH_CR_ADDRESS

enum { PG = 1, PER = 1 << 1, STRT = 1 << 16, BSY = 1 << 16 };
/* Errors of an earlier change, which would prevent the next one. */
enum { ERRORS = 0xc3fa };
/* Enables of the instruction and the data cache, and their resets. */
enum { CACHES = 3 << 9, CACHES_RESET = 3 << 11 };
#define LOCK (1u << 31)
#define KEY_1 0x45670123u
#define KEY_2 0xcdef89abu

static void unlock(void) {
    FLASH_KEYR = KEY_1;
    FLASH_KEYR = KEY_2;
    FLASH_SR = ERRORS;
}

static void wait(void) {
    while ((FLASH_SR & BSY) != 0)
        continue;
}

/* Flash is programmed by double words, each once. */
void flash_write(uint32_t address, const uint32_t *words, unsigned count) {
    volatile uint32_t *to = (volatile uint32_t *)address;
    unlock();
    FLASH_CR = PG;
    for (unsigned i = 0; i < count; i += 2) {
        to[i] = words[i];
        to[i + 1] = i + 1 < count ? words[i + 1] : UINT32_MAX;
        wait();
    }
    FLASH_CR = LOCK;
}

/* The caches are emptied because they would keep the old contents. */
void flash_erase(uint32_t address) {
    uint32_t page = address / FLASH_PAGE_BYTES & 0x1ff; /* in both banks */
    unlock();
    FLASH_CR = PER | page << 3;
    FLASH_CR = PER | page << 3 | STRT;
    wait();
    FLASH_CR = LOCK;
    uint32_t access = FLASH_ACR & ~(uint32_t)CACHES;
    FLASH_ACR = access;
    FLASH_ACR = access | CACHES_RESET;
    FLASH_ACR = access;
    FLASH_ACR = access | CACHES;
}

/* In FLASH_ECCR: an error was detected, and its address in the bank with the number of the bank. */
#define ECCD (1u << 31)
enum { ECC_ADDRESS = 0x2fffff };

extern const uint8_t vectors[], data_load[], data_bytes[]; /* of the linker script */

/* A double word whose write or erase was cut short is reported when it is read. What was read is
   then verified like everything else. An image that is itself damaged does not go on. */
void nmi(void) {
    uint32_t error = FLASH_ECCR;
    uint32_t image_bytes = (uint32_t)(data_load - vectors) + (uint32_t)data_bytes;
    while ((error & ECCD) == 0 || (error & ECC_ADDRESS) < image_bytes)
        continue;
    FLASH_ECCR = ECCD;
}
#endif
