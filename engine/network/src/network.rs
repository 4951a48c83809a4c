//! The network: motes, links and a common time.

use joulemark_kernel::Picoseconds;
use joulemark_radio::Start;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sha2::{Digest, Sha256};

use crate::cell::Cell;
use crate::medium::{Link, Transmission};
use crate::rules::{Ahead, Rules};
use crate::{Clock, Mote};

/// Motes that hear each other.
pub struct Network<M> {
    /// Groups of motes that no chain of links connects; they run independently.
    cells: Vec<Cell<M>>,
    /// Each mote's cell, and its seat there.
    places: Vec<(usize, usize)>,
    rules: Rules,
    pool: ThreadPool,
    now: Picoseconds,
    /// Transmissions that are over and not yet taken.
    closed: Vec<Transmission>,
    digest: Sha256,
}

impl<M: Mote> Network<M> {
    /// Make an empty network.
    ///
    /// # Errors
    /// The system cannot create the threads.
    pub fn new(seed: u64, threads: usize, ahead: Ahead) -> Result<Self, String> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        Ok(Self {
            cells: Vec::new(),
            places: Vec::new(),
            rules: Rules { seed, ahead },
            pool: pool.map_err(|error| format!("no {threads} threads: {error}"))?,
            now: Picoseconds(0),
            closed: Vec::new(),
            digest: Sha256::new(),
        })
    }

    /// Add a mote that has not run, and return its number.
    pub fn add(&mut self, mote: M, clock: Clock) -> usize {
        let number = self.places.len();
        self.places.push((self.cells.len(), 0));
        self.cells.push(Cell::new(number, mote, clock, self.rules));
        number
    }

    /// Power-cycle a mote: another machine takes its seat at the network's time.
    pub fn restart(&mut self, number: usize, mote: M) -> M {
        let (cell, seat) = self.places[number];
        self.cells[cell].restart(seat, mote, self.now)
    }

    /// Let one mote's transmissions arrive at another.
    pub fn link(&mut self, from: usize, link: Link) {
        self.join(from, link.to);
        let (cell, seat) = self.places[from];
        let to = self.places[link.to].1;
        self.cells[cell].link(seat, to, link);
    }

    /// Put two motes into the same cell from now on.
    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.places[one].0, self.places[other].0);
        if one == other {
            return;
        }
        let size = |cell: usize| self.cells[cell].seats.len();
        let (kept, gone) = if size(one) < size(other) {
            (other, one)
        } else {
            (one, other)
        };
        let (begin, last) = (size(kept), self.cells.len() - 1);
        for place in &mut self.places {
            if place.0 == gone {
                *place = (kept, begin + place.1);
            }
            if place.0 == last {
                place.0 = gone;
            }
        }
        let absorbed = self.cells.swap_remove(gone);
        let kept = if kept == last { gone } else { kept };
        self.cells[kept].absorb(absorbed);
    }

    /// Motes in order of their numbers.
    pub fn motes(&self) -> impl Iterator<Item = &M> {
        let places = self.places.iter();
        places.map(|&(cell, seat)| &self.cells[cell].seats[seat].mote)
    }

    /// A mote, to inspect it or to send it bytes on a line, but not to run it.
    pub fn mote_mut(&mut self, number: usize) -> &mut M {
        let (cell, seat) = self.places[number];
        &mut self.cells[cell].seats[seat].mote
    }

    /// Note that a mote was given input from outside, which may change its next event.
    pub fn touched(&mut self, number: usize) {
        let (cell, seat) = self.places[number];
        self.cells[cell].requeue(seat);
    }

    /// Return a mote's clock.
    pub fn clock(&self, number: usize) -> Clock {
        let (cell, seat) = self.places[number];
        self.cells[cell].seats[seat].clock
    }

    /// The network's time.
    pub const fn time(&self) -> Picoseconds {
        self.now
    }

    /// The number of transmissions that were on the air before others were told, because the
    /// sender's core was stalled for longer than the look-ahead. If there are any, others may have
    /// missed them.
    pub fn late(&self) -> u64 {
        self.cells.iter().map(|cell| cell.late).sum()
    }

    /// A digest of all transmissions taken so far and their outcomes.
    pub fn digest(&self) -> String {
        let digest = self.digest.clone().finalize();
        format!("{digest:x}")
    }

    /// Put a transmission on the air that a mote has not sent itself, for example from a recording.
    /// It must be in the future by at least the radios' turnaround.
    pub fn inject(&mut self, sender: usize, start: Start, bytes: &[u8]) {
        let (cell, seat) = self.places[sender];
        self.cells[cell].inject(seat, start, bytes);
    }

    /// Run all motes until a time. A mote that cannot continue stays where it is.
    pub fn run(&mut self, until: Picoseconds) {
        let cells = &mut self.cells;
        // All work runs on the pool's threads, which do not go to sleep while they wait for each
        // other.
        self.pool.install(|| {
            let cells = cells.par_iter_mut();
            cells.for_each(|cell| cell.run(until));
        });
        self.now = self.now.max(until);
    }

    /// Take transmissions that are over, in order of their start, up to the first whose outcome is
    /// not known everywhere; with `all`, the others too, as they are.
    pub fn take_transmissions(&mut self, all: bool) -> Vec<Transmission> {
        let mut taken = std::mem::take(&mut self.closed);
        for cell in &mut self.cells {
            taken.append(&mut cell.closed);
            if all {
                taken.extend(cell.take_open());
            }
        }
        if let Some(first) = self.cells.iter().filter_map(Cell::first_open).min() {
            let is_next = |t: &Transmission| t.order() < first;
            (taken, self.closed) = taken.into_iter().partition(is_next);
        }
        taken.sort_by_key(Transmission::order);
        for transmission in &taken {
            self.digest.update(transmission.digested());
        }
        taken
    }
}
