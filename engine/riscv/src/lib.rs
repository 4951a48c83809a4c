//! The Hazard3 RISC-V core as the RP2350 has it: every instruction, exact to the cycle.
//!
//! A [`Core`] is a core with its memories; the rest of the chip is behind the [`Bus`] that it is made
//! with. There is no global state: any thread can make any number of cores.
//!
//! # Instructions
//! RV32IMAC, Zba, Zbb, Zbs, Zbkb, Zcb, Zcmp, Zicsr, Zifencei, and Hazard3's own bit-field extraction
//! (Xh3bextm), interrupt controller (Xh3irq) and hints (Xh3power), in machine and user mode, with
//! memory protection (`pmp.rs`) and its use in machine mode (Xh3pmpm). Triggers and Hazard3's sleep
//! states are refused with a fault that names them.
//!
//! # Time
//! The unit is the core's clock cycle. The source is Hazard3's RTL, commit 86fc4e3f, which the
//! RP2350's `mimpid` names, in the RP2350's configuration. `tests/hazard3.rs` compares generated
//! programs with counts of the RTL (`docs/riscv.md` says how they were made).
//!
//! | rule | |
//! |---|---|
//! | an instruction is in the execution stage for one cycle, if what it needs is there | |
//! | what a load, LR or SC loads is needed by the next instruction: it waits one cycle, unless it only stores that | `Core::is_behind` |
//! | LR, SC and atomic operations do not follow LR or SC directly: one cycle | |
//! | MUL, MULH, MULHSU, MULHU: one cycle | |
//! | DIV, DIVU, REM, REMU: 19 cycles, 20 for a negative dividend of DIV and REM | `step.rs` |
//! | atomic operations: 4 cycles | |
//! | a jump, or a branch that was predicted wrongly: the target is fetched in the next cycle, and executed in the one after it; one later if it is a long instruction across a word border | `prefetch.rs` |
//! | the last taken branch that went backwards is predicted to be taken, except where its word is fetched by a jump; any other is predicted not to be | `prefetch.rs` |
//! | two words are fetched ahead, one each cycle; the decoder holds three halfwords | `prefetch.rs` |
//! | pushes and pops: one cycle for each register and for the stack pointer; a return jumps before its last cycle | `Core::sequence` |
//! | an exception, and MRET: the jump is in the cycle after the instruction | |
//! | an interrupt: the line is seen in the cycle after it rises; the jump is then made between two instructions, after an access to memory has ended; a division starts again; an atomic operation can be given up between reading and writing | `Core::step` |
//! | WFI: the cycle after the one that sees the interrupt is its last | `Core::sleep_on` |
//! | the bus adds wait states to accesses; the front end goes on meanwhile, and a jump behind the access is made at once | `Core::stalled_behind` |
//!
//! # Faults
//! Errors that silicon makes silently end the run with a [`joulemark_kernel::Fault`] before they take
//! effect: unmapped accesses, atomic accesses to other than RAM, exceptions without a handler (or any,
//! with [`Config::stop_on_fault`]), a stack that grows past its limit, and an interrupt at the jump of
//! CM.POPRET, which this version of the core gets wrong.
//!
//! # Speed
//! Instructions are decoded once. `plain.rs` runs blocks of plain ones as long as nothing is due, which
//! `blocks.rs` times once for each state of the pipeline that they are entered in, stepping the front
//! end cycle by cycle; `step.rs` can do all.

mod blocks;
mod bus;
mod compute;
mod core;
mod csr;
mod decode;
mod memory;
mod plain;
mod pmp;
mod power;
mod prefetch;
mod secrets;
mod step;

pub use bus::{Bus, Control, Lines, Width};
pub use core::{Config, Core, Exit, Limits};
pub use csr::Identity;
pub use memory::{Region, RegionKind};
