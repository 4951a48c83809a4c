//! DMA controller (chapter 8). Left out: burst-block transfers, level triggers, and triggers from
//! timers, DAC12, the multiplier and the pin. Enabling a channel that uses one is a fault.

use joulemark_kernel::{Cycles, Fault, FaultKind};

/// `DMACTL1`: implemented bits.
const CTL1: u16 = 0x0007;
/// `DMAxCTL`.
const REQ: u16 = 1 << 0;
const ABORT: u16 = 1 << 1;
const IE: u16 = 1 << 2;
const IFG: u16 = 1 << 3;
const EN: u16 = 1 << 4;
const LEVEL: u16 = 1 << 5;
const SOURCE_BYTE: u16 = 1 << 6;
const DESTINATION_BYTE: u16 = 1 << 7;

/// MCLK cycles of a single transfer (table 8-3: four, or five if the CPU was off), and of each
/// transfer in a block (section 8.2.2).
const SINGLE: Cycles = Cycles(4);
const SINGLE_ASLEEP: Cycles = Cycles(5);
const BLOCK: Cycles = Cycles(2);
/// Additional cycles of a block: synchronisation before it, and one cycle after.
const AROUND: Cycles = Cycles(2);

/// Triggers of a transfer (section 8.3, DMACTL0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// DMAREQ.
    Software,
    /// A receive flag of USART0 or USART1.
    Receive(usize),
    /// A transmit flag of USART0 or USART1.
    Transmit(usize),
    /// The end of a sequence or a single conversion.
    Adc12,
    /// The end of the previous channel.
    Channel,
}

/// Triggers that may start channels now; each stays until taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Triggers {
    /// `URXIFGx`, if its interrupt is disabled.
    pub receive: [bool; 2],
    /// `UTXIFGx`, likewise.
    pub transmit: [bool; 2],
    /// A conversion has ended.
    pub adc12: bool,
}

/// A byte or a word to be moved over the bus before the core continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Source address, and whether it is a byte.
    pub source: (u16, bool),
    /// Destination address, and whether it is a byte.
    pub destination: (u16, bool),
    /// How long the core is held.
    pub cycles: Cycles,
}

/// A channel.
#[derive(Clone, Debug, Default)]
struct Channel {
    /// `DMAxCTL`, `DMAxSA`, `DMAxDA` and `DMAxSZ`. A reset leaves addresses and sizes unchanged;
    /// here, power-up zeroes them.
    registers: [u16; 4],
    /// Current addresses, and the size to reload.
    source: u16,
    destination: u16,
    size: u16,
    /// The trigger's level when last checked.
    level: bool,
    /// Transfers left in the current block.
    block: u16,
}

/// The controller.
#[derive(Clone, Debug, Default)]
pub struct Dma {
    ctl: [u16; 2],
    channels: [Channel; 3],
}

/// Find the channel and register index of an address.
fn place(address: u16) -> Option<(usize, usize)> {
    let word = usize::from(address.checked_sub(0x01e0)?) / 2;
    (word < 12).then_some((word / 4, word % 4))
}

impl Dma {
    /// Read a register; `None` if there is none.
    pub fn read(&self, address: u16) -> Option<u16> {
        match address {
            0x0122 => Some(self.ctl[0]),
            0x0124 => Some(self.ctl[1]),
            _ => {
                place(address).map(|(channel, register)| self.channels[channel].registers[register])
            }
        }
    }

    /// Write a register; false if there is none.
    ///
    /// # Errors
    /// The value enables a channel in a way that the emulation leaves out.
    pub fn write(&mut self, address: u16, value: u16) -> Result<bool, Fault> {
        match address {
            0x0122 => self.ctl[0] = value,
            0x0124 => self.ctl[1] = value & CTL1,
            _ => {
                let Some((number, register)) = place(address) else {
                    return Ok(false);
                };
                if register == 0 && value & EN != 0 {
                    self.check(number, value)?;
                }
                let channel = &mut self.channels[number];
                let was_enabled = channel.registers[0] & EN != 0;
                channel.registers[register] = value;
                if register == 0 && value & EN == 0 {
                    // DMAREQ is reset while a channel is not enabled (figures 8-3 to 8-5).
                    channel.registers[0] &= !REQ;
                    channel.block = 0;
                } else if register == 0 && !was_enabled {
                    [_, channel.source, channel.destination, channel.size] = channel.registers;
                    // A flag that is already set is not an edge.
                    channel.level = true;
                }
            }
        }
        Ok(true)
    }

    fn check(&self, number: usize, control: u16) -> Result<(), Fault> {
        let what = if control & LEVEL != 0 {
            "that a level triggers (DMALEVEL = 1)"
        } else if control >> 13 & 1 != 0 {
            "in burst-block mode (DMADTx = 2, 3, 6 or 7)"
        } else if self.trigger(number).is_none() {
            "with this trigger (DMAxTSELx in DMACTL0)"
        } else {
            return Ok(());
        };
        let message =
            format!("DMA channel {number} is enabled {what}, which the emulation leaves out");
        Err(Fault::new(FaultKind::Absent, message))
    }

    fn trigger(&self, number: usize) -> Option<Trigger> {
        Some(match self.ctl[0] >> (4 * number) & 15 {
            0 => Trigger::Software,
            3 => Trigger::Receive(0),
            4 => Trigger::Transmit(0),
            6 => Trigger::Adc12,
            9 => Trigger::Receive(1),
            10 => Trigger::Transmit(1),
            14 => Trigger::Channel,
            _ => return None,
        })
    }

    /// Whether any channel is enabled.
    pub fn is_enabled(&self) -> bool {
        let mut controls = self.channels.iter().map(|channel| channel.registers[0]);
        controls.any(|control| control & EN != 0)
    }

    /// Return the next byte or word to move and the trigger that it takes, whose flag is reset; no
    /// trigger within a block.
    pub fn next_transfer(
        &mut self,
        triggers: Triggers,
        is_asleep: bool,
    ) -> Option<(Transfer, Option<Trigger>)> {
        // DMA0 has the highest priority (section 8.2.4); for transfers that do not overlap, round
        // robin is equivalent.
        for number in 0..3 {
            let Some(trigger) = self.trigger(number) else {
                continue;
            };
            let channel = &mut self.channels[number];
            let control = channel.registers[0];
            if control & EN == 0 {
                continue;
            }
            let level = match trigger {
                Trigger::Software | Trigger::Channel => control & REQ != 0,
                Trigger::Receive(port) => triggers.receive[port],
                Trigger::Transmit(port) => triggers.transmit[port],
                Trigger::Adc12 => triggers.adc12,
            };
            let is_edge = level
                && (!channel.level || matches!(trigger, Trigger::Software | Trigger::Channel));
            channel.level = level;
            let is_block = control >> 12 & 1 != 0;
            let is_begun = channel.block > 0;
            if !is_begun && !is_edge {
                continue;
            }
            channel.level = false;
            let transfer = self.transfer(number, is_block, is_begun, is_asleep);
            return Some((transfer, (!is_begun).then_some(trigger)));
        }
        None
    }

    fn transfer(
        &mut self,
        number: usize,
        is_block: bool,
        is_begun: bool,
        is_asleep: bool,
    ) -> Transfer {
        let channel = &mut self.channels[number];
        let control = channel.registers[0];
        let transfer = Transfer {
            source: (channel.source, control & SOURCE_BYTE != 0),
            destination: (channel.destination, control & DESTINATION_BYTE != 0),
            cycles: match (is_block, is_begun) {
                (true, false) => BLOCK + AROUND,
                (true, true) => BLOCK,
                (false, _) if is_asleep => SINGLE_ASLEEP,
                (false, _) => SINGLE,
            },
        };
        let stepped = |address: u16, mode: u16, is_byte| {
            let step = if is_byte { 1 } else { 2 };
            match mode & 3 {
                2 => address.wrapping_sub(step),
                3 => address.wrapping_add(step),
                _ => address,
            }
        };
        channel.source = stepped(channel.source, control >> 8, transfer.source.1);
        channel.destination = stepped(channel.destination, control >> 10, transfer.destination.1);
        let left = channel.registers[3].wrapping_sub(1);
        channel.registers[3] = left;
        channel.registers[0] &= !(REQ | ABORT);
        channel.block = if is_block { left } else { 0 };
        if left == 0 {
            let is_repeated = control >> 14 & 1 != 0;
            channel.registers[3] = channel.size;
            channel.source = channel.registers[1];
            channel.destination = channel.registers[2];
            channel.registers[0] |= IFG;
            if !is_repeated {
                channel.registers[0] &= !EN;
            }
            // The end of a channel triggers the next one (section 8.2.3).
            let next = (number + 1) % 3;
            if self.trigger(next) == Some(Trigger::Channel) {
                let next = &mut self.channels[next].registers[0];
                *next |= if *next & EN != 0 { REQ } else { 0 };
            }
        }
        transfer
    }

    /// Whether an enabled flag requests the interrupt.
    pub fn is_pending(&self) -> bool {
        let mut controls = self.channels.iter().map(|channel| channel.registers[0]);
        controls.any(|control| control & (IE | IFG) == IE | IFG)
    }
}
