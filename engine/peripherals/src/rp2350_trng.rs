//! The RP2350's random number generator, ARM's `TrustZone` RNG (data sheet, 12.12; registers from
//! its header in the Pico SDK), with a reproducible source: the same seed gives the same numbers.
//! Its tests of the source never fail, and it always takes the same time, which on silicon varies.

use joulemark_kernel::Cycles;

const RNG_IMR: u32 = 0x100;
const RNG_ISR: u32 = 0x104;
const RNG_ICR: u32 = 0x108;
const TRNG_CONFIG: u32 = 0x10c;
const TRNG_VALID: u32 = 0x110;
const EHR_DATA0: u32 = 0x114;
const EHR_DATA5: u32 = 0x128;
const RND_SOURCE_ENABLE: u32 = 0x12c;
const SAMPLE_CNT1: u32 = 0x130;
const TRNG_DEBUG_CONTROL: u32 = 0x138;
const TRNG_SW_RESET: u32 = 0x140;
const TRNG_BUSY: u32 = 0x1b8;
const RST_BITS_COUNTER: u32 = 0x1bc;

/// `RNG_ISR`: 192 bits have been collected.
const EHR_VALID: u32 = 1;
/// `TRNG_DEBUG_CONTROL`: the von Neumann balancer is bypassed.
const VNC_BYPASS: u32 = 1 << 1;
const WORDS: usize = 6;

/// The generator.
pub struct Rp2350Trng {
    /// Samples for each bit that the balancer and the tests let through.
    samples_per_bit: u64,
    random: u64,
    mask: u32,
    status: u32,
    config: u32,
    enabled: bool,
    sample_count: u32,
    debug: u32,
    data: [u32; WORDS],
    is_valid: bool,
    /// When the bits are there that are being collected.
    due: Cycles,
}

impl Rp2350Trng {
    /// The state after reset; the seed determines the numbers.
    pub const fn new(samples_per_bit: u64, seed: u32) -> Self {
        // Non-zero, because xorshift never leaves zero.
        Self::at_reset(samples_per_bit, (seed as u64 ^ 0x9e37_79b9_7f4a_7c15) | 1)
    }

    const fn at_reset(samples_per_bit: u64, random: u64) -> Self {
        Self {
            samples_per_bit,
            random,
            mask: 15,
            status: 0,
            config: 0,
            enabled: false,
            sample_count: 0xffff,
            debug: 0,
            data: [0; WORDS],
            is_valid: false,
            due: Cycles::NEVER,
        }
    }

    /// Return to the state after reset; the random sequence continues.
    pub const fn reset(&mut self) {
        *self = Self::at_reset(self.samples_per_bit, self.random);
    }

    /// Drop what has been collected, and begin again if the source is on.
    fn restart(&mut self, now: Cycles) {
        (self.data, self.is_valid) = ([0; WORDS], false);
        let samples = if self.debug & VNC_BYPASS == 0 {
            self.samples_per_bit
        } else {
            1
        };
        self.due = if self.enabled {
            let bits = 32 * WORDS as u64;
            now + Cycles(bits * samples * u64::from(self.sample_count.max(1)))
        } else {
            Cycles::NEVER
        };
    }

    /// When [`Rp2350Trng::advance`] has work to do.
    pub const fn next_event(&self) -> Cycles {
        self.due
    }

    /// Produce the bits that are due.
    pub fn advance(&mut self, now: Cycles) {
        if now < self.due {
            return;
        }
        for word in &mut self.data {
            // xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators").
            self.random ^= self.random >> 12;
            self.random ^= self.random << 25;
            self.random ^= self.random >> 27;
            *word = (self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32;
        }
        (self.is_valid, self.due) = (true, Cycles::NEVER);
        self.status |= EHR_VALID;
    }

    /// Whether its interrupt line is asserted.
    pub const fn is_pending(&self) -> bool {
        self.status & !self.mask != 0
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&mut self, offset: u32, now: Cycles) -> Option<u32> {
        Some(match offset {
            RNG_IMR => self.mask,
            RNG_ISR => self.status,
            RNG_ICR | TRNG_SW_RESET | RST_BITS_COUNTER => 0,
            TRNG_CONFIG => self.config,
            TRNG_VALID => self.is_valid.into(),
            EHR_DATA0..=EHR_DATA5 => {
                let value = self.data[(offset - EHR_DATA0) as usize / 4];
                // The last one clears all, and the next collection begins.
                if offset == EHR_DATA5 && self.is_valid {
                    self.restart(now);
                }
                value
            }
            RND_SOURCE_ENABLE => self.enabled.into(),
            SAMPLE_CNT1 => self.sample_count,
            TRNG_DEBUG_CONTROL => self.debug,
            TRNG_BUSY => (self.due != Cycles::NEVER).into(),
            _ => return None,
        })
    }

    /// Write the register at an offset; false if there is none.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> bool {
        match offset {
            RNG_IMR => self.mask = value & 15,
            RNG_ICR => self.status &= !value,
            TRNG_CONFIG => self.config = value & 3,
            RND_SOURCE_ENABLE => {
                let was = self.enabled;
                self.enabled = value & 1 != 0;
                if !self.enabled {
                    self.due = Cycles::NEVER;
                } else if !was && !self.is_valid {
                    self.restart(now);
                }
            }
            // They begin the collection anew (the Pico SDK's rand.c has seen it of SAMPLE_CNT1).
            SAMPLE_CNT1 | TRNG_DEBUG_CONTROL => {
                if offset == SAMPLE_CNT1 {
                    self.sample_count = value;
                } else {
                    self.debug = value & 0xe;
                }
                if !self.is_valid {
                    self.restart(now);
                }
            }
            TRNG_SW_RESET => {
                if value & 1 != 0 {
                    self.reset();
                }
            }
            RST_BITS_COUNTER => {
                if !self.enabled {
                    self.restart(now);
                }
            }
            RNG_ISR | TRNG_VALID | EHR_DATA0..=EHR_DATA5 | TRNG_BUSY => {}
            _ => return false,
        }
        true
    }
}
