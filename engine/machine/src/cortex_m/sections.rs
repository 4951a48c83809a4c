//! Sections of a Cortex-M chip's file, beyond those that every chip has.

use std::ops::Range;

use joulemark_kernel::chip::{Constant, Memory, MemoryKind};
use joulemark_kernel::lines::Lines;
use joulemark_kernel::{Chip, ChipError, Picoseconds};
use joulemark_peripherals::flash_cells::{FlashRange, FlashTimes};
use joulemark_peripherals::ti_aes::AesTiming;
use joulemark_radio::{Figures, Phy};
use serde::Deserialize;

/// The core and its clocks: section `cortex_m`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
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
    /// The frequency of the crystal behind the fast clock, if software can select it.
    pub crystal_hz: Option<Constant>,
    /// The slow clock of timers and watchdogs.
    pub low_hz: Constant,
    /// Divider of the core's clock for `SysTick`'s other clock, if there is one.
    pub systick_divider: Option<Constant>,
    /// `SysTick`'s calibration register, if it holds a value.
    pub systick_calibration: Option<Constant>,
    /// Regions of the memory protection unit, if there is one.
    pub mpu_regions: Option<Constant>,
    /// How boot code finds the program, unless that is always at the start of flash.
    pub boot: Option<Boot>,
    /// Section `aes_cycles`.
    #[serde(skip)]
    pub aes: Option<Aes>,
    /// Section `radio`.
    #[serde(skip)]
    pub radio: Option<Radio>,
    /// Section `flash_controller`, and its flash.
    #[serde(skip)]
    pub flash: Option<(FlashRange, FlashTimes)>,
    /// The end of flash, whether or not its controller is emulated.
    #[serde(skip)]
    pub flash_end: u32,
    /// Addresses of the cache's own RAM.
    #[serde(skip)]
    pub cache_ram: Range<u32>,
    /// Sections `device_wait`.
    #[serde(skip)]
    pub device_waits: Vec<DeviceWait>,
    /// Sections `wake_up`.
    #[serde(skip)]
    pub wake_up: Vec<WakeUp>,
}

/// A register with wait states: one section `device_wait`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceWait {
    /// Its name in `registers.table`.
    pub register: String,
    /// Wait states of a load.
    pub read: Constant,
    /// Wait states of a store.
    pub write: Constant,
}

/// The core's wake-up time from a power state: one section `wake_up`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WakeUp {
    /// Its name in `power_state`.
    pub state: String,
    /// From the wake-up event to the first instruction.
    pub time_s: Constant,
}

/// How boot code in a chip's ROM finds the program.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boot {
    /// Address of a word that is 0 if there is a program.
    pub image_valid: Constant,
    /// Address of the word that holds the vector table's address.
    pub vectors: Constant,
}

/// The AES accelerator's timing, in cycles of the core's clock: section `aes_cycles`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aes {
    /// A round.
    pub round: Constant,
    /// A block, besides its rounds.
    pub block: Constant,
    /// Additionally for a block whose input depends on the previous block's output.
    pub chain: Constant,
    /// A word of the first input block or the last output block.
    pub word: Constant,
    /// Loading a key from the key store into the engine.
    pub key: Constant,
}

impl Aes {
    /// Convert to the accelerator's timing.
    pub fn timing(&self) -> AesTiming {
        AesTiming {
            round: self.round.whole(),
            block: self.block.whole(),
            chain: self.chain.whole(),
            word: self.word.whole(),
            key: self.key.whole(),
        }
    }
}

/// The receiver of a radio in the chip: section `radio`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// The lowest power at which 1% of packets are lost.
    pub sensitivity_dbm: Constant,
    /// How much stronger than another one a frame must be for a loss of 1%.
    pub capture_db: Constant,
    /// The shortest time from a strobe to the air, and between receiving and sending.
    pub turnaround_s: Constant,
}

impl Radio {
    /// The antenna's figures, for the PHY of the radio's model.
    pub fn figures(&self, phy: &'static Phy) -> Figures {
        Figures {
            phy,
            sensitivity_dbm: self.sensitivity_dbm.value,
            capture_db: self.capture_db.value,
            turnaround: Picoseconds((self.turnaround_s.value * 1e12).round() as u64),
        }
    }
}

/// The cache's geometry: section `cache`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Total size.
    pub size_bytes: Constant,
    /// Associativity.
    pub ways: Constant,
    /// Line size.
    pub line_bytes: Constant,
    /// Loads do not go through it.
    #[serde(default)]
    pub only_fetches: bool,
}

impl Cache {
    /// Size, ways and bytes of a line.
    pub fn geometry(&self) -> [u32; 3] {
        [&self.size_bytes, &self.ways, &self.line_bytes].map(Constant::whole)
    }
}

/// The memory whose accesses take longer, and its lines.
///
/// # Errors
/// They are none that the emulation knows.
pub fn lines(chip: &Chip) -> Result<Option<Lines>, ChipError> {
    let mut memories = chip.memory.iter();
    let late = memories.find_map(|memory| Some((memory, memory.timing.as_ref()?)));
    let Some((memory, timing)) = late else {
        return Ok(None);
    };
    let cache: Option<Cache> = chip.section("cache")?;
    let line_bytes = timing.line_buffer_bytes.as_ref().map(Constant::whole);
    let line_bytes = line_bytes.filter(|bytes| bytes.is_power_of_two());
    let line_bytes = line_bytes.ok_or_else(|| {
        chip.error("key 'memory.timing.line_buffer_bytes': needs a power of two on this core")
    })?;
    let (sets, ways) = match &cache {
        None => (0, 0),
        Some(cache) => match cache.geometry() {
            [size, ways, line] if line == line_bytes && ways > 0 && size % (ways * line) == 0 => {
                ((size / (ways * line)) as usize, ways as usize)
            }
            _ => {
                return Err(
                    chip.error("key 'cache': needs whole sets of lines as long as the memory's")
                );
            }
        },
    };
    Ok(Some(Lines {
        range: memory.start..memory.start.saturating_add(memory.size),
        wait_states: timing.wait_states.whole() as u8,
        line_bytes,
        sets,
        ways,
        only_fetches: cache.is_some_and(|cache| cache.only_fetches),
    }))
}

impl Core {
    /// Check that a chip has these sections and those of its series alone.
    ///
    /// # Errors
    /// A section is missing, unknown or wrong.
    pub fn check(chip: &Chip, of_series: &[&str]) -> Result<(), ChipError> {
        let known = [
            "cortex_m",
            "cache",
            "aes_cycles",
            "radio",
            "flash_controller",
            "device_wait",
            "wake_up",
        ];
        chip.only_sections(&[&known, of_series].concat())?;
        Self::of(chip).map(drop)
    }

    /// Read and check these sections of a chip.
    ///
    /// # Errors
    /// A section is missing or wrong.
    pub fn of(chip: &Chip) -> Result<Self, ChipError> {
        let mut core: Self = chip.needed_section("cortex_m")?;
        core.aes = chip.section("aes_cycles")?;
        core.radio = chip.section("radio")?;
        core.flash = flash(chip)?;
        let flash = chip
            .memory
            .iter()
            .find(|memory| memory.kind == MemoryKind::Flash);
        core.flash_end = flash.map_or(0, |memory| memory.start + memory.size);
        let mut memories = chip.memory.iter();
        let is_cache_ram = |memory: &&Memory| {
            memory
                .timing
                .as_ref()
                .is_some_and(|timing| timing.cache_ram)
        };
        core.cache_ram = memories
            .find(is_cache_ram)
            .map_or(0..0, |memory| memory.start..memory.start + memory.size);
        core.device_waits = chip.section("device_wait")?.unwrap_or_default();
        core.wake_up = chip.section("wake_up")?.unwrap_or_default();
        let known = |name: &str| chip.power_state.iter().any(|state| state.name == name);
        if let Some(unknown) = core.wake_up.iter().find(|wake_up| !known(&wake_up.state)) {
            return Err(chip.error(&format!(
                "key 'wake_up': there is no power state '{}'",
                unknown.state
            )));
        }
        let cache: Option<Cache> = chip.section("cache")?;
        let geometry = cache.as_ref().map(Cache::geometry);
        if chip.core == "armv7m" && geometry.is_some_and(|geometry| geometry != [8192, 4, 8]) {
            return Err(chip.error(
                "key 'cache': the emulation knows a cache of 8192 bytes, 4 ways and lines of 8 bytes, \
                 and no other",
            ));
        }
        let cached = |memory: &Memory| {
            let timing = memory.timing.as_ref();
            timing.is_some_and(|timing| timing.cached || timing.cache_ram)
        };
        if cache.is_none() && chip.memory.iter().any(cached) {
            return Err(chip.error("key 'cache': missing; a memory's timing names it"));
        }
        Ok(core)
    }

    /// The core's wake-up times from power states.
    pub fn wake_up_times(&self) -> Vec<(String, Picoseconds)> {
        let sections = self.wake_up.iter();
        sections
            .map(|wake_up| {
                let time = Picoseconds((wake_up.time_s.value * 1e12).round() as u64);
                (wake_up.state.clone(), time)
            })
            .collect()
    }
}

/// The flash of a chip whose flash controller is emulated.
fn flash(chip: &Chip) -> Result<Option<(FlashRange, FlashTimes)>, ChipError> {
    let Some(times) = chip.section("flash_controller")? else {
        return Ok(None);
    };
    let mut memories = chip.memory.iter();
    let memory = memories.find(|memory| memory.kind == MemoryKind::Flash);
    let range = memory.and_then(|memory| {
        Some(FlashRange {
            start: memory.start,
            size: memory.size,
            page: memory.segment_size?,
        })
    });
    let range = range.ok_or_else(|| {
        chip.error("key 'flash_controller': needs a memory of kind 'flash' with a segment_size")
    })?;
    Ok(Some((range, times)))
}
