//! Cycles and state of generated programs, equal to those of Hazard3's RTL (`docs/riscv.md`).

#[allow(dead_code)]
mod programs;

use programs::{Outcome, generate, run};

/// Of each program from number 1 on, the cycles (`-` for one that does not end) and a hash of its
/// state.
const COUNTS: &str = include_str!("hazard3-counts.txt");

#[test]
fn generated_programs_take_the_cycles_of_the_rtl_and_leave_its_state() {
    let mut ended = 0;
    for (number, line) in (1..).zip(COUNTS.lines()) {
        let (cycles, state) = line.split_once(' ').expect("a line has two fields");
        if let Ok(cycles) = cycles.parse() {
            ended += 1;
            let outcome: Outcome = run(&generate(number)).expect("it has no error");
            let found = (outcome.cycles, format!("{:08x}", outcome.state()));
            assert_eq!(found, (Some(cycles), state.to_owned()), "program {number}");
        }
    }
    assert!(ended > 1900, "{ended} programs end");
}
