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

#[derive(Debug)]
pub(super) struct Operation {
    pub(super) work: Work,
    pub(super) began: Picoseconds,
    /// [`Picoseconds::NEVER`] while the operation waits for the frame's last byte.
    pub(super) ends: Picoseconds,
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
        self.operation = Some(Operation {
            work: if is_transmitter {
                Work::Secure(inline)
            } else {
                Work::Unsecure(inline)
            },
            began: now,
            ends: Picoseconds::NEVER,
        });
        self.poll_operation(now);
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
                inline.unsecure(&mut frame);
                self.fifo.replace_first(&mut self.memory, &frame);
            }
            // Its frame was flushed.
            (_, None) => {}
        }
    }
}
