//! Control and status registers, and the interrupt controller behind them: RISC-V privileged
//! architecture 1.12; Hazard3 manual, sections "CSRs" and "Custom extensions" (Xh3irq).

use joulemark_kernel::{Fault, FaultKind};

use crate::bus::Lines;
use crate::pmp::Protection;

/// External interrupts: RP2350 data sheet, section 3.2.
const IRQS: usize = 52;

/// Bits of `mie` and `mip`, and numbers of causes.
pub(crate) const SOFTWARE: u32 = 3;
pub(crate) const TIMER: u32 = 7;
pub(crate) const EXTERNAL: u32 = 11;
const MIE_MASK: u32 = 1 << SOFTWARE | 1 << TIMER | 1 << EXTERNAL;
/// `mcause` of an interrupt.
pub(crate) const INTERRUPT: u32 = 1 << 31;

/// What is constant in a core of a chip.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity {
    /// `mvendorid`.
    pub vendor: u32,
    /// `mimpid`.
    pub implementation: u32,
    /// `mhartid`.
    pub hart: u32,
    /// `mconfigptr`.
    pub configuration: u32,
}

/// `meicontext`, and the registers of the interrupt controller.
#[derive(Clone, Debug)]
struct Interrupts {
    enabled: u64,
    forced: u64,
    priority: [u8; IRQS],
    /// Levels of preemption: now (16 is above all), before, and before that.
    preempt: u8,
    before: u8,
    before_that: u8,
    none: bool,
    number: u16,
    returns: bool,
}

/// The registers.
#[allow(clippy::struct_excessive_bools)] // one flip-flop each
#[derive(Clone, Debug)]
pub(crate) struct Csrs {
    pub identity: Identity,
    /// The core is in machine mode, or in user mode.
    pub is_machine: bool,
    pub protection: Protection,
    pub mie: bool,
    pub mpie: bool,
    /// The previous mode was machine mode.
    pub mpp: bool,
    mprv: bool,
    tw: bool,
    pub mtvec: u32,
    pub mepc: u32,
    mcause: u32,
    mscratch: u32,
    enables: u32,
    counteren: u32,
    /// Bits 0 and 2: `mcycle` and `minstret` stand still.
    inhibit: u32,
    /// What the counters hold, less the core's, while they run; what they hold while they stand.
    cycle: u64,
    instret: u64,
    irq: Interrupts,
    /// The lines as the core's input registers hold them.
    pub lines: Lines,
}

/// How a CSR instruction changes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Write,
    Set,
    Clear,
}

/// An access by an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub number: u32,
    pub operand: u32,
    pub change: Change,
    pub reads: bool,
    pub writes: bool,
    /// The cycle, and the instructions that have retired before this one.
    pub now: u64,
    pub retired: u64,
}

/// Why an access has no result.
pub(crate) enum Refusal {
    Illegal,
    Fault(Fault),
}

impl Csrs {
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            is_machine: true,
            protection: Protection::new(),
            mie: false,
            mpie: false,
            mpp: true,
            mprv: false,
            tw: false,
            mtvec: 0,
            mepc: 0,
            mcause: 0,
            mscratch: 0,
            enables: 0,
            counteren: 0,
            inhibit: 5,
            cycle: 0,
            instret: 0,
            irq: Interrupts {
                enabled: 0,
                forced: 0,
                priority: [0; IRQS],
                preempt: 0,
                before: 0,
                before_that: 0,
                none: true,
                number: 0,
                returns: false,
            },
            lines: Lines::default(),
        }
    }

    /// `mip`.
    fn pending(&self) -> u32 {
        let external = self.irq.active(self.lines.external, self.irq.preempt) != 0;
        u32::from(external) << EXTERNAL
            | u32::from(self.lines.timer) << TIMER
            | u32::from(self.lines.software) << SOFTWARE
    }

    /// Whether an interrupt is enabled for itself and pending, which ends a sleep.
    pub fn wakes(&self) -> bool {
        self.pending() & self.enables != 0
    }

    /// The cause of the interrupt to take, if there is one. In user mode, too, this core takes one
    /// only if `mstatus.mie` is set (erratum RP2350-E7).
    pub fn interrupt(&self) -> Option<u32> {
        let active = self.pending() & self.enables;
        if active == 0 || !self.mie {
            return None;
        }
        [EXTERNAL, SOFTWARE, TIMER]
            .into_iter()
            .find(|cause| active >> cause & 1 != 0)
    }

    /// Enter a trap; return the handler's address.
    pub fn enter(&mut self, cause: u32, pc: u32) -> u32 {
        self.mpie = self.mie;
        self.mie = false;
        self.mpp = self.is_machine;
        self.is_machine = true;
        self.mepc = pc;
        self.mcause = cause;
        if cause == INTERRUPT | EXTERNAL {
            let irq = &mut self.irq;
            irq.before_that = irq.before;
            irq.before = irq.preempt & 15;
            irq.preempt = irq.level(self.lines.external);
            irq.returns = true;
        } else {
            self.irq.returns = false;
        }
        let is_vectored = self.mtvec & 1 != 0 && cause & INTERRUPT != 0;
        let offset = if is_vectored { (cause & 15) * 4 } else { 0 };
        self.mtvec & !3 | offset
    }

    /// Return from a trap.
    pub fn leave(&mut self) -> u32 {
        self.mie = self.mpie;
        self.mpie = true;
        self.is_machine = self.mpp;
        self.mprv &= self.mpp;
        self.mpp = false;
        let irq = &mut self.irq;
        if irq.returns {
            irq.preempt = irq.before;
            irq.before = irq.before_that;
            irq.before_that = 0;
        }
        irq.returns = false;
        self.mepc
    }

    /// Whether loads and stores are those of machine mode.
    pub fn accesses_as_machine(&self) -> bool {
        if self.mprv { self.mpp } else { self.is_machine }
    }

    /// Whether WFI is an illegal instruction now.
    pub fn traps_wfi(&self) -> bool {
        self.tw && !self.is_machine
    }

    /// Whether fetches, or loads and stores, are compared with regions of memory protection.
    pub fn is_protected(&self) -> bool {
        !self.is_machine || !self.accesses_as_machine() || self.protection.binds_machine()
    }

    fn cycle_at(&self, now: u64) -> u64 {
        if self.inhibit & 1 != 0 {
            self.cycle
        } else {
            self.cycle.wrapping_add(now)
        }
    }

    fn instret_at(&self, retired: u64) -> u64 {
        if self.inhibit & 4 != 0 {
            self.instret
        } else {
            self.instret.wrapping_add(retired)
        }
    }

    fn read(&self, access: &Access) -> Option<u32> {
        let operand = access.operand;
        let irq = &self.irq;
        let window = |bits: u64| ((bits >> (16 * (operand & 31)).min(63)) as u32) << 16;
        Some(match access.number {
            // RV32, machine and user mode, extensions A, C, I, M and non-standard ones.
            0x301 => 1 << 30 | 1 << 23 | 1 << 20 | 1 << 12 | 1 << 8 | 1 << 2 | 1,
            0xf11 => self.identity.vendor,
            // Hazard3 (riscv-isa-manual, marchid.md).
            0xf12 => 27,
            0xf13 => self.identity.implementation,
            0xf14 => self.identity.hart,
            0xf15 => self.identity.configuration,
            0x300 => {
                u32::from(self.tw) << 21
                    | u32::from(self.mprv) << 17
                    | (u32::from(self.mpp) * 3) << 11
                    | u32::from(self.mpie) << 7
                    | u32::from(self.mie) << 3
            }
            0x340 => self.mscratch,
            0x341 => self.mepc,
            0x342 => self.mcause,
            0x304 => self.enables,
            0x344 => self.pending(),
            0x305 => self.mtvec,
            0x306 => self.counteren,
            0x320 => self.inhibit,
            0xb00 | 0xc00 => self.cycle_at(access.now) as u32,
            0xb80 | 0xc80 => (self.cycle_at(access.now) >> 32) as u32,
            0xb02 | 0xc02 => self.instret_at(access.retired) as u32,
            0xb82 | 0xc82 => (self.instret_at(access.retired) >> 32) as u32,
            // mstatush, menvcfg, menvcfgh and mtval; further counters and their events; sleep states,
            // which are off.
            0x310
            | 0x30a
            | 0x31a
            | 0x343
            | 0xb03..=0xb1f
            | 0xb83..=0xb9f
            | 0x323..=0x33f
            | 0xbf0 => 0,
            number @ (0x3a0..=0x3a3 | 0x3b0..=0x3bf | 0xbd0) => {
                return self.protection.read(number);
            }
            0xbe0 => window(irq.enabled),
            0xbe1 => window(self.lines.external | irq.forced),
            0xbe2 => window(irq.forced),
            0xbe3 => {
                let first = 4 * (operand & 127) as usize;
                (0..4).fold(0, |bits, index| {
                    let level = irq.priority.get(first + index).copied().unwrap_or(0);
                    bits | u32::from(level) << (16 + 4 * index)
                })
            }
            0xbe4 => match irq.next(self.lines.external) {
                Some(number) => (number as u32) << 2,
                None => INTERRUPT,
            },
            0xbe5 => {
                let saves = access.writes && access.change != Change::Clear && operand & 2 != 0;
                let saved = |bit: u32| u32::from(saves) & self.enables >> bit;
                u32::from(irq.before_that) << 28
                    | u32::from(irq.before) << 24
                    | u32::from(irq.preempt) << 16
                    | u32::from(irq.none) << 15
                    | u32::from(irq.number) << 4
                    | (saved(TIMER) & 1) << 3
                    | (saved(SOFTWARE) & 1) << 2
                    | u32::from(irq.returns)
            }
            _ => return None,
        })
    }

    /// Whether user mode has a register: the counters that `mcounteren` lets it read.
    fn is_for_user(&self, access: &Access) -> bool {
        match access.number {
            0xc00 | 0xc80 => self.counteren & 1 != 0,
            0xc02 | 0xc82 => self.counteren >> 2 & 1 != 0,
            _ => false,
        }
    }

    /// Execute a CSR instruction; return the register's value before.
    pub fn access(&mut self, access: &Access) -> Result<u32, Refusal> {
        let is_read_only = access.number >> 10 == 3;
        let is_denied =
            is_read_only && access.writes || !self.is_machine && !self.is_for_user(access);
        let Some(old) = self.read(access).filter(|_| !is_denied) else {
            return Err(Refusal::Illegal);
        };
        if access.reads && access.number == 0xbe4 && old & INTERRUPT == 0 {
            self.irq.forced &= !(1 << (old >> 2));
        }
        if access.writes {
            let value = match access.change {
                Change::Write => access.operand,
                Change::Set => old | access.operand,
                Change::Clear => old & !access.operand,
            };
            self.write(access, value).map_err(Refusal::Fault)?;
        }
        Ok(old)
    }

    fn write(&mut self, access: &Access, value: u32) -> Result<(), Fault> {
        let bit = |bit: u32| value >> bit & 1 != 0;
        let absent = |what: &str| {
            let message = format!("the emulation leaves out {what}, which the program turns on");
            Err(Fault::new(FaultKind::Absent, message))
        };
        match access.number {
            0x300 => {
                self.mie = bit(3);
                self.mpie = bit(7);
                self.mpp = bit(12);
                self.mprv = bit(17);
                self.tw = bit(21);
            }
            0x340 => self.mscratch = value,
            0x341 => self.mepc = value & !1,
            0x342 => self.mcause = value & (INTERRUPT | 15),
            0x304 => self.enables = value & MIE_MASK,
            0x305 => self.mtvec = value & !2,
            0x306 => self.counteren = value & 7,
            0x320 => self.inhibit_counters(value & 5, access),
            0xb00 | 0xb80 => {
                // The register counts on in this cycle, of which the other half takes note.
                let runs = self.inhibit & 1 == 0;
                let next = self.cycle_at(access.now).wrapping_add(u64::from(runs));
                let set = replace(next, value, access.number == 0xb80);
                let base = if runs { access.now + 1 } else { 0 };
                self.cycle = set.wrapping_sub(base);
            }
            0xb02 | 0xb82 => {
                let runs = self.inhibit & 4 == 0;
                let next = self
                    .instret_at(access.retired)
                    .wrapping_add(u64::from(runs));
                let set = replace(next, value, access.number == 0xb82);
                let base = if runs { access.retired + 1 } else { 0 };
                self.instret = set.wrapping_sub(base);
            }
            0xbe0 => set_window(&mut self.irq.enabled, access.operand, value),
            0xbe2 => set_window(&mut self.irq.forced, access.operand, value),
            0xbe3 => {
                let first = 4 * (access.operand & 127) as usize;
                for index in 0..4 {
                    if let Some(level) = self.irq.priority.get_mut(first + index) {
                        *level = (value >> (16 + 4 * index) & 15) as u8;
                    }
                }
            }
            0xbe4 if bit(0) => {
                let lines = self.lines.external;
                let next = self.irq.next(lines);
                self.irq.preempt = self.irq.level(lines);
                self.irq.none = next.is_none();
                self.irq.number = next.unwrap_or(0) as u16;
            }
            0xbe5 => {
                let irq = &mut self.irq;
                irq.before_that = (value >> 28) as u8;
                irq.before = (value >> 24 & 15) as u8;
                irq.preempt = (value >> 16 & 31) as u8;
                irq.none = bit(15);
                irq.number = (value >> 4 & 511) as u16;
                irq.returns = bit(0);
                let clears = access.change != Change::Clear && access.operand & 2 != 0;
                let restored = (value >> 3 & 1) << TIMER | (value >> 2 & 1) << SOFTWARE;
                self.enables |= restored;
                if clears {
                    self.enables &= 1 << EXTERNAL;
                }
            }
            number @ (0x3a0..=0x3a3 | 0x3b0..=0x3bf | 0xbd0) => {
                self.protection.write(number, value);
            }
            0xbf0 if value & 7 != 0 => return absent("Hazard3's own sleep states (msleep)"),
            _ => {}
        }
        Ok(())
    }

    fn inhibit_counters(&mut self, inhibit: u32, access: &Access) {
        // What they hold after this cycle, in which the old setting holds.
        let cycle = self.cycle_at(access.now + 1);
        let instret = self.instret_at(access.retired + 1);
        self.inhibit = inhibit;
        let stands = |bit: u32| inhibit & bit != 0;
        self.cycle = cycle.wrapping_sub(if stands(1) { 0 } else { access.now + 1 });
        self.instret = instret.wrapping_sub(if stands(4) { 0 } else { access.retired + 1 });
    }
}

/// Replace a half of a counter.
fn replace(counter: u64, value: u32, high: bool) -> u64 {
    if high {
        counter & 0xffff_ffff | u64::from(value) << 32
    } else {
        counter & !0xffff_ffff | u64::from(value)
    }
}

/// Sixteen bits of an array, selected by the operand, are in the upper half of the value.
fn set_window(array: &mut u64, operand: u32, value: u32) {
    let shift = 16 * (operand & 31);
    if shift < 64 {
        let mask = 0xffff_u64 << shift & ((1 << IRQS) - 1);
        *array = *array & !mask | u64::from(value >> 16) << shift & mask;
    }
}

impl Interrupts {
    /// Enabled interrupts that are pending at or above a level.
    fn active(&self, lines: u64, level: u8) -> u64 {
        let mut pending = (lines | self.forced) & self.enabled;
        let mut active = 0;
        while pending != 0 {
            let number = pending.trailing_zeros();
            pending &= pending - 1;
            if self.priority[number as usize] >= level {
                active |= 1 << number;
            }
        }
        active
    }

    /// The interrupt to serve next: of those above the level before, the highest, and of these the
    /// lowest number.
    fn next(&self, lines: u64) -> Option<usize> {
        let active = self.active(lines, self.before);
        let mut best: Option<usize> = None;
        for number in (0..IRQS).filter(|number| active >> number & 1 != 0) {
            if best.is_none_or(|best| self.priority[number] > self.priority[best]) {
                best = Some(number);
            }
        }
        best
    }

    /// The level of preemption while the next interrupt is served.
    fn level(&self, lines: u64) -> u8 {
        self.next(lines)
            .map_or(16, |number| self.priority[number] + 1)
    }
}
