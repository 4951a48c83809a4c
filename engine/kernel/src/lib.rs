//! What every emulated machine shares: time, faults, images and traces.
//!
//! The kernel knows no instruction set and no peripheral.

pub mod fault;
pub mod time;

pub use fault::{Fault, FaultKind};
pub use time::{Cycles, Hertz, Picoseconds};
