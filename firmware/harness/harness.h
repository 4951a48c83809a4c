/* The image around a primitive: the command loop, and what a kind of primitive tells it.
   docs/image-protocol.md is the contract. */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto.h"

typedef struct {
    uint8_t *bytes;
    uint16_t length;
    uint16_t capacity;
} slot;

/* What the build writes from a kind's file, kind.toml: its slots (and SLOT_KEY, ..., SLOTS) in
   kind.h and slots.c, and its operations' numbers (OPERATION_INIT, ..., OPERATIONS). */
extern slot slots[];
extern const uint8_t slot_count;
extern const uint16_t slots_cleared; /* bit i: the slot i is cleared ahead of each operation */
extern slot *const slot_message;     /* null where the kind has none */
extern slot *const slot_output;
extern const slot *const slot_pieces;

/* One operation of a kind. `step` alone is measured. */
typedef struct {
    crypto_status (*before)(void); /* once, ahead of the window */
    crypto_status (*step)(void);
    void (*after)(void);   /* once, behind the window */
    bool consumes_context; /* a second step needs the context as `before` left it */
} operation;

extern const operation kind_operations[];
extern const uint8_t kind_operation_count;

/* The primitive's context, and room for a copy of it. */
extern void *const kind_context;
extern void *const kind_saved_context;
extern const uint16_t kind_context_bytes;

/* Where the operation reads its message: the message slot, or the output slot that holds a copy of
   it when the operation shall work in place; null where the kind has no message. */
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

/* Pieces of the message, for the operations that hand it over piece by piece: the slot `pieces`
   holds their lengths, 16 bits each; what is left is the last piece. */
typedef struct {
    uint16_t at;
    uint16_t next;
} pieces;

/* Moves to the next piece and returns its length, or -1 when there is none. */
int32_t next_piece(pieces *p, const uint8_t **in);

#endif
