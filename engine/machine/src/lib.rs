//! Machines: a core, its chip's peripherals and an image, put together so that they run and can be
//! observed. Nothing is shared between machines, and observing costs no emulated time.

mod armv7m;
mod board;
mod calls;
mod cortex_m;
mod follow;
mod msp430;
mod msp430x1xx;
mod pins;
mod profile;
mod report;
mod series;
mod shell;
mod system;

use std::collections::BTreeMap;

use joulemark_kernel::{ChipError, Picoseconds};

pub use follow::{Cost, Followed, PartState, Place, Turn};
pub use profile::{CallPath, FunctionCost, Profile};
pub use series::{load_chip, parse_chip};
pub use shell::Machine;

/// How a machine starts and what it keeps.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Start here instead of at the reset vector.
    ///
    /// A debugger that places the program counter also sets up what a reset and start-up code would
    /// have: the stack pointer is at the end of RAM and the watchdog is held. Registers hold zero.
    /// On an `ARMv7-M` core the stack pointer is the image's first word, where that is in RAM.
    pub entry: Option<u32>,
    /// The pin that brackets measurements, such as `P2.3`.
    pub marker: Option<String>,
    /// Things to count.
    pub profile: Profiling,
    /// Keep pin and power-state changes.
    pub trace: bool,
    /// Keep a digest of every address fetched, read and written: where there is a marker, between
    /// its rising and its falling edge.
    pub secrets_trace: bool,
    /// How often the chip may be reset, by its watchdog or by its program, and go on: the next
    /// reset is a fault.
    pub resets: u32,
    /// Named chip settings at start.
    pub settings: BTreeMap<String, u32>,
}

/// Things that a machine counts of its program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profiling {
    /// Nothing.
    #[default]
    Off,
    /// Cycles per function.
    Functions,
    /// The cost of each instruction too, and calls in the order of time: slower. Power states are
    /// part of it where [`Options::trace`] is on.
    Instructions,
}

/// Conditions that end a run, besides faults. A core that sleeps with nothing due sleeps on to the
/// limit in cycles or time; without a limit, that sleep ends the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Until {
    /// Before the instruction at this address is executed.
    pub address: Option<u32>,
    /// After the next change of the marker pin.
    pub marker: bool,
    /// When the program has sent this byte on a serial line.
    pub serial: Option<u8>,
    /// When a device has something for the world outside the board.
    pub device: bool,
    /// When the core sleeps and nothing is due that could wake it.
    pub asleep: bool,
    /// After this many more cycles.
    pub max_cycles: Option<u64>,
    /// At the first instruction boundary that is not before this time since the start.
    pub time: Option<Picoseconds>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// [`Until::address`], or one that is watched.
    Address,
    /// [`Until::marker`].
    Marker,
    /// [`Until::serial`].
    Serial,
    /// [`Until::device`].
    Device,
    /// [`Until::max_cycles`].
    Cycles,
    /// [`Until::time`].
    Time,
    /// A fault.
    Fault,
    /// The core sleeps and nothing is due that could wake it.
    Asleep,
}

impl Reason {
    /// The name that users see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Marker => "marker",
            Self::Serial => "serial",
            Self::Device => "device",
            Self::Cycles => "cycles",
            Self::Time => "time",
            Self::Fault => "fault",
            Self::Asleep => "asleep",
        }
    }
}

/// One call on the stack of the emulated program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Where it is, or where it will go on.
    pub address: u32,
    /// The nearest symbol; empty where there is none.
    pub symbol: String,
    /// Bytes after the symbol.
    pub offset: u32,
}

/// A fault with names to its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultReport {
    /// Its kind's name.
    pub kind: &'static str,
    /// One sentence: what, where.
    pub message: String,
    /// The address that was touched, where there is one.
    pub address: Option<u32>,
    /// Innermost first; the first frame is where the fault happened.
    pub call_stack: Vec<Frame>,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Why.
    pub reason: Reason,
    /// The address of the next instruction, or of the one that faulted.
    pub address: u32,
    /// The fault, where that is why, or in whose handler the program was when its cycles were
    /// spent.
    pub fault: Option<FaultReport>,
}

/// Bad input to a machine: what, where and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The image is for something else.
    Image(String),
    /// The chip file lacks something.
    Chip(String),
    /// The board's wiring is not for this chip.
    Board(String),
    /// An argument.
    Argument(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Image(text) | Self::Chip(text) | Self::Board(text) | Self::Argument(text) => {
                f.write_str(text)
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<ChipError> for Error {
    fn from(error: ChipError) -> Self {
        Self::Chip(error.0)
    }
}
