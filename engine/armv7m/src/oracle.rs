//! The state that instructions leave, against Unicorn (an independent emulator): every 16-bit
//! encoding, samples of every 32-bit class, and random sequences with IT blocks.
//!
//! Needs Python with the package `unicorn`: `.venv/bin/python` or what `JOULEMARK_PYTHON` names.
//! Skipped with a message where there is none.
//!
//! A case: instructions to run (0: until an address), that address, 32 bytes of code for 0x1000,
//! registers 0 to 14, flags. An answer: whether it failed, registers 0 to 15, the status register,
//! and 4 KiB of data memory.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::decode::{Extensions, decode};
use crate::exec_float::FPCA;
use crate::op::{Kind, Op, is_wide};
use crate::{Bus, Config, Core, Exit, Limits, Region, RegionKind, Timing, Width};

const CODE: u32 = 0x1000;
const DATA: u32 = 0x2000_0000;
const DATA_BYTES: usize = 0x1000;

struct Nothing;

impl Bus for Nothing {
    fn read(&mut self, address: u32, _: Width, _: Cycles) -> Result<u32, Fault> {
        Err(Fault::new(FaultKind::Unmapped, "nothing").at(address))
    }

    fn write(&mut self, address: u32, _: u32, _: Width, _: Cycles) -> Result<(), Fault> {
        Err(Fault::new(FaultKind::Unmapped, "nothing").at(address))
    }

    fn reset_requested(&mut self, _: Cycles) -> Result<(), Fault> {
        Ok(())
    }
}

/// xorshift64*: reproducible, without a dependency.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    /// A register's value: random, small, extreme, or an address in the data.
    fn value(&mut self) -> u32 {
        match self.next() % 8 {
            0 => self.next() % 40,
            1 => [0, 1, u32::MAX, 0x8000_0000, 0x7fff_ffff, 0xffff][self.next() as usize % 6],
            // Unicorn has no bit-band alias at 0x2200_0000 and 0x4200_0000.
            2 => self.next() & !0x0200_0000,
            _ => DATA + 0x400 + self.next() % 0x800 / 4 * 4,
        }
    }

    /// A float of any class, or bits of something else.
    fn float(&mut self) -> u32 {
        let bits = self.next();
        let (sign, fraction) = (bits & 0x8000_0000, bits & 0x7f_ffff);
        match self.next() % 12 {
            0 => sign,
            1 => sign | fraction, // denormal
            2 => sign | 0x7f80_0000,
            3 => sign | 0x7f80_0000 | fraction,
            // About 1, and what halves and integers hold.
            4 | 5 => sign | (0x3f00_0000 + ((self.next() % 4) << 23)) | fraction,
            6 => sign | (0x3300_0000 + ((self.next() % 56) << 23)) | fraction,
            7 => sign | (0x3f80_0000 + ((self.next() % 24) << 23)) | fraction & 0x7f_f000,
            8 => bits & 0x7fff_ffff >> (self.next() % 31),
            9 => sign | ((self.next() % 30) << 23) | fraction,
            _ => bits,
        }
    }
}

#[derive(Clone)]
struct Case {
    count: u32,
    code: Vec<u16>,
    registers: [u32; 15],
    flags: u32,
    /// S0 to S31 and FPSCR, of a core that has them.
    floats: Option<[u32; 33]>,
}

impl Case {
    fn new(count: u32, code: Vec<u16>, random: &mut Random) -> Self {
        let mut registers: [u32; 15] = std::array::from_fn(|_| random.value());
        registers[13] = DATA + 0x800 + random.next() % 0x100 / 8 * 8;
        registers[14] = CODE + 1 + random.next() % 0x100 / 2 * 2;
        Self {
            count,
            code,
            registers,
            flags: random.next() & 0xf800_0000,
            floats: None,
        }
    }

    fn with_floats(self, random: &mut Random) -> Self {
        let mut floats = std::array::from_fn(|_| random.float());
        floats[32] = random.next() & 0xf7c0_009f;
        Self {
            floats: Some(floats),
            ..self
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let (count, until) = if self.count == 1 {
            (1, 0)
        } else {
            (0, CODE + 2 * self.code.len() as u32)
        };
        let mut bytes = u32::to_le_bytes(count).to_vec();
        bytes.extend_from_slice(&until.to_le_bytes());
        for index in 0..16 {
            let half = self.code.get(index).copied().unwrap_or(0xbf00);
            bytes.extend_from_slice(&half.to_le_bytes());
        }
        for register in self.registers {
            bytes.extend_from_slice(&register.to_le_bytes());
        }
        bytes.extend_from_slice(&self.flags.to_le_bytes());
        for float in self.floats.iter().flatten() {
            bytes.extend_from_slice(&float.to_le_bytes());
        }
        bytes
    }
}

/// Unicorn shows what a case before left of these, so that only SEL tells.
const GE: u32 = 0xf_0000;

#[derive(PartialEq, Eq, Debug)]
struct Answer {
    failed: bool,
    registers: [u32; 16],
    status: u32,
    floats: Vec<u32>,
    data: Vec<u8>,
}

fn python() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let candidates = [
        std::env::var_os("JOULEMARK_PYTHON").map(PathBuf::from),
        Some(root.join(".venv/bin/python")),
    ];
    candidates.into_iter().flatten().find(|python| {
        Command::new(python)
            .args(["-c", "import unicorn"])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    })
}

fn ask(python: &PathBuf, cases: &[Case], timing: Timing) -> Vec<Answer> {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/unicorn_oracle.py");
    let mut child = Command::new(python)
        .arg(script)
        .arg(match timing {
            Timing { float: true, .. } => "m4f",
            Timing {
                cortex_m4: true, ..
            } => "m4",
            _ => "m3",
        })
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the oracle starts");
    let mut input = child.stdin.take().expect("a pipe");
    let bytes: Vec<u8> = cases.iter().flat_map(Case::bytes).collect();
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let mut output = Vec::new();
    child
        .stdout
        .take()
        .expect("a pipe")
        .read_to_end(&mut output)
        .expect("answers");
    writer.join().expect("the writer").expect("cases are taken");
    assert!(child.wait().expect("the oracle ends").success());
    let floats = if timing.float { 33 } else { 0 };
    let size = 4 * (18 + floats) + DATA_BYTES;
    assert_eq!(output.len(), size * cases.len());
    output
        .chunks(size)
        .map(|answer| {
            let word = |index: usize| {
                u32::from_le_bytes(answer[4 * index..][..4].try_into().expect("four bytes"))
            };
            Answer {
                failed: word(0) != 0,
                // SP's two low bits are always clear (B1.4.7); Unicorn keeps what is written.
                registers: std::array::from_fn(|index| {
                    word(1 + index) & if index == 13 { !3 } else { u32::MAX }
                }),
                status: word(17) & !GE,
                floats: (18..18 + floats).map(word).collect(),
                data: answer[4 * (18 + floats)..].to_vec(),
            }
        })
        .collect()
}

fn run(core: &mut Core<Nothing>, case: &Case) -> Answer {
    let pattern: Vec<u8> = (0..DATA_BYTES).map(|i| (i * 7 + (i >> 5)) as u8).collect();
    core.load_image(CODE, &case.bytes()[8..40]).expect("memory");
    core.load_image(DATA, &pattern).expect("memory");
    core.set_register(15, CODE);
    for (number, value) in case.registers.iter().enumerate() {
        core.set_register(number, *value);
    }
    core.set_xpsr(case.flags | 1 << 24);
    core.exclusive = false;
    if let Some(floats) = &case.floats {
        core.debug_write(0xe000_ed88, 0x00f0_0000).expect("CPACR");
        // In use, so that FPDSCR changes nothing.
        core.control = FPCA;
        core.fpu.s.copy_from_slice(&floats[..32]);
        core.fpu.set_fpscr(floats[32]);
    }
    let mut failed = false;
    for _ in 0..case.count {
        let exit = core.run(Limits {
            until: Some(Cycles(0)),
            step_first: true,
        });
        failed = exit != Exit::Cycles;
        if failed {
            break;
        }
    }
    Answer {
        failed,
        registers: std::array::from_fn(|number| core.register(number)),
        status: core.xpsr(),
        floats: case.floats.map_or_else(Vec::new, |_| {
            core.fpu.s.into_iter().chain([core.fpu.fpscr()]).collect()
        }),
        data: core.read_memory(DATA, DATA_BYTES as u32).expect("memory"),
    }
}

fn core(timing: Timing) -> Core<Nothing> {
    let mut core = Core::new(
        Nothing,
        &Config {
            regions: vec![
                Region::new(RegionKind::Rom, 0, 0x10000),
                Region::new(RegionKind::Ram, DATA, 0x10000),
            ],
            interrupts: 16,
            priority_bits: 3,
            cpuid: 0,
            timing,
            device_waits: Vec::new(),
            systick_calibration: 0,
            mpu_regions: 0,
            stop_on_fault: true,
        },
    );
    core.load_image(0, &vec![0; 0x10000]).expect("memory");
    core
}

/// Instructions that are compared elsewhere, or have no state that both show.
fn is_left_out(op: &Op) -> bool {
    op.is(Op::UNPREDICTABLE)
        || matches!(
            op.kind,
            Kind::Svc | Kind::Bkpt | Kind::Wfi | Kind::Wfe | Kind::Cps | Kind::Msr | Kind::Mrs
        )
        // Unicorn takes an IT and its block for one instruction: see the sequences.
        || op.kind == Kind::It
        // Unicorn has the DSP and floating-point encodings of other cores.
        || matches!(op.kind, Kind::Coprocessor | Kind::Undefined)
}

const fn must_be_aligned(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Ldmia
            | Kind::Ldmdb
            | Kind::Stmia
            | Kind::Stmdb
            | Kind::Ldrd
            | Kind::LdrdLit
            | Kind::Strd
            | Kind::Ldrex
            | Kind::Ldrexh
            | Kind::Strex
            | Kind::Strexh
            | Kind::Vldr
            | Kind::Vstr
            | Kind::Vldm
            | Kind::Vstm
    )
}

fn compare(name: &str, cases: &[Case]) {
    compare_on(Timing::CORTEX_M3, name, cases);
}

fn compare_on(timing: Timing, name: &str, cases: &[Case]) {
    let Some(python) = python() else {
        eprintln!("{name}: skipped, no Python with the package unicorn");
        return;
    };
    let answers = ask(&python, cases, timing);
    let mut core = core(timing);
    let mut wrong = Vec::new();
    for (case, expected) in cases.iter().zip(&answers) {
        let mut actual = run(&mut core, case);
        actual.status &= !GE;
        let both_fail = expected.failed && actual.failed;
        // After a branch to nowhere, Unicorn has already tried to fetch.
        let fetch_failed = expected.failed && !actual.failed;
        // Unicorn lets these be unaligned; ARMv7-M does not (A3.2.1).
        let op = decode(
            case.code[0],
            case.code.get(1).copied().unwrap_or(0),
            timing.into(),
        );
        if actual.failed && case.count == 1 && must_be_aligned(op.kind) {
            continue;
        }
        actual.failed |= fetch_failed;
        if !both_fail && *expected != actual {
            let differing: Vec<String> = (0..16)
                .filter(|&number| expected.registers[number] != actual.registers[number])
                .map(|number| {
                    format!(
                        "r{number}: {:x} != {:x}",
                        actual.registers[number], expected.registers[number]
                    )
                })
                .collect();
            let floats: Vec<String> = (0..actual.floats.len())
                .filter(|&number| expected.floats[number] != actual.floats[number])
                .map(|number| {
                    format!(
                        "s{number}: {:x} != {:x}",
                        actual.floats[number], expected.floats[number]
                    )
                })
                .collect();
            wrong.push(format!(
                "{:04x?} {:?} in {:x?} flags {:x}: failed {} != {}, status {:x} != {:x}, data {}, {differing:?} {floats:x?} of {:x?}",
                case.code,
                decode(case.code[0], case.code.get(1).copied().unwrap_or(0), timing.into()).kind,
                case.registers,
                case.flags >> 27,
                actual.failed,
                expected.failed,
                actual.status,
                expected.status,
                expected.data == actual.data,
                case.floats,
            ));
        }
    }
    eprintln!("{name}: {} cases compared", cases.len());
    assert!(
        wrong.is_empty(),
        "{name}: {} of {} differ\n{}",
        wrong.len(),
        cases.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}

fn narrow_cases(per_encoding: usize, step: usize) -> Vec<Case> {
    let mut random = Random(1);
    (0..=0xffff_u16)
        .step_by(step)
        .filter(|&half| !is_wide(half) && !is_left_out(&decode(half, 0, Extensions::default())))
        .flat_map(|half| std::iter::repeat_n(half, per_encoding))
        .map(|half| Case::new(1, vec![half], &mut random))
        .collect()
}

fn wide_cases(per_first_half: usize, step: usize) -> Vec<Case> {
    let mut random = Random(2);
    let mut cases = Vec::new();
    for first in (0xe800..=0xffff_u16).step_by(step) {
        let mut found = 0;
        for _ in 0..per_first_half * 40 {
            let second = random.next() as u16;
            if !is_left_out(&decode(first, second, Extensions::default())) {
                cases.push(Case::new(1, vec![first, second], &mut random));
                found += 1;
                if found == per_first_half {
                    break;
                }
            }
        }
    }
    cases
}

/// Instructions that neither branch nor touch memory or SP, so that a sequence stays in its place.
fn is_plain(op: &Op) -> bool {
    !is_left_out(op)
        && op.rd < 13
        && op.ra < 13
        && (op.kind as u8) < (Kind::LdrImm as u8)
        && op.kind != Kind::Undefined
}

fn sequence_cases(count: usize) -> Vec<Case> {
    let mut random = Random(3);
    (0..count)
        .map(|_| {
            let mut code = Vec::new();
            let mut instructions = 0;
            while code.len() < 10 {
                // IT with a condition, then as many as it covers.
                let mut covered = 1;
                if random.next().is_multiple_of(2) {
                    let condition = random.next() % 14;
                    let mask = 1 + random.next() % 15;
                    code.push((0xbf00 | condition << 4 | mask) as u16);
                    instructions += 1;
                    covered = 4 - mask.trailing_zeros();
                }
                for _ in 0..covered {
                    loop {
                        let (first, second) = (random.next() as u16, random.next() as u16);
                        let op = decode(first, second, Extensions::default());
                        // In an IT block, MOVS (register) T2 is unpredictable.
                        if is_plain(&op) && !(op.length == 2 && first >> 6 == 0) {
                            code.push(first);
                            if op.length == 4 {
                                code.push(second);
                            }
                            instructions += 1;
                            break;
                        }
                    }
                }
            }
            code.truncate(16);
            Case::new(instructions, code, &mut random)
        })
        .filter(|case| {
            let mut at = 0;
            let mut fits = 0;
            while at < case.code.len() {
                at += if is_wide(case.code[at]) { 2 } else { 1 };
                fits += u32::from(at <= case.code.len());
            }
            fits == case.count
        })
        .collect()
}

/// DSP instructions, each encoding's first halfword with some second ones.
fn dsp_cases(per_first_half: usize) -> Vec<Case> {
    let mut random = Random(4);
    let mut cases = Vec::new();
    for first in (0xeac0..=0xeacf)
        .chain(0xf320..=0xf3af)
        .chain(0xfa00..=0xfbff_u16)
    {
        let mut found = 0;
        for _ in 0..per_first_half * 60 {
            let mut second = random.next() as u16;
            if first >> 8 == 0xfa {
                second |= 0xf000;
            } else if first >> 8 == 0xf3 {
                second &= 0x0f0f;
            } else if first & 0xfff0 == 0xeac0 {
                second &= 0x7fef;
            }
            let op = decode(first, second, Timing::CORTEX_M4.into());
            if op.kind.is_dsp() && !is_left_out(&op) {
                if op.kind == Kind::Sel {
                    // GE comes from UADD8 or SSUB16 before it.
                    for [one, two] in [[0xfa81, 0xf242], [0xfad3, 0xf104_u16]] {
                        let code = vec![one, two, first, second];
                        cases.push(Case::new(2, code, &mut random));
                    }
                } else {
                    cases.push(Case::new(1, vec![first, second], &mut random));
                }
                found += 1;
                if found == per_first_half {
                    break;
                }
            }
        }
    }
    cases
}

#[test]
fn dsp_instructions_agree_with_unicorn() {
    let cases = dsp_cases(4);
    let kinds: std::collections::HashSet<u8> = cases
        .iter()
        .flat_map(|case| case.code.chunks(2))
        .map(|code| decode(code[0], code[1], Timing::CORTEX_M4.into()).kind as u8)
        .collect();
    let all = Kind::Umaal as usize - Kind::Pkh as usize + 1;
    assert_eq!(kinds.len(), all, "every kind is there");
    compare_on(Timing::CORTEX_M4, "DSP instructions", &cases);
}

/// Floating-point instructions: each first halfword of their space with some second ones.
fn float_cases(per_first_half: usize, seed: u64) -> Vec<Case> {
    let mut random = Random(seed);
    let mut cases = Vec::new();
    for first in 0xec00..=0xeeff_u16 {
        let mut found = 0;
        for _ in 0..per_first_half * 20 {
            let mut second = random.next() as u16 & 0xf1ff | 0x0a00;
            if random.next().is_multiple_of(2) {
                second &= 0xfeff;
            }
            if random.next().is_multiple_of(4) {
                // Transfers, whose other bits are clear.
                second = second & 0xff80 | 0x10;
            }
            let op = decode(first, second, Timing::CORTEX_M4F.into());
            if op.kind.is_float() && op.kind != Kind::VUndefined && !is_left_out(&op) {
                let case = Case::new(1, vec![first, second], &mut random);
                let mut case = case.with_floats(&mut random);
                if op.kind == Kind::VcvtFromFixed
                    && let Some(floats) = &mut case.floats
                {
                    // It always rounds to the nearest (A7.7.227), which Unicorn does not know.
                    floats[32] &= !0x00c0_0000;
                }
                cases.push(case);
                found += 1;
                if found == per_first_half {
                    break;
                }
            }
        }
    }
    cases
}

fn compare_floats(per_first_half: usize, seeds: std::ops::Range<u64>) {
    let mut kinds = std::collections::HashSet::new();
    for seed in seeds {
        let cases = float_cases(per_first_half, seed);
        let operations = cases
            .iter()
            .map(|case| decode(case.code[0], case.code[1], Timing::CORTEX_M4F.into()));
        kinds.extend(operations.map(|op| op.kind as u8));
        compare_on(Timing::CORTEX_M4F, "floating point", &cases);
    }
    let all = Kind::VUndefined as usize - Kind::Vmla as usize;
    assert_eq!(kinds.len(), all, "every kind is there");
}

#[test]
fn floating_point_instructions_agree_with_unicorn() {
    compare_floats(4, 5..6);
}

#[test]
#[ignore = "200,000 cases: minutes"]
fn very_many_floating_point_instructions_agree_with_unicorn() {
    compare_floats(8, 6..46);
}

#[test]
fn a_cortex_m3_has_no_dsp_instructions() {
    for case in dsp_cases(1) {
        let op = decode(case.code[0], case.code[1], Extensions::default());
        assert_eq!(op.kind, Kind::Undefined, "{:04x?}", case.code);
    }
}

#[test]
fn narrow_instructions_agree_with_unicorn() {
    compare("16-bit instructions", &narrow_cases(1, 7));
}

#[test]
fn wide_instructions_agree_with_unicorn() {
    compare("32-bit instructions", &wide_cases(1, 3));
}

#[test]
fn sequences_agree_with_unicorn() {
    compare("sequences", &sequence_cases(1000));
}

#[test]
#[ignore = "every 16-bit encoding and many 32-bit ones: a minute"]
fn all_instructions_agree_with_unicorn() {
    compare("16-bit instructions", &narrow_cases(2, 1));
    compare("32-bit instructions", &wide_cases(8, 1));
    compare("sequences", &sequence_cases(20000));
}
