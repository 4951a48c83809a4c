//! Flash memory controller (chapter 5).

use joulemark_kernel::chip::Constant;
use joulemark_kernel::{Cycles, Fault, FaultKind};
use serde::Deserialize;

use crate::basic_clock::{BasicClock, Source};

const ERASE: u8 = 0x02;
const MERAS: u8 = 0x04;
const WRT: u8 = 0x40;
const BLKWRT: u8 = 0x80;

const BUSY: u8 = 0x01;
const KEYV: u8 = 0x02;
const ACCVIFG: u8 = 0x04;
const WAIT: u8 = 0x08;
const LOCK: u8 = 0x10;
const EMEX: u8 = 0x20;

/// A chip's controller: section `flash_controller` of its file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Lowest clock of the flash timing generator.
    pub generator_min_hz: Constant,
    /// Highest clock of the flash timing generator.
    pub generator_max_hz: Constant,
    /// Generator cycles to program a byte or a word.
    pub program_cycles: Constant,
    /// Generator cycles for the first word of a block.
    pub block_first_cycles: Constant,
    /// Generator cycles for each further word of a block.
    pub block_next_cycles: Constant,
    /// Generator cycles for the end of a block.
    pub block_end_cycles: Constant,
    /// Generator cycles to erase a segment.
    pub segment_erase_cycles: Constant,
    /// Generator cycles to erase everything.
    pub mass_erase_cycles: Constant,
}

/// A flash region that erases in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bank {
    /// First address.
    pub start: u16,
    /// Bytes.
    pub size: u32,
    /// Bytes erased at once.
    pub segment: u32,
    /// Whether it is main memory, all of which a mass erase clears.
    pub is_main: bool,
}

/// What a write to flash does to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Programming only clears bits.
    Program,
    /// Every byte of this range becomes 0xff.
    Erase {
        /// First address.
        start: u16,
        /// Bytes.
        size: u32,
    },
}

/// The flash controller.
#[derive(Clone, Debug)]
pub struct Flash {
    parameters: Parameters,
    banks: Vec<Bank>,
    fctl1: u8,
    fctl2: u8,
    fctl3: u8,
    busy_until: Cycles,
    in_block: bool,
}

impl Flash {
    /// The state after a power-up clear (section 5.4).
    pub fn new(parameters: Parameters, banks: Vec<Bank>) -> Self {
        Self {
            parameters,
            banks,
            fctl1: 0,
            fctl2: 0x42,
            fctl3: WAIT | LOCK,
            busy_until: Cycles(0),
            in_block: false,
        }
    }

    /// Reset by a power-up clear (section 5.4): any operation ends, and KEYV stays.
    pub fn power_up_clear(&mut self, now: Cycles) {
        let keyv = self.fctl3 & KEYV;
        (self.fctl1, self.fctl2, self.fctl3) = (0, 0x42, WAIT | LOCK | keyv);
        (self.busy_until, self.in_block) = (now, false);
    }

    /// FCTL1: the high byte reads 0x96.
    pub fn fctl1(&self) -> u16 {
        0x9600 | u16::from(self.fctl1)
    }

    /// FCTL2.
    pub fn fctl2(&self) -> u16 {
        0x9600 | u16::from(self.fctl2)
    }

    /// FCTL3.
    pub fn fctl3(&self, now: Cycles) -> u16 {
        let busy = if now < self.busy_until { BUSY } else { 0 };
        0x9600 | u16::from(self.fctl3 | busy)
    }

    /// Write FCTL1, FCTL2 or FCTL3 (0x128, 0x12a, 0x12c).
    ///
    /// # Errors
    /// The key is wrong: the chip resets (section 5.3.6).
    pub fn set_fctl(&mut self, address: u16, value: u16, now: Cycles) -> Result<(), Fault> {
        if value >> 8 != 0xa5 {
            self.fctl3 |= KEYV;
            return Err(Fault::new(
                FaultKind::Reset,
                format!(
                    "flash key violation: {value:#06x} does not begin with 0xa5; the chip resets"
                ),
            )
            .at(address));
        }
        let value = value as u8;
        let busy = now < self.busy_until;
        match address {
            0x0128 if busy && value & (WRT | ERASE | MERAS) != 0 => self.fctl3 |= ACCVIFG,
            0x0128 => {
                if self.in_block && value & BLKWRT == 0 {
                    self.in_block = false;
                }
                self.fctl1 = value & (ERASE | MERAS | WRT | BLKWRT);
            }
            0x012a if busy => self.fctl3 |= ACCVIFG,
            0x012a => self.fctl2 = value,
            _ => {
                self.fctl3 = self.fctl3 & WAIT | value & (KEYV | ACCVIFG | LOCK);
                if value & EMEX != 0 {
                    self.fctl1 = 0;
                    self.busy_until = now;
                    self.in_block = false;
                }
            }
        }
        Ok(())
    }

    /// Whether the access violation flag is set.
    pub fn is_access_violation(&self) -> bool {
        self.fctl3 & ACCVIFG != 0
    }

    fn bank(&self, address: u16) -> Option<&Bank> {
        self.banks.iter().find(|bank| {
            let offset = u32::from(address).wrapping_sub(u32::from(bank.start));
            offset < bank.size
        })
    }

    /// Handle the core's write to flash; return its effect on memory and its duration.
    ///
    /// # Errors
    /// The controller is not set up for the write.
    pub fn write(
        &mut self,
        address: u16,
        clock: &BasicClock,
        now: Cycles,
    ) -> Result<(Effect, Cycles), Fault> {
        let refuse = |why: &str| {
            Err(Fault::new(FaultKind::FlashWrite, format!("a write to flash: {why}")).at(address))
        };
        if now < self.busy_until {
            return refuse("the flash controller is busy; wait until FCTL3.BUSY is 0");
        }
        if self.fctl3 & LOCK != 0 {
            return refuse("it is locked (FCTL3.LOCK is 1)");
        }
        let mode = self.fctl1 & (ERASE | MERAS | WRT | BLKWRT);
        if mode & (ERASE | MERAS | WRT) == 0 {
            return refuse("FCTL1 has none of WRT, ERASE and MERAS set");
        }
        if mode & WRT != 0 && mode & (ERASE | MERAS) != 0 {
            return refuse("FCTL1 has both WRT and ERASE or MERAS set");
        }
        let source = match self.fctl2 >> 6 {
            0 => Source::Aclk,
            1 => Source::Mclk,
            _ => Source::Smclk,
        };
        let divider = u32::from(self.fctl2 & 0x3f) + 1;
        let generator_hz = clock.hz(source) / divider;
        let parameters = &self.parameters;
        let (low, high) = (
            parameters.generator_min_hz.whole(),
            parameters.generator_max_hz.whole(),
        );
        if !(low..=high).contains(&generator_hz) {
            return refuse(&format!(
                "the flash timing generator runs at {generator_hz} Hz and must be between {low} and \
                 {high} Hz; set FCTL2"
            ));
        }
        let Some(&bank) = self.bank(address) else {
            return refuse("no flash is there");
        };
        let (effect, generator_cycles) = if mode & WRT != 0 {
            let cycles = match (mode & BLKWRT != 0, self.in_block) {
                (false, _) => &parameters.program_cycles,
                (true, false) => &parameters.block_first_cycles,
                (true, true) => &parameters.block_next_cycles,
            };
            self.in_block = mode & BLKWRT != 0;
            (Effect::Program, cycles.whole())
        } else {
            let (start, size) = if mode & MERAS == 0 {
                let offset = u32::from(address) - u32::from(bank.start);
                (
                    u32::from(bank.start) + offset / bank.segment * bank.segment,
                    bank.segment,
                )
            } else if mode & ERASE == 0 {
                // Mass erase: all of main memory (section 5.3.2, table 5-1).
                self.banks
                    .iter()
                    .find(|bank| bank.is_main)
                    .map_or((0, 0), |bank| (u32::from(bank.start), bank.size))
            } else {
                // Both bits: erase information memory too. The core skips what is not flash.
                (0, 0x10000)
            };
            let cycles = if mode & MERAS == 0 {
                &parameters.segment_erase_cycles
            } else {
                &parameters.mass_erase_cycles
            };
            // "Automatically reset when the erase operation completes" (section 5.4, FCTL1).
            self.fctl1 &= !(ERASE | MERAS);
            let start = start as u16;
            (Effect::Erase { start, size }, cycles.whole())
        };
        let rate = clock.rate(source);
        let ticks = u64::from(generator_cycles) * u64::from(divider);
        let done = rate.cycle_of(rate.ticks(now) + ticks);
        if done == Cycles::NEVER {
            return refuse("the clock of the flash timing generator stands still");
        }
        self.busy_until = done;
        Ok((effect, done - now))
    }
}
