//! The real-time counters of nRF52 chips (nRF52840 product specification, chapter RTC): 24 bits
//! that count the prescaled low-frequency clock. Register offsets and fields were compared with
//! Nordic's `nrf52840.svd`.

use joulemark_kernel::{Cycles, Fault, FineHertz, Hertz};

use crate::nrf::{COMPARE, Compares, Nrf, NrfEvents};
use crate::rate::Rate;

const START: u32 = 0;
const STOP: u32 = 1;
const CLEAR: u32 = 2;
const TRIGGER_OVERFLOW: u32 = 3;

const TICK: u32 = 0;
const OVERFLOW: u32 = 1;

const MASK: u32 = 0x00ff_ffff;
/// The value that TRIGOVRFLW sets.
const NEARLY_OVER: u32 = 0x00ff_fff0;

/// A counter.
#[derive(Clone, Debug)]
pub struct NrfRtc {
    events: NrfEvents,
    /// EVTEN: events that occur even without INTEN.
    evten: u32,
    low: Rate,
    /// Whether its clock runs.
    has_clock: bool,
    is_running: bool,
    prescaler: u32,
    compare: Compares,
    /// The count, and the clock tick at which it was reached.
    count: u32,
    since: u64,
}

impl NrfRtc {
    /// Make a counter with `channels` compare registers, in a core with this clock.
    pub const fn new(channels: usize, core: Hertz, low: FineHertz) -> Self {
        let compare = Compares::new(channels);
        Self {
            events: NrfEvents::new(compare.events() | 1 << TICK | 1 << OVERFLOW),
            evten: 0,
            low: Rate::crystal(low, core),
            has_clock: false,
            is_running: false,
            prescaler: 0,
            compare,
            count: 0,
            since: 0,
        }
    }

    /// Note that the crystal of the low-frequency clock changed.
    pub fn set_crystal(&mut self, core: Hertz, low: FineHertz, now: Cycles) {
        self.low.change_crystal(now, low, core);
    }

    /// Note that the low-frequency clock was started or stopped.
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

    /// Steps until the count reaches a value, at least one.
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
            _ => *self.compare.at(offset)?,
        })
    }

    fn set_own(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        self.settle(now);
        match offset {
            0x340 => self.evten = value,
            0x344 => self.evten |= value,
            0x348 => self.evten &= !value,
            // PRESCALER is writable only while the counter is stopped.
            0x508 if !self.is_running => self.prescaler = value & 0xfff,
            0x508 => {}
            _ => match self.compare.at(offset) {
                Some(compare) => *compare = value & MASK,
                None => return Ok(false),
            },
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
            for (number, &value) in (COMPARE..).zip(self.compare.values()) {
                happens |= u32::from(reached(value)) << number;
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
        let compares = (COMPARE..)
            .zip(self.compare.values())
            .filter(|&(number, _)| is_wanted(number))
            .map(|(_, &value)| self.steps_to(value));
        let steps = tick.into_iter().chain(overflow).chain(compares).min();
        steps.map_or(Cycles::NEVER, |steps| {
            self.low.cycle_of(self.since + steps * self.step())
        })
    }
}
