//! The simpler peripherals of nRF52 chips: random numbers, temperature, watchdog, AES of single
//! blocks, software-triggered events and the interconnect (nRF52840 product specification, chapters
//! RNG, TEMP, WDT, ECB, EGU and PPI). Register offsets and fields were compared with Nordic's `nrf52840.svd`.

use std::mem;

use aes::Aes128;
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockEncrypt, KeyInit};
use joulemark_kernel::{Cycles, Fault, FaultKind, FineHertz, Hertz, Memories, Picoseconds, Signal};

use crate::nrf::{CYCLES_OF_16_MHZ, Nrf, NrfEvents};
use crate::rate::Rate;

const START: u32 = 0;
const STOP: u32 = 1;

/// Core cycles per microsecond.
const MICROSECOND: u64 = 16 * CYCLES_OF_16_MHZ;

/// Quantities around the board that a chip senses: the temperature, voltages at the inputs of the
/// analogue converter, and the supply.
pub const SENSES: [&str; 10] = [
    TEMPERATURE,
    "AIN0_v",
    "AIN1_v",
    "AIN2_v",
    "AIN3_v",
    "AIN4_v",
    "AIN5_v",
    "AIN6_v",
    "AIN7_v",
    "VDD_v",
];
const TEMPERATURE: &str = "temperature_c";

/// The time of a cycle: the core's clock is constant.
const fn time(now: Cycles) -> Picoseconds {
    Picoseconds(now.0 * (1_000_000 / MICROSECOND))
}

/// The random number generator, with a reproducible source.
#[derive(Clone, Debug)]
pub struct NrfRng {
    events: NrfEvents,
    shorts: u32,
    config: u32,
    value: u8,
    random: u64,
    due: Cycles,
}

impl NrfRng {
    /// Start with this seed, which determines the numbers.
    pub const fn new(seed: u32) -> Self {
        Self {
            events: NrfEvents::new(1),
            shorts: 0,
            config: 0,
            value: 0,
            // Non-zero, because xorshift never leaves zero.
            random: (seed as u64 ^ 0x9e37_79b9_7f4a_7c15) | 1,
            due: Cycles::NEVER,
        }
    }

    /// The state after a later reset: the random sequence continues.
    #[must_use]
    pub fn after_reset(&self) -> Self {
        Self {
            random: self.random,
            ..Self::new(0)
        }
    }

    /// Cycles of a byte: about 30 microseconds, or 120 with bias correction (specification, RNG,
    /// electrical specification; entered from memory).
    const fn byte_cycles(&self) -> u64 {
        (if self.config & 1 != 0 { 120 } else { 30 }) * MICROSECOND
    }
}

impl Nrf for NrfRng {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn shorts(&mut self) -> Option<&mut u32> {
        Some(&mut self.shorts)
    }

    fn task(&mut self, number: u32, now: Cycles) -> bool {
        match number {
            START if self.due == Cycles::NEVER => self.due = Cycles(now.0 + self.byte_cycles()),
            START => {}
            STOP => self.due = Cycles::NEVER,
            _ => return false,
        }
        true
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        match offset {
            0x504 => Some(self.config),
            0x508 => Some(self.value.into()),
            _ => None,
        }
    }

    fn set_own(&mut self, offset: u32, value: u32, _now: Cycles) -> Result<bool, Fault> {
        if offset == 0x504 {
            self.config = value & 1;
        }
        Ok(offset == 0x504)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        while self.due <= now {
            // xorshift64 (G. Marsaglia, Xorshift RNGs, 2003).
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            self.value = (self.random >> 32) as u8;
            self.events.happen(0);
            self.due = if self.shorts & 1 != 0 {
                Cycles::NEVER
            } else {
                Cycles(self.due.0 + self.byte_cycles())
            };
        }
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        self.due
    }
}

/// The temperature sensor.
#[derive(Clone, Debug)]
pub struct NrfTemp {
    temperature: Signal,
    /// What the last measurement found, in quarters of a degree.
    value: i32,
    events: NrfEvents,
    due: Cycles,
    /// Registers of the piecewise linear function, from 0x520 on.
    line: [u32; 21],
    /// A register without a name that Nordic's code clears (anomaly 31 of older chips).
    offset: u32,
}

impl Default for NrfTemp {
    fn default() -> Self {
        Self {
            temperature: Signal::constant(25_000_000),
            value: 0,
            events: NrfEvents::new(1),
            due: Cycles::NEVER,
            line: [0; 21],
            offset: 0,
        }
    }
}

impl NrfTemp {
    /// Take one of [`SENSES`].
    pub fn surround(&mut self, quantity: &str, signal: &Signal) {
        if quantity == TEMPERATURE {
            self.temperature = signal.clone();
        }
    }

    /// A measurement takes about 36 microseconds (specification, TEMP; entered from memory).
    const CYCLES: u64 = 36 * MICROSECOND;
}

impl Nrf for NrfTemp {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn task(&mut self, number: u32, now: Cycles) -> bool {
        match number {
            START => self.due = Cycles(now.0 + Self::CYCLES),
            STOP => self.due = Cycles::NEVER,
            _ => return false,
        }
        true
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        match offset {
            0x504 => Some(self.offset),
            0x508 => Some(self.value as u32),
            0x520..=0x570 => Some(self.line[(offset as usize - 0x520) / 4]),
            _ => None,
        }
    }

    fn set_own(&mut self, offset: u32, value: u32, _now: Cycles) -> Result<bool, Fault> {
        match offset {
            0x504 => self.offset = value,
            0x520..=0x570 => self.line[(offset as usize - 0x520) / 4] = value,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        if self.due <= now {
            self.value = (self.temperature.at(time(self.due)) * 4).div_euclid(1_000_000) as i32;
            self.due = Cycles::NEVER;
            self.events.happen(0);
        }
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        self.due
    }
}

/// The watchdog. It starts the low-frequency clock by itself.
#[derive(Clone, Debug)]
pub struct NrfWatchdog {
    events: NrfEvents,
    low: Rate,
    is_running: bool,
    counter_reload: u32,
    /// RREN, and the reload registers that still await a reload.
    enabled: u32,
    waiting: u32,
    config: u32,
    due: Cycles,
}

impl NrfWatchdog {
    const RELOAD: u32 = 0x6e52_4635;

    /// In a core with this clock.
    pub const fn new(core: Hertz, low: FineHertz) -> Self {
        Self {
            events: NrfEvents::new(1),
            low: Rate::crystal(low, core),
            is_running: false,
            counter_reload: u32::MAX,
            enabled: 1,
            waiting: 1,
            config: 1,
            due: Cycles::NEVER,
        }
    }

    /// Note that the crystal of the low-frequency clock changed.
    pub fn set_crystal(&mut self, core: Hertz, low: FineHertz, now: Cycles) {
        self.low.change_crystal(now, low, core);
    }

    fn reload(&mut self, now: Cycles) {
        let ticks = u64::from(self.counter_reload) + 1;
        self.due = self.low.cycle_of(self.low.ticks(now) + ticks);
        self.waiting = self.enabled;
    }
}

impl Nrf for NrfWatchdog {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn task(&mut self, number: u32, now: Cycles) -> bool {
        if number == START && !self.is_running {
            self.is_running = true;
            self.reload(now);
        }
        number == START
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        Some(match offset {
            0x400 => self.is_running.into(),
            0x404 => self.waiting,
            0x504 => self.counter_reload,
            0x508 => self.enabled,
            0x50c => self.config,
            0x600..=0x61c => 0,
            _ => return None,
        })
    }

    fn set_own(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        match offset {
            // The configuration is locked while the watchdog runs.
            0x504 | 0x508 | 0x50c if self.is_running => {}
            0x504 => self.counter_reload = value,
            0x508 => self.enabled = value & 0xff,
            0x50c => self.config = value & 9,
            0x600..=0x61c => {
                if value == Self::RELOAD {
                    self.waiting &= !(1 << ((offset - 0x600) / 4));
                }
                if self.is_running && self.waiting == 0 {
                    self.reload(now);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        if self.due > now {
            return Ok(());
        }
        self.due = Cycles::NEVER;
        self.events.happen(0);
        Err(Fault::new(
            FaultKind::Watchdog,
            "the watchdog (WDT) was not reloaded in time and resets the chip; write 0x6e524635 to WDT.RR",
        ))
    }

    fn next_event(&self) -> Cycles {
        self.due
    }
}

/// The AES engine for single blocks (chapter ECB): key, plaintext and ciphertext of 16 bytes each
/// lie in RAM, one after the other.
#[derive(Clone, Debug)]
pub struct NrfEcb {
    events: NrfEvents,
    data: u32,
    due: Cycles,
    is_wanted: bool,
}

impl Default for NrfEcb {
    fn default() -> Self {
        Self {
            events: NrfEvents::new(3),
            data: 0,
            due: Cycles::NEVER,
            is_wanted: false,
        }
    }
}

impl NrfEcb {
    const END: u32 = 0;
    const ERROR: u32 = 1;
    /// A block takes about 7.2 microseconds (specification, ECB, electrical specification; entered
    /// from memory).
    const CYCLES: u64 = 72 * MICROSECOND / 10;

    /// Encrypt the block that is due; return whether there was one.
    ///
    /// # Errors
    /// The data are not in RAM.
    pub fn transfer(&mut self, memory: &mut dyn Memories) -> Result<bool, Fault> {
        if !mem::take(&mut self.is_wanted) {
            return Ok(false);
        }
        let at = self.data;
        let input = memory.read(at, 32).filter(|_| at >= 0x2000_0000);
        let output = input.map(|input| {
            let (key, clear) = input.split_at(16);
            let mut block = GenericArray::clone_from_slice(clear);
            Aes128::new(GenericArray::from_slice(key)).encrypt_block(&mut block);
            block
        });
        if output.is_some_and(|output| memory.write_made(at.wrapping_add(32), &output)) {
            self.events.happen(Self::END);
            return Ok(true);
        }
        let what = "the AES engine's DMA (ECB.ECBDATAPTR) reaches RAM only";
        Err(Fault::new(FaultKind::Peripheral, what).at(at))
    }
}

impl Nrf for NrfEcb {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn task(&mut self, number: u32, now: Cycles) -> bool {
        match number {
            START if self.due == Cycles::NEVER => self.due = Cycles(now.0 + Self::CYCLES),
            START => {}
            STOP if self.due == Cycles::NEVER => {}
            // A block that is stopped is an error.
            STOP => {
                self.due = Cycles::NEVER;
                self.events.happen(Self::ERROR);
            }
            _ => return false,
        }
        true
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        match offset {
            0x504 => Some(self.data),
            _ => None,
        }
    }

    fn set_own(&mut self, offset: u32, value: u32, _now: Cycles) -> Result<bool, Fault> {
        if offset == 0x504 {
            self.data = value;
        }
        Ok(offset == 0x504)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        if self.due <= now {
            self.due = Cycles::NEVER;
            self.is_wanted = true;
        }
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        if self.is_wanted {
            return Cycles(0);
        }
        self.due
    }
}

/// The analogue converter (chapter SAADC), at whose inputs there are 0 V.
#[derive(Clone, Debug)]
pub struct NrfSaadc {
    events: NrfEvents,
    /// Registers from 0x500 on.
    held: [u32; 0x50],
    due: Cycles,
    /// Results in the buffer since START.
    count: u32,
    /// Results to store.
    results: Vec<i16>,
    /// Voltages at the inputs, then the supply.
    inputs: [Signal; SENSES.len() - 1],
}

impl Default for NrfSaadc {
    fn default() -> Self {
        Self {
            events: NrfEvents::new(0x003f_ffff),
            held: [0; 0x50],
            due: Cycles::NEVER,
            count: 0,
            results: Vec::new(),
            inputs: std::array::from_fn(|input| {
                let is_supply = input == Self::SUPPLY;
                Signal::constant(if is_supply { 3_000_000 } else { 0 })
            }),
        }
    }
}

impl NrfSaadc {
    const STARTED: u32 = 0;
    const END: u32 = 1;
    const DONE: u32 = 2;
    const RESULT_DONE: u32 = 3;
    const CALIBRATED: u32 = 4;
    const STOPPED: u32 = 5;
    /// A conversion takes less than 2 microseconds after the acquisition (specification, SAADC,
    /// electrical specification; entered from memory).
    const CONVERSION: u64 = 2 * MICROSECOND;
    /// The supply among the inputs: what selects it is one more.
    const SUPPLY: usize = 8;
    /// CONFIG.GAIN, as numerator and denominator.
    const GAINS: [(i64, i64); 8] = [
        (1, 6),
        (1, 5),
        (1, 4),
        (1, 3),
        (1, 2),
        (1, 1),
        (2, 1),
        (4, 1),
    ];
    /// CONFIG.TACQ in microseconds.
    const ACQUISITION: [u64; 8] = [3, 5, 10, 15, 20, 40, 40, 40];

    fn register(&self, offset: u32) -> u32 {
        self.held[(offset as usize - 0x500) / 4]
    }

    fn channels(&self) -> impl Iterator<Item = u32> + '_ {
        (0..8).filter(|channel| self.register(0x510 + 0x10 * channel) != 0)
    }

    /// Take one of [`SENSES`].
    pub fn surround(&mut self, quantity: &str, signal: &Signal) {
        if let Some(input) = SENSES[1..].iter().position(|&name| name == quantity) {
            self.inputs[input] = signal.clone();
        }
    }

    /// The voltage that `CH[n].PSELP` or `PSELN` selects, in microvolt; 0 V where nothing is.
    fn input_uv(&self, selected: u32, now: Picoseconds) -> i64 {
        let input = (selected as usize).checked_sub(1);
        input
            .and_then(|input| self.inputs.get(input))
            .map_or(0, |signal| signal.at(now))
    }

    /// The result of a channel: (V(P) - V(N)) x gain / reference x 2^bits, half of it if the input is
    /// differential (specification, SAADC, digital output; fields entered from memory).
    fn result(&self, channel: u32, now: Picoseconds) -> i16 {
        let at = 0x510 + 0x10 * channel;
        let config = self.register(at + 8);
        let is_differential = config >> 20 & 1 != 0;
        let positive = self.input_uv(self.register(at), now);
        let negative = if is_differential {
            self.input_uv(self.register(at + 4), now)
        } else {
            0
        };
        let (times, over) = Self::GAINS[(config >> 8 & 7) as usize];
        let reference_uv = match config >> 12 & 1 {
            0 => 600_000,
            _ => self.inputs[Self::SUPPLY].at(now) / 4,
        };
        let bits = 8 + 2 * (self.register(0x5f0) & 3) - u32::from(is_differential);
        let full = 1_i64 << bits;
        let scale = (reference_uv * over).max(1);
        let result = ((positive - negative) * times * full).div_euclid(scale);
        let least = if is_differential { -full } else { 0 };
        result.clamp(least, full - 1) as i16
    }

    /// Store the results that are due; return whether there were any.
    ///
    /// # Errors
    /// The buffer is not in RAM.
    pub fn transfer(&mut self, memory: &mut dyn Memories) -> Result<bool, Fault> {
        let results = mem::take(&mut self.results);
        if results.is_empty() {
            return Ok(false);
        }
        let at = self.register(0x62c) + 2 * (self.count - results.len() as u32);
        let bytes: Vec<u8> = results.into_iter().flat_map(i16::to_le_bytes).collect();
        if !memory.write(at, &bytes) {
            let what = "the analogue converter's DMA (SAADC.RESULT) reaches RAM only";
            return Err(Fault::new(FaultKind::Peripheral, what).at(at));
        }
        Ok(true)
    }
}

impl Nrf for NrfSaadc {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn task(&mut self, number: u32, now: Cycles) -> bool {
        match number {
            0 => {
                self.count = 0;
                self.events.happen(Self::STARTED);
            }
            1 if self.due == Cycles::NEVER => {
                let times = self.channels().map(|channel| {
                    let code = self.register(0x518 + 0x10 * channel) >> 16 & 7;
                    Self::ACQUISITION[code as usize] * MICROSECOND + Self::CONVERSION
                });
                self.due = Cycles(now.0 + times.sum::<u64>());
            }
            1 => {}
            2 => {
                self.due = Cycles::NEVER;
                self.events.happen(Self::STOPPED);
            }
            3 => self.events.happen(Self::CALIBRATED),
            _ => return false,
        }
        true
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        match offset {
            0x400 => Some(u32::from(self.due != Cycles::NEVER)),
            0x634 => Some(self.count),
            0x500..0x640 => Some(self.register(offset)),
            _ => None,
        }
    }

    fn set_own(&mut self, offset: u32, value: u32, _now: Cycles) -> Result<bool, Fault> {
        if let 0x500..0x640 = offset {
            self.held[(offset as usize - 0x500) / 4] = value;
            return Ok(true);
        }
        Ok(false)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        if self.due > now {
            return Ok(());
        }
        let at = time(mem::replace(&mut self.due, Cycles::NEVER));
        let room = self.register(0x630);
        let free = room.saturating_sub(self.count) as usize;
        let channels = self.channels().take(free);
        let new: Vec<i16> = channels.map(|channel| self.result(channel, at)).collect();
        self.count += new.len() as u32;
        self.results.extend(new);
        self.events.happen(Self::DONE);
        self.events.happen(Self::RESULT_DONE);
        if self.count >= room {
            self.events.happen(Self::END);
        }
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        if !self.results.is_empty() {
            return Cycles(0);
        }
        self.due
    }
}

/// The external flash's controller (chapter QSPI) without a flash: commands are over at once and
/// read ones.
#[derive(Clone, Debug)]
pub struct NrfQspi {
    events: NrfEvents,
    /// Registers from 0x500 on.
    held: [u32; 0x60],
    is_refused: bool,
}

impl Default for NrfQspi {
    fn default() -> Self {
        Self {
            events: NrfEvents::new(1),
            held: [0; 0x60],
            is_refused: false,
        }
    }
}

impl NrfQspi {
    const READY: u32 = 0;
}

impl Nrf for NrfQspi {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn task(&mut self, number: u32, _now: Cycles) -> bool {
        match number {
            // ACTIVATE and DEACTIVATE.
            0 | 4 => self.events.happen(Self::READY),
            1..=3 => self.is_refused = true,
            _ => return false,
        }
        true
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        match offset {
            // STATUS: ready. CINSTRDAT0 and 1: nobody answers.
            0x604 => Some(8),
            0x638 | 0x63c => Some(u32::MAX),
            0x500..0x680 => Some(self.held[(offset as usize - 0x500) / 4]),
            _ => None,
        }
    }

    fn set_own(&mut self, offset: u32, value: u32, _now: Cycles) -> Result<bool, Fault> {
        let 0x500..0x680 = offset else {
            return Ok(false);
        };
        self.held[(offset as usize - 0x500) / 4] = value;
        // CINSTRCONF starts a command.
        if offset == 0x634 {
            self.events.happen(Self::READY);
        }
        Ok(true)
    }

    fn advance(&mut self, _now: Cycles) -> Result<(), Fault> {
        if mem::take(&mut self.is_refused) {
            let what = "the emulation leaves out the flash on QSPI, which is to be read or changed";
            return Err(Fault::new(FaultKind::Absent, what));
        }
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        if self.is_refused {
            return Cycles(0);
        }
        Cycles::NEVER
    }
}

/// A peripheral that is left out, but may be configured and stopped.
#[derive(Clone, Debug)]
pub struct NrfIdle {
    events: NrfEvents,
    shorts: u32,
    /// Registers from 0x500 on.
    held: [u32; 0x100],
    name: &'static str,
    /// The tasks that are refused; others do nothing.
    refused: u32,
    is_refused: bool,
}

impl NrfIdle {
    /// A peripheral of this name, whose tasks of these bits are refused.
    pub const fn new(name: &'static str, refused: u32) -> Self {
        Self {
            events: NrfEvents::new(u32::MAX),
            shorts: 0,
            held: [0; 0x100],
            name,
            refused,
            is_refused: false,
        }
    }
}

impl Nrf for NrfIdle {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn shorts(&mut self) -> Option<&mut u32> {
        Some(&mut self.shorts)
    }

    fn task(&mut self, number: u32, _now: Cycles) -> bool {
        self.is_refused |= number < 32 && self.refused >> number & 1 != 0;
        true
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        match offset {
            0x400..0x500 => Some(0),
            0x500..0x900 => Some(self.held[(offset as usize - 0x500) / 4]),
            _ => None,
        }
    }

    fn set_own(&mut self, offset: u32, value: u32, _now: Cycles) -> Result<bool, Fault> {
        if let 0x500..0x900 = offset {
            self.held[(offset as usize - 0x500) / 4] = value;
            return Ok(true);
        }
        Ok(false)
    }

    fn advance(&mut self, _now: Cycles) -> Result<(), Fault> {
        if mem::take(&mut self.is_refused) {
            let what = format!("the emulation leaves out {}", self.name);
            return Err(Fault::new(FaultKind::Absent, what));
        }
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        if self.is_refused {
            return Cycles(0);
        }
        Cycles::NEVER
    }
}

/// An event generator unit: each task triggers an event.
#[derive(Clone, Debug)]
pub struct NrfEgu {
    events: NrfEvents,
}

impl Default for NrfEgu {
    fn default() -> Self {
        Self {
            events: NrfEvents::new(0xffff),
        }
    }
}

impl Nrf for NrfEgu {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn task(&mut self, number: u32, _now: Cycles) -> bool {
        if number < 16 {
            self.events.happen(number);
        }
        number < 16
    }

    fn own(&mut self, _offset: u32, _now: Cycles) -> Option<u32> {
        None
    }

    fn set_own(&mut self, _offset: u32, _value: u32, _now: Cycles) -> Result<bool, Fault> {
        Ok(false)
    }
}

/// The programmable peripheral interconnect: channels from events to tasks.
#[derive(Clone, Debug, Default)]
pub struct NrfPpi {
    enabled: u32,
    wired: [(u32, [u32; 2]); 9],
    /// Event and task addresses of each programmable channel.
    channels: [[u32; 2]; 20],
    /// A second task for each channel.
    forks: [u32; 32],
    groups: [u32; 6],
}

impl NrfPpi {
    /// Preprogrammed channels 20 to 31, which connect timer 0, real-time counter 0 and the radio
    /// (specification, PPI, pre-programmed channels). Those to the AES engines are missing because
    /// these are left out.
    pub fn new(counter: u32, timer: u32, radio: u32) -> Self {
        let compare = |base: u32, channel: u32| base + 0x140 + 4 * channel;
        let [txen, rxen, disable] = [0, 4, 0x10].map(|task| radio + task);
        let [address, end] = [0x104, 0x10c].map(|event| radio + event);
        let capture = |channel: u32| timer + 0x040 + 4 * channel;
        Self {
            wired: [
                (20, [compare(timer, 0), txen]),
                (21, [compare(timer, 0), rxen]),
                (22, [compare(timer, 1), disable]),
                (26, [address, capture(1)]),
                (27, [end, capture(2)]),
                (28, [compare(counter, 0), txen]),
                (29, [compare(counter, 0), rxen]),
                (30, [compare(counter, 0), timer + 0x00c]),
                (31, [compare(counter, 0), timer]),
            ],
            ..Self::default()
        }
    }

    /// The tasks that an event starts, by address.
    pub fn tasks(&self, event: u32) -> Vec<u32> {
        if self.enabled == 0 {
            return Vec::new();
        }
        let channels = (0..).zip(self.channels).chain(self.wired);
        let started = channels
            .filter(|&(number, [from, _])| self.enabled >> number & 1 != 0 && from == event);
        started
            .flat_map(|(number, [_, task])| [task, self.forks[number as usize]])
            .filter(|&task| task != 0)
            .collect()
    }

    /// Run a task that enables or disables a channel group.
    pub fn task(&mut self, number: u32) {
        let Some(&group) = self.groups.get(number as usize / 2) else {
            return;
        };
        if number.is_multiple_of(2) {
            self.enabled |= group;
        } else {
            self.enabled &= !group;
        }
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&mut self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x500 | 0x504 | 0x508 => self.enabled,
            0x000..=0x02c => 0,
            _ => *self.place(offset)?,
        })
    }

    /// Write the register at an offset; false if there is none.
    pub fn write(&mut self, offset: u32, value: u32) -> bool {
        match offset {
            0x000..=0x02c if value & 1 != 0 => self.task(offset / 4),
            0x000..=0x02c => {}
            0x500 => self.enabled = value,
            0x504 => self.enabled |= value,
            0x508 => self.enabled &= !value,
            _ => match self.place(offset) {
                Some(place) => *place = value,
                None => return false,
            },
        }
        true
    }

    fn place(&mut self, offset: u32) -> Option<&mut u32> {
        let index = |first: u32| (offset - first) as usize / 4;
        match offset {
            0x510..=0x5ac => Some(&mut self.channels[index(0x510) / 2][index(0x510) % 2]),
            0x800..=0x814 => Some(&mut self.groups[index(0x800)]),
            0x910..=0x98c => Some(&mut self.forks[index(0x910)]),
            _ => None,
        }
    }
}
