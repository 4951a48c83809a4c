//! The real-time counters of nRF52 chips (nRF52840 product specification, chapter RTC): 24 bits of the
//! low-frequency clock, divided. Register offsets and fields were compared with Nordic's `nrf52840.svd`.

use joulemark_kernel::{Cycles, Fault, FineHertz, Hertz};

use crate::nrf::{Nrf, NrfEvents};
use crate::rate::Rate;

const START: u32 = 0;
const STOP: u32 = 1;
const CLEAR: u32 = 2;
const TRIGGER_OVERFLOW: u32 = 3;

const TICK: u32 = 0;
const OVERFLOW: u32 = 1;
const COMPARE: u32 = 16;

const MASK: u32 = 0x00ff_ffff;
/// What TRIGOVRFLW sets the counter to.
const NEARLY_OVER: u32 = 0x00ff_fff0;

/// A counter.
#[derive(Clone, Debug)]
pub struct NrfRtc {
    events: NrfEvents,
    /// EVTEN: events that come without being asked for by INTEN.
    evten: u32,
    channels: usize,
    low: Rate,
    /// Its clock runs.
    has_clock: bool,
    is_running: bool,
    prescaler: u32,
    compare: [u32; 4],
    /// What it counted to, and at which tick of its clock.
    count: u32,
    since: u64,
}

impl NrfRtc {
    /// With so many compare registers, in a core with this clock.
    pub const fn new(channels: usize, core: Hertz, low: FineHertz) -> Self {
        let compares = ((1 << channels) - 1) << COMPARE;
        Self {
            events: NrfEvents::new(compares | 1 << TICK | 1 << OVERFLOW),
            evten: 0,
            channels,
            low: Rate::crystal(low, core),
            has_clock: false,
            is_running: false,
            prescaler: 0,
            compare: [0; 4],
            count: 0,
            since: 0,
        }
    }

    /// The low-frequency clock's crystal changes.
    pub fn set_crystal(&mut self, core: Hertz, low: FineHertz, now: Cycles) {
        self.low.change_crystal(now, low, core);
    }

    /// The low-frequency clock is started or stopped.
    pub fn set_clock(&mut self, on: bool, now: Cycles) {
        if on != self.has_clock {
            self.settle(now);
            self.has_clock = on;
            self.since = self.low.ticks(now);
        }
    }

    const fn counts(&self) -> bool {
        self.is_running && self.has_clock
    }

    const fn step(&self) -> u64 {
        self.prescaler as u64 + 1
    }

    fn settle(&mut self, now: Cycles) {
        if self.counts() {
            let steps = (self.low.ticks(now) - self.since) / self.step();
            self.count = self.count.wrapping_add(steps as u32) & MASK;
            self.since += steps * self.step();
        }
    }

    const fn wanted(&self) -> u32 {
        self.evten | self.events.inten()
    }

    /// Steps until the count comes to a value, at least one.
    const fn steps_to(&self, value: u32) -> u64 {
        (value.wrapping_sub(self.count).wrapping_sub(1) & MASK) as u64 + 1
    }
}

impl Nrf for NrfRtc {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn task(&mut self, number: u32, now: Cycles) -> bool {
        self.settle(now);
        match number {
            START if !self.is_running => {
                (self.is_running, self.since) = (true, self.low.ticks(now));
            }
            START => {}
            STOP => self.is_running = false,
            CLEAR => (self.count, self.since) = (0, self.low.ticks(now)),
            TRIGGER_OVERFLOW => (self.count, self.since) = (NEARLY_OVER, self.low.ticks(now)),
            _ => return false,
        }
        true
    }

    fn own(&mut self, offset: u32, now: Cycles) -> Option<u32> {
        self.settle(now);
        Some(match offset {
            0x340 | 0x344 | 0x348 => self.evten,
            0x504 => self.count,
            0x508 => self.prescaler,
            0x540..=0x54c => self.compare[..self.channels]
                .get((offset as usize - 0x540) / 4)
                .copied()?,
            _ => return None,
        })
    }

    fn set_own(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        self.settle(now);
        match offset {
            0x340 => self.evten = value,
            0x344 => self.evten |= value,
            0x348 => self.evten &= !value,
            // It can be written only while the counter stands still.
            0x508 if !self.is_running => self.prescaler = value & 0xfff,
            0x508 => {}
            0x540..=0x54c => {
                let channels = &mut self.compare[..self.channels];
                let Some(compare) = channels.get_mut((offset as usize - 0x540) / 4) else {
                    return Ok(false);
                };
                *compare = value & MASK;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        loop {
            let next = self.next_event();
            if next > now {
                return Ok(());
            }
            self.settle(next);
            let reached = |value: u32| value == self.count;
            let mut happens = 1 << TICK | u32::from(reached(0)) << OVERFLOW;
            for channel in 0..self.channels {
                happens |= u32::from(reached(self.compare[channel])) << (COMPARE + channel as u32);
            }
            happens &= self.wanted();
            for number in (0..32).filter(|number| happens >> number & 1 != 0) {
                self.events.happen(number);
            }
        }
    }

    fn next_event(&self) -> Cycles {
        let wanted = self.wanted();
        if !self.counts() || wanted == 0 {
            return Cycles::NEVER;
        }
        let is_wanted = |number: u32| wanted >> number & 1 != 0;
        let tick = is_wanted(TICK).then_some(1);
        let overflow = is_wanted(OVERFLOW).then(|| self.steps_to(0));
        let compares = (0..self.channels)
            .filter(|&channel| is_wanted(COMPARE + channel as u32))
            .map(|channel| self.steps_to(self.compare[channel]));
        let steps = tick.into_iter().chain(overflow).chain(compares).min();
        steps.map_or(Cycles::NEVER, |steps| {
            self.low.cycle_of(self.since + steps * self.step())
        })
    }
}
