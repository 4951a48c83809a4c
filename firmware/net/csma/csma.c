#include "csma.h"

/* IEEE Std 802.15.4-2006, tables 85 and 86. */
enum {
    MIN_BE = 3,
    MAX_BE = 5,
    MAX_BACKOFFS = 4,
    MAX_RETRIES = 3,
    OVERHEAD_BYTES = RADIO_SYNC_BYTES + RADIO_HEADER_BYTES,
    UNIT_BACKOFF_US = 20 * RADIO_SYMBOL_US, /* aUnitBackoffPeriod */
    TURNAROUND_US = 12 * RADIO_SYMBOL_US,   /* aTurnaroundTime */
    /* macAckWaitDuration: to the end of an acknowledgement of five bytes. */
    ACK_WAIT_US = UNIT_BACKOFF_US + TURNAROUND_US + (OVERHEAD_BYTES + 5) * RADIO_BYTE_US,
    CCA_US = 8 * RADIO_SYMBOL_US + TURNAROUND_US, /* RSSI over 8 symbols, of a ready receiver */
    LONGEST_FRAME_US = (OVERHEAD_BYTES + RADIO_PSDU_BYTES_MAX) * RADIO_BYTE_US
};

static struct {
    uint16_t pan, address, last_from;
    uint16_t chance;
    uint8_t sequence, last_sequence;
    bool any_last;
    uint8_t first, waiting;
    csma_message inbox[CSMA_INBOX];
} csma;

/* Marsaglia, Xorshift RNGs (2003), 16 bits, with the triple (7, 9, 8). */
static uint16_t chance(uint16_t mask) {
    csma.chance ^= (uint16_t)(csma.chance << 7);
    csma.chance ^= csma.chance >> 9;
    csma.chance ^= (uint16_t)(csma.chance << 8);
    return csma.chance & mask;
}

static void pause(uint16_t us) {
    radio_sleep_until((radio_time)(radio_now() + radio_ticks(us)));
}

bool csma_init(uint8_t channel, uint16_t pan, uint16_t address) {
    csma.pan = pan;
    csma.address = address;
    csma.chance = (uint16_t)(address * 40503u | 1u);
    if (!radio_init())
        return false;
    radio_filter filter = {.pan = pan, .short_address = address, .acknowledge = true};
    for (uint8_t i = 0; i < sizeof filter.extended_address; i++)
        filter.extended_address[i] = i < 2 ? (uint8_t)(address >> 8 * i) : 0;
    radio_set_filter(&filter);
    radio_channel(channel);
    radio_receive();
    return true;
}

/* Puts a data frame into the inbox. A repeated frame, whose acknowledgement was lost, is
   dropped. */
static void keep(const frame_header *header, const uint8_t *frame) {
    if (header->type != FRAME_DATA || header->security.level != 0 ||
        header->source.mode != ADDRESS_SHORT || header->mic - header->open > CSMA_PAYLOAD_BYTES_MAX)
        return;
    uint16_t from = (uint16_t)(header->source.bytes[0] | header->source.bytes[1] << 8);
    bool again = csma.any_last && csma.last_from == from && csma.last_sequence == header->sequence;
    csma.any_last = true;
    csma.last_from = from;
    csma.last_sequence = header->sequence;
    if (again)
        return;
    csma_message *message = &csma.inbox[(csma.first + csma.waiting++) % CSMA_INBOX];
    message->from = from;
    message->to = (uint16_t)(header->destination.bytes[0] | header->destination.bytes[1] << 8);
    message->length = (uint8_t)(header->mic - header->open);
    for (uint8_t i = 0; i < message->length; i++)
        message->payload[i] = frame[header->open + i];
}

/* Takes frames from the radio as long as the inbox has room. Returns true if the acknowledgement of
   the last frame sent was among them. */
static bool collect(void) {
    uint8_t frame[RADIO_FRAME_BYTES_MAX];
    bool is_acknowledged = false;
    while (csma.waiting < CSMA_INBOX && radio_peek(frame, 0) > 0) {
        frame_header header;
        uint8_t length = radio_read(frame, 0);
        if (length == 0 || !frame_parse(frame, length, length, &header))
            continue;
        if (header.type == FRAME_ACK)
            is_acknowledged = header.sequence == csma.sequence;
        else
            keep(&header, frame);
    }
    return is_acknowledged;
}

static bool acknowledged(void) {
    radio_time until = (radio_time)(radio_now() + radio_ticks(ACK_WAIT_US)), sfd;
    while (radio_wait_sfd(until, &sfd)) {
        radio_wait_frame(until);
        if (collect())
            return true;
    }
    return false;
}

/* Section 7.5.1.4, steps 1 to 5. Sending empties the radio's receive FIFO. */
static bool transmit(void) {
    uint8_t exponent = MIN_BE;
    for (uint8_t backoffs = 0; backoffs <= MAX_BACKOFFS; backoffs++) {
        for (uint16_t left = chance((uint16_t)((1u << exponent) - 1)); left > 0; left--)
            pause(UNIT_BACKOFF_US);
        radio_listen();
        pause(CCA_US);
        collect();
        radio_time sfd;
        if (radio_transmit_if_clear(&sfd)) {
            radio_transmit_end();
            return true;
        }
        if (exponent < MAX_BE)
            exponent++;
    }
    return false;
}

csma_status csma_send(uint16_t to, const uint8_t *payload, uint8_t length) {
    uint8_t frame[RADIO_FRAME_BYTES_MAX];
    csma.sequence++;
    frame_header header = {.type = FRAME_DATA,
                           .version = FRAME_VERSION_2006,
                           .acknowledge = to != FRAME_BROADCAST,
                           .pan_compressed = true,
                           .sequence = csma.sequence};
    header.destination =
        (frame_address){ADDRESS_SHORT, csma.pan, {(uint8_t)to, (uint8_t)(to >> 8)}};
    header.source = (frame_address){
        ADDRESS_SHORT, csma.pan, {(uint8_t)csma.address, (uint8_t)(csma.address >> 8)}};
    uint8_t at = frame_write(frame, &header);
    for (uint8_t i = 0; i < length; i++)
        frame[at + i] = payload[i];
    radio_load(frame, (uint8_t)(at + length));
    for (uint8_t tries = 0; tries <= MAX_RETRIES; tries++) {
        if (!transmit())
            return CSMA_BUSY;
        if (!header.acknowledge || acknowledged())
            return CSMA_OK;
    }
    return CSMA_NO_ACK;
}

/* The receiver stays on, so the radio holds frames that arrive while the program is busy. */
bool csma_receive(radio_time until, csma_message *message) {
    radio_time sfd;
    bool is_over = false;
    for (;;) {
        collect();
        if (csma.waiting > 0) {
            *message = csma.inbox[csma.first];
            csma.first = (uint8_t)((csma.first + 1) % CSMA_INBOX);
            csma.waiting--;
            return true;
        }
        if (is_over)
            return false;
        radio_listen();
        is_over = !radio_wait_sfd(until, &sfd);
        if (!is_over)
            radio_wait_frame((radio_time)(sfd + radio_ticks(LONGEST_FRAME_US)));
    }
}
