//! Going back: a machine is deterministic, so an earlier state is that of a new one which is run up
//! to there, with the same changes from outside at the same points.

use joulemark_machine::{Error, Machine, Reason, Until};

/// Cycles within which the instruction before a point is looked for first.
const NEAR_CYCLES: u64 = 4096;

/// A point of a run, between two instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Cycles since the start.
    pub cycles: u64,
    /// Instructions since then: some take no cycle.
    pub instructions: u64,
    /// The address of the next one.
    pub pc: u32,
}

impl Position {
    /// Where a machine is.
    pub fn of(machine: &Machine) -> Self {
        Self {
            cycles: machine.cycles(),
            instructions: machine.instructions(),
            pc: machine.program_counter(),
        }
    }
}

/// A change of a machine from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Bytes were written from an address on.
    Memory(u32, Vec<u8>),
    /// A register was set.
    Register(String, u32),
    /// Bytes were sent to a serial port.
    Serial(String, Vec<u8>),
    /// An input pin was driven.
    Pin(String, bool),
}

impl Change {
    fn apply(&self, machine: &mut Machine) -> Result<(), Error> {
        match self {
            Self::Memory(address, data) => machine.write_memory(*address, data),
            Self::Register(name, value) => machine.set_register(name, *value),
            Self::Serial(port, data) => machine.serial_write(port, data),
            Self::Pin(pin, high) => machine.set_pin(pin, *high),
        }
    }
}

/// What is needed to run a machine again.
pub struct Past<'a> {
    /// Make the machine as it was at its start.
    pub make: Box<dyn FnMut() -> Result<Machine, Error> + 'a>,
    /// Changes since then, in the order of time.
    pub changes: Vec<(Position, Change)>,
    /// Why it cannot be run again; `None` if it can.
    pub obstacle: Option<&'static str>,
}

/// Where a run that is looked through stops, and the watched range that changed there.
pub type Found = (Position, Option<u32>);

impl Past<'_> {
    /// Note a change.
    pub fn note(&mut self, machine: &Machine, change: Change) {
        self.changes.push((Position::of(machine), change));
    }

    fn again(&mut self) -> Result<Machine, Error> {
        self.obstacle.map_or_else(
            || (self.make)(),
            |why| Err(Error::Argument(format!("cannot go back: {why}"))),
        )
    }

    /// Return a machine at an earlier point. What was changed later is forgotten.
    ///
    /// # Errors
    /// The machine cannot be run again.
    pub fn at(&mut self, to: Position) -> Result<Machine, Error> {
        let mut machine = self.again()?;
        self.changes.retain(|(at, _)| *at <= to);
        for (at, change) in &self.changes {
            run_to(&mut machine, *at)?;
            change.apply(&mut machine)?;
        }
        run_to(&mut machine, to)?;
        Ok(machine)
    }

    /// Return the points between instructions shortly before a point, oldest first; the last one is
    /// that of the instruction before. Empty if the machine started at the point.
    ///
    /// # Errors
    /// The machine cannot be run again.
    pub fn before(&mut self, to: Position) -> Result<Vec<Position>, Error> {
        let mut near = NEAR_CYCLES;
        loop {
            let from = to.cycles.saturating_sub(near);
            let mut found = Vec::new();
            self.walk(to, from, &mut |_, at| {
                // Of a core that sleeps, the point at which it fell asleep is kept.
                if at.instructions < to.instructions
                    && found
                        .last()
                        .is_none_or(|last: &Position| last.instructions < at.instructions)
                {
                    found.push(at);
                }
            })?;
            // The first point may be in the middle of a sleep.
            if found.len() > 1 || from == 0 {
                return Ok(found);
            }
            near = near.saturating_mul(64);
        }
    }

    /// Return the last point before another one that has one of these addresses.
    ///
    /// # Errors
    /// The machine cannot be run again.
    pub fn last_at(&mut self, to: Position, addresses: &[u32]) -> Result<Option<Found>, Error> {
        let mut machine = self.again()?;
        machine.watch(addresses)?;
        let mut found = None;
        let changes = self.changes.clone();
        for (at, change) in changes
            .iter()
            .map(|(at, c)| (*at, Some(c)))
            .chain([(to, None)])
        {
            while machine.cycles() < at.cycles.min(to.cycles) {
                let before = machine.cycles();
                let stop = machine.run(Until {
                    asleep: true,
                    max_cycles: Some(at.cycles.min(to.cycles) - before),
                    ..Until::default()
                })?;
                let here = Position::of(&machine);
                if stop.reason == Reason::Address {
                    found = if here < to { Some((here, None)) } else { found };
                } else if machine.cycles() == before {
                    break;
                }
            }
            if let Some(change) = change.filter(|_| at <= to) {
                change.apply(&mut machine)?;
            }
        }
        Ok(found)
    }

    /// Return the last point before another one that has one of these addresses, or after which one
    /// of these ranges changes.
    ///
    /// # Errors
    /// The machine cannot be run again.
    pub fn last_change(
        &mut self,
        to: Position,
        addresses: &[u32],
        ranges: &[(u32, usize)],
    ) -> Result<Option<Found>, Error> {
        let mut found = None;
        let mut last: Option<(Position, Vec<Vec<u8>>)> = None;
        self.walk(to, 0, &mut |machine, at| {
            let read = |(address, length): &(u32, usize)| {
                machine.read_memory(*address, *length).unwrap_or_default()
            };
            let now: Vec<_> = ranges.iter().map(read).collect();
            if let Some((before, held)) = &last
                && let Some(which) = held.iter().zip(&now).position(|(old, new)| old != new)
            {
                found = Some((*before, Some(ranges[which].0)));
            }
            if at < to && addresses.contains(&at.pc) {
                found = Some((at, None));
            }
            last = Some((at, now));
        })?;
        Ok(found)
    }

    /// Visit each point from a cycle up to a point.
    fn walk(
        &mut self,
        to: Position,
        from: u64,
        visit: &mut dyn FnMut(&Machine, Position),
    ) -> Result<(), Error> {
        let mut machine = self.again()?;
        let changes = self.changes.clone();
        let mut changes = changes.iter().filter(|(at, _)| *at <= to).peekable();
        loop {
            let here = Position::of(&machine);
            while let Some((_, change)) = changes.next_if(|(at, _)| *at <= here) {
                change.apply(&mut machine)?;
            }
            if here.cycles >= from {
                visit(&machine, here);
            }
            if here >= to {
                return Ok(());
            }
            let next = changes.peek().map_or(from, |(at, _)| at.cycles.min(from));
            let stop = machine.run(Until {
                asleep: true,
                max_cycles: Some(next.saturating_sub(here.cycles).max(1)),
                ..Until::default()
            })?;
            if machine.cycles() == here.cycles && stop.reason != Reason::Address {
                return Ok(());
            }
        }
    }
}

/// Run a machine on to a point.
fn run_to(machine: &mut Machine, to: Position) -> Result<(), Error> {
    while machine.cycles() < to.cycles {
        let before = machine.cycles();
        machine.run(Until {
            asleep: true,
            max_cycles: Some(to.cycles - before),
            ..Until::default()
        })?;
        if machine.cycles() == before {
            break;
        }
    }
    // An instruction that takes no cycle may end there, too.
    if machine.instructions() < to.instructions {
        machine.run(Until {
            address: Some(to.pc),
            max_cycles: Some(1),
            ..Until::default()
        })?;
    }
    Ok(())
}
