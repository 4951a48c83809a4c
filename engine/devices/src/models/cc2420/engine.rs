//! When the security engine runs, and on what data.

use joulemark_kernel::Picoseconds;

use super::registers::{self, ram};
use super::security::{self, Inline};
use super::{Cc2420, fifo};

/// What the security engine is doing.
#[derive(Debug)]
pub(super) enum Work {
    Block([u8; 16]),
    Secure(Inline),
    Unsecure(Inline),
}

/// How far the RXFIFO's first frame has undergone an operation while it arrives: bytes that have
/// may be read (section 21.4).
#[derive(Debug)]
pub(super) struct Stream {
    /// Bytes, counting the length byte.
    pub(super) done: usize,
    /// Blocks of the text whose key stream is there, and when the next one's is.
    blocks: usize,
    pub(super) next: Picoseconds,
    /// Whether what precedes the text has been dealt with.
    is_open: bool,
}

#[derive(Debug)]
pub(super) struct Operation {
    pub(super) work: Work,
    pub(super) began: Picoseconds,
    /// [`Picoseconds::NEVER`] while the operation waits for the frame's last byte.
    pub(super) ends: Picoseconds,
    pub(super) stream: Stream,
}

impl Operation {
    pub(super) const fn new(work: Work, began: Picoseconds, ends: Picoseconds) -> Self {
        let stream = Stream {
            done: 0,
            blocks: 0,
            next: Picoseconds::NEVER,
            is_open: false,
        };
        Self {
            work,
            began,
            ends,
            stream,
        }
    }

    /// Whether it decrypts or authenticates a frame of the RXFIFO.
    pub(super) const fn receives(&self) -> bool {
        matches!(self.work, Work::Unsecure(_))
    }
}

impl Cc2420 {
    /// Start an operation in the TXFIFO or the RXFIFO, unless one is in progress.
    pub(super) fn start_operation(&mut self, now: Picoseconds, is_transmitter: bool) {
        let control = [
            self.register(registers::SECCTRL0),
            self.register(registers::SECCTRL1),
        ];
        let inline = Inline::new(&self.memory, control, is_transmitter);
        let Some(inline) = inline.filter(|_| self.operation.is_none()) else {
            return;
        };
        let work = if is_transmitter {
            Work::Secure(inline)
        } else {
            Work::Unsecure(inline)
        };
        self.operation = Some(Operation::new(work, now, Picoseconds::NEVER));
        self.poll_operation(now);
        self.poll_stream(now);
    }

    /// Let the bytes that have arrived undergo the operation on the first frame of the RXFIFO. The
    /// key stream of a block is made once its first byte is there. The code is checked at the
    /// operation's end.
    pub(super) fn poll_stream(&mut self, now: Picoseconds) {
        let (memory, fifo, block) = (&mut self.memory, &self.fifo, self.block);
        let Some(operation) = &mut self.operation else {
            return;
        };
        let (Work::Unsecure(inline), Some(length)) = (&operation.work, fifo.length(memory)) else {
            return;
        };
        let ([begin, end], stream) = (inline.text(length), &mut operation.stream);
        let start = Picoseconds(operation.began.0 + inline.first_blocks(length) * block.0);
        if now < start {
            // The header is authenticated first.
            stream.next = start;
            return;
        }
        if stream.next <= now {
            stream.blocks += usize::from(stream.is_open);
            stream.next = Picoseconds::NEVER;
        }
        stream.is_open = true;
        let [arrived, _] = fifo.places();
        let decrypts = inline.mode != security::Mode::CbcMac;
        let ready = if decrypts {
            begin + 16 * stream.blocks
        } else {
            end
        };
        let limit = arrived.min(ready).min(end);
        for place in stream.done.max(begin)..limit {
            fifo.mask(memory, place, inline.pad(place - begin));
        }
        stream.done = stream.done.max(limit);
        if stream.next == Picoseconds::NEVER && arrived > ready && ready < end {
            stream.next = now + block;
        }
    }

    /// The frame that an operation needs, if it is complete.
    pub(super) fn operand(&self, work: &Work) -> Option<Vec<u8>> {
        match work {
            Work::Block(_) => None,
            Work::Secure(inline) => {
                let length = usize::from(self.memory[ram::TXFIFO] & 0x7f);
                let there = self.tx_bytes.min(fifo::BYTES);
                (there > 0 && there >= inline.bytes(length, true))
                    .then(|| self.memory[ram::TXFIFO..=length].to_vec())
            }
            Work::Unsecure(_) => self.fifo.first(&self.memory, |length| length + 1),
        }
    }

    /// Schedule a waiting operation's end if its last byte has arrived.
    pub(super) fn poll_operation(&mut self, now: Picoseconds) {
        let Some(operation) = &self.operation else {
            return;
        };
        let (Work::Secure(inline) | Work::Unsecure(inline)) = &operation.work else {
            return;
        };
        if operation.ends != Picoseconds::NEVER {
            return;
        }
        let Some(frame) = self.operand(&operation.work) else {
            return;
        };
        let (inline, began) = (*inline, operation.began);
        let after = |start: Picoseconds, blocks| Picoseconds(start.0 + blocks * self.block.0);
        let length = frame.len() - 1;
        let ends = after(began, inline.blocks(length));
        let late = after(
            now,
            if now > began {
                inline.last_blocks(length)
            } else {
                0
            },
        );
        if let Some(operation) = &mut self.operation {
            operation.ends = ends.max(late);
        }
    }

    pub(super) fn finish_operation(&mut self, now: Picoseconds) {
        let Some(operation) = self.operation.take() else {
            return;
        };
        let operand = self.operand(&operation.work);
        match (operation.work, operand) {
            (Work::Block(key), _) => {
                // Drivers that run on silicon (Contiki-NG, OpenWSN) write this buffer first byte
                // first, and keys reversed; the data sheet says that all are reversed.
                let buffer = &mut self.memory[ram::SABUF..ram::SABUF + 16];
                let mut block = [0; 16];
                block.copy_from_slice(buffer);
                buffer.copy_from_slice(&security::encrypt(&key, &block));
            }
            (Work::Secure(inline), Some(mut frame)) => {
                inline.secure(&mut frame);
                let length = frame.len() - 1;
                self.memory[ram::TXFIFO..=length].copy_from_slice(&frame);
                self.tx_bytes = self.tx_bytes.max(inline.bytes(length, false));
                self.refresh(now);
            }
            (Work::Unsecure(inline), Some(mut frame)) => {
                // As it arrived.
                let begin = inline.text(frame.len() - 1)[0];
                let done = operation.stream.done.max(begin);
                for (place, byte) in frame[begin..done].iter_mut().enumerate() {
                    *byte ^= inline.pad(place);
                }
                inline.unsecure(&mut frame);
                self.fifo.replace_first(&mut self.memory, &frame);
            }
            // Its frame was flushed.
            (_, None) => {}
        }
    }
}
