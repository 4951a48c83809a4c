//! STM32F2: clocks, power control, access to flash, GPIO, serial ports, basic and general-purpose
//! timers of 16 bits, and pin interrupts (RM0033).
//!
//! Flash is read without wait states, which the chip allows up to 30 MHz: then its caches have nothing
//! to hide, and are not modelled.

use std::sync::Arc;

use joulemark_kernel::chip::Constant;
use joulemark_kernel::{Chip, ChipError, Cycles, Fault};
use joulemark_peripherals::{Exti, Stm32Tim, Stm32Usart};

use crate::cores::armv7m::{self, Armv7m};
use crate::cortex_m::instances::{Instance, Instances};
use crate::cortex_m::sections::Core;
use crate::cortex_m::stm32::{Port, clock_is_off, hpre_shift, ppre_divider, without_wait_states};
use crate::cortex_m::{Anew, Context, Made, Peripherals, Reset, lettered};
use crate::series::Series;

/// A peripheral of the series.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// An index into [`IS_FAST`].
    Usart(usize),
    /// An index into [`CHANNELS`].
    Tim(usize),
    Pwr,
    Syscfg,
    Exti,
    Gpio(usize),
    Rcc,
    Flash,
}

const fn block(name: &'static str, block: Block, interrupts: usize) -> Instance<Block> {
    Instance::new(name, block, 0x400, interrupts)
}

static INSTANCES: [Instance<Block>; 24] = [
    block("USART1", Block::Usart(0), 1),
    block("USART2", Block::Usart(1), 1),
    block("USART3", Block::Usart(2), 1),
    block("UART4", Block::Usart(3), 1),
    block("UART5", Block::Usart(4), 1),
    block("USART6", Block::Usart(5), 1),
    block("TIM3", Block::Tim(0), 1),
    block("TIM4", Block::Tim(1), 1),
    block("TIM6", Block::Tim(2), 1),
    block("TIM7", Block::Tim(3), 1),
    block("PWR", Block::Pwr, 0),
    block("SYSCFG", Block::Syscfg, 0),
    block("EXTI", Block::Exti, EXTI_LINES.len()),
    block("GPIOA", Block::Gpio(0), 0).port(),
    block("GPIOB", Block::Gpio(1), 0).port(),
    block("GPIOC", Block::Gpio(2), 0).port(),
    block("GPIOD", Block::Gpio(3), 0).port(),
    block("GPIOE", Block::Gpio(4), 0).port(),
    block("GPIOF", Block::Gpio(5), 0).port(),
    block("GPIOG", Block::Gpio(6), 0).port(),
    block("GPIOH", Block::Gpio(7), 0).port(),
    block("GPIOI", Block::Gpio(8), 0).port(),
    block("RCC", Block::Rcc, 0),
    block("FLASH", Block::Flash, 0),
];

/// Whether each of USART1, USART2, USART3, UART4, UART5 and USART6 is on the fast bus, APB2.
const IS_FAST: [bool; 6] = [true, false, false, false, false, true];
/// Compare channels of TIM3, TIM4, TIM6 and TIM7.
const CHANNELS: [usize; 4] = [4, 4, 0, 0];
/// The mask of EXTI's lines for each of its interrupts: lines 0 to 4, 9 to 5, and 15 to 10.
const EXTI_LINES: [u32; 7] = [1, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 0x03e0, 0xfc00];
const PORTS: usize = 9;

/// MODER after reset: inputs, but for the debugger's pins.
const MODES: [u32; PORTS] = {
    let mut modes = [0; PORTS];
    modes[0] = 0xa800_0000;
    modes[1] = 0x0000_0280;
    modes
};

/// Words of RCC.
const CR: usize = 0;
const PLLCFGR: usize = 1;
const CFGR: usize = 2;
const BDCR: usize = 0x70 / 4;
const CSR: usize = 0x74 / 4;
const RCC_WORDS: usize = 0x88 / 4;

/// `RCC_CR`: each is followed by its ready bit.
const HSION: u32 = 1;
const HSEON: u32 = 1 << 16;
const PLLON: u32 = 1 << 24;
const PLLI2SON: u32 = 1 << 26;
const ALL_ON: u32 = HSION | HSEON | PLLON | PLLI2SON;
/// `RCC_PLLCFGR`: the PLL's input is HSE, not HSI.
const PLLSRC: u32 = 1 << 22;
/// `RCC_CSR`: causes of the last resets, and the bit that clears them.
const RMVF: u32 = 1 << 24;
const BORRSTF: u32 = 1 << 25;
const PINRSTF: u32 = 1 << 26;
const PORRSTF: u32 = 1 << 27;
const SFTRSTF: u32 = 1 << 28;
const RESET_FLAGS: u32 = 0xfe00_0000;

/// `FLASH_ACR`.
const LATENCY: u32 = 7;
const ACR: u32 = LATENCY | 0x1f00;
/// The fastest clock without wait states, from 2.7 V on (RM0033, read access latency).
const WITHOUT_WAIT_HZ: u32 = 30_000_000;

struct Stm32f2 {
    instances: Arc<Instances<Block>>,
    usart: [Stm32Usart; 6],
    tim: [Stm32Tim; 4],
    exti: Exti,
    hsi_hz: u32,
    hse_hz: u32,
    rcc: [u32; RCC_WORDS],
    /// CR and CSR.
    pwr: [u32; 2],
    gpio: [Port; PORTS],
    syscfg: [u32; 9],
    flash_acr: u32,
}

/// The series.
pub static SERIES: Series = Series {
    name: "stm32f2",
    core: &armv7m::TARGET,
    check: |chip| {
        Core::check(chip, &[])?;
        Instances::of(chip, &INSTANCES).map(drop)
    },
    make: |chip, image, options| Ok(Box::new(Armv7m::new(chip, image, options, make)?)),
};

/// Make the peripherals of a chip of this series, and its pin names.
fn make(chip: &Chip, core: &Core, _setting: &dyn Fn(&str) -> u32) -> Result<Made, ChipError> {
    let instances = Arc::new(Instances::of(chip, &INSTANCES)?);
    let pins = lettered(instances.pins(Block::Gpio));
    let mut made = Stm32f2::new(instances, core);
    made.set_bus_clocks(Cycles(0));
    Ok((Box::new(made), pins))
}

impl Stm32f2 {
    fn new(instances: Arc<Instances<Block>>, core: &Core) -> Self {
        let mut rcc = [0; RCC_WORDS];
        rcc[CR] = 0x80 | HSION;
        rcc[PLLCFGR] = 0x2400_3010;
        rcc[CSR] = PORRSTF | PINRSTF | BORRSTF;
        Self {
            instances,
            usart: Default::default(),
            tim: CHANNELS.map(Stm32Tim::new),
            exti: Exti::default(),
            hsi_hz: core.reset_hz.whole(),
            hse_hz: core.crystal_hz.as_ref().map_or(0, Constant::whole),
            rcc,
            pwr: [0; 2],
            gpio: MODES.map(|moder| Port::new(moder, false)),
            syscfg: [0; 9],
            flash_acr: 0,
        }
    }

    fn pll_hz(&self) -> u32 {
        let configured = self.rcc[PLLCFGR];
        let input = if configured & PLLSRC == 0 {
            self.hsi_hz
        } else {
            self.hse_hz
        };
        let (m, n) = (configured & 0x3f, configured >> 6 & 0x1ff);
        let p = 2 * ((configured >> 16 & 3) + 1);
        (u64::from(input) * u64::from(n) / u64::from(m.max(1) * p)) as u32
    }

    /// The core's clock according to SW and HPRE.
    fn clock_hz(&self) -> Result<u32, Fault> {
        let (cr, cfgr) = (self.rcc[CR], self.rcc[CFGR]);
        let (hz, on, name) = match cfgr & 3 {
            0 => (self.hsi_hz, HSION, "HSI"),
            1 => (self.hse_hz, HSEON, "HSE"),
            _ => (self.pll_hz(), PLLON, "PLL"),
        };
        if cr & on == 0 || hz == 0 {
            return Err(clock_is_off(name));
        }
        let hz = hz >> hpre_shift(cfgr);
        without_wait_states(self.flash_acr & LATENCY, hz, WITHOUT_WAIT_HZ)?;
        Ok(hz)
    }

    /// Give peripherals their bus clocks according to RCC.
    fn set_bus_clocks(&mut self, now: Cycles) {
        let (slow, fast) = (
            ppre_divider(self.rcc[CFGR], 10),
            ppre_divider(self.rcc[CFGR], 13),
        );
        for (usart, is_fast) in self.usart.iter_mut().zip(IS_FAST) {
            usart.divider = if is_fast { fast } else { slow };
        }
        // Timers run at twice the bus clock if that is divided (RM0033, clocks).
        let periods = if slow == 1 { 1 } else { 2 };
        for tim in &mut self.tim {
            tim.set_clock(periods, slow.into(), now);
        }
    }

    fn write_rcc(
        &mut self,
        word: usize,
        value: u32,
        context: &mut Context<'_>,
    ) -> Result<(), Fault> {
        self.rcc[word] = match word {
            CSR if value & RMVF != 0 => value & 1,
            CSR => self.rcc[CSR] & RESET_FLAGS | value & 1,
            _ => value,
        };
        if matches!(word, CR | CFGR | PLLCFGR) {
            context.clock_hz = Some(self.clock_hz()?);
            self.set_bus_clocks(context.now);
        }
        Ok(())
    }

    /// Oscillators are ready, and selections effective, at once.
    fn read_rcc(&self, word: usize) -> u32 {
        let value = self.rcc[word];
        match word {
            CR => value & !(ALL_ON << 1) | (value & ALL_ON) << 1,
            CFGR => value & !0xc | (value & 3) << 2,
            BDCR | CSR => value & !2 | (value & 1) << 1,
            _ => value,
        }
    }
}

impl Peripherals for Stm32f2 {
    fn serial_ports(&self) -> &'static [&'static str] {
        &["USART1", "USART2", "USART3", "UART4", "UART5", "USART6"]
            [..self.instances.run(Block::Usart)]
    }

    fn read(&mut self, address: u32, context: &mut Context<'_>) -> Result<Option<u32>, Fault> {
        let Some((block, offset)) = self.instances.find(address) else {
            return Ok(None);
        };
        let word = offset as usize / 4;
        Ok(match block {
            Block::Usart(index) => self.usart[index].read(offset),
            Block::Tim(index) => self.tim[index].read(offset, context.now),
            Block::Gpio(port) => self.gpio[port].read(offset, port, context.pins),
            Block::Pwr => self.pwr.get(word).copied(),
            Block::Syscfg => match word {
                2..=5 => Some(self.exti.exticr(word - 2)),
                _ => self.syscfg.get(word).copied(),
            },
            Block::Exti => self.exti.read(offset),
            Block::Rcc => (word < RCC_WORDS).then(|| self.read_rcc(word)),
            Block::Flash => (offset == 0).then_some(self.flash_acr),
        })
    }

    fn write(
        &mut self,
        address: u32,
        value: u32,
        context: &mut Context<'_>,
    ) -> Result<bool, Fault> {
        let Some((block, offset)) = self.instances.find(address) else {
            return Ok(false);
        };
        let word = offset as usize / 4;
        match block {
            Block::Usart(index) => return self.usart[index].write(offset, value, context.now),
            Block::Tim(index) => return self.tim[index].write(offset, value, context.now),
            Block::Gpio(port) => {
                return Ok(self.gpio[port].write(offset, value, port, context.pins));
            }
            Block::Pwr => match self.pwr.get_mut(word) {
                Some(held) => *held = value,
                None => return Ok(false),
            },
            Block::Syscfg => match word {
                2..=5 => self.exti.set_exticr(word - 2, value),
                _ => match self.syscfg.get_mut(word) {
                    Some(held) => *held = value,
                    None => return Ok(false),
                },
            },
            Block::Exti => return self.exti.write(offset, value),
            Block::Rcc if word < RCC_WORDS => self.write_rcc(word, value, context)?,
            Block::Flash if offset == 0 => {
                self.flash_acr = value & ACR;
                self.clock_hz()?;
            }
            Block::Rcc | Block::Flash => return Ok(false),
        }
        Ok(true)
    }

    fn pins_changed(&mut self, port: usize, level: u32, changed: u32) -> bool {
        self.exti.pins_changed(port, level, changed);
        self.exti.pending() != 0
    }

    fn put_serial(&mut self, port: usize, bytes: &[u8]) {
        self.usart[port].put(bytes);
    }

    fn advance(
        &mut self,
        now: Cycles,
        sent: &mut dyn FnMut(usize, u8, Cycles),
    ) -> Result<(), Fault> {
        for (port, usart) in self.usart.iter_mut().enumerate() {
            usart.advance(now, |byte, at| sent(port, byte, at));
        }
        for tim in &mut self.tim {
            tim.advance(now);
        }
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        let of_usarts = self.usart.iter().map(Stm32Usart::next_event);
        let of_timers = self.tim.iter().map(Stm32Tim::next_event);
        of_usarts.chain(of_timers).min().unwrap_or(Cycles::NEVER)
    }

    fn interrupts(&self) -> [u64; 4] {
        let pending = self.exti.pending();
        self.instances.lines(|block, number| match block {
            Block::Exti => pending & EXTI_LINES[number] != 0,
            Block::Usart(index) => self.usart[index].is_pending(),
            Block::Tim(index) => self.tim[index].is_pending(),
            _ => false,
        })
    }

    fn reset(&mut self, anew: &Anew<'_>) {
        let flags = match anew.cause {
            Reset::Software => SFTRSTF,
            Reset::Watchdog => 0,
        };
        let mut fresh = Self::new(Arc::clone(&self.instances), anew.core);
        // Any reset pulls NRST; earlier flags stay until RMVF (RM0033, RCC_CSR).
        fresh.rcc[CSR] = self.rcc[CSR] & RESET_FLAGS | PINRSTF | flags;
        fresh.rcc[BDCR] = self.rcc[BDCR];
        fresh.set_bus_clocks(anew.now);
        *self = fresh;
    }

    fn sleep_state(&self) -> &'static str {
        "sleep"
    }
}
