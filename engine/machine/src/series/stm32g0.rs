//! STM32G0: clocks, flash with wait states, power control, GPIO, serial ports, basic and general-purpose
//! timers, and pin interrupts (RM0444; registers and fields were compared with ST's
//! `stm32g071xx.h`).

use std::sync::Arc;

use joulemark_kernel::chip::Constant;
use joulemark_kernel::lines::Settings;
use joulemark_kernel::{Chip, ChipError, Cycles, Fault, FaultKind};
use joulemark_peripherals::{ExtiByEdge, Stm32Tim, Stm32Uart};

use crate::cores::armv6m::{Armv6m, Section, TARGET};
use crate::cortex_m::instances::{Instance, Instances};
use crate::cortex_m::sections::Core;
use crate::cortex_m::stm32::{Port, clock_is_off, hpre_shift, ppre_divider};
use crate::cortex_m::{Anew, Context, Made, Peripherals, Reset, lettered};
use crate::series::Series;

/// A peripheral of the series.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// An index into [`Stm32g0::uart`].
    Uart(usize),
    /// An index into [`Stm32g0::tim`].
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

static INSTANCES: [Instance<Block>; 18] = [
    block("LPUART1", Block::Uart(0), 1),
    block("USART1", Block::Uart(1), 1),
    block("USART2", Block::Uart(2), 1),
    block("USART3", Block::Uart(3), 1),
    block("USART4", Block::Uart(4), 1),
    block("TIM2", Block::Tim(0), 1),
    block("TIM3", Block::Tim(1), 1),
    block("TIM6", Block::Tim(2), 1),
    block("TIM7", Block::Tim(3), 1),
    block("PWR", Block::Pwr, 0),
    Instance::new("SYSCFG", Block::Syscfg, 0x30, 0),
    block("EXTI", Block::Exti, EXTI_LINES.len()),
    block("GPIOA", Block::Gpio(0), 0).port(),
    block("GPIOB", Block::Gpio(1), 0).port(),
    block("GPIOC", Block::Gpio(2), 0).port(),
    block("GPIOD", Block::Gpio(3), 0).port(),
    block("RCC", Block::Rcc, 0),
    block("FLASH", Block::Flash, 0),
];

/// The mask of EXTI's lines for each of its interrupts.
const EXTI_LINES: [u32; 3] = [0x0003, 0x000c, 0xfff0];
const PORTS: usize = 4;
/// MODER after reset: analog, but for the debugger's pins.
const MODES: [u32; PORTS] = [0xebff_ffff, u32::MAX, u32::MAX, u32::MAX];

/// Words of RCC.
const CR: usize = 0;
const CFGR: usize = 2;
const PLLCFGR: usize = 3;
const CCIPR: usize = 0x54 / 4;
const BDCR: usize = 0x5c / 4;
const CSR: usize = 0x60 / 4;
const RCC_WORDS: usize = 0x64 / 4;

/// `RCC_CR`: oscillators, and the bits that say that they are ready.
const HSION: u32 = 1 << 8;
const HSIRDY: u32 = 1 << 10;
const HSEON: u32 = 1 << 16;
const PLLON: u32 = 1 << 24;
const READY: [(u32, u32); 3] = [(HSION, HSIRDY), (HSEON, HSEON << 1), (PLLON, PLLON << 1)];
/// `RCC_PLLCFGR`.
const PLLREN: u32 = 1 << 28;
const HSI_HZ: u32 = 16_000_000;
/// `RCC_CCIPR`: the clocks of USART1, USART2 and LPUART1; 0 is their bus's.
const SERIAL_CLOCKS: u32 = 0x0c0f;
/// `RCC_CSR`: causes of the last resets, and the bit that clears them.
const RMVF: u32 = 1 << 23;
const PINRSTF: u32 = 1 << 26;
const PWRRSTF: u32 = 1 << 27;
const SFTRSTF: u32 = 1 << 28;
const RESET_FLAGS: u32 = 0xfe00_0000;

/// `FLASH_ACR`.
const LATENCY: u32 = 7;
const PRFTEN: u32 = 1 << 8;
const ICEN: u32 = 1 << 9;
const ICRST: u32 = 1 << 11;
const ACR: u32 = 1 << 18 | PRFTEN | ICEN | LATENCY;
const ACR_RESET: u32 = 1 << 18 | ICEN;
/// The fastest clock with 0, 1 and 2 wait states, in Range 1 (RM0444, read access latency).
const FASTEST_HZ: [u32; 3] = [24_000_000, 48_000_000, 64_000_000];

/// `PWR_CR1` after reset: Range 1.
const PWR_CR1: u32 = 0x208;
const PWR_SR1: usize = 0x10 / 4;
const PWR_SR2: usize = 0x14 / 4;
const PWR_WORDS: usize = 0x50 / 4;
/// `PWR_SR2`: flash and the low-power regulator are ready.
const PWR_READY: u32 = 3 << 7;

struct Stm32g0 {
    instances: Arc<Instances<Block>>,
    /// LPUART1, then USART1 to USART4.
    uart: [Stm32Uart; 5],
    /// TIM2, TIM3, TIM6, TIM7.
    tim: [Stm32Tim; 4],
    exti: ExtiByEdge,
    hse_hz: u32,
    low_hz: u32,
    rcc: [u32; RCC_WORDS],
    pwr: [u32; PWR_WORDS],
    gpio: [Port; PORTS],
    syscfg: [u32; 12],
    flash_acr: u32,
}

/// The series.
pub static SERIES: Series = Series {
    name: "stm32g0",
    core: &TARGET,
    check: |chip| {
        Section::of(chip)?;
        Instances::of(chip, &INSTANCES).map(drop)
    },
    make: |chip, image, options| Ok(Box::new(Armv6m::new(chip, image, options, make)?)),
};

/// Make the peripherals of a chip of this series, and its pin names.
fn make(chip: &Chip, core: &Core, _setting: &dyn Fn(&str) -> u32) -> Result<Made, ChipError> {
    let instances = Arc::new(Instances::of(chip, &INSTANCES)?);
    let pins = lettered(instances.pins(Block::Gpio));
    let mut made = Stm32g0::new(instances, core);
    made.set_bus_clocks(Cycles(0));
    Ok((Box::new(made), pins))
}

impl Stm32g0 {
    fn new(instances: Arc<Instances<Block>>, core: &Core) -> Self {
        let mut rcc = [0; RCC_WORDS];
        rcc[CR] = HSION;
        rcc[PLLCFGR] = 0x1000;
        rcc[CSR] = PWRRSTF | PINRSTF;
        let mut pwr = [0; PWR_WORDS];
        pwr[0] = PWR_CR1;
        Self {
            instances,
            uart: [
                Stm32Uart::low_power(),
                Stm32Uart::usart(),
                Stm32Uart::usart(),
                Stm32Uart::usart(),
                Stm32Uart::usart(),
            ],
            tim: [
                Stm32Tim::wide(4),
                Stm32Tim::new(4),
                Stm32Tim::new(0),
                Stm32Tim::new(0),
            ],
            exti: ExtiByEdge::default(),
            hse_hz: core.crystal_hz.as_ref().map_or(0, Constant::whole),
            low_hz: core.low_hz.whole(),
            rcc,
            pwr,
            gpio: MODES.map(|moder| Port::new(moder, true)),
            syscfg: [0; 12],
            flash_acr: ACR_RESET,
        }
    }

    fn pll_hz(&self) -> u32 {
        let configured = self.rcc[PLLCFGR];
        let input = match configured & 3 {
            2 => HSI_HZ,
            3 => self.hse_hz,
            _ => 0,
        };
        let (m, n) = (configured >> 4 & 7, configured >> 8 & 0x7f);
        let r = (configured >> 29) + 1;
        (u64::from(input) * u64::from(n) / u64::from((m + 1) * r)) as u32
    }

    /// The core's clock according to SW and HPRE.
    fn clock_hz(&self) -> Result<u32, Fault> {
        let (cr, cfgr) = (self.rcc[CR], self.rcc[CFGR]);
        let (hz, is_on, name) = match cfgr & 7 {
            0 => (HSI_HZ >> (cr >> 11 & 7), cr & HSION != 0, "HSI16"),
            1 => (self.hse_hz, cr & HSEON != 0, "HSE"),
            2 => {
                let is_out = self.rcc[PLLCFGR] & PLLREN != 0;
                (self.pll_hz(), is_out && cr & PLLON != 0, "PLL")
            }
            3 => (self.low_hz, self.rcc[CSR] & 1 != 0, "LSI"),
            _ => (0, false, "LSE, or nothing,"),
        };
        if !is_on || hz == 0 {
            return Err(clock_is_off(name));
        }
        let hz = hz >> hpre_shift(cfgr >> 4);
        let latency = self.flash_acr & LATENCY;
        let most = FASTEST_HZ.get(latency as usize).copied().unwrap_or(0);
        if hz > most {
            let text = format!(
                "flash is read with FLASH_ACR.LATENCY = {latency} at {hz} Hz: up to {most} Hz it can"
            );
            return Err(Fault::new(FaultKind::Peripheral, text));
        }
        Ok(hz)
    }

    /// Give peripherals their bus clock according to RCC.
    fn set_bus_clocks(&mut self, now: Cycles) {
        let slow = ppre_divider(self.rcc[CFGR], 12);
        for uart in &mut self.uart {
            uart.divider = slow;
        }
        // Timers run at twice the bus clock if that is divided (RM0444, clock tree).
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
        if word == CCIPR && value & SERIAL_CLOCKS != 0 {
            return Err(Fault::new(
                FaultKind::Absent,
                "the emulation leaves out clocks of serial ports other than their bus's (RCC_CCIPR)",
            ));
        }
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
            CR => READY.iter().fold(value, |shown, (on, ready)| {
                shown & !ready | if value & on != 0 { *ready } else { 0 }
            }),
            CFGR => value & !0x38 | (value & 7) << 3,
            BDCR | CSR => value & !2 | (value & 1) << 1,
            _ => value,
        }
    }
}

impl Peripherals for Stm32g0 {
    fn serial_ports(&self) -> &'static [&'static str] {
        &["LPUART1", "USART1", "USART2", "USART3", "USART4"][..self.instances.run(Block::Uart)]
    }

    fn read(&mut self, address: u32, context: &mut Context<'_>) -> Result<Option<u32>, Fault> {
        let Some((block, offset)) = self.instances.find(address) else {
            return Ok(None);
        };
        let word = offset as usize / 4;
        Ok(match block {
            Block::Uart(index) => self.uart[index].read(offset),
            Block::Tim(index) => self.tim[index].read(offset, context.now),
            Block::Gpio(port) => self.gpio[port].read(offset, port, context.pins),
            Block::Pwr => match word {
                PWR_SR1 => Some(0),
                PWR_SR2 => Some(PWR_READY),
                _ => self.pwr.get(word).copied(),
            },
            Block::Syscfg => self.syscfg.get(word).copied(),
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
            Block::Uart(index) => return self.uart[index].write(offset, value, context.now),
            Block::Tim(index) => return self.tim[index].write(offset, value, context.now),
            Block::Gpio(port) => {
                return Ok(self.gpio[port].write(offset, value, port, context.pins));
            }
            Block::Pwr => match self.pwr.get_mut(word) {
                Some(held) => *held = value,
                None => return Ok(false),
            },
            Block::Syscfg => match self.syscfg.get_mut(word) {
                Some(held) => *held = value,
                None => return Ok(false),
            },
            Block::Exti => return self.exti.write(offset, value),
            Block::Rcc if word < RCC_WORDS => self.write_rcc(word, value, context)?,
            Block::Flash if offset == 0 => {
                if value & (ICRST | ICEN) == ICRST | ICEN {
                    let what = "FLASH_ACR.ICRST is set while the cache is on";
                    return Err(Fault::new(FaultKind::Peripheral, what));
                }
                self.flash_acr = value & ACR;
                self.clock_hz()?;
            }
            Block::Rcc | Block::Flash => return Ok(false),
        }
        Ok(true)
    }

    fn lines(&self) -> Settings {
        Settings {
            cache: self.flash_acr & ICEN != 0,
            prefetch: self.flash_acr & PRFTEN != 0,
            wait_states: Some((self.flash_acr & LATENCY) as u8),
        }
    }

    fn pins_changed(&mut self, port: usize, level: u32, changed: u32) -> bool {
        self.exti.pins_changed(port, level, changed);
        self.exti.pending() != 0
    }

    fn put_serial(&mut self, port: usize, bytes: &[u8]) {
        self.uart[port].put(bytes);
    }

    fn advance(
        &mut self,
        now: Cycles,
        sent: &mut dyn FnMut(usize, u8, Cycles),
    ) -> Result<(), Fault> {
        for (port, uart) in self.uart.iter_mut().enumerate() {
            uart.advance(now, |byte, at| sent(port, byte, at));
        }
        for tim in &mut self.tim {
            tim.advance(now);
        }
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        let of_uarts = self.uart.iter().map(Stm32Uart::next_event);
        let of_timers = self.tim.iter().map(Stm32Tim::next_event);
        of_uarts.chain(of_timers).min().unwrap_or(Cycles::NEVER)
    }

    fn interrupts(&self) -> [u64; 4] {
        let pending = self.exti.pending();
        self.instances.lines(|block, number| match block {
            Block::Exti => pending & EXTI_LINES[number] != 0,
            Block::Uart(index) => self.uart[index].is_pending(),
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
        // Any reset pulls NRST; earlier flags stay until RMVF (RM0444, RCC_CSR).
        fresh.rcc[CSR] = self.rcc[CSR] & RESET_FLAGS | PINRSTF | flags;
        fresh.rcc[BDCR] = self.rcc[BDCR];
        fresh.set_bus_clocks(anew.now);
        *self = fresh;
    }

    fn sleep_state(&self) -> &'static str {
        "sleep"
    }
}
