//! The I2C master of the CC2538 (SWRU319, chapter Inter-Integrated Circuit) on an empty bus: no
//! address is acknowledged. Register offsets and fields are those of Contiki-NG's `dev/i2c.h`.

use joulemark_kernel::Cycles;

/// `I2CM_STAT`.
const BUSY: u32 = 1;
const ERROR: u32 = 1 << 1;
const ADRACK: u32 = 1 << 2;
const IDLE: u32 = 1 << 5;
/// `I2CM_CTRL`.
const RUN: u32 = 1;
const START: u32 = 1 << 1;
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
    /// The last address was not acknowledged.
    is_refused: bool,
    /// When the address byte is complete.
    busy_until: Cycles,
}

impl I2cMaster {
    /// Read the register at an offset; `None` if there is none.
    pub fn read(&self, offset: u32, now: Cycles) -> Option<u32> {
        Some(match offset {
            0x00 => self.address,
            0x04 if now < self.busy_until => BUSY,
            0x04 => IDLE | if self.is_refused { ERROR | ADRACK } else { 0 },
            0x08 => self.data,
            0x0c => self.period,
            0x10 => self.mask,
            0x14 => u32::from(self.raw && now >= self.busy_until),
            0x18 => u32::from(self.raw && now >= self.busy_until) & self.mask,
            0x20 => self.configuration,
            _ => return None,
        })
    }

    /// Write the register at an offset; false if there is none.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> bool {
        match offset {
            0x00 => self.address = value & 0xff,
            0x04 => {
                self.is_refused =
                    self.configuration & MFE != 0 && value & (RUN | START) == RUN | START;
                if self.is_refused {
                    // Eight bits and an acknowledgment of 20 periods each (I2CM_TPR).
                    let bit = 20 * (u64::from(self.period) + 1);
                    self.busy_until = now + Cycles(9 * bit);
                    self.raw = true;
                }
            }
            0x08 => self.data = value & 0xff,
            0x0c => self.period = value & 0x7f,
            0x10 => self.mask = value & 1,
            0x1c => self.raw &= value & 1 == 0,
            0x20 => self.configuration = value & 0x31,
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_answers_after_nine_bits() {
        let mut master = I2cMaster::default();
        assert!(master.write(0x20, MFE, Cycles(0)) && master.write(0x0c, 7, Cycles(0)));
        assert!(master.write(0x04, 7, Cycles(100)));
        assert_eq!(master.read(0x04, Cycles(100 + 9 * 160 - 1)), Some(BUSY));
        assert_eq!(
            master.read(0x04, Cycles(100 + 9 * 160)),
            Some(IDLE | ERROR | ADRACK)
        );
    }
}
