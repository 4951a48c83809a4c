#include "tsch.h"

#include "boots.h"
#include "hal.h"
#include "timing.h"

/* RFC 8180, section 4.5.2 and IEEE Std 802.15.4-2015, section 6.2.10: the default sequence of 16
   channels, as 6TiSCH uses it. */
static const uint8_t hopping[16] = {16, 17, 23, 18, 26, 15, 25, 22, 19, 11, 12, 13, 24, 14, 20, 21};

enum {
    AHEAD_STREAMS = 1,
    AHEAD_FRAMES = 2,
    SPACING = TSCH_AHEAD == AHEAD_FRAMES ? 2 : 1, /* slots per slot with a link */
    SLOTFRAME = SPACING * (1 + 2 * (MOTES - 1)) + TSCH_IDLE_SLOTS,
    LEAF = MOTE != TSCH_ROOT,
    KEY_INDEX_BEACON = 1,
    KEY_INDEX_DATA = 2,
    BEACON_LEVEL = TSCH_LEVEL == 0 ? 0 : 1,
    /* A leaf's nonces use the root's slot numbers: the record of used ones must survive its
       reboots. */
    KEEPS_FLOOR = LEAF && TSCH_LEVEL > 0 && BOOTS_MAX > 0,
    JOIN_LISTEN_TICKS = RADIO_TICK_HZ / 4,
    DESYNCHRONIZED_SLOTFRAMES = 100 /* without a frame from the root: 40 ppm each, and the guard */
};

/* Length of the auxiliary security header of data frames. */
#define SECURITY_BYTES                                                                             \
    (TSCH_LEVEL == 0 ? 0                                                                           \
                     : 1 + (TSCH_COUNTER_CARRIED ? 4 : 0) +                                        \
                           (TSCH_KEY_ID_MODE == 0   ? 0                                            \
                            : TSCH_KEY_ID_MODE == 1 ? 1                                            \
                            : TSCH_KEY_ID_MODE == 2 ? 5                                            \
                                                    : 9))
#if TSCH_BRIEF_ACKNOWLEDGEMENTS && TSCH_KEY_ID_MODE == 0
#error "a key of mode 0 is found by addresses, which a brief acknowledgement has not"
#endif
#define MIC_BYTES (TSCH_LEVEL % 4 == 0 ? 0 : 2 << TSCH_LEVEL % 4)
enum { DATA_HEADER_BYTES = 2 + 1 + 2 + 8 + 8 };

const uint8_t tsch_payload_bytes =
    RADIO_FRAME_BYTES_MAX - DATA_HEADER_BYTES - SECURITY_BYTES - MIC_BYTES;

const char *const tsch_deadline_names[TSCH_DEADLINES] = {"tx-offset", "rx-listen", "ack-listen",
                                                         "tx-ack-delay", "slot-end"};

tsch_counts tsch_count;

static struct {
    link_asn asn;
    radio_time start; /* of the slot */
    uint16_t offset;  /* of the slot in its slotframe */
    uint8_t hop;      /* ASN modulo the length of the hopping sequence */
    bool joined;
    uint8_t silent;     /* slotframes since the root was last heard */
    int16_t correction; /* to the next slot's start, in ticks */
    uint8_t sequence;
    uint8_t loaded; /* length of a frame secured and loaded in advance; 0: none */
    uint8_t frame[RADIO_FRAME_BYTES_MAX];
    uint8_t acknowledgement[RADIO_FRAME_BYTES_MAX];
} tsch;

/* The four steps of security in a slot are not inlined, so that a profile can tell their costs
   apart. */
#define STEP __attribute__((noinline)) static

/* ---- Time ---- */

/* Slot numbers make nonces, so none may repeat: the upper 16 bits count the root's boots, the lower
   24 the slots since then. When these overflow, after 46 hours of slots of 10 ms, the network
   counts on as if its root had booted again. */
enum { ERA_BITS = 24 };

static void begin_era(uint16_t boots) {
    tsch.asn = (link_asn){(uint32_t)boots << ERA_BITS, (uint8_t)(boots >> 8)};
    tsch.hop = 0;
}

/* Waits for a moment, and counts it as late if it has passed. */
static void wait_for(tsch_deadline deadline, radio_time when) {
    hal_marker_high();
    if (radio_time_after(radio_now(), when) >= 0)
        tsch_count.late[deadline]++;
    radio_sleep_until(when);
    hal_marker_low();
}

static void next_slot(void) {
    tsch.start = (radio_time)(tsch.start + timing.slot);
    if (++tsch.asn.low == 0)
        tsch.asn.high++;
    if (!LEAF && BOOTS_MAX > 0 && (tsch.asn.low & ((1ul << ERA_BITS) - 1)) == 0)
        begin_era(boots_count_again());
    tsch.hop = (tsch.hop + 1) & 15;
    if (++tsch.offset == SLOTFRAME) {
        tsch.offset = 0;
        if (LEAF && ++tsch.silent == DESYNCHRONIZED_SLOTFRAMES)
            tsch.joined = false;
    }
}

/* Adjusts to a frame from the root that came `late` ticks after it was expected. */
static void follow_root(int16_t late) {
    tsch.correction = late;
    tsch.silent = 0;
}

/* ---- Frames ---- */

static frame_address address_of(uint8_t mote) {
    return (frame_address){ADDRESS_EXTENDED, TSCH_PAN, {mote, 0, 0, 0, 0, 0x4d, 0x4a, 0x02}};
}

/* Returns 0 for a mote that is not of this network. */
static uint8_t mote_of(const frame_address *address) {
    frame_address same = address_of(address->bytes[0]);
    bool known = address->mode == ADDRESS_EXTENDED && frame_same_address(address, &same);
    return known && address->bytes[0] <= MOTES ? address->bytes[0] : 0;
}

static frame_security security_of(uint8_t level, uint8_t index) {
    return (frame_security){.level = level,
                            .key_id_mode = TSCH_KEY_ID_MODE,
                            .counter_suppressed = TSCH_COUNTER_CARRIED == 0,
                            .asn_in_nonce = true,
                            .key_source = {'j', 'o', 'u', 'l', 'e', 'm', 'r', 'k'},
                            .key_index = index};
}

static frame_header header_to(uint8_t type, uint8_t mote) {
    frame_header header = {.type = type,
                           .version = FRAME_VERSION_2015,
                           .sequence = tsch.sequence,
                           .source = address_of(MOTE),
                           .security = security_of(TSCH_LEVEL, KEY_INDEX_DATA)};
    if (mote != 0)
        header.destination = address_of(mote);
    return header;
}

/* Key stream blocks of a data frame, including the MIC's. */
enum {
    DATA_BLOCKS = TSCH_LEVEL < 4 ? 1 : 1 + (RADIO_FRAME_BYTES_MAX - DATA_HEADER_BYTES + 15) / 16,
    PLACE_DATA = 0,
    PLACE_ACKNOWLEDGEMENT = 1
};

/* Their lengths without MIC. An acknowledgement has a time correction of four bytes. */
#define DATA_OPEN_BYTES (DATA_HEADER_BYTES + SECURITY_BYTES)
#define ACKNOWLEDGEMENT_BYTES                                                                      \
    (DATA_OPEN_BYTES + 4 - (TSCH_BRIEF_ACKNOWLEDGEMENTS ? DATA_HEADER_BYTES - 3 : 0))

/* Computes in advance for the frame that one mote will send another in a slot. */
STEP void make_ahead(uint8_t place, uint8_t from, uint8_t to, const link_asn *asn) {
    frame_header header = {.source = address_of(from),
                           .destination = address_of(to),
                           .security = security_of(TSCH_LEVEL, KEY_INDEX_DATA)};
    bool is_data = place == PLACE_DATA;
    header.open = is_data ? DATA_OPEN_BYTES : ACKNOWLEDGEMENT_BYTES;
    if (TSCH_LEVEL > 0)
        link_ahead(place, &header, asn, is_data ? DATA_BLOCKS : 1,
                   is_data ? 0 : ACKNOWLEDGEMENT_BYTES);
}

STEP uint8_t load_data(uint8_t mote, const link_asn *asn) {
    frame_header header = header_to(FRAME_DATA, mote);
    header.acknowledge = true;
    if (!link_prepare(&header, DATA_HEADER_BYTES))
        return 0;
    header.open = frame_write(tsch.frame, &header);
    uint8_t payload = tsch_next(mote, tsch.frame + header.open);
    if (payload == 0)
        return 0;
    uint8_t length = (uint8_t)(header.open + payload);
    link_load(&header, asn, tsch.frame, length);
    return (uint8_t)(length + MIC_BYTES);
}

/* Sections 7.3.3 and 7.4.2.7: an enhanced acknowledgement, with the time correction. */
STEP bool load_acknowledgement(uint8_t mote, uint8_t sequence, int16_t late) {
    frame_header header = header_to(FRAME_ACK, mote);
    header.sequence = sequence;
    header.elements = true;
    if (TSCH_BRIEF_ACKNOWLEDGEMENTS)
        header.source.mode = header.destination.mode = ADDRESS_NONE;
    if (!link_prepare(&header, DATA_HEADER_BYTES + 4))
        return false;
    uint8_t *frame = tsch.acknowledgement, *at = frame + frame_write(frame, &header);
    at = frame_put_header_element(at, ELEMENT_TIME_CORRECTION, 2);
    uint16_t correction = (uint16_t)ticks_to_us((int16_t)-late) & 0x0fff;
    *at++ = (uint8_t)correction;
    *at++ = (uint8_t)(correction >> 8);
    header.open = (uint8_t)(at - frame);
    link_load(&header, &tsch.asn, frame, header.open);
    return true;
}

static uint8_t *put_16(uint8_t *at, uint16_t value) {
    *at++ = (uint8_t)value;
    *at++ = (uint8_t)(value >> 8);
    return at;
}

/* Section 6.3.6: an enhanced beacon of a TSCH PAN has these four elements. The slotframe announces
   one link, the beacon's own, shared by all (RFC 8180, section 4.1). */
static uint8_t load_beacon(const link_asn *asn) {
    enum { SYNCHRONIZATION = 6, TIMESLOT = 1, HOPPING = 1, SLOTFRAMES = 1 + 4 + 5 };
    enum { NESTED = 4 * 2 + SYNCHRONIZATION + TIMESLOT + HOPPING + SLOTFRAMES };
    enum { LINK_SHARED_TIMEKEEPING = 0x0f };
    frame_header header = header_to(FRAME_BEACON, 0);
    header.security = security_of(BEACON_LEVEL, KEY_INDEX_BEACON);
    header.elements = true;
    if (!link_prepare(&header, DATA_HEADER_BYTES + 4 + NESTED))
        return 0;
    uint8_t *at = tsch.frame + frame_write(tsch.frame, &header);
    at = frame_put_header_element(at, ELEMENT_TERMINATION_1, 0);
    header.open = (uint8_t)(at - tsch.frame);
    at = frame_put_payload_element(at, ELEMENT_MLME, NESTED);
    at = frame_put_nested_element(at, NESTED_SYNCHRONIZATION, SYNCHRONIZATION);
    at = put_16(at, (uint16_t)asn->low);
    at = put_16(at, (uint16_t)(asn->low >> 16));
    *at++ = asn->high;
    *at++ = 0; /* join metric */
    at = frame_put_nested_element(at, NESTED_TIMESLOT, TIMESLOT);
    *at++ = 0;
    at = frame_put_long_nested_element(at, NESTED_CHANNEL_HOPPING, HOPPING);
    *at++ = 0;
    at = frame_put_nested_element(at, NESTED_SLOTFRAMES, SLOTFRAMES);
    *at++ = 1;
    *at++ = 0;
    at = put_16(at, SLOTFRAME);
    *at++ = 1;
    at = put_16(at, 0);
    at = put_16(at, 0);
    *at++ = LINK_SHARED_TIMEKEEPING;
    uint8_t length = (uint8_t)(at - tsch.frame);
    link_load(&header, asn, tsch.frame, length);
    return (uint8_t)(length + (BEACON_LEVEL == 0 ? 0 : 4));
}

/* ---- Slots ---- */

static void tune(void) {
    radio_idle();
    radio_channel(hopping[tsch.hop]);
}

/* 1. Secure and load. 2. Send so that the SFD ends at TX_OFFSET. Returns false if nothing was sent.
   `answering` is the mote that will acknowledge the frame; 0: none. */
static bool send_frame(uint8_t length, uint8_t answering, radio_time *end) {
    radio_time sfd;
    wait_for(TSCH_TX_OFFSET, (radio_time)(tsch.start + timing.tx_offset - RADIO_TX_LEAD_TICKS));
    if (!radio_transmit(&sfd))
        return false;
    if (TSCH_AHEAD == AHEAD_STREAMS && answering != 0)
        make_ahead(PLACE_ACKNOWLEDGEMENT, answering, MOTE, &tsch.asn);
    radio_transmit_end();
    radio_idle();
    *end = (radio_time)(sfd + air_ticks((uint8_t)(RADIO_HEADER_BYTES + length + RADIO_FCS_BYTES)));
    return true;
}

/* Listens around the time at which an SFD is due. Where frames are processed while they arrive, the
   receiver stays on. */
static bool listen(tsch_deadline deadline, radio_time due, uint16_t guard, radio_time *sfd) {
    wait_for(deadline, (radio_time)(due - guard - PREAMBLE_TICKS - RADIO_RX_LEAD_TICKS));
    radio_receive();
    bool heard = radio_wait_sfd((radio_time)(due + guard), sfd) &&
                 (LINK_STREAMS || radio_wait_frame((radio_time)(*sfd + LONGEST_FRAME_TICKS)));
    if (!heard || !LINK_STREAMS)
        radio_idle();
    return heard;
}

/* A brief acknowledgement carries no addresses; its MIC authenticates the sender. */
static bool is_between(const frame_header *header, uint8_t from, uint8_t to) {
    if (TSCH_BRIEF_ACKNOWLEDGEMENTS)
        return header->source.mode == ADDRESS_NONE && header->destination.mode == ADDRESS_NONE;
    return mote_of(&header->source) == from && mote_of(&header->destination) == to;
}

/* 5. Take the acknowledgement; the root's corrects our time. */
STEP bool take_acknowledgement(uint8_t mote) {
    frame_header header;
    frame_address sender = address_of(mote);
    bool received = link_receive(&tsch.asn, &sender, tsch.frame, &header);
    if (LINK_STREAMS)
        radio_idle();
    if (!received)
        return false;
    frame_element correction;
    if (header.type != FRAME_ACK || header.sequence != tsch.sequence ||
        !is_between(&header, mote, MOTE) ||
        !frame_header_element(tsch.frame + header.header_elements, tsch.frame + header.mic,
                              ELEMENT_TIME_CORRECTION, &correction) ||
        correction.length != 2)
        return false;
    if (LEAF) {
        uint16_t bits = (uint16_t)(correction.content[0] | correction.content[1] << 8);
        int16_t us = (int16_t)((bits & 0x0fff) ^ 0x0800) - 0x0800;
        follow_root(us_to_ticks(us));
    }
    return true;
}

static void send_data(uint8_t mote) {
    tune();
    if (TSCH_AHEAD != AHEAD_FRAMES) {
        tsch.sequence++;
        tsch.loaded = load_data(mote, &tsch.asn);
    }
    uint8_t length = tsch.loaded;
    tsch.loaded = 0;
    radio_time end, sfd;
    if (length == 0 || !send_frame(length, mote, &end))
        return;
    tsch_count.sent++;
    /* 3. Listen for the acknowledgement. 4. Unsecure it. */
    radio_time due = (radio_time)(end + timing.tx_ack_delay);
    if (!listen(TSCH_ACK_LISTEN, due, timing.ack_guard, &sfd))
        return;
    if (take_acknowledgement(mote)) {
        tsch_count.acknowledged++;
        tsch_acknowledged(mote);
    } else {
        tsch_count.refused++;
    }
}

static void send_beacon(void) {
    tune();
    if (TSCH_AHEAD != AHEAD_FRAMES) {
        tsch.sequence++;
        tsch.loaded = load_beacon(&tsch.asn);
    }
    radio_time end;
    uint8_t length = tsch.loaded;
    tsch.loaded = 0;
    if (length > 0)
        send_frame(length, 0, &end);
}

STEP bool take_data(frame_header *header) {
    bool received = link_receive(&tsch.asn, 0, tsch.frame, header);
    if (LINK_STREAMS)
        radio_idle();
    return received;
}

/* `from` is the mote that sends data in this slot; 0: none. */
static void receive(uint8_t from) {
    tune();
    if (TSCH_AHEAD == AHEAD_STREAMS && from != 0) {
        make_ahead(PLACE_DATA, from, MOTE, &tsch.asn);
        make_ahead(PLACE_ACKNOWLEDGEMENT, MOTE, from, &tsch.asn);
    }
    radio_time due = (radio_time)(tsch.start + timing.tx_offset), sfd;
    if (!listen(TSCH_RX_LISTEN, due, timing.guard, &sfd))
        return;
    frame_header header;
    int16_t late = radio_time_after(sfd, due);
    if (!take_data(&header)) {
        tsch_count.refused++;
        return;
    }
    uint8_t mote = mote_of(&header.source);
    if (LEAF && mote == TSCH_ROOT)
        follow_root(late);
    if (header.type != FRAME_DATA)
        return;
    if (mote == 0 || mote_of(&header.destination) != MOTE) {
        tsch_count.refused++;
        return;
    }
    tsch_count.received++;
    if (header.acknowledge) {
        uint8_t psdu = (uint8_t)(header.mic + frame_mic_bytes(header.security.level));
        radio_time end =
            (radio_time)(sfd + air_ticks((uint8_t)(RADIO_HEADER_BYTES + psdu + RADIO_FCS_BYTES)));
        if (load_acknowledgement(mote, header.sequence, late)) {
            wait_for(TSCH_TX_ACK, (radio_time)(end + timing.tx_ack_delay - RADIO_TX_LEAD_TICKS));
            if (radio_transmit(&sfd))
                radio_transmit_end();
            radio_idle();
        }
    }
    tsch_received(mote, tsch.frame + header.open, (uint8_t)(header.mic - header.open));
}

/* Used slots are recorded in blocks of 2^10: 40-bit slot numbers become 30-bit block numbers. */
enum { BLOCK_BITS = 10 };

static uint32_t block_of(const link_asn *asn) {
    return (uint32_t)asn->high << (32 - BLOCK_BITS) | asn->low >> BLOCK_BITS;
}

/* The first block in which nothing may be sent yet. */
static uint32_t floor_block;

/* Flash is written in advance, and seldom. The current slot is lost to it, and more slots if a page
   is erased. */
static void raise_floor(void) {
    floor_block = block_of(&tsch.asn) + TSCH_KEPT_BLOCKS;
    boots_raise_floor(floor_block);
    tsch.loaded = 0;
    while (tsch.joined &&
           radio_time_after(radio_now(), (radio_time)(tsch.start + timing.slot)) >= 0)
        next_slot();
}

/* Whether a beacon's slot is one that this mote has passed, or may have before it restarted. If an
   attacker replayed the root's old frames, this mote would answer under used nonces. */
static bool is_past(const uint8_t number[5]) {
    if (number[4] != tsch.asn.high)
        return number[4] < tsch.asn.high;
    uint32_t low = 0;
    for (uint8_t i = 4; i-- > 0;)
        low = low << 8 | number[i];
    return low < tsch.asn.low;
}

/* Listens for a beacon on one channel, which beacons reach whatever the slotframe's length. */
static void join(void) {
    radio_time sfd;
    radio_idle();
    radio_channel(hopping[0]);
    radio_receive();
    if (!radio_wait_sfd((radio_time)(radio_now() + JOIN_LISTEN_TICKS), &sfd) ||
        (!LINK_STREAMS && !radio_wait_frame((radio_time)(sfd + LONGEST_FRAME_TICKS))))
        return;
    frame_header header;
    frame_element group, element;
    if (!link_receive(0, 0, tsch.frame, &header) || header.type != FRAME_BEACON ||
        mote_of(&header.source) != TSCH_ROOT || !header.has_payload_elements ||
        !frame_payload_element(tsch.frame + header.payload_elements, tsch.frame + header.mic,
                               ELEMENT_MLME, &group) ||
        !frame_nested_element(group.content, group.content + group.length, NESTED_SYNCHRONIZATION,
                              false, &element) ||
        element.length != 6)
        return;
    if (LEAF && TSCH_LEVEL > 0 && is_past(element.content))
        return;
    tsch.asn = (link_asn){0, element.content[4]};
    for (uint8_t i = 4; i-- > 0;)
        tsch.asn.low = tsch.asn.low << 8 | element.content[i];
    tsch.hop = tsch.asn.low & 15;
    tsch.offset = 0; /* the beacon's slot */
    tsch.start = (radio_time)(sfd - timing.tx_offset);
    tsch.silent = 0;
    tsch.correction = 0;
    tsch.joined = true;
    tsch_count.joins++;
}

/* Returns the leaf a slot is for and whether it sends in it; 0 for a slot without a link of
   ours. */
static uint8_t leaf_of(uint16_t offset, bool *leaf_sends) {
    if (offset % SPACING != 0)
        return 0;
    offset /= SPACING;
    uint16_t leaf = (uint16_t)((offset + 3) / 2);
    *leaf_sends = (offset & 1) == 0;
    bool ours = offset > 0 && leaf <= MOTES && (!LEAF || leaf == MOTE);
    return ours ? (uint8_t)leaf : 0;
}

/* Whether this slot prepares the frames of the next one. */
static bool prepares(uint16_t offset) {
    bool leaf_sends;
    uint16_t next = (uint16_t)((offset + 1) % SLOTFRAME);
    return TSCH_AHEAD == AHEAD_FRAMES && offset % SPACING != 0 &&
           (next == 0 || leaf_of(next, &leaf_sends) != 0);
}

static void prepare(void) {
    link_asn next = tsch.asn;
    if (++next.low == 0)
        next.high++;
    uint16_t offset = (uint16_t)((tsch.offset + 1) % SLOTFRAME);
    bool leaf_sends;
    uint8_t leaf = leaf_of(offset, &leaf_sends), other = LEAF ? TSCH_ROOT : leaf;
    bool sends = offset == 0 ? !LEAF : leaf_sends == LEAF;
    if (sends) {
        tsch.sequence++;
        tsch.loaded = offset == 0 ? load_beacon(&next) : load_data(other, &next);
        if (offset != 0)
            make_ahead(PLACE_ACKNOWLEDGEMENT, other, MOTE, &next);
    } else if (offset != 0) {
        make_ahead(PLACE_DATA, other, MOTE, &next);
        make_ahead(PLACE_ACKNOWLEDGEMENT, MOTE, other, &next);
    }
}

static void go_to_next_slot(void) {
    wait_for(TSCH_SLOT_END, (radio_time)(tsch.start + timing.slot + tsch.correction));
    tsch.start = (radio_time)(tsch.start + tsch.correction);
    tsch.correction = 0;
    bool leaf_sends;
    next_slot();
    while (tsch.joined && tsch.offset != 0 && leaf_of(tsch.offset, &leaf_sends) == 0 &&
           !prepares(tsch.offset)) {
        /* radio_time cannot compare times a second or more apart. */
        radio_sleep_until(tsch.start);
        next_slot();
    }
    radio_sleep_until(tsch.start);
}

uint32_t tsch_slot_number(void) {
    return tsch.asn.low & ((1ul << ERA_BITS) - 1);
}

void tsch_slot(void) {
    if (!tsch.joined) {
        join();
    } else if (KEEPS_FLOOR && block_of(&tsch.asn) >= floor_block) {
        raise_floor();
    } else if (prepares(tsch.offset)) {
        prepare();
    } else {
        bool leaf_sends;
        uint8_t leaf = leaf_of(tsch.offset, &leaf_sends);
        if (leaf == 0) {
            if (LEAF)
                receive(0);
            else
                send_beacon();
        } else if (leaf_sends == LEAF) {
            send_data(LEAF ? TSCH_ROOT : leaf);
        } else {
            receive(LEAF ? TSCH_ROOT : leaf);
        }
        tsch_count.slots++;
    }
    if (tsch.joined)
        go_to_next_slot();
}

/* ---- Start ---- */

#if __has_include("security.h")
/* The keys of 6TiSCH's examples: RFC 8180, section 4.4 ("6TiSCH minimal15"), and OpenWSN's. */
static const uint8_t keys[2][SECURITY_KEY_BYTES] = {
    {'6', 'T', 'i', 'S', 'C', 'H', ' ', 'm', 'i', 'n', 'i', 'm', 'a', 'l', '1', '5'},
    {0xde, 0xad, 0xbe, 0xef, 0xfa, 0xce, 0xca, 0xfe, 0xde, 0xad, 0xbe, 0xef, 0xfa, 0xce, 0xca,
     0xfe}};

static void add_key(const uint8_t *key, uint8_t index, uint8_t types, frame_address device) {
    security_key entry = {.key = key,
                          .mode = TSCH_KEY_ID_MODE,
                          .index = index,
                          .source = {'j', 'o', 'u', 'l', 'e', 'm', 'r', 'k'},
                          .device = device,
                          .frame_types = types};
    security_add_key(&entry);
}

/* Keys of mode 0 are looked up by the other side's address, and one key serves all frames. */
static void start_security(void) {
    enum { BEACON = 1 << FRAME_BEACON, OTHERS = 1 << FRAME_DATA | 1 << FRAME_ACK };
    enum { KEYS = TSCH_KEY_ID_MODE == 0 ? MOTES : 2 };
    frame_address own = address_of(MOTE), nobody = {0};
    security_init(own.bytes);
    if (TSCH_TABLES_FULL) {
        security_device stranger = {.pan = TSCH_PAN, .short_address = 0xfffe};
        for (uint8_t i = KEYS; i < SECURITY_KEYS; i++)
            add_key(keys[0], (uint8_t)(0xff - i), BEACON | OTHERS, (frame_address){.pan = i});
        for (uint8_t i = MOTES - 1; i < SECURITY_DEVICES; i++) {
            /* Differs from the real one only in the last byte compared. */
            frame_address address = address_of(MOTES);
            __builtin_memcpy(stranger.extended_address, address.bytes, 8);
            stranger.extended_address[7] = (uint8_t)(0x80 + i);
            security_add_device(&stranger);
        }
    }
    if (TSCH_KEY_ID_MODE == 0) {
        add_key(keys[1], 0, BEACON | OTHERS, nobody);
        for (uint8_t mote = 1; mote <= MOTES; mote++)
            if (mote != MOTE)
                add_key(keys[1], 0, BEACON | OTHERS, address_of(mote));
    } else {
        add_key(keys[0], KEY_INDEX_BEACON, BEACON, nobody);
        add_key(keys[1], KEY_INDEX_DATA, OTHERS, nobody);
    }
    for (uint8_t mote = 1; mote <= MOTES; mote++) {
        frame_address address = address_of(mote);
        security_device device = {.pan = TSCH_PAN, .short_address = mote};
        __builtin_memcpy(device.extended_address, address.bytes, 8);
        if (mote != MOTE)
            security_add_device(&device);
    }
    security_rule beacons = {.frame_type = FRAME_BEACON, .levels = 1u << BEACON_LEVEL};
    security_rule data = {.frame_type = FRAME_DATA, .levels = 1u << TSCH_LEVEL};
    security_rule acknowledgements = {.frame_type = FRAME_ACK, .levels = 1u << TSCH_LEVEL};
    security_add_rule(&beacons);
    security_add_rule(&data);
    security_add_rule(&acknowledgements);
}
#else
static void start_security(void) {
}
#endif

bool tsch_init(void) {
    if (!radio_init())
        return false;
    start_security();
    tsch.joined = !LEAF;
    if (!LEAF)
        begin_era(boots_count());
    if (KEEPS_FLOOR) {
        floor_block = boots_floor();
        tsch.asn =
            (link_asn){floor_block << BLOCK_BITS, (uint8_t)(floor_block >> (32 - BLOCK_BITS))};
    }
    tsch.start = (radio_time)(radio_now() + timing.slot);
    radio_sleep_until(tsch.start);
    return true;
}
