//! A machine with an MSP430 core.

use joulemark_kernel::chip::MemoryKind;
use joulemark_kernel::trace::{MarkerEdge, PinEdge, PowerInterval};
use joulemark_kernel::{Chip, Cycles, Image, Picoseconds, Symbols};
use joulemark_msp430::{Core, Exit, Limits, RESET_VECTOR, Region, RegionKind};
use joulemark_peripherals::SpiDevice;

use crate::msp430x1xx::{Msp430x1xx, Pin};
use crate::profile::{self, Node};
use crate::report::fault_report;
use crate::{Error, Machine, Options, Profile, Reason, Stop, Until};

const PORTS: &[&str] = &["USART0", "USART1"];
const PC: usize = 0;
const SP: usize = 1;

/// An MSP430 machine.
pub struct Msp430 {
    core: Core<Msp430x1xx>,
    symbols: Symbols,
    options: Options,
    /// First address after RAM.
    ram_end: u32,
    /// Where the stack pointer was when observation began.
    stack_base: u16,
    edges: Vec<MarkerEdge>,
    /// The last run stopped before the instruction at this address.
    stopped_at: Option<u16>,
}

impl Msp430 {
    /// Load an image and reset.
    ///
    /// # Errors
    /// The image does not fit the chip, or an option is wrong.
    pub fn new(chip: &Chip, image: &Image, options: &Options) -> Result<Self, Error> {
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

        check_fit(chip, image)?;
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
        // An image without a reset vector can only be started as a debugger starts it.
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

        let mut bus = Msp430x1xx::new(
            chip,
            setting("xt2_hz", 0),
            setting("dco_trim_ppm", 1_000_000),
            placed.is_some(),
        )
        .map_err(|what| Error::Chip(format!("chip {}: {what}", chip.name)))?;
        bus.trace = options.trace;
        if let Some(name) = &options.marker {
            bus.marker = Some(pin(name)?);
        }
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
        // The stack may go down to the last variable; a section that reaches the end of RAM is
        // the room for the stack itself.
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
        let mut machine = Self {
            core,
            symbols: image.symbols.clone(),
            options: options.clone(),
            ram_end,
            stack_base: 0,
            edges: Vec::new(),
            stopped_at: None,
        };
        machine.clear_observations();
        Ok(machine)
    }

    /// Hang a device on a USART's SPI bus; its chip select is low while it is selected.
    pub fn attach(&mut self, usart: usize, select: Pin, device: Box<dyn SpiDevice>) {
        self.core.bus.attach(usart, select, device);
    }

    fn stamp_edges(&mut self) -> bool {
        let instructions = self.core.instructions();
        let edges = std::mem::take(&mut self.core.bus.new_edges);
        for edge in &edges {
            if self.options.secrets_trace {
                if edge.rising {
                    self.core.start_address_digest();
                } else {
                    self.core.stop_address_digest();
                }
            }
            let time = self.core.bus.clock.time(edge.cycles);
            self.edges.push(edge.stamped(instructions, time));
        }
        !edges.is_empty()
    }

    fn stop(&self, reason: Reason) -> Stop {
        Stop {
            reason,
            address: u32::from(self.core.register(PC)),
            fault: None,
        }
    }

    fn run_on(&mut self, until: Until, address: Option<u16>) -> Stop {
        let now = self.core.cycles().0;
        let mut limits = Limits {
            until: until
                .max_cycles
                .map(|more| Cycles(now.saturating_add(more))),
            // A second run to the same address goes once around to it.
            leave_breakpoint: address.is_some() && address == self.stopped_at,
        };
        self.stopped_at = None;
        loop {
            let exit = self.core.run(limits);
            let edges = self.stamp_edges();
            let serial = std::mem::take(&mut self.core.bus.serial_seen);
            match exit {
                Exit::Fault(fault) => {
                    let report = fault_report(&fault, &self.symbols, 4);
                    return Stop {
                        fault: Some(report),
                        ..self.stop(Reason::Fault)
                    };
                }
                Exit::Breakpoint(at) => {
                    self.stopped_at = Some(at);
                    return self.stop(Reason::Address);
                }
                Exit::Cycles => return self.stop(Reason::Cycles),
                Exit::Asleep => return self.stop(Reason::Asleep),
                Exit::Stopped if edges && until.marker => return self.stop(Reason::Marker),
                Exit::Stopped if serial => return self.stop(Reason::Serial),
                Exit::Stopped => {
                    if self.core.cycles().0 > now {
                        limits.leave_breakpoint = false;
                    }
                }
            }
        }
    }

    /// The function of each even address: its index in the symbol table plus one.
    fn function_map(&self) -> Box<[u16; 0x8000]> {
        let mut map: Box<[u16; 0x8000]> = vec![0_u16; 0x8000]
            .into_boxed_slice()
            .try_into()
            .unwrap_or_else(|_| unreachable!("the length is right"));
        for (function, number) in self.symbols.functions().iter().zip(1_u16..) {
            let start = (function.start / 2).min(0x8000) as usize;
            let end = function.end.div_ceil(2).min(0x8000) as usize;
            map[start..end.max(start)].fill(number);
        }
        map
    }
}

/// Every byte of the image has to have a place in flash or RAM.
fn check_fit(chip: &Chip, image: &Image) -> Result<(), Error> {
    let is_memory = |address: u32| {
        let region = chip.region(address);
        region.is_some_and(|region| region.kind != MemoryKind::Peripheral) && address < 0x10000
    };
    for segment in &image.segments {
        let (start, size) = (segment.address, segment.data.len());
        let Some(bad) = (0..size as u32)
            .map(|offset| start.saturating_add(offset))
            .find(|&address| !is_memory(address))
        else {
            continue;
        };
        let room: Vec<String> = chip
            .memory
            .iter()
            .filter(|memory| memory.kind != MemoryKind::Peripheral)
            .map(|m| {
                format!(
                    "{} {:#06x}-{:#06x}",
                    m.name,
                    m.start,
                    m.start + (m.size - 1)
                )
            })
            .collect();
        return Err(Error::Image(format!(
            "this image puts {size} bytes at {start:#06x}, but {bad:#06x} is no memory of chip {}; it \
             has {}",
            chip.name,
            room.join(", ")
        )));
    }
    Ok(())
}

fn pin(name: &str) -> Result<Pin, Error> {
    Pin::parse(name).ok_or_else(|| {
        Error::Argument(format!(
            "no pin '{name}'; pins are P1.0 to P6.7, a port, a dot and a bit"
        ))
    })
}

fn port(name: &str) -> Result<usize, Error> {
    let upper = name.to_uppercase();
    PORTS.iter().position(|&port| port == upper).ok_or_else(|| {
        Error::Argument(format!(
            "no serial port '{name}'; there are {}",
            PORTS.join(", ")
        ))
    })
}

fn address_16(address: u32, what: &str) -> Result<u16, Error> {
    u16::try_from(address).map_err(|_| {
        Error::Argument(format!(
            "{what} {address:#x} is beyond the 16-bit address space"
        ))
    })
}

impl Machine for Msp430 {
    fn run(&mut self, until: Until) -> Result<Stop, Error> {
        let address = until
            .address
            .map(|address| address_16(address, "stop address"))
            .transpose()?;
        if until.marker && self.options.marker.is_none() {
            return Err(Error::Argument(
                "cannot run until the marker changes: the machine was made without a marker pin"
                    .into(),
            ));
        }
        self.core.bus.stop_on_serial = until.serial;
        if let Some(address) = address {
            self.core.set_breakpoint(address);
        }
        let stop = self.run_on(until, address);
        if let Some(address) = address {
            self.core.clear_breakpoint(address);
        }
        Ok(stop)
    }

    fn cycles(&self) -> u64 {
        self.core.cycles().0
    }

    fn sleep_cycles(&self) -> u64 {
        self.core.sleep_cycles().0
    }

    fn instructions(&self) -> u64 {
        self.core.instructions()
    }

    fn time(&self) -> Picoseconds {
        self.core.bus.clock.time(self.core.cycles())
    }

    fn clock_hz(&self) -> u32 {
        self.core.bus.clock.mclk_hz().0
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
        self.stopped_at = None;
        self.core.set_register(number, value);
        Ok(())
    }

    fn read_memory(&self, address: u32, length: usize) -> Result<Vec<u8>, Error> {
        let start = address_16(address, "address")?;
        self.core.read_memory(start, length).map_err(|at| {
            Error::Argument(format!(
                "cannot read {length} bytes at {address:#06x}: {at:#06x} is neither flash nor RAM"
            ))
        })
    }

    fn write_memory(&mut self, address: u32, data: &[u8]) -> Result<(), Error> {
        let start = address_16(address, "address")?;
        self.core.load(start, data).map_err(|at| {
            Error::Argument(format!(
                "cannot write {} bytes at {address:#06x}: {at:#06x} is neither flash nor RAM",
                data.len()
            ))
        })
    }

    fn serial_ports(&self) -> &'static [&'static str] {
        PORTS
    }

    fn serial_write(&mut self, name: &str, data: &[u8]) -> Result<(), Error> {
        let index = port(name)?;
        let now = self.core.cycles();
        self.core.bus.put_serial(index, data, now);
        Ok(())
    }

    fn serial_read(&mut self, name: &str) -> Result<Vec<(u8, Picoseconds)>, Error> {
        let index = port(name)?;
        Ok(self.core.bus.usart[index].take_sent())
    }

    fn set_pin(&mut self, name: &str, high: bool) -> Result<(), Error> {
        let pin = pin(name)?;
        let now = self.core.cycles();
        self.core.bus.set_pin(pin, high, now);
        Ok(())
    }

    fn marker_edges(&self) -> &[MarkerEdge] {
        &self.edges
    }

    fn clear_observations(&mut self) {
        self.edges.clear();
        let now = self.core.cycles();
        self.core.bus.clear_traces(now);
        // Before the program has set its stack pointer, the end of RAM is what it will be.
        let sp = self.core.register(SP);
        if sp == 0 {
            self.stack_base = self.ram_end as u16;
        } else {
            self.stack_base = sp;
            self.core.reset_stack_low();
        }
        if self.options.profile {
            let map = self.function_map();
            self.core.start_profile(map);
        }
        // With a marker, only what is between its edges is of interest.
        let watched = self.options.marker.is_none() || self.core.is_digesting();
        if self.options.secrets_trace && watched {
            self.core.start_address_digest();
        }
    }

    fn stack_bytes(&self) -> u32 {
        u32::from(self.stack_base.saturating_sub(self.core.stack_low()))
    }

    fn power_intervals(&self) -> Vec<PowerInterval> {
        self.core.bus.intervals(self.core.cycles())
    }

    fn pin_edges(&self) -> &[PinEdge] {
        &self.core.bus.pin_edges
    }

    fn profile(&mut self) -> Option<Profile> {
        let tree = self.core.profile()?;
        let nodes: Vec<Node> = tree
            .nodes
            .iter()
            .map(|node| Node {
                parent: node.parent,
                function: usize::from(node.function)
                    .checked_sub(1)
                    .filter(|&index| index < self.symbols.functions().len()),
                calls: node.calls,
                self_cycles: node.self_cycles,
                self_instructions: node.self_instructions,
                stack_bytes: u32::from(node.stack_bytes),
            })
            .collect();
        Some(profile::summarise(&nodes, &self.symbols))
    }

    fn secrets_digest(&self) -> Option<u64> {
        self.options
            .secrets_trace
            .then(|| self.core.address_digest())
    }
}
