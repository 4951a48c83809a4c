//! The antenna between a radio and the medium.
//!
//! A radio, whether a device on a board or a part of a chip, owns an [`Antenna`] and does to it
//! what it does to the air: transmits, listens, asks for the power on its channel. Whoever carries
//! frames between machines takes what antennas emit and gives it to the others. What becomes of
//! overlapping frames is decided in the antenna that hears them, once for all radios.
//!
//! All times that a radio sees are those of its own board.
//!
//! How a radio uses it. Told to send: [`Antenna::transmit`] at once, with the time at which its
//! preamble begins; [`Antenna::put`] with the bytes as soon as they are known, again for those that
//! change before they are sent; [`Antenna::end`] as soon as the length is known, earlier where it
//! is stopped. Receiver ready: [`Antenna::listen`]. At [`Antenna::next_event`]:
//! [`Antenna::advance`], which may find a frame; its bytes come in at [`Reception::byte_end`] and
//! are asked for then by [`Antenna::byte`]; after the last, [`Antenna::release`].

mod air;
mod antenna;

pub use air::{Arrival, Emission, Outcome, Start};
pub use antenna::{Antenna, Figures, MEMORY, Reception};

use joulemark_kernel::Picoseconds;

/// A symbol of the 2.4 GHz O-QPSK PHY: 62.5 ksymbol/s (IEEE Std 802.15.4-2006, 6.5.3.2).
pub const SYMBOL: Picoseconds = Picoseconds(16_000_000);
/// A byte: two symbols.
pub const BYTE: Picoseconds = Picoseconds(32_000_000);
/// Preamble and start-of-frame delimiter: five bytes (IEEE Std 802.15.4-2006, 6.3).
pub const SYNCHRONISATION: Picoseconds = Picoseconds(160_000_000);

/// A radio that is a part of a chip. One that is a device on a board has its time from
/// `joulemark_devices::Device` and shows its antenna there.
pub trait Radio {
    /// Its antenna.
    fn antenna(&mut self) -> &mut Antenna;

    /// When it, or something in its antenna, is due; [`Picoseconds::NEVER`] if nothing is.
    fn next_event(&self) -> Picoseconds;

    /// Does everything due at `now`; the next event is later or needs memory.
    fn advance(&mut self, now: Picoseconds);

    /// Whether it can go on only when it gets at the chip's memory. Until then nothing is done at
    /// [`Radio::next_event`], which is in the past.
    fn needs_memory(&self) -> bool {
        false
    }

    /// Its power state, such as `rx`, as the `[[radio.state]]` tables of boards' files call it.
    fn state(&self) -> &'static str;
}

/// The centre frequency of a channel in MHz (IEEE Std 802.15.4-2006, 6.1.2.1), channels 11 to 26.
pub const fn frequency_mhz(channel: u8) -> u16 {
    2405 + 5 * (channel as u16 - 11)
}

/// The channel with this centre frequency in MHz; `None` between channels.
pub const fn channel(frequency_mhz: u16) -> Option<u8> {
    match frequency_mhz.checked_sub(2405) {
        Some(above) if above.is_multiple_of(5) && above <= 75 => Some(11 + (above / 5) as u8),
        _ => None,
    }
}
