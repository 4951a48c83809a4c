//! The synchronous serial interface of TI's Cortex-M chips, which is ARM's PL022 (SWCU117 and
//! SWRU319, chapters SSI; ARM DDI 0194): a master. Register offsets and fields were compared with
//! TI's header `hw_ssi.h`.

use std::collections::VecDeque;

use joulemark_kernel::{Cycles, Fault, FaultKind, Hertz};

const FIFO: usize = 8;

/// CR0: frame format, 0 for SPI; clock polarity and phase.
const FRF: u32 = 3 << 4;
const SPO: u32 = 1 << 6;
const SPH: u32 = 1 << 7;

/// CR1: loopback, enable, slave mode.
const LBM: u32 = 1;
const SSE: u32 = 1 << 1;
const MS: u32 = 1 << 2;

/// SR: transmit FIFO empty, not full; receive FIFO not empty, full; busy.
const TFE: u32 = 1;
const TNF: u32 = 1 << 1;
const RNE: u32 = 1 << 2;
const RFF: u32 = 1 << 3;
const BSY: u32 = 1 << 4;

/// Interrupts: overrun, time-out, receive FIFO half full, transmit FIFO half empty.
const OVERRUN: u32 = 1;
const TIMEOUT: u32 = 1 << 1;
const RECEIVED: u32 = 1 << 2;
const TRANSMITTED: u32 = 1 << 3;
/// Bit periods without a read until the time-out (SWRU319, SSI, interrupts).
const TIMEOUT_BITS: u32 = 32;

/// An interface.
#[derive(Clone, Debug, Default)]
pub struct Pl022 {
    cr0: u32,
    cr1: u32,
    prescaler: u32,
    imsc: u32,
    dmacr: u32,
    /// Overrun and time-out, held until cleared.
    held: u32,
    transmit: VecDeque<u16>,
    received: VecDeque<u16>,
    /// The frame on the bus, and its end.
    shifting: Option<(u16, Cycles)>,
    /// Whether the undriven input is pulled up: it then reads ones.
    is_pulled_up: bool,
    /// When the receive time-out occurs.
    times_out: Option<Cycles>,
    /// The core's clock and its own; 0 if they are the same.
    core_hz: u32,
    own_hz: u32,
}

impl Pl022 {
    /// Set the clock that it divides.
    pub const fn set_clocks(&mut self, core: Hertz, own: Hertz) {
        (self.core_hz, self.own_hz) = (core.0, own.0);
    }

    /// Core cycles of a number of bits.
    fn bits(&self, number: u32) -> u64 {
        let bit = u64::from(self.prescaler.max(2)) * u64::from((self.cr0 >> 8 & 0xff) + 1);
        let core = bit * u64::from(number) * u64::from(self.core_hz.max(1));
        core.div_ceil(self.own_hz.max(1).into())
    }

    const fn frame_bits(&self) -> u32 {
        (self.cr0 & 15) + 1
    }

    /// Switch the input's pull-up on or off.
    pub const fn set_pull_up(&mut self, is_pulled_up: bool) {
        self.is_pulled_up = is_pulled_up;
    }

    fn begin(&mut self, now: Cycles) {
        if self.shifting.is_some() || self.cr1 & SSE == 0 {
            return;
        }
        if let Some(frame) = self.transmit.pop_front() {
            let end = Cycles(now.0 + self.bits(self.frame_bits()));
            self.shifting = Some((frame, end));
        }
    }

    /// Exchange a frame with what is on the bus, most significant bit first; `None` if nothing
    /// drives the input.
    fn exchanged(
        &self,
        frame: u16,
        end: Cycles,
        exchange: &mut dyn FnMut(u8, Cycles) -> Option<u8>,
    ) -> Result<Option<u16>, Fault> {
        let [high, low] = frame.to_be_bytes();
        let is_spi = self.cr0 & FRF == 0 && (self.cr0 & SPO != 0) == (self.cr0 & SPH != 0);
        let bits = self.frame_bits();
        let first = match bits {
            16 => exchange(high, Cycles(end.0 - self.bits(8))),
            _ => None,
        };
        let second = exchange(low, end);
        match (first, second) {
            (None, None) => Ok(None),
            _ if is_spi && matches!(bits, 8 | 16) => {
                let ones = u8::MAX;
                let answer = [first.unwrap_or(ones), second.unwrap_or(ones)];
                Ok(Some(u16::from_be_bytes(answer)))
            }
            _ => Err(Fault::new(
                FaultKind::Absent,
                "the emulation leaves out devices on a synchronous serial interface but in SPI \
                 modes 0 and 3 with frames of 8 or 16 bits (CR0.FRF, SPO, SPH, DSS)",
            )),
        }
    }

    /// Complete the frames that have ended; `exchange` is what the devices on the bus do with each
    /// byte at its last bit.
    ///
    /// # Errors
    /// A device answers in a mode that the emulation leaves out.
    pub fn advance(
        &mut self,
        now: Cycles,
        exchange: &mut dyn FnMut(u8, Cycles) -> Option<u8>,
    ) -> Result<(), Fault> {
        while let Some((frame, end)) = self.shifting.filter(|&(_, end)| end <= now) {
            let ones = ((1_u32 << self.frame_bits()) - 1) as u16;
            self.shifting = None;
            let undriven = if self.is_pulled_up { ones } else { 0 };
            let answer = if self.cr1 & LBM != 0 {
                frame
            } else {
                let driven = self.exchanged(frame, end, exchange)?;
                driven.unwrap_or(undriven)
            };
            if self.received.len() < FIFO {
                self.received.push_back(answer & ones);
            } else {
                self.held |= OVERRUN;
            }
            self.times_out = Some(Cycles(end.0 + self.bits(TIMEOUT_BITS)));
            self.begin(end);
        }
        if self.times_out.is_some_and(|at| at <= now) {
            self.times_out = None;
            self.held |= TIMEOUT;
        }
        Ok(())
    }

    /// When [`Pl022::advance`] has work to do.
    pub fn next_event(&self) -> Cycles {
        let frame = self.shifting.map_or(Cycles::NEVER, |(_, end)| end);
        frame.min(self.times_out.unwrap_or(Cycles::NEVER))
    }

    fn raw(&self) -> u32 {
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        self.held
            | flag(self.received.len() >= FIFO / 2, RECEIVED)
            | flag(self.transmit.len() <= FIFO / 2, TRANSMITTED)
    }

    fn status(&self) -> u32 {
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        flag(self.transmit.is_empty(), TFE)
            | flag(self.transmit.len() < FIFO, TNF)
            | flag(!self.received.is_empty(), RNE)
            | flag(self.received.len() == FIFO, RFF)
            | flag(self.shifting.is_some() || !self.transmit.is_empty(), BSY)
    }

    /// Whether its interrupt line is asserted.
    pub fn is_pending(&self) -> bool {
        self.raw() & self.imsc != 0
    }

    /// Read the register at an offset, after [`Pl022::advance`]; `None` if there is none.
    pub fn read(&mut self, offset: u32, now: Cycles) -> Option<u32> {
        Some(match offset {
            0x00 => self.cr0,
            0x04 => self.cr1,
            0x08 => {
                let frame = self.received.pop_front().unwrap_or(0);
                let waits = !self.received.is_empty();
                self.times_out = waits.then(|| Cycles(now.0 + self.bits(TIMEOUT_BITS)));
                frame.into()
            }
            0x0c => self.status(),
            0x10 => self.prescaler,
            0x14 => self.imsc,
            0x18 => self.raw(),
            0x1c => self.raw() & self.imsc,
            0x20 => 0,
            0x24 => self.dmacr,
            _ => return None,
        })
    }

    /// Write the register at an offset, after [`Pl022::advance`]; false if there is none.
    ///
    /// # Errors
    /// The value uses a feature that the emulation leaves out, or a frame is lost.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        let absent = |what: &str| {
            let message =
                format!("the emulation leaves out {what} of synchronous serial interfaces");
            Err(Fault::new(FaultKind::Absent, message))
        };
        match offset {
            0x00 if value & 15 < 3 => {
                return Err(Fault::new(
                    FaultKind::Peripheral,
                    "a frame of a synchronous serial interface has 4 to 16 bits (CR0.DSS is 3 or more)",
                ));
            }
            0x00 => self.cr0 = value & 0xffff,
            0x04 if value & SSE != 0 && value & MS != 0 => return absent("slaves (CR1.MS)"),
            0x04 => {
                self.cr1 = value & 15;
                self.begin(now);
            }
            0x08 => {
                if self.transmit.len() == FIFO {
                    return Err(Fault::new(
                        FaultKind::Peripheral,
                        "a frame is written to a synchronous serial interface whose FIFO is full; it is lost",
                    ));
                }
                self.transmit.push_back(value as u16);
                self.begin(now);
            }
            // SR, RIS and MIS are read-only.
            0x0c | 0x18 | 0x1c => {}
            0x10 => self.prescaler = value & 0xfe,
            0x14 => self.imsc = value & 15,
            0x20 => self.held &= !(value & (OVERRUN | TIMEOUT)),
            0x24 if value & 3 != 0 => return absent("DMA"),
            0x24 => self.dmacr = 0,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
