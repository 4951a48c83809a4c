//! The `PrimeCell` UART (ARM DDI 0183, PL011) in TI's chips (SWCU117 and SWRU319, chapters UART).

use joulemark_kernel::{Cycles, Fault, FaultKind, Hertz};

use crate::serial_line::SerialLine;

const FEN: u32 = 1 << 4;
const UARTEN: u32 = 1;
/// The transmit interrupt occurs when all bits have been sent (SWRU319, `UART_CTL`).
const EOT: u32 = 1 << 4;
const HSE: u32 = 1 << 5;
const TXE: u32 = 1 << 8;
const RXE: u32 = 1 << 9;
const RX: u32 = 1 << 4;
const TX: u32 = 1 << 5;
const RT: u32 = 1 << 6;
const OE: u32 = 1 << 10;

/// A PL011 UART.
#[derive(Clone, Debug)]
pub struct Pl011 {
    line: SerialLine,
    fifo: usize,
    /// The core's clock, and the baud-rate generator's input.
    clocks: [Hertz; 2],
    ibrd: u32,
    fbrd: u32,
    lcrh: u32,
    ctl: u32,
    ifls: u32,
    imsc: u32,
    ris: u32,
    overrun: bool,
    /// Which of its requests to DMA are on; nothing takes them.
    dmacr: u32,
}

impl Pl011 {
    /// The state after reset, with FIFOs of this depth.
    pub const fn new(fifo: usize) -> Self {
        Self {
            line: SerialLine::new(1, 1),
            fifo,
            clocks: [Hertz(1); 2],
            ibrd: 0,
            fbrd: 0,
            lcrh: 0,
            ctl: TXE | RXE,
            ifls: 0x12,
            imsc: 0,
            ris: 0,
            overrun: false,
            dmacr: 0,
        }
    }

    /// Queue bytes that arrive at the chip.
    pub fn put(&mut self, bytes: &[u8]) {
        self.line.put(bytes);
    }

    /// From now on, the divisor divides the `baud` clock, not the core's.
    pub const fn set_clocks(&mut self, core: Hertz, baud: Hertz) {
        self.clocks = [core, baud];
    }

    /// Core cycles of a start bit, eight data bits and a stop bit: the divisor counts in 1/64, and
    /// a bit takes 16 divided clocks (8 with HSE set).
    fn character(&self) -> Cycles {
        let divisor = u64::from(self.ibrd) * 64 + u64::from(self.fbrd);
        let samples = if self.ctl & HSE != 0 { 8 } else { 16 };
        let [core, baud] = self.clocks.map(|clock| u64::from(clock.0));
        Cycles((10 * samples * divisor * core).div_ceil(64 * baud).max(1))
    }

    fn receiver_on(&self) -> bool {
        self.ctl & (UARTEN | RXE) == UARTEN | RXE && self.ibrd != 0 && self.is_known_format()
    }

    /// Bring the line up to `now`; call `sent` for each byte sent.
    pub fn advance(&mut self, now: Cycles, sent: impl FnMut(u8, Cycles)) {
        let (on, character) = (self.receiver_on(), self.character());
        let (queued, was_sending) = (self.line.queued(), self.line.is_sending());
        self.line.advance(now, character, on, sent);
        let is_low = if self.ctl & EOT != 0 {
            was_sending && !self.line.is_sending()
        } else {
            queued > self.transmit_level() && self.line.queued() <= self.transmit_level()
        };
        if is_low {
            self.ris |= TX;
        }
        if self.line.waiting() >= self.receive_level() {
            self.ris |= RX;
        }
        if self.line.overrun {
            self.line.overrun = false;
            self.overrun = true;
            self.ris |= OE;
        }
        if now >= self.timeout() {
            self.ris |= RT;
        }
    }

    /// When a received byte has waited for 32 bit times without another one.
    fn timeout(&self) -> Cycles {
        if self.line.waiting() == 0 || self.lcrh & FEN == 0 || self.ris & RT != 0 {
            return Cycles::NEVER;
        }
        self.line.last_arrival() + Cycles(self.character().0 * 32 / 10)
    }

    /// When [`Pl011::advance`] has work to do.
    pub fn next_event(&self) -> Cycles {
        self.line.next_event().min(self.timeout())
    }

    /// Whether its interrupt line is asserted.
    pub const fn is_pending(&self) -> bool {
        self.ris & self.imsc != 0
    }

    /// FIFO fill level selected by a field of IFLS: 1/8, 1/4, 1/2, 3/4, 7/8.
    fn level(&self, select: u32) -> usize {
        if self.lcrh & FEN == 0 {
            return 1;
        }
        self.fifo * [1, 2, 4, 6, 7, 7, 7, 7][(select & 7) as usize] / 8
    }

    fn receive_level(&self) -> usize {
        self.level(self.ifls >> 3)
    }

    fn transmit_level(&self) -> usize {
        if self.lcrh & FEN == 0 {
            0
        } else {
            self.level(self.ifls)
        }
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&mut self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x00 => {
                let byte = u32::from(self.line.take().unwrap_or(0));
                if self.line.waiting() < self.receive_level() {
                    self.ris &= !RX;
                }
                if self.line.waiting() == 0 {
                    self.ris &= !RT;
                }
                byte | u32::from(self.overrun) << 11
            }
            0x04 => u32::from(self.overrun) << 3,
            0x18 => {
                u32::from(self.line.is_sending()) << 3
                    | u32::from(self.line.waiting() == 0) << 4
                    | u32::from(self.line.is_transmit_full()) << 5
                    | u32::from(self.line.is_receive_full()) << 6
                    | u32::from(self.line.queued() == 0) << 7
            }
            0x24 => self.ibrd,
            0x28 => self.fbrd,
            0x2c => self.lcrh,
            0x30 => self.ctl,
            0x34 => self.ifls,
            0x38 => self.imsc,
            0x3c => self.ris,
            0x40 => self.ris & self.imsc,
            0x48 => self.dmacr,
            _ => return None,
        })
    }

    /// Whether the format is 8 data bits, without break, parity or a second stop bit.
    const fn is_known_format(&self) -> bool {
        self.lcrh & 0x8f == 0 && self.lcrh & 0x60 == 0x60
    }

    /// Check the format at the first character: drivers enable the UART before they set it.
    fn check_format(&self) -> Result<(), Fault> {
        if self.is_known_format() {
            return Ok(());
        }
        Err(Fault::new(
            FaultKind::Absent,
            "the emulation leaves out UART characters other than 8 data bits, no parity, 1 stop bit",
        ))
    }

    /// Write the register at an offset; false if there is none.
    ///
    /// # Errors
    /// The value uses a feature that the emulation leaves out, or a byte is lost.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        match offset {
            0x00 => {
                if self.ctl & (UARTEN | TXE) != UARTEN | TXE || self.ibrd == 0 {
                    return Err(Fault::new(
                        FaultKind::Peripheral,
                        "a byte is written to a UART whose transmitter is off or has no baud rate",
                    ));
                }
                self.check_format()?;
                let character = self.character();
                if !self.line.send(value as u8, now, character) {
                    return Err(Fault::new(
                        FaultKind::Peripheral,
                        "a byte is written to a UART whose transmit FIFO is full; it is lost",
                    ));
                }
                // A single byte passes from the holding register to the line at once.
                let is_held = self.line.queued() != 0;
                if self.lcrh & FEN == 0 && self.ctl & EOT == 0 {
                    self.ris = if is_held {
                        self.ris & !TX
                    } else {
                        self.ris | TX
                    };
                }
            }
            0x04 => self.overrun = false,
            // The flags are read-only; OpenWSN clears them before it enables the UART.
            0x18 => {}
            0x24 => self.ibrd = value & 0xffff,
            0x28 => self.fbrd = value & 0x3f,
            0x2c => {
                self.lcrh = value;
                let depth = if value & FEN != 0 { self.fifo } else { 1 };
                self.line.set_depths(depth, depth);
            }
            0x30 => self.ctl = value & 0xffff,
            0x34 => self.ifls = value & 0x3f,
            0x38 => self.imsc = value & 0x7ff,
            0x44 => self.ris &= !value,
            0x48 => self.dmacr = value & 7,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
