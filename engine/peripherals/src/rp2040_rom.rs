//! What programs call of the RP2040's boot ROM (data sheet, 2.8.3, bootrom contents; the codes are in
//! the Pico SDK, `bootrom_constants.h`): how to look up functions and data, and those that copy, fill
//! and count. They are our own, so their time is not silicon's. Tables of floating point lead out of
//! what is emulated, and other functions are not found.

/// Bytes of the ROM that are there.
pub const BYTES: usize = 0x400;
/// Where what is left out begins: no address of it is memory.
const LEFT_OUT: u32 = 0x3f01;

/// `rom_table_lookup`: ldrh r2, [r0]; cmp r2, #0; beq .+14; cmp r2, r1; beq .+6; adds r0, #4; b .-12;
/// ldrh r0, [r0, #2]; bx lr; movs r0, #0; bx lr.
const LOOKUP: &[u16] = &[
    0x8802, 0x2a00, 0xd005, 0x428a, 0xd001, 0x3004, 0xe7f8, 0x8840, 0x4770, 0x2000, 0x4770,
];
/// movs r3, r0; cmp r2, #0; beq .+10; strb r1, [r3]; adds r3, #1; subs r2, #1; bne .-6; bx lr.
const MEMSET: &[u16] = &[
    0x0003, 0x2a00, 0xd003, 0x7019, 0x3301, 0x3a01, 0xd1fb, 0x4770,
];
/// push {r0, lr}; cmp r2, #0; beq .+14; ldrb r3, [r1]; strb r3, [r0]; adds r0, #1; adds r1, #1;
/// subs r2, #1; bne .-10; pop {r0, pc}.
const MEMCPY: &[u16] = &[
    0xb501, 0x2a00, 0xd005, 0x780b, 0x7003, 0x3001, 0x3101, 0x3a01, 0xd1f9, 0xbd01,
];
/// movs r3, r0; cmp r2, #0; beq .+8; stm r3!, {r1}; subs r2, #4; bhi .-4; bx lr.
const MEMSET4: &[u16] = &[0x0003, 0x2a00, 0xd002, 0xc302, 0x3a04, 0xd8fc, 0x4770];
/// push {r0, lr}; cmp r2, #0; beq .+10; ldm r1!, {r3}; stm r0!, {r3}; subs r2, #4; bhi .-6;
/// pop {r0, pc}.
const MEMCPY44: &[u16] = &[
    0xb501, 0x2a00, 0xd003, 0xc908, 0xc008, 0x3a04, 0xd8fb, 0xbd01,
];
/// movs r1, #0; cmp r0, #0; beq .+10; subs r2, r0, #1; ands r0, r2; adds r1, #1; b .-10;
/// movs r0, r1; bx lr.
const POPCOUNT32: &[u16] = &[
    0x2100, 0x2800, 0xd003, 0x1e42, 0x4010, 0x3101, 0xe7f9, 0x0008, 0x4770,
];
/// movs r1, #32; cmp r0, #0; beq .+8; lsrs r0, r0, #1; subs r1, #1; b .-8; movs r0, r1; bx lr.
const CLZ32: &[u16] = &[
    0x2120, 0x2800, 0xd002, 0x0840, 0x3901, 0xe7fa, 0x0008, 0x4770,
];
/// movs r1, #32; cmp r0, #0; beq .+12; movs r1, #0; lsrs r0, r0, #1; bcs .+6; adds r1, #1; b .-6;
/// movs r0, r1; bx lr.
const CTZ32: &[u16] = &[
    0x2120, 0x2800, 0xd004, 0x2100, 0x0840, 0xd201, 0x3101, 0xe7fb, 0x0008, 0x4770,
];
/// movs r1, #0; movs r2, #32; lsrs r0, r0, #1; adcs r1, r1; subs r2, #1; bne .-6; movs r0, r1; bx lr.
const REVERSE32: &[u16] = &[
    0x2100, 0x2220, 0x0840, 0x4149, 0x3a01, 0xd1fb, 0x0008, 0x4770,
];

/// Functions by their codes.
const FUNCTIONS: [([u8; 2], &[u16]); 8] = [
    (*b"P3", POPCOUNT32),
    (*b"R3", REVERSE32),
    (*b"L3", CLZ32),
    (*b"T3", CTZ32),
    (*b"MS", MEMSET),
    (*b"S4", MEMSET4),
    (*b"MC", MEMCPY),
    (*b"C4", MEMCPY44),
];
/// Tables of functions for numbers of single and of double precision.
const FLOATING_POINT: [[u8; 2]; 2] = [*b"SF", *b"SD"];
/// Functions in each.
const FUNCTIONS_OF_TABLE: usize = 32;

/// The ROM's contents.
pub fn contents() -> Vec<u8> {
    let mut rom = vec![0; 0x20];
    let put = |rom: &mut Vec<u8>, words: &[u16]| {
        let at = rom.len() as u16;
        rom.extend(words.iter().flat_map(|half| half.to_le_bytes()));
        at
    };
    let lookup = put(&mut rom, LOOKUP) | 1;
    let mut table = Vec::new();
    for (code, function) in FUNCTIONS {
        table.extend([u16::from_le_bytes(code), put(&mut rom, function) | 1]);
    }
    table.push(0);
    let functions = put(&mut rom, &table);
    rom.resize(rom.len().next_multiple_of(4), 0);
    let left_out = [LEFT_OUT as u16, 0].repeat(FUNCTIONS_OF_TABLE);
    let floating = put(&mut rom, &left_out);
    let table = FLOATING_POINT.map(|code| [u16::from_le_bytes(code), floating]);
    let data = put(&mut rom, &[table.concat(), vec![0]].concat());
    // The third version is that of a chip B2.
    rom[0x10..0x14].copy_from_slice(b"Mu\x01\x03");
    for (at, value) in [(0x14, functions), (0x16, data), (0x18, lookup)] {
        rom[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
    rom.resize(BYTES, 0);
    rom
}
