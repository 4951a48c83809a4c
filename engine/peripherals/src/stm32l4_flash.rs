//! The flash controller of STM32L4+ chips (RM0432, embedded flash memory; offsets and fields were compared
//! with ST's `stm32l4r5xx.h`). It programs 64 bits at a time, with 8 bits of error correction of
//! their own. Cells change during the documented time; a core that executes from flash stands still
//! meanwhile, also where another bank could be read.
//!
//! A double word whose change a power failure cut short has a code that does not fit. Reading it
//! sets `FLASH_ECCR.ECCD`, which raises the non-maskable interrupt until it is cleared.

use joulemark_kernel::{Cycles, Fault, FaultKind, Memories};

use crate::flash_cells::{Change, Changing, FlashRange, FlashTimes, drawn};

const KEYR: u32 = 0x08;
const SR: u32 = 0x10;
const CR: u32 = 0x14;
const ECCR: u32 = 0x18;

const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];

/// `FLASH_SR`.
const EOP: u32 = 1;
const PROGERR: u32 = 1 << 3;
const PGSERR: u32 = 1 << 7;
const BSY: u32 = 1 << 16;
/// Errors of earlier programming, which have to be cleared before more.
const ERRORS: u32 = 0x03f8;
/// `FLASH_CR`.
const PG: u32 = 1;
const PER: u32 = 1 << 1;
const PAGE_SHIFT: u32 = 3;
/// PNB, and BKER above it: the number of a page in both banks.
const PAGE: u32 = 0x1ff << PAGE_SHIFT;
const STRT: u32 = 1 << 16;
const LOCKS: u32 = 3 << 30;
const LOCK: u32 = 1 << 31;
/// `FLASH_ECCR`.
const BK_ECC: u32 = 1 << 21;
const ECCIE: u32 = 1 << 24;
const ECCD: u32 = 1 << 31;

/// A double word.
const BYTES: u32 = 8;

/// The controller.
#[derive(Clone, Debug)]
pub struct Stm32l4Flash {
    flash: FlashRange,
    times: FlashTimes,
    hz: u32,
    /// Keys written so far; both open the controller, a wrong one closes it until a reset.
    keys: Option<usize>,
    flags: u32,
    control: u32,
    eccr: u32,
    /// The first word of a double word that is being stored.
    first: Option<(u32, u32)>,
    /// A double word that was stored, before it is known whether its cells are erased.
    stored: Option<(u32, [u32; 2])>,
    changing: Option<Changing>,
    /// What is being changed, as it was.
    before: Vec<u8>,
}

impl Stm32l4Flash {
    /// The state after a reset: locked.
    pub const fn new(flash: FlashRange, times: FlashTimes, hz: u32) -> Self {
        Self {
            flash,
            times,
            hz,
            keys: Some(0),
            flags: 0,
            control: LOCKS,
            eccr: 0,
            first: None,
            stored: None,
            changing: None,
            before: Vec::new(),
        }
    }

    /// Whether stores of words to flash go to this controller.
    pub const fn takes_stores(&self) -> bool {
        self.control & PG != 0
    }

    const fn is_busy(&self) -> bool {
        self.stored.is_some() || self.changing.is_some()
    }

    /// Whether this is an address in its flash.
    pub const fn has(&self, address: u32) -> bool {
        address.wrapping_sub(self.flash.start) < self.flash.size
    }

    /// Handle a store of a word to flash.
    ///
    /// # Errors
    /// It is not a half of a double word, the lower one first.
    pub fn store(&mut self, address: u32, value: u32) -> Result<(), Fault> {
        match self.first.take() {
            None if address.is_multiple_of(BYTES) && !self.is_busy() => {
                self.first = Some((address, value));
            }
            Some((first, low)) if address == first + 4 => self.stored = Some((first, [low, value])),
            _ => {
                return Err(Fault::new(
                    FaultKind::FlashWrite,
                    "flash is programmed by double words: store the word at a multiple of 8, then \
                     the next one, and wait for FLASH_SR.BSY",
                )
                .at(address));
            }
        }
        Ok(())
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&self, offset: u32) -> Option<u32> {
        match offset {
            KEYR => Some(0),
            SR => Some(self.flags | if self.is_busy() { BSY } else { 0 }),
            CR => Some(self.control),
            ECCR => Some(self.eccr),
            _ => None,
        }
    }

    /// Write the register at an offset; false if there is none.
    ///
    /// # Errors
    /// The document forbids the use, or it is left out.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        match offset {
            KEYR => self.unlock(value)?,
            SR => self.flags &= !value,
            ECCR if value & ECCIE != 0 => {
                return Err(Fault::new(
                    FaultKind::Absent,
                    "the emulation leaves out corrected errors of flash and their interrupt \
                     (FLASH_ECCR.ECCIE)",
                ));
            }
            ECCR if value & self.eccr & ECCD != 0 => self.eccr = 0,
            ECCR => {}
            CR if value & !(PG | PER | PAGE | STRT | LOCKS) != 0 => {
                return Err(Fault::new(
                    FaultKind::Absent,
                    "the emulation leaves out mass erase, fast programming, option bytes and interrupts \
                     of the flash controller (FLASH_CR)",
                ));
            }
            CR if value & LOCK != 0 => (self.control, self.keys) = (LOCKS, Some(0)),
            CR if self.control & LOCK != 0 => {
                return Err(Fault::new(
                    FaultKind::FlashWrite,
                    "FLASH_CR is written while FLASH_CR.LOCK is set; write the two keys to FLASH_KEYR",
                ));
            }
            CR => {
                self.control = value & (PG | PER | PAGE | LOCKS);
                self.first = None;
                if value & STRT != 0 {
                    self.erase(now)?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn unlock(&mut self, key: u32) -> Result<(), Fault> {
        self.keys = match self.keys {
            Some(number) if KEYS.get(number) == Some(&key) => Some(number + 1),
            _ => None,
        };
        match self.keys {
            Some(2) => self.control &= !LOCK,
            Some(_) => {}
            None => {
                return Err(Fault::new(
                    FaultKind::FlashWrite,
                    "FLASH_KEYR is given a wrong key, which locks flash until a reset",
                ));
            }
        }
        Ok(())
    }

    /// Whether a change may begin: not after an error that was not cleared.
    const fn begins(&mut self) -> bool {
        if self.flags & ERRORS != 0 {
            self.flags |= PGSERR;
        }
        self.flags & ERRORS == 0
    }

    fn erase(&mut self, now: Cycles) -> Result<(), Fault> {
        if self.control & (PG | PER) != PER || self.is_busy() {
            return Err(Fault::new(
                FaultKind::FlashWrite,
                "FLASH_CR.STRT needs FLASH_CR.PER without PG, and no change in progress",
            ));
        }
        if self.begins() {
            let number = (self.control & PAGE) >> PAGE_SHIFT;
            let page = self.flash.start + number * self.flash.page;
            let cycles = self.times.page_erase(self.hz);
            let change = Change::Erase(self.flash.page);
            self.changing = Some(Changing::new(page, change, now, cycles));
        }
        Ok(())
    }

    /// Set a new core clock.
    pub fn set_clock(&mut self, now: Cycles, hz: u32) {
        if let Some(cells) = &mut self.changing {
            cells.change_clock(now, self.hz, hz);
        }
        self.hz = hz;
    }

    /// Change the cells that are due; return whether anything happened.
    ///
    /// # Errors
    /// The flash does not exist.
    pub fn transfer(&mut self, memory: &mut dyn Memories, now: Cycles) -> Result<bool, Fault> {
        if let Some((address, words)) = self.stored.take() {
            let old = memory.read(address, BYTES);
            // Cells that are not erased take zeros alone.
            let is_erased = old.is_some_and(|old| old == [0xff; BYTES as usize]);
            if !self.begins() {
                return Ok(true);
            }
            if is_erased || words == [0, 0] {
                // The stated time is that of a word, half of a double word's.
                let cycles = 2 * self.times.word_write(self.hz);
                let change = Change::Program(words);
                self.changing = Some(Changing::new(address, change, now, cycles));
            } else {
                self.flags |= PROGERR;
            }
            return Ok(true);
        }
        let Some(cells) = &mut self.changing else {
            return Ok(false);
        };
        if now < cells.next_event() {
            return Ok(false);
        }
        let (address, bytes) = match cells.change {
            Change::Program(_) => (cells.address, BYTES),
            Change::Erase(bytes) => (cells.address, bytes),
        };
        if self.before.is_empty() {
            self.before = memory.read(address, bytes).unwrap_or_default();
        }
        cells.transfer(memory, now)?;
        if cells.is_over() {
            self.changing = None;
            self.before = Vec::new();
            self.flags |= EOP;
            return Ok(true);
        }
        let mixed = memory.read(address, bytes).unwrap_or_default();
        let words = mixed.chunks_exact(BYTES as usize);
        let words = words.zip(self.before.chunks_exact(BYTES as usize));
        for ((mixed, before), at) in words.zip((address..).step_by(BYTES as usize)) {
            // The code detects every two wrong bits; of more, some look like none or like one. Its
            // matrix is not documented: a quarter of the double words is taken to look right.
            let is_detected = drawn(at ^ !now.0 as u32) & 3 != 0;
            if mixed != before && mixed != [0xff; BYTES as usize] && is_detected {
                memory.tear(at);
            }
        }
        Ok(true)
    }

    /// The core reads a double word whose code does not fit. The address stays that of the first one
    /// until the flag is cleared.
    pub const fn read_torn(&mut self, address: u32) {
        if self.eccr & ECCD == 0 {
            let (offset, bank) = (address - self.flash.start, self.flash.size / 2);
            let second = if offset < bank { 0 } else { BK_ECC };
            self.eccr = ECCD | second | (offset % bank) & !(BYTES - 1);
        }
    }

    /// Whether the non-maskable interrupt is raised.
    pub const fn raises_nmi(&self) -> bool {
        self.eccr & ECCD != 0
    }

    /// The chip's power state while cells change.
    pub fn power_state(&self) -> Option<&'static str> {
        self.changing.map(|cells| cells.change.power_state())
    }

    /// When the change is over.
    pub fn busy_until(&self) -> Cycles {
        self.changing.as_ref().map_or(Cycles(0), Changing::end)
    }

    /// When [`Stm32l4Flash::transfer`] has work to do.
    pub fn next_event(&self) -> Cycles {
        match (&self.stored, &self.changing) {
            (Some(_), _) => Cycles(0),
            (None, Some(cells)) => cells.next_event(),
            (None, None) => Cycles::NEVER,
        }
    }
}
