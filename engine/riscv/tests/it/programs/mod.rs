//! Generated programs for the core, and a small chip to run them on.
//!
//! A program begins at [`CODE`], has [`DATA`] and a device with wait states at [`DEVICE`], and ends
//! with a store to [`END`]. The timer interrupt is asserted from a cycle on until a store to
//! [`ACKNOWLEDGE`]. Cycle 0 is that of the first request for an instruction.

use joulemark_kernel::{Cycles, Fault};
use joulemark_riscv::{Bus, Config, Core, Exit, Limits, Lines, Region, RegionKind, Width};

pub const CODE: u32 = 0x2004_0000;
pub const CODE_SIZE: u32 = 0x1_0000;
pub const DATA: u32 = 0x2000_0000;
pub const DATA_WORDS: u32 = 1024;
pub const DEVICE: u32 = 0x4000_0000;
pub const END: u32 = 0xf000_0000;
pub const ACKNOWLEDGE: u32 = 0xf000_0004;
/// Offset of the trap handler.
const HANDLER: u32 = 0x1000;
/// Cycles after which a program is given up.
pub const LONGEST: u32 = 20_000;

/// A program and its conditions.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub code: Vec<u32>,
    /// x1 to x31 at the start.
    pub registers: [u32; 31],
    /// The cycle from which on the timer interrupt is asserted; 0 for never.
    pub interrupt: u32,
    /// Wait states of the device: reads in bits 0 to 3, writes in bits 4 to 7.
    pub waits: u32,
}

/// What a program leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The cycle in which the last store has its data on the bus; `None` if there was none.
    pub cycles: Option<u32>,
    pub registers: [u32; 31],
    /// A hash of the data.
    pub memory: u32,
}

impl Outcome {
    /// A short hash of everything but the cycles (FNV-1a).
    pub fn state(&self) -> u32 {
        self.registers
            .iter()
            .chain([&self.memory])
            .fold(0x811c_9dc5, |hash, word| {
                (hash ^ word).wrapping_mul(0x0100_0193)
            })
    }
}

/// The word of number `index` in data and device before a program starts.
pub fn initial(index: u32) -> u32 {
    let mut word = index.wrapping_mul(2_654_435_761).wrapping_add(0x9e37_79b9);
    word ^= word >> 15;
    word = word.wrapping_mul(0x85eb_ca6b);
    word ^ word >> 13
}

struct Device {
    waits: [u8; 2],
    interrupt: u64,
    acknowledged: bool,
    raised: bool,
    end: Option<u64>,
}

impl Bus for Device {
    fn waits(&self, address: u32, is_write: bool) -> u8 {
        if address >> 28 == 4 {
            self.waits[usize::from(is_write)]
        } else {
            0
        }
    }

    fn read(&mut self, address: u32, width: Width, _now: Cycles) -> Result<u32, Fault> {
        let word = if address >> 28 == 4 {
            initial(address >> 2)
        } else {
            0
        };
        let shifted = word >> (8 * (address & 3));
        Ok(match width {
            Width::Byte => shifted & 0xff,
            Width::Half => shifted & 0xffff,
            Width::Word => shifted,
        })
    }

    fn write(
        &mut self,
        address: u32,
        _value: u32,
        _width: Width,
        now: Cycles,
    ) -> Result<(), Fault> {
        match address {
            END => self.end = Some(now.0),
            ACKNOWLEDGE => {
                self.acknowledged = true;
                self.raised = false;
            }
            _ => {}
        }
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        if self.interrupt == 0 || self.acknowledged || self.raised {
            Cycles::NEVER
        } else {
            Cycles(self.interrupt)
        }
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        self.raised = !self.acknowledged && now.0 >= self.interrupt;
        Ok(())
    }

    fn interrupts(&self) -> Lines {
        Lines {
            timer: self.raised,
            ..Lines::default()
        }
    }

    fn take_stop(&mut self) -> bool {
        self.end.is_some()
    }
}

/// The emulated core before the first instruction of a program.
fn start(program: &Program) -> Core<Device> {
    let region = |start, size| Region {
        start,
        size,
        kind: RegionKind::Ram,
    };
    let config = Config {
        regions: vec![region(DATA, 4 * DATA_WORDS), region(CODE, CODE_SIZE)],
        ..Config::default()
    };
    let device = Device {
        waits: [program.waits as u8 & 15, program.waits as u8 >> 4],
        interrupt: program.interrupt.into(),
        acknowledged: false,
        raised: false,
        end: None,
    };
    let mut core = Core::new(device, &config);
    let bytes = |words: &[u32]| {
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let data: Vec<u32> = (0..DATA_WORDS).map(initial).collect();
    core.load(DATA, &bytes(&data)).expect("the data fits");
    core.load(CODE, &bytes(&program.code))
        .expect("the code fits");
    core.reset(CODE);
    for (number, &value) in program.registers.iter().enumerate() {
        core.set_register(number + 1, value);
    }
    core
}

/// The cycle before the next instruction may begin, and the address, of each that is executed.
pub fn trace(program: &Program) -> Vec<(u64, u32)> {
    let mut core = start(program);
    let mut steps = Vec::new();
    while core.bus.end.is_none() && core.cycles().0 < LONGEST.into() {
        let (now, pc, count) = (core.cycles(), core.pc(), core.instructions());
        let limits = Limits {
            until: Some(Cycles(now.0 + 1)),
            step_first: false,
        };
        if let Exit::Fault(fault) = core.run(limits) {
            eprintln!("{fault}");
            break;
        }
        if core.instructions() > count {
            steps.push((core.cycles().0 - 1, pc));
        }
    }
    steps
}

/// Run a program on the emulated core.
///
/// # Errors
/// The fault that ends it.
pub fn run(program: &Program) -> Result<Outcome, Fault> {
    let mut core = start(program);
    let limits = Limits {
        until: Some(Cycles(LONGEST.into())),
        step_first: false,
    };
    let exit = core.run(limits);
    if let Exit::Fault(fault) = exit {
        return Err(*fault);
    }
    let memory = core
        .read_memory(DATA, 4 * DATA_WORDS as usize)
        .expect("it is there");
    let words = memory
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    Ok(Outcome {
        cycles: core.bus.end.map(|cycle| cycle as u32),
        registers: std::array::from_fn(|index| core.register(index + 1)),
        memory: words.fold(0x811c_9dc5, |hash, word| {
            (hash ^ word).wrapping_mul(0x0100_0193)
        }),
    })
}

/// All that can be seen of a program that was run, whatever became of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    /// How it ended, where its last instruction does not say that.
    pub fault: Option<String>,
    pub cycles: u64,
    pub instructions: u64,
    pub pc: u32,
    pub registers: [u32; 31],
    pub memory: Vec<u8>,
    pub digest: u64,
    pub stack_low: u32,
}

/// Run a program piece by piece, each so many cycles long. With breakpoints there is one now and
/// then where it will come by soon.
pub fn look(
    program: &Program,
    mut piece: impl FnMut() -> u32,
    digests: bool,
    breakpoints: bool,
) -> Seen {
    let mut core = start(program);
    if digests {
        core.start_address_digest();
    }
    core.reset_stack_low();
    let mut fault = None;
    let mut breakpoint = None;
    let mut step_first = false;
    while core.bus.end.is_none() && core.cycles().0 < LONGEST.into() {
        let length = piece();
        if breakpoints {
            if let Some(at) = breakpoint {
                core.clear_breakpoint(at);
            }
            let at = core.pc().wrapping_add(length % 8 * 2);
            core.set_breakpoint(at);
            breakpoint = Some(at);
        }
        let exit = core.run(Limits {
            until: Some(Cycles(LONGEST.min(core.cycles().0 as u32 + length).into())),
            step_first,
        });
        step_first = matches!(exit, Exit::Breakpoint(_));
        match exit {
            Exit::Fault(found) => {
                fault = Some(found.to_string());
                break;
            }
            Exit::Asleep => break,
            _ => {}
        }
    }
    Seen {
        fault,
        cycles: core.cycles().0,
        instructions: core.instructions(),
        pc: core.pc(),
        registers: std::array::from_fn(|index| core.register(index + 1)),
        memory: [(DATA, 4 * DATA_WORDS), (CODE, CODE_SIZE)]
            .into_iter()
            .flat_map(|(start, size)| {
                let bytes = core.read_memory(start, size as usize);
                bytes.expect("it is there")
            })
            .collect(),
        digest: core.address_digest(),
        stack_low: core.stack_low(),
    }
}

/// Pseudo-random numbers (Vigna, xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..4 {
            random.next();
        }
        random
    }

    pub fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(limit)) >> 32) as u32
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.below(count) == 0
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }
}

/// Registers with a purpose: the stack pointer, the addresses of data and device, and two counters.
const SP: u32 = 2;
const BASE: u32 = 12;
const PORT: u32 = 13;
const COUNTERS: [u32; 2] = [14, 15];
/// Those that only the handler and the program's frame use.
const SCRATCH: [u32; 2] = [30, 31];

/// Generates a program: halfwords of code.
struct Generator {
    random: Random,
    code: Vec<u16>,
    /// Loops around this place.
    loops: usize,
    calls: usize,
    /// How many instructions may follow.
    budget: u32,
    traps: bool,
    interrupts: bool,
    device: bool,
}

const fn r(funct7: u32, rs2: u32, rs1: u32, funct3: u32, rd: u32, opcode: u32) -> u32 {
    funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

const fn i(imm: i32, rs1: u32, funct3: u32, rd: u32, opcode: u32) -> u32 {
    (imm as u32) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

const fn s(imm: i32, rs2: u32, rs1: u32, funct3: u32) -> u32 {
    let imm = imm as u32;
    r(imm >> 5 & 127, rs2, rs1, funct3, imm & 31, 0x23)
}

const fn b(offset: i32, rs2: u32, rs1: u32, funct3: u32) -> u32 {
    let imm = offset as u32;
    (imm >> 12 & 1) << 31
        | (imm >> 5 & 63) << 25
        | rs2 << 20
        | rs1 << 15
        | funct3 << 12
        | (imm >> 1 & 15) << 8
        | (imm >> 11 & 1) << 7
        | 0x63
}

const fn j(offset: i32, rd: u32) -> u32 {
    let imm = offset as u32;
    (imm >> 20 & 1) << 31
        | (imm >> 1 & 1023) << 21
        | (imm >> 11 & 1) << 20
        | (imm >> 12 & 255) << 12
        | rd << 7
        | 0x6f
}

const fn c_branch(offset: i32, rs1: u32, nonzero: bool) -> u16 {
    let imm = offset as u32;
    (0xc001
        | (nonzero as u32) << 13
        | (imm >> 8 & 1) << 12
        | (imm >> 3 & 3) << 10
        | (rs1 - 8) << 7
        | (imm >> 6 & 3) << 5
        | (imm >> 1 & 3) << 3
        | (imm >> 5 & 1) << 2) as u16
}

const fn c_jump(offset: i32, links: bool) -> u16 {
    let imm = offset as u32;
    let funct3 = if links { 1 } else { 5 };
    (1 | funct3 << 13
        | (imm >> 11 & 1) << 12
        | (imm >> 4 & 1) << 11
        | (imm >> 8 & 3) << 9
        | (imm >> 10 & 1) << 8
        | (imm >> 6 & 1) << 7
        | (imm >> 7 & 1) << 6
        | (imm >> 1 & 7) << 3
        | (imm >> 5 & 1) << 2) as u16
}

const fn c_addi(rd: u32, imm: i32) -> u16 {
    let imm = imm as u32;
    (1 | (imm >> 5 & 1) << 12 | rd << 7 | (imm & 31) << 2) as u16
}

const NOP: u16 = 1;

/// Register-register instructions: `funct7` and `funct3`.
#[rustfmt::skip]
const REGISTER: [(u32, u32); 44] = [
    (0, 0), (0x20, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0x20, 5), (0, 6), (0, 7),
    (1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (1, 7),
    (0x10, 2), (0x10, 4), (0x10, 6), (0x20, 7), (0x20, 6), (0x20, 4),
    (5, 4), (5, 5), (5, 6), (5, 7), (0x30, 1), (0x30, 5), (4, 4), (4, 7),
    (0x24, 1), (0x24, 5), (0x34, 1), (0x14, 1), (4, 4), (1, 0), (0, 0), (0x20, 0), (0, 4), (0, 7),
    (1, 0), (1, 3),
];
/// Those on one register: `imm` and `funct3`.
#[rustfmt::skip]
const UNARY: [(i32, u32); 10] = [
    (0x600, 1), (0x601, 1), (0x602, 1), (0x604, 1), (0x605, 1), (0x287, 5), (0x698, 5), (0x687, 5),
    (0x08f, 1), (0x08f, 5),
];
/// Shifts by an immediate: `funct7` and `funct3`.
#[rustfmt::skip]
const SHIFTS: [(u32, u32); 8] = [
    (0, 1), (0, 5), (0x20, 5), (0x30, 5), (0x24, 1), (0x24, 5), (0x34, 1), (0x14, 1),
];
const ATOMICS: [u32; 9] = [0x01, 0x00, 0x04, 0x0c, 0x08, 0x10, 0x14, 0x18, 0x1c];

impl Generator {
    fn wide(&mut self, word: u32) {
        self.code.extend([word as u16, (word >> 16) as u16]);
    }

    /// A register to read.
    fn rs(&mut self) -> u32 {
        self.random.below(30)
    }

    /// A register to write.
    fn rd(&mut self) -> u32 {
        loop {
            let rd = self.random.below(30);
            if !matches!(rd, 1 | SP | BASE..=15) {
                return rd;
            }
        }
    }

    /// Of those that short instructions have, one to write.
    fn short(&mut self) -> u32 {
        8 + self.random.below(4)
    }

    fn any_short(&mut self) -> u32 {
        8 + self.random.below(8)
    }

    fn one(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        let (rd, rs1, rs2) = (self.rd(), self.rs(), self.rs());
        match self.random.below(32) {
            0..=4 => {
                let (funct7, funct3) = self.random.pick(&REGISTER);
                self.wide(r(funct7, rs2, rs1, funct3, rd, 0x33));
            }
            5 => {
                let (imm, funct3) = self.random.pick(&UNARY);
                self.wide(i(imm, rs1, funct3, rd, 0x13));
            }
            6 => {
                let (funct7, funct3) = self.random.pick(&SHIFTS);
                self.wide(r(funct7, rs2, rs1, funct3, rd, 0x13));
            }
            7..=8 => {
                let funct3 = self.random.pick(&[0, 2, 3, 4, 6, 7]);
                let imm = self.random.next() as i32 >> 20;
                self.wide(i(imm, rs1, funct3, rd, 0x13));
            }
            9 => {
                let opcode = self.random.pick(&[0x37, 0x17]);
                let upper = self.random.next() & 0xffff_f000;
                self.wide(upper | rd << 7 | opcode);
            }
            10..=13 => self.load(rd),
            14..=16 => self.store(rs2),
            17..=20 => self.short_one(),
            21 => self.atomic(rd, rs2),
            22 => self.csr(rd),
            23 => self.zcmp(),
            24..=25 => self.skip(),
            26..=27 => self.repeat(),
            28 => self.call(),
            29 if self.traps => self.trap(),
            30 => match self.random.below(6) {
                0 => self.wide(0x0000_100f),
                1 => self.wide(0x0ff0_000f),
                2 => {
                    // h3.bextm and h3.bextmi.
                    let width = self.random.below(8) << 1;
                    let funct3 = self.random.pick(&[0, 4]);
                    self.wide(r(width, rs2, rs1, funct3, rd, 0x0b));
                }
                3 if self.interrupts => self.wide(0x1050_0073),
                _ => self.code.push(NOP),
            },
            _ => self.code.push(NOP),
        }
    }

    /// The address, as a register and an offset, of data or the device.
    fn place(&mut self, align: u32) -> (u32, i32) {
        let port = self.device && self.random.one_in(4);
        let offset = (self.random.below(512) / align * align) as i32;
        if port {
            (PORT, offset)
        } else {
            (BASE, offset - 128)
        }
    }

    fn load(&mut self, rd: u32) {
        let (funct3, align) = self
            .random
            .pick(&[(0, 1), (1, 2), (2, 4), (4, 1), (5, 2), (2, 4)]);
        let (base, offset) = self.place(align);
        self.wide(i(offset, base, funct3, rd, 0x03));
        if self.random.one_in(2) {
            // What uses it, or writes it elsewhere.
            let other = self.rd();
            match self.random.below(5) {
                0 => self.wide(r(0, rd, other, 0, other, 0x33)),
                1 => self.wide(i(1, rd, 0, other, 0x13)),
                2 => {
                    let (base, offset) = self.place(4);
                    self.wide(s(offset, rd, base, 2));
                }
                3 => {
                    let funct3 = 4 + self.random.below(4);
                    self.wide(r(1, other, rd, funct3, other, 0x33));
                }
                _ => {
                    let funct3 = self.random.pick(&[0, 1, 4, 5, 6, 7]);
                    self.wide(b(4, rd, other, funct3));
                }
            }
        }
    }

    fn store(&mut self, rs2: u32) {
        let (funct3, align) = self.random.pick(&[(0, 1), (1, 2), (2, 4), (2, 4)]);
        let (base, offset) = self.place(align);
        self.wide(s(offset, rs2, base, funct3));
    }

    fn short_one(&mut self) {
        let (rd, rs) = (self.short(), self.any_short());
        let (high, low) = ((rd - 8) << 7, (rs - 8) << 2);
        let imm = self.random.below(32) << 2;
        let full = self.rd().max(5);
        let other = self.rs().max(1);
        let base = if self.device && self.random.one_in(4) {
            PORT
        } else {
            BASE
        };
        let at = (base - 8) << 7;
        let of_data = (rd - 8) << 2;
        let word = match self.random.below(26) {
            0 => 1 << self.random.pick(&[5, 6, 7, 8, 11, 12]) | of_data,
            1 => 0x4000 | at | of_data | self.random.below(8) << 10 | self.random.below(4) << 5,
            2 => 0xc000 | at | low | self.random.below(8) << 10 | self.random.below(4) << 5,
            3 => 0x8000 | at | of_data | self.random.below(4) << 5,
            4 => 0x8400 | at | of_data | self.random.below(4) << 5,
            5 => 0x8800 | at | low | self.random.below(4) << 5,
            6 => 0x8c00 | at | low | self.random.below(2) << 5,
            7 => 0x0001 | full << 7 | imm | self.random.below(2) << 12,
            8 => 0x4001 | full << 7 | imm | self.random.below(2) << 12,
            9 => 0x6001 | full << 7 | imm | 4,
            10 => 0x8001 | high | imm,
            11 => 0x8401 | high | imm,
            12 => 0x8801 | high | imm | self.random.below(2) << 12,
            13 => 0x8c01 | high | low,
            14 => 0x8c21 | high | low,
            15 => 0x8c41 | high | low,
            16 => 0x8c61 | high | low,
            17 => 0x9c41 | high | low,
            18 => 0x9c61 | high | self.random.pick(&[0, 1, 2, 3, 5]) << 2,
            19 => 0x0002 | full << 7 | imm,
            20 => 0x4002 | full << 7 | self.random.below(8) << 4,
            21 => 0xc002 | other << 2 | self.random.below(8) << 9,
            22 | 24 => 0x8002 | full << 7 | other << 2,
            23 => 0x9002 | full << 7 | other << 2,
            _ => u32::from(NOP),
        };
        self.code.push(word as u16);
    }

    fn atomic(&mut self, rd: u32, rs2: u32) {
        let address = self.rd().max(5);
        let offset = 4 * self.random.below(64) as i32;
        self.wide(i(offset, BASE, 0, address, 0x13));
        for _ in 0..self.random.below(3) {
            self.code.push(NOP);
        }
        match self.random.below(5) {
            0 => {
                self.wide(r(0x02 << 2, 0, address, 2, rd, 0x2f));
                if self.random.one_in(2) {
                    let (funct7, funct3) = self.random.pick(&REGISTER);
                    let other = if rd == 28 { 29 } else { 28 };
                    if address != other {
                        self.wide(r(funct7, rs2, rd, funct3, other, 0x33));
                    }
                }
                if self.random.one_in(4) && address != rd {
                    self.wide(i(4, BASE, 2, rd, 0x03));
                }
                let result = self.rd();
                if address != rd {
                    self.wide(r(0x03 << 2, rs2, address, 2, result, 0x2f));
                }
            }
            1 => self.wide(r(0x03 << 2, rs2, address, 2, rd, 0x2f)),
            _ => {
                for _ in 0..=self.random.below(2) {
                    let funct5 = self.random.pick(&ATOMICS);
                    let result = if address == rd { 0 } else { rd };
                    self.wide(r(funct5 << 2, rs2, address, 2, result, 0x2f));
                }
                if self.random.one_in(2) {
                    self.wide(i(0, rd, 0, 5, 0x13));
                }
            }
        }
    }

    fn csr(&mut self, rd: u32) {
        let rs1 = self.rs();
        let funct3 = self.random.pick(&[1, 2, 3, 5, 6, 7]);
        if self.interrupts && self.random.one_in(2) {
            let word = match self.random.below(6) {
                // mstatus.mie; the interrupt controller's arrays, context and next interrupt; mie.
                0 => i(0x300, 8, self.random.pick(&[6, 7]), rd, 0x73),
                1 => i(
                    self.random.pick(&[0xbe0, 0xbe2, 0xbe3]),
                    rs1,
                    funct3 & 3,
                    rd,
                    0x73,
                ),
                2 => i(
                    self.random.pick(&[0xbe0, 0xbe1, 0xbe2, 0xbe3]),
                    rs1,
                    funct3 & 3,
                    rd,
                    0x73,
                ),
                3 => i(0xbe5, self.random.below(4), 6, rd, 0x73),
                4 => i(0xbe4, self.random.below(2), 6, rd, 0x73),
                _ => i(0x304, rs1, funct3, rd, 0x73),
            };
            return self.wide(word);
        }
        let word = match self.random.below(9) {
            8 => i(self.random.pick(&[0x341, 0x342]), rs1, funct3, rd, 0x73),
            0..=2 => i(
                self.random.pick(&[0xb00, 0xb02, 0xc00, 0xc02]),
                0,
                2,
                rd,
                0x73,
            ),
            3 => i(
                self.random
                    .pick(&[0xb80, 0xb82, 0x301, 0xf12, 0x344, 0x342]),
                0,
                2,
                rd,
                0x73,
            ),
            4..=5 => i(0x340, rs1, funct3, rd, 0x73),
            6 => i(
                self.random.pick(&[0xb00, 0xb02, 0xb80, 0xb82]),
                rs1,
                funct3,
                rd,
                0x73,
            ),
            _ => i(0x320, self.random.below(8), 5, rd, 0x73),
        };
        self.wide(word);
    }

    fn zcmp(&mut self) {
        if self.random.one_in(3) {
            let (first, second) = (self.random.below(8), self.random.below(8));
            let kind = self.random.pick(&[1, 3]);
            self.code
                .push((0xac02 | first << 7 | kind << 5 | second << 2) as u16);
            return;
        }
        let list = 4 + self.random.below(12);
        let extra = self.random.below(2) << 2;
        self.code.push((0xb802 | list << 4 | extra) as u16);
        for _ in 0..self.random.below(4) {
            self.simple();
        }
        self.code.push((0xba02 | list << 4 | extra) as u16);
    }

    fn simple(&mut self) {
        let (rd, rs1, rs2) = (self.rd(), self.rs(), self.rs());
        match self.random.below(4) {
            0 => self.short_one(),
            1 => self.load(rd),
            2 => self.wide(r(0, rs2, rs1, 0, rd, 0x33)),
            _ => self.code.push(NOP),
        }
    }

    /// Code that is generated apart, to know its length.
    fn apart(&mut self, instructions: u32) -> Vec<u16> {
        let before = std::mem::take(&mut self.code);
        for _ in 0..instructions {
            if self.budget > 0 {
                self.one();
            }
        }
        std::mem::replace(&mut self.code, before)
    }

    /// A jump or branch forwards over code.
    fn skip(&mut self) {
        let count = self.random.below(4);
        let block = self.apart(count);
        let bytes = 2 * block.len() as i32;
        let (rs1, rs2) = (self.rs(), self.rs());
        match self.random.below(6) {
            0 if bytes < 250 => {
                let rs1 = self.any_short();
                let nonzero = self.random.one_in(2);
                self.code.push(c_branch(bytes + 2, rs1, nonzero));
            }
            1 => self.code.push(c_jump(bytes + 2, false)),
            2 => self.wide(j(bytes + 4, 0)),
            3 => {
                // auipc, and jalr to after the code.
                let rd = self.rd().max(5);
                self.wide(rd << 7 | 0x17);
                self.wide(i(bytes + 8, rd, 0, 0, 0x67));
            }
            _ => {
                let funct3 = self.random.pick(&[0, 1, 4, 5, 6, 7]);
                self.wide(b(bytes + 4, rs2, rs1, funct3));
            }
        }
        self.code.extend(block);
    }

    /// A loop.
    fn repeat(&mut self) {
        let Some(&counter) = COUNTERS.get(self.loops) else {
            return self.code.push(NOP);
        };
        let turns = 1 + self.random.below(5) as i32;
        self.code.push(c_addi(counter, turns) | 0x4000);
        if self.random.one_in(2) {
            self.code.push(NOP);
        }
        self.loops += 1;
        let count = self.random.pick(&[0, 0, 1, 1, 2, 3, 4, 6]);
        let mut block = self.apart(count);
        self.loops -= 1;
        if self.random.one_in(2) {
            block.push(c_addi(counter, -1));
        } else {
            let word = i(-1, counter, 0, counter, 0x13);
            block.extend([word as u16, (word >> 16) as u16]);
        }
        if self.random.one_in(4) {
            block.push(NOP);
        }
        let bytes = 2 * block.len() as i32;
        self.code.extend(block);
        match self.random.below(4) {
            0 | 1 if bytes < 250 => self.code.push(c_branch(-bytes, counter, true)),
            2 => self.wide(b(-bytes, counter, 0, 4)),
            _ => self.wide(b(-bytes, 0, counter, 1)),
        }
    }

    /// A function, skipped, and a call of it.
    fn call(&mut self) {
        if self.calls > 0 {
            return self.code.push(NOP);
        }
        self.calls += 1;
        let count = self.random.below(5);
        let body = self.apart(count);
        self.calls -= 1;
        let list = 4 + self.random.below(12);
        let mut function = Vec::new();
        match self.random.below(4) {
            0 => {
                function.extend(body);
                function.push(0x8082);
            }
            1 => {
                function.extend(body);
                let word = i(0, 1, 0, 0, 0x67);
                function.extend([word as u16, (word >> 16) as u16]);
            }
            kind => {
                function.push((0xb802 | list << 4) as u16);
                function.extend(body);
                let last = if kind == 2 { 0xbe02 } else { 0xbc02 };
                function.push((last | list << 4) as u16);
            }
        }
        let bytes = 2 * function.len() as i32;
        self.code.push(c_jump(bytes + 2, false));
        self.code.extend(function);
        match self.random.below(3) {
            0 => self.code.push(c_jump(-bytes, true)),
            1 => self.wide(j(-bytes, 1)),
            _ => {
                self.wide(5 << 7 | 0x17);
                self.wide(i(-bytes, 5, 0, 1, 0x67));
            }
        }
    }

    fn trap(&mut self) {
        let rd = self.rd();
        let offset = 4 * self.random.below(8) as i32;
        match self.random.below(7) {
            0 => self.wide(0x0000_0073),
            1 => self.code.push(0x9002),
            2 => self.wide(0x0010_0073),
            3 => self.wide(0xffff_ffff),
            4 => self.wide(i(1 + offset, BASE, 2, rd, 0x03)),
            5 => self.wide(s(2 + offset, rd, BASE, 2)),
            _ => self.code.push(0),
        }
    }
}

/// Generate the program of a number.
pub fn generate(number: u64) -> Program {
    let mut random = Random::new(number);
    let mut registers: [u32; 31] = std::array::from_fn(|_| match random.below(4) {
        0 => random.below(64),
        1 => random.below(64).wrapping_neg(),
        _ => random.next(),
    });
    registers[SP as usize - 1] = DATA + 0xa00;
    registers[BASE as usize - 1] = DATA + 0x200;
    registers[PORT as usize - 1] = DEVICE;
    let (traps, interrupts, device) = (random.one_in(3), random.one_in(3), random.one_in(3));
    let waits = if device {
        random.below(4) | random.below(4) << 4
    } else {
        0
    };
    let interrupt = if interrupts { 1 + random.below(200) } else { 0 };
    let budget = 4 + random.below(40);
    let mut generator = Generator {
        random,
        code: Vec::new(),
        loops: 0,
        calls: 0,
        budget,
        traps,
        interrupts,
        device,
    };
    let handler = CODE + HANDLER;
    let [spare, scratch] = SCRATCH;
    // The handler's address, plus 1 for a vector table.
    let vectored = generator.random.below(2);
    generator.wide(handler & 0xffff_f000 | scratch << 7 | 0x37);
    generator.wide(i(vectored as i32, scratch, 0, scratch, 0x13));
    generator.wide(i(0x305, scratch, 1, 0, 0x73));
    generator.wide(i(0x320, 0, 5, 0, 0x73));
    if interrupts {
        generator.wide(0x1000 | scratch << 7 | 0x37);
        generator.wide(i(-0x778, scratch, 0, scratch, 0x13));
        generator.wide(i(0x304, scratch, 1, 0, 0x73));
        if !generator.random.one_in(4) {
            generator.wide(i(0x300, 8, 6, 0, 0x73));
        }
    }
    while generator.budget > 0 {
        generator.one();
    }
    generator.wide(END | scratch << 7 | 0x37);
    generator.wide(s(0, 0, scratch, 2));
    // A few instructions behind the end, as the front end fetches them.
    generator.wide(j(0, 0));
    generator.code.resize(HANDLER as usize / 2, NOP);
    for entry in 0..16 {
        generator.wide(j(64 - 4 * entry, 0));
    }
    let body = [
        i(0x342, 0, 2, scratch, 0x73),
        b(32, 0, scratch, 4),
        i(0x341, 0, 2, scratch, 0x73),
        i(0, scratch, 5, spare, 0x03),
        i(3, spare, 7, spare, 0x13),
        i(-3, spare, 0, spare, 0x13),
        i(1, spare, 3, spare, 0x13),
        r(0x10, scratch, spare, 2, scratch, 0x33),
        j(8 + 16, 0),
        END | scratch << 7 | 0x37,
        s(4, 0, scratch, 2),
        i(0xbe4, 1, 6, spare, 0x73),
        0x3020_0073,
        j(0, 0),
        i(2, scratch, 0, scratch, 0x13),
        i(0x341, scratch, 1, 0, 0x73),
        0x3020_0073,
    ];
    for word in body {
        generator.wide(word);
    }
    let code = &generator.code;
    Program {
        code: code
            .chunks(2)
            .map(|pair| u32::from(pair[0]) | u32::from(*pair.get(1).unwrap_or(&0)) << 16)
            .collect(),
        registers,
        interrupt,
        waits,
    }
}

/// A loop that overwrites one of its instructions in each turn, before or behind where it does so.
pub fn overwriting(number: u64) -> Program {
    const TURNS: u32 = 6;
    let mut random = Random::new(number);
    let [sum, word, base, both, turns] = [5, 6, 7, 8, 9];
    let [one, three] = [1, 3].map(|step| i(step, sum, 0, sum, 0x13));
    let length = 2 + random.below(90);
    let (from, to) = (random.below(length), random.below(length));
    let mut code: Vec<u32> = vec![one; length as usize];
    code[from as usize] = s(4 * to as i32, word, base, 2);
    if to == from {
        code.push(one);
    }
    let back = -4 * (code.len() as i32 + 2);
    code.extend([
        r(0, both, word, 4, word, 0x33),
        i(-1, turns, 0, turns, 0x13),
        b(back, 0, turns, 1),
        END | turns << 7 | 0x37,
        s(0, 0, turns, 2),
        j(0, 0),
    ]);
    let mut registers = [0; 31];
    for (register, value) in [
        (word, three),
        (base, CODE),
        (both, one ^ three),
        (turns, TURNS),
    ] {
        registers[register as usize - 1] = value;
    }
    Program {
        code,
        registers,
        ..Program::default()
    }
}
