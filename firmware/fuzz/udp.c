/* libFuzzer target for UDP over 6LoWPAN as devices read it: frames, fragments, compressed headers.

   The input is a list of what a radio could bring: any bytes as a frame; a datagram that a peer
   sends, whole; the same with a frame lost, repeated, late or changed. A whole one must come out as
   it was sent, whatever came before it. Anything else that comes out must have a right checksum, a
   length within its room, and must come out the same when it is sent again.

   Frames are heap blocks of the exact size, so that AddressSanitizer sees every access beyond
   them. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../net/udp/udp.c"

enum { PEERS = 3, OWN = 1, FRAMES_MAX = 16 };

typedef struct {
    uint8_t bytes[CSMA_PAYLOAD_BYTES_MAX];
    uint8_t length;
} sent_frame;

static sent_frame sent[FRAMES_MAX];
static unsigned sent_count;

static void require(bool condition) {
    if (!condition)
        abort();
}

/* ---- What udp.c needs of the radio ---- */

bool csma_init(uint8_t channel, uint16_t pan, uint16_t address) {
    (void)channel, (void)pan, (void)address;
    return true;
}

csma_status csma_send(uint16_t to, const uint8_t *payload, uint8_t length) {
    (void)to;
    require(sent_count < FRAMES_MAX && length > 0 && length <= CSMA_PAYLOAD_BYTES_MAX);
    memcpy(sent[sent_count].bytes, payload, length);
    sent[sent_count++].length = length;
    return CSMA_OK;
}

bool csma_receive(radio_time until, csma_message *message) {
    (void)until, (void)message;
    return false;
}

radio_time radio_now(void) {
    return 0;
}

void radio_sleep(void) {
}

void radio_sleep_until(radio_time when) {
    (void)when;
}

void radio_wake(void) {
}

/* ---- Frames in ---- */

static udp_datagram out;

static bool takes(uint16_t from, const uint8_t *bytes, uint8_t length) {
    csma_message *frame = malloc(offsetof(csma_message, payload) + length);
    require(frame != NULL);
    frame->from = from;
    frame->to = OWN;
    frame->length = length;
    memcpy(frame->payload, bytes, length);
    bool is_whole = length > 0 && take(frame);
    free(frame);
    if (is_whole)
        out = partial.datagram;
    return is_whole;
}

/* RFC 768 and RFC 8200, section 8.1, as they are written: over a pseudo-header in memory. */
static bool is_sum_right(const udp_datagram *d, uint16_t checksum) {
    static uint8_t all[48 + UDP_BYTES_MAX + 1];
    size_t length = 8u + d->length, n = 48u + d->length;
    uint64_t sum = 0;
    memset(all, 0, sizeof all);
    const uint16_t addresses[] = {d->from, OWN};
    for (unsigned i = 0; i < 2; i++) {
        uint8_t *at = all + 16 * i;
        at[0] = 0xfe, at[1] = 0x80, at[11] = 0xff, at[12] = 0xfe;
        at[14] = (uint8_t)(addresses[i] >> 8), at[15] = (uint8_t)addresses[i];
    }
    all[34] = (uint8_t)(length >> 8), all[35] = (uint8_t)length;
    all[39] = 17;
    const uint16_t head[] = {d->from_port, d->to_port, (uint16_t)length, checksum};
    for (unsigned i = 0; i < 4; i++)
        all[40 + 2 * i] = (uint8_t)(head[i] >> 8), all[41 + 2 * i] = (uint8_t)head[i];
    memcpy(all + 48, d->bytes, d->length);
    for (size_t i = 0; i < n; i += 2)
        sum += (unsigned)(all[i] << 8 | all[i + 1]);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum == 0xffff;
}

static void send_as(const udp_datagram *d) {
    sent_count = 0;
    own_address = d->from;
    require(udp_send(OWN, d->from_port, d->to_port, d->bytes, d->length) == CSMA_OK);
    own_address = OWN;
}

static bool is_same(const udp_datagram *a, const udp_datagram *b) {
    return a->from == b->from && a->from_port == b->from_port && a->to_port == b->to_port &&
           a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* Sends a datagram and receives its frames: it comes with the last one, as it was. */
static void comes_whole(const udp_datagram *d) {
    send_as(d);
    for (unsigned i = 0; i < sent_count; i++)
        require(takes(d->from, sent[i].bytes, sent[i].length) == (i + 1 == sent_count));
    require(is_same(d, &out));
}

static void check(void) {
    udp_datagram found = out;
    require(found.length <= UDP_BYTES_MAX && is_sum_right(&found, partial.checksum));
    comes_whole(&found);
}

/* ---- The input ---- */

typedef struct {
    const uint8_t *at;
    size_t left;
} reader;

static uint8_t byte_of(reader *in) {
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

static void datagram_of(reader *in, udp_datagram *d) {
    static const uint16_t bases[] = {0, 0xf000, 0xf0b0, 5683};
    *d = (udp_datagram){.from = (uint16_t)(2 + byte_of(in) % PEERS)};
    d->from_port = (uint16_t)(bases[byte_of(in) % 4] + byte_of(in) % 16);
    d->to_port = (uint16_t)(bases[byte_of(in) % 4] + byte_of(in) % 16);
    d->length = (uint16_t)((byte_of(in) << 8 | byte_of(in)) % (UDP_BYTES_MAX + 1));
    uint8_t step = byte_of(in);
    for (unsigned i = 0; i < d->length; i++)
        d->bytes[i] = (uint8_t)(i * step + i / 7);
}

/* A datagram whose frame `which` something happens to. */
static void disturbed(reader *in) {
    udp_datagram d;
    datagram_of(in, &d);
    send_as(&d);
    sent_frame frames[FRAMES_MAX];
    unsigned count = sent_count, which = byte_of(in) % count, how = byte_of(in) % 6;
    memcpy(frames, sent, sizeof frames);
    sent_frame *one = &frames[which];
    bool is_changed = how == 0 || how == 5;
    if (how == 0) {
        uint8_t flip = byte_of(in);
        one->bytes[byte_of(in) % one->length] ^= flip;
    }
    if (how == 5) /* longer */
        while (one->length < CSMA_PAYLOAD_BYTES_MAX)
            one->bytes[one->length++] = byte_of(in);
    for (unsigned i = 0; i < count; i++) {
        unsigned number = i;
        if (how == 1 && i == which)
            continue;                      /* lost */
        if (how == 2 && which + 1 < count) /* late */
            number = i == which ? which + 1 : i == which + 1 ? which : i;
        bool again = how == 3 && i == which;
        if (how == 4 && i == which) /* another peer's in between */
            takes((uint16_t)(d.from % PEERS + 2), one->bytes, one->length);
        for (unsigned n = 0; n < 1u + again; n++)
            if (takes(d.from, frames[number].bytes, frames[number].length)) {
                require(is_changed || is_same(&d, &out));
                check();
            }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    reader in = {data, size};
    memset(&partial, 0, sizeof partial);
    own_address = OWN;
    last_tag = 0;
    while (in.left > 0) {
        uint8_t what = byte_of(&in);
        udp_datagram d;
        if (what % 4 == 0) {
            datagram_of(&in, &d);
            comes_whole(&d);
        } else if (what % 4 == 1) {
            disturbed(&in);
        } else {
            uint16_t from = (uint16_t)(2 + what / 4 % PEERS);
            size_t length = byte_of(&in) % (CSMA_PAYLOAD_BYTES_MAX + 1u);
            if (length > in.left)
                length = in.left;
            if (takes(from, in.at, (uint8_t)length))
                check();
            in.at += length;
            in.left -= length;
        }
    }
    return 0;
}
