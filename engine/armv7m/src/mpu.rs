//! The memory protection unit of `PMSAv7` (ARM DDI 0403E.e, B3.5): regions, and who may do what in them.

/// `MPU_CTRL`.
const ENABLE: u32 = 1;
const HFNMIENA: u32 = 1 << 1;
const PRIVDEFENA: u32 = 1 << 2;
/// `MPU_RBAR`.
const VALID: u32 = 1 << 4;
/// `MPU_RASR`: execute never, and the bits that exist.
const XN: u32 = 1 << 28;
const RASR_BITS: u32 = 0x173f_ff3f;

/// Regions that one can have at most.
const MOST_REGIONS: usize = 16;

/// An instruction's intention with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    Execute,
}

/// Its registers.
#[derive(Clone, Copy, Debug)]
pub struct Mpu {
    /// Regions that there are; 0 where there is no MPU.
    regions: usize,
    control: u32,
    selected: usize,
    /// `MPU_RBAR` and `MPU_RASR` of each.
    bases: [u32; MOST_REGIONS],
    attributes: [u32; MOST_REGIONS],
}

impl Mpu {
    /// With so many regions, disabled.
    pub const fn new(regions: usize) -> Self {
        assert!(regions <= MOST_REGIONS);
        Self {
            regions,
            control: 0,
            selected: 0,
            bases: [0; MOST_REGIONS],
            attributes: [0; MOST_REGIONS],
        }
    }

    /// Whether accesses are looked at.
    #[inline]
    pub const fn is_on(&self) -> bool {
        self.control & ENABLE != 0
    }

    /// Read a register, from `MPU_TYPE` (0xe000ed90) to the third alias of `MPU_RASR`.
    pub const fn read(&self, address: u32) -> u32 {
        match address {
            0xe000_ed90 => (self.regions as u32) << 8,
            0xe000_ed94 => self.control,
            0xe000_ed98 => self.selected as u32,
            _ if address & 4 != 0 => self.bases[self.selected] | self.selected as u32,
            _ => self.attributes[self.selected],
        }
    }

    /// Write one. Region numbers that are not there are taken modulo those that are.
    pub const fn write(&mut self, address: u32, value: u32) {
        if self.regions == 0 {
            return;
        }
        match address {
            0xe000_ed90 => {}
            0xe000_ed94 => self.control = value & (ENABLE | HFNMIENA | PRIVDEFENA),
            0xe000_ed98 => self.selected = value as usize % self.regions,
            _ if address & 4 != 0 => {
                if value & VALID != 0 {
                    self.selected = (value & 15) as usize % self.regions;
                }
                self.bases[self.selected] = value & !0x1f;
            }
            _ => self.attributes[self.selected] = value & RASR_BITS,
        }
    }

    /// Whether a byte may be accessed; `negative` says that execution has a negative priority.
    pub fn allows(&self, address: u32, access: Access, privileged: bool, negative: bool) -> bool {
        // The private peripheral bus is as without an MPU (B3.5.1).
        if !self.is_on() || address >> 20 == 0xe00 || (negative && self.control & HFNMIENA == 0) {
            return true;
        }
        let region = (0..self.regions)
            .rev()
            .find(|&region| self.has(region, address));
        let Some(region) = region else {
            return privileged && self.control & PRIVDEFENA != 0;
        };
        let attributes = self.attributes[region];
        // Table B3-15.
        let (reads, writes) = match (attributes >> 24 & 7, privileged) {
            (1 | 2, true) | (3, _) => (true, true),
            (2, false) | (5, true) | (6 | 7, _) => (true, false),
            _ => (false, false),
        };
        match access {
            Access::Read => reads,
            Access::Write => writes,
            Access::Execute => reads && attributes & XN == 0,
        }
    }

    /// Whether an enabled region holds an address, in a subregion that is not disabled.
    const fn has(&self, region: usize, address: u32) -> bool {
        let attributes = self.attributes[region];
        let log2_size = (attributes >> 1 & 31) + 1;
        if attributes & 1 == 0 || log2_size < 5 {
            return false;
        }
        let inside = (address ^ self.bases[region]) as u64 >> log2_size == 0;
        // Regions of less than 256 bytes have no subregions.
        let subregion = (address as u64 >> (if log2_size < 8 { 5 } else { log2_size } - 3)) & 7;
        inside && (log2_size < 8 || attributes >> (8 + subregion as u32) & 1 == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RBAR: u32 = 0xe000_ed9c;
    const RASR: u32 = 0xe000_eda0;

    fn region(mpu: &mut Mpu, number: u32, base: u32, attributes: u32) {
        mpu.write(RBAR, base | VALID | number);
        mpu.write(RASR, attributes);
    }

    /// Log2 of the size, and enabled.
    const fn size(log2: u32) -> u32 {
        (log2 - 1) << 1 | 1
    }

    #[test]
    fn permissions_are_those_of_table_b3_15() {
        let expected = [
            // AP: privileged reads, writes; others read, write.
            (0, "----"),
            (1, "rw--"),
            (2, "rwr-"),
            (3, "rwrw"),
            (5, "r---"),
            (6, "r-r-"),
            (7, "r-r-"),
        ];
        for (ap, allowed) in expected {
            let mut mpu = Mpu::new(8);
            region(&mut mpu, 0, 0x2000_0000, ap << 24 | size(12));
            mpu.write(0xe000_ed94, ENABLE);
            let text: String = [(true, Access::Read, 'r'), (true, Access::Write, 'w')]
                .into_iter()
                .chain([(false, Access::Read, 'r'), (false, Access::Write, 'w')])
                .map(|(privileged, access, letter)| {
                    let allows = mpu.allows(0x2000_0ffc, access, privileged, false);
                    if allows { letter } else { '-' }
                })
                .collect();
            assert_eq!(text, allowed, "AP {ap}");
            let executes = mpu.allows(0x2000_0000, Access::Execute, false, false);
            assert_eq!(executes, allowed.as_bytes()[2] == b'r', "AP {ap}");
            assert!(!mpu.allows(0x2000_1000, Access::Read, true, false));
        }
    }

    #[test]
    fn the_highest_region_decides_but_where_its_subregion_is_disabled() {
        let mut mpu = Mpu::new(8);
        region(&mut mpu, 0, 0x2000_0000, 3 << 24 | size(16));
        region(
            &mut mpu,
            3,
            0x2000_0800,
            6 << 24 | XN | 0b0000_0101 << 8 | size(8),
        );
        mpu.write(0xe000_ed94, ENABLE);
        let writes = |at| mpu.allows(at, Access::Write, false, false);
        for part in 0..8 {
            assert_eq!(
                writes(0x2000_0800 + 32 * part),
                part == 0 || part == 2,
                "part {part}"
            );
        }
        assert!(writes(0x2000_07ff) && writes(0x2000_0900));
        assert!(!mpu.allows(0x2000_0820, Access::Execute, true, false));
        assert!(mpu.allows(0x2000_0800, Access::Execute, true, false));
        assert_eq!(mpu.read(RBAR), 0x2000_0803);
        assert_eq!(mpu.read(0xe000_ed90), 0x800);
    }

    #[test]
    fn a_region_of_4_gigabytes_is_everything_and_one_of_16_bytes_nothing() {
        let mut mpu = Mpu::new(8);
        mpu.write(0xe000_ed94, ENABLE);
        region(&mut mpu, 0, 0x2000_0000, 3 << 24 | size(4));
        assert!(!mpu.allows(0x2000_0000, Access::Read, true, false));
        region(&mut mpu, 0, 0, 3 << 24 | 31 << 1 | 1);
        assert!(mpu.allows(0xffff_ffff, Access::Read, false, false));
    }

    #[test]
    fn the_default_map_is_for_privileged_code_and_for_negative_priorities() {
        let mut mpu = Mpu::new(8);
        mpu.write(0xe000_ed94, ENABLE);
        let reads = |mpu: &Mpu, privileged, negative| {
            mpu.allows(0x2000_0000, Access::Read, privileged, negative)
        };
        assert!(!reads(&mpu, true, false) && reads(&mpu, true, true));
        mpu.write(0xe000_ed94, ENABLE | PRIVDEFENA | HFNMIENA);
        assert!(reads(&mpu, true, false) && !reads(&mpu, false, true));
        assert!(mpu.allows(0xe000_e010, Access::Write, false, false));
    }

    #[test]
    fn without_an_mpu_its_registers_are_zero() {
        let mut mpu = Mpu::new(0);
        mpu.write(0xe000_ed94, ENABLE);
        region(&mut mpu, 0, 0x2000_0000, size(12));
        assert!(
            (0xe000_ed90..0xe000_edbc)
                .step_by(4)
                .all(|at| mpu.read(at) == 0)
        );
        assert!(!mpu.is_on());
    }
}
