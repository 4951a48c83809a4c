//! General-purpose timers as TI's driver library sets them.

use joulemark_kernel::{Cycles, FaultKind};
use joulemark_peripherals::Gpt;

const TAMR: u32 = 0x04;
/// `GPTIMER_CFG_PERIODIC_UP` (gptimer.h): periodic, up, its match's interrupt.
const PERIODIC_UP: u32 = 0x32;
/// TAPWMIE, and TAAMS, which makes it a PWM timer.
const PWM_INTERRUPT: u32 = 1 << 9;
const PWM: u32 = 1 << 3;

#[test]
fn the_interrupt_of_pwm_may_be_enabled_in_other_modes() {
    let mut timer = Gpt::default();
    let mode = PERIODIC_UP | PWM_INTERRUPT;
    timer.write(TAMR, mode, Cycles(0)).unwrap();
    let refused = timer.write(TAMR, mode | PWM, Cycles(0)).unwrap_err();
    assert_eq!(refused.kind, FaultKind::Absent);
}
