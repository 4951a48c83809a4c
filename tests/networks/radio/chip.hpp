// Shared by simulated chips: time, registers that are functions, a receiver's FIFO.
//
// A driver is compiled as C++ with its chip's registers as objects of this file. Each access to one
// takes time, and events that fall due meanwhile happen first.
#pragma once

#include "air.h"
#include "engine.h"
extern "C" {
#include "radio.h"
}

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const bool air_has_faults = true;

namespace chip {

// ---- Time ----

static uint64_t now_ns = 1000;
static unsigned lies; // accesses that are answered at random

// 32,768 Hz.
inline uint32_t ticks_at(uint64_t ns) {
    return (uint32_t)(ns * 32768 / 1000000000);
}

static void happen(); // of the chip: all until now
// Of a chip whose driver filters frames: before one comes.
void prepare(const uint8_t *frame, uint8_t length);

static void spend(uint64_t ns) {
    now_ns += ns;
    happen();
}

static uint32_t told(uint32_t truth) {
    if (lies == 0)
        return truth;
    lies--;
    return chance(4) ? chance(0xffffffffu) : truth;
}

// ---- Registers ----

enum { ACCESS_NS = 500 };

struct port {
    uint32_t (*get)();
    void (*set)(uint32_t);

    operator uint32_t() const {
        spend(ACCESS_NS);
        return get();
    }
    uint32_t operator=(uint32_t value) const {
        spend(ACCESS_NS);
        set(value);
        return value;
    }
    // One instruction: nothing happens between its read and its write.
    void operator|=(uint32_t value) const {
        spend(ACCESS_NS);
        set(get() | value);
    }
    void operator&=(uint32_t value) const {
        spend(ACCESS_NS);
        set(get() & value);
    }
};

static void ignore(uint32_t) {
}

// ---- Frames on the air ----

enum { BYTE_NS = 32000, FRAMES = 12 };

struct arrival {
    uint64_t sfd_ns;
    uint8_t length;     // as the length byte says
    uint8_t bytes[256]; // behind it
    bool fcs_right;

    uint64_t end_ns() const {
        return sfd_ns + (1u + length) * (uint64_t)BYTE_NS;
    }
};

static arrival arrivals[FRAMES];
static unsigned arriving, arrived; // the next, and behind the last

static arrival *next_arrival() {
    return arriving < arrived ? &arrivals[arriving] : nullptr;
}

static uint64_t put_on_air(uint64_t from_ns, const uint8_t *frame, uint8_t length,
                           air_fault fault) {
    arrival &a = arrivals[arrived++];
    a.sfd_ns = from_ns;
    a.length = (uint8_t)(length + RADIO_FCS_BYTES);
    a.fcs_right = true;
    for (unsigned i = 0; i < sizeof a.bytes; i++)
        a.bytes[i] = (uint8_t)chance(256);
    memcpy(a.bytes, frame, length);
    if (fault == AIR_FCS_WRONG)
        a.fcs_right = false;
    if (fault == AIR_CUT) {
        unsigned from = chance(length + 2u);
        for (unsigned i = from; i < length; i++)
            a.bytes[i] = (uint8_t)chance(256);
        a.fcs_right = false;
    }
    while (fault == AIR_LENGTH && (a.length & 0x7f) == length + RADIO_FCS_BYTES)
        a.length = (uint8_t)(chance(2) ? chance(256) : chance(6));
    return a.end_ns() + 200000 + chance(100000);
}

static void wait_for_silence() {
    while (next_arrival() != nullptr)
        spend(BYTE_NS / 2);
}

// Puts a frame on the air; for AIR_CROWD, some others before and after it.
static void put_all(const uint8_t *frame, uint8_t length, air_fault fault) {
    uint8_t other[RADIO_FRAME_BYTES_MAX];
    wait_for_silence();
    arriving = arrived = 0;
    uint64_t at = now_ns + 200000 + chance(200000);
    unsigned before = fault == AIR_CROWD ? 1 + chance(4) : 0;
    unsigned behind = fault == AIR_CROWD ? chance(5) : 0;
    for (unsigned i = 0; i < before + 1 + behind; i++) {
        for (unsigned k = 0; k < sizeof other; k++)
            other[k] = (uint8_t)chance(256);
        air_fault others = (air_fault)chance(AIR_CROWD);
        at = i == before ? put_on_air(at, frame, length, fault)
                         : put_on_air(at, other, (uint8_t)(1 + chance(sizeof other)), others);
    }
}

// ---- The receive FIFO of CC2420 and CC2538: 128 bytes in a ring ----

enum { FIFO_BYTES = 128, STATUS_CRC = 0x80, STATUS_CORRELATION = 106 };
// Set by a test, to show that the others can fail.
#ifndef STATUS_CRC_WRONG
#define STATUS_CRC_WRONG 0
#endif

struct fifo {
    uint8_t ring[FIFO_BYTES];
    unsigned read, write; // count for ever
    unsigned frame;       // where the first that is not read whole begins
    unsigned taken;       // bytes of the frame that arrives, with its length byte
    bool arrives, overflown;

    unsigned count() const {
        return write - read;
    }
    void clear() {
        read = write = frame = taken = 0;
        arrives = overflown = false;
    }
    void push(uint8_t byte) {
        if (count() == FIFO_BYTES)
            overflown = true;
        else
            ring[write++ % FIFO_BYTES] = byte;
    }
    uint8_t pop() {
        uint8_t byte = ring[read % FIFO_BYTES];
        if (count() == 0)
            return byte;
        read++;
        if (read > frame + (ring[frame % FIFO_BYTES] & 0x7f))
            frame = read;
        return byte;
    }
    // Whether the first frame is complete.
    bool has_frame() const {
        return write > frame && write > frame + (ring[frame % FIFO_BYTES] & 0x7f) &&
               !(arrives && write - taken == frame);
    }
    // Takes what has arrived of a frame until now; true: it has ended. The receiver is on.
    bool take(const arrival &a) {
        if (!arrives) {
            arrives = true;
            taken = 0;
        }
        unsigned length = a.length & 0x7fu;
        while (taken <= length && !overflown &&
               a.sfd_ns + (taken + 1) * (uint64_t)BYTE_NS <= now_ns) {
            uint8_t byte = taken == 0 ? a.length : a.bytes[taken - 1];
            if (taken > 0 && taken + 1 == length)
                byte = (uint8_t)(-30 - (int)chance(60)); // RSSI
            if (taken > 0 && taken == length)
                byte =
                    (uint8_t)((a.fcs_right ? STATUS_CRC : STATUS_CRC_WRONG) | STATUS_CORRELATION);
            push(byte);
            taken++;
        }
        bool over = overflown || a.sfd_ns + (length + 1) * (uint64_t)BYTE_NS <= now_ns;
        if (over)
            arrives = false;
        return over;
    }
};

// ---- Actions of a program between two frames: any, in any order ----

static void use_at_random() {
    uint8_t frame[RADIO_FRAME_BYTES_MAX] = {0};
    radio_time sfd, soon = (radio_time)(radio_now() + 3 + chance(40));
    switch (chance(13)) {
    case 0:
        radio_idle();
        break;
    case 1:
        radio_sleep();
        radio_wake();
        break;
    case 2:
        radio_channel((uint8_t)(RADIO_CHANNEL_MIN + chance(16)));
        break;
    case 3:
        radio_load(frame, (uint8_t)(1 + chance(RADIO_FRAME_BYTES_MAX)));
        if (radio_transmit(&sfd))
            radio_transmit_end();
        break;
    case 4:
        radio_receive();
        radio_sleep_until(soon);
        if (radio_transmit_if_clear(&sfd))
            radio_transmit_end();
        break;
    case 5:
        radio_read(frame, nullptr);
        break;
    case 6:
        radio_peek(frame, (uint8_t)chance(sizeof frame + 1));
        break;
    case 7:
        radio_wait_sfd(soon, &sfd);
        break;
    case 8:
        radio_wait_frame(soon);
        break;
    case 9:
        radio_cca();
        radio_rssi_dbm();
        break;
    case 10:
        radio_listen();
        break;
#if RADIO_HAS_CCM
    case 11: {
        uint8_t key[16] = {0}, nonce[13] = {0};
        radio_ccm ccm = {key, nonce, 9, 4, true};
        ccm.open = (uint8_t)chance(40);
        radio_reception reception;
        radio_ccm_read(&ccm, frame, &reception);
        break;
    }
#endif
    default:
        radio_receive();
        radio_sleep_until(soon);
    }
}

// Receives a frame that the radio holds or gets, looking only at whole ones, as CSMA does. What it
// held before is dropped.
static bool listen(const uint8_t *frame, uint8_t length, air_fault fault) {
    uint8_t other[RADIO_FRAME_BYTES_MAX];
    radio_time sfd;
    wait_for_silence();
    do {
        while (radio_peek(other, 0) > 0)
            radio_read(other, nullptr);
        radio_listen();
    } while (radio_peek(other, 0) > 0);
    put_all(frame, length, fault);
    while (radio_peek(other, 0) == 0) {
        if (!radio_wait_sfd((radio_time)(radio_now() + 100), &sfd))
            return radio_peek(other, 0) > 0;
        radio_wait_frame((radio_time)(sfd + 150));
    }
    return true;
}

static bool receive(const uint8_t *frame, uint8_t length, air_fault fault, bool streams) {
    radio_time sfd;
    bool is_wild = fault == AIR_CROWD || fault == AIR_LIES;
    if (!is_wild && !streams && chance(2))
        return listen(frame, length, fault);
    if (!is_wild) {
        wait_for_silence();
        radio_receive();
    }
    put_all(frame, length, fault);
    if (fault == AIR_LIES)
        lies = 1 + chance(400);
    if (is_wild) {
        for (unsigned i = chance(6); i > 0; i--)
            use_at_random();
        if (chance(2))
            put_all(frame, length, AIR_CROWD);
    }
    return radio_wait_sfd((radio_time)(radio_now() + 100), &sfd) &&
           (streams || radio_wait_frame((radio_time)(sfd + 150)));
}

} // namespace chip

bool air_receive(const uint8_t *frame, uint8_t length, air_fault fault, bool streams) {
#if !RADIO_HAS_AES
    chip::prepare(frame, length);
#endif
    return chip::receive(frame, length, fault, streams);
}

void air_calm() {
    chip::lies = 0;
}
