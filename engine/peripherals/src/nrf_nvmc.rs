//! The flash controller of nRF52 chips (nRF52840 product specification, chapter NVMC). Cells change
//! during the documented time; a core that executes from flash stands still meanwhile. Register offsets and fields were compared
//! with Nordic's `nrf52840.svd`.

use std::collections::VecDeque;

use joulemark_kernel::{Cycles, Fault, FaultKind, Memories};

use crate::flash_cells::{Change, Changing, FlashRange, FlashTimes};

const WRITE: u32 = 1;
const ERASE: u32 = 2;

/// The controller.
#[derive(Clone, Debug)]
pub struct NrfNvmc {
    flash: FlashRange,
    times: FlashTimes,
    hz: u32,
    config: u32,
    cache: u32,
    partial_ms: u32,
    /// Changes in the order of their stores; one that comes while another is made follows it.
    changes: VecDeque<Changing>,
    busy_until: Cycles,
}

impl NrfNvmc {
    /// Control this flash, in a core with this clock; `cache` is ICACHECNF.
    pub fn new(flash: FlashRange, times: FlashTimes, hz: u32, cache: u32) -> Self {
        Self {
            flash,
            times,
            hz,
            config: 0,
            cache: cache & 1,
            partial_ms: 10,
            changes: VecDeque::new(),
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

    fn work(&mut self, address: u32, change: Change, now: Cycles) {
        let cycles = match change {
            Change::Program(_) => self.times.word_write(self.hz),
            Change::Erase(_) => self.times.page_erase(self.hz),
        };
        let start = self.busy_until.max(now);
        self.changes
            .push_back(Changing::new(address, change, start, cycles));
        self.busy_until = Cycles(start.0 + cycles);
    }

    /// Handle a store to flash, which only clears bits.
    pub fn store(&mut self, address: u32, value: u32, now: Cycles) {
        // Cells change in pairs of words: all ones leave the other one unchanged.
        let mut data = [u32::MAX; 2];
        data[(address >> 2 & 1) as usize] = value;
        self.work(address & !7, Change::Program(data), now);
    }

    /// Change the cells that are due; return whether there were any.
    ///
    /// # Errors
    /// The flash does not exist.
    pub fn transfer(&mut self, memory: &mut dyn Memories, now: Cycles) -> Result<bool, Fault> {
        let mut changed = false;
        while let Some(cells) = self.changes.front_mut()
            && cells.next_event() <= now
        {
            cells.transfer(memory, now)?;
            changed = true;
            if cells.is_over() {
                self.changes.pop_front();
            }
        }
        Ok(changed)
    }

    /// When all changes are over.
    pub const fn busy_until(&self) -> Cycles {
        self.busy_until
    }

    /// When [`NrfNvmc::transfer`] has work to do.
    pub fn next_event(&self) -> Cycles {
        self.changes
            .front()
            .map_or(Cycles::NEVER, Changing::next_event)
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
                let page = value & !(self.flash.page - 1);
                self.work(page, Change::Erase(self.flash.page), now);
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
