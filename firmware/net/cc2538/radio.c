/* Registers and fields as in SWRU319. Section numbers are of SWRU191C, the guide of the CC253x,
   which has the same radio and MAC timer. */
#include "radio.h"

#include "chip.h"
#include "series.h"

/* RFCORE_SFR_RFST. */
enum {
    ISRXON = 0xe3,
    ISTXON = 0xe9,
    ISTXONCCA = 0xea,
    ISFLUSHRX = 0xed,
    ISFLUSHTX = 0xee,
    ISRFOFF = 0xef
};
/* FRMCTRL0, FRMFILT0. */
enum { AUTOACK = 1 << 5, AUTOCRC = 1 << 6, FRAME_FILTER_EN = 1, MAX_FRAME_VERSION = 3 << 2 };
/* FSMSTAT0 (23.10, figure of the states). */
enum { STATE_MASK = 0x3f, RX_OVERFLOW = 17 };
/* FSMSTAT1. */
enum { RX_ACTIVE = 1, TX_ACTIVE = 1 << 1, SAMPLED_CCA = 1 << 3, CCA = 1 << 4, SFD_NOW = 1 << 5 };
/* RFIRQF0, RFIRQF1. */
enum { SFD = 1 << 1, FRAME_ACCEPTED = 1 << 5, RXPKTDONE = 1 << 6, TXACKDONE = 1, TXDONE = 1 << 1 };
/* MTCTRL, and the timer and overflow registers that MTMSEL selects. */
enum { RUN = 1, STATE = 1 << 2, LATCH_MODE = 1 << 3, SELECT_TIME = 0, SELECT_CAPTURE = 0x11 };
enum { RSSI_VALID = 1 }; /* RSSISTAT */
/* In the last byte of a received frame. */
enum { CRC_OK = 0x80 };
/* Interrupts 141 and 145. */
enum { NVIC_WORD = 4, RF_TX_RX_BIT = 1 << 13, SM_TIMER_BIT = 1 << 17 };

enum {
    RSSI_OFFSET_DB = 73, /* SWRS096A, RSSI/CCA characteristics */
    LQI_WORST = 50,      /* correlation values of the worst and the best frames (23.10.4) */
    LQI_BEST = 110,
    FIFO_MASK = 127,
    SLEEP_AHEAD = 6,    /* a compare value less than 5 ahead is missed (SWRU319C, 13.2) */
    ACK_TICKS_MAX = 20, /* turnaround, synchronisation and six bytes: 544 us */
    RSSI_TICKS_MAX = 12,
    TX_TICKS_MAX = 16,    /* from the strobe to the SFD, upper bound */
    FRAME_TICKS_MAX = 150 /* the longest frame: 4.26 ms after its SFD */
};

#define RX_FIFO ((volatile uint32_t *)0x40088000) /* one byte per word */

static bool filters;
static uint32_t tuned; /* FREQCTRL at the last calibration of the synthesizer */

/* ---- Time: the sleep timer. ---- */

radio_time radio_now(void) {
    uint32_t low = SMWDTHROSC_ST0; /* latches the other bytes */
    return (radio_time)(SMWDTHROSC_ST1 << 8 | low);
}

/* Returns the time at the end of the SFD that the MAC timer captured. */
static radio_time sfd_time(void) {
    RFCORE_SFR_MTMSEL = SELECT_TIME;
    uint32_t now = RFCORE_SFR_MTM0; /* latches the other bytes */
    radio_time ticks = radio_now();
    now |= RFCORE_SFR_MTM1 << 8 | RFCORE_SFR_MTMOVF0 << 16 | RFCORE_SFR_MTMOVF1 << 24;
    RFCORE_SFR_MTMSEL = SELECT_CAPTURE;
    uint32_t captured = RFCORE_SFR_MTM0;
    captured |= RFCORE_SFR_MTM1 << 8 | RFCORE_SFR_MTMOVF0 << 16 | RFCORE_SFR_MTMOVF1 << 24;
    /* 32 MHz is 15,625 / 16 times 32,768 Hz. The crystal's count is half a tick old on average. */
    uint32_t passed = now - captured;
    return (radio_time)(ticks - (uint16_t)((passed + 488) / 15625 * 16 +
                                           (passed + 488) % 15625 * 16 / 15625));
}

/* Sets the sleep timer's alarm. Returns false if `when` is too near. */
static bool set_alarm(radio_time when) {
    uint32_t low = SMWDTHROSC_ST0;
    uint32_t now = low | SMWDTHROSC_ST1 << 8 | SMWDTHROSC_ST2 << 16 | SMWDTHROSC_ST3 << 24;
    int16_t ahead = radio_time_after(when, (radio_time)now);
    if (ahead < SLEEP_AHEAD)
        return false;
    uint32_t alarm = now + (uint32_t)ahead;
    SMWDTHROSC_ST3 = alarm >> 24;
    SMWDTHROSC_ST2 = alarm >> 16 & 0xff;
    SMWDTHROSC_ST1 = alarm >> 8 & 0xff;
    SMWDTHROSC_ST0 = alarm & 0xff; /* loads all bytes */
    return true;
}

void radio_sleep_until(radio_time when) {
    while (set_alarm(when))
        sleep_until_interrupt(NVIC_WORD, SM_TIMER_BIT);
    while (radio_time_after(when, radio_now()) > 0)
        continue;
}

/* ---- The radio. ---- */

bool radio_init(void) {
    SYS_CTRL_RCGCRFC = 1;
    SYS_CTRL_SCGCRFC = 1;
    SYS_CTRL_DCGCRFC = 1;
    SYS_CTRL_RCGCSEC = 2; /* the AES engine */
    SYS_CTRL_SCGCSEC = 2;
    radio_idle();
    RFCORE_SFR_RFST = ISFLUSHRX;
    /* TI's recommended values where they differ from the reset values (23.15). */
    RFCORE_XREG_TXFILTCFG = 0x09;
    RFCORE_XREG_AGCCTRL1 = 0x15;
    RFCORE_XREG_FSCAL1 = 0x01;
    RFCORE_XREG_CCACTRL0 = 0xf8;
    ANA_REGS_IVCTRL = 0x0b;
    RFCORE_XREG_SRCMATCH = 0;
    RFCORE_XREG_FRMCTRL1 = 1; /* receive after sending */
    RFCORE_XREG_FIFOPCTRL = 127;
    RFCORE_XREG_TXPOWER = 0xb6; /* 0 dBm */
    radio_set_filter(0);
    RFCORE_SFR_MTMSEL = 0x22; /* overflow period: the longest */
    RFCORE_SFR_MTM0 = 0;
    RFCORE_SFR_MTM1 = 0;
    RFCORE_SFR_MTMOVF0 = 0;
    RFCORE_SFR_MTMOVF1 = 0;
    RFCORE_SFR_MTMOVF2 = 0;
    RFCORE_SFR_MTCTRL = LATCH_MODE | RUN;
    for (uint16_t tries = 0; tries < 1000; tries++)
        if ((RFCORE_SFR_MTCTRL & STATE) != 0)
            return RFCORE_XREG_TXPOWER == 0xb6;
    return false;
}

void radio_channel(uint8_t channel) {
    RFCORE_XREG_FREQCTRL = 11u + 5u * (channel - RADIO_CHANNEL_MIN);
}

void radio_set_filter(const radio_filter *filter) {
    filters = filter != 0;
    if (filter == 0) {
        RFCORE_XREG_FRMFILT0 = MAX_FRAME_VERSION;
        RFCORE_XREG_FRMCTRL0 = AUTOCRC;
        return;
    }
    RFCORE_FFSM_PAN_ID0 = filter->pan & 0xff;
    RFCORE_FFSM_PAN_ID1 = filter->pan >> 8;
    RFCORE_FFSM_SHORT_ADDR0 = filter->short_address & 0xff;
    RFCORE_FFSM_SHORT_ADDR1 = filter->short_address >> 8;
    for (uint8_t i = 0; i < 8; i++)
        (&RFCORE_FFSM_EXT_ADDR0)[i] = filter->extended_address[i];
    RFCORE_XREG_FRMFILT0 = MAX_FRAME_VERSION | FRAME_FILTER_EN;
    RFCORE_XREG_FRMCTRL0 = filter->acknowledge ? AUTOCRC | AUTOACK : AUTOCRC;
}

static void forget_events(void) {
    RFCORE_SFR_RFIRQF0 = 0;
    RFCORE_SFR_RFIRQF1 = 0;
    RFCORE_SFR_RFERRF = 0;
}

/* The radio sends acknowledgements by itself, and a strobe would abort one. */
static void finish_acknowledgement(void) {
    radio_time end = (radio_time)(radio_now() + ACK_TICKS_MAX);
    while ((RFCORE_XREG_FSMSTAT1 & TX_ACTIVE) != 0 && radio_time_after(end, radio_now()) >= 0)
        continue;
}

void radio_idle(void) {
    finish_acknowledgement();
    if (RFCORE_XREG_FSMSTAT0 << 26 != 0 || RFCORE_XREG_RXENABLE != 0)
        RFCORE_SFR_RFST = ISRFOFF;
    forget_events();
}

void radio_sleep(void) {
    radio_idle();
    RFCORE_SFR_RFST = ISFLUSHRX;
    RFCORE_SFR_RFST = ISFLUSHTX;
    SYS_CTRL_RCGCRFC = 0;
    SYS_CTRL_SCGCRFC = 0;
}

void radio_wake(void) {
    SYS_CTRL_RCGCRFC = 1;
    SYS_CTRL_SCGCRFC = 1;
}

/* ---- Sending. ---- */

void radio_load(const uint8_t *frame, uint8_t length) {
    RFCORE_SFR_RFST = ISFLUSHTX;
    RFCORE_SFR_RFDATA = (uint32_t)length + RADIO_FCS_BYTES;
    for (uint8_t i = 0; i < length; i++)
        RFCORE_SFR_RFDATA = frame[i];
}

/* Waits for the SFD of the frame just strobed. */
static bool wait_sent_sfd(radio_time *sfd) {
    radio_time end = (radio_time)(radio_now() + TX_TICKS_MAX);
    while ((RFCORE_SFR_RFIRQF0 & SFD) == 0)
        if (radio_time_after(end, radio_now()) < 0) {
            radio_idle();
            return false;
        }
    *sfd = sfd_time();
    return true;
}

bool radio_transmit(radio_time *sfd) {
    forget_events();
    tuned = RFCORE_XREG_FREQCTRL;
    RFCORE_SFR_RFST = ISTXON;
    return wait_sent_sfd(sfd);
}

/* Waits until the RSSI is valid: at most 320 us after the receiver was switched on. */
static void wait_rssi(void) {
    radio_time end = (radio_time)(radio_now() + RSSI_TICKS_MAX);
    while ((RFCORE_XREG_RSSISTAT & RSSI_VALID) == 0 && radio_time_after(end, radio_now()) >= 0)
        continue;
}

bool radio_transmit_if_clear(radio_time *sfd) {
    finish_acknowledgement();
    wait_rssi();
    forget_events();
    tuned = RFCORE_XREG_FREQCTRL;
    RFCORE_SFR_RFST = ISTXONCCA;
    return (RFCORE_XREG_FSMSTAT1 & SAMPLED_CCA) != 0 && wait_sent_sfd(sfd);
}

void radio_transmit_end(void) {
    radio_time end = (radio_time)(radio_now() + FRAME_TICKS_MAX);
    RFCORE_XREG_RFIRQM1 = TXDONE;
    while ((RFCORE_SFR_RFIRQF1 & TXDONE) == 0 && set_alarm(end))
        sleep_until_interrupt(NVIC_WORD, RF_TX_RX_BIT | SM_TIMER_BIT);
    RFCORE_XREG_RFIRQM1 = 0;
    while ((RFCORE_SFR_RFIRQF1 & TXDONE) == 0)
        if (radio_time_after(end, radio_now()) <= 0) {
            radio_receive();
            return;
        }
    /* The receiver is already calibrating. */
    RFCORE_SFR_RFST = ISFLUSHRX;
    forget_events();
}

/* ---- Receiving. ---- */

void radio_receive(void) {
    finish_acknowledgement();
    RFCORE_SFR_RFST = ISFLUSHRX;
    forget_events();
    /* A running receiver keeps running unless the channel has changed. */
    uint32_t frequency = RFCORE_XREG_FREQCTRL;
    if ((RFCORE_XREG_FSMSTAT1 & RX_ACTIVE) == 0 || tuned != frequency)
        RFCORE_SFR_RFST = ISRXON;
    tuned = frequency;
}

void radio_listen(void) {
    finish_acknowledgement();
    uint32_t there = RFCORE_XREG_RXFIFOCNT, psdu = RFCORE_XREG_RXFIRST;
    bool is_no_frame = there != 0 && (psdu <= RADIO_FCS_BYTES || psdu > RADIO_PSDU_BYTES_MAX);
    bool is_full = (RFCORE_XREG_FSMSTAT0 & STATE_MASK) == RX_OVERFLOW; /* until flushed */
    if (is_no_frame || (is_full && there <= psdu)) {
        radio_receive();
    } else if ((RFCORE_XREG_FSMSTAT1 & RX_ACTIVE) == 0) {
        tuned = RFCORE_XREG_FREQCTRL;
        RFCORE_SFR_RFST = ISRXON;
    }
}

/* Returns whether an SFD was captured, ignoring those of acknowledgements that the radio sends by
   itself. */
static bool sfd_came(void) {
    if ((RFCORE_SFR_RFIRQF1 & TXACKDONE) != 0) {
        RFCORE_SFR_RFIRQF1 = ~(uint32_t)TXACKDONE;
        if ((RFCORE_XREG_FSMSTAT1 & SFD_NOW) == 0)
            RFCORE_SFR_RFIRQF0 = ~(uint32_t)SFD;
    }
    if ((RFCORE_XREG_FSMSTAT1 & TX_ACTIVE) != 0) {
        RFCORE_SFR_RFIRQF0 = ~(uint32_t)SFD;
        return false;
    }
    return (RFCORE_SFR_RFIRQF0 & SFD) != 0;
}

bool radio_wait_sfd(radio_time until, radio_time *sfd) {
    RFCORE_XREG_RFIRQM0 = SFD;
    RFCORE_XREG_RFIRQM1 = TXACKDONE;
    bool came = sfd_came();
    while (!came && set_alarm(until)) {
        sleep_until_interrupt(NVIC_WORD, RF_TX_RX_BIT | SM_TIMER_BIT);
        came = sfd_came();
    }
    RFCORE_XREG_RFIRQM0 = 0;
    RFCORE_XREG_RFIRQM1 = 0;
    while (!came && radio_time_after(until, radio_now()) > 0)
        came = sfd_came();
    if (came) {
        *sfd = sfd_time();
        RFCORE_SFR_RFIRQF0 = ~(uint32_t)SFD;
    }
    return came;
}

bool radio_wait_frame(radio_time until) {
    uint32_t done = RXPKTDONE;
    /* A rejected frame ends without an event. */
    while (filters && (RFCORE_SFR_RFIRQF0 & (FRAME_ACCEPTED | RXPKTDONE)) == 0)
        if ((RFCORE_XREG_FSMSTAT1 & SFD_NOW) == 0 || radio_time_after(until, radio_now()) <= 0)
            return false;
    RFCORE_XREG_RFIRQM0 = done;
    while ((RFCORE_SFR_RFIRQF0 & done) == 0 && set_alarm(until))
        sleep_until_interrupt(NVIC_WORD, RF_TX_RX_BIT | SM_TIMER_BIT);
    RFCORE_XREG_RFIRQM0 = 0;
    while ((RFCORE_SFR_RFIRQF0 & done) == 0)
        if (radio_time_after(until, radio_now()) <= 0)
            return false;
    RFCORE_SFR_RFIRQF0 = ~(uint32_t)(FRAME_ACCEPTED | RXPKTDONE);
    uint32_t last = RX_FIFO[(RFCORE_XREG_RXLAST_PTR - 1) & FIFO_MASK];
    return (last & CRC_OK) != 0;
}

static uint8_t drop(void) {
    RFCORE_SFR_RFST = ISFLUSHRX;
    return 0;
}

uint8_t radio_read(uint8_t *frame, radio_reception *reception) {
    if (RFCORE_XREG_RXFIFOCNT == 0)
        return 0;
    /* Events set after the frame is taken out belong to the next one. */
    RFCORE_SFR_RFIRQF0 = ~(uint32_t)(FRAME_ACCEPTED | RXPKTDONE);
    uint32_t psdu = RFCORE_SFR_RFDATA;
    if (psdu <= RADIO_FCS_BYTES || psdu > RADIO_PSDU_BYTES_MAX || RFCORE_XREG_RXFIFOCNT < psdu)
        return drop();
    uint8_t length = (uint8_t)(psdu - RADIO_FCS_BYTES);
    for (uint8_t i = 0; i < length; i++)
        frame[i] = (uint8_t)RFCORE_SFR_RFDATA;
    int8_t rssi = (int8_t)RFCORE_SFR_RFDATA;
    uint32_t status = RFCORE_SFR_RFDATA;
    if ((status & CRC_OK) == 0)
        return 0;
    if (reception != 0) {
        uint32_t correlation = status & 0x7f;
        correlation = correlation < LQI_WORST ? LQI_WORST : correlation;
        correlation = correlation > LQI_BEST ? LQI_BEST : correlation;
        reception->rssi_dbm = (int8_t)(rssi < -55 ? -128 : rssi - RSSI_OFFSET_DB);
        reception->lqi = (uint8_t)((correlation - LQI_WORST) * 255 / (LQI_BEST - LQI_WORST));
    }
    return length;
}

uint8_t radio_peek(uint8_t *frame, uint8_t count) {
    uint32_t there = RFCORE_XREG_RXFIFOCNT;
    uint32_t psdu = RFCORE_XREG_RXFIRST;
    if (there == 0 || psdu <= RADIO_FCS_BYTES || psdu > RADIO_PSDU_BYTES_MAX || there <= psdu)
        return 0;
    uint8_t length = (uint8_t)(psdu - RADIO_FCS_BYTES);
    uint32_t first = RFCORE_XREG_RXFIRST_PTR + 1;
    for (uint8_t i = 0; i < count && i < length; i++)
        frame[i] = (uint8_t)RX_FIFO[(first + i) & FIFO_MASK];
    return length;
}

__attribute__((noinline)) static void wait_for_bytes(uint32_t bytes) {
    radio_time end = (radio_time)(radio_now() + FRAME_TICKS_MAX);
    while (RFCORE_XREG_RXFIFOCNT < bytes && radio_time_after(end, radio_now()) >= 0)
        continue;
}

uint8_t radio_arriving(void) {
    wait_for_bytes(1);
    uint32_t psdu = RFCORE_XREG_RXFIRST;
    bool is_frame = psdu > RADIO_FCS_BYTES && psdu <= RADIO_PSDU_BYTES_MAX;
    return is_frame ? (uint8_t)(psdu - RADIO_FCS_BYTES) : 0;
}

void radio_fetch(uint8_t *to, uint8_t from, uint8_t count) {
    uint32_t first = RFCORE_XREG_RXFIRST_PTR + 1;
    wait_for_bytes(1u + from + count);
    for (uint8_t i = 0; i < count; i++)
        to[i] = (uint8_t)RX_FIFO[(first + from + i) & FIFO_MASK];
}

bool radio_cca(void) {
    wait_rssi();
    return (RFCORE_XREG_FSMSTAT1 & CCA) != 0;
}

int8_t radio_rssi_dbm(void) {
    wait_rssi();
    int8_t rssi = (int8_t)RFCORE_XREG_RSSI;
    return (int8_t)(rssi < -55 ? -128 : rssi - RSSI_OFFSET_DB);
}
