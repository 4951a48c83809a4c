//! The CC2538's registers at 0x400D7000, apart from analogue-to-digital conversion: the random
//! number generator and CRC (SWRU319, chapter Random Number Generator; for the `CC253x`, SWRU191C,
//! chapter 14). Register addresses and fields are those of Contiki-NG's `dev/soc-adc.h`.

use joulemark_kernel::{Fault, FaultKind};

/// ADCCON1 after a reset: software starts conversions.
const RESET: u32 = 0x33;
/// ADCCON1: the generator's mode.
const RCTRL: u32 = 3 << 2;
const RCTRL_CLOCK: u32 = 1 << 2;
/// x^16 + x^15 + x^2 + 1.
const POLYNOMIAL: u16 = 0x8005;
/// Steps per clocking.
const UNROLLED: u32 = 13;

/// The generator, and the converter's settings.
#[derive(Clone, Debug)]
pub struct SocAdc {
    control: u32,
    sequence: u32,
    shift_register: u16,
    comparator: u32,
}

impl Default for SocAdc {
    fn default() -> Self {
        Self {
            control: RESET,
            sequence: 0,
            shift_register: 0xffff,
            comparator: 0,
        }
    }
}

impl SocAdc {
    fn step(&mut self, input: u32) {
        let feeds_back = u32::from(self.shift_register >> 15) ^ input & 1 != 0;
        self.shift_register <<= 1;
        if feeds_back {
            self.shift_register ^= POLYNOMIAL;
        }
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x00 => self.control,
            0x04 => self.sequence,
            // There is no conversion result.
            0x08..=0x10 => 0,
            0x14 => u32::from(self.shift_register & 0xff),
            0x18 => u32::from(self.shift_register >> 8),
            0x24 => self.comparator,
            _ => return None,
        })
    }

    /// Write the register at an offset; false if there is none.
    ///
    /// # Errors
    /// The value starts a conversion or the comparator.
    pub fn write(&mut self, offset: u32, value: u32) -> Result<bool, Fault> {
        let refused = |what: &str| {
            let what = format!("the emulation leaves out the CC2538's {what}");
            Err(Fault::new(FaultKind::Absent, what))
        };
        match offset {
            0x00 if value & 0x40 != 0 => {
                return refused("analogue-to-digital conversions (ADCCON1.ST)");
            }
            0x00 => {
                if value & RCTRL == RCTRL_CLOCK {
                    (0..UNROLLED).for_each(|_| self.step(0));
                }
                // After one clocking, RCTRL returns to normal operation.
                let clocked = value & RCTRL == RCTRL_CLOCK;
                self.control = value & 0x3f & if clocked { !RCTRL } else { u32::MAX };
            }
            0x04 => self.sequence = value & 0xff,
            0x08 => return refused("analogue-to-digital conversions (ADCCON3)"),
            // A seed byte shifts the previous one up.
            0x14 => {
                self.shift_register = self.shift_register << 8 | (value & 0xff) as u16;
            }
            0x18 => {
                for bit in (0..8).rev() {
                    self.step(value >> bit);
                }
            }
            0x24 if value & 2 != 0 => return refused("analogue comparator (CMPCTL.EN)"),
            0x24 => self.comparator = 0,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_makes_the_crc_of_usb_and_modbus_msb_first() {
        // CRC-16/CMS: this polynomial from 0xffff, without reflection; check value of "123456789".
        let mut adc = SocAdc::default();
        for byte in b"123456789" {
            adc.write(0x18, (*byte).into()).unwrap();
        }
        assert_eq!(
            adc.read(0x18).unwrap() << 8 | adc.read(0x14).unwrap(),
            0xaee7
        );
    }

    #[test]
    fn a_clock_gives_another_number() {
        let mut adc = SocAdc::default();
        adc.write(0x14, 0x12).unwrap();
        adc.write(0x14, 0x34).unwrap();
        assert_eq!((adc.read(0x18), adc.read(0x14)), (Some(0x12), Some(0x34)));
        adc.write(0x00, RESET | RCTRL_CLOCK).unwrap();
        assert_ne!((adc.read(0x18), adc.read(0x14)), (Some(0x12), Some(0x34)));
        assert_eq!(adc.read(0x00), Some(RESET));
        assert!(adc.write(0x08, 0x3f).is_err());
    }
}
