#include "aes.h"

#include "chip.h"

/* PRCM: the accelerator's clock gate, and the register that applies changes of gates. */
enum { CRYPTO_CLOCK = 1, LOAD = 1, LOAD_DONE = 2 };

static inline void aes_ti_start(void) {
    if ((PRCM_SECDMACLKGR & CRYPTO_CLOCK) != 0)
        return;
    PRCM_SECDMACLKGR |= CRYPTO_CLOCK;
    PRCM_CLKLOADCTL = LOAD;
    while ((PRCM_CLKLOADCTL & LOAD_DONE) == 0)
        continue;
}

#include "ti-engine.inc"
