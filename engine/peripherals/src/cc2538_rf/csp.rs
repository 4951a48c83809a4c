//! Programs of the command strobe processor (SWRU191C, 23.14, for the `CC253x`): up to 24 bytes
//! that wait for the channel and the MAC timer, and issue strobes.
//!
//! Instructions take no time here. On the chip each takes one 32-MHz cycle, which is short against
//! the symbols that a program waits for.

use joulemark_kernel::{Fault, FaultKind, Picoseconds};
use joulemark_radio::oqpsk_2450::PHY;

use super::{CSPPROG0, CSPPROG23, Cc2538Rf, RSSI_SPAN};

/// CSPCTRL, X, Y and Z.
const CSPCTRL: usize = 0x60;
const X: usize = 0x62;
const Y: usize = 0x63;
const Z: usize = 0x64;
/// `CSPCTRL.MCU_CTRL`.
const MCU_CTRL: u32 = 1;
/// RFIRQF1.
const CSP_MANINT: u32 = 1 << 3;
const CSP_STOP: u32 = 1 << 4;
const CSP_WAIT: u32 = 1 << 5;
/// A program that runs this many instructions without waiting resumes a symbol later, so that
/// others have a turn.
const MOST_AT_ONCE: usize = 256;

/// A program's state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Csp {
    /// Bytes loaded.
    length: usize,
    /// The next instruction, and the one after the last LABEL.
    next: usize,
    label: usize,
    is_running: bool,
    /// MAC timer overflows left to wait for, and whether X counts them.
    overflows: u32,
    counts_x: bool,
    /// When the program resumes by itself; [`Picoseconds::NEVER`] if it is stopped.
    pub wakes: Picoseconds,
}

impl Default for Csp {
    fn default() -> Self {
        Self {
            length: 0,
            next: 0,
            label: 0,
            is_running: false,
            overflows: 0,
            counts_x: false,
            wakes: Picoseconds::NEVER,
        }
    }
}

impl Cc2538Rf {
    /// Load an instruction other than an immediate strobe.
    pub(super) fn load_program(&mut self, instruction: u32) -> Result<(), Fault> {
        let refused = |what: &str| {
            let what = format!("{what} (RFST is written {instruction:#04x})");
            Err(Fault::new(FaultKind::Absent, what))
        };
        match instruction {
            0x00..=0x9f | 0xa0..=0xaf | 0xba..=0xbd | 0xc0..=0xc5 | 0xc8..=0xcf | 0xd0..=0xdf => {}
            _ => {
                return refused(
                    "the emulation leaves out instructions of the command strobe processor that \
                     wait for events of the MAC timer's compares",
                );
            }
        }
        if CSPPROG0 + self.csp.length > CSPPROG23 {
            return refused("the command strobe processor's program is longer than 24 bytes");
        }
        self.xreg[CSPPROG0 + self.csp.length] = instruction;
        self.csp.length += 1;
        Ok(())
    }

    /// ISSTART, ISSTOP and ISCLEAR.
    pub(super) fn start_program(&mut self, now: Picoseconds) -> Result<(), Fault> {
        (self.csp.next, self.csp.label) = (0, 0);
        self.csp.is_running = true;
        self.run_program(now)
    }

    pub(super) fn stop_program(&mut self) {
        self.csp.is_running = false;
        self.csp.wakes = Picoseconds::NEVER;
    }

    pub(super) fn clear_program(&mut self) {
        self.csp = Csp::default();
    }

    /// Whether an instruction's condition holds.
    fn holds(&self, instruction: u32, now: Picoseconds) -> bool {
        let is_true = match instruction & 7 {
            0 => self.cca(now),
            1 => self.receiving.is_some(),
            2 => self.xreg[CSPCTRL] & MCU_CTRL != 0,
            3 => self.csp.next == self.csp.length,
            4 => self.xreg[X] == 0,
            5 => self.xreg[Y] == 0,
            6 => self.xreg[Z] == 0,
            _ => self.is_rssi_valid(now),
        };
        is_true != (instruction & 8 != 0)
    }

    /// When to check a condition again: when RSSI becomes valid, or a symbol later.
    fn look_again(&self, now: Picoseconds) -> Picoseconds {
        let known = match self.hears_since {
            Picoseconds::NEVER => Picoseconds::NEVER,
            since => since + RSSI_SPAN,
        };
        let later = if known > now && known != Picoseconds::NEVER {
            known
        } else {
            now + PHY.symbol()
        };
        later.max(now + Picoseconds(1))
    }

    /// Wait for the next overflow of the MAC timer.
    fn wait_for_overflow(&mut self, now: Picoseconds) {
        self.csp.wakes = self.timer.next_overflow(now);
    }

    /// Run until the program waits or stops.
    pub(super) fn run_program(&mut self, now: Picoseconds) -> Result<(), Fault> {
        self.csp.wakes = Picoseconds::NEVER;
        if !self.csp.is_running {
            return Ok(());
        }
        if self.csp.overflows > 0 {
            self.csp.overflows -= 1;
            if self.csp.counts_x {
                self.xreg[X] = self.csp.overflows;
            }
            if self.csp.overflows > 0 {
                self.wait_for_overflow(now);
                return Ok(());
            }
            self.flags[1] |= CSP_WAIT;
        }
        for _ in 0..MOST_AT_ONCE {
            if self.csp.next >= self.csp.length {
                self.stop_program();
                return Ok(());
            }
            let instruction = self.xreg[CSPPROG0 + self.csp.next];
            self.csp.next += 1;
            match instruction {
                // SKIP; skipping 0 instructions repeats this one.
                0x00..=0x7f if self.holds(instruction, now) => match instruction >> 4 {
                    0 => {
                        self.csp.next -= 1;
                        self.csp.wakes = self.look_again(now);
                        return Ok(());
                    }
                    skipped => self.csp.next += skipped as usize,
                },
                // RPT
                0xa0..=0xaf if self.holds(instruction, now) => self.csp.next = self.csp.label,
                // WAIT and WAITX; WAIT 0 waits for 32.
                0x80..=0x9f | 0xbc => {
                    self.csp.counts_x = instruction == 0xbc;
                    self.csp.overflows = match (instruction, instruction & 31) {
                        (0xbc, _) => self.xreg[X],
                        (_, 0) => 32,
                        (_, count) => count,
                    };
                    if self.csp.overflows > 0 {
                        self.wait_for_overflow(now);
                        return Ok(());
                    }
                }
                // INT, LABEL and RANDXY
                0xba => self.flags[1] |= CSP_MANINT,
                0xbb => self.csp.label = self.csp.next,
                0xbd => {
                    let mask = (1 << self.xreg[Y].min(8)) - 1;
                    let random = self.draw();
                    self.xreg[X] = self.xreg[X] & !mask | random & mask;
                }
                // INCX, INCY, INCZ, DECX, DECY, DECZ
                0xc0..=0xc2 => self.count_register(instruction - 0xc0, 1),
                0xc3..=0xc5 => self.count_register(instruction - 0xc3, 0xff),
                // INCMAXY
                0xc8..=0xcf => self.xreg[Y] = (self.xreg[Y] + 1).min(instruction & 7),
                // SSTOP
                0xd2 => {
                    self.flags[1] |= CSP_STOP;
                    self.stop_program();
                    return Ok(());
                }
                // The other strobes are those that RFST executes immediately.
                0xd1 | 0xd3..=0xdf => self.strobe(0xe0 | instruction & 15, now)?,
                // SNOP, and conditions that do not hold.
                _ => {}
            }
        }
        self.csp.wakes = now + PHY.symbol();
        Ok(())
    }

    fn count_register(&mut self, number: u32, by: u32) {
        let register = &mut self.xreg[X + number as usize];
        *register = (*register + by) & 0xff;
    }
}
