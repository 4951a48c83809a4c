//! The CC2538's micro DMA controller, which is ARM's PL230, for software requests: a channel's
//! transfer runs when the program requests it. Peripheral requests are left out. Registers and
//! fields are those of TI's `hw_udma.h` (github.com/openwsn-berkeley/openwsn-fw,
//! bsp/boards/openmote-cc2538/headers, commit 7ee5f20); control words are those of the PL230 (ARM
//! DDI 0417A, section 3.3).

use joulemark_kernel::{Cycles, Fault, FaultKind, Memories};

/// STAT: 32 channels, idle.
const CHANNELS: u32 = 0x1f << 16;
/// CFG and STAT.
const MASTEN: u32 = 1;
const CTLBASE_ADDR: u32 = 0xffff_fc00;
/// Offset of the alternate control structures for 32 channels.
const ALTERNATE: u32 = 0x200;

/// Pairs of registers that set and clear bits of the same word: use burst, request mask, enable,
/// alternate, priority.
const PAIRS: u32 = 0x018;
const LAST_PAIR: u32 = 0x03c;
/// Indices of the enable and alternate words.
const ENABLE: usize = 2;
const ALTERNATES: usize = 3;

/// Cycles per item, and to read and write back a channel's control structure. Inferred: a read and
/// a write on a bus with two-cycle accesses; four words in and two out.
const ITEM_CYCLES: u64 = 4;
const CHANNEL_CYCLES: u64 = 12;

/// Registers that the controller can access: called with an address, and a value for a write.
pub type Registers<'a> = dyn FnMut(u32, Option<u32>) -> Option<u32> + 'a;

/// The controller's registers.
#[derive(Clone, Debug, Default)]
pub struct Udma {
    enabled: bool,
    base: u32,
    /// The words behind [`PAIRS`].
    bits: [u32; 5],
    assignment: u32,
    maps: [u32; 4],
    /// Channels that the program requested, and when the first of them completes.
    requests: u32,
    done: Option<Cycles>,
    /// Channels that have completed.
    interrupts: u32,
    is_error: bool,
}

/// A transfer, as its control structure describes it.
struct Transfer {
    /// Addresses of the last items.
    from: u32,
    to: u32,
    control: u32,
}

impl Transfer {
    /// 0 stopped, 1 basic, 2 auto; other modes continue with another structure.
    const fn mode(&self) -> u32 {
        self.control & 7
    }

    /// Bytes per item.
    const fn size(&self) -> u32 {
        1 << (self.control >> 24 & 3)
    }

    /// Items left.
    const fn items(&self) -> u32 {
        (self.control >> 4 & 0x3ff) + 1
    }

    /// The address increment per item; field 3 means none.
    const fn step(field: u32) -> u32 {
        if field == 3 { 0 } else { 1 << field }
    }

    /// Items in this request: in basic mode up to the arbitration limit, in auto mode all.
    const fn items_now(&self) -> u32 {
        let most = 1 << (self.control >> 14 & 15);
        if self.mode() == 1 && most < self.items() {
            most
        } else {
            self.items()
        }
    }
}

impl Udma {
    /// Read a register by offset; `None` if there is none.
    pub fn read(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x000 => CHANNELS | u32::from(self.enabled),
            0x008 => self.base,
            0x00c => self.base | ALTERNATE,
            // No channel waits; software requests are write-only.
            0x010 | 0x014 => 0,
            PAIRS..=LAST_PAIR if offset & 4 == 0 => self.bits[pair(offset)],
            0x04c => self.is_error.into(),
            0x500 => self.assignment,
            0x504 => self.interrupts,
            0x510..=0x51c => self.maps[(offset as usize - 0x510) / 4],
            _ => return None,
        })
    }

    /// Write a register by offset; false if there is none.
    pub fn write(&mut self, offset: u32, value: u32) -> bool {
        match offset {
            0x004 => self.enabled = value & MASTEN != 0,
            0x008 => self.base = value & CTLBASE_ADDR,
            // A request to a disabled channel is lost.
            0x014 if self.enabled => self.requests |= value & self.bits[ENABLE],
            0x014 => {}
            PAIRS..=LAST_PAIR => {
                let word = &mut self.bits[pair(offset)];
                *word = if offset & 4 == 0 {
                    *word | value
                } else {
                    *word & !value
                };
                self.requests &= self.bits[ENABLE];
            }
            0x04c => self.is_error &= value & 1 == 0,
            0x500 => self.assignment = value,
            0x504 => self.interrupts &= !value,
            0x510..=0x51c => self.maps[(offset as usize - 0x510) / 4] = value,
            _ => return false,
        }
        true
    }

    /// Interrupt lines: software transfer complete, bus error.
    pub const fn interrupts(&self) -> [bool; 2] {
        [self.interrupts != 0, self.is_error]
    }

    /// When [`Udma::transfer`] has work to do; at once for a new request.
    pub fn next_event(&self) -> Cycles {
        match self.done {
            Some(at) => at,
            None if self.requests != 0 => Cycles(0),
            None => Cycles::NEVER,
        }
    }

    /// Start requested transfers and complete those that are due; return whether there were any.
    ///
    /// # Errors
    /// The set-up uses a feature that the emulation leaves out.
    pub fn transfer(
        &mut self,
        memory: &mut dyn Memories,
        registers: &mut Registers<'_>,
        now: Cycles,
    ) -> Result<bool, Fault> {
        if self.requests == 0 || self.done.is_some_and(|at| at > now) {
            return Ok(false);
        }
        let channel = self.requests.trailing_zeros();
        let structures = if self.bits[ALTERNATES] >> channel & 1 == 0 {
            self.base
        } else {
            self.base | ALTERNATE
        };
        let at = structures + 16 * channel;
        let Some(transfer) = read_structure(memory, at) else {
            self.fail(channel);
            return Ok(true);
        };
        if self.done.is_none() {
            self.check(channel, &transfer)?;
            let items = u64::from(transfer.items_now());
            self.done = Some(now + Cycles(CHANNEL_CYCLES + items * ITEM_CYCLES));
            return Ok(true);
        }
        self.done = None;
        self.requests &= !(1 << channel);
        if transfer.mode() == 0 {
            // The channel was stopped before the request.
            self.bits[ENABLE] &= !(1 << channel);
            return Ok(true);
        }
        let items = transfer.items_now();
        let (from_step, to_step) = (
            Transfer::step(transfer.control >> 26 & 3),
            Transfer::step(transfer.control >> 30),
        );
        for left in (transfer.items() - items..transfer.items()).rev() {
            let from = transfer.from.wrapping_sub(left * from_step);
            let to = transfer.to.wrapping_sub(left * to_step);
            if !copy(memory, registers, from, to, transfer.size()) {
                self.fail(channel);
                return Ok(true);
            }
        }
        let left = transfer.items() - items;
        let control = if left == 0 {
            transfer.control & !0x3ff7
        } else {
            transfer.control & !0x3ff0 | (left - 1) << 4
        };
        let _ = memory.read(at + 8, 4);
        memory.write_made(at + 8, &control.to_le_bytes());
        if left == 0 {
            self.bits[ENABLE] &= !(1 << channel);
            self.interrupts |= 1 << channel;
        }
        Ok(true)
    }

    fn check(&self, channel: u32, transfer: &Transfer) -> Result<(), Fault> {
        if matches!(transfer.mode(), 0..=2) && self.bits[ENABLE] >> channel & 1 != 0 {
            return Ok(());
        }
        Err(Fault::new(
            FaultKind::Absent,
            format!(
                "uDMA channel {channel} is to transfer in mode {}; the emulation leaves out all but basic \
                 and auto",
                transfer.mode()
            ),
        ))
    }

    fn fail(&mut self, channel: u32) {
        self.is_error = true;
        self.done = None;
        self.requests &= !(1 << channel);
        self.bits[ENABLE] &= !(1 << channel);
    }
}

fn read_structure(memory: &dyn Memories, at: u32) -> Option<Transfer> {
    let bytes = memory.read(at, 12)?;
    memory.directs();
    let word = |place: usize| {
        let word = bytes.get(place..place + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(word))
    };
    Some(Transfer {
        from: word(0)?,
        to: word(4)?,
        control: word(8)?,
    })
}

/// Copy an item; false if one of the addresses does not exist.
fn copy(
    memory: &mut dyn Memories,
    registers: &mut Registers<'_>,
    from: u32,
    to: u32,
    size: u32,
) -> bool {
    let bytes = memory.read(from, size);
    let is_memory = bytes.is_some();
    let value = match bytes {
        Some(bytes) => bytes
            .iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u32::from(byte)),
        None => match registers(from, None) {
            Some(value) => value,
            None => return false,
        },
    };
    if memory.write(to, &value.to_le_bytes()[..size as usize]) {
        return true;
    }
    if is_memory {
        memory.leaves_by(to);
    }
    registers(to, Some(value)).is_some()
}

fn pair(offset: u32) -> usize {
    (offset - PAIRS) as usize / 8
}
