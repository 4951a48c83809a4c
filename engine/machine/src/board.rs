//! The surroundings of a chip of any family: its external lines, and their observation.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

use joulemark_devices::{Device, Lines, Protocol, Wiring, WiringError};
use joulemark_kernel::trace::{PinEdge, PowerTrace, PowerTrack};
use joulemark_kernel::{Chip, Cycles, Fault, FaultKind, I2c, Picoseconds, Signal, Timeline};
use joulemark_radio::Antenna;

use crate::pins::{Pin, PinNames};

/// A change of the marker pin, without its instruction count.
#[derive(Clone, Copy, Debug)]
pub struct RawEdge {
    pub rising: bool,
    pub cycles: Cycles,
}

/// Name of the chip's track of power states.
const CHIP: &str = "mcu";
/// Name of the track of a radio in the chip.
const RADIO: &str = "radio";

/// Pin and power-state changes, if recorded.
struct Trace {
    pin_edges: Vec<PinEdge>,
    power: PowerTrace,
}

/// A device in its place.
struct Part {
    name: String,
    device: Box<dyn Device>,
    /// Quantities around the board that it senses.
    senses: &'static [&'static str],
    /// The serial port that it is on, or the SPI or I2C bus of that number.
    port: Option<(usize, Protocol)>,
    /// Its address on an I2C bus, and whether the transfer there is with it.
    address: Option<u8>,
    is_addressed: bool,
    power: PowerTrace,
}

/// A chip pin wired to a device.
struct Wire {
    pin: Pin,
    part: usize,
    role: usize,
    is_output: bool,
}

/// An effect of a device on the chip.
pub enum Effect {
    /// It drives a pin.
    Pin(Pin, bool),
    /// It sends a byte on a serial line.
    Byte(usize, u8),
}

/// The buses of a chip.
#[derive(Clone, Copy)]
pub struct Buses {
    /// Serial ports.
    pub ports: &'static [&'static str],
    /// SPI buses.
    pub spi: &'static [&'static str],
    /// I2C buses.
    pub i2c: &'static [&'static str],
}

/// The surroundings of a chip.
pub struct Board {
    chip: Arc<Chip>,
    pub pins: PinNames,
    buses: Buses,
    parts: Vec<Part>,
    wires: Vec<Wire>,
    /// Effects of devices that the chip has not seen yet, with their times.
    effects: VecDeque<(Picoseconds, Effect)>,
    /// The cycle of the next device event.
    pub due: Cycles,
    /// A device has something for the outside world, for which no run has ended yet.
    is_telling: bool,
    fault: Option<Fault>,
    marker: Option<Pin>,
    marker_edges: Vec<RawEdge>,
    trace: Option<Trace>,
    /// The power states of a radio in the chip.
    radio: Option<PowerTrace>,
    /// Bytes sent by the program on each serial port and not read yet.
    sent: Vec<Vec<(u8, Picoseconds)>>,
    /// The byte that ends a run, and whether it was sent without having ended one yet.
    awaited: Option<(u8, bool)>,
    /// Whether the current run ends at a time, whose cycle changes with the clock.
    pub ends_at_time: bool,
    stop: bool,
}

impl Board {
    /// Make the surroundings of a chip in a power state at a clock.
    pub fn new(
        chip: &Arc<Chip>,
        pins: PinNames,
        buses: Buses,
        trace: bool,
        state: &'static str,
        clock_hz: u32,
    ) -> Self {
        Self {
            chip: Arc::clone(chip),
            pins,
            buses,
            parts: Vec::new(),
            wires: Vec::new(),
            effects: VecDeque::new(),
            due: Cycles::NEVER,
            is_telling: false,
            fault: None,
            marker: None,
            marker_edges: Vec::new(),
            trace: trace.then(|| Trace {
                pin_edges: Vec::new(),
                power: PowerTrace::new(state, clock_hz),
            }),
            radio: None,
            sent: vec![Vec::new(); buses.ports.len()],
            awaited: None,
            ends_at_time: false,
            stop: false,
        }
    }

    /// Add the chip's radio, in a power state.
    pub fn add_radio(&mut self, state: &'static str) {
        self.radio = Some(PowerTrace::new(state, 0));
    }

    /// Note the power state of the chip's radio.
    pub fn note_radio(&mut self, state: &'static str, time: Picoseconds) {
        if let (Some(radio), Some(_)) = (&mut self.radio, &self.trace) {
            radio.note(state, 0, || time);
        }
    }

    /// Watch the pin that brackets measurements.
    ///
    /// # Errors
    /// The pin does not exist.
    pub fn set_marker(&mut self, name: &str) -> Result<(), String> {
        self.marker = Some(self.pins.parse(name)?);
        Ok(())
    }

    /// Place a board's devices and switch them on.
    ///
    /// # Errors
    /// The chip does not have such a pin or bus.
    pub fn wire(&mut self, wiring: &Wiring, timeline: &Timeline) -> Result<(), WiringError> {
        for placement in wiring.placements.iter() {
            let model = placement.model;
            let port = match (&placement.bus, model.protocol) {
                (Some(bus), Some(protocol)) => Some((
                    self.bus(bus, protocol)
                        .map_err(|what| placement.error("bus", what))?,
                    protocol,
                )),
                _ => None,
            };
            let mut others = self.parts.iter();
            if let Some(other) = others.find(|other| {
                other.port == port
                    && other
                        .address
                        .is_some_and(|of_other| Some(of_other) == placement.address)
            }) {
                let what = format!("{} has this address already", other.name);
                return Err(placement.error("address", what));
            }
            let part = self.parts.len();
            for (&role, name) in &placement.pins {
                let pin = &model.pins[role];
                let key = format!("pins.{}", pin.name);
                let chip_pin = self.pins.parse(name);
                let chip_pin = chip_pin.map_err(|what| placement.error(&key, what))?;
                let mut wires = self.wires.iter();
                if let Some(other) = wires.find(|wire| {
                    wire.pin == chip_pin && wire.part != part && wire.is_output && pin.is_output
                }) {
                    let other = &self.parts.get(other.part).map_or("", |part| &part.name);
                    let what = format!("{name} is driven by {other} already");
                    return Err(placement.error(&key, what));
                }
                self.wires.push(Wire {
                    pin: chip_pin,
                    part,
                    role,
                    is_output: pin.is_output,
                });
            }
            self.parts.push(Part {
                name: placement.name.clone(),
                device: placement.make(),
                senses: model.senses,
                port,
                address: placement.address,
                is_addressed: false,
                power: PowerTrace::new(model.states[0], 0),
            });
            for name in &placement.pull_ups {
                // It was parsed above, as an input's pin.
                if let Ok(pin) = self.pins.parse(name) {
                    self.effects
                        .push_back((Picoseconds(0), Effect::Pin(pin, true)));
                }
            }
            self.touch(part, Picoseconds(0), timeline, |device, lines| {
                device.power_up(lines);
                for (role, pin) in model.pins.iter().enumerate() {
                    if !pin.is_output && placement.pins.contains_key(&role) {
                        device.pin_changed(role, false, lines);
                    }
                }
            });
        }
        Ok(())
    }

    /// Give the devices that sense it a quantity that surrounds them.
    pub fn surround(&mut self, quantity: &str, signal: &Signal) {
        for part in &mut self.parts {
            if part.senses.contains(&quantity) {
                part.device.surround(quantity, signal);
            }
        }
    }

    fn bus(&self, name: &str, protocol: Protocol) -> Result<usize, String> {
        let buses = match protocol {
            Protocol::Spi => self.buses.spi,
            Protocol::Uart => self.buses.ports,
            Protocol::I2c => self.buses.i2c,
        };
        let found = buses.iter().position(|bus| bus.eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let there = match buses {
                [] => "there is none".into(),
                _ => format!("there are {}", buses.join(", ")),
            };
            format!(
                "the emulation of {} has no bus '{name}' that speaks {}; {there}",
                self.chip.name,
                protocol.name()
            )
        })
    }

    /// Let a device act, and collect the effects.
    fn touch<R>(
        &mut self,
        number: usize,
        now: Picoseconds,
        timeline: &Timeline,
        act: impl FnOnce(&mut dyn Device, &mut Lines) -> R,
    ) -> R {
        let part = &mut self.parts[number];
        let mut lines = Lines::new(now);
        let result = act(&mut *part.device, &mut lines);
        if let (Some(state), Some(_)) = (lines.state, &self.trace) {
            part.power.note(state, 0, || now);
        }
        for (role, high) in lines.driven {
            let mut wires = self.wires.iter();
            // A pin that the board does not wire goes nowhere.
            if let Some(wire) = wires.find(|wire| wire.part == number && wire.role == role) {
                let effect = Effect::Pin(wire.pin, high);
                self.effects.push_back((now, effect));
            }
        }
        if let Some((port, Protocol::Uart)) = part.port {
            let bytes = lines.sent.into_iter();
            self.effects
                .extend(bytes.map(|byte| (now, Effect::Byte(port, byte))));
        }
        let antenna = part.device.antenna();
        if lines.is_telling || antenna.is_some_and(Antenna::take_telling) {
            self.tell();
        }
        self.reschedule(timeline);
        result
    }

    /// When the next device event occurs.
    pub fn next_event(&self) -> Picoseconds {
        let events = self.parts.iter().map(|part| part.device.next_event());
        events.min().unwrap_or(Picoseconds::NEVER)
    }

    /// Recompute when the next device event occurs.
    fn reschedule(&mut self, timeline: &Timeline) {
        self.due = timeline.cycle_of(self.next_event());
    }

    /// Let the device with the next event act, at the event's time.
    pub fn advance_one(&mut self, timeline: &Timeline) {
        let events = self.parts.iter().enumerate();
        let next = events.min_by_key(|(_, part)| part.device.next_event());
        if let Some((number, part)) = next {
            let time = part.device.next_event();
            self.touch(number, time, timeline, Device::advance);
            debug_assert!(self.parts[number].device.next_event() > time);
        }
    }

    /// Take the earliest device effect that the chip has not seen yet.
    pub fn next_effect(&mut self, timeline: &Timeline) -> Option<(Cycles, Effect)> {
        let (time, effect) = self.effects.pop_front()?;
        Some((timeline.cycle_of(time), effect))
    }

    /// Exchange a byte on an SPI bus; return the byte received, `None` if nothing drives the line.
    pub fn exchange(
        &mut self,
        port: usize,
        byte: u8,
        now: Cycles,
        timeline: &Timeline,
    ) -> Option<u8> {
        while self.due < now {
            self.advance_one(timeline);
        }
        let mut answer: Option<(usize, u8)> = None;
        for number in 0..self.parts.len() {
            if self.parts[number].port != Some((port, Protocol::Spi)) {
                continue;
            }
            let time = timeline.at(now);
            let driven = self.touch(number, time, timeline, |device, lines| {
                device.exchange(byte, lines)
            });
            match (driven, answer) {
                (Some(_), Some((other, _))) => {
                    let names = [other, number].map(|number| &self.parts[number].name);
                    self.fault.get_or_insert_with(|| {
                        let bus = self.buses.spi[port];
                        let [one, two] = names;
                        Fault::new(
                            FaultKind::Peripheral,
                            format!("{one} and {two} both answer on the SPI bus {bus}"),
                        )
                    });
                }
                (Some(byte), None) => answer = Some((number, byte)),
                (None, _) => {}
            }
        }
        answer.map(|(_, byte)| byte)
    }

    /// Take part in a transfer on an I2C bus; return what the addressed device answers, `None` if
    /// nothing drives the line.
    pub fn i2c(&mut self, bus: usize, what: I2c, now: Cycles, timeline: &Timeline) -> Option<u8> {
        while self.due < now {
            self.advance_one(timeline);
        }
        let mut answer = None;
        for number in 0..self.parts.len() {
            let part = &mut self.parts[number];
            if part.port != Some((bus, Protocol::I2c)) {
                continue;
            }
            if let I2c::Start { address, .. } = what {
                part.is_addressed = part.address == Some(address);
            }
            if part.is_addressed {
                part.is_addressed = what != I2c::Stop;
                let time = timeline.at(now);
                let driven = self.touch(number, time, timeline, |device, lines| {
                    device.i2c(what, lines)
                });
                answer = answer.or(driven);
            }
        }
        answer
    }

    /// Keep a fault until it is taken.
    pub fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    /// Take the board's fault.
    ///
    /// # Errors
    /// There is a fault.
    pub fn take_fault(&mut self) -> Result<(), Fault> {
        self.fault.take().map_or(Ok(()), Err)
    }

    /// Let a caller outside the machine use a device of a known type.
    ///
    /// # Errors
    /// There is no device of that name and type.
    pub fn with_device<T: Device, R>(
        &mut self,
        name: &str,
        now: Picoseconds,
        timeline: &Timeline,
        act: impl FnOnce(&mut T, &mut Lines) -> R,
    ) -> Result<R, String> {
        let Some(number) = self.parts.iter().position(|part| part.name == name) else {
            let names: Vec<&str> = self.parts.iter().map(|part| part.name.as_str()).collect();
            return Err(format!(
                "no device '{name}'; there are {}",
                names.join(", ")
            ));
        };
        if !(&*self.parts[number].device as &dyn Any).is::<T>() {
            return Err(format!("device '{name}' is of another type"));
        }
        let result = self.touch(number, now, timeline, |device, lines| {
            let device = (device as &mut dyn Any).downcast_mut::<T>();
            device.map(|device| act(device, lines))
        });
        result.ok_or_else(|| format!("device '{name}' is of another type"))
    }

    /// Let a caller outside the machine use the antenna of the first device that has one; `None` if
    /// none has.
    pub fn with_antenna<R>(
        &mut self,
        timeline: &Timeline,
        act: impl FnOnce(&mut Antenna) -> R,
    ) -> Option<R> {
        let mut parts = self.parts.iter_mut();
        let antenna = parts.find_map(|part| part.device.antenna())?;
        let result = act(antenna);
        self.reschedule(timeline);
        Some(result)
    }

    /// A device, or the chip's radio, has something for the outside world.
    pub const fn tell(&mut self) {
        self.is_telling = true;
        self.stop = true;
    }

    /// Whether a device has something for the outside world; this clears the mark.
    pub fn take_telling(&mut self) -> bool {
        std::mem::take(&mut self.is_telling)
    }

    /// Handle a pin's new level.
    pub fn pin_changed(&mut self, pin: Pin, high: bool, now: Cycles, timeline: &Timeline) {
        for number in 0..self.wires.len() {
            let wire = &self.wires[number];
            if wire.pin == pin && !wire.is_output {
                let (part, role) = (wire.part, wire.role);
                self.touch(part, timeline.at(now), timeline, |device, lines| {
                    device.pin_changed(role, high, lines);
                });
            }
        }
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

    /// Handle a byte sent on a serial port.
    pub fn byte_sent(&mut self, port: usize, byte: u8, now: Cycles, timeline: &Timeline) {
        let time = timeline.at(now);
        for number in 0..self.parts.len() {
            if self.parts[number].port == Some((port, Protocol::Uart)) {
                self.touch(number, time, timeline, |device, lines| {
                    device.received(byte, lines);
                });
            }
        }
        self.sent[port].push((byte, time));
        if let Some((awaited, is_sent)) = &mut self.awaited
            && *awaited == byte
        {
            *is_sent = true;
            self.stop = true;
        }
    }

    /// Take the bytes sent on a serial port since the last call.
    pub fn take_sent(&mut self, port: usize) -> Vec<(u8, Picoseconds)> {
        std::mem::take(&mut self.sent[port])
    }

    /// Names of the serial ports.
    pub const fn ports(&self) -> &'static [&'static str] {
        self.buses.ports
    }

    /// Find a serial port by name, ignoring case.
    ///
    /// # Errors
    /// There is no port of that name.
    pub fn port(&self, name: &str) -> Result<usize, String> {
        let mut ports = self.buses.ports.iter();
        ports
            .position(|port| port.eq_ignore_ascii_case(name))
            .ok_or_else(|| {
                format!(
                    "no serial port '{name}'; there are {}",
                    self.buses.ports.join(", ")
                )
            })
    }

    /// Stop runs when this byte is sent. A byte sent while another condition ended a run counts, if
    /// it is still awaited.
    pub fn await_byte(&mut self, byte: Option<u8>) {
        if self.awaited.map(|(byte, _)| byte) != byte {
            self.awaited = byte.map(|byte| (byte, false));
        }
    }

    /// Whether the awaited byte was sent; this clears the mark.
    pub fn take_awaited(&mut self) -> bool {
        let awaited = self.awaited.as_mut();
        awaited.is_some_and(|(_, is_sent)| std::mem::take(is_sent))
    }

    /// Note the power state and the clock, which may have changed.
    pub fn note_power(&mut self, state: &'static str, now: Cycles, timeline: &Timeline) {
        if let Some(trace) = &mut self.trace {
            let hz = timeline.clock().0;
            trace.power.note(state, hz, || timeline.at(now));
        }
        if self.ends_at_time {
            self.stop = true;
        }
        if !self.parts.is_empty() {
            self.reschedule(timeline);
        }
    }

    /// The power states of each part, the current ones cut at a time; the chip's come first.
    pub fn power_tracks(&self, until: Picoseconds) -> Vec<PowerTrack> {
        self.powers()
            .map(|(name, power)| PowerTrack {
                part: name.to_owned(),
                intervals: power.until(until),
            })
            .collect()
    }

    /// The current power state and clock of each part; empty if not recorded.
    pub fn power_states(&self) -> impl Iterator<Item = (&str, &'static str, u32)> + Clone {
        self.powers().map(|(name, power)| {
            let (state, clock_hz) = power.state();
            (name, state, clock_hz)
        })
    }

    fn powers(&self) -> impl Iterator<Item = (&str, &PowerTrace)> + Clone {
        self.trace.iter().flat_map(|trace| {
            let radio = self.radio.iter().map(|power| (RADIO, power));
            let parts = self.parts.iter().map(|part| (&*part.name, &part.power));
            [(CHIP, &trace.power)].into_iter().chain(radio).chain(parts)
        })
    }

    /// Recorded pin edges.
    pub fn pin_edges(&self) -> &[PinEdge] {
        self.trace.as_ref().map_or(&[], |trace| &trace.pin_edges)
    }

    /// Take the marker's edges since the last call.
    pub fn take_marker_edges(&mut self) -> Vec<RawEdge> {
        std::mem::take(&mut self.marker_edges)
    }

    /// Discard the recorded changes; current states count from `now`.
    pub fn clear_traces(&mut self, now: Picoseconds) {
        if let Some(trace) = &mut self.trace {
            trace.pin_edges.clear();
            trace.power.restart(now);
        }
        let parts = self.parts.iter_mut().map(|part| &mut part.power);
        for power in parts.chain(&mut self.radio) {
            power.restart(now);
        }
    }

    /// The fault for an address without an emulated register.
    pub fn nothing_at(&self, address: u32) -> Fault {
        let chip = &self.chip.name;
        let left_out = |what: &str| {
            let message = format!("the emulation of {chip} leaves out {what}");
            Fault::new(FaultKind::Absent, message)
        };
        let absent = self.chip.absent_at(address);
        let absent = absent.map(|absent| left_out(&absent.name));
        // The silicon may have a register there that no document tells.
        let in_block = || {
            let block = self.chip.block_at(address)?;
            Some(left_out(&format!("{block}, or this register of it")))
        };
        absent
            .or_else(in_block)
            .unwrap_or_else(|| {
                Fault::new(
                    FaultKind::Unmapped,
                    format!("the emulation of {chip} has no register here"),
                )
            })
            .at(address)
    }

    /// The chip.
    pub const fn chip(&self) -> &Arc<Chip> {
        &self.chip
    }

    /// Whether the run is to end at this instruction boundary; this clears the mark.
    pub fn take_stop(&mut self) -> bool {
        std::mem::take(&mut self.stop)
    }
}
