//! An ARMv6-M core as a Cortex-M0+ has it: its instructions, their cycles, and its exceptions.
//!
//! A [`Core`] is a core with its memories, NVIC and `SysTick`; the rest of a chip is behind the
//! [`Bus`] of every Cortex-M core. One of its memories may have wait states
//! ([`joulemark_kernel::lines`]).
//!
//! # Time
//! The unit is the core's clock cycle. Where memory answers without wait states, what an instruction
//! takes is in ARM DDI 0484C (Cortex-M0+ TRM), table 3-1; `decode.rs` has it beside each encoding. An
//! access through the single-cycle I/O port takes one cycle less.
//!
//! | | cycles | source |
//! |---|---|---|
//! | instructions | | table 3-1; MULS as configured, 1 or 32 |
//! | interrupt: from the line to the handler's first instruction | 15 | section 3.6.1, "worst case"; taken for all but a core that waits for a register, which takes more |
//! | LDM, STM, PUSH and POP make way, and start again after the handler | | section 3.6.1 |
//! | late arrival: another exception is entered instead until 4 cycles before the handler | | inferred |
//! | SVC and faults: the instruction 1, then entry | 15 | inferred |
//! | return from an exception | 3 + 8 | inferred: as a POP of eight words with PC |
//! | another exception instead of a return (tail-chaining) | 6 | inferred: an entry without storing eight words |
//! | WFI, WFE: besides the sleep; the core goes on in the cycle of its waking | 2 | table 3-1; inferred |
//!
//! Not in table 3-1, and not emulated: that a branch to the second half of a word may fetch once more.
//! The slow multiplier does not make way for interrupts here.
//!
//! # Faults
//! Errors that silicon makes silently end the run with a [`joulemark_kernel::Fault`] before they take
//! effect: a hard fault with [`Config::stop_on_fault`], a lockup always, and a stack that grows past
//! its limit. The memory protection unit is refused where it is turned on.
//!
//! The addresses of instructions and data are digested where that is asked for, and secrets followed
//! (`secrets.rs`).

mod blocks;
mod core;
mod decode;
mod exceptions;
mod execute;
mod flags;
mod memory;
#[cfg(test)]
mod oracle;
mod plain;
mod power;
mod secrets;
mod system;

pub use core::{Config, Core, Exit, Limits, Wait};
pub use joulemark_armv7m::{Bus, Control, Width};
pub use memory::{Region, RegionKind};
