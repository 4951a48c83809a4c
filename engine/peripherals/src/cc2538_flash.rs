//! The CC2538's flash controller (SWRU319, chapter Flash Controller; TI's `hw_flash_ctrl.h`).

use joulemark_kernel::{Cycles, Fault, FaultKind, Memories};

use crate::flash_cells::{Change, Changing, FlashRange, FlashTimes};

const FCTL: u32 = 0x08;
const FADDR: u32 = 0x0c;
const FWDATA: u32 = 0x10;

const ERASE: u32 = 1;
const WRITE: u32 = 1 << 1;
const CACHE_MODE: u32 = 3 << 2;
const ABORT: u32 = 1 << 5;
const FULL: u32 = 1 << 6;
const BUSY: u32 = 1 << 7;
const SEL_INFO_PAGE: u32 = 1 << 8;
const UPPER_PAGE_ACCESS: u32 = 1 << 9;

/// Mask of FADDR's word number.
const WORDS: u32 = 0x1_ffff;

#[derive(Clone, Copy, Debug)]
enum State {
    Idle,
    /// WRITE is set, and FWDATA must be written by this cycle.
    Awaiting(Cycles),
    Changing(Changing),
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Cc2538Flash {
    flash: FlashRange,
    times: FlashTimes,
    hz: u32,
    cache_mode: u32,
    is_upper_open: bool,
    is_aborted: bool,
    /// A write sequence begins after the page erase.
    writes_next: bool,
    /// FADDR, as a word number.
    word: u32,
    state: State,
}

impl Cc2538Flash {
    /// The state after a reset: cache mode 1.
    pub const fn new(flash: FlashRange, times: FlashTimes, hz: u32) -> Self {
        Self {
            flash,
            times,
            hz,
            cache_mode: 1 << 2,
            is_upper_open: false,
            is_aborted: false,
            writes_next: false,
            word: 0,
            state: State::Idle,
        }
    }

    /// Read FCTL, FADDR or FWDATA by offset; `None` for others.
    pub fn read(&self, offset: u32) -> Option<u32> {
        let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        let state = match self.state {
            State::Idle => 0,
            State::Awaiting(_) => BUSY | WRITE,
            State::Changing(cells) => match cells.change {
                Change::Program(_) => BUSY | WRITE | FULL,
                Change::Erase(_) => BUSY | ERASE | bit(self.writes_next, WRITE),
            },
        };
        match offset {
            FCTL => Some(
                self.cache_mode
                    | state
                    | bit(self.is_aborted, ABORT)
                    | bit(self.is_upper_open, UPPER_PAGE_ACCESS),
            ),
            FADDR => Some(self.word),
            FWDATA => Some(0),
            _ => None,
        }
    }

    /// Write FCTL, FADDR or FWDATA by offset; false for others.
    ///
    /// # Errors
    /// The document forbids the access.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        let is_idle = matches!(self.state, State::Idle);
        match offset {
            FCTL if value & SEL_INFO_PAGE != 0 => {
                return Err(Fault::new(
                    FaultKind::Absent,
                    "the emulation leaves out changes of the information page (FCTL.SEL_INFO_PAGE)",
                ));
            }
            FCTL => {
                self.cache_mode = value & CACHE_MODE;
                self.is_upper_open = value & UPPER_PAGE_ACCESS != 0;
                if is_idle && value & (ERASE | WRITE) != 0 {
                    self.is_aborted = false;
                    self.writes_next = value & WRITE != 0;
                    if value & ERASE != 0 {
                        self.erase(now);
                    } else {
                        self.await_word(now);
                    }
                }
            }
            // "Writes to this register will be ignored when any of WRITE and ERASE is set."
            FADDR if is_idle => self.word = value >> 2 & WORDS,
            FADDR => {}
            FWDATA => self.program(value, now)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The address in FADDR, which wraps at the end of the flash.
    fn address(&self) -> u32 {
        self.flash.start + self.word * 4 % self.flash.size
    }

    /// Whether the page at FADDR is unlocked; the abort flag is set accordingly.
    fn may_change(&mut self) -> bool {
        let last_page = self.flash.start + self.flash.size - self.flash.page;
        self.is_aborted = self.address() >= last_page && !self.is_upper_open;
        !self.is_aborted
    }

    fn erase(&mut self, now: Cycles) {
        if !self.may_change() {
            if self.writes_next {
                self.await_word(now);
            }
            return;
        }
        let address = self.address() & !(self.flash.page - 1);
        let change = Change::Erase(self.flash.page);
        let cycles = self.times.page_erase(self.hz);
        self.state = State::Changing(Changing::new(address, change, now, cycles));
    }

    /// Wait for the next word, which has to come within the write time of one word.
    fn await_word(&mut self, now: Cycles) {
        self.writes_next = false;
        self.state = State::Awaiting(Cycles(now.0 + self.times.word_write(self.hz)));
    }

    fn program(&mut self, word: u32, now: Cycles) -> Result<(), Fault> {
        match self.state {
            State::Awaiting(until) if now < until => {}
            State::Changing(_) => {
                return Err(Fault::new(
                    FaultKind::FlashWrite,
                    "FWDATA is written while the controller has not taken the word before; wait until \
                     FCTL.FULL is 0",
                ));
            }
            // The page is locked: the word is discarded.
            _ if self.is_aborted => return Ok(()),
            _ => {
                return Err(Fault::new(
                    FaultKind::FlashWrite,
                    "FWDATA is written outside of a write sequence; set FCTL.WRITE, and write the next \
                     word within the time of one",
                ));
            }
        }
        if !self.may_change() {
            self.state = State::Idle;
            return Ok(());
        }
        // Programming covers an aligned pair of words; all ones leave the other word unchanged.
        let address = self.address();
        let mut data = [u32::MAX; 2];
        data[(address >> 2 & 1) as usize] = word;
        let (change, cycles) = (Change::Program(data), self.times.word_write(self.hz));
        self.state = State::Changing(Changing::new(address & !7, change, now, cycles));
        Ok(())
    }

    /// Set a new core clock.
    pub fn set_clock(&mut self, now: Cycles, hz: u32) {
        if let State::Changing(cells) = &mut self.state {
            cells.change_clock(now, self.hz, hz);
        }
        self.hz = hz;
    }

    /// Change the cells that are due; return whether anything happened.
    ///
    /// # Errors
    /// The flash does not exist.
    pub fn transfer(&mut self, memory: &mut dyn Memories, now: Cycles) -> Result<bool, Fault> {
        if now < self.next_event() {
            return Ok(false);
        }
        match &mut self.state {
            State::Idle => {}
            // "A write operation times out because FWDATA is not written fast enough": no error.
            State::Awaiting(_) => self.state = State::Idle,
            State::Changing(cells) => {
                cells.transfer(memory, now)?;
                if cells.is_over() {
                    let is_program = matches!(cells.change, Change::Program(_));
                    self.state = State::Idle;
                    if is_program {
                        self.word = (self.word + 1) & WORDS;
                    }
                    if is_program || self.writes_next {
                        self.await_word(now);
                    }
                }
            }
        }
        Ok(true)
    }

    /// When [`Cc2538Flash::transfer`] has work to do.
    pub const fn next_event(&self) -> Cycles {
        match &self.state {
            State::Idle => Cycles::NEVER,
            State::Awaiting(until) => *until,
            State::Changing(cells) => cells.next_event(),
        }
    }

    /// When the current change is over.
    pub const fn busy_until(&self) -> Cycles {
        match &self.state {
            State::Changing(cells) => cells.end(),
            State::Idle | State::Awaiting(_) => Cycles(0),
        }
    }

    /// The chip's power state while flash is being changed and cannot be read.
    pub const fn power_state(&self) -> Option<&'static str> {
        match &self.state {
            State::Idle => None,
            State::Awaiting(_) => Some("flash-write"),
            State::Changing(cells) => Some(cells.change.power_state()),
        }
    }
}
