//! Accesses that bring no timer up to date give what others do, and loops that poll are skipped
//! without a trace, on random programs.

use std::path::Path;
use std::sync::Arc;

use joulemark_kernel::{Chip, Cycles, Fault};
use joulemark_machine::series::msp430x1xx::{Msp430x1xx, vector};
use joulemark_msp430::{
    Bus, Core, Exit, FlashOperation, Forecast, Limits, Region, RegionKind, Width,
};
use joulemark_peripherals::adc12::Inputs;
use proptest::prelude::*;

/// The same chip without quiet accesses; its timers forecast nothing.
struct Loud {
    chip: Msp430x1xx,
    reads: u64,
}

impl Bus for Loud {
    fn read(&mut self, address: u16, width: Width, now: Cycles) -> Result<u16, Fault> {
        self.reads += 1;
        self.chip.advance_timers(now);
        self.chip.read(address, width, now)
    }
    fn write(&mut self, address: u16, value: u16, width: Width, now: Cycles) -> Result<(), Fault> {
        self.chip.write(address, value, width, now)
    }
    fn write_flash(
        &mut self,
        address: u16,
        value: u16,
        width: Width,
        now: Cycles,
    ) -> Result<FlashOperation, Fault> {
        self.chip.write_flash(address, value, width, now)
    }
    fn next_event(&self) -> Cycles {
        self.chip.next_event()
    }
    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        self.chip.advance(now)
    }
    fn pending_interrupt(&self, enabled: bool) -> Option<u16> {
        self.chip.pending_interrupt(enabled)
    }
    fn acknowledge(&mut self, vector: u16, now: Cycles) {
        self.chip.acknowledge(vector, now);
    }
    fn power_changed(&mut self, status: u16, now: Cycles) -> Cycles {
        self.chip.power_changed(status, now)
    }
    fn take_stop(&mut self) -> bool {
        self.chip.take_stop()
    }
}

/// The same chip, with a count of its quiet reads.
struct Counting {
    chip: Msp430x1xx,
    reads: u64,
}

impl Bus for Counting {
    fn read(&mut self, address: u16, width: Width, now: Cycles) -> Result<u16, Fault> {
        self.chip.read(address, width, now)
    }
    fn read_quietly(&mut self, address: u16, width: Width, now: Cycles) -> Option<u16> {
        self.reads += 1;
        self.chip.read_quietly(address, width, now)
    }
    fn forecast(&self, address: u16, width: Width, now: Cycles) -> Option<Forecast> {
        self.chip.forecast(address, width, now)
    }
    fn counted(&self, address: u16, now: Cycles, counts: u64) -> Cycles {
        self.chip.counted(address, now, counts)
    }
    fn write(&mut self, address: u16, value: u16, width: Width, now: Cycles) -> Result<(), Fault> {
        self.chip.write(address, value, width, now)
    }
    fn write_flash(
        &mut self,
        address: u16,
        value: u16,
        width: Width,
        now: Cycles,
    ) -> Result<FlashOperation, Fault> {
        self.chip.write_flash(address, value, width, now)
    }
    fn next_event(&self) -> Cycles {
        self.chip.next_event()
    }
    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        self.chip.advance(now)
    }
    fn pending_interrupt(&self, enabled: bool) -> Option<u16> {
        self.chip.pending_interrupt(enabled)
    }
    fn acknowledge(&mut self, vector: u16, now: Cycles) {
        self.chip.acknowledge(vector, now);
    }
    fn power_changed(&mut self, status: u16, now: Cycles) -> Cycles {
        self.chip.power_changed(status, now)
    }
    fn take_stop(&mut self) -> bool {
        self.chip.take_stop()
    }
}

fn loud() -> Loud {
    Loud {
        chip: bus(),
        reads: 0,
    }
}

fn bus() -> Msp430x1xx {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips/msp430f1611.toml");
    let chip = Arc::new(Chip::load(&path).expect("loads"));
    let inputs = Inputs::new(3000, 25);
    Msp430x1xx::new(&chip, 0, 1_000_000, inputs, true, false).expect("an MSP430x1xx")
}

const CODE: u16 = 0x4000;
const HANDLERS: u16 = 0xf000;
const RESULTS: u16 = 0x1200;
const SAMPLE: u16 = 0xe000;
/// Read TAR until it is twice the same, with both on the stack, as Contiki's function does that
/// mspgcc made: SUB #4, SP; MOV &TAR, 2(SP); MOV &TAR, 0(SP); MOV 2(SP), R9; MOV @SP, R10;
/// CMP R10, R9; JNE; MOV 2(SP), R10; ADD #4, SP; RET.
const SAMPLING: [u16; 16] = [
    0x8221, 0x4291, 0x0170, 2, 0x4291, 0x0170, 0, 0x4119, 2, 0x412a, 0x9a09, 0x23f5, 0x411a, 2,
    0x5221, 0x4130,
];

fn core<B: Bus>(bus: B, code: &[u16]) -> Core<B> {
    let region = |start, size, kind| Region { start, size, kind };
    let regions = [
        region(0, 0x200, RegionKind::Peripheral),
        region(0x1100, 0x2800, RegionKind::Ram),
        region(0x4000, 0xc000, RegionKind::Flash),
    ];
    let mut core = Core::new(bus, &regions);
    let mut load = |address, words: &[u16]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        core.load(address, &bytes).expect("memory");
    };
    load(CODE, code);
    // INC R12; RETI, and ADD &TAIV, R13; RETI, and ADD &TBIV, R13; RETI.
    load(
        HANDLERS,
        &[
            0x531c, 0x1300, 0x521d, 0x012e, 0x1300, 0x521d, 0x011e, 0x1300,
        ],
    );
    load(SAMPLE, &SAMPLING);
    for (vector, handler) in [
        (vector::TIMERA0, HANDLERS),
        (vector::TIMERB0, HANDLERS),
        (vector::TIMERA1, HANDLERS + 4),
        (vector::TIMERB1, HANDLERS + 10),
        (0xfffe, CODE),
    ] {
        load(vector, &[handler]);
    }
    core.reset();
    core.set_register(1, 0x3900);
    core.set_register(2, 8);
    core
}

/// Readable registers: both timers, flags, ports, clocks, serial lines, the multiplier.
fn readable() -> impl Strategy<Value = u16> {
    prop_oneof![
        4 => prop::sample::select(vec![0x160_u16, 0x162, 0x164, 0x170, 0x172]),
        4 => prop::sample::select(vec![0x180_u16, 0x182, 0x18e, 0x190, 0x192]),
        1 => prop::sample::select(vec![0x130_u16, 0x138, 0x13e]),
        1 => prop::sample::select(vec![0x120_u16, 0x12a, 0x12e, 0x11e, 0x1a0]),
    ]
}

fn readable_byte() -> impl Strategy<Value = u16> {
    prop::sample::select(vec![
        0x00_u16, 0x02, 0x03, 0x20, 0x21, 0x28, 0x18, 0x1c, 0x56, 0x57, 0x70, 0x71, 0x76, 0x78,
        0x79, 0x7a,
    ])
}

/// Writable registers and values.
fn settings() -> impl Strategy<Value = (u16, u16)> {
    let timer = |base: u16| {
        prop_oneof![
            // Source, divider, mode, TAIE.
            (1_u16..3, 0_u16..4, 0_u16..4, 0_u16..8).prop_map(
                move |(source, divider, mode, low)| {
                    (base, source << 8 | divider << 6 | mode << 4 | low & 6)
                }
            ),
            // Compare with CCIE and an output mode, or software capture.
            (0_u16..3, any::<u16>())
                .prop_map(move |(channel, bits)| { (base + 2 + 2 * channel, bits & 0x00f4) }),
            (0_u16..3, prop_oneof![2 => 1_u16..60, 1 => any::<u16>()])
                .prop_map(move |(channel, value)| (base + 0x12 + 2 * channel, value)),
            any::<u16>().prop_map(move |value| (base + 0x10, value)),
        ]
    };
    prop_oneof![
        3 => timer(0x160),
        3 => timer(0x180),
        // TACCTL2 captures ACLK.
        1 => (0_u16..4).prop_map(|edges| (0x166, edges << 14 | 0x1100)),
        2 => (0x130_u16..0x13f, any::<u16>()).prop_map(|(at, value)| (at & !1, value)),
    ]
}

fn byte_settings() -> impl Strategy<Value = (u16, u16)> {
    prop_oneof![
        (0x56_u16..0x57, 0_u16..256),
        // BCSCTL1: XT2 off, ACLK's divider, RSEL.
        (
            Just(0x57),
            (0_u16..4, 0_u16..8).prop_map(|(d, r)| 0x80 | d << 4 | r)
        ),
        (Just(0x58), (0_u16..64).prop_map(|bits| bits & 0x36)),
        (
            prop::sample::select(vec![0x21_u16, 0x22, 0x26, 0x1d, 0x1e, 0x1f]),
            0_u16..256
        ),
        (Just(0x7f), 0_u16..256),
        (Just(0x78), Just(0x10)),
        (Just(0x79), Just(0x20)),
        (Just(0x7c), 3_u16..40),
        (Just(0x05), Just(0x30)),
    ]
}

/// One instruction.
fn instruction() -> impl Strategy<Value = Vec<u16>> {
    let register = 4_u16..12;
    let result = (0_u16..16).prop_map(|index| RESULTS + 2 * index);
    prop_oneof![
        // MOV, ADD, CMP &reg, Rn.
        6 => (prop::sample::select(vec![0x4210_u16, 0x5210, 0x9210]), readable(), register.clone())
            .prop_map(|(first, from, to)| vec![first | to, from]),
        4 => (prop::sample::select(vec![0x4250_u16, 0x9250]), readable_byte(), register.clone())
            .prop_map(|(first, from, to)| vec![first | to, from]),
        // MOV &reg, &result.
        2 => (readable(), result).prop_map(|(from, to)| vec![0x4292, from, to]),
        // BIT #N, &reg and CMP Rn, &reg.
        3 => (any::<u16>(), readable()).prop_map(|(bits, at)| vec![0xb0b2, bits, at]),
        2 => (register.clone(), readable()).prop_map(|(from, at)| vec![0x9082 | from << 8, at]),
        2 => (any::<u16>(), readable_byte()).prop_map(|(bits, at)| vec![0xb0f2, bits, at]),
        // MOV @Rn+, &MPY and MOV #N, &OP2.
        1 => Just(vec![0x4034, RESULTS, 0x44b2, 0x0130, 0x40b2, 77, 0x0138]),
        1 => settings().prop_map(|(at, value)| vec![0x40b2, value, at]),
        1 => byte_settings().prop_map(|(at, value)| vec![0x40f2, value, at]),
        1 => (register.clone(), register).prop_map(|(from, to)| vec![0x5000 | from << 8 | to]),
    ]
}

/// Some settings, then pieces of instructions, each in a loop.
fn program() -> impl Strategy<Value = Vec<u16>> {
    let piece = (
        prop::collection::vec(instruction(), 1..6),
        prop_oneof![1_u16..4, 1_u16..400],
    );
    let pieces = prop::collection::vec(piece, 1..8);
    (prop::collection::vec(settings(), 4..12), pieces).prop_map(|(settings, pieces)| {
        let mut code = Vec::new();
        for (at, value) in settings {
            code.extend([0x40b2, value, at]);
        }
        for (body, count) in pieces {
            let body: Vec<u16> = body.concat();
            // MOV #count, R15; ...; DEC R15; JNZ.
            code.extend([0x403f, count]);
            let back = -(body.len() as i16 + 2);
            code.extend(body);
            code.extend([0x831f, 0x2000 | back as u16 & 0x3ff]);
        }
        // JMP to itself.
        code.push(0x3fff);
        code
    })
}

/// What a polling loop does in one step: instructions, or a jump out of it under a condition.
#[derive(Clone, Debug)]
enum Step {
    Do(Vec<u16>),
    Leave(u16),
}

/// Part of a polling loop.
fn poll() -> impl Strategy<Value = Vec<Step>> {
    use Step::{Do, Leave};
    let register = || 4_u16..9;
    let bit = || (0_u16..16).prop_map(|bit| 1 << bit);
    let limit = || prop_oneof![0_u16..200, any::<u16>()];
    prop_oneof![
        // BIT.B #N, &reg; BIT #N, &reg.
        3 => (bit(), readable_byte(), 0_u16..7)
            .prop_map(|(bit, at, when)| vec![Do(vec![0xb0f2, bit, at]), Leave(when)]),
        1 => (bit(), readable(), 0_u16..2)
            .prop_map(|(bit, at, when)| vec![Do(vec![0xb0b2, bit, at]), Leave(when)]),
        // CMP #N, &reg; CMP &reg, Rn.
        2 => (limit(), readable(), 0_u16..7)
            .prop_map(|(limit, at, when)| vec![Do(vec![0x90b2, limit, at]), Leave(when)]),
        2 => (readable(), register(), 0_u16..7)
            .prop_map(|(at, with, when)| vec![Do(vec![0x9210 | with, at]), Leave(when)]),
        // MOV &TAR, R10; SUB Rn, R10; CMP #N, R10.
        2 => (register(), limit(), 0_u16..7, prop::sample::select(vec![0x170_u16, 0x190]))
            .prop_map(|(since, limit, when, at)| {
                let difference = vec![0x421a, at, 0x800a | since << 8, 0x903a, limit];
                vec![Do(difference), Leave(when)]
            }),
        // CALL #SAMPLE; SUB Rn, R10; TST R10.
        1 => (register(), 0_u16..7).prop_map(|(since, when)| {
            vec![Do(vec![0x12b0, SAMPLE, 0x800a | since << 8, 0x930a]), Leave(when)]
        }),
        // ADD #N, Rn or SUB #N, Rn, with a jump or without.
        2 => (prop::sample::select(vec![0x5030_u16, 0x8030]), register(), prop_oneof![Just(1_u16), 0_u16..8, any::<u16>()], 0_u16..7)
            .prop_map(|(first, to, by, when)| vec![Do(vec![first | to, by]), Leave(when)]),
        1 => (prop::sample::select(vec![0x5310_u16, 0x8310]), register()).prop_map(|(first, to)| vec![Do(vec![first | to])]),
        // MOV.B &reg, R11; CLRC; RRC.B R11; AND.B #1, R11; MOV.B R11, 2(SP) and a jump.
        1 => (readable_byte(), 0_u16..2).prop_map(|(at, when)| {
            let piece = vec![0x425b, at, 0xc312, 0x104b, 0xf35b, 0x4bc1, 2];
            vec![Do(piece), Leave(when)]
        }),
        // PUSH Rn; POP R11. MOV Rn, &result. INC &result. ADC Rn.
        1 => register().prop_map(|from| vec![Do(vec![0x1200 | from, 0x413b])]),
        1 => (register(), 0_u16..4).prop_map(|(from, at)| vec![Do(vec![0x4082 | from << 8, RESULTS + 2 * at])]),
        1 => Just(vec![Do(vec![0x5392, RESULTS])]),
        1 => register().prop_map(|to| vec![Do(vec![0x6300 | to])]),
        // MOV @R5, R11 and MOV @R5+, R11, which fault where R5 points to nothing.
        1 => (0_u16..2).prop_map(|step| vec![Do(vec![0x4035, RESULTS, 0x452b | step << 4])]),
    ]
}

/// Some settings, then loops that poll until something jumps out of them, or a limit.
fn polling_program() -> impl Strategy<Value = Vec<u16>> {
    let polls = prop::collection::vec((prop::collection::vec(poll(), 1..4), limit()), 1..6);
    let registers = prop::collection::vec(prop_oneof![0_u16..300, any::<u16>()], 5);
    let all = prop::collection::vec(
        prop_oneof![3 => settings().prop_map(|(at, value)| (false, at, value)),
        1 => byte_settings().prop_map(|(at, value)| (true, at, value))],
        2..10,
    );
    (all, registers, polls).prop_map(|(settings, registers, loops)| {
        let mut code = Vec::new();
        for (is_byte, at, value) in settings {
            code.extend([if is_byte { 0x40f2 } else { 0x40b2 }, value, at]);
        }
        for (number, value) in (4..).zip(registers) {
            code.extend([0x4030 | number, value]);
        }
        for (steps, limit) in loops {
            code.extend([0x403f, limit]);
            let start = code.len();
            let mut leaves = Vec::new();
            for step in steps.concat() {
                match step {
                    Step::Do(words) => code.extend(words),
                    Step::Leave(condition) => {
                        leaves.push(code.len());
                        code.push(0x2000 | condition << 10);
                    }
                }
            }
            // DEC R15; JNZ.
            code.push(0x831f);
            let back = start as i16 - (code.len() as i16 + 1);
            code.push(0x2000 | back as u16 & 0x3ff);
            for at in leaves {
                code[at] |= (code.len() - at - 1) as u16;
            }
        }
        code.push(0x3fff);
        code
    })
}

fn limit() -> impl Strategy<Value = u16> {
    prop_oneof![1_u16..40, any::<u16>()]
}

fn observed<B: Bus>(core: &Core<B>, exit: &Exit) -> (Exit, u64, u64, [u16; 16], Vec<u8>) {
    (
        exit.clone(),
        core.cycles().0,
        core.instructions(),
        std::array::from_fn(|number| core.register(number)),
        core.read_memory(RESULTS, 0x20).expect("RAM"),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Quiet accesses give the same results as others.
    #[test]
    fn quiet_accesses_are_like_the_others(
        code in program(),
        lengths in prop::collection::vec(prop_oneof![1_u64..100, 1_u64..20_000], 1..6),
    ) {
        let mut quiet = core(bus(), &code);
        let mut loud = core(loud(), &code);
        for length in lengths {
            let until = Some(quiet.cycles() + Cycles(length));
            let limits = Limits { until, leave_breakpoint: false };
            let exits = (quiet.run(limits), loud.run(limits));
            prop_assert_eq!(observed(&quiet, &exits.0), observed(&loud, &exits.1));
            prop_assert_eq!(quiet.bus.clock.time(quiet.cycles()), loud.bus.chip.clock.time(loud.cycles()));
            if matches!(exits.0, Exit::Fault(_)) {
                break;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Loops that poll take as long and leave the same, whether they are skipped or not.
    #[test]
    fn skipped_polling_is_like_polling(
        code in polling_program(),
        lengths in prop::collection::vec(
            prop_oneof![1_u64..100, 1_u64..20_000, 1_u64..100_000], 1..6
        ),
    ) {
        let mut quiet = core(bus(), &code);
        let mut loud = core(loud(), &code);
        for length in lengths {
            let until = Some(quiet.cycles() + Cycles(length));
            let limits = Limits { until, leave_breakpoint: false };
            let exits = (quiet.run(limits), loud.run(limits));
            prop_assert_eq!(observed(&quiet, &exits.0), observed(&loud, &exits.1));
            prop_assert_eq!(quiet.stack_low(), loud.stack_low());
            if matches!(exits.0, Exit::Fault(_)) {
                break;
            }
        }
    }
}

/// Run a loop that polls for a million cycles; how often it read, skipped and not.
fn reads(settings: &[u16], body: &[u16]) -> (u64, u64) {
    let back = -(body.len() as i16 + 3);
    let mut code = settings.to_vec();
    // CLR R15; ...; DEC R15; JNZ; JMP.
    code.push(0x430f);
    code.extend(body);
    code.extend([
        0x831f,
        0x2000 | (back + 1) as u16 & 0x3ff,
        0x3c00 | back as u16 & 0x3ff,
    ]);
    let chip = Counting {
        chip: bus(),
        reads: 0,
    };
    let (mut skipped, mut polled) = (core(chip, &code), core(loud(), &code));
    let limits = Limits {
        until: Some(Cycles(1_000_000)),
        leave_breakpoint: false,
    };
    let exits = (skipped.run(limits), polled.run(limits));
    assert_eq!(observed(&skipped, &exits.0), observed(&polled, &exits.1));
    (skipped.bus.reads, polled.bus.reads)
}

#[test]
fn polling_is_skipped() {
    let flag = reads(&[], &[0xb0f2, 0x40, 0x0002]);
    assert!(flag.1 > 99_000 && flag.0 < 200, "a flag: {flag:?}");
    for clock in [0x0110, 0x0210] {
        // TACCR0, TACTL, R7; CMP &TAR, R7; JEQ.
        let settings = [
            0x40b2, 0x7fff, 0x0172, 0x40b2, clock, 0x0160, 0x4037, 0x8000,
        ];
        let count = reads(&settings, &[0x9217, 0x0170, 0x2402]);
        assert!(count.1 > 99_000 && count.0 < 2_000, "{clock:#x}: {count:?}");
    }
}
