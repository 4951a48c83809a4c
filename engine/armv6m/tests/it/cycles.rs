//! Cycles as in ARM DDI 0484C, table 3-1.

use joulemark_kernel::Cycles;

use crate::common::{CODE, Chip, DEVICE, PORT, RAM, SLOW, core, core_with, put, run_to, step};
use joulemark_armv6m::{Core, Limits};

/// One instruction a line, in the table's order, and its cycles there, with memory that has no wait
/// states. R0 is 0x40, R1 is 3, R4 and R5 point to RAM, LR and R3 to code, R6 is 4.
#[rustfmt::skip]
const TABLE: [(&[u16], u64, &str); 86] = [
    (&[0x2007], 1, "movs r0, #7"),
    (&[0x0008], 1, "movs r0, r1"),
    (&[0x4688], 1, "mov r8, r1"),
    (&[0x46f7], 2, "mov pc, lr"),
    (&[0x1cc8], 1, "adds r0, r1, #3"),
    (&[0x1888], 1, "adds r0, r1, r2"),
    (&[0x4488], 1, "add r8, r1"),
    (&[0x4487], 2, "add pc, r0"),
    (&[0x30c8], 1, "adds r0, #200"),
    (&[0x4148], 1, "adcs r0, r1"),
    (&[0xb002], 1, "add sp, #8"),
    (&[0xa802], 1, "add r0, sp, #8"),
    (&[0xa003], 1, "adr r0, 1f"),
    (&[0x1a88], 1, "subs r0, r1, r2"),
    (&[0x1e88], 1, "subs r0, r1, #2"),
    (&[0x3809], 1, "subs r0, #9"),
    (&[0x4188], 1, "sbcs r0, r1"),
    (&[0xb082], 1, "sub sp, #8"),
    (&[0x4248], 1, "rsbs r0, r1, #0"),
    (&[0x4348], 1, "muls r0, r1"),
    (&[0x4288], 1, "cmp r0, r1"),
    (&[0x42c8], 1, "cmn r0, r1"),
    (&[0x2803], 1, "cmp r0, #3"),
    (&[0x4008], 1, "ands r0, r1"),
    (&[0x4048], 1, "eors r0, r1"),
    (&[0x4308], 1, "orrs r0, r1"),
    (&[0x4388], 1, "bics r0, r1"),
    (&[0x43c8], 1, "mvns r0, r1"),
    (&[0x4208], 1, "tst r0, r1"),
    (&[0x00c8], 1, "lsls r0, r1, #3"),
    (&[0x4088], 1, "lsls r0, r1"),
    (&[0x08c8], 1, "lsrs r0, r1, #3"),
    (&[0x40c8], 1, "lsrs r0, r1"),
    (&[0x10c8], 1, "asrs r0, r1, #3"),
    (&[0x4108], 1, "asrs r0, r1"),
    (&[0x41c8], 1, "rors r0, r1"),
    (&[0x6860], 2, "ldr r0, [r4, #4]"),
    (&[0x88a0], 2, "ldrh r0, [r4, #4]"),
    (&[0x7920], 2, "ldrb r0, [r4, #4]"),
    (&[0x59a0], 2, "ldr r0, [r4, r6]"),
    (&[0x5ba0], 2, "ldrh r0, [r4, r6]"),
    (&[0x5fa0], 2, "ldrsh r0, [r4, r6]"),
    (&[0x5da0], 2, "ldrb r0, [r4, r6]"),
    (&[0x57a0], 2, "ldrsb r0, [r4, r6]"),
    (&[0x4802], 2, "ldr r0, [pc, #8]"),
    (&[0x9802], 2, "ldr r0, [sp, #8]"),
    (&[0xcc07], 4, "ldm r4!, {r0, r1, r2}"),
    (&[0xcc11], 3, "ldm r4, {r0, r4}"),
    (&[0xcd0f], 5, "ldm r5!, {r0-r3}"),
    (&[0x6060], 2, "str r0, [r4, #4]"),
    (&[0x80a0], 2, "strh r0, [r4, #4]"),
    (&[0x7120], 2, "strb r0, [r4, #4]"),
    (&[0x51a0], 2, "str r0, [r4, r6]"),
    (&[0x53a0], 2, "strh r0, [r4, r6]"),
    (&[0x55a0], 2, "strb r0, [r4, r6]"),
    (&[0x9002], 2, "str r0, [sp, #8]"),
    (&[0xc407], 4, "stm r4!, {r0, r1, r2}"),
    (&[0xb403], 3, "push {r0, r1}"),
    (&[0xb503], 4, "push {r0, r1, lr}"),
    (&[0xbc03], 3, "pop {r0, r1}"),
    (&[0xbd03], 6, "pop {r0, r1, pc}"),
    (&[0xbd00], 4, "pop {pc}"),
    (&[0xd002], 1, "beq, not taken"),
    (&[0xd102], 2, "bne, taken"),
    (&[0xe002], 2, "b"),
    (&[0xf000, 0xf802], 3, "bl"),
    (&[0x4770], 2, "bx lr"),
    (&[0x4798], 2, "blx r3"),
    (&[0xb208], 1, "sxth r0, r1"),
    (&[0xb248], 1, "sxtb r0, r1"),
    (&[0xb288], 1, "uxth r0, r1"),
    (&[0xb2c8], 1, "uxtb r0, r1"),
    (&[0xba08], 1, "rev r0, r1"),
    (&[0xba48], 1, "rev16 r0, r1"),
    (&[0xbac8], 1, "revsh r0, r1"),
    (&[0xb672], 1, "cpsid i"),
    (&[0xb662], 1, "cpsie i"),
    (&[0xf3ef, 0x8010], 3, "mrs r0, primask"),
    (&[0xf386, 0x8810], 3, "msr primask, r6"),
    (&[0xbf40], 1, "sev"),
    (&[0xbf10], 1, "yield"),
    (&[0xbf00], 1, "nop"),
    (&[0x46c0], 1, "mov r8, r8"),
    (&[0xf3bf, 0x8f6f], 3, "isb"),
    (&[0xf3bf, 0x8f5f], 3, "dmb"),
    (&[0xf3bf, 0x8f4f], 3, "dsb"),
];

fn with_registers(code: &[u16]) -> Core<Chip> {
    let mut core = core(code);
    let values = [
        (0, 0x40),
        (1, 3),
        (3, CODE | 1),
        (4, RAM + 0x400),
        (5, RAM + 0x440),
        (6, 4),
    ];
    for (number, value) in values {
        core.set_register(number, value);
    }
    core.set_register(13, RAM + 0x800);
    core.set_register(14, (CODE + 0x40) | 1);
    // What POP with PC finds.
    for at in (RAM + 0x800..RAM + 0x820).step_by(4) {
        core.load_image(at, &(CODE | 1).to_le_bytes()).expect("RAM");
    }
    core
}

#[test]
fn each_instruction_takes_what_the_manual_says() {
    for (code, cycles, name) in TABLE {
        let mut core = with_registers(code);
        let _ = step(&mut core);
        assert_eq!(core.cycles(), Cycles(cycles), "{name}");
        assert_eq!(core.instructions(), 1, "{name}");
    }
}

#[test]
fn a_slow_multiplier_takes_32_cycles() {
    let mut core = core_with(&[0x4348], |config| config.multiply_cycles = 32);
    let _ = step(&mut core);
    assert_eq!(core.cycles(), Cycles(32));
}

/// LDR R0, [R1]; STR R0, [R1]: in memory's two cycles, with wait states, and through the port.
#[test]
fn registers_answer_in_the_cycle_of_their_data() {
    for (address, load, store) in [(DEVICE, 2, 2), (SLOW, 4, 5), (PORT, 1, 1), (RAM, 2, 2)] {
        let mut core = core(&[0x6808, 0x6008]);
        core.set_register(1, address);
        let _ = step(&mut core);
        assert_eq!(core.cycles(), Cycles(load), "{address:#x}");
        let _ = step(&mut core);
        assert_eq!(core.cycles(), Cycles(load + store), "{address:#x}");
        if address != RAM {
            // Data is on the bus in the last cycle.
            let seen: Vec<u64> = core.bus.accesses.iter().map(|access| access.1).collect();
            assert_eq!(seen, [load - 1, load + store - 1], "{address:#x}");
        }
    }
}

/// Sums 10 words: by the manual 1 + 1 + 10 (2 + 1 + 1 + 2) - 1 cycles.
#[test]
fn a_loop_takes_what_was_counted_by_hand() {
    let sum = [
        0x2000, // movs r0, #0
        0x220a, // movs r2, #10
        0xc908, // 1: ldm r1!, {r3}
        0x18c0, // adds r0, r0, r3
        0x3a01, // subs r2, #1
        0xd1fb, // bne 1b
        0xbf00, // nop
    ];
    let mut core = core(&sum);
    core.set_register(1, RAM + 0x400);
    for word in 0..10_u32 {
        let at = RAM + 0x400 + 4 * word;
        core.load_image(at, &(word * word).to_le_bytes())
            .expect("RAM");
    }
    assert_eq!(run_to(&mut core, CODE + 12), 2 + 10 * (2 + 1 + 1 + 2) - 1);
    assert_eq!(core.register(0), 285);
    assert_eq!(core.instructions(), 2 + 40);
}

/// A call and a return with a pushed register, by the manual: BL 3, PUSH of two 3, MULS 1, POP of two
/// with PC 5.
#[test]
fn a_call_takes_what_was_counted_by_hand() {
    let mut core = core(&[0xf000, 0xf806, 0xbf00]); // bl 1f; nop
    put(&mut core, CODE + 16, &[0xb510, 0x4340, 0xbd10]); // 1: push {r4, lr}; muls r0, r0; pop {r4, pc}
    core.set_register(0, 7);
    assert_eq!(run_to(&mut core, CODE + 4), 3 + 3 + 1 + 5);
    assert_eq!(core.register(0), 49);
}

/// However a program is run, it takes the same time.
#[test]
fn steps_limits_and_observation_change_nothing() {
    let code = [
        0x2000, 0x2264, 0x1880, 0xb407, 0xbc07, 0x3a01, 0xd1fa, 0xe7fe,
    ];
    let mut whole = core(&code);
    let cycles = run_to(&mut whole, CODE + 14);
    let mut watched = core(&code);
    watched.start_address_digest();
    watched.watch();
    assert_eq!(run_to(&mut watched, CODE + 14), cycles);
    let mut stepped = core(&code);
    while stepped.register(15) != CODE + 14 {
        let _ = step(&mut stepped);
    }
    assert_eq!(stepped.cycles(), Cycles(cycles));
    let mut limited = core(&code);
    for until in 1..=cycles {
        let _ = limited.run(Limits {
            until: Some(Cycles(until)),
            step_first: false,
        });
    }
    assert_eq!(limited.register(15), CODE + 14);
    assert_eq!(limited.cycles(), Cycles(cycles));
    let instructions = [&whole, &watched, &stepped, &limited].map(Core::instructions);
    assert_eq!(instructions, [whole.instructions(); 4]);
}
