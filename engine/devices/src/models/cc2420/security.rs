//! The AES engine (SWRS041B, section 21): single blocks, CTR, CBC-MAC and CCM within the FIFOs.

use aes::Aes128;
use aes::cipher::{BlockEncrypt, KeyInit};

use super::registers::ram;

type Block = [u8; 16];

/// `SECCTRL0.SEC_MODE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    CbcMac,
    Ctr,
    Ccm,
}

/// An operation within a FIFO, with the settings at its start.
#[derive(Clone, Copy, Debug)]
pub struct Inline {
    pub mode: Mode,
    key: Block,
    /// The flags come first.
    nonce: Block,
    /// `SEC_TXL` or `SEC_RXL`: bytes after the length byte that stay in the clear.
    open: usize,
    /// Size of the MIC in bytes.
    mic: usize,
    /// `SEC_CBC_HEAD`: CBC-MAC input begins with the number of authenticated bytes.
    has_head: bool,
    /// The code for the MIC's length, `SEC_M`.
    m: u8,
}

/// Offsets of a frame's parts, counting its length byte.
struct Layout {
    text: usize,
    mic: usize,
    end: usize,
}

/// Size of the FCS, which follows the secured data.
const FCS_BYTES: usize = 2;

/// Read 16 bytes of RAM, which holds them least significant first, with the most significant first.
fn reversed(memory: &[u8; ram::BYTES], at: usize) -> Block {
    std::array::from_fn(|index| memory[at + 15 - index])
}

/// Read one of the two keys.
pub fn key(memory: &[u8; ram::BYTES], number: u16) -> Block {
    reversed(memory, if number == 0 { ram::KEY0 } else { ram::KEY1 })
}

/// Encrypt a block.
pub fn encrypt(key: &Block, block: &Block) -> Block {
    let mut block = (*block).into();
    Aes128::new(key.into()).encrypt_block(&mut block);
    block.into()
}

impl Inline {
    /// Take the settings from the registers; `None` if in-line security is disabled.
    pub fn new(memory: &[u8; ram::BYTES], control: [u16; 2], is_transmitter: bool) -> Option<Self> {
        let mode = match control[0] & 3 {
            0 => return None,
            1 => Mode::CbcMac,
            2 => Mode::Ctr,
            _ => Mode::Ccm,
        };
        let m = (control[0] >> 2 & 7) as u8;
        let (select, nonce, open) = if is_transmitter {
            (control[0] >> 6 & 1, ram::TXNONCE, control[1] >> 8)
        } else {
            (control[0] >> 5 & 1, ram::RXNONCE, control[1])
        };
        Some(Self {
            mode,
            key: key(memory, select),
            nonce: reversed(memory, nonce),
            open: usize::from(open & 0x7f),
            mic: if mode == Mode::Ctr {
                0
            } else {
                2 * usize::from(m) + 2
            },
            has_head: control[0] >> 8 & 1 != 0,
            m,
        })
    }

    /// Compute the layout of a frame whose length byte is `length`.
    fn layout(&self, length: usize) -> Layout {
        let end = (length + 1).saturating_sub(FCS_BYTES).max(1);
        let mic = end.saturating_sub(self.mic).max(1);
        Layout {
            text: (1 + self.open).min(mic),
            mic,
            end,
        }
    }

    /// Where the encrypted or authenticated text begins and ends, counting the length byte.
    pub fn text(&self, length: usize) -> [usize; 2] {
        let layout = self.layout(length);
        [layout.text, layout.mic]
    }

    /// The number of blocks that AES encrypts before the text.
    pub fn first_blocks(&self, length: usize) -> u64 {
        let open = self.layout(length).text - 1;
        match self.mode {
            Mode::Ccm if open > 0 => 1 + (2 + open).div_ceil(16) as u64,
            Mode::Ccm => 1,
            _ => 0,
        }
    }

    /// What the byte at a place in the text is combined with.
    pub fn pad(&self, place: usize) -> u8 {
        if self.mode == Mode::CbcMac {
            return 0;
        }
        let first = u16::from_be_bytes([self.nonce[14], self.nonce[15]]);
        self.key_stream(first.wrapping_add((place / 16) as u16))[place % 16]
    }

    /// The bytes of a frame, including its length byte, that are needed before the operation can
    /// end.
    pub fn bytes(&self, length: usize, is_transmitter: bool) -> usize {
        let layout = self.layout(length);
        // A transmitter computes the MIC itself.
        if is_transmitter {
            layout.mic
        } else {
            layout.end
        }
    }

    /// The number of blocks that AES encrypts.
    pub fn blocks(&self, length: usize) -> u64 {
        let layout = self.layout(length);
        let text = layout.mic - layout.text;
        let blocks = match self.mode {
            Mode::CbcMac => (usize::from(self.has_head) + text).div_ceil(16),
            Mode::Ctr => text.div_ceil(16),
            Mode::Ccm => {
                let open = layout.text - 1;
                let header = if open == 0 {
                    0
                } else {
                    (2 + open).div_ceil(16)
                };
                // The first block, the header, the text twice, the MIC.
                1 + header + 2 * text.div_ceil(16) + 1
            }
        };
        blocks as u64
    }

    /// The number of blocks still to be encrypted if the last byte arrives late.
    pub fn last_blocks(&self, length: usize) -> u64 {
        let last = match self.mode {
            Mode::CbcMac | Mode::Ctr => 1,
            Mode::Ccm => 3,
        };
        self.blocks(length).min(last)
    }

    /// The first byte of counter blocks, or of the first block of a CBC-MAC (figure 26).
    fn flags(&self, is_mac: bool) -> u8 {
        let flags = self.nonce[0];
        let size = flags & 7;
        if is_mac {
            (flags >> 3 & 3) << 6 | self.m << 3 | size
        } else {
            (flags >> 5 & 3) << 6 | size
        }
    }

    fn mac(&self, frame: &[u8], layout: &Layout) -> Block {
        let (open, text) = (&frame[1..layout.text], &frame[layout.text..layout.mic]);
        let mut input = Vec::with_capacity(160);
        if self.mode == Mode::Ccm {
            input.extend(self.nonce);
            input[0] = self.flags(true);
            input[14..].copy_from_slice(&(text.len() as u16).to_be_bytes());
            if !open.is_empty() {
                input.extend((open.len() as u16).to_be_bytes());
                input.extend(open);
                input.resize(input.len().next_multiple_of(16), 0);
            }
        } else if self.has_head {
            // The data sheet's formula for a transmitter, the length minus SEC_TXL and 2, includes
            // the MIC, which contradicts its text: "the length of the data to be authenticated".
            input.push(text.len() as u8);
        }
        input.extend(text);
        let mut mac = Block::default();
        for chunk in input.chunks(16) {
            for (sum, byte) in mac.iter_mut().zip(chunk) {
                *sum ^= byte;
            }
            mac = encrypt(&self.key, &mac);
        }
        mac
    }

    fn key_stream(&self, counter: u16) -> Block {
        let mut block = self.nonce;
        block[0] = self.flags(false);
        block[14..].copy_from_slice(&counter.to_be_bytes());
        encrypt(&self.key, &block)
    }

    /// Encrypt or decrypt the text; counters continue from the nonce's.
    fn crypt(&self, text: &mut [u8]) {
        let first = u16::from_be_bytes([self.nonce[14], self.nonce[15]]);
        for (number, chunk) in (0..).zip(text.chunks_mut(16)) {
            let stream = self.key_stream(first.wrapping_add(number));
            for (byte, pad) in chunk.iter_mut().zip(stream) {
                *byte ^= pad;
            }
        }
    }

    /// The MIC as it appears in the frame.
    fn integrity(&self, frame: &[u8], layout: &Layout) -> Block {
        let mut mac = self.mac(frame, layout);
        if self.mode == Mode::Ccm {
            for (byte, pad) in mac.iter_mut().zip(self.key_stream(0)) {
                *byte ^= pad;
            }
        }
        mac
    }

    /// Secure a frame, including its length byte, before it is sent.
    pub fn secure(&self, frame: &mut [u8]) {
        let layout = self.layout(frame.len() - 1);
        let mac = (self.mode != Mode::Ctr).then(|| self.integrity(frame, &layout));
        if self.mode != Mode::CbcMac {
            self.crypt(&mut frame[layout.text..layout.mic]);
        }
        if let Some(mac) = mac {
            let mic = &mut frame[layout.mic..layout.end];
            mic.copy_from_slice(&mac[..mic.len()]);
        }
    }

    /// Decrypt a received frame, including its length byte, and report in the last byte of its MIC
    /// whether the MIC is correct.
    pub fn unsecure(&self, frame: &mut [u8]) {
        let layout = self.layout(frame.len() - 1);
        if self.mode != Mode::CbcMac {
            self.crypt(&mut frame[layout.text..layout.mic]);
        }
        if self.mode != Mode::Ctr {
            let mac = self.integrity(frame, &layout);
            let mic = &mut frame[layout.mic..layout.end];
            let is_right = *mic == mac[..mic.len()];
            if let Some(last) = mic.last_mut() {
                *last = if is_right { 0x00 } else { 0xff };
            }
        }
    }
}
