//! Every possible first word: state against mspdebug's simulator, cycles and length against the
//! manual's tables, and the fast loop against single steps.

use std::collections::BTreeSet;

use crate::common::{Answer, Oracle, PC, Random, SP, SR, all_ram, registers, slau049, words};
use joulemark_kernel::{Cycles, FaultKind};
use joulemark_msp430::{Exit, Limits};

/// Addresses of the instruction under test and of its operands in memory.
const CODE: u16 = 0x5000;
const DATA: std::ops::Range<u16> = 0x1200..0x1280;

/// Known deviations of mspdebug 0.22, and why we follow the manual. The list is strict: each entry
/// must differ at least once, and nothing else may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Deviation {
    /// `MOV.B @SP+`: mspdebug adds 1. "SP is always incremented by two, independent of the byte
    /// suffix" (SLAU049F, page 3-54, note).
    ByteAutoincrementOfSp,
    /// mspdebug pushes the old value. SP1, which PUSH SP leaves on the stack and in SP, is what
    /// POP SP gives back (SLAU049F, section 3.2.2, figure 3-5).
    PushSp,
    /// mspdebug locates the operand of PUSH and CALL before SP moves. Code that mspgcc made for
    /// these chips relies on the opposite (see `Core::make_room`).
    StackOperandOfPushAndCall,
    /// mspdebug clears the upper byte of the stack word. A byte write drives one byte lane;
    /// mspdebug's own later simulator keeps the upper byte too.
    PushByte,
    /// mspdebug stores to R3. "Registers R2 and R3, used in the constant mode, cannot be addressed
    /// explicitly; they act as source-only registers" (SLAU049F, section 3.2.4).
    WriteToR3,
    /// mspdebug takes the address as 0. Here R3 as a base is 0, as in any other use.
    IndexedByR3,
    /// mspdebug lets digits above 9 carry two into the next digit. The manual leaves the result
    /// undefined (SLAU049F, page 3-36); a digit's adder has one carry, as has mspdebug's own later
    /// simulator, which was compared with silicon.
    InvalidDecimalDigits,
}

use Deviation::*;

const ALL: [Deviation; 7] = [
    ByteAutoincrementOfSp,
    PushSp,
    StackOperandOfPushAndCall,
    PushByte,
    WriteToR3,
    IndexedByR3,
    InvalidDecimalDigits,
];

/// The deviations that an instruction may show.
fn deviations(first: u16) -> Vec<Deviation> {
    let mode = first >> 4 & 3;
    let byte = first & 0x40 != 0;
    let double = first >= 0x4000;
    let push = (0x1200..0x1280).contains(&first);
    let call = (0x1280..0x12c0).contains(&first);
    let source = if double {
        first >> 8 & 0xf
    } else {
        first & 0xf
    };
    let operand = double || first < 0x1300;
    let mut list = Vec::new();
    if operand && mode == 3 && source == 1 && byte {
        list.push(ByteAutoincrementOfSp);
    }
    if push && mode == 0 && source == 1 {
        list.push(PushSp);
    }
    if (push && mode != 0 || call) && source == 1 {
        list.push(StackOperandOfPushAndCall);
    }
    if push && byte {
        list.push(PushByte);
    }
    if double && first & 0x8f == 0x03 || first < 0x1200 && first & 0x3f == 0x03 {
        list.push(WriteToR3);
    }
    if double && first & 0x8f == 0x83 {
        list.push(IndexedByR3);
    }
    if first >> 12 == 0xa {
        list.push(InvalidDecimalDigits);
    }
    list
}

struct Case {
    code: [u16; 3],
    registers: [u16; 16],
}

/// Registers and extension words with which the instruction accesses only [`DATA`].
fn case(first: u16, random: &mut Random) -> Case {
    let mut registers: [u16; 16] = std::array::from_fn(|_| random.word());
    let mut pointer = || DATA.start + 0x20 + 2 * random.below(0x20) as u16;
    registers[PC] = CODE;
    registers[SP] = pointer();
    let mut code = [first, 0, 0];
    let mut next = 1;
    let mut operand = |mode: u16, register: u16| {
        let number = usize::from(register);
        match (mode, register) {
            (1, 0) => {
                let address = CODE + 2 * next as u16;
                code[next] = pointer().wrapping_sub(address);
                next += 1;
            }
            (1, 2) => {
                code[next] = pointer();
                next += 1;
            }
            (1, 3) | (2, 0 | 2 | 3) | (3, 2 | 3) => {}
            (1, _) => {
                code[next] = pointer().wrapping_sub(registers[number]);
                next += 1;
            }
            (2 | 3, 4..) => registers[number] = pointer(),
            (3, 0) => {
                code[next] = random_word(pointer());
                next += 1;
            }
            _ => {}
        }
    };
    if first >= 0x4000 {
        operand(first >> 4 & 3, first >> 8 & 0xf);
        let (indexed, register) = (first >> 7 & 1, first & 0xf);
        if indexed == 1 && register == 3 {
            // R3 as a base is 0.
            code[next] = DATA.start + 0x40;
        } else {
            let increments = first & 0x30 == 0x30 && first >> 8 & 0xf == register;
            operand(indexed, register);
            // The source's increment takes effect first.
            if indexed == 1 && increments && register != 0 && register != 2 {
                let step = if first & 0x40 != 0 && register != 1 {
                    1
                } else {
                    2
                };
                let last = if code[2] != 0 { 2 } else { 1 };
                code[last] = code[last].wrapping_sub(step);
            }
        }
    } else if first < 0x1300 {
        operand(first >> 4 & 3, first & 0xf);
    }
    registers[SR] = random.below(8) as u16 | if random.below(2) == 0 { 0x100 } else { 0 };
    registers[3] = 0;
    Case { code, registers }
}

/// A value that is no longer a pointer.
fn random_word(seed: u16) -> u16 {
    seed.wrapping_mul(0x6255) ^ seed << 9
}

fn run_all(first_words: impl Iterator<Item = u16>, seed: u64) -> BTreeSet<Deviation> {
    let mut random = Random(seed);
    let mut slow = all_ram();
    let mut fast = all_ram();
    let mut oracle = Oracle::new();
    let data: Vec<u8> = (0..DATA.len()).map(|_| random.next() as u8).collect();
    for core in [&mut slow, &mut fast] {
        core.load(DATA.start, &data).expect("RAM");
    }
    oracle.write(DATA.start, &data);
    let mut expected = Vec::new();
    for first in first_words {
        let Some((cycles, length)) = slau049::cost(first) else {
            for core in [&mut slow, &mut fast] {
                core.load(CODE, &words(&[first])).expect("RAM");
                core.set_register(PC, CODE);
                let exit = core.run(Limits {
                    until: None,
                    leave_breakpoint: false,
                });
                let Exit::Fault(fault) = exit else {
                    panic!("{first:#06x} is no instruction, but: {exit:?}");
                };
                assert_eq!(fault.kind, FaultKind::InvalidOpcode, "{first:#06x}");
                assert_eq!(fault.pc, u32::from(CODE));
            }
            continue;
        };
        let case = case(first, &mut random);
        for (core, leave_breakpoint) in [(&mut slow, true), (&mut fast, false)] {
            core.load(CODE, &words(&case.code)).expect("RAM");
            for (number, &value) in case.registers.iter().enumerate() {
                core.set_register(number, value);
            }
            let (before, count) = (core.cycles(), core.instructions());
            let exit = core.run(Limits {
                until: Some(Cycles(before.0 + 1)),
                leave_breakpoint,
            });
            let context = || {
                format!(
                    "{first:#06x}: code {:04x?}, {:04x?}",
                    case.code, case.registers
                )
            };
            assert_eq!(exit, Exit::Cycles, "{}", context());
            assert_eq!(core.instructions() - count, 1, "{}", context());
            assert_eq!(
                core.cycles().0 - before.0,
                u64::from(cycles),
                "{}",
                context()
            );
        }
        assert_eq!(registers(&slow), registers(&fast), "{first:#06x}");
        let after = registers(&slow);
        let jumps = (0x1280..0x4000).contains(&first)
            || first >= 0x4000 && first & 0x8f == 0
            || first < 0x1200 && first.trailing_zeros() >= 6;
        if !jumps {
            assert_eq!(after[PC], CODE + 2 * u16::from(length), "{first:#06x}");
        }
        // mspdebug starts from the same state: registers set by MOV #N, and the same memory.
        let mut code = Vec::new();
        for number in (1..16).filter(|&number| number != SR).chain([SR]) {
            code.extend([0x4030 | number as u16, case.registers[number]]);
        }
        let start = CODE - 2 * code.len() as u16;
        let instructions = code.len() / 2 + 1;
        code.extend(case.code);
        oracle.write(start, &words(&code));
        oracle.set(SR, 0);
        oracle.set(PC, start);
        oracle.step(instructions);
        oracle.dump(DATA.start, DATA.len());
        let memory = slow.read_memory(DATA.start, DATA.len()).expect("RAM");
        assert_eq!(
            memory,
            fast.read_memory(DATA.start, DATA.len()).expect("RAM")
        );
        oracle.write(DATA.start, &memory);
        expected.push((first, case, after, memory));
    }
    // Each case has four answers: two registers that are set, the step, the memory.
    let answers = oracle.answers();
    assert_eq!(answers.len(), 4 * expected.len(), "mspdebug stopped early");
    let mut seen = BTreeSet::new();
    for ((first, case, registers, memory), answer) in expected.iter().zip(answers.chunks(4)) {
        let ours = [
            Answer::Registers(*registers),
            Answer::Memory(memory.clone()),
        ];
        if ours[..] != answer[2..] {
            let known = deviations(*first);
            assert!(
                !known.is_empty(),
                "{first:#06x}: code {:04x?} from {:04x?}\n ours {:04x?}\n mspdebug {:04x?}",
                case.code,
                case.registers,
                ours,
                &answer[2..],
            );
            seen.extend(known);
        }
    }
    seen
}

#[test]
fn every_first_word_agrees_with_mspdebug_and_with_the_tables() {
    let threads = [0x0000_u32..0x8000, 0x8000..0xc000, 0xc000..0x1_0000]
        .map(|range| std::thread::spawn(move || run_all(range.map(|first| first as u16), 0x5eed)));
    let seen: BTreeSet<Deviation> = threads
        .into_iter()
        .flat_map(|thread| thread.join().expect("a difference; see above"))
        .collect();
    assert_eq!(
        seen,
        BTreeSet::from(ALL),
        "a known deviation is gone: strike it off"
    );
}
