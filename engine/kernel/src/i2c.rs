//! What a master does on an I2C bus.

/// A part of a transfer, at the end of its last bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum I2c {
    /// A start, or repeated start, with an address of seven bits.
    Start {
        /// The address.
        address: u8,
        /// Whether the master reads.
        is_read: bool,
    },
    /// The master sends a byte.
    Write(u8),
    /// The master reads a byte.
    Read,
    /// A stop.
    Stop,
}
