//! A RISC-V core and its chip.

use std::ops::Range;
use std::sync::Arc;

use joulemark_kernel::chip::{Constant, Memory, MemoryKind};
use joulemark_kernel::image::Target;
use joulemark_kernel::power::Glimpse;
use joulemark_kernel::secrets::{Piece, Report};
use joulemark_kernel::{Chip, ChipError, Cycles, Fault, FaultKind, Image, Symbols, Timeline};
use joulemark_riscv::{self as core, Bus, Config, Control, Core, Identity, Region, RegionKind};
use serde::Deserialize;

use crate::board::Board;
use crate::calls::CallTree;
use crate::cortex_m::sections;
use crate::pins::Pin;
use crate::profile::Node;
use crate::system::{Exit, Limits, System, check_fit, memories};
use crate::{Error, Options};

/// Hexadecimal digits of an address.
const DIGITS: usize = 8;
const SP: usize = 2;
/// Names of x0 to x31 in the calling convention (RISC-V psABI, "Integer Register Convention").
#[rustfmt::skip]
const NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
    "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];

/// The core, for images.
pub static TARGET: Target = Target {
    core: "riscv",
    // EM_RISCV.
    elf_machine: 243,
    symbol_flags: 0,
    refuse: |flags, _| refuse(flags),
};

/// Refuse images for what the core lacks (RISC-V psABI, "File Header").
fn refuse(flags: u32) -> Option<String> {
    const FLOAT_ABI: u32 = 6;
    const RVE: u32 = 8;
    let what = if flags & FLOAT_ABI != 0 {
        "with floating-point registers"
    } else if flags & RVE != 0 {
        "with the 16 registers of RV32E"
    } else {
        return None;
    };
    Some(format!(
        "for a RISC-V core {what} (e_flags {flags:#x}); build it with -mabi=ilp32"
    ))
}

/// The core: section `hazard3` of a chip's file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// `mvendorid` and `mimpid`.
    pub vendor: Constant,
    pub implementation: Constant,
    /// The core's clock when the program starts.
    pub reset_hz: Constant,
    /// The highest clock.
    pub max_hz: Constant,
    /// The crystal.
    pub crystal_hz: Constant,
    /// Wait states of registers behind the bridge to the APB.
    pub apb_read_waits: Constant,
    pub apb_write_waits: Constant,
}

impl Section {
    /// Read and check the section; with that of a cache, it is all that the core adds to those of
    /// the series.
    ///
    /// # Errors
    /// It is missing or wrong, or there is another.
    pub fn of(chip: &Chip, of_series: &[&str]) -> Result<Self, ChipError> {
        chip.only_sections(&[&["hazard3", "cache"], of_series].concat())?;
        sections::lines(chip)?;
        chip.needed_section("hazard3")
    }
}

/// The chip around a core.
pub trait Surroundings: Bus + Send + Sync {
    /// Contents and addresses of the chip's read-only memories.
    fn rom(&self) -> Vec<(u32, Vec<u8>)>;
    /// Where the ROM starts an image that names no entry, if it can.
    fn boot(&self, image: &Image) -> Option<u32>;
    fn board(&self) -> &Board;
    fn board_mut(&mut self) -> &mut Board;
    fn timeline(&self) -> &Timeline;
    fn put_serial(&mut self, port: usize, bytes: &[u8], now: Cycles);
    fn set_pin(&mut self, pin: Pin, high: bool, now: Cycles);
    fn take_effects(&mut self, now: Cycles);
    /// Cycles by function, if wanted.
    fn calls(&mut self) -> &mut Option<CallTree>;
}

/// Makes a chip's surroundings, by its settings, and whether they are to be traced.
pub type Make = fn(
    &Arc<Chip>,
    &Section,
    &dyn Fn(&str) -> u32,
    bool,
) -> Result<Box<dyn Surroundings>, ChipError>;

/// Report control to a call tree; return the range within which it need not be.
pub fn follow(calls: &mut Option<CallTree>, control: &Control) -> std::ops::Range<u32> {
    let control = joulemark_armv7m::Control {
        pc: control.pc,
        depth: control.depth,
        busy_cycles: control.busy_cycles,
        instructions: control.instructions,
        stack_pointer: control.stack_pointer,
        stack_low: control.stack_low,
    };
    let calls = calls.as_mut();
    calls.map_or(0..u32::MAX, |calls| calls.control(&control))
}

/// A RISC-V core and its chip.
pub struct Riscv {
    core: Core<Box<dyn Surroundings>>,
    /// The stack pointer when observation began.
    stack_base: u32,
    /// First address after the largest RAM.
    ram_end: u32,
}

fn end(memory: &Memory) -> u32 {
    memory.start.saturating_add(memory.size)
}

impl Riscv {
    /// Load an image, and start it as a debugger does.
    ///
    /// # Errors
    /// The image does not fit the chip, or an option is wrong.
    pub fn new(
        chip: &Arc<Chip>,
        image: &Image,
        options: &Options,
        make: Make,
    ) -> Result<Self, Error> {
        let section: Section = chip.needed_section("hazard3")?;
        let settings = chip
            .settings_with(&options.settings)
            .map_err(|error| Error::Argument(error.0))?;
        let setting = |name: &str| settings.get(name).copied().unwrap_or(0);
        let is_memory = |address: u32| {
            let region = chip.region(address);
            region.is_some_and(|memory| matches!(memory.kind, MemoryKind::Ram | MemoryKind::Rom))
        };
        check_fit(chip, image, is_memory, DIGITS)?;
        let regions = chip.memory.iter().filter_map(|memory| {
            let kind = match memory.kind {
                MemoryKind::Ram => RegionKind::Ram,
                MemoryKind::Rom => RegionKind::Rom,
                MemoryKind::Flash | MemoryKind::Peripheral => return None,
            };
            Some(Region {
                start: memory.start,
                size: memory.size,
                kind,
            })
        });
        let config = Config {
            regions: regions.collect(),
            lines: sections::lines(chip)?,
            identity: Identity {
                vendor: section.vendor.whole(),
                implementation: section.implementation.whole(),
                hart: 0,
                configuration: 0,
            },
            stop_on_fault: setting("stop_on_fault") != 0,
        };
        let mut core = Core::new(make(chip, &section, &setting, options.trace)?, &config);
        for (address, rom) in core.bus.rom() {
            core.load(address, &rom).map_err(|at| {
                chip.error(&format!(
                    "key 'memory': no memory at {at:#010x}, where the series has its ROM"
                ))
            })?;
        }
        for segment in &image.segments {
            let loaded = core.load(segment.address, &segment.data);
            debug_assert_eq!(loaded, Ok(()), "check_fit saw to it");
        }
        let rams = chip
            .memory
            .iter()
            .filter(|memory| memory.kind == MemoryKind::Ram);
        let Some(ram) = rams.max_by_key(|memory| memory.size) else {
            return Err(Error::Chip(format!("chip {} has no RAM", chip.name)));
        };
        let named = options.entry.or(image.entry);
        let Some(entry) = named.or_else(|| core.bus.boot(image)) else {
            return Err(Error::Image(format!(
                "this {} image names no entry; say where to start",
                image.format.name()
            )));
        };
        if !is_memory(entry) || entry & 1 != 0 {
            return Err(Error::Argument(format!(
                "entry {entry:#x} is no place to execute from on chip {}; it has {}",
                chip.name,
                memories(chip, DIGITS)
            )));
        }
        core.reset(entry);
        if options.entry.is_some() {
            core.set_register(SP, end(ram));
        }
        // The stack may grow down to the last variable below it, unless the program puts it
        // elsewhere.
        let ends = image
            .variables
            .iter()
            .map(|range| range.start.saturating_add(range.size));
        let limit = ends
            .filter(|at| (ram.start + 1..end(ram)).contains(at))
            .max();
        if let Some(limit) = limit {
            core.set_stack_limit(limit);
        }
        Ok(Self {
            core,
            stack_base: 0,
            ram_end: end(ram),
        })
    }
}

impl System for Riscv {
    fn board(&self) -> &Board {
        self.core.bus.board()
    }

    fn board_mut(&mut self) -> &mut Board {
        self.core.bus.board_mut()
    }

    fn timeline(&self) -> &Timeline {
        self.core.bus.timeline()
    }

    fn run(&mut self, limits: Limits) -> Exit {
        let exit = self.core.run(core::Limits {
            until: Some(limits.until),
            step_first: limits.leave_breakpoint,
        });
        match exit {
            core::Exit::Breakpoint(at) => Exit::Breakpoint(at),
            core::Exit::Cycles => Exit::Cycles,
            core::Exit::Stopped => Exit::Stopped,
            core::Exit::Asleep => Exit::Asleep,
            core::Exit::Fault(mut fault) => {
                if fault.kind == FaultKind::Unmapped && fault.address.is_none() {
                    let nothing = self.core.bus.board().nothing_at(fault.pc);
                    if nothing.kind == FaultKind::Absent {
                        fault.kind = nothing.kind;
                        fault.message = format!("{}: {}", nothing.message, fault.message);
                    }
                }
                Exit::Fault(fault)
            }
        }
    }

    fn reset(&mut self, _fault: &Fault) -> bool {
        false
    }

    fn asleep_until(&self) -> Option<Cycles> {
        self.core.asleep_until()
    }

    fn sleep_until(&mut self, cycle: Cycles) {
        self.core.sleep_until(cycle);
    }

    fn cycles(&self) -> Cycles {
        self.core.cycles()
    }

    fn sleep_cycles(&self) -> Cycles {
        self.core.sleep_cycles()
    }

    fn instructions(&self) -> u64 {
        self.core.instructions()
    }

    fn data_address(&self, address: u32) -> Result<u32, Error> {
        Ok(address)
    }

    fn code_address(&self, address: u32) -> Result<u32, Error> {
        Ok(address & !1)
    }

    fn set_breakpoint(&mut self, address: u32, on: bool) {
        if on {
            self.core.set_breakpoint(address);
        } else {
            self.core.clear_breakpoint(address);
        }
    }

    fn program_counter(&self) -> u32 {
        self.core.pc()
    }

    fn registers(&self) -> Vec<(String, u32)> {
        let named = NAMES.iter().enumerate();
        let mut registers: Vec<_> = named
            .map(|(number, name)| ((*name).to_owned(), self.core.register(number)))
            .collect();
        registers.push(("pc".to_owned(), self.core.pc()));
        registers
    }

    fn set_register(&mut self, name: &str, value: u32) -> Result<(), Error> {
        let lower = name.to_lowercase();
        if lower == "pc" {
            self.core.set_pc(value);
            return Ok(());
        }
        let by_number = |digits: &str| digits.parse().ok().filter(|&number: &usize| number < 32);
        let number = NAMES
            .iter()
            .position(|known| *known == lower)
            .or_else(|| lower.strip_prefix('x').and_then(by_number))
            .or_else(|| (lower == "fp").then_some(8));
        let Some(number) = number else {
            return Err(Error::Argument(format!(
                "no register '{name}'; there are pc, x0 to x31, and {}",
                NAMES.join(", ")
            )));
        };
        self.core.set_register(number, value);
        Ok(())
    }

    fn read_memory(&self, address: u32, length: usize) -> Result<Vec<u8>, u32> {
        self.core.read_memory(address, length)
    }

    fn write_memory(&mut self, address: u32, data: &[u8]) -> Result<(), u32> {
        self.core.load(address, data)
    }

    fn put_serial(&mut self, port: usize, data: &[u8]) {
        let now = self.core.cycles();
        self.core.bus.put_serial(port, data, now);
    }

    fn set_pin(&mut self, pin: Pin, high: bool) {
        let now = self.core.cycles();
        self.core.bus.set_pin(pin, high, now);
    }

    /// There is none.
    fn set_watch_crystal(&mut self, _ppb: i32) {}

    fn take_effects(&mut self) {
        let now = self.core.cycles();
        self.core.bus.take_effects(now);
    }

    fn restart_stack(&mut self) {
        // Until the program sets its stack pointer, assume the end of RAM.
        let sp = self.core.register(SP);
        if sp == 0 {
            self.stack_base = self.ram_end;
        } else {
            self.stack_base = sp;
            self.core.reset_stack_low();
        }
    }

    fn stack_bytes(&self) -> u32 {
        self.stack_base.saturating_sub(self.core.stack_low())
    }

    fn stack_pointers(&self) -> [u32; 2] {
        [self.core.register(SP); 2]
    }

    fn watch_addresses(&mut self, on: bool) {
        if on {
            self.core.start_address_digest();
        } else {
            self.core.stop_address_digest();
        }
    }

    fn keep_accesses(&mut self, on: bool) {
        self.core.keep_accesses(on);
    }

    fn take_accesses(&mut self) -> Vec<u32> {
        self.core.take_accesses()
    }

    fn is_watching_addresses(&self) -> bool {
        self.core.is_digesting()
    }

    fn address_digest(&self) -> u64 {
        self.core.address_digest()
    }

    fn follows_secrets(&self) -> bool {
        true
    }

    fn follow_secrets(&mut self, pieces: &[Piece]) -> Result<(), u32> {
        self.core.follow_secrets(pieces)
    }

    fn forget_secrets(&mut self) {
        self.core.forget_secrets();
    }

    fn mark_secret(&mut self, piece: &Piece) -> Result<(), u32> {
        self.core.mark_secret(piece)
    }

    fn set_public_code(&mut self, ranges: &[Range<u32>]) {
        self.core.set_public_code(ranges);
    }

    fn find_uses(&mut self, on: bool) {
        self.core.find_uses(on);
    }

    fn secrets(&self) -> Option<Report> {
        self.core.secrets()
    }

    fn glimpse(&mut self) -> Option<Glimpse> {
        self.core.glimpse()
    }

    fn register(&self, number: usize) -> u32 {
        self.core.register(number)
    }

    fn word(&self, address: u32) -> Option<u32> {
        self.core.memory_word(address)
    }

    fn start_profile(&mut self, symbols: &Symbols) {
        *self.core.bus.calls() = Some(CallTree::new(symbols.clone()));
        self.core.watch();
    }

    fn profile(&mut self) -> Option<Vec<Node>> {
        self.core.bus.calls().as_ref()?;
        // Charge the open interval to the current function.
        self.core.watch();
        self.core.bus.calls().as_ref().map(CallTree::nodes)
    }

    fn profile_node(&mut self) -> Option<usize> {
        self.core.bus.calls().as_ref()?;
        self.core.watch();
        self.core.bus.calls().as_ref().map(CallTree::node)
    }

    fn handled_fault(&self) -> Option<Fault> {
        self.core.handled_fault()
    }

    /// GDB knows this architecture's registers, x0 to x31 and pc (GDB manual, "RISC-V Features").
    fn gdb_description(&self) -> &'static [u8] {
        include_bytes!("riscv/rv32.xml")
    }

    fn digits(&self) -> usize {
        DIGITS
    }
}
