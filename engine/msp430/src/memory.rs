//! Flash and RAM: 64 KiB of bytes and, for every address, the accesses allowed without checks.
#![allow(
    clippy::inline_always,
    reason = "constant arguments have to reach each specialised instruction"
)]

/// One region of plain memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// First address.
    pub start: u16,
    /// Bytes.
    pub size: u32,
    /// The kind of memory.
    pub kind: RegionKind,
}

/// The kind of memory in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionKind {
    /// Read and write.
    Ram,
    /// Readable once programmed; writes go to the flash controller.
    Flash,
    /// Handed to the bus.
    Peripheral,
}

/// Accesses allowed at an address without further checks, and facts about it.
///
/// One byte per address, so that a single lookup answers "mapped, aligned, programmed, plain".
pub(crate) mod attribute {
    /// A byte may be read directly.
    pub const READ_BYTE: u8 = 1 << 0;
    /// A word may be read directly (never set at odd addresses).
    pub const READ_WORD: u8 = 1 << 1;
    /// A byte may be written directly.
    pub const WRITE_BYTE: u8 = 1 << 2;
    /// A word may be written directly (never set at odd addresses).
    pub const WRITE_WORD: u8 = 1 << 3;
    /// Written RAM or programmed flash.
    pub const DEFINED: u8 = 1 << 4;
    /// Part of a decoded instruction: a write must undo the decoding.
    pub const DECODED: u8 = 1 << 5;
    /// Known not to be code.
    pub const DATA: u8 = 1 << 6;
}

use bytemuck::Zeroable;

use crate::registers::Registers;
use crate::slots::{REACH, Rest, SLOTS, Slot, index};
use attribute::{DATA, DECODED, DEFINED, READ_BYTE, READ_WORD, WRITE_BYTE, WRITE_WORD};

/// The kind of memory at an address; 0 is none.
const RAM_KIND: u8 = 1;
const FLASH_KIND: u8 = 2;
const PERIPHERAL_KIND: u8 = 3;
/// Flash other than program flash: programs look there for stored data and may find it erased.
const DATA_FLASH_KIND: u8 = 4;

/// Registers, memory and decoded code in one structure: the fast loop reaches all of it through one
/// pointer, which leaves more host registers free.
#[derive(Zeroable)]
pub(crate) struct State {
    pub registers: Registers,
    pub bytes: [u8; 0x10000],
    pub attributes: [u8; 0x10000],
    pub slots: [Slot; SLOTS],
    pub rests: [Rest; SLOTS],
    /// Cycles of each decoded instruction.
    pub costs: [u8; SLOTS],
    pub breakpoints: [u8; SLOTS],
    kinds: [u8; 0x10000],
}

impl State {
    pub fn new(regions: &[Region]) -> Box<Self> {
        let mut memory: Box<Self> = bytemuck::zeroed_box();
        memory.slots.fill(Slot::UNDECODED);
        for region in regions {
            let (kind, byte) = match region.kind {
                RegionKind::Ram => (RAM_KIND, 0),
                RegionKind::Flash if u32::from(region.start) + region.size == 0x10000 => {
                    (FLASH_KIND, 0xff)
                }
                RegionKind::Flash => (DATA_FLASH_KIND, 0xff),
                RegionKind::Peripheral => (PERIPHERAL_KIND, 0),
            };
            let start = usize::from(region.start);
            let end = start.saturating_add(region.size as usize).min(0x10000);
            memory.kinds[start..end].fill(kind);
            memory.bytes[start..end].fill(byte);
        }
        for address in 0..=u16::MAX {
            memory.refresh(address);
        }
        memory
    }

    /// Recompute which direct accesses an address allows.
    fn refresh(&mut self, address: u16) {
        let facts = self.attributes[usize::from(address)] & (DEFINED | DECODED | DATA);
        let even = address & 1 == 0;
        let partner = self.attributes[usize::from(address ^ 1)];
        let pair = even && self.kinds[usize::from(address)] == self.kinds[usize::from(address ^ 1)];
        let direct = match self.kinds[usize::from(address)] {
            RAM_KIND => {
                let read = READ_BYTE | if pair { READ_WORD } else { 0 };
                // First writes, and writes to decoded code, take the slow way.
                let settled = |facts: u8| facts & DEFINED != 0 && facts & DECODED == 0;
                let mut write = 0;
                if settled(facts) {
                    write |= WRITE_BYTE;
                    if pair && settled(partner) {
                        write |= WRITE_WORD;
                    }
                }
                read | write
            }
            DATA_FLASH_KIND => READ_BYTE | if pair { READ_WORD } else { 0 },
            FLASH_KIND if facts & DEFINED != 0 => {
                READ_BYTE
                    | if pair && partner & DEFINED != 0 {
                        READ_WORD
                    } else {
                        0
                    }
            }
            _ => 0,
        };
        self.attributes[usize::from(address)] = facts | direct;
    }

    fn change(&mut self, address: u16, set: u8, clear: u8) {
        let facts = &mut self.attributes[usize::from(address)];
        *facts = *facts & !clear | set;
        self.refresh(address);
        self.refresh(address ^ 1);
    }

    pub fn is_ram(&self, address: u16) -> bool {
        self.kinds[usize::from(address)] == RAM_KIND
    }

    pub fn is_flash(&self, address: u16) -> bool {
        matches!(
            self.kinds[usize::from(address)],
            FLASH_KIND | DATA_FLASH_KIND
        )
    }

    pub fn is_peripheral(&self, address: u16) -> bool {
        self.kinds[usize::from(address)] == PERIPHERAL_KIND
    }

    pub fn has(&self, address: u16, fact: u8) -> bool {
        self.attributes[usize::from(address)] & fact != 0
    }

    pub fn mark_decoded(&mut self, address: u16, decoded: bool) {
        let (set, clear) = if decoded { (DECODED, 0) } else { (0, DECODED) };
        self.change(address, set, clear);
    }

    pub fn mark_data(&mut self, address: u16) {
        self.change(address, DATA, 0);
    }

    /// Store a byte and mark it as defined.
    pub fn define(&mut self, address: u16, value: u8) {
        self.bytes[usize::from(address)] = value;
        if !self.has(address, DEFINED) {
            self.change(address, DEFINED, 0);
        }
    }

    /// Erase a byte of flash.
    pub fn undefine(&mut self, address: u16) {
        self.bytes[usize::from(address)] = 0xff;
        self.change(address, 0, DEFINED);
    }

    /// Whether memory may be read, or written as well, without further checks: what is directly
    /// writable is RAM, and so directly readable.
    #[inline(always)]
    pub fn may(&self, address: u16, byte: bool, write: bool) -> bool {
        let needed = match (byte, write) {
            (true, false) => READ_BYTE,
            (false, false) => READ_WORD,
            (true, true) => WRITE_BYTE,
            (false, true) => WRITE_WORD,
        };
        self.attributes[usize::from(address)] & needed != 0
    }

    /// A byte or a word.
    #[inline(always)]
    pub fn load(&self, address: u16, byte: bool) -> u16 {
        if byte {
            u16::from(self.bytes[usize::from(address)])
        } else {
            self.word(address)
        }
    }

    pub fn word(&self, address: u16) -> u16 {
        let low = usize::from(address & 0xfffe);
        u16::from_le_bytes([self.bytes[low], self.bytes[low + 1]])
    }

    pub fn is_breakpoint(&self, address: u16) -> bool {
        self.breakpoints[index(address)] != 0
    }

    pub fn set_breakpoint(&mut self, address: u16, on: bool) {
        self.breakpoints[index(address)] = u8::from(on);
    }

    /// Undo the decoding of every run that may contain this byte.
    pub fn forget(&mut self, address: u16) {
        let last = index(address);
        for back in 0..SLOTS {
            let slot = last.wrapping_sub(back) % SLOTS;
            // A run from further back may end here, and its start counts all of it.
            if back > REACH && self.slots[slot].ends_run() {
                break;
            }
            self.slots[slot] = Slot::UNDECODED;
            self.rests[slot] = Rest::default();
        }
        // No decoded instruction contains this word any more.
        self.mark_decoded(address & !1, false);
        self.mark_decoded(address | 1, false);
    }

    pub fn forget_all(&mut self) {
        self.slots.fill(Slot::UNDECODED);
        self.rests.fill(Rest::default());
    }
}
