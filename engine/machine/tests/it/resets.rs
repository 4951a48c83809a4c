//! Chips restart after a reset by a watchdog or a program, and report its cause.

use crate::common;

use std::fmt::Write;
use std::sync::Arc;

use joulemark_devices::Wiring;
use joulemark_kernel::{Chip, Image};
use joulemark_machine::{Machine, Options, Profiling, Until};
use joulemark_radio::{Antenna, Emission};

const RAM: u32 = 0x2000_0000;
/// AIRCR with its key and SYSRESETREQ.
const SOFTWARE: &[(u32, u32)] = &[(0xe000_ed0c, 0x05fa_0004)];

/// A program that records a register at each start, after the number of starts, and at the first
/// start stores some words and waits.
fn program(chip: &Chip, noted: u32, stores: &[(u32, u32)]) -> Arc<Image> {
    let mut source = format!(
        "start:\n ldr r0, ={noted:#x}\n ldr r1, [r0]\n ldr r2, ={RAM:#x}\n \
         ldr r3, [r2]\n adds r3, #1\n str r3, [r2]\n lsls r4, r3, #2\n str r1, [r2, r4]\n cmp r3, #1\n \
         bne wait\n"
    );
    for (address, value) in stores {
        let _ = writeln!(
            source,
            " ldr r0, ={address:#x}\n ldr r1, ={value:#x}\n str r1, [r0]"
        );
    }
    source += "wait: b wait\n";
    common::image_of(chip, &source)
}

fn started(name: &str, noted: u32, stores: &[(u32, u32)], resets: u32) -> Machine {
    let chip = common::chip_of(name);
    let options = Options {
        resets,
        profile: Profiling::Functions,
        trace: true,
        ..Options::default()
    };
    let image = program(&chip, noted, stores);
    Machine::new(&chip, &Wiring::default(), &image, &options)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn words<const N: usize>(machine: &Machine) -> [u32; N] {
    let bytes = machine.read_memory(RAM, 4 * N).expect("RAM");
    let mut words = bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    std::array::from_fn(|_| words.next().expect("so many"))
}

/// A register's value at the second start, after a run with one reset.
fn cause(name: &str, noted: u32, stores: &[(u32, u32)]) -> u32 {
    let mut machine = started(name, noted, stores, 1);
    let clock_hz = machine.clock_hz();
    let until = Until {
        max_cycles: Some(1_000_000),
        ..Until::default()
    };
    let stop = machine.run(until).expect("a condition that can be watched");
    assert_eq!(stop.fault, None, "{name}");
    assert_eq!(machine.resets(), 1, "{name}");
    let [starts, _, second] = words(&machine);
    assert_eq!(starts, 2, "{name}: RAM is kept");
    assert_eq!(machine.clock_hz(), clock_hz, "{name}");
    assert!(machine.cycles() >= 1_000_000, "{name}: time goes on");
    let spent: u64 = machine
        .profile()
        .expect("counted")
        .functions
        .iter()
        .map(|function| function.self_cycles)
        .sum();
    assert_eq!(spent, machine.cycles(), "{name}");
    second
}

const CC2538_CLOCK_STA: u32 = 0x400d_2004;
const RST: u32 = 3 << 22;

#[test]
fn the_cc2538_tells_a_reset_by_its_program_from_one_by_its_watchdog() {
    // Half the clock, which a reset restores.
    let slower = (0x400d_2000, 0x0200_0002);
    let by_program = [&[slower], SOFTWARE].concat();
    assert_eq!(
        cause("cc2538", CC2538_CLOCK_STA, &by_program) & RST,
        3 << 22
    );
    let bites = [slower, (0x400d_5000, 0xb)];
    assert_eq!(cause("cc2538", CC2538_CLOCK_STA, &bites) & RST, 2 << 22);
}

#[test]
fn the_cc2538_counts_its_sleep_timer_from_zero_again() {
    let later = cause("cc2538", 0x400d_5040, &[(0x400d_5000, 0xb)]);
    assert!(later < 2, "{later}");
}

#[test]
fn cc26xx_chips_tell_a_warm_reset_that_is_treated_as_one_of_the_pin() {
    const PRCM_WARMRESET: u32 = 0x4008_2110;
    let bites = [(0x4008_0000, 1000), (0x4008_0008, 3)];
    for (name, resetctl) in [("cc2650", 0x4009_0004), ("cc2652r", 0x4009_0028)] {
        let as_pin = (PRCM_WARMRESET, 4);
        let by_program = [&[as_pin], SOFTWARE].concat();
        assert_eq!(cause(name, resetctl, &by_program) >> 1 & 7, 7, "{name}");
        let by_watchdog = [&[as_pin], &bites[..]].concat();
        assert_eq!(cause(name, resetctl, &by_watchdog) >> 1 & 7, 7, "{name}");
        // Otherwise the last power-up stays the source, and a flag reports the watchdog.
        assert_eq!(cause(name, resetctl, &bites) >> 1 & 7, 0, "{name}");
        assert_eq!(cause(name, PRCM_WARMRESET, &bites), 1, "{name}");
        assert_eq!(cause(name, PRCM_WARMRESET, SOFTWARE), 0, "{name}");
    }
}

#[test]
fn the_nrf52840_keeps_its_reasons_until_they_are_cleared() {
    const RESETREAS: u32 = 0x4000_0400;
    assert_eq!(cause("nrf52840", RESETREAS, SOFTWARE), 4);
    let bites = [(0x4001_0504, 100), (0x4001_0000, 1)];
    assert_eq!(cause("nrf52840", RESETREAS, &bites), 2);
    // GPREGRET.
    let retained = [&[(0x4000_051c, 0xb1)], SOFTWARE].concat();
    assert_eq!(cause("nrf52840", 0x4000_051c, &retained), 0xb1);
}

#[test]
fn the_stm32_tells_its_two_watchdogs_and_its_program_apart() {
    const RCC_CSR: u32 = 0x4002_1024;
    let flags = |stores: &[(u32, u32)]| cause("stm32f100rb", RCC_CSR, stores) >> 26;
    // PORRSTF and PINRSTF stay until RMVF clears them.
    assert_eq!(flags(SOFTWARE), 0b00111);
    let cleared = [&[(RCC_CSR, 1 << 24)], SOFTWARE].concat();
    assert_eq!(flags(&cleared), 0b00101);
    let independent = [
        (0x4000_3000, 0x5555),
        (0x4000_3008, 9),
        (0x4000_3000, 0xcccc),
    ];
    assert_eq!(flags(&independent), 0b01011);
    assert_eq!(flags(&[(0x4000_2c00, 0xff)]), 0b10011);
}

#[test]
fn an_msp430_starts_again_by_a_power_up_clear() {
    // The second start is by the watchdog, the third by a write to FCTL1 without its key.
    let source = "
start:
    mov #0x3900, r1
    inc &0x1200
    mov &0x1200, r10
    mov.b &IFG1, r11
    mov &FCTL3, r12
    mov.b &P2DIR, r13
    mov &TACTL, r14
    cmp #2, r10
    jeq second
    jge third
    mov.b #8, &P2DIR
    mov #0x0214, &TACTL
bite:
    jmp bite
second:
    mov r11, &0x1202
    mov r13, &0x1204
    mov r14, &0x1206
    mov #0x0002, &FCTL1
third:
    mov r12, &0x1208
    mov #0x5a80, &WDTCTL
stay:
    jmp stay
";
    let options = Options {
        resets: 2,
        ..Options::default()
    };
    let (mut machine, _) = common::machine_with(source, &options);
    let until = Until {
        max_cycles: Some(100_000),
        ..Until::default()
    };
    assert_eq!(machine.run(until).expect("runs").fault, None);
    let bytes = machine.read_memory(0x1200, 10).expect("RAM");
    let word = |place: usize| u16::from_le_bytes([bytes[2 * place], bytes[2 * place + 1]]);
    assert_eq!(word(0), 3);
    assert_eq!(word(1) & 1, 1, "WDTIFG");
    assert_eq!(word(2), 0, "P2DIR is reset");
    assert_eq!(word(3), 0x0210, "a timer is reset by a power-on reset only");
    assert_eq!(word(4) & 2, 2, "KEYV");
}

#[test]
fn resets_that_are_not_followed_are_faults_which_say_how_many_there_were() {
    for (resets, says) in [
        (0, None),
        (1, Some("1 time before")),
        (3, Some("3 times before")),
    ] {
        let image = common::image("start: jmp start\n");
        let options = Options {
            resets,
            ..Options::default()
        };
        let mut machine = Machine::new(&common::chip(), &Wiring::default(), &image, &options)
            .unwrap_or_else(|error| panic!("{error}"));
        let stop = machine.run(Until::default()).expect("runs");
        let fault = stop.fault.expect("it bites again");
        assert_eq!(fault.kind, "watchdog");
        assert_eq!(fault.message.contains("before"), says.is_some());
        assert!(
            fault.message.contains(says.unwrap_or("")),
            "{}",
            fault.message
        );
        assert!(machine.cycles().abs_diff(32_768 * u64::from(resets + 1)) <= 40);
    }
}

#[test]
fn a_program_that_a_debugger_started_cannot_be_reset() {
    let image = common::image("start: jmp start\nother: mov #0, &WDTCTL\n jmp other\n");
    let options = Options {
        entry: Some(image.resolve("other").expect("there")),
        resets: 5,
        ..Options::default()
    };
    let mut machine = Machine::new(&common::chip(), &Wiring::default(), &image, &options)
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(machine.run(Until::default()).expect("runs").fault.is_some());
    assert_eq!(machine.resets(), 0);
}

#[test]
fn a_reset_cuts_off_the_frame_that_is_on_the_air() {
    let chip = common::chip_of("cc2538");
    let register = |name: &str| chip.registers.table[name].address;
    let (data, strobe) = (register("RFCORE_SFR_RFDATA"), register("RFCORE_SFR_RFST"));
    // A length of 60 bytes, and ISTXON.
    let sends = [(data, 60), (strobe, 0xe9)];
    let stores = [&sends, SOFTWARE].concat();
    let mut machine = started("cc2538", CC2538_CLOCK_STA, &stores, 1);
    machine.with_antenna(Antenna::attach).expect("a radio");
    let until = Until {
        max_cycles: Some(100_000),
        ..Until::default()
    };
    assert_eq!(machine.run(until).expect("runs").fault, None);
    assert_eq!(machine.resets(), 1);
    let emissions = machine.with_antenna(Antenna::take_emissions);
    let emissions = emissions.expect("a radio");
    assert!(
        matches!(emissions[..], [Emission::Start(_), .., Emission::End(end)] if end.0 < 1_000_000_000),
        "{emissions:?}"
    );
    let hears_nothing = machine.with_antenna(|antenna| antenna.is_deaf());
    assert_eq!(hears_nothing, Some(true));
}
