//! The Hazard3 RISC-V core.

mod bus;
mod compute;
mod core;
mod csr;
mod decode;
mod memory;
mod observe;
mod prefetch;
mod step;

pub use bus::{Bus, Control, Lines, Width};
pub use core::{Config, Core, Exit, Limits};
pub use csr::Identity;
pub use memory::{Region, RegionKind};
