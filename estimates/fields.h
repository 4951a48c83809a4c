// Fields of instructions, and registers as bits of a set.
#ifndef ESTIMATES_FIELDS_H
#define ESTIMATES_FIELDS_H

#include "instruction.h"

enum { SP = 13, LR = 14, PC = 15 }; // of A32 and T32

static inline uint32_t bits(uint32_t code, unsigned high, unsigned low) {
    return code >> low & ((2u << (high - low)) - 1);
}

static inline set bit(unsigned number) {
    return (set)1 << number;
}

static inline unsigned count_of(uint32_t list) {
    return (unsigned)__builtin_popcount(list);
}

#endif
