//! The single-precision floating-point extension of a Cortex-M4, FPv4-SP (ARM DDI 0403E.e, A2.5 and A6.4 to
//! A6.7): its registers, what its instructions do with them, and how long they take.

mod arithmetic;
mod compute;
mod control;
mod decode;
mod timing;

pub use control::FloatControl;
pub use decode::{decode, is_float};
pub use timing::{DIVISION_CYCLES, extra_cycles, feeds};

/// N, Z, C and V of FPSCR, and of the program status register.
pub const CONDITIONS: u32 = 0xf000_0000;
/// Bits of FPSCR that there are (A2.5.3).
const FPSCR_BITS: u32 = CONDITIONS | 0x07c0_009f;
/// Of these what FPDSCR gives to a new context: AHP, DN, FZ, `RMode`.
const CONTEXT_BITS: u32 = 0x07c0_0000;

/// The extension's registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fpu {
    /// S0 to S31.
    pub s: [u32; 32],
    fpscr: u32,
}

impl Fpu {
    /// The status and control register.
    pub const fn fpscr(&self) -> u32 {
        self.fpscr
    }

    /// Set it; bits that it does not have stay clear.
    pub const fn set_fpscr(&mut self, value: u32) {
        self.fpscr = value & FPSCR_BITS;
    }

    /// A new context begins (`ExecuteFPCheck`).
    pub const fn begin_context(&mut self, fpdscr: u32) {
        self.fpscr = self.fpscr & !CONTEXT_BITS | fpdscr & CONTEXT_BITS;
    }

    /// A register; the mask tells the compiler that there are 32.
    pub const fn read(&self, register: u8) -> u32 {
        self.s[register as usize & 31]
    }

    /// Write a register.
    pub const fn write(&mut self, register: u8, value: u32) {
        self.s[register as usize & 31] = value;
    }
}
