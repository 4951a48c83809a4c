//! Machines: a core, its chip's peripherals and an image, assembled to run under observation.
//! Machines share nothing, and observation costs no emulated time.

mod board;
mod calls;
mod cores;
mod cortex_m;
mod follow;
mod pins;
mod profile;
mod report;
mod secrets;
#[doc(hidden)]
pub mod series;
mod shell;
mod system;

use std::collections::BTreeMap;

use joulemark_kernel::image::Target;
use joulemark_kernel::{ChipError, Picoseconds, Signal};

pub use cores::{load_image, parse_image, targets};
pub use follow::{Cost, Followed, PartState, Place, Turn};
pub use profile::{CallPath, FunctionCost, Profile};
pub use secrets::{Part, Secret, SecretUse, Secrets};
pub use series::{load_chip, parse_chip};
pub use shell::Machine;

/// How a machine starts and what it records.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Start here instead of at the reset vector.
    ///
    /// The machine then starts as if under a debugger that sets the program counter and what a
    /// reset and start-up code would have set: the stack pointer is at the end of RAM, the watchdog
    /// is held and registers are zero. On an `ARMv7-M` core the stack pointer is the image's first
    /// word, if that points into RAM.
    pub entry: Option<u32>,
    /// The pin that brackets measurements, such as `P2.3`.
    pub marker: Option<String>,
    /// What to profile.
    pub profile: Profiling,
    /// Record pin and power-state changes.
    pub trace: bool,
    /// Digest every address fetched, read and written; with a marker, only between its rising and
    /// falling edges.
    pub secrets_trace: bool,
    /// How many resets by a watchdog or by the program to allow; the next one is a fault.
    pub resets: u32,
    /// Chip settings at start, by name.
    pub settings: BTreeMap<String, u32>,
    /// What surrounds the board, by quantity: what its sensors and its chip's sense.
    pub surroundings: BTreeMap<String, Signal>,
}

/// What a machine counts of its program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profiling {
    /// Nothing.
    #[default]
    Off,
    /// Cycles per function.
    Functions,
    /// Also the cost of each instruction, and calls in order of time, which is slower. With
    /// [`Options::trace`], power states are included.
    Instructions,
}

/// Conditions that end a run, besides faults. A core that sleeps with nothing due sleeps until the
/// limit in cycles or time; without a limit, the run ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Until {
    /// Before the instruction at this address is executed.
    pub address: Option<u32>,
    /// After the next edge of the marker pin.
    pub marker: bool,
    /// When the program has sent this byte on a serial line.
    pub serial: Option<u8>,
    /// When a device has something for the outside world, or a radio on the air was told to send.
    pub device: bool,
    /// When the core sleeps and nothing is due to wake it.
    pub asleep: bool,
    /// After this many more cycles.
    pub max_cycles: Option<u64>,
    /// At the first instruction boundary at or after this time since the start.
    pub time: Option<Picoseconds>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// [`Until::address`], or a watched address.
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
    /// The core sleeps and nothing is due to wake it.
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

/// A call on the emulated program's stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The current address, or the one to which it will return.
    pub address: u32,
    /// The nearest symbol; empty if there is none.
    pub symbol: String,
    /// Bytes after the symbol.
    pub offset: u32,
}

/// A fault with symbols for its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultReport {
    /// The name of the fault's kind.
    pub kind: &'static str,
    /// One sentence: what happened and where.
    pub message: String,
    /// The accessed address, if there is one.
    pub address: Option<u32>,
    /// Innermost first; the first frame is where the fault happened.
    pub call_stack: Vec<Frame>,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The reason.
    pub reason: Reason,
    /// The address of the next instruction, or of the faulting one.
    pub address: u32,
    /// The fault that ended the run, or whose handler was running when the cycles were used up.
    pub fault: Option<FaultReport>,
}

/// An input error: what, where and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The image does not suit the chip.
    Image(String),
    /// The chip file lacks something.
    Chip(String),
    /// The board's wiring does not suit the chip.
    Board(String),
    /// An argument is wrong.
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
