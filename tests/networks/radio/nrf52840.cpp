// The nRF52840's driver over its radio, timer and counter, simulated: states and events of the
// chapter RADIO, frames written to memory by its DMA, and captures by PPI.
#include "chip.hpp"

extern "C" {
#include "nrf52840/registers.h"
}

namespace chip {

// Behind the address of a register of the radio.
struct radio_register {
    uintptr_t address;

    operator uint32_t() const;
    uint32_t operator=(uint32_t value) const;
    uintptr_t operator&() const {
        return address;
    }
};

} // namespace chip

#undef NRF_REGISTER
#define NRF_REGISTER(address)                                                                      \
    chip::radio_register {                                                                         \
        address                                                                                    \
    }

namespace chip {

enum { BASE = 0x40001000, WORDS = 0x800 / 4, RAMP_NS = 40000, SHR_NS = 160000, CCA_NS = 128000 };
enum { STATE_RX_IDLE = 2, STATE_TX = 11, LQI = 60 };

static uint32_t memory[WORDS]; // what was written, and events
static uint32_t state;         // STATE_DISABLED, STATE_RX_IDLE, STATE_RX or STATE_TX
static uint64_t ready_ns, listening_ns, cca_ns;
static uint64_t tx_length_ns, tx_end_ns;
static uint32_t inten, captured[3];
static bool begun, to_receive; // a frame's length has been heard; the ramp-up is a receiver's
static uint32_t alarm, alarm_enabled, alarm_event;
static uint32_t last_ticks;
static bool
    lied; // since the last frame that was right; the driver may then send what it has not loaded

static uint32_t &at(uintptr_t address) {
    return memory[(address - BASE) / 4];
}
#define AT(name) at(&name)

static uint32_t microseconds(uint64_t ns) {
    return (uint32_t)(ns / 1000);
}

static void start_receiver() {
    state = STATE_RX;
    listening_ns = now_ns;
    begun = false;
}

static void disabled() {
    state = STATE_DISABLED;
    tx_length_ns = tx_end_ns = ready_ns = 0;
    begun = false;
    if ((AT(RADIO_SHORTS) & DISABLED_RXEN) != 0) {
        ready_ns = now_ns + RAMP_NS;
        to_receive = true;
    }
}

// The DMA: length, payload, link quality. The field of the length has 8 bits; of what is longer
// than MAXLEN the rest is left out. A lying radio writes any length.
static void deliver(const arrival &a) {
    uint8_t *to = (uint8_t *)(uintptr_t)AT(RADIO_PACKETPTR);
    unsigned length = a.length < MAXIMUM_LENGTH ? a.length : (unsigned)MAXIMUM_LENGTH;
    unsigned bytes = length < RADIO_FCS_BYTES ? 0 : length - RADIO_FCS_BYTES;
    to[0] = (uint8_t)told(a.length);
    memcpy(to + 1, a.bytes, bytes);
    to[1 + bytes] = LQI;
    AT(RADIO_CRCSTATUS) = a.fcs_right || STATUS_CRC_WRONG;
    AT(RADIO_RSSISAMPLE) = 30 + chance(60);
    AT(RADIO_EVENTS_END) = 1;
    captured[1] = microseconds(now_ns);
    state = STATE_RX_IDLE;
    begun = false;
}

static void happen() {
    lied |= lies > 0;
    uint32_t ticks = ticks_at(now_ns) & RTC_MASK;
    if (((ticks - alarm) & RTC_MASK) < ((ticks - last_ticks) & RTC_MASK))
        alarm_event = 1;
    last_ticks = ticks;
    if (ready_ns != 0 && ready_ns <= now_ns) {
        ready_ns = 0;
        bool starts = (AT(RADIO_SHORTS) & READY_START) != 0;
        state = STATE_RX_IDLE;
        if (to_receive && starts)
            start_receiver();
        if (!to_receive && starts) {
            const uint8_t *from = (const uint8_t *)(uintptr_t)AT(RADIO_PACKETPTR);
            if (!lied && (from[0] <= RADIO_FCS_BYTES || from[0] > RADIO_PSDU_BYTES_MAX))
                abort(); // the driver must not
            state = STATE_TX;
            tx_length_ns = now_ns + SHR_NS + BYTE_NS;
            tx_end_ns = tx_length_ns + from[0] * (uint64_t)BYTE_NS;
        }
    }
    if (tx_length_ns != 0 && tx_length_ns <= now_ns) {
        tx_length_ns = 0;
        AT(RADIO_EVENTS_FRAMESTART) = 1;
        captured[0] = microseconds(now_ns);
    }
    if (tx_end_ns != 0 && tx_end_ns <= now_ns) {
        tx_end_ns = 0;
        AT(RADIO_EVENTS_END) = AT(RADIO_EVENTS_PHYEND) = 1;
        captured[1] = microseconds(now_ns);
        if ((AT(RADIO_SHORTS) & PHYEND_DISABLE) != 0)
            disabled();
    }
    if (cca_ns != 0 && cca_ns <= now_ns) {
        cca_ns = 0;
        at(chance(4) ? &RADIO_EVENTS_CCAIDLE : &RADIO_EVENTS_CCABUSY) = 1;
    }
    for (arrival *a = next_arrival(); a != nullptr && a->sfd_ns + BYTE_NS <= now_ns;
         a = next_arrival()) {
        // One whose SFD came before the receiver is not heard.
        if (!begun && (state != STATE_RX || a->sfd_ns < listening_ns)) {
            arriving++;
            continue;
        }
        if (!begun) {
            begun = true;
            AT(RADIO_EVENTS_FRAMESTART) = 1;
            captured[0] = microseconds(a->sfd_ns + BYTE_NS);
        }
        unsigned length = a->length < MAXIMUM_LENGTH ? a->length : (unsigned)MAXIMUM_LENGTH;
        if (a->sfd_ns + (1u + length) * (uint64_t)BYTE_NS > now_ns)
            break;
        deliver(*a);
        arriving++;
    }
}

radio_register::operator uint32_t() const {
    spend(ACCESS_NS);
    if (address == &RADIO_STATE)
        return told(state);
    return told(at(address));
}

uint32_t radio_register::operator=(uint32_t value) const {
    spend(ACCESS_NS);
    if (address == &RADIO_INTENSET)
        inten |= value;
    else if (address == &RADIO_INTENCLR)
        inten &= ~value;
    else if (address == &RADIO_TASKS_DISABLE)
        disabled();
    else if (address == &RADIO_TASKS_RXEN || address == &RADIO_TASKS_TXEN) {
        if (state == STATE_DISABLED) {
            ready_ns = now_ns + RAMP_NS;
            to_receive = address == &RADIO_TASKS_RXEN;
        }
    } else if (address == &RADIO_TASKS_START) {
        if (state == STATE_RX_IDLE)
            start_receiver();
    } else if (address == &RADIO_TASKS_CCASTART) {
        if (state == STATE_RX || state == STATE_RX_IDLE)
            cca_ns = now_ns + CCA_NS;
    } else if (address == &RADIO_TASKS_RSSISTART) {
        AT(RADIO_EVENTS_RSSIEND) = 1;
        AT(RADIO_RSSISAMPLE) = 30 + chance(60);
    } else {
        at(address) = value;
    }
    return value;
}

static uint32_t counter_get() {
    return ticks_at(now_ns) & RTC_MASK;
}
static void alarm_set(uint32_t value) {
    alarm = value;
}
static uint32_t alarm_event_get() {
    return alarm_event;
}
static void alarm_event_set(uint32_t value) {
    alarm_event = value;
}
static void alarm_enable(uint32_t value) {
    alarm_enabled |= value;
}
static void capture_now(uint32_t) {
    captured[2] = microseconds(now_ns);
}
template <unsigned Which> static uint32_t captured_get() {
    return told(captured[Which]);
}
static uint32_t one() {
    return 1;
}

} // namespace chip

#define PORT(name, get, set) static const chip::port name = {chip::get, chip::set}
PORT(RTC0_COUNTER, counter_get, ignore);
PORT(RTC0_CC_0, one, alarm_set);
PORT(RTC0_EVENTS_COMPARE_0, alarm_event_get, alarm_event_set);
PORT(RTC0_INTENSET, one, alarm_enable);
PORT(RTC0_TASKS_START, one, ignore);
PORT(TIMER0_TASKS_CAPTURE_0, one, ignore);
PORT(TIMER0_TASKS_CAPTURE_1, one, ignore);
PORT(TIMER0_TASKS_CAPTURE_2, one, capture_now);
PORT(TIMER0_CC_0, captured_get<0>, ignore);
PORT(TIMER0_CC_1, captured_get<1>, ignore);
PORT(TIMER0_CC_2, captured_get<2>, ignore);
PORT(TIMER0_TASKS_START, one, ignore);
PORT(CLOCK_EVENTS_LFCLKSTARTED, one, ignore);
static uint32_t CLOCK_LFCLKSRC, CLOCK_TASKS_LFCLKSTART, TIMER0_BITMODE, TIMER0_PRESCALER;
static uint32_t PPI_CH_0_EEP, PPI_CH_0_TEP, PPI_CH_1_EEP, PPI_CH_1_TEP, PPI_CHENSET;

static void finish_writes() {
}

// Until an event that is enabled.
static void sleep_until_interrupt(uint8_t, uint32_t) {
    using namespace chip;
    enum { NAP_NS = 4000 };
    for (;;) {
        bool ended = (inten & END) != 0 && AT(RADIO_EVENTS_END) != 0;
        bool started = (inten & FRAMESTART) != 0 && AT(RADIO_EVENTS_FRAMESTART) != 0;
        if (ended || started || alarm_event != 0)
            return;
        spend(NAP_NS);
    }
}

extern "C" {
#pragma clang diagnostic ignored "-Wdeprecated-anon-enum-enum-conversion" // C++'s alone
#include "nrf52840/radio.c"
}

void air_start() {
    if (!radio_init())
        abort();
}

// Every second frame of a version that the driver's filter knows meets that filter, which lets its
// destination in; half of those that ask for it are acknowledged.
void chip::prepare(const uint8_t *frame, uint8_t length) {
    radio_filter filter = {};
    lied = lies > 0;
    radio_set_filter(nullptr);
    if (length < 13 || (frame[1] >> VERSION_SHIFT & 3) > MAX_FRAME_VERSION || chance(2) == 0)
        return;
    filter.pan = (uint16_t)(frame[3] | frame[4] << 8);
    filter.short_address = (uint16_t)(frame[5] | frame[6] << 8);
    memcpy(filter.extended_address, frame + 5, sizeof filter.extended_address);
    filter.acknowledge = chance(2) == 0;
    radio_set_filter(&filter);
}

uint8_t air_loaded(uint8_t *frame) {
    if (loaded[0] <= RADIO_FCS_BYTES)
        abort();
    memcpy(frame, loaded + 1, loaded[0] - RADIO_FCS_BYTES);
    return (uint8_t)(loaded[0] - RADIO_FCS_BYTES);
}
