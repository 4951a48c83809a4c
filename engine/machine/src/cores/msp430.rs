//! An MSP430 core and its chip.

use std::ops::Range;
use std::sync::Arc;

use joulemark_kernel::chip::MemoryKind;
use joulemark_kernel::image::{Sections, Target};
use joulemark_kernel::power::Glimpse;
use joulemark_kernel::secrets::{Piece, Report};
use joulemark_kernel::{Chip, Cycles, Fault, FaultKind, Image, Signal, Symbols, Timeline};
use joulemark_msp430::{self as core, Bus, Core, RESET_VECTOR, Region, RegionKind};
use joulemark_peripherals::adc12::{self, Inputs};

use crate::board::Board;
use crate::pins::Pin;
use crate::profile::Node;
use crate::series::msp430x1xx::Msp430x1xx;
use crate::system::{Exit, Limits, System, check_fit};
use crate::{Error, Options};

/// Hexadecimal digits of an address.
const DIGITS: usize = 4;
const PC: usize = 0;
const SP: usize = 1;

/// The core, for images.
pub static TARGET: Target = Target {
    core: "msp430",
    // EM_MSP430.
    elf_machine: 105,
    symbol_flags: 0,
    refuse: refuse_msp430x,
};

/// Refuse MSP430X images: this core lacks their 20-bit instructions.
///
/// binutils records the machine in the low byte of `e_flags` (include/elf/msp430.h); clang and
/// newer GCC record the instruction set in the build attributes (SLAA534, build attributes:
/// `Tag_ISA`, 4, is 2 for MSP430X).
fn refuse_msp430x(flags: u32, section: &Sections<'_>) -> Option<String> {
    const X_MACHINES: [u8; 5] = [26, 45, 46, 47, 54];
    let machine = flags as u8;
    let attributes = section(".MSP430.attributes");
    let note = if X_MACHINES.contains(&machine) {
        format!("e_flags {machine}")
    } else if attributes.as_deref().and_then(instruction_set) == Some(2) {
        "build attribute ISA 2".to_owned()
    } else {
        return None;
    };
    Some(format!(
        "for an MSP430X ({note}), whose 20-bit instructions this chip does not have; build it with \
         -mcpu=msp430"
    ))
}

/// Find `Tag_ISA` in a `.MSP430.attributes` section: format byte, length, "mspabi", tag 1 (whole
/// file), length, then pairs of tag and value.
fn instruction_set(section: &[u8]) -> Option<u8> {
    let vendor = section.strip_prefix(b"A")?.get(4..)?;
    let mut pairs = vendor
        .strip_prefix(b"mspabi\0\x01")?
        .get(4..)?
        .chunks_exact(2);
    pairs.find(|pair| pair[0] == 4).map(|pair| pair[1])
}

/// An MSP430 core and its chip.
pub struct Msp430 {
    core: Core<Msp430x1xx>,
    /// First address after RAM.
    ram_end: u32,
    /// The stack pointer when observation began.
    stack_base: u16,
    /// Whether a reset can restart the program: false if a debugger set the program counter.
    can_reset: bool,
    /// Number of functions in the profile.
    functions: usize,
}

impl Msp430 {
    /// Load an image and reset.
    ///
    /// # Errors
    /// The image does not fit the chip, or an option is wrong.
    pub fn new(chip: &Arc<Chip>, image: &Image, options: &Options) -> Result<Self, Error> {
        let settings = chip
            .settings_with(&options.settings)
            .map_err(|error| Error::Argument(error.0))?;
        let setting = |name: &str, otherwise| settings.get(name).copied().unwrap_or(otherwise);
        let ram = chip
            .memory
            .iter()
            .filter(|memory| memory.kind == MemoryKind::Ram)
            .max_by_key(|memory| memory.size)
            .ok_or_else(|| Error::Chip(format!("chip {} has no RAM", chip.name)))?;
        let regions: Vec<Region> = chip
            .memory
            .iter()
            .map(|memory| Region {
                start: memory.start as u16,
                size: memory.size,
                kind: match memory.kind {
                    MemoryKind::Flash | MemoryKind::Rom => RegionKind::Flash,
                    MemoryKind::Ram => RegionKind::Ram,
                    MemoryKind::Peripheral => RegionKind::Peripheral,
                },
            })
            .collect();

        let is_memory = |address: u32| {
            let region = chip.region(address);
            region.is_some_and(|region| region.kind != MemoryKind::Peripheral) && address < 0x10000
        };
        check_fit(chip, image, is_memory, DIGITS)?;
        let reset = u32::from(RESET_VECTOR);
        let word = |address: u32| {
            let segment = image.segments.iter().find(|s| {
                address >= s.address && ((address - s.address) as usize) + 2 <= s.data.len()
            })?;
            let offset = (address - segment.address) as usize;
            Some(u32::from(u16::from_le_bytes([
                segment.data[offset],
                segment.data[offset + 1],
            ])))
        };
        let vector = word(reset);
        // Without a reset vector, an image can only start as under a debugger.
        let placed = match (options.entry, vector) {
            (Some(entry), vector) if Some(entry) != vector => Some(entry),
            (_, Some(_)) => None,
            (_, None) => Some(image.entry.ok_or_else(|| {
                Error::Image(format!(
                    "this {} image has no reset vector (nothing at {reset:#06x}) and names no entry; \
                     say where to start",
                    image.format.name()
                ))
            })?),
        };

        let bus = Msp430x1xx::new(
            chip,
            setting("xt2_hz", 0),
            setting("dco_trim_ppm", 1_000_000),
            Inputs::new(
                setting("supply_mv", 3000),
                setting("temperature_c", 25) as i32,
            ),
            placed.is_some(),
            options.trace,
        )?;
        let mut core = Core::new(bus, &regions);
        for segment in &image.segments {
            let loaded = core.load(segment.address as u16, &segment.data);
            debug_assert_eq!(loaded, Ok(()), "check_fit saw to it");
        }
        for mirror in &chip.mirror {
            core.mirror(mirror.start as u16, mirror.size as u16, mirror.of as u16);
        }
        for range in &image.data {
            if range.start < 0x10000 {
                core.deny_execution(range.start as u16, range.size as usize);
            }
        }
        let ram_end = ram.start + ram.size;
        // The stack may grow down to the last variable; a section up to the end of RAM is the stack
        // itself.
        let variables_end = image
            .variables
            .iter()
            .map(|range| range.start.saturating_add(range.size))
            .filter(|&end| end > ram.start && end < ram_end)
            .max()
            .unwrap_or(ram.start);
        core.set_stack_limit(variables_end as u16);
        core.reset();
        if let Some(entry) = placed {
            let Ok(entry) = u16::try_from(entry) else {
                return Err(Error::Argument(format!(
                    "entry {entry:#x} is beyond the 16-bit address space of chip {}",
                    chip.name
                )));
            };
            core.set_register(PC, entry);
            core.set_register(SP, ram_end as u16);
        }
        Ok(Self {
            core,
            ram_end,
            stack_base: 0,
            can_reset: placed.is_none(),
            functions: 0,
        })
    }
}

/// Map each even address to its function: the index in the symbol table plus one.
fn function_map(symbols: &Symbols) -> Box<[u16; 0x8000]> {
    let mut map: Box<[u16; 0x8000]> = vec![0_u16; 0x8000]
        .into_boxed_slice()
        .try_into()
        .unwrap_or_else(|_| unreachable!("the length is right"));
    for (function, number) in symbols.functions().iter().zip(1_u16..) {
        let start = (function.start / 2).min(0x8000) as usize;
        let end = function.end.div_ceil(2).min(0x8000) as usize;
        map[start..end.max(start)].fill(number);
    }
    map
}

impl System for Msp430 {
    fn board(&self) -> &Board {
        &self.core.bus.board
    }

    fn board_mut(&mut self) -> &mut Board {
        &mut self.core.bus.board
    }

    fn timeline(&self) -> &Timeline {
        self.core.bus.clock.timeline()
    }

    fn run(&mut self, limits: Limits) -> Exit {
        let exit = self.core.run(core::Limits {
            until: Some(limits.until),
            leave_breakpoint: limits.leave_breakpoint,
        });
        match exit {
            core::Exit::Breakpoint(at) => Exit::Breakpoint(at.into()),
            core::Exit::Cycles => Exit::Cycles,
            core::Exit::Stopped => Exit::Stopped,
            core::Exit::Asleep => Exit::Asleep,
            core::Exit::Fault(fault) => Exit::Fault(fault),
        }
    }

    fn reset(&mut self, fault: &Fault) -> bool {
        let by_watchdog = fault.kind == FaultKind::Watchdog;
        if !self.can_reset || !by_watchdog && fault.kind != FaultKind::Reset {
            return false;
        }
        let now = self.core.cycles();
        self.core.bus.power_up_clear(by_watchdog, now);
        self.core.reset();
        true
    }

    fn asleep_until(&self) -> Option<Cycles> {
        self.core.is_asleep().then(|| self.core.bus.next_event())
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
        if address < 0x10000 {
            return Ok(address);
        }
        Err(Error::Argument(format!(
            "address {address:#x} is beyond the 16-bit address space"
        )))
    }

    fn code_address(&self, address: u32) -> Result<u32, Error> {
        self.data_address(address)
    }

    fn set_breakpoint(&mut self, address: u32, on: bool) {
        if on {
            self.core.set_breakpoint(address as u16);
        } else {
            self.core.clear_breakpoint(address as u16);
        }
    }

    fn program_counter(&self) -> u32 {
        self.core.register(PC).into()
    }

    fn registers(&self) -> Vec<(String, u32)> {
        (0..16)
            .map(|number| {
                let name = match number {
                    0 => "pc".to_owned(),
                    1 => "sp".to_owned(),
                    2 => "sr".to_owned(),
                    _ => format!("r{number}"),
                };
                (name, u32::from(self.core.register(number)))
            })
            .collect()
    }

    fn set_register(&mut self, name: &str, value: u32) -> Result<(), Error> {
        let lower = name.to_lowercase();
        let number = match lower.as_str() {
            "pc" => Some(0),
            "sp" => Some(1),
            "sr" => Some(2),
            "cg" => Some(3),
            _ => lower
                .strip_prefix('r')
                .and_then(|digits| digits.parse().ok())
                .filter(|&number: &usize| number < 16),
        };
        let Some(number) = number else {
            return Err(Error::Argument(format!(
                "no register '{name}'; there are pc, sp, sr and r0 to r15"
            )));
        };
        let value = u16::try_from(value).map_err(|_| {
            Error::Argument(format!(
                "{value:#x} does not fit register {name} of 16 bits"
            ))
        })?;
        self.core.set_register(number, value);
        Ok(())
    }

    fn read_memory(&self, address: u32, length: usize) -> Result<Vec<u8>, u32> {
        let read = self.core.read_memory(address as u16, length);
        read.map_err(u32::from)
    }

    fn write_memory(&mut self, address: u32, data: &[u8]) -> Result<(), u32> {
        self.core.load(address as u16, data).map_err(u32::from)
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
        &adc12::SENSES
    }

    fn surround(&mut self, quantity: &str, signal: &Signal) {
        self.core.bus.surround(quantity, signal);
    }

    fn take_effects(&mut self) {
        let now = self.core.cycles();
        self.core.bus.take_effects(now);
    }

    fn restart_stack(&mut self) {
        // Until the program sets its stack pointer, assume the end of RAM.
        let sp = self.core.register(SP);
        if sp == 0 {
            self.stack_base = self.ram_end as u16;
        } else {
            self.stack_base = sp;
            self.core.reset_stack_low();
        }
    }

    fn stack_bytes(&self) -> u32 {
        u32::from(self.stack_base.saturating_sub(self.core.stack_low()))
    }

    fn stack_pointers(&self) -> [u32; 2] {
        [u32::from(self.core.register(SP)); 2]
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
        for piece in pieces {
            self.read_memory(piece.address, piece.length as usize)?;
        }
        self.core.follow_secrets(pieces);
        Ok(())
    }

    fn forget_secrets(&mut self) {
        self.core.forget_secrets();
    }

    fn mark_secret(&mut self, piece: &Piece) -> Result<(), u32> {
        self.read_memory(piece.address, piece.length as usize)?;
        self.core.mark_secret(piece);
        Ok(())
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
        self.core.register(number).into()
    }

    fn word(&self, address: u32) -> Option<u32> {
        self.core.memory_word(address)
    }

    fn start_profile(&mut self, symbols: &Symbols) {
        self.functions = symbols.functions().len();
        self.core.start_profile(function_map(symbols));
    }

    fn profile(&mut self) -> Option<Vec<Node>> {
        let functions = self.functions;
        let tree = self.core.profile()?;
        let node = |node: &core::Node| Node {
            parent: node.parent,
            function: usize::from(node.function)
                .checked_sub(1)
                .filter(|&index| index < functions),
            calls: node.calls,
            self_cycles: node.self_cycles,
            self_instructions: node.self_instructions,
            stack_bytes: u32::from(node.stack_bytes),
        };
        Some(tree.nodes.iter().map(node).collect())
    }

    fn profile_node(&mut self) -> Option<usize> {
        self.core.profile_node()
    }

    fn handled_fault(&self) -> Option<Fault> {
        None
    }

    /// GDB already knows this core's registers, r0 to r15, and keeps them in 32 bits
    /// (gdb/msp430-tdep.c).
    fn gdb_description(&self) -> &'static [u8] {
        b"<target version=\"1.0\"><architecture>msp430</architecture></target>"
    }

    fn digits(&self) -> usize {
        DIGITS
    }
}
