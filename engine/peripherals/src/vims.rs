//! The versatile instruction memory system of the `CC26x0`: the use of the cache's RAM, and the
//! flash line buffers (SWCU117, section 7.9.2).

use joulemark_kernel::{Cycles, Fault, FaultKind};

/// CTL.MODE and its values.
const MODE: u32 = 3;
const MODE_GPRAM: u32 = 0;
const MODE_CACHE: u32 = 1;
const MODE_RESERVED: u32 = 2;
/// STAT.
const MODE_CHANGING: u32 = 1 << 3;
const SYSBUS_LB_DIS: u32 = 1 << 4;
const IDCODE_LB_DIS: u32 = 1 << 5;

/// Cycles of a mode change, measured from cache to GPRAM and assumed for all others (the program
/// `cache/changing_time` published with `CMEmu`).
const MODE_CHANGE_CYCLES: u64 = 1036;

/// VIMS.
#[derive(Clone, Copy, Debug)]
pub struct Vims {
    control: u32,
    mode: u32,
    /// When the mode in CTL is reached; `None` once it is.
    changed_at: Option<Cycles>,
}

impl Vims {
    /// In a mode, with the line buffers on or off.
    pub const fn new(mode: u32, line_buffers: bool) -> Self {
        let mode = mode & MODE;
        let off = if line_buffers {
            0
        } else {
            IDCODE_LB_DIS | SYSBUS_LB_DIS
        };
        Self {
            control: mode | off,
            mode,
            changed_at: None,
        }
    }

    /// Read STAT (0) or CTL (4).
    pub fn read(&self, offset: u32, now: Cycles) -> Option<u32> {
        let lines = self.control & (SYSBUS_LB_DIS | IDCODE_LB_DIS);
        let asked = self.control & MODE;
        match offset {
            0 if self.changed_at.is_some_and(|at| now < at) => {
                Some(lines | self.mode | MODE_CHANGING)
            }
            0 | 4 => Some(lines | asked),
            _ => None,
        }
    }

    /// Write CTL. A mode written during a mode change is ignored.
    ///
    /// # Errors
    /// The mode is reserved.
    pub fn write_control(&mut self, value: u32, now: Cycles) -> Result<(), Fault> {
        if value & MODE == MODE_RESERVED {
            return Err(Fault::new(
                FaultKind::Peripheral,
                "VIMS.CTL.MODE is set to 2, which is reserved: 0 is GPRAM, 1 cache, 3 off",
            ));
        }
        if self.changed_at.is_some_and(|at| now < at) {
            self.control = value & !MODE | self.control & MODE;
            return Ok(());
        }
        self.advance(now);
        self.control = value;
        if value & MODE != self.mode {
            self.changed_at = Some(Cycles(now.0 + MODE_CHANGE_CYCLES));
        }
        Ok(())
    }

    /// Bring the state up to `now`.
    pub fn advance(&mut self, now: Cycles) {
        if self.changed_at.is_some_and(|at| at <= now) {
            self.changed_at = None;
            self.mode = self.control & MODE;
        }
    }

    /// When a mode change ends.
    pub fn next_event(&self) -> Cycles {
        self.changed_at.unwrap_or(Cycles::NEVER)
    }

    /// Whether the cache is on; it is off during a mode change, which clears its tags.
    pub fn cache_is_on(&self) -> bool {
        self.mode == MODE_CACHE && self.changed_at.is_none()
    }

    /// Whether the cache's RAM is usable as memory.
    pub fn is_gpram(&self) -> bool {
        self.mode == MODE_GPRAM && self.changed_at.is_none()
    }

    /// Whether the line buffer of the core's instruction and data buses is on.
    pub const fn line_buffer_is_on(&self) -> bool {
        self.control & IDCODE_LB_DIS == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_reached_after_its_cycles_and_shown_until_then() {
        let mut vims = Vims::new(MODE_CACHE, true);
        assert!(vims.cache_is_on());
        vims.write_control(MODE_GPRAM, Cycles(50)).unwrap();
        assert_eq!(vims.read(0, Cycles(51)), Some(MODE_CHANGING | MODE_CACHE));
        assert_eq!(vims.read(4, Cycles(60)), Some(MODE_GPRAM));
        assert!(!vims.cache_is_on() && !vims.is_gpram());
        assert_eq!(vims.next_event(), Cycles(50 + 1036));
        vims.write_control(3, Cycles(60)).unwrap();
        assert_eq!(
            vims.read(4, Cycles(60)),
            Some(MODE_GPRAM),
            "not taken during a change"
        );
        vims.advance(Cycles(1085));
        assert!(!vims.is_gpram());
        vims.advance(Cycles(1086));
        assert!(vims.is_gpram());
        assert_eq!(vims.read(0, Cycles(1086)), Some(MODE_GPRAM));
    }

    #[test]
    fn the_reserved_mode_is_refused() {
        let mut vims = Vims::new(MODE_GPRAM, true);
        assert!(vims.write_control(MODE_RESERVED, Cycles(0)).is_err());
    }
}
