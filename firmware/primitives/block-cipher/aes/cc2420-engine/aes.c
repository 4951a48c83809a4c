/* The CC2420's stand-alone encryption. Sections are of SWRS041B, the radio's data sheet. */
#include "aes.h"

#include <string.h>

#include "cc2420-engine-use.h"

/* Section 6.8: the regulator takes at most 0.6 ms, that is, this many times three cycles at 8
   MHz. */
enum { REGULATOR_LOOPS = 1600 };

/* Section 6.6: the crystal takes 1 ms; a poll takes 4 us at 8 MHz. */
enum { CRYSTAL_POLLS_MAX = 2000 };

static const aes_ctx *loaded;

static void start(void) {
    start_bus();
    P4OUT |= REGULATOR;
    uint16_t loops = REGULATOR_LOOPS;
    __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(loops) : : "cc");
    P4OUT |= RESET;
    strobe(SXOSCON);
    for (uint16_t polls = 0; polls < CRYSTAL_POLLS_MAX && (strobe(SNOP) & OSCILLATOR_STABLE) == 0;
         polls++)
        continue;
    /* No in-line security; the stand-alone encryption uses key 0. */
    write_register(SECCTRL0, 0);
}

static void load(const aes_ctx *ctx) {
    aes_cc2420_write_reversed(RAM_KEY0, ctx->key);
    loaded = ctx;
}

void aes_cc2420_use(const aes_ctx *ctx) {
    if (loaded == NULL)
        start();
    if (loaded != ctx)
        load(ctx);
}

void aes_init(aes_ctx *ctx, const uint8_t *key) {
    start();
    memcpy(ctx->key, key, sizeof ctx->key);
    load(ctx);
}

void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    aes_cc2420_use(ctx);
    for (; blocks != 0; blocks--) {
        /* SABUF is stored first byte first. Each byte is waited for, as in plain drivers. */
        select_ram(RAM_SABUF, 0);
        for (uint8_t i = 0; i < AES_BLOCK_BYTES; i++)
            exchange(*in++);
        deselect();
        aes_cc2420_run(SAES);
        select_ram(RAM_SABUF, RAM_READ);
        for (uint8_t i = 0; i < AES_BLOCK_BYTES; i++)
            *out++ = exchange(0);
        deselect();
    }
}
