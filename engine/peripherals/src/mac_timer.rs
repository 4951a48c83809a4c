//! The MAC timer of the CC2538 (SWRU319, chapter MAC Timer), which is timer 2 of the `CC253x`
//! (SWRU191C, chapter 22): a 16-bit timer at 32 MHz, a 24-bit overflow counter, two compares for
//! each, capture at the start-of-frame delimiter, and synchronous start and stop with the 32-kHz
//! clock.

use joulemark_kernel::{Fault, FaultKind, FineHertz, Hertz, Picoseconds};

/// Picoseconds per count.
const TICK: u64 = 31_250;
/// Counts from an edge of the 32-kHz clock to a synchronous start (SWRU191C, 22.4).
const SYNC_OVERHEAD: u64 = 86;
/// The nominal 32-kHz clock.
const LOW: Hertz = Hertz(32_768);
/// Picoseconds per second.
const SECOND: u128 = 1_000_000_000_000;

/// MTCTRL.
const RUN: u32 = 1;
const SYNC: u32 = 1 << 1;
const STATE: u32 = 1 << 2;
const LATCH_MODE: u32 = 1 << 3;
/// MTIRQF and MTIRQM.
const PER: u32 = 1;
const COMPARE: [u32; 2] = [1 << 1, 1 << 2];
const OVF_PER: u32 = 1 << 3;
const OVF_COMPARE: [u32; 2] = [1 << 4, 1 << 5];

/// Values of MTMSEL: timer, capture, period and two compares.
const TIMER: usize = 0;
const CAPTURE: usize = 1;
const PERIOD: usize = 2;
const COMPARES: [usize; 2] = [3, 4];

/// The 32-kHz clock over time.
#[derive(Clone, Debug)]
struct LowClock {
    frequency: FineHertz,
    since: Picoseconds,
    /// Periods before `since`, in units of 1/[`LowClock::period`].
    passed: u128,
}

impl LowClock {
    /// Units per clock period. Each picosecond adds as many units as the frequency has periods.
    const fn period(&self) -> u128 {
        SECOND << self.frequency.periods().1
    }

    fn passed(&self, now: Picoseconds) -> u128 {
        let periods = u128::from(self.frequency.periods().0);
        self.passed + u128::from(now.0 - self.since.0) * periods
    }

    fn change(&mut self, frequency: FineHertz, now: Picoseconds) {
        let (passed, old) = (self.passed(now), self.frequency.periods().1);
        (self.frequency, self.since) = (frequency, now);
        self.passed = (passed << frequency.periods().1) >> old;
    }

    /// The first rising edge after a time.
    fn next_edge(&self, now: Picoseconds) -> Picoseconds {
        let edge = self.passed(now) / self.period() + 1;
        let missing = edge * self.period() - self.passed;
        let periods = u128::from(self.frequency.periods().0);
        self.since + Picoseconds(missing.div_ceil(periods) as u64)
    }
}

/// The MAC timer.
#[derive(Clone, Debug)]
pub struct MacTimer {
    low: LowClock,
    control: u32,
    event_configuration: u32,
    flags: u32,
    mask: u32,
    select: u32,
    /// Indexed by [`TIMER`] and so on: 16-bit timer values, 24-bit overflow values.
    count: [u32; 5],
    overflows: [u32; 5],
    /// Values latched when the low bytes are read.
    latched: u32,
    latched_overflows: u32,
    /// When the count was `count`, while the timer runs or is to resume in phase.
    since: Picoseconds,
    is_running: bool,
    /// It was stopped synchronously, and resumes as if it had kept counting.
    is_kept: bool,
    /// When it starts or stops.
    change: Picoseconds,
}

impl Default for MacTimer {
    fn default() -> Self {
        Self {
            low: LowClock {
                frequency: LOW.into(),
                since: Picoseconds(0),
                passed: 0,
            },
            control: SYNC,
            event_configuration: 0,
            flags: 0,
            mask: 0,
            select: 0,
            count: [0; 5],
            overflows: [0; 5],
            latched: 0,
            latched_overflows: 0,
            since: Picoseconds(0),
            is_running: false,
            is_kept: false,
            change: Picoseconds::NEVER,
        }
    }
}

impl MacTimer {
    /// Note that the 32-kHz clock changed.
    pub fn set_low_clock(&mut self, low: FineHertz, now: Picoseconds) {
        self.low.change(low, now);
    }

    fn period(&self) -> u64 {
        match self.count[PERIOD] {
            0 => 1 << 16,
            period => period.into(),
        }
    }

    fn overflow_period(&self) -> u64 {
        match self.overflows[PERIOD] {
            0 => 1 << 24,
            period => period.into(),
        }
    }

    /// Bring the counts and flags up to a time.
    fn settle(&mut self, now: Picoseconds) {
        if !self.is_running {
            return;
        }
        let elapsed = now.0.saturating_sub(self.since.0) / TICK;
        if elapsed == 0 {
            return;
        }
        let (period, ovf_period) = (self.period(), self.overflow_period());
        let (count, ovf) = (
            u64::from(self.count[TIMER]),
            u64::from(self.overflows[TIMER]),
        );
        let wraps = (count + elapsed) / period;
        if wraps > 0 {
            self.flags |= PER;
            if (ovf + wraps) / ovf_period > 0 {
                self.flags |= OVF_PER;
            }
        }
        for number in 0..2 {
            let compare = u64::from(self.count[COMPARES[number]]);
            if passes(count, elapsed, period, compare) {
                self.flags |= COMPARE[number];
            }
            let compare = u64::from(self.overflows[COMPARES[number]]);
            if passes(ovf, wraps, ovf_period, compare) {
                self.flags |= OVF_COMPARE[number];
            }
        }
        self.count[TIMER] = ((count + elapsed) % period) as u32;
        self.overflows[TIMER] = ((ovf + wraps) % ovf_period) as u32;
        self.since.0 += elapsed * TICK;
    }

    /// Whether its interrupt line is asserted.
    pub const fn is_pending(&self) -> bool {
        self.flags & self.mask != 0
    }

    /// When the timer starts, stops, or sets a flag whose interrupt is enabled.
    pub fn next_event(&self) -> Picoseconds {
        let mut next = self.change;
        let wanted = self.mask & !self.flags;
        if !self.is_running || wanted == 0 {
            return next;
        }
        let (period, ovf_period) = (self.period(), self.overflow_period());
        let (count, ovf) = (
            u64::from(self.count[TIMER]),
            u64::from(self.overflows[TIMER]),
        );
        let to_wrap = period.saturating_sub(count).max(1);
        let mut ticks = |bit: u32, after: Option<u64>| {
            if let Some(after) = after.filter(|_| wanted & bit != 0) {
                next = next.min(Picoseconds(self.since.0 + after * TICK));
            }
        };
        // Ticks until the `number`th wrap.
        let wrap = |number: u64| to_wrap + (number - 1) * period;
        ticks(PER, Some(to_wrap));
        ticks(OVF_PER, Some(wrap(ovf_period.saturating_sub(ovf).max(1))));
        for number in 0..2 {
            let compare = u64::from(self.count[COMPARES[number]]);
            ticks(COMPARE[number], distance(count, period, compare));
            let compare = u64::from(self.overflows[COMPARES[number]]);
            ticks(
                OVF_COMPARE[number],
                distance(ovf, ovf_period, compare).map(wrap),
            );
        }
        next
    }

    /// When the 16-bit counter next overflows, if the timer has been advanced to `now`;
    /// [`Picoseconds::NEVER`] while it is stopped.
    pub fn next_overflow(&self, now: Picoseconds) -> Picoseconds {
        if !self.is_running {
            return Picoseconds::NEVER;
        }
        let left = self
            .period()
            .saturating_sub(self.count[TIMER].into())
            .max(1);
        let next = self.since + Picoseconds(left * TICK);
        next.max(now + Picoseconds(1))
    }

    /// Bring the timer up to `now`.
    pub fn advance(&mut self, now: Picoseconds) {
        if self.change > now {
            self.settle(now);
            return;
        }
        let at = std::mem::replace(&mut self.change, Picoseconds::NEVER);
        if self.is_running {
            self.settle(at);
            self.is_running = false;
            self.is_kept = true;
        } else {
            if !self.is_kept {
                self.since = at;
            }
            self.is_running = true;
        }
        self.settle(now);
    }

    /// Capture the counts at the end of a start-of-frame delimiter on air.
    pub fn capture(&mut self, now: Picoseconds) {
        self.advance(now);
        self.count[CAPTURE] = self.count[TIMER];
        self.overflows[CAPTURE] = self.overflows[TIMER];
    }

    /// Read the register at an offset from MTCSPCFG; `None` if there is none.
    pub fn read(&mut self, offset: u32, now: Picoseconds) -> Option<u32> {
        self.advance(now);
        let (place, ovf_place) = (self.select as usize & 7, self.select as usize >> 4 & 7);
        let of = |values: &[u32; 5], place: usize| values.get(place).copied().unwrap_or(0);
        Some(match offset {
            0x00 => self.event_configuration,
            0x04 => self.control | if self.is_running { STATE } else { 0 },
            0x08 => self.mask,
            0x0c => self.flags,
            0x10 => self.select,
            0x14 => {
                self.latched = of(&self.count, place);
                if self.control & LATCH_MODE != 0 && place == TIMER {
                    self.latched_overflows = self.overflows[TIMER];
                }
                self.latched & 0xff
            }
            0x18 => {
                // Only the timer's own value is latched.
                let value = if place == TIMER {
                    self.latched
                } else {
                    of(&self.count, place)
                };
                value >> 8
            }
            0x24 => {
                if self.control & LATCH_MODE == 0 || ovf_place != TIMER {
                    self.latched_overflows = of(&self.overflows, ovf_place);
                }
                self.latched_overflows & 0xff
            }
            0x20 => self.latched_overflows >> 8 & 0xff,
            0x1c => self.latched_overflows >> 16 & 0xff,
            _ => return None,
        })
    }

    /// Write the register at an offset from MTCSPCFG; false if there is none.
    ///
    /// # Errors
    /// The value uses a feature that the emulation leaves out.
    pub fn write(&mut self, offset: u32, value: u32, now: Picoseconds) -> Result<bool, Fault> {
        self.advance(now);
        let (place, ovf_place) = (self.select as usize & 7, self.select as usize >> 4 & 7);
        match offset {
            0x00 => self.event_configuration = value & 0x77,
            0x04 => {
                self.control = value & (RUN | SYNC | LATCH_MODE);
                let runs = value & RUN != 0;
                self.change = if runs == self.is_running {
                    Picoseconds::NEVER
                } else if value & SYNC == 0 {
                    self.is_kept = false;
                    now
                } else {
                    let edge = self.low.next_edge(now);
                    let overhead = if runs { SYNC_OVERHEAD * TICK } else { 0 };
                    Picoseconds(edge.0 + overhead)
                };
                self.advance(now);
                if value & SYNC == 0 {
                    self.is_kept = false;
                }
            }
            0x08 => self.mask = value & 0x3f,
            // Writing 0 clears a flag; ones leave it unchanged.
            0x0c => self.flags &= value,
            0x10 => self.select = value & 0x77,
            0x14 | 0x18 if place < 5 => {
                if place == TIMER && self.is_running {
                    return Err(Fault::new(
                        FaultKind::Absent,
                        "the emulation leaves out the MAC timer's delta increments (MTM0 and MTM1 of the \
                         running timer)",
                    ));
                }
                let shift = if offset == 0x14 { 0 } else { 8 };
                put_byte(&mut self.count[place], shift, value);
            }
            0x1c | 0x20 | 0x24 if ovf_place < 5 => {
                let shift = (0x24 - offset) * 2;
                put_byte(&mut self.overflows[ovf_place], shift, value);
            }
            0x14..=0x24 => {}
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn put_byte(word: &mut u32, shift: u32, value: u32) {
    *word = *word & !(0xff << shift) | (value & 0xff) << shift;
}

/// Whether `steps` steps from a count, modulo a period, reach a value.
const fn passes(count: u64, steps: u64, period: u64, value: u64) -> bool {
    match distance(count, period, value) {
        Some(needed) => needed <= steps,
        None => false,
    }
}

/// Steps from a count, modulo a period, to a value; at least one.
const fn distance(count: u64, period: u64, value: u64) -> Option<u64> {
    if value >= period {
        return None;
    }
    let steps = (value + period - count % period) % period;
    Some(if steps == 0 { period } else { steps })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ticks: u64) -> Picoseconds {
        Picoseconds(ticks * TICK)
    }

    fn running(period: u32) -> MacTimer {
        let mut timer = MacTimer::default();
        for (offset, value) in [
            (0x10, 2),
            (0x14, period & 0xff),
            (0x18, period >> 8),
            (0x10, 0),
        ] {
            assert!(timer.write(offset, value, at(0)).unwrap());
        }
        assert!(timer.write(4, RUN, at(0)).unwrap());
        timer
    }

    fn time(timer: &mut MacTimer, now: Picoseconds) -> (u32, u32) {
        let mut read = |offset| timer.read(offset, now).unwrap();
        let low = read(0x14) | read(0x18) << 8;
        (low, read(0x24) | read(0x20) << 8 | read(0x1c) << 16)
    }

    #[test]
    fn it_counts_its_period_and_overflows() {
        let mut timer = running(976);
        assert_eq!(time(&mut timer, at(975)), (975, 0));
        assert_eq!(time(&mut timer, at(976)), (0, 1));
        assert_eq!(time(&mut timer, at(976 * 70_000 + 5)), (5, 70_000));
        assert_eq!(timer.flags, PER | COMPARE[0] | COMPARE[1]);
    }

    #[test]
    fn a_latch_keeps_the_whole_time() {
        let mut timer = running(0);
        timer.write(4, RUN | LATCH_MODE, at(10)).unwrap();
        assert_eq!(timer.read(0x14, at(0xffff)), Some(0xff));
        assert_eq!(timer.read(0x18, at(0x1_0002)), Some(0xff));
        assert_eq!(timer.read(0x24, at(0x1_0002)), Some(0));
    }

    #[test]
    fn compares_interrupt_when_their_count_comes() {
        let mut timer = running(1000);
        for (offset, value) in [(0x10, 0x33), (0x14, 7), (0x24, 3), (8, COMPARE[0])] {
            timer.write(offset, value, at(100)).unwrap();
        }
        assert_eq!(timer.next_event(), at(1007));
        timer.advance(at(1006));
        assert!(!timer.is_pending());
        timer.advance(at(1007));
        assert!(timer.is_pending());
        assert_eq!(timer.next_event(), Picoseconds::NEVER);
        timer.write(0x0c, !COMPARE[0], at(1008)).unwrap();
        assert!(!timer.is_pending());
        assert_eq!(timer.next_event(), at(2007));
        timer.write(8, OVF_COMPARE[0], at(1009)).unwrap();
        assert_eq!(timer.next_event(), at(3000));
        timer.advance(at(3000));
        assert!(timer.is_pending());
    }

    #[test]
    fn it_starts_and_stops_with_the_slow_clock_and_loses_nothing() {
        let mut timer = running(0);
        timer.write(4, SYNC, at(1000)).unwrap();
        // The second edge of 32,768 Hz is at 61.035 us.
        let stop = timer.next_event();
        assert_eq!(stop.0, 61_035_157);
        timer.advance(stop);
        assert_eq!(timer.read(4, stop).unwrap() & STATE, 0);
        let later = Picoseconds(1_000_000_000);
        assert_eq!(time(&mut timer, later).0, 1953);
        timer.write(4, RUN | SYNC, later).unwrap();
        let start = timer.next_event();
        timer.advance(start);
        assert_ne!(timer.read(4, start).unwrap() & STATE, 0);
        assert_eq!(
            u64::from(time(&mut timer, start).0),
            start.0 / TICK % 65_536
        );
    }

    #[test]
    fn the_slow_clock_s_edges_go_with_its_crystal() {
        let mut timer = running(0);
        timer.set_low_clock(FineHertz::new(LOW, 100_000), Picoseconds(0));
        timer.write(4, SYNC, at(1000)).unwrap();
        // 2 / 32,771.2768 s: the second edge.
        assert_eq!(timer.next_event().0, 61_029_054);
        timer.set_low_clock(LOW.into(), Picoseconds(40_000_000));
        timer.change = Picoseconds::NEVER;
        timer.write(4, SYNC, Picoseconds(40_000_000)).unwrap();
        // 1.310851 periods have passed, and the rest of the second takes 21.0316 us.
        assert_eq!(timer.next_event().0 / 1000, 61_031);
    }

    #[test]
    fn a_delimiter_is_captured() {
        let mut timer = running(500);
        timer.capture(at(1234));
        timer.write(0x10, 0x11, at(5000)).unwrap();
        assert_eq!(time(&mut timer, at(5000)), (234, 2));
    }
}
