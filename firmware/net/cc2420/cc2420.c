/* The CC2420 behind radio.h, on the pins of the TelosB: USART0 as SPI master, the SFD pin at the
   capture input of Timer_B's channel 1. Sections of SWRS041B, the CC2420's data sheet, are named as
   such; others are of the MSP430x1xx family user's guide, SLAU049F. */
#include <string.h>

#include "chip.h"
#include "hal.h"
#include "radio.h"

#include "assembly.h"

/* Section 12.3, TBCCTLx. */
enum {
    CAPTURE_RISING = 0x4000,
    SYNCHRONISED = 0x0800,
    CAPTURE = 0x0100,
    INTERRUPT = 0x0010,
    OVERRUN = 0x0002,
    FLAG = 0x0001
};

/* Register values: reset values except for the named fields. */
enum {
    MODEM = 0x02e2, /* MDMCTRL0: no address recognition, CCA mode 3, AUTOCRC */
    RECOGNISE = 0x0800,
    ACKNOWLEDGE = 0x0010,
    CORRELATION = 0x0500,   /* MDMCTRL1: CORR_THR 20 */
    BAND_PASS = 0x2a56,     /* RXCTRL1: RXBPF_LOCUR, recommended */
    FREQUENCY = 0x4165,     /* FSCTRL: LOCK_THR 1; channel 11 */
    FRAMES_ONLY = 0x007f,   /* IOCFG0: FIFOP_THR, so that FIFOP signals a whole frame */
    UNPROTECTED = 0x0000,   /* SECCTRL0: in-line security off, nothing stored for it */
    HEAD = 0x0100,          /* SEC_CBC_HEAD */
    KEY1_SELECTED = 0x00e0, /* SEC_SAKEYSEL, SEC_TXKEYSEL, SEC_RXKEYSEL */
    MODE_CTR = 2,
    MODE_CCM = 3,
    MANUFACTURER = 0x233d
};

enum { RSSI_OFFSET = -45, CRC_RIGHT = 0x80, FIFO_BYTES = 128 };

/* Time limits in ticks of the crystal, each about twice the longest time: the oscillator's start, 1
   ms; the SFD after its strobe, 352 us; the longest frame, 4.1 ms; the AES engine on the longest
   frame, 222 us. */
enum { OSCILLATOR_TICKS = 66, DELIMITER_TICKS = 24, FRAME_TICKS = 280, ENGINE_TICKS = 16 };

static radio_filter own; /* valid where `modem` enables address recognition */
static uint16_t modem;
static uint16_t frequency;
static bool listens;
static bool retuned;
/* Start of the next frame in the receive FIFO. */
static uint8_t fifo_at;
/* Bytes already read from a FIFO that has overflowed. */
static uint8_t taken_of_full;
static const uint8_t *loaded_keys[2];

/* ---- Time ---- */

/* The counter is clocked asynchronously to the core, so it is read until two reads agree (section
   12.2.1). */
radio_time radio_now(void) {
    uint16_t first;
    uint16_t second = TBR;
    do {
        first = second;
        second = TBR;
    } while (first != second);
    return second;
}

void radio_sleep_until(radio_time when) {
    TBCCR0 = when;
    TBCCTL0 = INTERRUPT;
    while (radio_time_after(when, radio_now()) > 0)
        sleep_lpm3();
    TBCCTL0 = 0;
}

static bool is_over(radio_time until) {
    return radio_time_after(radio_now(), until) >= 0;
}

/* ---- The bus ---- */

static uint16_t read_register(uint8_t address) {
    select(address | READ);
    uint16_t high = exchange(0);
    uint16_t value = (uint16_t)(high << 8 | exchange(0));
    deselect();
    return value;
}

static void write_ram(uint16_t address, const uint8_t *bytes, uint8_t count) {
    select_ram(address, 0);
    put(bytes, count);
    deselect();
}

/* SWRS041B, section 21: security data is stored least significant byte first. At most 16 bytes. */
static void write_ram_reversed(uint16_t address, const uint8_t *bytes, uint8_t count) {
    uint8_t turned[16];
    for (uint8_t i = 0; i < count; i++)
        turned[count - 1 - i] = bytes[i];
    write_ram(address, turned, count);
}

/* Sends a strobe and waits until the AES engine has finished. */
static bool encrypt(uint8_t code) {
    radio_time until = (radio_time)(radio_now() + ENGINE_TICKS);
    strobe(code);
    while ((strobe(SNOP) & ENCRYPTING) != 0) {
        if (is_over(until))
            return false;
    }
    return true;
}

/* ---- The radio ---- */

static void flush(void) {
    /* SWRS041B, section 14.3: twice, to reset the SFD pin. */
    strobe(SFLUSHRX);
    strobe(SFLUSHRX);
    fifo_at = 0;
    taken_of_full = 0;
    TBCCTL1 &= (uint16_t)~(FLAG | OVERRUN);
}

static void set_registers(void) {
    write_register(MDMCTRL0, modem);
    write_register(MDMCTRL1, CORRELATION);
    write_register(RXCTRL1, BAND_PASS);
    write_register(FSCTRL, frequency);
    write_register(IOCFG0, FRAMES_ONLY);
    write_register(SECCTRL0, UNPROTECTED);
}

/* The radio loses its RAM when its supply is off, so the addresses are written at each power-up. */
static void write_addresses(void) {
    if ((modem & RECOGNISE) == 0)
        return;
    /* All three are stored least significant byte first, one after the other. */
    uint8_t addresses[4] = {(uint8_t)own.pan, (uint8_t)(own.pan >> 8), (uint8_t)own.short_address,
                            (uint8_t)(own.short_address >> 8)};
    write_ram(RAM_IEEEADR, own.extended_address, 8);
    write_ram(RAM_PANID, addresses, 4);
}

static bool power_up(void) {
    P4OUT |= REGULATOR;
    /* SWRS041B, section 6.8: at most 0.6 ms. */
    radio_sleep_until((radio_time)(radio_now() + radio_ticks(600) + 1));
    P4OUT |= RESET;
    loaded_keys[0] = loaded_keys[1] = 0;
    listens = false;
    if (read_register(MANFIDL) != MANUFACTURER)
        return false;
    strobe(SXOSCON);
    radio_time until = (radio_time)(radio_now() + OSCILLATOR_TICKS);
    while ((strobe(SNOP) & OSCILLATOR_STABLE) == 0) {
        if (is_over(until))
            return false;
    }
    set_registers();
    write_addresses();
    flush();
    return true;
}

bool radio_init(void) {
    modem = MODEM;
    frequency = FREQUENCY;
    TBCTL = TIMER_ACLK | TIMER_CONTINUOUS | TIMER_CLEAR;
    TBCCTL1 = CAPTURE_RISING | SYNCHRONISED | CAPTURE;
    start_bus();
    return power_up();
}

void radio_channel(uint8_t channel) {
    frequency = (uint16_t)(FREQUENCY + 5 * (channel - RADIO_CHANNEL_MIN));
    retuned = true;
}

void radio_set_filter(const radio_filter *filter) {
    modem = MODEM;
    if (filter != 0) {
        own = *filter;
        modem |= RECOGNISE | (filter->acknowledge ? ACKNOWLEDGE : 0);
        write_addresses();
    }
    write_register(MDMCTRL0, modem);
}

void radio_idle(void) {
    strobe(SRFOFF);
    listens = false;
}

/* The radio may still be acknowledging the last frame: wait for a turnaround and a frame of 5
   bytes. */
void radio_sleep(void) {
    if ((modem & ACKNOWLEDGE) != 0 && listens)
        radio_sleep_until((radio_time)(radio_now() + radio_ticks(192 + 11 * RADIO_BYTE_US) + 1));
    P4OUT &= (uint8_t)~(REGULATOR | RESET);
    listens = false;
}

void radio_wake(void) {
    power_up();
}

/* A new frequency requires a calibration, and therefore a start from idle. */
static void tune(void) {
    if (!retuned)
        return;
    retuned = false;
    radio_idle();
    write_register(FSCTRL, frequency);
}

/* ---- Sending ---- */

static void load(const uint8_t *frame, uint8_t length, uint8_t mic_bytes) {
    strobe(SFLUSHTX);
    select(TXFIFO);
    exchange((uint8_t)(length + mic_bytes + RADIO_FCS_BYTES));
    put(frame, length);
    deselect();
}

void radio_load(const uint8_t *frame, uint8_t length) {
    load(frame, length, 0);
}

/* Waits for the SFD of the frame just strobed. */
static bool sent(radio_time *sfd) {
    radio_time until = (radio_time)(radio_now() + DELIMITER_TICKS);
    while ((TBCCTL1 & FLAG) == 0) {
        if (is_over(until)) {
            radio_idle();
            return false;
        }
    }
    *sfd = TBCCR1;
    TBCCTL1 &= (uint16_t)~FLAG;
    return true;
}

bool radio_transmit(radio_time *sfd) {
    tune();
    TBCCTL1 &= (uint16_t)~FLAG;
    strobe(STXON);
    return sent(sfd);
}

bool radio_transmit_if_clear(radio_time *sfd) {
    TBCCTL1 &= (uint16_t)~FLAG;
    strobe(STXONCCA);
    if ((strobe(SNOP) & TX_ACTIVE) == 0)
        return false;
    return sent(sfd);
}

void radio_transmit_end(void) {
    radio_time until = (radio_time)(radio_now() + FRAME_TICKS);
    while ((P4IN & SFD) != 0) {
        if (is_over(until)) {
            radio_idle();
            return;
        }
    }
    /* The radio calibrates its receiver automatically (SWRS041B, figure 25). */
    listens = true;
    flush();
}

/* ---- Receiving ---- */

void radio_receive(void) {
    tune();
    flush();
    if (!listens)
        strobe(SRXON);
    listens = true;
}

/* SWRS041B, section 14.3: FIFOP without FIFO signals an overflow. The FIFO's contents can be read,
   but nothing more is received until it is flushed. */
static bool is_full(void) {
    return (P1IN & (FIFOP | FIFO)) == FIFOP;
}

bool radio_wait_sfd(radio_time until, radio_time *sfd) {
    TBCCR0 = until;
    TBCCTL0 = INTERRUPT;
    TBCCTL1 |= INTERRUPT;
    /* The SFD's capture and the end of the wait both interrupt and so wake the core. */
    while ((TBCCTL1 & FLAG) == 0 && !is_over(until)) {
        sleep_lpm3();
        /* Channel 1's flag stays set and would interrupt again at once. */
        if ((TBCCTL1 & FLAG) != 0)
            break;
    }
    TBCCTL0 = 0;
    TBCCTL1 &= (uint16_t)~INTERRUPT;
    if ((TBCCTL1 & FLAG) == 0)
        return false;
    *sfd = TBCCR1;
    TBCCTL1 &= (uint16_t)~FLAG;
    return true;
}

/* Returns one byte of the first frame in the receive FIFO without consuming it. */
static uint8_t peek_at(uint8_t place) {
    select_ram((uint16_t)(RAM_RXFIFO + (fifo_at + place) % FIFO_BYTES), RAM_READ);
    uint8_t byte = exchange(0);
    deselect();
    return byte;
}

/* Returns the length byte if the FIFO holds a whole frame of a valid length, else 0. */
static uint8_t frame_length(void) {
    if ((P1IN & FIFOP) == 0)
        return 0;
    uint8_t length = peek_at(0);
    if (is_full() && length >= FIFO_BYTES - taken_of_full)
        return 0;
    return length > RADIO_FCS_BYTES && length <= RADIO_PSDU_BYTES_MAX ? length : 0;
}

void radio_listen(void) {
    tune();
    if ((P1IN & FIFOP) != 0 && frame_length() == 0)
        flush();
    if (!listens)
        strobe(SRXON);
    listens = true;
}

bool radio_wait_frame(radio_time until) {
    while ((P4IN & SFD) != 0) {
        if (is_over(until))
            return false;
    }
    uint8_t length = frame_length();
    return length != 0 && (peek_at(length) & CRC_RIGHT) != 0;
}

/* Copies bytes of the first frame in the receive FIFO without consuming them. */
static void look(uint8_t *frame, uint8_t from, uint8_t count) {
    uint8_t at = (uint8_t)((fifo_at + 1 + from) % FIFO_BYTES);
    while (count > 0) {
        /* The RAM does not wrap where the FIFO does. */
        uint8_t run = (uint8_t)(FIFO_BYTES - at);
        if (run > count)
            run = count;
        count -= run;
        select_ram((uint16_t)(RAM_RXFIFO + at), RAM_READ);
        get(frame, run);
        deselect();
        frame += run;
        at = 0;
    }
}

uint8_t radio_peek(uint8_t *frame, uint8_t count) {
    uint8_t length = frame_length();
    if (length == 0)
        return 0;
    length -= RADIO_FCS_BYTES;
    look(frame, 0, count < length ? count : length);
    return length;
}

/* Waits until this many bytes have followed the SFD, or the frame has ended. A byte is in the FIFO
   3 us after it was sent (SWRS041B, section 14.1), which one tick covers. */
__attribute__((noinline)) static void wait_for_bytes(uint8_t bytes) {
    uint16_t ticks = (uint16_t)(2 + bytes + ((bytes * 50u) >> 10));
    radio_time arrived = (radio_time)(TBCCR1 + ticks);
    while ((P4IN & SFD) != 0 && !is_over(arrived))
        continue;
}

uint8_t radio_arriving(void) {
    wait_for_bytes(1);
    uint8_t length = peek_at(0);
    return length > RADIO_FCS_BYTES && length <= RADIO_PSDU_BYTES_MAX
               ? (uint8_t)(length - RADIO_FCS_BYTES)
               : 0;
}

void radio_fetch(uint8_t *to, uint8_t from, uint8_t count) {
    wait_for_bytes((uint8_t)(1 + from + count));
    look(to, from, count);
}

/* Reads the first frame, whose length has been validated. */
static uint8_t take(uint8_t *frame, uint8_t length, radio_reception *reception) {
    select(RXFIFO | READ);
    if (exchange(0) != length) {
        /* The length was misread on a disturbed bus: what was peeked at `fifo_at` is not what the
           FIFO returns. */
        deselect();
        flush();
        return 0;
    }
    get(frame, (uint8_t)(length - RADIO_FCS_BYTES));
    int8_t rssi = (int8_t)exchange(0);
    uint8_t correlation = exchange(0);
    deselect();
    fifo_at = (uint8_t)((fifo_at + 1 + length) % FIFO_BYTES);
    if (is_full())
        taken_of_full = (uint8_t)(taken_of_full + 1 + length);
    if ((correlation & CRC_RIGHT) == 0)
        return 0;
    if (reception != 0) {
        reception->rssi_dbm = (int8_t)(rssi + RSSI_OFFSET);
        reception->lqi = (uint8_t)(correlation & 0x7f);
    }
    return (uint8_t)(length - RADIO_FCS_BYTES);
}

uint8_t radio_read(uint8_t *frame, radio_reception *reception) {
    uint8_t length = frame_length();
    if (length == 0) {
        /* What the FIFO holds is not a valid frame. */
        if ((P1IN & FIFOP) != 0)
            flush();
        return 0;
    }
    return take(frame, length, reception);
}

bool radio_cca(void) {
    return (P1IN & CCA) != 0;
}

int8_t radio_rssi_dbm(void) {
    return (int8_t)((int8_t)read_register(RSSI) + RSSI_OFFSET);
}

/* ---- Security ---- */

/* Ensures that the radio holds a key; returns the bits of SECCTRL0 that select it. The radio holds
   two. */
static uint16_t load_key(const uint8_t *key) {
#if RADIO_KEYS_STAY
    static bool second;
    if (key == loaded_keys[0])
        return 0;
    if (key == loaded_keys[1])
        return KEY1_SELECTED;
    second = !second;
    loaded_keys[!second] = key;
    write_ram_reversed(second ? RAM_KEY0 : RAM_KEY1, key, 16);
    return second ? 0 : KEY1_SELECTED;
#else
    write_ram_reversed(RAM_KEY0, key, 16);
    return 0;
#endif
}

void radio_keep_key(const uint8_t key[16]) {
#if RADIO_KEYS_STAY
    load_key(key);
#else
    (void)key;
#endif
}

void radio_aes(const uint8_t key[16], uint8_t *out, const uint8_t *in, uint8_t blocks) {
    uint16_t selected = load_key(key);
#if RADIO_KEYS_STAY
    write_register(SECCTRL0, selected);
#else
    (void)selected;
#endif
    while (blocks-- > 0) {
        /* SABUF is stored first byte first, as in other drivers that ran on motes. */
        write_ram(RAM_SABUF, in, 16);
        encrypt(SAES);
        select_ram(RAM_SABUF, RAM_READ);
        get(out, 16);
        deselect();
        in += 16;
        out += 16;
    }
}

/* Sets key, nonce and registers for a frame whose first `open` bytes are not encrypted. */
static void prepare(const radio_ccm *ccm, uint16_t nonce_at, uint8_t open) {
    uint8_t nonce[16];
    /* SWRS041B, figure 26: a counter of two bytes, L - 1 = 1; the Adata flag if there is any. */
    nonce[0] = open > 0 ? 0x09 : 0x01;
    memcpy(nonce + 1, ccm->nonce, 13);
    nonce[14] = 0;
    nonce[15] = 1;
    uint16_t selected = load_key(ccm->key);
    write_ram_reversed(nonce_at, nonce, 16);
    uint16_t mode = MODE_CTR;
    if (ccm->mic_bytes > 0)
        mode = (uint16_t)(MODE_CCM | (ccm->mic_bytes - 2) / 2 << 2);
    write_register(SECCTRL0, (uint16_t)(HEAD | selected | mode));
    write_register(SECCTRL1, (uint16_t)(open << 8 | open));
}

/* In a frame that is not encrypted all bytes are header. */
static uint8_t open_bytes(const radio_ccm *ccm, uint8_t length) {
    return ccm->encrypt ? ccm->open : length;
}

bool radio_ccm_load(const radio_ccm *ccm, uint8_t *frame, uint8_t length) {
    load(frame, length, ccm->mic_bytes);
    if (!ccm->encrypt && ccm->mic_bytes == 0)
        return true;
    prepare(ccm, RAM_TXNONCE, open_bytes(ccm, length));
    bool done = encrypt(STXENC);
    /* Otherwise STXON would secure the frame again. */
    write_register(SECCTRL0, UNPROTECTED);
    if (RADIO_PLAIN) {
        select_ram(RAM_TXFIFO + 1, RAM_READ);
        get(frame, (uint8_t)(length + ccm->mic_bytes));
        deselect();
        load(frame, (uint8_t)(length + ccm->mic_bytes), 0);
    }
    return done;
}

static bool is_expected;

void radio_ccm_expect(const radio_ccm *ccm, uint8_t length) {
    is_expected = ccm->encrypt || ccm->mic_bytes > 0;
    if (is_expected)
        prepare(ccm, RAM_RXNONCE, open_bytes(ccm, (uint8_t)(length - ccm->mic_bytes)));
}

uint8_t radio_ccm_read(const radio_ccm *ccm, uint8_t *frame, radio_reception *reception) {
    uint8_t length = frame_length();
    if (length < RADIO_FCS_BYTES + ccm->open + ccm->mic_bytes) {
        flush();
        return 0;
    }
    uint8_t text_end = (uint8_t)(length - RADIO_FCS_BYTES - ccm->mic_bytes);
    bool is_secured = ccm->encrypt || ccm->mic_bytes > 0;
    bool done = true;
    if (is_secured) {
        if (RADIO_PLAIN) {
            /* A frame that wraps around in the FIFO is left where it is. */
            uint8_t bytes = (uint8_t)(length - RADIO_FCS_BYTES), at = (uint8_t)(fifo_at + 1);
            look(frame, 0, bytes);
            if (at + bytes <= FIFO_BYTES)
                write_ram((uint16_t)(RAM_RXFIFO + at), frame, bytes);
        }
        if (!is_expected)
            prepare(ccm, RAM_RXNONCE, open_bytes(ccm, text_end));
        is_expected = false;
        done = encrypt(SRXDEC);
        write_register(SECCTRL0, UNPROTECTED);
    }
    uint8_t taken = take(frame, length, reception);
    /* The engine replaces the last byte of the MIC by 0x00 if it is right and by 0xff if it is
       wrong. */
    bool is_right = ccm->mic_bytes == 0 || frame[text_end + ccm->mic_bytes - 1] == 0x00;
    if (taken == 0 || !done || !is_right) {
        memset(frame, 0, (uint8_t)(length - RADIO_FCS_BYTES));
        return 0;
    }
    return taken;
}
