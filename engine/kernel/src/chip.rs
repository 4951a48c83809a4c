//! Chip files: what a microcontroller is made of, as data with sources.
//!
//! The emulation, the firmware's linker script and the energy model read the same file. A chip of
//! another family adds sections of its own; the sections here that it does not have are optional.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};

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

/// A physical constant with where it comes from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// In the unit that the key's name ends with.
    pub value: f64,
    /// Document and table, page or section.
    #[serde(deserialize_with = "non_empty")]
    pub source: String,
    /// How far it can be trusted.
    pub grade: Grade,
}

impl Constant {
    /// The value as a whole number, such as hertz or cycles.
    pub fn whole(&self) -> u32 {
        self.value.round() as u32
    }
}

/// The core that a chip is built around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CoreKind {
    /// 16-bit MSP430 (not MSP430X).
    Msp430,
    /// `ARMv7-M`.
    Armv7m,
}

impl CoreKind {
    /// The name that chip files and users use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Msp430 => "msp430",
            Self::Armv7m => "armv7m",
        }
    }
}

/// What a memory region is made of.
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
    /// What it is made of.
    pub kind: MemoryKind,
    /// First address.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// Bytes that an erase takes at once, for flash.
    pub segment_size: Option<u32>,
    /// How long an access takes; absent where every access takes one cycle.
    pub timing: Option<MemoryTiming>,
    /// Document and table, page or section.
    #[serde(deserialize_with = "non_empty")]
    pub source: String,
    /// How far it can be trusted.
    pub grade: Grade,
}

/// How long accesses to a memory take, and what shortens them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryTiming {
    /// Cycles that an access takes beyond its first.
    pub wait_states: Constant,
    /// Bytes of the line that a buffer in front of the memory keeps; absent where there is none.
    pub line_buffer_bytes: Option<Constant>,
    /// Accesses go through the [`Cache`] while it is on.
    #[serde(default)]
    pub cached: bool,
    /// This is the cache's own RAM: no memory while the cache is on.
    #[serde(default)]
    pub cache_ram: bool,
}

/// A cache's geometry.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// All lines together.
    pub size_bytes: Constant,
    /// Lines that an address may be in.
    pub ways: Constant,
    /// Bytes of a line.
    pub line_bytes: Constant,
}

/// A Cortex-M core as one chip has it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CortexM {
    /// The series of chips that share their peripherals, as the emulation and the firmware name it.
    pub series: String,
    /// The CPUID register.
    pub cpuid: Constant,
    /// External interrupt lines.
    pub interrupts: Constant,
    /// Implemented bits of an interrupt priority.
    pub priority_bits: Constant,
    /// The core's clock after reset.
    pub reset_hz: Constant,
    /// The highest clock.
    pub max_hz: Constant,
    /// The frequency of the crystal that the fast clock comes from, where software selects it.
    pub crystal_hz: Option<Constant>,
    /// The slow clock of timers and watchdogs, where the chip has one of its own.
    pub low_hz: Option<Constant>,
    /// What the core's clock is divided by for `SysTick`'s other clock, where there is one.
    pub systick_divider: Option<Constant>,
    /// Where boot code looks for the program, where that is not always at the start of flash.
    pub boot: Option<Boot>,
    /// What of this core's timing has not been compared with silicon; shown with every result.
    pub timing_note: String,
}

/// Words by which boot code in a chip's ROM finds the program.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boot {
    /// Address of a word that is 0 where there is a program.
    pub image_valid: u32,
    /// Address of the word that holds the address of the program's vector table.
    pub vectors: u32,
    /// Document and table, page or section.
    #[serde(deserialize_with = "non_empty")]
    pub source: String,
    /// How far it can be trusted.
    pub grade: Grade,
}

/// Addresses that show a part of another region.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mirror {
    /// First address of the second view.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// Where the contents are.
    pub of: u32,
    /// Document and table, page or section.
    #[serde(deserialize_with = "non_empty")]
    pub source: String,
    /// How far it can be trusted.
    pub grade: Grade,
}

/// Names and addresses from one table of a document.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table<T> {
    /// Document and table, page or section.
    #[serde(deserialize_with = "non_empty")]
    pub source: String,
    /// How far it can be trusted.
    pub grade: Grade,
    /// The table.
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

/// A named setting of a machine at start.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// What it holds where nothing else is asked for.
    pub default: u32,
    /// Lowest allowed value.
    pub minimum: u32,
    /// Highest allowed value.
    pub maximum: u32,
    /// One sentence.
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
    /// The clock that `constant_a` was stated for; absent where it depends on none.
    pub stated_at_hz: Option<u32>,
    /// The part for each megahertz of the core's clock.
    pub per_mhz_a: Option<Constant>,
}

/// A power state and what it takes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerState {
    /// As machines report it.
    pub name: String,
    /// At the voltages that the maker states, rising.
    pub current: Vec<SupplyCurrent>,
}

/// The MSP430x1xx basic clock module as one chip has it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BasicClock {
    /// The watch crystal on LFXT1.
    pub lfxt1_hz: Constant,
    /// The highest system frequency.
    pub max_hz: Constant,
    /// DCO frequency with the internal resistor at tap 3, for RSEL 0 to 7, typical at 3 V.
    pub dco_tap3_hz: Vec<Constant>,
    /// Ratio of neighbouring DCO taps.
    pub dco_tap_ratio: Constant,
    /// How much faster the DCO runs with the external 100 kilohm resistor (DCOR = 1).
    pub dco_rosc_ratio: Constant,
    /// From the wake-up event to the first MCLK cycle where the DCO generator was off.
    pub dco_start_s: Constant,
}

/// The MSP430x1xx flash controller as one chip has it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashController {
    /// Lowest clock of the flash timing generator.
    pub generator_min_hz: Constant,
    /// Highest clock of the flash timing generator.
    pub generator_max_hz: Constant,
    /// Generator cycles to program a byte or a word.
    pub program_cycles: Constant,
    /// Generator cycles for the first word of a block.
    pub block_first_cycles: Constant,
    /// Generator cycles for each further word of a block.
    pub block_next_cycles: Constant,
    /// Generator cycles for the end of a block.
    pub block_end_cycles: Constant,
    /// Generator cycles to erase a segment.
    pub segment_erase_cycles: Constant,
    /// Generator cycles to erase everything.
    pub mass_erase_cycles: Constant,
}

/// A chip file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chip {
    /// The file's stem.
    pub name: String,
    /// The core.
    pub core: CoreKind,
    /// One sentence.
    pub description: String,
    /// Short names of the documents that sources cite, and their titles.
    pub documents: BTreeMap<String, String>,
    /// The memory map.
    pub memory: Vec<Memory>,
    /// Second views of memory.
    #[serde(default)]
    pub mirror: Vec<Mirror>,
    /// Interrupt vectors: addresses of their table entries.
    pub vectors: Table<u32>,
    /// Peripheral registers.
    pub registers: Table<Register>,
    /// Power states, the most active first.
    pub power_state: Vec<PowerState>,
    /// What the emulation leaves out.
    #[serde(default)]
    pub absent: Vec<Absent>,
    /// Settings of a machine at start.
    #[serde(default)]
    pub settings: BTreeMap<String, Setting>,
    /// Cortex-M core.
    pub cortex_m: Option<CortexM>,
    /// Code cache.
    pub cache: Option<Cache>,
    /// MSP430x1xx clocks.
    pub basic_clock: Option<BasicClock>,
    /// MSP430x1xx flash controller.
    pub flash_controller: Option<FlashController>,
    /// SHA-256 of the file.
    #[serde(skip)]
    pub digest: String,
}

/// A chip file that is wrong: the file, the key and what to do.
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

/// A sum or product of figures is as good as the worst of them.
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
                "stated for {stated} Hz and taken as the same at {clock_hz} Hz"
            ));
        }
        current
    }
}

impl Chip {
    /// Read and check a chip file.
    ///
    /// # Errors
    /// The file cannot be read, or something in it is wrong.
    pub fn load(path: &Path) -> Result<Self, ChipError> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            ChipError(format!(
                "{}: cannot read this chip file: {error}",
                path.display()
            ))
        })?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Check the text of a chip file; `file` is what errors call it.
    ///
    /// # Errors
    /// Something in it is wrong.
    pub fn parse(text: &str, file: &str) -> Result<Self, ChipError> {
        let reader = toml::Deserializer::parse(text).map_err(|error| {
            ChipError(format!(
                "{file}: not valid TOML: {}",
                one_line(&error.to_string())
            ))
        })?;
        let mut chip: Self = serde_path_to_error::deserialize(reader).map_err(|error| {
            let key = error.path().to_string();
            let key = if key == "." {
                "the top level".to_owned()
            } else {
                format!("key '{key}'")
            };
            let message = one_line(error.inner().message());
            ChipError(format!("{file}: {key}: {message}"))
        })?;
        chip.check()
            .map_err(|message| ChipError(format!("{file}: {message}")))?;
        chip.digest = hex(&Sha256::digest(text.as_bytes()));
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
        if let Some(clock) = &self.basic_clock
            && clock.dco_tap3_hz.len() != 8
        {
            return Err(
                "key 'basic_clock.dco_tap3_hz': needs one entry for each RSEL, 0 to 7".into(),
            );
        }
        let needed: &[(&str, bool)] = match self.core {
            CoreKind::Msp430 => &[
                ("basic_clock", self.basic_clock.is_some()),
                ("flash_controller", self.flash_controller.is_some()),
            ],
            CoreKind::Armv7m => &[("cortex_m", self.cortex_m.is_some())],
        };
        for (key, present) in needed {
            if !present {
                return Err(format!(
                    "key '{key}': missing; an {} chip needs it",
                    self.core
                ));
            }
        }
        let cached = |memory: &Memory| {
            let timing = memory.timing.as_ref();
            timing.is_some_and(|timing| timing.cached || timing.cache_ram)
        };
        if self.cache.is_none() && self.memory.iter().any(cached) {
            return Err("key 'cache': missing; a memory's timing names it".into());
        }
        Ok(())
    }

    /// The memory region that holds an address.
    pub fn region(&self, address: u32) -> Option<&Memory> {
        self.memory
            .iter()
            .find(|memory| address >= memory.start && address - memory.start < memory.size)
    }

    /// What the emulation leaves out at an address.
    pub fn absent_at(&self, address: u32) -> Option<&Absent> {
        self.absent.iter().find(|absent| {
            absent
                .ranges
                .iter()
                .any(|&[first, last]| (first..=last).contains(&address))
        })
    }

    /// Supply current in a power state, linear between the voltages that the maker states.
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
                    "stated for {stated} V and taken as the same at {supply_v} V"
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

    /// The settings of a machine: defaults, and over them what was asked for.
    ///
    /// # Errors
    /// No such setting, or a value outside its range.
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

impl fmt::Display for CoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Hexadecimal digits of a digest.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
