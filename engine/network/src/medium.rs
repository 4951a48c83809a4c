//! The medium between antennas.

use std::sync::Arc;

use joulemark_kernel::Picoseconds;
use joulemark_radio::{Outcome, Start};

/// How a mote's transmissions arrive at another mote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The receiving mote.
    pub to: usize,
    /// Attenuation from sender to receiver.
    pub attenuation_db: f64,
    /// The fraction of frames that the link loses.
    pub loss: f64,
}

/// A transmission's reception at a mote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hearing {
    /// The mote.
    pub mote: usize,
    /// The power that arrived.
    pub power_dbm: f64,
    /// The outcome; `None` until it is known.
    pub outcome: Option<Outcome>,
}

/// A transmission, in the network's time.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmission {
    /// The sending mote.
    pub mote: usize,
    /// Its index among the mote's transmissions, from 0.
    pub number: u32,
    /// Its start.
    pub start: Start,
    /// Duration of a byte.
    pub byte: Picoseconds,
    /// Its bytes after the delimiter.
    pub bytes: Arc<Vec<u8>>,
    /// Its end; [`Picoseconds::NEVER`] until known.
    pub end: Picoseconds,
    /// Its reception at each mote that it reached, in order of motes.
    pub hearings: Vec<Hearing>,
}

impl Transmission {
    /// Its id, which is unique and the same at all antennas.
    pub const fn id(&self) -> u64 {
        (self.mote as u64) << 32 | self.number as u64
    }

    /// The key that orders transmissions.
    pub const fn order(&self) -> (Picoseconds, usize) {
        (self.start.begin, self.mote)
    }

    /// All of it as bytes, for a digest.
    pub fn digested(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(128 + self.bytes.len() + 13 * self.hearings.len());
        let mut put = |part: &[u8]| all.extend_from_slice(part);
        put(&self.id().to_le_bytes());
        let start = &self.start;
        put(start.phy.name.as_bytes());
        for time in [start.begin, start.delimiter, self.byte, self.end] {
            put(&time.0.to_le_bytes());
        }
        put(&start.frequency_mhz.to_le_bytes());
        put(&start.power_dbm.to_bits().to_le_bytes());
        put(&start.sync.to_le_bytes());
        put(&self.bytes.len().to_le_bytes());
        put(&self.bytes);
        for hearing in &self.hearings {
            put(&(hearing.mote as u32).to_le_bytes());
            put(&hearing.power_dbm.to_bits().to_le_bytes());
            put(&[hearing.outcome.map_or(0, |outcome| 1 + outcome as u8)]);
        }
        all
    }

    /// Whether it stopped before the end of its frame.
    pub fn is_cut(&self) -> bool {
        let sent = self.start.phy.sent_bytes(&self.bytes).unwrap_or(0) as u64;
        let whole = self.start.delimiter.0.saturating_add(self.byte.0 * sent);
        // Tolerate two roundings of a picosecond, and those of a frame's bytes.
        self.end.0.saturating_add(200) < whole
    }
}
