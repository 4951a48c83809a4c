// Advanced SIMD and floating point of AArch32: encodings of A32 as in the ARM Architecture
// Reference Manual, DDI 0406C, chapter A7; of AES and SHA as in DDI 0487, chapter F3.
#include "fields.h"

// D registers; a Q register is two.
static set one(unsigned number) {
    return bit(VECTOR + (number & 31));
}

static set two(unsigned number, bool whole) {
    return one(number) | (whole ? one(number + 1) : 0);
}

static unsigned d_of(uint32_t code) {
    return bits(code, 22, 22) << 4 | bits(code, 15, 12);
}

static unsigned n_of(uint32_t code) {
    return bits(code, 7, 7) << 4 | bits(code, 19, 16);
}

static unsigned m_of(uint32_t code) {
    return bits(code, 5, 5) << 4 | bits(code, 3, 0);
}

static instruction of(kind kind, bool whole, set reads, set writes) {
    return (instruction){.kind = kind, .half = !whole, .reads = reads, .writes = writes};
}

// A7.4.1.
static instruction same_length(uint32_t code) {
    bool whole = bits(code, 6, 6), high = bits(code, 4, 4);
    set d = two(d_of(code), whole);
    instruction made = of(KIND_VECTOR, whole, two(n_of(code), whole) | two(m_of(code), whole), d);
    switch (bits(code, 11, 8)) {
    case 1:
        if (high) {
            made.kind = KIND_VECTOR_LOGIC;
            // VBSL, VBIT and VBIF keep some bits of their destination.
            if (bits(code, 24, 24) && bits(code, 21, 20) != 0)
                made.reads |= d;
        }
        break;
    case 9:
        made.kind = KIND_VECTOR_PRODUCT;
        if (!high) {
            made.reads |= d;
            made.adds = d;
        }
        break;
    case 11:
        if (!high)
            made.kind = KIND_VECTOR_PRODUCT;
        break;
    case 12:
        made.kind = high ? KIND_VECTOR_FLOAT : KIND_SHA;
        made.reads |= d;
        break;
    case 13:
    case 14:
    case 15:
        made.kind = KIND_VECTOR_FLOAT;
        break;
    default:
        break;
    }
    return made;
}

// A7.4.2 and A7.4.3.
static instruction other_lengths(uint32_t code) {
    bool scalar = bits(code, 6, 6);
    uint32_t operation = bits(code, 11, 8);
    set d = two(d_of(code), true);
    bool wide_n = !scalar && (operation == 1 || operation == 3 || operation == 4 || operation == 6);
    set reads = two(n_of(code), wide_n) | one(m_of(code));
    bool product = scalar || operation >= 8;
    instruction made = of(product ? KIND_VECTOR_PRODUCT : KIND_VECTOR_SUM, true, reads, d);
    bool adds = scalar ? (operation & 8) == 0 && operation != 10
                       : operation == 5 || operation == 8 || operation == 9 || operation == 10;
    if (adds) {
        made.reads |= d;
        made.adds = product ? d : 0;
    }
    return made;
}

// A7.4.4 and A7.4.6.
static instruction by_immediate(uint32_t code) {
    bool whole = bits(code, 6, 6);
    uint32_t operation = bits(code, 11, 8);
    set d = two(d_of(code), whole);
    if (bits(code, 21, 19) == 0 && !bits(code, 7, 7)) {
        // VORR and VBIC modify their destination, VMOV and VMVN set it.
        bool changes = operation < 12 && (operation & 1);
        return of(KIND_VECTOR_LOGIC, whole, changes ? d : 0, d);
    }
    bool narrows = operation == 8 || operation == 9, widens = operation == 10;
    instruction made = of(KIND_VECTOR, whole, two(m_of(code), whole || narrows),
                          two(d_of(code), (whole && !narrows) || widens));
    // VSRA and VRSRA add, VSRI and VSLI insert.
    if (operation == 1 || operation == 3 ||
        (bits(code, 24, 24) && (operation == 4 || operation == 5)))
        made.reads |= d;
    return made;
}

// A7.4.5.
static instruction miscellaneous(uint32_t code) {
    uint32_t group = bits(code, 17, 16), operation = bits(code, 10, 7);
    // For AES and SHA, bit 6 is not a length.
    bool coded = (group == 0 && (operation == 6 || operation == 7)) ||
                 (group == 2 && operation == 7) || (group == 1 && operation == 5);
    bool whole = bits(code, 6, 6) || coded;
    set d = two(d_of(code), whole), m = two(m_of(code), whole);
    instruction made = of(KIND_VECTOR, whole, m, d);
    if (coded) {
        made.kind = group == 0 ? KIND_AES : KIND_SHA;
        // Only AESMC and AESIMC do not read their destination.
        if (group != 0 || operation == 6)
            made.reads |= d;
    } else if (group == 2 && operation < 4) {
        // VSWP, VTRN, VUZP, VZIP.
        made.reads |= d;
        made.writes |= m;
    } else if (group == 3) {
        made.kind = KIND_VECTOR_FLOAT;
    }
    return made;
}

static instruction data_processing(uint32_t code) {
    if (!bits(code, 23, 23))
        return same_length(code);
    if (bits(code, 4, 4))
        return by_immediate(code);
    if (bits(code, 21, 20) != 3)
        return other_lengths(code);
    bool whole = bits(code, 6, 6);
    set d = two(d_of(code), whole);
    if (!bits(code, 24, 24)) // VEXT
        return of(KIND_VECTOR, whole, two(n_of(code), whole) | two(m_of(code), whole), d);
    if (!bits(code, 11, 11))
        return miscellaneous(code);
    if (bits(code, 10, 10)) // VDUP
        return of(KIND_VECTOR, whole, one(m_of(code)), d);
    // VTBL and VTBX.
    set table = 0;
    for (unsigned i = 0; i <= bits(code, 9, 8); i++)
        table |= one(n_of(code) + i);
    set d_one = one(d_of(code));
    return of(KIND_VECTOR, false, table | one(m_of(code)) | (bits(code, 6, 6) ? d_one : 0), d_one);
}

static instruction moved(bool loads, set address, set data, unsigned words, bool back) {
    instruction made = {.kind = loads ? KIND_VECTOR_LOAD : KIND_STORE_MANY,
                        .words = words,
                        .address = address,
                        .reads = address};
    if (loads) {
        made.writes = data;
    } else {
        made.reads |= data;
        made.late = data;
    }
    if (back)
        made.soon = address;
    return made;
}

// A7.7: elements and structures.
static instruction structures(uint32_t code) {
    static const uint8_t REGISTERS_OF[16] = {4, 4, 4, 4, 3, 3, 3, 1, 2, 2, 2};
    set base = bit(bits(code, 19, 16)), data = 0;
    bool loads = bits(code, 21, 21), back = bits(code, 3, 0) != PC;
    unsigned count = bits(code, 23, 23) ? bits(code, 9, 8) + 1 : REGISTERS_OF[bits(code, 11, 8)];
    for (unsigned i = 0; i < count; i++)
        data |= one(d_of(code) + i);
    instruction made = moved(loads, base, data, 2 * count, back);
    // A load of one lane keeps the others.
    if (loads && bits(code, 23, 23) && bits(code, 11, 10) != 3)
        made.reads |= data;
    return made;
}

// A7.6, A7.8, A7.9: coprocessors 10 and 11.
static instruction extension(uint32_t code) {
    set base = bit(bits(code, 19, 16)), t = bit(bits(code, 15, 12));
    bool wide = bits(code, 8, 8), loads = bits(code, 20, 20);
    if (bits(code, 27, 25) == 6 && bits(code, 24, 21) == 2) {
        // VMOV between a D register, or two S registers, and two general ones.
        set vector = wide ? one(m_of(code)) : one(bits(code, 3, 0) >> 1);
        set general = t | base;
        return of(KIND_VECTOR_MOVE, true, loads ? vector : general, loads ? general : vector);
    }
    if (bits(code, 27, 25) == 6) {
        bool single = bits(code, 24, 24) && !bits(code, 21, 21);
        unsigned words = single ? 1u + wide : bits(code, 7, 0);
        unsigned first = wide ? d_of(code) : bits(code, 15, 12);
        set data = 0;
        for (unsigned i = 0; i < (words + 1) / 2; i++)
            data |= one(first + i);
        return moved(loads, base, data, words, bits(code, 21, 21));
    }
    if (bits(code, 4, 4)) {
        set vector = one(wide ? n_of(code) : bits(code, 19, 17));
        if (loads && t == bit(PC))
            t = bit(FLAGS);
        return of(KIND_VECTOR_MOVE, true, loads ? vector : t, loads ? t : vector);
    }
    set d = one(wide ? d_of(code) : bits(code, 15, 13));
    set n = one(wide ? n_of(code) : bits(code, 19, 17));
    set m = one(wide ? m_of(code) : bits(code, 3, 1));
    return of(KIND_VECTOR_FLOAT, true, d | n | m, d);
}

instruction vector_decode(uint32_t code) {
    if (code >> 25 == 0x79)
        return data_processing(code);
    if (code >> 24 == 0xF4)
        return structures(code);
    if ((bits(code, 27, 25) == 6 || bits(code, 27, 24) == 14) && bits(code, 11, 9) == 5)
        return extension(code);
    return (instruction){.kind = KIND_OTHER};
}

// A7.1: the same, with other upper bits.
bool vector_of_t32(uint32_t code, uint32_t *a32) {
    if ((code & 0xEF000000) == 0xEF000000) {
        *a32 = 0xF2000000 | bits(code, 28, 28) << 24 | (code & 0x00FFFFFF);
        return true;
    }
    if ((code & 0xFF100000) == 0xF9000000) {
        *a32 = 0xF4000000 | (code & 0x00FFFFFF);
        return true;
    }
    *a32 = code;
    return bits(code, 27, 26) == 3;
}
