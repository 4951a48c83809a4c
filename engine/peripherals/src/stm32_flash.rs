//! The flash controller of STM32F1 chips (PM0063 for the STM32F100; PM0075 for the STM32F103 has the
//! same). Cells change during the documented time; a core that executes from flash stands still
//! meanwhile.

use joulemark_kernel::{Cycles, Fault, FaultKind, Memories};

use crate::flash_cells::{Change, Changing, FlashRange, FlashTimes};

const KEYR: u32 = 0x04;
const SR: u32 = 0x0c;
const CR: u32 = 0x10;
const AR: u32 = 0x14;

const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];

/// `FLASH_SR`.
const BSY: u32 = 1;
const PGERR: u32 = 1 << 2;
const EOP: u32 = 1 << 5;
/// `FLASH_CR`.
const PG: u32 = 1;
const PER: u32 = 1 << 1;
const MER: u32 = 1 << 2;
const OPTION: u32 = 3 << 4;
const STRT: u32 = 1 << 6;
const LOCK: u32 = 1 << 7;
const INTERRUPTS: u32 = 1 << 10 | 1 << 12;

/// The controller.
#[derive(Clone, Debug)]
pub struct Stm32Flash {
    flash: FlashRange,
    times: FlashTimes,
    hz: u32,
    /// Keys written so far; both open the controller, a wrong one closes it until a reset.
    keys: Option<usize>,
    flags: u32,
    control: u32,
    address: u32,
    /// A half-word that was stored, before it is known whether its cells are erased.
    stored: Option<(u32, u32)>,
    changing: Option<Changing>,
}

impl Stm32Flash {
    /// The state after a reset: locked.
    pub const fn new(flash: FlashRange, times: FlashTimes, hz: u32) -> Self {
        Self {
            flash,
            times,
            hz,
            keys: Some(0),
            flags: 0,
            control: LOCK,
            address: 0,
            stored: None,
            changing: None,
        }
    }

    /// Whether stores of half-words to flash go to this controller.
    pub const fn takes_stores(&self) -> bool {
        self.control & PG != 0
    }

    const fn is_busy(&self) -> bool {
        self.stored.is_some() || self.changing.is_some()
    }

    /// Handle a store of a half-word to flash; false if flash is not there.
    pub fn store(&mut self, address: u32, value: u32) -> bool {
        if address.wrapping_sub(self.flash.start) >= self.flash.size || self.is_busy() {
            return false;
        }
        self.stored = Some((address, value & 0xffff));
        true
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&self, offset: u32) -> Option<u32> {
        match offset {
            KEYR => Some(0),
            SR => Some(self.flags | if self.is_busy() { BSY } else { 0 }),
            CR => Some(self.control),
            AR => Some(self.address),
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
            AR => self.address = value,
            CR if value & (MER | OPTION | INTERRUPTS) != 0 => {
                return Err(Fault::new(
                    FaultKind::Absent,
                    "the emulation leaves out mass erase, option bytes and interrupts of the flash \
                     controller (FLASH_CR)",
                ));
            }
            CR if value & LOCK != 0 => (self.control, self.keys) = (LOCK, Some(0)),
            CR if self.control & LOCK != 0 => {
                return Err(Fault::new(
                    FaultKind::FlashWrite,
                    "FLASH_CR is written while FLASH_CR.LOCK is set; write the two keys to FLASH_KEYR",
                ));
            }
            CR => {
                self.control = value & (PG | PER);
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

    fn erase(&mut self, now: Cycles) -> Result<(), Fault> {
        let page = self.address & !(self.flash.page - 1);
        let is_there = page.wrapping_sub(self.flash.start) < self.flash.size;
        if self.control & PER == 0 || self.is_busy() || !is_there {
            return Err(Fault::new(
                FaultKind::FlashWrite,
                "FLASH_CR.STRT needs FLASH_CR.PER, FLASH_AR in flash, and no change in progress",
            )
            .at(self.address));
        }
        let cycles = self.times.page_erase(self.hz);
        let change = Change::Erase(self.flash.page);
        self.changing = Some(Changing::new(page, change, now, cycles));
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
        if let Some((address, value)) = self.stored.take() {
            // Only erased cells take a value other than 0.
            let is_erased = memory
                .read(address, 2)
                .is_some_and(|old| old == [0xff, 0xff]);
            if is_erased || value == 0 {
                let mut words = [u32::MAX; 2];
                let shift = 16 * (address >> 1 & 1);
                words[(address >> 2 & 1) as usize] = !(0xffff << shift) | value << shift;
                // The stated time is that of a word, two half-words.
                let cycles = self.times.word_write(self.hz).div_ceil(2);
                let change = Change::Program(words);
                self.changing = Some(Changing::new(address & !7, change, now, cycles));
            } else {
                self.flags |= PGERR;
            }
            return Ok(true);
        }
        let Some(cells) = &mut self.changing else {
            return Ok(false);
        };
        if now < cells.next_event() {
            return Ok(false);
        }
        cells.transfer(memory, now)?;
        if cells.is_over() {
            self.changing = None;
            self.flags |= EOP;
        }
        Ok(true)
    }

    /// When the change is over.
    pub fn busy_until(&self) -> Cycles {
        self.changing.as_ref().map_or(Cycles(0), Changing::end)
    }

    /// When [`Stm32Flash::transfer`] has work to do.
    pub fn next_event(&self) -> Cycles {
        match (&self.stored, &self.changing) {
            (Some(_), _) => Cycles(0),
            (None, Some(cells)) => cells.next_event(),
            (None, None) => Cycles::NEVER,
        }
    }
}
