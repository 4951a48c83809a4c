//! The MSP430 CPU: every instruction, exact to the cycle.
//!
//! A [`Core`] is a CPU with flash and RAM; the rest of the chip is behind the [`Bus`] that it is
//! made with. There is no global state: any thread can make any number of cores.
//!
//! # Time
//! The unit is the MCLK cycle. The source is SLAU049F, *MSP430x1xx Family User's Guide*; rules that
//! the manual leaves open are marked *inferred*.
//!
//! | rule | source |
//! |---|---|
//! | format I, by source and destination mode; MOV, BIT and CMP are no cheaper | table 3-16, page 3-73 |
//! | destination PC: 2 from Rn and @Rn, otherwise 3, for every operation | table 3-16 |
//! | RRA, RRC, SWPB, SXT, PUSH, CALL by mode | table 3-15, page 3-72 |
//! | a jump takes 2, taken or not | page 3-72 |
//! | generated constants cost as much as a register | section 3.2.4: no code word, no access |
//! | RETI takes 5; the acceptance of an interrupt, until its first instruction, takes 6 | table 3-14, section 2.2.3 |
//! | an interrupt is accepted between instructions; SR is cleared, which ends a low-power mode | section 2.2.3 |
//! | after EINT, one more instruction is executed; DINT takes effect one instruction late | pages 3-40 and 3-39, notes |
//! | no such delay after RETI, or if the instruction that sets GIE also sets CPUOFF | inferred |
//! | data is transferred in the instruction's last cycle; a value to be written back is read in the cycle before; a source is read 3 cycles earlier if the destination is in memory | inferred |
//! | the bus supplies the start-up time of oscillators and the stall time of flash | sections 4.2 and 5.3 |
//!
//! While CPUOFF is set the cycle counter continues, event by event, and [`Core::sleep_cycles`]
//! counts that part; the bus is told of each change of mode ([`Bus::power_changed`]).
//!
//! # State
//! All operands and modes, including PC, SP, SR and R3, are checked word by word against mspdebug's
//! simulator; `tests/instructions.rs` lists where that differs and what the manual says. PUSH and
//! CALL move SP before they locate their operand (`Core::make_room` explains why). Where the manual
//! is silent: DADD clears V, and digits above 9 add 6 and carry one; R3 as a base is 0
//! (*inferred*).
//!
//! # Faults
//! Errors that silicon makes silently end the run with a [`joulemark_kernel::Fault`] before they
//! take effect: unmapped and odd accesses, invalid instructions (including a constant as the
//! operand of RRA and similar instructions, and byte forms of SWPB, SXT and CALL), unprogrammed
//! flash, execution of peripherals, of RAM that was never written and of what
//! [`Core::deny_execution`] declares to be data, and a stack that grows past its limit. The fault
//! carries the return addresses of the calls that led to it.
//!
//! # Speed
//! Instructions are decoded once, into runs that end before the next event, so that a run needs no
//! checks inside (`execute.rs`). Polled registers are read without leaving a run, if the bus says
//! that the read has no other effect ([`Bus::read_quietly`]), and what a polling loop would only
//! repeat is skipped, if the bus knows how the register goes on ([`Bus::forecast`], `polling.rs`).
//! Everything rare is executed one
//! instruction at a time by the reference implementation in `step.rs`. `benches/engine` compares
//! the speed with mspdebug's simulator.

mod alu;
mod bus;
mod core;
mod decode;
mod execute;
mod memory;
mod observe;
mod polling;
mod power;
mod registers;
mod run;
mod secrets;
mod slots;
mod step;
mod timing;

pub use bus::{Bus, FlashEffect, FlashOperation, Flow, Forecast, Transfer, Width};
pub use core::{Core, RESET_VECTOR};
pub use memory::{Region, RegionKind};
pub use observe::{Call, Node, Profile};
pub use registers::status;
pub use run::{Exit, Limits};
