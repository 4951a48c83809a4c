//! Pin tasks and events of nRF52 chips (nRF52840 product specification, chapters GPIO and GPIOTE).
//! Register offsets and fields were compared with Nordic's `nrf52840.svd`.

use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::nrf::{Nrf, NrfEvents};

const CHANNELS: usize = 8;
const PORT: u32 = 31;
/// CONFIG.MODE.
const EVENT: u32 = 1;
const TASK: u32 = 3;
/// `PIN_CNF.SENSE`: sense a high or a low level.
const SENSE_HIGH: u32 = 2;
const SENSE_LOW: u32 = 3;

/// Channels, and the levels that pins sense.
#[derive(Clone, Debug)]
pub struct NrfGpiote {
    events: NrfEvents,
    config: [u32; CHANNELS],
    level: [u32; 2],
    /// Pins that sense a level, by port and level.
    sense: [[u32; 2]; 2],
    /// Pins at which the sensed level occurred.
    latch: [u32; 2],
    /// A pin is at the level that it senses.
    is_detected: bool,
}

impl Default for NrfGpiote {
    fn default() -> Self {
        Self {
            events: NrfEvents::new(1 << PORT | 0xff),
            config: [0; CHANNELS],
            level: [0; 2],
            sense: [[0; 2]; 2],
            latch: [0; 2],
            is_detected: false,
        }
    }
}

impl NrfGpiote {
    /// Note new levels of a port's pins; `changed` marks the pins that differ.
    pub fn pins_changed(&mut self, port: usize, level: u32, changed: u32) {
        self.level[port] = level;
        for (channel, config) in (0..).zip(self.config) {
            let (pin, of_port) = (config >> 8 & 31, config >> 13 & 1);
            if config & 3 != EVENT || of_port as usize != port || changed >> pin & 1 == 0 {
                continue;
            }
            // POLARITY: bit 0 for rising, bit 1 for falling edges.
            if config >> 16 >> (1 - (level >> pin & 1)) & 1 != 0 {
                self.events.happen(channel);
            }
        }
        self.detect();
    }

    /// Handle a write to a pin's `PIN_CNF`.
    pub fn set_sense(&mut self, port: usize, pin: u32, sense: u32, level: u32) {
        self.level[port] = level;
        for (wanted, of) in [SENSE_LOW, SENSE_HIGH]
            .into_iter()
            .zip(&mut self.sense[port])
        {
            *of = *of & !(1 << pin) | u32::from(sense == wanted) << pin;
        }
        self.detect();
    }

    fn detect(&mut self) {
        let mut is_detected = false;
        for ((latch, sense), level) in self.latch.iter_mut().zip(self.sense).zip(self.level) {
            let met = sense[1] & level | sense[0] & !level;
            *latch |= met;
            is_detected |= met != 0;
        }
        if is_detected && !self.is_detected {
            self.events.happen(PORT);
        }
        self.is_detected = is_detected;
    }

    /// LATCH of a port.
    pub const fn latch(&self, port: usize) -> u32 {
        self.latch[port]
    }

    /// Write LATCH of a port: ones clear, but bits whose condition still holds are set again.
    pub fn clear_latch(&mut self, port: usize, value: u32) {
        self.latch[port] &= !value;
        self.detect();
    }

    /// A task's effect on a pin: port, pin and level; no level toggles.
    pub fn output(&self, task: u32) -> Option<(usize, u32, Option<bool>)> {
        let (channel, kind) = match task {
            0..8 => (task, 0),
            12..20 => (task - 12, 1),
            24..32 => (task - 24, 2),
            _ => return None,
        };
        let config = self.config[channel as usize];
        if config & 3 != TASK {
            return None;
        }
        let level = match (kind, config >> 16 & 3) {
            (1, _) | (0, 1) => Some(true),
            (2, _) | (0, 2) => Some(false),
            (_, 3) => None,
            _ => return None,
        };
        Some(((config >> 13 & 1) as usize, config >> 8 & 31, level))
    }

    /// The pin that a channel drives because of its configuration: port, pin, level.
    pub const fn driven(&self, channel: usize) -> Option<(usize, u32, bool)> {
        let config = self.config[channel];
        if config & 3 != TASK {
            return None;
        }
        Some((
            (config >> 13 & 1) as usize,
            config >> 8 & 31,
            config >> 20 & 1 != 0,
        ))
    }
}

impl Nrf for NrfGpiote {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    /// The owner of the pins carries out a task's effect.
    fn task(&mut self, number: u32, _now: Cycles) -> bool {
        matches!(number, 0..8 | 12..20 | 24..32)
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        match offset {
            0x510..=0x52c => Some(self.config[(offset as usize - 0x510) / 4]),
            _ => None,
        }
    }

    fn set_own(&mut self, offset: u32, value: u32, _now: Cycles) -> Result<bool, Fault> {
        match offset {
            0x510..=0x52c if value & 3 == 2 => Err(Fault::new(
                FaultKind::Peripheral,
                "GPIOTE.CONFIG.MODE is 2, which there is not; 0, 1 (event) and 3 (task) are",
            )),
            0x510..=0x52c => {
                self.config[(offset as usize - 0x510) / 4] = value & 0x0013_3f03;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}
