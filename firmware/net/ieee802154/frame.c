#include "frame.h"

/* Section 7.2.1, frame control. */
enum {
    SECURITY_ENABLED = 0x0008,
    FRAME_PENDING = 0x0010,
    ACK_REQUEST = 0x0020,
    PAN_COMPRESSION = 0x0040,
    NO_SEQUENCE = 0x0100,
    ELEMENTS = 0x0200,
    DESTINATION_SHIFT = 10,
    VERSION_SHIFT = 12,
    SOURCE_SHIFT = 14
};

/* Section 9.4.1, security control. */
enum { KEY_ID_MODE_SHIFT = 3, COUNTER_SUPPRESSED = 0x20, ASN_IN_NONCE = 0x40, RESERVED = 0x80 };

uint8_t frame_mic_bytes(uint8_t level) {
    uint8_t size = level & 3;
    return size == 0 ? 0 : (uint8_t)(2u << size);
}

bool frame_encrypts(uint8_t level) {
    return (level & 4) != 0;
}

uint8_t frame_address_bytes(uint8_t mode) {
    return mode == ADDRESS_EXTENDED ? ADDRESS_EXTENDED_BYTES
           : mode == ADDRESS_SHORT  ? ADDRESS_SHORT_BYTES
                                    : 0;
}

bool frame_same_address(const frame_address *a, const frame_address *b) {
    if (a->mode != b->mode)
        return false;
    for (uint8_t i = frame_address_bytes(a->mode); i-- > 0;)
        if (a->bytes[i] != b->bytes[i])
            return false;
    return true;
}

static uint8_t key_source_bytes(uint8_t key_id_mode) {
    return key_id_mode < 2 ? 0 : key_id_mode == 2 ? 4 : 8;
}

uint8_t frame_security_bytes(const frame_security *security) {
    if (security->level == 0)
        return 0;
    uint8_t counter = security->counter_suppressed ? 0 : 4;
    uint8_t index = security->key_id_mode != 0;
    return (uint8_t)(1 + counter + key_source_bytes(security->key_id_mode) + index);
}

/* Which PAN IDs are sent: table 7-2 of 2015, and section 7.2.1.5 of 2006 for earlier versions. */
static void pans_sent(const frame_header *header, bool *destination, bool *source) {
    bool to = header->destination.mode != ADDRESS_NONE, from = header->source.mode != ADDRESS_NONE;
    bool compressed = header->pan_compressed;
    if (header->version != FRAME_VERSION_2015) {
        *destination = to;
        *source = from && !(to && compressed);
    } else if (to && from) {
        bool both_extended =
            header->destination.mode == ADDRESS_EXTENDED && header->source.mode == ADDRESS_EXTENDED;
        *destination = !(both_extended && compressed);
        *source = !both_extended && !compressed;
    } else {
        *destination = from ? false : to != compressed;
        *source = from && !compressed;
    }
}

static uint8_t *put_number(uint8_t *at, uint32_t number, uint8_t bytes) {
    for (; bytes > 0; bytes--) {
        *at++ = (uint8_t)number;
        number >>= 8;
    }
    return at;
}

static uint8_t *put_bytes(uint8_t *at, const uint8_t *from, uint8_t count) {
    for (; count > 0; count--)
        *at++ = *from++;
    return at;
}

static uint8_t *put_address(uint8_t *at, const frame_address *address, bool pan) {
    if (pan)
        at = put_number(at, address->pan, 2);
    return put_bytes(at, address->bytes, frame_address_bytes(address->mode));
}

uint8_t frame_write(uint8_t *frame, const frame_header *header) {
    const frame_security *security = &header->security;
    uint16_t control =
        (uint16_t)(header->type | (security->level > 0 ? SECURITY_ENABLED : 0) |
                   (header->pending ? FRAME_PENDING : 0) | (header->acknowledge ? ACK_REQUEST : 0) |
                   (header->pan_compressed ? PAN_COMPRESSION : 0) |
                   (header->no_sequence ? NO_SEQUENCE : 0) | (header->elements ? ELEMENTS : 0) |
                   header->destination.mode << DESTINATION_SHIFT |
                   header->version << VERSION_SHIFT | header->source.mode << SOURCE_SHIFT);
    bool destination_pan, source_pan;
    pans_sent(header, &destination_pan, &source_pan);
    uint8_t *at = put_number(frame, control, 2);
    if (!header->no_sequence)
        *at++ = header->sequence;
    at = put_address(at, &header->destination, destination_pan);
    at = put_address(at, &header->source, source_pan);
    if (security->level > 0) {
        *at++ = (uint8_t)(security->level | security->key_id_mode << KEY_ID_MODE_SHIFT |
                          (security->counter_suppressed ? COUNTER_SUPPRESSED : 0) |
                          (security->asn_in_nonce ? ASN_IN_NONCE : 0));
        if (!security->counter_suppressed)
            at = put_number(at, security->counter, 4);
        at = put_bytes(at, security->key_source, key_source_bytes(security->key_id_mode));
        if (security->key_id_mode != 0)
            *at++ = security->key_index;
    }
    return (uint8_t)(at - frame);
}

/* A position in the readable part of a frame. */
typedef struct {
    const uint8_t *at;
    const uint8_t *end;
    bool short_of; /* more was requested than is left */
} reader;

static uint16_t left(const reader *r) {
    return (uint16_t)(r->end - r->at);
}

static uint32_t take_number(reader *r, uint8_t bytes) {
    uint32_t number = 0;
    if (left(r) < bytes) {
        r->short_of = true;
        return 0;
    }
    for (uint8_t i = bytes; i-- > 0;)
        number = number << 8 | r->at[i];
    r->at += bytes;
    return number;
}

static void take_bytes(reader *r, uint8_t *to, uint8_t count) {
    if (left(r) < count) {
        r->short_of = true;
        return;
    }
    for (; count > 0; count--)
        *to++ = *r->at++;
}

static void take_address(reader *r, frame_address *address, bool pan) {
    if (pan)
        address->pan = (uint16_t)take_number(r, 2);
    take_bytes(r, address->bytes, frame_address_bytes(address->mode));
}

static bool take_security(reader *r, frame_security *security) {
    uint8_t control = (uint8_t)take_number(r, 1);
    security->level = control & 7;
    security->key_id_mode = control >> KEY_ID_MODE_SHIFT & 3;
    security->counter_suppressed = (control & COUNTER_SUPPRESSED) != 0;
    security->asn_in_nonce = (control & ASN_IN_NONCE) != 0;
    if (!security->counter_suppressed)
        security->counter = take_number(r, 4);
    take_bytes(r, security->key_source, key_source_bytes(security->key_id_mode));
    if (security->key_id_mode != 0)
        security->key_index = (uint8_t)take_number(r, 1);
    return !r->short_of && (control & RESERVED) == 0;
}

/* Section 7.4.2. The descriptor of a header element: 7 bits of length, 8 of ID, type 0. */
static bool take_header_element(reader *r, frame_element *element) {
    uint16_t descriptor = (uint16_t)take_number(r, 2);
    element->length = descriptor & 0x7f;
    element->id = (uint8_t)(descriptor >> 7);
    element->content = r->at;
    if (r->short_of || (descriptor & 0x8000) != 0 || left(r) < element->length)
        return false;
    r->at += element->length;
    return true;
}

/* Finds the end of the header elements. Without a termination element they extend to the end of the
   frame, which may be beyond the bytes read so far. */
static bool skip_header_elements(reader *r, const uint8_t *mic, frame_header *header) {
    while (r->at < r->end) {
        frame_element element;
        if (!take_header_element(r, &element))
            return false;
        if (element.id == ELEMENT_TERMINATION_1 || element.id == ELEMENT_TERMINATION_2) {
            header->has_payload_elements = element.id == ELEMENT_TERMINATION_1;
            return element.length == 0;
        }
    }
    return r->at == mic;
}

/* Skips the part of the payload that stays unencrypted (section 9.3.3.2; for versions before 2015
   also section 7.6.3.4.1 of 2006): the command's identifier; of a beacon, everything but its
   payload. */
static bool skip_open_payload(reader *r, const frame_header *header) {
    if (header->version == FRAME_VERSION_2015)
        return true;
    if (header->type == FRAME_COMMAND) {
        take_number(r, 1);
    } else if (header->type == FRAME_BEACON) {
        take_number(r, 2);
        uint8_t slots = take_number(r, 1) & 7;
        uint8_t gts_bytes = slots > 0 ? (uint8_t)(1 + 3 * slots) : 0;
        for (; gts_bytes > 0; gts_bytes--)
            take_number(r, 1);
        uint8_t pending = (uint8_t)take_number(r, 1);
        uint8_t addresses = (uint8_t)(2 * (pending & 7) + 8 * (pending >> 4 & 7));
        for (; addresses > 0; addresses--)
            take_number(r, 1);
    }
    return !r->short_of;
}

bool frame_parse(const uint8_t *frame, uint8_t there, uint8_t length, frame_header *header) {
    reader r = {frame, frame + (there < length ? there : length), false};
    *header = (frame_header){0};
    uint16_t control = (uint16_t)take_number(&r, 2);
    header->type = control & 7;
    header->version = control >> VERSION_SHIFT & 3;
    header->destination.mode = control >> DESTINATION_SHIFT & 3;
    header->source.mode = control >> SOURCE_SHIFT & 3;
    header->pending = (control & FRAME_PENDING) != 0;
    header->acknowledge = (control & ACK_REQUEST) != 0;
    header->pan_compressed = (control & PAN_COMPRESSION) != 0;
    if (r.short_of || length > RADIO_FRAME_BYTES_MAX || header->type > FRAME_COMMAND ||
        header->version > FRAME_VERSION_2015 || header->destination.mode == 1 ||
        header->source.mode == 1)
        return false;
    if (header->version == FRAME_VERSION_2015) {
        header->no_sequence = (control & NO_SEQUENCE) != 0;
        header->elements = (control & ELEMENTS) != 0;
    }
    if (!header->no_sequence)
        header->sequence = (uint8_t)take_number(&r, 1);
    bool destination_pan, source_pan;
    pans_sent(header, &destination_pan, &source_pan);
    take_address(&r, &header->destination, destination_pan);
    if (!source_pan)
        header->source.pan = header->destination.pan;
    take_address(&r, &header->source, source_pan);
    if ((control & SECURITY_ENABLED) != 0) {
        /* Section 9.2.3: a secured frame of level 0, or of version 2003, is unsupported. */
        if (!take_security(&r, &header->security) || header->security.level == 0 ||
            header->version == FRAME_VERSION_2003)
            return false;
    }
    uint8_t mic_bytes = frame_mic_bytes(header->security.level);
    if (r.short_of || (uint8_t)(r.at - frame) + mic_bytes > length)
        return false;
    header->mic = (uint8_t)(length - mic_bytes);
    /* The MIC is never parsed as anything else. */
    if (r.end > frame + header->mic)
        r.end = frame + header->mic;
    header->header_elements = (uint8_t)(r.at - frame);
    if (header->elements && !skip_header_elements(&r, frame + header->mic, header))
        return false;
    header->payload_elements = (uint8_t)(r.at - frame);
    if (!skip_open_payload(&r, header))
        return false;
    header->open = (uint8_t)(r.at - frame);
    return true;
}

uint8_t *frame_put_header_element(uint8_t *at, uint8_t id, uint8_t length) {
    return put_number(at, (uint16_t)(length | id << 7), 2);
}

/* Section 7.4.3: 11 bits of length, 4 of group ID, type 1. */
uint8_t *frame_put_payload_element(uint8_t *at, uint8_t group, uint16_t length) {
    return put_number(at, (uint16_t)(0x8000u | (unsigned)group << 11 | length), 2);
}

/* Section 7.4.4.1: short elements have 8 bits of length and 7 of ID; long ones 11 and 4. */
uint8_t *frame_put_nested_element(uint8_t *at, uint8_t id, uint8_t length) {
    return put_number(at, (uint16_t)(length | id << 8), 2);
}

uint8_t *frame_put_long_nested_element(uint8_t *at, uint8_t id, uint16_t length) {
    return put_number(at, (uint16_t)(0x8000u | (unsigned)id << 11 | length), 2);
}

bool frame_header_element(const uint8_t *from, const uint8_t *end, uint8_t id, frame_element *out) {
    reader r = {from, end, false};
    while (take_header_element(&r, out)) {
        if (out->id == id)
            return true;
        if (out->id == ELEMENT_TERMINATION_1 || out->id == ELEMENT_TERMINATION_2)
            return false;
    }
    return false;
}

/* Takes an element with a long descriptor; the other type is an error. */
static bool take_long(reader *r, frame_element *element) {
    uint16_t descriptor = (uint16_t)take_number(r, 2);
    element->length = descriptor & 0x7ff;
    element->id = descriptor >> 11 & 0xf;
    element->content = r->at;
    if (r->short_of || (descriptor & 0x8000) == 0 || left(r) < element->length)
        return false;
    r->at += element->length;
    return true;
}

bool frame_payload_element(const uint8_t *from, const uint8_t *end, uint8_t group,
                           frame_element *out) {
    reader r = {from, end, false};
    while (take_long(&r, out)) {
        if (out->id == group)
            return true;
        if (out->id == ELEMENT_TERMINATION)
            return false;
    }
    return false;
}

bool frame_nested_element(const uint8_t *from, const uint8_t *end, uint8_t id, bool is_long,
                          frame_element *out) {
    reader r = {from, end, false};
    while (left(&r) >= 2) {
        bool found_long = (r.at[1] & 0x80) != 0;
        if (found_long) {
            if (!take_long(&r, out))
                return false;
        } else {
            out->length = r.at[0];
            out->id = r.at[1];
            r.at += 2;
            out->content = r.at;
            if (left(&r) < out->length)
                return false;
            r.at += out->length;
        }
        if (out->id == id && found_long == is_long)
            return true;
    }
    return false;
}
