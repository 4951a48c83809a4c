// Fields as in the Arm Architecture Reference Manual, DDI 0487, chapter C4.
#include "fields.h"

enum { ZERO = 31 };

// A general register. 31 is no register or the stack pointer, whose changes cause no waiting.
static set general(uint32_t number) {
    return number == ZERO ? 0 : (set)1 << number;
}

static set vector(uint32_t number) {
    return (set)1 << (VECTOR + number % 32);
}

static set flags(void) {
    return (set)1 << FLAGS;
}

static set rd(uint32_t code) {
    return general(bits(code, 4, 0));
}

static set rn(uint32_t code) {
    return general(bits(code, 9, 5));
}

static set rm(uint32_t code) {
    return general(bits(code, 20, 16));
}

static set vectors(uint32_t first, unsigned count) {
    set made = 0;
    for (unsigned i = 0; i < count; i++)
        made |= vector(first + i);
    return made;
}

// C4.1.2
static instruction immediate(uint32_t code) {
    instruction made = {.kind = KIND_ALU, .writes = rd(code), .reads = rn(code)};
    switch (bits(code, 25, 23)) {
    case 0:
    case 1: // ADR, ADRP
        made.reads = 0;
        break;
    case 2:
    case 3: // sums
        if (bits(code, 29, 29))
            made.writes |= flags();
        break;
    case 4: // logic
        if (bits(code, 30, 29) == 3)
            made.writes |= flags();
        break;
    case 5: // MOVN, MOVZ; MOVK keeps the rest
        made.reads = bits(code, 30, 29) == 3 ? rd(code) : 0;
        break;
    default: // bit fields, and two registers' bits
        made.kind = KIND_ALU_SHIFT;
        if (bits(code, 25, 23) == 7)
            made.reads |= rm(code);
        else if (bits(code, 30, 29) == 1)
            made.reads |= rd(code);
        made.early = rn(code) | (bits(code, 25, 23) == 7 ? rm(code) : 0);
    }
    return made;
}

// C4.1.3
static instruction branch(uint32_t code) {
    instruction made = {.kind = KIND_BRANCH};
    if (bits(code, 31, 24) == 0x54)
        made.reads = flags();
    else if (bits(code, 30, 26) == 0x0D)
        made.reads = rd(code); // CBZ, TBZ
    else if (bits(code, 30, 26) == 0x05)
        made.writes = bits(code, 31, 31) ? general(30) : 0;
    else if (bits(code, 31, 25) == 0x6B)
        made = (instruction){.kind = KIND_RETURN, .reads = rn(code)};
    else
        made.kind = KIND_OTHER;
    return made;
}

// C4.1.5
static instruction by_register(uint32_t code) {
    instruction made = {.kind = KIND_ALU, .writes = rd(code), .reads = rn(code) | rm(code)};
    uint32_t group = bits(code, 24, 21);
    if (bits(code, 28, 28) == 0) {
        bool sums = bits(code, 24, 24), extends = sums && bits(code, 21, 21);
        if (extends || bits(code, 15, 10) != 0) {
            made.kind = KIND_ALU_SHIFT;
            made.early = rm(code);
        }
        if (sums ? bits(code, 29, 29) : bits(code, 30, 29) == 3)
            made.writes |= flags();
        return made;
    }
    if (group >= 8) { // three sources
        uint32_t operation = bits(code, 23, 21);
        set added = general(bits(code, 14, 10));
        made.reads |= added;
        made.adds = added;
        made.kind = operation == 2 || operation == 6 ? KIND_HIGH
                    : operation != 0                 ? KIND_LONG
                    : bits(code, 31, 31)             ? KIND_WIDE
                                                     : KIND_MULTIPLY;
        return made;
    }
    switch (group) {
    case 0: // with carry
        made.reads |= flags();
        if (bits(code, 29, 29))
            made.writes |= flags();
        return made;
    case 2: // conditional comparison
        made.reads = rn(code) | flags() | (bits(code, 11, 11) ? 0 : rm(code));
        made.writes = flags();
        return made;
    case 4: // conditional selection
        made.reads |= flags();
        return made;
    case 6:
        if (bits(code, 30, 30)) { // one source
            made.reads = rn(code);
            if (bits(code, 15, 10) < 4) {
                made.kind = KIND_ALU_SHIFT;
                made.early = rn(code);
            }
            return made;
        }
        made.kind = bits(code, 15, 11) == 1   ? KIND_DIVIDE
                    : bits(code, 15, 12) == 2 ? KIND_ALU_VARIABLE
                                              : KIND_ALU_SHIFT;
        return made;
    default:
        made.kind = KIND_OTHER;
        return made;
    }
}

// How a transfer reads and writes its data and base registers.
static instruction transfer(set data, set base, bool load, bool is_vector) {
    instruction made = {.kind = KIND_STORE, .address = base, .reads = base};
    if (load) {
        made.kind = is_vector ? KIND_VECTOR_LOAD : KIND_LOAD;
        made.writes = data;
    } else {
        made.reads |= data;
        made.late = data & ~base;
    }
    return made;
}

// Vector structures (C4.1.4).
static instruction structures(uint32_t code) {
    static const unsigned REGISTERS_OF[16] = {
        [0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2,
    };
    bool load = bits(code, 22, 22), single = bits(code, 24, 24), full = bits(code, 30, 30);
    unsigned count = single ? 1 : REGISTERS_OF[bits(code, 15, 12)];
    set data = vectors(bits(code, 4, 0), count);
    instruction made = transfer(data, rn(code), load, true);
    if (load)
        made.words = single ? 0 : count * (full ? 4 : 2);
    else
        made.words = count * 2;
    if (load && single)
        made.reads |= data;
    if (bits(code, 23, 23))
        made.soon = rn(code);
    return made;
}

// C4.1.4
static instruction load_or_store(uint32_t code) {
    bool is_vector = bits(code, 26, 26);
    uint32_t data = bits(code, 4, 0);
    if (bits(code, 29, 27) == 1 && is_vector)
        return structures(code);
    if (bits(code, 29, 27) == 5) { // pairs
        bool load = bits(code, 22, 22);
        uint32_t second = bits(code, 14, 10);
        set both = is_vector ? vector(data) | vector(second) : general(data) | general(second);
        instruction made = transfer(both, rn(code), load, is_vector);
        bool quad = is_vector && bits(code, 31, 30) == 2;
        if (load) {
            made.words = quad ? 8 : 4;
            if (!is_vector)
                made.kind = KIND_LOAD_MANY;
        } else if (quad) {
            made.words = 4;
        }
        if (bits(code, 23, 23))
            made.soon = rn(code);
        return made;
    }
    set one = is_vector ? vector(data) : general(data);
    if (bits(code, 29, 27) == 3 && !bits(code, 24, 24)) { // literals
        instruction made = transfer(one, 0, true, is_vector);
        made.words = is_vector && bits(code, 31, 30) == 2 ? 4 : 0;
        return made;
    }
    if (bits(code, 29, 27) == 7) {
        bool quad = is_vector && bits(code, 31, 30) == 0 && bits(code, 23, 23);
        bool load = is_vector ? bits(code, 22, 22) : bits(code, 23, 22) != 0;
        instruction made = transfer(one, rn(code), load, is_vector);
        if (load && quad)
            made.words = 4;
        if (bits(code, 24, 24))
            return made;
        if (bits(code, 21, 21)) {
            if (bits(code, 11, 10) != 2)
                made.kind = KIND_OTHER;
            made.address |= rm(code);
            made.reads |= rm(code);
        } else if (bits(code, 10, 10)) {
            made.soon = rn(code);
        }
        return made;
    }
    // Exclusive and ordered.
    return transfer(one, rn(code), bits(code, 22, 22), false);
}

// Three vectors of the same shape: opcode and U as in C4.1.6.
static kind three_same(uint32_t opcode, bool unsigned_, uint32_t size) {
    if (opcode == 0x03)
        return unsigned_ && size != 0 ? KIND_VECTOR : KIND_VECTOR_LOGIC; // BSL, BIT, BIF
    if (opcode == 0x12 || opcode == 0x13)
        return KIND_VECTOR_PRODUCT;
    if (opcode == 0x17 || opcode == 0x0E || opcode == 0x11)
        return KIND_VECTOR_SUM;
    return opcode >= 0x18 ? KIND_VECTOR_FLOAT : KIND_VECTOR;
}

static instruction vectors_of(uint32_t code) {
    set d = vector(bits(code, 4, 0)), n = vector(bits(code, 9, 5)), m = vector(bits(code, 20, 16));
    bool scalar = bits(code, 28, 28), unsigned_ = bits(code, 29, 29);
    instruction made = {.kind = KIND_VECTOR, .reads = n, .writes = d};
    made.half = scalar || !bits(code, 30, 30);
    if ((code & 0xFF3E0C00) == 0x4E280800) {
        // AESE and AESD read the register that they write.
        made.kind = KIND_AES;
        if (!bits(code, 13, 13))
            made.reads |= d;
        return made;
    }
    if ((code & 0xFF208C00) == 0x5E000000 || (code & 0xFF3E0C00) == 0x5E280800) {
        made.kind = KIND_SHA;
        made.reads |= d | m;
        return made;
    }
    if (bits(code, 24, 24)) {
        if (bits(code, 10, 10)) {
            // Shifts by constants; with no position, constants themselves.
            if (bits(code, 22, 19) == 0) {
                made.kind = KIND_VECTOR_LOGIC;
                made.reads = bits(code, 12, 12) && bits(code, 15, 14) != 3 ? d : 0;
            } else if (bits(code, 15, 11) == 2 || bits(code, 15, 11) == 6) {
                made.kind = KIND_VECTOR_SUM;
                made.reads |= d;
            } else if (unsigned_ && (bits(code, 15, 11) == 8 || bits(code, 15, 11) == 10)) {
                made.reads |= d; // SRI, SLI
            }
            return made;
        }
        // By an element.
        made.kind = KIND_VECTOR_PRODUCT;
        made.reads |= bits(code, 23, 22) == 1 ? vector(bits(code, 19, 16)) : m;
        if (!(bits(code, 15, 12) & 8)) {
            made.reads |= d;
            made.adds = d;
        }
        made.half = false;
        return made;
    }
    if (!bits(code, 21, 21)) {
        if (bits(code, 10, 10)) { // copies of elements
            if (!bits(code, 15, 15) && !unsigned_ &&
                (bits(code, 14, 11) == 5 || bits(code, 14, 11) == 7)) {
                made.kind = KIND_VECTOR_MOVE;
                made.writes = rd(code);
            } else if (!unsigned_ && (bits(code, 14, 11) == 1 || bits(code, 14, 11) == 3)) {
                made.kind = KIND_VECTOR_MOVE;
                made.reads = rn(code) | (bits(code, 14, 11) == 3 ? d : 0);
            } else if (unsigned_) {
                made.reads |= d;
            }
            return made;
        }
        made.reads |= m;
        if (!unsigned_ && bits(code, 11, 10) == 0) { // TBL, TBX
            unsigned count = bits(code, 14, 13) + 1;
            made.reads |= vectors(bits(code, 9, 5), count) | (bits(code, 12, 12) ? d : 0);
            made.words = 2 * (count + bits(code, 12, 12));
        }
        return made;
    }
    if (bits(code, 10, 10)) {
        made.reads |= m;
        made.kind = three_same(bits(code, 15, 11), unsigned_, bits(code, 23, 22));
        if (bits(code, 15, 11) == 0x12) {
            made.reads |= d;
            made.adds = d;
        } else if (bits(code, 15, 11) == 3 && unsigned_ && bits(code, 23, 22) != 0) {
            made.reads |= d;
        }
        return made;
    }
    if (!bits(code, 11, 11)) { // of two shapes
        uint32_t opcode = bits(code, 15, 12);
        made.half = false;
        made.reads |= m;
        made.kind = opcode == 14 || opcode < 8 ? KIND_VECTOR_SUM : KIND_VECTOR_PRODUCT;
        if (opcode == 8 || opcode == 10 || opcode == 5 || opcode == 7) {
            made.reads |= d;
            made.adds = opcode >= 8 ? d : 0;
        }
        return made;
    }
    // One vector, and operations across its lanes.
    if (bits(code, 20, 17) == 8)
        made.kind = KIND_VECTOR_SUM;
    else if (bits(code, 16, 12) == 5 && unsigned_)
        made.kind = KIND_VECTOR_LOGIC;
    else if (bits(code, 16, 12) == 0x12)
        made.reads |= d; // XTN2 and similar keep the lower half
    else if (bits(code, 16, 15) == 3 || bits(code, 23, 23))
        made.kind = KIND_VECTOR_FLOAT;
    return made;
}

// C4.1.6
static instruction simd_or_float(uint32_t code) {
    if (bits(code, 28, 24) == 0x0E || bits(code, 28, 24) == 0x0F)
        return vectors_of(code);
    if (bits(code, 31, 30) == 1 && (bits(code, 28, 24) == 0x1E || bits(code, 28, 24) == 0x1F))
        return vectors_of(code);
    instruction made = {.kind = KIND_VECTOR_FLOAT,
                        .half = true,
                        .reads = vector(bits(code, 9, 5)) | vector(bits(code, 20, 16)),
                        .writes = vector(bits(code, 4, 0))};
    if ((code & 0x7F20FC00) == 0x1E200000) { // between general and vector registers
        bool to_general =
            !(bits(code, 18, 16) == 2 || bits(code, 18, 16) == 3 || bits(code, 18, 16) == 7);
        made.kind = KIND_VECTOR_MOVE;
        made.reads = to_general ? vector(bits(code, 9, 5)) : rn(code);
        made.writes = to_general ? rd(code) : vector(bits(code, 4, 0));
    }
    return made;
}

instruction a64_decode(uint32_t code) {
    uint32_t group = bits(code, 28, 25);
    if ((group & 5) == 4)
        return load_or_store(code);
    if ((group & 7) == 5)
        return by_register(code);
    if ((group & 7) == 7)
        return simd_or_float(code);
    if ((group & 14) == 8)
        return immediate(code);
    if ((group & 14) == 10)
        return branch(code);
    return (instruction){.kind = KIND_OTHER};
}
