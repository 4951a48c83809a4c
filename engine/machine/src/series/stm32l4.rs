//! STM32L4+ (STM32L4Rx): clocks, power control, flash and its controller, GPIO, serial ports, basic and
//! general-purpose timers of 16 bits, and pin interrupts (RM0432).
//!
//! Flash is read without wait states, which the chip allows up to 20 MHz: then its caches have nothing
//! to hide, and are not modelled.

use std::sync::Arc;

use joulemark_armv7m::Width;
use joulemark_kernel::chip::Constant;
use joulemark_kernel::{Chip, ChipError, Cycles, Fault, FaultKind, Memories, Timeline};
use joulemark_peripherals::{Exti, Stm32Tim, Stm32Uart, Stm32l4Flash};

use crate::cores::armv7m::{self, Armv7m};
use crate::cortex_m::instances::{Instance, Instances};
use crate::cortex_m::sections::Core;
use crate::cortex_m::stm32::{Port, clock_is_off, hpre_shift, ppre_divider, without_wait_states};
use crate::cortex_m::{Anew, Context, Made, Peripherals, Reset, lettered};
use crate::series::Series;

/// A peripheral of the series.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// An index into [`Stm32l4::uart`].
    Uart(usize),
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

static INSTANCES: [Instance<Block>; 22] = [
    block("LPUART1", Block::Uart(0), 1),
    block("USART1", Block::Uart(1), 1),
    block("USART2", Block::Uart(2), 1),
    block("USART3", Block::Uart(3), 1),
    block("TIM3", Block::Tim(0), 1),
    block("TIM4", Block::Tim(1), 1),
    block("TIM6", Block::Tim(2), 1),
    block("TIM7", Block::Tim(3), 1),
    block("PWR", Block::Pwr, 0),
    Instance::new("SYSCFG", Block::Syscfg, 0x30, 0),
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

/// Compare channels of TIM3, TIM4, TIM6 and TIM7.
const CHANNELS: [usize; 4] = [4, 4, 0, 0];
/// The mask of EXTI's lines for each of its interrupts: lines 0 to 4, 9 to 5, and 15 to 10.
const EXTI_LINES: [u32; 7] = [1, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 0x03e0, 0xfc00];
const PORTS: usize = 9;

/// MODER after reset: analog, but for the debugger's pins.
const MODES: [u32; PORTS] = {
    let mut modes = [u32::MAX; PORTS];
    modes[0] = 0xabff_ffff;
    modes[1] = 0xffff_febf;
    modes
};

/// Words of RCC.
const CR: usize = 0;
const CFGR: usize = 2;
const PLLCFGR: usize = 3;
const CCIPR: usize = 0x88 / 4;
const BDCR: usize = 0x90 / 4;
const CSR: usize = 0x94 / 4;
const CRRCR: usize = 0x98 / 4;
const RCC_WORDS: usize = 0xa8 / 4;

/// `RCC_CR`: each is followed by its ready bit.
const MSION: u32 = 1;
const HSION: u32 = 1 << 8;
const HSEON: u32 = 1 << 16;
const PLLON: u32 = 1 << 24;
const PLLSAI1ON: u32 = 1 << 26;
const PLLSAI2ON: u32 = 1 << 28;
const MSIRDY: u32 = 1 << 1;
const HSIRDY: u32 = 1 << 10;
const HSERDY: u32 = 1 << 17;
const PLLRDY: u32 = 1 << 25;
const MSIRGSEL: u32 = 1 << 3;
const PLLREN: u32 = 1 << 24;
/// Frequencies of MSI by MSIRANGE.
const MSI_HZ: [u32; 12] = [
    100_000, 200_000, 400_000, 800_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000,
    24_000_000, 32_000_000, 48_000_000,
];
/// MSIRANGE after reset: 4 MHz.
const MSI_AFTER_RESET: usize = 6;
/// HSI16.
const HSI_HZ: u32 = 16_000_000;
/// `RCC_CCIPR`: the clocks of USART1 to USART3 and of LPUART1; 0 is their bus's.
const SERIAL_CLOCKS: u32 = 0x0c3f;
/// `RCC_CSR`: causes of the last resets, and the bit that clears them.
const RMVF: u32 = 1 << 23;
const PINRSTF: u32 = 1 << 26;
const BORRSTF: u32 = 1 << 27;
const SFTRSTF: u32 = 1 << 28;
const RESET_FLAGS: u32 = 0xff00_0000;

/// `FLASH_ACR`.
const LATENCY: u32 = 15;
const ICEN_DCEN: u32 = 3 << 9;
const ACR: u32 = LATENCY | 0x7f00;
/// The fastest clock without wait states, in Range 1 (RM0432, read access latency).
const WITHOUT_WAIT_HZ: u32 = 20_000_000;

/// `PWR_CR1` after reset: Range 1; `PWR_CR5`: no boost of Range 1.
const PWR_CR1: u32 = 0x200;
const PWR_CR5: u32 = 0x100;
const PWR_SR1: usize = 0x10 / 4;
const PWR_SR2: usize = 0x14 / 4;
const PWR_CR5_WORD: usize = 0x80 / 4;
const PWR_WORDS: usize = PWR_CR5_WORD + 1;
/// `PWR_SR2`: the low-power regulator is ready.
const REGLPS: u32 = 1 << 8;

struct Stm32l4 {
    instances: Arc<Instances<Block>>,
    /// LPUART1, then USART1 to USART3.
    uart: [Stm32Uart; 4],
    tim: [Stm32Tim; 4],
    exti: Exti,
    hse_hz: u32,
    rcc: [u32; RCC_WORDS],
    pwr: [u32; PWR_WORDS],
    gpio: [Port; PORTS],
    syscfg: [u32; 12],
    flash_acr: u32,
    flash: Option<Stm32l4Flash>,
}

/// The series.
pub static SERIES: Series = Series {
    name: "stm32l4",
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
    let mut made = Stm32l4::new(instances, core);
    made.set_bus_clocks(Cycles(0));
    Ok((Box::new(made), pins))
}

impl Stm32l4 {
    fn new(instances: Arc<Instances<Block>>, core: &Core) -> Self {
        let flash = core.flash.clone();
        let mut rcc = [0; RCC_WORDS];
        rcc[CR] = (MSI_AFTER_RESET as u32) << 4 | MSION;
        rcc[PLLCFGR] = 0x1000;
        rcc[CSR] = BORRSTF | PINRSTF;
        let mut pwr = [0; PWR_WORDS];
        pwr[0] = PWR_CR1;
        pwr[PWR_CR5_WORD] = PWR_CR5;
        Self {
            instances,
            uart: [
                Stm32Uart::low_power(),
                Stm32Uart::usart(),
                Stm32Uart::usart(),
                Stm32Uart::usart(),
            ],
            tim: CHANNELS.map(Stm32Tim::new),
            exti: Exti::default(),
            hse_hz: core.crystal_hz.as_ref().map_or(0, Constant::whole),
            rcc,
            pwr,
            gpio: MODES.map(|moder| Port::new(moder, true)),
            syscfg: [0; 12],
            flash_acr: ICEN_DCEN,
            flash: flash
                .map(|(range, times)| Stm32l4Flash::new(range, times, core.reset_hz.whole())),
        }
    }

    fn msi_hz(&self) -> u32 {
        let range = if self.rcc[CR] & MSIRGSEL == 0 {
            MSI_AFTER_RESET
        } else {
            (self.rcc[CR] >> 4 & 15) as usize
        };
        MSI_HZ[range.min(MSI_HZ.len() - 1)]
    }

    fn pll_hz(&self) -> u32 {
        let configured = self.rcc[PLLCFGR];
        let input = match configured & 3 {
            1 => self.msi_hz(),
            2 => HSI_HZ,
            3 => self.hse_hz,
            _ => 0,
        };
        let (m, n) = (configured >> 4 & 15, configured >> 8 & 0x7f);
        let r = 2 * ((configured >> 25 & 3) + 1);
        (u64::from(input) * u64::from(n) / u64::from((m + 1) * r)) as u32
    }

    /// The core's clock according to SW and HPRE.
    fn clock_hz(&self) -> Result<u32, Fault> {
        let (cr, cfgr) = (self.rcc[CR], self.rcc[CFGR]);
        let (hz, is_on, name) = match cfgr & 3 {
            0 => (self.msi_hz(), cr & MSION != 0, "MSI"),
            1 => (HSI_HZ, cr & HSION != 0, "HSI16"),
            2 => (self.hse_hz, cr & HSEON != 0, "HSE"),
            _ => {
                let is_out = self.rcc[PLLCFGR] & PLLREN != 0;
                (self.pll_hz(), is_out && cr & PLLON != 0, "PLL")
            }
        };
        if !is_on || hz == 0 {
            return Err(clock_is_off(name));
        }
        let hz = hz >> hpre_shift(cfgr);
        without_wait_states(self.flash_acr & LATENCY, hz, WITHOUT_WAIT_HZ)?;
        Ok(hz)
    }

    /// Give peripherals their bus clocks according to RCC.
    fn set_bus_clocks(&mut self, now: Cycles) {
        let slow = ppre_divider(self.rcc[CFGR], 8);
        for uart in &mut self.uart {
            uart.divider = slow;
        }
        self.uart[1].divider = ppre_divider(self.rcc[CFGR], 11);
        // Timers run at twice the bus clock if that is divided (RM0432, timer clock).
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
            CR => {
                let ready = [
                    (MSION, MSIRDY),
                    (HSION, HSIRDY),
                    (HSEON, HSERDY),
                    (PLLON, PLLRDY),
                    (PLLSAI1ON, PLLSAI1ON << 1),
                    (PLLSAI2ON, PLLSAI2ON << 1),
                ];
                let all = ready.iter().fold(0, |all, (_, bit)| all | bit);
                let on = ready.iter().filter(|(on, _)| value & on != 0);
                value & !all | on.fold(0, |shown, (_, bit)| shown | bit)
            }
            CFGR => value & !0xc | (value & 3) << 2,
            BDCR | CSR | CRRCR => value & !2 | (value & 1) << 1,
            _ => value,
        }
    }
}

impl Peripherals for Stm32l4 {
    fn serial_ports(&self) -> &'static [&'static str] {
        &["LPUART1", "USART1", "USART2", "USART3"][..self.instances.run(Block::Uart)]
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
                PWR_SR2 => Some(REGLPS),
                _ => self.pwr.get(word).copied(),
            },
            Block::Syscfg => match word {
                2..=5 => Some(self.exti.exticr(word - 2)),
                _ => self.syscfg.get(word).copied(),
            },
            Block::Exti => self.exti.read(offset),
            Block::Rcc => (word < RCC_WORDS).then(|| self.read_rcc(word)),
            Block::Flash if offset == 0 => Some(self.flash_acr),
            Block::Flash => self.flash.as_ref().and_then(|flash| flash.read(offset)),
        })
    }

    fn write(
        &mut self,
        address: u32,
        value: u32,
        context: &mut Context<'_>,
    ) -> Result<bool, Fault> {
        if let Some(flash) = &mut self.flash
            && flash.has(address)
        {
            return flash.store(address, value).map(|()| true);
        }
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
            Block::Flash => {
                let flash = self.flash.as_mut();
                return flash.map_or(Ok(false), |flash| flash.write(offset, value, context.now));
            }
            Block::Rcc => return Ok(false),
        }
        Ok(true)
    }

    fn takes_flash_stores(&self, width: Width) -> bool {
        let flash = self.flash.as_ref();
        width == Width::Word && flash.is_some_and(Stm32l4Flash::takes_stores)
    }

    fn flash_state(&self) -> Option<&'static str> {
        self.flash.as_ref().and_then(Stm32l4Flash::power_state)
    }

    fn flash_waits(&self) -> bool {
        true
    }

    fn flash_held_until(&self) -> Cycles {
        let flash = self.flash.as_ref();
        flash.map_or(Cycles(0), Stm32l4Flash::busy_until)
    }

    fn read_torn(&mut self, address: u32) {
        if let Some(flash) = &mut self.flash {
            flash.read_torn(address);
        }
    }

    fn nmi(&self) -> bool {
        self.flash.as_ref().is_some_and(Stm32l4Flash::raises_nmi)
    }

    fn transfer(
        &mut self,
        memory: &mut dyn Memories,
        now: Cycles,
        _timeline: &Timeline,
    ) -> Result<bool, Fault> {
        let flash = self.flash.as_mut();
        flash.map_or(Ok(false), |flash| flash.transfer(memory, now))
    }

    fn clock_changed(&mut self, now: Cycles, core_hz: u32) {
        if let Some(flash) = &mut self.flash {
            flash.set_clock(now, core_hz);
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
        let of_flash = self.flash.as_ref().map(Stm32l4Flash::next_event);
        let all = of_uarts.chain(of_timers).chain(of_flash);
        all.min().unwrap_or(Cycles::NEVER)
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
        // Any reset pulls NRST; earlier flags stay until RMVF (RM0432, RCC_CSR).
        fresh.rcc[CSR] = self.rcc[CSR] & RESET_FLAGS | PINRSTF | flags;
        fresh.rcc[BDCR] = self.rcc[BDCR];
        fresh.set_bus_clocks(anew.now);
        *self = fresh;
    }

    fn sleep_state(&self) -> &'static str {
        "sleep"
    }
}
