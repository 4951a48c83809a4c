//! Motes that can reach each other, and the transmissions between them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use joulemark_kernel::Picoseconds;
use joulemark_radio::{Antenna, Arrival, Emission, MEMORY, Outcome, Start};
use rayon::prelude::*;

use crate::medium::{Hearing, Link, Transmission};
use crate::rules::{Ahead, Rules};
use crate::{Clock, Mote};

/// No crystal's error, rounding included, exceeds 1/500 of a nominal span.
const CRYSTALS: u64 = 500;

/// No receiver notices anything weaker than this, not even as noise.
const NOTICEABLE_DBM: f64 = -115.0;

/// Once it has heard this many transmissions, an antenna forgets those that have ended.
const CROWDED: usize = 64;

/// More than the difference of clocks over an antenna's memory, plus rounding.
const DOUBT: Picoseconds = Picoseconds(2 * MEMORY.0 / CRYSTALS);

/// Motes run on several cores only if they have at least this much to do together; less work is
/// done sooner than it is handed over.
const WORTHWHILE: u64 = 400_000_000;

/// A path to a mote that hears the sender.
#[derive(Clone, Copy)]
struct Way {
    /// The receiver's seat in the cell.
    to: usize,
    link: Link,
}

/// A mote and its state in the cell.
pub struct Seat<M> {
    /// Its number in the network.
    number: usize,
    pub mote: M,
    pub clock: Clock,
    /// In order of the motes' numbers.
    ways: Vec<Way>,
    /// The least time from a command to send until the transmission is on the air.
    turnaround: Picoseconds,
    /// Its last transmission, while that is not over.
    sending: Option<u64>,
    /// The number of transmissions that it has begun.
    count: u32,
    is_stopped: bool,
    has_antenna: bool,
    /// Whether its radio is off, and will stay so until the mote next runs.
    is_deaf: bool,
    /// Transmissions that began since then, and the mote's place among their hearers. The mote is
    /// told of them when it runs, if they still matter.
    missed: Vec<(u64, usize)>,
    /// When it next acts, in the network's time, as queued.
    next: Picoseconds,
    /// The earliest time at which any of its actions can be noticed, as queued.
    reach: Picoseconds,
    /// Emissions of its last run.
    emissions: Vec<Emission>,
    /// Outcomes of the frames that it heard, not yet reported.
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
        // Events due while the core was stalled happen when it continues.
        self.clock
            .global(self.mote.next_event().max(self.mote.time()))
    }

    /// How long any action from now on will go unnoticed.
    fn look_ahead(&mut self) -> Picoseconds {
        let mut span = self.turnaround;
        self.mote
            .with_antenna(&mut |antenna| span = antenna.look_ahead());
        Picoseconds(span.0 - span.0 / CRYSTALS)
    }

    /// Run until a network time, and collect the results. With `goes_on`, run at least one
    /// instruction. Stop at the start of a transmission: others may have to answer first.
    fn run(&mut self, until: Picoseconds, goes_on: bool) {
        let mut now = self.mote.time();
        let least = if goes_on { now.0 + 1 } else { 0 };
        let until = self.clock.local(until).max(Picoseconds(least));
        let mut is_announced = false;
        while now < until && !self.is_stopped && !is_announced {
            self.is_stopped = !self.mote.run(until);
            now = self.mote.time();
            self.mote
                .with_antenna(&mut |antenna| is_announced = antenna.has_announced());
        }
        let Self {
            mote,
            emissions,
            outcomes,
            is_deaf,
            ..
        } = self;
        mote.with_antenna(&mut |antenna| {
            *is_deaf = antenna.is_deaf();
            emissions.append(&mut antenna.take_emissions());
            outcomes.append(&mut antenna.take_outcomes(now));
        });
        self.unsettled = 0;
    }

    /// The time until which it may run without observing anything beyond a horizon.
    fn limit(&self, horizon: Picoseconds) -> Picoseconds {
        Picoseconds(horizon.0.saturating_sub(self.mote.longest_step().0))
    }
}

/// A transmission that is not over, or whose outcome is not known everywhere.
struct Open {
    transmission: Transmission,
    /// The number of motes with an unknown outcome.
    unknown: usize,
    /// The seats of the motes that were told of it.
    told: Vec<usize>,
    /// Whether it was taken while incomplete; its receivers must still be told of the rest.
    is_taken: bool,
}

impl Open {
    /// Note an outcome; whether that was the last one.
    fn note(&mut self, place: usize, outcome: Outcome) -> bool {
        let before = self.transmission.hearings[place].outcome.replace(outcome);
        self.unknown -= usize::from(before.is_none());
        before.is_none() && self.unknown == 0
    }
}

/// Motes connected by links, directly or via others.
pub struct Cell<M> {
    pub seats: Vec<Seat<M>>,
    /// The seats of motes, by number.
    places: BTreeMap<usize, usize>,
    rules: Rules,
    turnaround: Picoseconds,
    /// Motes that will act by themselves, the next first.
    queue: BTreeSet<(Picoseconds, usize)>,
    /// The same, by the time at which they can be noticed; a sending mote is noticed at once.
    reaches: BTreeSet<(Picoseconds, usize)>,
    /// Transmissions by id.
    open: BTreeMap<u64, Open>,
    /// Those whose outcome is known everywhere.
    settled: BTreeSet<u64>,
    /// Those that are over and not yet taken.
    pub closed: Vec<Transmission>,
    /// Injected transmissions, by start time.
    scheduled: BTreeMap<(Picoseconds, u64), Transmission>,
    /// Nothing reaches motes from outside before this.
    until: Picoseconds,
    pub late: u64,
}

impl<M: Mote> Cell<M> {
    /// Make a cell of a mote that has not run.
    pub fn new(number: usize, mut mote: M, clock: Clock, rules: Rules) -> Self {
        let mut turnaround = Picoseconds::NEVER;
        let has_antenna = mote.with_antenna(&mut |antenna| {
            antenna.attach();
            turnaround = antenna.figures().turnaround;
        });
        let mut cell = Self {
            seats: vec![Seat {
                number,
                mote,
                clock,
                ways: Vec::new(),
                turnaround,
                sending: None,
                count: 0,
                is_stopped: false,
                has_antenna,
                is_deaf: false,
                missed: Vec::new(),
                next: Picoseconds::NEVER,
                reach: Picoseconds::NEVER,
                emissions: Vec::new(),
                outcomes: Vec::new(),
                unsettled: 0,
            }],
            places: BTreeMap::from([(number, 0)]),
            rules,
            turnaround,
            queue: BTreeSet::new(),
            reaches: BTreeSet::new(),
            open: BTreeMap::new(),
            settled: BTreeSet::new(),
            closed: Vec::new(),
            scheduled: BTreeMap::new(),
            until: Picoseconds(0),
            late: 0,
        };
        cell.requeue(0);
        cell
    }

    /// Merge another cell, whose seats follow the existing ones.
    pub fn absorb(&mut self, mut other: Self) {
        let begin = self.seats.len();
        for way in other.seats.iter_mut().flat_map(|seat| &mut seat.ways) {
            way.to += begin;
        }
        self.seats.append(&mut other.seats);
        let places = other.places.into_iter();
        self.places
            .extend(places.map(|(number, seat)| (number, seat + begin)));
        let moved = |(time, seat): &(Picoseconds, usize)| (*time, seat + begin);
        self.queue.extend(other.queue.iter().map(moved));
        self.reaches.extend(other.reaches.iter().map(moved));
        self.turnaround = self.turnaround.min(other.turnaround);
        for told in other.open.values_mut().flat_map(|open| &mut open.told) {
            *told += begin;
        }
        self.open.append(&mut other.open);
        self.settled.append(&mut other.settled);
        self.closed.append(&mut other.closed);
        self.scheduled.append(&mut other.scheduled);
        self.late += other.late;
    }

    /// Let one mote's transmissions arrive at another.
    pub fn link(&mut self, from: usize, to: usize, link: Link) {
        let ways = &mut self.seats[from].ways;
        let way = Way { to, link };
        match ways.binary_search_by_key(&link.to, |way| way.link.to) {
            Ok(place) => ways[place] = way,
            Err(place) => ways.insert(place, way),
        }
    }

    /// Power-cycle a mote: another machine takes its seat at the network's time.
    pub fn restart(&mut self, number: usize, mut mote: M, now: Picoseconds) -> M {
        mote.with_antenna(&mut |antenna| antenna.attach());
        self.silence(number, now);
        let seat = &mut self.seats[number];
        let name = seat.number;
        seat.clock.start = now;
        seat.is_stopped = false;
        seat.is_deaf = false;
        seat.missed.clear();
        let old = std::mem::replace(&mut seat.mote, mote);
        // No one has heard what the old machine had not completely received.
        let unknown: Vec<u64> = self
            .open
            .iter()
            .filter(|(_, open)| {
                let mut hearings = open.transmission.hearings.iter();
                hearings.any(|hearing| hearing.mote == name && hearing.outcome.is_none())
            })
            .map(|(&id, _)| id)
            .collect();
        for id in unknown {
            self.note(number, id, Outcome::Abandoned);
        }
        self.requeue(number);
        old
    }

    /// Put a transmission on the air that a mote has not sent itself, for example from a recording.
    /// It must be in the future by at least the radios' turnaround.
    pub fn inject(&mut self, sender: usize, start: Start, bytes: &[u8]) {
        let mut transmission = self.transmission(sender, start, start.phy.byte);
        transmission.bytes = Arc::new(bytes.to_vec());
        transmission.end = start.delimiter + start.phy.span(bytes.len());
        let key = (start.begin, transmission.id());
        self.scheduled.insert(key, transmission);
    }

    /// Run all motes until a time. A mote that cannot continue stays where it is.
    pub fn run(&mut self, until: Picoseconds) {
        self.until = until;
        loop {
            let next = self.next();
            if next >= until {
                break;
            }
            self.epoch(next, until);
        }
        // The others sleep until the end and see nothing before it.
        for number in 0..self.seats.len() {
            self.catch_up(number);
            self.seats[number].run(until, false);
        }
        self.merge(&(0..self.seats.len()).collect::<Vec<_>>());
        self.close();
    }

    /// When the next event occurs: a mote acts by itself, or an injected transmission may wake
    /// motes.
    fn next(&self) -> Picoseconds {
        let mote = self.queue.first().map(|&(next, _)| next);
        let recorded = self.scheduled.first_key_value();
        let recorded = recorded.map(|(&(begin, _), _)| begin);
        let both = mote.into_iter().chain(recorded);
        both.min().unwrap_or(Picoseconds::NEVER)
    }

    /// The time before which no action can be noticed, if no mote acts before `next`.
    fn horizon(&mut self, next: Picoseconds) -> Picoseconds {
        if let Ahead::Part(part) = self.rules.ahead {
            let reach = self.turnaround.0 - self.turnaround.0 / CRYSTALS;
            return Picoseconds(next.0.saturating_add(reach / part));
        }
        let mut horizon = Picoseconds::NEVER;
        for &(reach, number) in &self.reaches {
            if reach >= horizon {
                break;
            }
            let seat = &mut self.seats[number];
            // A sender's changes to its frame take effect at once, but it hears nothing.
            let is_sending = reach == seat.next;
            let span = if is_sending { seat.look_ahead().0 } else { 0 };
            horizon = horizon.min(Picoseconds(reach.0.saturating_add(span)));
            if !is_sending {
                break;
            }
        }
        horizon
    }

    /// Run every mote that can act before others can be noticed.
    fn epoch(&mut self, next: Picoseconds, until: Picoseconds) {
        let (mut next, mut horizon) = (next, self.horizon(next));
        while let Some(first) = self.scheduled.first_entry()
            && first.key().0 < horizon.min(until)
        {
            let transmission = first.remove();
            self.open(transmission.clone());
            self.send_on(&transmission, true);
            // It may wake a mote earlier.
            next = self.queue.first().map_or(next, |&(next, _)| next);
            horizon = self.horizon(next);
        }
        if next >= until {
            return;
        }
        // Senders run first: they hear nothing, and the others must know what they do to their
        // frames.
        let senders = self.due(horizon);
        let senders = senders.into_iter().filter(|&n| self.is_sending(n));
        let senders: Vec<usize> = senders.collect();
        self.run_all(senders, next, |_, _| horizon.min(until));
        // A recording cannot be heard before it begins, nor other motes beyond where they have run.
        let recorded = self.scheduled.first_key_value();
        let until = recorded.map_or(until, |(&(begin, _), _)| begin.min(until));
        let mut reaches = self.reaches.iter();
        let (first, second) = match self.rules.ahead {
            Ahead::Full => (reaches.next(), reaches.next()),
            Ahead::Part(_) => (None, None),
        };
        let (horizon, alone) = first.map_or((horizon, usize::MAX), |&(reach, n)| (reach, n));
        let beyond = second.map_or(Picoseconds::NEVER, |&(reach, _)| reach);
        let limit = |number: usize, seat: &Seat<M>| {
            // The first mote need not wait for its own actions.
            let horizon = if number == alone { beyond } else { horizon };
            seat.limit(horizon).min(until)
        };
        let others = self.due(horizon.max(Picoseconds(next.0 + 1))).into_iter();
        let others = others.filter(|&number| {
            let seat = &self.seats[number];
            // Without individual horizons, all motes run.
            first.is_none() || seat.next == next || limit(number, seat) > seat.next
        });
        let others: Vec<usize> = others.collect();
        let others = others
            .into_iter()
            .filter(|&n| !self.is_sending(n))
            .collect();
        self.run_all(others, next, limit);
        self.close();
    }

    /// The motes that act before a time.
    fn due(&self, horizon: Picoseconds) -> Vec<usize> {
        match self.rules.ahead {
            Ahead::Full => {
                let due = self.queue.range(..(horizon, 0));
                due.map(|&(_, number)| number).collect()
            }
            Ahead::Part(_) => (0..self.seats.len()).collect(),
        }
    }

    /// Run each mote up to its limit; motes at `next` run on regardless of their limits.
    fn run_all(
        &mut self,
        mut numbers: Vec<usize>,
        next: Picoseconds,
        limit: impl Fn(usize, &Seat<M>) -> Picoseconds + Sync,
    ) {
        numbers.sort_unstable();
        for &number in &numbers {
            self.catch_up(number);
        }
        let run = |number: usize, seat: &mut Seat<M>| {
            seat.run(limit(number, seat), seat.next == next);
        };
        let span = |&number: &usize| {
            let seat = &self.seats[number];
            limit(number, seat).0.saturating_sub(seat.next.0)
        };
        let spans = numbers.iter().map(span);
        if numbers.len() > 1
            && rayon::current_num_threads() > 1
            && spans.fold(0, u64::saturating_add) > WORTHWHILE
        {
            let mut seats = Vec::with_capacity(numbers.len());
            let (mut rest, mut passed) = (&mut self.seats[..], 0);
            for &number in &numbers {
                let (before, after) = rest.split_at_mut(number - passed + 1);
                seats.extend(before.last_mut().map(|seat| (number, seat)));
                (rest, passed) = (after, number + 1);
            }
            seats
                .into_par_iter()
                .for_each(|(number, seat)| run(number, seat));
        } else {
            for &number in &numbers {
                run(number, &mut self.seats[number]);
            }
        }
        self.merge(&numbers);
    }

    /// Take over the actions of motes, in order of their numbers.
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
                    let byte = clock.global_span(start.phy.byte, start.begin);
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

    /// A mote's announced or ongoing transmission.
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
            mote: seat.number,
            number: count,
            start,
            byte,
            bytes: Arc::default(),
            end: Picoseconds::NEVER,
            hearings: seat
                .ways
                .iter()
                .map(|way| Hearing {
                    mote: way.link.to,
                    power_dbm: start.power_dbm - way.link.attenuation_db,
                    outcome: None,
                })
                .filter(|hearing| hearing.power_dbm >= NOTICEABLE_DBM)
                .collect(),
        }
    }

    /// Register a transmission.
    fn open(&mut self, transmission: Transmission) {
        let id = transmission.id();
        let hearers = transmission.hearings.iter();
        let unknown = hearers.filter(|hearing| self.seats[self.places[&hearing.mote]].has_antenna);
        let unknown = unknown.count();
        if unknown == 0 {
            self.settled.insert(id);
        }
        self.open.insert(
            id,
            Open {
                transmission,
                unknown,
                told: Vec::new(),
                is_taken: false,
            },
        );
    }

    /// Begin a mote's transmission; no one is told yet.
    fn begin(&mut self, number: usize, start: Start, byte: Picoseconds) {
        let transmission = self.transmission(number, start, byte);
        self.seats[number].sending = Some(transmission.id());
        self.open(transmission);
    }

    /// Tell a mote's hearers of its transmission.
    fn flush(&mut self, number: usize, is_new: bool, changed: bool) {
        if let Some(transmission) = self.sending(number).map(|t| t.clone())
            && changed
        {
            self.send_on(&transmission, is_new);
        }
    }

    /// Tell a transmission's hearers that it begins, or what has changed.
    fn send_on(&mut self, transmission: &Transmission, is_new: bool) {
        let id = transmission.id();
        if !is_new {
            let told = self.open.get(&id).map(|open| open.told.clone());
            for number in told.unwrap_or_default() {
                let end = self.seats[number].clock.local(transmission.end);
                self.tell(number, |antenna| {
                    antenna.amend(id, &transmission.bytes, end);
                });
                self.requeue(number);
            }
            return;
        }
        let from = self.places[&transmission.mote];
        let ways = std::mem::take(&mut self.seats[from].ways);
        let mut hearings = transmission.hearings.iter().enumerate().peekable();
        for way in &ways {
            let hearing = hearings.next_if(|(_, hearing)| hearing.mote == way.link.to);
            let Some((place, _)) = hearing else {
                continue;
            };
            let seat = &mut self.seats[way.to];
            if !seat.has_antenna {
                continue;
            }
            if seat.is_deaf {
                seat.missed.push((id, place));
                if seat.missed.len() > CROWDED {
                    self.catch_up(way.to);
                }
            } else {
                self.announce(transmission, way);
                self.requeue(way.to);
            }
        }
        self.seats[from].ways = ways;
    }

    /// Tell a mote that a transmission begins or has begun.
    fn announce(&mut self, transmission: &Transmission, way: &Way) {
        let id = transmission.id();
        let seat = &mut self.seats[way.to];
        let clock = seat.clock;
        let begin = clock.local(transmission.start.begin);
        // A sender runs to the end of its instruction, and hears nothing meanwhile.
        if begin + seat.mote.longest_step() < seat.mote.time() {
            self.late += 1;
        }
        let seed = draw(self.rules.seed, id, seat.number as u64);
        let arrival = Arrival {
            id,
            start: Start {
                begin,
                delimiter: clock.local(transmission.start.delimiter),
                power_dbm: transmission.start.power_dbm - way.link.attenuation_db,
                ..transmission.start
            },
            byte: clock.local_span(transmission.byte, begin),
            bytes: Arc::clone(&transmission.bytes),
            end: clock.local(transmission.end),
            is_lost: f64::from((seed >> 32) as u32) < way.link.loss * 4_294_967_296.0,
            seed,
        };
        if let Some(open) = self.open.get_mut(&id) {
            open.told.push(way.to);
        }
        self.tell(way.to, |antenna| antenna.arrive(arrival.clone()));
    }

    /// Use the antenna of a mote that hears something, and let it forget old transmissions.
    fn tell(&mut self, number: usize, act: impl Fn(&mut Antenna)) {
        let seat = &mut self.seats[number];
        let now = seat.mote.time();
        seat.unsettled += 1;
        let is_crowded = seat.unsettled > CROWDED;
        let mut outcomes = Vec::new();
        seat.mote.with_antenna(&mut |antenna| {
            if is_crowded {
                outcomes = antenna.take_outcomes(now);
            }
            act(antenna);
        });
        if is_crowded {
            seat.unsettled = 0;
            for (id, outcome) in outcomes {
                self.note(number, id, outcome);
            }
        }
    }

    /// Tell a mote of transmissions that began while its radio was off, except those that it can
    /// only have missed.
    fn catch_up(&mut self, number: usize) {
        let seat = &mut self.seats[number];
        if seat.missed.is_empty() {
            return;
        }
        let missed = std::mem::take(&mut seat.missed);
        // It has been deaf since it last ran, and stays so until something is due or comes from
        // outside.
        let (from, to) = (seat.time(), seat.next.min(self.until));
        for (id, place) in missed {
            let Some(open) = self.open.get_mut(&id) else {
                continue;
            };
            let transmission = &open.transmission;
            let sender = &self.seats[self.places[&transmission.mote]];
            let start = transmission.start;
            let remembered = transmission.end.0.saturating_add(MEMORY.0 + DOUBT.0);
            if start.begin >= from && remembered < to.0 {
                if open.note(place, Outcome::Deaf) {
                    self.settled.insert(id);
                }
                continue;
            }
            let to = self.seats[number].number;
            let Ok(place) = sender.ways.binary_search_by_key(&to, |way| way.link.to) else {
                continue;
            };
            let way = sender.ways[place];
            let transmission = transmission.clone();
            self.announce(&transmission, &way);
        }
    }

    /// End the carrier of a mote that stops.
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
        let mote = self.seats[number].number;
        let hearings = &open.transmission.hearings;
        if let Ok(place) = hearings.binary_search_by_key(&mote, |hearing| hearing.mote)
            && open.note(place, outcome)
        {
            self.settled.insert(id);
        }
    }

    fn is_sending(&mut self, number: usize) -> bool {
        let end = self.sending(number).map(|transmission| transmission.end);
        end.is_some_and(|end| end > self.seats[number].time())
    }

    /// Update the queues, because a mote's next event may have changed.
    pub fn requeue(&mut self, number: usize) {
        let is_sending = self.is_sending(number);
        let seat = &mut self.seats[number];
        let next = seat.next_event();
        let span = if is_sending { 0 } else { seat.look_ahead().0 };
        let reach = Picoseconds(next.0.saturating_add(span));
        if (next, reach) != (seat.next, seat.reach) {
            self.queue.remove(&(seat.next, number));
            self.reaches.remove(&(seat.reach, number));
            (seat.next, seat.reach) = (next, reach);
            if next != Picoseconds::NEVER {
                self.queue.insert((next, number));
                self.reaches.insert((reach, number));
            }
        }
    }

    /// Close transmissions that are over and whose outcome is known everywhere.
    fn close(&mut self) {
        let (open, seats, places) = (&mut self.open, &mut self.seats, &self.places);
        self.settled.retain(|id| {
            let transmission = &open[id].transmission;
            let seat = &mut seats[places[&transmission.mote]];
            if transmission.end >= seat.time() {
                return true;
            }
            if seat.sending == Some(*id) {
                seat.sending = None;
            }
            let over = open.remove(id).filter(|open| !open.is_taken);
            self.closed.extend(over.map(|open| open.transmission));
            false
        });
    }

    /// The start of the first transmission that is not over or whose outcome is not known
    /// everywhere.
    pub fn first_open(&self) -> Option<(Picoseconds, usize)> {
        let open = self.open.values().filter(|open| !open.is_taken);
        open.map(|open| open.transmission.order()).min()
    }

    /// Take all open transmissions as they are. They continue, but are not taken again.
    pub fn take_open(&mut self) -> impl Iterator<Item = Transmission> {
        let open = self.open.values_mut().filter(|open| !open.is_taken);
        open.map(|open| {
            open.is_taken = true;
            open.transmission.clone()
        })
    }
}

/// A pseudo-random number determined by these values (`SplitMix64`'s finalizer over each in turn).
///
/// The seed goes first and alone: of a seed that is only combined with what follows it, neighbouring
/// seeds would lose the same numbers of frames, in another order.
fn draw(seed: u64, id: u64, number: u64) -> u64 {
    [seed, id, number].into_iter().fold(0, |state: u64, word| {
        let mut x = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::draw;

    #[test]
    fn neighbouring_seeds_lose_different_numbers_of_frames() {
        let lost = |seed| {
            (0..64)
                .map(|id| u32::from(draw(seed, id, 1) >> 62 == 0))
                .sum()
        };
        let counts: Vec<u32> = (0..64).map(lost).collect();
        let mean = f64::from(counts.iter().sum::<u32>()) / 64.0;
        let squares = counts.iter().map(|&n| (f64::from(n) - mean).powi(2));
        let variance = squares.sum::<f64>() / 63.0;
        // Of 64 frames a quarter: 16, with a variance of 12.
        assert!((15.0..17.0).contains(&mean), "{mean}");
        assert!((6.0..20.0).contains(&variance), "{variance}");
        assert!(counts.iter().collect::<BTreeSet<_>>().len() > 6);
    }
}
