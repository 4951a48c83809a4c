//! The peripherals of an MSP430x1xx chip, behind the core's bus.

use std::sync::Arc;

use joulemark_kernel::chip::MemoryKind;
use joulemark_kernel::{Chip, ChipError, Cycles, Fault, FaultKind, Signal};
use joulemark_msp430::{Bus, FlashEffect, FlashOperation, Flow, Forecast, Transfer, Width};
use joulemark_peripherals::adc12::Inputs;
use joulemark_peripherals::dma::{Trigger, Triggers};
use joulemark_peripherals::flash::{self, Bank, Effect};
use joulemark_peripherals::timer::{Input, Kind};
use joulemark_peripherals::{
    Adc12, BasicClock, Dma, Flash, Multiplier, Port, Sfr, Timer, Usart, Watchdog,
};
use joulemark_peripherals::{basic_clock, sfr};

use crate::board::{self, Board, Buses};
use crate::cores::msp430::{self, Msp430};
use crate::pins::{Pin, PinNames};
use crate::series::Series;

/// Each USART is a serial port or an SPI bus.
const BUSES: Buses = Buses {
    ports: &["USART0", "USART1"],
    spi: &["USART0", "USART1"],
    i2c: &[],
};

/// Interrupt vectors, highest priority first (SLAS368G, interrupt vector addresses).
pub mod vector {
    pub const NMI: u16 = 0xfffc;
    pub const TIMERB0: u16 = 0xfffa;
    pub const TIMERB1: u16 = 0xfff8;
    pub const WDT: u16 = 0xfff4;
    pub const USART0RX: u16 = 0xfff2;
    pub const USART0TX: u16 = 0xfff0;
    pub const ADC12: u16 = 0xffee;
    pub const TIMERA0: u16 = 0xffec;
    pub const TIMERA1: u16 = 0xffea;
    pub const PORT1: u16 = 0xffe8;
    pub const USART1RX: u16 = 0xffe6;
    pub const USART1TX: u16 = 0xffe4;
    pub const PORT2: u16 = 0xffe2;
    pub const DACDMA: u16 = 0xffe0;
}

/// Pin names, static because traces outlive the machine.
static PINS: [[&str; 8]; 6] = [
    [
        "P1.0", "P1.1", "P1.2", "P1.3", "P1.4", "P1.5", "P1.6", "P1.7",
    ],
    [
        "P2.0", "P2.1", "P2.2", "P2.3", "P2.4", "P2.5", "P2.6", "P2.7",
    ],
    [
        "P3.0", "P3.1", "P3.2", "P3.3", "P3.4", "P3.5", "P3.6", "P3.7",
    ],
    [
        "P4.0", "P4.1", "P4.2", "P4.3", "P4.4", "P4.5", "P4.6", "P4.7",
    ],
    [
        "P5.0", "P5.1", "P5.2", "P5.3", "P5.4", "P5.5", "P5.6", "P5.7",
    ],
    [
        "P6.0", "P6.1", "P6.2", "P6.3", "P6.4", "P6.5", "P6.6", "P6.7",
    ],
];

fn pin_names() -> PinNames {
    PinNames {
        counts: vec![8; 6],
        name: |pin| PINS[pin.port][pin.bit],
    }
}

/// The pins of a timer channel's output and input (SLAS368G, terminal functions and timer signal
/// connections).
struct Wiring {
    timer_b: bool,
    channel: usize,
    outputs: &'static [(usize, usize)],
    inputs: &'static [(usize, usize)],
}

const fn wire(
    timer_b: bool,
    channel: usize,
    outputs: &'static [(usize, usize)],
    inputs: &'static [(usize, usize)],
) -> Wiring {
    Wiring {
        timer_b,
        channel,
        outputs,
        inputs,
    }
}

static WIRING: [Wiring; 10] = [
    wire(false, 0, &[(0, 1), (0, 5), (1, 7)], &[(0, 1), (1, 2)]),
    wire(false, 1, &[(0, 2), (0, 6), (1, 3)], &[(0, 2)]),
    wire(false, 2, &[(0, 3), (0, 7), (1, 4)], &[(0, 3)]),
    wire(true, 0, &[(3, 0)], &[(3, 0)]),
    wire(true, 1, &[(3, 1)], &[(3, 1)]),
    wire(true, 2, &[(3, 2)], &[(3, 2)]),
    wire(true, 3, &[(3, 3)], &[(3, 3)]),
    wire(true, 4, &[(3, 4)], &[(3, 4)]),
    wire(true, 5, &[(3, 5)], &[(3, 5)]),
    wire(true, 6, &[(3, 6)], &[(3, 6)]),
];

/// UART transmit pins, which idle high: URXD and UTXD of USART0 and USART1 on port 3.
const UART_OUTPUTS: u8 = 1 << 4 | 1 << 6;

/// Sections of a chip's file that this series adds.
pub struct Sections {
    clock: basic_clock::Parameters,
    flash: flash::Parameters,
}

impl Sections {
    /// Read and check the sections of a chip.
    ///
    /// # Errors
    /// A section is missing, unknown or wrong.
    pub fn of(chip: &Chip) -> Result<Self, ChipError> {
        chip.only_sections(&["basic_clock", "flash_controller"])?;
        Ok(Self {
            clock: chip.needed_section("basic_clock")?,
            flash: chip.needed_section("flash_controller")?,
        })
    }
}

/// The series.
pub static SERIES: Series = Series {
    name: "msp430x1xx",
    core: &msp430::TARGET,
    check: |chip| Sections::of(chip).map(drop),
    make: |chip, image, options| Ok(Box::new(Msp430::new(chip, image, options)?)),
};

/// Everything around the core.
pub struct Msp430x1xx {
    /// The clock module.
    pub clock: BasicClock,
    sfr: Sfr,
    watchdog: Watchdog,
    multiplier: Multiplier,
    flash: Flash,
    timer_a: Timer,
    timer_b: Timer,
    adc12: Adc12,
    dma: Dma,
    pub(crate) usart: [Usart; 2],
    ports: [Port; 6],
    next: Cycles,
    /// When a timer needs attention: it is left alone until then, unless it is accessed.
    timers_next: Cycles,
    pub(crate) board: Board,
}

impl Msp430x1xx {
    /// The state after a power-up clear. With `debugger`, the watchdog is held.
    ///
    /// # Errors
    /// A section of the chip's file is missing, unknown or wrong.
    pub fn new(
        chip: &Arc<Chip>,
        xt2_hz: u32,
        dco_trim_ppm: u32,
        inputs: Inputs,
        debugger: bool,
        trace: bool,
    ) -> Result<Self, ChipError> {
        let sections = Sections::of(chip)?;
        let clock = BasicClock::new(sections.clock, xt2_hz, dco_trim_ppm);
        let banks: Vec<Bank> = chip
            .memory
            .iter()
            .filter(|memory| memory.kind == MemoryKind::Flash)
            .map(|memory| Bank {
                start: memory.start as u16,
                size: memory.size,
                segment: memory.segment_size.unwrap_or(memory.size),
                is_main: memory.start + memory.size == 0x10000,
            })
            .collect();
        let mut ports: [Port; 6] = std::array::from_fn(|index| {
            let uart = if index == 2 { UART_OUTPUTS } else { 0 };
            let wired = WIRING.iter().flat_map(|wiring| wiring.outputs);
            Port::with_function_outputs(
                wired
                    .filter(|&&(port, _)| port == index)
                    .fold(uart, |outputs, &(_, bit)| outputs | 1 << bit),
            )
        });
        ports[2].drive_function(4, true);
        ports[2].drive_function(6, true);
        // CCI2B of Timer_A and CCI6B of Timer_B are ACLK; CCI1B of Timer_A is the comparator
        // (SLAS368G, timer signal connections).
        let pins = [Input::Pin, Input::Pin];
        let timer_a = Timer::new(
            Kind::A,
            "Timer_A",
            &[pins, [Input::Pin, Input::Absent], [Input::Pin, Input::Aclk]],
        );
        let timer_b = Timer::new(
            Kind::B,
            "Timer_B",
            &[
                pins,
                pins,
                pins,
                pins,
                pins,
                pins,
                [Input::Pin, Input::Aclk],
            ],
        );
        let (state, hz) = (clock.power_state(), clock.mclk_hz().0);
        let mut bus = Self {
            clock,
            sfr: Sfr::default(),
            watchdog: if debugger {
                Watchdog::held()
            } else {
                Watchdog::default()
            },
            multiplier: Multiplier::default(),
            flash: Flash::new(sections.flash, banks),
            timer_a,
            timer_b,
            adc12: Adc12::new(inputs),
            dma: Dma::default(),
            usart: [Usart::new(0), Usart::new(1)],
            ports,
            next: Cycles::NEVER,
            timers_next: Cycles::NEVER,
            board: Board::new(chip, pin_names(), BUSES, trace, state, hz),
        };
        bus.reschedule();
        Ok(bus)
    }

    /// Power-up clear by the watchdog or by a key violation (section 2.1). Registers that only a
    /// power-on reset clears, "rw-(0)" in their figures, keep their state: timers, ADC12 and DMA.
    pub(crate) fn power_up_clear(&mut self, by_watchdog: bool, now: Cycles) {
        // First bring everything that runs from the old clocks up to now.
        self.advance_usart(0, now);
        self.advance_usart(1, now);
        self.adc12.advance(&self.clock, now);
        self.advance_timers(now);
        let was_set = self.sfr.ifg[0] & sfr::NMI;
        self.clock.power_changed(0, now);
        self.clock.set_dcoctl(0x60, now);
        self.clock.set_bcsctl1(0x84, now);
        self.clock.set_bcsctl2(0, now);
        self.note_power(now);
        self.watchdog.power_up_clear(&self.clock, now);
        self.flash.power_up_clear(now);
        self.sfr = Sfr::default();
        self.sfr.ifg[0] |= was_set;
        if by_watchdog {
            self.sfr.ifg[0] |= sfr::WDT;
        }
        for usart in &mut self.usart {
            usart.power_up_clear();
        }
        for index in 0..self.ports.len() {
            let port = &mut self.ports[index];
            port.set_pxie(0);
            let changed = port.set_pxsel(0) | port.set_pxdir(0);
            port.set_pxifg(0);
            self.pins_changed(index, changed, now);
        }
        self.watch_outputs(now);
        self.reschedule();
    }

    /// Recompute the next event.
    fn reschedule(&mut self) {
        let timer_a = self.timer_a.next_event(&self.clock);
        self.timers_next = timer_a.min(self.timer_b.next_event(&self.clock));
        self.reschedule_others();
    }

    /// Recompute the next event when timers are as they were.
    fn reschedule_others(&mut self) {
        self.next = self
            .timers_next
            .min(self.watchdog.next_event(&self.clock))
            .min(self.usart[0].next_event(&self.clock))
            .min(self.usart[1].next_event(&self.clock))
            .min(self.adc12.next_event(&self.clock));
    }

    /// Put bytes on the line to a UART.
    pub(crate) fn put_serial(&mut self, index: usize, bytes: &[u8], now: Cycles) {
        self.usart[index].put(bytes);
        self.advance_usart(index, now);
        self.reschedule();
    }

    fn advance_usart(&mut self, index: usize, now: Cycles) {
        let (board, clock) = (&mut self.board, &self.clock);
        // An undriven line reads 0xff.
        let spi = |byte, at| {
            let driven = board.exchange(index, byte, at, clock.timeline());
            driven.unwrap_or(0xff)
        };
        if let Some(byte) = self.usart[index].advance(&mut self.sfr, clock, now, spi) {
            self.board.byte_sent(index, byte, now, clock.timeline());
        }
        self.take_effects(now);
    }

    /// Let devices handle events up to `now`, but none after an unfinished transfer.
    fn advance_devices(&mut self, now: Cycles) {
        while self.board.due <= now {
            let transfers = self.usart.iter().map(|usart| usart.next_event(&self.clock));
            if transfers
                .min()
                .is_some_and(|transfer| transfer < self.board.due)
            {
                return;
            }
            self.board.advance_one(self.clock.timeline());
            self.take_effects(now);
        }
    }

    /// Apply the effects of devices.
    pub(crate) fn take_effects(&mut self, now: Cycles) {
        while let Some((at, effect)) = self.board.next_effect(self.clock.timeline()) {
            match effect {
                board::Effect::Pin(pin, high) => self.set_pin(pin, high, at),
                board::Effect::Byte(port, byte) => self.put_serial(port, &[byte], now),
            }
        }
        if now == Cycles(0) {
            // The power-up clear comes after the first pin levels.
            for port in &mut self.ports {
                port.set_pxifg(0);
            }
        }
    }

    /// Bring both timers up to `now` and output their changes.
    pub fn advance_timers(&mut self, now: Cycles) {
        self.timer_a.advance(&self.clock, now);
        self.timer_b.advance(&self.clock, now);
        self.show_timer_outputs(now);
    }

    fn show_timer_outputs(&mut self, now: Cycles) {
        for timer_b in [false, true] {
            let timer = if timer_b {
                &mut self.timer_b
            } else {
                &mut self.timer_a
            };
            for change in timer.take_outputs() {
                let wired = WIRING
                    .iter()
                    .filter(|w| w.timer_b == timer_b && w.channel == change.channel);
                for &(port, bit) in wired.flat_map(|wiring| wiring.outputs) {
                    let changed = self.ports[port].drive_function(bit as u8, change.high);
                    self.pins_changed(port, changed, now);
                }
            }
        }
    }

    /// Let the board drive a pin.
    pub(crate) fn set_pin(&mut self, pin: Pin, high: bool, now: Cycles) {
        let changed = self.ports[pin.port].drive(pin.bit as u8, high);
        self.pins_changed(pin.port, changed, now);
        self.reschedule();
    }

    /// Handle new levels on pins of a port.
    fn pins_changed(&mut self, port: usize, changed: u8, now: Cycles) {
        for bit in (0..8).filter(|bit| changed >> bit & 1 != 0) {
            let high = self.ports[port].pxin() >> bit & 1 != 0;
            let pin = Pin { port, bit };
            self.board
                .pin_changed(pin, high, now, self.clock.timeline());
            self.tell_timers(pin, high, now);
        }
        self.take_effects(now);
    }

    /// Pass a new pin level to the timer that captures it.
    fn tell_timers(&mut self, pin: Pin, high: bool, now: Cycles) {
        let bit = 1 << pin.bit;
        let port = &self.ports[pin.port];
        if port.pxsel() & bit == 0 || port.pxdir() & bit != 0 {
            return;
        }
        for wiring in &WIRING {
            if wiring.inputs.contains(&(pin.port, pin.bit)) {
                let timer = if wiring.timer_b {
                    &mut self.timer_b
                } else {
                    &mut self.timer_a
                };
                timer.set_pin(wiring.channel, high, &self.clock, now);
            }
        }
    }

    /// Determine which timer outputs are visible after a change of `PxSEL` or `PxDIR`.
    fn watch_outputs(&mut self, now: Cycles) {
        let mut watched = [0_u8; 2];
        for wiring in &WIRING {
            for &(port, bit) in wiring.outputs {
                let seen = self.ports[port].pxsel() & self.ports[port].pxdir() & 1 << bit != 0;
                if seen {
                    watched[usize::from(wiring.timer_b)] |= 1 << wiring.channel;
                    let timer = if wiring.timer_b {
                        &self.timer_b
                    } else {
                        &self.timer_a
                    };
                    let high = timer.output(wiring.channel);
                    let changed = self.ports[port].drive_function(bit as u8, high);
                    self.pins_changed(port, changed, now);
                }
            }
        }
        self.timer_a.watch(watched[0]);
        self.timer_b.watch(watched[1]);
    }

    /// Note a change of power state or clock, which starts a new interval.
    fn note_power(&mut self, now: Cycles) {
        self.board
            .note_power(self.clock.power_state(), now, self.clock.timeline());
    }

    /// Read an 8-bit register, 0x00 to 0xff, if the read needs no peripheral brought up to date and
    /// has no side effect.
    fn read_byte_quietly(&self, address: u16, now: Cycles) -> Option<u8> {
        Some(match address {
            0x00 => self.sfr.ie[0],
            0x01 => self.sfr.ie[1],
            0x02 => self.sfr.ifg[0],
            0x03 => self.sfr.ifg[1],
            0x04 => self.sfr.me[0],
            0x05 => self.sfr.me[1],
            // Timer outputs visible on pins are events.
            0x18..=0x37 if now < self.next => return self.read_port(address),
            0x56 => self.clock.dcoctl(),
            0x57 => self.clock.bcsctl1(),
            0x58 => self.clock.bcsctl2(),
            // All except UxRXBUF.
            0x70..=0x7f if address & 7 != 6 => self.usart[usart_of(address)].look(address & 7),
            0x80..=0x8f => self.adc12.mctl(usize::from(address & 15)),
            _ => return None,
        })
    }

    fn read_port(&self, address: u16) -> Option<u8> {
        let (port, register) = port_register(address)?;
        let port = &self.ports[port];
        Some(match register {
            PortRegister::In => port.pxin(),
            PortRegister::Out => port.pxout(),
            PortRegister::Dir => port.pxdir(),
            PortRegister::Ifg => port.pxifg(),
            PortRegister::Ies => port.pxies(),
            PortRegister::Ie => port.pxie(),
            PortRegister::Sel => port.pxsel(),
        })
    }

    fn read_usart(&mut self, address: u16) -> u8 {
        self.usart[usart_of(address)].read(address & 7, &mut self.sfr)
    }

    fn read_byte(&mut self, address: u16, now: Cycles) -> Result<u8, Fault> {
        if let Some(value) = self.read_byte_quietly(address, now) {
            return Ok(value);
        }
        let value = match address {
            0x18..=0x37 => {
                self.advance_timers(now);
                self.read_port(address)
            }
            0x70..=0x7f => Some(self.read_usart(address)),
            _ => None,
        };
        value.ok_or_else(|| self.nothing(address))
    }

    fn write_byte(&mut self, address: u16, value: u8, now: Cycles) -> Result<(), Fault> {
        match address {
            0x00 => self.sfr.ie[0] = value,
            0x01 => self.sfr.ie[1] = value,
            0x02 => {
                self.sfr.ifg[0] = value;
                self.check_oscillators();
            }
            0x03 => self.sfr.ifg[1] = value,
            0x04 => self.sfr.me[0] = value,
            0x05 => self.sfr.me[1] = value,
            0x18..=0x37 => return self.write_port(address, value, now),
            0x56..=0x58 => return self.write_clock(address, value, now),
            0x70..=0x7f => {
                let usart = &mut self.usart[usart_of(address)];
                usart.write(address & 7, value, &mut self.sfr, &self.clock, now)?;
            }
            0x80..=0x8f => self.adc12.set_mctl(usize::from(address & 15), value),
            _ => return Err(self.nothing(address)),
        }
        if !(0x00..=0x03).contains(&address) {
            // Enabling or setting up a module may start a byte that waits on the line.
            self.advance_usart(0, now);
            self.advance_usart(1, now);
            self.reschedule_others();
        }
        Ok(())
    }

    fn write_clock(&mut self, address: u16, value: u8, now: Cycles) -> Result<(), Fault> {
        // First bring everything that runs from the old clock up to now.
        self.advance(now)?;
        self.advance_timers(now);
        match address {
            0x56 => self.clock.set_dcoctl(value, now),
            0x57 => {
                if value & 0x40 != 0 {
                    let message = "LFXT1 in high-frequency mode (XTS = 1) is left out of the \
                                   emulation";
                    return Err(Fault::new(FaultKind::Absent, message).at(address));
                }
                self.clock.set_bcsctl1(value, now);
            }
            _ => self.clock.set_bcsctl2(value, now),
        }
        self.check_oscillators();
        self.note_power(now);
        self.reschedule();
        Ok(())
    }

    /// From now on, the watch crystal is `ppb` parts in 10^9 too fast.
    pub(crate) fn set_watch_crystal(&mut self, ppb: i32, now: Cycles) {
        if let Err(fault) = Bus::advance(self, now) {
            self.board.fail(fault);
        }
        self.advance_timers(now);
        self.clock.set_watch_crystal(ppb, now);
        self.note_power(now);
        self.reschedule();
    }

    fn check_oscillators(&mut self) {
        if self.clock.is_oscillator_fault() {
            self.sfr.ifg[0] |= sfr::OF;
        }
    }

    fn write_port(&mut self, address: u16, value: u8, now: Cycles) -> Result<(), Fault> {
        let Some((index, register)) = port_register(address) else {
            return Err(self.nothing(address));
        };
        let port = &mut self.ports[index];
        let changed = match register {
            // PxIN is read-only.
            PortRegister::In => 0,
            PortRegister::Out => port.set_pxout(value),
            PortRegister::Dir => port.set_pxdir(value),
            PortRegister::Sel => port.set_pxsel(value),
            PortRegister::Ifg => {
                port.set_pxifg(value);
                0
            }
            PortRegister::Ies => {
                port.set_pxies(value);
                0
            }
            PortRegister::Ie => {
                port.set_pxie(value);
                0
            }
        };
        // The pin changes at the end of the write's cycle.
        let after = now + Cycles(1);
        self.pins_changed(index, changed, after);
        if matches!(register, PortRegister::Sel | PortRegister::Dir) {
            self.watch_outputs(after);
            self.reschedule();
        }
        Ok(())
    }

    /// Read a 16-bit register, 0x100 to 0x1ff, under the same conditions.
    #[inline]
    fn read_word_quietly(&mut self, address: u16, now: Cycles) -> Option<u16> {
        Some(match address {
            0x0120 => self.watchdog.wdtctl(),
            0x0128 => self.flash.fctl1(),
            0x012a => self.flash.fctl2(),
            0x012c => self.flash.fctl3(now),
            0x0130..=0x013f => return self.multiplier.read(address, now).ok(),
            // The counters, which programs poll most.
            0x0170 | 0x0190 => {
                let (timer, clock) = self.timer_at(address);
                return timer.look_quietly(clock, now).then(|| timer.txr(now));
            }
            0x0160..=0x019e => {
                let (channel, _) = timer_register(address)?;
                let (timer, clock) = self.timer_at(address);
                let deferred = channel.is_some_and(|channel| timer.is_deferred(channel));
                if deferred || !timer.look_quietly(clock, now) {
                    return None;
                }
                return self.read_timer(address, now);
            }
            _ => return None,
        })
    }

    /// How a register of a timer goes on.
    fn forecast_timer(&self, address: u16, now: Cycles) -> Option<Forecast> {
        let (channel, is_count) = timer_register(address)?;
        let timer = self.timer_near(address);
        let (counter, counts, until) = timer.forecast(&self.clock, now)?;
        let value = match (channel, is_count) {
            (None, false) => timer.txctl(),
            (None, true) => counter,
            (Some(channel), _) if !timer.has_channel(channel) || timer.is_deferred(channel) => {
                return None;
            }
            (Some(channel), false) => timer.still_txcctl(channel, &self.clock, now)?,
            (Some(channel), true) => timer.txccr(channel),
        };
        Some(Forecast {
            value,
            counts: counts && channel.is_none() && is_count,
            until,
        })
    }

    fn timer_near(&self, address: u16) -> &Timer {
        if address < 0x0180 {
            &self.timer_a
        } else {
            &self.timer_b
        }
    }

    /// The timer with a register near an address, and the clocks.
    #[inline]
    fn timer_at(&mut self, address: u16) -> (&mut Timer, &BasicClock) {
        let timer = if address < 0x0180 {
            &mut self.timer_a
        } else {
            &mut self.timer_b
        };
        (timer, &self.clock)
    }

    /// Read a register of a timer that is up to date.
    #[inline]
    fn read_timer(&mut self, address: u16, now: Cycles) -> Option<u16> {
        let (channel, is_count) = timer_register(address)?;
        let (timer, clock) = self.timer_at(address);
        Some(match (channel, is_count) {
            (None, false) => timer.txctl(),
            (None, true) => timer.txr(now),
            (Some(channel), _) if !timer.has_channel(channel) => return None,
            (Some(channel), false) => timer.txcctl(channel, clock, now),
            (Some(channel), true) => timer.txccr(channel),
        })
    }

    fn read_word(&mut self, address: u16, now: Cycles) -> Result<u16, Fault> {
        if let Some(value) = self.read_word_quietly(address, now) {
            return Ok(value);
        }
        let clock = &self.clock;
        let value = match address {
            0x011e => self.timer_b.txiv(clock, now),
            0x012e => self.timer_a.txiv(clock, now),
            0x0130..=0x013f => return self.multiplier.read(address, now),
            _ => {
                let (timer, clock) = self.timer_at(address);
                timer.look(clock, now);
                self.read_timer(address, now)
                    .or_else(|| {
                        self.adc12.advance(&self.clock, now);
                        self.adc12.read(address)
                    })
                    .or_else(|| self.dma.read(address))
                    .ok_or_else(|| self.nothing(address))?
            }
        };
        self.show_timer_outputs(now);
        self.reschedule();
        Ok(value)
    }

    fn write_word(&mut self, address: u16, value: u16, now: Cycles) -> Result<(), Fault> {
        let clock = &self.clock;
        match address {
            // "Any access" to an interrupt vector register clears the flag that it reports.
            0x011e => {
                self.timer_b.txiv(clock, now);
            }
            0x012e => {
                self.timer_a.txiv(clock, now);
            }
            0x0120 => self.watchdog.set_wdtctl(value, clock, now)?,
            0x0128 | 0x012a | 0x012c => self.flash.set_fctl(address, value, now)?,
            _ => {
                let (timer, clock) = self.timer_at(address);
                match timer_register(address) {
                    Some((None, false)) => timer.set_txctl(value, clock, now)?,
                    Some((None, true)) => timer.set_txr(value, clock, now),
                    Some((Some(channel), is_count)) if timer.has_channel(channel) => {
                        if is_count {
                            timer.set_txccr(channel, value, clock, now);
                        } else {
                            timer.set_txcctl(channel, value, clock, now)?;
                        }
                    }
                    _ if self.write_adc12(address, value, now)?
                        || self.dma.write(address, value)? => {}
                    _ => return Err(self.nothing(address)),
                }
            }
        }
        self.show_timer_outputs(now);
        self.reschedule();
        Ok(())
    }

    /// Write a register of ADC12, after completing the conversions that ended before.
    /// Give the converter what it senses.
    pub(crate) fn surround(&mut self, quantity: &str, signal: &Signal) {
        self.adc12.surround(quantity, signal);
    }

    fn write_adc12(&mut self, address: u16, value: u16, now: Cycles) -> Result<bool, Fault> {
        self.adc12.advance(&self.clock, now);
        self.adc12.write(address, value, &self.clock, now)
    }

    /// The fault for an address without an emulated register.
    fn nothing(&self, address: u16) -> Fault {
        self.board.nothing_at(address.into())
    }
}

/// A register of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PortRegister {
    In,
    Out,
    Dir,
    Ifg,
    Ies,
    Ie,
    Sel,
}

/// Decode a port register's address (section 9.3).
fn port_register(address: u16) -> Option<(usize, PortRegister)> {
    use PortRegister::{Dir, Ie, Ies, Ifg, In, Out, Sel};
    let (port, place) = match address {
        0x20..=0x26 => (0, address - 0x20),
        0x28..=0x2e => (1, address - 0x28),
        0x18..=0x1b => (2, address - 0x18),
        0x1c..=0x1f => (3, address - 0x1c),
        0x30..=0x33 => (4, address - 0x30),
        0x34..=0x37 => (5, address - 0x34),
        _ => return None,
    };
    let place = usize::from(place);
    let register = if port < 2 {
        [In, Out, Dir, Ifg, Ies, Ie, Sel][place]
    } else {
        [In, Out, Dir, Sel][place]
    };
    Some((port, register))
}

/// The number of the USART with a register at this address.
fn usart_of(address: u16) -> usize {
    usize::from(address >> 3 & 1)
}

/// Decode a timer register's address: the channel, if any, and whether it is the count or compare
/// value (rather than the control register) (sections 11.3 and 12.3).
fn timer_register(address: u16) -> Option<(Option<usize>, bool)> {
    matches!(address, 0x0160..=0x0176 | 0x0180..=0x019e).then(|| {
        let channel = usize::from(address >> 1 & 7).checked_sub(1);
        (channel, address & 0x10 != 0)
    })
}

/// The fault for a byte access to the odd half of a word register (section 1.4.3).
fn odd_byte(address: u16) -> Fault {
    Fault::new(
        FaultKind::Misaligned,
        "the high byte of a 16-bit register is accessed; only the even address is allowed \
         (SLAU049F, section 1.4.3)",
    )
    .at(address)
}

/// Narrow a 16-bit register value: a byte access reads or writes the low byte, and the high byte is
/// zero (section 1.4.3).
fn narrowed(value: u16, width: Width) -> u16 {
    match width {
        Width::Byte => value & 0xff,
        Width::Word => value,
    }
}

impl Bus for Msp430x1xx {
    fn read(&mut self, address: u16, width: Width, now: Cycles) -> Result<u16, Fault> {
        self.advance_devices(now);
        if address < 0x100 {
            return self.read_byte(address, now).map(u16::from);
        }
        if address & 1 != 0 {
            return Err(odd_byte(address));
        }
        Ok(narrowed(self.read_word(address, now)?, width))
    }

    #[inline]
    fn read_quietly(&mut self, address: u16, width: Width, now: Cycles) -> Option<u16> {
        if now >= self.board.due {
            return None;
        }
        if address < 0x100 {
            return self.read_byte_quietly(address, now).map(u16::from);
        }
        if address & 1 != 0 {
            return None;
        }
        let value = self.read_word_quietly(address, now)?;
        Some(narrowed(value, width))
    }

    fn forecast(&self, address: u16, width: Width, now: Cycles) -> Option<Forecast> {
        let until = self.next_event();
        if now >= until {
            return None;
        }
        let value = match address {
            0x0000..=0x00ff => u16::from(self.read_byte_quietly(address, now)?),
            0x0120 => self.watchdog.wdtctl(),
            0x0160..=0x019e if width == Width::Word => return self.forecast_timer(address, now),
            _ => return None,
        };
        Some(Forecast {
            value: narrowed(value, width),
            counts: false,
            until,
        })
    }

    fn counted(&self, address: u16, now: Cycles, counts: u64) -> Cycles {
        let timer = self.timer_near(address);
        timer.counted(&self.clock, now, counts)
    }

    fn write(&mut self, address: u16, value: u16, width: Width, now: Cycles) -> Result<(), Fault> {
        self.advance_devices(now);
        if address < 0x100 {
            return self.write_byte(address, value as u8, now);
        }
        if address & 1 != 0 {
            return Err(odd_byte(address));
        }
        if self.write_quietly(address, value, width, now) {
            return Ok(());
        }
        self.write_word(address, narrowed(value, width), now)
    }

    #[inline]
    fn write_quietly(&mut self, address: u16, value: u16, width: Width, now: Cycles) -> bool {
        let is_multiplier = address & 0xfff1 == 0x0130;
        if is_multiplier {
            self.multiplier.write(address, narrowed(value, width), now);
        }
        is_multiplier
    }

    fn write_flash(
        &mut self,
        address: u16,
        _value: u16,
        _width: Width,
        now: Cycles,
    ) -> Result<FlashOperation, Fault> {
        let (effect, stall) = self.flash.write(address, &self.clock, now)?;
        let effect = match effect {
            Effect::Program => FlashEffect::Program,
            Effect::Erase { start, size } => FlashEffect::Erase { start, size },
        };
        Ok(FlashOperation { effect, stall })
    }

    fn next_event(&self) -> Cycles {
        self.next.min(self.board.due)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        // Timers come after the signals that they may capture.
        self.advance_usart(0, now);
        self.advance_usart(1, now);
        self.adc12.advance(&self.clock, now);
        self.advance_devices(now);
        self.watchdog.advance(&self.clock, &mut self.sfr, now)?;
        if now < self.timers_next {
            self.reschedule_others();
        } else {
            self.advance_timers(now);
            self.reschedule();
        }
        self.board.take_fault()
    }

    fn pending_interrupt(&self, enabled: bool) -> Option<u16> {
        let sfr = &self.sfr;
        let both = sfr.ie[0] & sfr.ifg[0];
        let violation = sfr.ie[0] & sfr::ACCV != 0 && self.flash.is_access_violation();
        if both & (sfr::OF | sfr::NMI) != 0 || violation {
            return Some(vector::NMI);
        }
        if !enabled {
            return None;
        }
        // Highest priority first (SLAS368G, interrupt vector addresses).
        let sources = [
            (vector::TIMERB0, self.timer_b.is_channel_0_pending()),
            (vector::TIMERB1, self.timer_b.is_shared_pending()),
            (vector::WDT, both & sfr::WDT != 0),
            (vector::USART0RX, self.usart[0].is_receive_pending(sfr)),
            (vector::USART0TX, self.usart[0].is_transmit_pending(sfr)),
            (vector::ADC12, self.adc12.is_pending()),
            (vector::TIMERA0, self.timer_a.is_channel_0_pending()),
            (vector::TIMERA1, self.timer_a.is_shared_pending()),
            (vector::PORT1, self.ports[0].is_pending()),
            (vector::USART1RX, self.usart[1].is_receive_pending(sfr)),
            (vector::USART1TX, self.usart[1].is_transmit_pending(sfr)),
            (vector::PORT2, self.ports[1].is_pending()),
            (vector::DACDMA, self.dma.is_pending()),
        ];
        sources
            .into_iter()
            .find_map(|(vector, pending)| pending.then_some(vector))
    }

    fn acknowledge(&mut self, vector: u16, now: Cycles) {
        // An event before the flag clears must not set it again afterwards.
        self.advance_devices(now);
        self.advance_timers(now);
        match vector {
            // Accepting an NMI clears all its enables (section 2.2.1).
            vector::NMI => self.sfr.ie[0] &= !(sfr::NMI | sfr::OF | sfr::ACCV),
            vector::TIMERB0 => self.timer_b.acknowledge_channel_0(),
            vector::TIMERA0 => self.timer_a.acknowledge_channel_0(),
            vector::WDT => self.sfr.ifg[0] &= !sfr::WDT,
            vector::USART0RX => self.usart[0].acknowledge_receive(&mut self.sfr),
            vector::USART0TX => self.usart[0].acknowledge_transmit(&mut self.sfr),
            vector::USART1RX => self.usart[1].acknowledge_receive(&mut self.sfr),
            vector::USART1TX => self.usart[1].acknowledge_transmit(&mut self.sfr),
            _ => return,
        }
        // New events can set the cleared flag again.
        self.reschedule();
    }

    fn power_changed(&mut self, status: u16, now: Cycles) -> Cycles {
        self.advance_devices(now);
        self.advance_timers(now);
        self.advance_usart(0, now);
        self.advance_usart(1, now);
        let wait = self.clock.power_changed(status, now);
        self.note_power(now);
        self.reschedule();
        wait
    }

    fn flow(&self, address: u16) -> Flow {
        match address {
            0x0130..=0x013f => Flow::Multiplier,
            // DMAxSA and DMAxDA.
            0x01e0..=0x01f7 if matches!(address >> 1 & 3, 1 | 2) => Flow::Pointer,
            _ => Flow::Register,
        }
    }

    fn next_transfer(&mut self, is_asleep: bool) -> Option<Transfer> {
        if !self.dma.is_enabled() {
            return None;
        }
        let flags = |index: usize, bits: [u8; 2]| {
            self.sfr.ifg[index] & !self.sfr.ie[index] & bits[index] != 0
        };
        let receive = [sfr::URX0, sfr::URX1];
        let transmit = [sfr::UTX0, sfr::UTX1];
        let triggers = Triggers {
            receive: [flags(0, receive), flags(1, receive)],
            transmit: [flags(0, transmit), flags(1, transmit)],
            adc12: self.adc12.has_trigger(),
        };
        let next = self.dma.next_transfer(triggers, is_asleep);
        match next {
            Some((_, Some(Trigger::Receive(port)))) => self.sfr.ifg[port] &= !receive[port],
            Some((_, Some(Trigger::Transmit(port)))) => self.sfr.ifg[port] &= !transmit[port],
            None | Some((_, Some(Trigger::Adc12))) => self.adc12.clear_trigger(),
            Some(_) => {}
        }
        let (transfer, _) = next?;
        let of = |(address, is_byte)| (address, if is_byte { Width::Byte } else { Width::Word });
        Some(Transfer {
            source: of(transfer.source),
            destination: of(transfer.destination),
            cycles: transfer.cycles,
        })
    }

    fn take_stop(&mut self) -> bool {
        self.board.take_stop()
    }
}
