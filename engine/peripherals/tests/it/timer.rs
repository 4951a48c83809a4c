//! The timer, which skips to the next event, against one that counts every tick.

use std::path::Path;

use joulemark_kernel::{Chip, Cycles};
use joulemark_peripherals::timer::{Input, Kind};
use joulemark_peripherals::{BasicClock, Timer};
use proptest::prelude::*;

/// SLAU049F, sections 11.2.3 and 11.2.4, literally: count by count.
#[derive(Default)]
struct Reference {
    mode: u16,
    divider: u64,
    counter: u16,
    down: bool,
    ticks: u64,
    compare: [u16; 3],
    equal: [bool; 3],
    overflow: bool,
    /// Output of channel 1 in toggle mode.
    toggled: bool,
}

impl Reference {
    fn tick(&mut self) {
        self.ticks += 1;
        if !self.ticks.is_multiple_of(self.divider) {
            return;
        }
        let limit = if self.mode == 2 {
            0xffff
        } else {
            self.compare[0]
        };
        if limit == 0 {
            return;
        }
        if self.mode == 3 {
            if self.counter >= limit {
                self.down = true;
            } else if self.counter == 0 {
                self.down = false;
            }
            self.counter = if self.down {
                self.counter - 1
            } else {
                self.counter + 1
            };
            // It turns on arrival, not on departure.
            if self.counter == 0 || self.counter == limit {
                self.down = self.counter != 0;
            }
        } else if self.counter >= limit {
            self.counter = 0;
        } else {
            self.counter += 1;
        }
        self.overflow |= self.counter == 0;
        for (equal, &compare) in self.equal.iter_mut().zip(&self.compare) {
            *equal |= self.counter == compare;
        }
        self.toggled ^= self.counter == self.compare[1];
    }
}

fn compare() -> impl Strategy<Value = u16> {
    prop_oneof![0_u16..20, 0_u16..2000, any::<u16>()]
}

proptest! {
    #[test]
    fn skipping_equals_counting(
        kind in prop_oneof![Just(Kind::A), Just(Kind::B)],
        mode in 1_u16..4,
        divider in 0_u16..4,
        compare in [compare(), compare(), compare()],
        start in compare(),
        looks in proptest::collection::vec(
            (
                prop_oneof![1_u64..50, 1_u64..5000, 1_u64..200_000],
                proptest::option::of(compare()),
                // The polling interval of the counter in cycles.
                proptest::option::of(1_u64..30),
            ),
            1..8,
        ),
    ) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips/msp430f1611.toml");
        let chip = Chip::load(&path).expect("loads");
        let parameters = chip.needed_section("basic_clock").expect("is there");
        let clock = BasicClock::new(parameters, 0, 1_000_000);
        let pins = [Input::Pin, Input::Pin];
        let mut timer = Timer::new(kind, "timer", &[pins, pins, pins]);
        let mut reference = Reference {
            mode, divider: 1 << divider, counter: start, compare, ..Reference::default()
        };
        let mut now = Cycles(0);
        for (channel, &value) in compare.iter().enumerate() {
            timer.set_txccr(channel, value, &clock, now);
        }
        // Channel 1 toggles its output; channel 2's interrupt is enabled.
        timer.set_txcctl(1, 0x0080, &clock, now).expect("is there");
        timer.set_txcctl(2, 0x0010, &clock, now).expect("is there");
        timer.set_txr(start, &clock, now);
        timer.set_txctl(0x0200 | divider << 6 | mode << 4, &clock, now).expect("is there");
        for (look, moved, poll) in looks {
            if let Some(counter) = moved {
                timer.set_txr(counter, &clock, now);
                reference.counter = counter;
            }
            // Channel 2's event is due exactly when the count reaches its value.
            let due = timer.next_event(&clock);
            prop_assert!(due > now);
            for cycle in 0..look {
                let before = reference.equal[2];
                reference.tick();
                now += Cycles(1);
                if reference.equal[2] && !before {
                    prop_assert_eq!(due, now);
                }
                if poll.is_some_and(|poll| cycle % poll == 0) {
                    timer.look(&clock, now);
                    prop_assert_eq!(timer.txr(now), reference.counter);
                    prop_assert_eq!(timer.txctl() & 1 != 0, reference.overflow);
                }
            }
            timer.look(&clock, now);
            prop_assert_eq!(due <= now, reference.equal[2] && due != Cycles::NEVER);
            prop_assert_eq!(timer.txr(now), reference.counter);
            prop_assert_eq!(timer.txctl() & 1 != 0, reference.overflow);
            for channel in 0..3 {
                let flag = timer.txcctl(channel, &clock, now) & 1 != 0;
                prop_assert_eq!(flag, reference.equal[channel], "channel {}", channel);
            }
            prop_assert_eq!(timer.output(1), reference.toggled);
            // Clear all flags for the next round.
            reference.equal = [false; 3];
            reference.overflow = false;
            timer.set_txctl(0x0200 | divider << 6 | mode << 4, &clock, now).expect("is there");
            timer.set_txcctl(0, 0, &clock, now).expect("is there");
            timer.set_txcctl(1, 0x0080, &clock, now).expect("is there");
            timer.set_txcctl(2, 0x0010, &clock, now).expect("is there");
        }
    }
}

proptest! {
    #[test]
    fn captures_of_aclk_are_the_same_whoever_looks_when(
        kind in prop_oneof![Just(Kind::A), Just(Kind::B)],
        mode in 0_u16..4,
        // The edges that each channel captures; without any, it compares.
        edges in [0_u16..4, 0_u16..4, 0_u16..4],
        compare in [compare(), compare(), compare()],
        dco in any::<u8>(),
        looks in proptest::collection::vec(
            (prop_oneof![1_u64..100, 1_u64..20_000], proptest::option::of(0_usize..3)), 1..8,
        ),
    ) {
        const CAPTURE: u16 = 0x0100;
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips/msp430f1611.toml");
        let chip = Chip::load(&path).expect("loads");
        let parameters = chip.needed_section("basic_clock").expect("is there");
        let mut clock = BasicClock::new(parameters, 0, 1_000_000);
        let mut now = Cycles(0);
        clock.set_dcoctl(dco, now);
        let inputs = [Input::Pin, Input::Aclk];
        let mut eager = Timer::new(kind, "timer", &[inputs, inputs, inputs]);
        let control = |edges: u16| if edges == 0 { 0 } else { edges << 14 | 0x1000 | CAPTURE };
        for (channel, (&value, &edges)) in compare.iter().zip(&edges).enumerate() {
            eager.set_txccr(channel, value, &clock, now);
            eager.set_txcctl(channel, control(edges), &clock, now).expect("is there");
        }
        eager.set_txctl(0x0200 | mode << 4, &clock, now).expect("is there");
        let mut lazy = eager.clone();
        for (look, cleared) in looks {
            for _ in 0..look {
                now += Cycles(1);
                eager.advance(&clock, now);
            }
            lazy.look(&clock, now);
            prop_assert_eq!(lazy.txr(now), eager.txr(now));
            prop_assert_eq!(lazy.txctl(), eager.txctl());
            for channel in 0..3 {
                let (lazy, eager) = (&mut lazy, &mut eager);
                prop_assert_eq!(lazy.txccr(channel), eager.txccr(channel), "channel {}", channel);
                let flags = eager.txcctl(channel, &clock, now);
                prop_assert_eq!(lazy.txcctl(channel, &clock, now), flags, "channel {}", channel);
            }
            if let Some(channel) = cleared {
                for timer in [&mut lazy, &mut eager] {
                    timer.set_txcctl(channel, control(edges[channel]), &clock, now).expect("is there");
                }
            }
        }
    }

    #[test]
    fn a_capture_of_aclk_that_asks_for_an_interrupt_is_due_at_its_edge(
        passed in 0_u64..200_000,
    ) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips/msp430f1611.toml");
        let chip = Chip::load(&path).expect("loads");
        let parameters = chip.needed_section("basic_clock").expect("is there");
        let clock = BasicClock::new(parameters, 0, 1_000_000);
        let inputs = [Input::Pin, Input::Aclk];
        let mut timer = Timer::new(Kind::B, "timer", &[inputs, inputs]);
        timer.set_txctl(0x0220, &clock, Cycles(0)).expect("is there");
        timer.set_txcctl(1, 0x5100, &clock, Cycles(0)).expect("is there");
        // Captures without an interrupt are not events.
        prop_assert_eq!(timer.next_event(&clock), Cycles::NEVER);
        let now = Cycles(passed);
        timer.set_txcctl(1, 0x5110, &clock, now).expect("is there");
        let mut due = timer.next_event(&clock);
        timer.advance(&clock, due);
        if timer.txcctl(1, &clock, due) & 1 == 0 {
            // The edge that fell.
            due = timer.next_event(&clock);
            timer.advance(&clock, due);
        }
        prop_assert!(due > now && due.0 - now.0 < 2_000_000 / 32_768);
        prop_assert_eq!(timer.txcctl(1, &clock, due) & 1, 1);
        prop_assert!(timer.is_shared_pending());
    }
}
