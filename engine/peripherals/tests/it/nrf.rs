//! The nRF52840's timers, counters, pins, flash controller and interconnect, against its
//! specification.

use crate::memory::Memory;
use joulemark_kernel::chip::{Constant, Grade};
use joulemark_kernel::{Cycles, FaultKind, FineHertz, Hertz};
use joulemark_peripherals::flash_cells::{FlashRange, FlashTimes};
use joulemark_peripherals::{
    Nrf, NrfEgu, NrfGpiote, NrfNvmc, NrfPpi, NrfRng, NrfRtc, NrfTimer, NrfWatchdog,
};

const CORE: Hertz = Hertz(64_000_000);
const INTENSET: u32 = 0x304;
const SHORTS: u32 = 0x200;
const CC: u32 = 0x540;
const COMPARE: u32 = 0x140;

fn low() -> FineHertz {
    Hertz(32_768).into()
}

fn set(block: &mut dyn Nrf, now: u64, values: &[(u32, u32)]) {
    for &(offset, value) in values {
        assert_eq!(
            block.write(offset, value, Cycles(now)),
            Ok(true),
            "{offset:#x}"
        );
    }
}

/// The times of events until `until`, and the register of each.
fn events(block: &mut dyn Nrf, until: u64) -> Vec<(u64, u32)> {
    let mut seen = Vec::new();
    while block.next_event().0 <= until {
        let at = block.next_event();
        block.advance(at).unwrap();
        let new = block.events_mut().take_new();
        seen.extend(
            (0..32)
                .filter(|bit| new >> bit & 1 != 0)
                .map(|bit| (at.0, 0x100 + 4 * bit)),
        );
    }
    seen
}

#[test]
fn a_timer_compares_clears_and_captures() {
    // 1 MHz: a tick is 64 cycles.
    let mut timer = NrfTimer::new(4);
    set(
        &mut timer,
        100,
        &[
            (0x510, 4),
            (0x508, 3),
            (CC, 10),
            (CC + 4, 25),
            (SHORTS, 2),
            (0x000, 1),
        ],
    );
    let tick = |ticks: u64| 100 + 64 * ticks;
    assert_eq!(
        events(&mut timer, tick(60)),
        [
            (tick(10), COMPARE),
            (tick(25), COMPARE + 4),
            // It reached 25 and was cleared there.
            (tick(35), COMPARE),
            (tick(50), COMPARE + 4),
            (tick(60), COMPARE),
        ]
    );
    set(&mut timer, tick(62) + 63, &[(0x048, 1)]);
    assert_eq!(timer.read(CC + 8, Cycles(tick(63))), Some(12), "captured");
    assert!(!timer.events().is_pending());
    set(&mut timer, tick(63), &[(INTENSET, 1 << 16)]);
    assert!(timer.events().is_pending());
    set(&mut timer, tick(63), &[(COMPARE, 0), (0x004, 1)]);
    assert!(!timer.events().is_pending());
    assert_eq!(timer.next_event(), Cycles::NEVER, "stopped");
}

#[test]
fn a_short_timer_comes_round_and_counts_tasks() {
    // 16 bits at 16 MHz: 4 cycles per tick. Without CLEAR, a compare matches once per round.
    let mut timer = NrfTimer::new(6);
    set(&mut timer, 0, &[(0x510, 0), (CC, 5)]);
    for channel in 1..6 {
        set(&mut timer, 0, &[(CC + 4 * channel, 5)]);
    }
    set(&mut timer, 0, &[(0x000, 1)]);
    let times: Vec<u64> = events(&mut timer, 600_000)
        .iter()
        .map(|&(at, _)| at)
        .collect();
    let mut distinct = times.clone();
    distinct.dedup();
    assert_eq!(times.len(), 6 * distinct.len());
    assert_eq!(distinct, [20, 20 + 4 * 65_536, 20 + 8 * 65_536]);

    let mut counter = NrfTimer::new(4);
    set(
        &mut counter,
        0,
        &[(0x504, 1), (CC, 2), (0x000, 1), (0x008, 1)],
    );
    assert_eq!(counter.read(COMPARE, Cycles(9)), Some(0));
    set(&mut counter, 10, &[(0x008, 1)]);
    assert_eq!(counter.read(COMPARE, Cycles(11)), Some(1));
}

#[test]
fn a_real_time_counter_tells_only_what_it_was_asked_for() {
    let mut rtc = NrfRtc::new(3, CORE, low());
    // 1024 Hz: 62,500 cycles each.
    set(
        &mut rtc,
        0,
        &[(0x508, 31), (CC, 3), (CC + 4, 5), (0x000, 1)],
    );
    assert_eq!(
        rtc.next_event(),
        Cycles::NEVER,
        "no clock, and nothing is wanted"
    );
    rtc.set_clock(true, Cycles(0));
    assert_eq!(rtc.next_event(), Cycles::NEVER);
    set(&mut rtc, 0, &[(INTENSET, 1 << 16), (0x344, 1 << 17)]);
    assert_eq!(
        events(&mut rtc, 400_000),
        [(187_500, COMPARE), (312_500, COMPARE + 4)]
    );
    assert!(rtc.events().is_pending());
    assert_eq!(rtc.read(0x504, Cycles(400_000)), Some(6));
    // Its clock stops, and the counter with it.
    rtc.set_clock(false, Cycles(400_000));
    assert_eq!(rtc.read(0x504, Cycles(4_000_000)), Some(6));
    rtc.set_clock(true, Cycles(4_000_000));
    assert_eq!(rtc.read(0x504, Cycles(4_062_500)), Some(7));
    // 16 steps before the overflow, then 0.
    set(&mut rtc, 4_062_500, &[(0x00c, 1), (0x344, 2)]);
    assert_eq!(events(&mut rtc, 5_062_500), [(5_062_500, 0x104)]);
    // The prescaler is locked while the counter runs.
    set(&mut rtc, 5_062_500, &[(0x508, 0)]);
    assert_eq!(rtc.read(0x508, Cycles(5_062_500)), Some(31));
}

#[test]
fn random_bytes_come_one_by_one_and_follow_from_the_seed() {
    let bytes = |seed| {
        let mut rng = NrfRng::new(seed);
        set(&mut rng, 0, &[(0x504, 1), (0x000, 1)]);
        let mut bytes = Vec::new();
        for byte in 1..=64_u64 {
            assert_eq!(rng.next_event(), Cycles(byte * 120 * 64));
            rng.advance(rng.next_event()).unwrap();
            bytes.push(rng.read(0x508, Cycles(0)).unwrap());
        }
        bytes
    };
    assert_eq!(bytes(1), bytes(1));
    assert_ne!(bytes(1), bytes(2));
}

#[test]
fn the_watchdog_wants_all_that_are_enabled() {
    let reload = 0x6e52_4635;
    let mut watchdog = NrfWatchdog::new(CORE, low());
    // Half a second: 32 million cycles.
    set(&mut watchdog, 0, &[(0x504, 16_383), (0x508, 3), (0x000, 1)]);
    set(&mut watchdog, 10_000_000, &[(0x600, reload), (0x604, 1)]);
    assert_eq!(
        watchdog.next_event(),
        Cycles(32_000_000),
        "the second was not reloaded"
    );
    set(&mut watchdog, 20_000_000, &[(0x604, reload)]);
    assert_eq!(watchdog.next_event(), Cycles(52_000_000));
    let bites = watchdog.advance(Cycles(52_000_000)).unwrap_err();
    assert_eq!(bites.kind, FaultKind::Watchdog);
}

#[test]
fn pins_tell_of_edges_and_levels() {
    let mut pins = NrfGpiote::default();
    // P0.04 rising, P1.02 both, P0.05 falling.
    set(
        &mut pins,
        0,
        &[
            (0x510, 1 | 4 << 8 | 1 << 16),
            (0x514, 1 | 2 << 8 | 1 << 13 | 3 << 16),
        ],
    );
    set(&mut pins, 0, &[(0x518, 1 | 5 << 8 | 2 << 16)]);
    let mut change = |port, level, changed| {
        pins.pins_changed(port, level, changed);
        pins.events_mut().take_new()
    };
    assert_eq!(change(0, 0x30, 0x30), 1);
    assert_eq!(change(0, 0, 0x30), 4);
    assert_eq!(change(1, 4, 4), 2);
    assert_eq!(change(1, 0, 4), 2);
    // Level sensing: PORT once until the level has gone, and LATCH until cleared.
    pins.set_sense(0, 7, 3, 1 << 7);
    assert_eq!(pins.events_mut().take_new(), 0);
    for expected in [1 << 31, 0] {
        pins.pins_changed(0, 0, 1 << 7);
        assert_eq!(pins.events_mut().take_new(), expected);
    }
    assert_eq!(pins.latch(0), 1 << 7);
    pins.pins_changed(0, 1 << 7, 1 << 7);
    pins.clear_latch(0, u32::MAX);
    assert_eq!(pins.latch(0), 0);
    // Tasks: OUT toggles, SET drives high; a channel in event mode has none.
    set(&mut pins, 0, &[(0x51c, 3 | 9 << 8 | 3 << 16 | 1 << 20)]);
    assert_eq!(pins.driven(3), Some((0, 9, true)));
    assert_eq!(pins.output(3), Some((0, 9, None)));
    assert_eq!(pins.output(15), Some((0, 9, Some(true))));
    assert_eq!(pins.output(27), Some((0, 9, Some(false))));
    assert_eq!(pins.output(0), None);
}

#[test]
fn the_interconnect_leads_events_to_tasks() {
    let (event, task, fork) = (0x4000_8140, 0x4001_4000, 0x4000_9004);
    let mut ppi = NrfPpi::new(0x4000_b000, 0x4000_8000, 0x4000_1000);
    for (offset, value) in [
        (0x510 + 8 * 3, event),
        (0x514 + 8 * 3, task),
        (0x910 + 4 * 3, fork),
    ] {
        assert!(ppi.write(offset, value));
    }
    assert_eq!(ppi.tasks(event), [0; 0]);
    assert!(ppi.write(0x504, 1 << 3 | 1 << 31));
    assert_eq!(ppi.tasks(event), [task, fork]);
    // Channel 31 is wired so that real-time counter 0 starts timer 0.
    assert_eq!(ppi.tasks(0x4000_b140), [0x4000_8000]);
    // A group's tasks.
    assert!(ppi.write(0x800, 1 << 3) && ppi.write(0x004, 1));
    assert_eq!(ppi.tasks(event), [0; 0]);
    assert!(ppi.write(0x000, 1));
    assert_eq!(ppi.tasks(event), [task, fork]);

    let mut egu = NrfEgu::default();
    set(&mut egu, 0, &[(4 * 7, 1)]);
    assert_eq!(egu.read(0x100 + 4 * 7, Cycles(0)), Some(1));
}

#[test]
fn flash_is_programmed_by_stores_and_erased_by_pages() {
    let constant = |value| Constant {
        value,
        source: "a test".into(),
        grade: Grade::Inferred,
    };
    let times = FlashTimes {
        page_erase_s: constant(85e-3),
        word_write_s: constant(41e-6),
    };
    let range = FlashRange {
        start: 0,
        size: 8192,
        page: 4096,
    };
    let mut nvmc = NrfNvmc::new(range, times, 64_000_000, 0);
    let mut flash = Memory {
        start: 0,
        bytes: vec![0x33; 8192],
        is_flash: true,
    };
    assert!(!nvmc.takes_stores());
    assert!(
        nvmc.write(0x508, 4096, Cycles(0)).is_err(),
        "CONFIG does not allow it"
    );
    assert_eq!(nvmc.write(0x504, 2, Cycles(0)), Ok(true));
    assert_eq!(nvmc.write(0x508, 4100, Cycles(0)), Ok(true));
    assert_eq!(nvmc.read(0x400, Cycles(5_439_999)), Some(0), "85 ms");
    assert_eq!(nvmc.transfer(&mut flash, Cycles(5_439_999)), Ok(true));
    let erased = flash.bytes[4096..].iter().filter(|&&byte| byte == 0xff);
    assert!((1..4096).contains(&erased.count()), "not yet all");
    assert_eq!(nvmc.read(0x400, Cycles(5_440_000)), Some(1));
    assert_eq!(nvmc.transfer(&mut flash, Cycles(5_440_000)), Ok(true));
    assert_eq!(
        (flash.bytes[4095], nvmc.next_event()),
        (0x33, Cycles::NEVER)
    );
    assert_eq!(flash.bytes[4096..], [0xff; 4096]);
    assert_eq!(nvmc.write(0x504, 1, Cycles(6_000_000)), Ok(true));
    assert!(nvmc.takes_stores());
    for value in [0xffff_ff0f, 0xffff_fff3] {
        nvmc.store(4100, value, Cycles(6_000_000));
    }
    assert_eq!(
        nvmc.read(0x400, Cycles(6_005_247)),
        Some(0),
        "two words of 41 us"
    );
    assert_eq!(nvmc.read(0x400, Cycles(6_005_248)), Some(1));
    assert_eq!(nvmc.transfer(&mut flash, Cycles(6_005_248)), Ok(true));
    assert_eq!(
        flash.bytes[4096..4102],
        [0xff, 0xff, 0xff, 0xff, 0x03, 0xff],
        "bits only go to 0"
    );
    nvmc.store(8192, 0, Cycles(7_000_000));
    let refused = nvmc.transfer(&mut flash, Cycles(7_002_624)).unwrap_err();
    assert_eq!(refused.kind, FaultKind::FlashWrite);
}
