//! The RP2350's clocks, pins, UART and timers, as programs on its RISC-V core see them.

use crate::common;

use std::sync::Arc;

use crate::common::chip_of;
use joulemark_devices::Wiring;
use joulemark_kernel::{Hertz, Picoseconds};
use joulemark_machine::{Machine, Options, Reason, Stop, Until, parse_image};

/// Takes pins, PLL, `UART0` and `TIMER0` out of reset, and runs the core at 150 MHz.
const BEGIN: &str = "
    start:
        li sp, 0x20040000
        li s0, 0x40020000
        li t0, 0x04804240
        li s1, 0x40023000
        sw t0, 0(s1)                /* RESETS, clear */
        li s0, 0x40048000
        li t0, 0xfabaa0
        sw t0, 0(s0)                /* XOSC_CTRL */
        li s0, 0x40010000
        li t0, 2
        sw t0, 0x30(s0)             /* CLK_REF_CTRL */
        li s1, 0x40050000
        li t0, 125
        sw t0, 8(s1)                /* PLL_SYS_FBDIV_INT */
        sw zero, 4(s1)              /* PLL_SYS_PWR */
        li t0, 0x52000
        sw t0, 12(s1)               /* PLL_SYS_PRIM */
        li t0, 1
        sw t0, 0x3c(s0)             /* CLK_SYS_CTRL */
        li t0, 0x800
        sw t0, 0x48(s0)             /* CLK_PERI_CTRL */
";
/// Makes GPIO15 SIO's output.
const MARKER: &str = "
        li s2, 0xd0000000
        li s3, 0x8000
        sw s3, 0x38(s2)
        li t0, 0x40038040
        li t1, 0x10
        sw t1, 0(t0)
        li t0, 0x4002807c
        li t1, 5
        sw t1, 0(t0)
";

fn machine(source: &str) -> Machine {
    machine_with(source, &[])
}

fn machine_with(source: &str, settings: &[(&str, u32)]) -> Machine {
    let script = "ENTRY(start)\nSECTIONS { .text 0x20040000 : { *(.text*) } }\n";
    machine_from(script, source, settings)
}

/// A machine with a program that is linked so.
fn machine_from(script: &str, source: &str, settings: &[(&str, u32)]) -> Machine {
    let text = format!(
        ".option arch, +c, +m, +a, +zcmp\n.text\n.globl start\n.type start,%function\n{source}\n\
         stay: wfi\n j stay\n"
    );
    let elf = common::link("riscv32", &text, script);
    let image = Arc::new(parse_image(&elf, None).unwrap_or_else(|error| panic!("{error}")));
    let options = Options {
        marker: Some("GPIO15".into()),
        trace: true,
        settings: settings
            .iter()
            .map(|&(name, value)| (name.to_owned(), value))
            .collect(),
        ..Options::default()
    };
    let wiring = Wiring::default();
    Machine::new(&chip_of("rp2350"), &wiring, &image, &options)
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

#[test]
fn the_pll_multiplies_the_crystal_and_the_marker_takes_one_cycle() {
    let source = format!("{BEGIN}{MARKER} sw s3, 0x18(s2)\n sw s3, 0x20(s2)\n");
    let mut machine = machine(&source);
    let edge = |machine: &mut Machine| {
        let until = Until {
            marker: true,
            ..Until::default()
        };
        assert_eq!(run(machine, until).reason, Reason::Marker);
        machine.marker_edges().last().map(|edge| edge.time)
    };
    let (Some(rising), Some(falling)) = (edge(&mut machine), edge(&mut machine)) else {
        panic!("it has two edges");
    };
    // 1 / 150 MHz, as the timeline rounds it.
    assert!((6_600..6_700).contains(&(falling.0 - rising.0)));
}

#[test]
fn the_uart_sends_at_its_baud_rate_and_wakes_the_core() {
    // 150 MHz / 16 / (40 + 44 / 64): 230,415 baud. An echo, asleep until a byte comes.
    let source = format!(
        "{BEGIN}
        li s4, 0x40070000
        li t0, 40
        sw t0, 0x24(s4)
        li t0, 44
        sw t0, 0x28(s4)
        li t0, 0x70
        sw t0, 0x2c(s4)
        li t0, 0x301
        sw t0, 0x30(s4)
        li t0, 0x50
        sw t0, 0x38(s4)
        li t0, 0x20002
        csrw 0xbe0, t0
        li t0, 0x800
        csrs mie, t0
    again:
        lw t0, 0x18(s4)
        andi t0, t0, 0x10
        beqz t0, take
        wfi
        j again
    take:
        lw t0, 0(s4)
        addi t0, t0, 1
        sw t0, 0(s4)
        j again
        "
    );
    let mut machine = machine(&source);
    let asleep = Until {
        asleep: true,
        ..Until::default()
    };
    assert_eq!(run(&mut machine, asleep).reason, Reason::Asleep);
    let begin = machine.time();
    machine
        .serial_write("uart0", b"A")
        .unwrap_or_else(|error| panic!("{error}"));
    let until = Until {
        serial: Some(b'B'),
        ..Until::default()
    };
    assert_eq!(run(&mut machine, until).reason, Reason::Serial);
    // A byte in, its timeout of 32 bits, a byte out.
    let bits = (machine.time().0 - begin.0) / 4_340_000;
    assert!((51..54).contains(&bits), "{bits} bits");
}

#[test]
fn alarms_and_the_machine_timer_interrupt_on_time() {
    // TIMER0 counts microseconds of the crystal's clock; its alarm 0 at 100 wakes the core.
    let source = format!(
        "{BEGIN}{MARKER}
        li t0, 0x40108000
        li t1, 12
        sw t1, 0x1c(t0)             /* TICKS_TIMER0_CYCLES */
        li t1, 1
        sw t1, 0x18(t0)
        li s4, 0x400b0000
        sw zero, 0(s4)
        sw zero, 4(s4)              /* TIMELW */
        sw s3, 0x18(s2)
        li t1, 100
        sw t1, 0x10(s4)             /* ALARM0 */
        li t1, 1
        sw t1, 0x40(s4)             /* INTE */
        li t0, 0x10000
        csrw 0xbe0, t0
        li t0, 0x800
        csrw mie, t0
        wfi
        sw s3, 0x20(s2)
        li t0, 0x400b3000
        lw s7, 0x3c(s4)
        sw t1, 0x3c(t0)             /* INTR, clear */
        lw s8, 0x3c(s4)
        li t0, 0x80
        csrw mie, t0
        li t1, 3
        sw t1, 0x1a4(s2)            /* MTIME_CTRL: every cycle */
        sw zero, 0x1b0(s2)
        sw zero, 0x1b4(s2)
        li t1, 15000
        sw t1, 0x1b8(s2)
        sw zero, 0x1bc(s2)
        sw s3, 0x18(s2)
        wfi
        sw s3, 0x20(s2)
        "
    );
    let mut machine = machine(&source);
    let stop = run(&mut machine, Until::default());
    assert_ne!(stop.reason, Reason::Fault, "{:?}", stop.fault);
    let edges = machine.marker_edges();
    let times: Vec<Picoseconds> = edges.iter().map(|edge| edge.time).collect();
    let [first, alarm, second, timer] = times[..] else {
        panic!("{times:?}");
    };
    assert!((99_900_000..100_100_000).contains(&(alarm.0 - first.0)));
    assert!((99_900_000..100_100_000).contains(&(timer.0 - second.0)));
    assert_eq!(["s7", "s8"].map(|name| register(&machine, name)), [1, 0]);
    let tracks = machine.power_tracks();
    assert!(
        tracks[0]
            .intervals
            .iter()
            .any(|interval| interval.state == "sleep")
    );
    assert_eq!(
        Hertz(tracks[0].intervals.last().map_or(0, |i| i.clock_hz)),
        Hertz(150_000_000)
    );
}

/// Takes the SHA-256 accelerator, at S4, and the random numbers, at S5, out of reset.
const HASH_AND_RANDOM: &str = "
        li t0, 0x02020000
        li s1, 0x40023000
        sw t0, 0(s1)
        li s4, 0x400f8000
        li s5, 0x400f0000
        csrw 0x320, zero            /* mcountinhibit */
";

/// FIPS 180-4's example of one block, "abc", in words of the block, and its digest's first and last.
const ABC: [u32; 16] = [0x6162_6380, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24];
const ABC_DIGEST: [u32; 2] = [0xba78_16bf, 0xf200_15ad];

#[test]
fn the_hash_takes_57_cycles_after_a_blocks_last_word() {
    // The words are bytes in the order of memory, or, without BSWAP, the message's own.
    for (csr, width) in [(0x1201, 4), (0x1201, 2), (0x1201, 1), (0x201, 4)] {
        let store = ["sb", "sh", "", "sw"][width - 1];
        let part = format!(" {store} t0, 4(s4)\n srli t0, t0, {}\n", 8 * width % 32);
        let words = ABC.map(|word| {
            let word = if csr & 0x1000 != 0 {
                word.swap_bytes()
            } else {
                word
            };
            format!(" li t0, {word:#x}\n{}", part.repeat(4 / width))
        });
        let words = words.concat();
        // It waits for WDATA_RDY; SUM_VLD is there with it.
        let source = format!(
            "{BEGIN}{HASH_AND_RANDOM}
                li t0, {csr:#x}
                sw t0, 0(s4)
                {words}
                lw s11, 0(s4)
                csrr s6, mcycle
            1:  lw t0, 0(s4)
                andi t0, t0, 2
                beqz t0, 1b
                csrr s7, mcycle
                lw s10, 0(s4)
                lw s8, 8(s4)
                lw s9, 0x24(s4)
            "
        );
        let mut machine = machine(&source);
        let stop = run(&mut machine, Until::default());
        assert_ne!(stop.reason, Reason::Fault, "{:?}", stop.fault);
        assert_eq!(
            ["s8", "s9"].map(|name| register(&machine, name)),
            ABC_DIGEST
        );
        // Neither is ready, then both are; BSWAP and DMA_SIZE are as set.
        let csrs = ["s11", "s10"].map(|name| register(&machine, name));
        assert_eq!(csrs, [csr & !1, csr & !1 | 6]);
        let waited = register(&machine, "s7") - register(&machine, "s6");
        assert!((50..64).contains(&waited), "{waited} cycles");
    }
}

#[test]
fn the_hash_tells_of_words_that_come_too_early() {
    let begin = format!(
        "{BEGIN}{HASH_AND_RANDOM}
            li t0, 0x1201
            sw t0, 0(s4)
            li t1, 16
        1:  sw zero, 4(s4)
            addi t1, t1, -1
            bnez t1, 1b
            sw zero, 4(s4)
            lw s6, 0(s4)
        "
    );
    // Bits 12, 9 and 4; what the Pico SDK does clears it, and keeps the others.
    let mut early = machine(&format!(
        "{begin} li t0, 0x400fb000\n li t1, 16\n sw t1, 0(t0)\n lw s7, 0(s4)\n"
    ));
    let stop = run(&mut early, Until::default());
    assert_ne!(stop.reason, Reason::Fault, "{:?}", stop.fault);
    let csrs = ["s6", "s7"].map(|name| register(&early, name) & !6);
    assert_eq!(csrs, [0x1210, 0x1200]);
    let message = fault(&format!("{begin} lw t0, 8(s4)"));
    assert!(message.contains("SUM_VLD is 0"), "{message}");
    let mixed = format!("{BEGIN}{HASH_AND_RANDOM} sb t0, 4(s4)\n sw t0, 4(s4)");
    assert!(fault(&mixed).contains("mix widths"));
}

#[test]
fn random_bits_take_their_samples_and_are_cleared_by_the_last_word() {
    let numbers = |debug: u32, count: u32, seed: u32| {
        let source = format!(
            "{BEGIN}{HASH_AND_RANDOM}
                li t0, {debug}
                sw t0, 0x138(s5)
                li t0, {count}
                sw t0, 0x130(s5)
                li t0, 14
                sw t0, 0x100(s5)
                lw s6, 0x114(s5)
                li t1, 0x800002         /* interrupt 39 of the controller */
                csrw 0xbe0, t1
                li t0, 0x800
                csrw mie, t0
                li t0, 1
                sw t0, 0x12c(s5)
                csrr s10, mcycle
            1:  lw t0, 0x1b8(s5)
                bnez t0, 1b
                csrr s11, mcycle
                lw s7, 0x104(s5)
                csrr t0, mip
                srli t0, t0, 11
                andi t0, t0, 1
                slli t0, t0, 1
                or s7, s7, t0
                lw t0, 0x110(s5)
                slli t0, t0, 2
                or s7, s7, t0
                lw s8, 0x114(s5)
                lw t0, 0x128(s5)
                lw s9, 0x114(s5)
                li t0, 1
                sw t0, 0x108(s5)
                lw t1, 0x104(s5)
                or s9, s9, t1
            "
        );
        let mut machine = machine_with(&source, &[("random_seed", seed)]);
        let stop = run(&mut machine, Until::default());
        assert_ne!(stop.reason, Reason::Fault, "{:?}", stop.fault);
        let [before, status, first, after] =
            ["s6", "s7", "s8", "s9"].map(|name| register(&machine, name));
        // Before and after there is nothing; between, the bits, their status and the interrupt.
        assert_eq!((before, after), (0, 0));
        assert_eq!(status, 7);
        let taken = register(&machine, "s11") - register(&machine, "s10");
        (first, taken)
    };
    let (first, raw) = numbers(0xe, 25, 1);
    assert!(raw.abs_diff(192 * 25) < 20, "{raw} cycles");
    let (_, balanced) = numbers(0, 25, 1);
    assert!(balanced.abs_diff(192 * 25 * 69) < 20, "{balanced} cycles");
    assert_eq!(numbers(0xe, 25, 1).0, first);
    assert_ne!(numbers(0xe, 25, 2).0, first);
}

#[test]
fn what_silicon_lets_pass_or_the_emulation_leaves_out_is_named() {
    let cases = [
        ("start: li t0, 0x40070000\n lw t1, 0(t0)", "in reset"),
        (
            "start: li t0, 0x40010000\n li t1, 1\n sw t1, 0x3c(t0)",
            "does not run",
        ),
        ("start: li t0, 0x40080000\n lw t1, 0(t0)", "leaves out SPI0"),
        ("start: li t0, 0x10400000\n jr t0", "leaves out flash"),
        (
            "start: li t0, 0xd0000080\n lw t1, 0(t0)",
            "leaves out SIO but for",
        ),
        ("start: ebreak", "EBREAK"),
    ];
    for (source, expected) in cases {
        let message = fault(source);
        assert!(message.contains(expected), "{source}: {message}");
    }
}

/// Enters user mode at `user`, with a handler that keeps mcause in S8, mepc in S9 and mstatus in S10,
/// and goes on after the instruction, in machine mode, at `back`; `setup` comes before.
fn in_user_mode(setup: &str, user: &str) -> Machine {
    let source = format!(
        "start:
            li sp, 0x20040000
            la t0, handler
            csrw mtvec, t0
            {setup}
            la t0, user
            csrw mepc, t0
            li t0, 0x1800
            csrc mstatus, t0
            mret
        .p2align 5
        user:
            {user}
        ends:
            ebreak
            nop
        .p2align 5
        handler:
            csrr s8, mcause
            csrr s9, mepc
            csrr s10, mstatus
        "
    );
    let mut machine = machine_with(&source, &[("stop_on_fault", 0)]);
    run(&mut machine, Until::default());
    machine
}

/// The first region is all of memory, for user mode, by this bits: 4 to read, 2 to write, 1 to execute.
fn all(bits: u32) -> String {
    format!(
        "li t0, -1\n csrw pmpaddr0, t0\n li t0, {:#x}\n csrw pmpcfg0, t0\n",
        0x18 | bits
    )
}

fn register(machine: &Machine, name: &str) -> u32 {
    let registers = machine.registers();
    let found = registers.iter().find(|(known, _)| known == name);
    found.map_or(0, |(_, value)| *value)
}

/// `mcause`, and whether the exception is at the last instruction, which ends the program.
fn cause(setup: &str, user: &str) -> u32 {
    let machine = in_user_mode(setup, user);
    // It came from user mode.
    assert_eq!(register(&machine, "s10") & 0x1800, 0, "{user}");
    register(&machine, "s8")
}

#[test]
fn user_mode_may_do_what_its_privilege_and_regions_let_it() {
    let free = all(7);
    assert_eq!(cause(&free, "lw t1, 0(sp)\n sw t1, -4(sp)"), 3);
    assert_eq!(cause(&free, "ecall"), 8);
    // CSRs of machine mode, MRET, and WFI if mstatus.TW is set.
    assert_eq!(cause(&free, "csrr t1, mscratch"), 2);
    assert_eq!(cause(&free, "mret"), 2);
    let waits = format!("{free} li t0, 0x200000\n csrs mstatus, t0\n");
    assert_eq!(cause(&waits, "wfi"), 2);
    // Counters, if mcounteren lets them be read.
    assert_eq!(cause(&free, "csrr t1, cycle"), 2);
    let counts = format!("{free} csrwi mcounteren, 5\n csrwi mcountinhibit, 0\n");
    assert_eq!(cause(&counts, "csrr t1, cycle\n csrr t2, instreth"), 3);
    assert_eq!(cause(&counts, "csrw cycle, t0"), 2);
}

#[test]
fn memory_protection_stops_fetches_loads_and_stores() {
    assert_eq!(cause("", "nop"), 1);
    assert_eq!(cause(&all(5), "lw t1, 0(sp)"), 3);
    assert_eq!(cause(&all(5), "sw t1, -4(sp)"), 7);
    assert_eq!(cause(&all(3), "lw t1, 0(sp)"), 5);
    assert_eq!(cause(&all(5), "cm.push {ra}, -16"), 7);
    assert_eq!(cause(&all(3), "lr.w t1, (sp)"), 5);
    assert_eq!(cause(&all(5), "addi sp, sp, -4\n amoadd.w t1, t1, (sp)"), 7);
    let machine = in_user_mode(&all(4), "nop");
    assert_eq!(register(&machine, "s8"), 1);
    assert_eq!(register(&machine, "s9") & 31, 0);
}

#[test]
fn loads_can_be_those_of_the_mode_before() {
    // mstatus.MPRV with MPP of user mode: a load of machine mode is refused; its fetches are not.
    let setup = format!(
        "{} li t0, 0x1800\n csrc mstatus, t0\n li t0, 0x20000\n csrs mstatus, t0\n lw t1, 0(sp)\n",
        all(3)
    );
    let machine = in_user_mode(&setup, "nop");
    assert_eq!(register(&machine, "s8"), 5);
    // From machine mode.
    assert_eq!(register(&machine, "s10") & 0x1800, 0x1800);
}

#[test]
fn the_boot_rom_finds_what_resets_its_state_and_nothing_else() {
    let look_up = |code: u32, at: &str| {
        let mut machine = machine(&format!(
            "start:
                li sp, 0x20040000
                lui t0, 8
                lhu t1, {at}(t0)
                li a0, {code:#x}
                li a1, 1
                jalr t1
                mv s8, a0
                beqz a0, 1f
                jalr a0
            1:  li s9, 77
            "
        ));
        run(&mut machine, Until::default());
        assert_eq!(register(&machine, "s9"), 77);
        register(&machine, "s8")
    };
    // 'S', 'R', of functions; another; of data.
    assert_eq!(look_up(0x5253, "-0x206"), 0x7d20);
    assert_eq!(look_up(0x5254, "-0x206"), 0);
    assert_eq!(look_up(0x5253, "-0x208"), 0);
}

/// The steps of the Pico SDK's start-up: from flash by the boot ROM and the block that says where to
/// begin, data copied from flash, a function of the boot ROM, its locks, blocks reset and waited for,
/// crystal, both PLLs, clocks that say what is selected, and a UART with its requests to DMA on.
const START_UP: &str = "
        .option norvc
        .globl enter
        .word 0, 0, 0xffffded3, 0x11010142, 0x00000344, start, 0x20082000, 0x000004ff, 0, 0xab123579
    enter:
        li a0, 0x7dfc
        jr a0
    start:
        la t0, data_from
        la t1, data
        la t2, data_end
    1:  lw t3, 0(t0)
        sw t3, 0(t1)
        addi t0, t0, 4
        addi t1, t1, 4
        bltu t1, t2, 1b
        lui t0, 8
        lhu t0, -0x206(t0)
        li a0, 0x5253               /* 'SR' */
        li a1, 1
        jalr t0
        mv t0, a0
        li a0, 4
        jalr t0
        li t0, 0x400e080c
        li t1, 8
    1:  sw zero, 0(t0)              /* BOOTRAM_BOOTLOCKn */
        addi t0, t0, 4
        addi t1, t1, -1
        bnez t1, 1b
        li s0, 0x40020000
        li s1, 0x40023000
        li t0, 0x40022000
        li t1, 0x0fff3b7f
        sw t1, 0(t0)                /* RESETS, set */
        li a0, 0x03ff3ffe
        jal unreset
        li s2, 0x40010000
        li s3, 0x40013000
        sw zero, 0x84(s2)           /* CLK_SYS_RESUS_CTRL */
        li t0, 0x40048000
        li t1, 0xaa0
        sw t1, 0(t0)                /* XOSC_CTRL */
        li t1, 47
        sw t1, 0xc(t0)
        li t1, 0xfab000
        li t2, 0x4004a000
        sw t1, 0(t2)
    1:  lw t1, 4(t0)
        bgez t1, 1b                 /* STABLE */
        li t1, 1
        sw t1, 0x3c(s3)             /* CLK_SYS_CTRL, clear */
    2:  lw t2, 0x44(s2)
        bne t2, t1, 2b
        li t2, 3
        sw t2, 0x30(s3)             /* CLK_REF_CTRL, clear */
    2:  lw t2, 0x38(s2)
        bne t2, t1, 2b
        li a0, 0x4000
        jal unreset
        li a0, 0x40050000
        li a1, 125
        li a2, 0x52000
        jal pll
        li a0, 0x8000
        jal unreset
        li a0, 0x40058000
        li a1, 100
        li a2, 0x55000
        jal pll
        li t0, 2
        sw t0, 0x30(s2)             /* CLK_REF_CTRL */
        li t1, 4
    1:  lw t2, 0x38(s2)
        bne t2, t1, 1b
        li t1, 1
        sw t1, 0x3c(s2)             /* CLK_SYS_CTRL */
    1:  lw t2, 0x44(s2)
        bne t2, t0, 1b
        li t0, 0x800
        sw t0, 0x60(s2)             /* CLK_USB_CTRL */
        sw t0, 0x48(s2)             /* CLK_PERI_CTRL */
        li t0, 0x40108000
        li t1, 12
        sw t1, 0x1c(t0)
        li t1, 1
        sw t1, 0x18(t0)             /* TICKS_TIMER0 */
        li a0, 0x4000000
        jal unreset
        li s4, 0x40070000
        li t0, 81
        sw t0, 0x24(s4)
        li t0, 24
        sw t0, 0x28(s4)
        li t0, 0x70
        sw t0, 0x2c(s4)
        li t0, 0x301
        sw t0, 0x30(s4)
        li t0, 3
        sw t0, 0x48(s4)             /* UARTDMACR */
        la s5, data
    2:  lbu t0, 0(s5)
        beqz t0, stay
    3:  lw t1, 0x18(s4)
        andi t1, t1, 0x20
        bnez t1, 3b
        sw t0, 0(s4)
        addi s5, s5, 1
        j 2b
    unreset:
        sw a0, 0(s1)                /* RESETS, clear */
    1:  lw t0, 8(s0)
        and t0, t0, a0
        bne t0, a0, 1b
        ret
    pll:                            /* at A0, times A1, divided by A2 */
        li t0, 1
        sw t0, 0(a0)
        sw a1, 8(a0)
        li t1, 0x3000
        add t1, t1, a0
        li t0, 0x21
        sw t0, 4(t1)                /* PWR, clear PD and VCOPD */
    1:  lw t0, 0(a0)
        bgez t0, 1b                 /* LOCK */
        sw a2, 12(a0)
        li t0, 8
        sw t0, 4(t1)                /* PWR, clear POSTDIVPD */
        ret
        .section .data
        .asciz \"from flash\\n\"
        .p2align 2
        .text
";

#[test]
fn a_program_that_starts_as_the_pico_sdk_does_runs_from_flash() {
    let script = "ENTRY(enter)\nSECTIONS { .text 0x10000000 : { *(.text*) }\n\
                  .data 0x20000000 : AT(ADDR(.text) + SIZEOF(.text)) { data = .; *(.data*) \
                  data_end = .; }\ndata_from = LOADADDR(.data); }\n";
    let mut machine = machine_from(script, START_UP, &[]);
    let sent = Until {
        serial: Some(b'\n'),
        ..Until::default()
    };
    assert_eq!(run(&mut machine, sent).reason, Reason::Serial);
    assert_eq!(register(&machine, "sp"), 0x2008_2000);
    let sent = machine.serial_read("UART0").expect("it has UART0");
    let text: Vec<u8> = sent.iter().map(|&(byte, _)| byte).collect();
    assert_eq!(text, b"from flash\n");
    // A character takes ten bits at 115,200 baud.
    let character = sent[1].1.0 - sent[0].1.0;
    assert!((86_700_000..86_900_000).contains(&character), "{character}");
}

/// From flash, a line of eight bytes takes 60 cycles more once, and none when it is in the cache; so
/// does a load from another line.
#[test]
fn a_program_in_flash_waits_for_its_lines_once() {
    let source = "
        .option norvc
    start:
        csrwi mcountinhibit, 0
        li s0, 2
        la s3, data
        .p2align 3
    1:  csrr t0, mcycle
        nop
        nop
        nop
        nop
        csrr t1, mcycle
        lw t3, 0(s3)
        mv t3, t3
        csrr t2, mcycle
        sub s1, t1, t0
        sub s2, t2, t1
        mv s4, s5
        mv s5, s1
        mv s6, s7
        mv s7, s2
        addi s0, s0, -1
        bnez s0, 1b
        j stay
        .p2align 6
        .word 0, 0
    data:
        .word 1
    ";
    let counts = |at: u32| {
        let script = format!("ENTRY(start)\nSECTIONS {{ .text {at:#x} : {{ *(.text*) }} }}\n");
        let mut machine = machine_from(&script, source, &[]);
        run(&mut machine, Until::default());
        ["s4", "s6", "s5", "s7"].map(|name| register(&machine, name))
    };
    let fast = counts(0x2004_0000);
    assert_eq!(fast[..2], fast[2..]);
    // Two lines of code; two of code and one of data.
    let [code, data, ..] = fast;
    assert_eq!(counts(0x1000_0000), [code + 120, data + 180, code, data]);
}
