//! ST M25P80, a serial flash of 16 sectors of 64 KiB, in pages of 256 bytes.
//!
//! Instructions, status register and protection follow the ST data sheet. The instruction codes are
//! also those of Contiki's driver (github.com/contiki-os/contiki, platform/sky/dev/xmem.c); status
//! register and protection those of the Tmote Sky's data sheet, figures 15 and 16. An instruction
//! that changes anything is executed when the device is deselected, and only then. There is no
//! instruction to read a JEDEC identification: the 40-MHz parts only have the electronic signature.

use joulemark_kernel::Picoseconds;

use crate::{Device, Figures, Lines, Model, PinRole, Protocol};

const SELECT: usize = 0;
const HOLD: usize = 1;
const WRITE_PROTECT: usize = 2;

const STANDBY: &str = "standby";
const DEEP_POWER_DOWN: &str = "deep-power-down";
const SELECTED: &str = "selected";
const WRITE: &str = "write";

const fn input(name: &'static str, is_needed: bool) -> PinRole {
    PinRole {
        name,
        is_output: false,
        is_needed,
    }
}

/// The model, for board files.
pub static MODEL: Model = Model {
    name: "m25p80",
    protocol: Some(Protocol::Spi),
    pins: &[
        input("select", true),
        input("hold", false),
        input("write-protect", false),
    ],
    senses: &[],
    states: &[STANDBY, DEEP_POWER_DOWN, SELECTED, WRITE],
    figures: include_str!("m25p80.toml"),
    make: |figures| Box::new(M25p80::new(figures)),
};

/// Instructions.
mod instruction {
    pub const WRITE_STATUS: u8 = 0x01;
    pub const PAGE_PROGRAM: u8 = 0x02;
    pub const READ: u8 = 0x03;
    pub const WRITE_DISABLE: u8 = 0x04;
    pub const READ_STATUS: u8 = 0x05;
    pub const WRITE_ENABLE: u8 = 0x06;
    pub const FAST_READ: u8 = 0x0b;
    pub const RELEASE: u8 = 0xab;
    pub const DEEP_POWER_DOWN: u8 = 0xb9;
    pub const BULK_ERASE: u8 = 0xc7;
    pub const SECTOR_ERASE: u8 = 0xd8;
}

/// Bits of the status register.
const WIP: u8 = 1 << 0;
const WEL: u8 = 1 << 1;
const BLOCK_PROTECT: u8 = 7 << 2;
const SRWD: u8 = 1 << 7;

const SIGNATURE: u8 = 0x13;

const SECTOR_BYTES: usize = 1 << 16;
const SECTORS: usize = 16;
const PAGE_BYTES: usize = 256;

/// What the device is doing, and what happens at the end.
enum Busy {
    Program { address: usize, data: Vec<u8> },
    EraseSector(usize),
    EraseAll,
    WriteStatus(u8),
    PowerDown,
    Release,
}

/// The device.
pub struct M25p80 {
    /// Sectors that are not blank.
    sectors: [Option<Box<[u8]>>; SECTORS],
    status: u8,
    /// Pin levels. Unwired pins are high.
    levels: [bool; 3],
    /// The bytes since selection: instruction, address, data.
    input: Vec<u8>,
    /// Bytes of the instruction that are not kept in `input`, of which there may be any number.
    read: usize,
    is_powered_down: bool,
    busy: Option<(Busy, Picoseconds)>,
    /// When what it is busy with began.
    began: Picoseconds,
    page_program: Picoseconds,
    sector_erase: Picoseconds,
    bulk_erase: Picoseconds,
    write_status: Picoseconds,
    power_down: Picoseconds,
    release: Picoseconds,
    release_with_signature: Picoseconds,
}

impl M25p80 {
    /// Make a blank device without write protection.
    pub fn new(figures: &Figures) -> Self {
        Self {
            sectors: Default::default(),
            status: 0,
            levels: [true; 3],
            input: Vec::new(),
            read: 0,
            is_powered_down: false,
            busy: None,
            began: Picoseconds(0),
            page_program: figures.time("page_program"),
            sector_erase: figures.time("sector_erase"),
            bulk_erase: figures.time("bulk_erase"),
            write_status: figures.time("write_status"),
            power_down: figures.time("power_down"),
            release: figures.time("release"),
            release_with_signature: figures.time("release_with_signature"),
        }
    }

    /// Read the byte at an address; addresses wrap at the end.
    pub fn byte(&self, address: usize) -> u8 {
        let address = address % (SECTORS * SECTOR_BYTES);
        let sector = self.sectors[address / SECTOR_BYTES].as_ref();
        sector.map_or(0xff, |sector| sector[address % SECTOR_BYTES])
    }

    /// Load contents from address 0 on, as a programmer would; excess bytes are ignored.
    pub fn load(&mut self, bytes: &[u8]) {
        for (sector, bytes) in self.sectors.iter_mut().zip(bytes.chunks(SECTOR_BYTES)) {
            let mut whole = vec![0xff; SECTOR_BYTES];
            whole[..bytes.len()].copy_from_slice(bytes);
            *sector = Some(whole.into());
        }
    }

    /// The contents that a loss of power leaves: after each quarter of a change's time, a quarter of
    /// its bits has changed, drawn by address. No document states in which order they change.
    #[must_use]
    pub fn after_power_loss(&self, now: Picoseconds) -> Vec<u8> {
        let mut contents = Vec::with_capacity(SECTORS * SECTOR_BYTES);
        for sector in &self.sectors {
            match sector {
                Some(bytes) => contents.extend_from_slice(bytes),
                None => contents.resize(contents.len() + SECTOR_BYTES, 0xff),
            }
        }
        let Some((busy, end)) = &self.busy else {
            return contents;
        };
        let (whole, passed) = (end.0 - self.began.0, now.0.saturating_sub(self.began.0));
        let quarters = (passed * 4).checked_div(whole).unwrap_or(4);
        let mut erase = |range: std::ops::Range<usize>| {
            for at in range {
                contents[at] |= changed_bits(at, quarters);
            }
        };
        match busy {
            Busy::EraseSector(sector) => {
                erase(sector * SECTOR_BYTES..(sector + 1) * SECTOR_BYTES);
            }
            Busy::EraseAll => erase(0..SECTORS * SECTOR_BYTES),
            Busy::Program { address, data } => {
                for (offset, &byte) in data.iter().enumerate() {
                    let at = address & !(PAGE_BYTES - 1) | ((address + offset) % PAGE_BYTES);
                    contents[at] &= byte | !changed_bits(at, quarters);
                }
            }
            Busy::WriteStatus(_) | Busy::PowerDown | Busy::Release => {}
        }
        contents
    }

    /// The state that survives a loss of power: the contents and their protection bits.
    #[must_use]
    pub fn kept(&self) -> Self {
        Self {
            sectors: self.sectors.clone(),
            status: self.status & (SRWD | BLOCK_PROTECT),
            levels: [true; 3],
            input: Vec::new(),
            read: 0,
            is_powered_down: false,
            busy: None,
            ..*self
        }
    }

    fn is_protected(&self, sector: usize) -> bool {
        // 0 protects nothing, 1 the last sector; each further level protects twice as many.
        let level = (self.status & BLOCK_PROTECT) >> 2;
        level != 0 && sector >= SECTORS.saturating_sub(1 << (level - 1))
    }

    /// The address operand of the instruction.
    fn address(&self) -> usize {
        let bytes = self.input[1..4].iter();
        bytes.fold(0, |address, &byte| address << 8 | usize::from(byte)) % (SECTORS * SECTOR_BYTES)
    }

    /// The byte sent during the next exchange; `None` if the output is not driven.
    fn answer(&mut self) -> Option<u8> {
        let (&instruction, operands) = self.input.split_first()?;
        if self.is_powered_down && instruction != instruction::RELEASE {
            return None;
        }
        let is_writing = self.status & WIP != 0;
        let header = match instruction {
            instruction::READ_STATUS => return Some(self.status),
            _ if is_writing => return None,
            instruction::READ | instruction::RELEASE => 3,
            instruction::FAST_READ => 4,
            _ => return None,
        };
        if operands.len() < header {
            return None;
        }
        if instruction == instruction::RELEASE {
            return Some(SIGNATURE);
        }
        let address = self.address() + self.read;
        self.read += 1;
        Some(self.byte(address))
    }

    /// Record a received byte.
    fn take(&mut self, byte: u8) {
        let Some(&instruction) = self.input.first() else {
            self.input.push(byte);
            return;
        };
        match instruction {
            // If there is more than a page of data, the last 256 bytes are programmed.
            instruction::PAGE_PROGRAM if self.input.len() == 4 + PAGE_BYTES => {
                self.input.remove(4);
                self.input.push(byte);
                self.read += 1;
            }
            instruction::PAGE_PROGRAM => self.input.push(byte),
            // One byte more than any other instruction takes marks it as too long.
            _ if self.input.len() < 6 => self.input.push(byte),
            _ => {}
        }
    }

    /// The activity that the received instruction starts; `None` if it changes nothing or is
    /// refused.
    fn start(&mut self) -> Option<(Busy, Picoseconds)> {
        let (&instruction, operands) = self.input.split_first()?;
        let length = operands.len();
        if self.is_powered_down {
            return (instruction == instruction::RELEASE).then_some(if length < 4 {
                (Busy::Release, self.release)
            } else {
                (Busy::Release, self.release_with_signature)
            });
        }
        let may_write = self.status & WEL != 0;
        match instruction {
            _ if self.busy.is_some() => None,
            instruction::WRITE_ENABLE if length == 0 => {
                self.status |= WEL;
                None
            }
            instruction::WRITE_DISABLE if length == 0 => {
                self.status &= !WEL;
                None
            }
            instruction::DEEP_POWER_DOWN if length == 0 => Some((Busy::PowerDown, self.power_down)),
            instruction::WRITE_STATUS if length == 1 && may_write => {
                // Hardware protected mode.
                if self.status & SRWD != 0 && !self.levels[WRITE_PROTECT] {
                    return None;
                }
                Some((Busy::WriteStatus(operands[0]), self.write_status))
            }
            instruction::PAGE_PROGRAM if length >= 4 && may_write => {
                let address = self.address();
                if self.is_protected(address / SECTOR_BYTES) {
                    return None;
                }
                let (page, offset) = (address & !(PAGE_BYTES - 1), address % PAGE_BYTES);
                let data = operands[3..].to_vec();
                let begin = page | ((offset + self.read) % PAGE_BYTES);
                let program = Busy::Program {
                    address: begin,
                    data,
                };
                Some((program, self.page_program))
            }
            instruction::SECTOR_ERASE if length == 3 && may_write => {
                let sector = self.address() / SECTOR_BYTES;
                let erase = (Busy::EraseSector(sector), self.sector_erase);
                (!self.is_protected(sector)).then_some(erase)
            }
            instruction::BULK_ERASE if length == 0 && may_write => {
                let is_free = self.status & BLOCK_PROTECT == 0;
                is_free.then_some((Busy::EraseAll, self.bulk_erase))
            }
            _ => None,
        }
    }

    fn finish(&mut self, busy: Busy) {
        match busy {
            Busy::Program { address, data } => {
                let page = address & !(PAGE_BYTES - 1);
                let blank = || vec![0xff; SECTOR_BYTES].into_boxed_slice();
                let sector = self.sectors[page / SECTOR_BYTES].get_or_insert_with(blank);
                for (offset, byte) in data.into_iter().enumerate() {
                    let at = page | ((address + offset) % PAGE_BYTES);
                    sector[at % SECTOR_BYTES] &= byte;
                }
            }
            Busy::EraseSector(sector) => self.sectors[sector] = None,
            Busy::EraseAll => self.sectors = Default::default(),
            Busy::WriteStatus(value) => {
                self.status = value & (SRWD | BLOCK_PROTECT) | self.status & (WIP | WEL);
            }
            Busy::PowerDown => self.is_powered_down = true,
            Busy::Release => self.is_powered_down = false,
        }
        self.status &= !WIP;
    }

    fn show_state(&self, lines: &mut Lines) {
        lines.enter(if self.status & WIP != 0 {
            WRITE
        } else if self.is_powered_down {
            DEEP_POWER_DOWN
        } else if !self.levels[SELECT] {
            SELECTED
        } else {
            STANDBY
        });
    }
}

/// The bits of a byte that have changed after `quarters` quarters of the time.
const fn changed_bits(address: usize, quarters: u64) -> u8 {
    // Two bits per cell, drawn by the finalizer of MurmurHash3, select the quarter.
    let mut drawn = address as u64 ^ 0x9e37_79b9_7f4a_7c15;
    drawn = (drawn ^ drawn >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    drawn = (drawn ^ drawn >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    let (high, low) = ((drawn >> 32) as u8, drawn as u8);
    match quarters {
        0 => 0,
        1 => !high & !low,
        2 => !high,
        3 => !(high & low),
        _ => 0xff,
    }
}

impl Device for M25p80 {
    fn pin_changed(&mut self, pin: usize, high: bool, lines: &mut Lines) {
        if pin == SELECT && high != self.levels[SELECT] {
            if high && let Some((busy, time)) = self.start() {
                if !matches!(busy, Busy::PowerDown | Busy::Release) {
                    self.status |= WIP;
                }
                self.began = lines.now();
                self.busy = Some((busy, lines.now() + time));
            }
            self.input.clear();
            self.read = 0;
        }
        self.levels[pin] = high;
        self.show_state(lines);
    }

    fn exchange(&mut self, byte: u8, _lines: &mut Lines) -> Option<u8> {
        if self.levels[SELECT] || !self.levels[HOLD] {
            return None;
        }
        let answer = self.answer();
        self.take(byte);
        answer
    }

    fn next_event(&self) -> Picoseconds {
        let busy = self.busy.as_ref();
        busy.map_or(Picoseconds::NEVER, |&(_, end)| end)
    }

    fn advance(&mut self, lines: &mut Lines) {
        if let Some((busy, _)) = self.busy.take() {
            // The end of a write clears the write enable latch.
            if self.status & WIP != 0 {
                self.status &= !WEL;
            }
            self.finish(busy);
        }
        self.show_state(lines);
    }
}
