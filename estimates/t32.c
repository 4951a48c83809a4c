// Thumb: encodings as in the ARM Architecture Reference Manual, DDI 0406C, chapter A6, of 16 bits
// (A6.2) and of 32 (A6.3).
#include "fields.h"

#include <string.h>

enum { NARROW = 2, WIDE_PREFIX = 29 }; // bytes; the smallest value of the upper five bits (A6.1)

static instruction alu(set reads, set writes) {
    return (instruction){.kind = KIND_ALU, .reads = reads, .writes = writes};
}

static instruction load(set address, set data) {
    instruction made = {.kind = KIND_LOAD, .address = address, .reads = address, .writes = data};
    if (data & bit(PC))
        made.kind = KIND_RETURN;
    return made;
}

static instruction store(set address, set data) {
    return (instruction){
        .kind = KIND_STORE, .address = address, .reads = address | data, .late = data & ~address};
}

static instruction many(bool loads, set base, uint32_t list, bool back) {
    instruction made = loads ? load(base, list) : store(base, list);
    if (made.kind != KIND_RETURN)
        made.kind = loads ? KIND_LOAD_MANY : KIND_STORE_MANY;
    made.words = count_of(list);
    if (back)
        made.soon = base;
    return made;
}

// A6.2.2: two low registers.
static instruction narrow_data_processing(uint32_t code) {
    enum { LSL = 2, LSR = 3, ASR = 4, ADC = 5, SBC = 6, ROR = 7, TST = 8, RSB = 9, CMP = 10 };
    enum { CMN = 11, MUL = 13, MVN = 15 };
    uint32_t operation = bits(code, 9, 6);
    set m = bit(bits(code, 5, 3)), d = bit(bits(code, 2, 0));
    instruction made = alu(operation == MVN || operation == RSB ? m : m | d, d);
    switch (operation) {
    case LSL:
    case LSR:
    case ASR:
    case ROR:
        made.kind = KIND_ALU_BY_REG;
        made.early = m | d;
        break;
    case ADC:
    case SBC:
        made.reads |= bit(FLAGS);
        break;
    case TST:
    case CMP:
    case CMN:
        made.writes = 0;
        break;
    case MUL:
        made.kind = KIND_MULTIPLY;
        break;
    default:
        break;
    }
    made.writes |= bit(FLAGS);
    return made;
}

// A6.2.3: any registers, and branches to one.
static instruction narrow_special(uint32_t code) {
    unsigned to = bits(code, 7, 7) << 3 | bits(code, 2, 0);
    set m = bit(bits(code, 6, 3)), d = bit(to);
    switch (bits(code, 9, 8)) {
    case 0:
        return (instruction){
            .kind = to == PC ? KIND_RETURN : KIND_ALU, .reads = m | d, .writes = d};
    case 1:
        return alu(m | d, bit(FLAGS));
    case 2:
        return (instruction){.kind = to == PC ? KIND_RETURN : KIND_ALU, .reads = m, .writes = d};
    default:
        return (instruction){
            .kind = KIND_RETURN, .reads = m, .writes = bits(code, 7, 7) ? bit(LR) : 0};
    }
}

// A6.2.4.
static instruction narrow_transfer(uint32_t code) {
    set t = bit(bits(code, 2, 0)), base = bit(bits(code, 5, 3));
    bool loads = bits(code, 11, 11);
    switch (bits(code, 15, 12)) {
    case 5:
        base |= bit(bits(code, 8, 6));
        loads = bits(code, 11, 9) >= 3; // LDRSB and all after it
        break;
    case 9:
        t = bit(bits(code, 10, 8));
        base = bit(SP);
        break;
    default:
        break;
    }
    return loads ? load(base, t) : store(base, t);
}

// A6.2.5.
static instruction narrow_miscellaneous(uint32_t code) {
    uint32_t list = bits(code, 7, 0);
    switch (bits(code, 11, 8)) {
    case 0:
        return alu(bit(SP), bit(SP));
    case 1:
    case 3:
    case 9:
    case 11:
        return (instruction){.kind = KIND_BRANCH, .reads = bit(bits(code, 2, 0))};
    case 2:
    case 10: {
        instruction made = alu(bit(bits(code, 5, 3)), bit(bits(code, 2, 0)));
        made.kind = KIND_ALU_SHIFT;
        made.early = made.reads;
        return made;
    }
    case 4:
    case 5:
        return many(false, bit(SP), list | bits(code, 8, 8) << LR, true);
    case 12:
    case 13:
        return many(true, bit(SP), list | bits(code, 8, 8) << PC, true);
    case 15:
        return alu(0, 0); // IT and hints
    default:
        return (instruction){.kind = KIND_OTHER};
    }
}

static instruction narrow_shift_or_add(uint32_t code) {
    set n = bit(bits(code, 5, 3)), d = bit(bits(code, 2, 0));
    if (bits(code, 12, 11) == 3) {
        set m = bits(code, 10, 10) ? 0 : bit(bits(code, 8, 6));
        return alu(n | m, d | bit(FLAGS));
    }
    instruction made = alu(n, d | bit(FLAGS));
    if (bits(code, 10, 6) != 0 || bits(code, 12, 11) != 0) {
        made.kind = KIND_ALU_SHIFT;
        made.early = n;
    }
    return made;
}

static instruction narrow(uint32_t code) {
    set named = bit(bits(code, 10, 8));
    switch (bits(code, 15, 12)) {
    case 0:
    case 1:
        return narrow_shift_or_add(code);
    case 2:
        return alu(bits(code, 11, 11) ? named : 0,
                   bits(code, 11, 11) ? bit(FLAGS) : named | bit(FLAGS));
    case 3:
        return alu(named, named | bit(FLAGS));
    case 4:
        if (bits(code, 11, 11))
            return load(0, named);
        return bits(code, 10, 10) ? narrow_special(code) : narrow_data_processing(code);
    case 10:
        return alu(bits(code, 11, 11) ? bit(SP) : 0, named);
    case 11:
        return narrow_miscellaneous(code);
    case 12:
        return many(bits(code, 11, 11), named, bits(code, 7, 0),
                    !bits(code, 11, 11) || !(bits(code, 7, 0) >> bits(code, 10, 8) & 1));
    case 13:
        if (bits(code, 11, 9) == 7)
            return (instruction){.kind = KIND_OTHER};
        return (instruction){.kind = KIND_BRANCH, .reads = bit(FLAGS)};
    case 14:
        return (instruction){.kind = KIND_BRANCH};
    default:
        return narrow_transfer(code);
    }
}

// 32 bits: register fields are nearly always at the same positions.
static unsigned n_of(uint32_t code) {
    return bits(code, 19, 16);
}

static unsigned d_of(uint32_t code) {
    return bits(code, 11, 8);
}

static unsigned t_of(uint32_t code) {
    return bits(code, 15, 12);
}

static unsigned m_of(uint32_t code) {
    return bits(code, 3, 0);
}

// Shared by A6.3.1 and A6.3.11.
static instruction wide_data_processing(uint32_t code, set m, bool shifted) {
    enum { ORR = 2, ORN = 3, ADC = 10, SBC = 11 };
    uint32_t operation = bits(code, 24, 21);
    bool flags = bits(code, 20, 20);
    set n = bit(n_of(code)), d = bit(d_of(code));
    if ((operation == ORR || operation == ORN) && n_of(code) == PC)
        n = 0;
    if (flags && d_of(code) == PC)
        d = 0;
    instruction made = alu(n | m, d | (flags ? bit(FLAGS) : 0));
    if (operation == ADC || operation == SBC)
        made.reads |= bit(FLAGS);
    if (shifted) {
        made.kind = KIND_ALU_SHIFT;
        made.early = m;
    }
    return made;
}

// A6.3.3: immediates of 12 and 16 bits, bit fields, saturation.
static instruction wide_plain_immediate(uint32_t code) {
    enum { ADDW = 0, MOVW = 4, SUBW = 10, MOVT = 12, BFI = 22 };
    uint32_t operation = bits(code, 24, 20);
    set n = n_of(code) == PC ? 0 : bit(n_of(code)), d = bit(d_of(code));
    switch (operation) {
    case ADDW:
    case SUBW:
        return alu(n, d);
    case MOVW:
        return alu(0, d);
    case MOVT:
        return alu(d, d);
    default: {
        instruction made = alu(n, d);
        made.kind = KIND_ALU_SHIFT;
        made.early = n;
        if (operation == BFI)
            made.reads |= d;
        return made;
    }
    }
}

// A6.3.4.
static instruction wide_branch(uint32_t code) {
    if (bits(code, 14, 14))
        return (instruction){.kind = KIND_BRANCH, .writes = bit(LR)};
    if (bits(code, 12, 12))
        return (instruction){.kind = KIND_BRANCH};
    if (bits(code, 25, 23) != 7)
        return (instruction){.kind = KIND_BRANCH, .reads = bit(FLAGS)};
    return (instruction){.kind = KIND_OTHER};
}

// A6.3.6: pairs, exclusive accesses, and table branches.
static instruction wide_dual(uint32_t code) {
    set base = bit(n_of(code)), t = bit(t_of(code)), t2 = bit(d_of(code));
    bool loads = bits(code, 20, 20), indexed = bits(code, 24, 24), back = bits(code, 21, 21);
    if (indexed || back) {
        instruction made = loads ? load(base, t | t2) : store(base, t | t2);
        made.kind = loads ? KIND_LOAD_MANY : KIND_STORE_MANY;
        made.words = 2;
        if (back)
            made.soon = base;
        return made;
    }
    if (bits(code, 23, 20) == 13 && bits(code, 7, 5) == 0)
        return (instruction){.kind = KIND_RETURN, .address = base, .reads = base | bit(m_of(code))};
    return loads ? load(base, t) : store(base, t);
}

// A6.3.7 to A6.3.10: one value.
static instruction wide_transfer(uint32_t code) {
    set address = bit(n_of(code)), t = bit(t_of(code));
    bool loads = bits(code, 20, 20), back = false, slow = false;
    // Loading a byte or halfword into the program counter is a hint (PLD); a literal's address has
    // no base register.
    bool hint = loads && t_of(code) == PC && bits(code, 22, 21) != 2;
    if (n_of(code) != PC && !bits(code, 23, 23)) {
        if (bits(code, 11, 11)) {
            back = bits(code, 8, 8);
        } else {
            address |= bit(m_of(code));
            slow = bits(code, 5, 4) == 1 || bits(code, 5, 4) == 3;
        }
    }
    instruction made = loads && !hint ? load(address, t) : store(address, hint ? 0 : t);
    if (slow && made.kind == KIND_LOAD)
        made.kind = KIND_LOAD_SLOW;
    if (back)
        made.soon = bit(n_of(code));
    return made;
}

// A6.3.12 to A6.3.15: shifts by a register, extensions, sums of parts, reversal.
static instruction wide_registers(uint32_t code) {
    set n = bit(n_of(code)), m = bit(m_of(code)), d = bit(d_of(code));
    instruction made = alu(n | m, d);
    if (bits(code, 23, 23)) {
        // REV, REV16, RBIT, REVSH; CLZ.
        bool reverses = bits(code, 21, 20) == 1, counts = bits(code, 21, 20) == 3;
        if (bits(code, 7, 6) != 2 || !(reverses || counts))
            return made;
        made.kind = reverses ? KIND_ALU_SHIFT : KIND_ALU;
        made.reads = m;
        made.early = reverses ? m : 0;
    } else if (bits(code, 7, 4) == 0) {
        made.kind = KIND_ALU_BY_REG;
        made.early = n | m;
        if (bits(code, 20, 20))
            made.writes |= bit(FLAGS);
    } else if (bits(code, 7, 7)) {
        made.kind = KIND_ALU_SHIFT;
        made.reads = m | (n_of(code) == PC ? 0 : n);
        made.early = m;
    }
    return made;
}

// A6.3.16 and A6.3.17.
static instruction wide_multiply(uint32_t code) {
    enum { SMULL, SDIV, UMULL, UDIV };
    set factors = bit(n_of(code)) | bit(m_of(code)), d = bit(d_of(code)), t = bit(t_of(code));
    uint32_t operation = bits(code, 22, 20);
    if (!bits(code, 23, 23)) {
        set added = t_of(code) == PC ? 0 : t;
        return (instruction){.kind = KIND_MULTIPLY, .reads = factors | added, .writes = d};
    }
    if (operation == SDIV || operation == UDIV)
        return (instruction){.kind = KIND_DIVIDE, .reads = factors, .writes = d};
    set added = operation == SMULL || operation == UMULL ? 0 : d | t;
    return (instruction){.kind = KIND_LONG, .reads = factors | added, .writes = d | t};
}

static instruction wide(uint32_t code) {
    uint32_t vector;
    if (bits(code, 28, 27) == 2) {
        if (bits(code, 15, 15))
            return wide_branch(code);
        if (bits(code, 25, 25))
            return wide_plain_immediate(code);
        return wide_data_processing(code, 0, false);
    }
    if (vector_of_t32(code, &vector))
        return vector_decode(vector);
    if (bits(code, 28, 27) == 1) {
        if (bits(code, 26, 25) == 1) {
            bool shifted = bits(code, 14, 12) || bits(code, 7, 4);
            return wide_data_processing(code, bit(m_of(code)), shifted);
        }
        if (bits(code, 22, 22))
            return wide_dual(code);
        return many(bits(code, 20, 20), bit(n_of(code)), bits(code, 15, 0), bits(code, 21, 21));
    }
    if (bits(code, 26, 25) == 0)
        return wide_transfer(code);
    return bits(code, 24, 24) ? wide_multiply(code) : wide_registers(code);
}

instruction t32_decode(uint32_t code, unsigned length, uint8_t *it) {
    bool conditional = (*it & 15) != 0;
    instruction made = length == NARROW ? narrow(code) : wide(code);
    if (conditional) {
        // In an IT block, 16-bit data processing other than comparisons does not change the flags.
        // If an instruction does not execute, its destinations keep their values.
        if (length == NARROW && made.writes != bit(FLAGS))
            made.writes &= ~bit(FLAGS);
        made.reads |= bit(FLAGS) | (made.writes & ~bit(FLAGS));
        *it = (uint8_t)(*it << 1);
    } else if (length == NARROW && code >> 8 == 0xBF && (code & 15) != 0) {
        *it = code & 15;
        made.reads = bit(FLAGS);
    }
    return made;
}

// If all instructions of a block have 32 bits, nothing marks it as Thumb: then each must begin as
// Thumb instructions do, and the previous block must have been Thumb.
bool t32_block(const uint8_t *code, const uint8_t *lengths, unsigned count, uint64_t start,
               bool follows) {
    if (start & 2)
        return true;
    for (unsigned i = 0; i < count; i++) {
        uint16_t first;
        if (lengths[i] == NARROW)
            return true;
        memcpy(&first, code, sizeof first);
        follows = follows && first >> 11 >= WIDE_PREFIX;
        code += lengths[i];
    }
    return follows;
}

uint32_t t32_code(const uint8_t *code, unsigned length) {
    uint16_t halves[2];
    memcpy(halves, code, length);
    return length == NARROW ? halves[0] : (uint32_t)halves[0] << 16 | halves[1];
}
