//! The surroundings of a Cortex-M core: pins, power states and traces for all series, and each
//! series' registers in a file of its own.

pub mod cc2538;
pub mod cc26x0;
pub mod nrf52;
pub mod sections;
pub mod stm32f1;

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use joulemark_armv7m::{Bus, Control, MemorySettings, Width};
use joulemark_kernel::{
    Chip, Cycles, Fault, FaultKind, Hertz, Image, Memories, Picoseconds, Timeline,
};
use joulemark_radio::{Antenna, Radio};

use crate::board::{Board, Buses, Effect};
use crate::calls::CallTree;
use crate::pins::{Pin, PinNames};

/// Pins of a port.
const PORT_PINS: usize = 32;

/// Pins without ports.
const PLAIN_PINS: PinNames = PinNames {
    counts: &[PORT_PINS],
    name: |pin| &PINS[pin.bit],
};

/// Lettered ports of so many pins each.
const fn lettered(counts: &'static [usize]) -> PinNames {
    PinNames {
        counts,
        name: |pin| &PINS[(1 + pin.port) * PORT_PINS + pin.bit],
    }
}

/// Numbered ports of so many pins each.
const fn numbered(counts: &'static [usize]) -> PinNames {
    PinNames {
        counts,
        name: |pin| &NUMBERED_PINS[pin.port * PORT_PINS + pin.bit],
    }
}

/// Names of pins of numbered ports: P0.00 to P0.31, P1.00, ...
static NUMBERED_PINS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let ports = 0..2;
    ports
        .flat_map(|port| (0..PORT_PINS).map(move |pin| format!("P{port}.{pin:02}")))
        .collect()
});

/// Names of pins: DIO0 to DIO31, then PA0 to PA31, PB0, ... as series with ports call them.
static PINS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let plain = (0..PORT_PINS).map(|pin| format!("DIO{pin}"));
    let ports = ('A'..='E').flat_map(|port| (0..PORT_PINS).map(move |pin| format!("P{port}{pin}")));
    plain.chain(ports).collect()
});

/// The levels of all pins.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    /// Level driven by the program, if any.
    output: [u32; 5],
    enabled: [u32; 5],
    /// Level driven by the board.
    input: [u32; 5],
}

impl Pins {
    fn level(&self, port: usize) -> u32 {
        self.output[port] & self.enabled[port] | self.input[port] & !self.enabled[port]
    }
}

/// Who resets the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// AIRCR.SYSRESETREQ.
    Software,
    Watchdog,
}

/// A reset of the chip.
pub struct Anew<'a> {
    pub cause: Reset,
    pub now: Cycles,
    pub time: Picoseconds,
    /// What the peripherals were made with.
    pub core: &'a sections::Core,
    pub setting: &'a dyn Fn(&str) -> u32,
}

/// Effects of a series' register access on the rest of the chip.
pub struct Context<'a> {
    /// The pins; changes are noticed after the access.
    pub pins: &'a mut Pins,
    /// When the access is on the bus.
    pub now: Cycles,
    /// The same in the board's time, for what has clocks of its own.
    pub time: Picoseconds,
    /// Set to change the core's clock.
    pub clock_hz: Option<u32>,
}

/// The registers of one series of chips.
pub trait Peripherals: Send + Sync {
    /// Names of the serial ports.
    fn serial_ports(&self) -> &'static [&'static str];
    /// Contents of the chip's read-only memories and their addresses.
    fn rom(&self) -> Vec<(u32, Vec<u8>)> {
        Vec::new()
    }
    /// Read a word; `None` where the series has no register.
    ///
    /// # Errors
    /// It may not be read so.
    fn read(&mut self, address: u32, context: &mut Context<'_>) -> Result<Option<u32>, Fault>;
    /// Write a word; false where the series has no register.
    ///
    /// # Errors
    /// It may not be written so.
    fn write(&mut self, address: u32, value: u32, context: &mut Context<'_>)
    -> Result<bool, Fault>;
    /// Write a part of a word, where the series has registers that take one; false where it has none.
    fn write_part(&mut self, address: u32, value: u32, width: Width) -> bool {
        let _ = (address, value, width);
        false
    }
    /// The image that was loaded, for registers that show a part of it.
    fn set_image(&mut self, image: &Image) {
        let _ = image;
    }
    /// Whether the flash controller takes stores to flash, as if they were to registers.
    fn takes_flash_stores(&self) -> bool {
        false
    }
    /// Queue bytes on a port's line into the chip.
    fn put_serial(&mut self, port: usize, bytes: &[u8]);
    /// Bring the devices up to `now`; `sent` is told of bytes that went out: port, byte, time.
    ///
    /// # Errors
    /// A watchdog resets the chip.
    fn advance(
        &mut self,
        now: Cycles,
        sent: &mut dyn FnMut(usize, u8, Cycles),
    ) -> Result<(), Fault>;
    /// Pins of a port have new levels; `changed` are those that differ. Whether that may interrupt.
    fn pins_changed(&mut self, port: usize, level: u32, changed: u32) -> bool {
        let _ = (port, level, changed);
        false
    }
    /// The core's clock has changed: devices with clocks of their own see another ratio.
    fn clock_changed(&mut self, now: Cycles, core_hz: u32) {
        let _ = (now, core_hz);
    }
    /// The watch crystal is too fast by so many parts in 10^9 from now on. A series without one
    /// has nothing to do.
    fn set_watch_crystal(&mut self, ppb: i32, now: Cycles, time: Picoseconds) {
        let _ = (ppb, now, time);
    }
    /// Do transfers to and from memory that are due. Whether there was one.
    ///
    /// # Errors
    /// A transfer cannot be done.
    fn transfer(
        &mut self,
        memory: &mut dyn Memories,
        now: Cycles,
        timeline: &Timeline,
    ) -> Result<bool, Fault> {
        let _ = (memory, now, timeline);
        Ok(false)
    }
    /// When [`Peripherals::advance`] or [`Peripherals::transfer`] has something to do.
    fn next_event(&self) -> Cycles;
    /// The chip's radio. It is brought up to date before a register is accessed, and the registers
    /// are asked for interrupts and for the next event after it has done something.
    fn radio(&self) -> Option<&dyn Radio> {
        None
    }
    /// The same, to be used.
    fn radio_mut(&mut self) -> Option<&mut dyn Radio> {
        None
    }
    /// Interrupt lines that are asserted.
    fn interrupts(&self) -> [u64; 4];
    /// Settings of the memory controller.
    fn memory_settings(&self) -> MemorySettings {
        MemorySettings::default()
    }
    /// Whether the cache's RAM is no memory now.
    fn cache_ram_off(&self) -> bool {
        self.memory_settings().cache
    }
    /// The power state while the flash controller changes flash, which then cannot be read.
    fn flash_state(&self) -> Option<&'static str> {
        None
    }
    /// The power state of a core that sleeps.
    fn sleep_state(&self) -> &'static str;
    /// The core goes to sleep with SCR.SLEEPDEEP: returns its power state.
    ///
    /// # Errors
    /// The emulation leaves it out.
    fn deep_sleep(&mut self, context: &mut Context<'_>) -> Result<&'static str, Fault> {
        let _ = context;
        Err(Fault::new(
            FaultKind::Absent,
            "the emulation leaves out deep sleep (SCR.SLEEPDEEP) of this chip",
        ))
    }
    /// Everything is as after power-up but for what a reset leaves as it is, and for the register
    /// that tells its cause. The clock follows ([`Peripherals::clock_changed`]).
    fn reset(&mut self, anew: &Anew<'_>);
    /// The core wakes from deep sleep.
    fn wake(&mut self, context: &mut Context<'_>) {
        let _ = context;
    }
}

/// The surroundings of the core of a series' chip, and the names of its pins.
pub type Make = fn(&sections::Core, &dyn Fn(&str) -> u32) -> (Box<dyn Peripherals>, PinNames);

/// Everything around the core.
pub struct CortexM {
    series: Box<dyn Peripherals>,
    pins: Pins,
    pub(crate) timeline: Timeline,
    max_hz: u32,
    /// How much too fast the watch crystal is, in parts in 10^9.
    watch_ppb: i32,
    pub(crate) board: Board,
    /// When the series' registers and its radio have something to do; asked for before every
    /// instruction.
    due: Cycles,
    pending_fault: Option<Fault>,
    /// The core's power state.
    state: &'static str,
    /// How long the core takes to wake from power states.
    wake_up: Vec<(String, Picoseconds)>,
    /// The flash controller's, while it has one.
    flash_state: Option<&'static str>,
    /// Cycles by function, where they are wanted.
    pub(crate) calls: Option<CallTree>,
}

const ACTIVE: &str = "active";

impl CortexM {
    /// After reset.
    pub fn new(
        chip: &Arc<Chip>,
        core: &sections::Core,
        make: Make,
        setting: &dyn Fn(&str) -> u32,
        trace: bool,
    ) -> Self {
        let (series, pins) = make(core, setting);
        let hz = core.reset_hz.whole();
        // The emulation leaves out the SPI controllers of all series.
        let buses = Buses {
            ports: series.serial_ports(),
            spi: 0,
        };
        let mut board = Board::new(chip, pins, buses, trace, ACTIVE, hz);
        if let Some(radio) = series.radio() {
            board.add_radio(radio.state());
        }
        Self {
            series,
            pins: Pins::default(),
            timeline: Timeline::new(Hertz(hz)),
            max_hz: core.max_hz.whole(),
            watch_ppb: 0,
            board,
            due: Cycles::NEVER,
            pending_fault: None,
            state: ACTIVE,
            wake_up: core.wake_up_times(),
            flash_state: None,
            calls: None,
        }
    }

    pub(crate) fn set_image(&mut self, image: &Image) {
        self.series.set_image(image);
    }

    pub(crate) fn rom(&self) -> Vec<(u32, Vec<u8>)> {
        self.series.rom()
    }

    /// Put bytes on a UART's line to the chip.
    pub(crate) fn put_serial(&mut self, port: usize, bytes: &[u8], now: Cycles) {
        self.series.put_serial(port, bytes);
        self.advance_series(now);
    }

    /// The watch crystal is too fast by so many parts in 10^9 from now on.
    pub(crate) fn set_watch_crystal(&mut self, ppb: i32, now: Cycles) {
        self.advance_series(now);
        let time = self.timeline.at(now);
        self.watch_ppb = ppb;
        self.series.set_watch_crystal(ppb, now, time);
        self.set_due();
    }

    /// Reset the chip: its pins are inputs again, and its clock is the one after a reset.
    pub(crate) fn reset(
        &mut self,
        cause: Reset,
        core: &sections::Core,
        setting: &dyn Fn(&str) -> u32,
        now: Cycles,
    ) {
        let time = self.timeline.at(now);
        self.series.reset(&Anew {
            cause,
            now,
            time,
            core,
            setting,
        });
        let hz = core.reset_hz.whole();
        self.timeline.change_clock(now, Hertz(hz));
        self.series.clock_changed(now, hz);
        if self.watch_ppb != 0 {
            self.series.set_watch_crystal(self.watch_ppb, now, time);
        }
        self.pending_fault = None;
        (self.state, self.flash_state) = (ACTIVE, None);
        self.note_power(now);
        if let Some(radio) = self.series.radio() {
            self.board.note_radio(radio.state(), time);
        }
        let before = self.levels();
        (self.pins.output, self.pins.enabled) = Default::default();
        self.set_due();
        self.pins_changed(before, now);
    }

    /// The board drives a pin.
    pub(crate) fn set_pin(&mut self, pin: Pin, high: bool, now: Cycles) {
        let before = self.levels();
        let bit = 1 << pin.bit;
        let input = &mut self.pins.input[pin.port];
        *input = if high { *input | bit } else { *input & !bit };
        self.pins_changed(before, now);
    }

    fn levels(&self) -> [u32; 5] {
        std::array::from_fn(|port| self.pins.level(port))
    }

    fn pins_changed(&mut self, before: [u32; 5], now: Cycles) {
        let after = self.levels();
        for port in 0..before.len() {
            let mut changed = before[port] ^ after[port];
            if changed != 0 && self.series.pins_changed(port, after[port], changed) {
                // The core looks at the lines when something is due.
                self.due = Cycles(0);
            }
            while changed != 0 {
                let bit = changed.trailing_zeros() as usize;
                changed &= changed - 1;
                let (pin, high) = (Pin { port, bit }, after[port] >> bit & 1 != 0);
                self.board.pin_changed(pin, high, now, &self.timeline);
            }
        }
        self.take_effects(now);
    }

    fn advance_series(&mut self, now: Cycles) {
        self.advance_radio(now);
        let (board, timeline) = (&mut self.board, &self.timeline);
        let advanced = self.series.advance(now, &mut |port, byte, at| {
            board.byte_sent(port, byte, at, timeline);
        });
        if let Err(fault) = advanced {
            self.pending_fault.get_or_insert(fault);
        }
        self.set_due();
        self.take_effects(now);
    }

    /// Let the chip's radio do what is due up to `now`.
    fn advance_radio(&mut self, now: Cycles) {
        let Some(radio) = self.series.radio_mut() else {
            return;
        };
        let until = self.timeline.at(now);
        while radio.next_event() <= until && !radio.needs_memory() {
            let time = radio.next_event();
            radio.advance(time);
            debug_assert!(radio.next_event() > time || radio.needs_memory());
            self.board.note_radio(radio.state(), time);
        }
    }

    /// When the chip's radio does something by itself.
    pub(crate) fn next_radio_event(&self) -> Picoseconds {
        let radio = self.series.radio();
        radio.map_or(Picoseconds::NEVER, Radio::next_event)
    }

    /// Let somebody outside use the antenna of the chip's radio; false where it has none.
    pub(crate) fn with_antenna(&mut self, act: &mut dyn FnMut(&mut Antenna)) -> bool {
        let Some(radio) = self.series.radio_mut() else {
            return false;
        };
        act(radio.antenna());
        self.set_due();
        true
    }

    /// Let devices do what is due up to `now`.
    fn advance_devices(&mut self, now: Cycles) {
        while self.board.due <= now {
            self.board.advance_one(&self.timeline);
            self.take_effects(now);
        }
    }

    /// See what devices have done.
    pub(crate) fn take_effects(&mut self, now: Cycles) {
        while let Some((at, effect)) = self.board.next_effect(&self.timeline) {
            match effect {
                Effect::Pin(pin, high) => self.set_pin(pin, high, at),
                Effect::Byte(port, byte) => self.put_serial(port, &[byte], now),
            }
        }
    }

    fn set_due(&mut self) {
        self.due = if self.pending_fault.is_some() {
            Cycles(0)
        } else {
            let radio = self.timeline.cycle_of(self.next_radio_event());
            self.series.next_event().min(radio)
        };
    }

    /// Let a register access happen, and what follows from it.
    fn access<T>(
        &mut self,
        now: Cycles,
        act: impl FnOnce(&mut dyn Peripherals, &mut Context<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.advance_series(now);
        self.advance_devices(now);
        let before = self.levels();
        let mut context = Context {
            pins: &mut self.pins,
            now,
            time: self.timeline.at(now),
            clock_hz: None,
        };
        let time = context.time;
        let result = act(&mut *self.series, &mut context)?;
        if let Some(hz) = context.clock_hz {
            if hz > self.max_hz {
                return Err(Fault::new(
                    FaultKind::Peripheral,
                    format!(
                        "the core's clock is set to {hz} Hz, above the chip's {} Hz",
                        self.max_hz
                    ),
                ));
            }
            self.timeline.change_clock(now, Hertz(hz));
            self.series.clock_changed(now, hz);
            self.note_power(now);
        }
        if let Some(radio) = self.series.radio() {
            self.board.note_radio(radio.state(), time);
        }
        self.note_flash(now);
        self.set_due();
        self.pins_changed(before, now);
        Ok(result)
    }

    fn note_power(&mut self, now: Cycles) {
        let state = self.flash_state.unwrap_or(self.state);
        self.board.note_power(state, now, &self.timeline);
    }

    /// The flash controller may have begun or ended something.
    fn note_flash(&mut self, now: Cycles) {
        let state = self.series.flash_state();
        if state != self.flash_state {
            self.flash_state = state;
            self.note_power(now);
        }
    }

    /// The fault for an address without an emulated register.
    fn nothing(&self, address: u32) -> Fault {
        self.board.nothing_at(address)
    }
}

impl Bus for CortexM {
    fn read(&mut self, address: u32, width: Width, now: Cycles) -> Result<u32, Fault> {
        let word = address & !3;
        let value = self
            .access(now, |series, context| series.read(word, context))
            .map_err(|fault| fault.at(address))?;
        let value = value.ok_or_else(|| self.nothing(address))?;
        Ok(value >> ((address & 3) * 8) & (u32::MAX >> (32 - 8 * width.bytes())))
    }

    fn write(&mut self, address: u32, value: u32, width: Width, now: Cycles) -> Result<(), Fault> {
        if width != Width::Word
            && self.access(
                now,
                |series, _| Ok(series.write_part(address, value, width)),
            )?
        {
            return Ok(());
        }
        if width != Width::Word && address & 3 != 0 {
            return Err(Fault::new(
                FaultKind::Absent,
                "the emulation leaves out stores to parts of registers",
            )
            .at(address));
        }
        let found = self
            .access(now, |series, context| series.write(address, value, context))
            .map_err(|fault| fault.at(address))?;
        if found {
            Ok(())
        } else {
            Err(self.nothing(address))
        }
    }

    fn next_event(&self) -> Cycles {
        self.due.min(self.board.due)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        self.advance_series(now);
        self.advance_devices(now);
        self.board.take_fault()?;
        self.pending_fault.take().map_or(Ok(()), Err)
    }

    fn transfer(&mut self, memory: &mut dyn Memories, now: Cycles) -> Result<(), Fault> {
        // What a radio does with memory happens at its own time, too.
        let time = self.next_radio_event().min(self.timeline.at(now));
        if self.series.transfer(memory, now, &self.timeline)? {
            if let Some(radio) = self.series.radio() {
                self.board.note_radio(radio.state(), time);
            }
            self.note_flash(now);
            self.set_due();
        }
        Ok(())
    }

    fn interrupts(&self) -> [u64; 4] {
        self.series.interrupts()
    }

    fn memory_settings(&self) -> MemorySettings {
        self.series.memory_settings()
    }

    fn cache_ram_off(&self) -> bool {
        self.series.cache_ram_off()
    }

    fn takes_flash_stores(&self) -> bool {
        self.series.takes_flash_stores()
    }

    fn flash_is_off(&self) -> bool {
        self.flash_state.is_some()
    }

    fn sleep(&mut self, asleep: bool, deep: bool, now: Cycles) -> Cycles {
        let before = std::mem::replace(&mut self.state, ACTIVE);
        let usual = self.series.sleep_state();
        if asleep && deep {
            match self.access(now, |series, context| series.deep_sleep(context)) {
                Ok(state) => self.state = state,
                Err(fault) => {
                    self.pending_fault = Some(fault);
                    self.set_due();
                }
            }
        } else if asleep {
            self.state = usual;
        } else if before != usual {
            // What can be accessed can wake.
            let _ = self.access(now, |series, context| {
                series.wake(context);
                Ok(())
            });
        }
        self.note_power(now);
        let mut states = self.wake_up.iter();
        match states.find(|(state, _)| !asleep && *state == before) {
            Some(&(_, time)) => {
                let ready = self.timeline.at(now) + time;
                Cycles(self.timeline.cycle_of(ready).0 - now.0)
            }
            None => Cycles(0),
        }
    }

    fn stops_clock(&self, deep: bool) -> bool {
        deep && self.state != ACTIVE && self.state != self.series.sleep_state()
    }

    fn control(&mut self, control: &Control) -> Range<u32> {
        let calls = self.calls.as_mut();
        calls.map_or(0..u32::MAX, |calls| calls.control(control))
    }

    fn reset_requested(&mut self, _now: Cycles) -> Result<(), Fault> {
        Err(Fault::new(
            FaultKind::Reset,
            "the program resets the chip (AIRCR.SYSRESETREQ)",
        ))
    }

    fn take_stop(&mut self) -> bool {
        self.board.take_stop()
    }
}
