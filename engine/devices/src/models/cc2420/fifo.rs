//! The receive FIFO's counters (SWRS041B, sections 14.2, 14.3 and 17.2). Its bytes are in the RAM.

use std::collections::VecDeque;

use super::registers::ram;

/// Its bytes.
pub const BYTES: usize = 128;

/// A FIFO of frames, each with its length byte first. Places count up for ever; 128 of them are in
/// the RAM at a time.
#[derive(Debug)]
pub struct RxFifo {
    /// The length byte of the first frame of which not all is read.
    frame: usize,
    /// The next byte to be read.
    read: usize,
    /// Where the incoming frame begins, of which nothing counts before its address is recognised.
    accepted: usize,
    /// Where the next byte comes.
    write: usize,
    /// Ends of the frames that are in whole.
    ends: VecDeque<usize>,
    /// The first frame's header stays until it is decrypted.
    is_held: bool,
    /// A frame has come in whole, and nothing was read since.
    is_fresh: bool,
}

type Memory = [u8; ram::BYTES];

/// Where a byte is in the RAM.
fn at(place: usize) -> usize {
    ram::RXFIFO + place % BYTES
}

impl RxFifo {
    /// An empty one.
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

    /// Bytes that nobody has read.
    pub fn unread(&self) -> usize {
        self.write - self.read
    }

    /// Whether more than so many bytes that count are unread, or a frame came in whole.
    pub fn is_ready(&self, threshold: usize) -> bool {
        self.is_fresh || self.accepted.min(self.write).saturating_sub(self.read) > threshold
    }

    /// Bytes that fit in.
    pub fn room(&self) -> usize {
        let first = if self.is_held { self.frame } else { self.read };
        BYTES - (self.write - first)
    }

    /// Bytes of the incoming frame until more than so many count as unread: 0 where they do.
    pub fn missing(&self, threshold: usize) -> usize {
        (threshold + 1).saturating_sub(self.unread())
    }

    /// A frame begins to come in.
    pub fn begin(&mut self, is_accepted: bool) {
        self.accepted = if is_accepted { usize::MAX } else { self.write };
    }

    /// The address is recognised.
    pub fn accept(&mut self) {
        self.accepted = usize::MAX;
    }

    /// The incoming frame goes, but for what was read of it.
    pub fn reject(&mut self) {
        self.write = self.accepted.max(self.read);
        self.accepted = usize::MAX;
    }

    /// Put a byte in; there is room.
    pub fn push(&mut self, memory: &mut Memory, byte: u8) {
        memory[at(self.write)] = byte;
        self.write += 1;
    }

    /// The frame that came in is in whole.
    pub fn finish(&mut self) {
        self.accepted = usize::MAX;
        self.ends.push_back(self.write);
        self.is_fresh = true;
    }

    /// Read a byte; of an empty FIFO, what its RAM has there.
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

    /// The first frame with its length byte, if the first so many bytes of it are there; how many is
    /// worked out from its length.
    pub fn first(&self, memory: &Memory, bytes: impl FnOnce(usize) -> usize) -> Option<Vec<u8>> {
        let there = self.write - self.frame;
        let length = usize::from(memory[at(self.frame)] & 0x7f);
        if there == 0 || there < bytes(length) {
            return None;
        }
        Some((0..=length).map(|place| memory[at(self.frame + place)]).collect())
    }

    /// The first frame's bytes are these now, as far as they are there.
    pub fn replace_first(&mut self, memory: &mut Memory, frame: &[u8]) {
        self.is_held = false;
        for (place, &byte) in (self.frame..self.write).zip(frame) {
            memory[at(place)] = byte;
        }
    }
}
