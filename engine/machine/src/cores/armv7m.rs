//! An `ARMv7-M` core and its chip.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use joulemark_armv7m::{self as core, Config, Core, DeviceWait, Region, RegionKind, Timing};
use joulemark_kernel::chip::{Constant, Memory, MemoryKind, Mirror};
use joulemark_kernel::image::Target;
use joulemark_kernel::power::Glimpse;
use joulemark_kernel::secrets::{Piece, Report};
use joulemark_kernel::{
    Chip, ChipError, Cycles, Fault, FaultKind, Image, Picoseconds, Signal, Symbols, Timeline,
};
use joulemark_radio::Antenna;

use crate::board::Board;
use crate::calls::CallTree;
use crate::cortex_m::sections::{self, Boot};
use crate::cortex_m::{CortexM, Make, Reset};
use crate::pins::Pin;
use crate::profile::Node;
use crate::system::{Exit, Limits, System, check_fit, memories};
use crate::{Error, Options};

/// Hexadecimal digits of an address.
pub(super) const DIGITS: usize = 8;
pub(super) const SP: usize = 13;
pub(super) const PC: usize = 15;
/// The program status register in Thumb state (ARM DDI 0403E, B1.4.2).
const THUMB: u32 = 1 << 24;
const VTOR: u32 = 0xe000_ed08;
const ACTLR: u32 = 0xe000_e008;
const DWT_CTRL: u32 = 0xe000_1000;
/// `DWT_CTRL` with all counters enabled (ARM DDI 0403E, C1.8.7).
const DWT_COUNTERS: u32 = 0x003e_0001;
const DISDEFWBUF: u32 = 2;

/// The core, for images.
pub static TARGET: Target = Target {
    core: "armv7m",
    // EM_ARM.
    elf_machine: 40,
    // The Thumb bit.
    symbol_flags: 1,
    refuse: |_, _| None,
};

/// An `ARMv7-M` core and its chip.
pub struct Armv7m {
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
enum Start {
    /// By this vector table.
    Vectors(u32),
    /// As a debugger or a boot loader does: with a stack pointer and an entry, after the reset of
    /// the chip with this vector table.
    Entry { table: u32, sp: u32, entry: u32 },
}

impl Armv7m {
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
        let parameters = sections::Core::of(chip)?;
        let settings = chip
            .settings_with(&options.settings)
            .map_err(|error| Error::Argument(error.0))?;
        let setting = |name: &str| settings.get(name).copied().unwrap_or(0);
        check_fit(chip, image, |address| is_memory(chip, address), DIGITS)?;
        let bus = CortexM::new(chip, &parameters, make, &setting, options.trace)?;
        let config = config(chip, &parameters, setting("stop_on_fault") != 0)?;
        let mut core = Core::new(bus, &config);
        let divider = parameters.systick_divider.as_ref();
        core.set_systick_divider(divider.map_or(0, Constant::whole));
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
        let start = start(&mut core, chip, parameters.boot.as_ref(), image, options)?;
        set_write_buffer(&mut core, &settings);
        // The stack may grow down to the last variable in its memory region.
        let sp = core.register(SP);
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

/// Turn the write buffer off at every start if a setting says so.
fn set_write_buffer(core: &mut Core<CortexM>, settings: &BTreeMap<String, u32>) {
    if settings.get("write_buffer") == Some(&0) {
        let _ = core.debug_write(ACTLR, DISDEFWBUF);
    }
}

/// Set VTOR, as boot code does if nothing is mapped at 0.
fn set_vtor(core: &mut Core<CortexM>, chip: &Chip, table: u32) {
    let is_at_zero = |mirror: &Mirror| mirror.of == table && mirror.start == 0;
    if table != 0 && !chip.mirror.iter().any(is_at_zero) {
        let _ = core.debug_write(VTOR, table);
    }
}

pub(super) fn end(memory: &Memory) -> u32 {
    memory.start.saturating_add(memory.size)
}

pub(super) fn is_memory(chip: &Chip, address: u32) -> bool {
    let mirror = chip.mirror.iter().any(|mirror| {
        address
            .checked_sub(mirror.start)
            .is_some_and(|offset| offset < mirror.size)
    });
    let region = chip.region(address);
    mirror || region.is_some_and(|memory| memory.kind != MemoryKind::Peripheral)
}

fn config(chip: &Chip, core: &sections::Core, stop_on_fault: bool) -> Result<Config, ChipError> {
    let mut regions: Vec<Region> = chip
        .memory
        .iter()
        .filter_map(|memory| {
            let kind = match memory.kind {
                MemoryKind::Flash => RegionKind::Flash,
                MemoryKind::Rom => RegionKind::Rom,
                MemoryKind::Ram => RegionKind::Ram,
                MemoryKind::Peripheral => return None,
            };
            let mut region = Region::new(kind, memory.start, memory.size);
            if let Some(timing) = &memory.timing {
                region.wait_states = timing.wait_states.whole() as u8;
                let stores = timing.store_wait_states.as_ref();
                region.store_wait_states = stores.map_or(0, |stores| stores.whole() as u8);
                if let Some(jump) = &timing.jump {
                    region.jump_wait_states = jump.wait_states.whole() as u8;
                    region.jump_line_bytes = jump.line_bytes.whole() as u8;
                }
                let line = timing.line_buffer_bytes.as_ref();
                region.line_bytes = line.map_or(0, |bytes| bytes.whole() as u8);
                region.cached = timing.cached;
                region.cache_ram = timing.cache_ram;
            }
            Some(region)
        })
        .collect();
    for mirror in &chip.mirror {
        let Some(of) = regions.iter().find(|region| region.start == mirror.of) else {
            let core = &chip.core;
            return Err(chip.error(&format!(
                "key 'mirror': an {core} core's mirror begins where a memory does"
            )));
        };
        let mirrored = Region {
            start: mirror.start,
            size: mirror.size,
            alias_of: Some(mirror.of),
            ..*of
        };
        regions.push(mirrored);
    }
    let timing = timing(chip, core.cpuid.whole())?;
    let device_waits = core
        .device_waits
        .iter()
        .map(|wait| {
            let register = chip.registers.table.get(&wait.register).ok_or_else(|| {
                let name = &wait.register;
                chip.error(&format!("key 'device_wait': no register '{name}'"))
            })?;
            Ok(DeviceWait {
                start: register.address,
                size: 4,
                read: wait.read.whole() as u8,
                write: wait.write.whole() as u8,
            })
        })
        .collect::<Result<_, ChipError>>()?;
    // Set NOREF if there is no other clock, and SKEW, because there is no calibration value.
    let uncalibrated = u32::from(core.systick_divider.is_none()) << 31 | 1 << 30;
    let calibration = core.systick_calibration.as_ref();
    Ok(Config {
        regions,
        interrupts: core.interrupts.whole() as usize,
        priority_bits: core.priority_bits.whole() as u8,
        cpuid: core.cpuid.whole(),
        timing,
        device_waits,
        systick_calibration: calibration.map_or(uncalibrated, Constant::whole),
        mpu_regions: core
            .mpu_regions
            .as_ref()
            .map_or(0, |regions| regions.whole() as usize),
        stop_on_fault,
    })
}

/// Select the core's timing by the part number and variant in its CPUID (ARM DDI 0403E, B3.2.3),
/// and by whether it has a floating-point unit.
fn timing(chip: &Chip, cpuid: u32) -> Result<Timing, ChipError> {
    let part = cpuid >> 4 & 0xfff;
    match (part, cpuid >> 20 & 15, chip.fpu.as_str()) {
        (0xc23, 0 | 1, "") => Ok(Timing::CORTEX_M3_R1),
        (0xc23, _, "") => Ok(Timing::CORTEX_M3),
        (0xc24, _, "") => Ok(Timing::CORTEX_M4),
        (0xc24, _, "fpv4-sp-d16") => Ok(Timing::CORTEX_M4F),
        (0xc23 | 0xc24, _, fpu) => Err(chip.error(&format!(
            "key 'fpu': a core with CPUID {cpuid:#010x} has no '{fpu}'; a Cortex-M4 may have fpv4-sp-d16"
        ))),
        _ => Err(chip.error(&format!(
            "key 'cortex_m.cpuid': part {part:#x} of {cpuid:#010x} is no core that the emulation knows; it \
             knows 0xc23, Cortex-M3, and 0xc24, Cortex-M4"
        ))),
    }
}

/// The image's word at an address.
pub(super) fn image_word(image: &Image, address: u32) -> Option<u32> {
    image.segments.iter().find_map(|segment| {
        let offset = address.checked_sub(segment.address)? as usize;
        let bytes = segment.data.get(offset..offset.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    })
}

/// The vector table that the image specifies to boot code; `None` if it specifies none.
fn boot_table(chip: &Chip, boot: Option<&Boot>, image: &Image) -> Result<Option<u32>, Error> {
    let word = |address: &Constant| image_word(image, address.whole());
    let Some((boot, table)) = boot.and_then(|boot| Some((boot, word(&boot.vectors)?))) else {
        return Ok(None);
    };
    match word(&boot.image_valid) {
        Some(0) => Ok(Some(table)),
        valid => Err(Error::Image(format!(
            "boot code of chip {} starts this image only if the word at {:#010x} is 0; it is {}",
            chip.name,
            boot.image_valid.whole(),
            valid.map_or_else(|| "missing".into(), |word| format!("{word:#010x}"))
        ))),
    }
}

/// Reset and return the vector table; with an entry, start as a debugger does that loads the stack
/// pointer, sets the program counter and has enabled the DWT's counters.
fn start(
    core: &mut Core<CortexM>,
    chip: &Chip,
    boot: Option<&Boot>,
    image: &Image,
    options: &Options,
) -> Result<Start, Error> {
    let Some(&reset) = chip.vectors.table.get("RESET") else {
        let what = "key 'vectors.table': needs RESET";
        return Err(Error::Chip(format!("chip {}: {what}", chip.name)));
    };
    let table = boot_table(chip, boot, image)?.unwrap_or(reset - 4);
    let mirrors = chip.mirror.iter();
    let views: Vec<u32> = mirrors
        .filter(|mirror| mirror.of == table)
        .map(|mirror| mirror.start)
        .chain([table])
        .collect();
    let vectors = views
        .iter()
        .find_map(|&view| Some((image_word(image, view)?, image_word(image, view + 4)?)));
    let is_ram = |sp: u32| {
        let mut memories = chip.memory.iter();
        memories.any(|m| m.kind == MemoryKind::Ram && (m.start + 1..=end(m)).contains(&sp))
    };
    let entry = match (options.entry, vectors) {
        (Some(entry), _) => Some(entry),
        (None, Some(_)) => None,
        (None, None) => Some(image.entry.ok_or_else(|| {
            Error::Image(format!(
                "this {} image has no vector table (nothing at {table:#010x}) and names no entry; say \
                 where to start",
                image.format.name()
            ))
        })?),
    };
    core.reset(table).map_err(|at| {
        Error::Chip(format!(
            "chip {}: there is no memory at {at:#010x}, where its vector table is",
            chip.name
        ))
    })?;
    set_vtor(core, chip, table);
    let Some(entry) = entry else {
        let (sp, pc) = vectors.unwrap_or_default();
        // Bit 0 of a vector selects Thumb state, the only one of this core (B1.5.3).
        if !is_ram(sp) || pc & 1 == 0 || !is_memory(chip, pc & !1) {
            return Err(Error::Image(format!(
                "the vector table at {table:#010x} begins with {sp:#010x} and {pc:#010x}, which are no \
                 stack pointer and reset handler on chip {}; it has {}",
                chip.name,
                memories(chip, DIGITS)
            )));
        }
        return Ok(Start::Vectors(table));
    };
    let entry = entry & !1;
    if !is_memory(chip, entry) {
        return Err(Error::Argument(format!(
            "entry {entry:#x} is no memory of chip {}; it has {}",
            chip.name,
            memories(chip, DIGITS)
        )));
    }
    let first = image
        .segments
        .first()
        .and_then(|segment| image_word(image, segment.address));
    let sp = vectors
        .map(|(sp, _)| sp)
        .or(first)
        .filter(|&sp| is_ram(sp))
        .or_else(|| {
            let rams = chip.memory.iter().filter(|m| m.kind == MemoryKind::Ram);
            rams.max_by_key(|memory| memory.size).map(end)
        })
        .unwrap_or_default();
    enter(core, sp, entry);
    Ok(Start::Entry { table, sp, entry })
}

/// Begin a program at its entry.
fn enter(core: &mut Core<CortexM>, sp: u32, entry: u32) {
    core.set_xpsr(THUMB);
    core.set_register(SP, sp);
    core.set_register(PC, entry);
    let _ = core.debug_write(DWT_CTRL, DWT_COUNTERS);
}

impl Armv7m {
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

impl System for Armv7m {
    fn learn_from(&mut self, earlier: &mut dyn System) {
        let earlier: &mut dyn Any = earlier;
        if let Some(earlier) = earlier.downcast_mut::<Self>() {
            self.core.learn_from(&mut earlier.core);
        }
    }

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
        let (Start::Vectors(vectors) | Start::Entry { table: vectors, .. }) = self.start;
        let (now, settings) = (self.core.cycles(), &self.settings);
        let setting = |name: &str| settings.get(name).copied().unwrap_or(0);
        self.core.bus.reset(cause, &self.parameters, &setting, now);
        // It was valid at the start.
        let is_there = self.core.reset(vectors).is_ok();
        let chip = Arc::clone(self.core.bus.board.chip());
        set_vtor(&mut self.core, &chip, vectors);
        if let Start::Entry { sp, entry, .. } = self.start {
            enter(&mut self.core, sp, entry);
        }
        set_write_buffer(&mut self.core, &self.settings);
        is_there
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
        let named = [("sp", 13), ("lr", 14), ("pc", 15)]
            .map(|(name, number)| (name.to_owned(), self.core.register(number)));
        let status = [("xpsr".to_owned(), self.core.xpsr())];
        let float = self.core.float_registers().into_iter();
        let float = float.flat_map(|(singles, fpscr)| {
            let numbered = singles.into_iter().enumerate();
            numbered
                .map(|(number, value)| (format!("s{number}"), value))
                .chain([("fpscr".to_owned(), fpscr)])
        });
        numbered.chain(named).chain(status).chain(float).collect()
    }

    fn set_register(&mut self, name: &str, value: u32) -> Result<(), Error> {
        let lower = name.to_lowercase();
        let number = match lower.as_str() {
            "sp" => Some(13),
            "lr" => Some(14),
            "pc" => Some(15),
            "xpsr" => {
                self.core.set_xpsr(value);
                return Ok(());
            }
            "fpscr" if self.core.set_float_register(32, value) => return Ok(()),
            _ if lower.starts_with('s')
                && lower[1..].parse().is_ok_and(|single: usize| {
                    single < 32 && self.core.set_float_register(single, value)
                }) =>
            {
                return Ok(());
            }
            _ => lower
                .strip_prefix('r')
                .and_then(|digits| digits.parse().ok())
                .filter(|&number: &usize| number < 16),
        };
        let Some(number) = number else {
            return Err(Error::Argument(format!(
                "no register '{name}'; there are r0 to r15, sp, lr, pc and xpsr{}",
                self.core
                    .float_registers()
                    .map_or("", |_| ", s0 to s31 and fpscr")
            )));
        };
        self.core.set_register(number, value);
        Ok(())
    }

    fn read_memory(&self, address: u32, length: usize) -> Result<Vec<u8>, u32> {
        let wanted = u32::try_from(length).unwrap_or(u32::MAX);
        self.core.read_memory(address, wanted)
    }

    fn write_memory(&mut self, address: u32, data: &[u8]) -> Result<(), u32> {
        self.core.load_image(address, data)
    }

    fn torn_flash(&self) -> Vec<u32> {
        self.core.torn_flash()
    }

    fn tear_flash(&mut self, address: u32) {
        self.core.tear_flash(address);
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

    fn senses(&self) -> &'static [&'static str] {
        self.core.bus.senses()
    }

    fn surround(&mut self, quantity: &str, signal: &Signal) {
        self.core.bus.surround(quantity, signal);
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

    fn forget_memory(&mut self) {
        self.core.forget_memory();
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

    /// r0 to r12, sp, lr, pc and xpsr (GDB manual, "ARM Features", org.gnu.gdb.arm.m-profile),
    /// followed, if the core has them, by S0 to S31, which are GDB's d0 to d15, and FPSCR (ibid.,
    /// org.gnu.gdb.arm.vfp).
    fn gdb_description(&self) -> &'static [u8] {
        match self.core.float_registers() {
            Some(_) => include_bytes!("armv7m/m-profile-float.xml"),
            None => include_bytes!("armv7m/m-profile.xml"),
        }
    }

    fn digits(&self) -> usize {
        DIGITS
    }
}
