//! The real-time clock in the always-on domain of `CC26x0` chips (SWCU117, chapter Real-Time
//! Clock). Register offsets and fields were compared with TI's header `hw_aon_rtc.h`.

use joulemark_kernel::{Cycles, Fault, FaultKind, FineHertz, Hertz};

use crate::rate::Rate;

/// CTL.
const EN: u32 = 1;
const RESET: u32 = 1 << 7;
/// SUBSECINC after reset. Time counts in units of 2^-32 s, and a 32,768-Hz period is 2^17 of them;
/// the increment has 6 more fractional bits.
const INCREMENT: u32 = 0x0080_0000;
/// Bits of the channels in CHCTL and EVFLAGS.
const CHANNELS: [u32; 3] = [1, 1 << 8, 1 << 16];
const CH2_CONT_EN: u32 = 1 << 18;
const CH1_CAPT_EN: u32 = 1 << 9;

/// The real-time clock.
#[derive(Clone, Debug)]
pub struct AonRtc {
    /// The 32-kHz clock.
    clock: Rate,
    control: u32,
    flags: u32,
    channels: u32,
    compare: [u32; 3],
    increment_of_2: u32,
    subsec_increment: u32,
    /// The tick at which the time was `time`; `time` is in units of 2^-38 s.
    since: u64,
    time: u128,
    latched: u32,
}

impl AonRtc {
    /// Halted, in a core with this clock.
    pub const fn new(core: Hertz, low: FineHertz) -> Self {
        Self {
            clock: Rate::crystal(low, core),
            control: 0,
            flags: 0,
            channels: 0,
            compare: [0; 3],
            increment_of_2: 0,
            subsec_increment: INCREMENT,
            since: 0,
            time: 0,
            latched: 0,
        }
    }

    /// Note that the crystal's or the core's clock changed.
    pub fn set_clocks(&mut self, core: Hertz, low: FineHertz, now: Cycles) {
        self.clock.change_crystal(now, low, core);
    }

    /// Return the time at a tick, in units of 2^-38 s.
    const fn at(&self, tick: u64) -> u128 {
        if self.control & EN == 0 {
            return self.time;
        }
        self.time + (tick - self.since) as u128 * self.subsec_increment as u128
    }

    /// Convert a time to the compare format: 16 bits of seconds and 16 of fraction.
    const fn comparable(time: u128) -> u32 {
        (time >> 22) as u32
    }

    fn settle(&mut self, now: Cycles) {
        let tick = self.clock.ticks(now);
        (self.time, self.since) = (self.at(tick), tick);
    }

    /// A channel is due when the time is at its compare value or less than a second past it.
    fn is_due(&self, channel: usize, time: u128) -> bool {
        let behind = Self::comparable(time).wrapping_sub(self.compare[channel]);
        self.channels & CHANNELS[channel] != 0 && behind < 1 << 16
    }

    /// Find the first tick at which a channel that is not due becomes due.
    fn tick_of(&self, channel: usize) -> u64 {
        let time = self.at(self.since);
        let missing = u128::from(self.compare[channel].wrapping_sub(Self::comparable(time)));
        let low = time & ((1 << 22) - 1);
        let needed = (missing << 22) - low.min(missing << 22);
        self.since + needed.div_ceil(u128::from(self.subsec_increment.max(1))) as u64
    }

    /// When a channel reaches its compare value.
    pub fn next_event(&self) -> Cycles {
        if self.control & EN == 0 {
            return Cycles::NEVER;
        }
        let time = self.at(self.since);
        (0..3)
            .filter(|&channel| {
                self.channels & CHANNELS[channel] != 0 && self.flags & CHANNELS[channel] == 0
            })
            .map(|channel| {
                if self.is_due(channel, time) {
                    self.clock.cycle_of(self.since)
                } else {
                    self.clock.cycle_of(self.tick_of(channel))
                }
            })
            .min()
            .unwrap_or(Cycles::NEVER)
    }

    /// Set the flags of the channels that are due.
    pub fn advance(&mut self, now: Cycles) {
        if self.control & EN == 0 {
            return;
        }
        while self.next_event() <= now {
            let at = self.next_event();
            self.settle(at.max(self.clock.cycle_of(self.since)));
            let due: Vec<usize> = (0..3)
                .filter(|&channel| self.is_due(channel, self.time))
                .collect();
            if due.is_empty() {
                break;
            }
            for channel in due {
                self.flags |= CHANNELS[channel];
                if channel == 2 && self.channels & CH2_CONT_EN != 0 {
                    self.compare[2] = self.compare[2].wrapping_add(self.increment_of_2);
                }
            }
        }
    }

    /// Whether the combined event is asserted; `CTL.COMB_EV_MASK` selects its channels.
    pub const fn is_pending(&self) -> bool {
        let mask = self.control >> 16;
        mask & 1 != 0 && self.flags & CHANNELS[0] != 0
            || mask & 2 != 0 && self.flags & CHANNELS[1] != 0
            || mask & 4 != 0 && self.flags & CHANNELS[2] != 0
    }

    /// The channels whose events have occurred, in bits 0 to 2.
    pub fn events(&self) -> u32 {
        let channels = CHANNELS.iter().enumerate();
        channels.fold(0, |events, (channel, bit)| {
            events | u32::from(self.flags & bit != 0) << channel
        })
    }

    /// Return the time in units of 2^-32 s.
    pub fn time(&self, now: Cycles) -> u64 {
        (self.at(self.clock.ticks(now)) >> 6) as u64
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&mut self, offset: u32, now: Cycles) -> Option<u32> {
        self.advance(now);
        let time = self.time(now);
        Some(match offset {
            0x00 => self.control,
            0x04 => self.flags,
            0x08 => {
                self.latched = time as u32;
                (time >> 32) as u32
            }
            0x0c => self.latched,
            0x10 => self.subsec_increment,
            0x14 => self.channels,
            0x18..=0x20 => self.compare[(offset as usize - 0x18) / 4],
            0x24 => self.increment_of_2,
            0x2c => 0,
            // The CC26x2's TIME, in the compare format, and SYNCLF, the phase of its clock.
            0x30 => (time >> 16) as u32,
            0x34 => self.clock.is_high(now).into(),
            _ => return None,
        })
    }

    /// Write the register at an offset; false if there is none.
    ///
    /// # Errors
    /// The value uses a feature that the emulation leaves out.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        self.advance(now);
        self.settle(now);
        match offset {
            0x00 => {
                if value & RESET != 0 {
                    self.time = 0;
                }
                self.control = value & 0x0007_0f07;
            }
            0x04 => self.flags &= !value,
            // SEC sets the seconds; 32 bits of fraction and 6 hidden bits stay.
            0x08 => self.time = u128::from(value) << 38 | self.time & ((1 << 38) - 1),
            0x14 => {
                if value & CH1_CAPT_EN != 0 {
                    return Err(Fault::new(
                        FaultKind::Absent,
                        "the emulation leaves out captures of the real-time clock (CHCTL.CH1_CAPT_EN)",
                    ));
                }
                self.channels = value & 0x0005_0101;
            }
            0x18..=0x20 => self.compare[(offset as usize - 0x18) / 4] = value,
            0x24 => self.increment_of_2 = value,
            0x2c => {}
            _ => return Ok(false),
        }
        self.advance(now);
        Ok(true)
    }
}
