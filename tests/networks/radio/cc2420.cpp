// The CC2420's driver over a simulated CC2420: its bus, pins, FIFOs, RAM and engine (SWRS041B).
#include "chip.hpp"

namespace chip {

enum { ADDRESS, REGISTER, RAM_LOW, RAM_AT, FILL_TX, TAKE_RX }; // meaning of the next byte
enum { RAM_BYTES = 0x200, KEY0 = 0x100, KEY1 = 0x130, RX_NONCE = 0x110, TX_NONCE = 0x140 };
enum { SABUF = 0x120, SECCTRL0_AT = 0x19, SECCTRL1_AT = 0x1a, MANFIDL_AT = 0x1e };
enum { BUS_BYTE_NS = 4000, SHR_NS = 352000, ENGINE_NS = 200000 };

static uint8_t ram[RAM_BYTES];
static uint16_t registers[64];
static fifo rx;
static uint8_t tx[FIFO_BYTES];
static unsigned tx_bytes;
static bool is_on, is_listening, captured, sfd_high;
static uint64_t tx_sfd_ns, tx_end_ns, busy_until_ns;
static uint32_t tbcctl1, tbccr1, p4out, u0rxbuf;
static unsigned meaning, address, taken;
static bool is_read;

static void capture(uint64_t at_ns) {
    tbccr1 = (uint16_t)ticks_at(at_ns);
    captured = true;
}

static void happen() {
    if (tx_sfd_ns != 0 && tx_sfd_ns <= now_ns) {
        capture(tx_sfd_ns);
        tx_end_ns = tx_sfd_ns + (tx_bytes + 1u) * (uint64_t)BYTE_NS;
        tx_sfd_ns = 0;
    }
    if (tx_end_ns != 0 && tx_end_ns <= now_ns) {
        tx_end_ns = 0;
        is_listening = true;
    }
    for (arrival *a = next_arrival(); a != nullptr && a->sfd_ns <= now_ns; a = next_arrival()) {
        bool is_hearing = is_on && is_listening && tx_end_ns == 0 && tx_sfd_ns == 0;
        bool is_new = !sfd_high;
        if (!is_hearing || rx.overflown || (is_new && a->sfd_ns + BYTE_NS < now_ns)) {
            // It was not heard from its beginning, or nobody listens any more.
            rx.arrives = sfd_high = false;
            arriving++;
            continue;
        }
        if (is_new)
            capture(a->sfd_ns);
        sfd_high = true;
        if (!rx.take(*a))
            break;
        sfd_high = false;
        arriving++;
    }
}

static void reversed(uint8_t *to, const uint8_t *from) {
    for (unsigned i = 0; i < 16; i++)
        to[i] = from[15 - i];
}

// SECCTRL0 and SECCTRL1 (tables of section 32).
static void secure(uint8_t *frame, unsigned length, bool forward) {
    unsigned mode = registers[SECCTRL0_AT] & 3, mic = (registers[SECCTRL0_AT] >> 2 & 7) * 2 + 2;
    unsigned open = forward ? registers[SECCTRL1_AT] >> 8 & 0x7f : registers[SECCTRL1_AT] & 0x7f;
    bool second = (registers[SECCTRL0_AT] & (forward ? 0x40 : 0x20)) != 0;
    uint8_t key[16], nonce[16], tag[16];
    reversed(key, ram + (second ? KEY1 : KEY0));
    reversed(nonce, ram + (forward ? TX_NONCE : RX_NONCE));
    if (mode == 2)
        mic = 0;
    if (mode < 2 || length < open + mic)
        return;
    unsigned bytes = length - open - mic;
    engine_message m = {key, nonce + 1, frame, open, frame + open, bytes, mic == 0 ? 4 : mic, tag};
    engine_ccm(&m, forward);
    uint8_t *place = frame + open + bytes;
    if (forward)
        memcpy(place, tag, mic);
    else if (mic != 0)
        place[mic - 1] = memcmp(place, tag, mic) == 0 ? 0x00 : 0xff;
}

static void decrypt_first() {
    uint8_t frame[FIFO_BYTES];
    if (!rx.has_frame())
        return;
    unsigned length = rx.ring[rx.frame % FIFO_BYTES] & 0x7f;
    if (length < 2)
        return;
    for (unsigned i = 0; i < length; i++)
        frame[i] = rx.ring[(rx.frame + 1 + i) % FIFO_BYTES];
    secure(frame, length - 2, false);
    for (unsigned i = 0; i < length; i++)
        rx.ring[(rx.frame + 1 + i) % FIFO_BYTES] = frame[i];
}

static void transmit() {
    if (!is_on || tx_sfd_ns != 0 || tx_end_ns != 0)
        return;
    rx.arrives = sfd_high = false;
    tx_sfd_ns = now_ns + SHR_NS;
}

static void strobe_is(unsigned code) {
    switch (code) {
    case 0x03: // SRXON
        is_listening = is_on;
        break;
    case 0x04: // STXON
        transmit();
        break;
    case 0x05: // STXONCCA
        if (is_listening && chance(3) != 0)
            transmit();
        break;
    case 0x06: // SRFOFF
        is_listening = rx.arrives = sfd_high = false;
        tx_sfd_ns = tx_end_ns = 0;
        break;
    case 0x08: // SFLUSHRX
        if (rx.arrives)
            arriving++;
        rx.clear();
        sfd_high = false;
        break;
    case 0x09: // SFLUSHTX
        tx_bytes = 0;
        break;
    case 0x0c: // SRXDEC
        busy_until_ns = now_ns + ENGINE_NS;
        decrypt_first();
        break;
    case 0x0d: // STXENC
        busy_until_ns = now_ns + ENGINE_NS;
        if (tx_bytes > 0 && (tx[0] & 0x7f) >= 2)
            secure(tx + 1, (tx[0] & 0x7fu) - 2, true);
        break;
    case 0x0e: { // SAES
        uint8_t key[16];
        reversed(key, ram + ((registers[SECCTRL0_AT] & 0x80) != 0 ? KEY1 : KEY0));
        engine_aes(key, ram + SABUF, ram + SABUF, 1);
        break;
    }
    }
}

static uint8_t status() {
    return (uint8_t)((is_on ? 0x40 : 0) | (now_ns < busy_until_ns ? 0x10 : 0) |
                     (tx_sfd_ns != 0 || tx_end_ns != 0 ? 0x08 : 0) | (is_listening ? 0x02 : 0));
}

static uint8_t bus(uint8_t byte) {
    uint8_t answer = status();
    switch (meaning) {
    case ADDRESS:
        address = byte & 0x3f;
        is_read = (byte & 0x40) != 0;
        taken = 0;
        if ((byte & 0x80) != 0) {
            address = byte & 0x7f;
            meaning = RAM_LOW;
        } else if (address == 0x3e) {
            meaning = FILL_TX;
        } else if (address == 0x3f) {
            meaning = TAKE_RX;
        } else if (!is_read && address < 0x10) {
            strobe_is(address);
        } else {
            meaning = REGISTER;
        }
        break;
    case REGISTER: {
        uint16_t value = registers[address];
        if (address == MANFIDL_AT)
            value = 0x233d;
        answer = (uint8_t)(taken == 0 ? value >> 8 : value);
        if (!is_read)
            registers[address] = taken == 0 ? (uint16_t)(byte << 8 | (value & 0xff))
                                            : (uint16_t)((value & 0xff00) | byte);
        if (++taken == 2)
            meaning = ADDRESS;
        break;
    }
    case RAM_LOW:
        address |= (byte >> 6) << 7;
        is_read = (byte & 0x20) != 0;
        meaning = RAM_AT;
        break;
    case RAM_AT: {
        bool is_fifo = address >= 0x80 && address < 0x100;
        uint8_t &place = is_fifo ? rx.ring[address - 0x80] : ram[address];
        answer = place;
        if (!is_read)
            place = byte;
        address = (address + 1) % RAM_BYTES;
        break;
    }
    case FILL_TX:
        if (tx_bytes == FIFO_BYTES)
            abort(); // the driver must not
        tx[tx_bytes++] = byte;
        break;
    case TAKE_RX:
        answer = rx.pop();
        break;
    }
    return answer;
}

static uint32_t u0txbuf_get() {
    return 0;
}
static void u0txbuf_set(uint32_t byte) {
    spend(BUS_BYTE_NS);
    u0rxbuf = (uint8_t)told((p4out & 0x04) == 0 ? bus((uint8_t)byte) : 0xff);
}

static uint32_t p1in_get() {
    bool ready = rx.has_frame() || rx.overflown;
    uint32_t pins = (ready ? 1 : 0) | (rx.count() > 0 && !rx.overflown ? 8 : 0) |
                    (is_listening && chance(4) != 0 ? 0x10 : 0);
    return told(pins) & 0xff;
}
static uint32_t p4in_get() {
    return told(sfd_high || (tx_end_ns != 0) ? 2 : 0) & 0xff;
}
static uint32_t p4out_get() {
    return p4out;
}
static void p4out_set(uint32_t value) {
    if ((value & 0x04) != 0)
        meaning = ADDRESS;
    bool on = (value & 0x20) != 0;
    if (!on && is_on) {
        strobe_is(0x06);
        rx.clear();
        tx_bytes = 0;
        memset(ram, 0, sizeof ram);
    }
    is_on = on;
    p4out = value & 0xff;
}
static uint32_t tbr_get() {
    return ticks_at(now_ns) & 0xffff;
}
static uint32_t tbcctl1_get() {
    return (tbcctl1 & 0xfffe) | (captured ? 1 : 0);
}
static void tbcctl1_set(uint32_t value) {
    tbcctl1 = value;
    captured = (value & 1) != 0;
}
static uint32_t tbccr1_get() {
    return tbccr1;
}
static uint32_t u0rxbuf_get() {
    return u0rxbuf;
}

} // namespace chip

static const chip::port U0TXBUF = {chip::u0txbuf_get, chip::u0txbuf_set};
static const chip::port U0RXBUF = {chip::u0rxbuf_get, chip::ignore};
static const chip::port P1IN = {chip::p1in_get, chip::ignore};
static const chip::port P4IN = {chip::p4in_get, chip::ignore};
static const chip::port P4OUT = {chip::p4out_get, chip::p4out_set};
static const chip::port TBR = {chip::tbr_get, chip::ignore};
static const chip::port TBCCTL1 = {chip::tbcctl1_get, chip::tbcctl1_set};
static const chip::port TBCCR1 = {chip::tbccr1_get, chip::ignore};
static uint16_t TBCTL, TBCCTL0, TBCCR0;
static uint8_t P1DIR, P3DIR, P3SEL, P4DIR, P4SEL, U0CTL, U0TCTL, U0BR0, U0BR1, U0MCTL, ME1;
enum { TIMER_ACLK = 0x0100, TIMER_CONTINUOUS = 0x0020, TIMER_CLEAR = 0x0004 };

// Replaces the board's assembly.
#define CC2420_ASSEMBLY_H
static const uint8_t IFG1 = 0xff; // a byte has always come

extern "C" {
#include "cc2420.h"
}

static void sleep_lpm3() {
    chip::spend(20000);
}

static void put(const uint8_t *bytes, uint8_t count) {
    for (; count > 0; count--)
        U0TXBUF = *bytes++;
}

static void get(uint8_t *bytes, uint8_t count) {
    for (; count > 0; count--) {
        U0TXBUF = 0;
        *bytes++ = (uint8_t)U0RXBUF;
    }
}

extern "C" {
#include "cc2420/cc2420.c"
}

void air_start() {
    if (!radio_init())
        abort();
}

uint8_t air_loaded(uint8_t *frame) {
    if (chip::tx_bytes < 3)
        abort();
    memcpy(frame, chip::tx + 1, chip::tx[0] - 2u);
    return (uint8_t)(chip::tx[0] - 2);
}
