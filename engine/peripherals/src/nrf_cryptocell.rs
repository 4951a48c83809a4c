//! `CryptoCell` 310 of the nRF52840: its start-up, random numbers, AES and SHA-2 (nRF52840 product
//! specification, chapter CRYPTOCELL; registers, modes and reset values from Nordic's
//! `nrf52840.svd`). The public-key engine, `ChaCha`, `CMAC` and SHA-1 are left out.
//!
//! No document states its times but one: a round of AES takes 4 cycles (`AES_HW_FLAGS`). Inferred
//! here: 4 more cycles for a block, a cycle for a round of SHA-2 and 16 for a block's words; a reset
//! is over at once; and the entropy source needs `SAMPLE_CNT` cycles for each of 192 bits, or four
//! times that with the von Neumann corrector, which drops three bits of four.

use aes::Aes128;
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};
use joulemark_kernel::{Cycles, Fault, FaultKind, Memories};
use sha2::compress256;

/// ENABLE; the registers of the engine follow from [`ENGINE`] on.
const ENABLE: u32 = 0x500;
const ENGINE: u32 = 0x1000;

/// Offsets into the engine's registers.
const PKA_OPCODE: u32 = 0x080;
const PKA_SRAM_WCLEAR: u32 = 0x0e0;
const RNG_ISR: u32 = 0x104;
const RNG_ICR: u32 = 0x108;
const TRNG_VALID: u32 = 0x110;
const EHR_DATA: u32 = 0x114;
const EHR_LAST: u32 = 0x128;
const NOISE_SOURCE: u32 = 0x12c;
const SAMPLE_CNT: u32 = 0x130;
const TRNG_DEBUG: u32 = 0x138;
const RNG_SW_RESET: u32 = 0x140;
const RNG_BUSY: u32 = 0x1b8;
const TRNG_RESET: u32 = 0x1bc;
const AES_CLK: u32 = 0x810;
const HASH_CLK: u32 = 0x818;
const PKA_CLK: u32 = 0x81c;
const DMA_CLK: u32 = 0x820;
const CLK_STATUS: u32 = 0x824;
const CHACHA_CLK: u32 = 0x858;
const IRR: u32 = 0xa00;
const IMR: u32 = 0xa04;
const ICR: u32 = 0xa08;
const AES_KEY: u32 = 0x400;
const AES_IV: u32 = 0x440;
const AES_CTR: u32 = 0x460;
const AES_CONTROL: u32 = 0x4c0;
const HASH_H: u32 = 0x640;
const HASH_PAD_AUTO: u32 = 0x684;
const HASH_CONTROL: u32 = 0x7c0;
const HASH_PAD_FORCE: u32 = 0x7c8;
const HASH_CUR_LEN: u32 = 0x7cc;
const HASH_SW_RESET: u32 = 0x7e4;
const CRYPTO_CTL: u32 = 0x900;
const SRC_MEM_ADDR: u32 = 0xc28;
const SRC_MEM_SIZE: u32 = 0xc2c;
const DST_MEM_ADDR: u32 = 0xd28;
const DST_MEM_SIZE: u32 = 0xd2c;
/// Registers that start what is left out: CMAC, `ChaCha` and data from the core or from the RNG's
/// RAM.
const REFUSED: [(u32, &str); 6] = [
    (0x478, "hardware key (CC_AES.AES_SK)"),
    (0x47c, "CMAC (CC_AES.AES_CMAC_INIT)"),
    (0x524, "CMAC (CC_AES.AES_CMAC_SIZE0_KICK)"),
    (0xc00, "data from the core (CC_DIN.DIN_BUFFER)"),
    (0xc34, "data from the RNG's RAM (CC_DIN.SRC_SRAM_SIZE)"),
    (0xc48, "data from the core (CC_DIN.DIN_CPU_DATA)"),
];
/// Busy bits of AES, all engines, the hash engine and both DMA engines.
const BUSY: [u32; 5] = [0x470, 0x910, 0x91c, 0xc20, 0xd20];
const SRAM_DATA: u32 = 0xf00;
const SRAM_ADDR: u32 = 0xf04;

/// IRR: all data were delivered to the engines, and all results to memory.
const MEM_TO_DIN: u32 = 1 << 6;
const DOUT_TO_MEM: u32 = 1 << 7;
/// Bytes of a block of AES and of SHA-2.
const AES_BLOCK: usize = 16;
const HASH_BLOCK: usize = 64;
/// RNG's part in IRR and IMR, and the entropy's in `RNG_ISR`.
const RNG_INT: u32 = 1 << 10;
const EHR_VALID: u32 = 1;
/// `TRNG_DEBUG`: the von Neumann corrector is off.
const VNC_BYPASS: u32 = 1 << 1;
const EHR_WORDS: usize = 6;

/// Reset values besides 0 (`nrf52840.svd`).
const RESET: [(u32, u32); 21] = [
    (0x084, 0x000f_f820), // N_NP_T0_T1_ADDR
    (0x088, 0x1000),      // PKA_STATUS
    (0x0b0, 1),           // PKA_PIPE
    (0x0b4, 1),           // PKA_DONE
    (0x0c4, 0x1611_0215), // PKA_VERSION
    (0x100, 0x3f),        // RNG_IMR
    (SAMPLE_CNT, 0xffff),
    (0x1c0, 0xf),         // RNG_HW_FLAGS
    (0x384, 1),           // CHACHA_VERSION
    (0x3b4, 1),           // CHACHA_HW_FLAGS
    (0x4c8, 0x108),       // AES_HW_FLAGS
    (0x7c4, 1),           // HASH_PAD
    (0x7dc, 0x0001_2001), // HASH_HW_FLAGS
    (0x7e8, 1),           // HASH_ENDIANNESS
    (CLK_STATUS, 0x100),
    // No document has this one: Nordic's library wants 0xf0 at its top before it starts.
    (0x928, 0xf000_0000),
    (IMR, 0x01ff_ffff),
    (0xa24, 0x20e0_0000), // HOST_SIGNATURE
    (0xa28, 0x4622_982c), // HOST_BOOT
    (0xa60, 2),           // HOST_IOT_LCS
    (0xf08, 1),           // SRAM_DATA_READY
];
/// `DIN_FIFO_EMPTY` and `DOUT_FIFO_EMPTY`.
const FIFO_EMPTY: [u32; 2] = [0xc50, 0xd50];

/// The subsystem.
#[derive(Clone, Debug)]
pub struct NrfCryptoCell {
    is_enabled: bool,
    held: Vec<u32>,
    /// RAM of the random number generator, and the next word's address.
    sram: Vec<u32>,
    sram_address: u32,
    /// The random numbers' state.
    random: u64,
    /// When entropy is collected.
    due: Cycles,
    /// The hash engine's input since the last whole block.
    rest: Vec<u8>,
    /// Bytes to take from memory.
    wanted: Option<usize>,
    /// The end of the work on them, and IRR's bits then.
    work: Option<(Cycles, u32)>,
}

const fn index(offset: u32) -> usize {
    offset as usize / 4
}

impl NrfCryptoCell {
    /// The state after reset; `seed` determines the random numbers.
    pub fn new(seed: u32) -> Self {
        let mut held = vec![0; 0x400];
        let empty = FIFO_EMPTY.into_iter().map(|offset| (offset, 1));
        for (offset, value) in RESET.into_iter().chain(empty) {
            held[index(offset)] = value;
        }
        Self {
            is_enabled: false,
            held,
            sram: vec![0; 0x400],
            sram_address: 0,
            // Non-zero, because xorshift never leaves zero, and other numbers than RNG's.
            random: (u64::from(seed) ^ 0xd1b5_4a32_d192_ed03) | 1,
            due: Cycles::NEVER,
            rest: Vec::new(),
            wanted: None,
            work: None,
        }
    }

    /// The state after a later reset: the random sequence continues.
    #[must_use]
    pub fn after_reset(&self) -> Self {
        Self {
            random: self.random,
            ..Self::new(0)
        }
    }

    const fn word(&self, offset: u32) -> u32 {
        self.held.as_slice()[index(offset)]
    }

    fn restart_entropy(&mut self, now: Cycles) {
        self.held[index(TRNG_VALID)] = 0;
        if self.word(NOISE_SOURCE) & 1 == 0 {
            self.due = Cycles::NEVER;
            return;
        }
        let per_bit = if self.word(TRNG_DEBUG) & VNC_BYPASS == 0 {
            4
        } else {
            1
        };
        let bits = 32 * EHR_WORDS as u64;
        self.due = Cycles(now.0 + bits * per_bit * u64::from(self.word(SAMPLE_CNT).max(1)));
    }

    /// Bring the entropy source up to `now`.
    pub fn advance(&mut self, now: Cycles) {
        if let Some((_, bits)) = self.work.take_if(|(end, _)| *end <= now) {
            self.held[index(IRR)] |= bits;
        }
        if self.due > now {
            return;
        }
        self.due = Cycles::NEVER;
        for word in 0..EHR_WORDS {
            // xorshift64 (G. Marsaglia, Xorshift RNGs, 2003).
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            self.held[index(EHR_DATA) + word] = (self.random >> 32) as u32;
        }
        self.held[index(TRNG_VALID)] = 1;
        self.held[index(RNG_ISR)] |= EHR_VALID;
        self.held[index(IRR)] |= RNG_INT;
    }

    /// When [`NrfCryptoCell::advance`] has work to do.
    pub fn next_event(&self) -> Cycles {
        if self.wanted.is_some() {
            return Cycles(0);
        }
        self.work.map_or(self.due, |(end, _)| end.min(self.due))
    }

    // ---- AES and SHA-2.

    fn bytes(&self, offset: u32, count: usize) -> Vec<u8> {
        let words = &self.held[index(offset)..index(offset) + count / 4];
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn set_bytes(&mut self, offset: u32, bytes: &[u8]) {
        for (place, word) in bytes.chunks_exact(4).enumerate() {
            let word = [word[0], word[1], word[2], word[3]];
            self.held[index(offset) + place] = u32::from_le_bytes(word);
        }
    }

    /// Take what DMA was told to take; return whether there was anything.
    ///
    /// # Errors
    /// The mode is left out, or the data are not in RAM.
    pub fn transfer(&mut self, memory: &mut dyn Memories, now: Cycles) -> Result<bool, Fault> {
        let Some(size) = self.wanted.take() else {
            return Ok(false);
        };
        let missing = |at: u32| {
            let what = "CryptoCell's DMA reaches RAM only";
            Fault::new(FaultKind::Peripheral, what).at(at)
        };
        let source = self.word(SRC_MEM_ADDR);
        let input = memory.read(source, size as u32);
        let input = input.filter(|_| source >= 0x2000_0000 || size == 0);
        let input = input.ok_or_else(|| missing(source))?;
        let (cycles, output) = match self.word(CRYPTO_CTL) & 0x1f {
            0 => (size as u64 / 4, Some(input)),
            1 => self.encrypt(&input)?,
            7 => (self.digest(&input)?, None),
            mode => {
                let what = format!(
                    "the emulation leaves out CryptoCell's mode {mode} (CC_CTL.CRYPTO_CTL)"
                );
                return Err(Fault::new(FaultKind::Absent, what));
            }
        };
        let mut bits = MEM_TO_DIN;
        if let Some(mut output) = output {
            let at = self.word(DST_MEM_ADDR);
            output.truncate((self.word(DST_MEM_SIZE) & 0x3fff_ffff) as usize);
            if !output.is_empty() && !memory.write(at, &output) {
                return Err(missing(at));
            }
            bits |= DOUT_TO_MEM;
        }
        self.work = Some((Cycles(now.0 + cycles), bits));
        Ok(true)
    }

    /// AES of some blocks; its time, and its output if there is one.
    fn encrypt(&mut self, input: &[u8]) -> Result<(u64, Option<Vec<u8>>), Fault> {
        let control = self.word(AES_CONTROL);
        let (mode, decrypts) = (control >> 2 & 7, control & 1 != 0);
        if mode > 3 || control >> 12 & 3 != 0 {
            let what = "the emulation leaves out CryptoCell's AES but for keys of 128 bits and ECB, CBC, \
                        CTR and CBC-MAC (CC_AES.AES_CONTROL)";
            return Err(Fault::new(FaultKind::Absent, what));
        }
        let cipher = Aes128::new(GenericArray::from_slice(&self.bytes(AES_KEY, AES_BLOCK)));
        let encrypt = |block: &[u8]| {
            let mut block = GenericArray::clone_from_slice(block);
            cipher.encrypt_block(&mut block);
            block.to_vec()
        };
        let decrypt = |block: &[u8]| {
            let mut block = GenericArray::clone_from_slice(block);
            cipher.decrypt_block(&mut block);
            block.to_vec()
        };
        let xor = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| a ^ b).collect::<Vec<u8>>();
        let state = if mode == 2 { AES_CTR } else { AES_IV };
        let mut chain = self.bytes(state, AES_BLOCK);
        let mut output = Vec::with_capacity(input.len());
        for piece in input.chunks(AES_BLOCK) {
            let mut block = piece.to_vec();
            block.resize(AES_BLOCK, 0);
            let result = match (mode, decrypts) {
                (0, false) => encrypt(&block),
                (0, true) => decrypt(&block),
                (1, true) => xor(
                    &decrypt(&block),
                    &std::mem::replace(&mut chain, block.clone()),
                ),
                (2, _) => {
                    let result = xor(&encrypt(&chain), &block);
                    let mut count = [0; AES_BLOCK];
                    count.copy_from_slice(&chain);
                    let count = u128::from_be_bytes(count).wrapping_add(1);
                    chain = count.to_be_bytes().to_vec();
                    result
                }
                _ => {
                    chain = encrypt(&xor(&chain, &block));
                    chain.clone()
                }
            };
            output.extend(&result[..piece.len()]);
        }
        self.set_bytes(state, &chain);
        let blocks = input.len().div_ceil(AES_BLOCK) as u64;
        Ok((blocks * 44, (mode != 3).then_some(output)))
    }

    /// SHA-2 of more bytes; its time.
    fn digest(&mut self, input: &[u8]) -> Result<u64, Fault> {
        if !matches!(self.word(HASH_CONTROL) & 15, 2 | 10) {
            let what = "the emulation leaves out CryptoCell's hashes but for SHA-256 and SHA-224 \
                        (CC_HASH.HASH_CONTROL)";
            return Err(Fault::new(FaultKind::Absent, what));
        }
        let counted =
            u64::from(self.word(HASH_CUR_LEN + 4)) << 32 | u64::from(self.word(HASH_CUR_LEN));
        let counted = counted + input.len() as u64;
        self.held[index(HASH_CUR_LEN)] = counted as u32;
        self.held[index(HASH_CUR_LEN + 4)] = (counted >> 32) as u32;
        self.rest.extend(input);
        let pads = self.word(HASH_PAD_AUTO) & 1 != 0;
        if pads {
            // FIPS 180-4, section 5.1.1.
            self.rest.push(0x80);
            while self.rest.len() % HASH_BLOCK != HASH_BLOCK - 8 {
                self.rest.push(0);
            }
            self.rest.extend((counted * 8).to_be_bytes());
            self.held[index(HASH_PAD_AUTO)] = 0;
        }
        let mut state = [0; 8];
        state.copy_from_slice(&self.held[index(HASH_H)..index(HASH_H) + 8]);
        let whole = self.rest.len() / HASH_BLOCK * HASH_BLOCK;
        for block in self.rest[..whole].chunks_exact(HASH_BLOCK) {
            compress256(&mut state, &[*GenericArray::from_slice(block)]);
        }
        self.rest.drain(..whole);
        self.held[index(HASH_H)..index(HASH_H) + 8].copy_from_slice(&state);
        Ok((whole / HASH_BLOCK) as u64 * 80)
    }

    /// Whether the interrupt line is asserted.
    pub const fn is_pending(&self) -> bool {
        self.is_enabled && self.word(IRR) & !self.word(IMR) != 0
    }

    /// Read the register at an offset; `None` if there is none. Inferred: while the subsystem is
    /// off, which Nordic's library does not mind, its registers are 0 and hold nothing.
    pub fn read(&mut self, offset: u32, now: Cycles) -> Option<u32> {
        if offset == ENABLE {
            return Some(self.is_enabled.into());
        }
        let offset = offset.checked_sub(ENGINE)?;
        if !self.is_enabled {
            return Some(0);
        }
        Some(match offset {
            _ if BUSY.contains(&offset) => (self.wanted.is_some() || self.work.is_some()).into(),
            RNG_BUSY => u32::from(self.due != Cycles::NEVER) * 3,
            CLK_STATUS => {
                let clocks = [(AES_CLK, 0), (HASH_CLK, 2), (PKA_CLK, 3), (CHACHA_CLK, 7)];
                let on = |(offset, bit): (u32, u32)| (self.word(offset) & 1) << bit;
                let dma = (self.word(DMA_CLK) & 1) << 8;
                clocks.into_iter().map(on).fold(dma, |bits, bit| bits | bit)
            }
            SRAM_DATA => {
                let at = self.sram_address as usize / 4 % self.sram.len();
                self.sram_address += 4;
                self.sram[at]
            }
            EHR_LAST => {
                // Reading the last word starts anew.
                let value = self.word(offset);
                self.restart_entropy(now);
                value
            }
            _ => *self.held.get(index(offset))?,
        })
    }

    /// Write the register at an offset; false if there is none.
    ///
    /// # Errors
    /// An engine that the emulation leaves out is started.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        if offset == ENABLE {
            self.is_enabled = value & 1 != 0;
            if !self.is_enabled {
                *self = self.after_reset();
            }
            return Ok(true);
        }
        let Some(offset) = offset.checked_sub(ENGINE) else {
            return Ok(false);
        };
        if !self.is_enabled {
            return Ok(true);
        }
        let refused = |what: &str| {
            let what = format!("the emulation leaves out CryptoCell's {what}");
            Err(Fault::new(FaultKind::Absent, what))
        };
        if let Some((_, what)) = REFUSED.iter().find(|(start, _)| *start == offset) {
            return refused(what);
        }
        match offset {
            PKA_OPCODE => return refused("public-key engine (CC_PKA.OPCODE)"),
            SRC_MEM_SIZE => self.wanted = Some((value & 0x3fff_ffff) as usize),
            HASH_PAD_FORCE if value >> 2 & 1 != 0 => self.wanted = Some(0),
            HASH_SW_RESET => self.rest.clear(),
            RNG_ICR => self.held[index(RNG_ISR)] &= !value,
            ICR => self.held[index(IRR)] &= !value,
            NOISE_SOURCE | SAMPLE_CNT | TRNG_DEBUG => {
                self.held[index(offset)] = value;
                self.restart_entropy(now);
            }
            RNG_SW_RESET | TRNG_RESET => {
                if offset == RNG_SW_RESET {
                    self.held[index(RNG_ISR)] = 0;
                    self.held[index(NOISE_SOURCE)] = 0;
                }
                self.restart_entropy(now);
            }
            SRAM_ADDR => self.sram_address = value,
            SRAM_DATA => {
                let at = self.sram_address as usize / 4 % self.sram.len();
                self.sram[at] = value;
                self.sram_address += 4;
            }
            PKA_SRAM_WCLEAR | RNG_ISR | TRNG_VALID | EHR_DATA..=EHR_LAST | CLK_STATUS | IRR => {}
            _ => match self.held.get_mut(index(offset)) {
                Some(held) => *held = value,
                None => return Ok(false),
            },
        }
        Ok(true)
    }
}
