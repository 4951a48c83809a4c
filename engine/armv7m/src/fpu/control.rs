//! Registers of the system control space for the extension (ARM DDI 0403E.e, B3.2.20 to B3.2.25).

const CPACR: u32 = 0xe000_ed88;
const FPCCR: u32 = 0xe000_ef34;
const FPCAR: u32 = 0xe000_ef38;
const FPDSCR: u32 = 0xe000_ef3c;
const MVFR0: u32 = 0xe000_ef40;
const MVFR1: u32 = 0xe000_ef44;

/// Bits of FPCCR.
const ASPEN: u32 = 1 << 31;
const LSPEN: u32 = 1 << 30;
const THREAD: u32 = 1 << 3;
const USER: u32 = 1 << 1;
const LSPACT: u32 = 1;
const FPCCR_BITS: u32 = ASPEN | LSPEN | 0x17b;

/// Who may use the extension, and how its state is kept over exceptions.
#[derive(Clone, Copy, Debug)]
pub struct FloatControl {
    is_there: bool,
    cpacr: u32,
    fpccr: u32,
    fpcar: u32,
    fpdscr: u32,
}

impl FloatControl {
    /// After a reset.
    pub const fn new(is_there: bool) -> Self {
        Self {
            is_there,
            cpacr: 0,
            fpccr: ASPEN | LSPEN,
            fpcar: 0,
            fpdscr: 0,
        }
    }

    /// Whether there is the extension.
    pub const fn is_there(&self) -> bool {
        self.is_there
    }

    /// Read a register; `None` where there is none.
    pub const fn read(&self, address: u32) -> Option<u32> {
        if !self.is_there {
            return None;
        }
        Some(match address {
            CPACR => self.cpacr,
            FPCCR => self.fpccr,
            FPCAR => self.fpcar,
            FPDSCR => self.fpdscr,
            // ARM DDI 0439B, table 7-2.
            MVFR0 => 0x1011_0021,
            MVFR1 => 0x1100_0011,
            _ => return None,
        })
    }

    /// Write a register; false where there is none.
    pub const fn write(&mut self, address: u32, value: u32) -> bool {
        if !self.is_there {
            return false;
        }
        match address {
            CPACR => self.cpacr = value & 0x00f0_0000,
            FPCCR => self.fpccr = value & FPCCR_BITS,
            FPCAR => self.fpcar = value & !7,
            FPDSCR => self.fpdscr = value & super::CONTEXT_BITS,
            MVFR0 | MVFR1 => {}
            _ => return false,
        }
        true
    }

    /// Whether code may use the extension (`CheckVFPEnabled`); of CP10 and CP11, which must agree, the first
    /// decides.
    pub const fn is_allowed(&self, privileged: bool) -> bool {
        match self.cpacr >> 20 & 3 {
            1 => privileged,
            3 => true,
            _ => false,
        }
    }

    /// CONTROL.FPCA follows the use of the extension.
    pub const fn is_automatic(&self) -> bool {
        self.fpccr & ASPEN != 0
    }

    /// State goes to the stack when it is about to be changed, not on entry.
    pub const fn is_lazy(&self) -> bool {
        self.fpccr & LSPEN != 0
    }

    /// FPDSCR.
    pub const fn default_status(&self) -> u32 {
        self.fpdscr
    }

    /// An entry leaves room in the frame for state that is not there yet (`UpdateFPCCR`).
    pub const fn reserve(&mut self, at: u32, thread: bool, privileged: bool) {
        self.fpcar = at & !7;
        let mut status = LSPACT;
        if thread {
            status |= THREAD;
        }
        if !privileged {
            status |= USER;
        }
        self.fpccr = self.fpccr & !(THREAD | USER) | status;
    }

    /// Whether state waits to go to a frame.
    pub const fn is_reserved(&self) -> bool {
        self.fpccr & LSPACT != 0
    }

    /// Where it waits to go.
    pub const fn reserved(&self) -> Option<u32> {
        if self.is_reserved() {
            Some(self.fpcar)
        } else {
            None
        }
    }

    /// Where state has to go before it is changed, and whether as of unprivileged code; it is as good as there
    /// afterwards.
    pub const fn take_reserved(&mut self) -> Option<(u32, bool)> {
        if self.fpccr & LSPACT == 0 {
            return None;
        }
        self.fpccr &= !LSPACT;
        Some((self.fpcar, self.fpccr & USER != 0))
    }
}
