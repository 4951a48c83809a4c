//! RP2040: clocks, resets, pins, UARTs, timer, watchdog, SIO's divider and spinlocks (RP2040 data sheet;
//! register names, addresses and bits from its register headers in the Pico SDK). One core runs.

use std::sync::LazyLock;

use joulemark_armv7m::{Flow, Width};
use joulemark_kernel::chip::Constant;
use joulemark_kernel::{Chip, ChipError, Cycles, Fault, FaultKind, Hertz};
use joulemark_peripherals::rp2::{Clocks, Counter, SystemTimer};
use joulemark_peripherals::{Pl011, rp2040_rom};

use crate::cores::armv6m::{Armv6m, Section, TARGET};
use crate::cortex_m::instances::{Instance, Instances};
use crate::cortex_m::{Anew, Context, Made, Peripherals, Reset, sections};
use crate::pins::PinNames;
use crate::series::Series;

/// A peripheral of the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Clocks,
    Resets,
    Io,
    Pads,
    Xosc,
    Rosc,
    /// The system's, or USB's.
    Pll(usize),
    Uart(usize),
    Timer,
    Watchdog,
    Sio,
    Usb,
}

/// Registers, followed by views of them that flip, set and clear bits (data sheet, 2.1.2).
const WITH_VIEWS: u32 = 0x4000;
const VIEWS: u32 = 0x3000;

const fn block(name: &'static str, block: Block, interrupts: usize) -> Instance<Block> {
    Instance::new(name, block, WITH_VIEWS, interrupts)
}

static INSTANCES: [Instance<Block>; 14] = [
    block("CLOCKS", Block::Clocks, 0),
    block("RESETS", Block::Resets, 0),
    block("IO_BANK0", Block::Io, 0).port(),
    block("PADS_BANK0", Block::Pads, 0),
    block("XOSC", Block::Xosc, 0),
    block("ROSC", Block::Rosc, 0),
    block("PLL_SYS", Block::Pll(0), 0),
    block("PLL_USB", Block::Pll(1), 0),
    block("UART0", Block::Uart(0), 1),
    block("UART1", Block::Uart(1), 1),
    block("TIMER", Block::Timer, 4),
    block("WATCHDOG", Block::Watchdog, 0),
    Instance::new("SIO", Block::Sio, 0x200, 0),
    block("USBCTRL_REGS", Block::Usb, 0),
];

/// Pin names: GPIO0 to GPIO29.
static PINS: LazyLock<Vec<String>> =
    LazyLock::new(|| (0..PINS_MOST).map(|pin| format!("GPIO{pin}")).collect());
const PINS_MOST: usize = 30;

const RESET_ALL: u32 = 0x1ff_ffff;
/// `IO_BANK0_GPIOx_CTRL`: the function of a pin; SIO's is 5.
const FUNCSEL: u32 = 31;
const FUNCSEL_SIO: u32 = 5;
/// `PADS_BANK0_GPIOx`: output disabled.
const OD: u32 = 1 << 7;
const PAD_RESET: u32 = 0x56;
const FIFO: usize = 32;
/// Where the timer's interrupt registers begin.
const TIMER_INTR: u32 = 0x34;
/// `WATCHDOG_TICK` and `WATCHDOG_CTRL`.
const TICK_CYCLES: u32 = 511;
const TICK_ENABLE: u32 = 1 << 9;
const WATCHDOG_ENABLE: u32 = 1 << 30;
const WATCHDOG_TRIGGER: u32 = 1 << 31;
const WATCHDOG_PAUSES: u32 = 7 << 24;
/// `USB_SIE_CTRL`, of which programs turn the transceiver off.
const SIE_CTRL: u32 = 0x4c;
const SIE_CTRL_RESET: u32 = 1 << 15;
const TRANSCEIVER_PD: u32 = 1 << 18;
/// Cycles of a division (data sheet, 2.3.1.5).
const DIVISION: u64 = 8;

/// SIO's divider.
#[derive(Default)]
struct Divider {
    dividend: u32,
    divisor: u32,
    quotient: u32,
    remainder: u32,
    is_dirty: bool,
    ready: Cycles,
}

impl Divider {
    /// Start a division.
    fn start(&mut self, signed: bool, now: Cycles) {
        let (a, b) = (self.dividend, self.divisor);
        // By zero: what the steps of a restoring division leave, with the signs put right. Inferred.
        (self.quotient, self.remainder) = match (signed, b) {
            (false, 0) => (u32::MAX, a),
            (true, 0) => (if (a as i32) < 0 { 1 } else { u32::MAX }, a),
            (false, _) => (a / b, a % b),
            (true, _) => (
                (a as i32).wrapping_div(b as i32) as u32,
                (a as i32).wrapping_rem(b as i32) as u32,
            ),
        };
        self.is_dirty = true;
        self.ready = Cycles(now.0 + DIVISION);
    }

    fn is_ready(&self, now: Cycles) -> bool {
        now >= self.ready
    }
}

struct Rp2040 {
    instances: Instances<Block>,
    core_hz: u32,
    /// Until when the peripherals have been advanced.
    at: Cycles,
    /// Blocks in reset.
    in_reset: u32,
    clocks: Clocks,
    /// CTRL of each pin, and its pad.
    functions: [u32; PINS_MOST],
    pads: [u32; PINS_MOST],
    /// Levels and enables of SIO's outputs.
    output: u32,
    enabled: u32,
    uarts: [Pl011; 2],
    timer: SystemTimer,
    /// TICK, and what it makes of the reference clock.
    tick: u32,
    ticks: Counter,
    watchdog: u32,
    /// The tick at which the watchdog bites.
    bites: Option<u64>,
    reason: u32,
    scratch: [u32; 8],
    divider: Divider,
    spinlocks: u32,
    sie_ctrl: u32,
    /// The ring oscillator's random bits: xorshift32 (Marsaglia 2003). No result may depend on them.
    random: u32,
}

/// The series.
pub static SERIES: Series = Series {
    name: "rp2040",
    core: &TARGET,
    check: |chip| {
        Section::of(chip)?;
        crystal(chip, &sections::Core::of(chip)?)?;
        Instances::of(chip, &INSTANCES).map(drop)
    },
    make: |chip, image, options| Ok(Box::new(Armv6m::new(chip, image, options, make)?)),
};

fn crystal(chip: &Chip, core: &sections::Core) -> Result<u32, ChipError> {
    let crystal = core.crystal_hz.as_ref();
    let missing =
        || chip.error("key 'cortex_m.crystal_hz': missing; a chip of this series needs it");
    crystal.map(Constant::whole).ok_or_else(missing)
}

fn make(
    chip: &Chip,
    core: &sections::Core,
    _setting: &dyn Fn(&str) -> u32,
) -> Result<Made, ChipError> {
    let instances = Instances::of(chip, &INSTANCES)?;
    let pins = PinNames {
        counts: instances
            .pins(|_| Block::Io)
            .first()
            .map(|&count| count.min(PINS_MOST))
            .into_iter()
            .collect(),
        name: |pin| &PINS[pin.bit],
    };
    let hz = core.reset_hz.whole();
    let mut series = Rp2040 {
        instances,
        core_hz: hz,
        at: Cycles(0),
        in_reset: RESET_ALL,
        clocks: Clocks::rp2040(hz, crystal(chip, core)?),
        functions: [FUNCSEL; PINS_MOST],
        pads: [PAD_RESET; PINS_MOST],
        output: 0,
        enabled: 0,
        uarts: [Pl011::new(FIFO), Pl011::new(FIFO)],
        timer: SystemTimer::new(TIMER_INTR),
        tick: TICK_ENABLE,
        ticks: Counter::stopped(),
        watchdog: WATCHDOG_PAUSES,
        bites: None,
        reason: 0,
        scratch: [0; 8],
        divider: Divider::default(),
        spinlocks: 0,
        sie_ctrl: SIE_CTRL_RESET,
        random: 0x2040_1234,
    };
    series.set_rates();
    Ok((Box::new(series), pins))
}

impl Rp2040 {
    /// Set the rates of all that counts another clock than the core's.
    fn set_rates(&mut self) {
        let (now, core) = (self.at, u64::from(self.core_hz));
        let cycles = self.tick & TICK_CYCLES;
        let is_on = self.tick & TICK_ENABLE != 0 && cycles != 0;
        let ticks = if is_on {
            u64::from(self.clocks.reference_hz() / cycles)
        } else {
            0
        };
        self.ticks.rate.change(now, ticks, core);
        self.timer.counter.rate.change(now, ticks, core);
        // A UART without a clock has no baud rate; its driver turns the clock on first.
        let baud = Hertz(self.clocks.peripheral_hz().max(1));
        for uart in &mut self.uarts {
            uart.set_clocks(Hertz(self.core_hz), baud);
        }
    }

    /// A block's bit in RESETS; 0 if it is never in reset.
    const fn reset_bit(block: Block) -> u32 {
        match block {
            Block::Io => 1 << 5,
            Block::Pads => 1 << 8,
            Block::Pll(number) => 1 << (12 + number),
            Block::Timer => 1 << 21,
            Block::Uart(number) => 1 << (22 + number),
            Block::Usb => 1 << 24,
            _ => 0,
        }
    }

    const fn is_in_reset(&self, block: Block) -> bool {
        self.in_reset & Self::reset_bit(block) != 0
    }

    /// Pins that SIO drives.
    fn driven(&self) -> u32 {
        let is_driven =
            |pin: usize| self.functions[pin] & FUNCSEL == FUNCSEL_SIO && self.pads[pin] & OD == 0;
        let pins = (0..PINS_MOST).filter(|&pin| is_driven(pin));
        pins.fold(0, |driven, pin| driven | 1 << pin) & self.enabled
    }

    fn find(&self, address: u32) -> Result<Option<(Block, u32, u32)>, Fault> {
        let Some((block, offset)) = self.instances.find(address) else {
            return Ok(None);
        };
        // The SDK looks at USB's registers to see whether it is in reset.
        if self.is_in_reset(block) && block != Block::Usb {
            let what =
                format!("a register of {block:?} is accessed while RESETS holds that in reset");
            return Err(Fault::new(FaultKind::Peripheral, what));
        }
        let view = if block == Block::Sio {
            0
        } else {
            offset & VIEWS
        };
        Ok(Some((block, offset - view, view >> 12)))
    }

    fn register(
        &mut self,
        block: Block,
        offset: u32,
        levels: u32,
        now: Cycles,
    ) -> Result<Option<u32>, Fault> {
        let word = offset as usize / 4;
        Ok(Some(match block {
            Block::Clocks => return Ok(self.clocks.read_clocks(offset)),
            Block::Xosc => return Ok(self.clocks.read_xosc(offset)),
            Block::Pll(number) => return Ok(self.clocks.read_pll(number, offset)),
            Block::Usb => return Ok((offset == SIE_CTRL).then_some(self.sie_ctrl)),
            Block::Resets => match offset {
                0 => self.in_reset,
                4 => 0,
                8 => RESET_ALL & !self.in_reset,
                _ => return Ok(None),
            },
            Block::Io => {
                let pin = word / 2;
                let Some(&function) = self.functions.get(pin) else {
                    return Ok(None);
                };
                let bit = |bits: u32| bits >> pin & 1;
                let driven = self.driven();
                if word % 2 == 1 {
                    function
                } else {
                    bit(self.output & driven) << 9 | bit(driven) << 13 | bit(levels) << 17
                }
            }
            Block::Pads if offset == 0 => 0,
            Block::Pads => return Ok(self.pads.get(word - 1).copied()),
            Block::Rosc => match offset {
                // STATUS: stable, and on.
                0x18 => 1 << 31 | 1 << 12,
                0x1c => {
                    self.random ^= self.random << 13;
                    self.random ^= self.random >> 17;
                    self.random ^= self.random << 5;
                    self.random & 1
                }
                _ => return Ok(None),
            },
            Block::Uart(number) => return Ok(self.uarts[number].read(offset)),
            Block::Timer => return Ok(self.timer.read(offset, now)),
            Block::Watchdog => match offset {
                0 => {
                    let left = self.bites.map_or(0, |at| at - self.ticks.at(now).min(at));
                    // It counts down by two in a tick (data sheet, erratum RP2040-E1).
                    self.watchdog | (2 * left) as u32 & 0xff_ffff
                }
                8 => self.reason,
                0x0c..=0x28 => self.scratch[word - 3],
                // It runs if it is enabled.
                0x2c => self.tick | (self.tick & TICK_ENABLE) << 1,
                _ => return Ok(None),
            },
            Block::Sio => return self.read_sio(offset, levels, now),
        }))
    }

    fn read_sio(&mut self, offset: u32, levels: u32, now: Cycles) -> Result<Option<u32>, Fault> {
        let divider = &mut self.divider;
        Ok(Some(match offset {
            // The core's number, and pins of the QSPI bank.
            0 | 0x08 => 0,
            0x04 => levels,
            0x10 => self.output,
            0x20 => self.enabled,
            0x5c => self.spinlocks,
            0x60 | 0x68 => divider.dividend,
            0x64 | 0x6c => divider.divisor,
            0x70 | 0x74 if !divider.is_ready(now) => {
                let what = "a result of SIO's divider is read before its division has ended";
                return Err(Fault::new(FaultKind::Peripheral, what));
            }
            0x70 => {
                divider.is_dirty = false;
                divider.quotient
            }
            0x74 => divider.remainder,
            0x78 => u32::from(divider.is_dirty) << 1 | u32::from(divider.is_ready(now)),
            0x100..=0x17c => {
                let lock = 1 << ((offset - 0x100) / 4);
                let was_free = self.spinlocks & lock == 0;
                self.spinlocks |= lock;
                if was_free { lock } else { 0 }
            }
            _ => return Ok(None),
        }))
    }

    /// Write a register; false if there is none.
    fn set_register(
        &mut self,
        block: Block,
        offset: u32,
        value: u32,
        context: &mut Context<'_>,
    ) -> Result<bool, Fault> {
        let (word, now) = (offset as usize / 4, context.now);
        match block {
            Block::Clocks | Block::Xosc | Block::Pll(_) => {
                let is_there = match block {
                    Block::Clocks => self.clocks.write_clocks(offset, value),
                    Block::Xosc => self.clocks.write_xosc(offset, value),
                    Block::Pll(number) => self.clocks.write_pll(number, offset, value),
                    _ => false,
                };
                if is_there {
                    self.change_clocks(context)?;
                }
                return Ok(is_there);
            }
            Block::Resets => match offset {
                0 => {
                    let entering = value & !self.in_reset;
                    self.in_reset = value & RESET_ALL;
                    self.clocks.pll_in_reset =
                        [0, 1].map(|number| self.is_in_reset(Block::Pll(number)));
                    self.restart(entering);
                    self.change_clocks(context)?;
                }
                4 => {}
                _ => return Ok(false),
            },
            Block::Io if word % 2 == 1 && word / 2 < PINS_MOST => self.functions[word / 2] = value,
            Block::Pads if (1..=PINS_MOST).contains(&word) => self.pads[word - 1] = value & 0xff,
            Block::Uart(number) => return self.uarts[number].write(offset, value, now),
            Block::Timer => return Ok(self.timer.write(offset, value, now)),
            Block::Watchdog => match offset {
                0 => {
                    self.watchdog = value & (WATCHDOG_ENABLE | WATCHDOG_PAUSES);
                    if value & WATCHDOG_TRIGGER != 0 {
                        self.reason = 2;
                        self.bites = Some(0);
                    }
                }
                4 => self.bites = Some(self.ticks.at(now) + u64::from(value & 0xff_ffff) / 2),
                0x0c..=0x28 => self.scratch[word - 3] = value,
                0x2c => {
                    self.tick = value & (TICK_ENABLE | TICK_CYCLES);
                    self.set_rates();
                }
                _ => return Ok(false),
            },
            Block::Sio => return Ok(self.write_sio(offset, value, now)),
            Block::Usb if offset == SIE_CTRL && value & !(SIE_CTRL_RESET | TRANSCEIVER_PD) == 0 => {
                self.sie_ctrl = value;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn write_sio(&mut self, offset: u32, value: u32, now: Cycles) -> bool {
        match offset {
            0x10 => self.output = value,
            0x14 => self.output |= value,
            0x18 => self.output &= !value,
            0x1c => self.output ^= value,
            0x20 => self.enabled = value,
            0x24 => self.enabled |= value,
            0x28 => self.enabled &= !value,
            0x2c => self.enabled ^= value,
            0x60 | 0x68 => {
                self.divider.dividend = value;
                self.divider.start(offset == 0x68, now);
            }
            0x64 | 0x6c => {
                self.divider.divisor = value;
                self.divider.start(offset == 0x6c, now);
            }
            0x70 => {
                self.divider.quotient = value;
                self.divider.is_dirty = true;
            }
            0x74 => {
                self.divider.remainder = value;
                self.divider.is_dirty = true;
            }
            0x100..=0x17c => self.spinlocks &= !(1 << ((offset - 0x100) / 4)),
            _ => return false,
        }
        true
    }

    /// Follow a change of clocks.
    fn change_clocks(&mut self, context: &mut Context<'_>) -> Result<(), Fault> {
        let hz = self.clocks.system_hz();
        if hz == 0 {
            let what = "CLOCKS selects a clock that does not run, or that the emulation leaves out";
            return Err(Fault::new(FaultKind::Peripheral, what));
        }
        if hz == self.core_hz {
            self.set_rates();
        } else {
            context.clock_hz = Some(hz);
        }
        Ok(())
    }

    /// Return blocks that enter reset to their first state.
    fn restart(&mut self, entering: u32) {
        for number in 0..2 {
            if entering & Self::reset_bit(Block::Uart(number)) != 0 {
                self.uarts[number] = Pl011::new(FIFO);
            }
        }
        if entering & Self::reset_bit(Block::Timer) != 0 {
            self.timer = SystemTimer::new(TIMER_INTR);
            // It is as old as the machine.
            self.timer.counter.rate.change(self.at, 0, 1);
        }
        if entering & Self::reset_bit(Block::Io) != 0 {
            self.functions = [FUNCSEL; PINS_MOST];
        }
        if entering & Self::reset_bit(Block::Pads) != 0 {
            self.pads = [PAD_RESET; PINS_MOST];
        }
        for number in 0..2 {
            if entering & Self::reset_bit(Block::Pll(number)) != 0 {
                self.clocks.reset_pll(number);
            }
        }
        if entering & Self::reset_bit(Block::Usb) != 0 {
            self.sie_ctrl = SIE_CTRL_RESET;
        }
    }

    fn bite(&self) -> Cycles {
        match self.bites {
            Some(0) => Cycles(0),
            Some(at) if self.watchdog & WATCHDOG_ENABLE != 0 => self.ticks.cycle_of(at),
            _ => Cycles::NEVER,
        }
    }
}

impl Peripherals for Rp2040 {
    fn rom(&self) -> Vec<(u32, Vec<u8>)> {
        vec![(0, rp2040_rom::contents())]
    }

    fn serial_ports(&self) -> &'static [&'static str] {
        &["UART0", "UART1"][..self.instances.run(Block::Uart)]
    }

    fn read(&mut self, address: u32, context: &mut Context<'_>) -> Result<Option<u32>, Fault> {
        let Some((block, offset, _)) = self.find(address)? else {
            return Ok(None);
        };
        self.register(block, offset, context.pins.level(0), context.now)
    }

    fn write(
        &mut self,
        address: u32,
        value: u32,
        context: &mut Context<'_>,
    ) -> Result<bool, Fault> {
        let Some((block, offset, view)) = self.find(address)? else {
            return Ok(false);
        };
        let is_cleared_by_ones = block == Block::Timer && self.timer.is_cleared_by_ones(offset);
        let mut old = || self.register(block, offset, context.pins.level(0), context.now);
        let value = match view {
            0 => value,
            1 => old()?.unwrap_or(0) ^ value,
            2 => old()?.unwrap_or(0) | value,
            _ if is_cleared_by_ones => value,
            _ => old()?.unwrap_or(0) & !value,
        };
        let is_there = self.set_register(block, offset, value, context)?;
        (context.pins.output[0], context.pins.enabled[0]) = (self.output, self.driven());
        Ok(is_there)
    }

    /// A narrow write reaches the whole register, repeated (data sheet, 2.1.4).
    fn widened(&self, value: u32, width: Width) -> Option<u32> {
        Some(match width {
            Width::Byte => (value & 0xff) * 0x0101_0101,
            Width::Half => (value & 0xffff) * 0x0001_0001,
            Width::Word => value,
        })
    }

    fn put_serial(&mut self, port: usize, bytes: &[u8]) {
        self.uarts[port].put(bytes);
    }

    fn advance(
        &mut self,
        now: Cycles,
        sent: &mut dyn FnMut(usize, u8, Cycles),
    ) -> Result<(), Fault> {
        let since = self.at.min(now);
        self.at = self.at.max(now);
        for (port, uart) in self.uarts.iter_mut().enumerate() {
            uart.advance(now, |byte, at| sent(port, byte, at));
        }
        self.timer.advance(since, now);
        if self.bite() <= now {
            self.reason = self.reason.max(1);
            return Err(Fault::new(
                FaultKind::Watchdog,
                "the watchdog resets the chip",
            ));
        }
        Ok(())
    }

    fn clock_changed(&mut self, now: Cycles, core_hz: u32) {
        self.at = self.at.max(now);
        self.core_hz = core_hz;
        self.set_rates();
    }

    fn flow(&self, address: u32) -> Flow {
        match self.instances.find(address) {
            // Operands and results of the divider.
            Some((Block::Sio, 0x60..=0x74)) => Flow::Derived,
            _ => Flow::Register,
        }
    }

    fn next_event(&self) -> Cycles {
        let uarts = self.uarts.iter().map(Pl011::next_event);
        let rest = [self.timer.next_event(self.at), self.bite()];
        uarts.chain(rest).min().unwrap_or(Cycles::NEVER)
    }

    fn interrupts(&self) -> [u64; 4] {
        self.instances.lines(|block, number| match block {
            Block::Uart(uart) => self.uarts[uart].is_pending(),
            Block::Timer => self.timer.pending() >> number & 1 != 0,
            _ => false,
        })
    }

    fn sleep_state(&self) -> &'static str {
        "sleep"
    }

    fn reset(&mut self, anew: &Anew<'_>) {
        let hz = anew.core.reset_hz.whole();
        let crystal = anew.core.crystal_hz.as_ref().map_or(0, Constant::whole);
        self.at = anew.now;
        self.clocks = Clocks::rp2040(hz, crystal);
        self.in_reset = RESET_ALL;
        self.restart(RESET_ALL);
        (self.output, self.enabled, self.spinlocks) = (0, 0, 0);
        self.divider = Divider::default();
        self.tick = TICK_ENABLE;
        (self.watchdog, self.bites) = (WATCHDOG_PAUSES, None);
        // Scratch registers and the reason outlive a reset by the watchdog (data sheet, 4.7).
        if anew.cause != Reset::Watchdog {
            self.reason = 0;
        }
    }
}
