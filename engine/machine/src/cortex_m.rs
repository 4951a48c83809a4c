//! The surroundings of a Cortex-M core: pins, power states and traces for all series, and each
//! series' registers in their own file.

pub mod instances;
pub mod sections;
pub mod stm32;

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use joulemark_armv7m::{Bus, Control, Flow, MemorySettings, Width};
use joulemark_kernel::{
    Chip, ChipError, Cycles, Fault, FaultKind, Hertz, I2c, Image, Memories, Picoseconds, Signal,
    Timeline, lines,
};
use joulemark_radio::{Antenna, Radio};

use crate::board::{Board, Buses, Effect};
use crate::calls::CallTree;
use crate::pins::{Pin, PinNames};

/// Pins of a port.
const PORT_PINS: usize = 32;
/// The most ports that a chip has.
const PORTS: usize = 9;

/// Pins of a port without a name.
pub fn plain(counts: Vec<usize>) -> PinNames {
    PinNames {
        counts,
        name: |pin| &PINS[pin.bit],
    }
}

/// Lettered ports with these numbers of pins.
pub fn lettered(counts: Vec<usize>) -> PinNames {
    PinNames {
        counts,
        name: |pin| &PINS[(1 + pin.port) * PORT_PINS + pin.bit],
    }
}

/// Numbered ports with these numbers of pins.
pub fn numbered(counts: Vec<usize>) -> PinNames {
    PinNames {
        counts,
        name: |pin| &NUMBERED_PINS[pin.port * PORT_PINS + pin.bit],
    }
}

/// Pin names in numbered ports: P0.00 to P0.31, P1.00, ...
static NUMBERED_PINS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let ports = 0..2;
    ports
        .flat_map(|port| (0..PORT_PINS).map(move |pin| format!("P{port}.{pin:02}")))
        .collect()
});

/// Pin names: DIO0 to DIO31, then PA0 to PA31, PB0, ... in series with lettered ports.
static PINS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let plain = (0..PORT_PINS).map(|pin| format!("DIO{pin}"));
    let ports = ('A'..='I').flat_map(|port| (0..PORT_PINS).map(move |pin| format!("P{port}{pin}")));
    plain.chain(ports).collect()
});

/// The levels of all pins.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    /// Levels driven by the program, and the pins that it drives.
    pub output: [u32; PORTS],
    pub enabled: [u32; PORTS],
    /// Levels driven by the board.
    input: [u32; PORTS],
}

impl Pins {
    pub fn level(&self, port: usize) -> u32 {
        self.output[port] & self.enabled[port] | self.input[port] & !self.enabled[port]
    }
}

/// The cause of a chip reset.
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
    /// Parameters of the peripherals.
    pub core: &'a sections::Core,
    pub setting: &'a dyn Fn(&str) -> u32,
}

/// The rest of the chip, as far as a register access can see and change it.
pub struct Context<'a> {
    /// The pins; the caller detects changes after the access.
    pub pins: &'a mut Pins,
    /// The cycle of the bus access.
    pub now: Cycles,
    /// The same in the board's time, for peripherals with their own clocks.
    pub time: Picoseconds,
    /// Set to change the core's clock.
    pub clock_hz: Option<u32>,
}

/// The registers of one series of chips.
pub trait Peripherals: Send + Sync {
    /// Names of the serial ports.
    fn serial_ports(&self) -> &'static [&'static str];
    /// Names of the SPI buses.
    fn spi_buses(&self) -> &'static [&'static str] {
        &[]
    }
    /// Contents and addresses of the chip's read-only memories.
    fn rom(&self) -> Vec<(u32, Vec<u8>)> {
        Vec::new()
    }
    /// Read a word; `None` if there is no register.
    ///
    /// # Errors
    /// The register does not allow this read.
    fn read(&mut self, address: u32, context: &mut Context<'_>) -> Result<Option<u32>, Fault>;
    /// Write a word; false if there is no register.
    ///
    /// # Errors
    /// The register does not allow this write.
    fn write(&mut self, address: u32, value: u32, context: &mut Context<'_>)
    -> Result<bool, Fault>;
    /// Write part of a word to a register that allows it; false if there is none.
    fn write_part(&mut self, address: u32, value: u32, width: Width) -> bool {
        let _ = (address, value, width);
        false
    }
    /// What a narrow store writes to the whole register; `None` where it does not.
    fn widened(&self, value: u32, width: Width) -> Option<u32> {
        let _ = (value, width);
        None
    }
    /// Note the loaded image, for registers that show part of it.
    fn set_image(&mut self, image: &Image) {
        let _ = image;
    }
    /// Whether the flash controller handles stores of this width to flash like register writes.
    fn takes_flash_stores(&self, width: Width) -> bool {
        let _ = width;
        false
    }
    /// Queue bytes that arrive on a port.
    fn put_serial(&mut self, port: usize, bytes: &[u8]);
    /// Bring the peripherals up to `now`; call `sent` with port, byte and time for each byte sent.
    ///
    /// # Errors
    /// A watchdog resets the chip.
    fn advance(
        &mut self,
        now: Cycles,
        sent: &mut dyn FnMut(usize, u8, Cycles),
    ) -> Result<(), Fault>;
    /// Names of the I2C buses.
    fn i2c_buses(&self) -> &'static [&'static str] {
        &[]
    }
    /// Bring the masters of buses up to `now`, before [`Peripherals::advance`] and each register
    /// access.
    ///
    /// # Errors
    /// A device answers in a way that the emulation leaves out.
    fn advance_buses(&mut self, now: Cycles, wires: &mut Wires<'_>) -> Result<(), Fault> {
        let _ = (now, wires);
        Ok(())
    }
    /// Note new levels of a port's pins, of which `changed` differ; return whether they may
    /// interrupt.
    fn pins_changed(&mut self, port: usize, level: u32, changed: u32) -> bool {
        let _ = (port, level, changed);
        false
    }
    /// Note that the core's clock changed, which changes its ratio to other clocks.
    fn clock_changed(&mut self, now: Cycles, core_hz: u32) {
        let _ = (now, core_hz);
    }
    /// From now on, the watch crystal is `ppb` parts in 10^9 too fast. Series without one ignore
    /// this.
    fn set_watch_crystal(&mut self, ppb: i32, now: Cycles, time: Picoseconds) {
        let _ = (ppb, now, time);
    }
    /// Quantities around the board that the chip itself senses.
    fn senses(&self) -> &'static [&'static str] {
        &[]
    }
    /// Take one of [`Peripherals::senses`].
    fn surround(&mut self, quantity: &str, signal: &Signal) {
        let _ = (quantity, signal);
    }
    /// Make the memory transfers that are due; return whether there were any.
    ///
    /// # Errors
    /// A transfer is not possible.
    fn transfer(
        &mut self,
        memory: &mut dyn Memories,
        now: Cycles,
        timeline: &Timeline,
    ) -> Result<bool, Fault> {
        let _ = (memory, now, timeline);
        Ok(false)
    }
    /// What becomes of a value in the register at this address.
    fn flow(&self, address: u32) -> Flow {
        let _ = address;
        Flow::Register
    }
    /// When [`Peripherals::advance`] or [`Peripherals::transfer`] has work to do.
    fn next_event(&self) -> Cycles;
    /// The chip's radio. It is brought up to date before a register access; after it has acted, the
    /// caller checks the interrupts and the next event.
    fn radio(&self) -> Option<&dyn Radio> {
        None
    }
    /// The chip's radio, mutably.
    fn radio_mut(&mut self) -> Option<&mut dyn Radio> {
        None
    }
    /// Asserted interrupt lines.
    fn interrupts(&self) -> [u64; 4];
    /// Settings of the memory controller.
    fn memory_settings(&self) -> MemorySettings {
        MemorySettings::default()
    }
    /// Settings of a memory that is read by lines.
    fn lines(&self) -> lines::Settings {
        lines::Settings::default()
    }
    /// Whether the cache's RAM is currently not usable as memory.
    fn cache_ram_off(&self) -> bool {
        self.memory_settings().cache
    }
    /// The power state while the flash controller changes flash, which then cannot be read.
    fn flash_state(&self) -> Option<&'static str> {
        None
    }
    /// Whether a core waits to read flash that is being changed, even if the chip's power state shows
    /// the change.
    fn flash_waits(&self) -> bool {
        false
    }
    /// Whether the non-maskable interrupt's line is asserted.
    fn nmi(&self) -> bool {
        false
    }
    /// The core reads a double word of flash whose error correction does not fit its bits.
    fn read_torn(&mut self, address: u32) {
        let _ = address;
    }
    /// Until when flash is being changed, if a core that executes from flash or ROM stands still
    /// meanwhile, or only waits.
    fn flash_held_until(&self) -> Cycles {
        Cycles(0)
    }
    /// The power state of a sleeping core.
    fn sleep_state(&self) -> &'static str;
    /// Enter sleep with SCR.SLEEPDEEP set; return the power state.
    ///
    /// # Errors
    /// The emulation leaves this out.
    fn deep_sleep(&mut self, context: &mut Context<'_>) -> Result<&'static str, Fault> {
        let _ = context;
        Err(Fault::new(
            FaultKind::Absent,
            "the emulation leaves out deep sleep (SCR.SLEEPDEEP) of this chip",
        ))
    }
    /// Return to the power-up state, except for what a reset preserves and for the register that
    /// reports its cause. The clock follows ([`Peripherals::clock_changed`]).
    fn reset(&mut self, anew: &Anew<'_>);
    /// Wake from deep sleep.
    fn wake(&mut self, context: &mut Context<'_>) {
        let _ = context;
    }
}

/// The devices on the chip's buses.
pub struct Wires<'a> {
    board: &'a mut Board,
    timeline: &'a Timeline,
}

impl Wires<'_> {
    /// Exchange a byte, whose last bit is at a time, on the SPI bus of a number; `None` if nothing
    /// drives the line.
    pub fn spi(&mut self, bus: usize, byte: u8, at: Cycles) -> Option<u8> {
        self.board.exchange(bus, byte, at, self.timeline)
    }

    /// Take part in a transfer on the I2C bus of a number; `None` if nothing drives the line.
    pub fn i2c(&mut self, bus: usize, what: I2c, at: Cycles) -> Option<u8> {
        self.board.i2c(bus, what, at, self.timeline)
    }
}

/// A chip's peripherals, and its pin names.
pub type Made = (Box<dyn Peripherals>, PinNames);
/// Makes them for a chip of a series.
pub type Make = fn(&Chip, &sections::Core, &dyn Fn(&str) -> u32) -> Result<Made, ChipError>;

/// Everything around the core.
pub struct CortexM {
    series: Box<dyn Peripherals>,
    pins: Pins,
    pub(crate) timeline: Timeline,
    max_hz: u32,
    /// How much too fast the watch crystal is, in parts in 10^9.
    watch_ppb: i32,
    pub(crate) board: Board,
    /// When the series' registers and its radio have work to do; checked before every instruction.
    due: Cycles,
    pending_fault: Option<Fault>,
    /// The core's power state.
    state: &'static str,
    /// Wake-up times from power states.
    wake_up: Vec<(String, Picoseconds)>,
    /// Until when a core that executes from flash or ROM stands still.
    held_until: Cycles,
    /// The flash controller's power state, while it has one.
    flash_state: Option<&'static str>,
    /// Cycles by function, if wanted.
    pub(crate) calls: Option<CallTree>,
}

const ACTIVE: &str = "active";

/// More events of a radio at one instant are an endless loop.
const AT_ONCE_MAX: u32 = 64;

impl CortexM {
    /// The state after reset.
    pub fn new(
        chip: &Arc<Chip>,
        core: &sections::Core,
        make: Make,
        setting: &dyn Fn(&str) -> u32,
        trace: bool,
    ) -> Result<Self, ChipError> {
        let (series, pins) = make(chip, core, setting)?;
        let hz = core.reset_hz.whole();
        let buses = Buses {
            ports: series.serial_ports(),
            spi: series.spi_buses(),
            i2c: series.i2c_buses(),
        };
        let mut board = Board::new(chip, pins, buses, trace, ACTIVE, hz);
        if let Some(radio) = series.radio() {
            board.add_radio(radio.state());
        }
        Ok(Self {
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
            held_until: Cycles(0),
            flash_state: None,
            calls: None,
        })
    }

    pub(crate) fn set_image(&mut self, image: &Image) {
        self.series.set_image(image);
    }

    pub(crate) fn rom(&self) -> Vec<(u32, Vec<u8>)> {
        self.series.rom()
    }

    /// Put bytes on the line to a UART.
    pub(crate) fn put_serial(&mut self, port: usize, bytes: &[u8], now: Cycles) {
        self.series.put_serial(port, bytes);
        self.advance_series(now);
    }

    /// From now on, the watch crystal is `ppb` parts in 10^9 too fast.
    /// Quantities around the board that the chip itself senses.
    pub(crate) fn senses(&self) -> &'static [&'static str] {
        self.series.senses()
    }

    /// Take one of them.
    pub(crate) fn surround(&mut self, quantity: &str, signal: &Signal) {
        self.series.surround(quantity, signal);
    }

    pub(crate) fn set_watch_crystal(&mut self, ppb: i32, now: Cycles) {
        self.advance_series(now);
        let time = self.timeline.at(now);
        self.watch_ppb = ppb;
        self.series.set_watch_crystal(ppb, now, time);
        self.set_due();
    }

    /// Reset the chip: its pins become inputs, and the clock is the reset clock.
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
        self.held_until = Cycles(0);
        self.note_power(now);
        if let Some(radio) = self.series.radio() {
            self.board.note_radio(radio.state(), time);
        }
        let before = self.levels();
        (self.pins.output, self.pins.enabled) = Default::default();
        self.set_due();
        self.pins_changed(before, now);
    }

    /// Let the board drive a pin.
    pub(crate) fn set_pin(&mut self, pin: Pin, high: bool, now: Cycles) {
        let before = self.levels();
        let bit = 1 << pin.bit;
        let input = &mut self.pins.input[pin.port];
        *input = if high { *input | bit } else { *input & !bit };
        self.pins_changed(before, now);
    }

    fn levels(&self) -> [u32; PORTS] {
        std::array::from_fn(|port| self.pins.level(port))
    }

    fn pins_changed(&mut self, before: [u32; PORTS], now: Cycles) {
        let after = self.levels();
        for port in 0..before.len() {
            let mut changed = before[port] ^ after[port];
            if changed != 0 && self.series.pins_changed(port, after[port], changed) {
                // The core checks its lines when something is due.
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
        let exchanged = self
            .series
            .advance_buses(now, &mut Wires { board, timeline });
        let advanced = self.series.advance(now, &mut |port, byte, at| {
            board.byte_sent(port, byte, at, timeline);
        });
        if let Err(fault) = exchanged.and(advanced) {
            self.pending_fault.get_or_insert(fault);
        }
        self.set_due();
        self.take_effects(now);
    }

    /// Let the chip's radio handle events up to `now`.
    fn advance_radio(&mut self, now: Cycles) {
        let Some(radio) = self.series.radio_mut() else {
            return;
        };
        let until = self.timeline.at(now);
        let mut at_once = 0;
        while radio.next_event() <= until && !radio.needs_memory() {
            let time = radio.next_event();
            radio.advance(time);
            // Several events may fall on one instant, but not without end.
            let next = radio.next_event();
            at_once = if next == time { at_once + 1 } else { 0 };
            debug_assert!(next >= time && at_once < AT_ONCE_MAX || radio.needs_memory());
            self.board.note_radio(radio.state(), time);
        }
    }

    /// When the chip's radio next acts by itself.
    pub(crate) fn next_radio_event(&self) -> Picoseconds {
        let radio = self.series.radio();
        radio.map_or(Picoseconds::NEVER, Radio::next_event)
    }

    /// Let a caller outside the machine use the antenna of the chip's radio; false if it has none.
    pub(crate) fn with_antenna(&mut self, act: &mut dyn FnMut(&mut Antenna)) -> bool {
        let Some(radio) = self.series.radio_mut() else {
            return false;
        };
        act(radio.antenna());
        self.set_due();
        true
    }

    /// Let devices handle events up to `now`.
    fn advance_devices(&mut self, now: Cycles) {
        while self.board.due <= now {
            self.board.advance_one(&self.timeline);
            self.take_effects(now);
        }
    }

    /// Apply the effects of devices.
    pub(crate) fn take_effects(&mut self, now: Cycles) {
        while let Some((at, effect)) = self.board.next_effect(&self.timeline) {
            match effect {
                Effect::Pin(pin, high) => self.set_pin(pin, high, at),
                Effect::Byte(port, byte) => self.put_serial(port, &[byte], now),
            }
        }
    }

    /// After anything that the chip has done, find when the next event is due.
    fn set_due(&mut self) {
        if let Some(radio) = self.series.radio_mut()
            && radio.antenna().take_telling()
        {
            self.board.tell();
        }
        self.due = if self.pending_fault.is_some() {
            Cycles(0)
        } else {
            let radio = self.timeline.cycle_of(self.next_radio_event());
            self.series.next_event().min(radio)
        };
    }

    /// Make a register access, and apply its consequences.
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

    /// Note that the flash controller may have started or finished.
    fn note_flash(&mut self, now: Cycles) {
        self.held_until = self.series.flash_held_until();
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
        let (address, value, width) = match self.series.widened(value, width) {
            Some(word) => (address & !3, word, Width::Word),
            None => (address, value, width),
        };
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
        // A radio's memory work also has its own time.
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

    fn flow(&self, address: u32) -> Flow {
        self.series.flow(address)
    }

    fn interrupts(&self) -> [u64; 4] {
        self.series.interrupts()
    }

    fn memory_settings(&self) -> MemorySettings {
        self.series.memory_settings()
    }

    fn lines(&self) -> lines::Settings {
        self.series.lines()
    }

    fn cache_ram_off(&self) -> bool {
        self.series.cache_ram_off()
    }

    fn takes_flash_stores(&self, width: Width) -> bool {
        self.series.takes_flash_stores(width)
    }

    fn flash_is_off(&self) -> bool {
        self.flash_state.is_some() && !self.series.flash_waits()
    }

    fn nmi(&self) -> bool {
        self.series.nmi()
    }

    fn read_torn(&mut self, address: u32) {
        self.series.read_torn(address);
    }

    fn held_until(&self) -> Cycles {
        self.held_until
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
            // This cannot fail: a wake-up selects no clock that is too fast.
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
