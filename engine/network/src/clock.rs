//! Conversion between a mote's time and the network's.

use joulemark_kernel::Picoseconds;

const SECOND: i128 = 1_000_000_000_000;
/// Picoseconds per second and part per billion.
const PPB: i128 = 1000;
const BILLION: i128 = 1_000_000_000;
const HOUR: i128 = 3600;

/// A crystal's error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crystal {
    /// Parts in 10^9 by which it is too fast when its mote is switched on.
    pub ppb: i32,
    /// Increase of the error per hour. It changes every second.
    pub drift_ppb_per_hour: i32,
}

impl Crystal {
    /// The error in parts in 10^9, multiplied by the seconds in an hour to make it a whole number.
    const fn error(self, second: i128) -> i128 {
        self.ppb as i128 * HOUR + self.drift_ppb_per_hour as i128 * second
    }

    /// How many parts in 10^9 it is too fast in a second of a mote whose time comes from another
    /// crystal.
    pub const fn beside(self, other: Self, second: u64) -> i32 {
        let other = other.error(second as i128);
        let difference = (self.error(second as i128) - other) * BILLION;
        let hour = BILLION * HOUR + other;
        // Rounded to nearest, for either sign.
        ((2 * difference + hour).div_euclid(2 * hour)) as i32
    }

    /// Whether its rate relative to another crystal never changes.
    const fn is_steady_beside(self, other: Self) -> bool {
        let is_same = self.ppb == other.ppb && self.drift_ppb_per_hour == other.drift_ppb_per_hour;
        is_same || self.drift_ppb_per_hour == 0 && other.drift_ppb_per_hour == 0
    }
}

/// When a mote is switched on, and the crystal behind its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// The network's time at the mote's time 0.
    pub start: Picoseconds,
    /// The crystal of the radio and the core; a core without one, such as an MSP430 on its DCO,
    /// follows the radio's.
    pub crystal: Crystal,
}

/// A mote's watch crystal, updated every second of the mote's time.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    crystal: Crystal,
    /// The crystal behind the mote's time.
    main: Crystal,
    second: u64,
}

impl Watch {
    /// The state when the mote is switched on.
    pub const fn new(crystal: Crystal, main: Crystal) -> Self {
        Self {
            crystal,
            main,
            second: 0,
        }
    }

    /// The state after the mote is switched on again.
    pub const fn restarted(self) -> Self {
        Self::new(self.crystal, self.main)
    }

    /// How many parts in 10^9 it is now too fast in the mote's time.
    pub const fn ppb(&self) -> i32 {
        self.crystal.beside(self.main, self.second)
    }

    /// When this next changes; [`Picoseconds::NEVER`] if it is constant.
    pub const fn next_change(&self) -> Picoseconds {
        if self.crystal.is_steady_beside(self.main) {
            return Picoseconds::NEVER;
        }
        Picoseconds((self.second + 1) * SECOND as u64)
    }

    /// Go on to the next second.
    pub const fn change(&mut self) {
        self.second += 1;
    }
}

impl Clock {
    /// The mote's time when `seconds` have passed since its start.
    fn second(&self, seconds: i128) -> i128 {
        let Crystal {
            ppb,
            drift_ppb_per_hour,
        } = self.crystal;
        let drift = i128::from(drift_ppb_per_hour) * PPB * seconds * (seconds - 1) / 2 / HOUR;
        seconds * (SECOND + i128::from(ppb) * PPB) + drift
    }

    /// The mote's time at a network time, rounded down; 0 before the mote is switched on.
    pub fn local(&self, time: Picoseconds) -> Picoseconds {
        if time == Picoseconds::NEVER {
            return time;
        }
        let passed = i128::from(time.0) - i128::from(self.start.0);
        if passed <= 0 {
            return Picoseconds(0);
        }
        if self.crystal == Crystal::default() {
            return Picoseconds(passed as u64);
        }
        let whole = passed / SECOND;
        let (begin, end) = (self.second(whole), self.second(whole + 1));
        Picoseconds((begin + passed % SECOND * (end - begin) / SECOND) as u64)
    }

    /// The first network time at which the mote's time is at least `local`.
    pub fn global(&self, local: Picoseconds) -> Picoseconds {
        if local == Picoseconds::NEVER {
            return local;
        }
        if self.crystal == Crystal::default() {
            return self.start + local;
        }
        let local = i128::from(local.0);
        // The seconds last nearly as long as the network's: the guess is at most one off for
        // realistic drifts, and the loops handle all others.
        let mut whole = local / self.second(1).max(1);
        while self.second(whole) > local {
            whole -= 1;
        }
        while self.second(whole + 1) <= local {
            whole += 1;
        }
        let (begin, end) = (self.second(whole), self.second(whole + 1));
        let rest = ((local - begin) * SECOND + (end - begin) - 1) / (end - begin);
        self.start + Picoseconds((whole * SECOND + rest) as u64)
    }

    /// Convert a short span of the mote's time to the network's, at a time of the mote.
    pub fn global_span(&self, span: Picoseconds, at: Picoseconds) -> Picoseconds {
        let rate = self.rate(at);
        Picoseconds(((i128::from(span.0) * SECOND + rate / 2) / rate) as u64)
    }

    /// Convert a short span of the network's time to the mote's, at a time of the mote.
    pub fn local_span(&self, span: Picoseconds, at: Picoseconds) -> Picoseconds {
        Picoseconds(((i128::from(span.0) * self.rate(at) + SECOND / 2) / SECOND) as u64)
    }

    /// The mote's time that passes in a network second.
    fn rate(&self, at: Picoseconds) -> i128 {
        let seconds = i128::from(at.0) / SECOND;
        self.second(seconds + 1) - self.second(seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_two_times_are_inverse_and_never_go_back(
            ppb in -500_000_i32..500_000, drift in -100_000_i32..100_000,
            start in 0_u64..1 << 45, local in 0_u64..1 << 54,
        ) {
            let start = Picoseconds(start);
            let crystal = Crystal { ppb, drift_ppb_per_hour: drift };
            let clock = Clock { start, crystal };
            let global = clock.global(Picoseconds(local));
            proptest::prop_assert!(clock.local(global).0 >= local);
            proptest::prop_assert!(
                local == 0 || clock.local(Picoseconds(global.0 - 1)).0 < local
            );
            let later = clock.local(Picoseconds(global.0 + 1_000_000));
            proptest::prop_assert!(later.0.abs_diff(clock.local(global).0 + 1_000_000) < 1000);
        }
    }

    #[test]
    fn a_drift_adds_up() {
        let clock = Clock {
            start: Picoseconds(0),
            crystal: Crystal {
                ppb: 1000,
                drift_ppb_per_hour: 3600,
            },
        };
        // The hundredth second is 1 ppm and 99 ppb too fast.
        let seconds = |n: u64| clock.local(Picoseconds(n * 1_000_000_000_000)).0;
        assert_eq!(seconds(1), 1_000_001_000_000);
        assert_eq!(seconds(100) - seconds(99), 1_000_001_099_000);
    }

    #[test]
    fn a_watch_crystal_is_seen_from_the_mote_s_own_time() {
        let crystal = |ppb, drift_ppb_per_hour| Crystal {
            ppb,
            drift_ppb_per_hour,
        };
        // 200 ppm too fast in a mote that is 300 ppm slow: a little over 500 ppm in the mote's
        // time.
        let watch = Watch::new(crystal(200_000, 0), crystal(-300_000, 0));
        assert_eq!(watch.ppb(), 500_150);
        assert_eq!(watch.next_change(), Picoseconds::NEVER);
        let watch = Watch::new(crystal(7, 9), crystal(7, 9));
        assert_eq!((watch.ppb(), watch.next_change()), (0, Picoseconds::NEVER));
        let mut watch = Watch::new(crystal(1000, 3600), crystal(0, -7200));
        for second in 0..100 {
            assert_eq!(watch.ppb(), 1000 + 3 * second);
            assert_eq!(
                watch.next_change().0,
                (second as u64 + 1) * 1_000_000_000_000
            );
            watch.change();
        }
        assert_eq!(watch.restarted().ppb(), 1000);
    }
}
