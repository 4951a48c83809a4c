//! What is around a chip, whatever its family: the lines that leave it, and what is watched of them.

use std::sync::Arc;

use joulemark_kernel::trace::{PinEdge, PowerInterval, PowerTrace};
use joulemark_kernel::{Chip, Cycles, Fault, FaultKind, Picoseconds, Timeline};

use crate::pins::{Pin, PinNames};

/// A change of the marker pin that has not been stamped with instructions.
#[derive(Clone, Copy, Debug)]
pub struct RawEdge {
    pub rising: bool,
    pub cycles: Cycles,
}

/// Pin and power-state changes, where they are kept.
struct Trace {
    pin_edges: Vec<PinEdge>,
    power: PowerTrace,
}

/// What is around a chip.
pub struct Board {
    chip: Arc<Chip>,
    pub pins: PinNames,
    pub ports: &'static [&'static str],
    marker: Option<Pin>,
    marker_edges: Vec<RawEdge>,
    trace: Option<Trace>,
    /// What the program has sent on each serial port and nobody has read.
    sent: Vec<Vec<(u8, Picoseconds)>>,
    awaited: Option<u8>,
    /// The byte that is awaited has been sent, and no run has ended for it.
    is_sent: bool,
    /// The run that is on ends at a time: its end is another cycle when the clock changes.
    pub ends_at_time: bool,
    stop: bool,
}

impl Board {
    /// Around a chip that is in a power state at a clock.
    pub fn new(
        chip: &Arc<Chip>,
        pins: PinNames,
        ports: &'static [&'static str],
        trace: bool,
        state: &'static str,
        clock_hz: u32,
    ) -> Self {
        Self {
            chip: Arc::clone(chip),
            pins,
            ports,
            marker: None,
            marker_edges: Vec::new(),
            trace: trace.then(|| Trace {
                pin_edges: Vec::new(),
                power: PowerTrace::new(state, clock_hz),
            }),
            sent: vec![Vec::new(); ports.len()],
            awaited: None,
            is_sent: false,
            ends_at_time: false,
            stop: false,
        }
    }

    /// What the chip is called.
    pub fn chip_name(&self) -> &str {
        &self.chip.name
    }

    /// Watch the pin that brackets measurements.
    ///
    /// # Errors
    /// No such pin.
    pub fn set_marker(&mut self, name: &str) -> Result<(), String> {
        self.marker = Some(self.pins.parse(name)?);
        Ok(())
    }

    /// A pin has a new level.
    pub fn pin_changed(&mut self, pin: Pin, high: bool, now: Cycles, timeline: &Timeline) {
        if self.marker == Some(pin) {
            self.marker_edges.push(RawEdge {
                rising: high,
                cycles: now,
            });
            self.stop = true;
        }
        if let Some(trace) = &mut self.trace {
            trace.pin_edges.push(PinEdge {
                pin: self.pins.name(pin),
                high,
                time: timeline.at(now),
            });
        }
    }

    /// A byte has gone out on a serial port.
    pub fn byte_sent(&mut self, port: usize, byte: u8, time: Picoseconds) {
        self.sent[port].push((byte, time));
        if self.awaited == Some(byte) {
            self.is_sent = true;
            self.stop = true;
        }
    }

    /// The bytes that have gone out on a serial port since the last call.
    pub fn take_sent(&mut self, port: usize) -> Vec<(u8, Picoseconds)> {
        std::mem::take(&mut self.sent[port])
    }

    /// A serial port by its name, in letters of either case.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn port(&self, name: &str) -> Result<usize, String> {
        let mut ports = self.ports.iter();
        ports
            .position(|port| port.eq_ignore_ascii_case(name))
            .ok_or_else(|| {
                format!(
                    "no serial port '{name}'; there are {}",
                    self.ports.join(", ")
                )
            })
    }

    /// Stop runs when this byte is sent. One that was sent while another condition ended a run
    /// counts, if it is still awaited.
    pub fn await_byte(&mut self, byte: Option<u8>) {
        if self.awaited != byte {
            self.awaited = byte;
            self.is_sent = false;
        }
    }

    /// Whether the byte that is awaited was sent; asking clears it.
    pub fn take_awaited(&mut self) -> bool {
        std::mem::take(&mut self.is_sent)
    }

    /// The power state or the clock may have changed.
    pub fn note_power(&mut self, state: &'static str, now: Cycles, timeline: &Timeline) {
        if let Some(trace) = &mut self.trace {
            let hz = timeline.clock().0;
            trace.power.note(state, hz, || timeline.at(now));
        }
        if self.ends_at_time {
            self.stop = true;
        }
    }

    /// All power intervals, the one that lasts cut at a time.
    pub fn intervals(&self, until: Picoseconds) -> Vec<PowerInterval> {
        let trace = self.trace.as_ref();
        trace.map_or(Vec::new(), |trace| trace.power.until(until))
    }

    /// Changes of the pins.
    pub fn pin_edges(&self) -> &[PinEdge] {
        self.trace.as_ref().map_or(&[], |trace| &trace.pin_edges)
    }

    /// Changes of the marker since the last call.
    pub fn take_marker_edges(&mut self) -> Vec<RawEdge> {
        std::mem::take(&mut self.marker_edges)
    }

    /// Forget what was kept; what lasts is counted from `now`.
    pub fn clear_traces(&mut self, now: Picoseconds) {
        if let Some(trace) = &mut self.trace {
            trace.pin_edges.clear();
            trace.power.restart(now);
        }
    }

    /// The fault for an address without an emulated register.
    pub fn nothing_at(&self, address: u32) -> Fault {
        let chip = &self.chip.name;
        match self.chip.absent_at(address) {
            Some(absent) => Fault::new(
                FaultKind::Absent,
                format!("the emulation of {chip} leaves out {}", absent.name),
            ),
            None => Fault::new(
                FaultKind::Unmapped,
                format!("the emulation of {chip} has no register here"),
            ),
        }
        .at(address)
    }

    /// Whether the run is to end at this instruction boundary; asking clears it.
    pub fn take_stop(&mut self) -> bool {
        std::mem::take(&mut self.stop)
    }
}
