//! The antenna between a radio and the medium.
//!
//! A radio, whether a device on a board or part of a chip, owns an [`Antenna`] and uses it as it
//! would use the air: it transmits, listens, and measures the power on its channel. The medium
//! takes what antennas emit and passes it to the others. The antenna that hears overlapping frames
//! decides what becomes of them, in the same way for all radios.
//!
//! A radio's times are those of its own board.
//!
//! Usage by a radio. When told to send, call [`Antenna::transmit`] at once, with the time at which
//! the preamble begins; [`Antenna::put`] as soon as bytes are known, and again for bytes that
//! change before they are sent; and [`Antenna::end`] as soon as the length is known, or earlier to
//! stop. When the receiver is ready, call [`Antenna::listen`]. At [`Antenna::next_event`], call
//! [`Antenna::advance`], which may find a frame; at each [`Reception::byte_end`], read the byte
//! with [`Antenna::byte`]; after the last one, call [`Antenna::release`].

mod air;
mod antenna;
mod phy;

pub use air::{Arrival, Emission, Outcome, Start};
pub use antenna::{Antenna, Figures, MEMORY, Reception};
pub use phy::{Check, Length, PHYS, Phy, gfsk_1m, oqpsk_2450};

use joulemark_kernel::Picoseconds;

/// A radio in a chip. A radio that is a device on a board gets its time from
/// `joulemark_devices::Device`, which also gives access to its antenna.
pub trait Radio {
    /// Its antenna.
    fn antenna(&mut self) -> &mut Antenna;

    /// When the radio or its antenna next has an event; [`Picoseconds::NEVER`] if there is none.
    fn next_event(&self) -> Picoseconds;

    /// Handle everything due at `now`; the next event is later or needs memory.
    fn advance(&mut self, now: Picoseconds);

    /// Whether it cannot continue without access to the chip's memory. Until then, nothing is done
    /// at [`Radio::next_event`], which is in the past.
    fn needs_memory(&self) -> bool {
        false
    }

    /// Its power state, such as `rx`, named as in the `[[radio.state]]` tables of board files.
    fn state(&self) -> &'static str;
}
