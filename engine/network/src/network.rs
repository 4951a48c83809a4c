//! The network: motes, links, one time for all.

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
    /// Those that no chain of links connects know nothing of each other, and run by themselves.
    cells: Vec<Cell<M>>,
    /// Each mote's cell, and its seat there.
    places: Vec<(usize, usize)>,
    rules: Rules,
    pool: ThreadPool,
    now: Picoseconds,
    /// Transmissions that are over, until they are taken.
    closed: Vec<Transmission>,
    digest: Sha256,
}

impl<M: Mote> Network<M> {
    /// Nobody, yet.
    ///
    /// # Errors
    /// The system gives no threads.
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

    /// Seat a mote that has not run; its number.
    pub fn add(&mut self, mote: M, clock: Clock) -> usize {
        let number = self.places.len();
        self.places.push((self.cells.len(), 0));
        self.cells.push(Cell::new(number, mote, clock, self.rules));
        number
    }

    /// Switch a mote off and on: another machine takes its seat at the network's time.
    pub fn restart(&mut self, number: usize, mote: M) -> M {
        let (cell, seat) = self.places[number];
        self.cells[cell].restart(seat, mote, self.now)
    }

    /// Link: one mote's transmissions arrive at another.
    pub fn link(&mut self, from: usize, link: Link) {
        self.join(from, link.to);
        let (cell, seat) = self.places[from];
        let to = self.places[link.to].1;
        self.cells[cell].link(seat, to, link);
    }

    /// From now on, two motes run in one cell.
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

    /// Motes, in the order of their numbers.
    pub fn motes(&self) -> impl Iterator<Item = &M> {
        let places = self.places.iter();
        places.map(|&(cell, seat)| &self.cells[cell].seats[seat].mote)
    }

    /// A mote, to be looked at or fed with bytes on a line; not to be run.
    pub fn mote_mut(&mut self, number: usize) -> &mut M {
        let (cell, seat) = self.places[number];
        &mut self.cells[cell].seats[seat].mote
    }

    /// A mote has been given something from outside: when it is due may have changed.
    pub fn touched(&mut self, number: usize) {
        let (cell, seat) = self.places[number];
        self.cells[cell].requeue(seat);
    }

    /// A mote's time and the network's.
    pub fn clock(&self, number: usize) -> Clock {
        let (cell, seat) = self.places[number];
        self.cells[cell].seats[seat].clock
    }

    /// The network's time.
    pub const fn time(&self) -> Picoseconds {
        self.now
    }

    /// Transmissions that were on the air before anybody knew, because the core that sent them was
    /// held for longer than the look-ahead. Where there are some, others may have missed them.
    pub fn late(&self) -> u64 {
        self.cells.iter().map(|cell| cell.late).sum()
    }

    /// A digest of all transmissions that have been taken, and of what became of them.
    pub fn digest(&self) -> String {
        let digest = self.digest.clone().finalize();
        format!("{digest:x}")
    }

    /// Put a transmission on the air that a mote has not sent by itself, such as one of a
    /// recording. It has to be in the future by the radios' turnaround at least.
    pub fn inject(&mut self, sender: usize, start: Start, bytes: &[u8]) {
        let (cell, seat) = self.places[sender];
        self.cells[cell].inject(seat, start, bytes);
    }

    /// Run all motes to a time. A mote that cannot go on is left where it is.
    pub fn run(&mut self, until: Picoseconds) {
        let cells = &mut self.cells;
        // All of it is done by the pool's threads: those wait for each other without going to sleep.
        self.pool.install(|| {
            let cells = cells.par_iter_mut();
            cells.for_each(|cell| cell.run(until));
        });
        self.now = self.now.max(until);
    }

    /// Transmissions that are over, in the order of their begins, up to the first whose fate is not
    /// known everywhere; with `all`, the others too, as far as they have come.
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
            self.digest.update(format!("{transmission:?}"));
        }
        taken
    }
}
