// Instructions of ARM state (A32), as far as their timing asks: what they read and write, and when.
#ifndef ESTIMATES_A32_H
#define ESTIMATES_A32_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    KIND_ALU,        // data processing, operands as they are
    KIND_ALU_SHIFT,  // one operand shifted by a constant
    KIND_ALU_BY_REG, // one operand shifted by a register
    KIND_MULTIPLY,   // 32 bits of product
    KIND_LONG,       // 64 bits of product
    KIND_LOAD,       // of up to a word
    KIND_LOAD_SLOW,  // with an offset that is shifted by another constant than 2
    KIND_LOAD_MANY,  // of `words`
    KIND_STORE,
    KIND_STORE_MANY,
    KIND_BRANCH, // to a constant
    KIND_RETURN, // to what a register or the stack holds
    KIND_OTHER,  // coprocessors, hints, system calls
    KINDS,
} kind;

enum { FLAGS = 16, REGISTERS };

typedef struct {
    kind kind;
    uint32_t reads;   // bits of registers, and of FLAGS
    uint32_t early;   // of these, what is shifted: needed a stage before the others
    uint32_t address; // of these, what an address is made of
    uint32_t late;    // of these, what is stored: needed a stage after the others
    uint32_t writes;
    uint32_t soon; // addresses that are written back: there in the next cycle
    unsigned words;
} instruction;

instruction a32_decode(uint32_t code);

#endif
