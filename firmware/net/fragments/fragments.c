#include "fragments.h"

enum {
    NOT_LOWPAN_MAX = 0x3f, /* dispatch values 00xxxxxx */
    FIRST = 0xc0,          /* 11000xxx, size, tag */
    NEXT = 0xe0,           /* 11100xxx, size, tag, offset in units of 8 bytes */
    KIND = 0xf8,
    FIRST_BYTES = 4,
    NEXT_BYTES = 5,
    UNIT = 8,
    FIRST_MOST = (CSMA_PAYLOAD_BYTES_MAX - FIRST_BYTES) / UNIT * UNIT,
    NEXT_MOST = (CSMA_PAYLOAD_BYTES_MAX - NEXT_BYTES) / UNIT * UNIT
};

static uint16_t last_tag;

static struct {
    uint16_t from, tag, size, have; /* size 0: no message is in progress */
    uint8_t bytes[FRAGMENTS_MESSAGE_BYTES_MAX];
} partial;

static void copy(uint8_t *out, const uint8_t *in, uint16_t length) {
    for (uint16_t i = 0; i < length; i++)
        out[i] = in[i];
}

csma_status fragments_send(uint16_t to, const uint8_t *message, uint16_t length) {
    uint8_t frame[CSMA_PAYLOAD_BYTES_MAX];
    csma_status status = CSMA_OK;
    if (length <= CSMA_PAYLOAD_BYTES_MAX)
        return csma_send(to, message, (uint8_t)length);
    last_tag++;
    for (uint16_t at = 0; at < length && status == CSMA_OK;) {
        uint8_t head = at == 0 ? FIRST_BYTES : NEXT_BYTES;
        uint16_t some = at == 0 ? FIRST_MOST : NEXT_MOST;
        if (some > length - at)
            some = length - at;
        frame[0] = (uint8_t)((at == 0 ? FIRST : NEXT) | length >> 8);
        frame[1] = (uint8_t)length;
        frame[2] = (uint8_t)(last_tag >> 8);
        frame[3] = (uint8_t)last_tag;
        frame[4] = (uint8_t)(at / UNIT);
        copy(frame + head, message + at, some);
        status = csma_send(to, frame, (uint8_t)(head + some));
        at = (uint16_t)(at + some);
    }
    return status;
}

/* Takes a fragment. Returns true if it completes a message. */
static bool take(const csma_message *frame) {
    uint8_t kind = frame->payload[0] & KIND;
    uint8_t head = kind == FIRST ? FIRST_BYTES : NEXT_BYTES;
    if ((kind != FIRST && kind != NEXT) || frame->length <= head)
        return false;
    uint16_t size = (uint16_t)((frame->payload[0] & ~KIND) << 8 | frame->payload[1]);
    uint16_t tag = (uint16_t)(frame->payload[2] << 8 | frame->payload[3]);
    uint16_t at = kind == FIRST ? 0 : (uint16_t)(frame->payload[4] * UNIT);
    uint16_t some = frame->length - head;
    if (kind == FIRST) {
        partial.from = frame->from;
        partial.tag = tag;
        partial.size = size <= sizeof partial.bytes ? size : 0;
        partial.have = 0;
    }
    if (partial.size == 0 || partial.from != frame->from || partial.tag != tag ||
        partial.size != size || partial.have != at || some > size - at) {
        partial.size = 0;
        return false;
    }
    copy(partial.bytes + at, frame->payload + head, some);
    partial.have = (uint16_t)(at + some);
    return partial.have == size;
}

bool fragments_receive(radio_time until, fragments_message *message) {
    csma_message frame;
    while (csma_receive(until, &frame)) {
        if (frame.length == 0)
            continue;
        message->from = frame.from;
        if (frame.payload[0] <= NOT_LOWPAN_MAX) {
            message->length = frame.length;
            copy(message->bytes, frame.payload, frame.length);
            return true;
        }
        if (take(&frame)) {
            message->length = partial.size;
            copy(message->bytes, partial.bytes, partial.size);
            partial.size = 0;
            return true;
        }
    }
    return false;
}
