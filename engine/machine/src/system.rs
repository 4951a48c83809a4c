//! A core and its chip, as the machine sees them for every core.

use std::any::Any;
use std::ops::Range;

use joulemark_kernel::chip::{Constant, MemoryKind};
use joulemark_kernel::power::Glimpse;
use joulemark_kernel::secrets::{Piece, Report};
use joulemark_kernel::{Chip, Cycles, Fault, Image, Picoseconds, Signal, Symbols, Timeline};
use joulemark_radio::Antenna;

use crate::Error;
use crate::board::Board;
use crate::pins::Pin;
use crate::profile::Node;

/// When a core's run ends at the latest.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// End at the first instruction boundary with the cycle counter at or above this.
    pub until: Cycles,
    /// Execute the first instruction even if it has a breakpoint.
    pub leave_breakpoint: bool,
}

/// Why a core's run ended.
pub enum Exit {
    /// The next instruction is at this breakpoint.
    Breakpoint(u32),
    /// [`Limits::until`] is reached.
    Cycles,
    /// The board requested it.
    Stopped,
    /// The core sleeps, and nothing is due to wake it.
    Asleep,
    /// An error that silicon would let pass silently.
    Fault(Box<Fault>),
}

/// What the shell requires of a core and its chip.
///
/// Addresses passed in have gone through [`System::data_address`] or [`System::code_address`].
pub trait System: Any + Send + Sync {
    fn board(&self) -> &Board;
    fn board_mut(&mut self) -> &mut Board;
    fn timeline(&self) -> &Timeline;

    fn run(&mut self, limits: Limits) -> Exit;
    /// Reset the chip after a fault that ended the run; false if this fault does not reset it, or
    /// if the program was not started by a reset. Time and the board continue.
    fn reset(&mut self, fault: &Fault) -> bool;
    /// When the next event is due; `None` if the core is awake.
    fn asleep_until(&self) -> Option<Cycles>;
    /// Sleep until a cycle before which nothing is due.
    fn sleep_until(&mut self, cycle: Cycles);
    fn cycles(&self) -> Cycles;
    fn sleep_cycles(&self) -> Cycles;
    fn instructions(&self) -> u64;

    /// Check and normalise a data address.
    ///
    /// # Errors
    /// It is outside the address space.
    fn data_address(&self, address: u32) -> Result<u32, Error>;
    /// Check and normalise an instruction address.
    ///
    /// # Errors
    /// It is outside the address space.
    fn code_address(&self, address: u32) -> Result<u32, Error>;
    fn set_breakpoint(&mut self, address: u32, on: bool);
    fn program_counter(&self) -> u32;
    fn registers(&self) -> Vec<(String, u32)>;
    /// # Errors
    /// There is no such register, or the value does not fit.
    fn set_register(&mut self, name: &str, value: u32) -> Result<(), Error>;
    /// Read memory; `Err` holds the first address that is not memory.
    ///
    /// # Errors
    /// Part of the range is not memory.
    fn read_memory(&self, address: u32, length: usize) -> Result<Vec<u8>, u32>;
    /// Write memory; `Err` holds the first address that is not memory.
    ///
    /// # Errors
    /// Part of the range is not memory.
    fn write_memory(&mut self, address: u32, data: &[u8]) -> Result<(), u32>;
    /// Addresses of double words of flash whose error correction does not fit their bits.
    fn torn_flash(&self) -> Vec<u32> {
        Vec::new()
    }
    /// Let the error correction of a double word of flash not fit its bits.
    fn tear_flash(&mut self, address: u32) {
        let _ = address;
    }

    fn put_serial(&mut self, port: usize, data: &[u8]);
    fn set_pin(&mut self, pin: Pin, high: bool);
    /// From now on, the watch crystal is `ppb` parts in 10^9 too fast.
    fn set_watch_crystal(&mut self, ppb: i32);
    /// Quantities around the board that the chip itself senses.
    fn senses(&self) -> &'static [&'static str] {
        &[]
    }
    /// Take one of [`System::senses`]: what the chip finds around it from now on.
    fn surround(&mut self, quantity: &str, signal: &Signal) {
        let _ = (quantity, signal);
    }
    /// Apply the effects of devices to the chip.
    fn take_effects(&mut self);
    /// Take over an earlier system's learned code timing; this changes no result.
    fn learn_from(&mut self, earlier: &mut dyn System) {
        let _ = earlier;
    }
    /// When a radio in the chip next acts by itself.
    fn next_radio_event(&self) -> Picoseconds {
        Picoseconds::NEVER
    }
    /// Let a caller outside the machine use the antenna of a radio in the chip; false if there is
    /// none.
    fn with_antenna(&mut self, act: &mut dyn FnMut(&mut Antenna)) -> bool {
        let _ = act;
        false
    }

    /// Empty any caches and line buffers, and restart their pseudo-random sequence.
    fn forget_memory(&mut self) {}

    /// Restart the stack's high-water mark.
    fn restart_stack(&mut self);
    fn stack_bytes(&self) -> u32;
    /// The stack pointer in use, and the other one of a core that has two.
    fn stack_pointers(&self) -> [u32; 2];
    /// Start a new digest of addresses, or stop digesting and keep the digest.
    fn watch_addresses(&mut self, on: bool);
    /// Keep the addresses of data, and of some instructions, for [`System::take_accesses`]; a digest
    /// is begun for it.
    fn keep_accesses(&mut self, on: bool);
    fn take_accesses(&mut self) -> Vec<u32>;
    fn is_watching_addresses(&self) -> bool;
    fn address_digest(&self) -> u64;
    /// Whether this core can follow secrets; without it, the methods that follow do nothing.
    fn follows_secrets(&self) -> bool {
        false
    }
    /// From now on follow these secrets and no others; nothing is found until
    /// [`System::find_uses`]. `Err` holds the first address that is not memory.
    ///
    /// # Errors
    /// Part of a piece is not memory.
    fn follow_secrets(&mut self, pieces: &[Piece]) -> Result<(), u32> {
        let _ = pieces;
        Ok(())
    }
    /// Follow no secrets any more.
    fn forget_secrets(&mut self) {}
    /// Mark bytes as secret, or as public if they come from nothing. `Err` holds the first address
    /// that is not memory.
    ///
    /// # Errors
    /// Part of the piece is not memory.
    fn mark_secret(&mut self, piece: &Piece) -> Result<(), u32> {
        let _ = piece;
        Ok(())
    }
    /// What instructions in these ranges decide by a secret may be known.
    fn set_public_code(&mut self, ranges: &[Range<u32>]) {
        let _ = ranges;
    }
    /// Start or stop finding what secrets decide; following continues.
    fn find_uses(&mut self, on: bool) {
        let _ = on;
    }
    /// What secrets decided; `None` if none are followed.
    fn secrets(&self) -> Option<Report> {
        None
    }
    /// What the next instruction will put on the core's buses; `None` if that is not known.
    fn glimpse(&mut self) -> Option<Glimpse>;
    /// A register by number, with the program counter's as the next instruction's address.
    fn register(&self, number: usize) -> u32;
    /// Memory at an address that is a multiple of the bus's width, as wide as that; `None` where
    /// there is none.
    fn word(&self, address: u32) -> Option<u32>;
    /// Start to count cycles by function.
    fn start_profile(&mut self, symbols: &Symbols);
    /// Return the counters; `None` if profiling was not started.
    fn profile(&mut self) -> Option<Vec<Node>>;
    /// Return the profile's current node; `None` if profiling was not started.
    fn profile_node(&mut self) -> Option<usize>;
    /// The fault whose handler is running.
    fn handled_fault(&self) -> Option<Fault>;
    /// The core's description for GDB: its architecture and registers, as XML.
    fn gdb_description(&self) -> &'static [u8];
    /// Hexadecimal digits in an address.
    fn digits(&self) -> usize;
}

/// Check that every byte of an image is in the chip's memory.
pub fn check_fit(
    chip: &Chip,
    image: &Image,
    is_memory: impl Fn(u32) -> bool,
    digits: usize,
) -> Result<(), Error> {
    let width = digits + 2;
    let own = chip.uf2_family.as_ref().map(Constant::whole);
    if let Some(family) = image.uf2_family
        && own != Some(family)
    {
        let (own, mend) = own.map_or(
            ("is of no family".into(), "give an ELF or Intel HEX file"),
            |own| {
                let mend = "give a file that was built for it, and for the core that is emulated";
                (format!("is {own:#010x}"), mend)
            },
        );
        return Err(Error::Image(format!(
            "this UF2 file is for chips of family {family:#010x}, and {} {own}; {mend}",
            chip.name
        )));
    }
    for segment in &image.segments {
        let (start, size) = (segment.address, segment.data.len());
        let bad = (0..size as u32)
            .map(|offset| start.saturating_add(offset))
            .find(|&address| !is_memory(address));
        if let Some(bad) = bad {
            return Err(Error::Image(format!(
                "this image puts {size} bytes at {start:#0width$x}, but {bad:#0width$x} is no memory of \
                 chip {}; it has {}",
                chip.name,
                memories(chip, digits)
            )));
        }
    }
    Ok(())
}

/// List a chip's memories, for a message.
pub fn memories(chip: &Chip, digits: usize) -> String {
    let width = digits + 2;
    let memories = chip.memory.iter();
    let room: Vec<String> = memories
        .filter(|memory| memory.kind != MemoryKind::Peripheral)
        .map(|m| {
            format!(
                "{} {:#0width$x}-{:#0width$x}",
                m.name,
                m.start,
                m.start + (m.size - 1)
            )
        })
        .collect();
    room.join(", ")
}
