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
    /// Its first register.
    start: u32,
    /// Length of its registers.
    length: u32,
    pins: usize,
}

/// Pages of 1 KB, as most series space their peripherals. Two pages may share a number: then the
/// search begins earlier than it need.
const PAGES: usize = 4096;

const fn page(address: u32) -> usize {
    (address >> 10) as usize % PAGES
}

/// Return, by page, the first of the ascending ranges that is in it; their number where none is.
fn first_by_page<'a>(ranges: impl ExactSizeIterator<Item = &'a Range<u32>>) -> Vec<u16> {
    let none = ranges.len() as u16;
    let mut first = vec![none; PAGES];
    for (number, range) in ranges.enumerate() {
        for address in (range.start & !0x3ff..range.end).step_by(0x400) {
            let entry = &mut first[page(address)];
            *entry = (*entry).min(number as u16);
        }
    }
    first
}

/// The peripherals of a chip.
pub struct Instances<B> {
    /// In the order of their addresses.
    places: Vec<Place<B>>,
    /// By page of addresses, modulo `PAGES`: the first place that is in such a page.
    first: Vec<u16>,
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
                start: range.start,
                length: range.end - range.start,
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
            first: first_by_page(found.iter().map(|(range, ..)| range)),
            places: found.into_iter().map(|(_, place, _)| place).collect(),
            lines,
        })
    }

    /// The peripheral with a register at an address, and the register's offset.
    pub fn find(&self, address: u32) -> Option<(B, u32)> {
        let first = self.first[page(address)];
        let mut places = self.places.get(usize::from(first)..)?.iter();
        let place = places.find(|place| address < place.start + place.length)?;
        (address >= place.start).then(|| (place.block, address - place.base))
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
