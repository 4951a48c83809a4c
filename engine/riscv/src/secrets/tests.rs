//! Whatever differs between two runs that differ in secrets alone was said to be secret: every short
//! instruction, samples of every long one, and random sequences. That is, no leak can be missed by a
//! bit that was taken for public.

use joulemark_kernel::secrets::{Decides, Piece};
use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::bus::{Bus, Width};
use crate::core::{Config, Core, Exit, Limits, SP};
use crate::decode::{Kind, decode};
use crate::memory::{Region, RegionKind};

const START: u32 = 0x2000_0000;
/// Where operands in memory are; code is before it.
const DATA: std::ops::Range<u32> = START + 0x100..START + 0x400;
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

    /// A long instruction of any kind, whose operands in memory are in the data.
    fn long(&mut self) -> u32 {
        const OPCODES: [u32; 12] = [
            0x37, 0x17, 0x67, 0x63, 0x03, 0x23, 0x13, 0x33, 0x33, 0x2f, 0x0b, 0x73,
        ];
        if self.below(6) == 0 {
            // Those that a random field of the second operand would hardly hit.
            const UNARY: [u32; 12] = [
                0x6000_1013,
                0x6010_1013,
                0x6020_1013,
                0x6040_1013,
                0x6050_1013,
                0x2870_5013,
                0x6980_5013,
                0x6870_5013,
                0x08f0_1013,
                0x08f0_5013,
                0x0800_4033,
                0x1000_202f,
            ];
            return UNARY[self.below(12) as usize] | self.next() & 0x000f_8f80;
        }
        let opcode = OPCODES[self.below(12) as usize];
        let word = self.next() & !0x7f | opcode;
        let near = |word: u32| {
            // The upper bits of an offset are its sign.
            let upper = if word >> 25 & 1 != 0 { 0xfc00_0000 } else { 0 };
            word & 0x03ff_ffff | upper
        };
        match opcode {
            0x03 | 0x23 | 0x67 => near(word),
            0x2f => word & !(7 << 12) | 2 << 12,
            // mscratch.
            0x73 => word & 0xf_ffff | 0x340 << 20,
            // Of the operations on registers, those with usual codes; the others are rare.
            0x33 if self.below(4) != 0 => {
                let codes = [0x00, 0x20, 0x01, 0x10, 0x05, 0x30, 0x04, 0x24, 0x34, 0x14];
                word & 0x01ff_ffff | codes[self.below(10) as usize] << 25
            }
            0x13 if word >> 12 & 3 == 1 => {
                let codes = [0x00, 0x20, 0x30, 0x14, 0x34, 0x04, 0x24];
                word & 0x01ff_ffff | codes[self.below(7) as usize] << 25
            }
            0x0b => word & !(0x71 << 25 | 3 << 12),
            _ => word,
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
        ..Config::default()
    };
    Core::new(Nothing, &config)
}

#[derive(Clone)]
struct State {
    registers: [u32; 32],
    data: Vec<u8>,
}

impl State {
    fn random(random: &mut Random) -> Self {
        let mut registers = std::array::from_fn(|_| random.value());
        (registers[0], registers[SP]) = (0, MIDDLE + random.below(0x40) / 4 * 4);
        Self {
            registers,
            data: DATA.map(|_| random.next() as u8).collect(),
        }
    }

    /// Of the same form: which bits are secret.
    fn masks(random: &mut Random) -> Self {
        let mut registers = std::array::from_fn(|_| random.mask());
        (registers[0], registers[SP]) = (0, 0);
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
        core.load(START, code).expect("memory");
        core.load(DATA.start, &self.data).expect("memory");
        core.reset(START);
        for (number, &value) in self.registers.iter().enumerate() {
            core.set_register(number, value);
        }
    }

    fn get(core: &Core<Nothing>) -> Self {
        Self {
            registers: std::array::from_fn(|number| core.register(number)),
            data: core.read_memory(DATA.start, DATA.len()).expect("memory"),
        }
    }

    fn mark(&self, core: &mut Core<Nothing>) {
        core.forget_secrets();
        core.follow_secrets(&[]).expect("nothing is outside");
        core.find_uses(true);
        let secrets = core.secrets.as_mut().expect("they are followed");
        for (number, &mask) in (0..).zip(&self.registers) {
            secrets.set_register(number, mask);
        }
        for (address, &mask) in DATA.zip(&self.data) {
            secrets.set_memory(address, mask);
        }
    }

    fn marked(core: &Core<Nothing>) -> Self {
        let secrets = core.secrets.as_ref().expect("they are followed");
        Self {
            registers: std::array::from_fn(|number| secrets.of_register(number)),
            data: DATA.map(|address| secrets.of_memory(address)).collect(),
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
            .map(|(number, ((x, y), mask))| format!("x{number}: {x:08x} {y:08x}, {mask:08x}"))
            .or_else(|| {
                byte.map(|(((x, y), mask), at)| format!("{at:08x}: {x:02x} {y:02x}, {mask:02x}"))
            })
    }
}

/// Execute one instruction; whether that was possible.
fn step(core: &mut Core<Nothing>) -> bool {
    let before = core.instructions();
    for _ in 0..64 {
        let limits = Limits {
            until: Some(core.cycles() + Cycles(1)),
            step_first: true,
        };
        if !matches!(core.run(limits), Exit::Cycles) {
            return false;
        }
        if core.instructions() != before {
            return true;
        }
    }
    false
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
            if self.first.pc() != self.second.pc() {
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
            for ((x, y), mask) in x.registers.iter().zip(&y.registers).zip(&said.registers) {
                self.precise.0 += mask.count_ones();
                self.precise.1 += ((x ^ y) & mask).count_ones();
            }
        }
    }
}

/// Whether an instruction leaves the place of the stack alone, and goes on behind itself.
fn is_usable(word: u32) -> bool {
    let op = decode(word);
    usize::from(op.rd) != SP && !matches!(op.kind, Kind::Illegal | Kind::Wfi | Kind::Block)
}

#[test]
fn what_differs_after_a_short_instruction_was_said_to_be_secret() {
    let mut pair = Pair::new(0x0123_4567_89ab_cdef);
    for code in (0..=u16::MAX).filter(|code| code & 3 != 3 && is_usable((*code).into())) {
        pair.compare(&code.to_le_bytes(), 1);
    }
    assert!(pair.compared > 20_000, "{} compared", pair.compared);
}

#[test]
fn what_differs_after_a_long_instruction_was_said_to_be_secret() {
    let mut pair = Pair::new(0x1234_5678_9abc_def0);
    let mut seen = std::collections::HashMap::new();
    for _ in 0..60_000 {
        let word = pair.random.long();
        if is_usable(word) {
            let before = pair.compared;
            pair.compare(&word.to_le_bytes(), 1);
            *seen.entry(decode(word).kind as u32).or_insert(0) += pair.compared - before;
        }
    }
    assert!(pair.compared > 30_000, "{} compared", pair.compared);
    let kinds = Kind::Add as u32..=Kind::Csrrci as u32;
    let scarce: Vec<u32> = kinds
        .filter(|kind| seen.get(kind).copied().unwrap_or(0) < 20)
        .filter(|&kind| kind != Kind::Jal as u32 && kind != Kind::Jalr as u32)
        .collect();
    assert!(scarce.is_empty(), "kinds {scarce:?} were hardly compared");
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
        while code.len() < 24 {
            let long = pair.random.long();
            let word = if pair.random.below(2) == 0 {
                long
            } else {
                let short = pair.random.next() & 0xffff;
                if short & 3 == 3 { long } else { short }
            };
            if is_usable(word) && !decode(word).kind.jumps() {
                let length = if word & 3 == 3 { 4 } else { 2 };
                code.extend(&word.to_le_bytes()[..length]);
            }
        }
        pair.compare(&code, 6);
    }
    assert!(pair.compared > 8_000, "{} compared", pair.compared);
}

#[test]
fn what_a_secret_decides_is_found() {
    let mut core = new_core();
    let code: [u32; 8] = [
        0x0005_2583, // lw a1, 0(a0)
        0x0005_8463, // beqz a1, +8
        0x0ff5_f613, // andi a2, a1, 255
        0x00a6_0633, // add a2, a2, a0
        0x0006_4683, // lbu a3, 0(a2)
        0x02b5_d6b3, // divu a3, a1, a1
        0x02a5_c6b3, // div a3, a1, a0
        0x0005_8067, // jr a1
    ];
    let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    core.load(START, &bytes).expect("memory");
    core.load(DATA.start, &0x0000_0001_u32.to_le_bytes())
        .expect("memory");
    core.reset(START);
    core.set_register(10, DATA.start);
    let secret = Piece {
        address: DATA.start,
        length: 4,
        origin: 4,
    };
    core.follow_secrets(&[secret]).expect("memory");
    core.find_uses(true);
    for _ in 0..7 {
        assert!(step(&mut core));
    }
    core.run(Limits {
        until: Some(core.cycles() + Cycles(1)),
        step_first: true,
    });
    let report = core.secrets().expect("they are followed");
    let uses = report.uses.iter();
    let found: Vec<_> = uses
        .map(|(&(at, decides), is)| ((at - START) / 4, decides, is.origins, is.extra_cycles))
        .collect();
    assert_eq!(
        found,
        [
            (1, Decides::Branch, 4, None),
            (4, Decides::Address, 4, Some(0)),
            (6, Decides::Time, 4, Some(1)),
            (7, Decides::Target, 4, None),
        ]
    );
    assert_eq!(report.one_way, [(START + 4, false)]);
}
