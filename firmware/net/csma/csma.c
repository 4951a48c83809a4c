#include "csma.h"

/* IEEE Std 802.15.4-2006, tables 85 and 86, with 16 us a symbol. */
enum {
    MIN_BE = 3,
    MAX_BE = 5,
    MAX_BACKOFFS = 4,
    MAX_RETRIES = 3,
    UNIT_BACKOFF_US = 320, /* aUnitBackoffPeriod: 20 symbols */
    ACK_WAIT_US = 864,     /* macAckWaitDuration: 54 symbols, to the end of the acknowledgement */
    CCA_US = 128 + 192,    /* RSSI over 8 symbols, after the receiver's turnaround */
    LONGEST_FRAME_US = (RADIO_PSDU_BYTES_MAX + 6) * RADIO_BYTE_US
};

static struct {
    uint16_t pan, address, last_from;
    uint16_t chance;
    uint8_t sequence, last_sequence;
    bool any_last;
} csma;

/* Marsaglia, Xorshift RNGs (2003), with the triple (7, 9, 8) of 16 bits. */
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

static bool acknowledged(void) {
    radio_time until = (radio_time)(radio_now() + radio_ticks(ACK_WAIT_US)), sfd;
    uint8_t frame[FRAME_BYTES];
    if (!radio_wait_sfd(until, &sfd) || !radio_wait_frame(until))
        return false;
    uint8_t length = radio_read(frame, 0);
    frame_header header;
    return length > 0 && frame_parse(frame, length, length, &header) && header.type == FRAME_ACK &&
           header.sequence == csma.sequence;
}

/* Section 7.5.1.4, steps 1 to 5. */
static bool transmit(void) {
    uint8_t exponent = MIN_BE;
    for (uint8_t backoffs = 0; backoffs <= MAX_BACKOFFS; backoffs++) {
        for (uint16_t left = chance((uint16_t)((1u << exponent) - 1)); left > 0; left--)
            pause(UNIT_BACKOFF_US);
        radio_receive();
        pause(CCA_US);
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
    uint8_t frame[FRAME_BYTES];
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

/* The receiver stays on; a frame whose acknowledgement was lost comes again. */
bool csma_receive(radio_time until, csma_message *message) {
    uint8_t frame[FRAME_BYTES];
    radio_time sfd;
    radio_receive();
    while (radio_wait_sfd(until, &sfd)) {
        frame_header header;
        if (!radio_wait_frame((radio_time)(sfd + radio_ticks(LONGEST_FRAME_US))))
            continue;
        uint8_t length = radio_read(frame, 0);
        if (length == 0 || !frame_parse(frame, length, length, &header) ||
            header.type != FRAME_DATA || header.security.level != 0 ||
            header.source.mode != ADDRESS_SHORT)
            continue;
        message->from = (uint16_t)(header.source.bytes[0] | header.source.bytes[1] << 8);
        message->to = (uint16_t)(header.destination.bytes[0] | header.destination.bytes[1] << 8);
        bool again = csma.any_last && csma.last_from == message->from &&
                     csma.last_sequence == header.sequence;
        csma.any_last = true;
        csma.last_from = message->from;
        csma.last_sequence = header.sequence;
        if (again || header.mic - header.open > CSMA_PAYLOAD_BYTES_MAX)
            continue;
        message->length = (uint8_t)(header.mic - header.open);
        for (uint8_t i = 0; i < message->length; i++)
            message->payload[i] = frame[header.open + i];
        return true;
    }
    return false;
}
