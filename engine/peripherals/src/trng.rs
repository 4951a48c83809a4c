//! The true random number generator of `CC26x0` chips (SWCU117, chapter True Random Number
//! Generator), with a reproducible source: the same seed gives the same numbers. Register offsets
//! and fields were compared with TI's header `hw_trng.h`.

use joulemark_kernel::Cycles;

const TRNG_EN: u32 = 1 << 10;
const READY: u32 = 1;
const NEED_CLOCK: u32 = 1 << 31;

/// The generator.
#[derive(Clone, Debug)]
pub struct Trng {
    random: u64,
    number: u64,
    /// CTL, CFG0, ALARMCNT, FROEN, FRODETUNE, ALARMMASK, ALARMSTOP: offsets 0x14 to 0x2c.
    settings: [u32; 7],
    mask: u32,
    ready: bool,
    /// When the next number is ready.
    due: Cycles,
}

impl Trng {
    /// The state after reset; the seed determines the numbers.
    pub const fn new(seed: u32) -> Self {
        Self {
            // Non-zero, because xorshift never leaves zero.
            random: (seed as u64 ^ 0x9e37_79b9_7f4a_7c15) | 1,
            number: 0,
            settings: [0, 0, 0xff, 0x00ff_ffff, 0, 0, 0],
            mask: 0,
            ready: false,
            due: Cycles::NEVER,
        }
    }

    /// The state after a later reset: the random sequence continues.
    #[must_use]
    pub const fn after_reset(&self) -> Self {
        Self {
            random: self.random,
            ..Self::new(0)
        }
    }

    /// Cycles between samples of the oscillators.
    const fn sample_cycles(&self) -> u64 {
        (self.settings[1] >> 8 & 15) as u64 + 1
    }

    /// Number of samples in a field, which counts in units of 256; 0 means 2^24.
    const fn samples(field: u32) -> u64 {
        if field == 0 {
            1 << 24
        } else {
            field as u64 * 256
        }
    }

    const fn refill(&self) -> u64 {
        let most = Self::samples(self.settings[1] >> 16);
        let least = (self.settings[1] & 0xff) as u64 * 64;
        if least == 0 { most } else { least }
    }

    /// When [`Trng::advance`] has work to do.
    pub const fn next_event(&self) -> Cycles {
        self.due
    }

    /// Produce the number that is due.
    pub fn advance(&mut self, now: Cycles) {
        if now >= self.due && !self.ready {
            // xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift
            // generators").
            self.random ^= self.random >> 12;
            self.random ^= self.random << 25;
            self.random ^= self.random >> 27;
            self.number = self.random.wrapping_mul(0x2545_f491_4f6c_dd1d);
            (self.ready, self.due) = (true, Cycles::NEVER);
        }
    }

    /// Whether its interrupt line is asserted.
    pub const fn is_pending(&self) -> bool {
        self.ready && self.mask & READY != 0
    }

    /// Read the register at an offset; `None` if there is none.
    pub const fn read(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x00 => self.number as u32,
            0x04 => (self.number >> 32) as u32,
            0x08 | 0x1ff8 => {
                self.ready as u32
                    | if self.settings[0] & TRNG_EN != 0 && !self.ready {
                        NEED_CLOCK
                    } else {
                        0
                    }
            }
            0x0c => self.mask,
            0x14..=0x2c => self.settings[(offset as usize - 0x14) / 4],
            0x1fd8 => self.is_pending() as u32,
            0x1ff0 => 0,
            _ => return None,
        })
    }

    /// Write the register at an offset; false if there is none.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> bool {
        match offset {
            0x0c => self.mask = value & 3,
            0x10 => {
                if value & READY != 0 && self.ready {
                    self.ready = false;
                    self.due = now + Cycles(self.refill() * self.sample_cycles());
                }
            }
            0x14 => {
                let starts = value & !self.settings[0] & TRNG_EN != 0;
                self.settings[0] = value & 0xffff_0400;
                if starts {
                    let samples = Self::samples(value >> 16);
                    self.due = now + Cycles(samples * self.sample_cycles());
                } else if value & TRNG_EN == 0 {
                    (self.ready, self.due) = (false, Cycles::NEVER);
                }
            }
            0x18..=0x2c => self.settings[(offset as usize - 0x14) / 4] = value,
            0x1ff0 => {
                if value & 1 != 0 {
                    let random = self.random;
                    *self = Self::new(0);
                    self.random = random;
                }
            }
            _ => return false,
        }
        true
    }
}
