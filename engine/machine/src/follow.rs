//! Execution over time: each instruction's cost by address, and calls in order of time.

use std::collections::{BTreeSet, HashMap};

use joulemark_kernel::time::Picoseconds;

/// A board part in a power state: its name, the state, and the core's clock or 0.
pub type PartState = (String, &'static str, u32);

/// The cost of all executions of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Cycles of the core's clock; sleep cycles if the core slept there.
    pub cycles: u64,
    /// Number of executions.
    pub instructions: u64,
    /// Time taken.
    pub time: Picoseconds,
}

/// An instruction in one situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The instruction's address.
    pub address: u32,
    /// Whether the core slept before it.
    pub is_asleep: bool,
    /// Index into [`Followed::states`].
    pub states: usize,
}

/// A change to another function, or to other power states in the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The start; a turn lasts until the next one.
    pub start: Picoseconds,
    /// Index into [`Followed::paths`].
    pub path: usize,
    /// Whether the core slept in it.
    pub is_asleep: bool,
    /// Index into [`Followed::states`].
    pub states: usize,
}

/// Execution followed since the last clear.
#[derive(Clone, Debug, Default)]
pub struct Followed {
    /// In order of addresses.
    pub places: Vec<(Place, Cost)>,
    /// In order of time.
    pub turns: Vec<Turn>,
    /// When the last turn ended.
    pub end: Picoseconds,
    /// Call paths: function names, outermost first.
    pub paths: Vec<Vec<String>>,
    /// Combinations of the parts' power states.
    pub states: Vec<Vec<PartState>>,
    /// Values that stack pointers had, ascending. The lowest within a thread's stack says how much
    /// of it was used.
    pub stack_pointers: Vec<u32>,
}

/// A snapshot of a machine's position and counters.
#[derive(Clone, Copy)]
pub struct Sight {
    pub address: u32,
    pub is_asleep: bool,
    pub node: usize,
    pub cycles: u64,
    pub instructions: u64,
    pub time: Picoseconds,
}

/// Records what a machine executes.
#[derive(Default)]
pub struct Follower {
    places: HashMap<Place, Cost>,
    turns: Vec<Turn>,
    states: Vec<Vec<PartState>>,
    current: usize,
    end: Picoseconds,
    stack_pointers: BTreeSet<u32>,
    last_pointers: [u32; 2],
}

impl Follower {
    /// Start recording at a time.
    pub fn new(begin: Picoseconds) -> Self {
        Self {
            end: begin,
            ..Self::default()
        }
    }

    /// Note the power states of all parts before an instruction.
    pub fn states<'a>(
        &mut self,
        now: &(impl Iterator<Item = (&'a str, &'static str, u32)> + Clone),
    ) {
        let is = |states: &Vec<PartState>| {
            let known = states
                .iter()
                .map(|(part, state, hz)| (part.as_str(), *state, *hz));
            let equal = now.clone().zip(known).all(|(one, other)| one == other);
            equal && now.clone().count() == states.len()
        };
        if self.states.get(self.current).is_some_and(is) {
            return;
        }
        self.current = self.states.iter().position(is).unwrap_or_else(|| {
            let states = now
                .clone()
                .map(|(part, state, hz)| (part.to_owned(), state, hz));
            self.states.push(states.collect());
            self.states.len() - 1
        });
    }

    /// Note the stack pointers between two instructions.
    pub fn stacks(&mut self, pointers: [u32; 2]) {
        for (last, now) in self.last_pointers.iter_mut().zip(pointers) {
            if *last != now {
                *last = now;
                self.stack_pointers.insert(now);
            }
        }
    }

    /// Record the step from one instruction to the next.
    pub fn went(&mut self, from: &Sight, to: &Sight) {
        let place = Place {
            address: from.address,
            is_asleep: from.is_asleep,
            states: self.current,
        };
        let cost = self.places.entry(place).or_default();
        cost.cycles += to.cycles - from.cycles;
        cost.instructions += to.instructions - from.instructions;
        // A clock change takes effect slightly before its instruction ends. Each interval starts at
        // the previous one's end, so that all of them add up.
        let start = self.end;
        self.end = start.max(to.time);
        cost.time.0 += self.end.0 - start.0;
        let turn = Turn {
            start,
            path: from.node,
            is_asleep: from.is_asleep,
            states: self.current,
        };
        if self.turns.last().map(|last| Turn {
            start: turn.start,
            ..*last
        }) != Some(turn)
        {
            self.turns.push(turn);
        }
    }

    /// Return the recorded execution, with these call paths.
    pub fn followed(&self, paths: Vec<Vec<String>>) -> Followed {
        let mut places: Vec<_> = self
            .places
            .iter()
            .map(|(place, cost)| (*place, *cost))
            .collect();
        places.sort_by_key(|(place, _)| *place);
        Followed {
            places,
            turns: self.turns.clone(),
            end: self.end,
            paths,
            states: self.states.clone(),
            stack_pointers: self.stack_pointers.iter().copied().collect(),
        }
    }
}
