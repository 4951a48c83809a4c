//! Machines that hear each other.
//!
//! Each machine has its own crystal and time; the network has one common time. A machine runs ahead
//! of the others as long as nothing that they do can reach it: a radio's actions are on the air
//! only after its synthesizer's turnaround, and a sleeping machine does nothing before it wakes
//! (conservative parallel simulation: Chandy and Misra, 1979; look-ahead from radios and from
//! sleep: Jin and Gupta, ICPADS 2008). Results therefore depend neither on the number of threads
//! nor on how far machines run ahead.

mod cell;
mod clock;
mod medium;
mod mote;
mod network;
mod rules;

pub use clock::{Clock, Crystal};
pub use medium::{Hearing, Link, Transmission};
pub use mote::{Board, Mote, Seated};
pub use network::Network;
pub use rules::Ahead;
