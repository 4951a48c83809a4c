//! Random programs against mspdebug's simulator, with loops, calls and stack traffic: in the fast
//! loop as whole runs, in its exact form, and step by step.
//!
//! The seed is fixed; `JOULEMARK_SEQUENCES` sets the number of programs (2000).

use crate::common;

use crate::common::{Answer, Oracle, PC, Random, SP, SR, all_ram, registers, words};
use joulemark_kernel::Cycles;
use joulemark_msp430::{Exit, Limits};

const CODE: u16 = 0x5000;
const SUBROUTINE: u16 = 0x6000;
const END: u16 = 0x7000;
const STACK: u16 = 0x1400;
const DATA: std::ops::Range<u16> = 0x1200..0x1400;

/// R4 to R7 point into the data, R15 counts a loop, and the others are free.
const POINTERS: [u16; 4] = [4, 5, 6, 7];
const FREE: [u16; 7] = [8, 9, 10, 11, 12, 13, 14];

struct Program {
    code: Vec<u16>,
    /// The stack depth at this point of the straight-line code.
    depth: u16,
}

impl Program {
    /// A source operand: register and As for the first word, and the extension word.
    fn source(random: &mut Random, byte: bool) -> (u16, u16, Option<u16>) {
        // Indirection through a pointer that may be odd needs byte width; offsets stay in range.
        let offset = |random: &mut Random| 2 * random.below(8) as u16 + byte as u16;
        match random.below(9) {
            0 | 1 => (random.pick(&FREE), 0, None),
            2 => (random.pick(&POINTERS), 0, None),
            3 => (3, random.below(4) as u16, None),
            4 => (2, 2 + random.below(2) as u16, None),
            5 => (0, 3, Some(random.word())),
            6 => (random.pick(&POINTERS), 1, Some(offset(random))),
            7 => (random.pick(&POINTERS), 2, None),
            _ => (2, 1, Some(DATA.start + 0x20 + offset(random))),
        }
    }

    fn instruction(&mut self, random: &mut Random) {
        let byte = random.below(2) == 1;
        let width = if byte { 0x40 } else { 0 };
        match random.below(16) {
            // Double operand. The test of single instructions covers DADD.
            0..9 => {
                let opcode = random.pick(&[4_u16, 5, 6, 7, 8, 9, 0xb, 0xc, 0xd, 0xe, 0xf]);
                let (register, mode, extension) = Self::source(random, byte);
                let first = opcode << 12 | register << 8 | mode << 4 | width;
                if random.below(3) == 0 {
                    let offset = 2 * random.below(8) as u16;
                    self.code.push(first | 0x80 | random.pick(&POINTERS));
                    self.code.extend(extension);
                    self.code.push(offset);
                } else {
                    self.code.push(first | random.pick(&FREE));
                    self.code.extend(extension);
                }
            }
            // Increment a pointer and decrement it again, so that it stays in range.
            9 => {
                let pointer = random.pick(&POINTERS);
                self.code.push(0x4030 | pointer << 8 | random.pick(&FREE));
                self.code.push(0x8320 | pointer);
            }
            10 | 11 => {
                // RRC, RRA with both widths; SWPB and SXT as words.
                let first = random.pick(&[0x1000_u16, 0x1040, 0x1080, 0x1100, 0x1140, 0x1180]);
                match random.below(3) {
                    0 => self.code.extend([first | 0x10 | random.pick(&POINTERS), 4]),
                    1 => self.code.push(first | 0x20 | random.pick(&POINTERS)),
                    _ => self.code.push(first | random.pick(&FREE)),
                }
            }
            12 if self.depth < 16 => {
                let (register, mode, extension) = Self::source(random, false);
                self.code.push(0x1200 | mode << 4 | register);
                self.code.extend(extension);
                self.depth += 1;
            }
            13 if self.depth > 0 => {
                self.code.push(0x4130 | random.pick(&FREE));
                self.depth -= 1;
            }
            // A conditional jump over the next instruction, which is one word long.
            14 => {
                let condition = random.below(8) as u16;
                self.code.push(0x2001 | condition << 10);
                self.code
                    .push(0x5000 | random.pick(&FREE) << 8 | random.pick(&FREE));
            }
            15 => match random.below(4) {
                0 => self.code.push(0xc312),
                1 => self.code.push(0xd312),
                2 => self.code.push(0x4303),
                _ => self.code.extend([0x12b0, SUBROUTINE]),
            },
            _ => {}
        }
    }

    fn new(random: &mut Random) -> Self {
        let mut program = Self {
            code: Vec::new(),
            depth: 0,
        };
        let before = random.below(30);
        let inside = random.below(20);
        for _ in 0..before {
            program.instruction(random);
        }
        // The stack has the same depth before and after the loop.
        let depth = program.depth;
        program.code.extend([0x403f, 1 + random.below(40) as u16]);
        let start = program.code.len();
        for _ in 0..inside {
            program.instruction(random);
        }
        while program.depth < depth {
            program.code.push(0x1208);
            program.depth += 1;
        }
        while program.depth > depth {
            program.code.push(0x4138);
            program.depth -= 1;
        }
        // SUB #1,R15; JNE back.
        program.code.push(0x831f);
        let back = start as i32 - (program.code.len() as i32 + 1);
        program.code.push(0x2000 | back as u16 & 0x3ff);
        // BR #END.
        program.code.extend([0x4030, END]);
        program
    }
}

#[test]
fn random_programs_agree_with_mspdebug() {
    let count = std::env::var("JOULEMARK_SEQUENCES").map_or(2000, |count| {
        count.parse().expect("JOULEMARK_SEQUENCES is a number")
    });
    let mut random = Random(0xc0de);
    // XOR @R4,R8; RRA R8; RET.
    let subroutine = words(&[0xe428, 0x1108, 0x4130]);
    let mut cores = [all_ram(), all_ram(), all_ram()];
    let mut oracle = Oracle::new();
    for core in &mut cores {
        core.load(SUBROUTINE, &subroutine).expect("RAM");
        core.set_breakpoint(END);
    }
    oracle.write(SUBROUTINE, &subroutine);
    oracle.set(SR, 0);
    oracle.line(&format!("setbreak {END:#x}"));
    let mut expected = Vec::new();
    for number in 0..count {
        let program = Program::new(&mut random);
        assert!(2 * program.code.len() < usize::from(SUBROUTINE - CODE));
        let data: Vec<u8> = (0..DATA.len()).map(|_| random.next() as u8).collect();
        let mut start: [u16; 16] = std::array::from_fn(|_| random.word());
        start[PC] = CODE;
        start[SP] = STACK - 0x40;
        (start[SR], start[3]) = (0, 0);
        for pointer in POINTERS {
            start[usize::from(pointer)] = DATA.start + 0x20 + 2 * random.below(0x80) as u16;
        }
        let mut results = Vec::new();
        for (way, core) in cores.iter_mut().enumerate() {
            core.load(CODE, &words(&program.code)).expect("RAM");
            core.load(DATA.start, &data).expect("RAM");
            for (number, &value) in start.iter().enumerate() {
                core.set_register(number, value);
            }
            let (cycles, instructions) = (core.cycles().0, core.instructions());
            loop {
                let until = match way {
                    0 => None,
                    // Interrupt the run at arbitrary points.
                    1 => Some(Cycles(core.cycles().0 + 1 + random.below(60))),
                    _ => Some(Cycles(core.cycles().0 + 1)),
                };
                match core.run(Limits {
                    until,
                    leave_breakpoint: way == 2,
                }) {
                    Exit::Breakpoint(END) => break,
                    Exit::Cycles if way == 2 && core.register(PC) == END => break,
                    Exit::Cycles => {}
                    exit => panic!("program {number}: {exit:?}\n{:04x?}", program.code),
                }
            }
            let memory = core.read_memory(DATA.start, DATA.len()).expect("RAM");
            results.push((
                core.cycles().0 - cycles,
                core.instructions() - instructions,
                registers(core),
                memory,
            ));
        }
        assert_eq!(
            results[0], results[1],
            "whole runs and cut ones, program {number}"
        );
        assert_eq!(results[0], results[2], "runs and steps, program {number}");
        oracle.write(CODE, &words(&program.code));
        oracle.write(DATA.start, &data);
        for (number, &value) in start.iter().enumerate() {
            oracle.set(number, value);
        }
        oracle.line("run");
        oracle.dump(DATA.start, DATA.len());
        let (_, _, registers, memory) = results.swap_remove(0);
        expected.push((program, registers, memory));
    }
    let answers = oracle.answers();
    // The first answer is SR; each program has its registers one by one, all after the run, then
    // memory.
    let answers: Vec<&[Answer]> = answers[1..].chunks(18).collect();
    assert_eq!(answers.len(), expected.len(), "mspdebug stopped early");
    for (number, ((program, registers, memory), answer)) in
        expected.into_iter().zip(answers).enumerate()
    {
        let ours = [Answer::Registers(registers), Answer::Memory(memory)];
        assert_eq!(
            ours[..],
            answer[16..],
            "program {number}: {:04x?}",
            program.code
        );
    }
}

#[test]
fn arbitrary_bytes_as_code_never_panic() {
    let mut random = Random(0xf022);
    for _ in 0..200 {
        let mut core = all_ram();
        let bytes: Vec<u8> = (0..0xfe00).map(|_| random.next() as u8).collect();
        core.load(common::RAM, &bytes).expect("RAM");
        if random.below(4) == 0 {
            core.start_address_digest();
        }
        if random.below(4) == 0 {
            let functions = (0..0x8000).map(|_| random.below(3) as u16);
            let functions: Vec<u16> = functions.collect();
            core.start_profile(functions.try_into().expect("the length is right"));
        }
        for _ in 0..40 {
            for number in 0..16 {
                core.set_register(number, random.word());
            }
            core.set_register(PC, random.word() & 0xfffe);
            core.set_register(SR, random.word() & 0x10f);
            if random.below(3) == 0 {
                core.set_breakpoint(random.word());
            }
            core.set_stack_limit(random.word());
            let until = Some(Cycles(core.cycles().0 + random.below(5000)));
            let before = core.cycles();
            core.run(Limits {
                until,
                leave_breakpoint: random.below(2) == 0,
            });
            assert!(core.cycles() >= before);
        }
    }
}
