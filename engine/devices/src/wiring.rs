//! A board's devices and their wiring: the `[[device]]` tables of a board file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use joulemark_kernel::chip::{Constant, Grade};
use serde::Deserialize;

use crate::{Device, Figures, MODELS, Model, Protocol};

/// An error in a board file: the file, the key and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WiringError(pub String);

impl std::fmt::Display for WiringError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WiringError {}

/// The part of a board file that is read here.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    device: Vec<Entry>,
}

/// A `[[device]]` table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    model: String,
    bus: Option<String>,
    address: Option<u8>,
    #[serde(default)]
    pins: BTreeMap<String, String>,
    #[serde(default)]
    pull_ups: Vec<String>,
    quiescent: Vec<String>,
    source: String,
    #[allow(
        dead_code,
        reason = "every statement has one; nothing is computed from this one's"
    )]
    grade: Grade,
    #[serde(default)]
    current: Vec<Stated>,
}

/// A `[[device.current]]` table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    state: String,
    ampere: f64,
    source: String,
    grade: Grade,
}

/// A device's place on a board.
#[derive(Debug)]
pub struct Placement {
    /// Unique on the board.
    pub name: String,
    /// Its kind.
    pub model: &'static Model,
    /// Its figures, including the board file's overrides.
    pub figures: Figures,
    /// The chip's bus to which it is connected.
    pub bus: Option<String>,
    /// Its address on an I2C bus, of seven bits.
    pub address: Option<u8>,
    /// The chip's pin for each wired pin of the model, by index in [`Model::pins`].
    pub pins: BTreeMap<usize, String>,
    /// The chip's pins that a resistor pulls high while nothing drives them.
    pub pull_ups: Vec<String>,
    /// States whose current is included in what the board file states for the whole board.
    pub quiescent: Vec<String>,
    /// The prefix in errors: file and key.
    key: String,
}

impl Placement {
    /// Make the device.
    pub fn make(&self) -> Box<dyn Device> {
        (self.model.make)(&self.figures)
    }

    /// Make an error about one of its keys.
    pub fn error(&self, key: &str, what: impl std::fmt::Display) -> WiringError {
        WiringError(format!("{}{key}': {what}", self.key))
    }

    /// The current that it draws in a state.
    pub fn current_a(&self, state: &str) -> Option<&Constant> {
        let mut states = self.figures.power_state.iter();
        let found = states.find(|known| known.name == state);
        found.map(|state| &state.current_a)
    }
}

/// The devices of a board.
#[derive(Clone, Debug, Default)]
pub struct Wiring {
    /// In the order of the board file.
    pub placements: Arc<[Placement]>,
}

/// The name of the chip's track of power states.
const CHIP: &str = "mcu";

impl Wiring {
    /// Read the wiring from a board file.
    ///
    /// # Errors
    /// The file cannot be read or has an error.
    pub fn load(path: &Path) -> Result<Self, WiringError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            WiringError(format!("{file}: cannot read this board file: {error}"))
        })?;
        Self::parse(&text, &file, MODELS)
    }

    /// Check a board file's text; errors call it `file`.
    ///
    /// # Errors
    /// The text has an error.
    pub fn parse(text: &str, file: &str, models: &[&'static Model]) -> Result<Self, WiringError> {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let reader = toml::Deserializer::parse(text).map_err(|error| {
            let what = one_line(&error.to_string());
            WiringError(format!("{file}: not valid TOML: {what}"))
        })?;
        let parsed: File = serde_path_to_error::deserialize(reader).map_err(|error| {
            let message = one_line(error.inner().message());
            WiringError(format!("{file}: key '{}': {message}", error.path()))
        })?;
        let mut placements: Vec<Placement> = Vec::new();
        for (number, entry) in parsed.device.into_iter().enumerate() {
            let key = format!("{file}: key 'device[{number}].");
            let placement = place(entry, key, models)?;
            let name = &placement.name;
            if name == CHIP || placements.iter().any(|other| &other.name == name) {
                let what = format!("another part is called {name}; rename this one");
                return Err(placement.error("name", what));
            }
            placements.push(placement);
        }
        Ok(Self {
            placements: placements.into(),
        })
    }
}

fn place(entry: Entry, key: String, models: &[&'static Model]) -> Result<Placement, WiringError> {
    let wrong = |of: &str, what: String| Err(WiringError(format!("{key}{of}': {what}")));
    let Some(&model) = models.iter().find(|model| model.name == entry.model) else {
        let known: Vec<&str> = models.iter().map(|model| model.name).collect();
        let what = format!("no model '{}'; there are {}", entry.model, known.join(", "));
        return wrong("model", what);
    };
    if entry.source.trim().is_empty() {
        return wrong("source", "is empty; name the document and its page".into());
    }
    match (model.protocol, &entry.bus) {
        (Some(protocol), None) => {
            let what = format!(
                "missing; {} is on a bus that speaks {}",
                model.name,
                protocol.name()
            );
            return wrong("bus", what);
        }
        (None, Some(_)) => return wrong("bus", format!("{} is on no bus", model.name)),
        _ => {}
    }
    // Addresses below 0x08 and above 0x77 are reserved (NXP UM10204, section 3.1.12).
    match (model.protocol, entry.address) {
        (Some(Protocol::I2c), Some(0x08..=0x77)) => {}
        (Some(Protocol::I2c), _) => {
            let what = "state the device's address of seven bits, from 0x08 to 0x77";
            return wrong("address", what.into());
        }
        (_, Some(_)) => return wrong("address", format!("{} is not on I2C", model.name)),
        (_, None) => {}
    }
    let mut pins = BTreeMap::new();
    for (role, pin) in entry.pins {
        let Some(place) = model.pins.iter().position(|known| known.name == role) else {
            let known: Vec<&str> = model.pins.iter().map(|pin| pin.name).collect();
            let what = format!(
                "{} has no such pin; it has {}",
                model.name,
                known.join(", ")
            );
            return wrong(&format!("pins.{role}"), what);
        };
        pins.insert(place, pin);
    }
    for (place, pin) in model.pins.iter().enumerate() {
        if pin.is_needed && !pins.contains_key(&place) {
            let what = format!("missing; a {} needs it", model.name);
            return wrong(&format!("pins.{}", pin.name), what);
        }
    }
    let mut pull_ups = Vec::new();
    for role in &entry.pull_ups {
        let place = model
            .pins
            .iter()
            .position(|pin| pin.name == role && !pin.is_output);
        let Some(pin) = place.and_then(|place| pins.get(&place)) else {
            return wrong(
                "pull_ups",
                format!("'{role}' is no wired input of {}", model.name),
            );
        };
        pull_ups.push(pin.clone());
    }
    let mut figures = model.figures().map_err(WiringError)?;
    let states = model.states.join(", ");
    for stated in entry.current {
        let mut known = figures.power_state.iter_mut();
        let Some(state) = known.find(|known| known.name == stated.state) else {
            let what = format!(
                "{} has no state '{}'; it has {states}",
                model.name, stated.state
            );
            return wrong("current", what);
        };
        state.current_a = Constant {
            value: stated.ampere,
            source: stated.source,
            grade: stated.grade,
        };
    }
    let mut quiescent = entry.quiescent.iter();
    if let Some(state) = quiescent.find(|state| !model.states.contains(&state.as_str())) {
        let what = format!("{} has no state '{state}'; it has {states}", model.name);
        return wrong("quiescent", what);
    }
    Ok(Placement {
        name: entry.name,
        model,
        figures,
        bus: entry.bus,
        address: entry.address,
        pins,
        pull_ups,
        quiescent: entry.quiescent,
        key,
    })
}
