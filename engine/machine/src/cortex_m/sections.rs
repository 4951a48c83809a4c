//! Sections of a Cortex-M chip's file beyond those of every chip.

use joulemark_kernel::chip::{Constant, Memory, MemoryKind};
use joulemark_kernel::{Chip, ChipError, Picoseconds};
use joulemark_peripherals::flash_cells::{FlashRange, FlashTimes};
use joulemark_peripherals::ti_aes::AesTiming;
use joulemark_radio::Figures;
use serde::Deserialize;

/// The core and its clocks: the section `cortex_m`.
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
    /// The frequency of the crystal that the fast clock comes from, where software selects it.
    pub crystal_hz: Option<Constant>,
    /// The slow clock of timers and watchdogs.
    pub low_hz: Constant,
    /// Divider of the core's clock for `SysTick`'s other clock, where there is one.
    pub systick_divider: Option<Constant>,
    /// `SysTick`'s calibration register, where it holds something.
    pub systick_calibration: Option<Constant>,
    /// Regions of the memory protection unit, where there is one.
    pub mpu_regions: Option<Constant>,
    /// Word of the factory's configuration that identifies the device, where start-up code's registers
    /// are emulated.
    pub device_id: Option<Constant>,
    /// Where boot code looks for the program, where that is not always at the start of flash.
    pub boot: Option<Boot>,
    /// The section `aes_cycles`.
    #[serde(skip)]
    pub aes: Option<Aes>,
    /// The section `radio`.
    #[serde(skip)]
    pub radio: Option<Radio>,
    /// The section `flash_controller`, and the flash that it is of.
    #[serde(skip)]
    pub flash: Option<(FlashRange, FlashTimes)>,
    /// Where flash ends, whoever changes it.
    #[serde(skip)]
    pub flash_end: u32,
    /// The sections `device_wait`.
    #[serde(skip)]
    pub device_waits: Vec<DeviceWait>,
    /// The sections `wake_up`.
    #[serde(skip)]
    pub wake_up: Vec<WakeUp>,
}

/// A register that answers late: one section `device_wait`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceWait {
    /// As in `registers.table`.
    pub register: String,
    /// Wait states of a load.
    pub read: Constant,
    /// Wait states of a store.
    pub write: Constant,
}

/// How long the core takes to wake from a power state: one section `wake_up`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WakeUp {
    /// As in `power_state`.
    pub state: String,
    /// From the event that wakes to the first instruction.
    pub time_s: Constant,
}

/// Words by which boot code in a chip's ROM finds the program.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boot {
    /// Address of a word that is 0 where there is a program.
    pub image_valid: Constant,
    /// Address of the word that holds the address of the program's vector table.
    pub vectors: Constant,
}

/// How long the AES accelerator takes, in cycles of the core's clock: the section `aes_cycles`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aes {
    /// A round.
    pub round: Constant,
    /// Cycles of a block beside its rounds.
    pub block: Constant,
    /// Further cycles of a block whose input is the output of the block before it.
    pub chain: Constant,
    /// A word of the first block in, and of the last one out.
    pub word: Constant,
    /// The way of a key from the key store to the engine.
    pub key: Constant,
}

impl Aes {
    /// As the accelerator takes it.
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

/// The receiver of a radio that is a part of the chip: the section `radio`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// The least power at which 1% of packets are lost.
    pub sensitivity_dbm: Constant,
    /// By how much a frame has to be stronger than another for 1% to be lost.
    pub capture_db: Constant,
    /// The least time from a strobe to the air, and between receiving and sending.
    pub turnaround_s: Constant,
}

impl Radio {
    /// As an antenna takes them.
    pub fn figures(&self) -> Figures {
        Figures {
            sensitivity_dbm: self.sensitivity_dbm.value,
            capture_db: self.capture_db.value,
            turnaround: Picoseconds((self.turnaround_s.value * 1e12).round() as u64),
        }
    }
}

/// The cache's geometry: the section `cache`.
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

impl Core {
    /// That of a chip, whose other sections are checked too.
    ///
    /// # Errors
    /// One is missing, unknown or wrong.
    pub fn of(chip: &Chip) -> Result<Self, ChipError> {
        chip.only_sections(&[
            "cortex_m",
            "cache",
            "aes_cycles",
            "radio",
            "flash_controller",
            "device_wait",
            "wake_up",
        ])?;
        let mut core: Self = chip.needed_section("cortex_m")?;
        core.aes = chip.section("aes_cycles")?;
        core.radio = chip.section("radio")?;
        core.flash = flash(chip)?;
        let flash = chip
            .memory
            .iter()
            .find(|memory| memory.kind == MemoryKind::Flash);
        core.flash_end = flash.map_or(0, |memory| memory.start + memory.size);
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
        let geometry = cache
            .as_ref()
            .map(|cache| [&cache.size_bytes, &cache.ways, &cache.line_bytes].map(Constant::whole));
        if geometry.is_some_and(|geometry| !matches!(geometry, [8192, 4, 8])) {
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

    /// How long the core takes to wake from power states.
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

/// The flash of a chip whose controller is emulated.
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
