// Instructions of A32, T32 and A64, as far as their timing asks: what they read and write, and
// when.
#ifndef ESTIMATES_INSTRUCTION_H
#define ESTIMATES_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
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
    KIND_BRANCH,       // to a constant
    KIND_RETURN,       // to what a register or the stack holds
    KIND_OTHER,        // coprocessors, hints, system calls
    KIND_ALU_VARIABLE, // of A64: shifted by a register
    KIND_WIDE,         // 64 bits of product of 64 by 64
    KIND_HIGH,         // the upper 64 bits of it
    KIND_DIVIDE,
    KIND_VECTOR_LOGIC,
    KIND_VECTOR,         // sums, shifts, permutations
    KIND_VECTOR_SUM,     // across or widening
    KIND_VECTOR_PRODUCT, // of integers
    KIND_VECTOR_FLOAT,
    KIND_VECTOR_LOAD,
    KIND_VECTOR_MOVE, // to or from a general register
    KIND_AES,
    KIND_SHA,
    KINDS,
} kind;

// General registers; the flags, where A64 has no general one; vector registers.
enum { FLAGS = 31, VECTOR = 32, REGISTERS = 64 };

typedef uint64_t set; // bits of registers

typedef struct {
    kind kind;
    bool half; // of a vector: 64 bits of it
    unsigned words;
    set reads;
    set early;   // of these, what is shifted: needed a stage before the others
    set address; // of these, what an address is made of
    set late;    // of these, what is stored: needed a stage after the others
    set adds;    // of these, what a product is added to
    set writes;
    set soon; // addresses that are written back: there in the next cycle
} instruction;

instruction a32_decode(uint32_t code);
instruction a64_decode(uint32_t code);

// Thumb, of 2 or 4 bytes; the first halfword of 4 stands above. `it` is what is left of an IT block
// (the lower half of ITSTATE), which is 0 where code begins.
instruction t32_decode(uint32_t code, unsigned length, uint8_t *it);
uint32_t t32_code(const uint8_t *code, unsigned length);

// Whether a block is Thumb; `follows` a block that was.
bool t32_block(const uint8_t *code, const uint8_t *lengths, unsigned count, uint64_t start,
               bool follows);

// Advanced SIMD and floating point of AArch32, as A32 encodes them; other codes are KIND_OTHER.
instruction vector_decode(uint32_t code);

// Whether T32 code is of those, or of another coprocessor, and what it is in A32.
bool vector_of_t32(uint32_t code, uint32_t *a32);

#endif
