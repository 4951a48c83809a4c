//! The RP2350's SHA-256 accelerator (data sheet, 12.13; registers from its header in the Pico SDK).
//! It takes whole blocks, which the program pads. Its state can be read after each, and be set to
//! the initial one alone.
//!
//! What the data sheet leaves undefined is an error: results that are not there yet, and writes of
//! other widths within a word.

use joulemark_kernel::{Cycles, Fault, FaultKind};
use sha2::compress256;

const CSR: u32 = 0x00;
const WDATA: u32 = 0x04;
const SUM0: u32 = 0x08;
const SUM7: u32 = 0x24;

/// CSR.
const BSWAP: u32 = 1 << 12;
const DMA_SIZE: u32 = 3 << 8;
/// `ERR_WDATA_NOT_RDY`, which a one clears.
pub const ERROR: u32 = 1 << 4;
const SUM_VLD: u32 = 1 << 2;
const WDATA_RDY: u32 = 1 << 1;
const START: u32 = 1;

/// Words of a block.
const WORDS: usize = 16;
/// FIPS 180-4, 5.3.3.
const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The accelerator.
pub struct Sha256Engine {
    block_cycles: Cycles,
    settings: u32,
    error: bool,
    sum: [u32; 8],
    block: [u32; WORDS],
    words: usize,
    /// A word that comes in narrower writes, and how many of its bytes are there.
    word: u32,
    bytes: u32,
    ready_at: Cycles,
}

impl Sha256Engine {
    /// The state after reset, of one that takes so many cycles after the last word of a block.
    pub const fn new(block_cycles: Cycles) -> Self {
        Self {
            block_cycles,
            settings: BSWAP | 2 << 8,
            error: false,
            sum: INITIAL,
            block: [0; WORDS],
            words: 0,
            word: 0,
            bytes: 0,
            ready_at: Cycles(0),
        }
    }

    /// Return to the state after reset.
    pub const fn reset(&mut self) {
        *self = Self::new(self.block_cycles);
    }

    const fn is_valid(&self, now: Cycles) -> bool {
        now.0 >= self.ready_at.0 && self.words == 0 && self.bytes == 0
    }

    /// Read the register at an offset; `None` if there is none.
    ///
    /// # Errors
    /// A result is read that is not there.
    pub fn read(&self, offset: u32, now: Cycles) -> Result<Option<u32>, Fault> {
        Ok(Some(match offset {
            CSR => {
                let bit = |bit: u32, is_set: bool| if is_set { bit } else { 0 };
                self.settings
                    | bit(ERROR, self.error)
                    | bit(SUM_VLD, self.is_valid(now))
                    | bit(WDATA_RDY, now >= self.ready_at)
            }
            WDATA => 0,
            SUM0..=SUM7 if self.is_valid(now) => self.sum[(offset - SUM0) as usize / 4],
            SUM0..=SUM7 => {
                let what = "SHA256_SUM is read while SHA256_CSR.SUM_VLD is 0: it is undefined";
                return Err(Fault::new(FaultKind::Peripheral, what));
            }
            _ => return Ok(None),
        }))
    }

    /// Write so many bytes of the register at an offset; false if there is none.
    ///
    /// # Errors
    /// A word of a block is made up of writes of other widths than fit it.
    pub fn write(
        &mut self,
        offset: u32,
        value: u32,
        bytes: u32,
        now: Cycles,
    ) -> Result<bool, Fault> {
        match offset {
            CSR => {
                self.settings = value & (BSWAP | DMA_SIZE);
                self.error &= value & ERROR == 0;
                if value & START != 0 {
                    (self.sum, self.words, self.bytes) = (INITIAL, 0, 0);
                    self.ready_at = now;
                }
            }
            // What becomes of such a word is not said; here it is lost.
            WDATA if now < self.ready_at => self.error = true,
            WDATA if self.bytes + bytes > 4 => {
                let what = "writes to SHA256_WDATA mix widths within a word, which drops data";
                return Err(Fault::new(FaultKind::Peripheral, what));
            }
            WDATA => {
                let kept = if self.bytes == 0 { 0 } else { self.word };
                let fresh = value & (u32::MAX >> (32 - 8 * bytes));
                self.word = kept | fresh << (8 * self.bytes);
                self.bytes += bytes;
                if self.bytes == 4 {
                    self.take_word(now);
                }
            }
            SUM0..=SUM7 => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn take_word(&mut self, now: Cycles) {
        let is_swapped = self.settings & BSWAP != 0;
        self.block[self.words] = if is_swapped {
            self.word.swap_bytes()
        } else {
            self.word
        };
        self.bytes = 0;
        self.words += 1;
        if self.words == WORDS {
            let mut block = [0; 4 * WORDS];
            for (bytes, word) in block.chunks_exact_mut(4).zip(self.block) {
                bytes.copy_from_slice(&word.to_be_bytes());
            }
            compress256(&mut self.sum, &[block.into()]);
            self.words = 0;
            self.ready_at = now + self.block_cycles;
        }
    }
}
