#include "harness.h"

#include <string.h>

#include "command-frame.h"
#include "description.h"
#include "hal.h"

enum { IDENTIFY = 0x01, WRITE = 0x02, RUN = 0x03, READ = 0x04, REPLY = 0x80 };
enum { DONE, BAD_FRAME, UNKNOWN_COMMAND, OUT_OF_RANGE, UNKNOWN_OPERATION, BAD_RUN };
enum { FLAG_EMPTY = 1, FLAG_PAINT = 2, FLAG_IN_PLACE = 4, FLAGS = 7 };
enum { DESCRIPTION_CHUNK = 200 };

/* Stack paint, as wide as a register. */
typedef uintptr_t stack_word;
#define PAINT ((stack_word)0xa5a5a5a5a5a5a5a5u)

const uint8_t *harness_input;

/* One byte longer than the longest frame, so that a frame that is too long is detected. */
static HAL_NOINIT uint8_t frame[ENCODED_BYTES + 1];
static uint16_t frame_length;

static uint16_t get16(const uint8_t *p) {
    return (uint16_t)(p[0] | p[1] << 8);
}

static void put16(uint8_t *p, uint16_t value) {
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

#ifdef HARNESS_WIDE
enum { SIZE_BYTES = 4 };
static slot_size get_size(const uint8_t *p) {
    return get16(p) | (slot_size)get16(p + 2) << 16;
}
static void put_size(uint8_t *p, slot_size value) {
    put16(p, (uint16_t)value);
    put16(p + 2, (uint16_t)(value >> 16));
}
#else
enum { SIZE_BYTES = 2 };
#define get_size get16
#define put_size put16
#endif

int32_t next_piece(pieces *p, const uint8_t **in) {
    slot_size left = (slot_size)(slot_message->length - p->at);
    slot_size length = left;
    if (p->next + 1 < slot_pieces->length) {
        length = get16(&slot_pieces->bytes[p->next]);
        if (length > left)
            length = left;
    } else if (p->next > slot_pieces->length + 1) {
        return -1;
    } else {
        p->next = (slot_size)(slot_pieces->length + 1);
    }
    p->next = (slot_size)(p->next + 2);
    *in = harness_input + p->at;
    p->at = (slot_size)(p->at + length);
    return (int32_t)length;
}

typedef struct {
    crypto_status status;
    slot_size stack_bytes;
    uint32_t ticks;
} outcome;

/* The measured window. Its own code is the same for every step, so that the cost of an empty window
   is exactly the overhead of a full one. Nothing is called between painting and the first step. */
static __attribute__((noinline)) void window(outcome *result, crypto_status (*step)(void),
                                             uint32_t repetitions, bool restore, bool paint) {
    crypto_status status;
    volatile stack_word *limit = (stack_word *)(void *)hal_stack_limit();
    volatile stack_word *top = paint ? (stack_word *)(void *)hal_stack_pointer() : limit;
    for (volatile stack_word *p = limit; p < top; p++)
        *p = PAINT;
    hal_timer_start();
    hal_marker_high();
    do {
        if (restore)
            memcpy(kind_context, kind_saved_context, kind_context_bytes);
        status = step();
    } while (--repetitions != 0);
    hal_marker_low();
    hal_timer_stop();
    volatile stack_word *p = limit;
    while (p < top && *p == PAINT)
        p++;
    result->stack_bytes = (slot_size)((uintptr_t)top - (uintptr_t)p);
    /* This call may need more stack than the step did, so it comes after the paint is read. */
    result->ticks = hal_timer_ticks();
    result->status = status;
}

static uint8_t run(const uint8_t *body, uint16_t length, uint8_t *reply) {
    if (length != 8)
        return OUT_OF_RANGE;
    if (body[0] >= kind_operation_count || kind_operations[body[0]].step == NULL)
        return UNKNOWN_OPERATION;
    const operation *op = &kind_operations[body[0]];
    uint8_t flags = body[1];
    uint32_t repetitions = get16(body + 2) | (uint32_t)get16(body + 4) << 16;
    uint16_t quiet_ms = get16(body + 6);
    bool in_place = (flags & FLAG_IN_PLACE) != 0;
    if (repetitions == 0 || (flags & ~FLAGS) != 0 || (in_place && repetitions > 1))
        return BAD_RUN;
    if (in_place && (slot_message == NULL || slot_output == NULL))
        return BAD_RUN;

    for (uint8_t i = 0; i < slot_count; i++)
        if ((slots_cleared >> i & 1) != 0) {
            memset(slots[i].bytes, 0, slots[i].capacity);
            slots[i].length = 0;
        }
    harness_input = slot_message != NULL ? slot_message->bytes : NULL;
    if (in_place) {
        memcpy(slot_output->bytes, slot_message->bytes, slot_message->length);
        harness_input = slot_output->bytes;
    }

    outcome result = {op->before(), 0, 0};
    if (result.status == CRYPTO_OK) {
        bool restore = repetitions > 1 && op->consumes_context;
        if (restore)
            memcpy(kind_saved_context, kind_context, kind_context_bytes);
        hal_quiet(quiet_ms);
        window(&result, (flags & FLAG_EMPTY) != 0 ? nothing : op->step, repetitions, restore,
               (flags & FLAG_PAINT) != 0);
        hal_quiet(quiet_ms);
        op->after();
    }
    reply[0] = (uint8_t)result.status;
    put_size(reply + 1, result.stack_bytes);
    put16(reply + 1 + SIZE_BYTES, (uint16_t)result.ticks);
    put16(reply + 3 + SIZE_BYTES, (uint16_t)(result.ticks >> 16));
    return DONE;
}

static uint8_t write_slot(const uint8_t *body, uint16_t length) {
    if (length < 1 + SIZE_BYTES || body[0] >= slot_count)
        return OUT_OF_RANGE;
    slot *s = &slots[body[0]];
    slot_size offset = get_size(body + 1), count = (uint16_t)(length - 1 - SIZE_BYTES);
    if (offset > s->capacity || count > s->capacity - offset || (offset != 0 && offset > s->length))
        return OUT_OF_RANGE;
    memcpy(s->bytes + offset, body + 1 + SIZE_BYTES, count);
    if (offset == 0 || offset + count > s->length)
        s->length = (slot_size)(offset + count);
    return DONE;
}

/* The reply overwrites the command in place: every body is read first. */
static void answer(uint16_t length) {
    const uint8_t *body = frame + 2;
    uint8_t *reply = frame + 3;
    uint16_t body_length = (uint16_t)(length - 2), reply_length = 0;
    uint8_t status = UNKNOWN_COMMAND;
    switch (frame[0]) {
    case IDENTIFY: {
        uint16_t offset = body_length == 2 ? get16(body) : UINT16_MAX;
        status = OUT_OF_RANGE;
        if (offset <= description_bytes) {
            uint16_t count = (uint16_t)(description_bytes - offset);
            if (count > DESCRIPTION_CHUNK)
                count = DESCRIPTION_CHUNK;
            put16(reply, description_bytes);
            memcpy(reply + 2, description + offset, count);
            reply_length = (uint16_t)(count + 2);
            status = DONE;
        }
        break;
    }
    case WRITE:
        status = write_slot(body, body_length);
        break;
    case RUN: {
        uint8_t results[5 + SIZE_BYTES];
        status = run(body, body_length, results);
        if (status == DONE) {
            memcpy(reply, results, sizeof results);
            reply_length = sizeof results;
        }
        break;
    }
    case READ: {
        uint8_t which = body[0], count = body[1 + SIZE_BYTES];
        slot_size offset = get_size(body + 1);
        status = OUT_OF_RANGE;
        if (body_length == 2 + SIZE_BYTES && which < slot_count &&
            count <= FRAME_BYTES - FRAME_OVERHEAD - 1 && offset <= slots[which].length &&
            count <= slots[which].length - offset) {
            memcpy(reply, slots[which].bytes + offset, count);
            reply_length = count;
            status = DONE;
        }
        break;
    }
    default:
        break;
    }
    frame[0] |= REPLY;
    frame[2] = status;
    frame_send(frame, (uint16_t)(reply_length + 3));
}

void harness_receive(uint8_t byte) {
    if (byte != 0) {
        if (frame_length < sizeof frame)
            frame[frame_length++] = byte;
        return;
    }
    if (frame_length == 0)
        return;
    uint16_t length = frame_length <= ENCODED_BYTES ? frame_decode(frame, frame_length) : 0;
    frame_length = 0;
    if (length == 0) {
        frame[0] = REPLY;
        frame[1] = 0;
        frame[2] = BAD_FRAME;
        frame_send(frame, 3);
    } else {
        answer(length);
    }
}
