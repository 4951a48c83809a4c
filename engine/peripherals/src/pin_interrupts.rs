//! Interrupts from pins: what edges and levels each family notices, and how its registers tell.

use joulemark_kernel::{Fault, FaultKind};

/// Edges of 32 pins that a program asked for, until it clears them.
#[derive(Clone, Debug, Default)]
struct Edges {
    rising: u32,
    falling: u32,
    seen: u32,
}

impl Edges {
    /// Pins have new levels.
    fn notice(&mut self, level: u32, changed: u32) {
        self.seen |= changed & (level & self.rising | !level & self.falling);
    }
}

/// Interrupts of a port of the CC2538 (SWRU319, GPIO), which is ARM's PL061: of edges or, where IS
/// says so, of levels. Those that wake from a power mode are left out.
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
    /// Pins have new levels; `changed` are those that differ.
    pub fn pins_changed(&mut self, level: u32, changed: u32) {
        self.level = level;
        self.edges.notice(level, changed & !self.is);
    }

    fn ris(&self) -> u32 {
        self.edges.seen | self.is & !(self.level ^ self.iev)
    }

    /// Whether an interrupt that is enabled is raised.
    pub fn is_pending(&self) -> bool {
        self.ris() & self.ie != 0
    }

    /// A register; `None` where there is none that is read.
    pub fn read(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x404 => self.is,
            0x408 => self.ibe,
            0x40c => self.iev,
            0x410 => self.ie,
            0x414 => self.ris() & 0xff,
            0x418 => self.ris() & self.ie & 0xff,
            // IC is for writing.
            0x41c => 0,
            _ => return None,
        })
    }

    /// Write a register; false where there is none.
    pub fn write(&mut self, offset: u32, value: u32) -> bool {
        let value = value & 0xff;
        match offset {
            0x404 => self.is = value,
            0x408 => self.ibe = value,
            0x40c => self.iev = value,
            0x410 => self.ie = value,
            // RIS and MIS are for reading.
            0x414 | 0x418 => {}
            0x41c => self.edges.seen &= !value,
            _ => return false,
        }
        // A pin of which both edges count has no use for IEV.
        self.edges.rising = self.ibe | self.iev;
        self.edges.falling = self.ibe | !self.iev;
        true
    }
}

/// Edge detection of the `CC26x0` (SWCU117, I/O control): IOCFG asks for edges, EVFLAGS of the GPIO
/// module shows them.
#[derive(Clone, Debug, Default)]
pub struct EdgeFlags {
    edges: Edges,
    enabled: u32,
}

impl EdgeFlags {
    /// Pins have new levels; `changed` are those that differ.
    pub fn pins_changed(&mut self, level: u32, changed: u32) {
        self.edges.notice(level, changed);
    }

    /// A pin's IOCFG is written: `EDGE_DET` in bits 17 and 16, of falling and of rising edges, and
    /// `EDGE_IRQ_EN` in bit 18.
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

    /// Whether an edge whose interrupt is enabled was seen.
    pub fn is_pending(&self) -> bool {
        self.edges.seen & self.enabled != 0
    }
}

/// EXTI of the STM32F100 with the part of AFIO that says which port's pin each line follows
/// (RM0041, interrupts and events; AFIO), and line 17, of the real-time clock's alarm. Line 16, of the
/// voltage detector, is left out, and so are events.
#[derive(Clone, Debug, Default)]
pub struct Exti {
    edges: Edges,
    imr: u32,
    swier: u32,
    exticr: [u32; 4],
}

/// The line of the real-time clock's alarm.
const ALARM: u32 = 1 << 17;
/// That and the lines of pins.
const LINES: u32 = ALARM | 0xffff;

impl Exti {
    /// Pins of a port have new levels; `changed` are those that differ.
    pub fn pins_changed(&mut self, port: usize, level: u32, changed: u32) {
        let follows = |line: usize| self.exticr[line / 4] >> (line % 4 * 4) & 15;
        let lines = (0..16).filter(|&line| follows(line) as usize == port);
        let lines = lines.fold(0, |lines, line| lines | 1 << line);
        self.edges.notice(level, changed & lines);
    }

    /// The real-time clock comes to its alarm: its line goes up for a moment.
    pub fn alarm(&mut self) {
        self.edges.notice(ALARM, ALARM);
        self.edges.notice(0, ALARM);
    }

    /// `AFIO_EXTICR1` to 4.
    pub fn exticr(&self, index: usize) -> u32 {
        self.exticr[index]
    }

    /// Write `AFIO_EXTICR1` to 4.
    pub fn set_exticr(&mut self, index: usize, value: u32) {
        self.exticr[index] = value & 0xffff;
    }

    /// A register of EXTI; `None` where there is none.
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

    /// Write a register of EXTI; false where there is none.
    ///
    /// # Errors
    /// The emulation leaves out what is asked for.
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

    /// Lines whose interrupts are enabled and raised.
    pub fn pending(&self) -> u32 {
        self.edges.seen & self.imr
    }
}
