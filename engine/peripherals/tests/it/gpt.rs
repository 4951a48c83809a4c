//! General-purpose timers as TI's driver library and operating systems set them up.

use joulemark_kernel::{Cycles, FaultKind};
use joulemark_peripherals::Gpt;

const CFG: u32 = 0x00;
const TAMR: u32 = 0x04;
const CTL: u32 = 0x0c;
const IMR: u32 = 0x18;
const ICR: u32 = 0x24;
const TAILR: u32 = 0x28;
const TAMATCHR: u32 = 0x30;
const TAPR: u32 = 0x38;
const TAPMR: u32 = 0x40;
const PERIODIC: u32 = 2;
/// Timer A's edge flag.
const EDGE: u32 = 1 << 2;
/// `GPTIMER_CFG_PERIODIC_UP` (gptimer.h): periodic, up, with the match interrupt.
const PERIODIC_UP: u32 = 0x32;
/// TAPWMIE, and TAAMS, which selects PWM mode.
const PWM_INTERRUPT: u32 = 1 << 9;
const PWM: u32 = 1 << 3;

#[test]
fn the_interrupt_of_pwm_may_be_enabled_in_other_modes() {
    let mut timer = Gpt::default();
    let mode = PERIODIC_UP | PWM_INTERRUPT;
    timer.write(TAMR, mode, Cycles(0)).unwrap();
    // PWM needs 16 bits and counting down.
    let refused = timer.write(TAMR, mode | PWM, Cycles(0)).unwrap_err();
    assert_eq!(refused.kind, FaultKind::Absent);
}

#[test]
fn pwm_tells_of_its_edges() {
    // 979 cycles, high for 489: OpenWSN's pwm_init. With a prescaler, 65,536 more.
    for (upper, period, high) in [(0, 979, 489), (1, 979 + 65_536, 489)] {
        for (event, inverted) in [(0, 0), (1, 0), (3, 0), (0, 1), (1, 1)] {
            let mut timer = Gpt::default();
            let mut write = |offset, value| timer.write(offset, value, Cycles(0)).unwrap();
            write(CFG, 4);
            write(TAMR, PERIODIC | PWM | PWM_INTERRUPT);
            write(TAILR, 978);
            write(TAMATCHR, 489);
            write(TAPR, upper);
            write(TAPMR, upper);
            write(IMR, EDGE);
            write(CTL, event << 2 | inverted << 6);
            write(CTL, event << 2 | inverted << 6 | 1);
            let mut expected: Vec<u64> = Vec::new();
            let rises = (event != 1) != (inverted == 1);
            for round in 0..3 {
                if rises || event == 3 {
                    expected.push(round * period);
                }
                if !rises || event == 3 {
                    expected.push(round * period + high);
                }
            }
            let mut seen = Vec::new();
            while seen.len() < expected.len() {
                let at = timer.next_event();
                timer.advance(at);
                assert_eq!(timer.pending(), [true, false]);
                timer.write(ICR, EDGE, at).unwrap();
                assert!(!timer.pending()[0]);
                seen.push(at.0);
            }
            assert_eq!(seen, expected);
        }
    }
}

#[test]
fn a_timer_that_is_enabled_before_it_has_a_mode_counts_from_its_mode_on() {
    // As in RIOT's timer_init.
    let mut timer = Gpt::default();
    let mut write = |offset, value, now| timer.write(offset, value, Cycles(now)).unwrap();
    write(CFG, 4, 0);
    write(TAILR, 99, 0);
    write(IMR, 1, 0);
    write(CTL, 1, 100);
    write(TAMR, PERIODIC, 1000);
    assert_eq!(timer.read(CTL, Cycles(1000)), Some(1));
    assert_eq!(timer.next_event(), Cycles(1099));
}
