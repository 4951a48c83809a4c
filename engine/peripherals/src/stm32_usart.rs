//! The USART of the STM32F1 (RM0041, chapter USART) in asynchronous mode.

use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::serial_line::SerialLine;

const RE: u32 = 1 << 2;
const TE: u32 = 1 << 3;
const RXNE: u32 = 1 << 5;
const TC: u32 = 1 << 6;
const TXE: u32 = 1 << 7;
const ORE: u32 = 1 << 3;
const UE: u32 = 1 << 13;

/// A USART.
#[derive(Clone, Debug)]
pub struct Stm32Usart {
    line: SerialLine,
    brr: u32,
    cr: [u32; 3],
    complete: bool,
    /// ORE; and whether SR was read while it was set, so that a read of DR clears it.
    overrun: bool,
    overrun_seen: bool,
    /// Core cycles per cycle of its bus.
    pub divider: u32,
}

impl Default for Stm32Usart {
    fn default() -> Self {
        Self {
            line: SerialLine::new(1, 1),
            brr: 0,
            cr: [0; 3],
            complete: true,
            overrun: false,
            overrun_seen: false,
            divider: 1,
        }
    }
}

impl Stm32Usart {
    /// Queue bytes that arrive at the chip.
    pub fn put(&mut self, bytes: &[u8]) {
        self.line.put(bytes);
    }

    /// Whether a byte is being sent.
    pub fn is_sending(&self) -> bool {
        self.line.is_sending()
    }

    /// BRR holds the bus cycles of a bit: a divisor in 1/16, times 16 samples.
    fn character(&self) -> Cycles {
        Cycles(10 * u64::from(self.brr.max(1)) * u64::from(self.divider))
    }

    /// Bring the line up to `now`; call `sent` for each byte sent.
    pub fn advance(&mut self, now: Cycles, sent: impl FnMut(u8, Cycles)) {
        let on = self.cr[0] & (UE | RE) == UE | RE && self.brr != 0;
        let (character, was_sending) = (self.character(), self.line.is_sending());
        self.line.advance(now, character, on, sent);
        if was_sending && !self.line.is_sending() {
            self.complete = true;
        }
        if self.line.overrun {
            self.line.overrun = false;
            self.overrun = true;
        }
    }

    /// When [`Stm32Usart::advance`] has work to do.
    pub fn next_event(&self) -> Cycles {
        self.line.next_event()
    }

    fn status(&self) -> u32 {
        (if self.line.waiting() > 0 { RXNE } else { 0 })
            | if self.complete { TC } else { 0 }
            | if self.line.is_transmit_full() { 0 } else { TXE }
            | if self.overrun { ORE } else { 0 }
    }

    /// Whether its interrupt line is asserted; CR1's enables are at the positions of SR's flags.
    pub fn is_pending(&self) -> bool {
        let enabled = self.cr[0] & (RXNE | TC | TXE);
        let overrun = self.overrun && enabled & RXNE != 0;
        overrun || self.status() & enabled != 0
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&mut self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x00 => {
                self.overrun_seen = self.overrun;
                self.status()
            }
            0x04 => {
                if std::mem::take(&mut self.overrun_seen) {
                    self.overrun = false;
                }
                u32::from(self.line.take().unwrap_or(0))
            }
            0x08 => self.brr,
            0x0c | 0x10 | 0x14 => self.cr[(offset as usize - 0x0c) / 4],
            0x18 => 0,
            _ => return None,
        })
    }

    /// Write the register at an offset; false if there is none.
    ///
    /// # Errors
    /// The value uses a feature that the emulation leaves out, or a byte is lost.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        let absent = |what: &str| {
            Fault::new(
                FaultKind::Absent,
                format!("the emulation leaves out USART {what}"),
            )
        };
        match offset {
            // Writing 0 clears TC and RXNE; RXNE would discard a byte.
            0x00 => {
                if value & TC == 0 {
                    self.complete = false;
                }
            }
            0x04 => {
                if self.cr[0] & (UE | TE) != UE | TE || self.brr == 0 {
                    return Err(Fault::new(
                        FaultKind::Peripheral,
                        "a byte is written to a USART whose transmitter is off or has no baud rate",
                    ));
                }
                self.complete = false;
                let character = self.character();
                if !self.line.send(value as u8, now, character) {
                    return Err(Fault::new(
                        FaultKind::Peripheral,
                        "a byte is written to a USART whose data register is full; it is lost",
                    ));
                }
            }
            0x08 => self.brr = value & 0xffff,
            0x0c if value & 0x9703 != 0 => {
                return Err(absent(
                    "modes of CR1 other than 8 data bits, no parity, 16 samples a bit",
                ));
            }
            0x10 if value & 0x7e6f != 0 => return Err(absent("modes of CR2")),
            0x14 if value & 0x0fff != 0 => return Err(absent("modes of CR3")),
            0x0c | 0x10 | 0x14 => self.cr[(offset as usize - 0x0c) / 4] = value,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
