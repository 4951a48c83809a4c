//! A device as the board sees it.

use std::any::Any;
use std::collections::BTreeMap;

use joulemark_kernel::Picoseconds;
use joulemark_kernel::chip::Constant;
use joulemark_radio::Antenna;
use serde::Deserialize;

/// Exchanges on a bus between a chip and its devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Serial peripheral interface: the chip is the master, and each byte is exchanged for one.
    Spi,
    /// Asynchronous serial line: bytes go either way at any time.
    Uart,
}

impl Protocol {
    /// The name that users see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spi => "SPI",
            Self::Uart => "UART",
        }
    }
}

/// Actions of a device while it is called: see the time, drive pins, change its power state.
#[derive(Debug)]
pub struct Lines {
    now: Picoseconds,
    /// Pins that it drives from now on: their place in [`Model::pins`], and whether high.
    pub driven: Vec<(usize, bool)>,
    /// The power state that it goes into.
    pub state: Option<&'static str>,
    /// Bytes that it sends to the chip on its serial line.
    pub sent: Vec<u8>,
    /// It has something for the world outside the board, such as a frame on air.
    pub is_telling: bool,
}

impl Lines {
    /// Lines at a time on which nothing has been done.
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

    /// Drive a pin of the device, which is an output in [`Model::pins`].
    pub fn drive(&mut self, pin: usize, high: bool) {
        self.driven.push((pin, high));
    }

    /// Go into a power state, which is one of [`Model::states`].
    pub const fn enter(&mut self, state: &'static str) {
        self.state = Some(state);
    }

    /// Send a byte on the serial line to the chip.
    pub fn send(&mut self, byte: u8) {
        self.sent.push(byte);
    }

    /// Let those outside the board know that there is something to be taken: a run that waits for
    /// it ends.
    pub const fn tell(&mut self) {
        self.is_telling = true;
    }
}

/// A part of a board with time, pins and a power state of its own.
///
/// Times are those of the board, whatever clock the chip has. Whoever knows the device's type may
/// call other methods of it, such as a radio medium that delivers a frame.
pub trait Device: Any + Send + Sync {
    /// The board is switched on, at time 0. Then [`Device::pin_changed`] tells the level of each
    /// input that is wired.
    fn power_up(&mut self, lines: &mut Lines) {
        let _ = lines;
    }

    /// An input pin has this level now; `pin` is its place in [`Model::pins`].
    fn pin_changed(&mut self, pin: usize, high: bool, lines: &mut Lines) {
        let _ = (pin, high, lines);
    }

    /// The last bit of a byte has gone over the SPI bus. The answer went the other way with the
    /// same clock edges; `None` where the device leaves the line alone, as when it is not selected.
    fn exchange(&mut self, byte: u8, lines: &mut Lines) -> Option<u8> {
        let _ = (byte, lines);
        None
    }

    /// The chip has sent a byte on the serial line.
    fn received(&mut self, byte: u8, lines: &mut Lines) {
        let _ = (byte, lines);
    }

    /// When the device does something by itself; [`Picoseconds::NEVER`] if nothing is due.
    fn next_event(&self) -> Picoseconds {
        Picoseconds::NEVER
    }

    /// Its time has come: what is due at [`Lines::now`] happens, and the next event is later.
    fn advance(&mut self, lines: &mut Lines) {
        let _ = lines;
    }

    /// Its antenna, if it is a radio. [`Device::next_event`] tells what is due there too.
    fn antenna(&mut self) -> Option<&mut Antenna> {
        None
    }
}

/// A pin of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinRole {
    /// As boards' files call it.
    pub name: &'static str,
    /// The device drives it.
    pub is_output: bool,
    /// A board has to wire it.
    pub is_needed: bool,
}

/// Current that a device draws in a power state.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerState {
    /// As the device reports it.
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
    /// Power states; a board's file may state other currents.
    pub power_state: Vec<PowerState>,
    /// Times in seconds, by the names that the model has for them.
    #[serde(default)]
    pub time_s: BTreeMap<String, Constant>,
}

impl Figures {
    /// One of the times.
    ///
    /// # Panics
    /// The model's file has no such time.
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
    /// As boards' files call it.
    pub name: &'static str,
    /// Its protocol, if it is on a bus.
    pub protocol: Option<Protocol>,
    /// Its pins, without those of its bus.
    pub pins: &'static [PinRole],
    /// Its power states, that after power-up first.
    pub states: &'static [&'static str],
    /// Its [`Figures`], as TOML.
    pub figures: &'static str,
    /// A new device.
    pub make: fn(&Figures) -> Box<dyn Device>,
}

impl Model {
    /// Its figures.
    ///
    /// # Errors
    /// The model's file is wrong: the key and what is wrong with it.
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
