//! The state that instructions leave, against Unicorn's Cortex-M0 (an independent emulator): every
//! encoding of 16 bits, samples of those of 32, and sequences.
//!
//! Needs Python with the package `unicorn`: `.venv/bin/python` or what `JOULEMARK_PYTHON` names.
//! Skipped with a message where there is none. The script and its layout are those of the `ARMv7-M` core.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use joulemark_armv7m::{Bus, Width};
use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::core::{Config, Core, Exit, Limits};
use crate::decode::{Kind, Op, decode, is_wide};
use crate::memory::{Region, RegionKind};

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

/// xorshift64* (Vigna 2016).
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
            0 => self.next() % 70,
            1 => [0, 1, u32::MAX, 0x8000_0000, 0x7fff_ffff, 0xffff][self.next() as usize % 6],
            2 => self.next(),
            _ => DATA + 0x400 + self.next() % 0x800 / 4 * 4,
        }
    }
}

struct Case {
    count: u32,
    code: Vec<u16>,
    registers: [u32; 15],
    flags: u32,
}

impl Case {
    fn new(count: u32, code: Vec<u16>, random: &mut Random) -> Self {
        let mut registers: [u32; 15] = std::array::from_fn(|_| random.value());
        registers[13] = DATA + 0x800 + random.next() % 0x100 / 4 * 4;
        registers[14] = CODE + 1 + random.next() % 0x100 / 2 * 2;
        Self {
            count,
            code,
            registers,
            flags: random.next() & 0xf000_0000,
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
        let words = self.registers.iter().chain([&self.flags]);
        bytes.extend(words.flat_map(|word| word.to_le_bytes()));
        bytes
    }
}

#[derive(PartialEq, Eq, Debug)]
struct Answer {
    failed: bool,
    registers: [u32; 16],
    status: u32,
    data: Vec<u8>,
}

fn python() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let candidates = [
        std::env::var_os("JOULEMARK_PYTHON").map(PathBuf::from),
        Some(root.join(".venv/bin/python")),
    ];
    candidates.into_iter().flatten().find(|python| {
        let mut command = Command::new(python);
        let ready = command.args(["-c", "import unicorn"]).stderr(Stdio::null());
        ready.status().is_ok_and(|status| status.success())
    })
}

fn ask(python: &PathBuf, cases: &[Case]) -> Vec<Answer> {
    let script =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../armv7m/tests/unicorn_oracle.py");
    let mut child = Command::new(python)
        .arg(script)
        .arg("m0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the oracle starts");
    let mut input = child.stdin.take().expect("a pipe");
    let bytes: Vec<u8> = cases.iter().flat_map(Case::bytes).collect();
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let mut output = Vec::new();
    let mut pipe = child.stdout.take().expect("a pipe");
    pipe.read_to_end(&mut output).expect("answers");
    writer.join().expect("the writer").expect("cases are taken");
    assert!(child.wait().expect("the oracle ends").success());
    let size = 4 * 18 + DATA_BYTES;
    assert_eq!(output.len(), size * cases.len());
    let answers = output.chunks(size).map(|answer| {
        let word = |index: usize| {
            u32::from_le_bytes(answer[4 * index..][..4].try_into().expect("four bytes"))
        };
        Answer {
            failed: word(0) != 0,
            // SP's two low bits are always clear (B1.4.1); Unicorn keeps what is written.
            registers: std::array::from_fn(|index| {
                word(1 + index) & if index == 13 { !3 } else { u32::MAX }
            }),
            // Q, which ARMv6-M does not have (B1.4.2), and Unicorn keeps.
            status: word(17) & !(1 << 27),
            data: answer[4 * 18..].to_vec(),
        }
    });
    answers.collect()
}

/// Run a case; also say whether an access was refused because it was not aligned.
fn run(core: &mut Core<Nothing>, case: &Case) -> (Answer, bool) {
    let pattern: Vec<u8> = (0..DATA_BYTES).map(|i| (i * 7 + (i >> 5)) as u8).collect();
    core.load_image(CODE, &case.bytes()[8..40]).expect("memory");
    core.load_image(DATA, &pattern).expect("memory");
    core.set_register(15, CODE);
    for (number, value) in case.registers.iter().enumerate() {
        core.set_register(number, *value);
    }
    core.set_xpsr(case.flags | 1 << 24);
    let mut failed = false;
    let mut is_misaligned = false;
    for _ in 0..case.count {
        let exit = core.run(Limits {
            until: Some(Cycles(0)),
            step_first: true,
        });
        failed = exit != Exit::Cycles;
        if let Exit::Fault(fault) = exit {
            is_misaligned = fault.kind == FaultKind::Misaligned;
            assert!(!is_misaligned || fault.address.is_some_and(|at| at & 3 != 0));
        }
        if failed {
            break;
        }
    }
    let answer = Answer {
        failed,
        registers: std::array::from_fn(|number| core.register(number)),
        status: core.xpsr(),
        data: core.read_memory(DATA, DATA_BYTES).expect("memory"),
    };
    (answer, is_misaligned)
}

fn core() -> Core<Nothing> {
    let region = |start, kind| Region {
        start,
        size: 0x10000,
        kind,
    };
    Core::new(
        Nothing,
        &Config {
            regions: vec![region(0, RegionKind::Rom), region(DATA, RegionKind::Ram)],
            lines: None,
            io_port: 0..0,
            waits: Vec::new(),
            interrupts: 32,
            cpuid: 0,
            systick_calibration: 0,
            systick_divider: 0,
            multiply_cycles: 1,
            stop_on_fault: true,
        },
    )
}

/// Instructions that are compared elsewhere, or whose result the architecture leaves open.
fn is_left_out(op: &Op) -> bool {
    let writes_sp_or_pc = matches!(op.rd, 13 | 15);
    match op.kind {
        // Undefined: Unicorn knows what other cores have there.
        Kind::Svc | Kind::Bkpt | Kind::Wfi | Kind::Wfe | Kind::Sev | Kind::Cps | Kind::Udf => true,
        Kind::Mrs => writes_sp_or_pc || matches!(op.imm, 8 | 9 | 16 | 20) || op.imm > 7,
        Kind::Msr => matches!(op.rn, 13 | 15) || op.imm > 3,
        // Unpredictable: no register, or PC (A6.7).
        Kind::Push | Kind::Pop | Kind::Ldm => op.imm == 0,
        // The base is stored and is not the first (A6.7.58).
        Kind::Stm => {
            op.imm == 0 || op.imm >> op.rn & 1 != 0 && op.imm.trailing_zeros() != op.rn.into()
        }
        Kind::Bx | Kind::Blx => op.rm == 15,
        Kind::Cmp => op.rn == 15 || op.rm == 15,
        // Both PC.
        Kind::AddAny => op.rd == 15 && op.rm == 16 && op.rn == 15,
        _ => false,
    }
}

fn compare(name: &str, cases: &[Case]) {
    let Some(python) = python() else {
        eprintln!("{name}: skipped, no Python with the package unicorn");
        return;
    };
    let answers = ask(&python, cases);
    let mut core = core();
    let (mut wrong, mut misaligned) = (Vec::new(), 0);
    for (case, expected) in cases.iter().zip(&answers) {
        let (mut actual, is_misaligned) = run(&mut core, case);
        // Unicorn lets loads and stores be unaligned; ARMv6-M does not (A3.2.1).
        if is_misaligned {
            misaligned += 1;
            continue;
        }
        let both_fail = expected.failed && actual.failed;
        // After a jump to nowhere, Unicorn has already tried to fetch.
        actual.failed |= expected.failed;
        let op = decode(case.code[0], *case.code.get(1).unwrap_or(&0), CODE);
        if !both_fail && *expected != actual {
            let numbers = 0..16;
            let differing: Vec<String> = numbers
                .filter(|&number| expected.registers[number] != actual.registers[number])
                .map(|number| {
                    let (ours, theirs) = (actual.registers[number], expected.registers[number]);
                    format!("r{number}: {ours:x} != {theirs:x}")
                })
                .collect();
            wrong.push(format!(
                "{:04x?} {op:?} in {:x?} flags {:x}: failed {} != {}, status {:x} != {:x}, data {}, {differing:?}",
                case.code,
                case.registers,
                case.flags >> 28,
                actual.failed,
                expected.failed,
                actual.status,
                expected.status,
                expected.data == actual.data,
            ));
        }
    }
    let compared = cases.len() - misaligned;
    eprintln!("{name}: {compared} cases compared, {misaligned} not aligned");
    assert!(
        compared > cases.len() * 9 / 10,
        "{name}: most cases are compared"
    );
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
    (0..0xe800_u16)
        .step_by(step)
        .filter(|&half| !is_left_out(&decode(half, 0, CODE)))
        .flat_map(|half| std::iter::repeat_n(half, per_encoding))
        .map(|half| Case::new(1, vec![half], &mut random))
        .collect()
}

/// Each first halfword that begins an instruction of 32 bits, with some second ones.
fn wide_cases(per_first_half: usize) -> Vec<Case> {
    let mut random = Random(2);
    let mut cases = Vec::new();
    for first in 0xf000..=0xf7ff_u16 {
        let mut found = 0;
        for _ in 0..per_first_half * 400 {
            let second = random.next() as u16 | 0x8000;
            // Bits that should be as the architecture shows them (A5.3.1).
            let second = match first {
                0xf3bf => 0x8f00 | second & 0xff,
                0xf3ef => second & 0x0f07 | 0x8000,
                0xf380..=0xf38f => second & 3 | 0x8800,
                _ => second,
            };
            // Others have bits of the first halfword that should be otherwise.
            let is_system = first & 0xff80 == 0xf380 && second & 0x5000 == 0;
            let is_defined = matches!(first, 0xf380..=0xf38f | 0xf3bf | 0xf3ef);
            let op = decode(first, second, CODE);
            if (is_defined || !is_system) && !is_left_out(&op) {
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
    op.kind > Kind::Breakpoint && op.kind < Kind::Ldr && op.rd < 13 && !is_left_out(op)
}

fn sequence_cases(count: usize) -> Vec<Case> {
    let mut random = Random(3);
    let mut sequence = || {
        let mut code = Vec::new();
        while code.len() < 14 {
            let half = random.next() as u16;
            // Unicorn ends a run at YIELD.
            let is_yield = half == 0xbf10;
            if !is_wide(half)
                && !is_yield
                && is_plain(&decode(half, 0, CODE + 2 * code.len() as u32))
            {
                code.push(half);
            }
        }
        Case::new(14, code, &mut random)
    };
    (0..count).map(|_| sequence()).collect()
}

#[test]
fn narrow_instructions_agree_with_unicorn() {
    compare("16-bit instructions", &narrow_cases(1, 11));
}

#[test]
fn wide_instructions_agree_with_unicorn() {
    let cases = wide_cases(1);
    let kinds: std::collections::HashSet<Kind> = cases
        .iter()
        .map(|case| decode(case.code[0], case.code[1], CODE).kind)
        .collect();
    assert_eq!(
        kinds.len(),
        4,
        "BL, MRS, MSR and barriers are there: {kinds:?}"
    );
    compare("32-bit instructions", &cases);
}

#[test]
fn sequences_agree_with_unicorn() {
    compare("sequences", &sequence_cases(1000));
}

#[test]
#[ignore = "every 16-bit encoding twice, and many of 32 bits: a minute"]
fn all_instructions_agree_with_unicorn() {
    compare("16-bit instructions", &narrow_cases(2, 1));
    compare("32-bit instructions", &wide_cases(8));
    compare("sequences", &sequence_cases(20000));
}
