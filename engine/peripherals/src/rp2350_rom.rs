//! What programs use of the RP2350's boot ROM on its RISC-V cores (Pico SDK, `bootrom_constants.h` and
//! `picobin.h`): the start of a program in flash, and how functions and data are looked up. It finds
//! the function that resets the ROM's own state ('SR'), which has nothing to do here, and no other,
//! and no data. This is our own code, so its time is not silicon's.

/// Where the part that is there begins.
pub const START: u32 = 0x7d00;
const BYTES: usize = 0x100;

/// Look up a function: lui a5, 5; addi a5, a5, 0x253; bne a0, a5, .+16; lui a0, 8; addi a0, a0, -0x2e0;
/// ret; li a0, 0; ret.
const LOOKUP: [u32; 8] = [
    0x0000_57b7,
    0x2537_8793,
    0x00f5_1863,
    0x0000_8537,
    0xd205_0513,
    0x0000_8067,
    0x0000_0513,
    0x0000_8067,
];
/// In it, what finds nothing.
const NOTHING: u32 = START + 0x18;
/// What does nothing: ret.
const RETURN: (usize, u32) = (0x20, 0x0000_8067);

/// Where that of the ROM is that starts a program in flash.
pub const BOOT_AT: usize = 0x30;
/// Where flash begins.
pub const FLASH: u32 = 0x1000_0000;
/// Start the program in flash, as the block says that is in its first 4 KB: at its entry point, or else
/// where flash begins.
///
/// lui a0, 0x10000; lui a1, 0x10001; lui a2, 0xffffe; addi a2, a2, -0x12d;
/// 1: beq a0, a1, 5f; lw a3, 0(a0); addi a0, a0, 4; bne a3, a2, 1b;
/// 2: lbu a3, 0(a0); lbu a4, 1(a0); li a5, 0x44; beq a3, a5, 3f; li a5, 0xff; beq a3, a5, 4f;
/// beqz a4, 1b; slli a4, a4, 2; add a0, a0, a4; j 2b;
/// 3: lw sp, 8(a0); lw a0, 4(a0); jr a0; 4: lui sp, 0x20082; lui a0, 0x10000; jr a0; 5: ebreak.
const BOOT: [u32; 25] = [
    0x1000_0537,
    0x1000_15b7,
    0xffff_e637,
    0xed36_0613,
    0x04b5_0863,
    0x0005_2683,
    0x0045_0513,
    0xfec6_9ae3,
    0x0005_4683,
    0x0015_4703,
    0x0440_0793,
    0x00f6_8e63,
    0x0ff0_0793,
    0x02f6_8063,
    0xfc07_0ce3,
    0x0027_1713,
    0x00e5_0533,
    0xfddf_f06f,
    0x0085_2103,
    0x0045_2503,
    0x0005_0067,
    0x2008_2137,
    0x1000_0537,
    0x0005_0067,
    0x0010_0073,
];

/// Where programs find how to look up data and functions, and where the ROM is entered: j .-0xcc.
const ENTRIES: (usize, [u32; 2]) = (0xf8, [(START << 16) | NOTHING, 0xf35f_f06f]);

/// The contents from [`START`] on.
pub fn contents() -> Vec<u8> {
    let mut rom = vec![0; BYTES];
    let parts = [
        (0, &LOOKUP[..]),
        (RETURN.0, &[RETURN.1]),
        (BOOT_AT, &BOOT),
        (ENTRIES.0, &ENTRIES.1),
    ];
    for (at, words) in parts {
        for (place, word) in rom[at..].chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }
    rom
}
