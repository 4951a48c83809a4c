//! The AES accelerator shared by CC2538 (SWRU319, chapter AES and SHA Cryptoprocessor) and `CC26x0`
//! (SWCU117, chapter Cryptography): a key store, an AES engine and a DMA controller. Register
//! offsets and fields are those of TI's `hw_crypto.h` and of Contiki-NG's `dev/aes.h`; status bits
//! change when TI's and Contiki-NG's drivers expect them to.
//!
//! An operation's data is transferred when the engine has processed all of it: the engine's memory
//! accesses do not stall the core's.

use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use joulemark_kernel::{Cycles, Fault, FaultKind, Memories};

/// Bytes per block.
const BLOCK: usize = 16;
/// Number of 128-bit areas in the key store.
const AREAS: usize = 8;

type Block = [u8; BLOCK];

/// `DMAC_CHx_CTRL`.
const CH_EN: u32 = 1;
/// `CTRL_ALG_SEL`.
const TAG: u32 = 1 << 31;
const HASH: u32 = 1 << 2;
const AES: u32 = 1 << 1;
const KEYSTORE: u32 = 1;
/// `CTRL_INT_STAT`.
const DMA_BUS_ERR: u32 = 1 << 31;
const KEY_ST_WR_ERR: u32 = 1 << 30;
const KEY_ST_RD_ERR: u32 = 1 << 29;
const DMA_IN_DONE: u32 = 1 << 1;
const RESULT_AV: u32 = 1;
/// `AES_CTRL`.
const CONTEXT_READY: u32 = 1 << 31;
const SAVED_CONTEXT_READY: u32 = 1 << 30;
const SAVE_CONTEXT: u32 = 1 << 29;
const CCM: u32 = 1 << 18;
const GCM: u32 = 3 << 16;
const CBC_MAC: u32 = 1 << 15;
const CTR: u32 = 1 << 6;
const CBC: u32 = 1 << 5;
const ENCRYPT: u32 = 1 << 2;
const INPUT_READY: u32 = 1 << 1;
/// Fields that programs set: `SAVE_CONTEXT`, CCM's M and L, modes, counter width, direction.
const AES_CTRL_WRITTEN: u32 = 0x21ff_81e4;
/// `KEY_STORE_READ_AREA`.
const BUSY: u32 = 1 << 31;

/// Features of a chip's accelerator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Keys of 192 and 256 bits, and GCM.
    pub long_keys_and_gcm: bool,
    /// The SHA-256 engine exists; its operation is left out.
    pub hash: bool,
}

/// Durations in cycles of the core's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AesTiming {
    /// A round of AES.
    pub round: u32,
    /// A block, besides its rounds.
    pub block: u32,
    /// Additionally for a block whose input depends on the previous block's output.
    pub chain: u32,
    /// The DMA transfer of a word that overlaps nothing else: in the first input block and the last
    /// output block.
    pub word: u32,
    /// Loading a key from the key store into the engine.
    pub key: u32,
}

/// A key as the engine uses it.
#[derive(Clone)]
enum Key {
    Short(Box<Aes128>),
    Middle(Box<Aes192>),
    Long(Box<Aes256>),
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key of {} rounds", self.rounds())
    }
}

impl Key {
    fn new(bytes: &[u8]) -> Self {
        match bytes.len() {
            16 => Self::Short(Box::new(Aes128::new(GenericArray::from_slice(bytes)))),
            24 => Self::Middle(Box::new(Aes192::new(GenericArray::from_slice(bytes)))),
            _ => Self::Long(Box::new(Aes256::new(GenericArray::from_slice(bytes)))),
        }
    }

    const fn rounds(&self) -> u32 {
        match self {
            Self::Short(_) => 10,
            Self::Middle(_) => 12,
            Self::Long(_) => 14,
        }
    }

    fn encrypt(&self, mut block: Block) -> Block {
        let data = GenericArray::from_mut_slice(&mut block);
        match self {
            Self::Short(key) => key.encrypt_block(data),
            Self::Middle(key) => key.encrypt_block(data),
            Self::Long(key) => key.encrypt_block(data),
        }
        block
    }

    fn decrypt(&self, mut block: Block) -> Block {
        let data = GenericArray::from_mut_slice(&mut block);
        match self {
            Self::Short(key) => key.decrypt_block(data),
            Self::Middle(key) => key.decrypt_block(data),
            Self::Long(key) => key.decrypt_block(data),
        }
        block
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Ecb,
    Cbc,
    Ctr,
    CbcMac,
    Ccm,
    Gcm,
}

/// A channel of the DMA controller.
#[derive(Clone, Copy, Debug, Default)]
struct Channel {
    enabled: bool,
    priority: u32,
    address: u32,
    length: u32,
    /// It has a length to transfer and has not finished.
    active: bool,
}

/// What the engine is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Job {
    /// Load keys into the store.
    Keys,
    /// Take data that is only authenticated.
    Authenticate,
    /// Take data and, if the mode has output, return it.
    Crypt,
    /// Compute the tag of a message that is only authenticated and whose data has been taken.
    Tag,
}

/// An operation, from the write to `AES_CTRL` on.
#[derive(Clone, Debug)]
struct Operation {
    mode: Mode,
    encrypts: bool,
    begun: bool,
    /// Bytes still expected.
    auth_left: u64,
    left: u64,
    /// The previous block of the chain, for CBC, CBC-MAC and CCM.
    chain: Block,
    counter: Block,
    /// The tag's mask: the first key stream block of CCM and GCM.
    mask: Block,
    hash: Option<GHash>,
    /// Lengths in bytes that GCM appends to its data.
    auth_length: u64,
    length: u64,
}

/// The accelerator.
#[derive(Clone, Debug)]
pub struct TiAes {
    timing: AesTiming,
    features: Features,
    areas: [Option<Block>; AREAS],
    /// `KEY_STORE_SIZE`: 1 to 3 for 128, 192 and 256 bits.
    key_size: u32,
    write_area: u32,
    read_area: u32,
    key_ready: Cycles,
    key: Option<Key>,
    iv: Block,
    ctrl: u32,
    context_saved: bool,
    length: [u32; 2],
    auth_length: u32,
    tag: Block,
    operation: Option<Operation>,
    channels: [Channel; 2],
    run_parameters: u32,
    alg_sel: u32,
    prot_en: u32,
    int_level: bool,
    int_en: u32,
    int_stat: u32,
    job: Option<(Job, Cycles)>,
}

impl TiAes {
    /// The state after reset.
    pub const fn new(timing: AesTiming, features: Features) -> Self {
        Self {
            timing,
            features,
            areas: [None; AREAS],
            key_size: 1,
            write_area: 0,
            read_area: 0,
            key_ready: Cycles(0),
            key: None,
            iv: [0; BLOCK],
            ctrl: 0,
            context_saved: false,
            length: [0; 2],
            auth_length: 0,
            tag: [0; BLOCK],
            operation: None,
            channels: [Channel {
                enabled: false,
                priority: 0,
                address: 0,
                length: 0,
                active: false,
            }; 2],
            run_parameters: 0x6000,
            alg_sel: 0,
            prot_en: 0,
            int_level: false,
            int_en: 0,
            int_stat: 0,
            job: None,
        }
    }

    /// Return to the state after reset.
    pub fn reset(&mut self) {
        *self = Self::new(self.timing, self.features);
    }

    /// Whether the interrupt line is asserted.
    pub const fn is_pending(&self) -> bool {
        self.int_stat & self.int_en != 0
    }

    /// When [`TiAes::transfer`] has work to do.
    pub fn next_event(&self) -> Cycles {
        self.job.map_or(Cycles::NEVER, |(_, at)| at)
    }

    fn block_cycles(&self, chained: bool) -> u64 {
        let rounds = self.key.as_ref().map_or(10, Key::rounds);
        let chain = if chained { self.timing.chain } else { 0 };
        u64::from(self.timing.block + rounds * self.timing.round + chain)
    }

    /// Cycles to transfer a block's words when nothing overlaps the transfer.
    const fn block_transfer(&self) -> u64 {
        (BLOCK as u32 / 4 * self.timing.word) as u64
    }

    /// Cycles that a job takes for this many bytes.
    fn job_cycles(&self, job: Job, bytes: u64) -> u64 {
        let Some(operation) = &self.operation else {
            return 0;
        };
        let blocks = bytes.div_ceil(BLOCK as u64);
        let (plain, chained) = (self.block_cycles(false), self.block_cycles(true));
        // Work before the first block and after the last one.
        let first = match operation.mode {
            _ if operation.begun => 0,
            // B0.
            Mode::Ccm => chained,
            // The hash's key.
            Mode::Gcm => plain,
            _ => 0,
        };
        let is_last = operation.left == if job == Job::Crypt { bytes } else { 0 };
        let last = match operation.mode {
            // The key stream that masks the tag.
            Mode::Ccm | Mode::Gcm if is_last => plain,
            _ => 0,
        };
        let each = match (operation.mode, job) {
            (Mode::Ccm, Job::Crypt) => 2 * chained,
            (Mode::Ccm | Mode::CbcMac, _) => chained,
            (Mode::Cbc, _) if operation.encrypts => chained,
            _ => plain,
        };
        // CCM prefixes the authenticated data with its length.
        let blocks = match (operation.mode, job) {
            (Mode::Ccm, Job::Authenticate) => {
                (bytes + auth_prefix(bytes).len() as u64).div_ceil(BLOCK as u64)
            }
            _ => blocks,
        };
        first + each * blocks + last
    }

    /// How long before its end the engine has the last data of a message that is only
    /// authenticated: that data's block and the tag's mask are still to be computed. Without this
    /// delay, a driver that clears both flags once the data is in (TI's, `CCMAuthEncryptStart`)
    /// would wait for a tag that is already there.
    fn tag_cycles(&self, job: Job) -> u64 {
        let operation = self.operation.as_ref();
        let is_last = operation.is_some_and(|operation| operation.left == 0);
        if job == Job::Authenticate && is_last {
            self.block_cycles(true) + self.block_cycles(false)
        } else {
            0
        }
    }

    fn mode(&self) -> Result<Mode, Fault> {
        let mode = match self.ctrl & (CCM | GCM | CBC_MAC | CTR | CBC) {
            0 => Mode::Ecb,
            CBC => Mode::Cbc,
            CTR => Mode::Ctr,
            CBC_MAC => Mode::CbcMac,
            both if both == CCM | CTR => Mode::Ccm,
            both if both == GCM | CTR && self.features.long_keys_and_gcm => Mode::Gcm,
            other => {
                return Err(Fault::new(
                    FaultKind::Absent,
                    format!(
                        "the emulation's AES engine has no mode {other:#07x} (AES_CTRL): there are ECB, \
                         CBC, CTR, CBC-MAC, CCM with CTR{}",
                        if self.features.long_keys_and_gcm {
                            ", and GCM with CTR that makes its own hash key"
                        } else {
                            ""
                        }
                    ),
                ));
            }
        };
        Ok(mode)
    }

    /// Start the operation that the registers describe, when its first data arrives.
    fn begin(&mut self) -> Result<(), Fault> {
        if self.operation.is_some() {
            return Ok(());
        }
        let mode = self.mode()?;
        if self.key.is_none() {
            return Err(Fault::new(
                FaultKind::Peripheral,
                "the AES engine gets data and has no key: write KEY_STORE_READ_AREA first",
            ));
        }
        let combined = matches!(mode, Mode::Ccm | Mode::Gcm);
        let auth_length = if combined { self.auth_length.into() } else { 0 };
        let length = u64::from(self.length[1]) << 32 | u64::from(self.length[0]);
        self.operation = Some(Operation {
            mode,
            encrypts: self.ctrl & ENCRYPT != 0,
            begun: false,
            auth_left: auth_length,
            left: length,
            chain: if mode == Mode::Ccm {
                [0; BLOCK]
            } else {
                self.iv
            },
            counter: self.iv,
            mask: [0; BLOCK],
            hash: None,
            auth_length,
            length,
        });
        Ok(())
    }

    /// Start the DMA controller and the engine if everything that they need is set up.
    fn start(&mut self, now: Cycles) -> Result<(), Fault> {
        if self.job.is_some() || !self.channels[0].active {
            return Ok(());
        }
        let bytes = u64::from(self.channels[0].length);
        let job = match self.alg_sel & !TAG {
            KEYSTORE => Job::Keys,
            AES => {
                self.begin()?;
                let Some(operation) = &self.operation else {
                    return Ok(());
                };
                if operation.auth_left > 0 {
                    Job::Authenticate
                } else {
                    let has_output = operation.mode != Mode::CbcMac;
                    if has_output && !self.channels[1].active {
                        // The engine waits for an output buffer.
                        return Ok(());
                    }
                    Job::Crypt
                }
            }
            HASH if self.features.hash => {
                return Err(Fault::new(
                    FaultKind::Absent,
                    "the emulation leaves out the hash engine (CTRL_ALG_SEL.HASH)",
                ));
            }
            other => {
                return Err(Fault::new(
                    FaultKind::Peripheral,
                    format!(
                        "the DMA controller has no one destination: CTRL_ALG_SEL is {other:#x}"
                    ),
                ));
            }
        };
        let transfer = match job {
            Job::Keys => bytes.div_ceil(4) * u64::from(self.timing.word),
            Job::Crypt => 2 * self.block_transfer(),
            Job::Authenticate | Job::Tag => self.block_transfer(),
        };
        let takes = transfer + self.job_cycles(job, bytes) - self.tag_cycles(job);
        self.job = Some((job, now.max(self.key_ready) + Cycles(takes)));
        Ok(())
    }

    fn set(&mut self, bits: u32) -> Result<(), Fault> {
        if !self.int_level {
            return Err(Fault::new(
                FaultKind::Absent,
                "the emulation leaves out the AES accelerator's pulse interrupts: set CTRL_INT_CFG.LEVEL",
            ));
        }
        self.int_stat |= bits & self.int_en;
        Ok(())
    }

    /// Make the transfers that are due; return whether there were any.
    ///
    /// # Errors
    /// The set-up uses a feature that the emulation leaves out.
    pub fn transfer(&mut self, memory: &mut dyn Memories, now: Cycles) -> Result<bool, Fault> {
        let Some((job, at)) = self.job else {
            return Ok(false);
        };
        if at > now {
            return Ok(false);
        }
        self.job = None;
        if job == Job::Tag {
            self.complete(memory)?;
            self.start(now)?;
            return Ok(true);
        }
        let input = self.channels[0];
        self.channels[0].active = false;
        let Some(data) = memory.read(input.address, input.length) else {
            self.channels[1].active = false;
            self.int_stat |= DMA_BUS_ERR;
            return Ok(true);
        };
        match job {
            Job::Keys => self.store_keys(&data)?,
            Job::Authenticate | Job::Tag => {
                let rest = self.tag_cycles(job);
                self.authenticate(&data)?;
                self.set(DMA_IN_DONE)?;
                if rest != 0 && self.is_complete() {
                    self.job = Some((Job::Tag, at + Cycles(rest)));
                    return Ok(true);
                }
            }
            Job::Crypt => {
                let result = self.crypt(&data)?;
                self.set(DMA_IN_DONE)?;
                let has_output = !result.is_empty();
                if has_output && !self.put(memory, &result) {
                    return Ok(true);
                }
                if has_output {
                    self.set(RESULT_AV)?;
                }
            }
        }
        if job != Job::Keys && self.is_complete() {
            self.complete(memory)?;
        }
        // Start what the program has set up meanwhile.
        self.start(now)?;
        Ok(true)
    }

    /// Complete an operation.
    fn complete(&mut self, memory: &mut dyn Memories) -> Result<(), Fault> {
        self.finish();
        if self.alg_sel & TAG != 0 && self.channels[1].active {
            let tag = self.tag;
            self.put(memory, &tag);
        }
        self.set(RESULT_AV)
    }

    /// Write a result to the output channel's address; false for a bus error.
    fn put(&mut self, memory: &mut dyn Memories, data: &[u8]) -> bool {
        let output = &mut self.channels[1];
        output.active = false;
        let length = data.len().min(output.length as usize);
        let is_there = memory.write(output.address, &data[..length]);
        if !is_there {
            self.int_stat |= DMA_BUS_ERR;
        }
        is_there
    }

    fn is_complete(&self) -> bool {
        let operation = self.operation.as_ref();
        operation.is_some_and(|operation| operation.auth_left == 0 && operation.left == 0)
    }

    fn store_keys(&mut self, data: &[u8]) -> Result<(), Fault> {
        let mut blocks = data.chunks(BLOCK);
        for area in 0..AREAS {
            if self.write_area >> area & 1 == 0 {
                continue;
            }
            let Some(block) = blocks.next() else {
                self.int_stat |= KEY_ST_WR_ERR;
                break;
            };
            if self.areas[area].is_some() {
                // An area can be written only once, until WRITTEN_AREA frees it.
                self.int_stat |= KEY_ST_WR_ERR;
                continue;
            }
            match block.try_into() {
                Ok(block) => self.areas[area] = Some(block),
                Err(_) => self.int_stat |= KEY_ST_WR_ERR,
            }
        }
        if blocks.next().is_some() {
            self.int_stat |= KEY_ST_WR_ERR;
        }
        self.write_area = 0;
        self.set(DMA_IN_DONE | RESULT_AV)
    }

    fn load_key(&mut self, area: u32, now: Cycles) {
        self.read_area = area & 0xf;
        self.key_ready = now + Cycles(self.timing.key.into());
        let area = self.read_area as usize;
        let (areas, bytes) = match self.key_size {
            1 => (1, 16),
            2 => (2, 24),
            _ => (2, 32),
        };
        let parts = self.areas.get(area..area + areas).unwrap_or_default();
        let whole: Option<Vec<Block>> = parts.iter().copied().collect();
        let key = whole.map(|blocks| blocks.concat());
        self.key = key
            .filter(|key| key.len() >= bytes)
            .map(|key| Key::new(&key[..bytes]));
        if self.key.is_none() {
            self.int_stat |= KEY_ST_RD_ERR;
        }
        self.operation = None;
    }

    /// Prepare CCM or GCM before its first data.
    fn prepare(operation: &mut Operation, key: &Key, ctrl: u32) {
        if std::mem::replace(&mut operation.begun, true) {
            return;
        }
        match operation.mode {
            Mode::Ccm => {
                // RFC 3610, section 2.2; the counter block already has L in its flags, and the
                // nonce.
                let mut first = operation.counter;
                let (length_less_1, field) = (ctrl >> 19 & 7, ctrl >> 22 & 7);
                let has_data = if operation.auth_length > 0 { 0x40 } else { 0 };
                first[0] = (has_data | field << 3 | length_less_1) as u8;
                let bytes = operation.length.to_be_bytes();
                let width = length_less_1 as usize + 1;
                first[BLOCK - width..].copy_from_slice(&bytes[bytes.len() - width..]);
                operation.chain = key.encrypt(first);
                operation.mask = key.encrypt(operation.counter);
                count(&mut operation.counter, BLOCK);
            }
            Mode::Gcm => {
                let hash_key = key.encrypt([0; BLOCK]);
                operation.hash = Some(GHash::new(GenericArray::from_slice(&hash_key)));
                operation.mask = key.encrypt(operation.counter);
                count(&mut operation.counter, counter_bytes(ctrl));
            }
            _ => {}
        }
    }

    fn authenticate(&mut self, data: &[u8]) -> Result<(), Fault> {
        let (Some(operation), Some(key)) = (&mut self.operation, &self.key) else {
            return Ok(());
        };
        if (data.len() as u64) < operation.auth_left {
            return Err(Fault::new(
                FaultKind::Absent,
                "the emulation leaves out additional authenticated data in parts: DMAC_CH0_DMALENGTH is \
                 less than AES_AUTH_LENGTH",
            ));
        }
        let data = &data[..operation.auth_left as usize];
        Self::prepare(operation, key, self.ctrl);
        operation.auth_left = 0;
        if let Some(hash) = &mut operation.hash {
            hash.update_padded(data);
            return Ok(());
        }
        let mut whole = auth_prefix(data.len() as u64);
        whole.extend_from_slice(data);
        for block in whole.chunks(BLOCK) {
            operation.chain = key.encrypt(combine(operation.chain, block));
        }
        Ok(())
    }

    /// Encrypt or decrypt data; return the output.
    fn crypt(&mut self, data: &[u8]) -> Result<Vec<u8>, Fault> {
        let (Some(operation), Some(key)) = (&mut self.operation, &self.key) else {
            return Ok(Vec::new());
        };
        let whole = data.len().is_multiple_of(BLOCK);
        let is_last = data.len() as u64 >= operation.left;
        let fills = matches!(operation.mode, Mode::Ecb | Mode::Cbc);
        if !whole && (fills || !is_last) {
            return Err(Fault::new(
                FaultKind::Peripheral,
                format!(
                    "the AES engine gets {} bytes, which are no whole blocks of 16 and {}",
                    data.len(),
                    if fills {
                        "its mode pads none"
                    } else {
                        "not the last of AES_C_LENGTH"
                    }
                ),
            ));
        }
        Self::prepare(operation, key, self.ctrl);
        operation.left = operation.left.saturating_sub(data.len() as u64);
        let width = counter_bytes(self.ctrl);
        let mut output = Vec::with_capacity(data.len());
        for block in data.chunks(BLOCK) {
            let input = combine([0; BLOCK], block);
            let result = match operation.mode {
                Mode::Ecb if operation.encrypts => key.encrypt(input),
                Mode::Ecb => key.decrypt(input),
                Mode::Cbc if operation.encrypts => {
                    operation.chain = key.encrypt(combine(operation.chain, block));
                    operation.chain
                }
                Mode::Cbc => {
                    let plain = combine(key.decrypt(input), &operation.chain);
                    operation.chain = input;
                    plain
                }
                Mode::CbcMac => {
                    operation.chain = key.encrypt(combine(operation.chain, block));
                    continue;
                }
                Mode::Ctr | Mode::Ccm | Mode::Gcm => {
                    let stream = key.encrypt(operation.counter);
                    count(&mut operation.counter, width);
                    let result = combine(stream, block);
                    let (plain, cipher) = if operation.encrypts {
                        (block, &result[..block.len()])
                    } else {
                        (&result[..block.len()], block)
                    };
                    if operation.mode == Mode::Ccm {
                        operation.chain = key.encrypt(combine(operation.chain, plain));
                    }
                    if let Some(hash) = &mut operation.hash {
                        hash.update_padded(cipher);
                    }
                    result
                }
            };
            output.extend_from_slice(&result[..block.len()]);
        }
        Ok(output)
    }

    /// Make the tag and the initialization vector readable after all data has been processed.
    fn finish(&mut self) {
        let Some(mut operation) = self.operation.take() else {
            return;
        };
        match operation.mode {
            Mode::CbcMac => self.tag = operation.chain,
            Mode::Ccm => self.tag = combine(operation.chain, &operation.mask),
            Mode::Gcm => {
                let lengths = [operation.auth_length, operation.length];
                let bits = lengths.map(|bytes| (bytes * 8).to_be_bytes()).concat();
                if let Some(mut hash) = operation.hash.take() {
                    hash.update_padded(&bits);
                    self.tag = combine(hash.finalize().into(), &operation.mask);
                }
            }
            Mode::Cbc => self.iv = operation.chain,
            Mode::Ctr => self.iv = operation.counter,
            Mode::Ecb => {}
        }
        self.context_saved = self.ctrl & SAVE_CONTEXT != 0;
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&mut self, offset: u32, now: Cycles) -> Option<u32> {
        Some(match offset {
            0x00 | 0x20 => {
                let channel = &self.channels[offset as usize / 0x20];
                channel.priority | u32::from(channel.enabled)
            }
            0x04 | 0x24 => self.channels[offset as usize / 0x20].address,
            0x0c | 0x2c => self.channels[offset as usize / 0x20].length,
            0x18 => {
                let [input, output] = self.channels.map(|channel| u32::from(channel.active));
                input | output << 1
            }
            0x78 => self.run_parameters,
            // No port error. The rest are write-only: hash and secondary keys, lengths, resets and
            // flag changes; but TI's driver does read the register that clears flags.
            0x1c | 0x7c | 0x500..=0x51c | 0x554..=0x55c | 0x740 | 0x788 | 0x78c => 0,
            // Two channels and one port; module numbers 209 (DMA controller) and 120 (accelerator).
            0xf8 if self.features.hash => 0x202,
            0xfc => 0x0101_2ed1,
            0x400 => self.write_area,
            0x404 => {
                let areas = self.areas.iter().enumerate();
                areas.fold(0, |all, (area, key)| all | u32::from(key.is_some()) << area)
            }
            0x408 => self.key_size,
            0x40c => self.read_area | if now < self.key_ready { BUSY } else { 0 },
            0x540..=0x54c => {
                let word = word(&self.iv, offset - 0x540);
                self.context_saved &= offset != 0x54c || self.ctrl & (CCM | GCM | CBC_MAC) != 0;
                word
            }
            0x550 => {
                let mut value = self.ctrl;
                let ready = self.job.is_none() && self.operation.is_none();
                value |= if ready { CONTEXT_READY } else { 0 };
                value |= if self.context_saved {
                    SAVED_CONTEXT_READY
                } else {
                    0
                };
                value | if self.job.is_none() { INPUT_READY } else { 0 }
            }
            0x570..=0x57c => {
                let word = word(&self.tag, offset - 0x570);
                self.context_saved &= offset != 0x57c;
                word
            }
            0x700 => self.alg_sel,
            0x704 => self.prot_en,
            0x780 => u32::from(self.int_level),
            0x784 => self.int_en,
            0x790 => self.int_stat,
            // Both key sizes, GCM, CCM, hash, AES, key store.
            0x7f8 if self.features.hash => 0x0101_01f7,
            0x7fc => 0x9110_8778,
            _ => return None,
        })
    }

    /// Write the register at an offset; false if there is none.
    ///
    /// # Errors
    /// The value uses a feature that the emulation leaves out, or one that the engine does not
    /// have.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        match offset {
            0x00 | 0x20 => {
                let channel = &mut self.channels[offset as usize / 0x20];
                channel.enabled = value & CH_EN != 0;
                channel.priority = value & 2;
            }
            0x04 | 0x24 => self.channels[offset as usize / 0x20].address = value,
            0x0c | 0x2c => {
                let channel = &mut self.channels[offset as usize / 0x20];
                channel.length = value & 0xffff;
                channel.active = channel.enabled && channel.length > 0;
                self.start(now)?;
            }
            0x1c => {
                if value & 1 != 0 {
                    self.channels = Default::default();
                    self.job = None;
                }
            }
            0x78 => self.run_parameters = value & 0xff00,
            0x400 => self.write_area = value & 0xff,
            0x404 => {
                for (area, key) in self.areas.iter_mut().enumerate() {
                    if value >> area & 1 != 0 {
                        *key = None;
                    }
                }
            }
            0x408 => {
                let size = value & 3;
                // TI's driver library sets 0 before it sets a size (crypto.c); only keys need a
                // valid size.
                if size > 1 && !self.features.long_keys_and_gcm {
                    return Err(Fault::new(
                        FaultKind::Peripheral,
                        format!("KEY_STORE_SIZE is set to {size}, which is reserved"),
                    ));
                }
                self.key_size = size;
                self.areas = [None; AREAS];
            }
            0x40c if self.key_size == 0 => {
                return Err(Fault::new(
                    FaultKind::Peripheral,
                    "a key is read from the key store while KEY_STORE_SIZE is 0, which is reserved",
                ));
            }
            0x40c => self.load_key(value, now),
            0x500..=0x51c => {}
            0x540..=0x54c => put_word(&mut self.iv, offset - 0x540, value),
            0x550 => {
                self.ctrl = value & AES_CTRL_WRITTEN;
                self.operation = None;
                self.context_saved = false;
            }
            0x554 | 0x558 => {
                let high = offset == 0x558;
                self.length[usize::from(high)] = if high { value & 0x1fff_ffff } else { value };
            }
            0x55c => self.auth_length = value,
            0x700 => {
                self.alg_sel = value & (TAG | HASH | AES | KEYSTORE);
                if self.alg_sel == 0 {
                    // The DMA controller's clock stops.
                    self.channels
                        .iter_mut()
                        .for_each(|channel| channel.active = false);
                    self.job = None;
                }
            }
            0x704 => self.prot_en = value & 1,
            0x740 => {
                if value & 1 != 0 {
                    self.areas = [None; AREAS];
                    (self.key, self.operation, self.job) = (None, None, None);
                    (self.alg_sel, self.int_stat) = (0, 0);
                }
            }
            0x780 => self.int_level = value & 1 != 0,
            0x784 => self.int_en = value & (DMA_IN_DONE | RESULT_AV),
            0x788 => self.int_stat &= !value,
            0x78c => self.int_stat |= value & (DMA_IN_DONE | RESULT_AV),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Width of the counter in a counter block, in bytes.
const fn counter_bytes(ctrl: u32) -> usize {
    4 * ((ctrl >> 7 & 3) as usize + 1)
}

/// Increment the counter in a block's last bytes.
fn count(block: &mut Block, width: usize) {
    for byte in block[BLOCK - width..].iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            break;
        }
    }
}

/// Encode the length of CCM's authenticated data (RFC 3610, section 2.2).
fn auth_prefix(length: u64) -> Vec<u8> {
    let bytes = length.to_be_bytes();
    if length < 0xff00 {
        bytes[6..].to_vec()
    } else {
        [&[0xff, 0xfe], &bytes[4..]].concat()
    }
}

/// Exclusive-or a block with up to 16 bytes, padded with zeros.
fn combine(mut block: Block, other: &[u8]) -> Block {
    for (byte, other) in block.iter_mut().zip(other) {
        *byte ^= other;
    }
    block
}

fn word(block: &Block, at: u32) -> u32 {
    let at = at as usize & 0xc;
    u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]])
}

fn put_word(block: &mut Block, at: u32, value: u32) {
    let at = at as usize & 0xc;
    block[at..at + 4].copy_from_slice(&value.to_le_bytes());
}
