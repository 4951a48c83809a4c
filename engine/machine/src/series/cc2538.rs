//! CC2538: UARTs, GPIO, I/O control, timers, sleep timer, watchdog and the clocks of `SYS_CTRL`
//! (SWRU319).

use std::sync::Arc;

use joulemark_armv7m::Flow;
use joulemark_kernel::chip::Constant;
use joulemark_kernel::{
    Chip, ChipError, Cycles, Fault, FineHertz, Hertz, Memories, Picoseconds, Timeline,
};
use joulemark_peripherals::ti_aes::{Features, TiAes};
use joulemark_peripherals::{
    Cc2538Flash, Cc2538Rf, Gpt, I2cMaster, Pl011, Pl022, Pl061Interrupts, Smwdthrosc, SocAdc, Udma,
};
use joulemark_radio::{Radio, oqpsk_2450::PHY};
use serde::Deserialize;

use crate::cores::armv7m::{self, Armv7m};
use crate::cortex_m::instances::{Instance, Instances};
use crate::cortex_m::sections::Core;
use crate::cortex_m::{Anew, Context, Made, Peripherals, Reset, Wires, lettered};
use crate::series::Series;

/// A peripheral of the series.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Uart(usize),
    Ssi(usize),
    I2c,
    Gpt(usize),
    Rf,
    Aes,
    SysCtrl,
    FlashCtrl,
    Ioc,
    SlowTimer,
    Analogue,
    SocAdc,
    Gpio(usize),
    Udma,
    Test,
}

const fn block(name: &'static str, block: Block, interrupts: usize) -> Instance<Block> {
    Instance::new(name, block, 0x1000, interrupts)
}

/// Interrupts in the regular map, followed for those that `I_MAP` moves by those in the alternate
/// one. RFCORE has the radio's, its errors' and the MAC timer's.
static INSTANCES: [Instance<Block>; 23] = [
    block("UART0", Block::Uart(0), 1),
    block("UART1", Block::Uart(1), 1),
    block("SSI0", Block::Ssi(0), 1),
    block("SSI1", Block::Ssi(1), 1),
    block("I2C_M0", Block::I2c, 1),
    block("GPTIMER0", Block::Gpt(0), 2),
    block("GPTIMER1", Block::Gpt(1), 2),
    block("GPTIMER2", Block::Gpt(2), 2),
    block("GPTIMER3", Block::Gpt(3), 2),
    block("RFCORE", Block::Rf, 6),
    block("AES", Block::Aes, 2),
    block("SYS_CTRL", Block::SysCtrl, 0),
    block("FLASH_CTRL", Block::FlashCtrl, 0),
    block("IOC", Block::Ioc, 0),
    block("SMWDTHROSC", Block::SlowTimer, 2),
    block("ANA_REGS", Block::Analogue, 0),
    block("SOC_ADC", Block::SocAdc, 0),
    block("GPIO_A", Block::Gpio(0), 1).port(),
    block("GPIO_B", Block::Gpio(1), 1).port(),
    block("GPIO_C", Block::Gpio(2), 1).port(),
    block("GPIO_D", Block::Gpio(3), 1).port(),
    block("UDMA", Block::Udma, 2),
    block("CCTEST", Block::Test, 0),
];

/// Registers in the page of `FLASH_CTRL` that identify the chip.
const DIECFG0: u32 = 0x14;
const DIECFG2: u32 = 0x1c;

/// The registers of `CCTEST`, which hold what is written: the drive of pins, what pins show of the
/// radio, the temperature sensor's connection, and the stand-by of USB (SWRU319, `CCTEST`).
const fn test_word(offset: u32) -> Option<usize> {
    match offset {
        0 | 0x14..=0x34 | 0x50 if offset.is_multiple_of(4) => Some(offset as usize / 4),
        _ => None,
    }
}

/// What identifies the chip: section `factory`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Factory {
    /// `DIECFG0`: the chip's number, and codes of its memories' sizes.
    identity: Constant,
    /// `DIECFG2`: its revision, and which engines it has.
    revision: Constant,
}

/// What is the same for all specimens of a chip.
struct Parameters {
    instances: Instances<Block>,
    identity: u32,
    revision: u32,
}

impl Parameters {
    fn of(chip: &Chip) -> Result<Self, ChipError> {
        let factory: Factory = chip.needed_section("factory")?;
        Ok(Self {
            instances: Instances::of(chip, &INSTANCES)?,
            identity: factory.identity.whole(),
            revision: factory.revision.whole(),
        })
    }
}

/// Functions and drive of 32 pins, and pin selection for 21 inputs.
const IOC_WORDS: usize = 85;
/// Bias currents of the analogue part; 0x13 after a reset.
const IVCTRL: u32 = 4;

/// `CLOCK_CTRL` and `CLOCK_STA`.
const OSC32K: u32 = 1 << 24;
/// `CLOCK_STA.RST`: the last reset's source (TI's `hw_sys_ctrl.h`).
const RST_WATCHDOG: u32 = 2 << 22;
const RST_SOFTWARE: u32 = 3 << 22;
/// `CLOCK_STA`: the 32-kHz clock, synchronised to the system clock.
const SYNC_32K: u32 = 1 << 26;
const XOSC_STB: u32 = 1 << 19;
const HSOSC_STB: u32 = 1 << 18;
const OSC_PD: u32 = 1 << 17;
const OSC: u32 = 1 << 16;
/// Lowest bit of `IO_DIV` in `CLOCK_CTRL`.
const IO_DIV: u32 = 8;
/// The clock selection register of a UART or SSI, and its bit for the clock that `IO_DIV` divides
/// (`UART_CC_CS` and `SSI_CC_CS` in `hw_uart.h` and `hw_ssi.h` of TI's `CC2538` foundation firmware;
/// SWRU319, UART and SSI).
const CC: u32 = 0xfc8;
const PIOSC: u32 = 1;
const PMCTL: usize = 0x58;
/// `SRSEC`, and its bit that resets the AES accelerator.
const SRSEC: u32 = 0x54;
const SRSEC_AES: u32 = 2;

/// `SYS_CTRL` registers that hold what is written: first and last offset, and implemented bits. In
/// this order: clock gates (run, sleep, deep sleep) and resets of timers, SSI, UART, I2C and
/// security modules; PMCTL; SRCRC; CLD; IWE; clock gates of the radio core; EMUOVR.
const HELD: [(u32, u32, u32); 11] = [
    (0x08, 0x14, 0xf),
    (0x18, 0x24, 0x3),
    (0x28, 0x34, 0x3),
    (0x38, 0x44, 0x1),
    (0x48, 0x54, 0x3),
    (0x58, 0x58, 0x3),
    (0x5c, 0x5c, 0x0101),
    (0x80, 0x80, 0x1),
    (0x94, 0x94, 0x3f),
    (0xa8, 0xb0, 0x1),
    (0xb4, 0xb4, 0xff),
];
/// `I_MAP`: 1 selects the alternate interrupt map.
const I_MAP: u32 = 0x98;

/// Location of the device's IEEE address in the information page: two words, the higher first
/// (Contiki-NG, `ieee-addr.c`).
const IEEE_ADDRESS: u32 = 0x0028_0028;
/// Prefix of TI's addresses.
const OUI: u32 = 0x0012_4b00;

/// Start of the ROM's function table: flash size, chip number, page erase, word programming, one
/// that is left out, memset, memcpy, memcmp and memmove (`ROM_API_T` in rom.h of `OpenWSN`),
/// followed by these functions. TI's code is not public; this is our own.
const ROM_START: u32 = 0x4c;
const ROM_LAST: u32 = 0x1_ffff;
#[rustfmt::skip]
static ROM: [u16; 114] = [
    0x00b9, 0, 0x00bf, 0, 0x00c5, 0, 0x00cb, 0, 0, 0,
    0x0071, 0, 0x008f, 0, 0x00a1, 0, 0x007f, 0,
    // memset: mov r3, r0; 1: cbz r2, 2f; strb r1, [r3], #1; subs r2, #1; b 1b; 2: bx lr
    0x4603, 0xb11a, 0xf803, 0x1b01, 0x3a01, 0xe7fa, 0x4770,
    // memmove: cmp r0, r1; bls memcpy;
    // 1: cbz r2, 2f; subs r2, #1; ldrb r3, [r1, r2]; strb r3, [r0, r2]; b 1b; 2: bx lr
    0x4288, 0xd905, 0xb11a, 0x3a01, 0x5c8b, 0x5483, 0xe7fa, 0x4770,
    // memcpy: mov ip, r0;
    // 1: cbz r2, 2f; ldrb r3, [r1], #1; strb r3, [ip], #1; subs r2, #1; b 1b; 2: bx lr
    0x4684, 0xb12a, 0xf811, 0x3b01, 0xf80c, 0x3b01, 0x3a01, 0xe7f8, 0x4770,
    // memcmp: mov ip, r0; movs r0, #0; 1: cbz r2, 2f; ldrb r0, [ip], #1; ldrb r3, [r1], #1;
    // subs r2, #1; subs r0, r0, r3; beq 1b; 2: bx lr
    0x4684, 0x2000, 0xb132, 0xf81c, 0x0b01, 0xf811, 0x3b01, 0x3a01, 0x1ac0, 0xd0f7, 0x4770,
    0,
    // mov.w r0, #524288; bx lr; movw r0, #0xb964; bx lr
    0xf44f, 0x2000, 0x4770, 0xf64b, 0x1064, 0x4770,
    // PageErase(address, bytes): one page
    0x2301,          // movs r3, #1
    0x4602,          // mov r2, r0
    0xe016,          // b.n 34 <go>
    // program
    0xb510,          // push {r4, lr}
    0x4604,          // mov r4, r0
    0x4694,          // mov ip, r2
    0x2302,          // movs r3, #2
    0x460a,          // mov r2, r1
    0xf000, 0xf810,  // bl 34 <go>
    0x4914,          // ldr r1, [pc, #80]
    0xf1bc, 0x0f00,  // cmp.w ip, #0
    0xd008,          // beq.n 2e <program+0x28>
    0x688b,          // ldr r3, [r1, #8]
    0x065a,          // lsls r2, r3, #25
    0xd4fc,          // bmi.n 1c <program+0x16>
    0xf854, 0x3b04,  // ldr.w r3, [r4], #4
    0x610b,          // str r3, [r1, #16]
    0xf1bc, 0x0c04,  // subs.w ip, ip, #4
    0xe7f3,          // b.n 16 <program+0x10>
    0xf000, 0xf812,  // bl 56 <wait>
    0xbd10,          // pop {r4, pc}
    // go
    0x490c,          // ldr r1, [pc, #48]
    0x60ca,          // str r2, [r1, #12]
    0x6888,          // ldr r0, [r1, #8]
    0xf000, 0x000c,  // and.w r0, r0, #12
    0x4303,          // orrs r3, r0
    0xf64f, 0x0000,  // movw r0, #63488
    0xf2c0, 0x0027,  // movt r0, #39
    0x4282,          // cmp r2, r0
    0xbf28,          // it cs
    0xf443, 0x7300,  // orrcs.w r3, r3, #512
    0x608b,          // str r3, [r1, #8]
    0x07db,          // lsls r3, r3, #31
    0xd506,          // bpl.n 64 <back>
    // wait
    0x4904,          // ldr r1, [pc, #16]
    0x688b,          // ldr r3, [r1, #8]
    0x0618,          // lsls r0, r3, #24
    0xd4fc,          // bmi.n 58 <wait+0x2>
    0xf3c3, 0x1040,  // ubfx r0, r3, #5, #1
    0x4240,          // negs r0, r0
    // back
    0x4770,          // bx lr
    0x0000,          // .short 0x0000
    0x3000, 0x400d,  // .word 0x400d3000
];

/// The implemented bits of a `SYS_CTRL` register that holds what is written.
fn held(offset: u32) -> Option<u32> {
    let mut registers = HELD.iter();
    let found = registers.find(|(first, last, _)| (*first..=*last).contains(&offset));
    found.map(|&(_, _, bits)| bits)
}

struct Cc2538 {
    parameters: Arc<Parameters>,
    uart: [Pl011; 2],
    /// `UART_CC` of both.
    uart_clock: [u32; 2],
    ssi: [Pl022; 2],
    ssi_clock: [u32; 2],
    gpt: [Gpt; 4],
    slow: Smwdthrosc,
    aes: Option<TiAes>,
    rf: Option<Cc2538Rf>,
    ieee_address: Vec<u8>,
    low_hz: u32,
    low: FineHertz,
    crystal_hz: u32,
    clock_ctrl: u32,
    /// The words of [`HELD`], by offset.
    held: [u32; 0xb8 / 4],
    i2c: I2cMaster,
    udma: Udma,
    adc: SocAdc,
    ivctrl: u32,
    flash: Option<Cc2538Flash>,
    /// `I_MAP`.
    has_alternate_map: bool,
    /// `CLOCK_STA.RST`.
    reset_source: u32,
    ioc: [u32; IOC_WORDS],
    /// `CCTEST`.
    test: [u32; 0x54 / 4],
    direction: [u32; 4],
    alternate: [u32; 4],
    gpio_interrupts: [Pl061Interrupts; 4],
    /// Lock and wake-up registers, which hold what is written and have no effect; the low 9 bits of
    /// their offsets are unique.
    gpio_held: [[u32; 0x80]; 4],
}

/// The series.
pub static SERIES: Series = Series {
    name: "cc2538",
    core: &armv7m::TARGET,
    check: |chip| {
        Core::check(chip, &["factory"])?;
        Parameters::of(chip).map(drop)
    },
    make: |chip, image, options| Ok(Box::new(Armv7m::new(chip, image, options, make)?)),
};

/// Make the peripherals of a chip of this series, and its pin names.
fn make(chip: &Chip, core: &Core, setting: &dyn Fn(&str) -> u32) -> Result<Made, ChipError> {
    let parameters = Arc::new(Parameters::of(chip)?);
    let pins = lettered(parameters.instances.pins(Block::Gpio));
    Ok((Box::new(Cc2538::new(parameters, core, setting)), pins))
}

impl Cc2538 {
    fn new(parameters: Arc<Parameters>, core: &Core, setting: &dyn Fn(&str) -> u32) -> Self {
        let crystal_hz = core.crystal_hz.as_ref().map_or(0, Constant::whole);
        let (reset, low_hz) = (Hertz(core.reset_hz.whole()), core.low_hz.whole());
        let low = Hertz(low_hz).into();
        let features = Features {
            long_keys_and_gcm: true,
            hash: true,
        };
        let aes = core.aes.as_ref();
        let radio = core.radio.as_ref();
        let flash = core.flash.clone();
        Self {
            parameters,
            uart: [Pl011::new(16), Pl011::new(16)],
            uart_clock: [0; 2],
            ssi: Default::default(),
            ssi_clock: [0; 2],
            gpt: Default::default(),
            slow: Smwdthrosc::new(reset, low),
            aes: aes.map(|aes| TiAes::new(aes.timing(), features)),
            rf: radio.map(|radio| Cc2538Rf::new(radio.figures(&PHY), setting("random_seed"))),
            ieee_address: [OUI, setting("device_number")]
                .map(u32::to_le_bytes)
                .concat(),
            low_hz,
            low,
            crystal_hz,
            clock_ctrl: OSC32K | OSC_PD | OSC | 1 << 8 | 1,
            held: [0; 0xb8 / 4],
            i2c: I2cMaster::default(),
            udma: Udma::default(),
            adc: SocAdc::default(),
            ivctrl: 0x13,
            flash: flash
                .map(|(range, times)| Cc2538Flash::new(range, times, core.reset_hz.whole())),
            has_alternate_map: false,
            reset_source: 0,
            ioc: [0; IOC_WORDS],
            test: [0; 0x54 / 4],
            direction: [0; 4],
            alternate: [0; 4],
            gpio_interrupts: Default::default(),
            gpio_held: [[0; 0x80]; 4],
        }
    }

    /// Divide the crystal's clock by 2^`SYS_DIV` or 2^`IO_DIV`; the RC oscillator has half its
    /// frequency.
    fn divided(&self, divider: u32) -> Hertz {
        let least = u32::from(self.clock_ctrl & OSC != 0);
        Hertz(self.crystal_hz >> (divider & 7).max(least))
    }

    fn clock(&self) -> Hertz {
        self.divided(self.clock_ctrl)
    }

    fn set_line_clocks(&mut self) {
        let (core, io) = (self.clock(), self.divided(self.clock_ctrl >> IO_DIV));
        let own = |source| if source & PIOSC != 0 { io } else { core };
        for (uart, source) in self.uart.iter_mut().zip(self.uart_clock) {
            uart.set_clocks(core, own(source));
        }
        for (ssi, source) in self.ssi.iter_mut().zip(self.ssi_clock) {
            ssi.set_clocks(core, own(source));
        }
    }
}

impl Peripherals for Cc2538 {
    fn serial_ports(&self) -> &'static [&'static str] {
        &["UART0", "UART1"][..self.parameters.instances.run(Block::Uart)]
    }

    fn spi_buses(&self) -> &'static [&'static str] {
        &["SSI0", "SSI1"][..self.parameters.instances.run(Block::Ssi)]
    }

    fn rom(&self) -> Vec<(u32, Vec<u8>)> {
        let bytes = ROM.iter().flat_map(|halfword| halfword.to_le_bytes());
        vec![
            (ROM_START, bytes.collect()),
            (IEEE_ADDRESS, self.ieee_address.clone()),
        ]
    }

    fn read(&mut self, address: u32, context: &mut Context<'_>) -> Result<Option<u32>, Fault> {
        let Some((block, offset)) = self.parameters.instances.find(address) else {
            return Ok(None);
        };
        let now = context.now;
        Ok(match block {
            Block::Gpio(port) => match offset {
                // Address bits 9 to 2 mask the pins that are read.
                0..=0x3fc => Some(context.pins.level(port) & offset >> 2),
                0x400 => Some(self.direction[port]),
                0x420 => Some(self.alternate[port]),
                0x404..=0x41c => self.gpio_interrupts[port].read(offset),
                0x520..=0x524 | 0x700..=0x71c => {
                    Some(self.gpio_held[port][(offset as usize & 0x1ff) / 4])
                }
                _ => None,
            },
            Block::Uart(index) if offset == CC => Some(self.uart_clock[index]),
            Block::Ssi(index) if offset == CC => Some(self.ssi_clock[index]),
            Block::Ssi(index) => self.ssi[index].read(offset, now),
            Block::Uart(index) => self.uart[index].read(offset),
            Block::Gpt(index) => self.gpt[index].read(offset, now),
            Block::SlowTimer => self.slow.read(offset, now),
            Block::SysCtrl => match offset {
                0 => Some(self.clock_ctrl),
                4 => {
                    let high = self.slow.is_clock_high(now);
                    let level = if high { SYNC_32K } else { 0 };
                    Some(self.clock_ctrl | level | self.reset_source | XOSC_STB | HSOSC_STB)
                }
                I_MAP => Some(self.has_alternate_map.into()),
                _ => held(offset).map(|_| self.held[offset as usize / 4]),
            },
            Block::Rf => {
                let time = context.time;
                self.rf.as_mut().and_then(|rf| rf.read(offset, time))
            }
            Block::Aes => self.aes.as_mut().and_then(|aes| aes.read(offset, now)),
            Block::I2c => self.i2c.read(offset),
            Block::Udma => self.udma.read(offset),
            Block::Test => test_word(offset).map(|word| self.test[word]),
            Block::SocAdc => self.adc.read(offset),
            Block::Analogue => (offset == IVCTRL).then_some(self.ivctrl),
            Block::Ioc => self.ioc.get(offset as usize / 4).copied(),
            Block::FlashCtrl => match offset {
                DIECFG0 => Some(self.parameters.identity),
                DIECFG2 => Some(self.parameters.revision),
                _ => self.flash.as_ref().and_then(|flash| flash.read(offset)),
            },
        })
    }

    fn write(
        &mut self,
        address: u32,
        value: u32,
        context: &mut Context<'_>,
    ) -> Result<bool, Fault> {
        let Some((block, offset)) = self.parameters.instances.find(address) else {
            // `OpenWSN` stores to an offset instead of an address (`radio_init`, IVCTRL), and real
            // motes continue: a store to the ROM has no effect.
            return Ok(address <= ROM_LAST);
        };
        let now = context.now;
        match block {
            Block::Gpio(port) => {
                match offset {
                    0..=0x3fc => {
                        let mask = offset >> 2;
                        let output = &mut context.pins.output[port];
                        *output = *output & !mask | value & mask;
                    }
                    0x400 => self.direction[port] = value & 0xff,
                    0x420 => self.alternate[port] = value & 0xff,
                    0x404..=0x41c => return Ok(self.gpio_interrupts[port].write(offset, value)),
                    0x520..=0x524 | 0x700..=0x71c => {
                        self.gpio_held[port][(offset as usize & 0x1ff) / 4] = value;
                    }
                    _ => return Ok(false),
                }
                context.pins.enabled[port] = self.direction[port] & !self.alternate[port];
            }
            Block::Uart(index) if offset == CC => {
                self.uart_clock[index] = value & 7;
                self.set_line_clocks();
            }
            Block::Ssi(index) if offset == CC => {
                self.ssi_clock[index] = value & 7;
                self.set_line_clocks();
            }
            Block::Ssi(index) => return self.ssi[index].write(offset, value, now),
            Block::Uart(index) => return self.uart[index].write(offset, value, now),
            Block::Gpt(index) => return self.gpt[index].write(offset, value, now),
            Block::Rf => {
                let Some(rf) = &mut self.rf else {
                    return Ok(false);
                };
                return rf.write(offset, value, context.time);
            }
            Block::Aes => {
                let Some(aes) = &mut self.aes else {
                    return Ok(false);
                };
                return aes.write(offset, value, now);
            }
            Block::SlowTimer => return self.slow.write(offset, value, now),
            Block::SysCtrl => match offset {
                0 => {
                    self.clock_ctrl = value & 0x0322_0707 | value & OSC;
                    context.clock_hz = Some(self.clock().0);
                    self.set_line_clocks();
                }
                I_MAP => self.has_alternate_map = value & 1 != 0,
                _ => {
                    let Some(bits) = held(offset) else {
                        return Ok(false);
                    };
                    self.held[offset as usize / 4] = value & bits;
                    if let (SRSEC, Some(aes)) = (offset, &mut self.aes)
                        && value & SRSEC_AES != 0
                    {
                        aes.reset();
                    }
                }
            },
            Block::I2c => return Ok(self.i2c.write(offset, value, now)),
            Block::Udma => return Ok(self.udma.write(offset, value)),
            Block::Test => match test_word(offset) {
                Some(word) => self.test[word] = value,
                None => return Ok(false),
            },
            Block::SocAdc => return self.adc.write(offset, value),
            Block::Analogue if offset == IVCTRL => self.ivctrl = value & 0x3f,
            Block::Analogue => return Ok(false),
            Block::Ioc => {
                let Some(register) = self.ioc.get_mut(offset as usize / 4) else {
                    return Ok(false);
                };
                *register = value;
            }
            Block::FlashCtrl => {
                let Some(flash) = &mut self.flash else {
                    return Ok(false);
                };
                return flash.write(offset, value, now);
            }
        }
        Ok(true)
    }

    fn pins_changed(&mut self, port: usize, level: u32, changed: u32) -> bool {
        let Some(interrupts) = self.gpio_interrupts.get_mut(port) else {
            return false;
        };
        interrupts.pins_changed(level, changed);
        // A level may also have gone away.
        true
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
        for gpt in &mut self.gpt {
            gpt.advance(now);
        }
        self.slow.advance(now)
    }

    fn i2c_buses(&self) -> &'static [&'static str] {
        &["I2C0"]
    }

    fn advance_buses(&mut self, now: Cycles, wires: &mut Wires<'_>) -> Result<(), Fault> {
        self.i2c
            .advance(now, &mut |what, at| wires.i2c(0, what, at));
        for (bus, ssi) in self.ssi.iter_mut().enumerate() {
            ssi.advance(now, &mut |byte, at| wires.spi(bus, byte, at))?;
        }
        Ok(())
    }

    fn flow(&self, address: u32) -> Flow {
        match self.parameters.instances.find(address) {
            // DMAC_CHx_EXTADDR.
            Some((Block::Aes, 0x04 | 0x24)) => Flow::Pointer,
            // AES_IV, which is chained, and AES_TAG_OUT.
            Some((Block::Aes, 0x540..=0x54c | 0x570..=0x57c)) => Flow::Derived,
            _ => Flow::Register,
        }
    }

    fn transfer(
        &mut self,
        memory: &mut dyn Memories,
        now: Cycles,
        timeline: &Timeline,
    ) -> Result<bool, Fault> {
        let aes = self.aes.as_mut();
        let by_aes = aes.map_or(Ok(false), |aes| aes.transfer(memory, now))?;
        // Of all registers, DMA reaches only the radio's.
        let (rf, instances) = (&mut self.rf, &self.parameters.instances);
        let mut registers = |address: u32, value: Option<u32>| {
            let (_, offset) = instances
                .find(address)
                .filter(|&(block, _)| block == Block::Rf)?;
            let (rf, time) = (rf.as_mut()?, timeline.at(now));
            match value {
                None => rf.read(offset, time),
                Some(value) => rf
                    .write(offset, value, time)
                    .ok()
                    .filter(|&is_there| is_there)
                    .map(|_| 0),
            }
        };
        let by_udma = self.udma.transfer(memory, &mut registers, now)?;
        let flash = self.flash.as_mut();
        let by_flash = flash.map_or(Ok(false), |flash| flash.transfer(memory, now))?;
        Ok(by_aes || by_udma || by_flash)
    }

    fn clock_changed(&mut self, now: Cycles, core_hz: u32) {
        self.slow.set_clocks(Hertz(core_hz), self.low, now);
        if let Some(flash) = &mut self.flash {
            flash.set_clock(now, core_hz);
        }
    }

    fn set_watch_crystal(&mut self, ppb: i32, now: Cycles, time: Picoseconds) {
        self.low = FineHertz::new(Hertz(self.low_hz), ppb);
        self.slow.set_clocks(self.clock(), self.low, now);
        if let Some(rf) = &mut self.rf {
            rf.set_low_clock(self.low, time);
        }
    }

    fn next_event(&self) -> Cycles {
        let gpt = self.gpt.iter().map(Gpt::next_event);
        gpt.chain(self.uart.iter().map(Pl011::next_event))
            .chain(self.ssi.iter().map(Pl022::next_event))
            .chain([
                self.slow.next_event(),
                self.udma.next_event(),
                self.i2c.next_event(),
            ])
            .chain(self.aes.as_ref().map(TiAes::next_event))
            .chain(self.flash.as_ref().map(Cc2538Flash::next_event))
            .min()
            .unwrap_or(Cycles::NEVER)
    }

    fn radio(&self) -> Option<&dyn Radio> {
        self.rf.as_ref().map(|rf| rf as &dyn Radio)
    }

    fn radio_mut(&mut self) -> Option<&mut dyn Radio> {
        self.rf.as_mut().map(|rf| rf as &mut dyn Radio)
    }

    fn interrupts(&self) -> [u64; 4] {
        let gpt = self.gpt.each_ref().map(Gpt::pending);
        let [rf, error, mac] = self.rf.as_ref().map_or([false; 3], Cc2538Rf::interrupts);
        let udma = self.udma.interrupts();
        let aes = self.aes.as_ref().is_some_and(TiAes::is_pending);
        let regular = !self.has_alternate_map;
        // Those that the map moves are asserted in one of two places.
        let mapped = |pending: &[bool], number: usize| {
            let count = pending.len();
            pending[number % count] && (number < count) == regular
        };
        self.parameters
            .instances
            .lines(|block, number| match block {
                Block::Gpio(port) => self.gpio_interrupts[port].is_pending(),
                Block::Uart(index) => self.uart[index].is_pending(),
                Block::Ssi(index) => self.ssi[index].is_pending(),
                Block::I2c => self.i2c.is_pending(),
                Block::Gpt(index) => gpt[index][number],
                Block::Rf => mapped(&[rf, error, mac], number),
                Block::Aes => mapped(&[aes], number),
                Block::SlowTimer => mapped(&[self.slow.is_pending()], number),
                Block::Udma => udma[number],
                _ => false,
            })
    }

    /// The ROM only waits meanwhile.
    fn flash_held_until(&self) -> Cycles {
        self.flash
            .as_ref()
            .map_or(Cycles(0), Cc2538Flash::busy_until)
    }

    /// Inferred: SWRU319 does not say what a read of flash meets meanwhile, but `OpenThread` erases with
    /// interrupts on, has their handlers in flash, and has run so on this chip for years.
    fn flash_waits(&self) -> bool {
        true
    }

    fn flash_state(&self) -> Option<&'static str> {
        self.flash.as_ref().and_then(Cc2538Flash::power_state)
    }

    fn reset(&mut self, anew: &Anew<'_>) {
        self.slow.reset(anew.now);
        if let Some(rf) = &mut self.rf {
            rf.reset(anew.time);
        }
        *self = Self {
            slow: self.slow.clone(),
            rf: self.rf.take(),
            low: self.low,
            reset_source: match anew.cause {
                Reset::Watchdog => RST_WATCHDOG,
                Reset::Software => RST_SOFTWARE,
            },
            ..Self::new(Arc::clone(&self.parameters), anew.core, anew.setting)
        };
    }

    fn sleep_state(&self) -> &'static str {
        "sleep"
    }

    fn deep_sleep(&mut self, _context: &mut Context<'_>) -> Result<&'static str, Fault> {
        Ok(["sleep", "pm1", "pm2", "pm3"][self.held[PMCTL / 4] as usize])
    }
}
