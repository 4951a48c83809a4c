//! Timers, watchdogs and clocks of the Cortex-M chips, which skip to the next event, against models
//! that count tick by tick as the manuals describe.

use joulemark_kernel::{Cycles, FaultKind, FineHertz, Hertz};
use joulemark_peripherals::{
    AonRtc, Gpt, Iwdg, Smwdthrosc, Stm32Rtc, Stm32Tim, TiWatchdog, Trng, Wwdg,
};
use proptest::prelude::*;

/// One half of a general-purpose timer, tick by tick.
struct SlowGpt {
    up: bool,
    one_shot: bool,
    load: u32,
    matched: u32,
    prescale: u32,
    value: u32,
    ticks: u32,
    running: bool,
    timeouts: u32,
    matches: u32,
}

impl SlowGpt {
    fn note(&mut self) {
        let end = if self.up { self.load } else { 0 };
        self.matches += u32::from(self.value == self.matched);
        if self.value == end {
            self.timeouts += 1;
            if self.one_shot {
                self.running = false;
                self.value = if self.up { 0 } else { self.load };
            }
        }
    }

    fn tick(&mut self) {
        if !self.running {
            return;
        }
        self.ticks += 1;
        if !self.ticks.is_multiple_of(self.prescale + 1) {
            return;
        }
        self.value = match (self.up, self.value) {
            (true, value) if value == self.load => 0,
            (true, value) => value + 1,
            (false, 0) => self.load,
            (false, value) => value - 1,
        };
        self.note();
    }
}

proptest! {
    #[test]
    fn general_purpose_timers_count_as_told(
        second in any::<bool>(), wide in any::<bool>(), up in any::<bool>(), one_shot in any::<bool>(),
        load in 0_u32..40, matched in 0_u32..45, prescale in 0_u32..5, divider in 0_u32..4,
        looks in proptest::collection::vec(1_u64..60, 1..30),
    ) {
        let second = second && !wide;
        let (half, shift) = if second { (4, 8) } else { (0, 0) };
        let mut gpt = Gpt::default();
        gpt.set_divider(1 << divider, Cycles(0));
        let mut write = |offset: u32, value: u32| gpt.write(offset, value, Cycles(0)).unwrap();
        write(0x00, if wide { 0 } else { 4 });
        write(0x04 + half, if one_shot { 1 } else { 2 } | u32::from(up) << 4 | 1 << 5);
        write(0x28 + half, load);
        write(0x30 + half, matched);
        write(0x38 + half, prescale);
        write(0x18, 0x11 << shift | if second { 1 << 11 } else { 0 });
        write(0x0c, 1 << shift);
        let match_bit = if second { 1 << 11 } else { 1 << 4 };
        let mut slow = SlowGpt {
            up, one_shot, load, matched,
            prescale: if wide { 0 } else { prescale },
            value: if up { 0 } else { load },
            ticks: 0, running: true, timeouts: 0, matches: 0,
        };
        slow.note();
        let (mut now, mut ticks) = (0_u64, 0_u64);
        for look in looks {
            // The next event was predicted.
            let due = gpt.next_event().0;
            now += look;
            gpt.advance(Cycles(now));
            while ticks < now >> divider {
                ticks += 1;
                slow.tick();
            }
            let ris = gpt.read(0x1c, Cycles(now)).unwrap();
            prop_assert_eq!(ris >> shift & 1 != 0, slow.timeouts > 0);
            prop_assert_eq!(ris & match_bit != 0, slow.matches > 0, "match");
            prop_assert_eq!(due <= now, slow.timeouts + slow.matches > 0, "due {}", due);
            prop_assert_eq!(gpt.pending()[usize::from(second)], slow.timeouts + slow.matches > 0);
            prop_assert_eq!(gpt.read(0x48 + half, Cycles(now)).unwrap(), slow.value);
            prop_assert_eq!(gpt.read(0x0c, Cycles(now)).unwrap() != 0, slow.running);
            gpt.write(0x24, u32::MAX, Cycles(now)).unwrap();
            (slow.timeouts, slow.matches) = (0, 0);
        }
    }
}

/// RM0041's up-counting mode, tick by tick.
struct SlowTim {
    psc: u32,
    next_psc: u32,
    arr: u32,
    ccr: [u32; 4],
    one_pulse: bool,
    prescaler: u32,
    count: u32,
    running: bool,
    flags: u32,
}

impl SlowTim {
    fn note(&mut self) {
        for (channel, &value) in self.ccr.iter().enumerate() {
            self.flags |= if self.count == value { 2 << channel } else { 0 };
        }
    }

    fn tick(&mut self) {
        if !self.running || self.arr == 0 {
            return;
        }
        if self.prescaler < self.psc {
            self.prescaler += 1;
            return;
        }
        self.prescaler = 0;
        if self.count == self.arr {
            self.count = 0;
            self.flags |= 1;
            self.psc = self.next_psc;
            self.running = !self.one_pulse;
        } else {
            self.count += 1;
        }
        if self.running {
            self.note();
        }
    }
}

proptest! {
    #[test]
    fn stm32_timers_count_as_told(
        psc in 0_u32..4, next_psc in 0_u32..4, arr in 1_u32..30,
        ccr in proptest::array::uniform4(0_u32..35), one_pulse in any::<bool>(),
        looks in proptest::collection::vec(1_u64..40, 1..30),
    ) {
        let mut tim = Stm32Tim::new(4);
        let mut write = |offset: u32, value: u32| tim.write(offset, value, Cycles(0)).unwrap();
        write(0x28, psc);
        write(0x2c, arr);
        write(0x14, 1); // EGR.UG takes the prescaler over.
        write(0x10, 0);
        write(0x28, next_psc);
        for (channel, value) in ccr.iter().enumerate() {
            write(0x34 + 4 * channel as u32, *value);
        }
        write(0x0c, 0x1f);
        write(0x00, 1 | u32::from(one_pulse) << 3);
        let mut slow = SlowTim {
            psc, next_psc, arr, ccr, one_pulse,
            prescaler: 0, count: 0, running: true, flags: 0,
        };
        slow.note();
        let mut now = 0;
        for look in looks {
            let due = tim.next_event().0;
            for _ in 0..look {
                now += 1;
                slow.tick();
            }
            let flags = tim.read(0x10, Cycles(now)).unwrap();
            prop_assert_eq!(flags, slow.flags);
            prop_assert_eq!(tim.read(0x24, Cycles(now)).unwrap(), slow.count);
            // An event never comes later than predicted; the prediction may be the overflow before
            // it.
            prop_assert!(due <= now || flags == 0, "due {}", due);
            tim.write(0x10, 0, Cycles(now)).unwrap();
            slow.flags = 0;
        }
    }
}

#[test]
fn what_timers_leave_out_is_named() {
    for (offset, value) in [(0x04, 3), (0x04, 8), (0x00, 1), (0x0c, 1 << 5)] {
        let fault = Gpt::default().write(offset, value, Cycles(0)).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Absent);
    }
    for (offset, value) in [
        (0x00, 0x10),
        (0x08, 1),
        (0x0c, 1 << 8),
        (0x18, 1),
        (0x20, 1),
    ] {
        let fault = Stm32Tim::new(4)
            .write(offset, value, Cycles(0))
            .unwrap_err();
        assert_eq!(fault.kind, FaultKind::Absent);
    }
}

/// The first cycle, in steps of `step`, at which a device resets the chip.
fn bite(mut advance: impl FnMut(Cycles) -> bool, step: usize, limit: u64) -> Option<u64> {
    (0..limit).step_by(step).find(|&now| !advance(Cycles(now)))
}

#[test]
fn watchdogs_bite_when_they_are_due_and_not_before() {
    // CC26x0: 100 counts of 32 cycles to the interrupt, and the same again to the reset.
    let mut wdt = TiWatchdog::default();
    wdt.write(0x00, 100, Cycles(0)).unwrap();
    wdt.write(0x08, 3, Cycles(0)).unwrap();
    assert!(wdt.advance(Cycles(3199)).is_ok() && !wdt.is_pending());
    assert!(wdt.advance(Cycles(3200)).is_ok() && wdt.is_pending());
    assert_eq!(
        wdt.advance(Cycles(6400)).unwrap_err().kind,
        FaultKind::Watchdog
    );
    wdt.write(0x0c, 1, Cycles(6399)).unwrap();
    assert!(!wdt.is_pending());
    assert!(wdt.advance(Cycles(9598)).is_ok());
    wdt.write(0xc00, 0, Cycles(9598)).unwrap();
    wdt.write(0x0c, 1, Cycles(9598)).unwrap();
    assert!(wdt.advance(Cycles(9598 + 3199)).is_ok() && !wdt.is_pending());

    // CC2538: intervals of the 32-kHz clock, and 0xa then 0x5 to clear.
    for (interval, ticks) in [(0, 32768), (1, 8192), (2, 512), (3, 64)] {
        let mut slow = Smwdthrosc::new(Hertz(32_768_000), Hertz(32_768).into());
        slow.write(0, 8 | interval, Cycles(0)).unwrap();
        assert!(slow.advance(Cycles(ticks * 1000 - 1)).is_ok());
        slow.write(0, 0xa8, Cycles(ticks * 500)).unwrap();
        slow.write(0, 0x58, Cycles(ticks * 500)).unwrap();
        assert_eq!(slow.next_event(), Cycles(ticks * 1500));
        assert!(slow.advance(Cycles(ticks * 1500)).is_err());
    }

    // IWDG: (RLR + 1) periods of 4 << PR; settings are rejected without the key.
    for pr in 0..7 {
        let mut iwdg = Iwdg::new(40_000, 40_000);
        assert!(iwdg.write(0x04, pr, Cycles(0)).is_err());
        iwdg.write(0x00, 0x5555, Cycles(0)).unwrap();
        iwdg.write(0x04, pr, Cycles(0)).unwrap();
        iwdg.write(0x08, 9, Cycles(0)).unwrap();
        iwdg.write(0x00, 0xcccc, Cycles(0)).unwrap();
        assert_eq!(iwdg.next_event(), Cycles(10 * (4 << pr)));
        iwdg.write(0x00, 0xaaaa, Cycles(7)).unwrap();
        assert!(iwdg.advance(Cycles(6 + 10 * (4 << pr))).is_ok());
        assert!(iwdg.advance(Cycles(7 + 10 * (4 << pr))).is_err());
    }

    // WWDG: from T to 0x3f in steps of 4096 << WDGTB; the window is open below W.
    for timebase in 0..4_u32 {
        let step = 4096_u64 << timebase;
        let mut wwdg = Wwdg::default();
        wwdg.write(0x04, timebase << 7 | 1 << 9 | 0x50, Cycles(0))
            .unwrap();
        wwdg.write(0x00, 0xff, Cycles(0)).unwrap();
        assert!(wwdg.write(0x00, 0xff, Cycles(step)).is_err());
        assert!(wwdg.advance(Cycles(0x3f * step - 1)).is_ok() && !wwdg.is_pending());
        assert!(wwdg.advance(Cycles(0x3f * step)).is_ok() && wwdg.is_pending());
        let found = bite(|now| wwdg.advance(now).is_ok(), step as usize, 100 * step);
        assert_eq!(found, Some(0x40 * step));
    }
}

proptest! {
    #[test]
    fn the_always_on_clock_keeps_time_and_meets_its_compare_values(
        compares in proptest::collection::vec(1_u32..300_000, 1..8), core_hz in 1_000_000_u32..48_000_000,
    ) {
        let mut rtc = AonRtc::new(Hertz(core_hz), Hertz(32_768).into());
        rtc.write(0x14, 1, Cycles(0)).unwrap();
        rtc.write(0x00, 1 << 16 | 1, Cycles(0)).unwrap();
        let mut start = Cycles(0);
        for compare in compares {
            let seconds = rtc.read(0x08, start).unwrap();
            let time = seconds << 16 | rtc.read(0x0c, start).unwrap() >> 16;
            rtc.write(0x18, time + compare, start).unwrap();
            rtc.write(0x04, u32::MAX, start).unwrap();
            let due = rtc.next_event();
            rtc.advance(Cycles(due.0 - 1));
            prop_assert!(!rtc.is_pending());
            rtc.advance(due);
            prop_assert!(rtc.is_pending());
            // The compare value is in units of 2^-16 s, half a period of the clock.
            let wanted = u64::from(time + compare) * u64::from(core_hz) / 65_536;
            prop_assert!(due.0.abs_diff(wanted) <= u64::from(core_hz) / 32_768 + 1);
            start = due;
        }
    }

    #[test]
    fn a_prescaler_counts_whether_it_was_set_before_the_configuration_or_after(
        prescale in 0_u32..256, steps in 1_u64..60_000, first: bool,
    ) {
        // Two 16-bit timers, periodic and counting down from 65,535.
        let mut gpt = Gpt::default();
        let mut settings = vec![(0x38, prescale), (0x00, 4)];
        if !first {
            settings.reverse();
        }
        settings.extend([(0x04, 2), (0x28, 0xffff), (0x0c, 1)]);
        for (offset, value) in settings {
            prop_assert!(gpt.write(offset, value, Cycles(0)).unwrap());
        }
        let now = Cycles(steps * u64::from(prescale + 1));
        prop_assert_eq!(u64::from(gpt.read(0x48, now).unwrap()), 0xffff - steps);
        prop_assert_eq!(gpt.read(0x38, now), Some(prescale));
    }

    #[test]
    fn the_sleep_timer_wakes_at_its_value(away in 5_u32..5_000_000, start in 0_u64..1_000_000) {
        let mut timer = Smwdthrosc::new(Hertz(32_000_000), Hertz(32_768).into());
        let at = Cycles(start);
        let bytes: Vec<u32> = (0..4).map(|i| timer.read(0x40 + 4 * i, at).unwrap()).collect();
        let count = bytes.iter().rev().fold(0, |count, byte| count << 8 | byte);
        prop_assert_eq!(u64::from(count), start * 32_768 / 32_000_000);
        for (i, byte) in (count + away).to_le_bytes().iter().enumerate().rev() {
            timer.write(0x40 + 4 * i as u32, (*byte).into(), at).unwrap();
        }
        let due = timer.next_event();
        prop_assert_eq!(due.0, (u64::from(count + away) * 32_000_000).div_ceil(32_768));
        timer.advance(due).unwrap();
        prop_assert!(timer.is_pending());
        timer.advance(due + Cycles(1)).unwrap();
        prop_assert!(!timer.is_pending());
    }

    #[test]
    fn a_sleep_timer_goes_with_its_crystal(ppb in -500_000_i32..500_000, seconds in 1_u32..1000) {
        let low = FineHertz::new(Hertz(32_768), ppb);
        let mut timer = Smwdthrosc::new(Hertz(32_000_000), Hertz(32_768).into());
        let count = |seconds: u32, timer: &mut Smwdthrosc| {
            let at = Cycles(u64::from(seconds) * 32_000_000);
            let bytes: Vec<u32> = (0..4).map(|i| timer.read(0x40 + 4 * i, at).unwrap()).collect();
            bytes.iter().rev().fold(0_u32, |count, byte| count << 8 | byte)
        };
        prop_assert_eq!(count(10, &mut timer), 327_680);
        timer.set_clocks(Hertz(32_000_000), low, Cycles(10 * 32_000_000));
        let wanted = f64::from(seconds) * (1.0 + f64::from(ppb) * 1e-9);
        let counted = count(10 + seconds, &mut timer) - 327_680;
        prop_assert!((f64::from(counted) - wanted * 32_768.0).abs() < 1.1, "{counted} for {wanted} s");
        let mut rtc = AonRtc::new(Hertz(48_000_000), Hertz(32_768).into());
        rtc.write(0, 1, Cycles(0)).unwrap();
        rtc.set_clocks(Hertz(48_000_000), low, Cycles(0));
        let time_us = (rtc.time(Cycles(u64::from(seconds) * 48_000_000)) * 1_000_000) >> 32;
        let time_us = f64::from(u32::try_from(time_us).unwrap());
        prop_assert!((time_us - wanted * 1e6).abs() < 40.0, "{time_us} us for {wanted} s");
    }

    #[test]
    fn the_stm32s_clock_counts_and_alarms(prescaler in 0_u32..2000, alarm in 1_u32..50, hz in 1000_u32..40_000) {
        let mut rtc = Stm32Rtc::default();
        prop_assert!(rtc.write(0x04, 1 << 4, Cycles(0)).is_err(), "no clock");
        rtc.set_clock(Some(Hertz(hz).into()), Hertz(8_000_000), Cycles(0));
        prop_assert!(rtc.write(0x0c, prescaler, Cycles(0)).is_err(), "no configuration mode");
        for (offset, value) in [(0x04, 1 << 4), (0x08, 0), (0x0c, prescaler), (0x20, 0), (0x24, alarm), (0x04, 0), (0x00, 2)] {
            rtc.write(offset, value, Cycles(0)).unwrap();
        }
        let steps = u64::from(alarm + 1) * u64::from(prescaler + 1);
        let due = (steps * 8_000_000).div_ceil(u64::from(hz));
        prop_assert_eq!(rtc.next_event(), Cycles(due));
        rtc.advance(Cycles(due - 1));
        prop_assert!(!rtc.is_pending());
        rtc.advance(Cycles(due));
        prop_assert!(rtc.is_pending());
        prop_assert_eq!(rtc.read(0x1c, Cycles(due)), Some(alarm + 1));
    }

    #[test]
    fn random_numbers_follow_from_the_seed_and_take_their_samples(
        seed in any::<u32>(), startup in 1_u32..100, refill in 1_u32..100, divider in 0_u32..16,
    ) {
        let numbers = |seed: u32| {
            let mut trng = Trng::new(seed);
            trng.write(0x18, refill << 16 | divider << 8, Cycles(0));
            trng.write(0x14, startup << 16 | 1 << 10, Cycles(0));
            let mut now = Cycles(u64::from(startup) * 256 * u64::from(divider + 1));
            assert_eq!(trng.next_event(), now);
            let mut found = Vec::new();
            for _ in 0..4 {
                trng.advance(Cycles(now.0 - 1));
                assert_eq!(trng.read(0x08), Some(1 << 31));
                trng.advance(now);
                assert_eq!(trng.read(0x08), Some(1));
                found.push((trng.read(0x00), trng.read(0x04)));
                trng.write(0x10, 1, now);
                now += Cycles(u64::from(refill) * 256 * u64::from(divider + 1));
            }
            found
        };
        let first = numbers(seed);
        prop_assert_eq!(&first, &numbers(seed));
        prop_assert_ne!(first, numbers(seed.wrapping_add(2)));
    }
}
