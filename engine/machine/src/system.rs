//! A core with its chip around it, as the machine needs it whatever the core.

use std::any::Any;

use joulemark_kernel::chip::MemoryKind;
use joulemark_kernel::{Chip, Cycles, Fault, Image, Picoseconds, Symbols, Timeline};
use joulemark_radio::Antenna;

use crate::Error;
use crate::board::Board;
use crate::pins::Pin;
use crate::profile::Node;

/// When a core's run ends at the latest.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// At the first instruction boundary where the cycle counter has reached this.
    pub until: Cycles,
    /// Execute the first instruction even where a breakpoint is on it.
    pub leave_breakpoint: bool,
}

/// Why a core's run ended.
pub enum Exit {
    /// The next instruction is at this breakpoint.
    Breakpoint(u32),
    /// [`Limits::until`] is reached.
    Cycles,
    /// The board asked for it.
    Stopped,
    /// The core sleeps, and nothing is due that could wake it.
    Asleep,
    /// Something that silicon would have done silently and wrongly.
    Fault(Box<Fault>),
}

/// The shell's demands on a core with its chip around it.
///
/// Addresses that come in have gone through [`System::data_address`] or [`System::code_address`].
pub trait System: Any + Send + Sync {
    fn board(&self) -> &Board;
    fn board_mut(&mut self) -> &mut Board;
    fn timeline(&self) -> &Timeline;

    fn run(&mut self, limits: Limits) -> Exit;
    /// Reset the chip as a fault says, which ended the run; false where that is none that resets it,
    /// or where the program was not started by a reset. Time and the board go on.
    fn reset(&mut self, fault: &Fault) -> bool;
    /// When something is due; `None` where the core does not sleep.
    fn asleep_until(&self) -> Option<Cycles>;
    /// Sleep on until a cycle before which nothing is due.
    fn sleep_until(&mut self, cycle: Cycles);
    fn cycles(&self) -> Cycles;
    fn sleep_cycles(&self) -> Cycles;
    fn instructions(&self) -> u64;

    /// Where data is.
    ///
    /// # Errors
    /// It is beyond the address space.
    fn data_address(&self, address: u32) -> Result<u32, Error>;
    /// Where an instruction is.
    ///
    /// # Errors
    /// It is beyond the address space.
    fn code_address(&self, address: u32) -> Result<u32, Error>;
    fn set_breakpoint(&mut self, address: u32, on: bool);
    fn program_counter(&self) -> u32;
    fn registers(&self) -> Vec<(String, u32)>;
    /// # Errors
    /// No such register, or the value does not fit.
    fn set_register(&mut self, name: &str, value: u32) -> Result<(), Error>;
    /// `Err` is the first address that is no memory.
    ///
    /// # Errors
    /// Part of the range is no memory.
    fn read_memory(&self, address: u32, length: usize) -> Result<Vec<u8>, u32>;
    /// `Err` is the first address that is no memory.
    ///
    /// # Errors
    /// Part of the range is no memory.
    fn write_memory(&mut self, address: u32, data: &[u8]) -> Result<(), u32>;

    fn put_serial(&mut self, port: usize, data: &[u8]);
    fn set_pin(&mut self, pin: Pin, high: bool);
    /// The watch crystal is too fast by so many parts in 10^9 from now on.
    fn set_watch_crystal(&mut self, ppb: i32);
    /// Let the chip see what devices have done.
    fn take_effects(&mut self);
    /// Take over what an earlier system found out of how long code takes; no result depends on it.
    fn learn_from(&mut self, earlier: &mut dyn System) {
        let _ = earlier;
    }
    /// When a radio that is a part of the chip does something by itself.
    fn next_radio_event(&self) -> Picoseconds {
        Picoseconds::NEVER
    }
    /// Let somebody outside use the antenna of a radio that is a part of the chip; false where
    /// there is none.
    fn with_antenna(&mut self, act: &mut dyn FnMut(&mut Antenna)) -> bool {
        let _ = act;
        false
    }

    /// Empty caches and line buffers, where there are any; their pseudo-random sequence begins anew.
    fn forget_memory(&mut self) {}

    /// Begin a new high-water mark of the stack.
    fn restart_stack(&mut self);
    fn stack_bytes(&self) -> u32;
    /// Digest addresses anew, or leave the digest as it is.
    fn watch_addresses(&mut self, on: bool);
    fn is_watching_addresses(&self) -> bool;
    fn address_digest(&self) -> u64;
    /// Count cycles by function from here on.
    fn start_profile(&mut self, symbols: &Symbols);
    /// Counters; `None` where nothing was started.
    fn profile(&mut self) -> Option<Vec<Node>>;
    /// The node of the profile in which the program is; `None` where nothing was started.
    fn profile_node(&mut self) -> Option<usize>;
    /// The fault in whose handler the program is.
    fn handled_fault(&self) -> Option<Fault>;
    /// Hexadecimal digits of an address.
    fn digits(&self) -> usize;
}

/// Memories in which every byte of an image has to have a place.
pub fn check_fit(
    chip: &Chip,
    image: &Image,
    is_memory: impl Fn(u32) -> bool,
    digits: usize,
) -> Result<(), Error> {
    let width = digits + 2;
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

/// The memories of a chip, in words.
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
