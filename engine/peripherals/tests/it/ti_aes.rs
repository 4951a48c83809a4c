//! The AES accelerator at its registers: times, errors, and rarely used features.
//! `tests/chips/test_aes_accelerator.py` compares its data with OpenSSL's in all modes.

use crate::memory::Memory;
use joulemark_kernel::Cycles;
use joulemark_peripherals::TiAes;
use joulemark_peripherals::ti_aes::{AesTiming, Features};

const RAM: u32 = 0x1000;
const KEY: u32 = RAM;
const INPUT: u32 = 0x1100;
const OUTPUT: u32 = 0x1200;

/// FIPS 197, appendix C.1.
const PLAIN: u128 = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff;
const CIPHER: u128 = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a;

struct Chip {
    aes: TiAes,
    ram: Memory,
    now: Cycles,
}

impl Chip {
    fn new(long_keys_and_gcm: bool) -> Self {
        let timing = AesTiming {
            round: 5,
            block: 2,
            chain: 1,
            word: 1,
            key: 12,
        };
        let features = Features {
            long_keys_and_gcm,
            hash: long_keys_and_gcm,
        };
        let mut ram = Memory {
            start: RAM,
            bytes: vec![0; 0x400],
            is_flash: false,
        };
        for (byte, value) in ram.bytes.iter_mut().zip(0..16) {
            *byte = value;
        }
        ram.bytes[0x100..0x110].copy_from_slice(&PLAIN.to_be_bytes());
        let mut chip = Self {
            aes: TiAes::new(timing, features),
            ram,
            now: Cycles(1000),
        };
        chip.set(&[(0x780, 1), (0x784, 3)]);
        chip
    }

    fn set(&mut self, registers: &[(u32, u32)]) {
        for &(offset, value) in registers {
            assert!(self.aes.write(offset, value, self.now).unwrap());
        }
    }

    fn get(&mut self, offset: u32) -> u32 {
        self.aes.read(offset, self.now).unwrap()
    }

    /// Advance to the next event, and return how long that takes.
    fn wait(&mut self) -> u64 {
        let at = self.aes.next_event();
        assert!(!self.aes.transfer(&mut self.ram, Cycles(at.0 - 1)).unwrap());
        assert!(self.aes.transfer(&mut self.ram, at).unwrap());
        let took = at.0 - self.now.0;
        self.now = at;
        took
    }

    fn load_key(&mut self) -> u64 {
        self.set(&[
            (0x700, 1),
            (0x404, 1),
            (0x400, 1),
            (0x00, 1),
            (0x04, KEY),
            (0x0c, 16),
        ]);
        let took = self.wait();
        assert_eq!(self.get(0x790), 3);
        self.set(&[(0x788, 3), (0x700, 2), (0x40c, 0)]);
        took
    }

    fn crypt(&mut self, ctrl: u32, blocks: u32) -> u64 {
        self.set(&[(0x550, ctrl), (0x554, 16 * blocks), (0x558, 0)]);
        self.set(&[(0x00, 1), (0x04, INPUT), (0x0c, 16 * blocks)]);
        self.set(&[(0x20, 1), (0x24, OUTPUT), (0x2c, 16 * blocks)]);
        self.wait()
    }

    fn output(&self) -> u128 {
        u128::from_be_bytes(self.ram.bytes[0x200..0x210].try_into().unwrap())
    }
}

#[test]
fn a_block_takes_its_rounds_and_its_way_in_and_out() {
    let mut chip = Chip::new(true);
    assert_eq!(chip.load_key(), 4);
    assert_ne!(chip.get(0x40c) >> 31, 0, "the key is on its way");
    // The key's 12 cycles, 4 words in, 2 + 5 * 10, 4 words out.
    assert_eq!(chip.crypt(4, 1), 12 + 4 + 52 + 4);
    assert_eq!(chip.get(0x40c) >> 31, 0);
    assert_eq!(chip.output(), CIPHER);
    // With many blocks, transfers overlap.
    assert_eq!(chip.crypt(4, 8), 8 + 8 * 52);
    // CBC waits for each block.
    assert_eq!(chip.crypt(4 | 1 << 5, 8), 8 + 8 * 53);
    // CCM: B0, each block twice, and the tag's mask.
    assert_eq!(
        chip.crypt(4 | 1 << 6 | 1 << 18 | 1 << 19, 8),
        8 + 53 + 16 * 53 + 52
    );
}

#[test]
fn a_result_is_announced_where_it_is_asked_for_until_it_is_cleared() {
    let mut chip = Chip::new(true);
    chip.load_key();
    chip.set(&[(0x784, 1)]);
    assert!(!chip.aes.is_pending());
    chip.crypt(4, 1);
    assert_eq!(chip.get(0x790), 1);
    assert!(chip.aes.is_pending());
    chip.set(&[(0x788, 1)]);
    assert!(!chip.aes.is_pending());
    // A cleared flag does not return when its interrupt is enabled.
    chip.set(&[(0x784, 3)]);
    assert_eq!(chip.get(0x790), 0);
}

#[test]
fn data_may_come_in_parts() {
    let mut chip = Chip::new(true);
    chip.load_key();
    chip.crypt(4 | 1 << 5, 2);
    let whole = chip.ram.bytes[0x200..0x220].to_vec();
    chip.set(&[(0x540, 0), (0x544, 0), (0x548, 0), (0x54c, 0)]);
    chip.set(&[(0x550, 4 | 1 << 5), (0x554, 32), (0x558, 0)]);
    for part in 0..2 {
        chip.set(&[(0x04, INPUT + 16 * part), (0x0c, 16)]);
        chip.set(&[(0x24, OUTPUT + 0x80 + 16 * part), (0x2c, 16)]);
        chip.wait();
    }
    assert_eq!(chip.ram.bytes[0x280..0x2a0], whole);
}

#[test]
fn a_tag_can_leave_by_dma() {
    let mut chip = Chip::new(true);
    chip.load_key();
    chip.set(&[
        (0x700, 1 << 31 | 2),
        (0x550, 1 << 15 | 4),
        (0x554, 16),
        (0x558, 0),
    ]);
    chip.set(&[
        (0x20, 1),
        (0x24, OUTPUT),
        (0x2c, 16),
        (0x00, 1),
        (0x04, INPUT),
        (0x0c, 16),
    ]);
    chip.wait();
    assert_eq!(chip.output(), CIPHER);
}

#[test]
fn the_tag_is_ready_until_its_last_word_is_read() {
    let mut chip = Chip::new(true);
    chip.load_key();
    chip.set(&[(0x550, 1 << 29 | 1 << 15 | 4), (0x554, 16), (0x558, 0)]);
    chip.set(&[(0x00, 1), (0x04, INPUT), (0x0c, 16)]);
    chip.wait();
    let mut tag = Vec::new();
    for offset in [0x570, 0x574, 0x578, 0x57c] {
        assert_ne!(chip.get(0x550) & 1 << 30, 0);
        tag.extend(chip.get(offset).to_le_bytes());
    }
    assert_eq!(chip.get(0x550) & 1 << 30, 0);
    assert_eq!(tag, CIPHER.to_be_bytes());
}

#[test]
fn an_area_without_a_key_cannot_be_read_nor_a_full_one_written() {
    let mut chip = Chip::new(true);
    chip.load_key();
    assert_eq!(chip.get(0x404), 1);
    chip.set(&[(0x40c, 3)]);
    assert_eq!(chip.get(0x790), 1 << 29);
    chip.set(&[
        (0x788, 1 << 29),
        (0x700, 1),
        (0x400, 1),
        (0x00, 1),
        (0x04, INPUT),
        (0x0c, 16),
    ]);
    chip.wait();
    assert_ne!(chip.get(0x790) & 1 << 30, 0);
    chip.set(&[(0x788, u32::MAX), (0x700, 2), (0x40c, 0)]);
    chip.crypt(4, 1);
    assert_eq!(chip.output(), CIPHER, "the key is the old one");
    // A new size deletes all keys.
    chip.set(&[(0x408, 1)]);
    assert_eq!(chip.get(0x404), 0);
}

#[test]
fn an_address_without_memory_is_a_bus_error() {
    let mut chip = Chip::new(true);
    chip.load_key();
    chip.set(&[(0x550, 4), (0x554, 16), (0x00, 1), (0x04, 0x10), (0x0c, 16)]);
    chip.set(&[(0x20, 1), (0x24, OUTPUT), (0x2c, 16)]);
    chip.wait();
    assert_eq!(chip.get(0x790), 1 << 31);
    assert_eq!(chip.output(), 0);
}

#[test]
fn what_the_engine_lacks_is_named() {
    let refused = |chip: &mut Chip, offset, value| {
        let result = chip.aes.write(offset, value, chip.now);
        result.unwrap_err().message
    };
    let mut chip = Chip::new(false);
    assert!(refused(&mut chip, 0x408, 2).contains("KEY_STORE_SIZE"));
    chip.set(&[(0x408, 0)]);
    assert!(refused(&mut chip, 0x40c, 0).contains("KEY_STORE_SIZE is 0"));
    chip.set(&[(0x408, 1)]);
    chip.set(&[(0x700, 2), (0x550, 4), (0x00, 1), (0x04, INPUT)]);
    assert!(refused(&mut chip, 0x0c, 16).contains("has no key"));
    chip.load_key();
    chip.set(&[(0x550, 4 | 3 << 16 | 1 << 6), (0x00, 1)]);
    assert!(refused(&mut chip, 0x0c, 16).contains("no mode"));
    let mut chip = Chip::new(true);
    chip.set(&[(0x700, 4), (0x00, 1)]);
    assert!(refused(&mut chip, 0x0c, 64).contains("hash"));
    chip.load_key();
    chip.set(&[
        (0x550, 4),
        (0x554, 20),
        (0x20, 1),
        (0x2c, 20),
        (0x00, 1),
        (0x04, INPUT),
        (0x0c, 20),
    ]);
    let at = chip.aes.next_event();
    let fault = chip.aes.transfer(&mut chip.ram, at).unwrap_err();
    assert!(fault.message.contains("no whole blocks"), "{fault}");
    chip.set(&[
        (0x780, 0),
        (0x700, 1),
        (0x404, 1),
        (0x400, 1),
        (0x04, KEY),
        (0x0c, 16),
    ]);
    let at = chip.aes.next_event();
    let fault = chip.aes.transfer(&mut chip.ram, at).unwrap_err();
    assert!(fault.message.contains("pulse"), "{fault}");
}

#[test]
fn registers_that_are_written_only_read_as_zero() {
    let mut chip = Chip::new(true);
    // DMAC_SWRES, the two lengths, that of authenticated data, SW_RESET, INT_CLR and INT_SET.
    for offset in [0x1c, 0x554, 0x558, 0x55c, 0x740, 0x788, 0x78c] {
        assert_eq!(chip.aes.read(offset, chip.now), Some(0), "{offset:#x}");
    }
}

#[test]
fn the_tag_of_a_message_without_payload_comes_after_its_data() {
    const DATA_IN: u32 = 1 << 1;
    const TAG: u32 = 1;
    let mut chip = Chip::new(true);
    chip.load_key();
    // CCM with 16 authenticated bytes; TI's driver clears both flags when they are in.
    let ccm = 1 << 29 | 1 << 22 | 1 << 19 | 1 << 18 | 3 << 7 | 1 << 6 | 4;
    chip.set(&[(0x788, DATA_IN | TAG), (0x784, DATA_IN | TAG), (0x550, ccm)]);
    chip.set(&[(0x554, 0), (0x558, 0), (0x55c, 16)]);
    chip.set(&[(0x00, 1), (0x04, INPUT), (0x0c, 16)]);
    let mut seen = Vec::new();
    while chip.aes.next_event() != Cycles::NEVER {
        chip.now = chip.aes.next_event();
        chip.aes.transfer(&mut chip.ram, chip.now).unwrap();
        seen.push(chip.get(0x790));
        chip.set(&[(0x788, DATA_IN | TAG)]);
    }
    assert_eq!(seen, [DATA_IN, TAG]);
}
