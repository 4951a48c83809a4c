//! Register numbers, and bits of the status register.

/// Numbers of the named registers.
pub(crate) const PC: usize = 0;
pub(crate) const SP: usize = 1;
pub(crate) const SR: usize = 2;
pub(crate) const CG: usize = 3;

/// Registers, indexed by a byte so that no index is out of bounds; sixteen exist, and [`ZERO`]
/// always holds 0.
pub(crate) type Registers = [u16; 256];

/// The pseudo-register that serves as the base of absolute addresses.
pub(crate) const ZERO: u8 = 16;

/// Bits of the status register (SLAU049F, figure 3-6).
pub mod status {
    /// Carry.
    pub const C: u16 = 1 << 0;
    /// Zero.
    pub const Z: u16 = 1 << 1;
    /// Negative.
    pub const N: u16 = 1 << 2;
    /// General interrupt enable.
    pub const GIE: u16 = 1 << 3;
    /// The core is off.
    pub const CPUOFF: u16 = 1 << 4;
    /// The LFXT1 oscillator is off.
    pub const OSCOFF: u16 = 1 << 5;
    /// System clock generator control 0.
    pub const SCG0: u16 = 1 << 6;
    /// System clock generator control 1.
    pub const SCG1: u16 = 1 << 7;
    /// Overflow.
    pub const V: u16 = 1 << 8;
    /// The bits that select a low-power mode.
    pub const POWER: u16 = CPUOFF | OSCOFF | SCG0 | SCG1;
}
