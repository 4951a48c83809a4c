/* An attacker in the network. It receives every frame and sends what it likes, under any address,
   as often as it likes, without checking whether the channel is clear. */
#include <string.h>

#include "hal.h"
#include "handshake.h"
#include "radio.h"
#include "renewal.h"

enum {
    REPLAY = 1,            /* the last RECORDED frames it heard, repeated in turn */
    FORGE = 2,             /* a packet of the mote with one bit changed */
    REFLECT = 3,           /* a packet of the mote, sent back to it */
    DOWNGRADE = 4,         /* an unprotected payload under the mote's label, as if without a
                              policy */
    FLOOD_HELLO = 5,       /* random hellos to the authority */
    FLOOD_REQUEST = 6,     /* random requests for a key to the authority */
    OLD_RENEWALS = 7,      /* the first renewals that it heard, repeated */
    FORGED_RENEWALS = 8,   /* renewals as far ahead as a mote can follow, each with a wrong tag */
    FORGED_CHALLENGES = 9, /* a challenge for every other hello, ahead of the authority's */
    OLD_PACKETS = 10       /* the first packets of the mote that it heard, repeated */
};

/* A data frame of IEEE Std 802.15.4-2006 with short addresses in one PAN (section 7.2.1). */
enum {
    SEQUENCE_AT = 2,
    DESTINATION_AT = 5,
    SOURCE_AT = 7,
    PAYLOAD_AT = 9,
    DATA_LOW = 0x41,
    DATA_HIGH = 0x98,
    ASK = 0x20
};

enum { RECORDED = 8, FRAME_US = 6000 };

typedef struct {
    uint8_t length, bytes[RADIO_FRAME_BYTES_MAX];
} heard;

static heard record[RECORDED];
static uint8_t recorded;
static uint8_t sequence;

/* Numerical Recipes' generator: quality does not matter here. */
static uint8_t chance(void) {
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (uint8_t)(state >> 24);
}

static uint16_t get16(const uint8_t *at) {
    return (uint16_t)(at[0] | at[1] << 8);
}

static void put16(uint8_t *at, uint16_t number) {
    at[0] = (uint8_t)number;
    at[1] = (uint8_t)(number >> 8);
}

static bool is_from(const heard *h, uint16_t who) {
    return h->length > PAYLOAD_AT && h->bytes[0] != 2 && get16(h->bytes + SOURCE_AT) == who;
}

static bool is_wanted(const heard *h) {
    uint8_t kind = h->bytes[PAYLOAD_AT];
    switch (PLASA_ATTACK) {
    case REPLAY:
        return is_from(h, PLASA_MOTE) || is_from(h, PLASA_AUTHORITY);
    case OLD_RENEWALS:
        return recorded < RECORDED && is_from(h, PLASA_AUTHORITY) && kind == MESSAGE_RENEWAL;
    case OLD_PACKETS:
        return recorded < RECORDED && is_from(h, PLASA_MOTE) && kind < MESSAGE_HELLO;
    case FORGED_RENEWALS:
        return is_from(h, PLASA_AUTHORITY) && kind == MESSAGE_RENEWAL;
    case FORGED_CHALLENGES:
        return is_from(h, PLASA_MOTE) && kind == MESSAGE_HELLO;
    default:
        return is_from(h, PLASA_MOTE) && kind < MESSAGE_HELLO;
    }
}

/* Receivers drop a frame that repeats the last sequence number, so each frame gets a new one. */
static void send(heard *h) {
    h->bytes[SEQUENCE_AT] = sequence++;
    radio_load(h->bytes, h->length);
    radio_time sfd;
    if (radio_transmit(&sfd))
        radio_transmit_end();
}

static void make(heard *h, uint16_t from, uint16_t to, uint8_t kind, uint8_t payload_bytes) {
    h->bytes[0] = to == 0xffff ? DATA_LOW : DATA_LOW | ASK;
    h->bytes[1] = DATA_HIGH;
    put16(h->bytes + SEQUENCE_AT + 1, 0x504c);
    put16(h->bytes + DESTINATION_AT, to);
    put16(h->bytes + SOURCE_AT, from);
    h->length = (uint8_t)(PAYLOAD_AT + payload_bytes);
    for (uint8_t i = PAYLOAD_AT; i < h->length; i++)
        h->bytes[i] = chance();
    h->bytes[PAYLOAD_AT] = kind;
}

static void attack(void) {
    static uint8_t next;
    heard h = record[recorded == 0 ? 0 : next++ % recorded];
    uint8_t *payload = h.bytes + PAYLOAD_AT;
    if (PLASA_ATTACK == FLOOD_HELLO) {
        make(&h, PLASA_MOTE, PLASA_AUTHORITY, MESSAGE_HELLO, HELLO_BYTES);
        put16(payload + 1, PLASA_MOTE);
    } else if (PLASA_ATTACK == FLOOD_REQUEST) {
        make(&h, PLASA_MOTE, PLASA_AUTHORITY, MESSAGE_REQUEST, REQUEST_BYTES);
        payload[1] = KEY_DATA;
    } else if (recorded == 0) {
        return;
    } else if (PLASA_ATTACK == FORGE) {
        payload[1 + chance() % (h.length - PAYLOAD_AT - 1)] ^= (uint8_t)(1u << (chance() & 7));
    } else if (PLASA_ATTACK == REFLECT) {
        put16(h.bytes + SOURCE_AT, PLASA_AUTHORITY);
        put16(h.bytes + DESTINATION_AT, PLASA_MOTE);
    } else if (PLASA_ATTACK == DOWNGRADE) {
        uint8_t age = payload[0] & 3;
        make(&h, PLASA_MOTE, PLASA_AUTHORITY, age, 9);
        payload[1] = 'd';
    } else if (PLASA_ATTACK == FORGED_RENEWALS) {
        payload[RENEWAL_EPOCH_AT] = (uint8_t)(payload[RENEWAL_EPOCH_AT] + 1 + next % 8);
        payload[RENEWAL_BYTES - 1] ^= chance() | 1;
    } else if (PLASA_ATTACK == FORGED_CHALLENGES) {
        make(&h, PLASA_AUTHORITY, PLASA_MOTE, MESSAGE_CHALLENGE, CHALLENGE_BYTES);
        recorded = 0;
        /* When the mote is listening again. */
        radio_sleep_until((radio_time)(radio_now() + radio_ticks(3000)));
    }
    send(&h);
}

static void hear(radio_time until) {
    radio_time sfd;
    radio_receive();
    while (radio_wait_sfd(until, &sfd)) {
        heard h;
        if (!radio_wait_frame((radio_time)(sfd + radio_ticks(FRAME_US))))
            continue;
        h.length = radio_read(h.bytes, 0);
        if (h.length <= PAYLOAD_AT || !is_wanted(&h))
            continue;
        static uint8_t hellos;
        if (PLASA_ATTACK == FORGED_CHALLENGES && hellos++ % 2 != 0)
            continue;
        bool is_kept =
            PLASA_ATTACK == OLD_RENEWALS || PLASA_ATTACK == OLD_PACKETS || PLASA_ATTACK == REPLAY;
        static uint8_t at;
        record[is_kept ? at : 0] = h;
        at = (uint8_t)(at + 1) % RECORDED;
        if (recorded == 0 || (is_kept && recorded < RECORDED))
            recorded++;
        /* The forged answer must arrive before the real one. */
        if (PLASA_ATTACK == FORGED_CHALLENGES)
            return;
    }
}

int main(void) {
    hal_init();
    if (!radio_init())
        for (;;)
            continue;
    radio_set_filter(0);
    radio_channel(PLASA_CHANNEL);
    for (;;) {
        hear((radio_time)(radio_now() + radio_ticks(PLASA_ATTACK_MS * 1000ul)));
        attack();
    }
}
