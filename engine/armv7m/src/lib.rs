//! An ARMv7-M core as a Cortex-M3 or M4 has it: its instructions, its pipeline and its buses, exact to
//! the cycle.
//!
//! [`Core`] holds registers, memories ([`Region`]) and the system control space (NVIC, SCB, `SysTick`,
//! DWT); everything else of a chip is behind a [`Bus`]. [`Core::run`] goes on until an [`Exit`]; single
//! steps are `run` with [`Limits::step_first`] and a limit that is already reached, between which
//! registers, cycles, instructions, calls and memory can be read, as a profile or a trace needs.
//!
//! How it works: a block of instructions, up to the next branch, is decoded once for each address
//! (`decode`, `traits`), executed in order (`compute`, `exec`, `multiple`), and issued to the pipeline (`pipeline`, `prefetch`,
//! `buses`, `cache`), which says in which cycle each enters execute and, for a device, in which its data
//! is on the bus. What the pipeline did with a block in a state is remembered (`memo`).
//!
//! Not modelled: trace and breakpoint units. Errors of buffered stores are precise. The cycles of
//! exception entry, tail-chaining and return are measured ones (`CMEmu`'s `interrupts/`: see
//! `examples/calibrate.rs`); those of late arrival, of interrupted LDM and STM and of waking up are
//! not.

mod bus;
mod buses;
mod cache;
mod compute;
mod core;
mod decode;
#[cfg(test)]
mod differential;
mod dsp;
mod exceptions;
mod exec;
mod exec_float;
mod fpu;
mod memo;
mod memory;
mod mpu;
mod multiple;
mod op;
#[cfg(test)]
mod oracle;
mod pipeline;
mod power;
mod prefetch;
mod registers;
mod secrets;
mod stale;
mod system;
mod timing;
mod traits;

pub use bus::{Bus, Control, Flow, MemorySettings, Width};
pub use core::{Call, Config, Core, Exit, Limits};
pub use memory::{DeviceWait, Port, Region, RegionKind};
pub use timing::Timing;
