//! nRF52840: clocks, UART, GPIO and the flash's instruction cache (nRF52840 product specification). Addresses and
//! interrupt lines were compared with Nordic's `nrf52840.svd`.

use joulemark_armv7m::MemorySettings;
use joulemark_kernel::{Cycles, Fault};
use joulemark_peripherals::NrfUart;

use super::sections::Core;
use super::{Context, Peripherals, numbered};
use crate::pins::PinNames;

const CLOCK: u32 = 0x4000_0000;
const UART0: u32 = 0x4000_2000;
const UART0_LINE: u32 = 2;
const NVMC: u32 = 0x4001_e000;
const GPIO: u32 = 0x5000_0000;
/// P1 is this far behind P0, in the same page.
const PORT_BYTES: u32 = 0x300;
/// ICACHECNF.
const CACHEEN: u32 = 1;

pub struct Nrf52 {
    uart: NrfUart,
    /// HFCLK runs from its crystal; LFCLK runs.
    crystal: bool,
    low_clock: bool,
    /// `EVENTS_HFCLKSTARTED` and `EVENTS_LFCLKSTARTED`.
    started: [u32; 2],
    low_source: u32,
    icachecnf: u32,
}

/// The peripherals of a chip of this series, and the names of its pins.
pub fn make(_core: &Core, setting: &dyn Fn(&str) -> u32) -> (Box<dyn Peripherals>, PinNames) {
    let peripherals = Nrf52 {
        uart: NrfUart::default(),
        crystal: false,
        low_clock: false,
        started: [0; 2],
        low_source: 0,
        icachecnf: setting("instruction_cache") & CACHEEN,
    };
    (Box::new(peripherals), numbered(&[32, 16]))
}

impl Nrf52 {
    /// What is started runs at once.
    fn read_clock(&self, offset: u32) -> Option<u32> {
        let running = |on: bool| u32::from(on) << 16;
        Some(match offset {
            0x000..=0x00c => 0,
            0x100 | 0x104 => self.started[(offset as usize - 0x100) / 4],
            0x408 => u32::from(self.crystal),
            // STATE is set whatever the source.
            0x40c => running(true) | u32::from(self.crystal),
            0x414 => u32::from(self.low_clock),
            0x418 => running(self.low_clock) | self.low_source,
            0x518 => self.low_source,
            _ => return None,
        })
    }

    fn write_clock(&mut self, offset: u32, value: u32) -> bool {
        let triggers = value & 1 != 0;
        match offset {
            0x000 if triggers => (self.crystal, self.started[0]) = (true, 1),
            0x004 if triggers => self.crystal = false,
            0x008 if triggers => (self.low_clock, self.started[1]) = (true, 1),
            0x00c if triggers => self.low_clock = false,
            0x000..=0x00c => {}
            0x100 | 0x104 => self.started[(offset as usize - 0x100) / 4] = value & 1,
            0x518 => self.low_source = value & 3,
            _ => return false,
        }
        true
    }

    fn read_gpio(offset: u32, context: &Context<'_>) -> Option<u32> {
        let (port, offset) = Self::port(offset);
        let pins = &context.pins;
        Some(match offset {
            0x504 | 0x508 | 0x50c => pins.output[port],
            0x510 => pins.level(port),
            0x514 | 0x518 | 0x51c => pins.enabled[port],
            0x700..=0x77c => pins.enabled[port] >> ((offset - 0x700) / 4) & 1,
            _ => return None,
        })
    }

    fn write_gpio(offset: u32, value: u32, context: &mut Context<'_>) -> bool {
        let (port, offset) = Self::port(offset);
        let (output, enabled) = (
            &mut context.pins.output[port],
            &mut context.pins.enabled[port],
        );
        match offset {
            0x504 => *output = value,
            0x508 => *output |= value,
            0x50c => *output &= !value,
            0x514 => *enabled = value,
            0x518 => *enabled |= value,
            0x51c => *enabled &= !value,
            // PIN_CNF: direction; input buffer, pull, drive and sense change nothing here.
            0x700..=0x77c => {
                let bit = 1 << ((offset - 0x700) / 4);
                *enabled = *enabled & !bit | if value & 1 != 0 { bit } else { 0 };
            }
            _ => return false,
        }
        true
    }

    /// P0 has its registers at 0x504 to 0x77c, and P1 at 0x804 to 0xa7c.
    const fn port(offset: u32) -> (usize, u32) {
        if offset < 0x800 {
            (0, offset)
        } else {
            (1, offset - PORT_BYTES)
        }
    }
}

impl Peripherals for Nrf52 {
    fn serial_ports(&self) -> &'static [&'static str] {
        &["UART0"]
    }

    fn read(&mut self, address: u32, context: &mut Context<'_>) -> Result<Option<u32>, Fault> {
        let offset = address & 0xfff;
        Ok(match address & !0xfff {
            CLOCK => self.read_clock(offset),
            UART0 => self.uart.read(offset),
            GPIO => Self::read_gpio(offset, context),
            NVMC => match offset {
                0x400 => Some(1),
                0x540 => Some(self.icachecnf),
                _ => None,
            },
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
            CLOCK => return Ok(self.write_clock(offset, value)),
            UART0 => return self.uart.write(offset, value, context.now),
            GPIO => return Ok(Self::write_gpio(offset, value, context)),
            NVMC if offset == 0x540 => self.icachecnf = value & CACHEEN,
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
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        self.uart.next_event()
    }

    fn interrupts(&self) -> [u64; 4] {
        [u64::from(self.uart.is_pending()) << UART0_LINE, 0, 0, 0]
    }

    fn memory_settings(&self) -> MemorySettings {
        MemorySettings {
            line_buffer: true,
            cache: false,
            fetches_at_once: self.icachecnf & CACHEEN != 0,
        }
    }

    fn sleep_state(&self) -> &'static str {
        "sleep"
    }
}
