//! The medium between antennas.

use std::sync::Arc;

use joulemark_kernel::Picoseconds;
use joulemark_radio::{Outcome, Start};

/// A transmission as it arrives at another mote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The mote that hears.
    pub to: usize,
    /// By how much less power arrives than is sent.
    pub attenuation_db: f64,
    /// The part of the frames that it loses.
    pub loss: f64,
}

/// A transmission as a mote received it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hearing {
    /// The mote.
    pub mote: usize,
    /// The power that arrived.
    pub power_dbm: f64,
    /// Its fate; `None` as long as it is not known.
    pub outcome: Option<Outcome>,
}

/// A transmission, in the network's time.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmission {
    /// The mote that sends.
    pub mote: usize,
    /// Its number among those of the mote, from 0 on.
    pub number: u32,
    /// How it begins.
    pub start: Start,
    /// How long a byte lasts.
    pub byte: Picoseconds,
    /// Its bytes, the length first.
    pub bytes: Arc<Vec<u8>>,
    /// Its end; [`Picoseconds::NEVER`] as long as it is not known.
    pub end: Picoseconds,
    /// Its reception at each mote that it reached, in the order of motes.
    pub hearings: Vec<Hearing>,
}

impl Transmission {
    /// The same at all antennas, and of no other transmission.
    pub const fn id(&self) -> u64 {
        (self.mote as u64) << 32 | self.number as u64
    }

    /// Identity and order of transmissions.
    pub const fn order(&self) -> (Picoseconds, usize) {
        (self.start.begin, self.mote)
    }

    /// Whether it was stopped before the end of its frame.
    pub fn is_cut(&self) -> bool {
        let length = self
            .bytes
            .first()
            .map_or(0, |&length| u64::from(length & 0x7f) + 1);
        let whole = self.start.delimiter.0.saturating_add(self.byte.0 * length);
        // Two roundings of a picosecond, and those of a frame's bytes.
        self.end.0.saturating_add(200) < whole
    }
}
