// How a block of code ends, as branch prediction distinguishes it.
#ifndef ESTIMATES_ENDING_H
#define ESTIMATES_ENDING_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    ENDING_NONE,        // runs on into the next block
    ENDING_CONDITIONAL, // to a constant address, or on
    ENDING_JUMP,        // to a constant address
    ENDING_CALL,
    ENDING_CALL_INDIRECT,
    ENDING_RETURN,
    ENDING_INDIRECT, // to an address in a register or in memory
} ending;

// Classify the last instruction of a block, by QEMU's names of architectures.
typedef ending (*ending_of)(const uint8_t *code, size_t length);

ending ending_of_arm(const uint8_t *code, size_t length);
ending ending_of_thumb(const uint8_t *code, size_t length);
ending ending_of_aarch64(const uint8_t *code, size_t length);
ending ending_of_x86(const uint8_t *code, size_t length);

#endif
