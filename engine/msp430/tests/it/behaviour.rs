//! Special cases: unusual instructions, interrupts, low-power modes, faults, observation.

use crate::common;

use crate::common::{PC, SP, SR, all_ram, word, words};
use joulemark_kernel::{Caller, Cycles, Fault, FaultKind};
use joulemark_msp430::{
    Bus, Core, Exit, FlashEffect, FlashOperation, Limits, Region, RegionKind, Width, status,
};

/// A chip like the MSP430F1611: peripherals, RAM, flash, and one interrupt at a chosen time.
#[derive(Default)]
struct Chip {
    interrupt_at: Option<u64>,
    /// The requested vector, once its time has come.
    vector: Option<u16>,
    non_maskable: bool,
    accepted: Vec<u64>,
    log: Vec<(char, u16, u16, u64)>,
    modes: Vec<(u16, u64)>,
    wake_up: u64,
    flash_enabled: bool,
    stop: bool,
}

const VECTOR: u16 = 0xffea;
const CODE: u16 = 0x4000;
const HANDLER: u16 = 0x8000;
const STACK: u16 = 0x3900;

impl Bus for Chip {
    fn read(&mut self, address: u16, _: Width, now: Cycles) -> Result<u16, Fault> {
        self.log.push(('r', address, 0, now.0));
        Ok(0x1234)
    }
    fn write(&mut self, address: u16, value: u16, _: Width, now: Cycles) -> Result<(), Fault> {
        self.log.push(('w', address, value, now.0));
        self.stop = address == 0x0031;
        if address == 0x0100 {
            return Err(Fault::new(FaultKind::Absent, "the part is left out").at(address));
        }
        Ok(())
    }
    fn write_flash(
        &mut self,
        address: u16,
        _: u16,
        _: Width,
        _: Cycles,
    ) -> Result<FlashOperation, Fault> {
        if self.flash_enabled {
            let effect = FlashEffect::Program;
            Ok(FlashOperation {
                effect,
                stall: Cycles(30),
            })
        } else {
            Err(Fault::new(FaultKind::FlashWrite, "the controller is locked").at(address))
        }
    }
    fn next_event(&self) -> Cycles {
        self.interrupt_at.map_or(Cycles::NEVER, Cycles)
    }
    fn advance(&mut self, _: Cycles) -> Result<(), Fault> {
        self.interrupt_at = None;
        self.vector = Some(VECTOR);
        Ok(())
    }
    fn pending_interrupt(&self, enabled: bool) -> Option<u16> {
        self.vector.filter(|_| enabled || self.non_maskable)
    }
    fn acknowledge(&mut self, _: u16, now: Cycles) {
        self.vector = None;
        self.accepted.push(now.0);
    }
    fn power_changed(&mut self, status: u16, now: Cycles) -> Cycles {
        self.modes.push((status & status::POWER, now.0));
        Cycles(if status & status::CPUOFF == 0 {
            self.wake_up
        } else {
            0
        })
    }
    fn take_stop(&mut self) -> bool {
        std::mem::take(&mut self.stop)
    }
}

fn region(start: u16, size: u32, kind: RegionKind) -> Region {
    Region { start, size, kind }
}

/// A core with a program at [`CODE`], a handler consisting of RETI, and SP at the top of RAM.
fn chip(code: &[u16]) -> Core<Chip> {
    let regions = [
        region(0, 0x200, RegionKind::Peripheral),
        region(0x1100, 0x2800, RegionKind::Ram),
        region(0x4000, 0xc000, RegionKind::Flash),
    ];
    let mut core = Core::new(Chip::default(), &regions);
    core.load(CODE, &words(code)).expect("flash");
    core.load(HANDLER, &words(&[0x1300])).expect("flash");
    core.load(VECTOR, &words(&[HANDLER])).expect("flash");
    core.load(0xfffe, &words(&[CODE])).expect("flash");
    core.reset();
    core.set_register(SP, STACK);
    core
}

fn run(core: &mut Core<Chip>, cycles: u64) -> Exit {
    let until = Some(Cycles(core.cycles().0 + cycles));
    core.run(Limits {
        until,
        leave_breakpoint: false,
    })
}

fn fault(exit: Exit) -> Fault {
    match exit {
        Exit::Fault(fault) => *fault,
        exit => panic!("a fault was expected: {exit:?}"),
    }
}

mod instructions {
    use super::*;

    /// Run one instruction and return its cost.
    fn cost(code: &[u16], set: &[(usize, u16)]) -> (Core<Chip>, u64) {
        let mut core = chip(code);
        for &(number, value) in set {
            core.set_register(number, value);
        }
        assert_eq!(run(&mut core, 1), Exit::Cycles);
        let cycles = core.cycles().0;
        (core, cycles)
    }

    /// SLAU049F, section 3.2.4, table 3-2: constants cost as much as a register.
    #[test]
    fn generated_constants_cost_no_fetch() {
        for (first, value) in [
            (0x4306, 0),
            (0x4316, 1),
            (0x4326, 2),
            (0x4226, 4),
            (0x4236, 8),
            (0x4336, 0xffff),
            (0x4376, 0xff),
        ] {
            let (core, cycles) = cost(&[first], &[]);
            assert_eq!((core.register(6), cycles), (value, 1), "{first:#06x}");
        }
        // MOV #1 as a two-word immediate.
        assert_eq!(cost(&[0x4036, 1], &[]).1, 2);
        // MOV #4, &0x1200 and PUSH #8.
        assert_eq!(cost(&[0x42a2, 0x1200], &[]).1, 4);
        assert_eq!(cost(&[0x1232], &[]).1, 3);
    }

    /// Table 3-16: the x1xx family saves no cycles if the destination is not read or not written.
    #[test]
    fn mov_bit_and_cmp_to_memory_cost_like_the_others() {
        for opcode in [0x4, 0x5, 0x9, 0xb, 0xf] {
            // op R5, 2(R6); op @R5, 2(R6); op 0(R5), 2(R6).
            let set = &[(5, 0x1200), (6, 0x1300)];
            assert_eq!(cost(&[opcode << 12 | 0x0586, 2], set).1, 4);
            assert_eq!(cost(&[opcode << 12 | 0x05a6, 2], set).1, 5);
            assert_eq!(cost(&[opcode << 12 | 0x0596, 0, 2], set).1, 6);
        }
    }

    /// Tables 3-15 and 3-16: control transfers.
    #[test]
    fn jumps_calls_and_returns() {
        let set = &[(5, 0x1200), (6, 0x4100)];
        let taken = cost(&[0x3c00], set);
        assert_eq!((taken.1, taken.0.register(PC)), (2, 0x4002));
        assert_eq!(cost(&[0x2400], set).1, 2, "JEQ, not taken");
        assert_eq!(cost(&[0x4600], set).1, 2, "BR R6");
        assert_eq!(cost(&[0x4030, 0x4100], set).1, 3, "BR #N");
        assert_eq!(cost(&[0x4520], set).1, 2, "BR @R5");
        assert_eq!(cost(&[0x4530], set).1, 3, "BR @R5+");
        assert_eq!(cost(&[0x4510, 0], set).1, 3, "BR 0(R5)");
        assert_eq!(cost(&[0x4130], &[(SP, 0x3800)]).1, 3, "RET");
        assert_eq!(cost(&[0x12b0, 0x4100], set).1, 5, "CALL #N");
        assert_eq!(cost(&[0x1286], set).1, 4, "CALL R6");
        assert_eq!(cost(&[0x12a5], set).1, 4, "CALL @R5");
        assert_eq!(cost(&[0x12b5], set).1, 5, "CALL @R5+");
        assert_eq!(cost(&[0x1295, 0], set).1, 5, "CALL 0(R5)");
        assert_eq!(cost(&[0x1235], set).1, 5, "PUSH @R5+");
        assert_eq!(cost(&[0x1225], set).1, 4, "PUSH @R5");
        assert_eq!(cost(&[0x1230, 7], set).1, 4, "PUSH #N");
        assert_eq!(cost(&[0x1300], &[(SP, 0x3800)]).1, 5, "RETI");
    }

    /// SLAU049F, section 3.2.2, figure 3-5: PUSH SP followed by POP SP leaves SP two lower.
    #[test]
    fn push_sp_pushes_the_decremented_value() {
        let mut core = chip(&[0x1201, 0x4131]);
        run(&mut core, 1);
        assert_eq!(word(&core, STACK - 2), STACK - 2);
        run(&mut core, 1);
        assert_eq!(core.register(SP), STACK - 2);
    }

    /// Pages 3-54 and 3-55, POP and PUSH: SP moves by two even for bytes; the upper byte stays.
    #[test]
    fn bytes_on_the_stack() {
        let (core, _) = cost(&[0x1246], &[(6, 0xabcd)]);
        assert_eq!(
            (word(&core, STACK - 2), core.register(SP)),
            (0x00cd, STACK - 2)
        );
        let mut core = chip(&[0x1246, 0x4176]);
        core.load(STACK - 2, &[0x11, 0x22]).expect("RAM");
        core.set_register(6, 0xabcd);
        run(&mut core, 1);
        assert_eq!(word(&core, STACK - 2), 0x22cd);
        run(&mut core, 1);
        assert_eq!((core.register(6), core.register(SP)), (0xcd, STACK));
    }

    /// Section 3.3.1, note: a byte operation on a register clears its upper byte.
    #[test]
    fn byte_operations_clear_the_upper_byte() {
        let (core, _) = cost(&[0x5546], &[(5, 0x12f0), (6, 0x3420)]);
        assert_eq!(core.register(6), 0x0010);
        assert_eq!(core.register(SR) & status::C, status::C);
    }

    /// PUSH and CALL locate their operand relative to the moved SP: the first two as in the image
    /// that `Core::make_room` cites, the others inferred.
    #[test]
    fn the_stack_pointer_moves_before_the_operand_is_located() {
        const POINTER: u16 = STACK - 0x40;
        const WORDS: [u16; 4] = [0x4100, 0x4200, 0x4300, 0x4400];
        // (instruction, pushed value or call target, SP afterwards)
        let at = |address: u16| WORDS[usize::from(address - (POINTER - 2)) / 2];
        let cases: [(&[u16], u16, u16); 11] = [
            (&[0x1291, 6], at(POINTER + 4), POINTER - 2),
            (&[0x1211, 6], at(POINTER + 4), POINTER - 2),
            (&[0x1251, 7], at(POINTER + 4) >> 8, POINTER - 2),
            (&[0x1221], at(POINTER - 2), POINTER - 2),
            (&[0x1231], at(POINTER - 2), POINTER),
            (&[0x1261], at(POINTER - 2) & 0xff, POINTER - 2),
            (&[0x1271], at(POINTER - 2) & 0xff, POINTER),
            (&[0x12a1], at(POINTER - 2), POINTER - 2),
            (&[0x12b1], at(POINTER - 2), POINTER),
            (&[0x1281], POINTER - 2, POINTER - 2),
            (&[0x1201], POINTER - 2, POINTER - 2),
        ];
        for (code, value, sp) in cases {
            for leave_breakpoint in [false, true] {
                let mut core = chip(code);
                core.load(POINTER - 2, &words(&WORDS)).expect("RAM");
                core.set_register(SP, POINTER);
                let until = Some(Cycles(1));
                let exit = core.run(Limits {
                    until,
                    leave_breakpoint,
                });
                assert_eq!(exit, Exit::Cycles, "{code:04x?}");
                assert_eq!(core.register(SP), sp, "{code:04x?}");
                let pushed = word(&core, POINTER - 2);
                if code[0] >= 0x1280 {
                    assert_eq!(core.register(PC), value, "{code:04x?}");
                    assert_eq!(pushed, CODE + 2 * code.len() as u16, "{code:04x?}");
                } else if code[0] & 0x40 != 0 {
                    assert_eq!(pushed, WORDS[0] & 0xff00 | value, "{code:04x?}");
                } else {
                    assert_eq!(pushed, value, "{code:04x?}");
                }
            }
        }
    }

    /// A faulting push does not move SP.
    #[test]
    fn a_fault_leaves_the_stack_pointer_where_it_was() {
        for code in [[0x1212, 0x0400], [0x1292, 0x0400]] {
            let mut core = chip(&code);
            assert_eq!(fault(run(&mut core, 9)).kind, FaultKind::Unmapped);
            assert_eq!(core.register(SP), STACK);
        }
    }

    /// Sections 3.3.2 to 3.3.4: PC as a base is the address of the word that holds the offset.
    #[test]
    fn symbolic_operands_are_relative_to_their_own_word() {
        // MOV 0x1200, 0x1202 as x(PC), y(PC).
        let code = [
            0x4090,
            0x1200_u16.wrapping_sub(0x4002),
            0x1202_u16.wrapping_sub(0x4004),
        ];
        let mut core = chip(&code);
        core.load(0x1200, &words(&[0xbeef])).expect("RAM");
        run(&mut core, 1);
        assert_eq!(word(&core, 0x1202), 0xbeef);
        // MOV PC, R6: the next word's address.
        assert_eq!(cost(&[0x4006], &[]).0.register(6), CODE + 2);
        // ADD #0x10, PC: relative to the next instruction.
        let (core, cycles) = cost(&[0x5030, 0x10], &[]);
        assert_eq!((core.register(PC), cycles), (CODE + 0x14, 3));
    }

    /// Page 3-36, DADD.
    #[test]
    fn decimal_addition() {
        let (core, _) = cost(&[0xa506], &[(5, 0x1999), (6, 0x8001), (SR, status::C)]);
        assert_eq!(core.register(6), 0x0001);
        assert_eq!(core.register(SR) & status::C, status::C);
        // Digits above 9: 15 + 15 + 1 = 31, which is digit 5 and one carry.
        let (core, _) = cost(&[0xa506], &[(5, 0x000f), (6, 0x000f), (SR, status::C)]);
        assert_eq!(core.register(6), 0x0015);
    }

    /// Section 3.2.4: R3 holds no value.
    #[test]
    fn r3_is_no_register() {
        let (core, cycles) = cost(&[0x4033, 0x1234], &[]);
        assert_eq!((core.register(3), cycles), (0, 2));
        // MOV R5, 0x1200(R3): the base is 0.
        let (core, _) = cost(&[0x4583, 0x1200], &[(5, 77)]);
        assert_eq!(word(&core, 0x1200), 77);
    }
}

mod interrupts {
    use super::*;

    const NOPS: [u16; 8] = [0x4303; 8];

    /// Table 3-14 and section 2.2.3: six cycles, PC and SR on the stack, SR cleared; RETI five.
    #[test]
    fn latency_and_return() {
        let mut core = chip(&NOPS);
        core.set_register(SR, status::GIE | status::C);
        core.bus.interrupt_at = Some(3);
        core.set_breakpoint(HANDLER);
        assert_eq!(run(&mut core, 100), Exit::Breakpoint(HANDLER));
        assert_eq!(core.cycles(), Cycles(3 + common::slau049::INTERRUPT));
        assert_eq!(core.register(SR), 0);
        assert_eq!(word(&core, STACK - 2), CODE + 6);
        assert_eq!(word(&core, STACK - 4), status::GIE | status::C);
        assert_eq!(core.calls()[0].return_address, CODE + 6);
        core.set_breakpoint(CODE + 6);
        core.clear_breakpoint(HANDLER);
        assert_eq!(run(&mut core, 100), Exit::Breakpoint(CODE + 6));
        assert_eq!(core.cycles(), Cycles(3 + 6 + 5));
        assert_eq!(core.register(SR), status::GIE | status::C);
        assert_eq!(core.register(SP), STACK);
        assert!(core.calls().is_empty());
    }

    /// Section 2.2.3: the current instruction is completed first.
    #[test]
    fn instructions_are_not_cut() {
        // MOV &0x1200, &0x1202 takes 6 cycles.
        let mut core = chip(&[0x4292, 0x1200, 0x1202, 0x4303]);
        core.set_register(SR, status::GIE);
        core.bus.interrupt_at = Some(1);
        core.set_breakpoint(HANDLER);
        run(&mut core, 100);
        assert_eq!(core.cycles(), Cycles(6 + 6));
    }

    /// Section 2.2.3: the six cycles start at the end of the current instruction, whenever the
    /// request arrives during it.
    #[test]
    fn latency_is_that_of_the_instruction_at_hand_and_six_cycles() {
        // NOP; JMP; MOV #N, R6; MOV @R5+, R6; XOR R6, 2(R5); BR #N; PUSH @R5+; RRA 0(R5); CALL #N;
        // MOV &0x1200, &0x1202; RETI.
        let cases: [(&[u16], u64); 11] = [
            (&[0x4303], 1),
            (&[0x3c00], 2),
            (&[0x4036, 1], 2),
            (&[0x4536], 2),
            (&[0xe685, 2], 4),
            (&[0x4030, 0x4100], 3),
            (&[0x1235], 5),
            (&[0x1115, 0], 4),
            (&[0x12b0, 0x4100], 5),
            (&[0x4292, 0x1200, 0x1202], 6),
            (&[0x1300], 5),
        ];
        for (code, cycles) in cases {
            for request in 1..=cycles {
                let mut core = chip(code);
                // RETI pops this: GIE stays set.
                core.load(STACK - 4, &words(&[status::GIE, 0x4200]))
                    .expect("RAM");
                core.set_register(SP, STACK - 4);
                core.set_register(5, 0x1200);
                core.set_register(SR, status::GIE);
                core.bus.interrupt_at = Some(request);
                core.set_breakpoint(HANDLER);
                assert_eq!(run(&mut core, 100), Exit::Breakpoint(HANDLER));
                assert_eq!(core.cycles(), Cycles(cycles + 6), "{code:04x?}, {request}");
            }
        }
    }

    /// Page 3-40, EINT: the next instruction is always executed. Page 3-39, DINT: one instruction
    /// late.
    #[test]
    fn gie_takes_effect_after_one_more_instruction() {
        // EINT; NOP; NOP
        let mut core = chip(&[0xd232, 0x4303, 0x4303]);
        core.bus.vector = Some(VECTOR);
        core.set_breakpoint(HANDLER);
        run(&mut core, 100);
        assert_eq!(word(&core, STACK - 2), CODE + 4);
        // DINT, with a request that arrives while it executes.
        let mut core = chip(&[0xc232, 0x4303, 0x4303]);
        core.set_register(SR, status::GIE);
        core.bus.interrupt_at = Some(1);
        core.set_breakpoint(HANDLER);
        run(&mut core, 100);
        assert_eq!(word(&core, STACK - 2), CODE + 2);
        assert_eq!(word(&core, STACK - 4) & status::GIE, 0);
    }

    #[test]
    fn non_maskable_interrupts_need_no_gie() {
        let mut core = chip(&NOPS);
        core.bus.interrupt_at = Some(2);
        core.bus.non_maskable = true;
        core.set_breakpoint(HANDLER);
        assert_eq!(run(&mut core, 100), Exit::Breakpoint(HANDLER));
        let mut core = chip(&NOPS);
        core.bus.interrupt_at = Some(2);
        assert_eq!(run(&mut core, 5), Exit::Cycles);
        assert!(core.bus.accepted.is_empty());
    }

    /// Section 2.3: an interrupt ends the low-power mode, and RETI returns to it.
    #[test]
    fn sleep_and_wake() {
        // BIS #LPM+GIE, SR; NOP, for LPM0 to LPM4 (table 2-2): six cycles each, after the start of
        // a stopped oscillator.
        let (off, scg0, scg1) = (status::CPUOFF, status::SCG0, status::SCG1);
        let modes = [off, off | scg0, off | scg1, off | scg0 | scg1];
        for mode in modes.into_iter().chain([modes[3] | status::OSCOFF]) {
            let mut core = chip(&[0xd032, mode | status::GIE, 0x4303]);
            core.bus.interrupt_at = Some(1000);
            core.bus.wake_up = 48;
            let exit = core.run(Limits::default());
            assert_eq!(exit, Exit::Asleep);
            assert_eq!(core.register(SR) & status::POWER, mode);
            let heard = [(mode, 2), (0, 1006), (mode, 1006 + 48 + 5)];
            assert_eq!(core.bus.modes, heard);
            assert_eq!(core.sleep_cycles(), Cycles(998));
            assert_eq!(core.cycles(), Cycles(1006 + 48 + 5));
            assert_eq!(core.instructions(), 2);
            // A limit ends a run during sleep.
            core.bus.interrupt_at = Some(5000);
            assert_eq!(run(&mut core, 100), Exit::Cycles);
            assert_eq!(core.cycles(), Cycles(1059 + 100));
        }
    }
}

mod faults {
    use super::*;

    fn kind_of(core: &mut Core<Chip>) -> (FaultKind, Option<u32>, u32) {
        let fault = fault(run(core, 1000));
        (fault.kind, fault.address, fault.pc)
    }

    #[test]
    fn accesses_that_silicon_would_let_pass() {
        let cases: &[(&[u16], FaultKind, u32)] = &[
            // MOV &a, R6; MOV.B; MOV R6, &a; ADD R6, &a
            (&[0x4216, 0x0a00], FaultKind::Unmapped, 0x0a00),
            (&[0x4256, 0x0a01], FaultKind::Unmapped, 0x0a01),
            (&[0x4682, 0x0a00], FaultKind::Unmapped, 0x0a00),
            (&[0x4216, 0x1201], FaultKind::Misaligned, 0x1201),
            (&[0x4682, 0x1201], FaultKind::Misaligned, 0x1201),
            (&[0x4682, 0x0101], FaultKind::Misaligned, 0x0101),
            (&[0x4216, 0x9000], FaultKind::Unprogrammed, 0x9000),
            (&[0x4682, 0x9000], FaultKind::FlashWrite, 0x9000),
            (&[0x4682, 0x0100], FaultKind::Absent, 0x0100),
            // BR #a
            (&[0x4030, 0x4101], FaultKind::Misaligned, 0x4101),
        ];
        for &(code, kind, address) in cases {
            let mut core = chip(code);
            let (found, at, _) = kind_of(&mut core);
            assert_eq!((found, at), (kind, Some(address)), "{code:04x?}");
        }
    }

    #[test]
    fn execution_of_what_is_no_code() {
        for (target, kind) in [
            (0x0120, FaultKind::ExecuteData),
            (0x1200, FaultKind::ExecuteData),
            (0x0a00, FaultKind::Unmapped),
            (0x9000, FaultKind::Unprogrammed),
        ] {
            let mut core = chip(&[0x4030, target]);
            let expected = (kind, Some(u32::from(target)), u32::from(target));
            assert_eq!(kind_of(&mut core), expected);
        }
        // Data in flash, and data that the program wrote to RAM.
        let mut core = chip(&[0x4030, 0x4010]);
        core.load(0x4010, &words(&[0x4303])).expect("flash");
        core.deny_execution(0x4010, 2);
        assert_eq!(kind_of(&mut core).0, FaultKind::ExecuteData);
        // A jump of the program into its data is detected in the middle of a run too.
        let mut core = chip(&[0x4303, 0x4303]);
        core.load(0x4004, &words(&[0x4303])).expect("flash");
        core.deny_execution(0x4004, 2);
        assert_eq!(
            kind_of(&mut core),
            (FaultKind::ExecuteData, Some(0x4004), 0x4004)
        );
        assert_eq!((core.cycles(), core.instructions()), (Cycles(2), 2));
    }

    #[test]
    fn the_stack_may_not_grow_into_data() {
        for grow in [&[0x1206][..], &[0x12b0, 0x4000], &[0x8031, 2], &[0x8321]] {
            let mut core = chip(grow);
            core.set_register(SP, 0x2002);
            core.set_stack_limit(0x2002);
            let (kind, at, pc) = kind_of(&mut core);
            assert_eq!(
                (kind, at),
                (FaultKind::StackOverflow, Some(0x2000)),
                "{grow:04x?}"
            );
            assert_eq!(pc, u32::from(CODE));
            // A stack elsewhere is not checked.
            let mut core = chip(grow);
            core.set_stack_limit(0x2002);
            core.set_register(SP, 0x1800);
            assert_eq!(run(&mut core, 1), Exit::Cycles, "{grow:04x?}");
        }
    }

    #[test]
    fn a_fault_shows_the_calls_that_led_to_it() {
        // 4000: CALL #4006; 4006: CALL #400c; 400c: invalid
        let mut core = chip(&[0x12b0, 0x4006, 0x4303, 0x12b0, 0x400c, 0x4303, 0x0000]);
        let fault = fault(run(&mut core, 1000));
        assert_eq!(fault.kind, FaultKind::InvalidOpcode);
        assert_eq!(fault.pc, 0x400c);
        assert_eq!(
            fault.call_stack,
            [Caller::Call(0x400a), Caller::Call(0x4004)]
        );
    }

    #[test]
    fn flash_is_programmed_as_the_controller_allows() {
        let mut core = chip(&[0x40b2, 0x0ff0, 0x9000, 0x4216, 0x9000]);
        core.bus.flash_enabled = true;
        run(&mut core, 1);
        assert_eq!(core.cycles(), Cycles(5 + 30));
        run(&mut core, 1);
        assert_eq!(core.register(6), 0x0ff0);
    }
}

mod code {
    use super::*;

    /// Code copied to RAM, then changed by another instruction and by its own.
    #[test]
    fn changed_code_is_executed_as_it_is() {
        let mut core = all_ram();
        // 2000: MOV #1, R6; MOV R7, &0x2000; JMP 2000. R7 = MOV #2, R6.
        core.load(0x2000, &words(&[0x4316, 0x4782, 0x2000, 0x3ffc]))
            .expect("RAM");
        core.set_register(7, 0x4326);
        core.set_register(PC, 0x2000);
        core.set_breakpoint(0x2006);
        let limits = Limits {
            until: None,
            leave_breakpoint: true,
        };
        assert_eq!(core.run(limits), Exit::Breakpoint(0x2006));
        assert_eq!(core.register(6), 1);
        assert_eq!(core.run(limits), Exit::Breakpoint(0x2006));
        assert_eq!(core.register(6), 2);
        // The next instruction of the same run: 2010: MOV R8, &0x2014; MOV #1, R6.
        core.load(0x2010, &words(&[0x4882, 0x2014, 0x4316, 0x3fff]))
            .expect("RAM");
        core.set_register(8, 0x4226);
        core.set_register(PC, 0x2010);
        core.set_breakpoint(0x2016);
        assert_eq!(core.run(limits), Exit::Breakpoint(0x2016));
        assert_eq!(core.register(6), 4);
    }

    #[test]
    fn breakpoints_stop_before_their_instruction() {
        let mut core = chip(&[0x4303, 0x5316, 0x4303, 0x3ffc]);
        core.set_breakpoint(CODE + 2);
        core.set_breakpoint(CODE + 4);
        assert_eq!(run(&mut core, 100), Exit::Breakpoint(CODE + 2));
        assert_eq!((core.register(6), core.cycles()), (0, Cycles(1)));
        assert_eq!(
            run(&mut core, 100),
            Exit::Breakpoint(CODE + 2),
            "it stays there"
        );
        let limits = Limits {
            until: None,
            leave_breakpoint: true,
        };
        assert_eq!(core.run(limits), Exit::Breakpoint(CODE + 4));
        core.clear_breakpoint(CODE + 4);
        assert_eq!(core.run(limits), Exit::Breakpoint(CODE + 2));
        assert_eq!(
            (core.register(6), core.cycles()),
            (1, Cycles(1 + 1 + 1 + 2 + 1))
        );
    }

    /// Straight-line code decoded before a breakpoint is not counted twice.
    #[test]
    fn breakpoints_leave_the_time_of_long_straight_code() {
        const LENGTH: u16 = 6000;
        let mut code = vec![0x5506; LENGTH.into()];
        code.push(0x3fff);
        let mut core = chip(&code);
        let end = CODE + 2 * LENGTH;
        for at in (1500..4500).step_by(97) {
            core.set_breakpoint(CODE + 2 * at);
            core.clear_breakpoint(CODE + 2 * at);
            core.set_breakpoint(end);
            core.set_register(PC, CODE);
            let start = core.cycles().0;
            assert_eq!(run(&mut core, 100_000), Exit::Breakpoint(end));
            assert_eq!(core.cycles().0 - start, u64::from(LENGTH), "{at}");
            core.clear_breakpoint(end);
        }
    }

    /// The bus sees an access in its instruction's cycle, and a stop request takes effect at the
    /// end of that instruction.
    #[test]
    fn the_bus_is_asked_with_the_right_time() {
        // NOP; MOV &0x0170, R6; NOP; MOV.B #1, &0x0031; NOP
        let mut core = chip(&[0x4303, 0x4216, 0x0170, 0x4303, 0x43d2, 0x0031, 0x4303]);
        assert_eq!(core.run(Limits::default()), Exit::Stopped);
        assert_eq!(core.register(6), 0x1234);
        assert_eq!(core.bus.log, [('r', 0x0170, 0, 3), ('w', 0x0031, 1, 8)]);
        assert_eq!(
            (core.cycles(), core.instructions()),
            (Cycles(1 + 3 + 1 + 4), 4)
        );
    }
}

mod observation {
    use super::*;

    // 4000: CALL #4010; CALL #4010; JMP .   4010: PUSH R6; CALL #4020; POP R6; RET
    // 4020: PUSH R6; PUSH R6; INCD SP; INCD SP; BR #4030   4030: RET
    fn program() -> Core<Chip> {
        let mut core = chip(&[0x12b0, 0x4010, 0x12b0, 0x4010, 0x3fff]);
        core.load(0x4010, &words(&[0x1206, 0x12b0, 0x4020, 0x4136, 0x4130]))
            .expect("flash");
        let inner = [0x1206, 0x1206, 0x5321, 0x5321, 0x4030, 0x4030];
        core.load(0x4020, &words(&inner)).expect("flash");
        core.load(0x4030, &words(&[0x4130])).expect("flash");
        core.set_breakpoint(0x4008);
        core
    }

    #[test]
    fn cycles_by_function_and_path() {
        let mut plain = program();
        assert_eq!(plain.run(Limits::default()), Exit::Breakpoint(0x4008));
        let mut core = program();
        let mut functions = vec![0_u16; 0x8000];
        functions[0x4000 / 2..0x4010 / 2].fill(1);
        functions[0x4010 / 2..0x4020 / 2].fill(2);
        functions[0x4020 / 2..0x4030 / 2].fill(3);
        functions[0x4030 / 2..0x4040 / 2].fill(4);
        core.start_profile(functions.try_into().expect("the length is right"));
        assert_eq!(core.run(Limits::default()), Exit::Breakpoint(0x4008));
        assert_eq!(
            core.cycles(),
            plain.cycles(),
            "watching costs no emulated time"
        );
        let profile = core.profile().expect("it was started").clone();
        let path = |mut node: usize| {
            let mut path = Vec::new();
            while let Some(parent) = profile.nodes[node].parent {
                path.insert(0, profile.nodes[node].function);
                node = parent;
            }
            path
        };
        let found: Vec<_> = (1..profile.nodes.len())
            .map(|index| {
                let node = profile.nodes[index];
                (path(index), node.calls, node.self_cycles, node.stack_bytes)
            })
            .collect();
        assert_eq!(
            found,
            [
                // Two calls of 5 cycles; its stack is the others' total.
                (vec![1], 1, 10, 10),
                // PUSH 3, CALL 5, POP 2, RET 3.
                (vec![1, 2], 2, 26, 8),
                // PUSH 3, PUSH 3, two times 1, BR 3; then a jump replaces it.
                (vec![1, 2, 3], 2, 22, 4),
                (vec![1, 2, 4], 2, 6, 0),
            ]
        );
        let cycles: u64 = profile.nodes.iter().map(|node| node.self_cycles).sum();
        let instructions: u64 = profile
            .nodes
            .iter()
            .map(|node| node.self_instructions)
            .sum();
        assert_eq!(
            (Cycles(cycles), instructions),
            (core.cycles(), core.instructions())
        );
    }

    #[test]
    fn the_stack_is_measured_from_where_it_was() {
        let mut core = program();
        core.reset_stack_low();
        core.run(Limits::default());
        assert_eq!(core.stack_low(), STACK - 10);
        core.reset_stack_low();
        assert_eq!(core.stack_low(), STACK);
    }

    /// The digest distinguishes paths and addresses only: neither values nor where a run was
    /// interrupted.
    #[test]
    fn the_digest_depends_on_addresses_only() {
        // MOV @R5, R6; TST R6; JEQ +1; NOP; MOV R6, 0(R7); JMP .
        let code = [0x4526, 0x9306, 0x2401, 0x4303, 0x4687, 0, 0x3fff];
        let digest = |value: u16, pointer: u16, cut: bool| {
            let mut core = chip(&code);
            core.load(0x1200, &words(&[value, 1, 1])).expect("RAM");
            core.set_register(5, pointer);
            core.set_register(7, 0x1300);
            core.start_address_digest();
            core.set_breakpoint(CODE + 12);
            while cut && run(&mut core, 1) == Exit::Cycles {}
            core.run(Limits::default());
            core.address_digest()
        };
        let reference = digest(1, 0x1200, false);
        assert_eq!(digest(2, 0x1200, false), reference);
        assert_eq!(digest(2, 0x1200, true), reference);
        assert_ne!(digest(0, 0x1200, false), reference, "another path");
        assert_ne!(digest(1, 0x1202, false), reference, "another address");
    }
}
