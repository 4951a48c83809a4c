//! A chip's memories, and the decoded instructions in them.

use crate::bus::Width;
use crate::decode::{FENCE_I, Kind, Op, decode};

/// What a memory can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionKind {
    /// It is read, written and executed, without wait states.
    Ram,
    /// It is read and executed, without wait states.
    Rom,
    /// It is read, and neither written nor executed.
    Data,
}

/// A memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First address.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// What it can do.
    pub kind: RegionKind,
}

/// Bytes of FENCE.I, of which a jump before it knows.
const FENCE_BYTES: usize = 4;
/// How far before a changed byte what is decoded may begin: a long instruction, and FENCE.I behind it.
const BEHIND: usize = 3 + FENCE_BYTES;
/// Bytes among which one note says whether any has been decoded.
const PAGE: u32 = 64;

pub(crate) struct Memory {
    start: u32,
    kind: RegionKind,
    bytes: Vec<u8>,
    /// Decoded instructions, by halfword; none until one has been decoded.
    ops: Vec<Op>,
    /// Whether a page has any.
    has_code: Vec<bool>,
    /// Offsets of instructions that are decoded each time.
    stops: Vec<usize>,
    /// A decoded instruction was overwritten since this was last taken.
    has_changed: bool,
}

impl Memory {
    pub fn new(region: Region) -> Self {
        Self {
            start: region.start,
            kind: region.kind,
            bytes: vec![0; region.size as usize],
            ops: Vec::new(),
            has_code: vec![false; (region.size / PAGE + 2) as usize],
            stops: Vec::new(),
            has_changed: false,
        }
    }

    pub fn start(&self) -> u32 {
        self.start
    }

    pub fn executes(&self) -> bool {
        self.kind != RegionKind::Data
    }

    pub fn is_ram(&self) -> bool {
        self.kind == RegionKind::Ram
    }

    /// The offset of an access that is all inside.
    #[inline]
    pub fn offset(&self, address: u32, bytes: u32) -> Option<usize> {
        let offset = address.wrapping_sub(self.start) as usize;
        (offset + bytes as usize <= self.bytes.len()).then_some(offset)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[inline]
    pub fn read(&self, at: usize, width: Width) -> u32 {
        match width {
            Width::Byte => self.bytes[at].into(),
            Width::Half => u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]).into(),
            Width::Word => self.word(at),
        }
    }

    #[inline]
    fn word(&self, at: usize) -> u32 {
        self.bytes[at..]
            .first_chunk()
            .map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    #[inline]
    pub fn write(&mut self, at: usize, value: u32, width: Width) {
        let bytes = value.to_le_bytes();
        match width {
            Width::Byte => self.bytes[at] = bytes[0],
            Width::Half => self.bytes[at..at + 2].copy_from_slice(&bytes[..2]),
            Width::Word => self.bytes[at..at + 4].copy_from_slice(&bytes),
        }
        if !self.ops.is_empty() {
            self.forget(at, width.bytes() as usize);
        }
    }

    pub fn load(&mut self, at: usize, data: &[u8]) {
        self.bytes[at..at + data.len()].copy_from_slice(data);
        for offset in (0..data.len()).step_by(4) {
            self.forget(at + offset, (data.len() - offset).min(4));
        }
    }

    /// Forget decoded instructions of which bytes change, up to four, or those behind them.
    #[inline]
    fn forget(&mut self, at: usize, count: usize) {
        let first = at.saturating_sub(BEHIND);
        if self.has_code[first / PAGE as usize] || self.has_code[(at + count) / PAGE as usize] {
            for op in first / 2..=(at + count - 1) / 2 {
                let Some(decoded) = self.ops.get_mut(op) else {
                    break;
                };
                let behind = if decoded.kind.jumps() { FENCE_BYTES } else { 0 };
                let end = 2 * (op + usize::from(decoded.size)) + behind;
                if decoded.kind != Kind::Undecoded && end > at {
                    decoded.kind = Kind::Undecoded;
                    self.has_changed = true;
                }
            }
        }
    }

    /// Whether a decoded instruction was overwritten.
    #[inline]
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// The same since this was last asked.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// The decoded instruction at an address; none of that kind if there is none.
    #[inline]
    pub fn decoded(&self, address: u32) -> Op {
        self.decoded_at(address.wrapping_sub(self.start))
    }

    /// The same at an offset.
    #[inline]
    pub fn decoded_at(&self, offset: u32) -> Op {
        let op = self.ops.get(offset as usize / 2);
        op.copied().unwrap_or_default()
    }

    /// The instruction at an even offset; `None` if it does not end inside.
    #[inline]
    pub fn op(&mut self, at: usize) -> Option<Op> {
        match self.ops.get(at / 2) {
            Some(op) if op.kind != Kind::Undecoded => Some(*op),
            _ => self.decode(at),
        }
    }

    #[cold]
    fn decode(&mut self, at: usize) -> Option<Op> {
        let low = self.read(at, Width::Half);
        let word = match self.bytes.get(at + 2..at + 4) {
            Some(&[low_byte, high_byte]) => {
                low | u32::from(low_byte) << 16 | u32::from(high_byte) << 24
            }
            _ if low & 3 == 3 => return None,
            _ => low,
        };
        let mut op = decode(word);
        let behind = at + 2 * usize::from(op.size);
        let is_fence = self.bytes.get(behind..behind + FENCE_BYTES) == Some(&FENCE_I.to_le_bytes());
        op.before_fence = op.kind.jumps() && is_fence;
        if !self.stops.contains(&at) {
            if self.ops.is_empty() {
                self.ops = vec![Op::default(); self.bytes.len() / 2];
            }
            self.ops[at / 2] = op;
            self.has_code[at / PAGE as usize] = true;
        }
        Some(op)
    }

    /// Whether the instruction at an offset is decoded each time.
    pub fn stops_at(&self, at: usize) -> bool {
        self.stops.contains(&at)
    }

    /// Decode the instruction at an offset each time, or once again: then it is none of those that run
    /// plainly.
    pub fn stop_at(&mut self, at: usize, on: bool) {
        self.stops.retain(|&stop| stop != at);
        if on {
            self.stops.push(at);
        }
        if let Some(op) = self.ops.get_mut(at / 2) {
            op.kind = Kind::Undecoded;
        }
    }
}
