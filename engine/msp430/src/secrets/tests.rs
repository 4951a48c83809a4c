//! Whatever differs between two runs that differ in secrets alone was said to be secret: every first
//! word of an instruction, and random sequences. That is, no leak can be missed by a bit that was
//! taken for public.

use joulemark_kernel::secrets::{Decides, Piece};
use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::bus::{Bus, FlashOperation, Width};
use crate::core::Core;
use crate::decode::{self, Action, Destination, Source};
use crate::memory::{Region, RegionKind};
use crate::registers::status::CPUOFF;
use crate::registers::{PC, SP, SR};
use crate::run::{Exit, Limits};

const CODE: u16 = 0x5000;
/// Where operands in memory are.
const DATA: std::ops::Range<u16> = 0x1000..0x1200;

struct Nothing;

impl Bus for Nothing {
    fn read(&mut self, address: u16, _: Width, _: Cycles) -> Result<u16, Fault> {
        Err(Fault::new(FaultKind::Unmapped, "nothing").at(address))
    }
    fn write(&mut self, address: u16, _: u16, _: Width, _: Cycles) -> Result<(), Fault> {
        Err(Fault::new(FaultKind::Unmapped, "nothing").at(address))
    }
    fn write_flash(
        &mut self,
        address: u16,
        _: u16,
        _: Width,
        _: Cycles,
    ) -> Result<FlashOperation, Fault> {
        Err(Fault::new(FaultKind::FlashWrite, "flash").at(address))
    }
    fn next_event(&self) -> Cycles {
        Cycles::NEVER
    }
    fn advance(&mut self, _: Cycles) -> Result<(), Fault> {
        Ok(())
    }
    fn pending_interrupt(&self, _: bool) -> Option<u16> {
        None
    }
    fn acknowledge(&mut self, _: u16, _: Cycles) {}
    fn power_changed(&mut self, _: u16, _: Cycles) -> Cycles {
        Cycles(0)
    }
    fn take_stop(&mut self) -> bool {
        false
    }
}

/// xorshift64* (Vigna 2016).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u16 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 48) as u16
    }

    fn below(&mut self, bound: u16) -> u16 {
        self.next() % bound
    }

    /// A register's value: random, small, extreme, or an address in the data.
    fn value(&mut self) -> u16 {
        match self.below(8) {
            0 => self.below(40),
            1 => [0, 1, 0xffff, 0x8000, 0x7fff, 0xff][usize::from(self.below(6))],
            2 | 3 => self.next(),
            _ => DATA.start + 0x80 + self.below(0x100) / 2 * 2,
        }
    }

    fn mask(&mut self) -> u16 {
        match self.below(8) {
            0 => self.next(),
            1 => 1 << self.below(16),
            2 => 0xffff >> self.below(16),
            3 => 0xffff << self.below(16),
            4 => self.next() & self.next(),
            _ => 0,
        }
    }
}

fn new_core() -> Core<Nothing> {
    let region = |start: u16, size: u32, kind| Region { start, size, kind };
    let regions = [
        region(DATA.start, DATA.len() as u32, RegionKind::Ram),
        region(CODE, 0x40, RegionKind::Flash),
    ];
    let mut core = Core::new(Nothing, &regions);
    core.load(DATA.start, &[0; DATA.end as usize - DATA.start as usize])
        .expect("memory");
    core
}

#[derive(Clone)]
struct State {
    registers: [u16; 16],
    data: Vec<u8>,
}

impl State {
    fn random(random: &mut Random) -> Self {
        let mut registers = std::array::from_fn(|_| random.value());
        registers[PC] = CODE;
        registers[SP] = DATA.start + 0x40 + random.below(0x20) / 2 * 2;
        registers[SR] = random.next() & !CPUOFF;
        registers[3] = 0;
        Self {
            registers,
            data: DATA.map(|_| random.next() as u8).collect(),
        }
    }

    /// Of the same form: which bits are secret.
    fn masks(random: &mut Random) -> Self {
        let mut registers = std::array::from_fn(|_| random.mask());
        (registers[PC], registers[SP], registers[3]) = (0, 0, 0);
        registers[SR] &= !CPUOFF;
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
            0 => 0xffff,
            1 => random.next(),
            _ => random.next() & random.next(),
        };
        let mut other = self.clone();
        for (value, mask) in other.registers.iter_mut().zip(masks.registers) {
            *value ^= mask & change.rotate_left(u32::from(random.below(16)));
        }
        for (value, mask) in other.data.iter_mut().zip(&masks.data) {
            *value ^= mask & change.rotate_left(u32::from(random.below(16))) as u8;
        }
        other
    }

    fn put(&self, core: &mut Core<Nothing>) {
        for (number, &value) in self.registers.iter().enumerate() {
            core.set_register(number, value);
        }
        core.load(DATA.start, &self.data).expect("memory");
    }

    fn get(core: &Core<Nothing>) -> Self {
        Self {
            registers: std::array::from_fn(|number| core.register(number)),
            data: core.read_memory(DATA.start, DATA.len()).expect("memory"),
        }
    }

    fn mark(&self, core: &mut Core<Nothing>) {
        core.follow_secrets(&[]);
        core.find_uses(true);
        let secrets = core.secrets.as_mut().expect("they are followed");
        for (number, &mask) in self.registers.iter().enumerate() {
            secrets.set_register(number, mask);
        }
        for (at, &mask) in DATA.zip(&self.data) {
            secrets.set_memory(at.into(), mask);
        }
    }

    fn marked(core: &Core<Nothing>) -> Self {
        let secrets = core.secrets.as_ref().expect("they are followed");
        Self {
            registers: std::array::from_fn(|number| secrets.of_register(number)),
            data: DATA.map(|at| secrets.of_memory(at.into())).collect(),
        }
    }

    /// What differs and was not said to be secret.
    fn missed(&self, other: &Self, masks: &Self) -> Option<String> {
        let registers = self.registers.iter().zip(&other.registers);
        let registers = registers.zip(&masks.registers).enumerate().skip(1);
        let bytes = self.data.iter().zip(&other.data);
        let bytes = bytes.zip(&masks.data).zip(DATA);
        registers
            .filter(|&(_, ((x, y), mask))| (x ^ y) & !mask != 0)
            .map(|(number, ((x, y), mask))| format!("r{number}: {x:04x} {y:04x}, {mask:04x}"))
            .next()
            .or_else(|| {
                bytes
                    .filter(|&(((x, y), mask), _)| (x ^ y) & !mask != 0)
                    .map(|(((x, y), mask), at)| format!("{at:04x}: {x:02x} {y:02x}, {mask:02x}"))
                    .next()
            })
    }
}

/// Whether an instruction leaves the place of the stack alone.
fn is_usable(action: Action) -> bool {
    let special = |number: u8| number == 1;
    match action {
        Action::Double(operation, source, Destination::Register(number)) => {
            (!special(number) || !operation.writes())
                && !matches!(source, Source::Autoincrement(1, _))
        }
        Action::Reti | Action::Double(_, Source::Autoincrement(1, _), _) => false,
        Action::Single(_, Source::Register(number)) => !special(number),
        _ => true,
    }
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
    fn compare(&mut self, code: &[u16], steps: usize) {
        let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
        for core in [&mut self.first, &mut self.second] {
            core.load(CODE, &bytes).expect("memory");
        }
        let start = State::random(&mut self.random);
        let masks = State::masks(&mut self.random);
        let other = start.other(&masks, &mut self.random);
        start.put(&mut self.first);
        other.put(&mut self.second);
        masks.mark(&mut self.first);
        // One instruction at a time, or in the fast loop, whose code takes long to load.
        let leave_breakpoint = self.random.below(8) != 0;
        for number in 0..steps {
            let limits = Limits {
                until: Some(self.first.cycles() + Cycles(1)),
                leave_breakpoint,
            };
            let exit = self.first.run(limits);
            let limits = Limits {
                until: Some(self.second.cycles() + Cycles(1)),
                leave_breakpoint,
            };
            let exit_of_other = self.second.run(limits);
            if matches!(
                (&exit, &exit_of_other),
                (Exit::Asleep, Exit::Cycles) | (Exit::Cycles, Exit::Asleep)
            ) {
                let uses = self.first.secrets().expect("they are followed").uses;
                let mut decided = uses.keys().map(|&(_, decides)| decides);
                assert!(
                    decided.any(|is| is == Decides::Exception),
                    "{code:04x?}, step {number}: {exit:?} and {exit_of_other:?}"
                );
            }
            if exit != Exit::Cycles || exit_of_other != Exit::Cycles {
                return;
            }
            if self.first.register(PC) != self.second.register(PC) {
                let uses = self.first.secrets().expect("they are followed").uses;
                let mut decided = uses.keys().map(|&(_, decides)| decides);
                assert!(
                    decided.any(|is| matches!(
                        is,
                        Decides::Branch | Decides::Target | Decides::Exception
                    )),
                    "{code:04x?}, step {number}: nothing was found"
                );
                return;
            }
            let said = State::marked(&self.first);
            let (x, y) = (State::get(&self.first), State::get(&self.second));
            if let Some(missed) = x.missed(&y, &said) {
                panic!(
                    "{code:04x?}, step {number}: {missed}\nstart {:04x?}\nother {:04x?}\nsecret {:04x?}",
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

    /// An instruction with this first word, or none; its operands are in the data.
    fn instruction(&mut self, first: u16) -> Option<Vec<u16>> {
        let length = usize::from(decode::length(first) / 2);
        let mut words = vec![first];
        for _ in 1..length {
            let offset = match self.random.below(3) {
                0 => DATA.start + 0x80 + self.random.below(0x80) / 2 * 2,
                1 => self.random.below(8) * 2,
                _ => self.random.next(),
            };
            words.push(offset);
        }
        let at = |address: u16| words[usize::from(address.wrapping_sub(CODE) / 2)];
        let decoded = decode::decode(CODE, at)?;
        is_usable(decoded.action).then_some(words)
    }
}

#[test]
fn what_differs_after_an_instruction_was_said_to_be_secret() {
    let mut pair = Pair::new(0x0123_4567_89ab_cdef);
    for first in 0..=u16::MAX {
        if let Some(code) = pair.instruction(first) {
            pair.compare(&code, 1);
        }
    }
    assert!(pair.compared > 20_000, "{} compared", pair.compared);
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
        while code.len() < 12 {
            let first = pair.random.next();
            let jumps = (0x2000..0x4000).contains(&first) || (0x1280..0x1300).contains(&first);
            if let Some(words) = pair.instruction(first).filter(|_| !jumps) {
                code.extend(words);
            }
        }
        pair.compare(&code, 6);
    }
    assert!(pair.compared > 4_000, "{} compared", pair.compared);
}

#[test]
fn a_secret_carry_decides_a_jump() {
    let mut core = new_core();
    // ADD @R4, R5; JC +0; MOV R5, R6; MOV 0(R6), R7; CALL R5
    let code: [u16; 6] = [0x5425, 0x2c00, 0x4506, 0x4617, 0x0000, 0x1285];
    let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    core.load(CODE, &bytes).expect("memory");
    core.follow_secrets(&[Piece {
        address: DATA.start.into(),
        length: 2,
        origin: 4,
    }]);
    core.find_uses(true);
    for (number, value) in [(PC, CODE), (SP, 0x1100), (4, DATA.start), (5, 0x1000)] {
        core.set_register(number, value);
    }
    for _ in 0..5 {
        let until = Some(core.cycles() + Cycles(1));
        core.run(Limits {
            until,
            leave_breakpoint: true,
        });
    }
    let report = core.secrets().expect("they are followed");
    let uses = report.uses.iter();
    let found: Vec<_> = uses
        .map(|(&(at, decides), is)| ((at as u16 - CODE) / 2, decides, is.origins, is.extra_cycles))
        .collect();
    assert_eq!(
        found,
        [
            (1, Decides::Branch, 4, None),
            (3, Decides::Address, 4, Some(0)),
            (5, Decides::Target, 4, None),
        ]
    );
    assert_eq!(report.one_way, [(u32::from(CODE) + 2, false)]);
    assert_eq!(report.reached, 5);
}

#[test]
fn a_secret_in_the_status_register_decides_interrupts() {
    let mut core = new_core();
    // MOV @R4, R5; MOV R5, SR; MOV SR, R6; BIT #8, R6; JZ +0; BIC #1, SR; MOV.B #64, R5; AND R5, SR
    let code: [u16; 9] = [
        0x4425, 0x4502, 0x4206, 0xb236, 0x2400, 0xc312, 0x4075, 0x0040, 0xf502,
    ];
    let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    core.load(CODE, &bytes).expect("memory");
    core.load(DATA.start, &[0x08, 0]).expect("memory");
    core.follow_secrets(&[Piece {
        address: DATA.start.into(),
        length: 1,
        origin: 4,
    }]);
    core.find_uses(true);
    for (number, value) in [(PC, CODE), (SP, 0x1100), (4, DATA.start)] {
        core.set_register(number, value);
    }
    for _ in 0..8 {
        let until = Some(core.cycles() + Cycles(1));
        core.run(Limits {
            until,
            leave_breakpoint: true,
        });
    }
    let report = core.secrets().expect("they are followed");
    let found: Vec<_> = report
        .uses
        .iter()
        .map(|(&(at, decides), is)| ((at as u16 - CODE) / 2, decides, is.origins))
        .collect();
    assert_eq!(found, [(1, Decides::Exception, 4), (4, Decides::Branch, 4)]);
    let secrets = core.secrets.as_ref().expect("they are followed");
    assert_eq!(secrets.of_register(SR), 0x40);
}
