//! Machines that run and sleep until a time, or are stepped from outside; and runs that end for two
//! reasons at once. Both cores go through the same tests.

use crate::common;

use std::sync::Arc;

use joulemark_devices::Wiring;
use joulemark_kernel::{Chip, Image, Picoseconds};
use joulemark_machine::{Machine, Options, Reason, Stop, Until};
use proptest::prelude::*;

/// Sleeps for ever.
const MSP430_SLEEPS: &str = "
start:
    mov #0x3900, r1
    mov #0x5a80, &WDTCTL
    bis #0x10, r2
    nop
";
const ARM_SLEEPS: &str = "
start:
    wfi
    b start
tick:
    bx lr
";

/// Timer A and the watch crystal wake it at irregular times; it changes its clock, computes, sends,
/// and toggles P2.3.
const MSP430_BUSY: &str = "
start:
    mov #0x3900, r1
    mov #0x5a80, &WDTCTL
    bis.b #8, &P2DIR
    mov.b #0x11, &U1CTL
    mov.b #0x20, &U1TCTL
    mov.b #10, &U1BR0
    clr.b &U1BR1
    clr.b &U1MCTL
    bis.b #0x30, &ME2
    bic.b #1, &U1CTL
    mov #321, &TACCR0
    mov #0x10, &TACCTL0
    mov #0x0214, &TACTL
    mov #7, &TBCCR0
    mov #0x10, &TBCCTL0
    mov #0x0114, &TBCTL
    bis #0x18, r2
    nop
again:
    inc r10
    dint
    nop
    eint
    inc r11
    xor.b #3, &BCSCTL1
    jmp again
tick:
    xor.b #8, &P2OUT
    inc r12
    mov.b r12, &U1TXBUF
    bic #0x10, 0(r1)
    reti
slow:
    bit #1, r11
    jz stay
    bis #0x18, 0(r1)
stay:
    reti
    .section .vector.TIMERA0,\"a\"
    .word tick
    .section .vector.TIMERB0,\"a\"
    .word slow
";

/// `SysTick` wakes it; it computes for a while and sleeps again.
const ARM_BUSY: &str = "
start:
    ldr r0, =0xe000e010
    movw r1, #777
    str r1, [r0, #4]
    movs r1, #7
    str r1, [r0]
    ldr r4, =0x20000000
again:
    wfi
    movs r2, #20
work:
    ldr r3, [r4]
    adds r3, r3, r2
    str r3, [r4]
    subs r2, #1
    bne work
    b again
    .ltorg
tick:
    ldr r0, =0x20000010
    ldr r1, [r0]
    adds r1, #1
    str r1, [r0]
    bx lr
    .ltorg
";

type Kind = (Arc<Chip>, Arc<Image>, Options);

fn msp430(source: &str) -> Kind {
    let options = Options {
        marker: Some("P2.3".into()),
        trace: true,
        ..Options::default()
    };
    (common::chip(), common::image(source), options)
}

fn arm(source: &str) -> Kind {
    let options = Options {
        trace: true,
        ..Options::default()
    };
    (common::arm_chip(), common::arm_image(source), options)
}

fn machine((chip, image, options): &Kind) -> Machine {
    Machine::new(chip, &Wiring::default(), image, options).unwrap_or_else(|error| panic!("{error}"))
}

fn run_to_time(machine: &mut Machine, time: u64) -> Stop {
    let until = Until {
        time: Some(Picoseconds(time)),
        ..Until::default()
    };
    common::run(machine, until)
}

/// Everything observable about a machine.
fn state(machine: &mut Machine) -> String {
    let sent: Vec<_> = machine
        .serial_ports()
        .iter()
        .map(|port| machine.serial_read(port).expect("it is there"))
        .collect();
    format!(
        "{:?}",
        (
            machine.cycles(),
            machine.sleep_cycles(),
            machine.instructions(),
            machine.time(),
            machine.registers(),
            machine.marker_edges(),
            machine.power_tracks(),
            machine.pin_edges(),
            sent,
        )
    )
}

#[test]
fn a_core_that_sleeps_for_ever_sleeps_on_to_its_limit() {
    for kind in [msp430(MSP430_SLEEPS), arm(ARM_SLEEPS)] {
        let mut machine = machine(&kind);
        assert!(machine.next_event().is_some(), "it runs");
        let stop = common::run(&mut machine, Until::default());
        assert_eq!(stop.reason, Reason::Asleep);
        assert_eq!(machine.next_event(), None);
        let (begin, slept) = (machine.cycles(), machine.sleep_cycles());
        assert_eq!(
            common::run_for(&mut machine, 100_000).reason,
            Reason::Cycles
        );
        assert_eq!(machine.cycles() - begin, 100_000);
        assert_eq!(machine.sleep_cycles() - slept, 100_000);
        // A second is a whole number of cycles.
        assert_eq!(
            run_to_time(&mut machine, 1_000_000_000_000).reason,
            Reason::Time
        );
        assert_eq!(machine.time(), Picoseconds(1_000_000_000_000));
        let until = Until {
            asleep: true,
            max_cycles: Some(100),
            ..Until::default()
        };
        assert_eq!(common::run(&mut machine, until).reason, Reason::Asleep);
        let intervals = machine.power_tracks().remove(0).intervals;
        let total: u64 = intervals.iter().map(|i| i.end.0 - i.start.0).sum();
        assert_eq!(total, machine.time().0);
        assert_eq!(intervals.len(), 2, "{intervals:?}");
    }
}

#[test]
fn a_time_that_is_past_ends_a_run_before_it_begins() {
    for kind in [msp430(MSP430_BUSY), arm(ARM_BUSY)] {
        let mut machine = machine(&kind);
        common::run_for(&mut machine, 5000);
        let cycles = machine.cycles();
        assert_eq!(run_to_time(&mut machine, 1).reason, Reason::Time);
        assert_eq!(machine.cycles(), cycles);
    }
}

#[test]
fn a_run_ends_at_the_first_instruction_that_is_not_before_its_time() {
    // The MSP430 changes its clock during the run.
    for kind in [msp430(MSP430_BUSY), arm(ARM_BUSY)] {
        let mut machine = machine(&kind);
        for time in (1..40).map(|step| step * 77_777_777) {
            assert_eq!(run_to_time(&mut machine, time).reason, Reason::Time);
            let now = machine.time().0;
            // The longest instruction or interrupt entry takes less than 30 cycles.
            let instruction = 30 * 1_000_000_000_000 / u64::from(machine.clock_hz());
            assert!((time..time + instruction).contains(&now), "{time} {now}");
        }
    }
}

#[test]
fn a_machine_may_be_left_alone_until_its_next_event() {
    for kind in [msp430(MSP430_BUSY), arm(ARM_BUSY)] {
        let mut machine = machine(&kind);
        let mut slept = 0;
        for _ in 0..5000 {
            let event = machine.next_event().expect("timers run");
            if event == machine.time() {
                common::run_for(&mut machine, 1);
                continue;
            }
            slept += 1;
            let instructions = machine.instructions();
            run_to_time(&mut machine, event.0 - 1);
            assert_eq!(machine.instructions(), instructions);
        }
        assert!(slept > 5, "{slept}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    /// Stepping a machine by time, alternating with another, changes nothing observable.
    #[test]
    fn machines_in_turns_are_as_each_alone(steps in proptest::collection::vec(1_u64..90_000_000, 30)) {
        use std::sync::OnceLock;
        static KINDS: OnceLock<[Kind; 2]> = OnceLock::new();
        let kinds = KINDS.get_or_init(|| [msp430(MSP430_BUSY), arm(ARM_BUSY)]);
        let end: u64 = steps.iter().sum();
        let alone = kinds.each_ref().map(|kind| {
            let mut machine = machine(kind);
            run_to_time(&mut machine, end);
            state(&mut machine)
        });
        let mut machines = kinds.each_ref().map(machine);
        let mut time = 0;
        for step in steps {
            time += step;
            for machine in &mut machines {
                run_to_time(machine, time);
            }
        }
        let turns = machines.each_mut().map(state);
        prop_assert_eq!(turns, alone);
    }
}

#[test]
fn machines_move_between_threads() {
    let kind = msp430(MSP430_BUSY);
    let mut here = machine(&kind);
    run_to_time(&mut here, 50_000_000_000);
    let mut there = machine(&kind);
    run_to_time(&mut there, 20_000_000_000);
    let mut there = std::thread::spawn(move || {
        run_to_time(&mut there, 50_000_000_000);
        there
    })
    .join()
    .expect("it does not panic");
    assert_eq!(state(&mut here), state(&mut there));
}

#[test]
fn a_byte_that_is_sent_as_the_marker_moves_is_not_lost() {
    // At least 16 ticks per byte; the pin changes with one of the instructions around the stop bit.
    const LONGEST: u32 = 120;
    let kind = msp430(&format!(
        "
start:
    mov #0x3900, r1
    mov #0x5a80, &WDTCTL
    bis.b #8, &P2DIR
    mov.b #0x11, &U1CTL
    mov.b #0x20, &U1TCTL
    mov.b #10, &U1BR0
    clr.b &U1BR1
    clr.b &U1MCTL
    bis.b #0x30, &ME2
    bic.b #1, &U1CTL
    mov.b #'K', &U1TXBUF
    add r5, r0
    .rept {LONGEST}
    nop
    .endr
    xor.b #8, &P2OUT
done:
    jmp done
"
    ));
    let mut both = 0;
    for pause in 0..LONGEST {
        let mut machine = machine(&kind);
        let skipped_bytes = 2 * (LONGEST - pause);
        machine
            .set_register("r5", skipped_bytes)
            .unwrap_or_else(|error| panic!("{error}"));
        let until = Until {
            marker: true,
            serial: Some(b'K'),
            max_cycles: Some(1000),
            ..Until::default()
        };
        let reasons = [0, 1].map(|_| {
            let stop = common::run(&mut machine, until);
            (stop.reason, machine.cycles())
        });
        let mut names = reasons.map(|(reason, _)| reason.name());
        names.sort_unstable();
        assert_eq!(names, ["marker", "serial"], "after {pause} nops");
        both += u32::from(reasons[0].1 == reasons[1].1);
    }
    assert!(both > 0, "no pause makes them coincide");
}

#[test]
fn a_byte_that_nobody_awaits_any_more_ends_no_run() {
    let kind = msp430(MSP430_BUSY);
    let mut machine = machine(&kind);
    let until = Until {
        serial: Some(3),
        max_cycles: Some(1_000_000),
        ..Until::default()
    };
    assert_eq!(common::run(&mut machine, until).reason, Reason::Serial);
    assert_eq!(
        common::run_for(&mut machine, 100_000).reason,
        Reason::Cycles
    );
}

#[test]
fn addresses_are_digested_between_the_marker_s_edges_on_each_core() {
    // Outside the window the programs read different addresses; inside, the same ones.
    let msp430_reads = |outside: &str| {
        msp430(&format!(
            "
start:
    mov #0x3900, r1
    mov #0x5a80, &WDTCTL
    bis.b #8, &P2DIR
    mov &{outside}, r10
    bis.b #8, &P2OUT
    mov &0x1200, r10
    bic.b #8, &P2OUT
    mov &{outside}, r10
done:
    jmp done
"
        ))
    };
    // PA4 is an output of the STM32F100's port A.
    let arm_reads = |outside: &str| {
        let mut kind = arm(&format!(
            "
start:
    ldr r0, =0x40010800
    ldr r1, =0x44434444
    str r1, [r0]
    ldr r4, =0x20000100
    ldr r5, ={outside}
    movs r2, #16
    lsls r3, r2, #16
    ldr r6, [r5]
    str r2, [r0, #16]
    ldr r6, [r4]
    str r3, [r0, #16]
    ldr r6, [r5]
done:
    b done
tick:
    bx lr
    .ltorg
"
        ));
        kind.2.marker = Some("PA4".into());
        kind
    };
    let digest = |mut kind: Kind| {
        kind.2.secrets_trace = true;
        let mut machine = machine(&kind);
        common::run_for(&mut machine, 1000);
        assert_eq!(machine.marker_edges().len(), 2);
        machine.secrets_digest().expect("it is kept")
    };
    assert_eq!(
        digest(msp430_reads("0x1300")),
        digest(msp430_reads("0x1400"))
    );
    assert_eq!(
        digest(arm_reads("0x20000200")),
        digest(arm_reads("0x20000300"))
    );
    let whole = |mut kind: Kind| {
        (kind.2.secrets_trace, kind.2.marker) = (true, None);
        let mut machine = machine(&kind);
        common::run_for(&mut machine, 1000);
        machine.secrets_digest().expect("it is kept")
    };
    assert_ne!(whole(msp430_reads("0x1300")), whole(msp430_reads("0x1400")));
    assert_ne!(
        whole(arm_reads("0x20000200")),
        whole(arm_reads("0x20000300"))
    );
}
