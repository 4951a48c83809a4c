//! What the chips of a series may have, and what one of them has and where: a series declares
//! instances of its peripherals by name, and a chip's file gives those that it has an address.

use std::collections::BTreeMap;
use std::ops::Range;

use joulemark_kernel::chip::Peripheral;
use joulemark_kernel::{Chip, ChipError};

/// A peripheral that chips of a series may have; `B` tells it from the others.
#[derive(Clone, Copy)]
pub struct Instance<B> {
    /// Its name in chip files.
    name: &'static str,
    block: B,
    /// Offsets of its registers: the first, and the one after the last.
    registers: (u32, u32),
    /// Number of its interrupts.
    interrupts: usize,
    /// Whether it has pins.
    is_port: bool,
}

impl<B: Copy> Instance<B> {
    /// A peripheral with registers up to an offset, and so many interrupts.
    pub const fn new(name: &'static str, block: B, end: u32, interrupts: usize) -> Self {
        Self {
            name,
            block,
            registers: (0, end),
            interrupts,
            is_port: false,
        }
    }

    /// The same with registers from an offset on.
    pub const fn from(mut self, start: u32) -> Self {
        self.registers.0 = start;
        self
    }

    /// The same with pins.
    pub const fn port(mut self) -> Self {
        self.is_port = true;
        self
    }
}

/// A peripheral that a chip has.
struct Place<B> {
    block: B,
    base: u32,
    /// The address after its last register.
    end: u32,
    pins: usize,
}

/// The peripherals of a chip.
pub struct Instances<B> {
    /// First addresses, ascending.
    starts: Vec<u32>,
    places: Vec<Place<B>>,
    /// An interrupt line, and which one it is of which peripheral.
    lines: Vec<(u32, B, usize)>,
}

impl<B: Copy + PartialEq> Instances<B> {
    /// Find the peripherals of a chip among those that its series knows.
    ///
    /// # Errors
    /// Section `peripherals` is missing, or has a name that the series does not know, another
    /// number of interrupts or pins than it needs, or registers of two in the same place.
    pub fn of(chip: &Chip, known: &[Instance<B>]) -> Result<Self, ChipError> {
        let table = chip.peripherals.as_ref().map(|section| &section.table);
        let table: &BTreeMap<String, Peripheral> = table.ok_or_else(|| {
            let series = &chip.series;
            chip.error(&format!(
                "key 'peripherals': missing; a chip of series {series} needs it"
            ))
        })?;
        let mut found: Vec<(Range<u32>, Place<B>, &str)> = Vec::new();
        let mut lines = Vec::new();
        for (name, row) in table {
            let wrong = |what: &str| chip.error(&format!("key 'peripherals.table.{name}': {what}"));
            let Some(instance) = known.iter().find(|instance| instance.name == name) else {
                let names: Vec<&str> = known.iter().map(|instance| instance.name).collect();
                let (series, names) = (&chip.series, names.join(", "));
                return Err(wrong(&format!(
                    "series {series} knows none; it knows {names}"
                )));
            };
            if row.interrupts.len() != instance.interrupts {
                let count = instance.interrupts;
                return Err(wrong(&format!("needs as many 'interrupts': {count}")));
            }
            if row.pins.is_some() != instance.is_port {
                let needs = if instance.is_port { "needs" } else { "has no" };
                return Err(wrong(&format!("{needs} 'pins'")));
            }
            let (first, end) = instance.registers;
            let range = row.base.checked_add(end).map(|end| row.base + first..end);
            let range = range.ok_or_else(|| wrong("'base' is too high for its registers"))?;
            let place = Place {
                block: instance.block,
                base: row.base,
                end: range.end,
                pins: row.pins.unwrap_or(0),
            };
            found.push((range, place, name));
            let numbered = row.interrupts.iter().enumerate();
            lines.extend(numbered.map(|(number, &line)| (line, instance.block, number)));
        }
        found.sort_by_key(|(range, ..)| range.start);
        for pair in found.windows(2) {
            let [(before, _, first), (after, _, second)] = pair else {
                continue;
            };
            if after.start < before.end {
                return Err(chip.error(&format!(
                    "key 'peripherals.table.{second}.base': its registers begin at {:#x}, among those of \
                     {first}",
                    after.start
                )));
            }
        }
        if let Some((line, ..)) = lines.iter().find(|(line, ..)| *line >= 256) {
            return Err(chip.error(&format!("key 'peripherals': there is no interrupt {line}")));
        }
        Ok(Self {
            starts: found.iter().map(|(range, ..)| range.start).collect(),
            places: found.into_iter().map(|(_, place, _)| place).collect(),
            lines,
        })
    }

    /// The peripheral with a register at an address, and the register's offset.
    pub fn find(&self, address: u32) -> Option<(B, u32)> {
        let after = self.starts.partition_point(|&start| start <= address);
        let place = self.places.get(after.wrapping_sub(1))?;
        (address < place.end).then_some((place.block, address - place.base))
    }

    /// Number of peripherals.
    pub const fn count(&self) -> usize {
        self.places.len()
    }

    /// A peripheral and its base address, by number in the order of addresses.
    pub fn at(&self, number: usize) -> (B, u32) {
        let place = &self.places[number];
        (place.block, place.base)
    }

    /// A peripheral's base address; `None` if the chip does not have it.
    pub fn base(&self, block: B) -> Option<u32> {
        let mut places = self.places.iter();
        places
            .find(|place| place.block == block)
            .map(|place| place.base)
    }

    /// How many of these the chip has, without a gap.
    pub fn run(&self, block: impl Fn(usize) -> B) -> usize {
        (0..self.count())
            .take_while(|&number| self.base(block(number)).is_some())
            .count()
    }

    /// The number of pins of each of these ports.
    pub fn pins(&self, port: impl Fn(usize) -> B) -> Vec<usize> {
        let pins = |block| {
            let mut places = self.places.iter();
            places
                .find(|place| place.block == block)
                .map(|place| place.pins)
        };
        (0..self.count())
            .map_while(|number| pins(port(number)))
            .collect()
    }

    /// The asserted interrupt lines, given whether an interrupt of a peripheral is, by number.
    pub fn lines(&self, is_pending: impl Fn(B, usize) -> bool) -> [u64; 4] {
        let mut lines = [0; 4];
        for &(line, block, number) in &self.lines {
            lines[line as usize / 64 % 4] |= u64::from(is_pending(block, number)) << (line % 64);
        }
        lines
    }
}
