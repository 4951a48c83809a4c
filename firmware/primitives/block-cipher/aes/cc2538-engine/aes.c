#include "aes.h"

#include "chip.h"

/* SYS_CTRL, clock gates of the security modules: that of the AES engine. */
enum { AES_CLOCK = 2 };

static inline void aes_ti_start(void) {
    SYS_CTRL_RCGCSEC |= AES_CLOCK;
}

#include "ti-engine.inc"
