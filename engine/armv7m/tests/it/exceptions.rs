//! Exceptions: their order, their cycles, what they leave on the stack, and faults.
//!
//! Programs are put together from a few encodings (ARM DDI 0403E.e, A7.7). How handlers nest is
//! compared with another emulator in `tests/chips/test_arm_exceptions.py`.

use joulemark_armv7m::{Bus, Config, Core, Exit, Limits, Region, RegionKind, Timing, Width};
use joulemark_kernel::{Cycles, Fault, FaultKind};

const RAM: u32 = 0x2000_0000;
const STACK: u32 = RAM + 0x1000;
/// Handlers are here, 64 bytes for each exception, and thread code after them.
const HANDLERS: u32 = 0x400;
const THREAD: u32 = 0x2000;
/// Each handler counts its calls and keeps its last cycle here, 8 bytes for each exception.
const LOG: u32 = RAM + 0x2000;

const CYCCNT: u32 = 0xe000_1004;
const STIR: u32 = 0xe000_ef00;
const ICSR: u32 = 0xe000_ed04;
const SHCSR: u32 = 0xe000_ed24;
const CFSR: u32 = 0xe000_ed28;
const CCR: u32 = 0xe000_ed14;
const VTOR: u32 = 0xe000_ed08;
const SCR: u32 = 0xe000_ed10;
const ISPR: u32 = 0xe000_e200;

/// Interrupt lines that rise at given cycles, and stay up until they are lowered.
#[derive(Default)]
struct Lines {
    rises: Vec<(u64, u32)>,
    high: u64,
    sleeps: Vec<(bool, u64)>,
    /// Reads of torn flash, each of which raises the non-maskable interrupt; line 31 lowers it.
    torn: Vec<u32>,
    nmi: bool,
}

impl Bus for Lines {
    fn read(&mut self, address: u32, _: Width, _: Cycles) -> Result<u32, Fault> {
        Err(Fault::new(FaultKind::Unmapped, "nothing").at(address))
    }

    /// A store lowers the lines in it.
    fn write(&mut self, address: u32, value: u32, _: Width, _: Cycles) -> Result<(), Fault> {
        if address != 0x4000_0000 {
            return Err(Fault::new(FaultKind::Unmapped, "nothing").at(address));
        }
        self.high &= !u64::from(value);
        self.nmi &= value >> 31 == 0;
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        let times = self.rises.iter().map(|&(at, _)| Cycles(at));
        times.min().unwrap_or(Cycles::NEVER)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        let due = self.rises.iter().filter(|&&(at, _)| at <= now.0);
        self.high |= due.fold(0, |high, &(_, line)| high | 1 << line);
        self.rises.retain(|&(at, _)| at > now.0);
        Ok(())
    }

    fn interrupts(&self) -> [u64; 4] {
        [self.high, 0, 0, 0]
    }

    fn nmi(&self) -> bool {
        self.nmi
    }

    fn read_torn(&mut self, address: u32) {
        self.torn.push(address);
        self.nmi = true;
    }

    fn sleep(&mut self, asleep: bool, _deep: bool, now: Cycles) -> Cycles {
        self.sleeps.push((asleep, now.0));
        Cycles(0)
    }

    fn reset_requested(&mut self, _: Cycles) -> Result<(), Fault> {
        Ok(())
    }
}

// Encodings.
const NOP: u16 = 0xbf00;
const BX_LR: u16 = 0x4770;
const END: u16 = 0xe7fe;
const UDF: u16 = 0xde00;
const WFI: u16 = 0xbf30;
const WFE: u16 = 0xbf20;
const SEV: u16 = 0xbf40;
const CPSID_I: u16 = 0xb672;
const CPSIE_I: u16 = 0xb662;
const CPSID_F: u16 = 0xb671;

const fn svc(number: u16) -> u16 {
    0xdf00 | number
}

/// MOVW and MOVT (A7.7.76, A7.7.79).
fn constant(register: u16, value: u32) -> Vec<u16> {
    let half = |opcode: u16, value: u16| {
        [
            opcode | (value >> 11 & 1) << 10 | value >> 12,
            (value >> 8 & 7) << 12 | register << 8 | value & 0xff,
        ]
    };
    let mut code = half(0xf240, value as u16).to_vec();
    code.extend(half(0xf2c0, (value >> 16) as u16));
    code
}

/// Store a constant; R6 and R7 are lost.
fn store(address: u32, value: u32) -> Vec<u16> {
    let mut code = constant(6, address);
    code.extend(constant(7, value));
    code.push(0x6037); // STR R7, [R6]
    code
}

/// MSR: 16 PRIMASK, 17 BASEPRI, 19 FAULTMASK, 20 CONTROL, 9 PSP; R7 is lost.
fn special(number: u16, value: u32) -> Vec<u16> {
    let mut code = constant(7, value);
    code.extend([0xf387, 0x8800 | number]);
    code
}

fn join(parts: &[&[u16]]) -> Vec<u16> {
    parts.concat()
}

/// Handlers that count and note the cycle at which they begin, and then run `more`.
fn handler(number: u32, more: &[u16]) -> Vec<u16> {
    let mut code = constant(0, CYCCNT);
    code.push(0x6801); // LDR R1, [R0]
    code.extend(constant(0, LOG + 8 * number));
    code.extend([
        0x6041, // STR R1, [R0, #4]
        0x6802, 0x3201, 0x6002, // LDR R2, [R0]; ADDS R2, #1; STR R2, [R0]
    ]);
    code.extend(more);
    code.push(BX_LR);
    code
}

#[derive(Clone, Default)]
struct Program<'a> {
    thread: &'a [u16],
    handlers: Vec<(u32, Vec<u16>)>,
    /// Exceptions and their priorities; the rest have 0.
    priorities: &'a [(u32, u8)],
    rises: &'a [(u64, u32)],
    wait_states: u8,
    stop_on_fault: bool,
    mpu_regions: usize,
}

impl Program<'_> {
    /// A core that has been reset, with a breakpoint at the end of the thread.
    fn load(&self) -> Core<Lines> {
        let config = Config {
            regions: vec![
                Region {
                    wait_states: self.wait_states,
                    ..Region::new(RegionKind::Flash, 0, 0x10000)
                },
                Region::new(RegionKind::Ram, RAM, 0x4000),
            ],
            interrupts: 48,
            priority_bits: 3,
            cpuid: 0x412f_c231,
            timing: Timing::CORTEX_M3,
            device_waits: Vec::new(),
            systick_calibration: 0,
            mpu_regions: self.mpu_regions,
            stop_on_fault: self.stop_on_fault,
        };
        let bus = Lines {
            rises: self.rises.to_vec(),
            ..Lines::default()
        };
        let mut core = Core::new(bus, &config);
        let bytes =
            |code: &[u16]| -> Vec<u8> { code.iter().flat_map(|half| half.to_le_bytes()).collect() };
        let mut table = vec![STACK, THREAD | 1];
        table.extend((2..64).map(|number| (HANDLERS + 64 * number) | 1));
        let table: Vec<u8> = table.iter().flat_map(|word| word.to_le_bytes()).collect();
        core.load_image(0, &table).unwrap();
        for number in 2..64 {
            let own = self.handlers.iter().find(|&&(of, _)| of == number);
            let code = own.map_or_else(|| handler(number, &[]), |(_, code)| code.clone());
            assert!(code.len() <= 32);
            core.load_image(HANDLERS + 64 * number, &bytes(&code))
                .unwrap();
        }
        core.load_image(THREAD, &bytes(&join(&[self.thread, &[END]])))
            .unwrap();
        core.reset(0).unwrap();
        core.set_breakpoint(THREAD + 2 * self.thread.len() as u32);
        core.debug_write(0xe000_1000, 0x003e_0001).unwrap();
        for set in [0xe000_e100, 0xe000_e104] {
            core.debug_write(set, u32::MAX).unwrap();
        }
        let mut words = std::collections::BTreeMap::new();
        for &(number, priority) in self.priorities {
            let at = number
                + if number < 16 {
                    0xe000_ed14
                } else {
                    0xe000_e3f0
                };
            *words.entry(at & !3).or_insert(0) |= u32::from(priority) << (at % 4 * 8);
        }
        for (at, word) in words {
            core.debug_write(at, word).unwrap();
        }
        core
    }

    /// Run to the end of the thread.
    fn run(&self) -> Core<Lines> {
        let mut core = self.load();
        let exit = core.run(Limits {
            until: Some(Cycles(100_000)),
            step_first: false,
        });
        assert!(matches!(exit, Exit::Breakpoint(_)), "{exit:?}");
        core
    }

    fn fault(&self) -> Fault {
        match self.load().run(Limits {
            until: Some(Cycles(100_000)),
            step_first: false,
        }) {
            Exit::Fault(fault) => *fault,
            other => panic!("{other:?}"),
        }
    }
}

fn word(core: &Core<Lines>, address: u32) -> u32 {
    u32::from_le_bytes(core.read_memory(address, 4).unwrap().try_into().unwrap())
}

/// Calls of a handler, and the cycle of its last.
fn log(core: &Core<Lines>, number: u32) -> (u32, u32) {
    (
        word(core, LOG + 8 * number),
        word(core, LOG + 8 * number + 4),
    )
}

fn step(core: &mut Core<Lines>) -> (u32, u64) {
    let exit = core.run(Limits {
        until: Some(Cycles(0)),
        step_first: true,
    });
    assert!(
        matches!(exit, Exit::Cycles | Exit::Breakpoint(_)),
        "{exit:?}"
    );
    (core.register(15), core.cycles().0)
}

/// Single steps: the address of each instruction, and the cycle in which it entered execute.
fn trace(program: &Program<'_>, count: usize) -> Vec<(u32, u64)> {
    let mut core = program.load();
    (0..count)
        .map(|_| {
            let at = core.register(15);
            let (next, cycle) = step(&mut core);
            // A step that takes an exception executes the handler's first instruction, MOVW.
            let entered = next.wrapping_sub(4);
            let is_handler = (HANDLERS..THREAD).contains(&entered) && entered % 64 == 0;
            (if is_handler { entered } else { at }, cycle)
        })
        .collect()
}

/// When the instruction at an address entered execute.
fn when(trace: &[(u32, u64)], address: u32) -> u64 {
    let found = trace.iter().find(|&&(at, _)| at == address);
    found.map(|&(_, cycle)| cycle).unwrap()
}

const fn handler_of(number: u32) -> u32 {
    HANDLERS + 64 * number
}

/// A handler that lowers its line and returns; BX is its last instruction, 10 bytes in.
fn lowers(line: u32) -> (u32, Vec<u16>) {
    (16 + line, join(&[&store(0x4000_0000, 1 << line), &[BX_LR]]))
}
const LOWERS_BX: u32 = 18;

/// When its BX entered execute: its step ends later.
fn returns_at(trace: &[(u32, u64)], number: u32) -> u64 {
    let bx = handler_of(number) + LOWERS_BX;
    trace[trace.iter().position(|&(at, _)| at == bx).unwrap() - 1].1 + 1
}

#[test]
fn entry_takes_12_cycles_return_10_and_tail_chaining_7() {
    for rise in 8..16 {
        let program = Program {
            thread: &[NOP; 40],
            rises: &[(rise, 0), (rise, 1)],
            handlers: vec![lowers(0), lowers(1)],
            ..Program::default()
        };
        let steps = trace(&program, 60);
        let first = when(&steps, handler_of(16));
        assert_eq!(first, rise + 12);
        let second = when(&steps, handler_of(17));
        assert_eq!(second, returns_at(&steps, 16) + 7);
        let last = steps
            .iter()
            .position(|&(at, _)| at == handler_of(17) + LOWERS_BX)
            .unwrap();
        assert_eq!(steps[last + 1].1, returns_at(&steps, 17) + 10);
    }
}

#[test]
fn a_higher_priority_that_comes_during_entry_goes_first_on_the_same_frame() {
    for delay in 0..30 {
        let program = Program {
            thread: &[NOP; 60],
            rises: &[(10, 0), (10 + delay, 1)],
            priorities: &[(16, 0x40)],
            handlers: vec![lowers(0), lowers(1)],
            ..Program::default()
        };
        let steps = trace(&program, 80);
        let (low, high) = (when(&steps, handler_of(16)), when(&steps, handler_of(17)));
        let core = program.run();
        let frames = (STACK - core.stack_low()) / 32;
        if delay < 11 {
            assert_eq!(high, 22.max(10 + delay + 6), "delay {delay}");
            assert!(high < low);
            assert_eq!(frames, 1);
        } else {
            assert!(low < high);
            // After the first handler's last instruction it tail-chains or comes anew.
            let ends = returns_at(&steps, 16);
            assert_eq!(
                frames,
                // It is noticed three cycles later.
                if 10 + delay + 2 < ends { 2 } else { 1 },
                "delay {delay}"
            );
        }
    }
}

#[test]
fn what_comes_while_registers_are_unstacked_takes_over_their_frame() {
    let alone = Program {
        thread: &[NOP; 60],
        rises: &[(10, 0)],
        handlers: vec![lowers(0), lowers(1)],
        ..Program::default()
    };
    let steps = trace(&alone, 40);
    let returns = returns_at(&steps, 16);
    for delay in 1..14 {
        let rises = [(10, 0), (returns + delay, 1)];
        let program = Program {
            rises: &rises,
            handlers: alone.handlers.clone(),
            ..alone
        };
        let steps = trace(&program, 60);
        let taken = when(&steps, handler_of(17)) - returns - delay;
        if delay < 10 {
            assert_eq!(taken, 6, "delay {delay}");
        } else {
            assert!(taken >= 12, "delay {delay}: {taken}");
        }
    }
}

#[test]
fn frames_are_aligned_where_ccr_asks_for_it_and_returns_undo_it() {
    for (aligns, offset, process) in [0, 1].into_iter().flat_map(|a| {
        [0, 4]
            .into_iter()
            .flat_map(move |o| [0, 1].map(|p| (a, o, p)))
    }) {
        let sp = STACK - 0x100 - offset;
        // CCR, PSP or MSP, CONTROL.SPSEL, then the call.
        let thread = join(&[
            &store(CCR, aligns << 9),
            &special(if process == 1 { 9 } else { 8 }, sp),
            &special(20, 2 * process),
            &[svc(7)],
            &[0x466b], // MOV R3, SP
        ]);
        // The handler keeps both stack pointers and LR: MRS R4, MSP; MRS R5, PSP; MOV R8, LR.
        let code = vec![0xf3ef, 0x8408, 0xf3ef, 0x8509, 0x46f0, BX_LR];
        let core = Program {
            thread: &thread,
            handlers: vec![(11, code)],
            ..Program::default()
        }
        .run();
        let padded = aligns == 1 && offset == 4;
        let frame = sp - 32 - if padded { 4 } else { 0 };
        assert_eq!(core.register(4 + process as usize), frame);
        assert_eq!(
            core.register(8),
            if process == 1 {
                0xffff_fffd
            } else {
                0xffff_fff9
            }
        );
        assert_eq!(core.register(3), sp);
        let status = word(&core, frame + 28);
        assert_eq!(status >> 9 & 1, u32::from(padded));
        assert_eq!(status & 0x1ff, 0);
        assert_eq!(
            word(&core, frame + 24),
            THREAD + 2 * thread.len() as u32 - 2
        );
        assert_eq!(core.xpsr() & 0x1ff, 0);
    }
}

#[test]
fn only_the_architectures_return_values_return() {
    for value in 0xffff_ff00..=u32::MAX {
        // BX to the value in a handler; usage faults are on and stay in their handler's log.
        let thread = join(&[&store(SHCSR, 1 << 18), &special(9, 0x6000_0000), &[svc(0)]]);
        let code = join(&[&constant(0, value), &[0x4700]]);
        // MVN LR, #6: the fault's handler returns as it should have been.
        let mends = |number| (number, handler(number, &[0xf06f, 0x0e06]));
        let program = Program {
            thread: &thread,
            handlers: vec![(11, code), mends(3), mends(6)],
            ..Program::default()
        };
        let mut core = program.run();
        // FFFFFFF1 returns to a handler, and there is none; FFFFFFFD to a stack where there is nothing.
        let valid = value == 0xffff_fff9;
        if value == 0xffff_fffd {
            assert_eq!(word_of(&mut core, CFSR), 1 << 11, "unstacking failed");
            assert_eq!(log(&core, 3).0, 1);
        } else {
            assert_eq!(log(&core, 6).0, u32::from(!valid), "{value:x}");
            assert_eq!(word_of(&mut core, CFSR), if valid { 0 } else { 1 << 18 });
        }
    }
}

/// A register of the system control space.
fn word_of(core: &mut Core<Lines>, address: u32) -> u32 {
    core.debug_read(address).unwrap()
}

struct Cause {
    code: &'static [u16],
    /// Its exception, and its bit in SHCSR.
    number: u32,
    enable: u32,
    cfsr: u32,
    bytes: u32,
    kind: FaultKind,
    says: &'static str,
}

const CAUSES: &[Cause] = &[
    Cause {
        code: &[UDF],
        number: 6,
        enable: 1 << 18,
        cfsr: 1 << 16,
        bytes: 2,
        kind: FaultKind::InvalidOpcode,
        says: "undefined instruction (CFSR 0x00010000 UNDEFINSTR",
    },
    Cause {
        code: &[0xee00, 0x0000], // CDP p0
        number: 6,
        enable: 1 << 18,
        cfsr: 1 << 19,
        bytes: 4,
        kind: FaultKind::InvalidOpcode,
        says: "CFSR 0x00080000 NOCP",
    },
    Cause {
        code: &[0xe850, 0x1f01], // LDREX R1, [R0, #4], and R0 is odd
        number: 6,
        enable: 1 << 18,
        cfsr: 1 << 24,
        bytes: 4,
        kind: FaultKind::Misaligned,
        says: "CFSR 0x01000000 UNALIGNED",
    },
    Cause {
        code: &[0x6829], // LDR R1, [R5], and R5 is 0x60000000
        number: 5,
        enable: 1 << 17,
        cfsr: 0x8200,
        bytes: 2,
        kind: FaultKind::Unmapped,
        says: "PRECISERR+BFARVALID, HFSR 0x40000000 FORCED, BFAR 0x60000000)",
    },
];

#[test]
fn faults_go_to_their_handler_or_to_the_hard_faults() {
    for cause in CAUSES {
        for enabled in [false, true] {
            // R0 odd, R5 nowhere; IT EQ twice, so that the cause's state is in the frame.
            let before = join(&[
                &store(SHCSR, if enabled { cause.enable } else { 0 }),
                &constant(0, RAM + 1),
                &constant(5, 0x6000_0000),
            ]);
            let thread = join(&[&before, cause.code, &[NOP]]);
            // The handler skips the cause: LDR R0, [SP, #24]; ADDS R0, #bytes; STR R0, [SP, #24].
            let skip = [0x9806, 0x3000 | cause.bytes as u16, 0x9006];
            let handlers = [3, cause.number]
                .map(|number| (number, handler(number, &skip)))
                .to_vec();
            let program = Program {
                thread: &thread,
                handlers,
                ..Program::default()
            };
            let mut core = program.run();
            let taken = if enabled { cause.number } else { 3 };
            assert_eq!(log(&core, taken).0, 1, "{}", cause.says);
            assert_eq!(log(&core, 9 - taken).0, 0);
            assert_eq!(word_of(&mut core, CFSR), cause.cfsr);
            assert_eq!(
                word_of(&mut core, 0xe000_ed2c),
                if enabled { 0 } else { 1 << 30 }
            );
            if !enabled {
                let stopped = Program {
                    stop_on_fault: true,
                    ..program
                }
                .fault();
                assert_eq!(stopped.kind, cause.kind);
                assert!(stopped.message.contains(cause.says), "{}", stopped.message);
                assert_eq!(stopped.pc, THREAD + 2 * before.len() as u32);
            }
        }
    }
}

#[test]
fn a_fault_in_an_it_block_keeps_its_condition() {
    // MOVS R0, #0 sets Z; ITTE EQ; UDF; MOV R1, #1; MOV R1, #2.
    let thread = [0x2000, 0xbf06, UDF, 0x2101, 0x2102];
    let code = vec![0x9907, BX_LR]; // LDR R1, [SP, #28]
    let mut core = Program {
        thread: &thread,
        handlers: vec![(3, code)],
        ..Program::default()
    }
    .load();
    for _ in 0..4 {
        step(&mut core);
    }
    let status = core.register(1);
    let it = status >> 25 & 3 | (status >> 10 & 0x3f) << 2;
    assert_eq!(
        it, 0x06,
        "ITSTATE of the first instruction: EQ and the rest of the mask"
    );
}

#[test]
fn a_fault_where_none_can_be_taken_is_a_lockup() {
    let faults = [
        (
            "inside the handler of a hard fault or NMI",
            vec![UDF],
            vec![(3, vec![UDF])],
        ),
        ("while FAULTMASK is set", vec![CPSID_F, UDF], vec![]),
        (
            "the vector of exception 3 cannot be read (VTOR 0x10000000)",
            join(&[&store(VTOR, 0x1000_0000), &[svc(0)]]),
            vec![],
        ),
        (
            "stacking failed on entry to NMI or hard fault",
            join(&[&special(8, 0x2001_0000), &[UDF]]),
            vec![],
        ),
    ];
    for (why, thread, handlers) in faults {
        let fault = Program {
            thread: &thread,
            handlers,
            ..Program::default()
        }
        .fault();
        assert_eq!(fault.kind, FaultKind::Lockup);
        assert!(fault.message.contains(why), "{}", fault.message);
        assert!(fault.message.contains("CFSR 0x"));
    }
}

#[test]
fn a_supervisor_call_that_is_masked_is_a_hard_fault() {
    for (mask, masked) in [
        (special(16, 1), true),
        (special(17, 0x40), true),
        (special(17, 0xc0), false),
    ] {
        let thread = join(&[&mask, &[svc(0)]]);
        let program = Program {
            thread: &thread,
            priorities: &[(11, 0x80)],
            ..Program::default()
        };
        let core = program.run();
        assert_eq!(log(&core, 3).0, u32::from(masked));
        assert_eq!(log(&core, 11).0, u32::from(!masked));
    }
}

#[test]
fn code_without_privilege_may_not_touch_the_system() {
    // CONTROL.nPRIV, then a store to STIR: a bus fault unless CCR.USERSETMPEND.
    for allowed in [false, true] {
        let thread = join(&[
            &store(SHCSR, 1 << 17),
            &store(CCR, if allowed { 2 } else { 0 }),
            &special(20, 1),
            &store(STIR, 5),
            &[CPSID_I],
            &special(17, 0x20),
        ]);
        // LDR R0, [SP, #24]; ADDS R0, #2; STR R0, [SP, #24].
        let skip = handler(5, &[0x9806, 0x3002, 0x9006]);
        let core = Program {
            thread: &thread,
            handlers: vec![(5, skip)],
            ..Program::default()
        }
        .run();
        assert_eq!(log(&core, 21).0, u32::from(allowed));
        assert_eq!(log(&core, 5).0, u32::from(!allowed));
        // CPS and MSR did nothing.
        let mut core = core;
        core.bus.rises = vec![(core.cycles().0 + 1, 3)];
        core.clear_breakpoint(THREAD + 2 * thread.len() as u32);
        core.run(Limits {
            until: Some(core.cycles() + Cycles(100)),
            step_first: true,
        });
        assert!(log(&core, 19).0 >= 1);
    }
}

#[test]
fn sleep_ends_with_what_could_preempt_even_under_primask() {
    for (mask, wakes) in [
        (vec![CPSID_I], true),
        (special(17, 0x40), false),
        (special(17, 0xc0), true),
    ] {
        let thread = join(&[&mask, &[WFI, NOP]]);
        let program = Program {
            thread: &thread,
            priorities: &[(16, 0x80)],
            rises: &[(100, 0)],
            handlers: vec![lowers(0)],
            ..Program::default()
        };
        let mut core = program.load();
        let exit = core.run(Limits {
            until: Some(Cycles(1000)),
            step_first: false,
        });
        assert_eq!(matches!(exit, Exit::Breakpoint(_)), wakes, "{exit:?}");
        assert_eq!(core.is_asleep(), !wakes);
        if wakes {
            let (slept, woke) = (core.bus.sleeps[0], core.bus.sleeps[1]);
            assert!(slept.0 && !woke.0);
            assert_eq!(woke.1, 100);
            assert_eq!(core.sleep_cycles().0, 100 - slept.1);
        }
    }
}

#[test]
fn events_wake_and_are_used_up() {
    // SEV is an event: the first WFE goes on, the second sleeps for good.
    let mut core = Program {
        thread: &[SEV, WFE, NOP, WFE, NOP],
        ..Program::default()
    }
    .load();
    assert_eq!(core.run(Limits::default()), Exit::Asleep);
    assert_eq!(core.register(15), THREAD + 8);
    // With SEVONPEND, an interrupt that is disabled is an event too.
    let thread = join(&[&store(SCR, 0x10), &store(0xe000_e180, 1), &[WFE, NOP]]);
    let program = Program {
        thread: &thread,
        rises: &[(100, 0)],
        ..Program::default()
    };
    let core = program.run();
    assert_eq!(log(&core, 16).0, 0);
    assert_eq!(core.bus.sleeps.last(), Some(&(false, 100)));
}

#[test]
fn sleep_on_exit_sleeps_again_after_each_handler() {
    let thread = join(&[&store(SCR, 2), &[WFI, UDF]]);
    let rises: Vec<(u64, u32)> = (1..=5).map(|i| (100 * i, 0)).collect();
    let handlers = vec![(16, join(&[&store(0x4000_0000, 1), &[0x3501, BX_LR]]))]; // ADDS R5, #1
    let mut core = Program {
        thread: &thread,
        rises: &rises,
        handlers,
        ..Program::default()
    }
    .load();
    assert_eq!(core.run(Limits::default()), Exit::Asleep);
    assert_eq!(core.register(5), 5);
    assert_eq!(core.bus.sleeps.len(), 11);
}

#[test]
fn a_line_that_stays_high_comes_again_and_one_that_was_cleared_does_not() {
    // The handler counts in R5 and lowers the line the third time.
    let count = [0x3501, 0x2d03, 0xd100, 0x6037]; // ADDS R5, #1; CMP R5, #3; BNE +0; STR R7, [R6]
    let body = join(&[&constant(6, 0x4000_0000), &constant(7, 1), &count, &[BX_LR]]);
    let program = Program {
        thread: &[NOP; 60],
        rises: &[(10, 0)],
        handlers: vec![(16, body)],
        ..Program::default()
    };
    let core = program.run();
    assert_eq!(core.register(5), 3);
    assert_eq!(STACK - core.stack_low(), 32, "it tail-chained to itself");
}

#[test]
fn faults_of_data_are_ignored_at_the_highest_priorities_where_ccr_says_so() {
    // BFHFNMIGN and FAULTMASK; a load from nowhere leaves its register.
    let thread = join(&[
        &store(CCR, 1 << 8),
        &constant(5, 0x6000_0000),
        &[0x2107, CPSID_F, 0x6829, 0x000a], // MOVS R1, #7; CPSID f; LDR R1, [R5]; MOVS R2, R1
    ]);
    let mut core = Program {
        thread: &thread,
        ..Program::default()
    }
    .run();
    assert_eq!(core.register(2), 7);
    assert_eq!(word_of(&mut core, CFSR), 0x8200);
}

#[test]
fn pendsv_and_systick_are_pended_and_cleared_through_icsr() {
    for (number, set) in [(14, 1 << 28), (15, 1 << 26), (2, 1 << 31)] {
        let core = Program {
            thread: &join(&[&store(ICSR, set), &[NOP; 4]]),
            ..Program::default()
        }
        .run();
        assert_eq!(log(&core, number).0, 1);
        if number != 2 {
            let thread = join(&[
                &[CPSID_I][..],
                &store(ICSR, set),
                &store(ICSR, set >> 1),
                &[CPSIE_I, NOP],
            ]);
            let core = Program {
                thread: &thread,
                ..Program::default()
            }
            .run();
            assert_eq!(log(&core, number).0, 0);
        }
    }
}

/// As a CC2650 reads them after ones were written (misc/
/// `system_control_block_and_interrupts_related_registers`).
#[test]
fn system_control_registers_read_as_measured() {
    for (address, value) in [
        (VTOR, 0xffff_ff80),
        (0xe000_ed60, 0x0110_1110),
        (0xe000_ed6c, 0x0111_1110),
        (0xe000_ed74, 0),
        (0xe000_ed84, 0),
        (0xe000_ed88, 0),
        (0xe000_ef00, 0),
    ] {
        let thread = if address == 0xe000_ef00 {
            vec![NOP]
        } else {
            store(address, u32::MAX)
        };
        let mut core = Program {
            thread: &thread,
            ..Program::default()
        }
        .run();
        assert_eq!(core.debug_read(address), Ok(value), "{address:#x}");
    }
}

#[test]
fn a_vector_table_that_is_not_aligned_is_not_used_and_the_mpu_is_refused() {
    for (thread, address, says) in [
        (
            // The lowest seven bits are not there.
            join(&[&store(VTOR, RAM + 0x82), &[svc(0)]]),
            RAM + 0x80 + 4 * 11,
            "VTOR is 0x20000080 when exception 11 is taken, where no vector table may begin: this \
             core's is aligned to 0x100 bytes",
        ),
        (
            store(0xe000_ed94, 1),
            0xe000_ed94,
            "names no memory protection unit",
        ),
    ] {
        let fault = Program {
            thread: &thread,
            ..Program::default()
        }
        .fault();
        assert!(fault.message.contains(says), "{}", fault.message);
        assert_eq!(fault.address, Some(address));
    }
}

#[test]
fn two_instructions_come_between_a_store_to_ispr_and_its_handler() {
    // interrupts/interrupt_handler_latencies: the handler sees that two additions ran.
    let handler = vec![0x4625, BX_LR]; // MOV R5, R4
    // ACTLR.DISDEFWBUF, as where it was measured; ADDS R4, #1.
    let thread = join(&[
        &store(0xe000_e008, 2),
        &constant(4, 0),
        &store(ISPR, 1),
        &[0x3401; 8],
    ]);
    let core = Program {
        thread: &thread,
        handlers: vec![(16, handler)],
        ..Program::default()
    }
    .run();
    assert_eq!((core.register(4), core.register(5)), (8, 2));
}

#[test]
fn a_division_is_given_up_for_an_exception_and_runs_again_after_it() {
    let handler = vec![0x4625, BX_LR]; // MOV R5, R4
    let thread = join(&[
        &constant(4, 0x7fff_ffff),
        &constant(3, 3),
        &store(ISPR, 1),
        &[0xfbb4, 0xf4f3, NOP], // UDIV R4, R4, R3
    ]);
    let core = Program {
        thread: &thread,
        handlers: vec![(16, handler)],
        ..Program::default()
    }
    .run();
    assert_eq!(core.register(5), 0x7fff_ffff);
    assert_eq!(core.register(4), 0x7fff_ffff / 3);
}

/// The thread's instructions that came before the first handler: address and cycle of execute.
fn before_handler(program: &Program<'_>) -> Vec<(u32, u64)> {
    let steps = trace(program, 60);
    let thread = steps.into_iter().take_while(|&(at, _)| at >= THREAD);
    thread.collect()
}

#[test]
fn an_instruction_that_waits_for_flash_makes_way_for_an_exception() {
    // memory_tests/branch_after_narrow_mul: what is fetched after ISB comes after the handler.
    let thread = join(&[&[NOP; 3], &[0xf3bf, 0x8f6f], &[NOP; 40]]);
    for rise in 10..40 {
        let program = Program {
            thread: &thread,
            rises: &[(rise, 0)],
            handlers: vec![lowers(0)],
            wait_states: 2,
            ..Program::default()
        };
        let (last, cycle) = *before_handler(&program).last().unwrap();
        assert!(cycle < rise + 3, "{last:#x} at {cycle}, raised at {rise}");
    }
}

#[test]
fn a_load_whose_address_did_not_go_out_is_given_up() {
    // memory_tests/it_curse: it has to enter execute a cycle before what only computes.
    let setup = [&constant(6, RAM)[..], &[NOP; 5]].concat();
    let last_before = |code: u16, rise| {
        let thread = join(&[&setup, &[code, NOP].repeat(20)]);
        let program = Program {
            thread: &thread,
            rises: &[(rise, 0)],
            handlers: vec![lowers(0)],
            ..Program::default()
        };
        let ran = before_handler(&program);
        let (at, cycle) = *ran.last().unwrap();
        let is_load = thread[(at - THREAD) as usize / 2] == code && code != NOP;
        (is_load, rise + 2 - cycle)
    };
    let loads: Vec<_> = (14..34).map(|rise| last_before(0x6831, rise)).collect(); // LDR R1, [R6]
    assert!(
        loads.iter().all(|&(is_load, gap)| !is_load || gap >= 1),
        "{loads:?}"
    );
    assert!(loads.iter().any(|&(_, gap)| gap == 1), "{loads:?}");
    assert!((14..34).all(|rise| last_before(NOP, rise).1 == 0));
}

#[test]
fn an_it_that_was_folded_is_not_returned_to() {
    // memory_tests/it_curse: the frame holds ITSTATE instead.
    let it = THREAD + 26;
    let thread = join(&[&[NOP; 12], &[0x3401, 0xbf0e], &[NOP; 20]]); // ADDS R4, #1; ITEE EQ
    let mut states = std::collections::BTreeSet::new();
    for rise in 8..24 {
        let program = Program {
            thread: &thread,
            rises: &[(rise, 0)],
            handlers: vec![lowers(0)],
            ..Program::default()
        };
        let steps = trace(&program, 60);
        assert_eq!(when(&steps, it), when(&steps, it - 2), "folded");
        let core = program.run();
        let frame = STACK - 32;
        assert_ne!(word(&core, frame + 24), it, "raised at {rise}");
        let state = word(&core, frame + 28);
        states.insert((state >> 25 & 3) | (state >> 8 & 0xfc));
    }
    assert!(states.contains(&0x0e), "{states:x?}");
}

const MPU_CTRL: u32 = 0xe000_ed94;
const MPU_RBAR: u32 = 0xe000_ed9c;
const MPU_RASR: u32 = 0xe000_eda0;
const MMFAR: u32 = 0xe000_ed34;

/// Turn the memory protection unit on, with the default map for privileged code and this region.
fn protect(base: u32, attributes: u32) -> Vec<u16> {
    join(&[
        &store(SHCSR, 1 << 16),
        &store(MPU_RBAR, base | 1 << 4 | 2),
        &store(MPU_RASR, attributes),
        &store(MPU_CTRL, 5),
    ])
}

/// Run a thread to its end or to the handler of memory management faults. Says CFSR, MMFAR, and
/// where the fault was, counted in bytes from `since`.
fn protected(thread: &[u16], since: usize) -> (u32, u32, u32) {
    let mut core = Program {
        thread,
        mpu_regions: 8,
        ..Program::default()
    }
    .load();
    core.set_breakpoint(handler_of(4));
    let exit = core.run(Limits {
        until: Some(Cycles(100_000)),
        step_first: false,
    });
    assert!(matches!(exit, Exit::Breakpoint(_)), "{exit:?}");
    let at = word(&core, STACK - 8).wrapping_sub(THREAD + 2 * since as u32);
    (word_of(&mut core, CFSR), word_of(&mut core, MMFAR), at)
}

/// RASR of 32 bytes at an address: access permissions, and whether nothing is executed there.
const fn region_of_32_bytes(permissions: u32, never: bool) -> u32 {
    permissions << 24 | (never as u32) << 28 | 4 << 1 | 1
}

#[test]
fn data_that_is_protected_faults_with_its_address_and_is_not_touched() {
    let place = RAM + 0x3000;
    let setup = join(&[
        &protect(place, region_of_32_bytes(6, true)),
        &constant(4, place + 28),
        &[0x6825, 0x3501], // LDR R5, [R4]; ADDS R5, #1
    ]);
    let thread = join(&[&setup, &[0x6025, NOP]]); // STR R5, [R4]
    let (cfsr, mmfar, at) = protected(&thread, setup.len());
    assert_eq!((cfsr, mmfar, at), (0x82, place + 28, 0));
    // Behind the region is the default map; a word that reaches into it is protected.
    for (address, faults) in [(place + 32, false), (place - 2, true)] {
        let setup = join(&[
            &protect(place, region_of_32_bytes(0, true)),
            &constant(4, address),
        ]);
        let (cfsr, ..) = protected(&join(&[&setup, &[0x6825, NOP]]), 0);
        assert_eq!(cfsr, if faults { 0x82 } else { 0 }, "{address:#x}");
    }
}

#[test]
fn code_that_is_protected_faults_where_it_would_be_executed() {
    // A branch to 32 bytes of thread code in which nothing is executed, from the 32 before them.
    let mut setup = protect(THREAD + 0x80, region_of_32_bytes(3, true));
    assert!(setup.len() < 0x40);
    setup.resize(0x40, NOP);
    let thread = join(&[&setup, &[NOP; 20]]);
    let (cfsr, _, at) = protected(&thread, setup.len());
    assert_eq!((cfsr, at), (1, 0));
}

#[test]
fn without_privilege_there_is_no_default_map() {
    let setup = join(&[
        &protect(0, 6 << 24 | 15 << 1 | 1), // all of flash
        &constant(4, RAM + 0x3000),
        &special(20, 1),
        &[0xf3bf, 0x8f6f], // ISB
    ]);
    let (cfsr, mmfar, _) = protected(&join(&[&setup, &[0x6825, NOP]]), 0);
    // The stack is out of reach, too.
    assert_eq!((cfsr, mmfar), (0x92, RAM + 0x3000));
}

#[test]
fn a_protected_stack_is_a_fault_of_stacking() {
    let stack = STACK - 0x20;
    let setup = protect(stack, region_of_32_bytes(0, true));
    let thread = join(&[&setup, &[svc(0), NOP]]);
    let (cfsr, ..) = protected(&thread, 0);
    assert_eq!(cfsr, 0x10);
}

/// LDM R8!, {R0-R7}, STMDB R8!, {R0-R7} and their kin at every cycle of an interrupt's arrival.
fn interrupted(instruction: [u16; 2], base: u32, rise: u64) -> Core<Lines> {
    let mut setup = Vec::new();
    for register in 0..8 {
        setup.extend(constant(register, 0x1000 + u32::from(register)));
    }
    setup.extend(constant(8, base));
    let thread = join(&[&setup, &instruction, &[NOP; 4]]);
    // The handler notes the program counter and status that it returns to; it uses R0 to R3 only.
    let handler = join(&[
        &constant(0, 0x4000_0000),
        &constant(1, 1),
        &[0x6001],                         // STR R1, [R0]
        &constant(0, LOG),                 // The frame's last two words.
        &[0x9906, 0x6001, 0x9907, 0x6041], // LDR R1, [SP, #24]; STR R1, [R0]; the same of #28
        &[BX_LR],
    ]);
    let mut core = Program {
        thread: &thread,
        rises: &[(rise, 0)],
        handlers: vec![(16, handler)],
        ..Program::default()
    }
    .load();
    for word in 0..32 {
        core.debug_write(RAM + 4 * word, 0x2000 + word).unwrap();
    }
    let exit = core.run(Limits {
        until: Some(Cycles(10_000)),
        step_first: false,
    });
    assert!(matches!(exit, Exit::Breakpoint(_)), "{exit:?}");
    core
}

/// What registers and memory hold after it, and the next register's number in each frame.
fn results(instruction: [u16; 2], base: u32) -> (Vec<Vec<u32>>, Vec<u32>) {
    let at = THREAD + 2 * 36;
    let mut next = Vec::new();
    let all = (12..36)
        .map(|rise| {
            let core = interrupted(instruction, base, rise);
            let (pc, status) = (word(&core, LOG), word(&core, LOG + 4));
            if pc == at {
                assert_eq!(status & 0x0600_0c00, 0);
                next.push(status >> 12 & 15);
            }
            let registers = (0..9).map(|number| core.register(number));
            let memory = (0..32).map(|number| word(&core, RAM + 4 * number));
            registers.chain(memory).collect()
        })
        .collect();
    (all, next)
}

#[test]
fn multiple_transfers_go_on_after_an_exception_where_they_were_left() {
    for (instruction, base) in [
        ([0xe8b8, 0x00ff], RAM),      // LDMIA R8!, {R0-R7}
        ([0xe898, 0x00ff], RAM),      // LDMIA R8, {R0-R7}
        ([0xe938, 0x00ff], RAM + 64), // LDMDB R8!, {R0-R7}
        ([0xe898, 0x01ff], RAM),      // LDMIA R8, {R0-R8}: the base comes last
        ([0xe8a8, 0x00ff], RAM),      // STMIA R8!, {R0-R7}
        ([0xe928, 0x00ff], RAM + 64), // STMDB R8!, {R0-R7}
        ([0xe908, 0x00ff], RAM + 64), // STMDB R8, {R0-R7}
    ] {
        let (all, next) = results(instruction, base);
        assert!(all.iter().all(|one| *one == all[0]), "{instruction:x?}");
        // Given up before the first address was out, then left before each of the other registers.
        let mut seen = next.clone();
        seen.dedup();
        let expected: Vec<u32> = (0..instruction[1].count_ones()).collect();
        assert_eq!(seen, expected, "{instruction:x?}: {next:?}");
    }
}

#[test]
fn a_load_of_its_own_base_goes_on_from_before_it() {
    // LDMIA R4, {R0-R7}
    let (all, next) = results([0xe894, 0x00ff], RAM);
    assert!(all.iter().all(|one| *one == all[0]));
    assert_eq!(next.iter().max(), Some(&4), "{next:?}");
}

#[test]
fn multiple_transfers_in_an_it_block_start_again() {
    let code = join(&[&constant(4, RAM), &[NOP, 0xbfe8, 0xe894, 0x000f, NOP, NOP]]); // IT AL; LDM
    let mut states = std::collections::BTreeSet::new();
    for rise in 2..20 {
        let core = Program {
            thread: &code,
            rises: &[(rise, 0)],
            handlers: vec![lowers(0)],
            ..Program::default()
        }
        .run();
        let frame = STACK - 32;
        if word(&core, frame + 24) == THREAD + 12 {
            let state = word(&core, frame + 28);
            states.insert((state >> 25 & 3) | (state >> 8 & 0xfc));
        }
    }
    assert_eq!(states.into_iter().collect::<Vec<_>>(), [0xe8]);
}

#[test]
fn what_is_no_multiple_transfer_cannot_be_continued() {
    // The handler sets ICI in the frame that it returns with: MOVS R1, #1; LSLS R1, #12;
    // LDR R2, [SP, #28]; ORRS R2, R1; STR R2, [SP, #28].
    let handler = vec![0x2101, 0x0309, 0x9a07, 0x430a, 0x9207, BX_LR];
    let fault = Program {
        thread: &[&store(ISPR, 1)[..], &[NOP; 8]].concat(),
        handlers: vec![(16, handler)],
        stop_on_fault: true,
        ..Program::default()
    }
    .fault();
    assert!(fault.message.contains("INVSTATE"), "{fault}");
}

const GPRAM: u32 = 0x1100_0000;

/// Where a program's parts are.
#[derive(Clone, Copy, Debug)]
struct Places {
    thread: u32,
    handler: u32,
    vectors: u32,
}

/// Registers after a program on a CC2650 with line buffer and without write buffer, as where it was
/// measured. R0 is the DWT's base, R7 is 1; R6 is `target`. Handlers 2, 16 and 17 are the same code.
fn measured(places: Places, target: u32, thread: &[u16], handler: &[u16]) -> [u32; 8] {
    let config = Config {
        regions: vec![
            Region {
                wait_states: 2,
                line_bytes: 8,
                ..Region::new(RegionKind::Flash, 0, 0x1000)
            },
            Region::new(RegionKind::Ram, GPRAM, 0x1000),
            Region::new(RegionKind::Ram, RAM, 0x4000),
        ],
        interrupts: 34,
        priority_bits: 3,
        cpuid: 0x412f_c231,
        timing: Timing::CORTEX_M3,
        device_waits: Vec::new(),
        systick_calibration: 0,
        mpu_regions: 0,
        stop_on_fault: true,
    };
    let bytes =
        |code: &[u16]| -> Vec<u8> { code.iter().flat_map(|half| half.to_le_bytes()).collect() };
    let mut core = Core::new(Lines::default(), &config);
    let mut table = [places.handler | 1; 48];
    (table[0], table[1]) = (STACK, places.thread | 1);
    let table: Vec<u8> = table.iter().flat_map(|word| word.to_le_bytes()).collect();
    core.load_image(0, &table).unwrap();
    if places.vectors != 0 {
        core.load_image(places.vectors, &table).unwrap();
    }
    core.load_image(places.handler, &bytes(handler)).unwrap();
    core.load_image(places.thread, &bytes(&join(&[thread, &[END]])))
        .unwrap();
    core.reset(0).unwrap();
    for (register, value) in [
        (0xe000_1000, 0x003e_0001),
        (0xe000_e008, 2),
        (VTOR, places.vectors),
        (0xe000_e100, u32::MAX),
    ] {
        core.debug_write(register, value).unwrap();
    }
    for (register, value) in [(0, 0xe000_1000), (6, target), (7, 1)] {
        core.set_register(register, value);
    }
    let last = places.thread + 2 * thread.len() as u32;
    core.set_breakpoint(last);
    let exit = core.run(Limits {
        until: Some(Cycles(10_000)),
        step_first: true,
    });
    assert_eq!(exit, Exit::Breakpoint(last));
    std::array::from_fn(|number| core.register(number))
}

#[test]
fn exceptions_take_as_long_as_the_memories_of_thread_handler_and_vectors_say() {
    // The cycles that the model gives which agrees with interrupts/interrupt_handler_different_mem,
    // interrupt_handler_latencies, tail_chain and nmi: from the counter's reading before the store that
    // pends to the handler's first reading; from its last to the thread's, six NOPs behind the store;
    // from one handler's last to the next one's first. By memory of thread, handler, and vectors: flash,
    // GPRAM, SRAM, where the stack is.
    const CYCLES: [[[(u32, u32, u32); 3]; 3]; 3] = [
        [
            [(16, 15, 12), (16, 15, 11), (18, 15, 11)],
            [(16, 15, 9), (16, 15, 9), (18, 15, 9)],
            [(22, 15, 10), (22, 15, 10), (24, 15, 10)],
        ],
        [
            [(14, 15, 12), (14, 15, 11), (16, 15, 11)],
            [(14, 15, 9), (14, 15, 9), (16, 15, 9)],
            [(20, 15, 10), (20, 15, 10), (22, 15, 10)],
        ],
        [
            [(16, 18, 12), (15, 18, 11), (17, 18, 11)],
            [(15, 18, 9), (15, 18, 9), (17, 18, 9)],
            [(18, 18, 10), (21, 18, 10), (23, 18, 10)],
        ],
    ];
    let places = |offset: u32| [offset, GPRAM + offset, RAM + offset];
    let read = |register: u16| [0xf8d0, register << 12 | 4]; // LDR.W Rx, [R0, #4]: CYCCNT
    // MOV R6, R5 keeps what the handler before has read last.
    let handler = join(&[&read(4), &[0x462e], &read(5), &[BX_LR]]);
    // ISB; STR R7, [R6].
    let body = join(&[&[0xf3bf, 0x8f6f], &read(2), &[0x6037], &[NOP; 6], &read(3)]);
    let vectors = [0, GPRAM + 0x800, RAM + 0x800];
    for (row, thread) in CYCLES.into_iter().zip(places(0x200)) {
        for (cells, handler_at) in row.into_iter().zip(places(0x400)) {
            for (expected, vectors) in cells.into_iter().zip(vectors) {
                let places = Places {
                    thread,
                    handler: handler_at,
                    vectors,
                };
                let one = measured(places, ISPR, &body, &handler);
                let both = join(&[&constant(7, 3), &body]);
                let two = measured(places, ISPR, &both, &handler);
                let found = (one[4] - one[2], one[3] - one[5], two[4] - two[6]);
                assert_eq!(found, expected, "{places:x?}");
                let pended = join(&[&constant(7, 1 << 31), &body]);
                let nmi = measured(places, ICSR, &pended, &handler);
                assert_eq!(nmi[4] - nmi[2], expected.0, "NMI, {places:x?}");
            }
        }
    }
}

#[test]
fn systick_arrives_to_the_cycle_whatever_is_executed() {
    // memory_tests/: what ran when SysTick came tells when single accesses were done. Beside RELOAD there
    // are the store's way to the counter, the counter's first step and its last, and the entry's 12.
    const CONTROL: u32 = 0xe000_e010;
    const RELOAD: u32 = 0xe000_e014;
    const CURRENT: u32 = 0xe000_e018;
    let began = |reload: u32| {
        let thread = join(&[
            &store(RELOAD, reload),
            &store(CURRENT, 0),
            &store(CONTROL, 7),
            &[NOP; 100],
        ]);
        let program = Program {
            thread: &thread,
            handlers: vec![(15, join(&[&store(CONTROL, 0), &[BX_LR]]))],
            ..Program::default()
        };
        let steps = trace(&program, 110);
        let store_at = THREAD + 2 * (thread.len() as u32 - 101);
        when(&steps, handler_of(15)) - when(&steps, store_at)
    };
    for reload in 30..60 {
        assert_eq!(began(reload), u64::from(reload) + 15, "{reload}");
    }
}

#[test]
fn fetches_go_on_while_the_address_of_a_load_waits_for_its_bus() {
    // LDR R3, [R1] from flash, and LDR R5, [R0, #4] whose address waits behind it, when SysTick comes.
    // Another word of flash is fetched then, and the vector waits for it, as in
    // memory_tests/flags_dep_after_pipelined_skipped.
    const CONTROL: u32 = 0xe000_e010;
    let entered = |reload: u16| {
        // MOVS R5, #reload; STR R5, [R6, #4]; STR R7, [R6, #8]; MOVS R5, #7; STR R5, [R6].
        let start = [0x2500 | reload, 0x6075, 0x60b7, 0x2507, 0x6035];
        let loads = [0xf3bf, 0x8f6f, 0xf8d0, 0x2004, 0x680b, 0x6845];
        let additions = [0xf108, 0x0801].repeat(40); // ADD.W R8, R8, #1
        let thread = join(&[&start, &[NOP; 13], &loads, &additions]);
        let places = Places {
            thread: 0x202,
            handler: 0x400,
            vectors: 0,
        };
        // LDR.W R4, [R0, #4]; STR R1, [R6].
        let handler = [0xf8d0, 0x4004, 0x6031, BX_LR];
        let registers = measured(places, CONTROL, &thread, &handler);
        registers[4].wrapping_sub(registers[2])
    };
    let found: Vec<u32> = (20..28).map(entered).collect();
    assert_eq!(found, [17, 17, 17, 17, 17, 17, 18, 19]);
}

const NMI: u32 = 2;
const DATA: u32 = 0x8000;

/// Reads of flash into R0 to R3, whose base is R4.
const READS: [(&[u16], u32); 6] = [
    (&[0x6820], 4),             // LDR R0, [R4]
    (&[0x7820], 1),             // LDRB R0, [R4]
    (&[0xe9d4, 0x0100], 8),     // LDRD R0, R1, [R4]
    (&[0xe894, 0x000f], 16),    // LDM R4, {R0-R3}
    (&[0xf8d4, 0x0001], 4 + 1), // LDR R0, [R4, #1]
    (&[0xcc0f], 16),            // LDM R4!, {R0-R3}
];

#[test]
fn reading_torn_flash_raises_nmi_and_takes_no_other_time() {
    for (read, reach) in READS {
        for from in [DATA, DATA + 8, DATA + 12, DATA + 16, DATA + 24] {
            let code = join(&[&constant(4, from), &[NOP, NOP], read, &[NOP; 8]]);
            let program = Program {
                thread: &code,
                handlers: vec![(NMI, handler(NMI, &store(0x4000_0000, 1 << 31)))],
                ..Program::default()
            };
            let run = |torn: &[u32]| {
                let mut core = program.load();
                core.load_image(DATA, &(0..64).collect::<Vec<u8>>())
                    .unwrap();
                for &at in torn {
                    core.tear_flash(at);
                }
                assert_eq!(core.torn_flash(), torn);
                let exit = core.run(Limits {
                    until: Some(Cycles(100_000)),
                    step_first: false,
                });
                assert!(matches!(exit, Exit::Breakpoint(_)), "{exit:?}");
                core
            };
            let whole = run(&[]);
            let after = run(&[DATA + 40]);
            assert_eq!(after.cycles(), whole.cycles(), "a torn word elsewhere");
            let core = run(&[DATA + 16]);
            let is_hit = from < DATA + 24 && from + reach > DATA + 16;
            assert_eq!(log(&core, NMI).0, u32::from(is_hit), "{read:x?} {from:x}");
            assert!(
                core.bus
                    .torn
                    .iter()
                    .all(|&at| (DATA + 16..DATA + 24).contains(&at))
            );
            let registers =
                |core: &Core<Lines>| (0..4).map(|i| core.register(i)).collect::<Vec<_>>();
            if is_hit {
                // The handler keeps what it uses on the stack.
                assert!(core.cycles() > whole.cycles());
            } else {
                assert_eq!(core.cycles(), whole.cycles());
            }
            assert_eq!(registers(&core), registers(&whole), "what is there is read");
        }
    }
}

#[test]
fn nmi_comes_again_until_its_cause_is_cleared() {
    let code = join(&[&constant(4, DATA), &[0x6820, 0x6820, NOP, NOP, NOP, NOP]]);
    let program = Program {
        thread: &code,
        ..Program::default()
    };
    let mut core = program.load();
    core.tear_flash(DATA);
    core.run(Limits {
        until: Some(Cycles(10_000)),
        step_first: false,
    });
    assert!(log(&core, NMI).0 >= 2, "the handler did not clear it");
    // What is written anew is whole.
    core.load_image(DATA, &[0; 4]).unwrap();
    assert!(core.torn_flash().is_empty());
}

#[test]
fn torn_code_is_not_run() {
    let program = Program {
        thread: &[NOP; 20],
        ..Program::default()
    };
    let mut core = program.load();
    core.tear_flash(THREAD + 16);
    let exit = core.run(Limits {
        until: Some(Cycles(1000)),
        step_first: false,
    });
    let Exit::Fault(fault) = exit else {
        panic!("{exit:?}");
    };
    assert_eq!(
        (fault.kind, fault.address),
        (FaultKind::Unprogrammed, Some(THREAD + 16))
    );
}
