//! The radio timer: 32 bits at 4 MHz, with compare channels (SWCU185F, section 26.2.3).

use joulemark_kernel::Picoseconds;

/// A tick of the 4-MHz radio timer (Contiki-NG, `cc13xx-cc26xx-def.h`).
const TICK: Picoseconds = Picoseconds(250_000);
/// Ticks per second.
const HZ: u64 = 4_000_000;
/// Number of channels.
pub(super) const CHANNELS: usize = 8;
/// Channels available to the system CPU. The guide leaves this to `CMD_GET_FW_INFO`; three of the
/// eight are assumed.
pub(super) const FREE: u8 = 0xe0;

/// The radio timer.
#[derive(Clone, Debug, Default)]
pub(super) struct Rat {
    /// Start time and start value.
    started: Option<(Picoseconds, u32)>,
    /// Compare values of the channels, and the times at which they match.
    compare: [Option<(u32, Picoseconds)>; CHANNELS],
}

impl Rat {
    pub const fn is_running(&self) -> bool {
        self.started.is_some()
    }

    /// Start at a value.
    pub fn start(&mut self, now: Picoseconds, value: u32) {
        self.started = Some((now, value));
    }

    /// Stop, and disable all compares.
    pub fn stop(&mut self) {
        *self = Self::default();
    }

    /// The count; 0 while stopped.
    pub fn count(&self, now: Picoseconds) -> u32 {
        let Some((since, value)) = self.started else {
            return 0;
        };
        value.wrapping_add((now.0.saturating_sub(since.0) / TICK.0) as u32)
    }

    /// When the count reaches a value that is ahead of `now` by less than half the range; `None` if
    /// it is behind. [`Picoseconds::NEVER`] while the timer is stopped.
    pub fn time_of(&self, value: u32, now: Picoseconds) -> Option<Picoseconds> {
        let ahead = value.wrapping_sub(self.count(now));
        (!self.is_running() || i32::try_from(ahead).is_ok()).then(|| self.time_after(ahead, now))
    }

    /// When the count will have advanced by `ticks`.
    fn time_after(&self, ticks: u32, now: Picoseconds) -> Picoseconds {
        let Some((since, _)) = self.started else {
            return Picoseconds::NEVER;
        };
        let passed = now.0.saturating_sub(since.0) / TICK.0;
        Picoseconds(since.0 + (passed + u64::from(ticks)) * TICK.0)
    }

    /// The count that the timer would have had when the real-time clock, in units of 2^-32 s, was
    /// 0.
    pub fn at_rtc_zero(&self, now: Picoseconds, rtc: u64) -> u32 {
        self.count(now).wrapping_sub(ticks(rtc))
    }

    /// Start so that the count would have been `value` when the real-time clock was 0.
    pub fn start_at_rtc(&mut self, now: Picoseconds, rtc: u64, value: u32) {
        self.start(now, value.wrapping_add(ticks(rtc)));
    }

    /// Set or disable a channel's compare. A value in the past matches after the count wraps.
    pub fn set_compare(&mut self, channel: usize, value: Option<u32>, now: Picoseconds) {
        self.compare[channel] = value.map(|value| {
            let ahead = value.wrapping_sub(self.count(now));
            (value, self.time_after(ahead, now))
        });
    }

    /// A channel's compare value.
    pub fn compare(&self, channel: usize) -> u32 {
        self.compare[channel].map_or(0, |(value, _)| value)
    }

    /// When a channel next matches.
    pub fn next_compare(&self) -> Picoseconds {
        let times = self.compare.iter().flatten().map(|&(_, time)| time);
        times.min().unwrap_or(Picoseconds::NEVER)
    }

    /// Return the channels that have matched, one bit each, and disable them.
    pub fn take_due(&mut self, now: Picoseconds) -> u32 {
        let mut due = 0;
        for (channel, compare) in self.compare.iter_mut().enumerate() {
            if compare.is_some_and(|(_, time)| time <= now) {
                *compare = None;
                due |= 1 << channel;
            }
        }
        due
    }
}

/// Convert a time in units of 2^-32 s to ticks, modulo their range.
const fn ticks(rtc: u64) -> u32 {
    ((rtc as u128 * HZ as u128) >> 32) as u32
}
