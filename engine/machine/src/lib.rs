//! Machines: a core, its chip's peripherals and an image, put together so that they run and can be
//! observed. Nothing is shared between machines, and observing costs no emulated time.

pub mod armv7m;
mod calls;
pub mod cortex_m;
pub mod msp430;
pub mod msp430x1xx;
pub mod profile;
mod report;

use std::collections::BTreeMap;

use joulemark_kernel::chip::CoreKind;
use joulemark_kernel::trace::{MarkerEdge, PinEdge, PowerInterval};
use joulemark_kernel::{Chip, Image, Picoseconds};

pub use profile::{CallPath, FunctionCost, Profile};

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
    /// Count cycles per function.
    pub profile: bool,
    /// Keep pin and power-state changes.
    pub trace: bool,
    /// Keep a digest of every address fetched, read and written: where there is a marker, between
    /// its rising and its falling edge.
    pub secrets_trace: bool,
    /// Named chip settings at start.
    pub settings: BTreeMap<String, u32>,
}

/// What ends a run, besides faults and a sleep without end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Until {
    /// Before the instruction at this address is executed.
    pub address: Option<u32>,
    /// After the next change of the marker pin.
    pub marker: bool,
    /// When the program has sent this byte on a serial line.
    pub serial: Option<u8>,
    /// After this many more cycles.
    pub max_cycles: Option<u64>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// [`Until::address`].
    Address,
    /// [`Until::marker`].
    Marker,
    /// [`Until::serial`].
    Serial,
    /// [`Until::max_cycles`].
    Cycles,
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
            Self::Cycles => "cycles",
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
    /// The fault, where that is why, or in whose handler the program was when its cycles were spent.
    pub fault: Option<FaultReport>,
}

/// Bad input to a machine: what, where and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The image is for something else.
    Image(String),
    /// The chip file lacks something.
    Chip(String),
    /// An argument.
    Argument(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Image(text) | Self::Chip(text) | Self::Argument(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

/// One emulated chip, whatever its core.
///
/// It is `Sync` too: whatever changes it takes `&mut self`.
pub trait Machine: Send + Sync {
    /// Run until a condition holds.
    ///
    /// # Errors
    /// A condition that this machine cannot watch.
    fn run(&mut self, until: Until) -> Result<Stop, Error>;
    /// Cycles of the core's clock since the start, with those that the core slept through.
    fn cycles(&self) -> u64;
    /// The part of [`Machine::cycles`] that the core slept through.
    fn sleep_cycles(&self) -> u64;
    /// Instructions since the start.
    fn instructions(&self) -> u64;
    /// Time since the start.
    fn time(&self) -> Picoseconds;
    /// The core's clock now.
    fn clock_hz(&self) -> u32;
    /// All registers of the core, in their order.
    fn registers(&self) -> Vec<(String, u32)>;
    /// Set a register.
    ///
    /// # Errors
    /// No such register, or the value does not fit.
    fn set_register(&mut self, name: &str, value: u32) -> Result<(), Error>;
    /// Read without side effects and without time.
    ///
    /// # Errors
    /// The range is not memory.
    fn read_memory(&self, address: u32, length: usize) -> Result<Vec<u8>, Error>;
    /// Write without side effects and without time; flash too.
    ///
    /// # Errors
    /// The range is not memory.
    fn write_memory(&mut self, address: u32, data: &[u8]) -> Result<(), Error>;
    /// Names of the serial ports.
    fn serial_ports(&self) -> &'static [&'static str];
    /// Queue bytes on the line into the chip. They wait until the receiver is on, then arrive at
    /// the line's speed.
    ///
    /// # Errors
    /// No such port.
    fn serial_write(&mut self, port: &str, data: &[u8]) -> Result<(), Error>;
    /// The bytes that the program has sent since the last call, each with when its stop bit ended.
    ///
    /// # Errors
    /// No such port.
    fn serial_read(&mut self, port: &str) -> Result<Vec<(u8, Picoseconds)>, Error>;
    /// Drive an input pin.
    ///
    /// # Errors
    /// No such pin.
    fn set_pin(&mut self, pin: &str, high: bool) -> Result<(), Error>;
    /// Changes of the marker pin since the last clear.
    fn marker_edges(&self) -> &[MarkerEdge];
    /// Forget marker edges, profile, intervals, traces and high-water marks; the machine goes on.
    fn clear_observations(&mut self);
    /// Stack high-water mark since the last clear, from the stack pointer then.
    fn stack_bytes(&self) -> u32;
    /// Power states since the last clear; empty without [`Options::trace`].
    fn power_intervals(&self) -> Vec<PowerInterval>;
    /// Pin changes since the last clear; empty without [`Options::trace`].
    fn pin_edges(&self) -> &[PinEdge];
    /// Cycles by function since the last clear; `None` without [`Options::profile`].
    fn profile(&mut self) -> Option<Profile>;
    /// Digest of all addresses since the last clear; `None` without [`Options::secrets_trace`].
    fn secrets_digest(&self) -> Option<u64>;
}

/// A machine for a chip, with an image loaded, after reset.
///
/// # Errors
/// The image is for another core or does not fit, or an option is wrong.
pub fn build(chip: &Chip, image: &Image, options: &Options) -> Result<Box<dyn Machine>, Error> {
    if let Some(core) = image.core
        && core != chip.core
    {
        return Err(Error::Image(format!(
            "this {} image is for the {core} core and chip {} has an {} core; build it for {} or name \
             another chip",
            image.format.name(),
            chip.name,
            chip.core,
            chip.name
        )));
    }
    match chip.core {
        CoreKind::Msp430 => Ok(Box::new(msp430::Msp430::new(chip, image, options)?)),
        CoreKind::Armv7m => Ok(Box::new(armv7m::Armv7m::new(chip, image, options)?)),
    }
}
