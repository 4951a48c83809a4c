//! USART0 and USART1: UART mode (chapter 13) and SPI master (chapter 14).

use std::collections::VecDeque;

use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::basic_clock::{BasicClock, Source};
use crate::sfr::{self, Sfr};

/// `UxCTL`.
const PENA: u8 = 0x80;
const SPB: u8 = 0x20;
const CHAR: u8 = 0x10;
const LISTEN: u8 = 0x08;
const SYNC: u8 = 0x04;
const MM: u8 = 0x02;
const SWRST: u8 = 0x01;
/// U0CTL in SPI mode: selects I2C mode, which only USART0 has.
const I2C: u8 = 0x20;

/// `UxTCTL`.
const URXSE: u8 = 0x08;
const TXEPT: u8 = 0x01;

/// `UxRCTL`.
const FE: u8 = 0x80;
const PE: u8 = 0x40;
const OE: u8 = 0x20;
const BRK: u8 = 0x10;
const URXEIE: u8 = 0x08;
const URXWIE: u8 = 0x04;
const RXERR: u8 = 0x01;

/// A character in transfer; times are ticks of the baud-rate source.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    byte: u8,
    ends: u64,
}

/// One USART.
pub struct Usart {
    index: usize,
    ctl: u8,
    tctl: u8,
    rctl: u8,
    mctl: u8,
    br: u16,
    rxbuf: u8,
    txbuf: u8,
    /// The transmit buffer holds a character that the shift register has not yet taken.
    waiting: bool,
    transmit: Option<Transfer>,
    receive: Option<Transfer>,
    /// A start edge that URXSE reports before the character arrives.
    start_edge: bool,
    line_in: VecDeque<u8>,
}

impl Usart {
    /// The state after a power-up clear.
    pub fn new(index: usize) -> Self {
        Self {
            index,
            ctl: SWRST,
            tctl: TXEPT,
            rctl: 0,
            mctl: 0,
            br: 0,
            rxbuf: 0,
            txbuf: 0,
            waiting: false,
            transmit: None,
            receive: None,
            start_edge: false,
            line_in: VecDeque::new(),
        }
    }

    /// Reset by a power-up clear; bytes that are on their way to the chip stay.
    pub fn power_up_clear(&mut self) {
        *self = Self {
            line_in: std::mem::take(&mut self.line_in),
            ..Self::new(self.index)
        };
    }

    fn receive_bit(&self) -> u8 {
        [sfr::URX0, sfr::URX1][self.index]
    }

    fn transmit_bit(&self) -> u8 {
        [sfr::UTX0, sfr::UTX1][self.index]
    }

    fn is_spi(&self) -> bool {
        self.ctl & SYNC != 0
    }

    fn can_receive(&self, sfr: &Sfr) -> bool {
        self.ctl & SWRST == 0 && sfr.me[self.index] & self.receive_bit() != 0
    }

    /// In SPI mode one enable bit (USPIE, in URXE's place) serves both directions.
    fn can_transmit(&self, sfr: &Sfr) -> bool {
        let bit = if self.is_spi() {
            self.receive_bit()
        } else {
            self.transmit_bit()
        };
        self.ctl & SWRST == 0 && sfr.me[self.index] & bit != 0
    }

    fn source(&self) -> Option<Source> {
        match self.tctl >> 4 & 3 {
            0 => None,
            1 => Some(Source::Aclk),
            _ => Some(Source::Smclk),
        }
    }

    /// Source ticks per character: each bit takes `UxBR` ticks, plus one if its bit in the
    /// modulation register is set (section 13.2.6).
    fn ticks_per_character(&self) -> u64 {
        let data = if self.ctl & CHAR != 0 { 8 } else { 7 };
        if self.is_spi() {
            return data * u64::from(self.br.max(2));
        }
        let parity = u64::from(self.ctl & PENA != 0);
        let stop = if self.ctl & SPB != 0 { 2 } else { 1 };
        let bits = 1 + data + parity + stop;
        let extra: u64 = (0..bits)
            .map(|bit| u64::from(self.mctl >> (bit % 8) & 1))
            .sum();
        // "Unpredictable receive and transmit operation occurs if UxBR < 3" (section 13.3): here it
        // transmits as with 3.
        bits * u64::from(self.br.max(3)) + extra
    }

    fn ticks(&self, clock: &BasicClock, now: Cycles) -> u64 {
        self.source()
            .map_or(0, |source| clock.rate(source).ticks(now))
    }

    /// Read a register by index: `UxCTL`, `UxTCTL`, `UxRCTL`, `UxMCTL`, `UxBR0`, `UxBR1`,
    /// `UxRXBUF`, `UxTXBUF`.
    pub fn read(&mut self, place: u16, sfr: &mut Sfr) -> u8 {
        if place == 6 {
            // Reading clears the flags of the character (section 13.3, UxRCTL).
            sfr.ifg[self.index] &= !self.receive_bit();
            self.rctl &= URXEIE | URXWIE;
        }
        self.look(place)
    }

    /// A register by index, without the effect of reading it.
    pub fn look(&self, place: u16) -> u8 {
        match place {
            0 => self.ctl,
            1 => self.tctl,
            2 => self.rctl,
            3 => self.mctl,
            4 => self.br as u8,
            5 => (self.br >> 8) as u8,
            6 => self.rxbuf,
            _ => self.txbuf,
        }
    }

    /// Write a register by index.
    ///
    /// # Errors
    /// The value uses a feature that the emulation leaves out.
    pub fn write(
        &mut self,
        place: u16,
        value: u8,
        sfr: &mut Sfr,
        clock: &BasicClock,
        now: Cycles,
    ) -> Result<(), Fault> {
        match place {
            0 => return self.set_uxctl(value, sfr),
            1 => {
                self.tctl = value & !TXEPT | self.tctl & TXEPT;
                if value & URXSE == 0 {
                    self.start_edge = false;
                }
            }
            2 => self.rctl = value,
            3 => self.mctl = value,
            4 => self.br = self.br & 0xff00 | u16::from(value),
            5 => self.br = self.br & 0x00ff | u16::from(value) << 8,
            6 => {}
            _ => return self.set_uxtxbuf(value, sfr, clock, now),
        }
        Ok(())
    }

    fn name(&self) -> String {
        format!("USART{}", self.index)
    }

    fn set_uxctl(&mut self, value: u8, sfr: &mut Sfr) -> Result<(), Fault> {
        let absent = |what: &str| {
            let message = format!("{}: {what}, which the emulation leaves out", self.name());
            Err(Fault::new(FaultKind::Absent, message))
        };
        if value & SYNC != 0 && value & I2C != 0 {
            return absent("I2C mode");
        }
        if value & (SYNC | MM | SWRST) == SYNC {
            return absent("SPI slave mode");
        }
        if value & (SYNC | MM | SWRST) == MM {
            return absent("address-bit multiprocessor mode");
        }
        self.ctl = value;
        if value & SWRST != 0 {
            // Effects of a software reset (section 13.2.1).
            sfr.ie[self.index] &= !(self.receive_bit() | self.transmit_bit());
            sfr.ifg[self.index] &= !self.receive_bit();
            sfr.ifg[self.index] |= self.transmit_bit();
            self.rctl &= !(FE | PE | OE | BRK | RXERR);
            self.tctl |= TXEPT;
            self.waiting = false;
            self.transmit = None;
            self.receive = None;
            self.start_edge = false;
        }
        Ok(())
    }

    fn set_uxtxbuf(
        &mut self,
        value: u8,
        sfr: &mut Sfr,
        clock: &BasicClock,
        now: Cycles,
    ) -> Result<(), Fault> {
        self.txbuf = value;
        if !self.can_transmit(sfr) {
            return Ok(());
        }
        if self.source().is_none() {
            return Err(Fault::new(
                FaultKind::Absent,
                format!(
                    "{} is clocked from its pin, which the emulation leaves out; set SSEL in U{}TCTL",
                    self.name(),
                    self.index
                ),
            ));
        }
        sfr.ifg[self.index] &= !self.transmit_bit();
        self.waiting = true;
        let start = self.ticks(clock, now);
        self.start_transmit(start, sfr);
        Ok(())
    }

    /// Move the waiting character to the shift register if that is free.
    fn start_transmit(&mut self, start: u64, sfr: &mut Sfr) {
        if self.waiting && self.transmit.is_none() {
            self.waiting = false;
            self.tctl &= !TXEPT;
            sfr.ifg[self.index] |= self.transmit_bit();
            self.transmit = Some(Transfer {
                byte: self.txbuf,
                ends: start + self.ticks_per_character(),
            });
        }
    }

    fn received(&mut self, byte: u8, sfr: &mut Sfr) {
        if sfr.ifg[self.index] & self.receive_bit() != 0 {
            self.rctl |= OE | RXERR;
        }
        self.rxbuf = if self.ctl & CHAR != 0 {
            byte
        } else {
            byte & 0x7f
        };
        self.start_edge = false;
        sfr.ifg[self.index] |= self.receive_bit();
    }

    /// Put bytes on the line to the chip. They wait until the receiver is on, then arrive one after
    /// the other at the line's speed.
    pub fn put(&mut self, bytes: &[u8]) {
        self.line_in.extend(bytes);
    }

    /// Start to receive the next byte waiting on the line.
    fn start_receive(&mut self, start: u64, sfr: &Sfr) {
        if self.receive.is_none()
            && !self.is_spi()
            && self.br >= 3
            && self.source().is_some()
            && self.can_receive(sfr)
            && let Some(byte) = self.line_in.pop_front()
        {
            self.receive = Some(Transfer {
                byte,
                ends: start + self.ticks_per_character(),
            });
            self.start_edge = self.tctl & URXSE != 0;
        }
    }

    fn end(&self, clock: &BasicClock, transfer: Transfer) -> Cycles {
        self.source().map_or(Cycles::NEVER, |source| {
            clock.rate(source).cycle_of(transfer.ends)
        })
    }

    /// When the next transfer ends.
    pub fn next_event(&self, clock: &BasicClock) -> Cycles {
        let at = |transfer: Option<Transfer>| {
            transfer.map_or(Cycles::NEVER, |transfer| self.end(clock, transfer))
        };
        at(self.transmit).min(at(self.receive))
    }

    /// Bring the USART up to `now`, and return the byte that was just sent on the UART line. For a
    /// byte sent over SPI, call `spi` with it and the time; `spi` returns the byte received.
    pub fn advance(
        &mut self,
        sfr: &mut Sfr,
        clock: &BasicClock,
        now: Cycles,
        spi: impl FnOnce(u8, Cycles) -> u8,
    ) -> Option<u8> {
        let ticks = self.ticks(clock, now);
        let mut sent = None;
        if let Some(done) = self.transmit
            && done.ends <= ticks
        {
            self.transmit = None;
            if self.is_spi() {
                let at = self.end(clock, done).min(now);
                let answer = spi(done.byte, at);
                let answer = if self.ctl & LISTEN != 0 {
                    done.byte
                } else {
                    answer
                };
                self.received(answer, sfr);
            } else {
                let mask = if self.ctl & CHAR != 0 { 0xff } else { 0x7f };
                let byte = done.byte & mask;
                sent = Some(byte);
                if self.ctl & LISTEN != 0 && self.can_receive(sfr) {
                    self.received(byte, sfr);
                }
            }
            self.start_transmit(done.ends, sfr);
            if self.transmit.is_none() {
                self.tctl |= TXEPT;
            }
        }
        if let Some(done) = self.receive
            && done.ends <= ticks
        {
            self.receive = None;
            if self.can_receive(sfr) && self.ctl & LISTEN == 0 {
                self.received(done.byte, sfr);
            }
            self.start_receive(done.ends, sfr);
        }
        self.start_receive(ticks, sfr);
        sent
    }

    /// Whether the receive interrupt is requested; a start edge requests it too, without its flag
    /// (section 13.2.7).
    pub fn is_receive_pending(&self, sfr: &Sfr) -> bool {
        let bit = self.receive_bit();
        sfr.ie[self.index] & bit != 0 && (sfr.ifg[self.index] & bit != 0 || self.start_edge)
    }

    /// Whether the transmit interrupt is requested.
    pub fn is_transmit_pending(&self, sfr: &Sfr) -> bool {
        sfr.ie[self.index] & sfr.ifg[self.index] & self.transmit_bit() != 0
    }

    /// Accept the receive interrupt, which clears its flag.
    pub fn acknowledge_receive(&mut self, sfr: &mut Sfr) {
        sfr.ifg[self.index] &= !self.receive_bit();
    }

    /// Accept the transmit interrupt, which clears its flag.
    pub fn acknowledge_transmit(&mut self, sfr: &mut Sfr) {
        sfr.ifg[self.index] &= !self.transmit_bit();
    }
}
