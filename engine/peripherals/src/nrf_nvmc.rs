//! The flash controller of nRF52 chips (nRF52840 product specification, chapter NVMC). A word or a
//! page changes at once; the controller then stays busy for the documented time while the core
//! continues. Register offsets and fields were compared with Nordic's `nrf52840.svd`.

use joulemark_kernel::{Cycles, Fault, FaultKind, Memories};

use crate::flash_cells::{FlashRange, FlashTimes};

const WRITE: u32 = 1;
const ERASE: u32 = 2;

/// A pending change: a word, or a page to erase.
#[derive(Clone, Copy, Debug)]
enum Change {
    Word(u32, u32),
    Page(u32),
}

/// The controller.
#[derive(Clone, Debug)]
pub struct NrfNvmc {
    flash: FlashRange,
    times: FlashTimes,
    hz: u32,
    config: u32,
    cache: u32,
    partial_ms: u32,
    change: Option<Change>,
    busy_until: Cycles,
}

impl NrfNvmc {
    /// Control this flash, in a core with this clock; `cache` is ICACHECNF.
    pub const fn new(flash: FlashRange, times: FlashTimes, hz: u32, cache: u32) -> Self {
        Self {
            flash,
            times,
            hz,
            config: 0,
            cache: cache & 1,
            partial_ms: 10,
            change: None,
            busy_until: Cycles(0),
        }
    }

    /// ICACHECNF.CACHEEN.
    pub const fn has_cache(&self) -> bool {
        self.cache != 0
    }

    /// Whether stores to flash go to this controller.
    pub const fn takes_stores(&self) -> bool {
        self.config & WRITE != 0
    }

    fn work(&mut self, change: Change, now: Cycles) {
        let cycles = match change {
            Change::Word(..) => self.times.word_write(self.hz),
            Change::Page(_) => self.times.page_erase(self.hz),
        };
        self.change = Some(change);
        self.busy_until = Cycles(self.busy_until.max(now).0 + cycles);
    }

    /// Handle a store to flash, which only clears bits.
    pub fn store(&mut self, address: u32, value: u32, now: Cycles) {
        self.work(Change::Word(address, value), now);
    }

    /// Make the pending change in flash; return whether there was one.
    ///
    /// # Errors
    /// The flash does not exist.
    pub fn transfer(&mut self, memory: &mut dyn Memories) -> Result<bool, Fault> {
        let Some(change) = self.change.take() else {
            return Ok(false);
        };
        let (address, data) = match change {
            Change::Page(address) => (address, Some(vec![0xff; self.flash.page as usize])),
            Change::Word(address, value) => {
                let and = |old: Vec<u8>| {
                    old.iter()
                        .zip(value.to_le_bytes())
                        .map(|(a, b)| a & b)
                        .collect()
                };
                (address, memory.read(address, 4).map(and))
            }
        };
        if data.is_some_and(|data| memory.write_flash(address, &data)) {
            return Ok(true);
        }
        Err(Fault::new(
            FaultKind::FlashWrite,
            "the flash controller (NVMC) is to change what is no flash",
        )
        .at(address))
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&self, offset: u32, now: Cycles) -> Option<u32> {
        Some(match offset {
            0x400 | 0x408 => (now >= self.busy_until).into(),
            0x504 => self.config,
            0x508 | 0x50c | 0x510 | 0x514 | 0x518 | 0x548 | 0x54c => 0,
            0x51c => self.partial_ms,
            0x540 => self.cache,
            _ => return None,
        })
    }

    /// Write the register at an offset; false if there is none.
    ///
    /// # Errors
    /// The use is forbidden by the document or left out.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        match offset {
            0x504 => self.config = value & 3,
            // ERASEPAGE under two names, and partial erase, whose first part erases the page.
            0x508 | 0x510 | 0x518 => {
                if self.config & ERASE == 0 {
                    return Err(Fault::new(
                        FaultKind::FlashWrite,
                        "a page is to be erased (NVMC.ERASEPAGE) and NVMC.CONFIG does not allow it; write 2",
                    ));
                }
                self.work(Change::Page(value & !(self.flash.page - 1)), now);
            }
            0x50c | 0x514 if value & 1 != 0 => {
                return Err(Fault::new(
                    FaultKind::Absent,
                    "the emulation leaves out erasing all of flash and of UICR (NVMC.ERASEALL, ERASEUICR)",
                ));
            }
            0x50c | 0x514 | 0x548 | 0x54c => {}
            0x51c => self.partial_ms = value & 0x7f,
            0x540 => self.cache = value & 0x101,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
