//! Random programs take the same time however they are run: looked up in blocks, looked up one
//! instruction at a time, or simulated cycle by cycle with nothing remembered.

use joulemark_kernel::{Cycles, Fault};

use crate::bus::{Bus, MemorySettings, Width};
use crate::core::{Config, Core, Exit, Limits};
use crate::decode::{Extensions, decode};
use crate::memory::{Region, RegionKind};
use crate::op::{Kind, Op};
use crate::timing::Timing;

const FLASH: u32 = 0;
const GPRAM: u32 = 0x1100_0000;
const SRAM: u32 = 0x2000_0000;
/// A table of constants in flash, which no code is near.
const TABLE: u32 = 0x1_0000;

struct Chip(MemorySettings);

impl Bus for Chip {
    fn read(&mut self, _: u32, _: Width, now: Cycles) -> Result<u32, Fault> {
        // What a timer would show: the program sees when it read.
        Ok(now.0 as u32)
    }

    fn write(&mut self, _: u32, _: u32, _: Width, _: Cycles) -> Result<(), Fault> {
        Ok(())
    }

    fn memory_settings(&self) -> MemorySettings {
        self.0
    }

    fn reset_requested(&mut self, _: Cycles) -> Result<(), Fault> {
        Ok(())
    }
}

/// Xorshift (Marsaglia 2003).
struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.next() % bound
    }
}

/// Contents of the registers: R0 to R2 and R4 are free; R3 is a small index, R5 points into SRAM,
/// R6 to the table in flash, R7 into GPRAM, R8 to a device; R9 counts turns.
const FREE: u32 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 10 | 1 << 12;
const POINTERS: u32 = 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8;

/// Whether an instruction keeps to the registers' uses, and does not branch.
fn is_usable(op: &Op) -> bool {
    let free = |register: u8| FREE >> register & 1 != 0;
    let readable = |register: u8| (FREE | 1 << 3) >> register & 1 != 0;
    let pointer = |register: u8| POINTERS >> register & 1 != 0;
    if op.is(Op::UNPREDICTABLE) || op.is(Op::UNPRIVILEGED) {
        return false;
    }
    match op.kind {
        Kind::Nop => true,
        Kind::LdrImm
        | Kind::LdrbImm
        | Kind::LdrhImm
        | Kind::LdrsbImm
        | Kind::LdrshImm
        | Kind::StrImm
        | Kind::StrbImm
        | Kind::StrhImm => {
            let store = matches!(op.kind, Kind::StrImm | Kind::StrbImm | Kind::StrhImm);
            let base = if store { op.rn != 6 } else { true };
            let small = op.imm.cast_signed().unsigned_abs() < 0x80;
            let device = op.rn == 8 && op.imm & 3 != 0;
            let word = op.rn != 8 || matches!(op.kind, Kind::LdrImm | Kind::StrImm);
            let back = op.is(Op::WRITEBACK) && op.rn != 5;
            pointer(op.rn) && base && small && !device && word && !back && free(op.rd)
        }
        Kind::LdrReg
        | Kind::LdrbReg
        | Kind::LdrhReg
        | Kind::LdrsbReg
        | Kind::LdrshReg
        | Kind::StrReg
        | Kind::StrbReg
        | Kind::StrhReg => {
            let store = matches!(op.kind, Kind::StrReg | Kind::StrbReg | Kind::StrhReg);
            pointer(op.rn) && op.rn != 8 && !(store && op.rn == 6) && op.rm == 3 && free(op.rd)
        }
        Kind::LdrLit | Kind::LdrbLit | Kind::LdrhLit | Kind::LdrsbLit | Kind::LdrshLit => {
            op.imm < 64 && free(op.rd)
        }
        Kind::Ldrd | Kind::Strd => {
            let store = op.kind == Kind::Strd;
            pointer(op.rn)
                && op.rn != 8
                && !(store && op.rn == 6)
                && op.imm.cast_signed().unsigned_abs() < 0x80
                && (!op.is(Op::WRITEBACK) || op.rn == 5)
                && free(op.rd)
                && free(op.ra)
        }
        Kind::Ldmia | Kind::Ldmdb | Kind::Stmia | Kind::Stmdb => {
            let store = matches!(op.kind, Kind::Stmia | Kind::Stmdb);
            let stack = op.rn == 13 && (op.kind == Kind::Stmdb || op.kind == Kind::Ldmia);
            (stack || (pointer(op.rn) && op.rn != 8 && !(store && op.rn == 6)))
                && (!op.is(Op::WRITEBACK) || op.rn == 5 || stack)
                && op.imm & !FREE == 0
        }
        kind if (kind as u8) < (Kind::LdrImm as u8) && kind != Kind::Undefined => {
            let compares = matches!(
                kind,
                Kind::TstImm
                    | Kind::TeqImm
                    | Kind::CmnImm
                    | Kind::CmpImm
                    | Kind::TstReg
                    | Kind::TeqReg
                    | Kind::CmnReg
                    | Kind::CmpReg
            );
            let long = matches!(kind, Kind::Smull | Kind::Umull | Kind::Smlal | Kind::Umlal);
            (compares || free(op.rd))
                && (!long || (free(op.ra) && op.ra != op.rd))
                && (readable(op.rn) || op.rn == 0)
        }
        _ => false,
    }
}

/// Whether a floating-point instruction keeps to them; its own registers are all free.
fn is_usable_float(op: &Op) -> bool {
    let free = |register: u8| FREE >> register & 1 != 0;
    if op.is(Op::UNPREDICTABLE) {
        return false;
    }
    match op.kind {
        // R7 is aligned.
        Kind::Vldr | Kind::Vstr => op.rn == 7 && op.imm.cast_signed().unsigned_abs() < 0x80,
        Kind::Vldm | Kind::Vstm => op.rn == 7 && !op.is(Op::WRITEBACK),
        Kind::VmovToCore => free(op.rd),
        Kind::VmovTwoToCore => free(op.rd) && free(op.rn),
        Kind::Vmrs => op.rd == 15 || free(op.rd),
        kind => kind.is_float() && kind != Kind::VUndefined,
    }
}

/// Halfwords of a random program at `start`, which ends in a branch to itself.
fn program(random: &mut Random, extensions: Extensions) -> Vec<u16> {
    let mut code: Vec<u16> = Vec::new();
    let plain = |random: &mut Random, code: &mut Vec<u16>| loop {
        // Loads and stores are a small part of the encodings.
        let first = if extensions.float && random.below(4) == 0 {
            0xec00 | random.below(0x300)
        } else if random.below(3) == 0 {
            [
                0x5000, 0x6000, 0x7000, 0x8000, 0xc000, 0xb400, 0xf800, 0xe800,
            ][random.below(8) as usize]
                | (random.next() & 0xfff)
        } else {
            random.next()
        } as u16;
        let second = random.next() as u16;
        let second = if first >> 8 >= 0xec && first >> 8 <= 0xee {
            second & 0xf1ff | 0x0a00
        } else {
            second
        };
        let op = decode(first, second, extensions);
        if is_usable(&op) || is_usable_float(&op) {
            code.push(first);
            if op.length == 4 {
                code.push(second);
            }
            return;
        }
    };
    for _ in 0..3 {
        // MOV.W R9, #turns, and the loop's body.
        code.extend([0xf04f, (0x0900 | (1 + random.below(6))) as u16]);
        let top = code.len();
        for _ in 0..8 + random.below(24) {
            match random.below(12) {
                0 => {
                    // A conditional branch forward over some instructions, or one that always is
                    // taken, or CBZ, or a wide one.
                    let at = code.len();
                    let kind = random.below(4);
                    code.push(0);
                    if kind == 3 {
                        code.push(0);
                    }
                    for _ in 0..=random.below(5) {
                        plain(random, &mut code);
                    }
                    let distance = code.len() as u32 - at as u32 - 2;
                    let condition = random.below(14);
                    match kind {
                        0 => code[at] = (0xd000 | condition << 8 | distance & 0xff) as u16,
                        1 => code[at] = (0xe000 | distance) as u16,
                        2 => code[at] = (0xb100 | distance << 3 | random.below(3)) as u16,
                        _ => {
                            code[at] = (0xf000 | condition << 6) as u16;
                            code[at + 1] = (0x8000 | distance) as u16;
                        }
                    }
                }
                1 => {
                    // IT with the instructions that it covers.
                    let mask = 1 + random.below(15);
                    code.push((0xbf00 | random.below(14) << 4 | mask) as u16);
                    for _ in 0..4 - mask.trailing_zeros() {
                        plain(random, &mut code);
                    }
                }
                2 => {
                    // BL over some instructions to a subroutine: those, BX LR; and on behind it.
                    // BL +2; B behind; subroutine: ...; BX LR
                    code.extend([0xf000, 0xf801]);
                    let at = code.len();
                    code.push(0);
                    for _ in 0..random.below(5) {
                        plain(random, &mut code);
                    }
                    code.push(0x4770);
                    code[at] = (0xe000 | (code.len() - at - 2)) as u16;
                }
                3 => {
                    // MOVW R12, #case; TBB [PC, R12] with four targets that are all behind it.
                    let case = random.below(4);
                    code.extend([0xf240, (0x0c00 | case) as u16, 0xe8df, 0xf00c]);
                    code.extend([0x0302, 0x0202]);
                    code.push(0xbf00);
                }
                _ => plain(random, &mut code),
            }
        }
        // SUBS.W R9, R9, #1; BNE.W top
        code.extend([0xf1b9, 0x0901]);
        let offset = (top as i32 - code.len() as i32 - 2) as u32;
        code.push((0xf440 | offset >> 11 & 0x3f) as u16);
        code.push((0xa800 | offset & 0x7ff) as u16);
    }
    code.push(0xe7fe);
    code
}

struct Case {
    settings: MemorySettings,
    write_buffer: bool,
    timing: Timing,
    start: u32,
    /// Jumps in flash and stores to SRAM take longer, and flash is neither buffered nor cached.
    jumps: bool,
}

fn core(case: &Case, code: &[u16], seed: u32) -> (Core<Chip>, u32) {
    let mut flash = Region::new(RegionKind::Flash, FLASH, 0x20000);
    if case.jumps {
        flash.jump_wait_states = 1;
        flash.jump_line_bytes = 8;
    } else if case.timing.revision >= 2 {
        flash = Region {
            wait_states: 2,
            line_bytes: if case.timing.cortex_m4 { 16 } else { 8 },
            cached: true,
            ..flash
        };
    }
    let mut core = Core::new(
        Chip(case.settings),
        &Config {
            regions: vec![
                flash,
                Region {
                    cache_ram: true,
                    ..Region::new(RegionKind::Ram, GPRAM, 0x2000)
                },
                Region {
                    store_wait_states: case.jumps.into(),
                    ..Region::new(RegionKind::Ram, SRAM, 0x5000)
                },
            ],
            interrupts: 16,
            priority_bits: 3,
            cpuid: 0,
            timing: case.timing,
            device_waits: Vec::new(),
            systick_calibration: 0,
            mpu_regions: 0,
            stop_on_fault: true,
        },
    );
    let bytes: Vec<u8> = code.iter().flat_map(|half| half.to_le_bytes()).collect();
    core.load_image(case.start, &bytes).expect("memory");
    let mut random = Random(seed);
    let table: Vec<u8> = (0..0x400).map(|_| random.next() as u8).collect();
    core.load_image(TABLE, &table).expect("memory");
    core.set_register(15, case.start);
    for register in [0, 1, 2, 4, 10, 12] {
        let shift = random.below(32);
        core.set_register(register, random.next() >> shift);
    }
    core.set_register(3, random.below(0x40));
    let middle = if case.settings.cache {
        SRAM + 0x800
    } else {
        GPRAM + 0x1800
    };
    for (register, value) in [
        (5, SRAM + 0x3000 + random.below(4) * random.below(2)),
        (6, TABLE + 0x100 + random.below(16)),
        (7, middle),
        (8, 0x4000_0000),
        (13, SRAM + 0x4800),
    ] {
        core.set_register(register, value);
    }
    if case.timing.float {
        core.debug_write(0xe000_ed88, 0x00f0_0000).expect("CPACR");
    }
    if !case.write_buffer {
        core.debug_write(0xe000_e008, 2).expect("ACTLR");
    }
    let end = case.start + 2 * (code.len() as u32 - 1);
    core.set_breakpoint(end);
    (core, end)
}

/// Where it ended, when, and what the program left.
fn result(core: &mut Core<Chip>, exit: &Exit) -> String {
    let registers: Vec<u32> = (0..16).map(|number| core.register(number)).collect();
    format!(
        "{exit:?} after {} instructions, {} cycles, counters {:?}, {registers:x?}",
        core.instructions(),
        core.cycles().0,
        core.debug_counters(),
    )
}

/// Run with a write buffer that is switched off and on again.
fn run_changing(core: &mut Core<Chip>) -> Exit {
    for turn in 1..1000 {
        let until = Some(Cycles(turn * 97));
        let exit = core.run(Limits {
            until,
            step_first: true,
        });
        if exit != Exit::Cycles {
            return exit;
        }
        core.debug_write(0xe000_e008, turn as u32 % 2 * 2)
            .expect("ACTLR");
    }
    Exit::Cycles
}

fn compare(count: u32) {
    let mut random = Random(0x1234_5678);
    let mut ended = 0;
    let mut lessons = 0;
    let mut cycles = 0;
    for number in 0..count {
        let first_revision = random.below(4) == 0;
        let has_floats = !first_revision && random.below(3) == 0;
        let timing = match (first_revision, has_floats) {
            (true, _) => Timing::CORTEX_M3_R1,
            (_, true) => Timing::CORTEX_M4F,
            _ => Timing::CORTEX_M3,
        };
        let code = program(&mut random, timing.into());
        let seed = random.next() | 1;
        let on = |random: &mut Random| random.below(2) == 0;
        let cache = on(&mut random);
        let case = Case {
            settings: MemorySettings {
                line_buffer: on(&mut random),
                cache: cache && !first_revision,
                ..MemorySettings::default()
            },
            write_buffer: on(&mut random) || first_revision,
            timing,
            start: match random.below(6) {
                0 if !cache || first_revision => GPRAM + 0x100,
                1 => SRAM + 0x100,
                _ => FLASH + 0x100 + 2 * random.below(8),
            },
            jumps: random.below(4) == 0,
        };
        let limits = |until| Limits {
            until: Some(Cycles(until)),
            step_first: true,
        };
        let (mut blocks, _) = core(&case, &code, seed);
        let exit = blocks.run(limits(1_000_000));
        let expected = result(&mut blocks, &exit);
        ended += u32::from(matches!(exit, Exit::Breakpoint(_)));
        cycles += blocks.cycles().0;

        let (mut simulated, _) = core(&case, &code, seed);
        simulated.pipe.look_nothing_up();
        let exit = simulated.run(limits(1_000_000));
        assert_eq!(
            result(&mut simulated, &exit),
            expected,
            "program {number} simulated, {:?}, write buffer {}, at {:#x}: {code:04x?}",
            case.settings,
            case.write_buffer,
            case.start
        );

        let digests = [false, true].map(|one_by_one| {
            let (mut observed, _) = core(&case, &code, seed);
            observed.start_address_digest();
            if one_by_one {
                observed.keep_accesses(true);
            }
            let exit = observed.run(limits(1_000_000));
            assert_eq!(
                result(&mut observed, &exit),
                expected,
                "program {number} observed, at {:#x}: {code:04x?}",
                case.start
            );
            observed.address_digest()
        });
        assert_eq!(digests[0], digests[1], "program {number}: {code:04x?}");

        let (mut taught, _) = core(&case, &code, seed);
        taught.learn_from(&mut blocks);
        let known = taught.pipe.ways();
        let exit = taught.run(limits(1_000_000));
        assert_eq!(
            result(&mut taught, &exit),
            expected,
            "program {number} taught, {:?}, write buffer {}, at {:#x}: {code:04x?}",
            case.settings,
            case.write_buffer,
            case.start
        );
        if case.start < GPRAM {
            // The first block is looked up in no state yet, and so are those behind an exception.
            lessons += u32::from(known > 1 && taught.pipe.ways() <= known + 1);
        }

        let (mut changing, _) = core(&case, &code, seed);
        let exit = run_changing(&mut changing);
        let expected_changing = result(&mut changing, &exit);
        let (mut simulated, _) = core(&case, &code, seed);
        simulated.pipe.look_nothing_up();
        let exit = run_changing(&mut simulated);
        assert_eq!(
            result(&mut simulated, &exit),
            expected_changing,
            "program {number} with a write buffer that comes and goes, {:?}, at {:#x}: {code:04x?}",
            case.settings,
            case.start
        );

        let (mut steps, _) = core(&case, &code, seed);
        // Of their own, so that the programs do not depend on how long those before took.
        let mut lengths = Random(seed);
        let mut exit = Exit::Cycles;
        let mut until = 0;
        while exit == Exit::Cycles && until < 1_000_000 {
            exit = steps.run(limits(until));
            until = steps.cycles().0 + u64::from(lengths.below(40));
        }
        assert_eq!(
            result(&mut steps, &exit),
            expected,
            "program {number} in steps, {:?}, write buffer {}, at {:#x}: {code:04x?}",
            case.settings,
            case.write_buffer,
            case.start
        );
    }
    // Most programs reach their end, so that they test what they are for.
    assert!(ended * 10 > count * 9, "{ended} of {count} ended");
    assert!(cycles > u64::from(count) * 300, "{cycles} cycles in all");
    assert!(
        lessons * 2 > count,
        "{lessons} of {count} took something over"
    );
}

#[test]
fn what_is_looked_up_takes_as_long_as_simulated() {
    compare(400);
}

#[test]
#[ignore = "half a minute"]
fn what_is_looked_up_takes_as_long_as_simulated_in_many_programs() {
    compare(20_000);
}
