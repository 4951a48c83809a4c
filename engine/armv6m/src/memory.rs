//! A chip's memories, and the decoded instructions in them.

use joulemark_armv7m::Width;

use crate::decode::{Kind, Op, decode, is_wide};

/// What a memory can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionKind {
    /// It is read, written and executed.
    Ram,
    /// It is read and executed.
    Rom,
}

/// A memory that answers without wait states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First address.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// What it can do.
    pub kind: RegionKind,
}

/// Bytes among which one note says whether any has been decoded.
const PAGE: usize = 64;

pub struct Memory {
    pub start: u32,
    kind: RegionKind,
    bytes: Vec<u8>,
    /// Decoded instructions, by halfword; none until one has been executed.
    pub ops: Vec<Op>,
    /// Whether a page has any.
    has_code: Vec<bool>,
    /// The number of the block that begins at a halfword, plus one.
    pub blocks: Vec<u32>,
    /// A decoded instruction was forgotten since this was last taken.
    has_changed: bool,
}

impl Memory {
    pub fn new(region: Region) -> Self {
        let size = region.size as usize;
        Self {
            start: region.start,
            kind: region.kind,
            bytes: vec![0; size],
            ops: Vec::new(),
            has_code: vec![false; size / PAGE + 2],
            blocks: Vec::new(),
            has_changed: false,
        }
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
            Width::Word => self.bytes[at..]
                .first_chunk()
                .map_or(0, |bytes| u32::from_le_bytes(*bytes)),
        }
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

    /// Forget decoded instructions of which bytes change, up to four.
    #[inline]
    pub fn forget(&mut self, at: usize, count: usize) {
        let first = at.saturating_sub(2);
        if self.has_code[first / PAGE] || self.has_code[(at + count) / PAGE] {
            for op in first / 2..=(at + count - 1) / 2 {
                let Some(decoded) = self.ops.get_mut(op) else {
                    break;
                };
                let end = 2 * op + usize::from(decoded.size);
                if decoded.kind != Kind::Undecoded && end > at {
                    decoded.kind = Kind::Undecoded;
                    self.has_changed = true;
                }
            }
        }
    }

    /// Whether a decoded instruction was forgotten.
    #[inline]
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// The same since this was last asked.
    #[inline]
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// The instruction at an even offset; `None` if it does not end inside.
    pub fn decode(&mut self, at: usize) -> Option<Op> {
        let half = |at: usize| {
            let bytes = self.bytes.get(at..at + 2)?;
            Some(u16::from_le_bytes([bytes[0], bytes[1]]))
        };
        let first = half(at)?;
        let second = if is_wide(first) { half(at + 2)? } else { 0 };
        Some(decode(first, second, self.start.wrapping_add(at as u32)))
    }

    /// Make room for decoded instructions.
    pub fn prepare(&mut self) {
        if self.ops.is_empty() {
            self.ops = vec![Op::default(); self.bytes.len() / 2];
            self.blocks = vec![0; self.bytes.len() / 2];
        }
    }

    /// Keep the decoded instruction at an even offset.
    pub fn keep(&mut self, at: usize, op: Op) {
        self.ops[at / 2] = op;
        self.has_code[at / PAGE] = true;
    }
}
