#include "udp.h"

enum {
    FIRST = 0xc0, /* 11000xxx, size, tag (RFC 4944, section 5.3) */
    NEXT = 0xe0,  /* 11100xxx, size, tag, offset in units of 8 bytes */
    KIND = 0xf8,
    FIRST_BYTES = 4,
    NEXT_BYTES = 5,
    UNIT = 8,
    /* 011, no traffic class, compressed next header, hop limit 64; both addresses link-local and
       made of the frame's (RFC 6282, section 3.1.1). */
    IPHC = 0x7e,
    IPHC_ADDRESSES = 0x33,
    NHC_UDP = 0xf0, /* 11110, checksum carried, ports (section 4.3.3) */
    NHC_MASK = 0xfc,
    PORT_8 = 0xf000,  /* ports of which a byte is sent */
    PORT_4 = 0xf0b0,  /* ports of which half a byte is sent */
    HEADERS = 48,     /* IPv6 and UDP, uncompressed: what sizes and offsets count */
    HEAD_MOST = 9,    /* compressed headers: 2, 1, ports 4, checksum 2 */
    NEXT_HEADER = 17, /* UDP */
    BITE_MS = 500
};

static uint16_t own_address, last_tag;

static struct {
    uint16_t have, tag; /* bytes of the datagram as it was before compression; 0: none */
    uint16_t size;
    udp_datagram datagram;
    uint16_t checksum;
} partial;

static void copy(uint8_t *out, const uint8_t *in, uint16_t length) {
    for (uint16_t i = 0; i < length; i++)
        out[i] = in[i];
}

static uint16_t word_at(const uint8_t *at) {
    return (uint16_t)(at[0] << 8 | at[1]);
}

static void put_word(uint8_t *at, uint16_t word) {
    at[0] = (uint8_t)(word >> 8);
    at[1] = (uint8_t)word;
}

/* The one's complement sum over the pseudo-header (RFC 8200, section 8.1), ports, length and data.
   Addresses are fe80::ff:fe00:SHORT. */
static uint16_t sum_of(uint16_t from, uint16_t to, uint16_t from_port, uint16_t to_port,
                       const uint8_t *bytes, uint16_t length) {
    uint16_t udp_length = (uint16_t)(length + 8);
    uint32_t sum = 2ul * (0xfe80ul + 0x00ff + 0xfe00) + from + to + NEXT_HEADER + 2ul * udp_length;
    sum += (uint32_t)from_port + to_port;
    for (uint16_t i = 0; i < length; i++)
        sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)sum;
}

bool udp_init(uint16_t address) {
    own_address = address;
    return csma_init(UDP_CHANNEL, UDP_PAN, address);
}

static uint8_t write_ports(uint8_t *at, uint16_t from, uint16_t to) {
    bool is_from_short = (from & 0xff00) == PORT_8, is_to_short = (to & 0xff00) == PORT_8;
    if ((from & 0xfff0) == PORT_4 && (to & 0xfff0) == PORT_4) {
        at[0] = NHC_UDP | 3;
        at[1] = (uint8_t)((from & 15) << 4 | (to & 15));
        return 2;
    }
    at[0] = NHC_UDP | (is_from_short ? 2 : is_to_short ? 1 : 0);
    uint8_t n = 1;
    if (!is_from_short)
        at[n++] = (uint8_t)(from >> 8);
    at[n++] = (uint8_t)from;
    if (is_from_short || !is_to_short)
        at[n++] = (uint8_t)(to >> 8);
    at[n++] = (uint8_t)to;
    return n;
}

csma_status udp_send(uint16_t to, uint16_t from_port, uint16_t to_port, const uint8_t *bytes,
                     uint16_t length) {
    uint8_t frame[CSMA_PAYLOAD_BYTES_MAX], head[HEAD_MOST] = {IPHC, IPHC_ADDRESSES};
    uint8_t n = (uint8_t)(2 + write_ports(head + 2, from_port, to_port));
    uint16_t checksum = (uint16_t)~sum_of(own_address, to, from_port, to_port, bytes, length);
    put_word(head + n, checksum == 0 ? 0xffff : checksum);
    n += 2;
    if (n + length <= CSMA_PAYLOAD_BYTES_MAX) {
        copy(frame, head, n);
        copy(frame + n, bytes, length);
        return csma_send(to, frame, (uint8_t)(n + length));
    }
    csma_status status = CSMA_OK;
    uint16_t size = (uint16_t)(HEADERS + length);
    last_tag++;
    for (uint16_t at = 0; at < length && status == CSMA_OK;) {
        uint8_t before = at == 0 ? (uint8_t)(FIRST_BYTES + n) : NEXT_BYTES;
        uint16_t some = (CSMA_PAYLOAD_BYTES_MAX - before) / UNIT * UNIT;
        if (some > length - at)
            some = length - at;
        put_word(frame, size);
        frame[0] |= at == 0 ? FIRST : NEXT;
        put_word(frame + 2, last_tag);
        if (at == 0)
            copy(frame + FIRST_BYTES, head, n);
        else
            frame[FIRST_BYTES] = (uint8_t)((HEADERS + at) / UNIT);
        copy(frame + before, bytes + at, some);
        status = csma_send(to, frame, (uint8_t)(before + some));
        at = (uint16_t)(at + some);
    }
    return status;
}

/* Reads compressed headers into the partial datagram; returns their length, or 0. */
static uint8_t read_head(const uint8_t *at, uint16_t left) {
    if (left < 3 || at[0] != IPHC || at[1] != IPHC_ADDRESSES || (at[2] & NHC_MASK) != NHC_UDP)
        return 0;
    uint8_t form = at[2] & 3, ports = form == 3 ? 1 : form == 0 ? 4 : 3;
    if (left < 3 + ports + 2)
        return 0;
    udp_datagram *datagram = &partial.datagram;
    at += 3;
    if (form == 3) {
        datagram->from_port = PORT_4 | at[0] >> 4;
        datagram->to_port = PORT_4 | (at[0] & 15);
    } else if (form == 2) {
        datagram->from_port = PORT_8 | at[0];
        datagram->to_port = word_at(at + 1);
    } else {
        datagram->from_port = word_at(at);
        datagram->to_port = form == 1 ? PORT_8 | at[2] : word_at(at + 2);
    }
    partial.checksum = word_at(at + ports);
    return 3 + ports + 2;
}

/* Takes a frame. Returns true if it completes a datagram. */
static bool take(const csma_message *frame) {
    const uint8_t *at = frame->payload;
    uint16_t left = frame->length, size = 0, tag = 0;
    udp_datagram *datagram = &partial.datagram;
    uint8_t kind = at[0] & KIND;
    bool is_first = kind != NEXT;
    if (kind == FIRST || kind == NEXT) {
        uint8_t head = kind == FIRST ? FIRST_BYTES : NEXT_BYTES;
        if (left <= head)
            return false;
        size = (uint16_t)(word_at(at) & ~(KIND << 8));
        tag = word_at(at + 2);
        at += head;
        left = (uint16_t)(left - head);
    }
    if (is_first) {
        partial.have = 0;
        uint8_t head = read_head(at, left);
        if (head == 0)
            return false;
        at += head;
        left = (uint16_t)(left - head);
        partial.size = kind == FIRST ? size : (uint16_t)(HEADERS + left);
        partial.tag = tag;
        datagram->from = frame->from;
        if (partial.size < HEADERS || partial.size - HEADERS > UDP_BYTES_MAX)
            return false;
        partial.have = HEADERS;
    } else if (partial.have == 0 || datagram->from != frame->from || partial.tag != tag ||
               partial.size != size || partial.have != frame->payload[FIRST_BYTES] * UNIT) {
        partial.have = 0;
        return false;
    }
    if (left > partial.size - partial.have) {
        partial.have = 0;
        return false;
    }
    copy(datagram->bytes + (partial.have - HEADERS), at, left);
    partial.have = (uint16_t)(partial.have + left);
    if (partial.have != partial.size)
        return false;
    partial.have = 0;
    datagram->length = partial.size - HEADERS;
    uint32_t sum = sum_of(datagram->from, frame->to, datagram->from_port, datagram->to_port,
                          datagram->bytes, datagram->length);
    sum += partial.checksum;
    return (uint16_t)((sum & 0xffff) + (sum >> 16)) == 0xffff;
}

bool udp_receive(radio_time until, udp_datagram *datagram) {
    csma_message frame;
    while (csma_receive(until, &frame)) {
        if (frame.length == 0 || !take(&frame))
            continue;
        const udp_datagram *whole = &partial.datagram;
        datagram->from = whole->from;
        datagram->from_port = whole->from_port;
        datagram->to_port = whole->to_port;
        datagram->length = whole->length;
        copy(datagram->bytes, whole->bytes, whole->length);
        return true;
    }
    return false;
}

udp_timer udp_timer_of(uint32_t ms) {
    return (udp_timer){radio_now(), (ms * 4096ul + 62) / 125};
}

static void pass(udp_timer *timer) {
    radio_time now = radio_now();
    uint16_t passed = (uint16_t)(now - timer->last);
    timer->last = now;
    timer->left -= passed < timer->left ? passed : timer->left;
}

bool udp_hear(udp_timer *timer, udp_datagram *datagram) {
    uint16_t bite = radio_ticks(BITE_MS * 1000ul / 4);
    for (pass(timer); timer->left > 0; pass(timer)) {
        uint16_t some = timer->left < bite ? (uint16_t)timer->left : bite;
        if (udp_receive((radio_time)(timer->last + some), datagram))
            return true;
    }
    return false;
}

void udp_rest(uint32_t ms) {
    udp_timer timer = udp_timer_of(ms);
    radio_sleep();
    for (pass(&timer); timer.left > 0; pass(&timer)) {
        uint16_t bite = radio_ticks(BITE_MS * 1000ul / 4);
        radio_sleep_until(
            (radio_time)(timer.last + (timer.left < bite ? (uint16_t)timer.left : bite)));
    }
    radio_wake();
}
