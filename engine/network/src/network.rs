//! The network: motes, links, one time for all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use joulemark_kernel::Picoseconds;
use joulemark_radio::{Arrival, BYTE, Emission, Figures, Outcome, Start};
use rayon::{ThreadPool, ThreadPoolBuilder};
use sha2::{Digest, Sha256};

use crate::medium::{Hearing, Link, Transmission};
use crate::{Clock, Mote};

/// How far motes run ahead of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// As far as the radios and the motes that sleep allow.
    Full,
    /// A fraction of what the radios allow, and those that sleep run too. It costs time and changes
    /// nothing else: for tests.
    Part(u64),
}

/// Crystals are within this many parts of a nominal span, and times are rounded.
const CRYSTALS: u64 = 500;

/// Nothing weaker than this is noticed by any receiver, as noise or otherwise.
const NOTICEABLE_DBM: f64 = -115.0;

/// Antennas forget what has ended when they have heard so much.
const CROWDED: usize = 64;

/// A mote where it is.
struct Seat<M> {
    mote: M,
    clock: Clock,
    links: Vec<Link>,
    /// Its last transmission, as long as that is not over.
    sending: Option<u64>,
    /// Transmissions that it has begun.
    count: u32,
    is_stopped: bool,
    has_antenna: bool,
    /// When it does something next, in the network's time, as the queue has it.
    next: Picoseconds,
    /// What it emitted while it ran last.
    emissions: Vec<Emission>,
    /// What became of what it heard, as far as nobody has been told.
    outcomes: Vec<(u64, Outcome)>,
    unsettled: usize,
}

impl<M: Mote> Seat<M> {
    fn time(&self) -> Picoseconds {
        self.clock.global(self.mote.time())
    }

    fn next_event(&self) -> Picoseconds {
        if self.is_stopped {
            return Picoseconds::NEVER;
        }
        // What was due while the core was held happens when it goes on.
        self.clock
            .global(self.mote.next_event().max(self.mote.time()))
    }

    /// Run to a time of the network, an instruction at least where time has to go on, and keep what
    /// came out.
    fn run(&mut self, until: Picoseconds, goes_on: bool) {
        let now = self.mote.time();
        let least = if goes_on { now.0 + 1 } else { 0 };
        let until = self.clock.local(until).max(Picoseconds(least));
        if until <= now || self.is_stopped {
            return;
        }
        self.is_stopped = !self.mote.run(until);
        let Self {
            mote,
            emissions,
            outcomes,
            ..
        } = self;
        let now = mote.time();
        mote.with_antenna(&mut |antenna| {
            emissions.append(&mut antenna.take_emissions());
            outcomes.append(&mut antenna.take_outcomes(now));
        });
        self.unsettled = 0;
    }

    /// The time up to which it may run so that nothing that it looks at is beyond a horizon.
    fn limit(&self, horizon: Picoseconds) -> Picoseconds {
        Picoseconds(horizon.0.saturating_sub(self.mote.longest_step().0))
    }
}

/// A transmission that is not over, or whose fate is not known everywhere.
struct Open {
    transmission: Transmission,
    /// Motes of which the fate is not known.
    unknown: usize,
}

/// Motes that hear each other.
pub struct Network<M> {
    seats: Vec<Seat<M>>,
    seed: u64,
    ahead: Ahead,
    turnaround: Picoseconds,
    pool: Option<ThreadPool>,
    now: Picoseconds,
    /// Motes that do something by themselves, the next first.
    queue: BTreeSet<(Picoseconds, usize)>,
    /// Transmissions by their ids.
    open: BTreeMap<u64, Open>,
    /// Those of them whose fate is known everywhere.
    settled: BTreeSet<u64>,
    /// Those that are over, until they are taken.
    closed: Vec<Transmission>,
    /// Transmissions that no mote sends, by when they begin.
    scheduled: BTreeMap<(Picoseconds, u64), Transmission>,
    late: u64,
    digest: Sha256,
}

impl<M: Mote> Network<M> {
    /// Nobody, yet.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn new(seed: u64, threads: usize, ahead: Ahead) -> Result<Self, String> {
        let pool = (threads > 1)
            .then(|| ThreadPoolBuilder::new().num_threads(threads).build())
            .transpose()
            .map_err(|error| format!("no {threads} threads: {error}"))?;
        Ok(Self {
            seats: Vec::new(),
            seed,
            ahead,
            turnaround: Picoseconds::NEVER,
            pool,
            now: Picoseconds(0),
            queue: BTreeSet::new(),
            open: BTreeMap::new(),
            settled: BTreeSet::new(),
            closed: Vec::new(),
            scheduled: BTreeMap::new(),
            late: 0,
            digest: Sha256::new(),
        })
    }

    /// Seat a mote that has not run; its number.
    pub fn add(&mut self, mut mote: M, clock: Clock) -> usize {
        let mut figures: Option<Figures> = None;
        let has_antenna = mote.with_antenna(&mut |antenna| {
            antenna.attach();
            figures = Some(*antenna.figures());
        });
        if let Some(figures) = figures {
            self.turnaround = self.turnaround.min(figures.turnaround);
        }
        let number = self.seats.len();
        self.seats.push(Seat {
            mote,
            clock,
            links: Vec::new(),
            sending: None,
            count: 0,
            is_stopped: false,
            has_antenna,
            next: Picoseconds::NEVER,
            emissions: Vec::new(),
            outcomes: Vec::new(),
            unsettled: 0,
        });
        self.requeue(number);
        number
    }

    /// Switch a mote off and on: another machine takes its seat at the network's time.
    pub fn restart(&mut self, number: usize, mut mote: M) -> M {
        mote.with_antenna(&mut |antenna| antenna.attach());
        let now = self.now;
        self.silence(number, now);
        let seat = &mut self.seats[number];
        seat.clock.start = now;
        seat.is_stopped = false;
        let old = std::mem::replace(&mut seat.mote, mote);
        // What the old one had not heard to its end, nobody has.
        let unknown: Vec<u64> = self
            .open
            .iter()
            .filter(|(_, open)| {
                let mut hearings = open.transmission.hearings.iter();
                hearings.any(|hearing| hearing.mote == number && hearing.outcome.is_none())
            })
            .map(|(&id, _)| id)
            .collect();
        for id in unknown {
            self.note(number, id, Outcome::Abandoned);
        }
        self.requeue(number);
        old
    }

    /// What a mote sends arrives at another.
    pub fn link(&mut self, from: usize, link: Link) {
        let links = &mut self.seats[from].links;
        links.retain(|other| other.to != link.to);
        links.push(link);
        links.sort_by_key(|link| link.to);
    }

    /// Motes, in the order of their numbers.
    pub fn motes(&self) -> impl Iterator<Item = &M> {
        self.seats.iter().map(|seat| &seat.mote)
    }

    /// A mote, to be looked at or fed with bytes on a line; not to be run.
    pub fn mote_mut(&mut self, number: usize) -> &mut M {
        &mut self.seats[number].mote
    }

    /// A mote has been given something from outside: when it is due may have changed.
    pub fn touched(&mut self, number: usize) {
        self.requeue(number);
    }

    /// A mote's time and the network's.
    pub fn clock(&self, number: usize) -> Clock {
        self.seats[number].clock
    }

    /// The network's time.
    pub const fn time(&self) -> Picoseconds {
        self.now
    }

    /// Transmissions that were on the air before anybody knew, because the core that sent them was
    /// held for longer than the look-ahead. Where there are some, others may have missed them.
    pub const fn late(&self) -> u64 {
        self.late
    }

    /// A digest of all transmissions that have been taken, and of what became of them.
    pub fn digest(&self) -> String {
        let digest = self.digest.clone().finalize();
        format!("{digest:x}")
    }

    /// Put a transmission on the air that a mote has not sent by itself, such as one of a recording.
    /// It has to be in the future by the radios' turnaround at least.
    pub fn inject(&mut self, sender: usize, start: Start, bytes: &[u8]) {
        let mut transmission = self.transmission(sender, start, BYTE);
        transmission.bytes = Arc::new(bytes.to_vec());
        transmission.end = start.delimiter + Picoseconds(BYTE.0 * bytes.len() as u64);
        let key = (start.begin, transmission.id());
        self.scheduled.insert(key, transmission);
    }

    /// Run all motes to a time. A mote that cannot go on is left where it is.
    pub fn run(&mut self, until: Picoseconds) {
        while let Some(&(next, _)) = self.queue.first()
            && next < until
        {
            self.epoch(next, until);
        }
        // Those that are left sleep to the end and see nothing before it.
        for number in 0..self.seats.len() {
            self.seats[number].run(until, false);
        }
        self.merge(&(0..self.seats.len()).collect::<Vec<_>>());
        self.now = self.now.max(until);
        self.close();
    }

    /// How far motes may run that do something at `next` at the earliest.
    fn horizon(&self, next: Picoseconds) -> Picoseconds {
        let reach = self.turnaround.0 - self.turnaround.0 / CRYSTALS;
        let part = match self.ahead {
            Ahead::Full => 1,
            Ahead::Part(part) => part,
        };
        Picoseconds(next.0.saturating_add(reach / part))
    }

    /// Let everybody run that can do something before others can be noticed.
    fn epoch(&mut self, next: Picoseconds, until: Picoseconds) {
        let (mut next, mut horizon) = (next, self.horizon(next));
        while let Some(first) = self.scheduled.first_entry()
            && first.key().0 < horizon
        {
            let transmission = first.remove();
            self.open(transmission.clone());
            self.send_on(&transmission, true);
            // It may wake somebody earlier.
            next = self.queue.first().map_or(next, |&(next, _)| next);
            horizon = self.horizon(next);
        }
        let active: Vec<usize> = match self.ahead {
            Ahead::Full => {
                let due = self.queue.range(..(horizon, 0));
                due.map(|&(_, number)| number).collect()
            }
            Ahead::Part(_) => (0..self.seats.len()).collect(),
        };
        let (senders, others): (Vec<usize>, Vec<usize>) = active
            .into_iter()
            .partition(|&number| self.is_sending(number));
        // Who sends hears nothing, and what it does to its frame others have to know first.
        self.run_all(senders, next, |_| horizon.min(until));
        self.run_all(others, next, |seat| seat.limit(horizon).min(until));
        self.close();
    }

    /// Run motes up to a limit each; whoever is at `next` goes on whatever its limit is.
    fn run_all(
        &mut self,
        mut numbers: Vec<usize>,
        next: Picoseconds,
        limit: impl Fn(&Seat<M>) -> Picoseconds + Sync,
    ) {
        numbers.sort_unstable();
        let run = |seat: &mut Seat<M>| seat.run(limit(seat), seat.next == next);
        match &self.pool {
            Some(pool) if numbers.len() > 1 => {
                let mut seats = Vec::with_capacity(numbers.len());
                let (mut rest, mut passed) = (&mut self.seats[..], 0);
                for &number in &numbers {
                    let (before, after) = rest.split_at_mut(number - passed + 1);
                    seats.extend(before.last_mut());
                    (rest, passed) = (after, number + 1);
                }
                pool.scope(|scope| {
                    for seat in seats {
                        let run = &run;
                        scope.spawn(move |_| run(seat));
                    }
                });
            }
            _ => {
                for &number in &numbers {
                    run(&mut self.seats[number]);
                }
            }
        }
        self.merge(&numbers);
    }

    /// Take over what motes have done, in the order of their numbers.
    fn merge(&mut self, numbers: &[usize]) {
        for &number in numbers {
            let emissions = std::mem::take(&mut self.seats[number].emissions);
            if !emissions.is_empty() {
                self.take_over(number, emissions);
            }
            for (id, outcome) in std::mem::take(&mut self.seats[number].outcomes) {
                self.note(number, id, outcome);
            }
            if self.seats[number].is_stopped {
                let now = self.seats[number].time();
                self.silence(number, now);
            }
            self.requeue(number);
        }
    }

    fn take_over(&mut self, number: usize, emissions: Vec<Emission>) {
        let clock = self.seats[number].clock;
        let mut is_new = false;
        let mut changed = false;
        for emission in emissions {
            match emission {
                Emission::Start(start) => {
                    self.flush(number, is_new, changed);
                    (is_new, changed) = (true, true);
                    let byte = clock.global_span(BYTE, start.begin);
                    let start = Start {
                        begin: clock.global(start.begin),
                        delimiter: clock.global(start.delimiter),
                        ..start
                    };
                    self.begin(number, start, byte);
                }
                Emission::Bytes(place, bytes) => {
                    if let Some(t) = self.sending(number) {
                        let all = Arc::make_mut(&mut t.bytes);
                        let end = place + bytes.len();
                        if all.len() < end {
                            all.resize(end, 0);
                        }
                        all[place..end].copy_from_slice(&bytes);
                        changed = true;
                    }
                }
                Emission::End(end) => {
                    if let Some(t) = self.sending(number) {
                        t.end = clock.global(end);
                        changed = true;
                    }
                }
            }
        }
        self.flush(number, is_new, changed);
    }

    /// A mote's transmission that is announced or on the air.
    fn sending(&mut self, number: usize) -> Option<&mut Transmission> {
        let id = self.seats[number].sending?;
        self.open.get_mut(&id).map(|open| &mut open.transmission)
    }

    /// A mote's next transmission.
    fn transmission(&mut self, number: usize, start: Start, byte: Picoseconds) -> Transmission {
        let seat = &mut self.seats[number];
        let count = seat.count;
        seat.count += 1;
        Transmission {
            mote: number,
            number: count,
            start,
            byte,
            bytes: Arc::default(),
            end: Picoseconds::NEVER,
            hearings: seat
                .links
                .iter()
                .map(|link| Hearing {
                    mote: link.to,
                    power_dbm: start.power_dbm - link.attenuation_db,
                    outcome: None,
                })
                .filter(|hearing| hearing.power_dbm >= NOTICEABLE_DBM)
                .collect(),
        }
    }

    /// Keep a transmission.
    fn open(&mut self, transmission: Transmission) {
        let id = transmission.id();
        let hearers = transmission.hearings.iter();
        let unknown = hearers.filter(|hearing| self.seats[hearing.mote].has_antenna);
        let unknown = unknown.count();
        if unknown == 0 {
            self.settled.insert(id);
        }
        self.open.insert(
            id,
            Open {
                transmission,
                unknown,
            },
        );
    }

    /// A mote's transmission begins; nobody is told yet.
    fn begin(&mut self, number: usize, start: Start, byte: Picoseconds) {
        let transmission = self.transmission(number, start, byte);
        self.seats[number].sending = Some(transmission.id());
        self.open(transmission);
    }

    /// Tell those who hear a mote of its transmission.
    fn flush(&mut self, number: usize, is_new: bool, changed: bool) {
        if let Some(transmission) = self.sending(number).map(|t| t.clone())
            && changed
        {
            self.send_on(&transmission, is_new);
        }
    }

    fn send_on(&mut self, transmission: &Transmission, is_new: bool) {
        let id = transmission.id();
        let links = self.seats[transmission.mote].links.clone();
        for hearing in &transmission.hearings {
            let number = hearing.mote;
            let seat = &mut self.seats[number];
            if !seat.has_antenna {
                continue;
            }
            let clock = seat.clock;
            let end = clock.local(transmission.end);
            let now = seat.mote.time();
            let begin = clock.local(transmission.start.begin);
            // Who sends runs on to the end of an instruction, and hears nothing in it.
            if is_new && begin + seat.mote.longest_step() < now {
                self.late += 1;
            }
            let loss = links.iter().find(|link| link.to == number);
            let loss = loss.map_or(0.0, |link| link.loss);
            let seed = draw(self.seed, id, number as u64);
            let arrival = is_new.then(|| Arrival {
                id,
                start: Start {
                    begin,
                    delimiter: clock.local(transmission.start.delimiter),
                    frequency_mhz: transmission.start.frequency_mhz,
                    power_dbm: hearing.power_dbm,
                },
                byte: clock.local_span(transmission.byte, begin),
                bytes: Arc::clone(&transmission.bytes),
                end,
                is_lost: f64::from((seed >> 32) as u32) < loss * 4_294_967_296.0,
                seed,
            });
            let mut arrival = arrival;
            seat.unsettled += 1;
            let is_crowded = seat.unsettled > CROWDED;
            let mut outcomes = Vec::new();
            seat.mote.with_antenna(&mut |antenna| {
                if is_crowded {
                    outcomes = antenna.take_outcomes(now);
                }
                match arrival.take() {
                    Some(arrival) => antenna.arrive(arrival),
                    None => antenna.amend(id, &transmission.bytes, end),
                }
            });
            if is_crowded {
                seat.unsettled = 0;
                for (id, outcome) in outcomes {
                    self.note(number, id, outcome);
                }
            }
            self.requeue(number);
        }
    }

    /// A mote's carrier ends with the mote.
    fn silence(&mut self, number: usize, at: Picoseconds) {
        if let Some(transmission) = self.sending(number)
            && transmission.end > at
        {
            transmission.end = at.max(transmission.start.begin);
            let transmission = transmission.clone();
            self.send_on(&transmission, false);
        }
    }

    fn note(&mut self, number: usize, id: u64, outcome: Outcome) {
        let Some(open) = self.open.get_mut(&id) else {
            return;
        };
        let mut hearings = open.transmission.hearings.iter_mut();
        if let Some(hearing) = hearings.find(|hearing| hearing.mote == number)
            && hearing.outcome.replace(outcome).is_none()
        {
            open.unknown -= 1;
            if open.unknown == 0 {
                self.settled.insert(id);
            }
        }
    }

    fn is_sending(&mut self, number: usize) -> bool {
        let end = self.sending(number).map(|transmission| transmission.end);
        end.is_some_and(|end| end > self.seats[number].time())
    }

    fn requeue(&mut self, number: usize) {
        let seat = &mut self.seats[number];
        let next = seat.next_event();
        if next != seat.next {
            self.queue.remove(&(seat.next, number));
            seat.next = next;
        }
        if next != Picoseconds::NEVER {
            self.queue.insert((next, number));
        }
    }

    /// Put transmissions that are over, and whose fate is known everywhere, with those to be taken.
    fn close(&mut self) {
        let (open, seats) = (&mut self.open, &mut self.seats);
        self.settled.retain(|id| {
            let transmission = &open[id].transmission;
            let seat = &mut seats[transmission.mote];
            if transmission.end >= seat.time() {
                return true;
            }
            if seat.sending == Some(*id) {
                seat.sending = None;
            }
            self.closed
                .extend(open.remove(id).map(|open| open.transmission));
            false
        });
    }

    /// Transmissions that are over, in the order of their begins, up to the first whose fate is not
    /// known everywhere; with `all`, the others too, which are forgotten.
    pub fn take_transmissions(&mut self, all: bool) -> Vec<Transmission> {
        let order = |transmission: &Transmission| (transmission.start.begin, transmission.mote);
        let open = std::mem::take(&mut self.open);
        let mut taken = std::mem::take(&mut self.closed);
        if all {
            taken.extend(open.into_values().map(|open| open.transmission));
            self.settled.clear();
            for seat in &mut self.seats {
                seat.sending = None;
            }
        } else {
            let first = open.values().map(|open| order(&open.transmission)).min();
            let is_next = |t: &Transmission| first.is_none_or(|first| order(t) < first);
            let (next, rest) = taken.into_iter().partition(is_next);
            (taken, self.closed, self.open) = (next, rest, open);
        }
        taken.sort_by_key(order);
        for transmission in &taken {
            self.digest.update(format!("{transmission:?}"));
        }
        taken
    }
}

/// A number that depends on nothing but these (`SplitMix64`'s finalizer over each in turn).
fn draw(seed: u64, id: u64, number: u64) -> u64 {
    [id, number].into_iter().fold(seed, |state, word| {
        let mut x = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    })
}
