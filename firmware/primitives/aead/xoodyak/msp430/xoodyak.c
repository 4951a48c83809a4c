#include "aead/xoodyak/xoodyak.h"

/* Xoodoo[12]; in xoodoo.S. */
void xoodyak_xoodoo(uint8_t state[XOODYAK_STATE_BYTES]);

static void xoodoo(uint8_t state[XOODYAK_STATE_BYTES]) {
    xoodyak_xoodoo(state);
}

#include "aead/xoodyak/xoodyak-cyclist.h"
