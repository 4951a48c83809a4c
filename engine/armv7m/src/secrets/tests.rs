//! Whatever differs between two runs that differ in secrets alone was said to be secret: every 16-bit
//! encoding, samples of every 32-bit one, and random sequences. That is, no leak can be missed by a
//! bit that was taken for public.

use joulemark_kernel::secrets::{Decides, Piece};
use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::core::{Config, Core, Exit, Limits};
use crate::decode::{Extensions, decode};
use crate::exec_float::FPCA;
use crate::memory::{Region, RegionKind};
use crate::op::{Kind, Op, is_wide};
use crate::{Bus, Timing, Width};

const CODE: u32 = 0x1000;
const DATA: u32 = 0x2000_0000;
const DATA_BYTES: u32 = 0x300;

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

    fn below(&mut self, bound: u32) -> u32 {
        self.next() % bound
    }

    /// A register's value: random, small, extreme, or an address in the data.
    fn value(&mut self) -> u32 {
        match self.below(8) {
            0 => self.below(40),
            1 => [0, 1, u32::MAX, 0x8000_0000, 0x7fff_ffff, 0xffff][self.below(6) as usize],
            2 | 3 => self.next(),
            4 => self.next() >> self.below(32),
            _ => DATA + 0x80 + self.below(0x200) / 4 * 4,
        }
    }

    /// Which of its bits are secret: mostly none or few, so that what is public shows.
    fn mask(&mut self) -> u32 {
        match self.below(8) {
            0 => self.next(),
            1 => 1 << self.below(32),
            2 => u32::MAX >> self.below(32),
            3 => u32::MAX << self.below(32),
            4 => self.next() & self.next() & self.next(),
            _ => 0,
        }
    }
}

fn new_core(timing: Timing) -> Core<Nothing> {
    core_with(timing, Region::new(RegionKind::Flash, CODE, 0x100))
}

fn core_with(timing: Timing, code: Region) -> Core<Nothing> {
    let mut core = Core::new(
        Nothing,
        &Config {
            regions: vec![code, Region::new(RegionKind::Ram, DATA, DATA_BYTES)],
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
    if timing.float {
        core.debug_write(0xe000_ed88, 0x00f0_0000).expect("CPACR");
        core.debug_write(0xe000_ef34, 0).expect("FPCCR");
        core.control |= FPCA;
    }
    core
}

/// All that an instruction can change but the program counter.
#[derive(Clone)]
struct State {
    registers: [u32; 15],
    status: u32,
    floats: [u32; 33],
    /// PRIMASK, FAULTMASK, BASEPRI, CONTROL, and the stack pointer that R13 is not.
    special: [u32; 5],
    data: Vec<u8>,
}

impl State {
    fn random(random: &mut Random) -> Self {
        let mut registers = std::array::from_fn(|_| random.value());
        registers[13] = DATA + 0x180 + random.below(0x80) / 8 * 8;
        registers[14] = CODE + 1 + random.below(0x100) / 2 * 2;
        let mut floats = std::array::from_fn(|_| {
            let bits = random.next();
            match random.below(4) {
                0 => bits & 0x807f_ffff | 0x3f80_0000,
                1 => 0,
                _ => bits,
            }
        });
        floats[32] = random.next() & 0xf7c0_009f;
        Self {
            registers,
            status: random.next() & 0xf80f_0000,
            floats,
            special: [
                random.below(2),
                random.below(2),
                random.below(8) << 5,
                random.below(2) << 1,
                DATA + 0x200 + random.below(0x20) * 8,
            ],
            data: (0..DATA_BYTES).map(|_| random.next() as u8).collect(),
        }
    }

    /// Of the same form: which bits are secret.
    fn masks(random: &mut Random) -> Self {
        let mut masks = Self {
            registers: std::array::from_fn(|_| random.mask()),
            status: random.mask() & 0xf80f_0000,
            floats: std::array::from_fn(|_| random.mask()),
            special: [1, 1, 0xe0, 0, 0x1c].map(|bits| random.mask() & bits),
            data: Vec::new(),
        };
        masks.registers[13] = 0;
        masks.floats[32] &= 0xf7c0_009f;
        let dense = random.below(4);
        masks.data = (0..DATA_BYTES)
            .map(|_| match random.below(4) {
                below if below < dense => random.mask() as u8,
                _ => 0,
            })
            .collect();
        masks
    }

    /// Another state that agrees with this one but in secret bits.
    fn other(&self, masks: &Self, random: &mut Random) -> Self {
        let change = match random.below(3) {
            0 => u32::MAX,
            1 => random.next(),
            _ => random.next() & random.next() & random.next(),
        };
        let mut turn = |value: u32, mask: u32| value ^ mask & change.rotate_left(random.below(32));
        let pairs = |values: &[u32], masks: &[u32], turn: &mut dyn FnMut(u32, u32) -> u32| {
            let pairs = values.iter().zip(masks);
            pairs.map(|(&v, &m)| turn(v, m)).collect::<Vec<u32>>()
        };
        let registers = pairs(&self.registers, &masks.registers, &mut turn);
        let floats = pairs(&self.floats, &masks.floats, &mut turn);
        let status = turn(self.status, masks.status);
        let special = pairs(&self.special, &masks.special, &mut turn);
        let data = self.data.iter().zip(&masks.data);
        Self {
            registers: registers.try_into().expect("as many"),
            status,
            floats: floats.try_into().expect("as many"),
            special: special.try_into().expect("as many"),
            data: data
                .map(|(&v, &m)| turn(u32::from(v), u32::from(m)) as u8)
                .collect(),
        }
    }

    fn put(&self, core: &mut Core<Nothing>, it: u8) {
        let [primask, faultmask, basepri, control, other_sp] = self.special;
        core.forget_secrets();
        (core.primask, core.faultmask) = (primask != 0, faultmask != 0);
        core.basepri = basepri as u8;
        let float = core.float_registers().is_some();
        core.control = control as u8 | if float { FPCA } else { 0 };
        if control & 2 != 0 {
            core.set_main_stack_pointer(other_sp);
        } else {
            core.set_process_stack_pointer(other_sp);
        }
        for (number, &value) in self.registers.iter().enumerate() {
            core.set_register(number, value);
        }
        core.set_xpsr(
            self.status | 1 << 24 | (u32::from(it) & 3) << 25 | (u32::from(it) >> 2) << 10,
        );
        for (number, &value) in self.floats.iter().enumerate() {
            core.set_float_register(number, value);
        }
        core.load_image(DATA, &self.data).expect("memory");
        core.exclusive = true;
        core.set_register(15, CODE);
    }

    fn get(core: &Core<Nothing>) -> Self {
        let (singles, fpscr) = core.float_registers().unwrap_or(([0; 32], 0));
        let mut floats = [0; 33];
        floats[..32].copy_from_slice(&singles);
        floats[32] = fpscr;
        Self {
            registers: std::array::from_fn(|number| core.register(number)),
            status: core.xpsr() & 0xf80f_0000,
            floats,
            special: [
                core.primask.into(),
                core.faultmask.into(),
                core.basepri.into(),
                core.control.into(),
                if core.control & 2 != 0 {
                    core.main_stack_pointer()
                } else {
                    core.process_stack_pointer()
                },
            ],
            data: core.read_memory(DATA, DATA_BYTES).expect("memory"),
        }
    }

    fn mark(&self, core: &mut Core<Nothing>) {
        core.follow_secrets(&[]).expect("nothing");
        let at = core.memory.place(DATA).expect("memory");
        let secrets = core.secrets_for_tests();
        for (number, &mask) in self.registers.iter().enumerate() {
            secrets.set_register(number as u8, mask);
        }
        secrets.set_status(self.status);
        for (number, &mask) in self.floats.iter().enumerate() {
            secrets.set_float(number as u8, mask);
        }
        secrets.set_special(self.special);
        for (offset, &mask) in self.data.iter().enumerate() {
            secrets.set_memory(at + offset, mask);
        }
        secrets.finds.is_on = true;
    }

    fn marked(core: &mut Core<Nothing>) -> Self {
        let at = core.memory.place(DATA).expect("memory");
        let secrets = core.secrets_for_tests();
        Self {
            registers: std::array::from_fn(|number| secrets.of_register(number)),
            status: secrets.of_status(),
            floats: std::array::from_fn(|number| secrets.of_float(number)),
            special: secrets.of_special(),
            data: (0..DATA_BYTES as usize)
                .map(|offset| secrets.of_memory(at + offset))
                .collect(),
        }
    }

    /// What differs and was not said to be secret.
    fn missed(&self, other: &Self, masks: &Self) -> Option<String> {
        let differ = |name: &str, x: &[u32], y: &[u32], masks: &[u32]| {
            let mut values = x.iter().zip(y).zip(masks).enumerate();
            values.find_map(|(number, ((&x, &y), &mask))| {
                ((x ^ y) & !mask != 0)
                    .then(|| format!("{name}{number}: {x:08x} and {y:08x}, {mask:08x} is secret"))
            })
        };
        let bytes = |data: &[u8]| data.iter().map(|&byte| u32::from(byte)).collect::<Vec<_>>();
        differ("r", &self.registers, &other.registers, &masks.registers)
            .or_else(|| differ("xpsr", &[self.status], &[other.status], &[masks.status]))
            .or_else(|| differ("s", &self.floats, &other.floats, &masks.floats))
            .or_else(|| differ("special ", &self.special, &other.special, &masks.special))
            .or_else(|| {
                differ(
                    "data+",
                    &bytes(&self.data),
                    &bytes(&other.data),
                    &bytes(&masks.data),
                )
            })
    }
}

impl Core<Nothing> {
    fn secrets_for_tests(&mut self) -> &mut super::Secrets {
        self.secrets_mut().expect("they are followed")
    }
}

fn step(core: &mut Core<Nothing>) -> Exit {
    core.run(Limits {
        until: Some(Cycles(0)),
        step_first: true,
    })
}

struct Pair {
    first: Core<Nothing>,
    second: Core<Nothing>,
    random: Random,
    compared: u32,
    /// Of all bits that were said to be secret, how many differed at least once.
    precise: (u64, u64),
}

impl Pair {
    fn new(timing: Timing, seed: u64) -> Self {
        Self {
            first: new_core(timing),
            second: new_core(timing),
            random: Random(seed),
            compared: 0,
            precise: (0, 0),
        }
    }

    /// Run code with other secrets, and compare after each instruction as long as both go the same
    /// way. Where they part, that was found.
    fn compare(&mut self, code: &[u16], it: u8, steps: usize) {
        let bytes: Vec<u8> = code
            .iter()
            .chain([0xbf00, 0xbf00, 0xbf00, 0xe7fe].iter())
            .flat_map(|half| half.to_le_bytes())
            .collect();
        for core in [&mut self.first, &mut self.second] {
            core.load_image(CODE, &bytes).expect("memory");
        }
        let start = State::random(&mut self.random);
        let masks = State::masks(&mut self.random);
        let other = start.other(&masks, &mut self.random);
        start.put(&mut self.first, it);
        other.put(&mut self.second, it);
        masks.mark(&mut self.first);
        for number in 0..steps {
            let (exit, exit_of_other) = (step(&mut self.first), step(&mut self.second));
            if exit != Exit::Cycles || exit_of_other != Exit::Cycles {
                return;
            }
            let ways = (self.first.register(15), self.second.register(15));
            if ways.0 != ways.1 {
                let uses = self.first.secrets().expect("they are followed").uses;
                let mut decided = uses.keys().map(|&(_, decides)| decides);
                assert!(
                    decided.any(|is| matches!(is, Decides::Branch | Decides::Target)),
                    "{code:04x?}, step {number}: to {:x} and {:x}, and nothing was found",
                    ways.0,
                    ways.1
                );
                return;
            }
            let said = State::marked(&mut self.first);
            let (x, y) = (State::get(&self.first), State::get(&self.second));
            if let Some(missed) = x.missed(&y, &said) {
                let lost = !self.first.secrets().expect("followed").lost.is_empty();
                assert!(
                    lost,
                    "{code:04x?} in IT {it:02x}, step {number}: {missed}\nstart {:x?} {:08x}\nother {:x?} {:08x}\nsecret {:x?} {:08x}",
                    start.registers,
                    start.status,
                    other.registers,
                    other.status,
                    masks.registers,
                    masks.status
                );
                return;
            }
            self.compared += 1;
            if said.special[3] & 5 != 0 {
                // What instructions may do, and do to FPSCR, is a decision that was found.
                return;
            }
            for ((x, y), mask) in x.registers.iter().zip(&y.registers).zip(&said.registers) {
                self.precise.0 += u64::from(mask.count_ones());
                self.precise.1 += u64::from(((x ^ y) & mask).count_ones());
            }
        }
    }
}

/// Whether an instruction's state can be compared: it is no wait, breakpoint or special register.
fn is_usable(op: &Op) -> bool {
    let special = matches!(op.kind, Kind::Msr | Kind::Mrs) && op.imm >= 8;
    let ends = matches!(
        op.kind,
        Kind::Undefined
            | Kind::Empty
            | Kind::Wfe
            | Kind::Wfi
            | Kind::Bkpt
            | Kind::Svc
            | Kind::Cps
            | Kind::Coprocessor
            | Kind::VUndefined
    );
    !op.is(Op::UNPREDICTABLE) && !special && !ends
}

/// Whether it may be in an IT block.
fn may_be_skipped(op: &Op) -> bool {
    !matches!(op.kind, Kind::It | Kind::Bcond | Kind::Cbz | Kind::Cbnz)
}

fn wide(random: &mut Random, extensions: Extensions) -> (u16, u16) {
    loop {
        let first = 0xe800 | random.below(0x1800) as u16;
        let first = if extensions.float && random.below(3) == 0 {
            0xec00 | random.below(0x300) as u16
        } else {
            first
        };
        let second = random.next() as u16;
        let second = if first >> 8 >= 0xec && first >> 8 <= 0xee {
            second & 0xf1ff | 0x0a00
        } else {
            second
        };
        // Of most fields that must be zeros or ones, so that more encodings are instructions.
        let second = match random.below(4) {
            0 => second & 0x0fff | 0xf000,
            1 => second & 0xf0ff,
            _ => second,
        };
        if is_wide(first) && is_usable(&decode(first, second, extensions)) {
            return (first, second);
        }
    }
}

fn timings() -> [Timing; 2] {
    [Timing::CORTEX_M3, Timing::CORTEX_M4F]
}

fn compare_instructions(wide_ones: u32) {
    for timing in timings() {
        let extensions = Extensions::from(timing);
        let mut pair = Pair::new(timing, 0x0123_4567_89ab_cdef);
        for first in (0..=u16::MAX).filter(|&half| !is_wide(half)) {
            let op = decode(first, 0, extensions);
            if is_usable(&op) {
                for _ in 0..2 {
                    pair.compare(&[first], 0, 1);
                }
                if may_be_skipped(&op) && first.is_multiple_of(8) {
                    let it = (pair.random.below(14) << 4 | 8) as u8;
                    pair.compare(&[first], it, 1);
                }
            }
        }
        for number in 0..wide_ones {
            let (first, second) = wide(&mut pair.random, extensions);
            let skippable = may_be_skipped(&decode(first, second, extensions));
            let it = if number % 8 == 0 && skippable {
                (pair.random.below(14) << 4 | 8) as u8
            } else {
                0
            };
            pair.compare(&[first, second], it, 1);
        }
        assert!(
            pair.compared > 50_000 + wide_ones,
            "{} compared",
            pair.compared
        );
        // Not everything is called secret.
        let (said, differed) = pair.precise;
        assert!(
            differed * 100 > said * 45,
            "{differed} of {said} bits differed"
        );
    }
}

#[test]
fn what_differs_after_an_instruction_was_said_to_be_secret() {
    compare_instructions(40_000);
}

#[test]
fn what_differs_in_a_sequence_was_said_to_be_secret() {
    compare_sequences(3_000);
}

#[test]
fn what_special_registers_hold_was_said_to_be_secret() {
    for timing in timings() {
        let mut pair = Pair::new(timing, 0x5eed_5bec_1a10_0001);
        for register in 0..13_u16 {
            for number in [8, 9, 16, 17, 18, 19, 20] {
                let write = [0xf380 | register, 0x8800 | number];
                let read = [0xf3ef, 0x8000 | ((register + 1) % 13) << 8 | number];
                for _ in 0..40 {
                    pair.compare(&[write[0], write[1], read[0], read[1]], 0, 2);
                    pair.compare(&read, 0, 1);
                    let it = (pair.random.below(14) << 4 | 8) as u8;
                    pair.compare(&[write[0], write[1], read[0], read[1]], it, 2);
                    let masks = 0xb660 | pair.random.below(4) as u16 | (register & 1) << 4;
                    pair.compare(&[masks, read[0], read[1]], it, 2);
                    // CONTROL, and then what is pushed.
                    pair.compare(&[write[0], write[1], 0xb403, read[0], read[1]], 0, 3);
                }
            }
        }
        assert!(pair.compared > 15_000, "{} compared", pair.compared);
    }
}

#[test]
fn secret_masks_of_exceptions_are_found_where_they_are_set() {
    // LDR R0, [R0]; MSR PRIMASK, R0; MSR BASEPRI, R0; MSR FAULTMASK, R0; MRS R1, BASEPRI;
    // CMP R1, #0; BNE +0; MSR CONTROL, R0 (of which bit 3 does not exist); MSR FAULTMASK, R2
    let code = [
        0x6800, 0xf380, 0x8810, 0xf380, 0x8811, 0xf380, 0x8813, 0xf3ef, 0x8111, 0x2900, 0xd1ff,
        0xf380, 0x8814, 0xf382, 0x8813, 0xe7fe,
    ];
    assert_eq!(
        found(Timing::CORTEX_M3, &code, &[], 9),
        [
            (1, Decides::Exception, None),
            (3, Decides::Exception, None),
            (5, Decides::Exception, None),
            (10, Decides::Branch, None),
            (11, Decides::Address, None),
            (11, Decides::Exception, None),
        ]
    );
}

#[test]
fn a_secret_in_the_system_control_space_decides_exceptions() {
    // LDR R0, [R0]; STR R0, [R1]; LDR R2, [R1, #4]; CMP R2, #0; BNE +0
    let code = [0x6800, 0x6008, 0x684a, 0x2a00, 0xd1ff, 0xe7fe];
    let reload = 0xe000_e014;
    assert_eq!(
        found(Timing::CORTEX_M4, &code, &[(1, reload)], 5),
        [(1, Decides::Exception, None), (4, Decides::Branch, None)]
    );
}

#[test]
#[ignore = "two minutes"]
fn what_differs_in_many_was_said_to_be_secret() {
    compare_instructions(1_000_000);
    compare_sequences(50_000);
}

fn compare_sequences(count: u32) {
    for timing in timings() {
        let extensions = Extensions::from(timing);
        let mut pair = Pair::new(timing, 0xfedc_ba98_7654_3210);
        for _ in 0..count {
            let mut code = Vec::new();
            let mut left_in_it = 0;
            while code.len() < 14 {
                if left_in_it == 0 && pair.random.below(8) == 0 {
                    let mask = 1 + pair.random.below(15);
                    code.push((0xbf00 | pair.random.below(14) << 4 | mask) as u16);
                    left_in_it = 4 - mask.trailing_zeros();
                }
                if pair.random.below(2) == 0 {
                    let first = pair.random.below(0xe800) as u16;
                    let op = decode(first, 0, extensions);
                    if !is_usable(&op) || !may_be_skipped(&op) {
                        continue;
                    }
                    code.push(first);
                } else {
                    let (first, second) = wide(&mut pair.random, extensions);
                    if !may_be_skipped(&decode(first, second, extensions)) {
                        continue;
                    }
                    code.extend([first, second]);
                }
                left_in_it = left_in_it.saturating_sub(1);
            }
            pair.compare(&code, 0, 10);
        }
        assert!(pair.compared > count, "{} compared", pair.compared);
    }
}

/// What a piece of code was found to decide by register 0, which is secret.
fn found(
    timing: Timing,
    code: &[u16],
    registers: &[(usize, u32)],
    steps: usize,
) -> Vec<(u32, Decides, Option<u32>)> {
    let mut core = new_core(timing);
    let bytes: Vec<u8> = code.iter().flat_map(|half| half.to_le_bytes()).collect();
    core.load_image(CODE, &bytes).expect("memory");
    core.load_image(DATA, &[7; 4]).expect("memory");
    core.follow_secrets(&[Piece {
        address: DATA,
        length: 4,
        origin: 1,
    }])
    .expect("memory");
    core.find_uses(true);
    core.set_register(15, CODE);
    core.set_register(13, DATA + 0x200);
    core.set_register(0, DATA);
    for &(number, value) in registers {
        core.set_register(number, value);
    }
    for _ in 0..steps {
        assert_eq!(step(&mut core), Exit::Cycles);
    }
    let report = core.secrets().expect("they are followed");
    let uses = report.uses.iter();
    uses.map(|(&(address, decides), is)| ((address - CODE) / 2, decides, is.extra_cycles))
        .collect()
}

#[test]
fn products_and_quotients_take_their_time_by_core() {
    // LDR R0, [R0]; UMULL R1, R2, R0, R0; UMLAL R1, R2, R0, R0; UDIV R1, R0, R0; MUL R1, R0, R0
    let code = [
        0x6800, 0xfba0, 0x1200, 0xfbe0, 0x1200, 0xfbb0, 0xf1f0, 0xfb00, 0xf100, 0xe7fe,
    ];
    assert_eq!(
        found(Timing::CORTEX_M3, &code, &[], 5),
        [
            (1, Decides::Time, Some(2)),
            (3, Decides::Time, Some(4)),
            (5, Decides::Time, Some(10)),
        ]
    );
    assert_eq!(
        found(Timing::CORTEX_M4, &code, &[], 5),
        [(5, Decides::Time, Some(10))]
    );
}

#[test]
fn a_factor_whose_halves_are_never_zero_takes_its_time() {
    // LDR R0, [R0]; ORR R0, R0, #0x10001; BIC R0, R0, #0x80000000; UMULL R1, R2, R0, R0
    let code = [
        0x6800, 0xf040, 0x1001, 0xf020, 0x4000, 0xfba0, 0x1200, 0xe7fe,
    ];
    assert_eq!(found(Timing::CORTEX_M3, &code, &[], 4), []);
}

/// Random instructions around an IT block of computations: where skipping is said to take as long,
/// it does.
#[test]
fn selects_take_as_long_either_way() {
    let mut random = Random(0x5eed_0f5e_1ec7_0001);
    let mut selects = [0, 0];
    for number in 0..9_000_u16 {
        let slow = (number % 2 * 2) as u8;
        let flash = Region {
            wait_states: slow,
            line_bytes: 4 * slow,
            ..Region::new(RegionKind::Flash, CODE, 0x100)
        };
        let timing = [Timing::CORTEX_M3_R1, Timing::CORTEX_M3, Timing::CORTEX_M4]
            [usize::from(number / 2 % 3)];
        let extensions = Extensions::from(timing);
        let mut code = Vec::new();
        let plain = |random: &mut Random, code: &mut Vec<u16>, computes: bool| loop {
            let (first, second) = if random.below(3) == 0 {
                wide(random, extensions)
            } else {
                (random.below(0xe800) as u16, random.next() as u16)
            };
            let op = decode(first, second, extensions);
            let is_load = matches!(
                op.kind,
                Kind::LdrImm | Kind::LdrbImm | Kind::StrImm | Kind::StrbImm
            );
            let is_timed = matches!(
                op.kind,
                Kind::Smull | Kind::Umull | Kind::Smlal | Kind::Umlal | Kind::Sdiv | Kind::Udiv
            );
            // What the block writes is no address later, and no operand of what takes its time.
            let is_fit = if computes {
                op.kind.computes() && matches!(op.rd, 0..4 | 14) && op.ra < 4
            } else if is_load {
                op.rn >= 4 && op.rd < 4 && !op.is(Op::WRITEBACK)
            } else {
                op.kind.computes() && op.rd < 4 && op.ra < 4 && !is_timed
            };
            // Nothing before the block changes the flags that it tests.
            let keeps = computes || !op.is(Op::S | Op::S_OUTSIDE_IT);
            if is_usable(&op) && is_fit && keeps && op.rn < 8 && op.rm < 8 {
                code.push(first);
                if op.length == 4 {
                    code.push(second);
                }
                return;
            }
        };
        for _ in 0..random.below(4) {
            plain(&mut random, &mut code, false);
        }
        let it = code.len();
        let mask = 1 + random.below(15);
        code.push((0xbf00 | random.below(14) << 4 | mask) as u16);
        for _ in 0..4 - mask.trailing_zeros() {
            plain(&mut random, &mut code, true);
        }
        let end = code.len();
        for _ in 0..2 {
            plain(&mut random, &mut code, false);
        }
        code.extend([0xbf00, 0xbf00, 0xe7fe]);
        let bytes: Vec<u8> = code.iter().flat_map(|half| half.to_le_bytes()).collect();
        let registers: [u32; 8] = std::array::from_fn(|_| DATA + 0x100 + random.below(0x40) * 4);
        let mut times = Vec::new();
        let mut said = None;
        for flags in 0..16 {
            let mut core = core_with(timing, flash);
            core.load_image(CODE, &bytes).expect("memory");
            core.set_xpsr(flags << 28 | 1 << 24);
            core.set_register(15, CODE);
            for (register, &value) in registers.iter().enumerate() {
                core.set_register(register, value);
            }
            core.set_breakpoint(CODE + bytes.len() as u32 - 2);
            if flags == 0 {
                let op = decode(code[it], 0, extensions);
                core.follow(|_, _| ());
                core.follow_secrets(&[]).expect("nothing");
                core.follow(|_, before| {
                    let at = CODE + 2 * it as u32;
                    said = Some(super::skipping_takes_as_long(before, at, &op));
                });
                core.forget_secrets();
            }
            let exit = core.run(Limits {
                until: Some(Cycles(1000)),
                step_first: false,
            });
            if matches!(exit, Exit::Breakpoint(_)) {
                times.push(core.cycles().0);
            }
        }
        let differ = times.iter().any(|&time| time != times[0]);
        let said = said.expect("asked");
        selects[usize::from(differ)] += u32::from(said);
        assert!(
            !said || !differ,
            "{code:04x?}, IT at {it}, to {end}: {times:?} cycles, {registers:x?}"
        );
    }
    assert!(selects[0] > 2_000, "{selects:?}");
}
