// How a block of code ends, as far as branch prediction asks.
#ifndef ESTIMATES_ENDING_H
#define ESTIMATES_ENDING_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    ENDING_NONE,        // it runs on into the next
    ENDING_CONDITIONAL, // to a constant, or on
    ENDING_JUMP,        // to a constant
    ENDING_CALL,
    ENDING_CALL_INDIRECT,
    ENDING_RETURN,
    ENDING_INDIRECT, // to what a register or memory holds
} ending;

// Of the last instruction of a block, by the names that QEMU has for architectures.
typedef ending (*ending_of)(const uint8_t *code, size_t length);

ending ending_of_arm(const uint8_t *code, size_t length);
ending ending_of_thumb(const uint8_t *code, size_t length);
ending ending_of_aarch64(const uint8_t *code, size_t length);
ending ending_of_x86(const uint8_t *code, size_t length);

#endif
