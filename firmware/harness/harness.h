/* The image around a primitive: the command loop, and what a kind of primitive tells it.
   docs/image-protocol.md is the contract. */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto.h"

enum { MESSAGE_BYTES = 1024, AD_BYTES = 256, KEY_BYTES = 160, NONCE_BYTES = 64, TAG_BYTES = 64 };

enum { SLOT_KEY, SLOT_NONCE, SLOT_AD, SLOT_MESSAGE, SLOT_TAG, SLOT_OUTPUT, SLOTS };

typedef struct {
    uint8_t *bytes;
    uint16_t length;
    uint16_t capacity;
} slot;

extern slot slots[SLOTS];

/* One operation of a kind. `step` alone is measured. A kind's file lists its operations in the
   order of their numbers; the build reads the names there. */
typedef struct {
    crypto_status (*before)(void); /* once, ahead of the window */
    crypto_status (*step)(void);
    void (*after)(void);   /* once, behind the window */
    bool consumes_context; /* a second step needs the context as `before` left it */
} operation;

#define OPERATION(name, before, step, after, consumes_context)                                     \
    {before, step, after, consumes_context}

extern const operation kind_operations[];
extern const uint8_t kind_operation_count;

/* The primitive's context, and room for a copy of it. */
extern void *const kind_context;
extern void *const kind_saved_context;
extern const uint16_t kind_context_bytes;

/* Where the operation reads its message: the message slot, or the output slot that holds a copy of
   it when the operation shall work in place. */
extern const uint8_t *harness_input;

/* Hands one byte of the serial line to the command loop. */
void harness_receive(uint8_t byte);

static inline bool slot_has(unsigned which, size_t length) {
    return slots[which].length == length;
}

static inline crypto_status nothing(void) {
    return CRYPTO_OK;
}

static inline void show_nothing(void) {
}

static inline void show_message_length(void) {
    slots[SLOT_OUTPUT].length = slots[SLOT_MESSAGE].length;
}

/* Pieces of the message, for the operations that hand it over piece by piece: associated data
   holds the pieces' lengths, 16 bits each; what is left is the last piece. */
typedef struct {
    uint16_t at;
    uint16_t next;
} pieces;

/* Moves to the next piece and returns its length, or -1 when there is none. */
int32_t next_piece(pieces *p, const uint8_t **in);

#endif
