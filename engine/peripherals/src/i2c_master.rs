//! The I2C master of the CC2538 and of `CC26x0` chips (SWRU319, chapter
//! Inter-Integrated Circuit).
//! Register offsets and fields are those of Contiki-NG's `dev/i2c.h`.
//!
//! A byte takes nine bits, with its acknowledgment; what start and stop take beyond them is left
//! out.

use std::collections::VecDeque;

use joulemark_kernel::{Cycles, I2c};

/// `I2CM_STAT`.
const BUSY: u32 = 1;
const ERROR: u32 = 1 << 1;
const ADRACK: u32 = 1 << 2;
const DATACK: u32 = 1 << 3;
const IDLE: u32 = 1 << 5;
const BUSBSY: u32 = 1 << 6;
/// `I2CM_CTRL`.
const RUN: u32 = 1;
const START: u32 = 1 << 1;
const STOP: u32 = 1 << 2;
/// `I2CM_CR`.
const MFE: u32 = 1 << 4;

/// The master's registers.
#[derive(Clone, Debug, Default)]
pub struct I2cMaster {
    address: u32,
    data: u32,
    period: u32,
    configuration: u32,
    mask: u32,
    raw: bool,
    /// `ERROR`, and what was not acknowledged.
    error: u32,
    /// Between an acknowledged start and its stop.
    is_open: bool,
    /// What is still to be done on the bus, and when it is done.
    steps: VecDeque<(Cycles, I2c)>,
}

impl I2cMaster {
    /// Do what is due on the bus; `exchange` is what the devices there answer: an acknowledgment of
    /// an address or a byte, or the byte that is read; `None` if there is none.
    pub fn advance(&mut self, now: Cycles, exchange: &mut dyn FnMut(I2c, Cycles) -> Option<u8>) {
        while let Some(&(end, step)) = self.steps.front()
            && end <= now
        {
            self.steps.pop_front();
            let answer = exchange(step, end);
            match (step, answer) {
                (I2c::Start { .. }, Some(_)) => self.is_open = true,
                (I2c::Start { .. }, None) => {
                    (self.is_open, self.error) = (false, ERROR | ADRACK);
                    self.steps.clear();
                }
                (I2c::Write(_), None) => {
                    self.error = ERROR | DATACK;
                    self.steps.clear();
                }
                (I2c::Write(_), Some(_)) => {}
                (I2c::Read, _) => self.data = answer.unwrap_or(0xff).into(),
                (I2c::Stop, _) => self.is_open = false,
            }
            self.raw |= self.steps.is_empty();
        }
    }

    /// When [`I2cMaster::advance`] has work to do.
    pub fn next_event(&self) -> Cycles {
        self.steps.front().map_or(Cycles::NEVER, |&(end, _)| end)
    }

    /// Whether its interrupt line is asserted.
    pub const fn is_pending(&self) -> bool {
        self.raw && self.mask != 0
    }

    /// Read the register at an offset, after [`I2cMaster::advance`]; `None` if there is none.
    pub fn read(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x00 => self.address,
            0x04 if !self.steps.is_empty() => BUSY,
            0x04 => self.error | if self.is_open { BUSBSY } else { IDLE },
            0x08 => self.data,
            0x0c => self.period,
            0x10 => self.mask,
            0x14 => self.raw.into(),
            0x18 => u32::from(self.raw) & self.mask,
            0x20 => self.configuration,
            _ => return None,
        })
    }

    /// Write the register at an offset, after [`I2cMaster::advance`]; false if there is none.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> bool {
        match offset {
            0x00 => self.address = value & 0xff,
            0x04 => self.control(value, now),
            0x08 => self.data = value & 0xff,
            0x0c => self.period = value & 0x7f,
            0x10 => self.mask = value & 1,
            0x1c => self.raw &= value & 1 == 0,
            0x20 => self.configuration = value & 0x31,
            _ => return false,
        }
        true
    }

    fn control(&mut self, value: u32, now: Cycles) {
        self.error = 0;
        if self.configuration & MFE == 0 {
            return;
        }
        // Eight bits and an acknowledgment of 20 periods each (I2CM_TPR).
        let byte = 9 * 20 * (u64::from(self.period) + 1);
        let (mut end, is_read) = (now.0, self.address & 1 != 0);
        let starts = value & (RUN | START) == RUN | START;
        if starts {
            end += byte;
            let address = (self.address >> 1) as u8;
            let start = I2c::Start { address, is_read };
            self.steps.push_back((Cycles(end), start));
        }
        if value & RUN != 0 && (starts || self.is_open) {
            end += byte;
            let data = I2c::Write(self.data as u8);
            self.steps
                .push_back((Cycles(end), if is_read { I2c::Read } else { data }));
        }
        if value & STOP != 0 && (starts || self.is_open) {
            self.steps.push_back((Cycles(end), I2c::Stop));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTE: u64 = 9 * 160;

    fn on() -> I2cMaster {
        let mut master = I2cMaster::default();
        assert!(master.write(0x20, MFE, Cycles(0)) && master.write(0x0c, 7, Cycles(0)));
        master
    }

    #[test]
    fn nobody_answers_after_nine_bits() {
        let mut master = on();
        assert!(master.write(0x04, 7, Cycles(100)));
        master.advance(Cycles(100 + BYTE - 1), &mut |_, _| None);
        assert_eq!(master.read(0x04), Some(BUSY));
        assert_eq!(master.next_event(), Cycles(100 + BYTE));
        master.advance(Cycles(100 + BYTE), &mut |_, _| None);
        assert_eq!(master.read(0x04), Some(IDLE | ERROR | ADRACK));
        assert!(!master.is_pending());
        master.write(0x10, 1, Cycles(100 + BYTE));
        assert!(master.is_pending());
    }

    #[test]
    fn a_register_is_written_and_read_byte_by_byte() {
        let mut master = on();
        let mut seen = Vec::new();
        let mut bus = |what, at: Cycles| {
            seen.push((what, at.0));
            Some(if what == I2c::Read { 0x5a } else { 0 })
        };
        let mut now = 0;
        // Address and a byte; a byte; address again to read; the last byte and a stop.
        for (address, data, control, bytes) in [
            (0x8a, 1, RUN | START, 2),
            (0x8a, 0xc8, RUN, 1),
            (0x8b, 0, RUN | START | 8, 2),
            (0x8b, 0, RUN | STOP, 1),
        ] {
            for (offset, value) in [(0, address), (8, data), (4, control)] {
                master.write(offset, value, Cycles(now));
            }
            now += bytes * BYTE;
            master.advance(Cycles(now - 1), &mut bus);
            assert_eq!(master.read(0x04), Some(BUSY));
            master.advance(Cycles(now), &mut bus);
            let state = if control & STOP != 0 { IDLE } else { BUSBSY };
            assert_eq!(master.read(0x04), Some(state));
        }
        assert_eq!(master.read(0x08), Some(0x5a));
        let start = |is_read| I2c::Start {
            address: 0x45,
            is_read,
        };
        let expected = [
            (start(false), 1),
            (I2c::Write(1), 2),
            (I2c::Write(0xc8), 3),
            (start(true), 4),
            (I2c::Read, 5),
            (I2c::Read, 6),
            (I2c::Stop, 6),
        ];
        assert_eq!(seen, expected.map(|(what, byte)| (what, byte * BYTE)));
    }

    #[test]
    fn a_byte_that_is_refused_is_told_and_the_bus_stays_taken_until_a_stop() {
        let mut master = on();
        let mut bus = |what, _| (!matches!(what, I2c::Write(_))).then_some(0);
        master.write(0x04, RUN | START, Cycles(0));
        master.advance(Cycles(2 * BYTE), &mut bus);
        assert_eq!(master.read(0x04), Some(BUSBSY | ERROR | DATACK));
        master.write(0x04, STOP, Cycles(2 * BYTE));
        master.advance(Cycles(2 * BYTE), &mut bus);
        assert_eq!(master.read(0x04), Some(IDLE));
    }
}
