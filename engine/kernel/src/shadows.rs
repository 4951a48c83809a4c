//! What is secret in a core's memories, and in its devices' registers.

use std::collections::HashMap;

use crate::secrets::{Origins, Piece, Word};

/// The widest span of addresses of a store that is marked as a whole, in bytes: a table of secrets.
const WIDEST_SPAN: u32 = 4096;

/// What is secret in a memory.
struct Shadow {
    start: u32,
    /// A mask for each byte, and where it comes from; the latter counts only where the mask is not
    /// zero.
    bytes: Vec<u8>,
    origins: Vec<Origins>,
    /// How control passed each halfword.
    passed: Vec<u8>,
}

impl Shadow {
    #[inline]
    fn place(&self, address: u32, bytes: u32) -> Option<usize> {
        let at = address.wrapping_sub(self.start) as usize;
        (at + bytes as usize <= self.bytes.len()).then_some(at)
    }
}

/// What is secret in memories, and in registers of devices, which hold what is written to them.
pub struct Shadows {
    memories: Vec<Shadow>,
    devices: HashMap<u32, (u32, Origins)>,
}

impl Shadows {
    /// Nothing is secret in memories with these first addresses and sizes.
    pub fn new(memories: impl IntoIterator<Item = (u32, usize)>) -> Self {
        let memories = memories.into_iter().map(|(start, size)| Shadow {
            start,
            bytes: vec![0; size],
            origins: vec![0; size],
            passed: vec![0; size / 2 + 1],
        });
        Self {
            memories: memories.collect(),
            devices: HashMap::new(),
        }
    }

    /// Keep how control passed instructions.
    pub fn keep(&mut self, earlier: Self) {
        for (shadow, before) in self.memories.iter_mut().zip(earlier.memories) {
            shadow.passed = before.passed;
        }
    }

    /// These bytes are secret from here on, or public where they come from nothing.
    ///
    /// # Errors
    /// The first address that is no memory.
    pub fn mark(&mut self, piece: &Piece) -> Result<(), u32> {
        let mask = if piece.origin == 0 { 0 } else { 0xff };
        for address in (piece.address..).take(piece.length as usize) {
            self.set_byte(address, mask, piece.origin)?;
        }
        Ok(())
    }

    /// The secret bits of a byte of memory; 0 elsewhere.
    pub fn byte(&self, address: u32) -> u8 {
        let mut memories = self.memories.iter();
        let found = memories.find_map(|shadow| Some(shadow.bytes[shadow.place(address, 1)?]));
        found.unwrap_or(0)
    }

    /// Set the secret bits of a byte of memory.
    ///
    /// # Errors
    /// The address, if it is no memory.
    pub fn set_byte(&mut self, address: u32, mask: u8, from: Origins) -> Result<(), u32> {
        for shadow in &mut self.memories {
            if let Some(at) = shadow.place(address, 1) {
                (shadow.bytes[at], shadow.origins[at]) = (mask, from);
                return Ok(());
            }
        }
        Err(address)
    }

    /// Control passes an instruction of so many bytes: bits of [`crate::secrets::passed`]. Returns
    /// where the instruction itself comes from, where it is secret.
    #[inline]
    pub fn pass(&mut self, pc: u32, size: u8, how: u8) -> Origins {
        for shadow in &mut self.memories {
            if let Some(at) = shadow.place(pc, 2) {
                shadow.passed[at / 2] |= how;
                let end = shadow.bytes.len().min(at + usize::from(size));
                let masks = &shadow.bytes[at..end];
                if masks.iter().all(|&mask| mask == 0) {
                    return 0;
                }
                let origins = masks.iter().zip(&shadow.origins[at..end]);
                let from = origins.filter(|&(&mask, _)| mask != 0);
                return from.fold(0, |all, (_, origins)| all | origins);
            }
        }
        0
    }

    /// Instructions that control passed, and how.
    pub fn passed(&self) -> impl Iterator<Item = (u32, u8)> {
        self.memories.iter().flat_map(|shadow| {
            let passed = (shadow.start..).step_by(2).zip(&shadow.passed);
            let passed = passed.filter(|&(_, &how)| how != 0);
            passed.map(|(address, &how)| (address, how))
        })
    }

    /// Whether addresses from one to another are in one memory.
    pub fn is_one_memory(&self, first: u32, last: u32) -> bool {
        let mut memories = self.memories.iter();
        memories.any(|shadow| shadow.place(first, 1).is_some() && shadow.place(last, 1).is_some())
    }

    /// Which bits of what is read are secret, of up to four bytes.
    #[inline]
    pub fn load(&self, address: u32, bytes: u32) -> (u32, Origins) {
        let size = bytes as usize;
        for shadow in &self.memories {
            let Some(at) = shadow.place(address, bytes) else {
                continue;
            };
            let masks = &shadow.bytes[at..at + size];
            let secret = masks.iter().rev();
            let secret = secret.fold(0, |word, &mask| word << 8 | u32::from(mask));
            if secret == 0 {
                return (0, 0);
            }
            let origins = masks.iter().zip(&shadow.origins[at..at + size]);
            let from = origins.filter(|&(&mask, _)| mask != 0);
            return (secret, from.fold(0, |all, (_, origins)| all | origins));
        }
        let register = self.devices.get(&(address & !3));
        let (secret, from) = register.copied().unwrap_or_default();
        (secret >> (8 * (address & 3)) & lanes(bytes), from)
    }

    /// Bits of what is written are secret; returns whether a device's register gets some.
    #[inline]
    pub fn store(&mut self, address: u32, secret: u32, from: Origins, bytes: u32) -> bool {
        let size = bytes as usize;
        for shadow in &mut self.memories {
            if let Some(at) = shadow.place(address, bytes) {
                shadow.bytes[at..at + size].copy_from_slice(&secret.to_le_bytes()[..size]);
                if secret != 0 {
                    shadow.origins[at..at + size].fill(from);
                }
                return false;
            }
        }
        self.store_to_device(address, secret, from, lanes(bytes))
    }

    #[cold]
    fn store_to_device(&mut self, address: u32, secret: u32, from: Origins, lanes: u32) -> bool {
        let up = 8 * (address & 3);
        let register = self.devices.entry(address & !3).or_default();
        register.0 = register.0 & !(lanes << up) | (secret & lanes) << up;
        register.1 = if register.0 == 0 {
            0
        } else {
            register.1 | from
        };
        secret & lanes != 0
    }

    /// What a store to a secret address may go to is secret as a whole: another run has stored
    /// elsewhere. Returns whether that is too much to mark.
    #[cold]
    pub fn store_somewhere(&mut self, address: Word, from: Origins, bytes: u32) -> bool {
        let (first, last) = (address.least(), address.most());
        if last - first >= WIDEST_SPAN {
            return true;
        }
        for address in first..=last.saturating_add(bytes - 1) {
            for shadow in &mut self.memories {
                let Some(at) = shadow.place(address, 1) else {
                    continue;
                };
                let before = if shadow.bytes[at] == 0 {
                    0
                } else {
                    shadow.origins[at]
                };
                (shadow.bytes[at], shadow.origins[at]) = (0xff, before | from);
                break;
            }
        }
        false
    }
}

/// The bits of so many bytes.
const fn lanes(bytes: u32) -> u32 {
    u32::MAX >> (32 - 8 * bytes)
}
