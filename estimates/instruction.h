// Instructions of A32, T32 and A64 as their timing requires: what they read and write, and when.
#ifndef ESTIMATES_INSTRUCTION_H
#define ESTIMATES_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    KIND_ALU,        // data processing, operands unshifted
    KIND_ALU_SHIFT,  // one operand shifted by a constant
    KIND_ALU_BY_REG, // one operand shifted by a register
    KIND_MULTIPLY,   // 32 bits of product
    KIND_LONG,       // 64 bits of product
    KIND_LOAD,       // of up to a word
    KIND_LOAD_SLOW,  // with an offset shifted by a constant other than 2
    KIND_LOAD_MANY,  // of `words`
    KIND_STORE,
    KIND_STORE_MANY,
    KIND_BRANCH,       // to a constant address
    KIND_RETURN,       // to an address in a register or on the stack
    KIND_OTHER,        // coprocessors, hints, system calls
    KIND_ALU_VARIABLE, // in A64: shifted by a register
    KIND_WIDE,         // 64 bits of the product of 64 by 64
    KIND_HIGH,         // the upper 64 bits of that product
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

// General registers; the flags, at a number where A64 has no general register; vector registers.
enum { FLAGS = 31, VECTOR = 32, REGISTERS = 64 };

typedef uint64_t set; // registers as bits

typedef struct {
    kind kind;
    bool half; // of a vector: only 64 bits
    unsigned words;
    set reads;
    set early;   // of these, shifted operands: needed one stage before the others
    set address; // of these, parts of an address
    set late;    // of these, stored data: needed one stage after the others
    set adds;    // of these, the addend of a product
    set writes;
    set soon; // written-back addresses: available in the next cycle
} instruction;

instruction a32_decode(uint32_t code);
instruction a64_decode(uint32_t code);

// Thumb, of 2 or 4 bytes; in 4 bytes, the first halfword is the upper one. `it` is the remaining
// state of an IT block (the lower half of ITSTATE), 0 at the start of code.
instruction t32_decode(uint32_t code, unsigned length, uint8_t *it);
uint32_t t32_code(const uint8_t *code, unsigned length);

// Returns whether a block is Thumb; `follows`: the previous block was.
bool t32_block(const uint8_t *code, const uint8_t *lengths, unsigned count, uint64_t start,
               bool follows);

// Advanced SIMD and floating point of AArch32, as A32 encodes them; other codes are KIND_OTHER.
instruction vector_decode(uint32_t code);

// Returns whether T32 code is one of those, or of another coprocessor, and its A32 encoding.
bool vector_of_t32(uint32_t code, uint32_t *a32);

#endif
