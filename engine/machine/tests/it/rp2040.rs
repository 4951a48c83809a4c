//! The RP2040's clocks, pins, UART, timer, watchdog and divider, as programs see them.

use std::sync::Arc;

use joulemark_devices::Wiring;
use joulemark_kernel::Picoseconds;
use joulemark_machine::{Machine, Options, Reason, Stop, Until, parse_image};

use crate::common::{self, chip_of};

/// Takes pins, PLL, timer and `UART0` out of reset, and runs the core at 133 MHz.
const BEGIN: &str = "
    start:
        ldr r0, =0x4000f000
        ldr r1, =0x00601120
        str r1, [r0]                /* RESETS, clear */
        ldr r0, =0x40024000
        ldr r1, =0xfabaa0
        str r1, [r0]                /* XOSC_CTRL */
        ldr r2, =0x40008000
        movs r1, #2
        str r1, [r2, #0x30]         /* CLK_REF_CTRL */
        ldr r0, =0x40028000
        movs r1, #133
        str r1, [r0, #8]            /* PLL_SYS_FBDIV_INT */
        movs r1, #0
        str r1, [r0, #4]            /* PLL_SYS_PWR */
        ldr r1, =0x62000
        str r1, [r0, #12]           /* PLL_SYS_PRIM */
        movs r1, #1
        str r1, [r2, #0x3c]         /* CLK_SYS_CTRL */
        ldr r1, =0x800
        str r1, [r2, #0x48]         /* CLK_PERI_CTRL */
        ldr r0, =0x4005802c
        ldr r1, =(1 << 9 | 12)
        str r1, [r0]                /* WATCHDOG_TICK */
";
/// Makes GPIO15 SIO's output: R4 is SIO, R5 the pin.
const MARKER: &str = "
        ldr r4, =0xd0000000
        ldr r5, =0x8000
        str r5, [r4, #0x24]
        ldr r0, =0x4001407c
        movs r1, #5
        str r1, [r0]
";

fn machine(source: &str) -> Machine {
    let text = format!(
        ".syntax unified\n.thumb\n.section .vectors,\"a\"\n.word 0x20040000, start\n.space 56\n\
         .rept 32\n.word handler\n.endr\n.text\n.globl start\n.type start,%function\n\
         .type handler,%function\nhandler: bx lr\n{source}\nstay: wfi\n b stay\n.ltorg\n"
    );
    let script = "ENTRY(start)\nSECTIONS { . = 0x20000000; .vectors : { KEEP(*(.vectors)) }\n\
                  .text : { *(.text*) } }\n";
    let elf = common::link("thumbv6m-none-eabi", &text, script);
    let image = Arc::new(parse_image(&elf, None).unwrap_or_else(|error| panic!("{error}")));
    let options = Options {
        marker: Some("GPIO15".into()),
        trace: true,
        ..Options::default()
    };
    let wiring = Wiring::default();
    Machine::new(&chip_of("rp2040"), &wiring, &image, &options)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn run(machine: &mut Machine, until: Until) -> Stop {
    let until = Until {
        max_cycles: Some(2_000_000),
        ..until
    };
    machine.run(until).unwrap_or_else(|error| panic!("{error}"))
}

fn fault(source: &str) -> String {
    let stop = run(&mut machine(source), Until::default());
    assert_eq!(stop.reason, Reason::Fault);
    stop.fault.map(|fault| fault.message).unwrap_or_default()
}

/// Cycles between the marker's edges, at 133 MHz.
fn marked(source: &str) -> u64 {
    let mut machine = machine(&format!("{BEGIN}{MARKER}{source}"));
    let edge = Until {
        marker: true,
        ..Until::default()
    };
    for _ in 0..2 {
        assert_eq!(run(&mut machine, edge).reason, Reason::Marker);
    }
    let edges: Vec<u64> = machine
        .marker_edges()
        .iter()
        .map(|edge| edge.time.0)
        .collect();
    ((edges[1] - edges[0]) * 133 + 500_000) / 1_000_000
}

/// `STR R5, [R4, #0x14]` and `#0x18`: high and low, through the I/O port.
fn window(between: &str) -> u64 {
    marked(&format!(
        "str r5, [r4, #0x14]\n{between}\nstr r5, [r4, #0x18]"
    ))
}

#[test]
fn the_clock_is_what_the_pll_makes_of_the_crystal() {
    let mut machine = machine(BEGIN);
    run(&mut machine, Until::default());
    assert_eq!(machine.clock_hz(), 133_000_000);
}

#[test]
fn ports_memory_and_peripherals_take_their_cycles() {
    assert_eq!(window(""), 1);
    assert_eq!(window("nop"), 2);
    assert_eq!(window("ldr r0, =0x20010000\n ldr r0, [r0]"), 1 + 2 + 2);
    let apb = |access: &str| window(&format!("ldr r0, =0x40008030\n {access}"));
    // The bridge has two wait states for a load, and three for a store.
    assert_eq!(apb("ldr r1, [r0]"), 1 + 2 + 4);
    assert_eq!(apb("str r1, [r0, #0x18]"), 1 + 2 + 5);
}

#[test]
fn the_divider_takes_eight_cycles() {
    let divide = |waits: &str| {
        format!(
            "{BEGIN}{MARKER}\n ldr r0, =1000\n str r0, [r4, #0x60]\n movs r0, #7\n\
             str r0, [r4, #0x64]\n {waits}\n ldr r1, [r4, #0x74]\n ldr r2, [r4, #0x70]\n"
        )
    };
    let mut ready = machine(&divide(".rept 7\nnop\n.endr"));
    run(&mut ready, Until::default());
    let registers = ready.registers();
    let value = |name: &str| {
        let mut found = registers.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| *value)
    };
    assert_eq!((value("r1"), value("r2")), (Some(1000 % 7), Some(1000 / 7)));
    let early = fault(&divide(".rept 6\nnop\n.endr"));
    assert!(early.contains("before its division has ended"), "{early}");
}

/// An alarm 10 us ahead ends a sleep.
#[test]
fn an_alarm_of_the_timer_ends_a_sleep() {
    let cycles = window(
        "cpsid i
         ldr r2, =0x40054000
         movs r1, #1
         str r1, [r2, #0x38]
         ldr r0, =0xe000e100
         str r1, [r0]
         ldr r1, [r2, #0x28]
         adds r1, #10
         str r1, [r2, #0x10]
         wfi",
    );
    assert!(
        (10 * 133 - 133..10 * 133 + 60).contains(&cycles),
        "{cycles}"
    );
}

#[test]
fn a_byte_takes_ten_bits_on_the_line() {
    // 230400 baud of 133 MHz: 36 and 5 in 64.
    let source = format!(
        "{BEGIN}
        ldr r2, =0x40034000
        movs r1, #36
        str r1, [r2, #0x24]
        movs r1, #5
        str r1, [r2, #0x28]
        movs r1, #0x70
        str r1, [r2, #0x2c]
        ldr r1, =0x301
        str r1, [r2, #0x30]
        movs r1, #'J'
        str r1, [r2]"
    );
    let mut machine = machine(&source);
    let sent = Until {
        serial: Some(b'J'),
        ..Until::default()
    };
    let stop = run(&mut machine, sent);
    assert_eq!(stop.reason, Reason::Serial);
    let sent = machine.serial_read("UART0").expect("it has UART0");
    assert_eq!(sent.len(), 1);
    assert!(machine.time() > Picoseconds(43_000_000));
}

#[test]
fn atomic_views_change_bits_alone_and_narrow_stores_repeat() {
    // WATCHDOG_SCRATCH0: 0x0f; xor 0x3c; set 0x100; clear 1; then a byte.
    let mut machine = machine(
        "start:
        ldr r0, =0x4005800c
        ldr r1, =0x4005900c
        ldr r2, =0x4005a00c
        ldr r3, =0x4005b00c
        movs r4, #0x0f
        str r4, [r0]
        movs r4, #0x3c
        str r4, [r1]
        ldr r4, =0x100
        str r4, [r2]
        movs r4, #1
        str r4, [r3]
        ldr r5, [r0]
        movs r4, #0x5a
        strb r4, [r0, #1]
        ldr r6, [r0]",
    );
    run(&mut machine, Until::default());
    let registers = machine.registers();
    let value = |name: &str| {
        let mut found = registers.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| *value)
    };
    assert_eq!(value("r5"), Some(0x132));
    assert_eq!(value("r6"), Some(0x5a5a_5a5a));
}

#[test]
fn the_watchdog_resets_the_chip() {
    // 100 us: LOAD counts two for each tick.
    let source = format!(
        "{BEGIN}
        ldr r0, =0x40058000
        ldr r1, [r0, #8]
        cmp r1, #0
        bne stay
        movs r1, #200
        str r1, [r0, #4]
        ldr r1, =(1 << 30)
        str r1, [r0]"
    );
    let message = fault(&source);
    assert!(message.contains("watchdog"), "{message}");
}

#[test]
fn what_is_wrong_or_left_out_is_told() {
    let held = fault("start: ldr r0, =0x40034000\n ldr r0, [r0]");
    assert!(held.contains("RESETS holds that in reset"), "{held}");
    let stopped = fault("start: ldr r0, =0x40008000\n movs r1, #1\n str r1, [r0, #0x3c]");
    assert!(stopped.contains("a clock that does not run"), "{stopped}");
    let flash = fault("start: ldr r0, =0x10000000\n ldr r0, [r0]");
    assert!(flash.contains("flash"), "{flash}");
    let deep = fault("start: ldr r0, =0xe000ed10\n movs r1, #4\n str r1, [r0]");
    assert!(deep.contains("deep sleep"), "{deep}");
}
