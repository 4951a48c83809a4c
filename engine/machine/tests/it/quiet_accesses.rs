//! Accesses that bring no timer up to date give what others do, on random programs.

use std::path::Path;
use std::sync::Arc;

use joulemark_kernel::{Chip, Cycles, Fault};
use joulemark_machine::series::msp430x1xx::{Msp430x1xx, vector};
use joulemark_msp430::{Bus, Core, Exit, FlashOperation, Limits, Region, RegionKind, Width};
use joulemark_peripherals::adc12::Inputs;
use proptest::prelude::*;

/// The same chip without quiet accesses; its timers forecast nothing.
struct Loud(Msp430x1xx);

impl Bus for Loud {
    fn read(&mut self, address: u16, width: Width, now: Cycles) -> Result<u16, Fault> {
        self.0.advance_timers(now);
        self.0.read(address, width, now)
    }
    fn write(&mut self, address: u16, value: u16, width: Width, now: Cycles) -> Result<(), Fault> {
        self.0.write(address, value, width, now)
    }
    fn write_flash(
        &mut self,
        address: u16,
        value: u16,
        width: Width,
        now: Cycles,
    ) -> Result<FlashOperation, Fault> {
        self.0.write_flash(address, value, width, now)
    }
    fn next_event(&self) -> Cycles {
        self.0.next_event()
    }
    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        self.0.advance(now)
    }
    fn pending_interrupt(&self, enabled: bool) -> Option<u16> {
        self.0.pending_interrupt(enabled)
    }
    fn acknowledge(&mut self, vector: u16, now: Cycles) {
        self.0.acknowledge(vector, now);
    }
    fn power_changed(&mut self, status: u16, now: Cycles) -> Cycles {
        self.0.power_changed(status, now)
    }
    fn take_stop(&mut self) -> bool {
        self.0.take_stop()
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
        let mut loud = core(Loud(bus()), &code);
        for length in lengths {
            let until = Some(quiet.cycles() + Cycles(length));
            let limits = Limits { until, leave_breakpoint: false };
            let exits = (quiet.run(limits), loud.run(limits));
            prop_assert_eq!(observed(&quiet, &exits.0), observed(&loud, &exits.1));
            prop_assert_eq!(quiet.bus.clock.time(quiet.cycles()), loud.bus.0.clock.time(loud.cycles()));
            if matches!(exits.0, Exit::Fault(_)) {
                break;
            }
        }
    }
}
