//! An ARMv6-M core: the manual's cycles, exceptions, faults and sleep. Its instructions' state is
//! compared in `src/oracle.rs`.

mod common;
mod cycles;
mod exceptions;
mod lines;
mod plain;
