//! `CC26x0`: UART, GPIO, I/O configuration, timers, watchdog, random numbers, real-time clock, PRCM and
//! VIMS (SWCU117). Addresses and interrupt lines were compared with TI's headers `hw_memmap.h` and
//! `hw_ints.h`.

use std::ops::RangeInclusive;

use joulemark_armv7m::MemorySettings;
use joulemark_kernel::{Cycles, Fault, FaultKind, Memories, Timeline};
use joulemark_peripherals::ti_aes::{Features, TiAes};
use joulemark_peripherals::{AonRtc, Gpt, Pl011, TiWatchdog, Trng};

use super::sections::Core;
use super::{Context, PLAIN_PINS, Peripherals};
use crate::pins::PinNames;

const GPRAM: RangeInclusive<u32> = 0x1100_0000..=0x1100_1fff;
const UART0: u32 = 0x4000_1000;
const GPT0: u32 = 0x4001_0000;
const GPT3: u32 = 0x4001_3000;
const GPIO: u32 = 0x4002_2000;
const CRYPTO: u32 = 0x4002_4000;
const TRNG: u32 = 0x4002_8000;
const TRNG_INTERRUPTS: u32 = 0x4002_9000;
const VIMS: u32 = 0x4003_4000;
const WDT: u32 = 0x4008_0000;
const IOC: u32 = 0x4008_1000;
const PRCM: u32 = 0x4008_2000;
const AON_RTC: u32 = 0x4009_2000;

/// Where TI's start-up code stores 1 to turn the write buffer off: it would be the bit-band alias of
/// ACTLR.DISDEFWBUF, if this core's private peripherals had aliases. Chips go on after it.
const ALIAS_OF_DISDEFWBUF: u32 = 0xe21c_0104;

/// Interrupt lines: exception numbers less 16.
const RTC_LINE: u32 = 4;
const UART_LINE: u32 = 5;
const WDT_LINE: u32 = 14;
const GPT_LINE: u32 = 15;
const CRYPTO_LINE: u32 = 23;
const TRNG_LINE: u32 = 33;

/// VIMS.CTL (section 7.9.2).
const MODE: u32 = 3;
const MODE_CACHE: u32 = 1;
const SYSBUS_LB_DIS: u32 = 1 << 4;
const IDCODE_LB_DIS: u32 = 1 << 5;

/// Index of PRCM.GPTCLKDIV.
const GPTCLKDIV: usize = 0xcc / 4;

pub struct Cc26x0 {
    uart: Pl011,
    gpt: [Gpt; 4],
    aes: Option<TiAes>,
    trng: Trng,
    watchdog: TiWatchdog,
    rtc: AonRtc,
    vims_ctl: u32,
    iocfg: [u32; 32],
    /// PRCM's registers; those for clocks and power domains are kept and take effect at once.
    prcm: [u32; 0x80],
}

/// The peripherals of a chip of this series, and the names of its pins.
pub fn make(core: &Core, setting: &dyn Fn(&str) -> u32) -> (Box<dyn Peripherals>, PinNames) {
    (Box::new(Cc26x0::new(core, setting)), PLAIN_PINS)
}

impl Cc26x0 {
    pub fn new(core: &Core, setting: &dyn Fn(&str) -> u32) -> Self {
        let lines = if setting("line_buffer") == 0 {
            IDCODE_LB_DIS | SYSBUS_LB_DIS
        } else {
            0
        };
        let features = Features {
            long_keys_and_gcm: false,
            hash: false,
        };
        let aes = core.aes.as_ref();
        Self {
            uart: Pl011::new(32),
            gpt: Default::default(),
            aes: aes.map(|aes| TiAes::new(aes.timing(), features)),
            trng: Trng::new(setting("trng_seed")),
            watchdog: TiWatchdog::default(),
            rtc: AonRtc::new(core.reset_hz.whole(), core.low_hz.whole()),
            vims_ctl: setting("cache_mode") & MODE | lines,
            iocfg: [0x6000; 32],
            prcm: [0; 0x80],
        }
    }

    /// GPRAM comes here while it is no memory.
    fn refuse_gpram(address: u32) -> Result<(), Fault> {
        if !GPRAM.contains(&address) {
            return Ok(());
        }
        Err(Fault::new(
            FaultKind::Peripheral,
            "GPRAM is no memory while VIMS is in cache mode or off (VIMS.CTL.MODE)",
        ))
    }

    fn read_prcm(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            // LOAD_DONE: settings are taken over at once.
            0x28 => 2,
            // Status registers of power domains follow their controls at once.
            0x140 | 0x148 | 0x14c => self.prcm[offset as usize / 4 - 5],
            0x3c..=0x5c | 0x6c..=0x74 | 0xcc | 0x12c | 0x134 | 0x138 => {
                self.prcm[offset as usize / 4]
            }
            _ => return None,
        })
    }

    fn write_prcm(&mut self, offset: u32, value: u32, now: Cycles) -> bool {
        let index = offset as usize / 4;
        match offset {
            // LOAD: dividers take effect.
            0x28 => {
                let divider = 1 << self.prcm[GPTCLKDIV].min(8);
                for gpt in &mut self.gpt {
                    gpt.set_divider(divider, now);
                }
            }
            // PDCTL0 holds what the registers of single domains hold too: serial is bit 1,
            // peripherals bit 2.
            0x12c => {
                self.prcm[index] = value & 7;
                self.prcm[0x134 / 4] = value >> 1 & 1;
                self.prcm[0x138 / 4] = value >> 2 & 1;
            }
            0x134 | 0x138 => {
                self.prcm[index] = value & 1;
                let shift = if offset == 0x134 { 1 } else { 2 };
                let all = &mut self.prcm[0x12c / 4];
                *all = *all & !(1 << shift) | (value & 1) << shift;
            }
            0xcc => self.prcm[index] = value & 15,
            0x3c..=0x5c | 0x6c..=0x74 => self.prcm[index] = value,
            _ => return false,
        }
        true
    }
}

impl Peripherals for Cc26x0 {
    fn serial_ports(&self) -> &'static [&'static str] {
        &["UART0"]
    }

    fn read(&mut self, address: u32, context: &mut Context<'_>) -> Result<Option<u32>, Fault> {
        Self::refuse_gpram(address)?;
        let offset = address & 0xfff;
        Ok(match address & !0xfff {
            UART0 => self.uart.read(offset),
            base @ GPT0..=GPT3 => self.gpt[(base - GPT0) as usize >> 12].read(offset, context.now),
            CRYPTO => self
                .aes
                .as_mut()
                .and_then(|aes| aes.read(offset, context.now)),
            TRNG => self.trng.read(offset),
            TRNG_INTERRUPTS => self.trng.read(offset | 0x1000),
            WDT => self.watchdog.read(offset, context.now),
            AON_RTC => self.rtc.read(offset, context.now),
            GPIO => match offset {
                0x80 => Some(context.pins.output[0]),
                0x90 | 0xa0 | 0xb0 => Some(0),
                0xc0 => Some(context.pins.level(0)),
                0xd0 => Some(context.pins.enabled[0]),
                _ => None,
            },
            // STAT shows MODE and the disabled line buffers as CTL does; changes take no time.
            VIMS if offset < 8 => Some(self.vims_ctl & (MODE | IDCODE_LB_DIS | SYSBUS_LB_DIS)),
            IOC if offset < 0x80 => Some(self.iocfg[offset as usize / 4]),
            PRCM => self.read_prcm(offset),
            _ => None,
        })
    }

    fn write(
        &mut self,
        address: u32,
        value: u32,
        context: &mut Context<'_>,
    ) -> Result<bool, Fault> {
        Self::refuse_gpram(address)?;
        let offset = address & 0xfff;
        match address & !0xfff {
            UART0 => return self.uart.write(offset, value, context.now),
            base @ GPT0..=GPT3 => {
                let gpt = &mut self.gpt[(base - GPT0) as usize >> 12];
                return gpt.write(offset, value, context.now);
            }
            CRYPTO => {
                let Some(aes) = &mut self.aes else {
                    return Ok(false);
                };
                return aes.write(offset, value, context.now);
            }
            TRNG => return Ok(self.trng.write(offset, value, context.now)),
            TRNG_INTERRUPTS => return Ok(self.trng.write(offset | 0x1000, value, context.now)),
            WDT => return self.watchdog.write(offset, value, context.now),
            AON_RTC => return self.rtc.write(offset, value, context.now),
            GPIO => {
                let pins = &mut *context.pins;
                match offset {
                    0x80 => pins.output[0] = value,
                    0x90 => pins.output[0] |= value,
                    0xa0 => pins.output[0] &= !value,
                    0xb0 => pins.output[0] ^= value,
                    0xd0 => pins.enabled[0] = value,
                    _ => return Ok(false),
                }
            }
            VIMS if offset == 4 => {
                if value & MODE == 2 {
                    return Err(Fault::new(
                        FaultKind::Peripheral,
                        "VIMS.CTL.MODE is set to 2, which is reserved: 0 is GPRAM, 1 cache, 3 off",
                    ));
                }
                self.vims_ctl = value;
            }
            IOC if offset < 0x80 => self.iocfg[offset as usize / 4] = value,
            PRCM => return Ok(self.write_prcm(offset, value, context.now)),
            _ if address == ALIAS_OF_DISDEFWBUF => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn put_serial(&mut self, _port: usize, bytes: &[u8]) {
        self.uart.put(bytes);
    }

    fn advance(
        &mut self,
        now: Cycles,
        sent: &mut dyn FnMut(usize, u8, Cycles),
    ) -> Result<(), Fault> {
        self.uart.advance(now, |byte, at| sent(0, byte, at));
        for gpt in &mut self.gpt {
            gpt.advance(now);
        }
        self.trng.advance(now);
        self.rtc.advance(now);
        self.watchdog.advance(now)
    }

    fn transfer(
        &mut self,
        memory: &mut dyn Memories,
        now: Cycles,
        _timeline: &Timeline,
    ) -> Result<bool, Fault> {
        let aes = self.aes.as_mut();
        aes.map_or(Ok(false), |aes| aes.transfer(memory, now))
    }

    fn next_event(&self) -> Cycles {
        let gpt = self.gpt.iter().map(Gpt::next_event);
        gpt.chain([
            self.uart.next_event(),
            self.trng.next_event(),
            self.rtc.next_event(),
            self.watchdog.next_event(),
            self.aes.as_ref().map_or(Cycles::NEVER, TiAes::next_event),
        ])
        .min()
        .unwrap_or(Cycles::NEVER)
    }

    fn interrupts(&self) -> [u64; 4] {
        let mut lines = u64::from(self.uart.is_pending()) << UART_LINE
            | u64::from(self.rtc.is_pending()) << RTC_LINE
            | u64::from(self.watchdog.is_pending()) << WDT_LINE
            | u64::from(self.aes.as_ref().is_some_and(TiAes::is_pending)) << CRYPTO_LINE
            | u64::from(self.trng.is_pending()) << TRNG_LINE;
        for (gpt, first) in self.gpt.iter().zip((GPT_LINE..).step_by(2)) {
            let [a, b] = gpt.pending();
            lines |= u64::from(a) << first | u64::from(b) << (first + 1);
        }
        [lines, 0, 0, 0]
    }

    fn memory_settings(&self) -> MemorySettings {
        MemorySettings {
            line_buffer: self.vims_ctl & IDCODE_LB_DIS == 0,
            cache: self.vims_ctl & MODE == MODE_CACHE,
        }
    }

    fn cache_ram_off(&self) -> bool {
        self.vims_ctl & MODE != 0
    }

    fn sleep_state(&self) -> &'static str {
        "idle"
    }
}
