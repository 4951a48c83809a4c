//! Chip files: a microcontroller described as data with sources.
//!
//! The emulation, the firmware's linker script and the energy model read the same file. [`Chip`]
//! types the keys that every chip has; it keeps the sections that a series adds as raw TOML, for
//! the code that knows the series.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// How far a figure can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// Concluded from other figures.
    Inferred,
    /// Stated by the maker.
    Datasheet,
    /// Measured on silicon.
    Measured,
}

impl Grade {
    /// The name that users see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inferred => "inferred",
            Self::Datasheet => "datasheet",
            Self::Measured => "measured",
        }
    }
}

/// A physical constant and its source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// In the unit that ends the key's name.
    pub value: f64,
    /// Document and table, page or section.
    #[serde(deserialize_with = "non_empty")]
    pub source: String,
    /// How far it can be trusted.
    pub grade: Grade,
}

impl Constant {
    /// Return the value rounded to a whole number, for units such as hertz or cycles.
    pub fn whole(&self) -> u32 {
        self.value.round() as u32
    }
}

/// The kind of memory in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// Program memory that a controller programs and erases.
    Flash,
    /// Read and write.
    Ram,
    /// Read-only memory.
    Rom,
    /// Registers.
    Peripheral,
}

impl MemoryKind {
    /// The name that chip files and users use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flash => "flash",
            Self::Ram => "ram",
            Self::Rom => "rom",
            Self::Peripheral => "peripheral",
        }
    }
}

/// One region of the memory map.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Unique in the chip.
    pub name: String,
    /// The kind of memory.
    pub kind: MemoryKind,
    /// First address.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// Bytes erased at once, for flash.
    pub segment_size: Option<u32>,
    /// How long an access takes; absent where every access takes one cycle.
    pub timing: Option<MemoryTiming>,
    /// Document and table, page or section.
    #[serde(deserialize_with = "non_empty")]
    pub source: String,
    /// How far it can be trusted.
    pub grade: Grade,
}

/// How long accesses to a memory take, and what speeds them up.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryTiming {
    /// Cycles that an access takes beyond the first.
    pub wait_states: Constant,
    /// Cycles that a store takes longer than a load; absent where it takes as long.
    pub store_wait_states: Option<Constant>,
    /// What a fetch takes longer that follows no other; absent where it takes as long.
    pub jump: Option<Jump>,
    /// Line size in bytes of a buffer in front of the memory; absent without a buffer.
    pub line_buffer_bytes: Option<Constant>,
    /// Accesses go through the chip's cache while it is enabled.
    #[serde(default)]
    pub cached: bool,
    /// The cache's own RAM, which is not addressable memory while the cache is enabled.
    #[serde(default)]
    pub cache_ram: bool,
}

/// How long a fetch takes after a jump.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jump {
    /// Cycles more where it is neither from the line of the last fetch nor from the next.
    pub wait_states: Constant,
    /// Bytes of such a line, which the memory gives at a time.
    pub line_bytes: Constant,
}

/// An address range that mirrors part of another region.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mirror {
    /// First address of the mirror.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// First mirrored address.
    pub of: u32,
    /// Document and table, page or section.
    #[serde(deserialize_with = "non_empty")]
    pub source: String,
    /// How far it can be trusted.
    pub grade: Grade,
}

/// Names and addresses from a table in a document.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table<T> {
    /// Document and table, page or section.
    #[serde(deserialize_with = "non_empty")]
    pub source: String,
    /// How far it can be trusted.
    pub grade: Grade,
    /// The table's rows.
    pub table: BTreeMap<String, T>,
}

/// One peripheral register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Register {
    /// Its address.
    pub address: u32,
    /// Its width.
    pub bits: u32,
}

/// A peripheral and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peripheral {
    /// The address from which its registers are counted.
    pub base: u32,
    /// Its interrupt lines, in the order of its series.
    #[serde(default)]
    pub interrupts: Vec<u32>,
    /// The number of its pins, of a port.
    pub pins: Option<usize>,
}

/// A part of the chip that the emulation leaves out.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Absent {
    /// The maker's name for it.
    pub name: String,
    /// `[first, last]` addresses of its registers; empty for a mode of an emulated peripheral.
    pub ranges: Vec<[u32; 2]>,
    /// Document and table, page or section.
    #[serde(deserialize_with = "non_empty")]
    pub source: String,
}

/// A named machine setting, applied at start.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Default value.
    pub default: u32,
    /// Lowest allowed value.
    pub minimum: u32,
    /// Highest allowed value.
    pub maximum: u32,
    /// A one-sentence description.
    pub description: String,
}

/// Supply current at one supply voltage: `constant_a + per_mhz_a * clock`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupplyCurrent {
    /// The supply voltage.
    pub supply_v: f64,
    /// The part that does not depend on the clock.
    pub constant_a: Option<Constant>,
    /// The clock that `constant_a` was stated for; absent if it does not depend on the clock.
    pub stated_at_hz: Option<u32>,
    /// The part per megahertz of the core's clock.
    pub per_mhz_a: Option<Constant>,
}

/// A power state and its supply current.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerState {
    /// The name that machines report.
    pub name: String,
    /// At each voltage that the maker states, in ascending order.
    pub current: Vec<SupplyCurrent>,
}

/// A chip file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Chip {
    /// The file's stem.
    pub name: String,
    /// The core's name, as the emulation and the firmware name it.
    pub core: String,
    /// The core's name for compilers (`-mcpu`).
    pub cpu: String,
    /// The floating-point unit's name for compilers (`-mfpu`); empty without one.
    #[serde(default)]
    pub fpu: String,
    /// The series of chips that share their peripherals, as the emulation and the firmware name it.
    pub series: String,
    /// Its family in UF2 files, if there are any for it.
    pub uf2_family: Option<Constant>,
    /// A one-sentence description.
    pub description: String,
    /// Short names of the documents that sources cite, and their titles.
    pub documents: BTreeMap<String, String>,
    /// The memory map.
    pub memory: Vec<Memory>,
    /// Mirrors of memory.
    #[serde(default)]
    pub mirror: Vec<Mirror>,
    /// Interrupt vectors: addresses of their table entries.
    pub vectors: Table<u32>,
    /// Emulated peripherals, under the names that the series gives them; absent where the series
    /// knows all addresses.
    pub peripherals: Option<Table<Peripheral>>,
    /// Peripheral registers.
    pub registers: Table<Register>,
    /// Power states, the most active first.
    pub power_state: Vec<PowerState>,
    /// Features that the emulation leaves out.
    #[serde(default)]
    pub absent: Vec<Absent>,
    /// Every peripheral that the silicon has, emulated or not: its first and last address.
    pub map: Option<Table<[u32; 2]>>,
    /// Machine settings at start.
    #[serde(default)]
    pub settings: BTreeMap<String, Setting>,
    /// Sections that the series adds, by name.
    #[serde(flatten)]
    sections: BTreeMap<String, toml::Value>,
    /// The file's name in errors.
    #[serde(skip)]
    file: String,
}

/// An error in a chip file: the file, the key and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ChipError(pub String);

fn non_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() {
        return Err(serde::de::Error::custom(
            "is empty; name the document and its table, page or section",
        ));
    }
    Ok(text)
}

/// Sources behind a derived figure, whose grade is that of the weakest one.
struct Evidence {
    sources: Vec<String>,
    grade: Grade,
}

impl Evidence {
    fn add(&mut self, constant: &Constant) {
        if !self.sources.contains(&constant.source) {
            self.sources.push(constant.source.clone());
        }
        self.grade = self.grade.min(constant.grade);
    }

    fn infer(&mut self, reason: String) {
        self.sources.push(reason);
        self.grade = Grade::Inferred;
    }
}

impl SupplyCurrent {
    fn at(&self, clock_hz: u32, evidence: &mut Evidence) -> f64 {
        let mut current = 0.0;
        if let Some(constant) = &self.constant_a {
            evidence.add(constant);
            current += constant.value;
        }
        if let Some(per_mhz) = &self.per_mhz_a {
            evidence.add(per_mhz);
            current += per_mhz.value * f64::from(clock_hz) / 1e6;
        }
        if let Some(stated) = self.stated_at_hz
            && stated != clock_hz
        {
            evidence.infer(format!(
                "stated for {} MHz and assumed unchanged at {} MHz",
                f64::from(stated) / 1e6,
                f64::from(clock_hz) / 1e6
            ));
        }
        current
    }
}

impl Chip {
    /// Read and check a chip file.
    ///
    /// # Errors
    /// The file cannot be read or has an error.
    pub fn load(path: &Path) -> Result<Self, ChipError> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            ChipError(format!(
                "{}: cannot read this chip file: {error}",
                path.display()
            ))
        })?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Check the text of a chip file; errors call it `file`, beside which is the chip that it may be
    /// `like`.
    ///
    /// # Errors
    /// The text has an error.
    pub fn parse(text: &str, file: &str) -> Result<Self, ChipError> {
        let values = whole(text, file)?;
        let mut chip: Self = serde_path_to_error::deserialize(values).map_err(|error| {
            let key = error.path().to_string();
            let key = if key == "." {
                "the top level".to_owned()
            } else {
                format!("key '{key}'")
            };
            let message = one_line(error.inner().message());
            ChipError(format!("{file}: {key}: {message}"))
        })?;
        file.clone_into(&mut chip.file);
        chip.check().map_err(|message| chip.error(&message))?;
        Ok(chip)
    }

    fn check(&self) -> Result<(), String> {
        for (number, memory) in self.memory.iter().enumerate() {
            let key = format!("key 'memory[{number}]' ({})", memory.name);
            if memory.size == 0 || memory.start.checked_add(memory.size - 1).is_none() {
                return Err(format!(
                    "{key}: size {:#x} does not fit the address space",
                    memory.size
                ));
            }
            for other in &self.memory[..number] {
                if memory.name == other.name {
                    return Err(format!("{key}: two regions have this name; rename one"));
                }
                if memory.start < other.start + other.size
                    && other.start < memory.start + memory.size
                {
                    return Err(format!("{key}: overlaps region '{}'", other.name));
                }
            }
        }
        for (number, mirror) in self.mirror.iter().enumerate() {
            let inside = |address: u32| self.region(address).is_some();
            if mirror.size == 0 || !inside(mirror.of) || !inside(mirror.of + mirror.size - 1) {
                return Err(format!(
                    "key 'mirror[{number}].of': not inside a memory region"
                ));
            }
        }
        for (number, state) in self.power_state.iter().enumerate() {
            let key = format!("key 'power_state[{number}].current' ({})", state.name);
            if state.current.is_empty() {
                return Err(format!(
                    "{key}: state the current for at least one supply voltage"
                ));
            }
            if !state.current.is_sorted_by(|a, b| a.supply_v < b.supply_v) {
                return Err(format!("{key}: supply voltages must rise"));
            }
            for point in &state.current {
                if point.constant_a.is_none() && point.per_mhz_a.is_none() {
                    return Err(format!("{key}: needs 'constant_a', 'per_mhz_a' or both"));
                }
            }
        }
        for (name, setting) in &self.settings {
            if !(setting.minimum..=setting.maximum).contains(&setting.default) {
                return Err(format!(
                    "key 'settings.{name}.default': outside minimum and maximum"
                ));
            }
        }
        Ok(())
    }

    /// Find the memory region that holds an address.
    pub fn region(&self, address: u32) -> Option<&Memory> {
        self.memory
            .iter()
            .find(|memory| address >= memory.start && address - memory.start < memory.size)
    }

    /// Whether a cache or line buffers make timing depend on earlier execution.
    pub fn memories_keep_state(&self) -> bool {
        // Images are not built to run from ROM.
        let mut timings = self
            .memory
            .iter()
            .filter(|memory| memory.kind != MemoryKind::Rom)
            .filter_map(|memory| memory.timing.as_ref());
        timings.any(|timing| timing.cached || timing.line_buffer_bytes.is_some())
    }

    /// Find the feature at an address that the emulation leaves out.
    pub fn absent_at(&self, address: u32) -> Option<&Absent> {
        self.absent.iter().find(|absent| {
            absent
                .ranges
                .iter()
                .any(|&[first, last]| (first..=last).contains(&address))
        })
    }

    /// Find the silicon's peripheral at an address.
    pub fn block_at(&self, address: u32) -> Option<&str> {
        let mut blocks = self.map.iter().flat_map(|map| &map.table);
        let found = blocks.find(|(_, [first, last])| (*first..=*last).contains(&address));
        found.map(|(name, _)| name.as_str())
    }

    /// Check that the series adds only these sections.
    ///
    /// # Errors
    /// The file has another section.
    pub fn only_sections(&self, known: &[&str]) -> Result<(), ChipError> {
        let mut names = self.sections.keys();
        let Some(name) = names.find(|name| !known.contains(&name.as_str())) else {
            return Ok(());
        };
        let (series, known) = (&self.series, known.join(", "));
        Err(self.error(&format!(
            "key '{name}': unknown; what series {series} adds is {known}"
        )))
    }

    /// Read a section that the series adds; `None` if the chip does not have it.
    ///
    /// # Errors
    /// The section has an error.
    pub fn section<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, ChipError> {
        let Some(section) = self.sections.get(name) else {
            return Ok(None);
        };
        let read = serde_path_to_error::deserialize(section.clone());
        read.map(Some)
            .map_err(|error: serde_path_to_error::Error<toml::de::Error>| {
                let key = match error.path().to_string().as_str() {
                    "." => name.to_owned(),
                    path => format!("{name}.{path}"),
                };
                let message = one_line(error.inner().message());
                self.error(&format!("key '{key}': {message}"))
            })
    }

    /// Read a section that the series requires.
    ///
    /// # Errors
    /// The section is missing or has an error.
    pub fn needed_section<T: DeserializeOwned>(&self, name: &str) -> Result<T, ChipError> {
        let missing = || {
            let (core, series) = (&self.core, &self.series);
            self.error(&format!(
                "key '{name}': missing; an {core} chip of series {series} needs it"
            ))
        };
        self.section(name)?.ok_or_else(missing)
    }

    /// Make an error about this file.
    pub fn error(&self, what: &str) -> ChipError {
        ChipError(format!("{}: {what}", self.file))
    }

    /// Compute the supply current in a power state, interpolated linearly between the maker's
    /// voltages.
    ///
    /// # Errors
    /// No such state.
    pub fn current_a(
        &self,
        state: &str,
        clock_hz: u32,
        supply_v: f64,
    ) -> Result<Constant, ChipError> {
        let Some(found) = self.power_state.iter().find(|known| known.name == state) else {
            let known: Vec<_> = self.power_state.iter().map(|s| s.name.as_str()).collect();
            return Err(ChipError(format!(
                "chip {} has no power state '{state}'; it has {}",
                self.name,
                known.join(", ")
            )));
        };
        let mut evidence = Evidence {
            sources: Vec::new(),
            grade: Grade::Measured,
        };
        let points = &found.current;
        let value =
            if let Some(point) = points.iter().find(|p| (p.supply_v - supply_v).abs() < 1e-9) {
                point.at(clock_hz, &mut evidence)
            } else if let [point] = points.as_slice() {
                let stated = point.supply_v;
                evidence.infer(format!(
                    "stated for {stated} V and assumed unchanged at {supply_v} V"
                ));
                point.at(clock_hz, &mut evidence)
            } else {
                let right = points
                    .iter()
                    .position(|p| p.supply_v > supply_v)
                    .unwrap_or(points.len())
                    .clamp(1, points.len() - 1);
                let (a, b) = (&points[right - 1], &points[right]);
                let (low, high) = (a.at(clock_hz, &mut evidence), b.at(clock_hz, &mut evidence));
                evidence.infer(format!(
                    "on the line through the figures for {} V and {} V",
                    a.supply_v, b.supply_v
                ));
                low + (high - low) * (supply_v - a.supply_v) / (b.supply_v - a.supply_v)
            };
        Ok(Constant {
            value,
            source: evidence.sources.join("; "),
            grade: evidence.grade,
        })
    }

    /// Merge the requested settings with the defaults.
    ///
    /// # Errors
    /// A setting does not exist, or a value is outside its range.
    pub fn settings_with(
        &self,
        asked: &BTreeMap<String, u32>,
    ) -> Result<BTreeMap<String, u32>, ChipError> {
        let mut settings: BTreeMap<_, _> = self
            .settings
            .iter()
            .map(|(name, setting)| (name.clone(), setting.default))
            .collect();
        for (name, &value) in asked {
            let Some(setting) = self.settings.get(name) else {
                let known: Vec<_> = self.settings.keys().map(String::as_str).collect();
                return Err(ChipError(format!(
                    "chip {} has no setting '{name}'; it has {}",
                    self.name,
                    if known.is_empty() {
                        "none".to_owned()
                    } else {
                        known.join(", ")
                    }
                )));
            };
            let (low, high) = (setting.minimum, setting.maximum);
            if !(low..=high).contains(&value) {
                return Err(ChipError(format!(
                    "setting '{name}' of chip {}: {value} is outside {low} to {high}",
                    self.name
                )));
            }
            settings.insert(name.clone(), value);
        }
        Ok(settings)
    }
}

/// A chip file's values: its own, over those of the chip that it is `like`, `without` some of them.
fn whole(text: &str, file: &str) -> Result<toml::Table, ChipError> {
    let wrong = |what: &str| ChipError(format!("{file}: {what}"));
    let mut own: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        wrong(&format!("not valid TOML: {}", one_line(&error.to_string())))
    })?;
    let (like, without) = (own.remove("like"), own.remove("without"));
    let Some(like) = like else {
        return match without {
            None => Ok(own),
            Some(_) => Err(wrong(
                "key 'without': only for a chip that is 'like' another",
            )),
        };
    };
    let Some(name) = like.as_str() else {
        return Err(wrong("key 'like': give the name of a chip"));
    };
    let path = Path::new(file).with_file_name(format!("{name}.toml"));
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let path = path.display();
        wrong(&format!(
            "key 'like': cannot read {path}: {error}; give a chip beside this file"
        ))
    })?;
    let mut values: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        wrong(&format!("key 'like': {name}: {}", error.message()))
    })?;
    if let Some(other) = values.get("like") {
        return Err(wrong(&format!(
            "key 'like': {name} is like {other} itself; name that"
        )));
    }
    let without = without.map_or_else(|| Ok(Vec::new()), toml::Value::try_into::<Vec<Vec<String>>>);
    let without = without.map_err(|error| {
        wrong(&format!(
            "key 'without': give lists of keys and names: {}",
            error.message()
        ))
    })?;
    for place in without {
        if !take_away(&mut values, &place) {
            let place = place.join("' in '");
            return Err(wrong(&format!(
                "key 'without': chip {name} has no '{place}'"
            )));
        }
    }
    lay_over(&mut values, own).map_err(|key| {
        wrong(&format!(
            "key '{key}': needs a 'source' of its own, for it is not as in {name}"
        ))
    })?;
    Ok(values)
}

/// Remove what a path of keys, the last of which may be the `name` of an array's entry, leads to;
/// false if there is nothing.
fn take_away(values: &mut toml::Table, place: &[String]) -> bool {
    let [key, rest @ ..] = place else {
        return false;
    };
    match (values.get_mut(key), rest) {
        (Some(_), []) => values.remove(key).is_some(),
        (Some(toml::Value::Table(inner)), _) => take_away(inner, rest),
        (Some(toml::Value::Array(entries)), [name]) => {
            let before = entries.len();
            entries.retain(|entry| name_of(entry) != Some(name));
            entries.len() < before
        }
        _ => false,
    }
}

fn name_of(entry: &toml::Value) -> Option<&str> {
    entry.get("name").and_then(toml::Value::as_str)
}

/// Lay values over others. Tables are joined, except constants, and so are entries of arrays with
/// the same `name`; what changes a table that has a source needs a source of its own. `Err` holds
/// the key of one without.
fn lay_over(values: &mut toml::Table, own: toml::Table) -> Result<(), String> {
    use toml::Value::{Array, Table};
    for (key, new) in own {
        match (values.get_mut(&key), new) {
            (Some(Table(old)), Table(new)) if !new.contains_key("value") => {
                join(old, new, &key)?;
            }
            (Some(Array(old)), Array(new))
                if !new.is_empty() && new.iter().all(|entry| name_of(entry).is_some()) =>
            {
                for entry in new {
                    let same = old.iter_mut().find(|old| name_of(old) == name_of(&entry));
                    match (same, entry) {
                        (Some(Table(same)), Table(entry)) => join(same, entry, &key)?,
                        (_, entry) => old.push(entry),
                    }
                }
            }
            (_, new) => {
                values.insert(key, new);
            }
        }
    }
    Ok(())
}

fn join(old: &mut toml::Table, new: toml::Table, key: &str) -> Result<(), String> {
    if old.contains_key("source") && !new.contains_key("source") {
        return Err(key.to_owned());
    }
    lay_over(old, new).map_err(|inner| format!("{key}.{inner}"))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Format bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
