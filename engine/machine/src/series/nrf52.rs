//! nRF52840: clocks and power, UARTs, GPIO with its tasks and events, timers, real-time counters,
//! random numbers, temperature, watchdog, interconnect, flash controller and configuration
//! (nRF52840 product specification). Addresses and interrupt lines were compared with Nordic's
//! `nrf52840.svd`.

use joulemark_armv7m::MemorySettings;
use joulemark_kernel::{
    Cycles, Fault, FaultKind, FineHertz, Hertz, Memories, Picoseconds, Timeline,
};
use joulemark_peripherals::{
    Nrf, NrfEgu, NrfEvents, NrfGpiote, NrfNvmc, NrfPpi, NrfRng, NrfRtc, NrfTemp, NrfTimer, NrfUart,
    NrfWatchdog,
};

use crate::cores::armv7m::{self, Armv7m};
use crate::cortex_m::sections::Core;
use crate::cortex_m::{Anew, Context, Peripherals, Pins, Reset, numbered};
use crate::pins::PinNames;
use crate::series::Series;

const BASE: u32 = 0x4000_0000;
const NVMC: u32 = 0x4001_e000;
const PPI: u32 = 0x4001_f000;
const GPIO: u32 = 0x5000_0000;
/// Offset of P1 from P0, in the same page.
const PORT_BYTES: u32 = 0x300;

/// Peripheral numbers, which give interrupt lines and, times 4 KiB, addresses.
const CLOCK: usize = 0;
const UARTE0: usize = 0x02;
const GPIOTE: usize = 0x06;
const TIMERS: [usize; 5] = [0x08, 0x09, 0x0a, 0x1a, 0x1b];
const RTC0: usize = 0x0b;
const TEMP: usize = 0x0c;
const RNG: usize = 0x0d;
const WDT: usize = 0x10;
const RTC1: usize = 0x11;
const EGU0: usize = 0x14;
const RTC2: usize = 0x24;
const UARTE1: usize = 0x28;
const NUMBERS: usize = UARTE1 + 1;

/// Factory and user configuration, which are flash: unknown parts are unprogrammed.
const FICR: u32 = 0x1000_0000;
const FICR_BYTES: usize = 0x1000;
const UICR_BYTES: usize = 0x1000;
/// UICR has `PSELRESET` twice: the pin that resets the chip.
const RESET_PIN: usize = 0x200;
/// Words of the factory configuration by offset: page size and number of pages, device identity and
/// address, part, variant AAD0, package QIAA, RAM and flash in KiB.
const FACTORY: [(usize, u32); 8] = [
    (0x010, 4096),
    (0x014, 256),
    (0x0a0, 1),
    (0x100, 0x0005_2840),
    (0x104, 0x4141_4430),
    (0x108, 0x2004),
    (0x10c, 256),
    (0x110, 1024),
];
/// Words that hold the device's number; the words after them are 0.
const DEVICE_ID: usize = 0x060;
const DEVICE_ADDRESS: usize = 0x0a4;
/// The debugger's ROM table, by which programs identify chips and revisions (Nordic's
/// `system_nrf52840.c` and RIOT's `cpu.c` read it): 8 is the nRF52840.
const ROM_TABLE: u32 = 0xf000_0fe0;
const ROM_TABLE_WORDS: [u32; 4] = [8, 0, 0x30, 0];

/// Clock and power management. Whatever is started runs at once.
struct ClockPower {
    events: NrfEvents,
    /// Whether HFCLK runs from its crystal; and whether LFCLK runs.
    crystal: bool,
    low_clock: bool,
    low_source: u32,
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
            Self::SYSTEM_OFF => {
                return Err(Fault::new(
                    FaultKind::Absent,
                    "the emulation leaves out system off (POWER.SYSTEMOFF), which ends the run",
                ));
            }
            Self::LOW_SOURCE => self.low_source = value & 3,
            0x504..0x900 => self.held[(offset as usize - 0x500) / 4] = value,
            // RAM retention settings: all RAM is kept.
            0x900..0xa00 => {}
            _ => return Ok(false),
        }
        Ok(true)
    }
}

pub struct Nrf52 {
    hz: Hertz,
    low_hz: u32,
    clock: ClockPower,
    uart: [NrfUart; 2],
    gpiote: NrfGpiote,
    timers: [NrfTimer; 5],
    rtc: [NrfRtc; 3],
    temp: NrfTemp,
    rng: NrfRng,
    watchdog: NrfWatchdog,
    egu: [NrfEgu; 6],
    ppi: NrfPpi,
    nvmc: Option<NrfNvmc>,
    /// `PIN_CNF` of all pins.
    pin_cnf: [[u32; 32]; 2],
    detect_mode: [u32; 2],
    device_number: u32,
    reset_pin: u32,
    /// A fault from an interconnect task that changes a pin, which only a register access can do
    /// here.
    unreachable: Option<Fault>,
}

/// The series.
pub static SERIES: Series = Series {
    name: "nrf52",
    core: &armv7m::TARGET,
    check: |chip| Core::of(chip).map(drop),
    make: |chip, image, options| Ok(Box::new(Armv7m::new(chip, image, options, make)?)),
};

/// Make the peripherals of a chip of this series, and its pin names.
fn make(core: &Core, setting: &dyn Fn(&str) -> u32) -> (Box<dyn Peripherals>, PinNames) {
    (Box::new(Nrf52::new(core, setting)), numbered(&[32, 16]))
}

impl Nrf52 {
    fn new(core: &Core, setting: &dyn Fn(&str) -> u32) -> Self {
        let (hz, low_hz) = (Hertz(core.reset_hz.whole()), core.low_hz.whole());
        let low = FineHertz::from(Hertz(low_hz));
        let flash = core.flash.clone();
        Self {
            hz,
            low_hz,
            clock: ClockPower::new(),
            uart: Default::default(),
            gpiote: NrfGpiote::default(),
            timers: [4, 4, 4, 6, 6].map(NrfTimer::new),
            rtc: [3, 4, 4].map(|channels| NrfRtc::new(channels, hz, low)),
            temp: NrfTemp::default(),
            rng: NrfRng::new(setting("random_seed")),
            watchdog: NrfWatchdog::new(hz, low),
            egu: Default::default(),
            ppi: NrfPpi::default(),
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

    /// The peripheral with this number.
    fn block(&mut self, number: usize) -> Option<&mut dyn Nrf> {
        Some(match number {
            CLOCK => &mut self.clock,
            UARTE0 => &mut self.uart[0],
            UARTE1 => &mut self.uart[1],
            GPIOTE => &mut self.gpiote,
            0x08..=0x0a => &mut self.timers[number - 0x08],
            0x1a | 0x1b => &mut self.timers[number - 0x1a + 3],
            RTC0 => &mut self.rtc[0],
            RTC1 => &mut self.rtc[1],
            RTC2 => &mut self.rtc[2],
            TEMP => &mut self.temp,
            RNG => &mut self.rng,
            WDT => &mut self.watchdog,
            EGU0..=0x19 => &mut self.egu[number - EGU0],
            _ => return None,
        })
    }

    /// All peripherals with their numbers.
    fn blocks(&self) -> impl Iterator<Item = (usize, &dyn Nrf)> {
        fn each<T: Nrf>(
            numbers: impl IntoIterator<Item = usize>,
            blocks: &[T],
        ) -> impl Iterator<Item = (usize, &dyn Nrf)> {
            numbers
                .into_iter()
                .zip(blocks.iter().map(|block| block as &dyn Nrf))
        }
        let single: [(usize, &dyn Nrf); 5] = [
            (CLOCK, &self.clock),
            (GPIOTE, &self.gpiote),
            (TEMP, &self.temp),
            (RNG, &self.rng),
            (WDT, &self.watchdog),
        ];
        single
            .into_iter()
            .chain(each([UARTE0, UARTE1], &self.uart))
            .chain(each(TIMERS, &self.timers))
            .chain(each([RTC0, RTC1, RTC2], &self.rtc))
            .chain(each(EGU0.., &self.egu))
    }

    fn number(address: u32) -> usize {
        (address.wrapping_sub(BASE) >> 12) as usize
    }

    /// Start the tasks that new events trigger, until there are no new events.
    fn route(&mut self, now: Cycles) {
        loop {
            let mut tasks = Vec::new();
            for number in 0..NUMBERS {
                let Some(block) = self.block(number) else {
                    continue;
                };
                let mut new = block.events_mut().take_new();
                while new != 0 {
                    let event = BASE + ((number as u32) << 12) + 0x100 + 4 * new.trailing_zeros();
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
        let task = (address & 0xfff) / 4;
        if address & !0xfff == PPI {
            self.ppi.task(task);
            return;
        }
        let number = Self::number(address);
        if number == GPIOTE && self.gpiote.output(task).is_some() {
            self.unreachable.get_or_insert_with(|| {
                Fault::new(
                    FaultKind::Absent,
                    "the emulation leaves out pins that the interconnect changes (PPI to GPIOTE)",
                )
            });
        }
        if let Some(block) = self.block(number) {
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
            for number in 0..NUMBERS {
                if let Some(block) = self.block(number) {
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
        self.route(now);
        Ok(())
    }

    fn read_gpio(&self, offset: u32, pins: &Pins) -> Option<u32> {
        let (port, offset) = Self::port(offset);
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

    fn write_gpio(&mut self, offset: u32, value: u32, pins: &mut Pins) -> bool {
        let (port, offset) = Self::port(offset);
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

    /// P0's registers are at 0x504 to 0x77c, P1's at 0x804 to 0xa7c.
    const fn port(offset: u32) -> (usize, u32) {
        if offset < 0x800 {
            (0, offset)
        } else {
            (1, offset - PORT_BYTES)
        }
    }
}

impl Peripherals for Nrf52 {
    fn serial_ports(&self) -> &'static [&'static str] {
        &["UART0", "UART1"]
    }

    fn rom(&self) -> Vec<(u32, Vec<u8>)> {
        let mut factory = vec![0xff; FICR_BYTES];
        let mut put =
            |at: usize, word: u32| factory[at..at + 4].copy_from_slice(&word.to_le_bytes());
        for (at, word) in FACTORY {
            put(at, word);
        }
        for at in [DEVICE_ID, DEVICE_ADDRESS] {
            put(at, self.device_number);
            put(at + 4, 0);
        }
        let mut user = vec![0xff; UICR_BYTES];
        for at in [RESET_PIN, RESET_PIN + 4] {
            user[at..at + 4].copy_from_slice(&self.reset_pin.to_le_bytes());
        }
        let table = ROM_TABLE_WORDS.iter().flat_map(|word| word.to_le_bytes());
        vec![
            (FICR, factory),
            (FICR + FICR_BYTES as u32, user),
            (ROM_TABLE, table.collect()),
        ]
    }

    fn read(&mut self, address: u32, context: &mut Context<'_>) -> Result<Option<u32>, Fault> {
        let (offset, now) = (address & 0xfff, context.now);
        Ok(match address & !0xfff {
            GPIO => self.read_gpio(offset, context.pins),
            NVMC => self.nvmc.as_ref().and_then(|nvmc| nvmc.read(offset, now)),
            PPI => self.ppi.read(offset),
            _ => self
                .block(Self::number(address))
                .and_then(|block| block.read(offset, now)),
        })
    }

    fn write(
        &mut self,
        address: u32,
        value: u32,
        context: &mut Context<'_>,
    ) -> Result<bool, Fault> {
        let (offset, now) = (address & 0xfff, context.now);
        match address & !0xfff {
            GPIO => {
                let found = self.write_gpio(offset, value, context.pins);
                self.route(now);
                return Ok(found);
            }
            PPI => return Ok(self.ppi.write(offset, value)),
            page => {
                let Some(nvmc) = &mut self.nvmc else {
                    return Ok(false);
                };
                if page == NVMC {
                    return nvmc.write(offset, value, now);
                }
                if address < FICR {
                    nvmc.store(address, value, now);
                    return Ok(true);
                }
            }
        }
        let number = Self::number(address);
        let Some(block) = self.block(number) else {
            return Ok(false);
        };
        let found = block.write(offset, value, now)?;
        if number == GPIOTE {
            self.drive(offset, value, context.pins);
        }
        self.route(now);
        Ok(found)
    }

    fn takes_flash_stores(&self) -> bool {
        self.nvmc.as_ref().is_some_and(NrfNvmc::takes_stores)
    }

    fn put_serial(&mut self, port: usize, bytes: &[u8]) {
        self.uart[port].put(bytes);
    }

    fn pins_changed(&mut self, port: usize, level: u32, changed: u32) -> bool {
        self.gpiote.pins_changed(port, level, changed);
        true
    }

    fn advance(
        &mut self,
        now: Cycles,
        sent: &mut dyn FnMut(usize, u8, Cycles),
    ) -> Result<(), Fault> {
        let advanced = self.advance_blocks(now);
        for (port, uart) in self.uart.iter_mut().enumerate() {
            for (byte, at) in uart.take_sent() {
                sent(port, byte, at);
            }
        }
        advanced?;
        self.unreachable.take().map_or(Ok(()), Err)
    }

    fn transfer(
        &mut self,
        memory: &mut dyn Memories,
        now: Cycles,
        _timeline: &Timeline,
    ) -> Result<bool, Fault> {
        let mut moved = false;
        for uart in &mut self.uart {
            moved |= uart.transfer(memory, now)?;
        }
        if let Some(nvmc) = &mut self.nvmc {
            moved |= nvmc.transfer(memory)?;
        }
        if moved {
            self.route(now);
        }
        Ok(moved)
    }

    fn set_watch_crystal(&mut self, ppb: i32, now: Cycles, _time: Picoseconds) {
        let low = FineHertz::new(Hertz(self.low_hz), ppb);
        for rtc in &mut self.rtc {
            rtc.set_crystal(self.hz, low, now);
        }
        self.watchdog.set_crystal(self.hz, low, now);
    }

    fn next_event(&self) -> Cycles {
        let next = self.blocks().map(|(_, block)| block.next_event()).min();
        next.unwrap_or(Cycles::NEVER)
    }

    fn interrupts(&self) -> [u64; 4] {
        let pending = self
            .blocks()
            .filter(|(_, block)| block.events().is_pending());
        let lines = pending.fold(0, |lines, (number, _)| lines | 1 << number);
        [lines, 0, 0, 0]
    }

    fn memory_settings(&self) -> MemorySettings {
        MemorySettings {
            line_buffer: true,
            cache: false,
            fetches_at_once: self.nvmc.as_ref().is_some_and(NrfNvmc::has_cache),
        }
    }

    fn reset(&mut self, anew: &Anew<'_>) {
        let fresh = Self::new(anew.core, anew.setting);
        let before = std::mem::replace(self, fresh);
        let reason = match anew.cause {
            Reset::Watchdog => ClockPower::DOG,
            Reset::Software => ClockPower::SREQ,
        };
        self.clock.reset_reasons = before.clock.reset_reasons | reason;
        self.rng = before.rng.after_reset();
        for register in ClockPower::RETAINED {
            self.clock.held[register] = before.clock.held[register];
        }
    }

    fn sleep_state(&self) -> &'static str {
        "sleep"
    }

    /// Only system off is deeper, and it has its own register: SLEEPDEEP has no effect.
    fn deep_sleep(&mut self, _context: &mut Context<'_>) -> Result<&'static str, Fault> {
        Ok("sleep")
    }
}
