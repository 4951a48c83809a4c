//! What the network requires of a mote.

use joulemark_kernel::Picoseconds;
use joulemark_machine::{Machine, Reason, Stop, Until};
use joulemark_radio::Antenna;

use crate::clock::{Crystal, Watch};

/// A running board. Times are its own.
pub trait Mote: Send {
    /// Its current time.
    fn time(&self) -> Picoseconds;

    /// When it next acts by itself; [`Picoseconds::NEVER`] if nothing is due.
    fn next_event(&self) -> Picoseconds;

    /// Run to the first instruction boundary at or after a time, and handle the events due by then;
    /// end earlier where its radio was told to send. `false` if it can never continue.
    fn run(&mut self, until: Picoseconds) -> bool;

    /// An upper bound of an instruction's duration at the current clock.
    fn longest_step(&self) -> Picoseconds;

    /// Use its antenna; false if it has none.
    fn with_antenna(&mut self, act: &mut dyn FnMut(&mut Antenna)) -> bool;
}

/// A machine, and why it cannot continue.
pub struct Board {
    /// The machine.
    pub machine: Machine,
    /// The fault that stopped it.
    pub stop: Option<Stop>,
    watch: Watch,
}

impl Board {
    /// Seat a machine, with the crystal behind its time and its watch crystal.
    pub fn new(machine: Machine, main: Crystal, watch: Crystal) -> Self {
        Self::with(machine, Watch::new(watch, main))
    }

    /// Replace the machine, with the same crystals.
    #[must_use]
    pub fn restarted(&self, machine: Machine) -> Self {
        Self::with(machine, self.watch.restarted())
    }

    fn with(mut machine: Machine, watch: Watch) -> Self {
        // Nothing to set for a crystal without an error.
        if watch.ppb() != 0 {
            machine.set_watch_crystal(watch.ppb());
        }
        Self {
            machine,
            stop: None,
            watch,
        }
    }

    /// Run until a time, or until the radio is told to send; return why it ended.
    fn run_to(&mut self, time: Picoseconds) -> Reason {
        let until = Until {
            device: true,
            time: Some(time),
            ..Until::default()
        };
        match self.machine.run(until) {
            Ok(stop) if stop.reason == Reason::Fault || stop.fault.is_some() => {
                self.stop = Some(stop);
                Reason::Fault
            }
            Ok(stop) => stop.reason,
            // Without a marker, there is no condition that it could reject.
            Err(_) => Reason::Time,
        }
    }
}

/// The longest instruction of either core, including interrupt entry and wait states.
const LONGEST_CYCLES: u64 = 64;

impl Mote for Board {
    fn time(&self) -> Picoseconds {
        self.machine.time()
    }

    fn next_event(&self) -> Picoseconds {
        let own = self.machine.next_event().unwrap_or(Picoseconds::NEVER);
        own.min(self.watch.next_change())
    }

    fn run(&mut self, until: Picoseconds) -> bool {
        while self.watch.next_change() <= until {
            match self.run_to(self.watch.next_change()) {
                Reason::Fault => return false,
                Reason::Device => return true,
                _ => {}
            }
            self.watch.change();
            self.machine.set_watch_crystal(self.watch.ppb());
        }
        self.run_to(until) != Reason::Fault
    }

    fn longest_step(&self) -> Picoseconds {
        let hz = u64::from(self.machine.clock_hz().max(1));
        Picoseconds(LONGEST_CYCLES * 1_000_000_000_000 / hz)
    }

    fn with_antenna(&mut self, act: &mut dyn FnMut(&mut Antenna)) -> bool {
        self.machine.with_antenna(act).is_some()
    }
}

/// What has a seat in a network of machines.
pub enum Seated {
    /// A machine.
    Board(Box<Board>),
    /// A sender of given frames: it does not act by itself, and its time is what it is told.
    Recording(Picoseconds),
}

impl Seated {
    /// The machine, if there is one.
    pub fn board(&mut self) -> Option<&mut Board> {
        match self {
            Self::Board(board) => Some(board),
            Self::Recording(_) => None,
        }
    }
}

impl Mote for Seated {
    fn time(&self) -> Picoseconds {
        match self {
            Self::Board(board) => board.time(),
            Self::Recording(time) => *time,
        }
    }

    fn next_event(&self) -> Picoseconds {
        match self {
            Self::Board(board) => board.next_event(),
            Self::Recording(_) => Picoseconds::NEVER,
        }
    }

    fn run(&mut self, until: Picoseconds) -> bool {
        match self {
            Self::Board(board) => board.run(until),
            Self::Recording(time) => {
                *time = until;
                true
            }
        }
    }

    fn longest_step(&self) -> Picoseconds {
        match self {
            Self::Board(board) => board.longest_step(),
            Self::Recording(_) => Picoseconds(0),
        }
    }

    fn with_antenna(&mut self, act: &mut dyn FnMut(&mut Antenna)) -> bool {
        match self {
            Self::Board(board) => board.with_antenna(act),
            Self::Recording(_) => false,
        }
    }
}
