//! What happened outside the program's sight: pin edges, power states, and the VCD of both.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::time::Picoseconds;

/// A change of the marker pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkerEdge {
    /// Whether the pin went high.
    pub rising: bool,
    /// The core's cycle counter.
    pub cycles: u64,
    /// Instructions executed, the one that changed the pin included.
    pub instructions: u64,
    /// When.
    pub time: Picoseconds,
}

/// A stretch of time in one power state at one core clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerInterval {
    /// The chip file's name for it.
    pub state: &'static str,
    /// The core's clock, whether it is stopped in this state or not.
    pub clock_hz: u32,
    /// Its start.
    pub start: Picoseconds,
    /// Its end.
    pub end: Picoseconds,
}

/// Power states over time: the intervals that have ended, and the one that lasts.
#[derive(Clone, Debug)]
pub struct PowerTrace {
    ended: Vec<PowerInterval>,
    state: &'static str,
    clock_hz: u32,
    start: Picoseconds,
}

impl PowerTrace {
    /// From time 0, in a state at a clock.
    #[must_use]
    pub const fn new(state: &'static str, clock_hz: u32) -> Self {
        Self {
            ended: Vec::new(),
            state,
            clock_hz,
            start: Picoseconds(0),
        }
    }

    /// The state and the clock as they are now: where they changed, an interval ends.
    pub fn note(&mut self, state: &'static str, clock_hz: u32, now: impl FnOnce() -> Picoseconds) {
        if (state, clock_hz) != (self.state, self.clock_hz) {
            let now = now();
            self.ended.extend(self.lasting(now));
            (self.state, self.clock_hz, self.start) = (state, clock_hz, now);
        }
    }

    /// All intervals, the one that lasts cut at `now`.
    #[must_use]
    pub fn until(&self, now: Picoseconds) -> Vec<PowerInterval> {
        self.ended
            .iter()
            .cloned()
            .chain(self.lasting(now))
            .collect()
    }

    /// Forget what was kept; what lasts is counted from `now`.
    pub fn restart(&mut self, now: Picoseconds) {
        self.ended.clear();
        self.start = now;
    }

    fn lasting(&self, end: Picoseconds) -> Option<PowerInterval> {
        (end > self.start).then_some(PowerInterval {
            state: self.state,
            clock_hz: self.clock_hz,
            start: self.start,
            end,
        })
    }
}

/// A change of a pin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinEdge {
    /// Such as `P2.3`.
    pub pin: &'static str,
    /// Whether it went high.
    pub high: bool,
    /// When.
    pub time: Picoseconds,
}

enum Change<'a> {
    Pin(&'a PinEdge),
    Interval(&'a PowerInterval),
}

/// Write pin edges and power states as a value change dump (IEEE 1364, section 18).
///
/// Power states are strings (a GTKWave extension that PulseView and GTKWave both show) and
/// the clock is a 32-bit vector.
///
/// # Errors
/// Writing fails.
pub fn write_vcd(
    output: impl Write,
    chip: &str,
    pins: &[PinEdge],
    intervals: &[PowerInterval],
) -> io::Result<()> {
    let mut vcd = vcd::Writer::new(output);
    vcd.timescale(1, vcd::TimescaleUnit::PS)?;
    vcd.add_module(chip)?;
    let mut wires = BTreeMap::new();
    for edge in pins {
        if !wires.contains_key(edge.pin) {
            // VCD names may not hold a dot, which separates scopes.
            wires.insert(edge.pin, vcd.add_wire(1, &edge.pin.replace('.', "_"))?);
        }
    }
    let state = vcd.add_var(vcd::VarType::String, 1, "power_state", None)?;
    let clock = vcd.add_wire(32, "clock_hz")?;
    vcd.upscope()?;
    vcd.enddefinitions()?;
    // A pin was at the other level before its first edge.
    let begin = intervals
        .first()
        .map_or(Picoseconds(0), |interval| interval.start);
    vcd.timestamp(begin.0)?;
    vcd.begin(vcd::SimulationCommand::Dumpvars)?;
    for (pin, &wire) in &wires {
        let first = pins.iter().find(|edge| edge.pin == *pin);
        vcd.change_scalar(wire, first.is_some_and(|edge| !edge.high))?;
    }
    vcd.end()?;
    let mut changes: Vec<(Picoseconds, Change<'_>)> = pins
        .iter()
        .map(|edge| (edge.time, Change::Pin(edge)))
        .chain(intervals.iter().map(|i| (i.start, Change::Interval(i))))
        .collect();
    changes.sort_by_key(|&(time, _)| time);
    let mut now = Some(begin);
    for (time, change) in changes {
        if now != Some(time) {
            vcd.timestamp(time.0)?;
            now = Some(time);
        }
        match change {
            Change::Pin(edge) => vcd.change_scalar(wires[edge.pin], edge.high)?,
            Change::Interval(interval) => {
                vcd.change_string(state, interval.state)?;
                let bits = (0..32)
                    .rev()
                    .map(|bit| vcd::Value::from(interval.clock_hz >> bit & 1 != 0));
                vcd.change_vector(clock, bits)?;
            }
        }
    }
    if let Some(last) = intervals.last()
        && now != Some(last.end)
    {
        vcd.timestamp(last.end.0)?;
    }
    vcd.flush()
}
