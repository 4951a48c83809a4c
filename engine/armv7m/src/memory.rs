//! The memories that the core fetches from, reads and writes, and the operations decoded from them.

use std::collections::BTreeSet;
use std::ops::Range;

use joulemark_kernel::Memories;

use crate::bus::Width;
use crate::decode::{Extensions, decode};
use crate::fpu;
use crate::op::{Op, is_wide};
use crate::traits::Traits;

/// The core's bus that a memory answers on (Cortex-M3 TRM r2p1, section 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Port {
    /// `ICode` and `DCode`, joined outside the core: 0 to `0x1fff_ffff`.
    Code,
    /// The system bus: `0x2000_0000` to `0xdfff_ffff`, and the vendor's space.
    System,
}

/// Kind of a region.
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
    /// Its kind.
    pub kind: RegionKind,
    /// Where the contents are, when this region shows another's contents at a second address.
    pub alias_of: Option<u32>,
    /// Wait states of an access.
    pub wait_states: u8,
    /// Wait states more of a store to RAM.
    pub store_wait_states: u8,
    /// Wait states more of a fetch that is neither from the line of the last fetch nor from the next.
    pub jump_wait_states: u8,
    /// Bytes of such a line.
    pub jump_line_bytes: u8,
    /// Bytes of the line that the memory's line buffer keeps; 0 where there is none.
    pub line_bytes: u8,
    /// Accesses go through the cache while that is on.
    pub cached: bool,
    /// The region is the cache's RAM: no memory while the cache is on.
    pub cache_ram: bool,
}

/// Registers of devices whose accesses take longer than a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceWait {
    /// First address.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// Wait states of a load.
    pub read: u8,
    /// Wait states of a store.
    pub write: u8,
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
            store_wait_states: 0,
            jump_wait_states: 0,
            jump_line_bytes: 0,
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
    /// Where it is.
    pub address: u32,
}

impl Entry {
    /// None.
    pub const NONE: Self = Self {
        op: Op::EMPTY,
        traits: Traits::NONE,
        address: 0,
    };
}

struct Bank {
    region: Region,
    /// Where its contents begin among all bytes: its own, or those of the bank that it shows.
    at: usize,
    /// How many there are, and how many of them instructions can read and write.
    size: u32,
    readable: u32,
    writable: u32,
    /// For each halfword the number of the block of instructions that begins there, plus one.
    blocks: Vec<u32>,
}

/// All memories.
pub struct Memory {
    banks: Vec<Bank>,
    /// First bank of each megabyte; `NO_BANK` where there is none.
    pages: Box<[u8; 4096]>,
    /// The contents of one bank after another, and a word more, so that words can be read anywhere.
    bytes: Vec<u8>,
    /// Of these the halfwords that instructions were decoded from.
    decoded: Vec<bool>,
    /// Some of them can be written.
    writable_code: bool,
    /// Decoded instructions were written over.
    pub code_changed: bool,
    extensions: Extensions,
    /// Regions of this kind cannot be read.
    off: Option<RegionKind>,
    /// What stood there, where stores did it: each byte's place, and the byte.
    overwritten: Vec<(usize, u8)>,
    /// Places of double words of flash whose change was cut short. Banks are readable up to the first.
    torn: BTreeSet<usize>,
}

const NO_BANK: u8 = 0xff;
/// Bytes that share an error correction code.
const DOUBLE_WORD: usize = 8;

impl Memory {
    pub fn new(regions: &[Region], extensions: Extensions) -> Self {
        let mut pages = Box::new([NO_BANK; 4096]);
        let (mut bytes, mut starts) = (Vec::new(), Vec::new());
        for (number, region) in regions.iter().enumerate() {
            let last = region.start + (region.size - 1);
            for page in region.start >> 20..=last >> 20 {
                if pages[page as usize] == NO_BANK {
                    pages[page as usize] = number as u8;
                }
            }
            starts.push(bytes.len());
            if shown(regions, number) == number {
                let fill = if region.kind == RegionKind::Ram {
                    0
                } else {
                    0xff
                };
                bytes.resize(bytes.len() + region.size as usize, fill);
            }
        }
        let banks = regions
            .iter()
            .enumerate()
            .map(|(number, region)| {
                let shown = shown(regions, number);
                let size = region.size.min(regions[shown].size);
                let is_ram = region.kind == RegionKind::Ram;
                Bank {
                    region: *region,
                    at: starts[shown],
                    size,
                    readable: size,
                    writable: if is_ram { size } else { 0 },
                    blocks: Vec::new(),
                }
            })
            .collect();
        let decoded = vec![false; bytes.len() / 2];
        bytes.resize(bytes.len() + 4, 0);
        Self {
            banks,
            pages,
            bytes,
            decoded,
            writable_code: false,
            code_changed: false,
            extensions,
            off: None,
            overwritten: Vec::new(),
            torn: BTreeSet::new(),
        }
    }

    /// Whether the cache's RAM is memory for instructions.
    pub fn set_cache_ram(&mut self, is_memory: bool) {
        for bank in self.banks.iter_mut().filter(|bank| bank.region.cache_ram) {
            bank.readable = if is_memory { bank.size } else { 0 };
            bank.writable = bank.readable;
        }
    }

    /// Whether flash can be read: not while its controller changes some of it.
    pub fn set_flash(&mut self, is_readable: bool) {
        if self.off.is_none() == is_readable {
            return;
        }
        self.off = (!is_readable).then_some(RegionKind::Flash);
        self.set_readable();
    }

    fn set_readable(&mut self) {
        let is_flash = |bank: &&mut Bank| bank.region.kind == RegionKind::Flash;
        for bank in self.banks.iter_mut().filter(is_flash) {
            let end = bank.at + bank.size as usize;
            let first = self.torn.range(bank.at..end).next();
            bank.readable = match first {
                _ if self.off.is_some() => 0,
                Some(at) => (at - bank.at) as u32,
                None => bank.size,
            };
        }
    }

    /// Whether there are double words whose change was cut short.
    pub fn has_torn(&self) -> bool {
        !self.torn.is_empty()
    }

    /// Addresses of double words whose change was cut short, in order.
    pub fn torn(&self) -> Vec<u32> {
        let places = self.torn.iter();
        places.filter_map(|&at| self.address_of(at)).collect()
    }

    /// The first of these bytes that is in such a double word.
    pub fn first_torn(&self, address: u32, bytes: u32) -> Option<u32> {
        let at = self.place(address)?;
        let from = at - at % DOUBLE_WORD;
        let torn = *self.torn.range(from..at + bytes as usize).next()?;
        Some(address + torn.saturating_sub(at) as u32)
    }

    /// Where an instruction reads this many bytes of flash, whether or not they are torn; `None` where
    /// none or not all of them are flash that can be read now.
    pub fn to_read_torn(&self, address: u32, width: Width) -> Option<usize> {
        let (bank, offset) = self.find(address)?;
        let bank = &self.banks[bank];
        let is_there = self.off.is_none() && bank.region.kind == RegionKind::Flash;
        (is_there && offset + width.bytes() as usize <= bank.size as usize)
            .then_some(bank.at + offset)
    }

    /// Whether there is memory that cannot be read now.
    pub fn has_flash_off(&self) -> bool {
        self.off.is_some()
    }

    /// Whether this is flash that cannot be read now.
    pub fn is_flash_off(&self, address: u32) -> bool {
        let kind = || {
            self.find(address)
                .map(|(bank, _)| self.banks[bank].region.kind)
        };
        self.off.is_some() && self.off == kind()
    }

    /// The number of the bank that holds an address, and the offset in it.
    #[inline]
    fn find(&self, address: u32) -> Option<(usize, usize)> {
        let first = self.pages[(address >> 20) as usize];
        if first == NO_BANK {
            return None;
        }
        let number = first as usize;
        let offset = address.wrapping_sub(self.banks[number].region.start);
        if offset < self.banks[number].size {
            return Some((number, offset as usize));
        }
        self.find_slow(address)
    }

    #[cold]
    fn find_slow(&self, address: u32) -> Option<(usize, usize)> {
        self.banks.iter().enumerate().find_map(|(number, bank)| {
            let offset = address.wrapping_sub(bank.region.start);
            (offset < bank.size).then_some((number, offset as usize))
        })
    }

    /// Whether there is memory at an address that cannot be written.
    pub fn is_read_only(&self, address: u32) -> bool {
        self.find(address)
            .is_some_and(|(bank, _)| self.banks[bank].region.kind != RegionKind::Ram)
    }

    /// Where an instruction reads this many bytes; `None` where it cannot, or not in one memory.
    #[inline]
    pub fn to_read(&self, address: u32, width: Width) -> Option<usize> {
        let (bank, offset) = self.find(address)?;
        let bank = &self.banks[bank];
        (offset + width.bytes() as usize <= bank.readable as usize).then_some(bank.at + offset)
    }

    /// Where an instruction writes this many bytes; `None` where it cannot, or not in one memory.
    #[inline]
    pub fn to_write(&self, address: u32, width: Width) -> Option<usize> {
        let (bank, offset) = self.find(address)?;
        let bank = &self.banks[bank];
        (offset + width.bytes() as usize <= bank.writable as usize).then_some(bank.at + offset)
    }

    /// As [`Memory::to_read`], of an aligned address that is in this bank if in any.
    #[inline]
    pub fn to_read_in(&self, bank: u8, address: u32) -> Option<usize> {
        let bank = self.banks.get(bank as usize)?;
        let offset = address.wrapping_sub(bank.region.start);
        (offset < bank.readable).then_some(bank.at + offset as usize)
    }

    /// As [`Memory::to_write`], of an aligned address that is in this bank if in any.
    #[inline]
    pub fn to_write_in(&self, bank: u8, address: u32) -> Option<usize> {
        let bank = self.banks.get(bank as usize)?;
        let offset = address.wrapping_sub(bank.region.start);
        (offset < bank.writable).then_some(bank.at + offset as usize)
    }

    /// The word at a place, of which the low bytes are those of the access.
    #[inline]
    pub fn word(&self, at: usize) -> u32 {
        let mut word = [0; 4];
        word.copy_from_slice(&self.bytes[at..at + 4]);
        u32::from_le_bytes(word)
    }

    #[inline]
    pub fn read(&self, at: usize, width: Width) -> u32 {
        self.word(at) & (u32::MAX >> (32 - 8 * width.bytes()))
    }

    #[inline]
    pub fn write(&mut self, at: usize, value: u32, width: Width) {
        let size = width.bytes() as usize;
        if self.writable_code && self.decoded[at / 2..(at + size).div_ceil(2)].contains(&true) {
            self.overwrite(at, size);
        }
        let bytes = &mut self.bytes[at..at + size];
        match width {
            Width::Byte => bytes[0] = value as u8,
            Width::Half => bytes.copy_from_slice(&(value as u16).to_le_bytes()),
            Width::Word => bytes.copy_from_slice(&value.to_le_bytes()),
        }
    }

    /// A store to decoded instructions is about to be done.
    #[cold]
    fn overwrite(&mut self, at: usize, size: usize) {
        self.code_changed = true;
        let old = self.bytes[at..at + size].iter().copied();
        self.overwritten.extend((at..).zip(old));
    }

    /// What was overwritten since there were no blocks.
    pub fn take_overwritten(&mut self) -> Vec<(usize, u8)> {
        std::mem::take(&mut self.overwritten)
    }

    /// Decode an instruction as it was before these bytes were overwritten, the last first.
    pub fn decode_old(&mut self, address: u32, old: &[(usize, u8)]) -> Option<Entry> {
        let mut new = Vec::new();
        for &(at, byte) in old.iter().rev() {
            new.push((at, std::mem::replace(&mut self.bytes[at], byte)));
        }
        let entry = self.decode(address);
        for (at, byte) in new.into_iter().rev() {
            self.bytes[at] = byte;
        }
        entry
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
        }
        self.decoded.fill(false);
        self.writable_code = false;
        self.code_changed = false;
        self.overwritten.clear();
    }

    /// Take over the blocks of an earlier memory with the same regions; false where it ran code that
    /// is not here.
    pub fn take_blocks(&mut self, earlier: &mut Self) -> bool {
        let lasting = |memory: &Self| {
            let banks = memory.banks.iter();
            banks
                .filter(|bank| bank.region.kind != RegionKind::Ram)
                .map(|bank| bank.at..bank.at + bank.size as usize)
                .collect::<Vec<_>>()
        };
        let same = |range: Range<usize>| self.bytes[range.clone()] == earlier.bytes[range];
        if self.code_changed
            || earlier.code_changed
            || earlier.writable_code
            || !lasting(self).into_iter().all(same)
        {
            return false;
        }
        for (bank, earlier) in self.banks.iter_mut().zip(&mut earlier.banks) {
            bank.blocks = std::mem::take(&mut earlier.blocks);
        }
        std::mem::swap(&mut self.decoded, &mut earlier.decoded);
        earlier.forget_blocks();
        true
    }

    /// Decode the instruction at an even address; `None` where there is no memory.
    pub fn decode(&mut self, address: u32) -> Option<Entry> {
        let first = self.halfword(address)?;
        let second = self.halfword(address + 2);
        if is_wide(first) && second.is_none() {
            return None;
        }
        let second = second.unwrap_or(0);
        let op = decode(first, second, self.extensions);
        let mut traits = Traits::of(&op, first, second);
        if op.kind.is_float() {
            let next = address + 4;
            let next = self.halfword(next).zip(self.halfword(next + 2));
            let feeds = next.is_some_and(|(first, second)| {
                fpu::feeds(&op, &decode(first, second, self.extensions))
            });
            traits.add_cycles(u32::from(feeds));
        }
        for at in (address..).step_by(2).take(usize::from(op.length) / 2) {
            if let Some((number, offset)) = self.find(at) {
                let bank = &self.banks[number];
                self.writable_code |= bank.region.kind == RegionKind::Ram;
                let at = bank.at + offset;
                self.decoded[at / 2] = true;
            }
        }
        Some(Entry {
            op,
            traits,
            address,
        })
    }

    /// What the instruction at an even address is, without a mark that it was decoded.
    pub fn look(&self, address: u32) -> Option<(Op, Traits)> {
        let first = self.halfword(address)?;
        let second = self.halfword(address.wrapping_add(2)).unwrap_or(0);
        let op = decode(first, second, self.extensions);
        Some((op, Traits::of(&op, first, second)))
    }

    pub fn halfword(&self, address: u32) -> Option<u16> {
        self.place(address).map(|at| self.word(at) as u16)
    }

    /// How many places there are.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The address of a place, as the memory that has its contents has it.
    pub fn address_of(&self, at: usize) -> Option<u32> {
        let mut banks = self.banks.iter();
        let bank = banks.find(|bank| {
            bank.region.alias_of.is_none() && (bank.at..bank.at + bank.size as usize).contains(&at)
        })?;
        Some(bank.region.start + (at - bank.at) as u32)
    }

    /// Whether an access takes as long at both addresses and at all between them, whatever was
    /// accessed before.
    pub fn takes_as_long(&self, first: u32, last: u32) -> bool {
        let bank = |address| self.find(address).map(|(bank, _)| bank);
        bank(first).is_some_and(|number| {
            let region = &self.banks[number].region;
            bank(last) == Some(number) && region.line_bytes == 0 && !region.cached
        })
    }

    /// Where the byte at an address is, or the halfword at an even one.
    pub fn place(&self, address: u32) -> Option<usize> {
        let (bank, offset) = self.find(address)?;
        Some(self.banks[bank].at + offset)
    }

    /// Copy bytes in, whatever the kind of memory. `Err` holds the first address that is no memory.
    pub fn load(&mut self, address: u32, data: &[u8]) -> Result<(), u32> {
        for (byte, address) in data.iter().zip(address..) {
            let at = self.place(address).ok_or(address)?;
            self.bytes[at] = *byte;
            self.code_changed |= self.decoded[at / 2];
        }
        if self.has_torn()
            && let Some(at) = self.place(address)
        {
            let end = at + data.len();
            self.torn
                .retain(|torn| torn + DOUBLE_WORD <= at || *torn >= end);
            self.set_readable();
        }
        Ok(())
    }

    /// Copy bytes out. `Err` holds the first address that is no memory.
    pub fn dump(&self, address: u32, length: u32) -> Result<Vec<u8>, u32> {
        (0..length)
            .map(|i| {
                let address = address.wrapping_add(i);
                self.place(address).map(|at| self.bytes[at]).ok_or(address)
            })
            .collect()
    }
}

impl Memories for Memory {
    fn read(&self, address: u32, length: u32) -> Option<Vec<u8>> {
        self.dump(address, length).ok()
    }

    fn write(&mut self, address: u32, data: &[u8]) -> bool {
        let length = data.len() as u32;
        let mut addresses = (0..length).map(|i| address.wrapping_add(i));
        let is_ram = addresses.all(|at| self.to_write(at, Width::Byte).is_some());
        is_ram && self.load(address, data).is_ok()
    }

    fn write_flash(&mut self, address: u32, data: &[u8]) -> bool {
        let length = data.len() as u32;
        let mut addresses = (0..length).map(|i| address.wrapping_add(i));
        let kind = |at| self.find(at).map(|(bank, _)| self.banks[bank].region.kind);
        let is_flash = addresses.all(|at| kind(at) == Some(RegionKind::Flash));
        is_flash && self.load(address, data).is_ok()
    }

    fn tear(&mut self, address: u32) {
        let kind = |at| self.find(at).map(|(bank, _)| self.banks[bank].region.kind);
        if kind(address) == Some(RegionKind::Flash)
            && let Some(at) = self.place(address)
        {
            self.torn.insert(at - at % DOUBLE_WORD);
            self.set_readable();
        }
    }
}

/// The region whose contents a region shows: its own number, or the aliased one's.
fn shown(regions: &[Region], number: usize) -> usize {
    regions[number].alias_of.map_or(number, |start| {
        regions
            .iter()
            .position(|other| other.start == start && other.alias_of.is_none())
            .unwrap_or(number)
    })
}
