/* Registers and fields as in the nRF52840 product specification, chapter NVMC. */
#include "series.h"

/* A chip file without a flash controller gives none of the registers used below. */
#ifdef NVMC_CONFIG_ADDRESS

enum { READ_ONLY = 0, WRITE_ENABLED = 1, ERASE_ENABLED = 2 };

static void wait(void) {
    while (NVMC_READY == 0)
        continue;
    NVMC_CONFIG = READ_ONLY;
    finish_writes();
}

void flash_write(uint32_t address, const uint32_t *words, unsigned count) {
    volatile uint32_t *to = (volatile uint32_t *)address;
    NVMC_CONFIG = WRITE_ENABLED;
    finish_writes();
    for (unsigned i = 0; i < count; i++)
        to[i] = words[i]; /* the core stands still until it is written */
    wait();
}

void flash_erase(uint32_t address) {
    NVMC_CONFIG = ERASE_ENABLED;
    finish_writes();
    NVMC_ERASEPAGE = address;
    wait();
}
#endif
