//! ADC12 (chapter 17): its registers, as programs set them up. Conversions are left out, since
//! nothing says what is on the pins: starting one is a fault.

use joulemark_kernel::{Fault, FaultKind};

/// ADC12CTL0.
const SC: u16 = 1 << 0;
const ENC: u16 = 1 << 1;
const ON: u16 = 1 << 4;
/// What of ADC12CTL0 and ADC12CTL1 can be changed with ENC = 1 (section 17.3).
const CTL0_ALWAYS: u16 = 0x000f;
const CTL1_ALWAYS: u16 = 0x0006;
/// ADC12CTL1: busy, and the source of the sample signal.
const BUSY: u16 = 1 << 0;
const SHS: u16 = 3 << 10;

/// The converter's registers.
#[derive(Clone, Debug, Default)]
pub struct Adc12 {
    ctl0: u16,
    ctl1: u16,
    ifg: u16,
    ie: u16,
    mctl: [u8; 16],
    /// "Unchanged" by a reset; zero after power-up here.
    mem: [u16; 16],
}

impl Adc12 {
    /// `ADC12MCTLx`.
    pub fn mctl(&self, index: usize) -> u8 {
        self.mctl[index]
    }

    /// Write `ADC12MCTLx`.
    pub fn set_mctl(&mut self, index: usize, value: u8) {
        if self.ctl0 & ENC == 0 {
            self.mctl[index] = value;
        }
    }

    /// A register of 16 bits; `None` where the module has none.
    pub fn read(&mut self, address: u16) -> Option<u16> {
        Some(match address {
            0x0140..=0x015e => {
                let index = usize::from(address - 0x0140) / 2;
                // Any access resets the flag (section 17.2.10).
                self.ifg &= !(1 << index);
                self.mem[index]
            }
            0x01a0 => self.ctl0,
            0x01a2 => self.ctl1,
            0x01a4 => self.ifg,
            0x01a6 => self.ie,
            // The highest enabled source; flags stay (section 17.2.10).
            0x01a8 => match self.ifg & self.ie {
                0 => 0,
                pending => 6 + 2 * pending.trailing_zeros() as u16,
            },
            _ => return None,
        })
    }

    /// Write a register of 16 bits; false where the module has none.
    ///
    /// # Errors
    /// It starts a conversion.
    pub fn write(&mut self, address: u16, value: u16) -> Result<bool, Fault> {
        match address {
            0x0140..=0x015e => {
                let index = usize::from(address - 0x0140) / 2;
                self.ifg &= !(1 << index);
                self.mem[index] = value & 0x0fff;
            }
            0x01a0 => {
                let change = self.changeable(CTL0_ALWAYS);
                let control = self.ctl0 & !change | value & change;
                // A conversion begins when ADC12SC is set, or else when a timer's output rises.
                let is_triggered = control & SC != 0 || self.ctl1 & SHS != 0;
                if control & (ON | ENC) == ON | ENC && is_triggered {
                    let what = "ADC12 starts a conversion, which the emulation leaves out: it does \
                                not know the voltages at the pins";
                    return Err(Fault::new(FaultKind::Absent, what));
                }
                // ADC12SC is reset automatically.
                self.ctl0 = control & !SC;
            }
            0x01a2 => {
                let change = self.changeable(CTL1_ALWAYS) & !BUSY;
                self.ctl1 = self.ctl1 & !change | value & change;
            }
            0x01a4 => self.ifg = value,
            0x01a6 => self.ie = value,
            // Read only; an access resets overflow conditions, which do not arise.
            0x01a8 => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether an enabled flag asks for the module's vector.
    pub fn is_pending(&self) -> bool {
        self.ifg & self.ie != 0
    }

    fn changeable(&self, always: u16) -> u16 {
        if self.ctl0 & ENC == 0 {
            u16::MAX
        } else {
            always
        }
    }
}
