//! The memories that the core fetches from, reads and writes, and the operations decoded from them.

use crate::bus::Width;
use crate::decode::{self, Op};
use crate::traits::Traits;

/// The core's bus that a memory answers on (Cortex-M3 TRM r2p1, section 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Port {
    /// `ICode` and `DCode`, joined outside the core: 0 to `0x1fff_ffff`.
    Code,
    /// The system bus: `0x2000_0000` to `0xdfff_ffff`, and the vendor's space.
    System,
}

/// What a region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionKind {
    /// Program memory: read-only to stores.
    Flash,
    /// Read-only memory.
    Rom,
    /// Read and write.
    Ram,
}

/// One region of memory and how long it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First address.
    pub start: u32,
    /// Bytes; a multiple of 4.
    pub size: u32,
    /// What it is.
    pub kind: RegionKind,
    /// Where the contents are, when this region shows another's contents at a second address.
    pub alias_of: Option<u32>,
    /// Wait states of an access.
    pub wait_states: u8,
    /// Bytes of the line that the memory's line buffer keeps; 0 where there is none.
    pub line_bytes: u8,
    /// Accesses go through the cache while that is on.
    pub cached: bool,
    /// The region is the cache's RAM: no memory while the cache is on.
    pub cache_ram: bool,
}

impl Region {
    /// A region without wait states, line buffer or cache.
    pub const fn new(kind: RegionKind, start: u32, size: u32) -> Self {
        Self {
            start,
            size,
            kind,
            alias_of: None,
            wait_states: 0,
            line_bytes: 0,
            cached: false,
            cache_ram: false,
        }
    }

    /// The bus that it answers on.
    pub const fn port(&self) -> Port {
        if self.start < 0x2000_0000 {
            Port::Code
        } else {
            Port::System
        }
    }
}

/// A decoded instruction and what the pipeline has to know of it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub op: Op,
    pub traits: Traits,
}

impl Entry {
    pub const EMPTY: Self = Self {
        op: Op::EMPTY,
        traits: Traits::NONE,
    };
}

struct Bank {
    region: Region,
    /// The bank with the contents: its own number, or the aliased one's.
    contents: usize,
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    has_code: bool,
}

/// All memories.
pub struct Memory {
    banks: Vec<Bank>,
    /// First bank of each megabyte; `NO_BANK` where there is none.
    pages: Box<[u8; 4096]>,
    /// Changes whenever decoded instructions are written over.
    pub code_version: u64,
}

const NO_BANK: u8 = 0xff;

impl Memory {
    pub fn new(regions: &[Region]) -> Self {
        let mut pages = Box::new([NO_BANK; 4096]);
        let banks: Vec<Bank> = regions
            .iter()
            .enumerate()
            .map(|(number, region)| {
                let last = region.start + (region.size - 1);
                for page in region.start >> 20..=last >> 20 {
                    if pages[page as usize] == NO_BANK {
                        pages[page as usize] = number as u8;
                    }
                }
                let contents = region.alias_of.map_or(number, |start| {
                    regions
                        .iter()
                        .position(|other| other.start == start && other.alias_of.is_none())
                        .unwrap_or(number)
                });
                let fill = if region.kind == RegionKind::Ram {
                    0
                } else {
                    0xff
                };
                let own = if contents == number {
                    region.size as usize
                } else {
                    0
                };
                Bank {
                    region: *region,
                    contents,
                    bytes: vec![fill; own],
                    entries: Vec::new(),
                    has_code: false,
                }
            })
            .collect();
        Self {
            banks,
            pages,
            code_version: 0,
        }
    }

    /// The number of the bank that holds an address, and the offset in it.
    #[inline]
    pub fn find(&self, address: u32) -> Option<(usize, usize)> {
        let first = self.pages[(address >> 20) as usize];
        if first == NO_BANK {
            return None;
        }
        let number = first as usize;
        let offset = address.wrapping_sub(self.banks[number].region.start);
        if offset < self.banks[number].region.size {
            return Some((number, offset as usize));
        }
        self.find_slow(address)
    }

    #[cold]
    fn find_slow(&self, address: u32) -> Option<(usize, usize)> {
        self.banks.iter().enumerate().find_map(|(number, bank)| {
            let offset = address.wrapping_sub(bank.region.start);
            (offset < bank.region.size).then_some((number, offset as usize))
        })
    }

    pub fn region(&self, bank: usize) -> &Region {
        &self.banks[bank].region
    }

    /// Read inside one bank; `None` where the bytes are not all in it.
    #[inline]
    pub fn read(&self, bank: usize, offset: usize, width: Width) -> Option<u32> {
        let bytes = &self.banks[self.banks[bank].contents].bytes;
        Some(match width {
            Width::Byte => u32::from(*bytes.get(offset)?),
            Width::Half => u32::from(u16::from_le_bytes(
                bytes.get(offset..offset + 2)?.try_into().ok()?,
            )),
            Width::Word => u32::from_le_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?),
        })
    }

    /// Write inside one bank, whatever its kind; `None` where the bytes are not all in it.
    #[inline]
    pub fn write(&mut self, bank: usize, offset: usize, value: u32, width: Width) -> Option<()> {
        let contents = self.banks[bank].contents;
        let bank = &mut self.banks[contents];
        let size = width.bytes() as usize;
        bank.bytes
            .get_mut(offset..offset + size)?
            .copy_from_slice(&value.to_le_bytes()[..size]);
        if bank.has_code {
            self.forget(contents, offset, size);
        }
        Some(())
    }

    /// Decode again what overlaps these bytes.
    #[cold]
    fn forget(&mut self, contents: usize, offset: usize, size: usize) {
        for bank in &mut self.banks {
            if bank.contents == contents && bank.has_code {
                let first = (offset / 2).saturating_sub(1);
                let last = (offset + size).div_ceil(2).min(bank.entries.len());
                for entry in &mut bank.entries[first..last] {
                    if entry.op.kind != decode::Kind::Empty {
                        *entry = Entry::EMPTY;
                        self.code_version += 1;
                    }
                }
            }
        }
    }

    /// The decoded instruction at an even address; `None` where there is no memory.
    #[inline]
    pub fn entry(&mut self, address: u32) -> Option<&Entry> {
        let (number, offset) = self.find(address)?;
        let index = offset / 2;
        if self.banks[number]
            .entries
            .get(index)
            .is_none_or(|entry| entry.op.kind == decode::Kind::Empty)
        {
            self.decode(number, index, address)?;
        }
        Some(&self.banks[number].entries[index])
    }

    #[cold]
    fn decode(&mut self, number: usize, index: usize, address: u32) -> Option<()> {
        let halves = self.banks[number].region.size as usize / 2;
        if self.banks[number].entries.is_empty() {
            self.banks[number].entries = vec![Entry::EMPTY; halves];
            let contents = self.banks[number].contents;
            self.banks[number].has_code = true;
            self.banks[contents].has_code = true;
            if self.banks[contents].entries.is_empty() {
                self.banks[contents].entries = vec![Entry::EMPTY; halves];
            }
        }
        let first = self.halfword(address)?;
        let second = self.halfword(address + 2).unwrap_or(0);
        if decode::is_wide(first) && self.halfword(address + 2).is_none() {
            return None;
        }
        let op = decode::decode(first, second);
        self.banks[number].entries[index] = Entry {
            op,
            traits: Traits::of(&op, first, second),
        };
        Some(())
    }

    pub fn halfword(&self, address: u32) -> Option<u16> {
        let (bank, offset) = self.find(address)?;
        self.read(bank, offset, Width::Half)
            .map(|value| value as u16)
    }

    /// Copy bytes in, whatever the kind of memory. `Err` holds the first address that is no memory.
    pub fn load(&mut self, address: u32, data: &[u8]) -> Result<(), u32> {
        for (byte, at) in data.iter().zip(address..) {
            self.find(at)
                .and_then(|(bank, offset)| self.write(bank, offset, u32::from(*byte), Width::Byte))
                .ok_or(at)?;
        }
        Ok(())
    }

    /// Copy bytes out. `Err` holds the first address that is no memory.
    pub fn dump(&self, address: u32, length: u32) -> Result<Vec<u8>, u32> {
        (0..length)
            .map(|i| {
                let at = address.wrapping_add(i);
                self.find(at)
                    .and_then(|(bank, offset)| self.read(bank, offset, Width::Byte))
                    .map(|byte| byte as u8)
                    .ok_or(at)
            })
            .collect()
    }
}
