#include "contikimac.h"

/* The report's times (section 3.1), as Contiki has them on a CC2650
   (core/net/mac/contikimac/contikimac.c). */
enum {
    CHECK_ASSESSMENTS = 2,
    SEND_ASSESSMENTS = 6, /* before sending, so that no other sender's gap is taken for silence */
    BETWEEN_ASSESSMENTS = 16, /* ticks, 0.5 ms */
    BETWEEN_FRAMES = 13,      /* ticks, 0.4 ms: an acknowledgement has begun by then */
    /* Ticks that an assessment takes by Contiki's reckoning, which sets how long is sent. */
    ASSESSMENT = 4,
    CHECK = CHECK_ASSESSMENTS * (ASSESSMENT + BETWEEN_ASSESSMENTS),
    STROBE = CONTIKIMAC_PERIOD_TICKS + 2 * CHECK,
    /* After a signal: until a frame has begun, and how many looks in a row may find silence. */
    LOOK = ASSESSMENT + BETWEEN_ASSESSMENTS,
    LOOKS = 10,
    SILENT_LOOKS = 5,
    /* Turnaround, and RSSI over 8 symbols, from within a tick: rounded up by up to two. */
    ASSESS = (8 + 12) * RADIO_SYMBOL_US * 4096l / 125000 + 2,
    LONGEST_FRAME_US =
        (RADIO_SYNC_BYTES + RADIO_HEADER_BYTES + RADIO_PSDU_BYTES_MAX) * RADIO_BYTE_US
};

_Static_assert(RADIO_TICK_HZ % CONTIKIMAC_CHECKS == 0, "a period is a whole number of ticks");
_Static_assert(65536 % CONTIKIMAC_PERIOD_TICKS == 0, "checks stay in phase when the time wraps");

static struct {
    uint16_t pan, address;
    radio_time phase; /* some time at which a check was due */
    uint8_t sequence;
    uint8_t oldest;
    struct {
        uint16_t address;
        uint8_t sequence;
        bool is_known;
    } neighbours[CONTIKIMAC_NEIGHBOURS];
} mac;

static void pause(uint16_t ticks) {
    radio_sleep_until((radio_time)(radio_now() + ticks));
}

bool contikimac_init(uint8_t channel, uint16_t pan, uint16_t address) {
    mac.pan = pan;
    mac.address = address;
    mac.sequence = (uint8_t)(address * 167u);
    if (!radio_init())
        return false;
    radio_filter filter = {.pan = pan, .short_address = address, .acknowledge = true};
    for (uint8_t i = 0; i < sizeof filter.extended_address; i++)
        filter.extended_address[i] = i < 2 ? (uint8_t)(address >> 8 * i) : 0;
    radio_set_filter(&filter);
    radio_channel(channel);
    radio_sleep();
    mac.phase = radio_now();
    return true;
}

radio_time contikimac_next_check(void) {
    radio_time now = radio_now();
    return (radio_time)(now + CONTIKIMAC_PERIOD_TICKS -
                        (radio_time)(now - mac.phase) % CONTIKIMAC_PERIOD_TICKS);
}

/* Assesses the channel. The receiver stays on. */
static bool is_clear(void) {
    radio_receive();
    pause(ASSESS);
    return radio_cca();
}

/* ---- Receiving ---- */

/* Returns whether a frame is another one than the last of its sender, and remembers it. */
static bool is_new(uint16_t from, uint8_t sequence) {
    uint8_t at = 0;
    while (at < CONTIKIMAC_NEIGHBOURS &&
           (!mac.neighbours[at].is_known || mac.neighbours[at].address != from))
        at++;
    if (at < CONTIKIMAC_NEIGHBOURS && mac.neighbours[at].sequence == sequence)
        return false;
    if (at == CONTIKIMAC_NEIGHBOURS) {
        at = mac.oldest;
        mac.oldest = (uint8_t)((mac.oldest + 1) % CONTIKIMAC_NEIGHBOURS);
    }
    mac.neighbours[at].address = from;
    mac.neighbours[at].sequence = sequence;
    mac.neighbours[at].is_known = true;
    return true;
}

static contikimac_found take(contikimac_message *message) {
    uint8_t frame[RADIO_FRAME_BYTES_MAX];
    frame_header header;
    uint8_t length = radio_read(frame, 0);
    if (length == 0 || !frame_parse(frame, length, length, &header) || header.type != FRAME_DATA ||
        header.security.level != 0 || header.source.mode != ADDRESS_SHORT ||
        header.mic - header.open > CONTIKIMAC_PAYLOAD_BYTES_MAX)
        return CONTIKIMAC_ACTIVITY;
    message->from = (uint16_t)(header.source.bytes[0] | header.source.bytes[1] << 8);
    message->to = (uint16_t)(header.destination.bytes[0] | header.destination.bytes[1] << 8);
    message->length = (uint8_t)(header.mic - header.open);
    for (uint8_t i = 0; i < message->length; i++)
        message->payload[i] = frame[header.open + i];
    return is_new(message->from, header.sequence) ? CONTIKIMAC_MESSAGE : CONTIKIMAC_ACTIVITY;
}

/* The channel was not clear: waits for the frame that follows the one whose end it may have been.
   Gives up on silence, which no sender leaves between two frames, and on a signal that lasts longer
   than a frame. */
static contikimac_found await(contikimac_message *message) {
    uint8_t silent = 0;
    for (uint8_t looks = 0; looks < LOOKS && silent <= SILENT_LOOKS; looks++) {
        radio_time until = (radio_time)(radio_now() + LOOK), sfd;
        if (radio_wait_sfd(until, &sfd)) {
            radio_wait_frame((radio_time)(sfd + radio_ticks(LONGEST_FRAME_US)));
            return take(message);
        }
        silent = radio_cca() ? (uint8_t)(silent + 1) : 0;
    }
    return CONTIKIMAC_ACTIVITY;
}

/* Between the assessments the radio is idle, not off: a radio that takes long to start would come
   too late for the second. */
contikimac_found contikimac_check(contikimac_message *message) {
    contikimac_found found = CONTIKIMAC_SILENCE;
    radio_wake();
    for (uint8_t i = 0; i < CHECK_ASSESSMENTS && found == CONTIKIMAC_SILENCE; i++) {
        if (i > 0) {
            radio_idle();
            pause(BETWEEN_ASSESSMENTS);
        }
        if (!is_clear())
            found = await(message);
    }
    radio_sleep(); /* once an acknowledgement has been sent */
    return found;
}

/* ---- Sending ---- */

/* Listens after a frame until an acknowledgement would have begun. Returns CONTIKIMAC_NO_ACK if
   nothing has. */
static contikimac_status listen(void) {
    radio_time until = (radio_time)(radio_now() + BETWEEN_FRAMES), sfd;
    if (!radio_wait_sfd(until, &sfd))
        return radio_cca() ? CONTIKIMAC_NO_ACK : CONTIKIMAC_COLLISION;
    uint8_t frame[RADIO_FRAME_BYTES_MAX];
    frame_header header;
    radio_wait_frame((radio_time)(sfd + radio_ticks(LONGEST_FRAME_US)));
    uint8_t length = radio_read(frame, 0);
    bool is_ours = length != 0 && frame_parse(frame, length, length, &header) &&
                   header.type == FRAME_ACK && header.sequence == mac.sequence;
    return is_ours ? CONTIKIMAC_OK : CONTIKIMAC_COLLISION;
}

static bool is_free(void) {
    for (uint8_t i = 0; i < SEND_ASSESSMENTS; i++) {
        if (!is_clear())
            return false;
        radio_idle();
        pause(BETWEEN_ASSESSMENTS);
    }
    return true;
}

static contikimac_status repeat(bool is_broadcast) {
    if (!is_free())
        return CONTIKIMAC_COLLISION;
    radio_receive();
    radio_time end = (radio_time)(radio_now() + STROBE), sfd;
    while (radio_time_after(end, radio_now()) > 0) {
        if (!radio_transmit(&sfd))
            return CONTIKIMAC_NO_RADIO;
        radio_transmit_end();
        contikimac_status status = CONTIKIMAC_NO_ACK;
        if (is_broadcast)
            pause(BETWEEN_FRAMES);
        else
            status = listen();
        if (status != CONTIKIMAC_NO_ACK)
            return status;
    }
    return is_broadcast ? CONTIKIMAC_OK : CONTIKIMAC_NO_ACK;
}

contikimac_status contikimac_send(uint16_t to, const uint8_t *payload, uint8_t length) {
    uint8_t frame[RADIO_FRAME_BYTES_MAX];
    mac.sequence++;
    frame_header header = {.type = FRAME_DATA,
                           .version = FRAME_VERSION_2006,
                           .acknowledge = to != FRAME_BROADCAST,
                           .pan_compressed = true,
                           .sequence = mac.sequence};
    header.destination = (frame_address){ADDRESS_SHORT, mac.pan, {(uint8_t)to, (uint8_t)(to >> 8)}};
    header.source = (frame_address){
        ADDRESS_SHORT, mac.pan, {(uint8_t)mac.address, (uint8_t)(mac.address >> 8)}};
    uint8_t at = frame_write(frame, &header);
    for (uint8_t i = 0; i < length; i++)
        frame[at + i] = payload[i];
    radio_wake();
    radio_load(frame, (uint8_t)(at + length));
    contikimac_status status = repeat(to == FRAME_BROADCAST);
    radio_sleep();
    return status;
}
