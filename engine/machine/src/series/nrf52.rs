//! nRF52: clocks and power, UARTs, GPIO with its tasks and events, timers, real-time counters,
//! random numbers, temperature, watchdog, interconnect, flash controller and configuration
//! (nRF52840 product specification).

use std::ops::Range;
use std::sync::Arc;

use joulemark_armv7m::{Flow, MemorySettings, Width};
use joulemark_kernel::chip::Constant;
use joulemark_kernel::{
    Based, Chip, ChipError, Cycles, Fault, FaultKind, FineHertz, Hertz, Memories, Picoseconds,
    Signal, Timeline,
};
use joulemark_peripherals::nrf_simple::SENSES;
use joulemark_peripherals::{
    Nrf, NrfCryptoCell, NrfEcb, NrfEgu, NrfEvents, NrfGpiote, NrfIdle, NrfNvmc, NrfPpi, NrfQspi,
    NrfRadio, NrfRng, NrfRtc, NrfSaadc, NrfSerial, NrfTemp, NrfTimer, NrfUart, NrfWatchdog,
};
use joulemark_radio::{Radio, gfsk_1m, oqpsk_2450};
use serde::Deserialize;

use crate::cores::armv7m::{self, Armv7m};
use crate::cortex_m::instances::{Instance, Instances};
use crate::cortex_m::sections::{Core, Radio as RadioSection};
use crate::cortex_m::{Anew, Context, Made, Peripherals, Pins, Reset, numbered};
use crate::series::Series;

/// A peripheral of the series. Ports, interconnect and flash controller have no tasks, events and
/// interrupts of the common form ([`Nrf`]).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Clock,
    Radio,
    Uart(usize),
    Gpiote,
    Timer(usize),
    Rtc(usize),
    Temp,
    Rng,
    Watchdog,
    Egu(usize),
    Ecb,
    /// A peripheral that is left out, but may be configured.
    Idle(usize),
    /// An SPI and I2C master.
    Serial(usize),
    Saadc,
    Qspi,
    Nvmc,
    Ppi,
    CryptoCell,
    Port(usize),
}

const fn block(name: &'static str, block: Block) -> Instance<Block> {
    let interrupts = !matches!(block, Block::Nvmc | Block::Ppi) as usize;
    Instance::new(name, block, 0x1000, interrupts)
}

/// P0's registers are at 0x504 to 0x77c, and P1 begins in the same page.
const fn port(name: &'static str, number: usize) -> Instance<Block> {
    Instance::new(name, Block::Port(number), 0x780, 0)
        .from(0x500)
        .port()
}

static INSTANCES: [Instance<Block>; 40] = [
    block("CLOCK", Block::Clock),
    block("RADIO", Block::Radio),
    block("UARTE0", Block::Uart(0)),
    block("UARTE1", Block::Uart(1)),
    block("GPIOTE", Block::Gpiote),
    block("TIMER0", Block::Timer(0)),
    block("TIMER1", Block::Timer(1)),
    block("TIMER2", Block::Timer(2)),
    block("TIMER3", Block::Timer(3)),
    block("TIMER4", Block::Timer(4)),
    block("RTC0", Block::Rtc(0)),
    block("RTC1", Block::Rtc(1)),
    block("RTC2", Block::Rtc(2)),
    block("TEMP", Block::Temp),
    block("RNG", Block::Rng),
    block("WDT", Block::Watchdog),
    block("EGU0", Block::Egu(0)),
    block("EGU1", Block::Egu(1)),
    block("EGU2", Block::Egu(2)),
    block("EGU3", Block::Egu(3)),
    block("EGU4", Block::Egu(4)),
    block("EGU5", Block::Egu(5)),
    block("ECB", Block::Ecb),
    block("CCM", Block::Idle(0)),
    block("PWM0", Block::Idle(1)),
    block("PWM1", Block::Idle(2)),
    block("PWM2", Block::Idle(3)),
    block("PWM3", Block::Idle(4)),
    block("SPI0", Block::Serial(0)),
    block("SPI1", Block::Serial(1)),
    block("SPI2", Block::Serial(2)),
    block("SPI3", Block::Serial(3)),
    block("SAADC", Block::Saadc),
    block("USBD", Block::Idle(5)),
    block("QSPI", Block::Qspi),
    block("NVMC", Block::Nvmc),
    block("PPI", Block::Ppi),
    Instance::new("CRYPTOCELL", Block::CryptoCell, 0x2000, 1),
    port("P0", 0),
    port("P1", 1),
];

/// What may be configured but not started, by the number of [`Block::Idle`], and the tasks that
/// start it.
const IDLE: [(&str, u32); 6] = [
    (
        "the AES engines for Bluetooth's packets and addresses (CCM, AAR)",
        3,
    ),
    ("PWM's outputs (PWM0)", 6),
    ("PWM's outputs (PWM1)", 6),
    ("PWM's outputs (PWM2)", 6),
    ("PWM's outputs (PWM3)", 6),
    // No host is there: USBREGSTATUS is 0.
    ("transfers of the USB device (USBD)", 0x007f_fffe),
];

/// What identifies the chip: section `factory`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Factory {
    /// `FICR.INFO.PART`, `VARIANT` and `PACKAGE`.
    part: Constant,
    variant: Constant,
    package: Constant,
    /// The part's number in the debugger's ROM table, by which programs identify chips and
    /// revisions.
    rom_table_part: Constant,
}

/// What is the same for all specimens of a chip.
struct Parameters {
    instances: Instances<Block>,
    /// Read-only memories and what they hold: factory and user configuration, which are flash, so
    /// unknown parts are unprogrammed; and the debugger's ROM table.
    factory: (u32, Vec<u8>),
    user: (u32, Vec<u8>),
    rom_table: (u32, Vec<u8>),
    /// The radio's figures in Bluetooth LE's mode: section `radio_1m`.
    radio_1m: Option<RadioSection>,
}

impl Parameters {
    fn of(chip: &Chip) -> Result<Self, ChipError> {
        let instances = Instances::of(chip, &INSTANCES)?;
        let figures: Factory = chip.needed_section("factory")?;
        let memory = |name: &str| {
            let mut memories = chip.memory.iter();
            let found = memories.find(|memory| memory.name == name);
            found.ok_or_else(|| chip.error(&format!("key 'memory': needs one called '{name}'")))
        };
        let unprogrammed = |name: &str| {
            let memory = memory(name)?;
            Ok((memory.start, vec![0xff; memory.size as usize]))
        };
        let (flash, ram) = (memory("flash")?, memory("ram")?);
        let page = flash.segment_size.unwrap_or(flash.size);
        let mut factory = unprogrammed("ficr")?;
        // Page size and number of pages, type of the device's address, identity, KiB.
        let words = [
            (0x010, page),
            (0x014, flash.size / page),
            (0x0a0, 1),
            (0x100, figures.part.whole()),
            (0x104, figures.variant.whole()),
            (0x108, figures.package.whole()),
            (0x10c, ram.size >> 10),
            (0x110, flash.size >> 10),
        ];
        for (at, word) in words {
            put(&mut factory.1, at, word);
        }
        let mut table = unprogrammed("rom-table")?;
        let words = [figures.rom_table_part.whole(), 0, 0x30, 0];
        table.1 = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Ok(Self {
            instances,
            factory,
            user: unprogrammed("uicr")?,
            rom_table: table,
            radio_1m: chip.section("radio_1m")?,
        })
    }
}

/// Put a word into a memory, if it is that large.
fn put(memory: &mut [u8], at: usize, word: u32) {
    if let Some(place) = memory.get_mut(at..at + 4) {
        place.copy_from_slice(&word.to_le_bytes());
    }
}

/// UICR has `PSELRESET` twice: the pin that resets the chip.
const RESET_PIN: usize = 0x200;
/// Words of the factory configuration that hold the device's number; the words after them are 0.
const DEVICE_ID: usize = 0x060;
const DEVICE_ADDRESS: usize = 0x0a4;

/// Clock and power management. Whatever is started runs at once.
struct ClockPower {
    events: NrfEvents,
    /// Whether HFCLK runs from its crystal; and whether LFCLK runs.
    crystal: bool,
    low_clock: bool,
    low_source: u32,
    /// System off: only a pin or a reset ends it.
    off: bool,
    /// `RESETREAS`: bits stay set until cleared.
    reset_reasons: u32,
    /// Registers that hold what is written, from offset 0x500 on.
    held: [u32; 0x100],
}

impl ClockPower {
    const SYSTEM_OFF: u32 = 0x500;
    const LOW_SOURCE: u32 = 0x518;
    /// `GPREGRET` and `GPREGRET2`, which survive watchdog and software resets.
    const RETAINED: [usize; 2] = [0x1c / 4, 0x20 / 4];
    const DOG: u32 = 1 << 1;
    const SREQ: u32 = 1 << 2;

    fn new() -> Self {
        Self {
            events: NrfEvents::new(0x3ff),
            crystal: false,
            low_clock: false,
            low_source: 0,
            off: false,
            reset_reasons: 0,
            held: [0; 0x100],
        }
    }
}

impl Nrf for ClockPower {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn task(&mut self, number: u32, _now: Cycles) -> bool {
        match number {
            0 => self.crystal = true,
            1 => self.crystal = false,
            2 => self.low_clock = true,
            3 => self.low_clock = false,
            // Calibration and its timer; constant latency and low power.
            4 | 5 | 6 | 30 | 31 => {}
            _ => return false,
        }
        match number {
            0 => self.events.happen(0),
            2 => self.events.happen(1),
            4 => self.events.happen(3),
            _ => {}
        }
        true
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        let running = |on: bool| u32::from(on) << 16;
        Some(match offset {
            0x400 => self.reset_reasons,
            // USBREGSTATUS (no USB) and MAINREGSTATUS.
            0x438 | 0x640 => 0,
            0x408 => u32::from(self.crystal),
            // STATE is set for either source.
            0x40c => running(true) | u32::from(self.crystal),
            0x414 => u32::from(self.low_clock),
            0x418 => running(self.low_clock) | self.low_source,
            0x41c | Self::LOW_SOURCE => self.low_source,
            0x428 => 0xf,
            0x504.. => self.held[(offset as usize - 0x500) / 4 % 0x100],
            _ => return None,
        })
    }

    fn set_own(&mut self, offset: u32, value: u32, _now: Cycles) -> Result<bool, Fault> {
        match offset {
            0x400 => self.reset_reasons &= !value,
            Self::SYSTEM_OFF => self.off |= value & 1 != 0,
            Self::LOW_SOURCE => self.low_source = value & 3,
            0x504..0x900 => self.held[(offset as usize - 0x500) / 4] = value,
            // RAM retention settings: all RAM is kept. Registers without a name that Nordic's code
            // writes (0xd00 to 0xf00).
            0x900..0xa00 | 0xd00..0xf00 => {}
            _ => return Ok(false),
        }
        Ok(true)
    }
}

struct Nrf52 {
    parameters: Arc<Parameters>,
    hz: Hertz,
    low_hz: u32,
    /// Addresses of what the flash controller writes: flash and user configuration.
    flash: [Range<u32>; 2],
    clock: ClockPower,
    radio: Option<NrfRadio>,
    uart: [NrfUart; 2],
    gpiote: NrfGpiote,
    timers: [NrfTimer; 5],
    rtc: [NrfRtc; 3],
    temp: NrfTemp,
    rng: NrfRng,
    watchdog: NrfWatchdog,
    egu: [NrfEgu; 6],
    ecb: NrfEcb,
    idle: [NrfIdle; 6],
    serial: [NrfSerial; 4],
    saadc: NrfSaadc,
    qspi: NrfQspi,
    cryptocell: Option<NrfCryptoCell>,
    ppi: NrfPpi,
    nvmc: Option<NrfNvmc>,
    /// `PIN_CNF` of all pins.
    pin_cnf: [[u32; 32]; 2],
    detect_mode: [u32; 2],
    device_number: u32,
    reset_pin: u32,
    /// A fault of what ends the run between register accesses: an interconnect task that changes a
    /// pin, a pin that wakes from system off.
    unreachable: Option<Fault>,
}

/// The series.
pub static SERIES: Series = Series {
    name: "nrf52",
    core: &armv7m::TARGET,
    check: |chip| {
        Core::check(chip, &["factory", "radio_1m"])?;
        Parameters::of(chip).map(drop)
    },
    make: |chip, image, options| Ok(Box::new(Armv7m::new(chip, image, options, make)?)),
};

/// Make the peripherals of a chip of this series, and its pin names.
fn make(chip: &Chip, core: &Core, setting: &dyn Fn(&str) -> u32) -> Result<Made, ChipError> {
    let parameters = Arc::new(Parameters::of(chip)?);
    let pins = numbered(parameters.instances.pins(Block::Port));
    Ok((Box::new(Nrf52::new(parameters, core, setting)), pins))
}

impl Nrf52 {
    fn new(parameters: Arc<Parameters>, core: &Core, setting: &dyn Fn(&str) -> u32) -> Self {
        let base = |block| parameters.instances.base(block).unwrap_or(0);
        let cryptocell = parameters.instances.base(Block::CryptoCell);
        let ppi = NrfPpi::new(
            base(Block::Rtc(0)),
            base(Block::Timer(0)),
            base(Block::Radio),
        );
        let (hz, low_hz) = (Hertz(core.reset_hz.whole()), core.low_hz.whole());
        let low = FineHertz::from(Hertz(low_hz));
        let flash = core.flash.clone();
        let (user, configuration) = &parameters.user;
        let user = *user..user + configuration.len() as u32;
        let figures = core.radio.as_ref().zip(parameters.radio_1m.as_ref());
        let radio = figures.map(|(ieee, ble)| {
            let figures = [ieee.figures(&oqpsk_2450::PHY), ble.figures(&gfsk_1m::PHY)];
            NrfRadio::new(figures, hz.0)
        });
        Self {
            parameters,
            hz,
            low_hz,
            flash: core.flash.as_ref().map_or([0..0, 0..0], |(range, _)| {
                [range.start..range.start + range.size, user]
            }),
            clock: ClockPower::new(),
            radio,
            uart: Default::default(),
            gpiote: NrfGpiote::default(),
            timers: [4, 4, 4, 6, 6].map(NrfTimer::new),
            rtc: [3, 4, 4].map(|channels| NrfRtc::new(channels, hz, low)),
            temp: NrfTemp::default(),
            rng: NrfRng::new(setting("random_seed")),
            watchdog: NrfWatchdog::new(hz, low),
            egu: Default::default(),
            ecb: NrfEcb::default(),
            idle: IDLE.map(|(name, refused)| NrfIdle::new(name, refused)),
            serial: Default::default(),
            saadc: NrfSaadc::default(),
            qspi: NrfQspi::default(),
            cryptocell: cryptocell.map(|_| NrfCryptoCell::new(setting("random_seed"))),
            ppi,
            nvmc: flash.map(|(range, times)| {
                NrfNvmc::new(range, times, hz.0, setting("instruction_cache"))
            }),
            pin_cnf: [[2; 32]; 2],
            detect_mode: [0; 2],
            device_number: setting("device_number"),
            reset_pin: setting("reset_pin"),
            unreachable: None,
        }
    }

    /// A peripheral with tasks and events.
    fn block(&mut self, block: Block) -> Option<&mut dyn Nrf> {
        Some(match block {
            Block::Clock => &mut self.clock,
            Block::Radio => self.radio.as_mut()?,
            Block::Uart(number) => &mut self.uart[number],
            Block::Gpiote => &mut self.gpiote,
            Block::Timer(number) => &mut self.timers[number],
            Block::Rtc(number) => &mut self.rtc[number],
            Block::Temp => &mut self.temp,
            Block::Rng => &mut self.rng,
            Block::Watchdog => &mut self.watchdog,
            Block::Egu(number) => &mut self.egu[number],
            Block::Ecb => &mut self.ecb,
            Block::Idle(number) => &mut self.idle[number],
            Block::Serial(number) => &mut self.serial[number],
            Block::Saadc => &mut self.saadc,
            Block::Qspi => &mut self.qspi,
            Block::Nvmc | Block::Ppi | Block::CryptoCell | Block::Port(_) => return None,
        })
    }

    /// The same, to look at.
    fn seen(&self, block: Block) -> Option<&dyn Nrf> {
        Some(match block {
            Block::Clock => &self.clock,
            Block::Radio => self.radio.as_ref()?,
            Block::Uart(number) => &self.uart[number],
            Block::Gpiote => &self.gpiote,
            Block::Timer(number) => &self.timers[number],
            Block::Rtc(number) => &self.rtc[number],
            Block::Temp => &self.temp,
            Block::Rng => &self.rng,
            Block::Watchdog => &self.watchdog,
            Block::Egu(number) => &self.egu[number],
            Block::Ecb => &self.ecb,
            Block::Idle(number) => &self.idle[number],
            Block::Serial(number) => &self.serial[number],
            Block::Saadc => &self.saadc,
            Block::Qspi => &self.qspi,
            Block::Nvmc | Block::Ppi | Block::CryptoCell | Block::Port(_) => return None,
        })
    }

    /// Start the tasks that new events trigger, until there are no new events.
    fn route(&mut self, now: Cycles) {
        loop {
            let mut tasks = Vec::new();
            for number in 0..self.parameters.instances.count() {
                let (block, base) = self.parameters.instances.at(number);
                let Some(block) = self.block(block) else {
                    continue;
                };
                let mut new = block.events_mut().take_new();
                while new != 0 {
                    let event = base + 0x100 + 4 * new.trailing_zeros();
                    new &= new - 1;
                    tasks.extend(self.ppi.tasks(event));
                }
            }
            if tasks.is_empty() {
                break;
            }
            for task in tasks {
                self.start_task(task, now);
            }
        }
        self.settle_low_clock(now);
    }

    /// Start a task for the interconnect.
    fn start_task(&mut self, address: u32, now: Cycles) {
        let Some((block, offset)) = self.parameters.instances.find(address) else {
            return;
        };
        let task = offset / 4;
        if block == Block::Ppi {
            self.ppi.task(task);
            return;
        }
        if block == Block::Gpiote && self.gpiote.output(task).is_some() {
            self.unreachable.get_or_insert_with(|| {
                Fault::new(
                    FaultKind::Absent,
                    "the emulation leaves out pins that the interconnect changes (PPI to GPIOTE)",
                )
            });
        }
        if let Some(block) = self.block(block) {
            block.task(task, now);
        }
    }

    /// Tell the counters whether their clock runs.
    fn settle_low_clock(&mut self, now: Cycles) {
        for rtc in &mut self.rtc {
            rtc.set_clock(self.clock.low_clock, now);
        }
    }

    fn advance_blocks(&mut self, now: Cycles) -> Result<(), Fault> {
        loop {
            let next = self.next_event();
            if next > now {
                break;
            }
            for number in 0..self.parameters.instances.count() {
                let (block, _) = self.parameters.instances.at(number);
                if let Some(block) = self.block(block) {
                    block.advance(next.max(Cycles(0)))?;
                }
            }
            self.route(next);
            if self.next_event() <= next {
                break;
            }
        }
        for uart in &mut self.uart {
            uart.advance(now)?;
        }
        if let Some(cryptocell) = &mut self.cryptocell {
            cryptocell.advance(now);
        }
        self.route(now);
        Ok(())
    }

    fn read_gpio(&self, port: usize, offset: u32, pins: &Pins) -> Option<u32> {
        Some(match offset {
            0x504 | 0x508 | 0x50c => pins.output[port],
            0x510 => pins.level(port),
            0x514 | 0x518 | 0x51c => pins.enabled[port],
            0x520 => self.gpiote.latch(port),
            0x524 => self.detect_mode[port],
            0x700..=0x77c => {
                let pin = (offset as usize - 0x700) / 4;
                self.pin_cnf[port][pin] & !1 | pins.enabled[port] >> pin & 1
            }
            _ => return None,
        })
    }

    fn write_gpio(&mut self, port: usize, offset: u32, value: u32, pins: &mut Pins) -> bool {
        let (output, enabled) = (&mut pins.output[port], &mut pins.enabled[port]);
        match offset {
            0x504 => *output = value,
            0x508 => *output |= value,
            0x50c => *output &= !value,
            0x514 => *enabled = value,
            0x518 => *enabled |= value,
            0x51c => *enabled &= !value,
            0x520 => self.gpiote.clear_latch(port, value),
            0x524 => self.detect_mode[port] = value & 1,
            // Direction and sense; input buffer, pull and drive have no effect here.
            0x700..=0x77c => {
                let pin = (offset - 0x700) / 4;
                self.pin_cnf[port][pin as usize] = value;
                *enabled = *enabled & !(1 << pin) | (value & 1) << pin;
                let level = pins.level(port);
                self.gpiote.set_sense(port, pin, value >> 16 & 3, level);
            }
            _ => return false,
        }
        true
    }

    /// Apply a GPIOTE task, or GPIOTE's configuration, to a pin.
    fn drive(&self, offset: u32, value: u32, pins: &mut Pins) {
        let (port, pin, level) = match offset {
            0..0x80 if value & 1 != 0 => match self.gpiote.output(offset / 4) {
                Some(output) => output,
                None => return,
            },
            0x510..=0x52c => match self.gpiote.driven((offset as usize - 0x510) / 4) {
                Some((port, pin, level)) => (port, pin, Some(level)),
                None => return,
            },
            _ => return,
        };
        let output = &mut pins.output[port];
        let high = level.unwrap_or(*output >> pin & 1 == 0);
        *output = *output & !(1 << pin) | u32::from(high) << pin;
        pins.enabled[port] |= 1 << pin;
    }
}

impl Peripherals for Nrf52 {
    fn serial_ports(&self) -> &'static [&'static str] {
        &["UART0", "UART1"][..self.parameters.instances.run(Block::Uart)]
    }

    fn rom(&self) -> Vec<(u32, Vec<u8>)> {
        let (mut factory, mut user) = (
            self.parameters.factory.clone(),
            self.parameters.user.clone(),
        );
        for at in [DEVICE_ID, DEVICE_ADDRESS] {
            put(&mut factory.1, at, self.device_number);
            put(&mut factory.1, at + 4, 0);
        }
        for at in [RESET_PIN, RESET_PIN + 4] {
            put(&mut user.1, at, self.reset_pin);
        }
        vec![factory, user, self.parameters.rom_table.clone()]
    }

    fn read(&mut self, address: u32, context: &mut Context<'_>) -> Result<Option<u32>, Fault> {
        let Some((block, offset)) = self.parameters.instances.find(address) else {
            return Ok(None);
        };
        let now = context.now;
        Ok(match block {
            Block::Port(port) => self.read_gpio(port, offset, context.pins),
            Block::Nvmc => self.nvmc.as_ref().and_then(|nvmc| nvmc.read(offset, now)),
            Block::Ppi => self.ppi.read(offset),
            Block::CryptoCell => {
                let cryptocell = self.cryptocell.as_mut();
                cryptocell.and_then(|block| block.read(offset, now))
            }
            _ => self.block(block).and_then(|block| block.read(offset, now)),
        })
    }

    fn write(
        &mut self,
        address: u32,
        value: u32,
        context: &mut Context<'_>,
    ) -> Result<bool, Fault> {
        let now = context.now;
        let Some((block, offset)) = self.parameters.instances.find(address) else {
            return Ok(match &mut self.nvmc {
                Some(nvmc) if self.flash.iter().any(|flash| flash.contains(&address)) => {
                    nvmc.store(address, value, now);
                    true
                }
                _ => false,
            });
        };
        let found = match block {
            Block::Ppi => return Ok(self.ppi.write(offset, value)),
            Block::Nvmc => {
                let nvmc = self.nvmc.as_mut();
                return nvmc.map_or(Ok(false), |nvmc| nvmc.write(offset, value, now));
            }
            Block::CryptoCell => {
                let cryptocell = self.cryptocell.as_mut();
                return cryptocell.map_or(Ok(false), |block| block.write(offset, value, now));
            }
            Block::Port(port) => self.write_gpio(port, offset, value, context.pins),
            _ => match self.block(block) {
                Some(block) => block.write(offset, value, now)?,
                None => false,
            },
        };
        if block == Block::Gpiote {
            self.drive(offset, value, context.pins);
        }
        self.route(now);
        Ok(found)
    }

    fn takes_flash_stores(&self, width: Width) -> bool {
        width == Width::Word && self.nvmc.as_ref().is_some_and(NrfNvmc::takes_stores)
    }

    fn flash_held_until(&self) -> Cycles {
        self.nvmc.as_ref().map_or(Cycles(0), NrfNvmc::busy_until)
    }

    fn put_serial(&mut self, port: usize, bytes: &[u8]) {
        if !self.clock.off {
            self.uart[port].put(bytes);
        }
    }

    fn pins_changed(&mut self, port: usize, level: u32, changed: u32) -> bool {
        self.gpiote.pins_changed(port, level, changed);
        if self.clock.off && self.gpiote.latch(port) != 0 {
            self.unreachable = Some(Fault::new(
                FaultKind::Absent,
                "the chip wakes from system off by a pin: a reset, which ends the run",
            ));
        }
        true
    }

    fn advance(
        &mut self,
        now: Cycles,
        sent: &mut dyn FnMut(usize, u8, Cycles),
    ) -> Result<(), Fault> {
        let advanced = if self.clock.off {
            Ok(())
        } else {
            self.advance_blocks(now)
        };
        for (port, uart) in self.uart.iter_mut().enumerate() {
            for (byte, at) in uart.take_sent() {
                sent(port, byte, at);
            }
        }
        advanced?;
        self.unreachable.take().map_or(Ok(()), Err)
    }

    fn flow(&self, address: u32) -> Flow {
        match self.parameters.instances.find(address) {
            // RXD.PTR and TXD.PTR; PACKETPTR; ECBDATAPTR.
            Some(
                (Block::Uart(_) | Block::Serial(_), 0x534 | 0x544)
                | (Block::Radio | Block::Ecb, 0x504),
            ) => Flow::Pointer,
            // AES_IV and HASH_H.
            Some((Block::CryptoCell, 0x1440..0x1450 | 0x1640..0x1660)) => Flow::Derived,
            _ => Flow::Register,
        }
    }

    fn transfer(
        &mut self,
        memory: &mut dyn Memories,
        now: Cycles,
        _timeline: &Timeline,
    ) -> Result<bool, Fault> {
        let instances = &self.parameters.instances;
        let base = |block| instances.base(block).unwrap_or(0);
        let mut moved = false;
        for (port, uart) in self.uart.iter_mut().enumerate() {
            let base = &|| base(Block::Uart(port));
            moved |= uart.transfer(&mut Based { memory, base }, now)?;
        }
        if let Some(nvmc) = &mut self.nvmc {
            moved |= nvmc.transfer(memory, now)?;
        }
        if let Some(radio) = &mut self.radio {
            let base = &|| base(Block::Radio);
            moved |= radio.transfer(&mut Based { memory, base })?;
        }
        moved |= self.ecb.transfer(memory)? | self.saadc.transfer(memory)?;
        for (number, serial) in self.serial.iter_mut().enumerate() {
            let base = &|| base(Block::Serial(number));
            moved |= serial.transfer(&mut Based { memory, base })?;
        }
        if let Some(cryptocell) = &mut self.cryptocell {
            moved |= cryptocell.transfer(memory, now)?;
        }
        if moved {
            self.route(now);
        }
        Ok(moved)
    }

    fn senses(&self) -> &'static [&'static str] {
        &SENSES
    }

    fn surround(&mut self, quantity: &str, signal: &Signal) {
        self.temp.surround(quantity, signal);
        self.saadc.surround(quantity, signal);
    }

    fn set_watch_crystal(&mut self, ppb: i32, now: Cycles, _time: Picoseconds) {
        let low = FineHertz::new(Hertz(self.low_hz), ppb);
        for rtc in &mut self.rtc {
            rtc.set_crystal(self.hz, low, now);
        }
        self.watchdog.set_crystal(self.hz, low, now);
    }

    /// Each by its type, which is asked at every access; a peripheral that the chip does not have
    /// has nothing to do.
    fn next_event(&self) -> Cycles {
        fn first<T: Nrf>(blocks: &[T]) -> Cycles {
            let next = blocks.iter().map(Nrf::next_event);
            next.min().unwrap_or(Cycles::NEVER)
        }
        if self.clock.off {
            return Cycles::NEVER;
        }
        first(&self.uart)
            .min(first(&self.timers))
            .min(first(&self.rtc))
            .min(first(&self.egu))
            .min(self.ecb.next_event())
            .min(first(&self.idle))
            .min(first(&self.serial))
            .min(self.saadc.next_event())
            .min(self.qspi.next_event())
            .min(self.clock.next_event())
            .min(self.gpiote.next_event())
            .min(self.temp.next_event())
            .min(self.rng.next_event())
            .min(self.watchdog.next_event())
            .min(
                self.nvmc
                    .as_ref()
                    .map_or(Cycles::NEVER, NrfNvmc::next_event),
            )
            .min(self.radio.as_ref().map_or(Cycles::NEVER, Nrf::next_event))
            .min(
                self.cryptocell
                    .as_ref()
                    .map_or(Cycles::NEVER, NrfCryptoCell::next_event),
            )
    }

    fn radio(&self) -> Option<&dyn Radio> {
        self.radio.as_ref().map(|radio| radio as &dyn Radio)
    }

    fn radio_mut(&mut self) -> Option<&mut dyn Radio> {
        self.radio.as_mut().map(|radio| radio as &mut dyn Radio)
    }

    fn interrupts(&self) -> [u64; 4] {
        if self.clock.off {
            return [0; 4];
        }
        let is_pending = |block| match block {
            Block::CryptoCell => self
                .cryptocell
                .as_ref()
                .is_some_and(NrfCryptoCell::is_pending),
            _ => self
                .seen(block)
                .is_some_and(|block| block.events().is_pending()),
        };
        self.parameters
            .instances
            .lines(|block, _| is_pending(block))
    }

    fn memory_settings(&self) -> MemorySettings {
        MemorySettings {
            line_buffer: true,
            cache: false,
            fetches_at_once: self.nvmc.as_ref().is_some_and(NrfNvmc::has_cache),
        }
    }

    fn reset(&mut self, anew: &Anew<'_>) {
        let parameters = Arc::clone(&self.parameters);
        let fresh = Self::new(parameters, anew.core, anew.setting);
        let before = std::mem::replace(self, fresh);
        let reason = match anew.cause {
            Reset::Watchdog => ClockPower::DOG,
            Reset::Software => ClockPower::SREQ,
        };
        self.clock.reset_reasons = before.clock.reset_reasons | reason;
        self.rng = before.rng.after_reset();
        self.cryptocell = before.cryptocell.as_ref().map(NrfCryptoCell::after_reset);
        self.radio = before.radio;
        if let Some(radio) = &mut self.radio {
            radio.reset(anew.time);
        }
        for register in ClockPower::RETAINED {
            self.clock.held[register] = before.clock.held[register];
        }
    }

    fn sleep_state(&self) -> &'static str {
        if self.clock.off {
            "system-off"
        } else {
            "sleep"
        }
    }

    /// Only system off is deeper, and it has its own register: SLEEPDEEP has no effect.
    fn deep_sleep(&mut self, _context: &mut Context<'_>) -> Result<&'static str, Fault> {
        Ok(self.sleep_state())
    }
}
