/* The CC2420's stand-alone encryption on the pins of the TelosB: USART0 as SPI master. Sections are
   of SWRS041B, the radio's data sheet, and with "user's guide" of SLAU049F. */
#include "aes.h"

#include <string.h>

#include "chip.h"

/* Port 4 and port 3: Contiki-NG, arch/platform/sky/sky-def.h. */
enum {
    SELECT = 0x04,
    FLASH_SELECT = 0x10,
    REGULATOR = 0x20,
    RESET = 0x40,
    FLASH_HOLD = 0x80,
    SPI_OUT = 0x0a,
    SPI = 0x0e
};

/* User's guide, section 14.3, registers in SPI mode; section 1.4.4 for ME1 and IFG1. */
enum {
    SWRST = 0x01,
    MASTER = 0x02,
    SYNCHRONOUS = 0x04,
    EIGHT_BITS = 0x10,
    THREE_PINS = 0x02,
    SELECT_SMCLK = 0x30,
    RISING_EDGE = 0x80,
    SPI_ENABLE = 0x40,
    RECEIVED = 0x40
};

/* Tables 5, 6 and 11. */
enum { SNOP = 0x00, SXOSCON = 0x01, SAES = 0x0e, SECCTRL0 = 0x19, RAM = 0x80, RAM_READ = 0x20 };
enum { OSCILLATOR_STABLE = 0x40, ENCRYPTING = 0x10 };
enum { RAM_KEY0 = 0x100, RAM_SABUF = 0x120 };

/* Section 6.8: the regulator takes 0.6 ms at most, which are so many times three cycles at 8 MHz.
 */
enum { REGULATOR_LOOPS = 1600 };

enum { POLLS_MAX = 100 };

static const aes_ctx *loaded;

static uint8_t exchange(uint8_t byte) {
    U0TXBUF = byte;
    while ((IFG1 & RECEIVED) == 0)
        continue;
    return U0RXBUF;
}

static uint8_t strobe(uint8_t code) {
    P4OUT &= (uint8_t)~SELECT;
    uint8_t status = exchange(code);
    P4OUT |= SELECT;
    return status;
}

static void select_ram(uint16_t address, uint8_t mode) {
    P4OUT &= (uint8_t)~SELECT;
    exchange((uint8_t)(RAM | (address & 0x7f)));
    exchange((uint8_t)((address >> 7) << 6 | mode));
}

/* Section 21: keys have their least significant byte first. */
static void load(const aes_ctx *ctx) {
    select_ram(RAM_KEY0, 0);
    for (uint8_t i = AES_KEY_BYTES; i != 0; i--)
        exchange(ctx->key[i - 1]);
    P4OUT |= SELECT;
    loaded = ctx;
}

static void start_bus(void) {
    P4OUT |= SELECT | FLASH_SELECT | FLASH_HOLD;
    P4OUT &= (uint8_t)~(REGULATOR | RESET);
    P4DIR |= SELECT | FLASH_SELECT | FLASH_HOLD | REGULATOR | RESET;
    P3SEL |= SPI;
    P3DIR |= SPI_OUT;
    U0CTL = SWRST;
    U0CTL = SWRST | EIGHT_BITS | SYNCHRONOUS | MASTER;
    U0TCTL = RISING_EDGE | SELECT_SMCLK | THREE_PINS;
    U0BR0 = 2; /* the least (user's guide, section 14.3) */
    U0BR1 = 0;
    U0MCTL = 0;
    ME1 |= SPI_ENABLE;
    U0CTL = EIGHT_BITS | SYNCHRONOUS | MASTER;
}

static void start(void) {
    start_bus();
    P4OUT |= REGULATOR;
    uint16_t loops = REGULATOR_LOOPS;
    __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(loops) : : "cc");
    P4OUT |= RESET;
    strobe(SXOSCON);
    while ((strobe(SNOP) & OSCILLATOR_STABLE) == 0)
        continue;
    /* No in-line security; the stand-alone encryption uses key 0. */
    P4OUT &= (uint8_t)~SELECT;
    exchange(SECCTRL0);
    exchange(0);
    exchange(0);
    P4OUT |= SELECT;
}

void aes_init(aes_ctx *ctx, const uint8_t *key) {
    start();
    memcpy(ctx->key, key, sizeof ctx->key);
    load(ctx);
}

void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    if (loaded == NULL)
        start();
    if (loaded != ctx)
        load(ctx);
    for (; blocks != 0; blocks--) {
        /* This buffer has its first byte first. */
        select_ram(RAM_SABUF, 0);
        for (uint8_t i = 0; i < AES_BLOCK_BYTES; i++)
            exchange(*in++);
        P4OUT |= SELECT;
        strobe(SAES);
        /* 14 us (table 8), and a poll takes longer: a radio that is off does not hang the core. */
        for (uint8_t polls = 0; polls < POLLS_MAX && (strobe(SNOP) & ENCRYPTING) != 0; polls++)
            continue;
        select_ram(RAM_SABUF, RAM_READ);
        for (uint8_t i = 0; i < AES_BLOCK_BYTES; i++)
            *out++ = exchange(0);
        P4OUT |= SELECT;
    }
}
