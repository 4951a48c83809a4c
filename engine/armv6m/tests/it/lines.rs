//! Memory with wait states, counted by hand from the rules of the kernel's `lines.rs`.

use joulemark_armv6m::Core;
use joulemark_kernel::lines::{Lines, Settings};

use crate::common::{Chip, DEVICE, RAM, core_with, put, run_to};

const NOP: u16 = 0xbf00;

/// Code at address 0 in lines of 8 bytes, with a cache of two.
fn late(code: &[u16], wait_states: u8, settings: Settings) -> Core<Chip> {
    let mut core = core_with(&[], |config| {
        config.lines = Some(Lines {
            range: 0..0x100,
            wait_states,
            line_bytes: 8,
            sets: 1,
            ways: 2,
            only_fetches: true,
        });
    });
    core.bus.settings = settings;
    put(&mut core, 0, code);
    core.reset(RAM, RAM + 0x1000, 1);
    core
}

fn with(cache: bool, prefetch: bool) -> Settings {
    Settings {
        cache,
        prefetch,
        ..Settings::default()
    }
}

/// Two lines of four instructions each.
#[test]
fn each_line_waits_unless_it_was_read_ahead() {
    let time = |waits, settings| run_to(&mut late(&[NOP; 16], waits, settings), 16);
    assert_eq!(time(0, with(false, false)), 8);
    assert_eq!(time(2, with(false, false)), 8 + 2 + 2);
    assert_eq!(time(2, with(false, true)), 8 + 2);
    // Asked for after four cycles, and there after eight.
    assert_eq!(time(7, with(false, true)), 8 + 7 + 4);
}

#[test]
fn the_chips_setting_of_wait_states_counts() {
    let settings = Settings {
        wait_states: Some(1),
        ..with(false, false)
    };
    assert_eq!(run_to(&mut late(&[NOP; 16], 2, settings), 16), 8 + 1 + 1);
}

/// A loop of six instructions in two lines, three times: 1 + 1 + 1 + 1 + 1 and a branch of 2, or 1.
#[test]
fn a_cache_keeps_the_lines_of_a_loop() {
    let code = [0x2003, 0x3801, NOP, NOP, NOP, 0xd1fa]; // movs r0, #3; 1: subs r0, #1; ...; bne 1b
    let time = |settings| run_to(&mut late(&code, 2, settings), 12);
    let plain = 1 + 3 * 4 + 2 * 2 + 1;
    assert_eq!(time(with(true, false)), plain + 2 * 2);
    assert_eq!(time(with(false, false)), plain + 6 * 2);
}

/// In turn three lines are used, and there is room for two.
#[test]
fn the_line_that_was_not_used_for_longest_makes_way() {
    // b 0x10; ...; 0x10: b 0x20; ...; 0x20: subs r0, #1; bne 0
    let mut code = [NOP; 24];
    code[0] = 0xe006;
    code[8] = 0xe006;
    (code[16], code[17]) = (0x3801, 0xd1ed);
    let mut core = late(&code, 2, with(true, false));
    core.set_register(0, 3);
    let plain = 3 * (2 + 2 + 1) + 2 * 2 + 1;
    assert_eq!(run_to(&mut core, 0x24), plain + 9 * 2);
}

#[test]
fn a_load_waits_and_reading_ahead_begins_again() {
    let mut code = [NOP; 32];
    code[0] = 0x4803; // ldr r0, [pc, #12]: 0x10
    let time = |settings| run_to(&mut late(&code, 2, settings), 8);
    assert_eq!(time(with(false, false)), 2 + (2 + 2) + 3);
    // From its own line.
    code[0] = 0x4800;
    let time = |settings| run_to(&mut late(&code, 2, settings), 8);
    assert_eq!(time(with(false, false)), 2 + 2 + 3);
}

#[test]
fn what_a_store_sets_counts_from_there_on() {
    // str r1, [r4]; then nops in three lines.
    let mut code = [NOP; 16];
    code[0] = 0x6021;
    let mut core = late(&code, 2, with(false, false));
    core.bus.settings.wait_states = Some(0);
    core.set_register(4, DEVICE);
    // The reset took the settings over: two wait states in the first line alone.
    assert_eq!(run_to(&mut core, 16), 2 + 2 + 7);
    assert_eq!(core.register(15), 16);
}
