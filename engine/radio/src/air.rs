//! Signals on the air: what an antenna emits, and what arrives at others.

use std::sync::Arc;

use joulemark_kernel::Picoseconds;

use crate::Phy;

/// The start of a transmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// How its bytes are on the air.
    pub phy: &'static Phy,
    /// Start of the preamble's first symbol, or of the carrier.
    pub begin: Picoseconds,
    /// The end of the synchronisation word, here called delimiter; [`Picoseconds::NEVER`] for a carrier without
    /// frames.
    pub delimiter: Picoseconds,
    /// Centre frequency.
    pub frequency_mhz: u16,
    /// Output power.
    pub power_dbm: f64,
    /// The synchronisation word of a PHY that has several, such as the access address of a
    /// connection; 0 for the PHY's own.
    pub sync: u32,
}

impl Start {
    /// The start of a frame with the PHY's own preamble.
    pub const fn of_frame(
        phy: &'static Phy,
        begin: Picoseconds,
        frequency_mhz: u16,
        power_dbm: f64,
    ) -> Self {
        Self {
            phy,
            begin,
            delimiter: Picoseconds(begin.0 + phy.synchronisation().0),
            frequency_mhz,
            power_dbm,
            sync: 0,
        }
    }
}

/// An antenna's actions on the medium, in its board's time.
#[derive(Clone, Debug, PartialEq)]
pub enum Emission {
    /// A transmission is announced.
    Start(Start),
    /// Its bytes after the delimiter, from an index on. Until a byte's first symbol is
    /// sent, another emission may replace it.
    Bytes(usize, Vec<u8>),
    /// It ends at this time, which overrides earlier ones.
    End(Picoseconds),
}

/// A transmission at an antenna that may hear it, in that antenna's board's time.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Unique, and the same at all antennas.
    pub id: u64,
    /// Its start; the power is that at the antenna.
    pub start: Start,
    /// Duration of a byte by the sender's crystal.
    pub byte: Picoseconds,
    /// The bytes known so far; those already sent are final.
    pub bytes: Arc<Vec<u8>>,
    /// The end; [`Picoseconds::NEVER`] until known.
    pub end: Picoseconds,
    /// Whether the link loses this frame: its power arrives, but no receiver finds its delimiter.
    pub is_lost: bool,
    /// Seed of its bit errors at this antenna.
    pub seed: u64,
}

impl Arrival {
    /// When the byte at an index after the delimiter begins.
    pub const fn byte_begin(&self, place: usize) -> Picoseconds {
        Picoseconds(self.start.delimiter.0 + self.byte.0 * place as u64)
    }
}

/// The outcome of a transmission at an antenna.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Received correctly.
    Received,
    /// Received with symbol errors.
    Corrupted,
    /// The receiver gave up during the frame.
    Abandoned,
    /// The receiver was off or sending.
    Deaf,
    /// The receiver was on another frequency.
    OtherChannel,
    /// The receiver receives another PHY.
    OtherPhy,
    /// The receiver looks for another synchronisation word.
    OtherSync,
    /// The receiver was turned on too late for the delimiter.
    Late,
    /// The receiver was receiving another frame.
    Busy,
    /// Too weak for the receiver.
    Weak,
    /// Interference hid its preamble.
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
            Self::OtherPhy => "other-phy",
            Self::OtherSync => "other-sync",
            Self::Late => "late",
            Self::Busy => "busy",
            Self::Weak => "weak",
            Self::Collided => "collided",
            Self::Lost => "lost",
        }
    }
}
