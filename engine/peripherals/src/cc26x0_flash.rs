//! The flash controller of the `CC26x0` and the `CC26x2`, as TI's driver library and its header `hw_flash.h` show it: a
//! state machine that executes commands. Trims and voltages, which the library sets before a
//! command, have no effect here and are left out.

use joulemark_kernel::{Cycles, Fault, FaultKind, Memories};

use crate::flash_cells::{Change, Changing, FlashRange, FlashTimes};

const STAT: u32 = 0x1c;
const CFG: u32 = 0x24;
const FLASH_SIZE: u32 = 0x2c;
const FBPROT: u32 = 0x2030;
/// The charge pump's sleep time: held, without effect.
const FPAC1: u32 = 0x2048;
const FPAC1_BITS: u32 = 0x0fff_0001;
const FBSE: u32 = 0x2034;
const FMAC: u32 = 0x2050;
const FMSTAT: u32 = 0x2054;
const FADDR: u32 = 0x2110;
const FWPWRITE0: u32 = 0x2120;
const FWPWRITE1: u32 = 0x2124;
const FSM_CMD: u32 = 0x220c;
const FSM_WR_ENA: u32 = 0x2288;
const FSM_EXECUTE: u32 = 0x22b4;
/// In pairs, of sectors 0 to 31 and of those from 32 on.
const FSM_SECTOR1: u32 = 0x22c0;
const FSM_SECTOR2: u32 = 0x22c4;
const FSM_BSLE0: u32 = 0x22e0;
const FSM_BSLE1: u32 = 0x22e4;
const FSM_BSLP0: u32 = 0x22f0;
const FSM_BSLP1: u32 = 0x22f4;
const FCFG_BANK: u32 = 0x2400;
const FCFG_B0_SSIZE0: u32 = 0x2430;

/// STAT.
const STAT_BUSY: u32 = 1 << 1;
const SAMHOLD_DIS: u32 = 1 << 2;
/// CFG.
const DIS_IDLE: u32 = 1;
/// FMSTAT.
const CSTAT: u32 = 1 << 4;
const PGM: u32 = 1 << 6;
const ERS: u32 = 1 << 7;
const BUSY: u32 = 1 << 8;
/// `FBPROT`: sectors can be enabled.
const PROTL1DIS: u32 = 1;
/// `FSM_WR_ENA`, `FSM_EXECUTE`.
const ENABLED: u32 = 5;
const EXECUTE: u32 = 0x15;
/// Commands.
const PROGRAM_DATA: u32 = 0x02;
const ERASE_SECTOR: u32 = 0x06;
const CLEAR_STATUS: u32 = 0x10;
/// Base of the state machine's addresses.
const ADDRESS_OFFSET: u32 = 0x1f80_0000;
/// `FCFG_BANK.MAIN_BANK_WIDTH`: 64 bits.
const BANK_WIDTH: u32 = 64 << 4;

/// The controller.
#[derive(Clone, Debug)]
pub struct Cc26x0Flash {
    flash: FlashRange,
    times: FlashTimes,
    hz: u32,
    config: u32,
    protection: u32,
    pump: u32,
    sectors_enabled: u32,
    address: u32,
    data: [u32; 2],
    command: u32,
    write_enable: u32,
    /// Sectors that an erase skips.
    kept: [u32; 2],
    /// Sectors locked until a reset: against erasing, and against programming.
    locked: [[u32; 2]; 2],
    failed: bool,
    changing: Option<Changing>,
}

impl Cc26x0Flash {
    /// The state after a reset.
    pub const fn new(flash: FlashRange, times: FlashTimes, hz: u32) -> Self {
        Self {
            flash,
            times,
            hz,
            config: 0,
            protection: 0,
            pump: 0,
            sectors_enabled: 0,
            address: 0,
            data: [u32::MAX; 2],
            command: 0,
            write_enable: 2,
            kept: [u32::MAX; 2],
            locked: [[0; 2]; 2],
            failed: false,
            changing: None,
        }
    }

    /// Read a register by offset; `None` if it is not emulated.
    pub fn read(&self, offset: u32) -> Option<u32> {
        let busy = match self.changing.map(|cells| cells.change) {
            None => 0,
            Some(Change::Program(_)) => BUSY | PGM,
            Some(Change::Erase(_)) => BUSY | ERS,
        };
        Some(match offset {
            STAT => {
                let busy = if busy == 0 { 0 } else { STAT_BUSY };
                let disabled = self.config & DIS_IDLE != 0;
                busy | if disabled { SAMHOLD_DIS } else { 0 }
            }
            CFG => self.config,
            FLASH_SIZE => self.flash.size / self.flash.page,
            FBPROT => self.protection,
            FPAC1 => self.pump,
            FBSE => self.sectors_enabled,
            FMSTAT => busy | if self.failed { CSTAT } else { 0 },
            FADDR => self.address,
            FWPWRITE0 | FWPWRITE1 => self.data[(offset - FWPWRITE0) as usize / 4],
            FSM_CMD => self.command,
            FSM_WR_ENA => self.write_enable,
            FMAC | FSM_EXECUTE => 0,
            FSM_SECTOR1 | FSM_SECTOR2 => self.kept[(offset - FSM_SECTOR1) as usize / 4],
            FSM_BSLE0 | FSM_BSLE1 => self.locked[0][(offset - FSM_BSLE0) as usize / 4],
            FSM_BSLP0 | FSM_BSLP1 => self.locked[1][(offset - FSM_BSLP0) as usize / 4],
            FCFG_BANK => BANK_WIDTH,
            FCFG_B0_SSIZE0 => self.flash.page / 1024,
            _ => return None,
        })
    }

    /// Write a register by offset; false if it is not emulated.
    ///
    /// # Errors
    /// TI's library does not use the controller this way.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        let refused = |what: &str| Err(Fault::new(FaultKind::FlashWrite, what));
        let guarded = [
            FSM_CMD,
            FSM_EXECUTE,
            FSM_SECTOR1,
            FSM_SECTOR2,
            FSM_BSLE0,
            FSM_BSLE1,
            FSM_BSLP0,
            FSM_BSLP1,
        ];
        if guarded.contains(&offset) && self.write_enable != ENABLED {
            return refused(
                "a register of the flash state machine is written while FSM_WR_ENA is not 5",
            );
        }
        if self.changing.is_some() && ![CFG, FSM_WR_ENA].contains(&offset) {
            return refused(
                "the flash state machine is busy; wait until FMSTAT.BUSY or STAT.BUSY is 0",
            );
        }
        match offset {
            CFG => self.config = value,
            FBPROT => self.protection = value & PROTL1DIS,
            FPAC1 => self.pump = value & FPAC1_BITS,
            FBSE if self.protection != PROTL1DIS => {
                return refused("FBSE is written while FBPROT.PROTL1DIS is 0");
            }
            FBSE => self.sectors_enabled = value & 0xffff,
            // There is only bank 0.
            FMAC if value == 0 => {}
            FADDR => self.address = value,
            FWPWRITE0 | FWPWRITE1 => self.data[(offset - FWPWRITE0) as usize / 4] = value,
            FSM_CMD => self.command = value,
            FSM_WR_ENA => self.write_enable = value & 7,
            FSM_EXECUTE if value == EXECUTE => self.execute(now)?,
            FSM_EXECUTE => return refused("FSM_EXECUTE takes 0x15 only"),
            FSM_SECTOR1 | FSM_SECTOR2 => self.kept[(offset - FSM_SECTOR1) as usize / 4] = value,
            // Locks stay until a reset.
            FSM_BSLE0 | FSM_BSLE1 => {
                self.locked[0][(offset - FSM_BSLE0) as usize / 4] |= value;
            }
            FSM_BSLP0 | FSM_BSLP1 => {
                self.locked[1][(offset - FSM_BSLP0) as usize / 4] |= value;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn execute(&mut self, now: Cycles) -> Result<(), Fault> {
        let change = match self.command {
            CLEAR_STATUS => {
                self.failed = false;
                return Ok(());
            }
            PROGRAM_DATA => Change::Program(self.data),
            ERASE_SECTOR => Change::Erase(self.flash.page),
            other => {
                return Err(Fault::new(
                    FaultKind::Absent,
                    format!(
                        "the emulation leaves out command {other:#04x} of the flash state machine; it has \
                         0x02 program, 0x06 erase a sector and 0x10 clear the status"
                    ),
                ));
            }
        };
        let offset = self.address.wrapping_sub(ADDRESS_OFFSET + self.flash.start);
        let sector = offset / self.flash.page;
        let has = |sectors: [u32; 2]| sectors[sector as usize / 32] >> (sector % 32) & 1 != 0;
        let is_erase = matches!(change, Change::Erase(_));
        let may = offset < self.flash.size
            && self.sectors_enabled != 0
            && !has(self.locked[usize::from(!is_erase)])
            && !(is_erase && has(self.kept));
        if !may {
            self.failed = true;
            return Ok(());
        }
        let words = self.data.iter().filter(|&&word| word != u32::MAX).count() as u64;
        let (unit, cycles) = if is_erase {
            (self.flash.page, self.times.page_erase(self.hz))
        } else {
            (8, self.times.word_write(self.hz) * words.max(1))
        };
        let address = self.flash.start + (offset & !(unit - 1));
        self.changing = Some(Changing::new(address, change, now, cycles));
        Ok(())
    }

    /// Change the cells that are due; return whether anything happened.
    ///
    /// # Errors
    /// The flash does not exist.
    pub fn transfer(&mut self, memory: &mut dyn Memories, now: Cycles) -> Result<bool, Fault> {
        let Some(cells) = self.changing.as_mut().filter(|c| c.next_event() <= now) else {
            return Ok(false);
        };
        cells.transfer(memory, now)?;
        if cells.is_over() {
            // The library writes only the bytes to be programmed: the others return to all ones.
            if matches!(cells.change, Change::Program(_)) {
                self.data = [u32::MAX; 2];
            }
            self.changing = None;
        }
        Ok(true)
    }

    /// When [`Cc26x0Flash::transfer`] has work to do.
    pub fn next_event(&self) -> Cycles {
        self.changing
            .map_or(Cycles::NEVER, |cells| cells.next_event())
    }

    /// The chip's power state while flash is being changed and cannot be read.
    pub fn power_state(&self) -> Option<&'static str> {
        self.changing.map(|cells| cells.change.power_state())
    }
}
