//! Cycles and state of generated programs, equal to those of Hazard3's RTL (`docs/riscv.md`).

use crate::programs::{LONGEST, Outcome, Random, generate, look, overwriting, run};

/// Of each program from number 1 on, the cycles (`-` for one that does not end) and a hash of its
/// state.
const COUNTS: &str = include_str!("hazard3-counts.txt");

/// The same of programs, by number, that a wrong model did not agree on, of a million that it did:
/// an access behind a stalled store that is not requested; a push that is interrupted at its end; a
/// trap in the cycle after a jump before FENCE.I.
const FOUND: [(u64, &str); 6] = [
    (376_421, "178 6b12c09b"),
    (404_901, "134 166f5ebf"),
    (418_286, "107 d3961fcd"),
    (3_058_547, "160 0daad272"),
    (3_117_658, "59 6f44fb0c"),
    (3_141_592, "185 e8fe0439"),
];

#[test]
fn generated_programs_take_the_cycles_of_the_rtl_and_leave_its_state() {
    let mut ended = 0;
    for (number, line) in (1..).zip(COUNTS.lines()).chain(FOUND) {
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

/// Blocks that were timed once take as long, and do the same, as their instructions one by one.
#[test]
fn a_program_is_the_same_in_whatever_pieces_it_is_run() {
    for number in 5001..6000 {
        let program = if number % 5 == 0 {
            overwriting(number)
        } else {
            generate(number)
        };
        let mut random = Random::new(number);
        let digests = number % 2 == 0;
        let stepped = look(&program, || 1, digests, false);
        let whole = look(&program, || LONGEST, digests, false);
        assert_eq!(whole, stepped, "program {number}, in whole");
        let pieces = look(&program, || 1 + random.below(60), digests, true);
        assert_eq!(pieces, stepped, "program {number}, in pieces");
    }
}
