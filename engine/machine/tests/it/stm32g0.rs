//! The STM32G0's clocks, flash, pins, timers and pin interrupts, as programs see them.

use std::sync::Arc;

use joulemark_devices::Wiring;
use joulemark_machine::{Machine, Options, Reason, Stop, Until, parse_image};

use crate::common::{self, chip_of};

/// 64 MHz from HSI16, with two wait states, prefetch and cache.
const FAST: &str = "
        ldr r0, =0x40022000
        ldr r1, =0x40302
        str r1, [r0]                /* FLASH_ACR */
        ldr r0, =0x40021000
        ldr r1, =0x30001012
        str r1, [r0, #12]           /* RCC_PLLCFGR */
        ldr r1, =0x01000100
        str r1, [r0]                /* RCC_CR */
        movs r1, #2
        str r1, [r0, #8]            /* RCC_CFGR */
";

fn machine(source: &str) -> Machine {
    let text = format!(
        ".syntax unified\n.thumb\n.section .vectors,\"a\"\n.word 0x20009000, start\n.space 56\n\
         .rept 31\n.word handler\n.endr\n.text\n.globl start\n.type start,%function\n\
         .type handler,%function\nhandler: movs r7, #77\n ldr r6, =0x4002180c\n ldr r5, [r6]\n\
         str r5, [r6]\n bx lr\nstart:\n{source}\nstay: wfi\n b stay\n.ltorg\n"
    );
    let script = "ENTRY(start)\nSECTIONS { . = 0x08000000; .vectors : { KEEP(*(.vectors)) }\n\
                  .text : { *(.text*) } }\n";
    let elf = common::link("thumbv6m-none-eabi", &text, script);
    let image = Arc::new(parse_image(&elf, None).unwrap_or_else(|error| panic!("{error}")));
    let options = Options {
        marker: Some("PA8".into()),
        ..Options::default()
    };
    let wiring = Wiring::default();
    Machine::new(&chip_of("stm32g071rb"), &wiring, &image, &options)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn run(machine: &mut Machine) -> Stop {
    let until = Until {
        max_cycles: Some(100_000),
        ..Until::default()
    };
    machine.run(until).unwrap_or_else(|error| panic!("{error}"))
}

fn register(machine: &Machine, name: &str) -> u32 {
    let registers = machine.registers();
    let found = registers.iter().find(|(known, _)| known == name);
    found.map_or(0, |(_, value)| *value)
}

fn fault(source: &str) -> String {
    let stop = run(&mut machine(source));
    assert_eq!(stop.reason, Reason::Fault);
    stop.fault.map(|fault| fault.message).unwrap_or_default()
}

#[test]
fn the_clock_is_hsi16_or_what_the_pll_makes_of_it() {
    let mut slow = machine("");
    run(&mut slow);
    assert_eq!(slow.clock_hz(), 16_000_000);
    let mut fast = machine(FAST);
    run(&mut fast);
    assert_eq!(fast.clock_hz(), 64_000_000);
}

#[test]
fn flash_that_is_read_too_fast_is_an_error() {
    let said = fault(&FAST.replace("0x40302", "0x40301"));
    assert!(said.contains("LATENCY = 1 at 64000000 Hz"), "{said}");
    assert!(fault("ldr r0, =0x40022008\n ldr r1, [r0]").contains("flash controller"));
}

/// TIM2 counts the core's cycles, in 32 bits; a store and a load of the APB take a wait state.
#[test]
fn a_timer_counts_cycles() {
    let count = |between: &str| {
        let mut machine = machine(&format!(
            "ldr r4, =0x40000000\n movs r1, #1\n str r1, [r4]\n {between}\n ldr r0, [r4, #0x24]"
        ));
        run(&mut machine);
        register(&machine, "r0")
    };
    assert_eq!(count(&"nop\n".repeat(20)) - count(""), 20);
    // 1.25 times 2^16 turns of three cycles.
    let turns = "ldr r2, =27306\n1: subs r2, #1\n bne 1b";
    assert_eq!(count(turns) - count(""), 2 + 27306 * 3 - 1);
}

/// A port's registers take a cycle, and a rising edge of its own output interrupts.
#[test]
fn an_edge_interrupts() {
    let mut machine = machine(
        "ldr r0, =0xe000e100\n movs r1, #0x80\n str r1, [r0]     /* EXTI4_15 */
         ldr r0, =0x40021800\n ldr r1, =0x100\n str r1, [r0]      /* EXTI_RTSR1 */
         adds r0, #0x80\n str r1, [r0]                            /* EXTI_IMR1 */
         ldr r0, =0x50000000\n ldr r1, [r0]\n ldr r2, =0x30000\n bics r1, r2\n ldr r2, =0x10000
         orrs r1, r2\n str r1, [r0]                               /* GPIOA_MODER: PA8 is an output */
         ldr r1, =0x100\n str r1, [r0, #0x18]                     /* GPIOA_BSRR */",
    );
    let until = Until {
        marker: true,
        max_cycles: Some(1000),
        ..Until::default()
    };
    let stop = machine.run(until).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(stop.reason, Reason::Marker);
    run(&mut machine);
    assert_eq!(register(&machine, "r7"), 77);
    assert_eq!(register(&machine, "r5"), 0x100);
}
