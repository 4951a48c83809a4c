//! The receive FIFO's counters (SWRS041B, sections 14.2, 14.3 and 17.2). Its bytes are in RAM.

use std::collections::VecDeque;

use super::registers::ram;

/// The FIFO's size in bytes.
pub const BYTES: usize = 128;

/// A FIFO of frames that begin with their length byte. Positions only increase; RAM holds 128 bytes
/// at a time.
#[derive(Debug)]
pub struct RxFifo {
    /// The length byte of the first frame that is not completely read.
    frame: usize,
    /// The next byte to read.
    read: usize,
    /// Start of the incoming frame while its address is not yet recognised: its bytes do not count.
    accepted: usize,
    /// The position of the next byte written.
    write: usize,
    /// Ends of the complete frames.
    ends: VecDeque<usize>,
    /// The first frame's header is kept until the frame is decrypted.
    is_held: bool,
    /// A frame is complete, and nothing was read since.
    is_fresh: bool,
}

type Memory = [u8; ram::BYTES];

/// The RAM address of a position.
fn at(place: usize) -> usize {
    ram::RXFIFO + place % BYTES
}

impl RxFifo {
    /// Make an empty FIFO.
    pub const fn new() -> Self {
        Self {
            frame: 0,
            read: 0,
            accepted: usize::MAX,
            write: 0,
            ends: VecDeque::new(),
            is_held: false,
            is_fresh: false,
        }
    }

    /// Number of unread bytes.
    pub fn unread(&self) -> usize {
        self.write - self.read
    }

    /// Whether more than `threshold` counting bytes are unread, or a frame is complete.
    pub fn is_ready(&self, threshold: usize) -> bool {
        self.is_fresh || self.accepted.min(self.write).saturating_sub(self.read) > threshold
    }

    /// Number of bytes that still fit.
    pub fn room(&self) -> usize {
        let first = if self.is_held { self.frame } else { self.read };
        BYTES - (self.write - first)
    }

    /// Bytes still missing until more than `threshold` are unread; 0 if there are enough.
    pub fn missing(&self, threshold: usize) -> usize {
        (threshold + 1).saturating_sub(self.unread())
    }

    /// Start an incoming frame.
    pub fn begin(&mut self, is_accepted: bool) {
        self.accepted = if is_accepted { usize::MAX } else { self.write };
    }

    /// Count the incoming frame's bytes: its address is recognised.
    pub fn accept(&mut self) {
        self.accepted = usize::MAX;
    }

    /// Drop the incoming frame's unread bytes.
    pub fn reject(&mut self) {
        self.write = self.accepted.max(self.read);
        self.accepted = usize::MAX;
    }

    /// Add a byte, for which there must be room.
    pub fn push(&mut self, memory: &mut Memory, byte: u8) {
        memory[at(self.write)] = byte;
        self.write += 1;
    }

    /// Complete the incoming frame.
    pub fn finish(&mut self) {
        self.accepted = usize::MAX;
        self.ends.push_back(self.write);
        self.is_fresh = true;
    }

    /// Read a byte; from an empty FIFO, read the RAM at its position.
    pub fn pop(&mut self, memory: &Memory, is_protected: bool) -> u8 {
        let byte = memory[at(self.read)];
        if self.unread() == 0 {
            return byte;
        }
        self.read += 1;
        self.is_fresh = false;
        let length = usize::from(memory[at(self.frame)] & 0x7f);
        if self.read - self.frame == 2 && is_protected && byte & 8 != 0 {
            // Security enabled (IEEE 802.15.4, frame control field).
            self.is_held = true;
        }
        if self.read > self.frame + length {
            self.frame = self.read;
            self.is_held = false;
            while self.ends.front().is_some_and(|&end| end <= self.read) {
                self.ends.pop_front();
            }
            self.is_fresh = !self.ends.is_empty();
        }
        byte
    }

    /// Return the first frame with its length byte, if enough of it has arrived; `bytes` computes
    /// how much from its length.
    pub fn first(&self, memory: &Memory, bytes: impl FnOnce(usize) -> usize) -> Option<Vec<u8>> {
        let there = self.write - self.frame;
        let length = usize::from(memory[at(self.frame)] & 0x7f);
        if there == 0 || there < bytes(length) {
            return None;
        }
        Some(
            (0..=length)
                .map(|place| memory[at(self.frame + place)])
                .collect(),
        )
    }

    /// Number of bytes of the first frame that have arrived, read or not, and of those that were
    /// read.
    pub fn places(&self) -> [usize; 2] {
        [self.write - self.frame, self.read - self.frame]
    }

    /// The length of the first frame, if its length byte has arrived.
    pub fn length(&self, memory: &Memory) -> Option<usize> {
        (self.write > self.frame).then(|| usize::from(memory[at(self.frame)] & 0x7f))
    }

    /// Change a byte of the first frame, counting its length byte.
    pub fn mask(&self, memory: &mut Memory, place: usize, pad: u8) {
        memory[at(self.frame + place)] ^= pad;
    }

    /// Replace the first frame's bytes, as far as they have arrived.
    pub fn replace_first(&mut self, memory: &mut Memory, frame: &[u8]) {
        self.is_held = false;
        for (place, &byte) in (self.frame..self.write).zip(frame) {
            memory[at(place)] = byte;
        }
    }
}
