//! Programs that use the peripherals, and what they must see and do, to the cycle.

use crate::common;

use std::fmt::Write;

use crate::common::{fault, machine, machine_with, run, run_for, run_to, word};
use joulemark_machine::{Options, Reason, Until};

/// Set up the stack, stop the watchdog, make P2.3 an output.
const BEGIN: &str = "
start:
    mov #0x3900, r1
    mov #0x5a80, &WDTCTL
    bis.b #8, &P2DIR
";

fn program(rest: &str) -> String {
    format!("{BEGIN}{rest}")
}

fn edge_distances(machine: &joulemark_machine::Machine) -> Vec<u64> {
    let edges = machine.marker_edges();
    edges
        .windows(2)
        .map(|pair| pair[1].cycles - pair[0].cycles)
        .collect()
}

#[test]
fn a_sleeping_core_is_woken_each_timer_period_to_the_cycle() {
    // Up mode counts 0 to CCR0: 1000 counts; SMCLK / 4 makes 4000 cycles.
    for (control, period) in [("0x0214", 1000), ("0x0294", 4000)] {
        let (mut machine, _) = machine(&program(&format!(
            "
    mov #999, &TACCR0
    mov #0x10, &TACCTL0
    mov #{control}, &TACTL
    bis #0x18, r2
    nop
tick:
    xor.b #8, &P2OUT
    reti
    .section .vector.TIMERA0,\"a\"
    .word tick
"
        )));
        assert_eq!(run_for(&mut machine, 50_000).reason, Reason::Cycles);
        let distances = edge_distances(&machine);
        assert!(distances.len() >= 10, "{distances:?}");
        assert!(
            distances.iter().all(|&distance| distance == period),
            "{distances:?}"
        );
    }
}

#[test]
fn an_interrupt_costs_six_cycles_and_its_reti_five() {
    // The loop of JMP (2 cycles) is interrupted once, for 6 + 1 (nop) + 5 cycles.
    let (mut machine, image) = machine(&program(
        "
    mov #500, &TACCR0
    mov #0x10, &TACCTL0
    mov #0x0204, &TACTL
    bis #0x10, &TACTL
    bis #8, r2
    nop
wait:
    jmp wait
tick:
    nop
    reti
    .section .vector.TIMERA0,\"a\"
    .word tick
",
    ));
    run_to(&mut machine, &image, "wait");
    machine.clear_observations();
    let before = (machine.cycles(), machine.instructions());
    run_for(&mut machine, 550);
    let profile = machine.profile().expect("is kept");
    let spent: u64 = profile
        .functions
        .iter()
        .map(|function| function.self_cycles)
        .sum();
    assert_eq!(spent, machine.cycles() - before.0);
    let instructions = machine.instructions() - before.1;
    // Two of the instructions are in the handler.
    assert_eq!(machine.cycles() - before.0, 2 * (instructions - 2) + 12);
}

#[test]
fn timer_vectors_name_the_source_and_clear_it() {
    // CCR1 at 100, CCR2 at 200, overflow of up mode at 301: TAIV reads 2, 4, 10.
    let (mut machine, image) = machine(&program(
        "
    mov #300, &TACCR0
    mov #100, &TACCR1
    mov #200, &TACCR2
    mov #0x10, &TACCTL1
    mov #0x10, &TACCTL2
    mov #seen, r10
    mov #0x0216, &TACTL
    bis #0x18, r2
    nop
tick:
    mov &TAIV, 0(r10)
    incd r10
    reti
    .section .vector.TIMERA1,\"a\"
    .word tick
    .bss
seen: .space 32
",
    ));
    run_for(&mut machine, 700);
    let seen: Vec<u16> = (0..6)
        .map(|index| word(&machine, &image, "seen", index))
        .collect();
    assert_eq!(seen, [2, 4, 10, 2, 4, 10]);
}

#[test]
fn timer_b_runs_from_aclk_through_lpm3() {
    // 32768 Hz / 8 and 16 counts: 256 wake-ups per second; the core sleeps in between.
    let (mut machine, _) = machine(&program(
        "
    mov #15, &TBCCR0
    mov #0x10, &TBCCTL0
    mov #0x01d4, &TBCTL
    bis #0xd8, r2
    nop
tick:
    xor.b #8, &P2OUT
    reti
    .section .vector.TIMERB0,\"a\"
    .word tick
",
    ));
    while machine.time().0 < 1_000_000_000_000 {
        assert_eq!(run_for(&mut machine, 10_000).reason, Reason::Cycles);
    }
    let edges = machine.marker_edges();
    assert!((255..=257).contains(&edges.len()), "{}", edges.len());
    for pair in edges.windows(2) {
        // Each wake-up is on the first core cycle after the crystal's edge.
        let distance = pair[1].time.0 - pair[0].time.0;
        let cycle_ps = 1_000_000_000_000 / u64::from(machine.clock_hz());
        assert!(distance.abs_diff(3_906_250_000) <= cycle_ps, "{distance}");
    }
    let intervals = machine.power_tracks().remove(0).intervals;
    assert!(
        intervals
            .windows(2)
            .all(|pair| pair[0].end == pair[1].start)
    );
    let asleep: u64 = intervals
        .iter()
        .filter(|interval| interval.state == "lpm3")
        .map(|interval| interval.end.0 - interval.start.0)
        .sum();
    assert!(
        asleep > 985_000_000_000 && asleep < 1_000_000_000_000,
        "{asleep}"
    );
    // Wake-up from LPM3 waits for the DCO: 6 us at 750 kHz are 5 cycles.
    let profile = machine.profile().expect("is kept");
    let tick = profile
        .functions
        .iter()
        .find(|f| f.name == "start")
        .expect("all one function");
    assert!(tick.self_cycles < machine.cycles() - machine.sleep_cycles() + 1);
}

#[test]
fn captures_of_aclk_count_the_dco() {
    // CCI2B is ACLK, as in start-up code that calibrates the DCO. DCO at 750 kHz: 22.9 counts per
    // period.
    let (mut machine, image) = machine(&program(
        "
    mov #0x5100, &TACCTL2
    mov #0x0224, &TACTL
    mov #seen, r10
again:
    bit #1, &TACCTL2
    jz again
    bic #1, &TACCTL2
    mov &TACCR2, 0(r10)
    incd r10
    cmp #seen_end, r10
    jnz again
done:
    jmp done
    .bss
seen: .space 64
seen_end:
",
    ));
    run_to(&mut machine, &image, "done");
    let seen: Vec<u16> = (0..32)
        .map(|index| word(&machine, &image, "seen", index))
        .collect();
    for pair in seen.windows(2) {
        assert!(matches!(pair[1].wrapping_sub(pair[0]), 22 | 23), "{seen:?}");
    }
    // 31 periods of the crystal in cycles of 750 kHz, accurate to the first and last count.
    let exact = 31.0 * f64::from(machine.clock_hz()) / 32_768.0;
    let counted = f64::from(seen[31].wrapping_sub(seen[0]));
    assert!((counted - exact).abs() <= 1.0, "{counted} {exact}");
}

#[test]
fn the_crystal_keeps_time_while_the_dco_changes() {
    // Each round sets another DCO frequency, while Timer_B counts the crystal.
    let (mut machine, image) = machine(&program(
        "
    mov #0x0124, &TBCTL
    clr r10
again:
    mov.b r10, &DCOCTL
    mov #40, r11
wait:
    dec r11
    jnz wait
    add #37, r10
    mov.b r10, r12
    and.b #7, r12
    bis.b #0x80, r12
    mov.b r12, &BCSCTL1
    inc &rounds
    cmp #2000, &rounds
    jnz again
done:
    mov &TBR, &seen
    jmp done
    .bss
rounds: .space 2
seen: .space 2
",
    ));
    run_to(&mut machine, &image, "done");
    run_for(&mut machine, 9);
    let ticks = u128::from(machine.time().0) * 32_768 / 1_000_000_000_000;
    let seen = word(&machine, &image, "seen", 0);
    // Timer_B was started within the first period of the crystal.
    let behind = (ticks as u16).wrapping_sub(seen);
    assert!(ticks > 5000 && behind <= 1, "{ticks} {seen}");
    let changes = machine.power_tracks().remove(0).intervals.len();
    assert!(changes > 3000, "{changes}");
}

#[test]
fn a_byte_takes_as_long_as_divider_and_modulation_say() {
    // 69 ticks per bit; modulation 0x2c adds one in bits 2, 3 and 5: 693 ticks for 8N1.
    let (mut machine, _) = machine(&program(
        "
    mov.b #0x10, &U1CTL
    bis.b #1, &U1CTL
    mov.b #0x20, &U1TCTL
    mov.b #69, &U1BR0
    clr.b &U1BR1
    mov.b #0x2c, &U1MCTL
    bis.b #0x30, &ME2
    bic.b #1, &U1CTL
    mov.b #0x41, r10
again:
    bit.b #0x20, &IFG2
    jz again
    mov.b r10, &U1TXBUF
    inc r10
    jmp again
",
    ));
    run_for(&mut machine, 693 * 20);
    let clock_hz = u128::from(machine.clock_hz());
    let sent = machine.serial_read("USART1").expect("a port");
    let bytes: Vec<u8> = sent.iter().map(|&(byte, _)| byte).collect();
    assert!(
        bytes.len() >= 18 && bytes.iter().zip(0x41..).all(|(&a, b)| a == b),
        "{bytes:?}"
    );
    let total = u128::from(sent[17].1.0 - sent[0].1.0);
    let expected = 17 * 693 * 1_000_000_000_000 / clock_hz;
    assert!(total.abs_diff(expected) <= 2, "{total} {expected}");
}

/// USART1 as a UART at 10 ticks per bit, with its receive interrupt enabled.
const UART: &str = "
    mov.b #0x11, &U1CTL
    mov.b #0x20, &U1TCTL
    mov.b #10, &U1BR0
    clr.b &U1BR1
    clr.b &U1MCTL
    bis.b #0x30, &ME2
    bic.b #1, &U1CTL
";

#[test]
fn received_bytes_interrupt_at_the_lines_speed() {
    let (mut machine, _) = machine(&program(&format!(
        "{UART}
    bis.b #0x10, &IE2
    bis #0x18, r2
    nop
receive:
    xor.b #8, &P2OUT
    mov.b &U1RXBUF, r15
    xor.b #0x20, r15
    mov.b r15, &U1TXBUF
    reti
    .section .vector.USART1RX,\"a\"
    .word receive
"
    )));
    let asleep = Until {
        asleep: true,
        max_cycles: Some(10_000),
        ..Until::default()
    };
    assert_eq!(run(&mut machine, asleep).reason, Reason::Asleep);
    machine.serial_write("usart1", b"Hello").expect("a port");
    let stop = run(
        &mut machine,
        Until {
            serial: Some(b'O'),
            max_cycles: Some(10_000),
            ..Until::default()
        },
    );
    assert_eq!(stop.reason, Reason::Serial);
    assert_eq!(edge_distances(&machine), [100; 4]);
    let sent = machine.serial_read("USART1").expect("a port");
    assert_eq!(
        sent.iter().map(|&(byte, _)| byte).collect::<Vec<_>>(),
        b"hELLO"
    );
    let error = machine
        .serial_write("USART7", b"x")
        .expect_err("no such port");
    assert!(error.to_string().contains("USART7") && error.to_string().contains("USART1"));
}

#[test]
fn a_byte_that_is_not_fetched_in_time_is_overrun() {
    let (mut machine, image) = machine(&program(&format!(
        "{UART}
here:
    jmp here
fetch:
    mov.b &U1RCTL, r10
    mov.b &U1RXBUF, r11
    mov.b &U1RCTL, r12
done:
    jmp done
"
    )));
    run_to(&mut machine, &image, "here");
    machine.serial_write("USART1", b"ab").expect("a port");
    run_for(&mut machine, 250);
    machine
        .set_register("pc", image.resolve("fetch").expect("there"))
        .expect("a register");
    run_to(&mut machine, &image, "done");
    let registers = machine.registers();
    let value = |number: usize| registers[number].1;
    // OE and RXERR; the later byte; reading it cleared the flags.
    assert_eq!(
        (value(10), value(11), value(12)),
        (0x21, u32::from(b'b'), 0)
    );
}

#[test]
fn the_watchdog_bites_on_time_and_says_so() {
    let (mut machine, _) = machine("start: jmp start\n");
    let stop = run_for(&mut machine, 1_000_000);
    let fault = stop.fault.expect("it bites");
    assert_eq!(fault.kind, "watchdog");
    assert!(
        fault.message.contains("32768") && fault.message.contains("start"),
        "{}",
        fault.message
    );
    // 32768 clocks of SMCLK, which is MCLK, plus the rest of an instruction.
    assert!(
        machine.cycles().abs_diff(32_768) <= 2,
        "{}",
        machine.cycles()
    );

    let message = fault_of_password();
    assert!(message.contains("password"), "{message}");
}

fn fault_of_password() -> String {
    fault("start: mov #0x0080, &WDTCTL\n jmp start\n", "watchdog")
}

#[test]
fn the_watchdog_as_an_interval_timer_interrupts() {
    // SMCLK / 64.
    let (mut machine, _) = machine(&program(
        "
    mov #0x5a1b, &WDTCTL
    bis.b #1, &IE1
    bis #0x18, r2
    nop
tick:
    xor.b #8, &P2OUT
    reti
    .section .vector.WDT,\"a\"
    .word tick
",
    ));
    run_for(&mut machine, 10_000);
    let distances = edge_distances(&machine);
    assert!(distances.len() > 100 && distances.iter().all(|&distance| distance == 64));
}

#[test]
fn a_debuggers_entry_holds_the_watchdog_and_sets_the_stack() {
    let source = "start: jmp start\nother: push r10\n call #leaf\nspin: jmp spin\nleaf: ret\n";
    let image = common::image(source);
    let options = Options {
        entry: Some(image.resolve("other").expect("there")),
        ..Options::default()
    };
    let (mut machine, image) = machine_with(source, &options);
    assert_eq!(machine.registers()[1].1, 0x3900);
    run_to(&mut machine, &image, "spin");
    assert_eq!(run_for(&mut machine, 100_000).reason, Reason::Cycles);
    assert_eq!(machine.stack_bytes(), 4);
}

/// Flash unlocked, timing generator MCLK / 2: 375 kHz from the 750 kHz after reset.
const FLASH: &str = "
    mov #0xa541, &FCTL2
    mov #0xa500, &FCTL3
";

#[test]
fn flash_is_programmed_and_erased_and_takes_its_time() {
    let (mut machine, image) = machine(&program(&format!(
        "{FLASH}
    mov #0xa540, &FCTL1
before_word:
    mov #0x1234, &0x8000
after_word:
    mov #0x0ff0, &0x8002
    mov #0xa502, &FCTL1
before_erase:
    mov #0, &0x8000
after_erase:
    mov #0xa540, &FCTL1
    mov #0x4321, &0x8000
done:
    jmp done
"
    )));
    run_to(&mut machine, &image, "before_word");
    let before = machine.cycles();
    run_to(&mut machine, &image, "after_word");
    // 35 generator clocks of two cycles, up to one clock until the next edge, and MOV's 5.
    let spent = machine.cycles() - before;
    assert!((70..=77).contains(&spent), "{spent}");
    assert_eq!(machine.read_memory(0x8000, 2).expect("flash"), [0x34, 0x12]);
    run_to(&mut machine, &image, "before_erase");
    let before = machine.cycles();
    run_to(&mut machine, &image, "after_erase");
    let spent = machine.cycles() - before;
    assert!((2 * 4819..2 * 4819 + 8).contains(&spent), "{spent}");
    assert_eq!(machine.read_memory(0x8000, 4).expect("flash"), [0xff; 4]);
    run_to(&mut machine, &image, "done");
    assert_eq!(machine.read_memory(0x8000, 2).expect("flash"), [0x21, 0x43]);
}

#[test]
fn flash_written_without_its_controller_is_a_fault() {
    let cases = [
        ("mov #1, &0x8000", "locked"),
        ("mov #0xa500, &FCTL3\n mov #1, &0x8000", "WRT"),
        (
            "mov #0xa540, &FCTL2\n mov #0xa500, &FCTL3\n mov #0xa540, &FCTL1\n mov #1, &0x8000",
            "750000 Hz",
        ),
    ];
    for (code, expected) in cases {
        let message = fault(&program(code), "flash-write");
        assert!(
            message.contains(expected) && message.contains("0x8000"),
            "{message}"
        );
    }
    let message = fault(&program("mov #0x5540, &FCTL1"), "reset");
    assert!(message.contains("key"), "{message}");
}

#[test]
fn what_is_left_out_is_named_when_touched() {
    let cases = [
        (
            "mov #0x0400, &ADC12CTL1\nmov #0x12, &ADC12CTL0",
            "ADC12 waits for a timer",
        ),
        (
            "mov #0x0030, &DMA2CTL",
            "DMA channel 2 is enabled that a level",
        ),
        ("mov #0x2010, &DMA1CTL", "burst-block"),
        ("mov #5, &DMACTL0\nmov #0x0010, &DMA0CTL", "this trigger"),
        ("mov.b #1, &CACTL1", "Comparator_A"),
        ("mov #1, &DAC12_0CTL", "DAC12"),
        ("mov.b #1, &SVSCTL", "supply voltage supervisor"),
        ("mov #0x0010, &TACTL", "clock from a pin"),
        ("mov.b #0xc4, &BCSCTL1", "high-frequency mode"),
        ("mov.b #0x24, &U0CTL", "I2C"),
    ];
    for (code, expected) in cases {
        let message = fault(&program(code), "absent");
        assert!(message.contains(expected), "{code}: {message}");
    }
    let message = fault(&program("mov.b &0x60, r10"), "unmapped");
    assert!(message.contains("0x0060"), "{message}");
    fault(&program("mov.b &TAR+1, r10"), "misaligned");
}

#[test]
fn adc12_and_dma_take_what_programs_set_up_and_read_it_back() {
    // Register, value written, value read: some bits do not exist or reset by themselves.
    let cases = [
        ("ADC12CTL0", 0xfff9, 0xfff8),
        ("ADC12CTL1", 0xf3ff, 0xf3fe),
        ("ADC12IFG", 0x8001, 0x8001),
        ("ADC12IE", 0x8000, 0x8000),
        ("ADC12IV", 0x0000, 0x0024),
        ("ADC12MEM15", 0xffff, 0x0fff),
        ("ADC12IFG", 0x8003, 0x8003),
        ("DMACTL0", 0xffff, 0xffff),
        ("DMACTL1", 0xffff, 0x0007),
        ("DMA0CTL", 0xffe7, 0xffe6),
        ("DMA1SA", 0x1234, 0x1234),
        ("DMA2SZ", 0xffff, 0xffff),
    ];
    let mut code = String::new();
    for (index, (register, value, _)) in cases.iter().enumerate() {
        let at = 2 * index;
        writeln!(
            code,
            "mov #{value:#x}, &{register}\nmov &{register}, &seen+{at}"
        )
        .expect("writes");
    }
    let (mut machine, image) = machine(&program(&format!(
        "{code}
    mov.b #0x81, &ADC12MCTL3
    mov #0x0012, &ADC12CTL0
    mov.b #0x7f, &ADC12MCTL3
    mov #0x0000, &ADC12CTL1
    mov.b &ADC12MCTL3, &seen+24
    mov &ADC12CTL1, &seen+26
    mov &ADC12MEM0, r10
    mov &ADC12IFG, &seen+28
done:
    jmp done
    .bss
seen: .space 30
"
    )));
    run_to(&mut machine, &image, "done");
    let seen = |index| word(&machine, &image, "seen", index);
    for (index, (register, _, expected)) in (0..).zip(cases) {
        assert_eq!(seen(index), expected, "{register}");
    }
    assert_eq!(seen(12), 0x0081, "fixed while ENC = 1");
    assert_eq!(seen(13), 0xf3f8, "but for CONSEQx");
    assert_eq!(seen(14), 0x8002, "a result that is read loses its flag");
}

#[test]
fn adc12_and_dma_flags_interrupt() {
    let cases = [
        ("mov #4, &ADC12IE\nmov #4, &ADC12IFG", "ADC12"),
        ("mov #0x0c, &DMA1CTL", "DACDMA"),
    ];
    for (code, vector) in cases {
        let (mut machine, image) = machine(&program(&format!(
            "
    bis #8, r2
    nop
    {code}
    nop
    nop
wrong:
    jmp wrong
taken:
    jmp taken
    .section .vector.{vector},\"a\"
    .word taken
"
        )));
        run_to(&mut machine, &image, "taken");
    }
}

/// Cycles from label `begin` to `done`.
fn cycles_between(code: &str) -> u64 {
    let (mut machine, image) = machine(&program(code));
    run_to(&mut machine, &image, "begin");
    let begin = machine.cycles();
    run_to(&mut machine, &image, "done");
    machine.cycles() - begin
}

#[test]
fn a_conversion_takes_its_sample_and_thirteen_clocks() {
    // SHT0, ADC12DIV, ADC12SSEL, core cycles per converter clock, sample clocks.
    let cases = [
        (0, 0, 3, 1, 4),
        (2, 0, 2, 1, 16),
        (3, 7, 3, 8, 32),
        (12, 1, 2, 2, 1024),
    ];
    for (sample, divider, source, ratio, periods) in cases {
        let took = cycles_between(&format!(
            "
    mov #{}, &ADC12CTL1
    mov #{}, &ADC12CTL0
    mov.b #0x0b, &ADC12MCTL0
begin:
    bis #3, &ADC12CTL0
wait:
    bit #1, &ADC12CTL1
    jnz wait
done:
    jmp done
",
            1 << 9 | divider << 5 | source << 3,
            sample << 8 | 1 << 4,
        ));
        // BIS writes in its last cycle, the fifth; then BIT and JNZ loop, 4 + 2 cycles.
        let least = 5 + ratio * (periods + 13);
        assert!((least..least + 14).contains(&took), "{took}, not {least}");
    }
}

#[test]
fn conversions_give_what_the_chip_has_to_be_measured() {
    // ADC12CTL0, ADC12MCTL0, result: AVcc / 2 with AVcc and with 2.5 V as reference; 25 degrees
    // with 1.5 V; a pin.
    for (control, channel, expected) in [
        (0x0010, 0x0b, 2048),
        (0x0070, 0x1b, 2457),
        (0x0030, 0x1a, 2934),
        (0x0010, 0x04, 0),
    ] {
        let (mut machine, image) = machine(&program(&format!(
            "
    mov #0x0218, &ADC12CTL1
    mov #{control}, &ADC12CTL0
    mov.b #{channel}, &ADC12MCTL0
    bis #3, &ADC12CTL0
wait:
    bit #1, &ADC12IFG
    jz wait
    mov &ADC12MEM0, &seen
    mov &ADC12IFG, &seen+2
done:
    jmp done
    .bss
seen: .space 4
"
        )));
        run_to(&mut machine, &image, "done");
        assert_eq!(word(&machine, &image, "seen", 0), expected);
        assert_eq!(word(&machine, &image, "seen", 1), 0, "read");
    }
}

#[test]
fn sequences_repeat_until_they_are_stopped_at_their_end() {
    let (mut machine, image) = machine(&program(
        "
    mov #0x121e, &ADC12CTL1     ; from ADC12MEM1, pulse mode, SMCLK, repeated sequence
    mov #0x0090, &ADC12CTL0     ; one after the other
    mov.b #0x0b, &ADC12MCTL1
    mov.b #0x0c, &ADC12MCTL2
    mov.b #0x8a, &ADC12MCTL3
    mov #8, &ADC12IE
    bis #3, &ADC12CTL0
    bis #8, r2
    nop
wait:
    cmp #3, r10
    jnz wait
    bic #2, &ADC12CTL0
ends:
    bit #1, &ADC12CTL1
    jnz ends
    mov &ADC12IFG, &seen
    mov r11, &seen+2
done:
    jmp done
converted:
    inc r10
    add &ADC12IV, r11
    mov &ADC12MEM3, r12
    reti
    .section .vector.ADC12,\"a\"
    .word converted
    .bss
seen: .space 4
",
    ));
    run_to(&mut machine, &image, "done");
    // The sequence in progress when conversion is stopped completes, and is served.
    assert_eq!(word(&machine, &image, "seen", 0), 0x0006);
    assert_eq!(
        word(&machine, &image, "seen", 1),
        4 * 12,
        "four times ADC12IFG3"
    );
}

#[test]
fn a_result_that_nobody_read_is_an_overflow() {
    let (mut machine, image) = machine(&program(
        "
    mov #0x0218, &ADC12CTL1
    mov #0x0018, &ADC12CTL0
    mov #2, r10
again:
    bis #3, &ADC12CTL0
wait:
    bit #1, &ADC12CTL1
    jnz wait
    dec r10
    jnz again
    mov &ADC12IV, &seen
    mov &ADC12IV, &seen+2
done:
    jmp done
    .bss
seen: .space 4
",
    ));
    run_to(&mut machine, &image, "done");
    assert_eq!(
        [0, 1].map(|index| word(&machine, &image, "seen", index)),
        [2, 0]
    );
}

#[test]
fn direct_memory_access_copies_blocks_while_the_core_is_held() {
    let code = |control: u16| {
        format!(
            "
    mov #from, &DMA0SA
    mov #to, &DMA0DA
    mov #4, &DMA0SZ
    mov #{control:#x}, &DMA0CTL
begin:
    bis #1, &DMA0CTL
    mov &DMA0CTL, &seen
    mov &DMA0SZ, &seen+2
done:
    jmp done
    .section .rodata
    .balign 2
from: .word 0x1122, 0x3344, 0x5566, 0x7788
    .bss
to: .space 8
seen: .space 4
"
        )
    };
    // Block, both addresses increment; BIS 4, two MOV of 6, and 4 words of 2 cycles and 2 around.
    assert_eq!(cycles_between(&code(0x1f10)), 16 + 10);
    let (mut machine, image) = machine(&program(&code(0x1f10)));
    run_to(&mut machine, &image, "done");
    let words = |machine: &_| [0, 1, 2, 3].map(|index| word(machine, &image, "to", index));
    assert_eq!(words(&machine), [0x1122, 0x3344, 0x5566, 0x7788]);
    assert_eq!(
        word(&machine, &image, "seen", 0),
        0x1f08,
        "off, and its flag set"
    );
    assert_eq!(word(&machine, &image, "seen", 1), 4, "the size again");
    // A single byte to a word, addresses decrement: 4 cycles, and three are left.
    assert_eq!(cycles_between(&code(0x0e50)), 16 + 4);
    let (mut machine, image) = self::common::machine(&program(&code(0x0e50)));
    run_to(&mut machine, &image, "done");
    assert_eq!(
        word(&machine, &image, "to", 0),
        0x0022,
        "the high byte is zero"
    );
    assert_eq!(word(&machine, &image, "seen", 0), 0x0e50);
    assert_eq!(word(&machine, &image, "seen", 1), 3);
}

#[test]
fn what_comes_on_a_serial_line_is_moved_while_the_core_sleeps() {
    let (mut machine, image) = machine(&program(
        "
    mov #0x0009, &DMACTL0       ; URXIFG1
    mov #U1RXBUF, &DMA0SA
    mov #buffer, &DMA0DA
    mov #4, &DMA0SZ
    mov #0x4cd4, &DMA0CTL       ; repeated single bytes, upwards, interrupt
    bis.b #0x30, &ME2
    mov.b #0x10, &U1CTL
    mov.b #0x20, &U1TCTL
    mov.b #10, &U1BR0
    clr.b &U1BR1
    clr.b &U1MCTL
sleep:
    bis #0x18, r2
    nop
full:
    bic #8, &DMA0CTL
    inc r10
    mov r10, &rounds
    reti
    .section .vector.DACDMA,\"a\"
    .word full
    .bss
buffer: .space 4
rounds: .space 2
",
    ));
    run_for(&mut machine, 1000);
    machine
        .serial_write("USART1", b"abcdefghi")
        .expect("a port");
    run_for(&mut machine, 2000);
    let word = |name, index| word(&machine, &image, name, index).to_le_bytes();
    assert_eq!([word("buffer", 0), word("buffer", 1)], [*b"if", *b"gh"]);
    assert_eq!(word("rounds", 0), [2, 0]);
}

/// Toggle the marker every four cycles, 128 times.
fn toggles() -> String {
    "    xor.b #8, &P2OUT\n".repeat(128)
}

#[test]
fn a_modulated_dco_mixes_two_taps_in_a_pattern() {
    let length_ps = |dcoctl: u32| {
        let (mut machine, _) = machine(&program(&format!(
            "    mov.b #{dcoctl}, &DCOCTL\n    mov.b #0x87, &BCSCTL1\n{}\ndone:\n    jmp done\n",
            toggles()
        )));
        run_for(&mut machine, 700);
        let edges = machine.marker_edges();
        assert_eq!(edges.len(), 128);
        assert!(
            edges
                .windows(2)
                .all(|pair| pair[1].cycles - pair[0].cycles == 4)
        );
        let times: Vec<u64> = edges.iter().map(|edge| edge.time.0).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    let (long, short): (Vec<u64>, Vec<u64>) = (length_ps(0x60), length_ps(0x80));
    let near = |a: u64, b: u64| a.abs_diff(b) <= 1;
    assert!(long.iter().all(|&length| near(length, long[0])));
    // 3.2 MHz at tap 3, and 1.1118 times that at tap 4.
    assert!(near(long[0], 1_250_000), "{}", long[0]);
    assert!(near(short[0], 1_124_291), "{}", short[0]);
    let saved = (long[0] - short[0]) / 4;
    for modulation in 1..32 {
        let mixed: Vec<u64> = length_ps(0x60 + modulation);
        let whole: u64 = mixed[..8].iter().sum();
        let expected = 8 * long[0] - u64::from(modulation) * saved;
        assert!(
            whole.abs_diff(expected) <= 16,
            "MODx {modulation}: {whole} {expected}"
        );
        for window in mixed.windows(9) {
            assert!(near(window[0], window[8]), "MODx {modulation}: {mixed:?}");
        }
        let quarters = mixed[..8]
            .iter()
            .map(|&length| (long[0] - length + saved / 2) / saved);
        let short_periods: Vec<u64> = quarters.collect();
        if modulation == 16 {
            assert_eq!(short_periods, [2; 8], "every second period");
        }
        if modulation == 1 {
            assert_eq!(short_periods.iter().sum::<u64>(), 1, "{short_periods:?}");
        }
    }
}

#[test]
fn a_program_that_waits_for_an_exact_count_of_the_dco_gets_it() {
    // From the reset setting, adjust DCOCTL and RSEL by one step after each eight periods of the
    // crystal, until they contain 952 periods of the DCO: 3.9 MHz, as operating systems for motes
    // do.
    let (mut machine, image) = machine(&program(
        "
    bis.b #0x30, &BCSCTL1
    mov #0x5100, &TACCTL2
    mov #0x0224, &TACTL
again:
    bit #1, &TACCTL2
    jz again
    bic #1, &TACCTL2
    mov &TACCR2, r11
    mov r11, r12
    sub r10, r12
    mov r11, r10
    cmp #952, r12
    jz done
    jlo faster
    dec.b &DCOCTL
    cmp.b #0xff, &DCOCTL
    jnz again
    dec.b &BCSCTL1
    jmp again
faster:
    inc.b &DCOCTL
    tst.b &DCOCTL
    jnz again
    inc.b &BCSCTL1
    jmp again
done:
    jmp done
",
    ));
    run_to(&mut machine, &image, "done");
    let hz = machine.clock_hz();
    // Within one count.
    assert!(hz.abs_diff(952 * 4096) <= 4096, "{hz}");
}

#[test]
fn port_edges_interrupt_and_are_seen_by_captures() {
    let (mut machine, image) = machine(&program(
        "
    bis.b #4, &P1SEL
    mov #0x4110, &TACCTL1
    mov #0x0224, &TACTL
    mov #0x5a18, &WDTCTL
    bis.b #1, &P1IE
    bis.b #1, &P2IE
    bis.b #1, &P2IES
    bis #0x18, r2
    nop
port1:
    bic.b #1, &P1IFG
    inc &seen
    reti
port2:
    bic.b #1, &P2IFG
    inc &seen+2
    reti
capture:
    mov &TAIV, &seen+4
    mov &TACCR1, &seen+6
    reti
    .section .vector.PORT1,\"a\"
    .word port1
    .section .vector.PORT2,\"a\"
    .word port2
    .section .vector.TIMERA1,\"a\"
    .word capture
    .bss
seen: .space 8
",
    ));
    run_for(&mut machine, 1000);
    for high in [true, false, true] {
        machine.set_pin("P1.0", high).expect("a pin");
        machine.set_pin("P2.0", high).expect("a pin");
        machine.set_pin("P1.2", high).expect("a pin");
        run_for(&mut machine, 100);
    }
    let seen = |index| word(&machine, &image, "seen", index);
    // Port 1 detects rising edges, port 2 falling ones.
    assert_eq!((seen(0), seen(1), seen(2)), (2, 1, 2));
    assert!(seen(3) > 1100 && seen(3) < 1200);
    assert!(machine.set_pin("P9.9", true).is_err());
}

#[test]
fn a_timer_output_shows_on_its_pin() {
    // Pulse width modulation with toggle/reset and set/reset on TA1 (P1.2) and TA2 (P1.3).
    let (mut machine, _) = machine(&program(
        "
    bis.b #0x0c, &P1SEL
    bis.b #0x0c, &P1DIR
    mov #99, &TACCR0
    mov #30, &TACCR1
    mov #0xe0, &TACCTL1
    mov #0x0214, &TACTL
here:
    jmp here
",
    ));
    run_for(&mut machine, 2000);
    let edges = machine.pin_edges();
    let mine: Vec<_> = edges.iter().filter(|edge| edge.pin == "P1.2").collect();
    let clock = u64::from(machine.clock_hz());
    let cycles =
        |ps: u64| (u128::from(ps) * u128::from(clock) + 500_000_000_000) / 1_000_000_000_000;
    assert!(mine.len() > 30);
    // Reset at CCR1, set at CCR0: high from 99 to 30, to within the loop's two cycles.
    for pair in mine.windows(2).skip(1) {
        let distance = cycles(pair[1].time.0 - pair[0].time.0);
        let expected = if pair[0].high { 31 } else { 69 };
        assert!(distance.abs_diff(expected) <= 1, "{distance} {expected}");
    }
}

#[test]
fn profiles_and_power_states_add_up() {
    let (mut machine, image) = machine(&program(
        "
    mov #99, &TACCR0
    mov #0x10, &TACCTL0
    mov #0x0214, &TACTL
again:
    call #outer
    bis #0x18, r2
    jmp again
    .size start, . - start
    .type outer, @function
outer:
    push r10
    call #inner
    call #inner
    pop r10
    ret
    .size outer, . - outer
    .type inner, @function
inner:
    nop
    nop
    ret
    .size inner, . - inner
    .type tick, @function
tick:
    bic #0x10, 0(r1)
    reti
    .size tick, . - tick
    .section .vector.TIMERA0,\"a\"
    .word tick
",
    ));
    run_for(&mut machine, 12_345);
    run_to(&mut machine, &image, "again");
    let profile = machine.profile().expect("is kept");
    let spent: u64 = profile
        .functions
        .iter()
        .map(|function| function.self_cycles)
        .sum();
    let instructions: u64 = profile.functions.iter().map(|f| f.self_instructions).sum();
    assert_eq!(spent, machine.cycles() - machine.sleep_cycles());
    assert_eq!(instructions, machine.instructions());
    let by_path: u64 = profile.paths.iter().map(|path| path.self_cycles).sum();
    assert_eq!(by_path, spent);
    let cost = |name: &str| {
        profile
            .functions
            .iter()
            .find(|f| f.name == name)
            .expect("it ran")
    };
    let (outer, inner) = (cost("outer"), cost("inner"));
    assert_eq!(inner.calls, 2 * outer.calls);
    // CALL's 5 cycles belong to the caller; the callee has two NOPs and RET's 3.
    assert_eq!(inner.self_cycles, 5 * inner.calls);
    assert_eq!(outer.total_cycles, outer.self_cycles + inner.total_cycles);
    assert_eq!(outer.stack_bytes, 4);
    let path = ["start", "outer", "inner"].map(String::from).to_vec();
    assert!(profile.paths.iter().any(|found| found.path == path));

    let intervals = machine.power_tracks().remove(0).intervals;
    let whole: u64 = intervals
        .iter()
        .map(|interval| interval.end.0 - interval.start.0)
        .sum();
    assert_eq!(whole, machine.time().0);
    assert!(intervals.iter().any(|interval| interval.state == "lpm0"));
}

#[test]
fn a_trace_is_a_vcd_that_a_reader_understands() {
    let (mut machine, _) = machine(&program(
        "
    mov #0x5a18, &WDTCTL
    mov #4, r10
again:
    xor.b #8, &P2OUT
    dec r10
    jnz again
    bis #0x10, r2
    nop
",
    ));
    assert_eq!(run_for(&mut machine, 1000).reason, Reason::Cycles);
    let mut bytes = Vec::new();
    let tracks = machine.power_tracks();
    joulemark_kernel::trace::write_vcd(&mut bytes, "msp430f1611", machine.pin_edges(), &tracks)
        .expect("writes");
    let mut parser = vcd::Parser::new(bytes.as_slice());
    let header = parser.parse_header().expect("a header");
    assert_eq!(header.timescale, Some((1, vcd::TimescaleUnit::PS)));
    let pin = header
        .find_var(&["msp430f1611", "P2_3"])
        .expect("the pin")
        .code;
    let state = header
        .find_var(&["msp430f1611", "mcu_state"])
        .expect("the state")
        .code;
    let (mut now, mut edges, mut states) = (0, Vec::new(), Vec::new());
    for command in parser {
        match command.expect("a command") {
            vcd::Command::Timestamp(time) => {
                assert!(time >= now);
                now = time;
            }
            vcd::Command::ChangeScalar(code, value) if code == pin => edges.push((now, value)),
            vcd::Command::ChangeString(code, text) if code == state => states.push(text),
            _ => {}
        }
    }
    let expected: Vec<(u64, vcd::Value)> = machine
        .marker_edges()
        .iter()
        .map(|edge| (edge.time.0, vcd::Value::from(edge.rising)))
        .collect();
    assert_eq!(edges[0], (0, vcd::Value::V0));
    assert_eq!(edges[1..], expected);
    assert_eq!(states, ["active", "lpm0"]);
}

#[test]
fn a_fault_names_where_it_happened_and_who_called() {
    let (mut machine, _) = machine(&program(
        "
    call #outer
    jmp start
    .size start, . - start
    .type outer, @function
outer:
    call #inner
    ret
    .size outer, . - outer
    .type inner, @function
inner:
    mov #0x1235, r10
    mov @r10, r11
    ret
    .size inner, . - inner
",
    ));
    let fault = run_for(&mut machine, 1000).fault.expect("an odd address");
    assert_eq!((fault.kind, fault.address), ("misaligned", Some(0x1235)));
    assert!(fault.message.contains("inner+0x4"), "{}", fault.message);
    let names: Vec<&str> = fault
        .call_stack
        .iter()
        .map(|frame| frame.symbol.as_str())
        .collect();
    assert_eq!(names, ["inner", "outer", "start"]);
}

#[test]
fn a_stop_address_is_reached_before_it_is_executed_and_left_again() {
    let (mut machine, image) = machine(&program("\nagain:\n nop\n jmp again\n"));
    let until = Until {
        address: Some(image.resolve("again").expect("there")),
        ..Until::default()
    };
    assert_eq!(run(&mut machine, until).reason, Reason::Address);
    let first = machine.cycles();
    assert_eq!(run(&mut machine, until).reason, Reason::Address);
    assert_eq!(machine.cycles() - first, 3);
}

#[test]
fn the_secrets_digest_tells_paths_and_addresses_apart() {
    let digest = |value: u16| {
        let options = Options {
            secrets_trace: true,
            ..Options::default()
        };
        let source = program(&format!(
            "
    mov #{value}, r10
    mov 0x1200(r10), r11
    mov #0x1300, r12
    jmp done
done:
    jmp done
"
        ));
        // RAM reads as zero.
        let (mut machine, image) = machine_with(&source, &options);
        run_to(&mut machine, &image, "done");
        machine.secrets_digest().expect("is kept")
    };
    assert_eq!(digest(0), digest(0));
    assert_ne!(digest(0), digest(2));
}

#[test]
fn the_mirror_of_ram_shows_the_same_bytes() {
    let (mut machine, image) = machine(&program(
        "
    mov #0x0200, r10
    mov #0x1234, &0x1100
    mov.b &0x0201, r11
    mov #0x5678, &0x09fe
    mov &0x18fe, r12
    add @r10+, r12
done:
    jmp done
",
    ));
    run_to(&mut machine, &image, "done");
    let registers = machine.registers();
    assert_eq!((registers[11].1, registers[12].1), (0x12, 0x5678 + 0x1234));
    assert!(fault(&program("mov &0x0a00, r10"), "unmapped").contains("0x0a00"));
}
