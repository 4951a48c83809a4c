//! Whatever differs between two runs that differ in secrets alone was said to be secret: every 16-bit
//! encoding, MRS and MSR, and random sequences. That is, no leak can be missed by a bit that was taken
//! for public.

use joulemark_kernel::secrets::{Decides, Piece};
use joulemark_kernel::{Cycles, Fault, FaultKind};

use joulemark_armv7m::{Bus, Width};

use crate::core::{Config, Core, Exit, Limits, SP};
use crate::decode::{Kind, decode};
use crate::memory::{Region, RegionKind};

const START: u32 = 0x2000_0000;
/// Where operands in memory are; code is before it.
const DATA: std::ops::Range<u32> = START + 0x100..START + 0x400;
/// Of the program status register.
const FLAGS: u32 = 0xf000_0000;
const STATUS: usize = 15;
/// Addresses in registers are near it.
const MIDDLE: u32 = START + 0x240;

struct Nothing;

impl Bus for Nothing {
    fn read(&mut self, address: u32, _: Width, _: Cycles) -> Result<u32, Fault> {
        Err(Fault::new(FaultKind::Unmapped, "nothing").at(address))
    }
    fn write(&mut self, address: u32, _: u32, _: Width, _: Cycles) -> Result<(), Fault> {
        Err(Fault::new(FaultKind::Unmapped, "nothing").at(address))
    }
    fn reset_requested(&mut self, _: Cycles) -> Result<(), Fault> {
        Err(Fault::new(FaultKind::Reset, "a reset"))
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

    fn below(&mut self, bound: u32) -> u32 {
        self.next() % bound
    }

    /// A register's value: random, small, extreme, or an address in the data.
    fn value(&mut self) -> u32 {
        match self.below(8) {
            0 => self.below(40),
            1 => [0, 1, u32::MAX, 1 << 31, i32::MAX as u32, 0xff][self.below(6) as usize],
            2 | 3 => self.next(),
            _ => MIDDLE + self.below(0x80) / 4 * 4,
        }
    }

    fn mask(&mut self) -> u32 {
        match self.below(8) {
            0 => self.next(),
            1 => 1 << self.below(32),
            2 => u32::MAX >> self.below(32),
            3 => u32::MAX << self.below(32),
            4 => self.next() & self.next(),
            _ => 0,
        }
    }
}

fn new_core() -> Core<Nothing> {
    let region = Region {
        start: START,
        size: DATA.end - START,
        kind: RegionKind::Ram,
    };
    let config = Config {
        regions: vec![region],
        lines: None,
        io_port: 0..0,
        waits: Vec::new(),
        interrupts: 0,
        cpuid: 0,
        systick_calibration: 0,
        systick_divider: 0,
        multiply_cycles: 1,
        stop_on_fault: true,
    };
    Core::new(Nothing, &config)
}

#[derive(Clone)]
struct State {
    /// R0 to R14, and the flags in place 15.
    registers: [u32; 16],
    data: Vec<u8>,
}

impl State {
    fn random(random: &mut Random) -> Self {
        let mut registers = std::array::from_fn(|_| random.value());
        registers[SP] = MIDDLE + random.below(0x40) / 4 * 4;
        registers[STATUS] = random.next() & FLAGS;
        Self {
            registers,
            data: DATA.map(|_| random.next() as u8).collect(),
        }
    }

    /// Of the same form: which bits are secret.
    fn masks(random: &mut Random) -> Self {
        let mut registers = std::array::from_fn(|_| random.mask());
        registers[SP] = 0;
        registers[STATUS] &= FLAGS;
        let dense = random.below(4);
        let data = DATA.map(|_| {
            if random.below(4) < dense {
                random.mask() as u8
            } else {
                0
            }
        });
        Self {
            registers,
            data: data.collect(),
        }
    }

    /// Another state that agrees with this one but in secret bits.
    fn other(&self, masks: &Self, random: &mut Random) -> Self {
        let change = match random.below(3) {
            0 => u32::MAX,
            1 => random.next(),
            _ => random.next() & random.next(),
        };
        let mut other = self.clone();
        for (value, mask) in other.registers.iter_mut().zip(masks.registers) {
            *value ^= mask & change.rotate_left(random.below(32));
        }
        for (value, mask) in other.data.iter_mut().zip(&masks.data) {
            *value ^= mask & change.rotate_left(random.below(32)) as u8;
        }
        other
    }

    fn put(&self, core: &mut Core<Nothing>, code: &[u8]) {
        let mut all = [0; (DATA.start - START) as usize];
        all[..code.len()].copy_from_slice(code);
        core.load_image(START, &all).expect("memory");
        core.load_image(DATA.start, &self.data).expect("memory");
        core.reset(START, self.registers[SP], START | 1);
        for (number, &value) in self.registers[..STATUS].iter().enumerate() {
            core.set_register(number, value);
        }
        core.set_xpsr(1 << 24 | self.registers[STATUS]);
    }

    fn get(core: &Core<Nothing>) -> Self {
        Self {
            registers: std::array::from_fn(|number| match number {
                STATUS => core.xpsr() & FLAGS,
                _ => core.register(number),
            }),
            data: core.read_memory(DATA.start, DATA.len()).expect("memory"),
        }
    }

    fn mark(&self, core: &mut Core<Nothing>) {
        core.forget_secrets();
        core.follow_secrets(&[]).expect("nothing is outside");
        core.find_uses(true);
        let secrets = core.secrets.as_mut().expect("they are followed");
        for (number, &mask) in (0..).zip(&self.registers[..STATUS]) {
            secrets.set(number, mask, 1);
        }
        secrets.write_status(self.registers[STATUS], 1);
        for (address, &mask) in DATA.zip(&self.data) {
            let set = secrets.shadows.set_byte(address, mask, 1);
            assert_eq!(set, Ok(()));
        }
    }

    fn marked(core: &Core<Nothing>) -> Self {
        let secrets = core.secrets.as_ref().expect("they are followed");
        Self {
            registers: std::array::from_fn(|number| match number {
                STATUS => secrets.status(),
                _ => secrets.r[number],
            }),
            data: DATA.map(|address| secrets.shadows.byte(address)).collect(),
        }
    }

    /// What differs and was not said to be secret.
    fn missed(&self, other: &Self, masks: &Self) -> Option<String> {
        let registers = self.registers.iter().zip(&other.registers);
        let mut registers = registers.zip(&masks.registers).enumerate();
        let bytes = self.data.iter().zip(&other.data);
        let mut bytes = bytes.zip(&masks.data).zip(DATA);
        let register = registers.find(|&(_, ((x, y), mask))| (x ^ y) & !mask != 0);
        let byte = bytes.find(|&(((x, y), mask), _)| (x ^ y) & !mask != 0);
        register
            .map(|(number, ((x, y), mask))| format!("r{number}: {x:08x} {y:08x}, {mask:08x}"))
            .or_else(|| {
                byte.map(|(((x, y), mask), at)| format!("{at:08x}: {x:02x} {y:02x}, {mask:02x}"))
            })
    }
}

/// Execute one instruction; whether that was possible.
fn step(core: &mut Core<Nothing>) -> bool {
    let before = core.instructions();
    let limits = Limits {
        until: Some(core.cycles() + Cycles(1)),
        step_first: true,
    };
    matches!(core.run(limits), Exit::Cycles) && core.instructions() == before + 1
}

struct Pair {
    first: Core<Nothing>,
    second: Core<Nothing>,
    random: Random,
    compared: u32,
    precise: (u32, u32),
}

impl Pair {
    fn new(seed: u64) -> Self {
        Self {
            first: new_core(),
            second: new_core(),
            random: Random(seed),
            compared: 0,
            precise: (0, 0),
        }
    }

    /// Run code with other secrets, and compare after each instruction as long as both go the same
    /// way. Where they part, that was found.
    fn compare(&mut self, code: &[u8], steps: usize) {
        let start = State::random(&mut self.random);
        let masks = State::masks(&mut self.random);
        let other = start.other(&masks, &mut self.random);
        start.put(&mut self.first, code);
        other.put(&mut self.second, code);
        masks.mark(&mut self.first);
        for number in 0..steps {
            let (done, other_done) = (step(&mut self.first), step(&mut self.second));
            if !done || !other_done {
                return;
            }
            let report = self.first.secrets().expect("they are followed");
            if !report.lost.is_empty() {
                return;
            }
            if self.first.register(15) != self.second.register(15) {
                let mut decided = report.uses.keys().map(|&(_, decides)| decides);
                assert!(
                    decided.any(|is| matches!(is, Decides::Branch | Decides::Target)),
                    "{code:02x?}, step {number}: nothing was found"
                );
                return;
            }
            let said = State::marked(&self.first);
            let (x, y) = (State::get(&self.first), State::get(&self.second));
            if let Some(missed) = x.missed(&y, &said) {
                panic!(
                    "{code:02x?}, step {number}: {missed}\nstart {:08x?}\nother {:08x?}\nsecret {:08x?}",
                    start.registers, other.registers, masks.registers
                );
            }
            self.compared += 1;
            if self
                .first
                .secrets
                .as_ref()
                .is_some_and(|now| now.control.0 & 1 != 0)
            {
                // What instructions may do is a decision that was found.
                return;
            }
            for ((x, y), mask) in x.registers.iter().zip(&y.registers).zip(&said.registers) {
                self.precise.0 += mask.count_ones();
                self.precise.1 += ((x ^ y) & mask).count_ones();
            }
        }
    }
}

/// What goes to a special register, and comes back.
#[test]
fn what_special_registers_hold_was_said_to_be_secret() {
    let mut pair = Pair::new(0x5eed_5bec_1a10_0001);
    for register in 0..13_u16 {
        for number in [8, 9, 16, 20] {
            let write = [0xf380 | register, 0x8800 | number];
            let read = [0xf3ef, 0x8000 | ((register + 1) % 13) << 8 | number];
            for _ in 0..40 {
                pair.compare(&bytes(&[write[0], write[1], read[0], read[1]]), 2);
                // CPSIE or CPSID in between, and PUSH behind it.
                let mask = 0xb662 | (register & 1) << 4;
                let code = [write[0], write[1], mask, read[0], read[1], 0xb403];
                pair.compare(&bytes(&code), 4);
            }
        }
    }
    assert!(pair.compared > 5_000, "{} compared", pair.compared);
}

#[test]
fn secrets_that_decide_exceptions_are_found() {
    let mut core = new_core();
    // LDR R0, [R0]; MSR PRIMASK, R0; MRS R1, PRIMASK; CMP R1, #0; BNE +0;
    // MSR CONTROL, R0
    let code: [u16; 9] = [
        0x6800, 0xf380, 0x8810, 0xf3ef, 0x8110, 0x2900, 0xd1ff, 0xf380, 0x8814,
    ];
    core.load_image(START, &bytes(&code)).expect("memory");
    core.load_image(DATA.start, &[7; 4]).expect("memory");
    core.reset(START, DATA.end, START | 1);
    core.set_register(0, DATA.start);
    let secret = Piece {
        address: DATA.start,
        length: 4,
        origin: 4,
    };
    core.follow_secrets(&[secret]).expect("memory");
    core.find_uses(true);
    for _ in 0..6 {
        assert!(step(&mut core));
    }
    let uses = core.secrets().expect("they are followed").uses;
    let found: Vec<_> = uses
        .keys()
        .map(|&(at, what)| ((at - START) / 2, what))
        .collect();
    assert_eq!(
        found,
        [
            (1, Decides::Exception),
            (6, Decides::Branch),
            (7, Decides::Address),
            (7, Decides::Exception),
        ]
    );
}

/// Whether an instruction leaves the place of the stack and power modes alone.
fn is_usable(code: &[u16]) -> bool {
    let op = decode(code[0], *code.get(1).unwrap_or(&0), START);
    let moves = matches!(op.kind, Kind::AddAny | Kind::MovAny) && usize::from(op.rd) == SP;
    let sleeps = matches!(op.kind, Kind::Wfi | Kind::Wfe | Kind::Svc | Kind::Bkpt);
    let moves_by = op.kind == Kind::Msr && op.imm > 3;
    !moves && !sleeps && !moves_by && op.kind != Kind::Udf
}

fn bytes(code: &[u16]) -> Vec<u8> {
    code.iter().flat_map(|half| half.to_le_bytes()).collect()
}

#[test]
fn what_differs_after_an_instruction_was_said_to_be_secret() {
    let mut pair = Pair::new(0x0123_4567_89ab_cdef);
    for half in (0..0xe800_u16).filter(|&half| is_usable(&[half])) {
        pair.compare(&half.to_le_bytes(), 1);
    }
    // MSR APSR and MRS, of all registers.
    for register in 0..13 {
        for _ in 0..20 {
            pair.compare(&bytes(&[0xf380 | register, 0x8800]), 1);
            pair.compare(&bytes(&[0xf3ef, 0x8000 | register << 8]), 1);
        }
    }
    assert!(pair.compared > 30_000, "{} compared", pair.compared);
    let (said, differed) = pair.precise;
    assert!(
        differed * 100 > said * 45,
        "{differed} of {said} bits differed"
    );
}

#[test]
fn what_differs_in_a_sequence_was_said_to_be_secret() {
    let mut pair = Pair::new(0xfedc_ba98_7654_3210);
    for _ in 0..12_000 {
        let mut code = Vec::new();
        while code.len() < 8 {
            // Those that compute are more than others.
            let half = match pair.random.below(3) {
                0 => pair.random.next() as u16,
                1 => 0x4000 | pair.random.next() as u16 & 0x3ff,
                _ => pair.random.next() as u16 & 0x3fff,
            };
            let op = decode(half, 0, START);
            let jumps = (Kind::BranchIf..=Kind::Blx).contains(&op.kind);
            if half < 0xe800 && is_usable(&[half]) && !jumps && op.rd != 15 {
                code.push(half);
            }
        }
        pair.compare(&bytes(&code), 8);
    }
    assert!(pair.compared > 20_000, "{} compared", pair.compared);
}

#[test]
fn what_a_secret_decides_is_found() {
    let mut core = new_core();
    // LDR R1, [R0]; CMP R1, #0; BEQ +0; UXTB R2, R1; ADDS R2, R2, R0; LDRB R3, [R2]; MULS R3, R1;
    // SUBS R4, R1, R1; BNE +0; BX R1.
    let code: [u16; 10] = [
        0x6801, 0x2900, 0xd0ff, 0xb2ca, 0x1812, 0x7813, 0x434b, 0x1a4c, 0xd1ff, 0x4708,
    ];
    core.load_image(START, &bytes(&code)).expect("memory");
    core.load_image(DATA.start, &0x0000_0001_u32.to_le_bytes())
        .expect("memory");
    core.reset(START, DATA.end, START | 1);
    core.set_register(0, DATA.start);
    let secret = Piece {
        address: DATA.start,
        length: 4,
        origin: 4,
    };
    core.follow_secrets(&[secret]).expect("memory");
    core.find_uses(true);
    for _ in 0..9 {
        assert!(step(&mut core));
    }
    core.run(Limits {
        until: Some(core.cycles() + Cycles(1)),
        step_first: true,
    });
    let report = core.secrets().expect("they are followed");
    let uses = report.uses.iter();
    let found: Vec<_> = uses
        .map(|(&(at, decides), is)| {
            let decided_at = (is.decided_at - START) / 2;
            ((at - START) / 2, decides, is.origins, decided_at)
        })
        .collect();
    assert_eq!(
        found,
        [
            (2, Decides::Branch, 4, 1),
            (5, Decides::Address, 4, 5),
            (9, Decides::Target, 4, 9),
        ]
    );
    assert_eq!(report.reached, 10);
}
