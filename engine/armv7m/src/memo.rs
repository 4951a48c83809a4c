//! The pipeline as the core uses it: what was simulated once is looked up the next time.
//!
//! An instruction that is issued in a state of the pipeline, with the same facts about it, always takes
//! as long and leads to the same next state, as long as the accesses to buffered and cached lines cost
//! the same; those are asked again each time, in the same order. So a loop is simulated a few times and
//! then only counted.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::bus::{MemorySettings, Width};
use crate::buses::{QUERIES, Query};
use crate::decode::Kind;
use crate::memory::{Entry, Memory, Region};
use crate::pipeline::{Issue, Simulation, State};
use crate::system::Events;

/// Everything that the way of an instruction through the pipeline depends on, besides memory.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    from: u32,
    pc: u32,
    target: u32,
    address: u32,
    bits: u32,
}

impl Key {
    const NONE: Self = Self {
        from: NO_STATE,
        pc: 0,
        target: 0,
        address: 0,
        bits: 0,
    };

    fn slot(&self) -> usize {
        let mix = |hash: u64, value: u32| {
            (hash ^ u64::from(value))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(23)
        };
        let hash = mix(
            mix(
                mix(u64::from(self.from) << 32 | u64::from(self.pc), self.target),
                self.address,
            ),
            self.bits,
        );
        ((hash >> 40) as usize & (SETS - 1)) * WAYS
    }
}

/// What becomes of it.
#[derive(Clone, Copy)]
struct Transition {
    key: Key,
    to: u32,
    cycles: u16,
    cpi: u16,
    lsu: u16,
    folds: bool,
    asks: u8,
    queries: [Query; QUERIES],
}

const SETS: usize = 1 << 13;
/// Outcomes of the same instruction that are kept, such as a hit and a miss.
const WAYS: usize = 4;
const STATES: usize = 1 << 16;
const NO_STATE: u32 = u32::MAX;

#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u16(&mut self, value: u16) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ value)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// The pipeline and its clock.
pub struct Pipeline {
    simulation: Simulation,
    /// The number of the state, `NO_STATE` where it has none yet.
    state: u32,
    /// The simulation is in that state; otherwise it has to be put there first.
    fresh: bool,
    /// The IT instruction that comes next is done already.
    it_is_folded: bool,
    /// What memory answered to the instruction that is being looked up.
    answers: [Query; QUERIES],
    known: usize,
    states: Vec<State>,
    numbers: HashMap<State, u32, BuildHasherDefault<Mixer>>,
    transitions: Vec<Transition>,
    /// The way that is written next where a set is full.
    victim: u8,
    code_version: u64,
}

impl Pipeline {
    pub fn new(regions: &[Region], first_revision: bool) -> Self {
        let empty = Transition {
            key: Key::NONE,
            to: NO_STATE,
            cycles: 0,
            cpi: 0,
            lsu: 0,
            folds: false,
            asks: 0,
            queries: [Query::default(); QUERIES],
        };
        Self {
            simulation: Simulation::new(regions, first_revision),
            state: NO_STATE,
            fresh: true,
            it_is_folded: false,
            answers: [Query::default(); QUERIES],
            known: 0,
            states: Vec::new(),
            numbers: HashMap::default(),
            transitions: vec![empty; SETS * WAYS],
            victim: 0,
            code_version: 0,
        }
    }

    pub fn set_memory(&mut self, settings: MemorySettings) {
        if self.simulation.memory.set(settings) {
            self.forget();
        }
    }

    pub fn set_write_buffer(&mut self, on: bool) {
        if self.simulation.memory.write_buffer != on {
            self.simulation.memory.write_buffer = on;
            self.forget();
        }
    }

    pub fn set_folding(&mut self, on: bool) {
        if self.simulation.folding != on {
            self.simulation.folding = on;
            self.forget();
        }
    }

    pub fn cache_on(&self) -> bool {
        self.simulation.memory.settings.cache
    }

    pub fn now(&self) -> u64 {
        self.simulation.now
    }

    pub fn pass_time(&mut self, cycles: u64) {
        self.simulation.now += cycles;
    }

    /// Empty the pipeline and fetch from `pc` after `wait` cycles.
    pub fn restart(&mut self, pc: u32, wait: u64) {
        self.simulation.now += wait;
        self.simulation.state = State::at(pc, self.simulation.first_revision);
        self.state = NO_STATE;
        self.fresh = true;
        self.it_is_folded = false;
    }

    /// When the load or store that was issued last has its data on the bus, and the events before.
    pub fn access(&mut self, memory: &Memory) -> (u64, Events) {
        self.put_in_state();
        self.simulation.access(memory)
    }

    fn put_in_state(&mut self) {
        if !self.fresh {
            self.simulation.state = self.states[self.state as usize];
            self.fresh = true;
        }
    }

    /// What was found out does not hold any more.
    #[cold]
    fn forget(&mut self) {
        self.put_in_state();
        self.state = NO_STATE;
        self.states.clear();
        self.numbers.clear();
        for transition in &mut self.transitions {
            transition.key = Key::NONE;
        }
    }

    fn number(&mut self) -> u32 {
        let state = &self.simulation.state;
        if let Some(&number) = self.numbers.get(state) {
            return number;
        }
        if self.states.len() == STATES {
            self.forget();
        }
        let number = self.states.len() as u32;
        self.states.push(self.simulation.state);
        self.numbers.insert(self.simulation.state, number);
        number
    }

    /// Let time pass until this instruction enters execute.
    #[inline]
    pub fn issue(&mut self, entry: &Entry, mut issue: Issue, memory: &Memory) {
        if self.it_is_folded {
            self.it_is_folded = false;
            if entry.op.kind == Kind::It {
                return;
            }
        }
        if memory.code_version != self.code_version {
            self.code_version = memory.code_version;
            self.forget();
        }
        let address = issue.address;
        let is_lsu = entry.traits.is_lsu();
        if is_lsu {
            issue.address = self.simulation.memory.representative(address);
        }
        let width = match issue.width {
            Width::Byte => 0,
            Width::Half => 1,
            Width::Word => 2,
        };
        let key = Key {
            from: self.state,
            pc: issue.pc,
            target: issue.target,
            address: issue.address,
            bits: u32::from(issue.taken)
                | u32::from(issue.skipped) << 1
                | u32::from(issue.in_it) << 2
                | width << 3
                | u32::from(issue.cycles) << 8,
        };
        if !self.look_up(key) {
            self.simulate(entry, &issue, memory, key);
        }
        if is_lsu {
            self.simulation.memory.enters(address, issue.address);
        }
    }

    /// Go where the instruction went before. False, with the answers of memory so far in
    /// `self.answers`, where it went nowhere so.
    #[inline]
    fn look_up(&mut self, key: Key) -> bool {
        self.known = 0;
        if key.from == NO_STATE {
            return false;
        }
        let first = key.slot();
        let now = self.simulation.now;
        for found in &self.transitions[first..first + WAYS] {
            if found.key != key {
                continue;
            }
            let asks = found.asks as usize;
            let same =
                self.known <= asks && found.queries[..self.known] == self.answers[..self.known];
            if !same {
                continue;
            }
            while self.known < asks {
                let mut query = found.queries[self.known];
                query.wait = self.simulation.memory.ask(query, now);
                self.answers[self.known] = query;
                self.known += 1;
                if query != found.queries[self.known - 1] {
                    break;
                }
            }
            if found.queries[..self.known] == self.answers[..self.known] && self.known == asks {
                self.simulation.now += u64::from(found.cycles);
                self.simulation.events.cpi += u64::from(found.cpi);
                self.simulation.events.lsu += u64::from(found.lsu);
                self.simulation.events.fold += u64::from(found.folds);
                self.it_is_folded = found.folds;
                self.state = found.to;
                self.fresh = false;
                return true;
            }
        }
        false
    }

    #[cold]
    fn simulate(&mut self, entry: &Entry, issue: &Issue, memory: &Memory, mut key: Key) {
        self.put_in_state();
        if self.state == NO_STATE {
            key.from = self.number();
        }
        let (now, events) = (self.simulation.now, self.simulation.events);
        self.simulation
            .memory
            .begin(now, &self.answers[..self.known]);
        let folds = self.simulation.issue(entry, issue, memory);
        self.it_is_folded = folds;
        let states_before = self.states.len();
        self.state = self.number();
        let forgotten = self.states.len() < states_before;
        let log = &self.simulation.memory.log;
        let cycles = self.simulation.now - now;
        if log.len() > QUERIES || cycles > 255 || forgotten {
            return;
        }
        let mut queries = [Query::default(); QUERIES];
        queries[..log.len()].copy_from_slice(log);
        let first = key.slot();
        let set = &mut self.transitions[first..first + WAYS];
        let way = set
            .iter()
            .position(|transition| transition.key == Key::NONE)
            .unwrap_or_else(|| {
                self.victim = (self.victim + 1) % WAYS as u8;
                usize::from(self.victim)
            });
        set[way] = Transition {
            key,
            to: self.state,
            cycles: cycles as u16,
            cpi: (self.simulation.events.cpi - events.cpi) as u16,
            lsu: (self.simulation.events.lsu - events.lsu) as u16,
            folds,
            asks: log.len() as u8,
            queries,
        };
    }
}
