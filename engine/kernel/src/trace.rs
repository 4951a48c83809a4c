//! Events outside the program: pin edges and power states, and their VCD dump.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::time::Picoseconds;

/// A change of the marker pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkerEdge {
    /// Whether the pin rose.
    pub rising: bool,
    /// The core's cycle counter.
    pub cycles: u64,
    /// Instructions executed, including the one that changed the pin.
    pub instructions: u64,
    /// Time of the edge.
    pub time: Picoseconds,
}

/// An interval in one power state at one clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerInterval {
    /// The state's name in the chip or the device.
    pub state: &'static str,
    /// The core's clock, whether or not this state stops it; 0 for a device.
    pub clock_hz: u32,
    /// Its start.
    pub start: Picoseconds,
    /// Its end.
    pub end: Picoseconds,
}

/// The power states over time of one part of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerTrack {
    /// `mcu`, or the device's name on its board.
    pub part: String,
    /// Consecutive, without gaps.
    pub intervals: Vec<PowerInterval>,
}

/// Power states over time: completed intervals, and the current state.
#[derive(Clone, Debug)]
pub struct PowerTrace {
    ended: Vec<PowerInterval>,
    state: &'static str,
    clock_hz: u32,
    start: Picoseconds,
}

impl PowerTrace {
    /// Start at time 0 in a state at a clock.
    #[must_use]
    pub const fn new(state: &'static str, clock_hz: u32) -> Self {
        Self {
            ended: Vec::new(),
            state,
            clock_hz,
            start: Picoseconds(0),
        }
    }

    /// Note the current state and clock, and end an interval if they changed.
    pub fn note(&mut self, state: &'static str, clock_hz: u32, now: impl FnOnce() -> Picoseconds) {
        if (state, clock_hz) != (self.state, self.clock_hz) {
            let now = now();
            self.ended.extend(self.lasting(now));
            (self.state, self.clock_hz, self.start) = (state, clock_hz, now);
        }
    }

    /// Return all intervals, the current one cut at `now`.
    #[must_use]
    pub fn until(&self, now: Picoseconds) -> Vec<PowerInterval> {
        self.ended
            .iter()
            .cloned()
            .chain(self.lasting(now))
            .collect()
    }

    /// The current state and clock.
    #[must_use]
    pub const fn state(&self) -> (&'static str, u32) {
        (self.state, self.clock_hz)
    }

    /// Discard the completed intervals; the current one starts at `now`.
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
    /// The pin's name, such as `P2.3`.
    pub pin: &'static str,
    /// Whether the pin went high.
    pub high: bool,
    /// Time of the edge.
    pub time: Picoseconds,
}

enum Change<'a> {
    Pin(&'a PinEdge),
    Interval(usize, &'a PowerInterval),
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
    tracks: &[PowerTrack],
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
    let mut states = Vec::new();
    for track in tracks {
        let name = format!("{}_state", track.part.replace('.', "_"));
        states.push(vcd.add_var(vcd::VarType::String, 1, &name, None)?);
    }
    let clock = vcd.add_wire(32, "clock_hz")?;
    vcd.upscope()?;
    vcd.enddefinitions()?;
    // A pin was at the other level before its first edge.
    let intervals = || {
        let tracks = tracks.iter().enumerate();
        tracks.flat_map(|(track, t)| t.intervals.iter().map(move |i| (track, i)))
    };
    let begin = intervals()
        .next()
        .map_or(Picoseconds(0), |(_, interval)| interval.start);
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
        .chain(intervals().map(|(track, i)| (i.start, Change::Interval(track, i))))
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
            Change::Interval(track, interval) => {
                vcd.change_string(states[track], interval.state)?;
                if interval.clock_hz == 0 {
                    continue;
                }
                let bits = (0..32)
                    .rev()
                    .map(|bit| vcd::Value::from(interval.clock_hz >> bit & 1 != 0));
                vcd.change_vector(clock, bits)?;
            }
        }
    }
    if let Some(end) = intervals().map(|(_, interval)| interval.end).max()
        && now != Some(end)
    {
        vcd.timestamp(end.0)?;
    }
    vcd.flush()
}
