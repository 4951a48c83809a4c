//! Micro DMA controller of the CC2538: its registers, as programs set them up. Transfers are left
//! out: enabling a channel is a fault. Registers and fields are those of TI's `hw_udma.h`
//! (github.com/openwsn-berkeley/openwsn-fw, bsp/boards/openmote-cc2538/headers, commit 7ee5f20).

use joulemark_kernel::{Fault, FaultKind};

/// STAT: 32 channels, idle.
const CHANNELS: u32 = 0x1f << 16;
/// CFG and STAT.
const MASTEN: u32 = 1;
const CTLBASE_ADDR: u32 = 0xffff_fc00;
/// Where the alternate control structures of 32 channels begin.
const ALTERNATE: u32 = 0x200;

/// Pairs of registers that set and clear the bits of one word: use burst, request mask, enable,
/// alternate, priority.
const PAIRS: u32 = 0x018;
const LAST_PAIR: u32 = 0x03c;
const ENASET: u32 = 0x028;

/// The controller's registers.
#[derive(Clone, Debug, Default)]
pub struct Udma {
    enabled: bool,
    base: u32,
    /// The words of [`PAIRS`].
    bits: [u32; 5],
    assignment: u32,
    maps: [u32; 4],
}

impl Udma {
    /// A register by its offset; `None` where the module has none.
    pub fn read(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x000 => CHANNELS | u32::from(self.enabled),
            0x008 => self.base,
            0x00c => self.base | ALTERNATE,
            PAIRS..=LAST_PAIR if offset & 4 == 0 => self.bits[pair(offset)],
            // Wait status, bus error and interrupt status: nothing runs.
            0x010 | 0x04c | 0x504 => 0,
            0x500 => self.assignment,
            0x510..=0x51c => self.maps[(offset as usize - 0x510) / 4],
            _ => return None,
        })
    }

    /// Write a register by its offset; false where the module has none.
    ///
    /// # Errors
    /// It enables a channel or asks for a transfer.
    pub fn write(&mut self, offset: u32, value: u32) -> Result<bool, Fault> {
        match offset {
            0x004 => self.enabled = value & MASTEN != 0,
            0x008 => self.base = value & CTLBASE_ADDR,
            0x014 | ENASET if value != 0 => {
                let what = format!(
                    "uDMA channel {} is enabled or requested; the emulation leaves out transfers",
                    value.trailing_zeros()
                );
                return Err(Fault::new(FaultKind::Absent, what));
            }
            0x014 | 0x04c | 0x504 => {}
            PAIRS..=LAST_PAIR => {
                let word = &mut self.bits[pair(offset)];
                *word = if offset & 4 == 0 {
                    *word | value
                } else {
                    *word & !value
                };
            }
            0x500 => self.assignment = value,
            0x510..=0x51c => self.maps[(offset as usize - 0x510) / 4] = value,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn pair(offset: u32) -> usize {
    (offset - PAIRS) as usize / 8
}
