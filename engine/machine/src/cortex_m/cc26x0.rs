//! `CC26x0`: UART, GPIO, I/O configuration, PRCM and VIMS (SWCU117).

use joulemark_armv7m::MemorySettings;
use joulemark_kernel::{Cycles, Fault};
use joulemark_peripherals::Pl011;

use super::{Context, Series};

const UART0: u32 = 0x4000_1000;
const GPIO: u32 = 0x4002_2000;
const VIMS: u32 = 0x4003_4000;
const IOC: u32 = 0x4008_1000;
const PRCM: u32 = 0x4008_2000;

/// VIMS.CTL (section 7.9.2).
const MODE: u32 = 3;
const MODE_CACHE: u32 = 1;
const IDCODE_LB_DIS: u32 = 1 << 4;
const SYSBUS_LB_DIS: u32 = 1 << 5;

pub struct Cc26x0 {
    uart: Pl011,
    vims_ctl: u32,
    iocfg: [u32; 32],
    /// PRCM's registers; those for clocks and power domains are kept and take effect at once.
    prcm: [u32; 0x80],
}

impl Cc26x0 {
    pub fn new(cache_mode: u32, line_buffer_off: bool) -> Self {
        let lines = if line_buffer_off {
            IDCODE_LB_DIS | SYSBUS_LB_DIS
        } else {
            0
        };
        Self {
            uart: Pl011::new(32),
            vims_ctl: cache_mode & MODE | lines,
            iocfg: [0x6000; 32],
            prcm: [0; 0x80],
        }
    }

    fn read_prcm(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            // LOAD_DONE: settings are taken over at once.
            0x28 => 2,
            // Status registers of power domains follow their controls at once.
            0x140 | 0x148 | 0x14c => self.prcm[offset as usize / 4 - 5],
            0x48..=0x50 | 0x6c..=0x74 | 0x12c | 0x134 | 0x138 => self.prcm[offset as usize / 4],
            _ => return None,
        })
    }

    fn write_prcm(&mut self, offset: u32, value: u32) -> bool {
        let index = offset as usize / 4;
        match offset {
            0x28 => {}
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
            0x48..=0x50 | 0x6c..=0x74 => self.prcm[index] = value,
            _ => return false,
        }
        true
    }
}

impl Series for Cc26x0 {
    fn serial_ports(&self) -> &'static [&'static str] {
        &["UART0"]
    }

    fn read(&mut self, address: u32, context: &mut Context<'_>) -> Result<Option<u32>, Fault> {
        let offset = address & 0xfff;
        Ok(match address & !0xfff {
            UART0 => self.uart.read(offset),
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
        let offset = address & 0xfff;
        match address & !0xfff {
            UART0 => return self.uart.write(offset, value, context.now),
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
            VIMS if offset == 4 => self.vims_ctl = value,
            IOC if offset < 0x80 => self.iocfg[offset as usize / 4] = value,
            PRCM => return Ok(self.write_prcm(offset, value)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn put_serial(&mut self, _port: usize, bytes: &[u8]) {
        self.uart.put(bytes);
    }

    fn advance(&mut self, now: Cycles, sent: &mut dyn FnMut(usize, u8, Cycles)) {
        self.uart.advance(now, |byte, at| sent(0, byte, at));
    }

    fn next_event(&self) -> Cycles {
        self.uart.next_event()
    }

    fn interrupts(&self) -> [u64; 4] {
        [u64::from(self.uart.is_pending()) << 5, 0, 0, 0]
    }

    fn memory_settings(&self) -> MemorySettings {
        MemorySettings {
            line_buffer: self.vims_ctl & SYSBUS_LB_DIS == 0,
            cache: self.vims_ctl & MODE == MODE_CACHE,
        }
    }

    fn sleep_state(&self) -> &'static str {
        "idle"
    }
}
