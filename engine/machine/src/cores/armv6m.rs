//! An `ARMv6-M` core and its chip.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use joulemark_armv6m::{self as core, Config, Core, Region, RegionKind, Wait};
use joulemark_kernel::chip::{Constant, MemoryKind};
use joulemark_kernel::image::Target;
use joulemark_kernel::power::Glimpse;
use joulemark_kernel::secrets::{Piece, Report};
use joulemark_kernel::{
    Chip, ChipError, Cycles, Fault, FaultKind, Image, Picoseconds, Symbols, Timeline,
};
use joulemark_radio::Antenna;
use serde::Deserialize;

use super::armv7m::{DIGITS, PC, SP, end, image_word, is_memory};
use crate::board::Board;
use crate::calls::CallTree;
use crate::cortex_m::{CortexM, Make, Reset, sections};
use crate::pins::Pin;
use crate::profile::Node;
use crate::system::{Exit, Limits, System, check_fit, memories};
use crate::{Error, Options};

/// The core, for images.
pub static TARGET: Target = Target {
    core: "armv6m",
    // EM_ARM.
    elf_machine: 40,
    // The Thumb bit.
    symbol_flags: 1,
    refuse: |_, _| None,
};

/// What a chip chooses of the core: section `armv6m` of its file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Cycles of a multiplication: 1 or 32.
    pub multiply_cycles: Constant,
    /// Addresses that the single-cycle I/O port answers, if there is one.
    pub io_port: Option<Constant>,
    #[serde(default)]
    pub io_port_bytes: u32,
    /// Registers that answer late.
    #[serde(default)]
    pub wait: Vec<LateRegisters>,
    /// Where boot code finds the vectors of a program that is not where images are built for.
    pub other_vectors: Option<Constant>,
}

/// Registers with wait states.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LateRegisters {
    pub start: u32,
    pub size: u32,
    /// Wait states of a load.
    pub read: Constant,
    /// Wait states of a store.
    pub write: Constant,
}

impl Section {
    /// Read and check the section, and those of every Cortex-M.
    ///
    /// # Errors
    /// A section is missing or wrong, or there is another.
    pub fn of(chip: &Chip) -> Result<Self, ChipError> {
        sections::Core::check(chip, &["armv6m"])?;
        let section: Self = chip.needed_section("armv6m")?;
        if !matches!(section.multiply_cycles.whole(), 1 | 32) {
            return Err(chip.error("key 'armv6m.multiply_cycles': the core is made with 1 or 32"));
        }
        Ok(section)
    }
}

/// An `ARMv6-M` core and its chip.
pub struct Armv6m {
    core: Core<CortexM>,
    /// The stack pointer when observation began.
    stack_base: u32,
    /// Parameters for a reset.
    parameters: Box<sections::Core>,
    settings: BTreeMap<String, u32>,
    start: Start,
}

/// How a reset starts the program.
#[derive(Clone, Copy)]
struct Start {
    vectors: u32,
    stack_pointer: u32,
    entry: u32,
}

impl Armv6m {
    /// Load an image and reset.
    ///
    /// # Errors
    /// The image does not fit the chip, or an option is wrong.
    pub fn new(
        chip: &Arc<Chip>,
        image: &Image,
        options: &Options,
        make: Make,
    ) -> Result<Self, Error> {
        let section = Section::of(chip)?;
        let parameters = sections::Core::of(chip)?;
        let settings = chip
            .settings_with(&options.settings)
            .map_err(|error| Error::Argument(error.0))?;
        let setting = |name: &str| settings.get(name).copied().unwrap_or(0);
        check_fit(chip, image, |address| is_memory(chip, address), DIGITS)?;
        let bus = CortexM::new(chip, &parameters, make, &setting, options.trace)?;
        let config = config(chip, &parameters, &section, setting("stop_on_fault") != 0)?;
        let mut core = Core::new(bus, &config);
        for (address, rom) in core.bus.rom() {
            core.load_image(address, &rom).map_err(|at| {
                chip.error(&format!(
                    "key 'memory': no memory at {at:#010x}, where the series has its ROM"
                ))
            })?;
        }
        for segment in &image.segments {
            let loaded = core.load_image(segment.address, &segment.data);
            debug_assert_eq!(loaded, Ok(()), "check_fit saw to it");
        }
        core.bus.set_image(image);
        let start = start(chip, &section, image, options)?;
        core.reset(start.vectors, start.stack_pointer, start.entry);
        // The stack may grow down to the last variable in its memory region.
        let sp = start.stack_pointer;
        let home = chip.memory.iter().find(|memory| {
            memory.kind == MemoryKind::Ram && (memory.start + 1..=end(memory)).contains(&sp)
        });
        if let Some(ram) = home {
            let ends = image
                .variables
                .iter()
                .map(|range| range.start.saturating_add(range.size));
            if let Some(limit) = ends.filter(|&at| at > ram.start && at < sp).max() {
                core.set_stack_limit(limit);
            }
        }
        Ok(Self {
            core,
            stack_base: 0,
            parameters: Box::new(parameters),
            settings,
            start,
        })
    }
}

fn config(
    chip: &Chip,
    core: &sections::Core,
    section: &Section,
    stop_on_fault: bool,
) -> Result<Config, ChipError> {
    let regions = chip.memory.iter().filter_map(|memory| {
        let kind = match memory.kind {
            MemoryKind::Ram => RegionKind::Ram,
            MemoryKind::Flash | MemoryKind::Rom => RegionKind::Rom,
            MemoryKind::Peripheral => return None,
        };
        Some(Region {
            start: memory.start,
            size: memory.size,
            kind,
        })
    });
    let port = section.io_port.as_ref().map_or(0, Constant::whole);
    let waits = section.wait.iter().map(|late| Wait {
        range: late.start..late.start.saturating_add(late.size),
        states: [&late.read, &late.write].map(|states| states.whole() as u8),
    });
    let divider = core.systick_divider.as_ref();
    let calibration = core.systick_calibration.as_ref();
    // Set NOREF if there is no other clock, and SKEW, because there is no calibration value.
    let uncalibrated = u32::from(divider.is_none()) << 31 | 1 << 30;
    Ok(Config {
        regions: regions.collect(),
        lines: sections::lines(chip)?,
        io_port: port..port.saturating_add(section.io_port_bytes),
        waits: waits.collect(),
        interrupts: core.interrupts.whole() as usize,
        cpuid: core.cpuid.whole(),
        systick_calibration: calibration.map_or(uncalibrated, Constant::whole),
        systick_divider: divider.map_or(0, Constant::whole),
        multiply_cycles: section.multiply_cycles.whole() as u8,
        stop_on_fault,
    })
}

/// Where the program starts: by its vector table, or, with an entry, as a debugger starts it.
fn start(chip: &Chip, section: &Section, image: &Image, options: &Options) -> Result<Start, Error> {
    let Some(&reset) = chip.vectors.table.get("RESET") else {
        let what = "key 'vectors.table': needs RESET";
        return Err(Error::Chip(format!("chip {}: {what}", chip.name)));
    };
    let other = section.other_vectors.as_ref().map(Constant::whole);
    let has_vectors = |&table: &u32| image_word(image, table + 4).is_some();
    let table = other.filter(has_vectors).unwrap_or(reset - 4);
    let reset = table + 4;
    let is_ram = |sp: u32| {
        let mut memories = chip.memory.iter();
        memories.any(|m| m.kind == MemoryKind::Ram && (m.start + 1..=end(m)).contains(&sp))
    };
    let vectors = image_word(image, table).zip(image_word(image, reset));
    let first = vectors.map(|(sp, _)| sp).filter(|&sp| is_ram(sp));
    let entry = match (options.entry, vectors) {
        (Some(entry), _) => entry | 1,
        // Bit 0 of a vector selects Thumb state, the only one of this core (B1.5.3).
        (None, Some((sp, pc))) if is_ram(sp) && pc & 1 != 0 && is_memory(chip, pc & !1) => pc,
        (None, _) => image.entry.ok_or_else(|| {
            Error::Image(format!(
                "this {} image has no vector table at {table:#010x} and names no entry; say where \
                     to start",
                image.format.name()
            ))
        })? | 1,
    };
    if !is_memory(chip, entry & !1) {
        return Err(Error::Argument(format!(
            "entry {:#x} is no memory of chip {}; it has {}",
            entry & !1,
            chip.name,
            memories(chip, DIGITS)
        )));
    }
    let rams = chip.memory.iter().filter(|m| m.kind == MemoryKind::Ram);
    let top = rams.max_by_key(|memory| memory.size).map_or(0, end);
    Ok(Start {
        vectors: table,
        stack_pointer: first.unwrap_or(top),
        entry,
    })
}

impl System for Armv6m {
    fn board(&self) -> &Board {
        &self.core.bus.board
    }

    fn board_mut(&mut self) -> &mut Board {
        &mut self.core.bus.board
    }

    fn timeline(&self) -> &Timeline {
        &self.core.bus.timeline
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
                self.explain(&mut fault);
                Exit::Fault(fault)
            }
        }
    }

    fn reset(&mut self, fault: &Fault) -> bool {
        let cause = match fault.kind {
            FaultKind::Reset => Reset::Software,
            FaultKind::Watchdog => Reset::Watchdog,
            _ => return false,
        };
        let (now, settings) = (self.core.cycles(), &self.settings);
        let setting = |name: &str| settings.get(name).copied().unwrap_or(0);
        self.core.bus.reset(cause, &self.parameters, &setting, now);
        let start = self.start;
        self.core
            .reset(start.vectors, start.stack_pointer, start.entry);
        true
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
        // Bit 0 is the Thumb bit.
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
        self.core.register(PC)
    }

    fn registers(&self) -> Vec<(String, u32)> {
        let numbered = (0..13).map(|number| (format!("r{number}"), self.core.register(number)));
        let named = [("sp", SP), ("lr", 14), ("pc", PC)]
            .map(|(name, number)| (name.to_owned(), self.core.register(number)));
        let status = [("xpsr".to_owned(), self.core.xpsr())];
        numbered.chain(named).chain(status).collect()
    }

    fn set_register(&mut self, name: &str, value: u32) -> Result<(), Error> {
        let lower = name.to_lowercase();
        let number = match lower.as_str() {
            "sp" => Some(SP),
            "lr" => Some(14),
            "pc" => Some(PC),
            "xpsr" => {
                self.core.set_xpsr(value);
                return Ok(());
            }
            _ => lower
                .strip_prefix('r')
                .and_then(|digits| digits.parse().ok())
                .filter(|&number: &usize| number < 16),
        };
        let Some(number) = number else {
            return Err(Error::Argument(format!(
                "no register '{name}'; there are r0 to r15, sp, lr, pc and xpsr"
            )));
        };
        self.core.set_register(number, value);
        Ok(())
    }

    fn read_memory(&self, address: u32, length: usize) -> Result<Vec<u8>, u32> {
        self.core.read_memory(address, length)
    }

    fn write_memory(&mut self, address: u32, data: &[u8]) -> Result<(), u32> {
        self.core.load_image(address, data)
    }

    fn put_serial(&mut self, port: usize, data: &[u8]) {
        let now = self.core.cycles();
        self.core.bus.put_serial(port, data, now);
    }

    fn set_pin(&mut self, pin: Pin, high: bool) {
        let now = self.core.cycles();
        self.core.bus.set_pin(pin, high, now);
    }

    fn set_watch_crystal(&mut self, ppb: i32) {
        let now = self.core.cycles();
        self.core.bus.set_watch_crystal(ppb, now);
    }

    fn take_effects(&mut self) {
        let now = self.core.cycles();
        self.core.bus.take_effects(now);
    }

    fn next_radio_event(&self) -> Picoseconds {
        self.core.bus.next_radio_event()
    }

    fn with_antenna(&mut self, act: &mut dyn FnMut(&mut Antenna)) -> bool {
        self.core.bus.with_antenna(act)
    }

    fn restart_stack(&mut self) {
        self.stack_base = self.core.register(SP);
        self.core.reset_stack_low();
    }

    fn stack_bytes(&self) -> u32 {
        self.stack_base.saturating_sub(self.core.stack_low())
    }

    fn stack_pointers(&self) -> [u32; 2] {
        [self.core.register(SP), self.core.other_stack_pointer()]
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

    fn glimpse(&mut self) -> Option<Glimpse> {
        self.core.glimpse()
    }

    fn register(&self, number: usize) -> u32 {
        self.core.register(number)
    }

    fn word(&self, address: u32) -> Option<u32> {
        self.core.memory_word(address)
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

    fn start_profile(&mut self, symbols: &Symbols) {
        self.core.bus.calls = Some(CallTree::new(symbols.clone()));
        self.core.watch();
    }

    fn profile(&mut self) -> Option<Vec<Node>> {
        self.core.bus.calls.as_ref()?;
        // Charge the open interval to the current function.
        self.core.watch();
        self.core.bus.calls.as_ref().map(CallTree::nodes)
    }

    fn profile_node(&mut self) -> Option<usize> {
        self.core.bus.calls.as_ref()?;
        self.core.watch();
        self.core.bus.calls.as_ref().map(CallTree::node)
    }

    fn handled_fault(&self) -> Option<Fault> {
        self.core.handled_fault()
    }

    fn gdb_description(&self) -> &'static [u8] {
        include_bytes!("armv7m/m-profile.xml")
    }

    fn digits(&self) -> usize {
        DIGITS
    }
}

impl Armv6m {
    /// Explain a fetch from code that the emulation leaves out.
    fn explain(&self, fault: &mut Fault) {
        if fault.kind == FaultKind::Unmapped && fault.address.is_none() {
            let nothing = self.core.bus.board.nothing_at(fault.pc);
            if nothing.kind == FaultKind::Absent {
                fault.kind = nothing.kind;
                fault.message = format!("{}: {}", nothing.message, fault.message);
            }
        }
    }
}
