//! CC2538: UARTs, GPIO, I/O control, and clocks of `SYS_CTRL` (SWRU319).

use joulemark_kernel::{Cycles, Fault, FaultKind};
use joulemark_peripherals::Pl011;

use super::{Context, Series};

const UART0: u32 = 0x4000_c000;
const UART1: u32 = 0x4000_d000;
const SYS_CTRL: u32 = 0x400d_2000;
const FCTL: u32 = 0x400d_3008;
const IOC: u32 = 0x400d_4000;
const GPIO_A: u32 = 0x400d_9000;
const GPIO_D: u32 = 0x400d_c000;

/// `CLOCK_CTRL` and `CLOCK_STA`.
const OSC32K: u32 = 1 << 24;
const XOSC_STB: u32 = 1 << 19;
const HSOSC_STB: u32 = 1 << 18;
const OSC_PD: u32 = 1 << 17;
const OSC: u32 = 1 << 16;

pub struct Cc2538 {
    uart: [Pl011; 2],
    crystal_hz: u32,
    clock_ctrl: u32,
    gates: [u32; 3],
    /// Cache mode: FCTL.CM, 1 after reset.
    fctl: u32,
    ioc: [u32; 0x44],
    direction: [u32; 4],
    alternate: [u32; 4],
}

impl Cc2538 {
    pub fn new(crystal_hz: u32) -> Self {
        Self {
            uart: [Pl011::new(16), Pl011::new(16)],
            crystal_hz,
            clock_ctrl: OSC32K | OSC_PD | OSC | 1 << 8 | 1,
            gates: [0; 3],
            fctl: 4,
            ioc: [0; 0x44],
            direction: [0; 4],
            alternate: [0; 4],
        }
    }

    /// `SYS_DIV` halves the crystal's clock so often; the RC oscillator makes half of it.
    fn clock_hz(&self) -> u32 {
        let divider = self.clock_ctrl & 7;
        let least = u32::from(self.clock_ctrl & OSC != 0);
        self.crystal_hz >> divider.max(least)
    }

    fn gpio(address: u32) -> Option<(usize, u32)> {
        (GPIO_A..GPIO_D + 0x1000)
            .contains(&address)
            .then(|| ((address - GPIO_A) as usize >> 12, address & 0xfff))
    }
}

impl Series for Cc2538 {
    fn serial_ports(&self) -> &'static [&'static str] {
        &["UART0", "UART1"]
    }

    fn read(&mut self, address: u32, context: &mut Context<'_>) -> Result<Option<u32>, Fault> {
        let offset = address & 0xfff;
        if let Some((port, offset)) = Self::gpio(address) {
            return Ok(match offset {
                // Address bits 9 to 2 are a mask of the pins that are read.
                0..=0x3fc => Some(context.pins.level(port) & offset >> 2),
                0x400 => Some(self.direction[port]),
                0x420 => Some(self.alternate[port]),
                _ => None,
            });
        }
        Ok(match address & !0xfff {
            UART0 | UART1 if offset == 0xfc8 => Some(0),
            UART0 => self.uart[0].read(offset),
            UART1 => self.uart[1].read(offset),
            SYS_CTRL => match offset {
                0 => Some(self.clock_ctrl),
                4 => Some(self.clock_ctrl | XOSC_STB | HSOSC_STB),
                0x28 | 0x2c | 0x30 => Some(self.gates[(offset as usize - 0x28) / 4]),
                _ => None,
            },
            IOC => self.ioc.get(offset as usize / 4).copied(),
            _ if address == FCTL => Some(self.fctl),
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
        if let Some((port, offset)) = Self::gpio(address) {
            match offset {
                0..=0x3fc => {
                    let mask = offset >> 2;
                    let output = &mut context.pins.output[port];
                    *output = *output & !mask | value & mask;
                }
                0x400 => self.direction[port] = value & 0xff,
                0x420 => self.alternate[port] = value & 0xff,
                _ => return Ok(false),
            }
            context.pins.enabled[port] = self.direction[port] & !self.alternate[port];
            return Ok(true);
        }
        match address & !0xfff {
            UART0 | UART1 if offset == 0xfc8 => {
                if value & 7 != 0 {
                    return Err(Fault::new(
                        FaultKind::Absent,
                        "the emulation leaves out UARTs that do not run on the system clock (UART_CC)",
                    ));
                }
            }
            UART0 => return self.uart[0].write(offset, value, context.now),
            UART1 => return self.uart[1].write(offset, value, context.now),
            SYS_CTRL => match offset {
                0 => {
                    self.clock_ctrl = value & 0x0322_0707 | value & OSC;
                    context.clock_hz = Some(self.clock_hz());
                }
                0x28 | 0x2c | 0x30 => self.gates[(offset as usize - 0x28) / 4] = value & 3,
                _ => return Ok(false),
            },
            IOC => {
                let Some(register) = self.ioc.get_mut(offset as usize / 4) else {
                    return Ok(false);
                };
                *register = value;
            }
            _ if address == FCTL => self.fctl = value & 0xc,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn put_serial(&mut self, port: usize, bytes: &[u8]) {
        self.uart[port].put(bytes);
    }

    fn advance(&mut self, now: Cycles, sent: &mut dyn FnMut(usize, u8, Cycles)) {
        for (port, uart) in self.uart.iter_mut().enumerate() {
            uart.advance(now, |byte, at| sent(port, byte, at));
        }
    }

    fn next_event(&self) -> Cycles {
        self.uart[0].next_event().min(self.uart[1].next_event())
    }

    fn interrupts(&self) -> [u64; 4] {
        let pending = |index: usize| u64::from(self.uart[index].is_pending());
        [pending(0) << 5 | pending(1) << 6, 0, 0, 0]
    }

    fn sleep_state(&self) -> &'static str {
        "sleep"
    }
}
