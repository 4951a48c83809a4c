//! A device, as the board sees it.

use std::any::Any;
use std::collections::BTreeMap;

use joulemark_kernel::chip::Constant;
use joulemark_kernel::{I2c, Picoseconds, Signal};
use joulemark_radio::Antenna;
use serde::Deserialize;

/// How a chip and its devices exchange data on a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Serial peripheral interface: the chip is the master, and each byte sent brings one back.
    Spi,
    /// Asynchronous serial line: bytes go either way at any time.
    Uart,
    /// Inter-integrated circuit: the chip is the master, and addresses one device at a time.
    I2c,
}

impl Protocol {
    /// The name that users see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spi => "SPI",
            Self::Uart => "UART",
            Self::I2c => "I2C",
        }
    }
}

/// What a device can do while it is called: read the time, drive pins, change its power state.
#[derive(Debug)]
pub struct Lines {
    now: Picoseconds,
    /// Pins driven from now on: index in [`Model::pins`], and whether high.
    pub driven: Vec<(usize, bool)>,
    /// The power state entered.
    pub state: Option<&'static str>,
    /// Bytes sent to the chip on the serial line.
    pub sent: Vec<u8>,
    /// Whether the device has something for the outside world, such as a frame on air.
    pub is_telling: bool,
}

impl Lines {
    /// Make lines at a time, with no actions yet.
    pub const fn new(now: Picoseconds) -> Self {
        Self {
            now,
            driven: Vec::new(),
            state: None,
            sent: Vec::new(),
            is_telling: false,
        }
    }

    /// Time since the board's start.
    pub const fn now(&self) -> Picoseconds {
        self.now
    }

    /// Drive a pin of the device that is an output in [`Model::pins`].
    pub fn drive(&mut self, pin: usize, high: bool) {
        self.driven.push((pin, high));
    }

    /// Enter a power state, which must be in [`Model::states`].
    pub const fn enter(&mut self, state: &'static str) {
        self.state = Some(state);
    }

    /// Send a byte to the chip on the serial line.
    pub fn send(&mut self, byte: u8) {
        self.sent.push(byte);
    }

    /// Signal that there is something for the world outside the board; this ends a run that waits
    /// for it.
    pub const fn tell(&mut self) {
        self.is_telling = true;
    }
}

/// A part of a board with its own time, pins and power state.
///
/// Times are the board's, independent of the chip's clock. Code that knows the device's type may
/// call its other methods, as a radio medium does to deliver a frame.
pub trait Device: Any + Send + Sync {
    /// Handle the board being switched on, at time 0. [`Device::pin_changed`] then gives the level
    /// of each wired input.
    fn power_up(&mut self, lines: &mut Lines) {
        let _ = lines;
    }

    /// Handle an input pin's new level; `pin` is its index in [`Model::pins`].
    fn pin_changed(&mut self, pin: usize, high: bool, lines: &mut Lines) {
        let _ = (pin, high, lines);
    }

    /// Handle a byte whose last bit was just transferred over SPI. The result went the other way
    /// with the same clock edges; `None` if the device does not drive the line, for example because
    /// it is not selected.
    fn exchange(&mut self, byte: u8, lines: &mut Lines) -> Option<u8> {
        let _ = (byte, lines);
        None
    }

    /// Handle a part of an I2C transfer with this device. For a start and a byte written, the
    /// result is its acknowledgment; for a read, the byte; `None` if it does not drive the line.
    fn i2c(&mut self, what: I2c, lines: &mut Lines) -> Option<u8> {
        let _ = (what, lines);
        None
    }

    /// Handle a byte that the chip sent on the serial line.
    fn received(&mut self, byte: u8, lines: &mut Lines) {
        let _ = (byte, lines);
    }

    /// When the device next acts by itself; [`Picoseconds::NEVER`] if nothing is due.
    fn next_event(&self) -> Picoseconds {
        Picoseconds::NEVER
    }

    /// Handle everything due at [`Lines::now`]; the next event must be later.
    fn advance(&mut self, lines: &mut Lines) {
        let _ = lines;
    }

    /// Take a quantity that [`Model::senses`] names: what the device finds around it from now on.
    fn surround(&mut self, quantity: &str, signal: &Signal) {
        let _ = (quantity, signal);
    }

    /// Its antenna, if it is a radio. [`Device::next_event`] includes the antenna's events.
    fn antenna(&mut self) -> Option<&mut Antenna> {
        None
    }
}

/// A pin of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinRole {
    /// The pin's name in board files.
    pub name: &'static str,
    /// Whether the device drives the pin.
    pub is_output: bool,
    /// Whether a board must wire the pin.
    pub is_needed: bool,
}

/// The current that a device draws in a power state.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerState {
    /// The name that the device reports.
    pub name: String,
    /// Its supply current in ampere.
    pub current_a: Constant,
}

/// A model's figures, each with its source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// One line: maker and part.
    pub title: String,
    /// Short names of the documents that sources cite, and their titles.
    pub documents: BTreeMap<String, String>,
    /// Power states; a board file may override their currents.
    pub power_state: Vec<PowerState>,
    /// Times in seconds, by the model's names for them.
    #[serde(default)]
    pub time_s: BTreeMap<String, Constant>,
}

impl Figures {
    /// Return one of the times.
    ///
    /// # Panics
    /// The model's file does not have this time.
    pub fn time(&self, name: &str) -> Picoseconds {
        let Some(time) = self.time_s.get(name) else {
            panic!("{}: no time_s.{name}", self.title);
        };
        Picoseconds((time.value * 1e12).round() as u64)
    }
}

/// A kind of device.
#[derive(Debug)]
pub struct Model {
    /// The model's name in board files.
    pub name: &'static str,
    /// Its protocol, if it is on a bus.
    pub protocol: Option<Protocol>,
    /// Its pins, except those of its bus.
    pub pins: &'static [PinRole],
    /// Quantities around the board that it senses, with their units in their names.
    pub senses: &'static [&'static str],
    /// Its power states; the first is the one after power-up.
    pub states: &'static [&'static str],
    /// Its [`Figures`], as TOML.
    pub figures: &'static str,
    /// Makes a new device.
    pub make: fn(&Figures) -> Box<dyn Device>,
}

impl Model {
    /// Parse the figures.
    ///
    /// # Errors
    /// The model's file has an error: the key and what is wrong with it.
    pub fn figures(&self) -> Result<Figures, String> {
        let wrong = |what: String| format!("model {}: {what}", self.name);
        let reader = toml::Deserializer::parse(self.figures).map_err(|e| wrong(e.to_string()))?;
        let figures: Figures = serde_path_to_error::deserialize(reader)
            .map_err(|e| wrong(format!("key '{}': {}", e.path(), e.inner().message())))?;
        let known: Vec<&str> = figures
            .power_state
            .iter()
            .map(|state| state.name.as_str())
            .collect();
        if known != self.states {
            return Err(wrong(format!(
                "key 'power_state': has {}, and the model {}",
                known.join(", "),
                self.states.join(", ")
            )));
        }
        Ok(figures)
    }
}
