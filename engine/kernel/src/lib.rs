//! Shared by all emulated machines: time, faults, chip files, images and traces.
//!
//! The kernel knows no instruction set and no peripheral.

pub mod chip;
pub mod fault;
pub mod i2c;
pub mod image;
pub mod lines;
pub mod memories;
pub mod numbers;
pub mod observe;
pub mod power;
pub mod secrets;
pub mod shadows;
pub mod signal;
pub mod symbols;
pub mod time;
pub mod trace;
mod uf2;

pub use chip::{Chip, ChipError};
pub use fault::{Caller, Fault, FaultKind};
pub use i2c::I2c;
pub use image::{Image, ImageError};
pub use memories::{Based, Memories};
pub use numbers::{Map, Numbers};
pub use observe::Observer;
pub use signal::Signal;
pub use symbols::Symbols;
pub use time::{Cycles, FineHertz, Hertz, Pace, Picoseconds, Timeline, divide};
