//! A mote's time and the network's.

use joulemark_kernel::Picoseconds;

const SECOND: i128 = 1_000_000_000_000;
/// Parts per billion of a second, in picoseconds.
const PPB: i128 = 1000;
const HOUR: i128 = 3600;

/// When a mote is switched on, and how fast its crystals are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Its time 0.
    pub start: Picoseconds,
    /// By how many parts in 10^9 its time goes faster than the network's at its start.
    pub ppb: i32,
    /// By how much that grows in an hour. It changes every second.
    pub drift_ppb_per_hour: i32,
}

impl Clock {
    /// The mote's time when `seconds` have passed since its start.
    fn second(&self, seconds: i128) -> i128 {
        let drift = i128::from(self.drift_ppb_per_hour) * PPB * seconds * (seconds - 1) / 2 / HOUR;
        seconds * (SECOND + i128::from(self.ppb) * PPB) + drift
    }

    /// The mote's time at a time of the network, rounded down; 0 before the mote is switched on.
    pub fn local(&self, time: Picoseconds) -> Picoseconds {
        if time == Picoseconds::NEVER {
            return time;
        }
        let passed = i128::from(time.0) - i128::from(self.start.0);
        if passed <= 0 {
            return Picoseconds(0);
        }
        if self.ppb == 0 && self.drift_ppb_per_hour == 0 {
            return Picoseconds(passed as u64);
        }
        let whole = passed / SECOND;
        let (begin, end) = (self.second(whole), self.second(whole + 1));
        Picoseconds((begin + passed % SECOND * (end - begin) / SECOND) as u64)
    }

    /// The first time of the network at which the mote's time is not before `local`.
    pub fn global(&self, local: Picoseconds) -> Picoseconds {
        if local == Picoseconds::NEVER {
            return local;
        }
        if self.ppb == 0 && self.drift_ppb_per_hour == 0 {
            return self.start + local;
        }
        let local = i128::from(local.0);
        // The seconds last nearly as long as the network's: the guess is one off at most for
        // drifts that crystals have, and the loops are for all others.
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

    /// A short span of the mote's time in the network's, at one of the mote's times.
    pub fn global_span(&self, span: Picoseconds, at: Picoseconds) -> Picoseconds {
        let rate = self.rate(at);
        Picoseconds(((i128::from(span.0) * SECOND + rate / 2) / rate) as u64)
    }

    /// A short span of the network's time in the mote's, at one of the mote's times.
    pub fn local_span(&self, span: Picoseconds, at: Picoseconds) -> Picoseconds {
        Picoseconds(((i128::from(span.0) * self.rate(at) + SECOND / 2) / SECOND) as u64)
    }

    /// How much of the mote's time goes by in a second.
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
            let clock = Clock { start, ppb, drift_ppb_per_hour: drift };
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
            ppb: 1000,
            drift_ppb_per_hour: 3600,
        };
        // The hundredth second is 1 ppm and 99 ppb too fast.
        let seconds = |n: u64| clock.local(Picoseconds(n * 1_000_000_000_000)).0;
        assert_eq!(seconds(1), 1_000_001_000_000);
        assert_eq!(seconds(100) - seconds(99), 1_000_001_099_000);
    }
}
