//! The MSP430 CPU: every instruction, exact to the cycle.

mod alu;
mod bus;
mod core;
mod decode;
mod execute;
mod memory;
mod observe;
mod step;
mod timing;

pub use bus::{Bus, FlashEffect, FlashOperation, Width};
pub use core::{Core, Exit, Limits, RESET_VECTOR, status};
pub use memory::{Region, RegionKind};
pub use observe::{Call, Node, Profile};
