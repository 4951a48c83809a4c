//! STM32F100: RCC, power control, flash access control, GPIO, USARTs, timers, watchdogs and
//! real-time clock (RM0041). Addresses and interrupt lines were compared with ST's header
//! `stm32f100xb.h`.

use joulemark_kernel::chip::Constant;
use joulemark_kernel::{Cycles, Fault, FaultKind, FineHertz, Hertz, Picoseconds};
use joulemark_peripherals::{Exti, Iwdg, Stm32Rtc, Stm32Tim, Stm32Usart, Wwdg};

use crate::cores::armv7m::{self, Armv7m};
use crate::cortex_m::sections::Core;
use crate::cortex_m::{Anew, Context, Peripherals, Reset, lettered};
use crate::pins::PinNames;
use crate::series::Series;

const USART: [u32; 3] = [0x4001_3800, 0x4000_4400, 0x4000_4800];
/// The USARTs' interrupt lines.
const USART_LINE: [u32; 3] = [37, 38, 39];
/// TIM2, TIM3, TIM4, TIM6 and TIM7: addresses, compare channels and interrupt lines.
const TIM: [(u32, usize, usize); 5] = [
    (0x4000_0000, 4, 28),
    (0x4000_0400, 4, 29),
    (0x4000_0800, 4, 30),
    (0x4000_1000, 0, 54),
    (0x4000_1400, 0, 55),
];
const RTC: u32 = 0x4000_2800;
const RTC_LINE: usize = 3;
const WWDG: u32 = 0x4000_2c00;
const WWDG_LINE: usize = 0;
const IWDG: u32 = 0x4000_3000;
const PWR_CR: u32 = 0x4000_7000;
const PWR_CSR: u32 = 0x4000_7004;
const DBP: u32 = 1 << 8;
/// `PWR_CR`: low-power regulator in Stop mode; deep sleep is Standby.
const LPDS: u32 = 1;
const PDDS: u32 = 1 << 1;
/// `PWR_CSR`: the WKUP pin, PA0, wakes from Standby.
const EWUP: u32 = 1 << 8;
/// `AFIO_MAPR` and `AFIO_MAPR2` select the pins of peripherals, which has no effect here; in the
/// former, `SWJ_CFG` is write-only (RM0041, AFIO).
const AFIO_MAPR: u32 = 0x4001_0004;
const SWJ_CFG: u32 = 7 << 24;
const AFIO_MAPR2: u32 = 0x4001_001c;
const AFIO_EXTICR1: u32 = 0x4001_0008;
const AFIO_EXTICR4: u32 = 0x4001_0014;
const EXTI: u32 = 0x4001_0400;
/// Interrupt lines, and the mask of EXTI lines of each.
const EXTI_LINES: [(usize, u32); 8] = [
    (6, 1),
    (7, 1 << 1),
    (8, 1 << 2),
    (9, 1 << 3),
    (10, 1 << 4),
    (23, 0x03e0),
    (40, 0xfc00),
    (41, 1 << 17),
];
const GPIOA: u32 = 0x4001_0800;
const RCC: u32 = 0x4002_1000;
const FLASH_ACR: u32 = 0x4002_2000;

/// Indices of `RCC_CFGR`, `RCC_BDCR`, `RCC_CSR` and `RCC_CFGR2`.
const CFGR: usize = 1;
const BDCR: usize = 8;
const CSR: usize = 9;
const CFGR2: usize = 11;
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

pub struct Stm32f1 {
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
    check: |chip| Core::of(chip).map(drop),
    make: |chip, image, options| Ok(Box::new(Armv7m::new(chip, image, options, make)?)),
};

/// Make the peripherals of a chip of this series, and its pin names.
fn make(core: &Core, _setting: &dyn Fn(&str) -> u32) -> (Box<dyn Peripherals>, PinNames) {
    let crystal_hz = core.crystal_hz.as_ref().map_or(0, Constant::whole);
    let peripherals = Stm32f1::new(core.reset_hz.whole(), crystal_hz, core.low_hz.whole());
    (Box::new(peripherals), lettered(&[16; 5]))
}

impl Stm32f1 {
    pub fn new(hsi_hz: u32, hse_hz: u32, lsi_hz: u32) -> Self {
        let mut rcc = [0; 12];
        rcc[0] = 0x80 | HSION;
        rcc[5] = 0x14;
        rcc[CSR] = PORRSTF | PINRSTF;
        Self {
            usart: Default::default(),
            tim: TIM.map(|(_, channels, _)| Stm32Tim::new(channels)),
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
            return Err(Fault::new(
                FaultKind::Peripheral,
                format!("RCC_CFGR selects {name} as the system clock while it is off"),
            ));
        }
        // HPRE: 0xxx none, 1000 to 1011 by 2 to 16, 1100 to 1111 by 64 to 512.
        let prescaler = cfgr >> 4 & 15;
        let shift = match prescaler {
            0..=7 => 0,
            8..=11 => prescaler - 7,
            _ => prescaler - 6,
        };
        Ok(hz >> shift)
    }

    /// PPRE: 0xx none, 100 to 111 by 2 to 16.
    fn bus_divider(&self, shift: u32) -> u32 {
        let field = self.rcc[1] >> shift & 7;
        if field < 4 { 1 } else { 1 << (field - 3) }
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
        self.usart[0].divider = self.bus_divider(11);
        let slow = self.bus_divider(8);
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

    fn gpio(address: u32) -> Option<(usize, u32)> {
        let offset = address.checked_sub(GPIOA)?;
        (offset < 5 * 0x400).then_some((offset as usize / 0x400, offset % 0x400))
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
        &["USART1", "USART2", "USART3"]
    }

    fn read(&mut self, address: u32, context: &mut Context<'_>) -> Result<Option<u32>, Fault> {
        if let Some(index) = USART.iter().position(|&base| base == address & !0x3ff) {
            return Ok(self.usart[index].read(address & 0x3ff));
        }
        if let Some((port, offset)) = Self::gpio(address) {
            return Ok(match offset {
                0 | 4 => Some(self.configuration[port][offset as usize / 4]),
                8 => Some(context.pins.level(port)),
                0xc => Some(context.pins.output[port]),
                0x10 | 0x14 | 0x18 => Some(0),
                _ => None,
            });
        }
        if let Some(index) = TIM.iter().position(|&(base, ..)| base == address & !0x3ff) {
            return Ok(self.tim[index].read(address & 0x3ff, context.now));
        }
        Ok(match address {
            RTC..WWDG => self.rtc.read(address - RTC, context.now),
            WWDG..IWDG => self.wwdg.read(address - WWDG, context.now),
            IWDG..0x4000_3400 => self.iwdg.read(address - IWDG),
            AFIO_EXTICR1..=AFIO_EXTICR4 => {
                Some(self.exti.exticr((address - AFIO_EXTICR1) as usize / 4))
            }
            AFIO_MAPR => Some(self.remapped[0]),
            AFIO_MAPR2 => Some(self.remapped[1]),
            EXTI..GPIOA => self.exti.read(address - EXTI),
            PWR_CR => Some(self.pwr_cr),
            PWR_CSR => Some(self.pwr_csr),
            // Oscillators are ready, and selections effective, at once.
            RCC => {
                let cr = self.rcc[0];
                Some(cr | (cr & (HSION | HSEON | PLLON)) << 1)
            }
            0x4002_1004 => Some(self.rcc[1] & !0xc | (self.rcc[1] & 3) << 2),
            0x4002_1020 | 0x4002_1024 => {
                let value = self.rcc[(address - RCC) as usize / 4];
                Some(value | (value & 1) << 1)
            }
            0x4002_1008..=0x4002_101c | 0x4002_102c => Some(self.rcc[(address - RCC) as usize / 4]),
            FLASH_ACR => Some(self.flash_acr),
            _ => None,
        })
    }

    fn write(
        &mut self,
        address: u32,
        value: u32,
        context: &mut Context<'_>,
    ) -> Result<bool, Fault> {
        if let Some(index) = USART.iter().position(|&base| base == address & !0x3ff) {
            return self.usart[index].write(address & 0x3ff, value, context.now);
        }
        if let Some((port, offset)) = Self::gpio(address) {
            let output = &mut context.pins.output[port];
            match offset {
                0 | 4 => {
                    self.configuration[port][offset as usize / 4] = value;
                    context.pins.enabled[port] = Self::outputs(self.configuration[port]);
                }
                0xc => *output = value & 0xffff,
                // Set takes precedence over reset.
                0x10 => *output = *output & !(value >> 16) | value & 0xffff,
                0x14 => *output &= !(value & 0xffff),
                _ => return Ok(false),
            }
            return Ok(true);
        }
        if let Some(index) = TIM.iter().position(|&(base, ..)| base == address & !0x3ff) {
            return self.tim[index].write(address & 0x3ff, value, context.now);
        }
        match address {
            RTC..WWDG => return self.rtc.write(address - RTC, value, context.now),
            WWDG..IWDG => return self.wwdg.write(address - WWDG, value, context.now),
            IWDG..0x4000_3400 => return self.iwdg.write(address - IWDG, value, context.now),
            AFIO_EXTICR1..=AFIO_EXTICR4 => {
                let index = (address - AFIO_EXTICR1) as usize / 4;
                self.exti.set_exticr(index, value);
            }
            AFIO_MAPR => self.remapped[0] = value & !SWJ_CFG,
            AFIO_MAPR2 => self.remapped[1] = value,
            EXTI..GPIOA => return self.exti.write(address - EXTI, value),
            PWR_CR => self.pwr_cr = value & 0x1f3,
            PWR_CSR => self.pwr_csr = value & EWUP,
            RCC..=0x4002_1024 | 0x4002_102c => {
                self.write_rcc((address - RCC) as usize / 4, value, context)?;
            }
            FLASH_ACR => self.flash_acr = value & 8,
            _ => return Ok(false),
        }
        Ok(true)
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
            ])
            .min()
            .unwrap_or(Cycles::NEVER)
    }

    fn interrupts(&self) -> [u64; 4] {
        let mut lines = 0;
        let pending = self.exti.pending();
        for (line, mask) in EXTI_LINES {
            lines |= u64::from(pending & mask != 0) << line;
        }
        match self.deep {
            Deep::No => {}
            // Nothing else wakes the core (RM0041, power control, exit from Stop mode).
            Deep::Stop => return [lines, 0, 0, 0],
            Deep::Standby => return [0; 4],
        }
        lines |= u64::from(self.rtc.is_pending()) << RTC_LINE
            | u64::from(self.wwdg.is_pending()) << WWDG_LINE;
        for (usart, line) in self.usart.iter().zip(USART_LINE) {
            lines |= u64::from(usart.is_pending()) << line;
        }
        for (tim, (_, _, line)) in self.tim.iter().zip(TIM) {
            lines |= u64::from(tim.is_pending()) << line;
        }
        [lines, 0, 0, 0]
    }

    fn reset(&mut self, anew: &Anew<'_>) {
        let flags = match anew.cause {
            Reset::Software => SFTRSTF,
            Reset::Watchdog if self.iwdg.next_event() <= anew.now => IWDGRSTF,
            Reset::Watchdog => WWDGRSTF,
        };
        let crystal_hz = self.hse_hz;
        let mut fresh = Self::new(self.hsi_hz, crystal_hz, self.lsi_hz);
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
