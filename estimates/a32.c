// Fields as in the ARM Architecture Reference Manual, DDI 0406C, chapters A5 and A8.
#include "fields.h"

enum { ALWAYS = 14, NEVER = 15 };

static instruction multiply(uint32_t code) {
    instruction made = {.kind = KIND_MULTIPLY};
    uint32_t operation = bits(code, 23, 21);
    made.reads = bit(bits(code, 3, 0)) | bit(bits(code, 11, 8));
    made.writes = bit(bits(code, 19, 16));
    bool is_long = operation >= 4 || operation == 2;
    if (is_long) {
        made.kind = KIND_LONG;
        made.writes |= bit(bits(code, 15, 12));
    }
    // The addend of the product: MLA, MLS, and UMAAL, UMLAL and SMLAL with both halves.
    if (operation == 1 || operation == 3)
        made.reads |= bit(bits(code, 15, 12));
    if (operation == 2 || operation == 5 || operation == 7)
        made.reads |= made.writes;
    if (bits(code, 20, 20))
        made.writes |= bit(FLAGS);
    return made;
}

// Loads and stores of halfwords, signed bytes and pairs.
static instruction extra_transfer(uint32_t code) {
    instruction made = {.kind = KIND_STORE};
    set data = bit(bits(code, 15, 12)), base = bit(bits(code, 19, 16));
    uint32_t operation = bits(code, 6, 5);
    bool load = bits(code, 20, 20), pair = !load && operation >= 2;
    made.address = base | (bits(code, 22, 22) ? 0 : bit(bits(code, 3, 0)));
    made.reads = made.address;
    if (pair) {
        load = operation == 2;
        data |= data << 1;
        made.words = 2;
    }
    made.kind = load ? (pair ? KIND_LOAD_MANY : KIND_LOAD) : pair ? KIND_STORE_MANY : KIND_STORE;
    if (load) {
        made.writes = data;
    } else {
        made.reads |= data;
        made.late = data;
    }
    if (!bits(code, 24, 24) || bits(code, 21, 21))
        made.soon = base;
    return made;
}

static instruction transfer(uint32_t code) {
    instruction made = {.kind = KIND_STORE};
    set data = bit(bits(code, 15, 12)), base = bit(bits(code, 19, 16));
    bool load = bits(code, 20, 20), by_register = bits(code, 25, 25);
    made.address = base | (by_register ? bit(bits(code, 3, 0)) : 0);
    made.reads = made.address;
    uint32_t shift = bits(code, 11, 5);
    // Not shifted, or left by 2.
    bool slow = by_register && shift != 0 && shift != 2 << 2;
    if (load) {
        made.kind = slow ? KIND_LOAD_SLOW : KIND_LOAD;
        made.writes = data;
        if (data == bit(PC))
            made.kind = KIND_RETURN;
    } else {
        made.reads |= data;
        made.late = data;
    }
    if (!bits(code, 24, 24) || bits(code, 21, 21))
        made.soon = base;
    return made;
}

static instruction block_transfer(uint32_t code) {
    uint32_t list = bits(code, 15, 0);
    set base = bit(bits(code, 19, 16));
    instruction made = {.address = base, .reads = base, .words = count_of(list)};
    if (bits(code, 20, 20)) {
        made.kind = list & bit(PC) ? KIND_RETURN : KIND_LOAD_MANY;
        made.writes = list;
    } else {
        made.kind = KIND_STORE_MANY;
        made.reads |= list;
        made.late = list & ~base;
    }
    if (bits(code, 21, 21))
        made.soon = base;
    return made;
}

static instruction data_processing(uint32_t code) {
    instruction made = {.kind = KIND_ALU};
    uint32_t operation = bits(code, 24, 21);
    bool immediate = bits(code, 25, 25), flags = bits(code, 20, 20);
    bool compares = operation >= 8 && operation <= 11;
    bool moves = operation == 13 || operation == 15;
    if (!moves)
        made.reads |= bit(bits(code, 19, 16));
    // ADC, SBC, RSC.
    if (operation >= 5 && operation <= 7)
        made.reads |= bit(FLAGS);
    if (!immediate) {
        set shifted = bit(bits(code, 3, 0));
        made.reads |= shifted;
        if (bits(code, 4, 4)) {
            made.kind = KIND_ALU_BY_REG;
            made.reads |= bit(bits(code, 11, 8));
            made.early = shifted | bit(bits(code, 11, 8));
        } else if (bits(code, 11, 5) != 0) {
            made.kind = KIND_ALU_SHIFT;
            made.early = shifted;
        }
    }
    if (!compares)
        made.writes |= bit(bits(code, 15, 12));
    if (flags)
        made.writes |= bit(FLAGS);
    if (made.writes & bit(PC))
        made.kind = KIND_RETURN;
    return made;
}

// BX and BLX, CLZ, status registers, halfword multiplies, saturation.
static instruction miscellaneous(uint32_t code) {
    instruction made = {.kind = KIND_ALU};
    uint32_t operation = bits(code, 7, 4);
    if (operation & 8) {
        made.kind = KIND_MULTIPLY;
        made.reads = bit(bits(code, 3, 0)) | bit(bits(code, 11, 8));
        made.writes = bit(bits(code, 19, 16));
        // SMLAL adds to 64 bits; SMUL and SMULW have no addend.
        if (bits(code, 22, 21) == 2) {
            made.writes |= bit(bits(code, 15, 12));
            made.reads |= made.writes;
        } else if (bits(code, 22, 21) == 0 || (bits(code, 22, 21) == 1 && !bits(code, 5, 5))) {
            made.reads |= bit(bits(code, 15, 12));
        }
        return made;
    }
    made.reads = bit(bits(code, 3, 0));
    if (operation == 1 && bits(code, 22, 21) == 1) {
        made.kind = KIND_RETURN;
    } else if (operation == 3) {
        made.kind = KIND_RETURN;
        made.writes = bit(LR);
    } else if (operation == 1 || operation == 5) {
        made.writes = bit(bits(code, 15, 12));
    } else {
        made.kind = KIND_OTHER;
    }
    return made;
}

// Packing, extension, reversal, bit fields, multiplies of halfwords.
static instruction media(uint32_t code) {
    instruction made = {.kind = KIND_ALU};
    uint32_t operation = bits(code, 24, 20);
    made.reads = bit(bits(code, 3, 0));
    made.writes = bit(bits(code, 15, 12));
    if (operation >= 0x10 && operation <= 0x17) {
        bool divides = operation == 0x11 || operation == 0x13;
        made.kind = operation == 0x14 ? KIND_LONG : divides ? KIND_DIVIDE : KIND_MULTIPLY;
        made.reads |= bit(bits(code, 11, 8)) | (divides ? 0 : bit(bits(code, 15, 12)));
        made.writes = bit(bits(code, 19, 16));
        return made;
    }
    if (operation < 0x18 && bits(code, 19, 16) != PC)
        made.reads |= bit(bits(code, 19, 16));
    bool inserts = operation == 0x1C || operation == 0x1D,
         selects = operation == 8 && bits(code, 7, 4) == 11;
    if (inserts)
        made.reads |= made.writes;
    if (selects)
        return made;
    // Extensions rotate, and bit fields shift.
    if ((operation >= 8 && operation <= 0xF) || operation >= 0x1A) {
        made.kind = KIND_ALU_SHIFT;
        made.early = bit(bits(code, 3, 0));
    }
    return made;
}

static instruction unconditional(uint32_t code) {
    instruction made = {.kind = KIND_OTHER};
    // BLX branches; PLD reads only an address.
    if (bits(code, 27, 25) == 1 || bits(code, 27, 24) == 4)
        return vector_decode(code);
    if (bits(code, 27, 25) == 5)
        made.kind = KIND_BRANCH;
    else if (bits(code, 27, 26) == 1)
        made = (instruction){.kind = KIND_STORE, .address = bit(bits(code, 19, 16))};
    made.reads |= made.address;
    return made;
}

static instruction conditional(uint32_t code) {
    uint32_t operation = bits(code, 24, 21);
    bool sets = bits(code, 20, 20);
    switch (bits(code, 27, 25)) {
    case 0:
        if ((code & 0x90) == 0x90) {
            if (bits(code, 6, 5) != 0)
                return extra_transfer(code);
            if (bits(code, 24, 24))
                return (instruction){.kind = KIND_OTHER, .reads = bit(bits(code, 19, 16))};
            return multiply(code);
        }
        if (operation >= 8 && operation <= 11 && !sets)
            return miscellaneous(code);
        return data_processing(code);
    case 1:
        // MOVW and MOVT; hints and status registers.
        if ((operation == 8 || operation == 10) && !sets) {
            instruction made = {.kind = KIND_ALU, .writes = bit(bits(code, 15, 12))};
            made.reads = operation == 10 ? made.writes : 0;
            return made;
        }
        if ((operation == 9 || operation == 11) && !sets)
            return (instruction){.kind = KIND_OTHER};
        return data_processing(code);
    case 2:
        return transfer(code);
    case 3:
        return bits(code, 4, 4) ? media(code) : transfer(code);
    case 4:
        return block_transfer(code);
    case 5:
        return (instruction){.kind = KIND_BRANCH, .writes = bits(code, 24, 24) ? bit(LR) : 0};
    default:
        return vector_decode(code);
    }
}

instruction a32_decode(uint32_t code) {
    uint32_t condition = bits(code, 31, 28);
    if (condition == NEVER)
        return unconditional(code);
    instruction made = conditional(code);
    if (condition != ALWAYS) {
        // If it does not execute, its destinations keep their values.
        made.reads |= bit(FLAGS) | (made.writes & ~bit(FLAGS));
    }
    return made;
}
