//! Physical memory protection as the RP2350 has it: eight regions that programs set, in units of 32
//! bytes, and three that are fixed (RISC-V privileged architecture 1.12, section 3.7; Pico SDK,
//! `rvcsr.h`; the core's RTL).
//!
//! What this core does otherwise than the architecture says: read and execute change places in
//! `pmpcfg` (erratum RP2350-E6), ranges (TOR) and regions of 4 bytes turn a region off, and the bits
//! of `pmpaddr` below the unit read as ones while the region is off and as zeros while it is on.

/// `pmpcfg`.
const LOCKED: u8 = 1 << 7;
const NAPOT: u8 = 3 << 3;
const READ: u8 = 1 << 2;
const WRITE: u8 = 1 << 1;
const EXECUTE: u8 = 1;
const BITS: u8 = LOCKED | NAPOT | READ | WRITE | EXECUTE;

const REGIONS: usize = 11;
/// Those that programs set.
const SET: usize = 8;
/// Boot ROM; peripherals; SIO and what is above: user mode may use them.
const FIXED: [u32; REGIONS - SET] = [0x01ff_ffff, 0x13ff_ffff, 0x35ff_ffff];
/// Bits of `pmpaddr` that are below the unit.
const BELOW: u32 = 3;
/// `pmpaddr` holds bits 33 to 2 of an address, of which 30 are there.
const ADDRESS: u32 = 0x3fff_ffff;

/// What an access is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum For {
    Reading = READ as isize,
    Writing = WRITE as isize,
    Executing = EXECUTE as isize,
}

/// The regions, and what they are for.
#[derive(Clone, Debug)]
pub(crate) struct Protection {
    configured: [u8; REGIONS],
    addresses: [u32; REGIONS],
    /// `pmpcfgm0`: regions that count for machine mode, too, and are not locked.
    for_machine: u32,
}

impl Protection {
    pub const fn new() -> Self {
        let mut addresses = [BELOW; REGIONS];
        let mut configured = [0; REGIONS];
        let mut region = SET;
        while region < REGIONS {
            addresses[region] = FIXED[region - SET];
            configured[region] = NAPOT | READ | WRITE | EXECUTE;
            region += 1;
        }
        Self {
            configured,
            addresses,
            for_machine: 0,
        }
    }

    /// Whether some region counts for machine mode.
    pub fn binds_machine(&self) -> bool {
        let mut configured = self.configured.iter().enumerate();
        configured.any(|(region, &bits)| bits & NAPOT != 0 && self.binds(region))
    }

    fn binds(&self, region: usize) -> bool {
        self.configured[region] & LOCKED != 0 || self.for_machine >> region & 1 != 0
    }

    fn has(&self, region: usize, address: u32) -> bool {
        // The lowest 0 of `pmpaddr` and what is below it are not compared.
        let ignored = self.addresses[region] ^ self.addresses[region].wrapping_add(1);
        let differing = (address >> 2) ^ self.addresses[region];
        self.configured[region] & NAPOT != 0 && differing & !ignored & ADDRESS == 0
    }

    /// The first region that has an address.
    fn first(&self, address: u32) -> Option<usize> {
        (0..REGIONS).find(|&region| self.has(region, address))
    }

    fn lets(&self, region: Option<usize>, purpose: For, is_machine: bool) -> bool {
        match region {
            None => is_machine,
            Some(region) if is_machine && !self.binds(region) => true,
            Some(region) => self.configured[region] & purpose as u8 != 0,
        }
    }

    /// Whether an aligned load or store is let through.
    pub fn lets_access(&self, address: u32, purpose: For, is_machine: bool) -> bool {
        self.lets(self.first(address), purpose, is_machine)
    }

    /// Whether an instruction of one or two halfwords may be executed: a region that has a part of it
    /// must have it all.
    pub fn lets_execute(&self, pc: u32, halves: u8, is_machine: bool) -> bool {
        let region = self.first(pc);
        let behind = self.first(pc.wrapping_add(2));
        if halves == 2 && region != behind {
            return false;
        }
        self.lets(region, For::Executing, is_machine)
    }

    /// Read a CSR; `None` if it is none of these.
    pub fn read(&self, number: u32) -> Option<u32> {
        Some(match number {
            0x3a0..=0x3a3 => {
                let first = 4 * (number - 0x3a0) as usize;
                let byte = |region: usize| self.configured.get(region).copied().unwrap_or(0);
                u32::from_le_bytes(std::array::from_fn(|index| byte(first + index)))
            }
            0x3b0..=0x3bf => {
                let region = (number - 0x3b0) as usize;
                match self.addresses.get(region) {
                    None => 0,
                    Some(&address) if region >= SET => address,
                    Some(&address) if self.configured[region] & NAPOT != 0 => address & !BELOW,
                    Some(&address) => address,
                }
            }
            0xbd0 => self.for_machine,
            _ => return None,
        })
    }

    /// Write a CSR.
    pub fn write(&mut self, number: u32, value: u32) {
        match number {
            0x3a0..=0x3a1 => {
                let first = 4 * (number - 0x3a0) as usize;
                for (region, bits) in (first..).zip(value.to_le_bytes()) {
                    if self.configured[region] & LOCKED == 0 {
                        let off = if bits & NAPOT == NAPOT { 0 } else { NAPOT };
                        self.configured[region] = bits & BITS & !off;
                    }
                }
            }
            0x3b0..=0x3b7 => {
                let region = (number - 0x3b0) as usize;
                if self.configured[region] & LOCKED == 0 {
                    self.addresses[region] = value & ADDRESS | BELOW;
                }
            }
            0xbd0 => self.for_machine = value & ((1 << SET) - 1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAM: u32 = 0x2000_0000;

    /// Region 0 is 64 bytes at `RAM + 64`, with these bits.
    fn with(bits: u8) -> Protection {
        let mut protection = Protection::new();
        protection.write(0x3b0, (RAM + 64) >> 2 | 7);
        protection.write(0x3a0, bits.into());
        protection
    }

    #[test]
    fn what_is_fixed_is_for_user_mode_and_nothing_else_is() {
        let protection = Protection::new();
        for (address, lets) in [
            (0x0000_0100, true),
            (0x0fff_fffc, true),
            (0x1000_0000, false),
            (RAM, false),
            (0x4000_0000, true),
            (0x5fff_fffc, true),
            (0x6000_0000, false),
            (0xd000_0000, true),
            (0xe000_0000, false),
        ] {
            for purpose in [For::Reading, For::Writing, For::Executing] {
                let found = protection.lets_access(address, purpose, false);
                assert_eq!(found, lets, "{address:#x}");
                assert!(protection.lets_access(address, purpose, true));
            }
        }
        assert!(!protection.binds_machine());
    }

    #[test]
    fn a_region_is_what_its_address_and_bits_say() {
        for bits in 0..8 {
            let protection = with(NAPOT | bits);
            for (purpose, bit) in [
                (For::Reading, READ),
                (For::Writing, WRITE),
                (For::Executing, EXECUTE),
            ] {
                let lets = |address| protection.lets_access(address, purpose, false);
                assert_eq!(lets(RAM + 64), bits & bit != 0);
                assert_eq!(lets(RAM + 127), bits & bit != 0);
                assert!(!lets(RAM + 63) && !lets(RAM + 128));
                assert!(protection.lets_access(RAM + 64, purpose, true));
            }
        }
    }

    #[test]
    fn an_instruction_must_be_in_one_region() {
        let protection = with(NAPOT | EXECUTE);
        assert!(protection.lets_execute(RAM + 124, 2, false));
        assert!(protection.lets_execute(RAM + 126, 1, false));
        assert!(!protection.lets_execute(RAM + 126, 2, false));
        assert!(!protection.lets_execute(RAM + 62, 2, false));
        // For machine mode as well.
        assert!(!protection.lets_execute(RAM + 126, 2, true));
    }

    #[test]
    fn the_first_region_counts() {
        let mut protection = with(NAPOT | READ);
        protection.write(0x3b1, RAM >> 2 | 0xffff);
        protection.write(
            0x3a0,
            u32::from(NAPOT | READ) | u32::from(NAPOT | WRITE) << 8,
        );
        let lets = |address, purpose| protection.lets_access(address, purpose, false);
        assert!(lets(RAM + 64, For::Reading) && !lets(RAM + 64, For::Writing));
        assert!(!lets(RAM + 128, For::Reading) && lets(RAM + 128, For::Writing));
    }

    #[test]
    fn a_lock_binds_machine_mode_and_stays() {
        let mut protection = with(NAPOT | LOCKED | READ);
        assert!(protection.binds_machine());
        assert!(!protection.lets_access(RAM + 64, For::Writing, true));
        protection.write(0x3a0, 0);
        protection.write(0x3b0, 0);
        assert!(!protection.lets_access(RAM + 64, For::Writing, true));
        assert_eq!(protection.read(0x3a0), Some((NAPOT | LOCKED | READ).into()));
    }

    #[test]
    fn a_region_can_bind_machine_mode_without_a_lock() {
        let mut protection = with(NAPOT | READ);
        protection.write(0xbd0, u32::MAX);
        assert_eq!(protection.read(0xbd0), Some(0xff));
        assert!(!protection.lets_access(RAM + 64, For::Writing, true));
        protection.write(0x3a0, 0);
        assert!(protection.lets_access(RAM + 64, For::Writing, true));
    }

    #[test]
    fn what_is_not_supported_turns_a_region_off() {
        for mode in [0, 1, 2] {
            let protection = with(mode << 3 | READ);
            assert!(!protection.lets_access(RAM + 64, For::Reading, false));
            assert_eq!(protection.read(0x3a0), Some(READ.into()));
            assert_eq!(protection.read(0x3b0), Some((RAM + 64) >> 2 | 7));
        }
        // The unit is 32 bytes.
        assert_eq!(with(NAPOT).read(0x3b0), Some((RAM + 64) >> 2 | 4));
        assert_eq!(with(NAPOT).read(0x3a2), Some(0x001f_1f1f));
    }
}
