//! The UART of nRF52 chips without DMA (nRF52840 product specification, chapter UART). Register offsets and fields were
//! compared with Nordic's `nrf52840.svd`.

use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::serial_line::SerialLine;

/// Bytes that the receiver keeps, the one in RXD included.
const RECEIVED: usize = 6;
/// Core cycles of a cycle of the 16 MHz that bits are divided from.
const CORE_CYCLES: u64 = 4;
const UART_ENABLED: u32 = 4;

/// Events in the order of their registers, from 0x100 on: bits of INTEN.
const RXDRDY: u32 = 1 << 2;
const TXDRDY: u32 = 1 << 7;
const ERROR: u32 = 1 << 9;
const OVERRUN: u32 = 1;

/// A UART.
#[derive(Clone, Debug)]
pub struct NrfUart {
    line: SerialLine,
    receives: bool,
    transmits: bool,
    /// RXD holds a byte that an event told of.
    is_told: bool,
    events: u32,
    inten: u32,
    error: u32,
    enable: u32,
    /// PSEL: RTS, TXD, CTS, RXD.
    pins: [u32; 4],
    baud_rate: u32,
}

impl Default for NrfUart {
    fn default() -> Self {
        Self {
            line: SerialLine::new(1, RECEIVED),
            receives: false,
            transmits: false,
            is_told: false,
            events: 0,
            inten: 0,
            error: 0,
            enable: 0,
            pins: [u32::MAX; 4],
            baud_rate: 0x0400_0000,
        }
    }
}

impl NrfUart {
    /// Queue bytes on the line into the chip.
    pub fn put(&mut self, bytes: &[u8]) {
        self.line.put(bytes);
    }

    /// BAUDRATE holds bits in a cycle of 16 MHz, times 2^32; a bit takes whole cycles.
    fn character(&self) -> Cycles {
        let bit = (1 << 32) / u64::from(self.baud_rate.max(1));
        Cycles(10 * CORE_CYCLES * bit.max(1))
    }

    /// Bring the line up to `now`; `sent` is told of each byte that has gone out.
    pub fn advance(&mut self, now: Cycles, mut sent: impl FnMut(u8, Cycles)) {
        let on = self.receives && self.enable == UART_ENABLED;
        let mut events = 0;
        self.line.advance(now, self.character(), on, |byte, at| {
            events |= TXDRDY;
            sent(byte, at);
        });
        self.events |= events;
        if self.line.overrun {
            self.line.overrun = false;
            self.error |= OVERRUN;
            self.events |= ERROR;
        }
        self.tell();
    }

    /// A byte comes to RXD: once for each.
    fn tell(&mut self) {
        if !self.is_told && self.line.waiting() > 0 {
            self.is_told = true;
            self.events |= RXDRDY;
        }
    }

    /// When [`NrfUart::advance`] has something to do.
    pub fn next_event(&self) -> Cycles {
        self.line.next_event()
    }

    /// Whether its interrupt line is asserted.
    pub const fn is_pending(&self) -> bool {
        self.events & self.inten != 0
    }

    /// Read the register at an offset; `None` where there is none.
    pub fn read(&mut self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x000 | 0x004 | 0x008 | 0x00c | 0x56c => 0,
            0x108 | 0x11c | 0x124 => self.events >> ((offset - 0x100) / 4) & 1,
            0x304 | 0x308 => self.inten,
            0x480 => self.error,
            0x500 => self.enable,
            0x508..=0x514 => self.pins[(offset as usize - 0x508) / 4],
            0x518 => {
                let byte = self.line.take().unwrap_or(0);
                self.is_told = false;
                self.tell();
                u32::from(byte)
            }
            0x524 => self.baud_rate,
            _ => return None,
        })
    }

    /// Write the register at an offset; false where there is none.
    ///
    /// # Errors
    /// Something that the emulation leaves out, or a byte that is lost.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        match offset {
            0x000 => self.receives |= value & 1 != 0,
            0x004 => self.receives &= value & 1 == 0,
            0x008 => self.transmits |= value & 1 != 0,
            0x00c => self.transmits &= value & 1 == 0,
            0x108 | 0x11c | 0x124 => {
                let bit = 1 << ((offset - 0x100) / 4);
                self.events = self.events & !bit | if value & 1 != 0 { bit } else { 0 };
            }
            0x304 => self.inten |= value & (RXDRDY | TXDRDY | ERROR),
            0x308 => self.inten &= !value,
            0x480 => self.error &= !value,
            0x500 if matches!(value, 0 | UART_ENABLED) => self.enable = value,
            0x500 => {
                return Err(Fault::new(
                    FaultKind::Absent,
                    "the emulation leaves out the UART with DMA (UARTE)",
                ));
            }
            0x508..=0x514 => self.pins[(offset as usize - 0x508) / 4] = value,
            0x51c => {
                if !self.transmits || self.enable != UART_ENABLED {
                    return Err(Fault::new(
                        FaultKind::Peripheral,
                        "a byte is written to a UART that is off or whose transmitter was not started",
                    ));
                }
                let character = self.character();
                if !self.line.send(value as u8, now, character) {
                    return Err(Fault::new(
                        FaultKind::Peripheral,
                        "a byte is written to a UART that is still sending; it is lost",
                    ));
                }
            }
            0x524 => self.baud_rate = value,
            0x56c if value == 0 => {}
            0x56c => {
                return Err(Fault::new(
                    FaultKind::Absent,
                    "the emulation leaves out parity, flow control and two stop bits of the UART",
                ));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
