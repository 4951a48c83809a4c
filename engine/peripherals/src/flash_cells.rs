//! Flash cells that an on-chip controller programs or erases.
//!
//! No document states in which order cells change during programming or erasing. Here, after each
//! quarter of the time, a quarter of the bits changes, drawn by address. A power loss in between
//! thus leaves a mix of old and new bits.

use joulemark_kernel::chip::Constant;
use joulemark_kernel::{Cycles, Fault, FaultKind, Memories};

const QUARTERS: u64 = 4;

/// A chip's programming and erase times: section `flash_controller` of its file.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashTimes {
    /// Erase time of a page.
    pub page_erase_s: Constant,
    /// Write time of a 32-bit word.
    pub word_write_s: Constant,
}

impl FlashTimes {
    /// Clock cycles to erase a page.
    pub fn page_erase(&self, hz: u32) -> u64 {
        cycles(&self.page_erase_s, hz)
    }

    /// Clock cycles to write a word.
    pub fn word_write(&self, hz: u32) -> u64 {
        cycles(&self.word_write_s, hz)
    }
}

/// A chip's flash, as its controller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashRange {
    /// First address.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// Bytes erased at once.
    pub page: u32,
}

fn cycles(seconds: &Constant, hz: u32) -> u64 {
    (seconds.value * f64::from(hz)).ceil() as u64
}

/// A change of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Clear the bits that are 0 in these words; the second word follows the first.
    Program([u32; 2]),
    /// Set all bits of this many bytes.
    Erase(u32),
}

impl Change {
    /// The chip's power state during the change.
    pub const fn power_state(self) -> &'static str {
        match self {
            Self::Program(_) => "flash-write",
            Self::Erase(_) => "flash-erase",
        }
    }
}

/// Cells being changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changing {
    /// Address of the first word.
    pub address: u32,
    /// The change.
    pub change: Change,
    end: Cycles,
    cycles: u64,
    quarters: u64,
}

impl Changing {
    /// Start a change that takes `cycles` from now on.
    pub const fn new(address: u32, change: Change, now: Cycles, cycles: u64) -> Self {
        Self {
            address,
            change,
            end: Cycles(now.0 + cycles),
            cycles,
            quarters: 0,
        }
    }

    /// When the last cells change.
    pub const fn end(&self) -> Cycles {
        self.end
    }

    /// When the next cells change.
    pub const fn next_event(&self) -> Cycles {
        if self.is_over() {
            return Cycles::NEVER;
        }
        Cycles(
            self.end
                .0
                .saturating_sub(self.cycles * (QUARTERS - self.quarters - 1) / QUARTERS),
        )
    }

    /// Whether all cells have changed.
    pub const fn is_over(&self) -> bool {
        self.quarters == QUARTERS
    }

    /// Set a new clock; the remaining time stays the same.
    pub fn change_clock(&mut self, now: Cycles, from_hz: u32, to_hz: u32) {
        let whole = |cycles: u64| cycles * u64::from(to_hz) / u64::from(from_hz);
        self.end = Cycles(now.0 + whole(self.end.0.saturating_sub(now.0)));
        self.cycles = whole(self.cycles);
    }

    /// Change the cells that are due.
    ///
    /// # Errors
    /// The flash does not exist.
    pub fn transfer(&mut self, memory: &mut dyn Memories, now: Cycles) -> Result<(), Fault> {
        let before = self.quarters;
        while self.next_event() <= now {
            self.quarters += 1;
        }
        if self.quarters == before {
            return Ok(());
        }
        let bytes = match self.change {
            Change::Program(_) => 8,
            Change::Erase(bytes) => bytes,
        };
        let nothing = || {
            Fault::new(FaultKind::FlashWrite, "no flash is there to be changed").at(self.address)
        };
        let old = memory.read(self.address, bytes).ok_or_else(nothing)?;
        let words = old.chunks_exact(4).zip((self.address..).step_by(4));
        let new: Vec<u8> = words
            .enumerate()
            .flat_map(|(number, (bytes, address))| {
                let old = u32::from_le_bytes(bytes.try_into().unwrap_or_default());
                let changed = changed_bits(address, self.quarters);
                let new = match self.change {
                    Change::Program(data) => old & (data[number] | !changed),
                    Change::Erase(_) => old | changed,
                };
                new.to_le_bytes()
            })
            .collect();
        if memory.write_flash(self.address, &new) {
            Ok(())
        } else {
            Err(nothing())
        }
    }
}

/// Arbitrary bits that belong to an address, by the finalizer of `MurmurHash3`.
pub const fn drawn(address: u32) -> u64 {
    let mut drawn = address as u64 ^ 0x9e37_79b9_7f4a_7c15;
    drawn = (drawn ^ drawn >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    (drawn ^ drawn >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53)
}

/// The bits of a word that have changed after `quarters` quarters of the time.
const fn changed_bits(address: u32, quarters: u64) -> u32 {
    // Two bits per cell select the quarter.
    let drawn = drawn(address);
    let (high, low) = ((drawn >> 32) as u32, drawn as u32);
    match quarters {
        0 => 0,
        1 => !high & !low,
        2 => !high,
        3 => !(high & low),
        _ => u32::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Array(Vec<u8>);

    impl Memories for Array {
        fn read(&self, address: u32, length: u32) -> Option<Vec<u8>> {
            let start = address as usize;
            Some(self.0.get(start..start + length as usize)?.to_vec())
        }

        fn write(&mut self, _address: u32, _data: &[u8]) -> bool {
            false
        }

        fn write_flash(&mut self, address: u32, data: &[u8]) -> bool {
            let start = address as usize;
            self.0[start..start + data.len()].copy_from_slice(data);
            true
        }
    }

    #[test]
    fn cells_change_a_part_at_a_time_and_never_back() {
        let mut memory = Array(vec![0x5a; 64]);
        let mut erased = Changing::new(16, Change::Erase(32), Cycles(100), 400);
        let mut ones = vec![32 * 4];
        for end in [200, 300, 400, 500] {
            assert_eq!(erased.next_event(), Cycles(end));
            erased.transfer(&mut memory, Cycles(end - 1)).unwrap();
            erased.transfer(&mut memory, Cycles(end)).unwrap();
            ones.push(memory.0[16..48].iter().map(|byte| byte.count_ones()).sum());
        }
        assert!(ones.is_sorted() && ones.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(erased.is_over());
        assert_eq!(memory.0[16..48], [0xff; 32]);
        assert_eq!(memory.0[..16], [0x5a; 16]);
        assert_eq!(memory.0[48..], [0x5a; 16]);

        let change = Change::Program([0x1234_5678, u32::MAX]);
        let mut written = Changing::new(16, change, Cycles(1000), 8);
        written.transfer(&mut memory, Cycles(1004)).unwrap();
        let half = u32::from_le_bytes(memory.0[16..20].try_into().unwrap());
        assert_eq!(half & 0x1234_5678, 0x1234_5678);
        assert!(half != 0x1234_5678 && half != u32::MAX);
        written.transfer(&mut memory, Cycles(1008)).unwrap();
        assert_eq!(
            memory.0[16..24],
            [0x78, 0x56, 0x34, 0x12, 0xff, 0xff, 0xff, 0xff]
        );
    }

    #[test]
    fn another_clock_leaves_the_time() {
        let mut erased = Changing::new(0, Change::Erase(4), Cycles(0), 1000);
        erased.change_clock(Cycles(500), 16, 32);
        let mut memory = Array(vec![0; 4]);
        erased.transfer(&mut memory, Cycles(1499)).unwrap();
        assert!(!erased.is_over());
        erased.transfer(&mut memory, Cycles(1500)).unwrap();
        assert!(erased.is_over());
    }
}
