//! Execution in time: the cost of each instruction by its address, and calls in the order of time.

use std::collections::HashMap;

use joulemark_kernel::time::Picoseconds;

/// A part of the board in a power state: its name, the state, the core's clock or 0.
pub type PartState = (String, &'static str, u32);

/// Cost of the executions of one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Cycles of the core's clock; those of sleep where the core slept there.
    pub cycles: u64,
    /// How often it was executed.
    pub instructions: u64,
    /// Time.
    pub time: Picoseconds,
}

/// An instruction in one situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Its address.
    pub address: u32,
    /// The core slept before it.
    pub is_asleep: bool,
    /// Index of the power states of all parts.
    pub states: usize,
}

/// From here on another function ran, or the same in other power states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// When it began; it lasts until the next one.
    pub start: Picoseconds,
    /// Index of the path of calls.
    pub path: usize,
    /// The core slept in it.
    pub is_asleep: bool,
    /// Index of the power states of all parts.
    pub states: usize,
}

/// Execution followed since the last clear.
#[derive(Clone, Debug, Default)]
pub struct Followed {
    /// In the order of addresses.
    pub places: Vec<(Place, Cost)>,
    /// In the order of time.
    pub turns: Vec<Turn>,
    /// When the last turn ended.
    pub end: Picoseconds,
    /// Names, outermost first.
    pub paths: Vec<Vec<String>>,
    /// Power states that all parts were in at once.
    pub states: Vec<Vec<PartState>>,
}

/// Where a machine is.
#[derive(Clone, Copy)]
pub struct Sight {
    pub address: u32,
    pub is_asleep: bool,
    pub node: usize,
    pub cycles: u64,
    pub instructions: u64,
    pub time: Picoseconds,
}

/// Keeps what is followed.
#[derive(Default)]
pub struct Follower {
    places: HashMap<Place, Cost>,
    turns: Vec<Turn>,
    states: Vec<Vec<PartState>>,
    current: usize,
    end: Picoseconds,
}

impl Follower {
    /// From a time on.
    pub fn new(begin: Picoseconds) -> Self {
        Self {
            end: begin,
            ..Self::default()
        }
    }

    /// The power states of all parts, before an instruction.
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

    /// The machine went from one instruction to the next.
    pub fn went(&mut self, from: &Sight, to: &Sight) {
        let place = Place {
            address: from.address,
            is_asleep: from.is_asleep,
            states: self.current,
        };
        let cost = self.places.entry(place).or_default();
        cost.cycles += to.cycles - from.cycles;
        cost.instructions += to.instructions - from.instructions;
        // A clock that changes changes it a little earlier than the instruction is over: what is
        // counted begins where it ended, so that all of it adds up.
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

    /// The kept execution, with the names of paths.
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
        }
    }
}
