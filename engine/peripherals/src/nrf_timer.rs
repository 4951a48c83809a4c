//! The timers of nRF52 chips (nRF52840 product specification, chapter TIMER): 16 MHz divided by a power of two, or
//! counted tasks. Register offsets and fields were compared with Nordic's `nrf52840.svd`.

use joulemark_kernel::{Cycles, Fault};

use crate::nrf::{CYCLES_OF_16_MHZ, Nrf, NrfEvents};

const START: u32 = 0;
const STOP: u32 = 1;
const COUNT: u32 = 2;
const CLEAR: u32 = 3;
const SHUTDOWN: u32 = 4;
/// The first of the tasks that capture, and of the events that compare.
const CAPTURE: u32 = 16;
const COMPARE: u32 = 16;
/// The lowest bit in SHORTS of a compare that stops; those that clear begin at 0.
const STOPS: u32 = 8;

/// A timer.
#[derive(Clone, Debug)]
pub struct NrfTimer {
    events: NrfEvents,
    shorts: u32,
    channels: usize,
    is_running: bool,
    /// MODE: time, or one of two that count tasks.
    mode: u32,
    bitmode: u32,
    prescaler: u32,
    compare: [u32; 6],
    /// What it counted to, and when: the beginning of that tick.
    count: u32,
    since: Cycles,
}

impl NrfTimer {
    /// With so many compare registers.
    pub const fn new(channels: usize) -> Self {
        Self {
            events: NrfEvents::new(((1 << channels) - 1) << COMPARE),
            shorts: 0,
            channels,
            is_running: false,
            mode: 0,
            bitmode: 0,
            prescaler: 4,
            compare: [0; 6],
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

    /// Come to the tick that `now` is in.
    const fn settle(&mut self, now: Cycles) {
        if self.counts_time() {
            let ticks = now.0.saturating_sub(self.since.0) / self.tick_cycles();
            self.count = self.count.wrapping_add(ticks as u32) & self.mask();
            self.since = Cycles(self.since.0 + ticks * self.tick_cycles());
        }
    }

    /// Events, and what follows from them, at a count that was just reached.
    fn compare(&mut self) {
        for channel in 0..self.channels {
            if self.compare[channel] & self.mask() != self.count {
                continue;
            }
            self.events.happen(COMPARE + channel as u32);
        }
        let reached = |timer: &Self, shorts: u32| {
            (0..timer.channels).any(|channel| {
                shorts >> channel & 1 != 0 && timer.compare[channel] & timer.mask() == timer.count
            })
        };
        if reached(self, self.shorts >> STOPS) {
            self.is_running = false;
        }
        if reached(self, self.shorts) {
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
            CAPTURE.. if number - CAPTURE < self.channels as u32 => {
                self.compare[(number - CAPTURE) as usize] = self.count;
            }
            _ => return false,
        }
        true
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        Some(match offset {
            0x504 => self.mode,
            0x508 => self.bitmode,
            0x510 => self.prescaler,
            0x540..=0x554 => self.compare[..self.channels]
                .get((offset as usize - 0x540) / 4)
                .copied()?,
            _ => return None,
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
            0x540..=0x554 => {
                let channels = &mut self.compare[..self.channels];
                let Some(compare) = channels.get_mut((offset as usize - 0x540) / 4) else {
                    return Ok(false);
                };
                *compare = value;
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
            self.compare();
        }
    }

    /// An event comes when the count comes to its value, and not while it stands there.
    fn next_event(&self) -> Cycles {
        if !self.counts_time() {
            return Cycles::NEVER;
        }
        let wanted = self.compare[..self.channels].iter();
        let ticks =
            wanted.map(|&compare| compare.wrapping_sub(self.count).wrapping_sub(1) & self.mask());
        let ticks = u64::from(ticks.min().unwrap_or(u32::MAX)) + 1;
        Cycles(self.since.0 + ticks * self.tick_cycles())
    }
}
