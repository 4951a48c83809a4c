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
    machine_at(0x2000_0000, source)
}

/// A machine with a program whose vectors are at an address.
fn machine_at(vectors: u32, source: &str) -> Machine {
    let text = format!(
        ".syntax unified\n.thumb\n.section .vectors,\"a\"\n.word 0x20040000, start\n.space 56\n\
         .rept 32\n.word handler\n.endr\n.text\n.globl start\n.type start,%function\n\
         .type handler,%function\nhandler: bx lr\n{source}\nstay: wfi\n b stay\n.ltorg\n"
    );
    let script = format!(
        "ENTRY(start)\nSECTIONS {{ . = {vectors:#x}; .vectors : {{ KEEP(*(.vectors)) }}\n\
         .text : {{ *(.text*) }}\n\
         .data 0x20001000 : AT(ADDR(.text) + SIZEOF(.text)) {{ data = .; *(.data*) data_end = .; }}\n\
         data_from = LOADADDR(.data); }}\n"
    );
    let elf = common::link("thumbv6m-none-eabi", &text, &script);
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
    // The view that clears bits clears the interrupt; another's stays.
    let mut machine = machine(&format!(
        "{BEGIN}
         ldr r2, =0x40054000
         ldr r1, [r2, #0x28]
         adds r1, #3
         str r1, [r2, #0x10]
         str r1, [r2, #0x14]
    1:   ldr r4, [r2, #0x34]
         cmp r4, #3
         bne 1b
         ldr r3, =0x40057000
         movs r1, #1
         str r1, [r3, #0x34]
         ldr r4, [r2, #0x34]"
    ));
    run(&mut machine, Until::default());
    assert_eq!(register(&machine, "r4"), 2);
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
    let flash = fault("start: ldr r0, =0x10200000\n ldr r0, [r0]");
    assert!(flash.contains("flash"), "{flash}");
    let deep = fault("start: ldr r0, =0xe000ed10\n movs r1, #4\n str r1, [r0]");
    assert!(deep.contains("deep sleep"), "{deep}");
}

fn register(machine: &Machine, name: &str) -> u32 {
    let registers = machine.registers();
    let found = registers.iter().find(|(known, _)| known == name);
    found.map_or(0, |(_, value)| *value)
}

/// Looks up a function of the boot ROM as the SDK does, and leaves its address in R4.
fn look_up(code: &str) -> String {
    let [first, second] = [0, 1].map(|at| u32::from(code.as_bytes()[at]));
    format!(
        "movs r0, #0x14\n ldrh r0, [r0]\n ldr r1, ={:#x}\n movs r2, #0x18\n ldrh r2, [r2]\n \
         blx r2\n mov r4, r0\n",
        first | second << 8
    )
}

#[test]
fn functions_of_the_boot_rom_count_copy_and_fill() {
    let count = |code: &str, value: u32| {
        let mut machine = machine(&format!(
            "start: {}\n ldr r0, ={value:#x}\n blx r4",
            look_up(code)
        ));
        run(&mut machine, Until::default());
        register(&machine, "r0")
    };
    for value in [0, 1, 0x8000_0000, 0x00ff_0100, u32::MAX] {
        assert_eq!(count("P3", value), value.count_ones());
        assert_eq!(count("L3", value), value.leading_zeros());
        assert_eq!(count("T3", value), value.trailing_zeros());
        assert_eq!(count("R3", value), value.reverse_bits());
    }
    let mut machine = machine(&format!(
        "start: {}\n ldr r0, =0x20010000\n movs r1, #0x5a\n movs r2, #7\n blx r4
         {}\n ldr r0, =0x20010011\n ldr r1, =0x20010001\n movs r2, #5\n blx r4
         {}\n ldr r0, =0x20010020\n ldr r1, =0x01020304\n movs r2, #8\n blx r4
         {}\n ldr r0, =0x20010030\n ldr r1, =0x20010020\n movs r2, #4\n blx r4",
        look_up("MS"),
        look_up("MC"),
        look_up("S4"),
        look_up("C4")
    ));
    run(&mut machine, Until::default());
    let read = |at: u32, bytes| machine.read_memory(at, bytes).unwrap_or_default();
    assert_eq!(
        read(0x2001_0000, 8),
        [0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0]
    );
    assert_eq!(read(0x2001_0010, 7), [0, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0]);
    assert_eq!(read(0x2001_0020, 12), [4, 3, 2, 1, 4, 3, 2, 1, 0, 0, 0, 0]);
    assert_eq!(read(0x2001_0030, 8), [4, 3, 2, 1, 0, 0, 0, 0]);
    // There is none of this code, and floating point is left out.
    let mut machine = machine_at(0x2000_0000, &format!("start: {}", look_up("XX")));
    run(&mut machine, Until::default());
    assert_eq!(register(&machine, "r4"), 0);
    let said =
        fault("start: movs r0, #0x16\n ldrh r0, [r0]\n ldrh r0, [r0, #2]\n ldr r0, [r0]\n blx r0");
    assert!(said.contains("boot ROM but for functions"), "{said}");
}

/// From flash, a line of eight bytes takes 60 cycles more once, and none when it is in the cache; from
/// SRAM, nothing does.
#[test]
fn a_program_in_flash_waits_for_its_lines_once() {
    let source = "movs r0, #0\n movs r1, #2\n ldr r7, =0xe000e010\n movs r3, #5\n str r3, [r7]
        .p2align 3
        1: ldr r4, [r7, #8]\n nop\n nop\n nop
        nop\n nop\n ldr r5, [r7, #8]\n subs r4, r5
        adds r0, r4\n lsls r0, #12\n subs r1, #1\n bne 1b";
    let counts = |at| {
        let source =
            format!("start: ldr r7, =0xe000e014\n ldr r3, =0xffffff\n str r3, [r7]\n{source}");
        let mut machine = machine_at(at, &source);
        run(&mut machine, Until::default());
        let found = register(&machine, "r0");
        (found >> 24, found >> 12 & 0xfff)
    };
    assert_eq!(counts(0x2000_0000), (7, 7));
    assert_eq!(counts(0x1000_0100), (67, 7));
}

/// The steps of the Pico SDK's start-up: vectors in flash behind what sets it up, data copied from
/// there, a function of the boot ROM, blocks reset and waited for, crystal, both PLLs, clocks that say
/// what is selected, spin locks, and a UART with its requests to DMA on.
const START_UP: &str = "
    start:
        ldr r0, =0xe000ed08
        ldr r1, =0x10000100
        str r1, [r0]                /* VTOR */
        ldr r1, =data_from
        ldr r2, =data
        ldr r3, =data_end
    1:  ldm r1!, {r0}
        stm r2!, {r0}
        cmp r2, r3
        blo 1b
        movs r0, #0x14
        ldrh r0, [r0]
        ldr r1, =0x534d             /* 'MS' */
        movs r2, #0x18
        ldrh r2, [r2]
        blx r2
        mov r3, r0
        ldr r0, =stars
        movs r1, #'*'
        movs r2, #3
        blx r3
        ldr r4, =0x4000c000
        ldr r5, =0x4000e000
        ldr r6, =0x4000f000
        ldr r0, =0x00fbcdbf
        str r0, [r5]                /* RESETS, set */
        ldr r0, =0x003c7ffe
        bl unreset
        ldr r0, =0x40008078
        movs r1, #0
        str r1, [r0]                /* CLK_SYS_RESUS_CTRL */
        ldr r0, =0x40024000
        ldr r1, =0xaa0
        str r1, [r0]                /* XOSC_CTRL */
        movs r1, #47
        str r1, [r0, #0xc]
        ldr r2, =0x40026000
        ldr r1, =0xfab000
        str r1, [r2]
    1:  ldr r1, [r0, #4]
        cmp r1, #0
        bge 1b                      /* STABLE */
        ldr r7, =0x40008000
        ldr r2, =0x4000b000
        movs r1, #1
        str r1, [r2, #0x3c]         /* CLK_SYS_CTRL, clear */
    1:  ldr r0, [r7, #0x44]
        cmp r0, #1
        bne 1b
        movs r1, #3
        str r1, [r2, #0x30]         /* CLK_REF_CTRL, clear */
    1:  ldr r0, [r7, #0x38]
        cmp r0, #1
        bne 1b
        movs r0, #1
        lsls r0, #12
        bl unreset
        ldr r0, =0x40028000
        movs r1, #125
        ldr r2, =0x62000
        bl pll
        movs r0, #1
        lsls r0, #13
        bl unreset
        ldr r0, =0x4002c000
        movs r1, #100
        ldr r2, =0x55000
        bl pll
        movs r1, #2
        str r1, [r7, #0x30]         /* CLK_REF_CTRL */
    1:  ldr r0, [r7, #0x38]
        cmp r0, #4
        bne 1b
        movs r1, #1
        lsls r1, #8
        str r1, [r7, #0x40]         /* CLK_SYS_DIV */
        movs r1, #1
        str r1, [r7, #0x3c]         /* CLK_SYS_CTRL */
    1:  ldr r0, [r7, #0x44]
        cmp r0, #2
        bne 1b
        movs r1, #1
        lsls r1, #11
        str r1, [r7, #0x54]         /* CLK_USB_CTRL */
        str r1, [r7, #0x48]         /* CLK_PERI_CTRL */
        ldr r0, =0x4005802c
        ldr r1, =0x20c
        str r1, [r0]                /* WATCHDOG_TICK */
        movs r0, #1
        lsls r0, #22
        bl unreset
        ldr r0, =0xd0000100
        movs r2, #32
    1:  str r2, [r0]                /* SIO_SPINLOCKn */
        adds r0, #4
        subs r2, #1
        bne 1b
        ldr r0, =0x40034000
        movs r1, #67
        str r1, [r0, #0x24]
        movs r1, #52
        str r1, [r0, #0x28]
        movs r1, #0x70
        str r1, [r0, #0x2c]
        ldr r1, =0x301
        str r1, [r0, #0x30]
        movs r1, #3
        str r1, [r0, #0x48]         /* UARTDMACR */
        ldr r2, =data
        movs r4, #0x20
    2:  ldrb r3, [r2]
        cmp r3, #0
        beq stay
    3:  ldr r1, [r0, #0x18]
        tst r1, r4
        bne 3b
        str r3, [r0]
        adds r2, #1
        b 2b
    unreset:
        str r0, [r6]                /* RESETS, clear */
    1:  ldr r1, [r4, #8]
        bics r0, r1
        bne unreset
        bx lr
    pll:                            /* at R0, times R1, divided by R2 */
        str r1, [r0, #8]
        movs r1, #1
        str r1, [r0]
        ldr r3, =0x3004
        adds r3, r0
        movs r1, #0x21
        str r1, [r3]                /* PWR, clear PD and VCOPD */
    1:  ldr r1, [r0]
        cmp r1, #0
        bge 1b                      /* LOCK */
        str r2, [r0, #12]
        movs r1, #8
        str r1, [r3]                /* PWR, clear POSTDIVPD */
        bx lr
        .ltorg
        .section .data
        .ascii \"copied \"
    stars:
        .asciz \"...\\n\"
        .p2align 2
        .text
";

#[test]
fn a_program_that_starts_as_the_pico_sdk_does_runs_from_flash() {
    let mut machine = machine_at(0x1000_0100, START_UP);
    let sent = Until {
        serial: Some(b'\n'),
        ..Until::default()
    };
    assert_eq!(run(&mut machine, sent).reason, Reason::Serial);
    let sent = machine.serial_read("UART0").expect("it has UART0");
    let text: Vec<u8> = sent.iter().map(|&(byte, _)| byte).collect();
    assert_eq!(text, b"copied ***\n");
    // A character takes ten bits at 115,200 baud.
    let character = sent[1].1.0 - sent[0].1.0;
    assert!((86_700_000..86_900_000).contains(&character), "{character}");
}
