//! STM32F100: RCC, power control, flash access control, GPIO, USARTs, timers, watchdogs and
//! real-time clock (RM0041).

use std::sync::Arc;

use joulemark_armv7m::Width;
use joulemark_kernel::chip::Constant;
use joulemark_kernel::{
    Chip, ChipError, Cycles, Fault, FaultKind, FineHertz, Hertz, Memories, Picoseconds, Timeline,
};
use joulemark_peripherals::{Exti, Iwdg, Stm32Flash, Stm32Rtc, Stm32Tim, Stm32Usart, Wwdg};

use crate::cores::armv7m::{self, Armv7m};
use crate::cortex_m::instances::{Instance, Instances};
use crate::cortex_m::sections::Core;
use crate::cortex_m::stm32::{clock_is_off, hpre_shift, ppre_divider};
use crate::cortex_m::{Anew, Context, Made, Peripherals, Reset, lettered};
use crate::series::Series;

/// A peripheral of the series.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Usart(usize),
    /// An index into [`CHANNELS`].
    Tim(usize),
    Rtc,
    Wwdg,
    Iwdg,
    Pwr,
    Afio,
    Exti,
    Gpio(usize),
    Rcc,
    Flash,
}

const fn block(name: &'static str, block: Block, interrupts: usize) -> Instance<Block> {
    Instance::new(name, block, 0x400, interrupts)
}

static INSTANCES: [Instance<Block>; 21] = [
    block("USART1", Block::Usart(0), 1),
    block("USART2", Block::Usart(1), 1),
    block("USART3", Block::Usart(2), 1),
    block("TIM2", Block::Tim(0), 1),
    block("TIM3", Block::Tim(1), 1),
    block("TIM4", Block::Tim(2), 1),
    block("TIM6", Block::Tim(3), 1),
    block("TIM7", Block::Tim(4), 1),
    block("RTC", Block::Rtc, 1),
    block("WWDG", Block::Wwdg, 1),
    block("IWDG", Block::Iwdg, 0),
    block("PWR", Block::Pwr, 0),
    block("AFIO", Block::Afio, 0),
    block("EXTI", Block::Exti, EXTI_LINES.len()),
    block("GPIOA", Block::Gpio(0), 0).port(),
    block("GPIOB", Block::Gpio(1), 0).port(),
    block("GPIOC", Block::Gpio(2), 0).port(),
    block("GPIOD", Block::Gpio(3), 0).port(),
    block("GPIOE", Block::Gpio(4), 0).port(),
    block("RCC", Block::Rcc, 0),
    block("FLASH", Block::Flash, 0),
];

/// Compare channels of TIM2, TIM3, TIM4, TIM6 and TIM7.
const CHANNELS: [usize; 5] = [4, 4, 4, 0, 0];
/// The mask of EXTI's lines for each of its interrupts: lines 0 to 4, 9 to 5, 15 to 10, and the
/// alarm.
const EXTI_LINES: [u32; 8] = [1, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 0x03e0, 0xfc00, 1 << 17];

/// Offsets in PWR.
const PWR_CR: u32 = 0;
const PWR_CSR: u32 = 4;
const DBP: u32 = 1 << 8;
/// `PWR_CR`: low-power regulator in Stop mode; deep sleep is Standby.
const LPDS: u32 = 1;
const PDDS: u32 = 1 << 1;
/// `PWR_CSR`: the WKUP pin, PA0, wakes from Standby.
const EWUP: u32 = 1 << 8;
/// `AFIO_MAPR` and `AFIO_MAPR2` select the pins of peripherals, which has no effect here; in the
/// former, `SWJ_CFG` is write-only (RM0041, AFIO).
const AFIO_MAPR: u32 = 0x04;
const SWJ_CFG: u32 = 7 << 24;
const AFIO_MAPR2: u32 = 0x1c;
const AFIO_EXTICR1: u32 = 0x08;
const AFIO_EXTICR4: u32 = 0x14;

/// Indices of `RCC_CFGR`, `RCC_BDCR`, `RCC_CSR` and `RCC_CFGR2`.
const CFGR: usize = 1;
const BDCR: usize = 8;
const CSR: usize = 9;
const CFGR2: usize = 11;
/// Indices of registers that hold what is written: `RCC_CIR` to `RCC_APB1ENR`, and `RCC_CFGR2`.
const HELD: [usize; 7] = [2, 3, 4, 5, 6, 7, CFGR2];
/// The watch crystal of the real-time clock (RM0041, LSE clock).
const LSE: Hertz = Hertz(32_768);

/// `RCC_CR` and `RCC_CFGR`.
const SW: u32 = 3;
const HSION: u32 = 1;
const HSEON: u32 = 1 << 16;
const PLLON: u32 = 1 << 24;
const PLLSRC: u32 = 1 << 16;
/// The lowest bit of PREDIV1, which `RCC_CFGR2` has too.
const PLLXTPRE: u32 = 1 << 17;

/// `RCC_CSR`: causes of the last resets, and the bit that clears them.
const RMVF: u32 = 1 << 24;
const PINRSTF: u32 = 1 << 26;
const PORRSTF: u32 = 1 << 27;
const SFTRSTF: u32 = 1 << 28;
const IWDGRSTF: u32 = 1 << 29;
const WWDGRSTF: u32 = 1 << 30;
const RESET_FLAGS: u32 = 0xfc00_0000;

/// Deep sleep (RM0041, power control, low-power modes).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deep {
    No,
    /// Only the clocks of the real-time clock and the independent watchdog run.
    Stop,
    /// A wake-up resets the chip.
    Standby,
}

struct Stm32f1 {
    instances: Arc<Instances<Block>>,
    usart: [Stm32Usart; 3],
    tim: [Stm32Tim; 5],
    rtc: Stm32Rtc,
    wwdg: Wwdg,
    iwdg: Iwdg,
    pwr_cr: u32,
    pwr_csr: u32,
    deep: Deep,
    /// What woke the chip from Standby.
    woken_by: Option<&'static str>,
    lsi_hz: u32,
    core_hz: u32,
    hsi_hz: u32,
    hse_hz: u32,
    lse: FineHertz,
    /// RCC registers by word: CR, CFGR, ...
    rcc: [u32; 12],
    flash_acr: u32,
    flash: Option<Stm32Flash>,
    exti: Exti,
    /// CRL and CRH of each port.
    configuration: [[u32; 2]; 5],
    /// `AFIO_MAPR` and `AFIO_MAPR2`.
    remapped: [u32; 2],
}

/// The series.
pub static SERIES: Series = Series {
    name: "stm32f1",
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
    Ok((Box::new(Stm32f1::new(instances, core)), pins))
}

impl Stm32f1 {
    fn new(instances: Arc<Instances<Block>>, core: &Core) -> Self {
        let (hsi_hz, lsi_hz) = (core.reset_hz.whole(), core.low_hz.whole());
        let hse_hz = core.crystal_hz.as_ref().map_or(0, Constant::whole);
        let flash = core.flash.clone();
        let mut rcc = [0; 12];
        rcc[0] = 0x80 | HSION;
        rcc[5] = 0x14;
        rcc[CSR] = PORRSTF | PINRSTF;
        Self {
            instances,
            usart: Default::default(),
            tim: CHANNELS.map(Stm32Tim::new),
            rtc: Stm32Rtc::default(),
            wwdg: Wwdg::default(),
            iwdg: Iwdg::new(hsi_hz, lsi_hz),
            pwr_cr: 0,
            pwr_csr: 0,
            deep: Deep::No,
            woken_by: None,
            lsi_hz,
            core_hz: hsi_hz,
            hsi_hz,
            hse_hz,
            lse: LSE.into(),
            rcc,
            flash_acr: 0,
            flash: flash.map(|(range, times)| Stm32Flash::new(range, times, hsi_hz)),
            exti: Exti::default(),
            configuration: [[0x4444_4444; 2]; 5],
            remapped: [0; 2],
        }
    }

    fn pll_hz(&self) -> u32 {
        let cfgr = self.rcc[1];
        let input = if cfgr & PLLSRC != 0 {
            self.hse_hz / ((self.rcc[CFGR2] & 15) + 1)
        } else {
            self.hsi_hz / 2
        };
        input * ((cfgr >> 18 & 15) + 2).min(16)
    }

    /// The core's clock according to SW and HPRE.
    fn clock_hz(&self) -> Result<u32, Fault> {
        let (cr, cfgr) = (self.rcc[0], self.rcc[1]);
        let (hz, on, name) = match cfgr & 3 {
            0 => (self.hsi_hz, cr & HSION, "HSI"),
            1 => (self.hse_hz, cr & HSEON, "HSE"),
            _ => (self.pll_hz(), cr & PLLON, "PLL"),
        };
        if on == 0 {
            return Err(clock_is_off(name));
        }
        Ok(hz >> hpre_shift(cfgr))
    }

    fn write_rcc(
        &mut self,
        index: usize,
        value: u32,
        context: &mut Context<'_>,
    ) -> Result<(), Fault> {
        if index == BDCR && self.pwr_cr & DBP == 0 {
            return Err(Fault::new(
                FaultKind::Peripheral,
                "RCC_BDCR is written while PWR_CR.DBP is clear, and nothing happens",
            ));
        }
        self.rcc[index] = match index {
            CSR if value & RMVF != 0 => value & 1,
            CSR => self.rcc[CSR] & RESET_FLAGS | value & 1,
            _ => value,
        };
        // The same bit is in both registers: a write to one shows in the other.
        match index {
            CFGR => {
                self.rcc[CFGR2] = self.rcc[CFGR2] & !1 | u32::from(value & PLLXTPRE != 0);
            }
            CFGR2 => {
                let low = if value & 1 == 0 { 0 } else { PLLXTPRE };
                self.rcc[CFGR] = self.rcc[CFGR] & !PLLXTPRE | low;
            }
            _ => {}
        }
        if index == BDCR {
            self.set_rtc_clock(context.now);
        }
        if matches!(index, 0 | CFGR | CFGR2) {
            context.clock_hz = Some(self.clock_hz()?);
            self.set_bus_clocks(context.now);
        }
        Ok(())
    }

    /// Give peripherals their bus clocks according to RCC, or none in deep sleep.
    fn set_bus_clocks(&mut self, now: Cycles) {
        self.usart[0].divider = ppre_divider(self.rcc[CFGR], 11);
        let slow = ppre_divider(self.rcc[CFGR], 8);
        self.usart[1].divider = slow;
        self.usart[2].divider = slow;
        let runs = u64::from(self.deep == Deep::No);
        // Timers run at twice the bus clock if that is divided (RM0041, clock tree).
        let of_timers = if slow == 1 { runs } else { 2 * runs };
        for tim in &mut self.tim {
            tim.set_clock(of_timers, slow.into(), now);
        }
        self.wwdg.set_clock(runs, slow.into(), now);
    }

    /// RTCSEL: none, LSE, LSI, HSE / 128.
    fn set_rtc_clock(&mut self, now: Cycles) {
        let bdcr = self.rcc[BDCR];
        let clock = match bdcr >> 8 & 3 {
            _ if bdcr & 1 << 15 == 0 => None,
            1 if bdcr & 1 != 0 => Some(self.lse),
            2 if self.rcc[CSR] & 1 != 0 => Some(Hertz(self.lsi_hz).into()),
            3 if self.deep == Deep::No => Some(Hertz(self.hse_hz / 128).into()),
            _ => None,
        };
        self.rtc.set_clock(clock, Hertz(self.core_hz), now);
    }

    /// Return the pins that are outputs: MODE is not 0 and CNF's high bit, which would give the pin
    /// to a peripheral, is clear.
    fn outputs(configuration: [u32; 2]) -> u32 {
        (0..16).fold(0, |outputs, bit| {
            let field = configuration[bit / 8] >> (bit % 8 * 4) & 15;
            outputs | u32::from(field & 3 != 0 && field & 8 == 0) << bit
        })
    }
}

impl Peripherals for Stm32f1 {
    fn serial_ports(&self) -> &'static [&'static str] {
        &["USART1", "USART2", "USART3"][..self.instances.run(Block::Usart)]
    }

    fn read(&mut self, address: u32, context: &mut Context<'_>) -> Result<Option<u32>, Fault> {
        let Some((block, offset)) = self.instances.find(address) else {
            return Ok(None);
        };
        let word = offset as usize / 4;
        Ok(match block {
            Block::Usart(index) => self.usart[index].read(offset),
            Block::Gpio(port) => match offset {
                0 | 4 => Some(self.configuration[port][word]),
                8 => Some(context.pins.level(port)),
                0xc => Some(context.pins.output[port]),
                0x10 | 0x14 | 0x18 => Some(0),
                _ => None,
            },
            Block::Tim(index) => self.tim[index].read(offset, context.now),
            Block::Rtc => self.rtc.read(offset, context.now),
            Block::Wwdg => self.wwdg.read(offset, context.now),
            Block::Iwdg => self.iwdg.read(offset),
            Block::Afio => match offset {
                AFIO_EXTICR1..=AFIO_EXTICR4 => {
                    Some(self.exti.exticr((offset - AFIO_EXTICR1) as usize / 4))
                }
                AFIO_MAPR => Some(self.remapped[0]),
                AFIO_MAPR2 => Some(self.remapped[1]),
                _ => None,
            },
            Block::Exti => self.exti.read(offset),
            Block::Pwr => match offset {
                PWR_CR => Some(self.pwr_cr),
                PWR_CSR => Some(self.pwr_csr),
                _ => None,
            },
            // Oscillators are ready, and selections effective, at once.
            Block::Rcc => match word {
                0 => {
                    let cr = self.rcc[0];
                    Some(cr | (cr & (HSION | HSEON | PLLON)) << 1)
                }
                CFGR => Some(self.rcc[CFGR] & !0xc | (self.rcc[CFGR] & 3) << 2),
                BDCR | CSR => {
                    let value = self.rcc[word];
                    Some(value | (value & 1) << 1)
                }
                _ if HELD.contains(&word) => Some(self.rcc[word]),
                _ => None,
            },
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
        let Some((block, offset)) = self.instances.find(address) else {
            return Ok(false);
        };
        let word = offset as usize / 4;
        match block {
            Block::Usart(index) => return self.usart[index].write(offset, value, context.now),
            Block::Gpio(port) => {
                let output = &mut context.pins.output[port];
                match offset {
                    0 | 4 => {
                        self.configuration[port][word] = value;
                        context.pins.enabled[port] = Self::outputs(self.configuration[port]);
                    }
                    0xc => *output = value & 0xffff,
                    // Set takes precedence over reset.
                    0x10 => *output = *output & !(value >> 16) | value & 0xffff,
                    0x14 => *output &= !(value & 0xffff),
                    _ => return Ok(false),
                }
            }
            Block::Tim(index) => return self.tim[index].write(offset, value, context.now),
            Block::Rtc => return self.rtc.write(offset, value, context.now),
            Block::Wwdg => return self.wwdg.write(offset, value, context.now),
            Block::Iwdg => return self.iwdg.write(offset, value, context.now),
            Block::Afio => match offset {
                AFIO_EXTICR1..=AFIO_EXTICR4 => {
                    let index = (offset - AFIO_EXTICR1) as usize / 4;
                    self.exti.set_exticr(index, value);
                }
                AFIO_MAPR => self.remapped[0] = value & !SWJ_CFG,
                AFIO_MAPR2 => self.remapped[1] = value,
                _ => return Ok(false),
            },
            Block::Exti => return self.exti.write(offset, value),
            Block::Pwr => match offset {
                PWR_CR => self.pwr_cr = value & 0x1f3,
                PWR_CSR => self.pwr_csr = value & EWUP,
                _ => return Ok(false),
            },
            Block::Rcc => {
                if !(word <= CSR || HELD.contains(&word)) {
                    return Ok(false);
                }
                self.write_rcc(word, value, context)?;
            }
            Block::Flash if offset == 0 => self.flash_acr = value & 8,
            Block::Flash => {
                let flash = self.flash.as_mut();
                return flash.map_or(Ok(false), |flash| flash.write(offset, value, context.now));
            }
        }
        Ok(true)
    }

    fn write_part(&mut self, address: u32, value: u32, width: Width) -> bool {
        let flash = self.flash.as_mut();
        width == Width::Half && flash.is_some_and(|flash| flash.store(address, value))
    }

    fn takes_flash_stores(&self, width: Width) -> bool {
        let flash = self.flash.as_ref();
        width == Width::Half && flash.is_some_and(Stm32Flash::takes_stores)
    }

    fn flash_held_until(&self) -> Cycles {
        self.flash
            .as_ref()
            .map_or(Cycles(0), Stm32Flash::busy_until)
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

    fn pins_changed(&mut self, port: usize, level: u32, changed: u32) -> bool {
        self.exti.pins_changed(port, level, changed);
        let rises = port == 0 && level & changed & 1 != 0;
        if self.deep == Deep::Standby && self.pwr_csr & EWUP != 0 && rises {
            self.woken_by = Some("the pin WKUP (PA0)");
        }
        self.exti.pending() != 0 || self.woken_by.is_some()
    }

    fn put_serial(&mut self, port: usize, bytes: &[u8]) {
        // A USART without a clock misses them.
        if self.deep == Deep::No {
            self.usart[port].put(bytes);
        }
    }

    fn advance(
        &mut self,
        now: Cycles,
        sent: &mut dyn FnMut(usize, u8, Cycles),
    ) -> Result<(), Fault> {
        if self.deep == Deep::No {
            for (port, usart) in self.usart.iter_mut().enumerate() {
                usart.advance(now, |byte, at| sent(port, byte, at));
            }
        }
        for tim in &mut self.tim {
            tim.advance(now);
        }
        self.rtc.advance(now);
        if self.rtc.take_alarm() {
            self.exti.alarm();
            if self.deep == Deep::Standby {
                self.woken_by = Some("the real-time clock's alarm");
            }
        }
        if let Some(source) = self.woken_by {
            return Err(Fault::new(
                FaultKind::Absent,
                format!("the chip wakes from Standby by {source}: a reset, which ends the run"),
            ));
        }
        self.wwdg.advance(now)?;
        self.iwdg.advance(now)
    }

    fn clock_changed(&mut self, now: Cycles, core_hz: u32) {
        self.core_hz = core_hz;
        if let Some(flash) = &mut self.flash {
            flash.set_clock(now, core_hz);
        }
        self.iwdg.set_core_hz(core_hz, self.lsi_hz, now);
        self.set_rtc_clock(now);
    }

    fn set_watch_crystal(&mut self, ppb: i32, now: Cycles, _time: Picoseconds) {
        self.lse = FineHertz::new(LSE, ppb);
        self.set_rtc_clock(now);
    }

    fn next_event(&self) -> Cycles {
        let clocked = self.usart.iter().filter(|_| self.deep == Deep::No);
        clocked
            .map(Stm32Usart::next_event)
            .chain(self.tim.iter().map(Stm32Tim::next_event))
            .chain([
                self.rtc.next_event(),
                self.wwdg.next_event(),
                self.iwdg.next_event(),
                self.flash
                    .as_ref()
                    .map_or(Cycles::NEVER, Stm32Flash::next_event),
            ])
            .min()
            .unwrap_or(Cycles::NEVER)
    }

    fn interrupts(&self) -> [u64; 4] {
        if self.deep == Deep::Standby {
            return [0; 4];
        }
        let (pending, runs) = (self.exti.pending(), self.deep == Deep::No);
        self.instances.lines(|block, number| match block {
            Block::Exti => pending & EXTI_LINES[number] != 0,
            // Nothing else wakes the core (RM0041, power control, exit from Stop mode).
            _ if !runs => false,
            Block::Rtc => self.rtc.is_pending(),
            Block::Wwdg => self.wwdg.is_pending(),
            Block::Usart(index) => self.usart[index].is_pending(),
            Block::Tim(index) => self.tim[index].is_pending(),
            _ => false,
        })
    }

    fn reset(&mut self, anew: &Anew<'_>) {
        let flags = match anew.cause {
            Reset::Software => SFTRSTF,
            Reset::Watchdog if self.iwdg.next_event() <= anew.now => IWDGRSTF,
            Reset::Watchdog => WWDGRSTF,
        };
        let mut fresh = Self::new(Arc::clone(&self.instances), anew.core);
        // Any reset pulls NRST; earlier flags stay until RMVF (RM0041, RCC_CSR).
        fresh.rcc[CSR] = self.rcc[CSR] & RESET_FLAGS | PINRSTF | flags;
        // A reset spares the backup domain (RM0041, resets), but not the interrupt enables of its
        // clock.
        fresh.rcc[BDCR] = self.rcc[BDCR];
        fresh.rtc = std::mem::take(&mut self.rtc);
        let _ = fresh.rtc.write(0, 0, anew.now);
        fresh.lse = self.lse;
        *self = fresh;
    }

    fn sleep_state(&self) -> &'static str {
        "sleep"
    }

    fn deep_sleep(&mut self, context: &mut Context<'_>) -> Result<&'static str, Fault> {
        if self.usart.iter().any(Stm32Usart::is_sending) {
            return Err(Fault::new(
                FaultKind::Peripheral,
                "a USART is sending when Stop or Standby mode begins, and the byte is cut off; wait for \
                 USART_SR.TC",
            ));
        }
        let (deep, state) = match self.pwr_cr & (PDDS | LPDS) {
            0 => (Deep::Stop, "stop-regulator-on"),
            LPDS => (Deep::Stop, "stop"),
            _ => (Deep::Standby, "standby"),
        };
        self.deep = deep;
        self.set_bus_clocks(context.now);
        self.set_rtc_clock(context.now);
        Ok(state)
    }

    fn wake(&mut self, context: &mut Context<'_>) {
        self.deep = Deep::No;
        // The core continues on the internal oscillator, with the others off (RM0041, Stop mode).
        self.rcc[0] = self.rcc[0] & !(HSEON | PLLON) | HSION;
        self.rcc[1] &= !SW;
        context.clock_hz = self.clock_hz().ok();
        self.set_bus_clocks(context.now);
        self.set_rtc_clock(context.now);
    }
}
