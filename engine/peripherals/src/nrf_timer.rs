//! The timers of nRF52 chips (nRF52840 product specification, chapter TIMER), which count a
//! power-of-two division of 16 MHz, or tasks. Register offsets and fields were compared with
//! Nordic's `nrf52840.svd`.

use joulemark_kernel::{Cycles, Fault};

use crate::nrf::{COMPARE, CYCLES_OF_16_MHZ, Compares, Nrf, NrfEvents};

const START: u32 = 0;
const STOP: u32 = 1;
const COUNT: u32 = 2;
const CLEAR: u32 = 3;
const SHUTDOWN: u32 = 4;
/// The first capture task.
const CAPTURE: u32 = 16;
/// SHORTS: the lowest bit that stops on a compare; those that clear begin at 0.
const STOPS: u32 = 8;

/// A timer.
#[derive(Clone, Debug)]
pub struct NrfTimer {
    events: NrfEvents,
    shorts: u32,
    is_running: bool,
    /// MODE: timer, or one of two counter modes.
    mode: u32,
    bitmode: u32,
    prescaler: u32,
    compare: Compares,
    /// The count, and the start of the tick in which it was reached.
    count: u32,
    since: Cycles,
}

impl NrfTimer {
    /// Make a timer with `channels` compare registers.
    pub const fn new(channels: usize) -> Self {
        let compare = Compares::new(channels);
        Self {
            events: NrfEvents::new(compare.events()),
            shorts: 0,
            is_running: false,
            mode: 0,
            bitmode: 0,
            prescaler: 4,
            compare,
            count: 0,
            since: Cycles(0),
        }
    }

    const fn counts_time(&self) -> bool {
        self.is_running && self.mode == 0
    }

    const fn mask(&self) -> u32 {
        u32::MAX >> [16, 24, 8, 0][self.bitmode as usize]
    }

    const fn tick_cycles(&self) -> u64 {
        CYCLES_OF_16_MHZ << self.prescaler
    }

    /// Advance to the tick that contains `now`.
    const fn settle(&mut self, now: Cycles) {
        if self.counts_time() {
            let ticks = now.0.saturating_sub(self.since.0) / self.tick_cycles();
            self.count = self.count.wrapping_add(ticks as u32) & self.mask();
            self.since = Cycles(self.since.0 + ticks * self.tick_cycles());
        }
    }

    /// Signal the compare events of a count that was just reached, and apply SHORTS.
    fn compare(&mut self) {
        let mask = self.mask();
        let mut reached = 0;
        for (channel, &value) in self.compare.values().iter().enumerate() {
            if value & mask == self.count {
                reached |= 1 << channel;
                self.events.happen(COMPARE + channel as u32);
            }
        }
        if self.shorts >> STOPS & reached != 0 {
            self.is_running = false;
        }
        if self.shorts & reached != 0 {
            self.count = 0;
        }
    }
}

impl Nrf for NrfTimer {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn shorts(&mut self) -> Option<&mut u32> {
        Some(&mut self.shorts)
    }

    fn task(&mut self, number: u32, now: Cycles) -> bool {
        self.settle(now);
        match number {
            START if !self.is_running => (self.is_running, self.since) = (true, now),
            STOP => self.is_running = false,
            COUNT if self.is_running && self.mode != 0 => {
                self.count = self.count.wrapping_add(1) & self.mask();
                self.compare();
            }
            START | COUNT => {}
            CLEAR => (self.count, self.since) = (0, now),
            SHUTDOWN => (self.is_running, self.count) = (false, 0),
            CAPTURE.. => match self.compare.of(number - CAPTURE) {
                Some(compare) => *compare = self.count,
                None => return false,
            },
            _ => return false,
        }
        true
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        Some(match offset {
            0x504 => self.mode,
            0x508 => self.bitmode,
            0x510 => self.prescaler,
            _ => *self.compare.at(offset)?,
        })
    }

    fn set_own(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        self.settle(now);
        match offset {
            0x504 => self.mode = value & 3,
            0x508 => {
                self.bitmode = value & 3;
                self.count &= self.mask();
            }
            0x510 => self.prescaler = (value & 15).min(9),
            _ => match self.compare.at(offset) {
                Some(compare) => *compare = value,
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
            self.compare();
        }
    }

    /// An event occurs when the count reaches its value, not while it stays there.
    fn next_event(&self) -> Cycles {
        if !self.counts_time() {
            return Cycles::NEVER;
        }
        let wanted = self.compare.values().iter();
        let ticks =
            wanted.map(|&compare| compare.wrapping_sub(self.count).wrapping_sub(1) & self.mask());
        let ticks = u64::from(ticks.min().unwrap_or(u32::MAX)) + 1;
        Cycles(self.since.0 + ticks * self.tick_cycles())
    }
}
