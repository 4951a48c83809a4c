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

struct Bank {
    region: Region,
    /// The bank with the contents: its own number, or the aliased one's.
    contents: usize,
    bytes: Vec<u8>,
    /// For each halfword the number of the block of instructions that begins there, plus one.
    blocks: Vec<u32>,
    /// The halfwords that instructions were decoded from.
    decoded: Vec<bool>,
}

/// All memories.
pub struct Memory {
    banks: Vec<Bank>,
    /// First bank of each megabyte; `NO_BANK` where there is none.
    pages: Box<[u8; 4096]>,
    /// Decoded instructions were written over.
    pub code_changed: bool,
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
                    blocks: Vec::new(),
                    decoded: Vec::new(),
                }
            })
            .collect();
        Self {
            banks,
            pages,
            code_changed: false,
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
        if !bank.decoded.is_empty() {
            let halves = offset / 2..(offset + size).div_ceil(2);
            self.code_changed |= bank.decoded[halves].contains(&true);
        }
        Some(())
    }

    /// The number of the block that begins at an even address.
    #[inline]
    pub fn block(&self, address: u32) -> Option<u32> {
        let (number, offset) = self.find(address)?;
        self.banks[number].blocks.get(offset / 2)?.checked_sub(1)
    }

    /// The block that begins here has this number.
    pub fn set_block(&mut self, address: u32, block: u32) {
        if let Some((number, offset)) = self.find(address) {
            let bank = &mut self.banks[number];
            bank.blocks.resize(bank.region.size as usize / 2, 0);
            bank.blocks[offset / 2] = block + 1;
        }
    }

    /// There are no blocks any more.
    pub fn forget_blocks(&mut self) {
        for bank in &mut self.banks {
            bank.blocks.clear();
            bank.decoded.clear();
        }
        self.code_changed = false;
    }

    /// Decode the instruction at an even address; `None` where there is no memory.
    pub fn decode(&mut self, address: u32) -> Option<Entry> {
        let first = self.halfword(address)?;
        let second = self.halfword(address + 2);
        if decode::is_wide(first) && second.is_none() {
            return None;
        }
        let second = second.unwrap_or(0);
        let op = decode::decode(first, second);
        for at in (address..).step_by(2).take(usize::from(op.length) / 2) {
            if let Some((number, offset)) = self.find(at) {
                let contents = self.banks[number].contents;
                let bank = &mut self.banks[contents];
                bank.decoded.resize(bank.region.size as usize / 2, false);
                bank.decoded[offset / 2] = true;
            }
        }
        Some(Entry {
            op,
            traits: Traits::of(&op, first, second),
        })
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
