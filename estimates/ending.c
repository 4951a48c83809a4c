#include "ending.h"

#include <string.h>

static uint32_t word(const uint8_t *code) {
    uint32_t value;
    memcpy(&value, code, sizeof value);
    return value;
}

// ARM Architecture Reference Manual, DDI 0406C, A5: A32.
ending ending_of_arm(const uint8_t *code, size_t length) {
    (void)length;
    uint32_t value = word(code);
    int always = value >> 28 == 14, link = value >> 24 & 1;
    if (value >> 28 == 15)
        return (value >> 25 & 7) == 5 ? ENDING_CALL : ENDING_NONE;
    if ((value >> 25 & 7) == 5)
        return link ? ENDING_CALL : always ? ENDING_JUMP : ENDING_CONDITIONAL;
    if ((value & 0x0FFFFFF0) == 0x012FFF30)
        return ENDING_CALL_INDIRECT;
    if ((value & 0x0FFFFFFF) == 0x012FFF1E || (value & 0x0FFFFFFF) == 0x01A0F00E)
        return ENDING_RETURN;
    // LDM and LDR from the stack.
    if ((value & 0x0E1F8000) == 0x081D8000 || (value & 0x0E1FF000) == 0x041DF000)
        return ENDING_RETURN;
    if ((value & 0x0FFFFFF0) == 0x012FFF10 || (value & 0x0C10F000) == 0x0410F000)
        return ENDING_INDIRECT;
    if ((value & 0x0C00F000) == 0x0000F000 && (value >> 23 & 3) != 2)
        return ENDING_INDIRECT;
    return ENDING_NONE;
}

// The same manual, A6.2: of 16 bits.
static ending ending_of_narrow(uint32_t value) {
    if (value >> 12 == 13 && (value >> 9 & 7) != 7)
        return ENDING_CONDITIONAL;
    if ((value & 0xF500) == 0xB100) // CBZ, CBNZ
        return ENDING_CONDITIONAL;
    if (value >> 11 == 28)
        return ENDING_JUMP;
    if ((value & 0xFF80) == 0x4780)
        return ENDING_CALL_INDIRECT;
    if (value == 0x4770 || (value & 0xFF00) == 0xBD00 || value == 0x46F7)
        return ENDING_RETURN;
    if ((value & 0xFF80) == 0x4700 || (value & 0xFF87) == 0x4687 || (value & 0xFF87) == 0x4487)
        return ENDING_INDIRECT;
    return ENDING_NONE;
}

// A6.3: of 32 bits.
ending ending_of_thumb(const uint8_t *code, size_t length) {
    uint32_t halves = word(code), value = halves << 16 | halves >> 16;
    if (length == 2)
        return ending_of_narrow(halves & 0xFFFF);
    if ((value & 0xF8008000) == 0xF0008000) {
        if (value & 0x4000)
            return ENDING_CALL;
        if (value & 0x1000)
            return ENDING_JUMP;
        return (value >> 23 & 7) == 7 ? ENDING_NONE : ENDING_CONDITIONAL;
    }
    if ((value & 0xFFD00000) == 0xE8900000 || (value & 0xFFD00000) == 0xE9100000)
        return !(value & 0x8000)          ? ENDING_NONE
               : (value >> 16 & 15) == 13 ? ENDING_RETURN
                                          : ENDING_INDIRECT;
    if ((value & 0xFF70F000) == 0xF850F000)
        return (value >> 16 & 15) == 13 ? ENDING_RETURN : ENDING_INDIRECT;
    if ((value & 0xFFF0FFE0) == 0xE8D0F000) // TBB, TBH
        return ENDING_INDIRECT;
    return ENDING_NONE;
}

// Arm Architecture Reference Manual, DDI 0487, C4.1: branches, exceptions and system instructions.
ending ending_of_aarch64(const uint8_t *code, size_t length) {
    (void)length;
    uint32_t value = word(code);
    switch (value >> 24) {
    case 0x54: // B.cond
    case 0x34: // CBZ, CBNZ, TBZ, TBNZ, of 32 and 64 bits
    case 0x35:
    case 0x36:
    case 0x37:
    case 0xB4:
    case 0xB5:
    case 0xB6:
    case 0xB7:
        return ENDING_CONDITIONAL;
    case 0xD6: // BR, BLR, RET
        return (value >> 21 & 7) == 2   ? ENDING_RETURN
               : (value >> 21 & 7) == 1 ? ENDING_CALL_INDIRECT
                                        : ENDING_INDIRECT;
    default:
        return value >> 26 == 0x05 ? ENDING_JUMP : value >> 26 == 0x25 ? ENDING_CALL : ENDING_NONE;
    }
}

// Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, appendix A.
ending ending_of_x86(const uint8_t *code, size_t length) {
    // Prefixes: repeat, segments, operand size, and REX if present.
    size_t at = 0;
    while (at + 1 < length && (code[at] == 0xF2 || code[at] == 0xF3 || code[at] == 0x3E ||
                               code[at] == 0x2E || code[at] == 0x66))
        at++;
    if (at + 1 < length && code[at] >> 4 == 4)
        at++;
    uint8_t first = code[at], second = at + 1 < length ? code[at + 1] : 0;
    if (first >> 4 == 7 || (first == 0x0F && second >> 4 == 8) || (first >= 0xE0 && first <= 0xE3))
        return ENDING_CONDITIONAL;
    if (first == 0xE9 || first == 0xEB)
        return ENDING_JUMP;
    if (first == 0xE8)
        return ENDING_CALL;
    if (first == 0xC2 || first == 0xC3)
        return ENDING_RETURN;
    if (first == 0xFF)
        return (second >> 3 & 7) == 2   ? ENDING_CALL_INDIRECT
               : (second >> 3 & 7) == 4 ? ENDING_INDIRECT
                                        : ENDING_NONE;
    return ENDING_NONE;
}
