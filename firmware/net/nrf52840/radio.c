/* Registers as in the nRF52840 product specification, chapters RADIO, RTC, TIMER and PPI.

   The radio neither filters frames nor acknowledges them; this driver does both, without an
   interrupt handler: when a frame has ended while the program waits in one of the functions below
   or sleeps in radio_sleep_until. A frame that ends while the program does something else is taken,
   and acknowledged late or not at all, and comes again. Received frames are kept in two buffers.

   Not run on a board. The chip has no capture of an SFD: the event of the length field after it
   captures a timer. */
#include "radio.h"

#include "chip.h"
#include "registers.h"
#include "series.h"

enum { TRIGGER = 1 };
/* Interrupts 1 and 11. */
enum { NVIC_WORD = 0, RADIO_BIT = 1 << 1, RTC0_BIT = 1 << 11 };
enum { LFCLK_CRYSTAL = 1, TIMER_32_BITS = 3, TIMER_1_MHZ = 4 };
/* The first two bytes of a frame (IEEE Std 802.15.4-2006, 7.2.1.1). */
enum {
    TYPE = 7,
    TYPE_BEACON = 0,
    TYPE_ACK = 2,
    TYPES = 4,
    ACK_REQUEST = 1 << 5,
    DESTINATION_SHIFT = 2,
    VERSION_SHIFT = 4,
    MAX_FRAME_VERSION = 1,
    SOURCE_SHIFT = 6,
    NONE = 0,
    SHORT = 2,
    EXTENDED = 3,
    BROADCAST = 0xffff
};
enum {
    BUFFERS = 2,
    BUFFER_BYTES = 1 + RADIO_PSDU_BYTES_MAX + 1,
    ACK_BYTES = 3,
    LENGTH_US = 32,  /* from the SFD to the event of the length field */
    LATENCY_US = 23, /* from the air to an event: EVENT_LAT of Nordic's driver */
    RAMP_UP_US = 40,
    AIFS_US = 192,
    SLEEP_AHEAD = 3, /* a compare value less than 2 ahead may be missed (chapter RTC) */
    CCA_TICKS_MAX = 8,
    TX_TICKS_MAX = 12,
    FRAME_TICKS_MAX = 150, /* the longest frame: 4.26 ms after its SFD */
    POLLS_MAX = 100000,
    CCA_ENERGY = 17, /* -75 dBm: 92 below (ED_RSSIOFFS) */
    LQI_SCALE = 4    /* chapter RADIO: the hardware's value times 4, at most 255 */
};

typedef struct {
    uint8_t bytes[BUFFER_BYTES]; /* length, frame without FCS, link quality */
    bool is_valid;
    int8_t rssi_dbm;
} buffer;

static buffer buffers[BUFFERS];
static uint8_t first, count; /* received frames */
static uint8_t loaded[BUFFER_BYTES];
static uint8_t acknowledgement[1 + ACK_BYTES] = {ACK_BYTES + RADIO_FCS_BYTES, TYPE_ACK};
static radio_filter own;
static bool filters;
static bool is_on;                     /* the receiver is to be on */
static bool is_ended;                  /* the frame of the last reported SFD */
static bool is_good;                   /* and was right and for us */
static bool ended_unseen, good_unseen; /* the same, before its SFD was reported */

/* ---- Time: a real-time counter, and a timer at 1 MHz for what it is too coarse for. ---- */

radio_time radio_now(void) {
    return (radio_time)RTC0_COUNTER;
}

static uint32_t timer_now(void) {
    TIMER0_TASKS_CAPTURE_2 = TRIGGER;
    return TIMER0_CC_2;
}

/* Returns the time at the end of the SFD whose length field captured the timer. */
static radio_time sfd_time(uint32_t late_us) {
    radio_time ticks = radio_now();
    uint32_t passed = timer_now() - TIMER0_CC_0 + late_us;
    /* The count is half a tick old on average. */
    return (radio_time)(ticks - (uint16_t)((passed * 4096 + 62500) / 125000));
}

/* Sets the counter's alarm. Returns false if `when` is too near. */
static bool set_alarm(radio_time when) {
    uint32_t now = RTC0_COUNTER;
    int16_t ahead = radio_time_after(when, (radio_time)now);
    if (ahead < SLEEP_AHEAD)
        return false;
    RTC0_CC_0 = (now + (uint32_t)ahead) & RTC_MASK;
    RTC0_EVENTS_COMPARE_0 = 0;
    RTC0_INTENSET = RTC_COMPARE_0;
    return true;
}

static void sleep_for(uint32_t events) {
    RADIO_INTENSET = events;
    sleep_until_interrupt(NVIC_WORD, RADIO_BIT | RTC0_BIT);
    RADIO_INTENCLR = events;
}

/* ---- Receiving, in the background. ---- */

static void wait_state(uint32_t state) {
    for (uint32_t polls = 0; polls < POLLS_MAX && RADIO_STATE != state; polls++)
        continue;
}

static void disable(void) {
    RADIO_SHORTS = 0;
    RADIO_TASKS_DISABLE = TRIGGER;
    wait_state(STATE_DISABLED);
}

static buffer *next_buffer(void) {
    return &buffers[(first + count) % BUFFERS];
}

/* Receives into the next buffer; without one the radio waits, and hears nothing, until a frame is
   taken. */
static void receive_next(void) {
    if (!is_on || count == BUFFERS)
        return;
    RADIO_PACKETPTR = (uint32_t)(uintptr_t)next_buffer()->bytes;
    RADIO_EVENTS_END = 0;
    if (RADIO_STATE == STATE_DISABLED) {
        RADIO_SHORTS = READY_START;
        RADIO_TASKS_RXEN = TRIGGER;
    } else {
        RADIO_TASKS_START = TRIGGER;
    }
}

static uint8_t length_of(const buffer *from) {
    uint8_t psdu = from->bytes[0];
    return psdu <= RADIO_FCS_BYTES || psdu > RADIO_PSDU_BYTES_MAX ? 0 : psdu - RADIO_FCS_BYTES;
}

static bool same(const uint8_t *at, uint16_t value) {
    return at[0] == (value & 0xff) && at[1] == value >> 8;
}

/* Returns whether a frame passes the filter (IEEE Std 802.15.4-2006, 7.5.6.2), and whether it is to
   be acknowledged. */
static bool passes(const uint8_t *frame, uint8_t length, bool *asks) {
    *asks = false;
    if (length < ACK_BYTES)
        return false;
    uint8_t type = frame[0] & TYPE, to = frame[1] >> DESTINATION_SHIFT & 3;
    if (type >= TYPES || (frame[1] >> VERSION_SHIFT & 3) > MAX_FRAME_VERSION)
        return false;
    if (type == TYPE_ACK)
        return length == ACK_BYTES;
    if (to == NONE) {
        bool is_beacon = type == TYPE_BEACON && (frame[1] >> SOURCE_SHIFT) != NONE;
        return is_beacon && length >= 5 && (same(frame + 3, own.pan) || own.pan == BROADCAST);
    }
    uint8_t address = to == SHORT ? 2 : to == EXTENDED ? 8 : 0;
    if (address == 0 || length < 5 + address ||
        (!same(frame + 3, own.pan) && !same(frame + 3, BROADCAST)))
        return false;
    bool is_ours = true;
    if (to == SHORT)
        is_ours = same(frame + 5, own.short_address);
    for (uint8_t i = 0; to == EXTENDED && i < 8; i++)
        is_ours = is_ours && frame[5 + i] == own.extended_address[i];
    *asks = is_ours && (frame[0] & ACK_REQUEST) != 0;
    return is_ours || (to == SHORT && same(frame + 5, BROADCAST));
}

/* Sends an acknowledgement AIFS after the frame's end, which captured the timer. */
static void acknowledge(uint8_t sequence) {
    uint32_t ended = TIMER0_CC_1 - LATENCY_US;
    acknowledgement[3] = sequence;
    disable();
    RADIO_PACKETPTR = (uint32_t)(uintptr_t)acknowledgement;
    finish_writes();
    if (timer_now() - ended > AIFS_US - RAMP_UP_US)
        return; /* too late: the sender no longer waits, and sends again */
    while (timer_now() - ended < AIFS_US - RAMP_UP_US)
        continue;
    RADIO_EVENTS_PHYEND = 0;
    RADIO_SHORTS = READY_START | PHYEND_DISABLE;
    RADIO_TASKS_TXEN = TRIGGER;
    for (uint32_t polls = 0; polls < POLLS_MAX && RADIO_EVENTS_PHYEND == 0; polls++)
        continue;
    disable();
    RADIO_EVENTS_END = 0;
    RADIO_EVENTS_FRAMESTART = 0;
}

/* Deals with a frame that has ended. */
static void serve(void) {
    if (RADIO_EVENTS_END == 0 || !is_on)
        return;
    RADIO_EVENTS_END = 0;
    __asm__ volatile("" ::: "memory"); /* the radio has written the buffer */
    buffer *to = next_buffer();
    uint8_t length = length_of(to);
    bool asks = false, is_right = length > 0 && RADIO_CRCSTATUS == 1;
    bool is_unseen = RADIO_EVENTS_FRAMESTART != 0;
    if (is_right && filters)
        is_right = passes(to->bytes + 1, length, &asks);
    to->is_valid = is_right;
    to->rssi_dbm = (int8_t)-(int32_t)RADIO_RSSISAMPLE;
    uint8_t sequence = to->bytes[3];
    if (is_right)
        count++;
    if (is_right && asks && own.acknowledge)
        acknowledge(sequence);
    if (is_unseen) {
        RADIO_EVENTS_FRAMESTART = 1; /* its SFD is still to be reported */
        ended_unseen = true;
        good_unseen = is_right;
    } else {
        is_ended = true;
        is_good = is_right;
    }
    receive_next();
}

void radio_sleep_until(radio_time when) {
    for (serve(); set_alarm(when); serve())
        sleep_for(is_on ? END : 0);
    for (; radio_time_after(when, radio_now()) > 0; serve())
        continue;
}

/* ---- The radio. ---- */

bool radio_init(void) {
    CLOCK_LFCLKSRC = LFCLK_CRYSTAL;
    CLOCK_EVENTS_LFCLKSTARTED = 0;
    CLOCK_TASKS_LFCLKSTART = TRIGGER;
    while (CLOCK_EVENTS_LFCLKSTARTED == 0)
        continue;
    RTC0_TASKS_START = TRIGGER;
    TIMER0_BITMODE = TIMER_32_BITS;
    TIMER0_PRESCALER = TIMER_1_MHZ;
    TIMER0_TASKS_START = TRIGGER;
    PPI_CH_0_EEP = (uint32_t)(uintptr_t)&RADIO_EVENTS_FRAMESTART;
    PPI_CH_0_TEP = (uint32_t)(uintptr_t)&TIMER0_TASKS_CAPTURE_0;
    PPI_CH_1_EEP = (uint32_t)(uintptr_t)&RADIO_EVENTS_END;
    PPI_CH_1_TEP = (uint32_t)(uintptr_t)&TIMER0_TASKS_CAPTURE_1;
    PPI_CHENSET = 3;
    disable();
    RADIO_MODE = IEEE802154_250KBIT;
    RADIO_MODECNF0 = RAMP_UP_FAST;
    RADIO_PCNF0 = LENGTH_8_WITH_CRC_32_ZEROS;
    RADIO_PCNF1 = MAXIMUM_LENGTH;
    RADIO_CRCCNF = CRC_2_BYTES_IEEE;
    RADIO_CRCPOLY = CRC_POLYNOMIAL;
    RADIO_CRCINIT = 0;
    RADIO_CCACTRL = CCA_CARRIER_OR_ENERGY | CCA_ENERGY << CCA_THRESHOLD_SHIFT;
    RADIO_TXPOWER = 0; /* 0 dBm */
    radio_set_filter(0);
    return RADIO_MODE == IEEE802154_250KBIT;
}

void radio_channel(uint8_t channel) {
    RADIO_FREQUENCY = 5u + 5u * (channel - RADIO_CHANNEL_MIN); /* 2405 MHz is channel 11 */
}

void radio_set_filter(const radio_filter *filter) {
    filters = filter != 0;
    own = (radio_filter){0};
    if (filter != 0)
        own = *filter;
}

static void forget(void) {
    count = 0;
    RADIO_EVENTS_END = 0;
    RADIO_EVENTS_FRAMESTART = 0;
    is_ended = false;
    ended_unseen = false;
}

void radio_idle(void) {
    serve();
    is_on = false;
    disable();
    RADIO_EVENTS_END = 0;
    RADIO_EVENTS_FRAMESTART = 0;
    is_ended = false;
    ended_unseen = false;
}

void radio_sleep(void) {
    radio_idle();
    count = 0;
}

void radio_wake(void) {
}

/* ---- Sending. ---- */

void radio_load(const uint8_t *frame, uint8_t length) {
    loaded[0] = (uint8_t)(length + RADIO_FCS_BYTES);
    for (uint8_t i = 0; i < length; i++)
        loaded[1 + i] = frame[i];
}

bool radio_transmit(radio_time *sfd) {
    is_on = false;
    disable();
    forget();
    RADIO_PACKETPTR = (uint32_t)(uintptr_t)loaded;
    finish_writes();
    RADIO_SHORTS = READY_START;
    RADIO_TASKS_TXEN = TRIGGER;
    radio_time end = (radio_time)(radio_now() + TX_TICKS_MAX);
    while (RADIO_EVENTS_FRAMESTART == 0)
        if (radio_time_after(end, radio_now()) < 0) {
            radio_idle();
            return false;
        }
    *sfd = sfd_time(LENGTH_US);
    /* What follows is received: the radio turns around by itself. */
    RADIO_PACKETPTR = (uint32_t)(uintptr_t)next_buffer()->bytes;
    RADIO_SHORTS = READY_START | PHYEND_DISABLE | DISABLED_RXEN;
    return true;
}

bool radio_cca(void) {
    serve();
    if (RADIO_EVENTS_FRAMESTART != 0 && !ended_unseen)
        return false; /* a frame is arriving */
    RADIO_EVENTS_CCAIDLE = 0;
    RADIO_EVENTS_CCABUSY = 0;
    RADIO_TASKS_CCASTART = TRIGGER;
    radio_time end = (radio_time)(radio_now() + CCA_TICKS_MAX);
    while (RADIO_EVENTS_CCAIDLE == 0 && RADIO_EVENTS_CCABUSY == 0)
        if (radio_time_after(end, radio_now()) < 0)
            return false;
    return RADIO_EVENTS_CCAIDLE != 0;
}

bool radio_transmit_if_clear(radio_time *sfd) {
    return radio_cca() && radio_transmit(sfd);
}

void radio_transmit_end(void) {
    radio_time end = (radio_time)(radio_now() + FRAME_TICKS_MAX);
    while (RADIO_EVENTS_END == 0 && set_alarm(end))
        sleep_for(END);
    is_on = true;
    if (RADIO_EVENTS_END == 0) {
        radio_receive();
        return;
    }
    forget();
    wait_state(STATE_RX);
    RADIO_SHORTS = 0;
}

/* ---- Receiving. ---- */

void radio_receive(void) {
    serve();
    disable();
    forget();
    is_on = true;
    receive_next();
}

void radio_listen(void) {
    if (!is_on) {
        is_on = true;
        receive_next();
    } else {
        serve();
    }
}

/* Reports an SFD that has come. */
static bool sfd_came(radio_time *sfd) {
    serve();
    if (RADIO_EVENTS_FRAMESTART == 0)
        return false;
    *sfd = sfd_time(LENGTH_US + LATENCY_US);
    RADIO_EVENTS_FRAMESTART = 0;
    is_ended = ended_unseen;
    is_good = good_unseen;
    ended_unseen = false;
    return true;
}

bool radio_wait_sfd(radio_time until, radio_time *sfd) {
    bool came = sfd_came(sfd);
    while (!came && set_alarm(until)) {
        sleep_for(FRAMESTART | END);
        came = sfd_came(sfd);
    }
    while (!came && radio_time_after(until, radio_now()) > 0)
        came = sfd_came(sfd);
    return came;
}

bool radio_wait_frame(radio_time until) {
    for (serve(); !is_ended && set_alarm(until); serve())
        sleep_for(END);
    for (; !is_ended; serve())
        if (radio_time_after(until, radio_now()) <= 0)
            return false;
    return is_good;
}

uint8_t radio_peek(uint8_t *frame, uint8_t bytes) {
    serve();
    if (count == 0)
        return 0;
    const buffer *from = &buffers[first];
    uint8_t length = length_of(from);
    for (uint8_t i = 0; i < bytes && i < length; i++)
        frame[i] = from->bytes[1 + i];
    return length;
}

uint8_t radio_read(uint8_t *frame, radio_reception *reception) {
    uint8_t length = radio_peek(frame, RADIO_FRAME_BYTES_MAX);
    if (count == 0)
        return 0;
    const buffer *from = &buffers[first];
    if (reception != 0) {
        uint32_t lqi = (uint32_t)from->bytes[1 + length] * LQI_SCALE;
        reception->rssi_dbm = from->rssi_dbm;
        reception->lqi = (uint8_t)(lqi > 255 ? 255 : lqi);
    }
    bool was_full = count == BUFFERS;
    first = (uint8_t)((first + 1) % BUFFERS);
    count--;
    if (was_full)
        receive_next();
    return length;
}

uint8_t radio_arriving(void) {
    return length_of(ended_unseen || is_ended ? &buffers[first] : next_buffer());
}

/* The radio writes a frame to memory as it likes: only its end tells that the bytes are there. */
void radio_fetch(uint8_t *to, uint8_t from, uint8_t bytes) {
    const buffer *in = is_ended ? &buffers[first] : next_buffer();
    radio_wait_frame((radio_time)(radio_now() + FRAME_TICKS_MAX));
    for (uint8_t i = 0; i < bytes; i++)
        to[i] = in->bytes[1 + from + i];
}

int8_t radio_rssi_dbm(void) {
    RADIO_EVENTS_RSSIEND = 0;
    RADIO_TASKS_RSSISTART = TRIGGER;
    for (uint32_t polls = 0; polls < POLLS_MAX && RADIO_EVENTS_RSSIEND == 0; polls++)
        continue;
    return (int8_t)-(int32_t)RADIO_RSSISAMPLE;
}
