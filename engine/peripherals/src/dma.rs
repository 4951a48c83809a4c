//! DMA controller (chapter 8): its registers, as programs set them up. Transfers are left out:
//! enabling a channel is a fault.

use joulemark_kernel::{Fault, FaultKind};

/// `DMACTL1`: the bits that are there.
const CTL1: u16 = 0x0007;
/// `DMAxCTL`.
const REQ: u16 = 1 << 0;
const IE: u16 = 1 << 2;
const IFG: u16 = 1 << 3;
const EN: u16 = 1 << 4;

/// A channel: `DMAxCTL`, `DMAxSA`, `DMAxDA` and `DMAxSZ`.
type Channel = [u16; 4];

/// The controller's registers.
#[derive(Clone, Debug, Default)]
pub struct Dma {
    ctl: [u16; 2],
    /// Addresses and sizes are "unchanged" by a reset; zero after power-up here.
    channels: [Channel; 3],
}

/// The channel and the place in it of a register.
fn place(address: u16) -> Option<(usize, usize)> {
    let word = usize::from(address.checked_sub(0x01e0)?) / 2;
    (word < 12).then_some((word / 4, word % 4))
}

impl Dma {
    /// A register; `None` where the module has none.
    pub fn read(&self, address: u16) -> Option<u16> {
        match address {
            0x0122 => Some(self.ctl[0]),
            0x0124 => Some(self.ctl[1]),
            _ => place(address).map(|(channel, register)| self.channels[channel][register]),
        }
    }

    /// Write a register; false where the module has none.
    ///
    /// # Errors
    /// It enables a channel.
    pub fn write(&mut self, address: u16, value: u16) -> Result<bool, Fault> {
        match address {
            0x0122 => self.ctl[0] = value,
            0x0124 => self.ctl[1] = value & CTL1,
            _ => {
                let Some((channel, register)) = place(address) else {
                    return Ok(false);
                };
                if register == 0 && value & EN != 0 {
                    let what = format!(
                        "DMA channel {channel} is enabled (DMAEN = 1); the emulation leaves out \
                         transfers"
                    );
                    return Err(Fault::new(FaultKind::Absent, what));
                }
                // DMAREQ is reset while a channel is not enabled (figures 8-3 to 8-5).
                let kept = if register == 0 { !REQ } else { u16::MAX };
                self.channels[channel][register] = value & kept;
            }
        }
        Ok(true)
    }

    /// Whether an enabled flag asks for the vector.
    pub fn is_pending(&self) -> bool {
        let mut controls = self.channels.iter().map(|channel| channel[0]);
        controls.any(|control| control & (IE | IFG) == IE | IFG)
    }
}
