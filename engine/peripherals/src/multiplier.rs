//! Hardware multiplier (chapter 7).

use joulemark_kernel::{Cycles, Fault, FaultKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Multiply,
    MultiplySigned,
    Accumulate,
    AccumulateSigned,
}

/// The multiplier.
#[derive(Clone, Debug)]
pub struct Multiplier {
    operation: Operation,
    op1: u16,
    op2: u16,
    result: u32,
    sumext: u16,
    /// When the result becomes readable.
    ready: Cycles,
}

impl Default for Multiplier {
    fn default() -> Self {
        Self {
            operation: Operation::Multiply,
            op1: 0,
            op2: 0,
            result: 0,
            sumext: 0,
            ready: Cycles(0),
        }
    }
}

impl Multiplier {
    /// Read MPY, MPYS, MAC or MACS (0x130 to 0x136), OP2, RESLO, RESHI or SUMEXT (0x138 to 0x13e).
    ///
    /// # Errors
    /// A result is read too early: an indirect read needs one instruction after the write (section
    /// 7.2.4).
    #[inline]
    pub fn read(&self, address: u16, now: Cycles) -> Result<u16, Fault> {
        let value = match address & 0xe {
            0x0..=0x6 => return Ok(self.op1),
            0x8 => return Ok(self.op2),
            0xa => self.result as u16,
            0xc => (self.result >> 16) as u16,
            _ => self.sumext,
        };
        // The next instruction reads an indirect source two cycles after the write; an absolute or
        // indexed source, which has an extension word, three cycles after.
        if now < self.ready {
            return Err(Fault::new(
                FaultKind::Peripheral,
                "the multiplier's result is read before it is there: put an instruction in between \
                 (SLAU049F, section 7.2.4)",
            )
            .at(address));
        }
        Ok(value)
    }

    /// Write one of these registers; writing OP2 starts the multiplication.
    #[inline]
    pub fn write(&mut self, address: u16, value: u16, now: Cycles) {
        self.operation = match address & 0xe {
            0x0 => Operation::Multiply,
            0x2 => Operation::MultiplySigned,
            0x4 => Operation::Accumulate,
            0x6 => Operation::AccumulateSigned,
            0x8 => {
                self.op2 = value;
                self.ready = now + Cycles(3);
                self.multiply();
                return;
            }
            0xa => {
                self.result = self.result & 0xffff_0000 | u32::from(value);
                return;
            }
            0xc => {
                self.result = self.result & 0xffff | u32::from(value) << 16;
                return;
            }
            // SUMEXT is read-only.
            _ => return,
        };
        self.op1 = value;
    }

    #[inline]
    fn multiply(&mut self) {
        let unsigned = u32::from(self.op1) * u32::from(self.op2);
        let signed = i32::from(self.op1 as i16) * i32::from(self.op2 as i16);
        // SUMEXT (section 7.2.2, table 7-3) is 0, the sign, the sum's carry or the sum's sign.
        (self.result, self.sumext) = match self.operation {
            Operation::Multiply => (unsigned, 0),
            Operation::MultiplySigned => (signed as u32, (signed >> 31) as u16),
            Operation::Accumulate => {
                let (sum, carry) = self.result.overflowing_add(unsigned);
                (sum, u16::from(carry))
            }
            Operation::AccumulateSigned => {
                let sum = (self.result as i32).wrapping_add(signed);
                (sum as u32, (sum >> 31) as u16)
            }
        };
    }
}
