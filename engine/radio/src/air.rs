//! Signals on the air: what an antenna emits, and what arrives at another.

use std::sync::Arc;

use joulemark_kernel::Picoseconds;

/// How a transmission begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// The preamble's first symbol, or the carrier's begin.
    pub begin: Picoseconds,
    /// The end of the start-of-frame delimiter; [`Picoseconds::NEVER`] for a carrier without
    /// frames.
    pub delimiter: Picoseconds,
    /// Centre frequency.
    pub frequency_mhz: u16,
    /// Output power.
    pub power_dbm: f64,
}

/// Actions of an antenna on the medium, in the time of its board.
#[derive(Clone, Debug, PartialEq)]
pub enum Emission {
    /// A transmission is announced.
    Start(Start),
    /// Its bytes from a place on, the length byte's place being 0. Until a byte's first symbol is
    /// sent, it may come again with another value.
    Bytes(usize, Vec<u8>),
    /// It ends then, whatever was said before.
    End(Picoseconds),
}

/// A transmission at an antenna that may hear it, in the time of that antenna's board.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The same at all antennas, and of no other transmission.
    pub id: u64,
    /// How it begins; its power is that at the antenna.
    pub start: Start,
    /// How long a byte lasts, after the sender's crystal.
    pub byte: Picoseconds,
    /// The bytes that are known: those that have been sent are right.
    pub bytes: Arc<Vec<u8>>,
    /// When it ends; [`Picoseconds::NEVER`] as long as nobody knows.
    pub end: Picoseconds,
    /// The link loses this frame: there is its power, but no receiver finds its delimiter.
    pub is_lost: bool,
    /// Seed of its bit errors at this antenna.
    pub seed: u64,
}

impl Arrival {
    /// When the byte at a place begins, the length byte's place being 0.
    pub const fn byte_begin(&self, place: usize) -> Picoseconds {
        Picoseconds(self.start.delimiter.0 + self.byte.0 * place as u64)
    }
}

/// Fate of a transmission at an antenna.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Received as it was sent.
    Received,
    /// Received with wrong symbols.
    Corrupted,
    /// The receiver left in the middle of it.
    Abandoned,
    /// The receiver was off, or sending.
    Deaf,
    /// The receiver was on another frequency.
    OtherChannel,
    /// The receiver was on too late for the delimiter.
    Late,
    /// The receiver was in the middle of another frame.
    Busy,
    /// Too weak for the receiver.
    Weak,
    /// Other transmissions drowned its preamble.
    Collided,
    /// Lost by the link.
    Lost,
}

impl Outcome {
    /// The name that users see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Corrupted => "corrupted",
            Self::Abandoned => "abandoned",
            Self::Deaf => "deaf",
            Self::OtherChannel => "other-channel",
            Self::Late => "late",
            Self::Busy => "busy",
            Self::Weak => "weak",
            Self::Collided => "collided",
            Self::Lost => "lost",
        }
    }
}
