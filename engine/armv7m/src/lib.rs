//! An ARMv7-M core as a Cortex-M3 has it: every instruction, its pipeline and its buses, exact to
//! the cycle.

mod bus;
mod buses;
mod cache;
mod core;
mod decode;
mod exec;
mod memo;
mod memory;
#[cfg(test)]
mod oracle;
mod pipeline;
mod prefetch;
mod system;
mod traits;

pub use bus::{Bus, MemorySettings, Width};
pub use core::{Call, Config, Core, Exit, Limits, Timing};
pub use memory::{Port, Region, RegionKind};
