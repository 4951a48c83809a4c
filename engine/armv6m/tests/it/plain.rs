//! Random programs leave the same, in the same cycles, run in whole, in pieces, and instruction by
//! instruction, which does not use blocks.

use joulemark_armv6m::{Exit, Limits};
use joulemark_kernel::Cycles;

use crate::common::{CODE, DEVICE, HANDLERS, RAM, SIZE, core, put};

/// Cycles for which a program is run.
const LENGTH: u64 = 2000;
/// Data that R4 points to, and the instructions that loops are made of.
const DATA: u32 = RAM + 0x1800;
const BODY: u32 = 40;
/// Enables interrupts (ARM DDI 0419E, B3.4.3).
const NVIC_ISER: u32 = 0xe000_e100;

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
}

/// An instruction that writes R0 to R3 at most: R4 points to data, R5 to code or a device, R6 counts,
/// and R7 is a small offset.
fn instruction(random: &mut Random) -> u16 {
    let low = random.below(4);
    let base = if random.below(4) == 0 { 5 } else { 4 };
    let half = match random.below(16) {
        0..=2 => random.below(0x2000) & !4,
        3 | 4 => 0x2000 | random.below(0x2000) & !0x400,
        5 | 6 => 0x4000 | random.below(0x400) & !4,
        // MOV and ADD of R8 to R11.
        7 => [0x4600, 0x4400][random.below(2) as usize] | 0x80 | random.below(4) << 3 | low,
        // Loads and stores at an offset of up to 15 words.
        8 | 9 => 0x6000 | random.below(2) << 11 | random.below(16) << 6 | base << 3 | low,
        10 => {
            [0x7000, 0x7800, 0x8000, 0x8800][random.below(4) as usize]
                | random.below(32) << 6
                | base << 3
                | low
        }
        // By register: STR to LDRSH.
        11 => 0x5000 | random.below(8) << 9 | 7 << 6 | base << 3 | low,
        // Conditional branches over up to three instructions.
        12 => 0xd000 | random.below(14) << 8 | random.below(3),
        // PUSH and POP of R0 to R3, ADD and SUB of SP.
        13 => [0xb400, 0xbc00][random.below(2) as usize] | (1 + random.below(15)),
        14 => 0xb000 | random.below(2) << 7 | random.below(4),
        // SXTH and its kin, REV and its kin, NOP, SVC.
        _ => [
            0xb200 | random.below(4) << 6,
            0xba00,
            0xba40,
            0xbf00,
            0xdf00,
        ][random.below(5) as usize],
    };
    half as u16
}

#[derive(Debug, PartialEq)]
struct Seen {
    fault: Option<String>,
    cycles: u64,
    instructions: u64,
    registers: [u32; 16],
    memory: Vec<u8>,
    accesses: Vec<(u32, u64)>,
    digest: u64,
    stack_low: u32,
}

/// How a program is run.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Whole,
    Pieces,
    ByInstruction,
}

fn run(number: u64, way: Way) -> Seen {
    let random = &mut Random(number);
    for _ in 0..4 {
        random.next();
    }
    let mut code = vec![0x6008]; // str r0, [r1]
    code.extend((0..BODY).map(|_| instruction(random)));
    // No branch leaves the loop.
    code.extend([0xbf00, 0xbf00, 0xbf00]);
    let call = random.below(2) == 0;
    if call {
        code.extend([0xf000, 0xf803]); // bl over the branch behind the loop
    }
    let back = -(code.len() as i32) - 1;
    code.push(0x3e01); // subs r6, #1
    code.push(0xd100 | (back as u16 - 1) & 0xff); // bne
    code.extend([0xe7fe, 0x3001, 0x4770]); // b .; adds r0, #1; bx lr
    let mut core = core(&code);
    for handler in 0..48 {
        // ldr r0, [pc, #4]; str r0, [r0]; bx lr; the device, of which a store clears all lines
        let halves = [
            0x4801,
            0x6000,
            0x4770,
            0xbf00,
            DEVICE as u16,
            (DEVICE >> 16) as u16,
        ];
        put(&mut core, HANDLERS + 64 * handler, &halves);
    }
    let elsewhere = match number % 3 {
        0 => (CODE + 2 * random.below(BODY)) & !3,
        1 => DEVICE,
        _ => DATA + 0x100,
    };
    let registers = [
        u32::MAX,
        NVIC_ISER,
        random.next(),
        random.next(),
        DATA,
        elsewhere,
        20,
    ];
    for (register, value) in registers.into_iter().enumerate() {
        core.set_register(register, value);
    }
    core.set_register(7, random.below(8) * 4);
    if number.is_multiple_of(2) {
        let rise = |_| (u64::from(random.below(LENGTH as u32)), random.below(32));
        core.bus.rises = (0..5).map(rise).collect();
    }
    if number % 5 < 2 {
        core.start_address_digest();
    }
    let mut fault = None;
    let mut breakpoint = None;
    let mut step_first = false;
    while core.cycles().0 < LENGTH {
        let exit = match way {
            Way::ByInstruction => core.run(Limits {
                until: Some(Cycles(core.cycles().0 + 1)),
                step_first: true,
            }),
            Way::Whole => core.run(Limits {
                until: Some(Cycles(LENGTH)),
                step_first: false,
            }),
            Way::Pieces => {
                let length = random.below(50);
                if let Some(at) = breakpoint {
                    core.clear_breakpoint(at);
                }
                let at = core.register(15).wrapping_add(length % 8 * 2);
                core.set_breakpoint(at);
                breakpoint = Some(at);
                let until = (core.cycles().0 + u64::from(length)).min(LENGTH);
                core.run(Limits {
                    until: Some(Cycles(until)),
                    step_first,
                })
            }
        };
        step_first = matches!(exit, Exit::Breakpoint(_));
        match exit {
            Exit::Fault(found) => {
                fault = Some(found.to_string());
                break;
            }
            // A store may have made a WFI.
            Exit::Asleep => break,
            _ => {}
        }
    }
    Seen {
        fault,
        cycles: core.cycles().0,
        instructions: core.instructions(),
        registers: std::array::from_fn(|register| core.register(register)),
        memory: core.read_memory(RAM, SIZE as usize).expect("RAM"),
        accesses: std::mem::take(&mut core.bus.accesses),
        digest: core.address_digest(),
        stack_low: core.stack_low(),
    }
}

#[test]
fn a_program_is_the_same_in_whatever_pieces_it_is_run() {
    let mut whole_runs = 0;
    for number in 1..2000 {
        let stepped = run(number, Way::ByInstruction);
        assert_eq!(
            run(number, Way::Whole),
            stepped,
            "program {number}, in whole"
        );
        assert_eq!(
            run(number, Way::Pieces),
            stepped,
            "program {number}, in pieces"
        );
        whole_runs += usize::from(stepped.fault.is_none());
    }
    assert!(whole_runs > 500, "{whole_runs} programs have no fault");
}
