//! Exceptions, faults, lockup and sleep (ARM DDI 0419E, B1.5).

use joulemark_kernel::{Caller, Cycles, FaultKind};

use crate::common::{
    CODE, DEVICE, HANDLERS, RAM, STACK, core, core_with, fault, put, run_to, step,
};
use joulemark_armv6m::{Exit, Limits};

const NOPS: [u16; 32] = [0xbf00; 32];
const ISER: u32 = 0xe000_e100;
const ICSR: u32 = 0xe000_ed04;

const fn handler(number: u32) -> u32 {
    HANDLERS + 64 * number
}

/// LDR R0, [PC, #4]; LDR R1, [PC, #8]; STR R1, [R0]; B over the two words.
fn store_word(address: u32, value: u32) -> Vec<u16> {
    let halves = |word: u32| [word as u16, (word >> 16) as u16];
    let code: [u16; 4] = [0x4801, 0x4902, 0x6001, 0xe003];
    [&code[..], &halves(address), &halves(value)].concat()
}

/// Enable line 3 and then do this; the cycles of the first part.
fn enabled(code: &[u16]) -> Vec<u16> {
    [&store_word(ISER, 8)[..], code].concat()
}
const BODY: u32 = CODE + 16;

#[test]
fn an_interrupt_is_entered_after_15_cycles_and_stacks_a_frame() {
    // store_word jumps to its end, 16 bytes on.
    let mut core = core(&enabled(&NOPS));
    core.set_register(12, 0x1212);
    run_to(&mut core, BODY);
    for (number, value) in [(0, 10), (1, 11), (2, 12), (3, 13), (14, 0xaaaa)] {
        core.set_register(number, value);
    }
    let now = core.cycles().0;
    core.bus.rises = vec![(now + 5, 3)];
    let taken = run_to(&mut core, handler(19));
    assert_eq!(taken, 5 + 15);
    assert_eq!(core.register(14), 0xffff_fff9);
    assert_eq!(core.xpsr() & 63, 19);
    let frame = core.register(13);
    assert_eq!(frame, STACK - 32);
    let bytes = core.read_memory(frame, 32).expect("RAM");
    let words: Vec<u32> = bytes
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
        .collect();
    let interrupted = BODY + 2 * 5;
    assert_eq!(words[..7], [10, 11, 12, 13, 0x1212, 0xaaaa, interrupted]);
    assert_eq!(words[7] & 0xf100_003f, core.xpsr() & 0xf100_0000);
    // The line falls, and the handler returns: as POP of eight words with PC.
    core.bus.lines = 0;
    assert_eq!(run_to(&mut core, interrupted), 3 + 8);
    assert_eq!((core.register(13), core.xpsr() & 63), (STACK, 0));
}

#[test]
fn a_stack_pointer_that_is_no_multiple_of_8_comes_back() {
    let mut core = core(&enabled(&NOPS));
    run_to(&mut core, BODY);
    core.set_register(13, STACK - 4);
    core.bus.rises = vec![(core.cycles().0, 3)];
    run_to(&mut core, handler(19));
    assert_eq!(core.register(13), STACK - 40);
    core.bus.lines = 0;
    run_to(&mut core, BODY);
    assert_eq!(core.register(13), STACK - 4);
}

/// LDM of eight is given up, and starts again; a load is not.
#[test]
fn a_multiple_access_makes_way() {
    for (code, is_given_up) in [(0xc8ff_u16, true), (0x6800, false)] {
        let mut core = core(&enabled(&[code, 0xbf00]));
        run_to(&mut core, BODY);
        core.set_register(0, RAM + 0x800);
        let now = core.cycles().0;
        core.bus.rises = vec![(now + 1, 3)];
        assert_eq!(run_to(&mut core, handler(19)), 1 + 15);
        core.bus.lines = 0;
        let returned = if is_given_up { BODY } else { BODY + 2 };
        run_to(&mut core, returned);
        if is_given_up {
            assert_eq!(core.register(0), RAM + 0x800);
            assert_eq!(run_to(&mut core, BODY + 2), 1 + 8);
        }
    }
}

#[test]
fn handlers_chain_and_the_more_urgent_comes_first() {
    let program = [store_word(ISER, 0b11), store_word(0xe000_e400, 0x4080)].concat();
    let mut core = core(&[&program[..], &NOPS].concat());
    run_to(&mut core, CODE + 32);
    let now = core.cycles().0;
    // Line 1 (priority 0x40) comes while line 0 (0x80) is being entered: it is entered instead.
    core.bus.rises = vec![(now, 0), (now + 6, 1)];
    assert_eq!(run_to(&mut core, handler(17)), 15);
    // At its end, the other one follows without a return.
    core.bus.lines = 1;
    assert_eq!(run_to(&mut core, handler(16)), 2 + 6);
    assert_eq!(core.register(14), 0xffff_fff9);
    core.bus.lines = 0;
    run_to(&mut core, CODE + 32);
    assert_eq!(core.register(13), STACK);
    // What comes while a handler of line 0 runs, and is more urgent, nests.
    put(&mut core, handler(16), &NOPS);
    put(&mut core, handler(16) + 64, &[0x4770]);
    let now = core.cycles().0;
    core.bus.rises = vec![(now, 0), (now + 20, 1)];
    run_to(&mut core, handler(17));
    assert_eq!(
        (core.register(14), core.register(13)),
        (0xffff_fff1, STACK - 64)
    );
}

#[test]
fn primask_holds_interrupts_and_ends_no_sleep() {
    // CPSID i; WFI; NOP; CPSIE i; NOP.
    let mut core = core(&enabled(&[0xb672, 0xbf30, 0xbf00, 0xb662, 0xbf00]));
    run_to(&mut core, BODY);
    core.bus.rises = vec![(core.cycles().0 + 1000, 3)];
    run_to(&mut core, BODY + 4);
    assert_eq!(core.sleep_cycles(), Cycles(1000 - 3));
    run_to(&mut core, handler(19));
    let bytes = core.read_memory(core.register(13) + 24, 4).expect("RAM");
    assert_eq!(bytes, (BODY + 8).to_le_bytes());
}

#[test]
fn a_sleep_without_an_end_is_told() {
    let mut core = core(&[0xbf30]);
    let exit = core.run(Limits::default());
    assert_eq!(exit, Exit::Asleep);
    assert_eq!(core.asleep_until(), Some(Cycles::NEVER));
}

#[test]
fn an_event_ends_wfe() {
    // SEV; WFE goes on at once; WFE sleeps.
    let mut core = core(&[0xbf40, 0xbf20, 0xbf20, 0xbf00]);
    assert_eq!(run_to(&mut core, CODE + 4), 1 + 2);
    assert_eq!(core.run(Limits::default()), Exit::Asleep);
}

#[test]
fn svc_pendsv_and_systick_are_taken() {
    let mut core = core(&[0xdf05, 0xbf00]);
    run_to(&mut core, handler(11));
    run_to(&mut core, CODE + 2);

    let mut core = core_with(&store_word(ICSR, 1 << 28), |_| {});
    run_to(&mut core, handler(14));

    // SYST_RVR 99; SYST_CVR 0; SYST_CSR 7: every 100 cycles.
    let program = [
        store_word(0xe000_e014, 99),
        store_word(0xe000_e018, 0),
        store_word(0xe000_e010, 7),
        vec![0xe7fe],
    ];
    let mut core = core_with(&program.concat(), |_| {});
    run_to(&mut core, handler(15));
    let first = core.cycles().0;
    run_to(&mut core, CODE + 48);
    run_to(&mut core, handler(15));
    let passed = core.cycles().0 - first;
    assert_eq!(passed, 100);
}

#[test]
fn faults_are_hard_faults() {
    // Address in R1: STR R0, [R1, #4]; LDRH; LDM; BX; an undefined instruction; a 32-bit one; BKPT.
    let cases: [(&[u16], u32, FaultKind); 9] = [
        (&[0x6048], RAM + 2, FaultKind::Misaligned),
        (&[0x8808], RAM + 1, FaultKind::Misaligned),
        (&[0xc903], RAM + 1, FaultKind::Misaligned),
        (&[0x6048], 0, FaultKind::Unmapped), // ROM
        (&[0x6808], 0x3000_0000, FaultKind::Unmapped),
        (&[0x4708], CODE, FaultKind::InvalidOpcode), // ARM state
        (&[0xde00], 0, FaultKind::InvalidOpcode),
        (&[0xf8d1, 0x0000], RAM, FaultKind::InvalidOpcode),
        (&[0xbe00], 0, FaultKind::InvalidOpcode),
    ];
    for (code, address, kind) in cases {
        let mut stopping = core_with(code, |config| config.stop_on_fault = true);
        stopping.set_register(1, address);
        let found = fault(&mut stopping);
        assert_eq!(found.kind, kind, "{code:04x?}: {found}");
        assert!(found.message.starts_with("hard fault: "), "{found}");

        let mut handling = core(code);
        handling.set_register(1, address);
        run_to(&mut handling, handler(3));
        assert_eq!(handling.xpsr() & 63, 3);
        let told = handling.handled_fault().expect("its handler runs");
        assert!(told.message.starts_with("in the handler"), "{told}");
    }
}

#[test]
fn a_fault_in_a_fault_locks_up() {
    let mut core = core(&[0xde00]);
    put(&mut core, handler(3), &[0xde00]);
    let found = fault(&mut core);
    assert_eq!(found.kind, FaultKind::Lockup, "{found}");
    assert_eq!(found.call_stack, [Caller::Interrupted(CODE)]);
    // SVC where its exception may not be taken is a fault, too.
    let mut core = core_with(&[0xb672, 0xdf00], |config| config.stop_on_fault = true);
    let found = fault(&mut core);
    assert!(found.message.contains("SVC"), "{found}");
}

#[test]
fn a_wrong_return_is_a_fault() {
    let mut core = core_with(&[0xdf00], |config| config.stop_on_fault = true);
    put(&mut core, handler(11), &[0x2000, 0x3801, 0x4700]); // R0 = -1; BX R0
    let found = fault(&mut core);
    assert!(
        found.message.contains("return from an exception"),
        "{found}"
    );
}

#[test]
fn a_stack_past_its_limit_ends_the_run() {
    let mut core = core(&[0xb410, 0xe7fd]); // PUSH {R4}, for ever
    core.set_stack_limit(STACK - 64);
    let found = fault(&mut core);
    assert_eq!(found.kind, FaultKind::StackOverflow, "{found}");
    assert_eq!(core.stack_low(), STACK - 64);
}

#[test]
fn a_process_has_its_own_stack() {
    // R0 = RAM + 0x700: MSR PSP, R0; R1 = 2: MSR CONTROL, R1; ISB; SVC.
    let code = [
        0xf380, 0x8809, 0xf381, 0x8814, 0xf3bf, 0x8f6f, 0xdf00, 0xbf00,
    ];
    let mut core = core(&code);
    core.set_register(0, RAM + 0x700);
    core.set_register(1, 2);
    run_to(&mut core, handler(11));
    assert_eq!((core.register(13), core.register(14)), (STACK, 0xffff_fffd));
    run_to(&mut core, CODE + 14);
    assert_eq!(core.register(13), RAM + 0x700);
}

#[test]
fn what_is_left_out_says_so() {
    let mut core = core(&store_word(0xe000_ed94, 1));
    let found = fault(&mut core);
    assert_eq!(found.kind, FaultKind::Absent);
    assert!(found.message.contains("memory protection unit"), "{found}");
    // The core's registers are read in words.
    let mut core = core_with(&[0x7808], |_| {}); // LDRB R0, [R1]
    core.set_register(1, ISER);
    assert_eq!(fault(&mut core).kind, FaultKind::Peripheral);
    // A reset is asked of the chip.
    let mut core = core_with(&store_word(0xe000_ed0c, 0x05fa_0004), |_| {});
    assert_eq!(fault(&mut core).kind, FaultKind::Reset);
    assert_eq!(core.bus.resets, 1);
}

#[test]
fn code_that_changes_is_decoded_again() {
    // STRH R1, [R0]; B to what was stored.
    let mut core = core(&[0x8001, 0xe000, 0xbf00, 0x2007, 0xbf00]);
    core.set_register(0, CODE + 6);
    core.set_register(1, 0x2009); // MOVS R0, #9
    put(&mut core, CODE + 10, &[0xe7f9]);
    run_to(&mut core, CODE + 8);
    assert_eq!(core.register(0), 9);
}

#[test]
fn a_device_is_read_when_the_instruction_runs() {
    let mut core = core(&[0x6808, 0x6809]);
    core.set_register(1, DEVICE);
    let _ = step(&mut core);
    assert_eq!(core.register(0), 1);
}
