/* The CC2420 on the pins of the TelosB, with USART0 as SPI master: the part shared by its driver
   and by its AES as a primitive. Sections of SWRS041B are of the radio's data sheet; those of
   SLAU049F are of the MSP430x1xx family user's guide. */
#ifndef CC2420_H
#define CC2420_H

#include "chip.h"

/* Pins: Contiki-NG, arch/platform/sky/sky-def.h. */
enum {
    FIFOP = 0x01, /* P1.0 */
    FIFO = 0x08,  /* P1.3 */
    CCA = 0x10,   /* P1.4 */
    SFD = 0x02,   /* P4.1, also TB1 */
    SELECT = 0x04,
    FLASH_SELECT = 0x10,
    REGULATOR = 0x20,
    RESET = 0x40,
    FLASH_HOLD = 0x80,
    SPI_OUT = 0x0a, /* P3.1 and P3.3: SIMO0 and UCLK0 */
    SPI = 0x0e      /* and P3.2: SOMI0 */
};

/* SLAU049F, section 14.3, USART registers in SPI mode; section 1.4.4 for IFG1 and ME1. */
enum {
    SWRST = 0x01,
    MASTER = 0x02,
    SYNCHRONOUS = 0x04,
    EIGHT_BITS = 0x10,
    THREE_PINS = 0x02,
    SELECT_SMCLK = 0x30,
    RISING_EDGE = 0x80, /* CKPH: data is valid before the first edge */
    RECEIVED = 0x40,
    READY = 0x80, /* for another byte to send */
    EMPTY = 0x01, /* U0TCTL: everything is sent */
    SPI_ENABLE = 0x40
};

/* SWRS041B, table 11. */
enum {
    SNOP = 0x00,
    SXOSCON = 0x01,
    SRXON = 0x03,
    STXON = 0x04,
    STXONCCA = 0x05,
    SRFOFF = 0x06,
    SFLUSHRX = 0x08,
    SFLUSHTX = 0x09,
    SRXDEC = 0x0c,
    STXENC = 0x0d,
    SAES = 0x0e,
    MDMCTRL0 = 0x11,
    MDMCTRL1 = 0x12,
    RSSI = 0x13,
    RXCTRL1 = 0x17,
    FSCTRL = 0x18,
    SECCTRL0 = 0x19,
    SECCTRL1 = 0x1a,
    IOCFG0 = 0x1c,
    MANFIDL = 0x1e,
    TXFIFO = 0x3e,
    RXFIFO = 0x3f,
    READ = 0x40,
    RAM = 0x80,
    RAM_READ = 0x20
};

/* SWRS041B, table 5. */
enum { OSCILLATOR_STABLE = 0x40, ENCRYPTING = 0x10, TX_ACTIVE = 0x08 };

/* SWRS041B, table 6. */
enum {
    RAM_TXFIFO = 0x000,
    RAM_RXFIFO = 0x080,
    RAM_KEY0 = 0x100,
    RAM_RXNONCE = 0x110,
    RAM_SABUF = 0x120,
    RAM_KEY1 = 0x130,
    RAM_TXNONCE = 0x140,
    RAM_IEEEADR = 0x160,
    RAM_PANID = 0x168
};

/* Not every program uses all of these functions. */
__attribute__((unused)) static uint8_t exchange(uint8_t byte) {
    U0TXBUF = byte;
    while ((IFG1 & RECEIVED) == 0)
        continue;
    return U0RXBUF;
}

__attribute__((unused)) static void deselect(void) {
    P4OUT |= SELECT;
}

__attribute__((unused)) static uint8_t select(uint8_t address) {
    P4OUT &= (uint8_t)~SELECT;
    return exchange(address);
}

/* Returns the status byte from before the strobe. */
__attribute__((unused)) static uint8_t strobe(uint8_t code) {
    uint8_t status = select(code);
    deselect();
    return status;
}

__attribute__((unused)) static void write_register(uint8_t address, uint16_t value) {
    select(address);
    exchange((uint8_t)(value >> 8));
    exchange((uint8_t)value);
    deselect();
}

__attribute__((unused)) static void select_ram(uint16_t address, uint8_t mode) {
    select((uint8_t)(RAM | (address & 0x7f)));
    exchange((uint8_t)((address >> 7) << 6) | mode);
}

__attribute__((unused)) static void start_bus(void) {
    P4OUT |= SELECT | FLASH_SELECT | FLASH_HOLD;
    P4OUT &= (uint8_t)~(REGULATOR | RESET);
    P4DIR |= SELECT | FLASH_SELECT | FLASH_HOLD | REGULATOR | RESET;
    P4DIR &= (uint8_t)~SFD;
    P4SEL |= SFD;
    P1DIR &= (uint8_t)~(FIFOP | FIFO | CCA);
    P3SEL |= SPI;
    P3DIR |= SPI_OUT;
    U0CTL = SWRST;
    U0CTL = SWRST | EIGHT_BITS | SYNCHRONOUS | MASTER;
    U0TCTL = RISING_EDGE | SELECT_SMCLK | THREE_PINS;
    U0BR0 = 2; /* the minimum (SLAU049F, section 14.3) */
    U0BR1 = 0;
    U0MCTL = 0;
    ME1 |= SPI_ENABLE;
    U0CTL = EIGHT_BITS | SYNCHRONOUS | MASTER;
}

#endif
