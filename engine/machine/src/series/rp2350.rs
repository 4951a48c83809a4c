//! RP2350 with its RISC-V cores: clocks, resets, pins, UARTs, timers, random numbers and SHA-256 (RP2350 data sheet; register
//! names, addresses and bits from its register headers in the Pico SDK). One core runs.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use joulemark_kernel::chip::Constant;
use joulemark_kernel::{Chip, ChipError, Cycles, Fault, FaultKind, Hertz, Image, Timeline};
use joulemark_peripherals::rp2::{Clocks, Counter, SystemTimer};
use joulemark_peripherals::rp2350_sha256::{self, Sha256Engine};
use joulemark_peripherals::rp2350_trng::Rp2350Trng;
use joulemark_peripherals::{Pl011, rp2350_rom};
use joulemark_riscv::{Bus, Control, Lines, Width};
use serde::Deserialize;

use crate::board::{Board, Buses, Effect};
use crate::calls::CallTree;
use crate::cores::riscv::{self, Riscv, Section, Surroundings};
use crate::cortex_m::instances::{Instance, Instances};
use crate::pins::{Pin, PinNames};
use crate::series::Series;

/// A peripheral of the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Clocks,
    Resets,
    Io,
    Pads,
    Xosc,
    /// The system's, or USB's.
    Pll(usize),
    Uart(usize),
    Timer(usize),
    Ticks,
    Sio,
    Usb,
    BootRam,
    Trng,
    Sha256,
}

/// Registers, followed by views of them that flip, set and clear bits (data sheet, "Atomic register
/// access").
const WITH_VIEWS: u32 = 0x4000;
const VIEWS: u32 = 0x3000;

const fn block(name: &'static str, block: Block, interrupts: usize) -> Instance<Block> {
    Instance::new(name, block, WITH_VIEWS, interrupts)
}

static INSTANCES: [Instance<Block>; 17] = [
    block("CLOCKS", Block::Clocks, 0),
    block("RESETS", Block::Resets, 0),
    block("IO_BANK0", Block::Io, 0).port(),
    block("PADS_BANK0", Block::Pads, 0),
    block("XOSC", Block::Xosc, 0),
    block("PLL_SYS", Block::Pll(0), 0),
    block("PLL_USB", Block::Pll(1), 0),
    block("UART0", Block::Uart(0), 1),
    block("UART1", Block::Uart(1), 1),
    block("TIMER0", Block::Timer(0), 4),
    block("TIMER1", Block::Timer(1), 4),
    block("TICKS", Block::Ticks, 0),
    Instance::new("SIO", Block::Sio, 0x200, 0),
    block("USBCTRL_REGS", Block::Usb, 0),
    Instance::new("BOOTRAM", Block::BootRam, 0x82c, 0).from(0x808),
    block("TRNG", Block::Trng, 1),
    block("SHA256", Block::Sha256, 0),
];

/// Pin names: GPIO0 to GPIO29.
static PINS: LazyLock<Vec<String>> =
    LazyLock::new(|| (0..PINS_MOST).map(|pin| format!("GPIO{pin}")).collect());
const PINS_MOST: usize = 30;

const ACTIVE: &str = "active";
const SLEEP: &str = "sleep";

/// Bits of RESETS, by block.
const RESET_ALL: u32 = 0x1fff_ffff;
/// `IO_BANK0_GPIOx_CTRL`: the function of a pin; SIO's is 5.
const FUNCSEL: u32 = 31;
const FUNCSEL_SIO: u32 = 5;
/// `PADS_BANK0_GPIOx`: isolated, output disabled.
const ISO: u32 = 1 << 8;
const OD: u32 = 1 << 7;
const FIFO: usize = 32;
/// Tick generators: `TIMER0`, `TIMER1` and `RISCV` of six.
const TICK_TIMER0: usize = 2;
const TICK_RISCV: usize = 5;
const MTIME_EN: u32 = 1;
const MTIME_FULLSPEED: u32 = 2;

/// `USB_SIE_CTRL`, of which programs turn the transceiver off.
const SIE_CTRL: u32 = 0x4c;
const SIE_CTRL_RESET: u32 = 1 << 15;
const TRANSCEIVER_PD: u32 = 1 << 18;
/// `BOOTRAM_BOOTLOCK_STAT` and the first of eight locks behind it.
const BOOTLOCK_STAT: u32 = 0x808;
const BOOTLOCK0: u32 = 0x80c;
const BOOTLOCKS: u32 = 0xff;

/// Where a timer's interrupt registers begin.
const TIMER_INTR: u32 = 0x3c;

/// The SHA-256 accelerator: section `sha256` of a chip's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sha256Section {
    /// Cycles after the last word of a block.
    block_cycles: Constant,
}

/// The random number generator: section `trng` of a chip's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrngSection {
    /// Samples of the oscillator for each bit, unless the von Neumann balancer is bypassed.
    samples_per_bit: Constant,
}

struct Rp2350 {
    instances: Arc<Instances<Block>>,
    timeline: Timeline,
    board: Board,
    calls: Option<CallTree>,
    core_hz: u32,
    max_hz: u32,
    waits: [u8; 2],
    /// Until when the peripherals have been advanced, and when they have to be again.
    at: Cycles,
    due: Cycles,
    /// Blocks in reset.
    in_reset: u32,
    clocks: Clocks,
    /// CTRL and CYCLES of tick generators.
    ticks: [[u32; 2]; 6],
    /// CTRL of each pin, and its pad.
    functions: [u32; PINS_MOST],
    pads: [u32; PINS_MOST],
    /// Levels and enables of SIO's outputs, and levels that the board drives.
    output: u32,
    enabled: u32,
    input: u32,
    uarts: [Pl011; 2],
    timers: [SystemTimer; 2],
    mtime: Counter,
    mtime_ctrl: u32,
    mtimecmp: u64,
    software: bool,
    sie_ctrl: u32,
    bootlocks: u32,
    trng: Rp2350Trng,
    sha256: Sha256Engine,
}

/// The series.
pub static SERIES: Series = Series {
    name: "rp2350",
    core: &riscv::TARGET,
    check: |chip| {
        Section::of(chip, &["sha256", "trng"])?;
        chip.needed_section::<Sha256Section>("sha256")?;
        chip.needed_section::<TrngSection>("trng")?;
        Instances::of(chip, &INSTANCES).map(drop)
    },
    make: |chip, image, options| Ok(Box::new(Riscv::new(chip, image, options, make)?)),
};

fn make(
    chip: &Arc<Chip>,
    core: &Section,
    setting: &dyn Fn(&str) -> u32,
    trace: bool,
) -> Result<Box<dyn Surroundings>, ChipError> {
    let sha256: Sha256Section = chip.needed_section("sha256")?;
    let trng: TrngSection = chip.needed_section("trng")?;
    let instances = Arc::new(Instances::of(chip, &INSTANCES)?);
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
    let buses = Buses {
        ports: &["UART0", "UART1"][..instances.run(Block::Uart)],
        spi: &[],
        i2c: &[],
    };
    let mut chip = Rp2350 {
        board: Board::new(chip, pins, buses, trace, ACTIVE, hz),
        instances,
        timeline: Timeline::new(Hertz(hz)),
        calls: None,
        core_hz: hz,
        max_hz: core.max_hz.whole(),
        waits: [&core.apb_read_waits, &core.apb_write_waits].map(|waits| waits.whole() as u8),
        at: Cycles(0),
        due: Cycles::NEVER,
        in_reset: RESET_ALL,
        clocks: Clocks::rp2350(hz, core.crystal_hz.whole()),
        ticks: [[0; 2]; 6],
        functions: [FUNCSEL; PINS_MOST],
        pads: [0x116; PINS_MOST],
        output: 0,
        enabled: 0,
        input: 0,
        uarts: [Pl011::new(FIFO), Pl011::new(FIFO)],
        timers: [SystemTimer::new(TIMER_INTR), SystemTimer::new(TIMER_INTR)],
        mtime: Counter::stopped(),
        mtime_ctrl: 0xd,
        mtimecmp: u64::MAX,
        software: false,
        sie_ctrl: SIE_CTRL_RESET,
        bootlocks: 0,
        trng: Rp2350Trng::new(trng.samples_per_bit.whole().into(), setting("random_seed")),
        sha256: Sha256Engine::new(Cycles(sha256.block_cycles.whole().into())),
    };
    chip.set_rates();
    Ok(Box::new(chip))
}

impl Rp2350 {
    /// Follow a change of clocks.
    fn change_clocks(&mut self, now: Cycles) -> Result<(), Fault> {
        let hz = self.clocks.system_hz();
        let wrong = |what: String| Err(Fault::new(FaultKind::Peripheral, what));
        if hz == 0 {
            return wrong(
                "CLOCKS selects a clock that does not run, or that the emulation leaves out".into(),
            );
        }
        if hz > self.max_hz {
            let most = self.max_hz;
            return wrong(format!(
                "the core's clock is set to {hz} Hz, above the chip's {most} Hz"
            ));
        }
        if hz != self.core_hz {
            self.core_hz = hz;
            self.timeline.change_clock(now, Hertz(hz));
            self.board.note_power(ACTIVE, now, &self.timeline);
        }
        self.set_rates();
        Ok(())
    }

    /// Set the rates of all that counts another clock than the core's.
    fn set_rates(&mut self) {
        let (now, core) = (self.at, u64::from(self.core_hz));
        let tick = |chip: &Self, number: usize| {
            let [ctrl, cycles] = chip.ticks[number];
            let is_on = ctrl & 1 != 0 && cycles & 511 != 0;
            u64::from(if is_on {
                chip.clocks.reference_hz() / (cycles & 511)
            } else {
                0
            })
        };
        let mtime = match self.mtime_ctrl & (MTIME_EN | MTIME_FULLSPEED) {
            3 => core,
            1 => tick(self, TICK_RISCV),
            _ => 0,
        };
        self.mtime.rate.change(now, mtime, core);
        for number in 0..2 {
            let rate = tick(self, TICK_TIMER0 + number);
            self.timers[number].counter.rate.change(now, rate, core);
        }
        // A UART without a clock has no baud rate; its driver turns the clock on first.
        let baud = Hertz(self.clocks.peripheral_hz().max(1));
        for uart in &mut self.uarts {
            uart.set_clocks(Hertz(self.core_hz), baud);
        }
    }

    /// A block's bit in RESETS; 0 if it is never in reset.
    const fn reset_bit(block: Block) -> u32 {
        match block {
            Block::Io => 1 << 6,
            Block::Pads => 1 << 9,
            Block::Pll(number) => 1 << (14 + number),
            Block::Sha256 => 1 << 17,
            Block::Trng => 1 << 25,
            Block::Usb => 1 << 28,
            Block::Timer(number) => 1 << (23 + number),
            Block::Uart(number) => 1 << (26 + number),
            _ => 0,
        }
    }

    const fn is_in_reset(&self, block: Block) -> bool {
        self.in_reset & Self::reset_bit(block) != 0
    }

    /// Pins that SIO drives.
    fn driven(&self) -> u32 {
        let mut driven = 0;
        for pin in 0..PINS_MOST {
            let is_sio = self.functions[pin] & FUNCSEL == FUNCSEL_SIO;
            let is_through = self.pads[pin] & (ISO | OD) == 0;
            driven |= u32::from(is_sio && is_through) << pin;
        }
        driven & self.enabled
    }

    fn levels(&self) -> u32 {
        let driven = self.driven();
        self.output & driven | self.input & !driven
    }

    fn pins_changed(&mut self, before: u32, now: Cycles) {
        let after = self.levels();
        let mut changed = before ^ after;
        while changed != 0 {
            let bit = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            let high = after >> bit & 1 != 0;
            self.board
                .pin_changed(Pin { port: 0, bit }, high, now, &self.timeline);
        }
        self.take_effects(now);
    }

    /// Bring the peripherals up to a cycle.
    fn advance_to(&mut self, now: Cycles) {
        let since = self.at.min(now);
        self.at = self.at.max(now);
        for (port, uart) in self.uarts.iter_mut().enumerate() {
            let (board, timeline) = (&mut self.board, &self.timeline);
            uart.advance(now, |byte, at| board.byte_sent(port, byte, at, timeline));
        }
        for timer in &mut self.timers {
            timer.advance(since, now);
        }
        self.trng.advance(now);
        while self.board.due <= now {
            self.board.advance_one(&self.timeline);
        }
        self.set_due();
        self.take_effects(now);
    }

    fn set_due(&mut self) {
        let uarts = self.uarts.iter().map(Pl011::next_event);
        let timers = self.timers.iter().map(|timer| timer.next_event(self.at));
        let is_ahead = self.mtime.at(self.at) < self.mtimecmp;
        let mtime = if is_ahead {
            self.mtime.cycle_of(self.mtimecmp)
        } else {
            Cycles::NEVER
        };
        self.due = uarts
            .chain(timers)
            .chain([mtime, self.trng.next_event()])
            .min()
            .unwrap_or(Cycles::NEVER);
    }

    fn find(&self, address: u32) -> Result<(Block, u32), Fault> {
        let found = self.instances.find(address);
        let (block, offset) = found.ok_or_else(|| self.board.nothing_at(address))?;
        // The SDK looks at USB's registers to see whether it is in reset.
        if self.is_in_reset(block) && block != Block::Usb {
            let what =
                format!("a register of {block:?} is accessed while RESETS holds that in reset");
            return Err(Fault::new(FaultKind::Peripheral, what).at(address));
        }
        Ok((block, offset))
    }

    /// Read a register; `None` if there is none.
    fn register(&mut self, block: Block, offset: u32, now: Cycles) -> Result<Option<u32>, Fault> {
        if block == Block::Sha256 {
            return self.sha256.read(offset, now);
        }
        Ok(self.plain_register(block, offset, now))
    }

    fn plain_register(&mut self, block: Block, offset: u32, now: Cycles) -> Option<u32> {
        let word = offset as usize / 4;
        Some(match block {
            Block::Clocks => return self.clocks.read_clocks(offset),
            Block::Resets => match offset {
                0 => self.in_reset,
                4 => 0,
                8 => RESET_ALL & !self.in_reset,
                _ => return None,
            },
            Block::Io => {
                let pin = word / 2;
                let function = *self.functions.get(pin)?;
                if word % 2 == 1 {
                    function
                } else {
                    let bit = |bits: u32| bits >> pin & 1;
                    bit(self.output & self.driven()) << 9
                        | bit(self.driven()) << 13
                        | bit(self.levels()) << 17
                }
            }
            Block::Pads if offset == 0 => 0,
            Block::Pads => *self.pads.get(word - 1)?,
            Block::Xosc => return self.clocks.read_xosc(offset),
            Block::Pll(number) => return self.clocks.read_pll(number, offset),
            Block::Usb if offset == SIE_CTRL => self.sie_ctrl,
            Block::Usb | Block::Sha256 => return None,
            Block::BootRam if offset == BOOTLOCK_STAT => BOOTLOCKS & !self.bootlocks,
            Block::BootRam => {
                let lock = 1 << ((offset - BOOTLOCK0) / 4);
                let was_free = self.bootlocks & lock == 0;
                self.bootlocks |= lock;
                if was_free { lock } else { 0 }
            }
            Block::Trng => return self.trng.read(offset, now),
            Block::Uart(number) => return self.uarts[number].read(offset),
            Block::Timer(number) => return self.timers[number].read(offset, now),
            Block::Ticks => {
                let [ctrl, cycles] = *self.ticks.get(word / 3)?;
                match word % 3 {
                    0 => ctrl | (ctrl & 1) << 1,
                    1 => cycles,
                    _ => return None,
                }
            }
            Block::Sio => match offset {
                // The core's number, and pins that this package does not have.
                0 | 0x08 | 0x14 | 0x34 => 0,
                0x04 => self.levels(),
                0x10 => self.output,
                0x30 => self.enabled,
                0x1a0 => u32::from(self.software),
                0x1a4 => self.mtime_ctrl,
                0x1b0 => self.mtime.at(now) as u32,
                0x1b4 => (self.mtime.at(now) >> 32) as u32,
                0x1b8 => self.mtimecmp as u32,
                0x1bc => (self.mtimecmp >> 32) as u32,
                _ => return None,
            },
        })
    }

    /// Write a register; false if there is none.
    fn set_register(
        &mut self,
        block: Block,
        offset: u32,
        value: u32,
        width: Width,
        now: Cycles,
    ) -> Result<bool, Fault> {
        let word = offset as usize / 4;
        match block {
            Block::Clocks | Block::Xosc | Block::Pll(_) => {
                let is_there = match block {
                    Block::Clocks => self.clocks.write_clocks(offset, value),
                    Block::Xosc => self.clocks.write_xosc(offset, value),
                    Block::Pll(number) => self.clocks.write_pll(number, offset, value),
                    _ => false,
                };
                if is_there {
                    self.change_clocks(now)?;
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
                    self.set_rates();
                }
                4 => {}
                _ => return Ok(false),
            },
            Block::Io if word % 2 == 1 && word / 2 < PINS_MOST => self.functions[word / 2] = value,
            Block::Pads if (1..=PINS_MOST).contains(&word) => self.pads[word - 1] = value & 0x1ff,
            Block::Trng => return Ok(self.trng.write(offset, value, now)),
            Block::Sha256 => return self.sha256.write(offset, value, width.bytes(), now),
            Block::Uart(number) => return self.uarts[number].write(offset, value, now),
            Block::Timer(number) => return Ok(self.timers[number].write(offset, value, now)),
            Block::Ticks if word < 18 && word % 3 < 2 => {
                self.ticks[word / 3][word % 3] = value & 511;
                self.set_rates();
            }
            Block::Sio => match offset {
                0x10 => self.output = value,
                0x18 => self.output |= value,
                0x20 => self.output &= !value,
                0x28 => self.output ^= value,
                0x30 => self.enabled = value,
                0x38 => self.enabled |= value,
                0x40 => self.enabled &= !value,
                0x48 => self.enabled ^= value,
                0x1a0 => self.software = (self.software || value & 1 != 0) && value & 1 << 8 == 0,
                0x1a4 => {
                    self.mtime_ctrl = value & 15;
                    self.set_rates();
                }
                0x1b0 | 0x1b4 => {
                    let count = self.mtime.at(now);
                    self.mtime.set(now, replace(count, value, offset == 0x1b4));
                }
                0x1b8 | 0x1bc => {
                    self.mtimecmp = replace(self.mtimecmp, value, offset == 0x1bc);
                }
                _ => return Ok(false),
            },
            Block::Usb if offset == SIE_CTRL && value & !(SIE_CTRL_RESET | TRANSCEIVER_PD) == 0 => {
                self.sie_ctrl = value;
            }
            Block::BootRam if offset == BOOTLOCK_STAT => self.bootlocks = BOOTLOCKS & !value,
            Block::BootRam => self.bootlocks &= !(1 << ((offset - BOOTLOCK0) / 4)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Return blocks that enter reset to their first state.
    fn restart(&mut self, entering: u32) {
        for number in 0..2 {
            if entering & Self::reset_bit(Block::Uart(number)) != 0 {
                self.uarts[number] = Pl011::new(FIFO);
            }
            if entering & Self::reset_bit(Block::Timer(number)) != 0 {
                self.timers[number] = SystemTimer::new(TIMER_INTR);
            }
        }
        if entering & Self::reset_bit(Block::Io) != 0 {
            self.functions = [FUNCSEL; PINS_MOST];
        }
        if entering & Self::reset_bit(Block::Pads) != 0 {
            self.pads = [0x116; PINS_MOST];
        }
        for number in 0..2 {
            if entering & Self::reset_bit(Block::Pll(number)) != 0 {
                self.clocks.reset_pll(number);
            }
        }
        if entering & Self::reset_bit(Block::Usb) != 0 {
            self.sie_ctrl = SIE_CTRL_RESET;
        }
        if entering & Self::reset_bit(Block::Trng) != 0 {
            self.trng.reset();
        }
        if entering & Self::reset_bit(Block::Sha256) != 0 {
            self.sha256.reset();
        }
    }
}

/// Replace a half of a counter.
fn replace(counter: u64, value: u32, high: bool) -> u64 {
    if high {
        counter & 0xffff_ffff | u64::from(value) << 32
    } else {
        counter & !0xffff_ffff | u64::from(value)
    }
}

impl Bus for Rp2350 {
    fn waits(&self, address: u32, is_write: bool) -> u8 {
        // The APB is below 0x50000000; SIO answers at once (data sheet, "Bus fabric").
        if address >> 28 == 4 {
            self.waits[usize::from(is_write)]
        } else {
            0
        }
    }

    fn read(&mut self, address: u32, width: Width, now: Cycles) -> Result<u32, Fault> {
        self.advance_to(now);
        let (block, offset) = self.find(address & !3)?;
        let offset = if block == Block::Sio {
            offset
        } else {
            offset & !VIEWS
        };
        let value = self.register(block, offset, now);
        self.set_due();
        let value = value.map_err(|fault| fault.at(address))?;
        let value = value.ok_or_else(|| self.board.nothing_at(address))?;
        Ok(value >> (8 * (address & 3)) & (u32::MAX >> (32 - 8 * width.bytes())))
    }

    fn write(&mut self, address: u32, value: u32, width: Width, now: Cycles) -> Result<(), Fault> {
        self.advance_to(now);
        // A narrow write reaches the whole register, repeated (data sheet, "Narrow IO register
        // writes").
        let value = match width {
            Width::Byte => (value & 0xff) * 0x0101_0101,
            Width::Half => (value & 0xffff) * 0x0001_0001,
            Width::Word => value,
        };
        let (block, found) = self.find(address & !3)?;
        let view = if block == Block::Sio {
            0
        } else {
            found & VIEWS
        };
        let offset = found - view;
        // Bits that ones clear.
        let cleared = match block {
            Block::Timer(number) if self.timers[number].is_cleared_by_ones(offset) => u32::MAX,
            Block::Sha256 if offset == 0 => rp2350_sha256::ERROR,
            _ => 0,
        };
        let old = if view == 0 {
            0
        } else {
            let old = self.register(block, offset, now);
            old.map_err(|fault| fault.at(address))?.unwrap_or(0) & !cleared
        };
        let value = match view >> 12 {
            0 => value,
            1 => old ^ value,
            2 => old | value,
            _ => old & !value | value & cleared,
        };
        let before = self.levels();
        let is_there = self
            .set_register(block, offset, value, width, now)
            .map_err(|fault| fault.at(address))?;
        self.set_due();
        self.pins_changed(before, now);
        if is_there {
            Ok(())
        } else {
            Err(self.board.nothing_at(address))
        }
    }

    fn next_event(&self) -> Cycles {
        self.due.min(self.board.due)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        self.advance_to(now);
        self.board.take_fault()
    }

    fn interrupts(&self) -> Lines {
        let lines = self.instances.lines(|block, number| match block {
            Block::Uart(uart) => self.uarts[uart].is_pending(),
            Block::Timer(timer) => self.timers[timer].pending() >> number & 1 != 0,
            Block::Trng => self.trng.is_pending(),
            _ => false,
        });
        Lines {
            external: lines[0],
            timer: self.mtime.at(self.at) >= self.mtimecmp,
            software: self.software,
        }
    }

    fn sleep(&mut self, asleep: bool, now: Cycles) {
        let state = if asleep { SLEEP } else { ACTIVE };
        self.board.note_power(state, now, &self.timeline);
    }

    fn control(&mut self, control: &Control) -> Range<u32> {
        riscv::follow(&mut self.calls, control)
    }

    fn take_stop(&mut self) -> bool {
        self.board.take_stop()
    }
}

impl Surroundings for Rp2350 {
    fn rom(&self) -> Vec<(u32, Vec<u8>)> {
        vec![(rp2350_rom::START, rp2350_rom::contents())]
    }

    fn boot(&self, image: &Image) -> Option<u32> {
        let mut segments = image.segments.iter();
        let is_in_flash = segments.any(|segment| segment.address == rp2350_rom::FLASH);
        is_in_flash.then_some(rp2350_rom::START + rp2350_rom::BOOT_AT as u32)
    }

    fn board(&self) -> &Board {
        &self.board
    }

    fn board_mut(&mut self) -> &mut Board {
        &mut self.board
    }

    fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    fn put_serial(&mut self, port: usize, bytes: &[u8], now: Cycles) {
        self.uarts[port].put(bytes);
        self.advance_to(now);
    }

    fn set_pin(&mut self, pin: Pin, high: bool, now: Cycles) {
        let before = self.levels();
        let bit = 1 << pin.bit;
        self.input = if high {
            self.input | bit
        } else {
            self.input & !bit
        };
        self.pins_changed(before, now);
    }

    fn take_effects(&mut self, now: Cycles) {
        while let Some((at, effect)) = self.board.next_effect(&self.timeline) {
            match effect {
                Effect::Pin(pin, high) => self.set_pin(pin, high, at),
                Effect::Byte(port, byte) => self.put_serial(port, &[byte], now),
            }
        }
    }

    fn calls(&mut self) -> &mut Option<CallTree> {
        &mut self.calls
    }
}
