//! USART and LPUART of the STM32L4 (RM0432, chapters USART and LPUART) in asynchronous mode, without
//! FIFO: separate registers to receive, send, see and clear flags, unlike the STM32F1's.

use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::serial_line::SerialLine;

/// CR1.
const UE: u32 = 1;
const RE: u32 = 1 << 2;
const TE: u32 = 1 << 3;
const RXNEIE: u32 = 1 << 5;
/// Enables in CR1 are at the positions of these flags in ISR.
const RXNE: u32 = 1 << 5;
const TC: u32 = 1 << 6;
const TXE: u32 = 1 << 7;
const ENABLES: u32 = RXNE | TC | TXE;
/// ISR: overrun; whether transmitter and receiver are on.
const ORE: u32 = 1 << 3;
const TEACK: u32 = 1 << 21;
const REACK: u32 = 1 << 22;
/// RQR: receive data flush.
const RXFRQ: u32 = 1 << 3;

/// A USART, or the LPUART.
#[derive(Clone, Debug)]
pub struct Stm32Uart {
    line: SerialLine,
    /// Units of BRR in a cycle of its clock: 256 in the LPUART.
    per_cycle: u64,
    brr: u32,
    cr: [u32; 3],
    complete: bool,
    overrun: bool,
    /// Core cycles per cycle of its bus.
    pub divider: u32,
}

impl Stm32Uart {
    const fn with(per_cycle: u64) -> Self {
        Self {
            line: SerialLine::new(1, 1),
            per_cycle,
            brr: 0,
            cr: [0; 3],
            complete: true,
            overrun: false,
            divider: 1,
        }
    }

    /// Make a USART: BRR holds a bit's cycles.
    pub const fn usart() -> Self {
        Self::with(1)
    }

    /// Make the LPUART: BRR holds a bit's cycles times 256.
    pub const fn low_power() -> Self {
        Self::with(256)
    }

    /// Queue bytes that arrive at the chip.
    pub fn put(&mut self, bytes: &[u8]) {
        self.line.put(bytes);
    }

    fn character(&self) -> Cycles {
        let bus_cycles = 10 * u64::from(self.brr.max(1)) / self.per_cycle;
        Cycles((bus_cycles * u64::from(self.divider)).max(1))
    }

    /// Bring the line up to `now`; call `sent` for each byte sent.
    pub fn advance(&mut self, now: Cycles, sent: impl FnMut(u8, Cycles)) {
        let on = self.cr[0] & (UE | RE) == UE | RE && self.brr != 0;
        let (character, was_sending) = (self.character(), self.line.is_sending());
        self.line.advance(now, character, on, sent);
        if was_sending && !self.line.is_sending() {
            self.complete = true;
        }
        self.overrun |= std::mem::take(&mut self.line.overrun);
    }

    /// When [`Stm32Uart::advance`] has work to do.
    pub fn next_event(&self) -> Cycles {
        self.line.next_event()
    }

    fn status(&self) -> u32 {
        let runs = |enable, shown| {
            if self.cr[0] & (UE | enable) == UE | enable {
                shown
            } else {
                0
            }
        };
        (if self.line.waiting() > 0 { RXNE } else { 0 })
            | if self.complete { TC } else { 0 }
            | if self.line.is_transmit_full() { 0 } else { TXE }
            | if self.overrun { ORE } else { 0 }
            | runs(TE, TEACK)
            | runs(RE, REACK)
    }

    /// Whether its interrupt line is asserted.
    pub fn is_pending(&self) -> bool {
        let overrun = self.overrun && self.cr[0] & RXNEIE != 0;
        overrun || self.status() & self.cr[0] & ENABLES != 0
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&mut self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x00 | 0x04 | 0x08 => self.cr[offset as usize / 4],
            0x0c => self.brr,
            0x1c => self.status(),
            0x24 => u32::from(self.line.take().unwrap_or(0)),
            0x10 | 0x14 | 0x18 | 0x20 | 0x28 | 0x2c => 0,
            _ => return None,
        })
    }

    /// Write the register at an offset; false if there is none.
    ///
    /// # Errors
    /// The value uses a feature that the emulation leaves out, or a byte is lost.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        let absent = |what: &str| {
            Err(Fault::new(
                FaultKind::Absent,
                format!("the emulation leaves out {what} of USARTs"),
            ))
        };
        let lost = |what: &str| Err(Fault::new(FaultKind::Peripheral, what));
        match offset {
            // UESM, which lets it wake the core from Stop modes, has no effect where there are none.
            0x00 if value & !(UE | 2 | RE | TE | ENABLES) != 0 => {
                return absent(
                    "modes other than 8 data bits, no parity, 16 samples a bit, no FIFO (CR1)",
                );
            }
            0x04 if value != 0 => return absent("modes of CR2"),
            0x08 if value != 0 => return absent("modes of CR3"),
            0x10 | 0x14 if value != 0 => return absent("smart cards, IrDA and time-outs"),
            0x2c if value != 0 => return absent("the prescaler"),
            0x00 | 0x04 | 0x08 => self.cr[offset as usize / 4] = value,
            0x0c => self.brr = value & 0xf_ffff,
            0x18 if value & RXFRQ != 0 => {
                self.line.take();
            }
            0x20 => {
                self.complete &= value & TC == 0;
                self.overrun &= value & ORE == 0;
            }
            0x28 => {
                if self.cr[0] & (UE | TE) != UE | TE || self.brr == 0 {
                    return lost(
                        "a byte is written to a USART whose transmitter is off or has no baud rate",
                    );
                }
                self.complete = false;
                let character = self.character();
                if !self.line.send(value as u8, now, character) {
                    return lost(
                        "a byte is written to a USART whose data register is full; it is lost",
                    );
                }
            }
            // ISR and RDR are read-only.
            0x10 | 0x14 | 0x18 | 0x1c | 0x24 | 0x2c => {}
            _ => return Ok(false),
        }
        Ok(true)
    }
}
