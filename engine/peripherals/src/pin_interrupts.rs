//! Pin interrupts: the edges and levels that each family detects, and their registers.

use joulemark_kernel::{Fault, FaultKind};

/// Requested edges of 32 pins, held until the program clears them.
#[derive(Clone, Debug, Default)]
struct Edges {
    rising: u32,
    falling: u32,
    seen: u32,
}

impl Edges {
    /// Note new pin levels.
    fn notice(&mut self, level: u32, changed: u32) {
        self.seen |= changed & (level & self.rising | !level & self.falling);
    }
}

/// Interrupts of a CC2538 port (SWRU319, GPIO), which is ARM's PL061: by edge or, if IS says so, by
/// level. Wake-up from a power mode is left out.
#[derive(Clone, Debug, Default)]
pub struct Pl061Interrupts {
    is: u32,
    ibe: u32,
    iev: u32,
    ie: u32,
    edges: Edges,
    level: u32,
}

impl Pl061Interrupts {
    /// Note new pin levels; `changed` marks the pins that differ.
    pub fn pins_changed(&mut self, level: u32, changed: u32) {
        self.level = level;
        self.edges.notice(level, changed & !self.is);
    }

    fn ris(&self) -> u32 {
        self.edges.seen | self.is & !(self.level ^ self.iev)
    }

    /// Whether an enabled interrupt is pending.
    pub fn is_pending(&self) -> bool {
        self.ris() & self.ie != 0
    }

    /// Read a register; `None` if there is none.
    pub fn read(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x404 => self.is,
            0x408 => self.ibe,
            0x40c => self.iev,
            0x410 => self.ie,
            0x414 => self.ris() & 0xff,
            0x418 => self.ris() & self.ie & 0xff,
            // IC is write-only.
            0x41c => 0,
            _ => return None,
        })
    }

    /// Write a register; false if there is none.
    pub fn write(&mut self, offset: u32, value: u32) -> bool {
        let value = value & 0xff;
        match offset {
            0x404 => self.is = value,
            0x408 => self.ibe = value,
            0x40c => self.iev = value,
            0x410 => self.ie = value,
            // RIS and MIS are read-only.
            0x414 | 0x418 => {}
            0x41c => self.edges.seen &= !value,
            _ => return false,
        }
        // IEV does not matter for a pin with both edges enabled.
        self.edges.rising = self.ibe | self.iev;
        self.edges.falling = self.ibe | !self.iev;
        true
    }
}

/// Edge detection of the `CC26x0` (SWCU117, I/O control): IOCFG requests edges, and EVFLAGS of the
/// GPIO module reports them.
#[derive(Clone, Debug, Default)]
pub struct EdgeFlags {
    edges: Edges,
    enabled: u32,
}

impl EdgeFlags {
    /// Note new pin levels; `changed` marks the pins that differ.
    pub fn pins_changed(&mut self, level: u32, changed: u32) {
        self.edges.notice(level, changed);
    }

    /// Handle a write to a pin's IOCFG: `EDGE_DET` in bit 16 for falling and bit 17 for rising
    /// edges, `EDGE_IRQ_EN` in bit 18.
    pub fn set_iocfg(&mut self, pin: usize, value: u32) {
        let put = |bits: &mut u32, bit: u32| {
            *bits = *bits & !(1 << pin) | (value >> bit & 1) << pin;
        };
        put(&mut self.edges.falling, 16);
        put(&mut self.edges.rising, 17);
        put(&mut self.enabled, 18);
    }

    /// EVFLAGS.
    pub fn evflags(&self) -> u32 {
        self.edges.seen
    }

    /// Write EVFLAGS: ones clear.
    pub fn clear_evflags(&mut self, value: u32) {
        self.edges.seen &= !value;
    }

    /// Whether an edge with an enabled interrupt was detected.
    pub fn is_pending(&self) -> bool {
        self.edges.seen & self.enabled != 0
    }
}

/// EXTI of the STM32F100, with the part of AFIO that selects the port of each line (RM0041,
/// interrupts and events; AFIO), and line 17, for the real-time clock's alarm. Line 16, for the
/// voltage detector, and events are left out.
#[derive(Clone, Debug, Default)]
pub struct Exti {
    edges: Edges,
    imr: u32,
    swier: u32,
    exticr: [u32; 4],
}

/// The line of the real-time clock's alarm.
const ALARM: u32 = 1 << 17;
/// The alarm's line and those of pins.
const LINES: u32 = ALARM | 0xffff;

impl Exti {
    /// Note new levels of a port's pins; `changed` marks the pins that differ.
    pub fn pins_changed(&mut self, port: usize, level: u32, changed: u32) {
        let follows = |line: usize| self.exticr[line / 4] >> (line % 4 * 4) & 15;
        let lines = (0..16).filter(|&line| follows(line) as usize == port);
        let lines = lines.fold(0, |lines, line| lines | 1 << line);
        self.edges.notice(level, changed & lines);
    }

    /// Pulse the line of the real-time clock's alarm.
    pub fn alarm(&mut self) {
        self.edges.notice(ALARM, ALARM);
        self.edges.notice(0, ALARM);
    }

    /// `AFIO_EXTICR1` to `AFIO_EXTICR4`.
    pub fn exticr(&self, index: usize) -> u32 {
        self.exticr[index]
    }

    /// Write `AFIO_EXTICR1` to `AFIO_EXTICR4`.
    pub fn set_exticr(&mut self, index: usize, value: u32) {
        self.exticr[index] = value & 0xffff;
    }

    /// Read an EXTI register; `None` if there is none.
    pub fn read(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x00 => self.imr,
            0x04 => 0,
            0x08 => self.edges.rising,
            0x0c => self.edges.falling,
            0x10 => self.swier,
            0x14 => self.edges.seen,
            _ => return None,
        })
    }

    /// Write an EXTI register; false if there is none.
    ///
    /// # Errors
    /// The value uses a feature that the emulation leaves out.
    pub fn write(&mut self, offset: u32, value: u32) -> Result<bool, Fault> {
        let others = matches!(offset, 0..=0x10) && value & !LINES != 0;
        if others || offset == 4 && value != 0 {
            return Err(Fault::new(
                FaultKind::Absent,
                "the emulation leaves out events of EXTI (EXTI_EMR) and its lines other than those of pins \
                 and the real-time clock's alarm",
            ));
        }
        match offset {
            0x00 => self.imr = value,
            0x04 => {}
            0x08 => self.edges.rising = value,
            0x0c => self.edges.falling = value,
            0x10 => {
                self.edges.seen |= value & !self.swier;
                self.swier |= value;
            }
            0x14 => {
                self.edges.seen &= !value;
                self.swier &= !value;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Pending lines with enabled interrupts.
    pub fn pending(&self) -> u32 {
        self.edges.seen & self.imr
    }
}

/// EXTI of the STM32G0 (RM0444, extended interrupts; offsets compared with ST's `stm32g071xx.h`):
/// rising and falling edges are pending apart, and it selects the port of each line itself. Lines
/// other than those of pins are left out, and events.
#[derive(Clone, Debug, Default)]
pub struct ExtiByEdge {
    rising: Edges,
    falling: Edges,
    imr: u32,
    ports: [u32; 4],
}

/// `EXTI_IMR1` after reset: of the lines that have no configuration, all.
const DIRECT_LINES: u32 = 0xfff8_0000;

impl ExtiByEdge {
    /// Note new levels of a port's pins; `changed` marks the pins that differ.
    pub fn pins_changed(&mut self, port: usize, level: u32, changed: u32) {
        let follows = |line: usize| self.ports[line / 4] >> (line % 4 * 8) & 255;
        let lines = (0..16).filter(|&line| follows(line) as usize == port);
        let changed = changed & lines.fold(0, |lines, line| lines | 1 << line);
        self.rising.notice(level, changed);
        self.falling.notice(level, changed);
    }

    /// Read a register; `None` if there is none.
    pub fn read(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x00 => self.rising.rising,
            0x04 => self.falling.falling,
            0x0c => self.rising.seen,
            0x10 => self.falling.seen,
            0x60..=0x6c => self.ports[(offset as usize - 0x60) / 4],
            0x80 => self.imr | DIRECT_LINES,
            0x08 | 0x84 | 0x94 => 0,
            // IMR2.
            0x90 => u32::MAX,
            _ => return None,
        })
    }

    /// Write a register; false if there is none.
    ///
    /// # Errors
    /// The value uses a feature that the emulation leaves out.
    pub fn write(&mut self, offset: u32, value: u32) -> Result<bool, Fault> {
        let others = matches!(offset, 0..=0x08) && value & !0xffff != 0;
        if others || matches!(offset, 0x84 | 0x94) && value != 0 {
            return Err(Fault::new(
                FaultKind::Absent,
                "the emulation leaves out events of EXTI (EXTI_EMR1) and its lines other than those of pins",
            ));
        }
        match offset {
            0x00 => self.rising.rising = value,
            0x04 => self.falling.falling = value,
            // Pends as a rising edge does.
            0x08 => self.rising.seen |= value,
            0x0c => self.rising.seen &= !value,
            0x10 => self.falling.seen &= !value,
            0x60..=0x6c => self.ports[(offset as usize - 0x60) / 4] = value,
            0x80 => self.imr = value & 0xffff,
            0x90 => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Pending lines with enabled interrupts.
    pub fn pending(&self) -> u32 {
        (self.rising.seen | self.falling.seen) & self.imr
    }
}
