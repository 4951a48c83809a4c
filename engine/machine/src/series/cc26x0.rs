//! `CC26x0`: UART, GPIO, I/O configuration, timers, watchdog, random numbers, real-time clock,
//! PRCM, VIMS and RF core (SWCU117).

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use joulemark_armv7m::{Flow, MemorySettings, Width};
use joulemark_kernel::chip::Constant;
use joulemark_kernel::{
    Based, Chip, ChipError, Cycles, Fault, FaultKind, FineHertz, Hertz, Image, Memories,
    Picoseconds, Signal, Timeline,
};
use joulemark_peripherals::cc26x0_aon::CCFG_BYTES;
use joulemark_peripherals::ti_aes::{Features, TiAes};
use joulemark_peripherals::{
    AlwaysOn, AonBlock, AonRtc, Cc26x0Aon, Cc26x0Flash, Cc26x0Rf, Cc26x2Aon, EdgeFlags, Gpt,
    I2cMaster, Identity, Pl011, Pl022, TiWatchdog, Trng, Vims,
};
use joulemark_radio::{Radio, oqpsk_2450::PHY};
use serde::Deserialize;

use crate::cores::armv7m::{self, Armv7m};
use crate::cortex_m::instances::{Instance, Instances};
use crate::cortex_m::sections::Core;
use crate::cortex_m::{Anew, Context, Made, Peripherals, Reset, Wires, plain};
use crate::series::Series;

/// A peripheral of the series.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Uart,
    Ssi(usize),
    I2cMaster,
    Gpt(usize),
    Gpio(usize),
    Crypto,
    Trng,
    Flash,
    Vims,
    Rfc,
    Watchdog,
    Ioc,
    Prcm,
    AonRtc,
    Aon(AonBlock),
}

const fn block(name: &'static str, block: Block, interrupts: usize) -> Instance<Block> {
    Instance::new(name, block, 0x1000, interrupts)
}

const fn aon(name: &'static str, of: AonBlock) -> Instance<Block> {
    Instance::new(name, Block::Aon(of), 0x1000, 0)
}

/// RFC's interrupts are those of CPE 0, CPE 1, the hardware, and acknowledged commands.
static INSTANCES: [Instance<Block>; 35] = [
    block("SSI0", Block::Ssi(0), 1),
    block("SSI1", Block::Ssi(1), 1),
    block("UART0", Block::Uart, 1),
    // The slave's registers come first.
    block("I2C0", Block::I2cMaster, 1).from(I2C_MASTER),
    block("GPT0", Block::Gpt(0), 2),
    block("GPT1", Block::Gpt(1), 2),
    block("GPT2", Block::Gpt(2), 2),
    block("GPT3", Block::Gpt(3), 2),
    block("GPIO", Block::Gpio(0), 1).port(),
    block("CRYPTO", Block::Crypto, 1),
    Instance::new("TRNG", Block::Trng, 0x2000, 1),
    Instance::new("FLASH", Block::Flash, 0x3000, 0),
    block("VIMS", Block::Vims, 0),
    Instance::new("RFC", Block::Rfc, 0x4000, 4),
    block("WDT", Block::Watchdog, 1),
    block("IOC", Block::Ioc, 0),
    block("PRCM", Block::Prcm, 0),
    Instance::new("ADI2", Block::Aon(AonBlock::References(0)), 0x200, 0),
    Instance::new("ADI3", Block::Aon(AonBlock::References(1)), 0x200, 0),
    block("AON_RTC", Block::AonRtc, 1),
    aon("AON_SYSCTL", AonBlock::SystemControl),
    aon("AON_WUC", AonBlock::WakeUp),
    aon("AON_PMCTL", AonBlock::PowerManagement),
    aon("AON_EVENT", AonBlock::Events),
    aon("AON_IOC", AonBlock::Pads),
    aon("AON_BATMON", AonBlock::Battery),
    aon("AUX_WUC", AonBlock::AuxWakeUp),
    aon("AUX_EVCTL", AonBlock::AuxEvents),
    aon("AUX_SYSIF", AonBlock::AuxSystem),
    aon("AUX_ANAIF", AonBlock::AuxAnalogue),
    aon("AUX_SMPH", AonBlock::Semaphores),
    aon("AUX_DDI0_OSC", AonBlock::Oscillators),
    aon("AUX_ADI4", AonBlock::References(2)),
    aon("FCFG1", AonBlock::Factory),
    Instance::new("CCFG", Block::Aon(AonBlock::Customer), 0x2000, 0),
];

/// What identifies the chip: section `factory`, of a chip whose registers that start-up code sets
/// up are emulated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Factory {
    /// `FCFG1.ICEPICK_DEVICE_ID`.
    device_id: Constant,
    /// `FCFG1.USER_ID`, if known.
    user_id: Option<Constant>,
    /// Protocols that the device may use, as TI's code reads them
    /// (`ChipInfo_GetSupportedProtocol_BV`): 2 Bluetooth Low Energy, 4 IEEE 802.15.4, 8 proprietary
    /// ones.
    protocols: Constant,
}

/// What is the same for all specimens of a chip.
struct Parameters {
    instances: Instances<Block>,
    factory: Option<Factory>,
}

impl Parameters {
    fn of(chip: &Chip) -> Result<Self, ChipError> {
        Ok(Self {
            instances: Instances::of(chip, &INSTANCES)?,
            factory: chip.section("factory")?,
        })
    }
}

/// Offset of the I2C master's registers from the slave's.
const I2C_MASTER: u32 = 0x800;
/// Offset of `MCUWUSEL`, which selects the events that wake the core's domain, and its value that
/// selects none.
const MCUWUSEL: u32 = 0;
const NOTHING_WAKES: u32 = 0x3f3f_3f3f;

/// Aliases of the peripherals that bypass the write buffer (`PRCM_NONBUF_BASE` in `hw_memmap.h`).
const UNBUFFERED: RangeInclusive<u32> = 0x6000_0000..=0x7fff_ffff;
const UNBUFFERED_OFFSET: u32 = 0x2000_0000;

/// Where TI's start-up code stores 1 to turn the write buffer off: the bit-band alias that
/// ACTLR.DISDEFWBUF would have, if this core's private peripherals had aliases. Real chips continue
/// after the store.
const ALIAS_OF_DISDEFWBUF: u32 = 0xe21c_0104;

/// IOCFG: the pin's signal, the input signals of SSI0 and SSI1, and the pull.
const PORT_ID: u32 = 0x3f;
const SSI_INPUTS: [u32; 2] = [0x09, 0x21];
const PULL: u32 = 3 << 13;
const PULL_UP: u32 = 2 << 13;

/// Events that wake the core's domain (`MCUWUSEL` in `hw_aon_event.h`): an edge at pin 0 to 31, at
/// any pin, a channel of the real-time clock, a delayed channel, and the delayed combination of
/// channels.
const PAD_LAST: u32 = 0x1f;
const ANY_PAD: u32 = 0x20;
const RTC_CH0: u32 = 0x23;
const RTC_CH2: u32 = 0x25;
const RTC_CH0_DELAYED: u32 = 0x26;
const RTC_CH2_DELAYED: u32 = 0x28;
const RTC_COMBINED: u32 = 0x29;
const NO_EVENT: u32 = 0x3f;

/// Indices of PRCM's registers.
const VDCTL: usize = 0xc / 4;
const SECDMACLKGR: usize = 0x3c / 4;
const SECDMACLKGDS: usize = 0x44 / 4;
const RAMRETEN: usize = 0x224 / 4;
const RFCCLKG: usize = 0x2c / 4;
const GPTCLKDIV: usize = 0xcc / 4;
const PDCTL0: usize = 0x12c / 4;
const PDCTL0RFC: usize = 0x130 / 4;
const PDCTL1: usize = 0x17c / 4;
/// Whether a warm reset is treated as a pin reset: bit 2; the flags of the last resets, below it,
/// are clear.
const WARMRESET: u32 = 0x110;
const WR_TO_PINRESET: u32 = 1 << 2;
/// A read clears it.
const WDT_STAT: u32 = 1;
/// `RESETCTL.RESET_SRC` (`hw_aon_sysctl.h`, `hw_aon_pmctl.h`).
const RESET_SRC_WARMRESET: u32 = 7 << 1;
/// [`Factory::protocols`].
const PROTOCOLS: u32 = 0x1d4;
/// The RF core's bit in PDCTL0 and PDCTL1; in PDCTL1, CPU and VIMS are on after a reset.
const RFC_ON_0: u32 = 1;
const RFC_ON_1: u32 = 1 << 2;
const RESET_PDCTL1: u32 = 0xa;
/// VDCTL: the domain sleeps on the micro regulator, or is turned off. PDCTL1 and SECDMACLKGDS: what
/// both require to be off, which is CPU and VIMS, and the clocks of DMA and AES.
const ULDO: u32 = 1;
const MCU_VD: u32 = 1 << 2;
const CPU_AND_VIMS: u32 = 0xa;
const DMA_AND_CRYPTO: u32 = 0x101;
/// The same clocks in all modes, in SECDMACLKGR of the `CC26x2`.
const DMA_AND_CRYPTO_ALWAYS: u32 = 0x0101_0000;
/// `BUS_ON` of PDSTAT1.
const BUS_ON: u32 = 1 << 4;

/// Start of the ROM's table of function tables, the index of the flash table, and the indices of
/// its functions that erase a sector and program bytes (`rom.h` and `flash.c` of `CC26xxWare`, and of
/// the driver library for the `CC26x2`). The
/// others are left out. TI's code is not public; this is our own.
const ROM_START: u32 = 0x1000_0180;
/// The ROM's HAPI table; its function that switches the high-frequency clock has no effect here
/// (`ROM_HAPI_TABLE_ADDR` and `HARD_API_T` in `rom.h` of `CC26xxWare`), because the clock follows
/// its setting at once.
const HAPI_START: u32 = 0x1000_0048;
const HAPI_FUNCTIONS: u32 = 19;
const HF_SOURCE_SAFE_SWITCH: u32 = 14;
const RETURN: u16 = 0x4770;
/// AUX's function table, whose only function controls AUX's power (`AUXWUCPowerCtrl`: 1 off, 2
/// asleep, 4 on), and that function.
const AUX_START: u32 = 0x1000_0098;
const AUX_TABLE: usize = 8;
const AUX_POWER: u32 = 3;
const AUX_FUNCTIONS: u32 = 4;
#[rustfmt::skip]
static AUX_CODE: [u16; 13] = [
    0xf246, 0x0100,  // movw r1, #24576
    0xf2c4, 0x010c,  // movt r1, #16396
    0xf000, 0x0201,  // and.w r2, r0, #1
    0x604a,          // str r2, [r1, #4]
    0xf3c0, 0x0340,  // ubfx r3, r0, #1, #1
    0x608b,          // str r3, [r1, #8]
    0x431a,          // orrs r2, r3
    0x648a,          // str r2, [r1, #72]
    0x4770,          // bx lr
];
const FLASH_TABLE: usize = 10;
const FLASH_ERASE: usize = 5;
const FLASH_PROGRAM: usize = 6;
const TABLES: usize = 23;
const FLASH_FUNCTIONS: usize = 10;
#[rustfmt::skip]
static ERASE_CODE: [u16; 15] = [
    // FlashSectorErase(address)
    0xb510,          // push {r4, lr}
    0xf000, 0xf835,  // bl 70 <open>
    0x0b01,          // lsrs r1, r0, #12
    0x2201,          // movs r2, #1
    0x408a,          // lsls r2, r1
    0x43d2,          // mvns r2, r2
    0xf8c3, 0x20c0,  // str.w r2, [r3, #192]
    0x2206,          // movs r2, #6
    0xf000, 0xf84b,  // bl ae <run>
    0xf000, 0xf855,  // bl c6 <close>
    0xbd10,          // pop {r4, pc}
];
/// The same where sectors have 8 KB and are more than 32.
#[rustfmt::skip]
static ERASE_CODE_OF_CC26X2: [u16; 25] = [
    // FlashSectorErase(address)
    0xb510,          // push {r4, lr}
    0xf000, 0xf83f,  // bl 84 <open>
    0x0b41,          // lsrs r1, r0, #13
    0x2201,          // movs r2, #1
    0x408a,          // lsls r2, r1
    0x43d2,          // mvns r2, r2
    0xf8c3, 0x20c0,  // str.w r2, [r3, #192]
    0x3920,          // subs r1, #32
    0x2201,          // movs r2, #1
    0x408a,          // lsls r2, r1
    0x43d2,          // mvns r2, r2
    0xf8c3, 0x20c4,  // str.w r2, [r3, #196]
    0x2206,          // movs r2, #6
    0xf000, 0xf84f,  // bl c2 <run>
    0xf06f, 0x0200,  // mvn.w r2, #0
    0xf8c3, 0x20c4,  // str.w r2, [r3, #196]
    0xf000, 0xf855,  // bl da <close>
    0xbd10,          // pop {r4, pc}
];
/// What follows either of them; addresses are those after the first.
#[rustfmt::skip]
static PROGRAM_CODE: [u16; 100] = [
    // FlashProgram(bytes, address, count)
    0xb5f0,          // push {r4, r5, r6, r7, lr}
    0x4604,          // mov r4, r0
    0x460d,          // mov r5, r1
    0x188e,          // adds r6, r1, r2
    0x2000,          // movs r0, #0
    0xb30a,          // cbz r2, 6e <program+0x50>
    0x4628,          // mov r0, r5
    0xf000, 0xf820,  // bl 70 <open>
    0xf06f, 0x0200,  // mvn.w r2, #0
    0xf814, 0x7b01,  // ldrb.w r7, [r4], #1
    0x43ff,          // mvns r7, r7
    0xb2ff,          // uxtb r7, r7
    0xf005, 0x0103,  // and.w r1, r5, #3
    0x00c9,          // lsls r1, r1, #3
    0x408f,          // lsls r7, r1
    0x43ba,          // bics r2, r7
    0x3501,          // adds r5, #1
    0x42b5,          // cmp r5, r6
    0xbf18,          // it ne
    0xf015, 0x0f03,  // tstne.w r5, #3
    0xd1f0,          // bne.n 34 <program+0x16>
    0xf3c0, 0x0180,  // ubfx r1, r0, #2, #1
    0xeb0c, 0x0181,  // add.w r1, ip, r1, lsl #2
    0xf8c1, 0x2120,  // str.w r2, [r1, #288]
    0x2202,          // movs r2, #2
    0xf000, 0xf825,  // bl ae <run>
    0xb908,          // cbnz r0, 6a <program+0x4c>
    0x42b5,          // cmp r5, r6
    0xd1df,          // bne.n 2a <program+0xc>
    0xf000, 0xf82c,  // bl c6 <close>
    0xbdf0,          // pop {r4, r5, r6, r7, pc}
    // open
    0xf242, 0x0c00,  // movw ip, #8192
    0xf2c4, 0x0c03,  // movt ip, #16387
    0xf242, 0x2300,  // movw r3, #8704
    0xf2c4, 0x0303,  // movt r3, #16387
    0x2101,          // movs r1, #1
    0xf8cc, 0x1030,  // str.w r1, [ip, #48]
    0xf64f, 0x72ff,  // movw r2, #65535
    0xf8cc, 0x2034,  // str.w r2, [ip, #52]
    0x2100,          // movs r1, #0
    0xf8cc, 0x1030,  // str.w r1, [ip, #48]
    0x2205,          // movs r2, #5
    0xf8c3, 0x2088,  // str.w r2, [r3, #136]
    0x2210,          // movs r2, #16
    0x60da,          // str r2, [r3, #12]
    0x2115,          // movs r1, #21
    0xf8c3, 0x10b4,  // str.w r1, [r3, #180]
    0xf100, 0x51fc,  // add.w r1, r0, #528482304
    0xf8cc, 0x1110,  // str.w r1, [ip, #272]
    0x4770,          // bx lr
    // run
    0x60da,          // str r2, [r3, #12]
    0x2115,          // movs r1, #21
    0xf8c3, 0x10b4,  // str.w r1, [r3, #180]
    0xf8dc, 0x1054,  // ldr.w r1, [ip, #84]
    0x05c8,          // lsls r0, r1, #23
    0xd4fb,          // bmi.n b6 <run+0x8>
    0xf001, 0x0010,  // and.w r0, r1, #16
    0x0880,          // lsrs r0, r0, #2
    0x4770,          // bx lr
    // close
    0xf06f, 0x0200,  // mvn.w r2, #0
    0xf8c3, 0x20c0,  // str.w r2, [r3, #192]
    0x2202,          // movs r2, #2
    0xf8c3, 0x2088,  // str.w r2, [r3, #136]
    0x2101,          // movs r1, #1
    0xf8cc, 0x1030,  // str.w r1, [ip, #48]
    0x2200,          // movs r2, #0
    0xf8cc, 0x2034,  // str.w r2, [ip, #52]
    0xf8cc, 0x2030,  // str.w r2, [ip, #48]
    0x4770,          // bx lr
];

/// Address of functions that the ROM leaves out: unmapped, so that a call is reported.
const LEFT_OUT: u32 = 0x1001_0001;
const TABLE_FUNCTIONS: u32 = 24;

/// The `CC26x2`'s ROM has another table, of functions that set trims. They have no effect here and
/// return 0, except the one that sets VIMS as the customer configuration says. Of the oscillator
/// functions, it has the two that TI's driver library always calls in the ROM (`rom.h`,
/// `setup_rom.c` and `osc.c` of the library for that family).
const SETUP_TABLE: usize = 28;
const OSC_TABLE: usize = 24;
const SETUP_TABLES: usize = 34;
const SETUP_FUNCTIONS: u32 = 20;
const SET_CACHE_MODE: u32 = 18;
/// Offsets in [`SETUP_CODE`].
const CACHE_MODE_AT: u32 = 4;
const SOURCE_SET_AT: u32 = 44;
const SOURCE_GET_AT: u32 = 76;
static SETUP_CODE: [u16; 50] = [
    // others
    0x2000, // movs r0, #0
    0x4770, // bx lr
    // SetupSetCacheModeAccordingToCcfgSetting()
    0xf244, 0x0100, // movw r1, #0x4000
    0xf2c4, 0x0103, // movt r1, #0x4003
    0x680a, // wait: ldr r2, [r1]
    0x0712, // lsls r2, r2, #28
    0xd4fc, // bmi wait
    0xf644, 0x73b0, // movw r3, #0x4fb0
    0xf2c5, 0x0300, // movt r3, #0x5000
    0x681b, // ldr r3, [r3]
    0xf3c3, 0x0380, // ubfx r3, r3, #2, #1
    0xf043, 0x5300, // orr r3, r3, #0x20000000
    0xf043, 0x0304, // orr r3, r3, #4
    0x604b, // str r3, [r1, #4]
    0x4770, // bx lr
    // OSCClockSourceSet(clocks, source)
    0xf24a, 0x4200, // movw r2, #0xa400
    0xf2c4, 0x020c, // movt r2, #0x400c
    0x07c3, // lsls r3, r0, #31
    0xd502, // bpl low
    0xf441, 0x3380, // orr r3, r1, #0x10000
    0x6013, // str r3, [r2]
    0x0743, // low: lsls r3, r0, #29
    0xd503, // bpl done
    0x0089, // lsls r1, r1, #2
    0xf441, 0x2340, // orr r3, r1, #0xc0000
    0x6013, // str r3, [r2]
    0x4770, // done: bx lr
    // OSCClockSourceGet(clock)
    0xf24a, 0x0200, // movw r2, #0xa000
    0xf2c4, 0x020c, // movt r2, #0x400c
    0x6bd1, // ldr r1, [r2, #60]
    0x0740, // lsls r0, r0, #29
    0xbf4c, // ite mi
    0xf3c1, 0x7041, // ubfxmi r0, r1, #29, #2
    0xf3c1, 0x7000, // ubfxpl r0, r1, #28, #1
    0x4770, // bx lr
];

struct Cc26x0 {
    parameters: Arc<Parameters>,
    /// The cache's RAM, which is memory in another mode.
    gpram: Range<u32>,
    core_hz: Hertz,
    low_hz: Hertz,
    uart: Pl011,
    ssi: [Pl022; 2],
    gpt: [Gpt; 4],
    i2c: I2cMaster,
    aes: Option<TiAes>,
    trng: Trng,
    watchdog: TiWatchdog,
    rtc: AonRtc,
    vims: Vims,
    iocfg: [u32; 32],
    edges: EdgeFlags,
    /// PRCM's registers; those for clocks and power domains hold what is written and have no
    /// effect, except the RF core's and those that standby checks.
    prcm: [u32; 0x90],
    /// Whether the loaded settings keep the clocks of DMA and AES on in deep sleep.
    keeps_clocks: bool,
    /// `MCUWUSEL`.
    wake_up_events: u32,
    in_standby: bool,
    aon: Option<Box<dyn AlwaysOn>>,
    temperature: Signal,
    /// End of flash.
    flash_end: u32,
    flash: Option<Cc26x0Flash>,
    rf: Option<Cc26x0Rf>,
    /// RFCCLKG as loaded.
    rf_clock: bool,
}

/// The series.
pub static SERIES: Series = Series {
    name: "cc26x0",
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
    let pins = plain(parameters.instances.pins(Block::Gpio));
    Ok((Box::new(Cc26x0::new(parameters, core, setting)), pins))
}

impl Cc26x0 {
    fn new(parameters: Arc<Parameters>, core: &Core, setting: &dyn Fn(&str) -> u32) -> Self {
        let features = Features {
            long_keys_and_gcm: false,
            hash: false,
        };
        let aes = core.aes.as_ref();
        let mut prcm = [0; 0x90];
        prcm[RAMRETEN] = 3;
        prcm[PDCTL1] = RESET_PDCTL1;
        let factory = parameters.factory.as_ref();
        prcm[PROTOCOLS as usize / 4] = factory.map_or(0, |factory| factory.protocols.whole());
        let (core_hz, low_hz) = (Hertz(core.reset_hz.whole()), Hertz(core.low_hz.whole()));
        let is_cc26x2 = Self::has_power_management(&parameters);
        let aon = factory.map(|factory| -> Box<dyn AlwaysOn> {
            let identity = Identity {
                device_id: factory.device_id.whole(),
                user_id: factory.user_id.as_ref().map_or(0, Constant::whole),
                number: setting("device_number"),
            };
            if is_cc26x2 {
                Box::new(Cc26x2Aon::new(identity))
            } else {
                Box::new(Cc26x0Aon::new(identity))
            }
        });
        Self {
            parameters,
            gpram: core.cache_ram.clone(),
            core_hz,
            low_hz,
            uart: Pl011::new(32),
            ssi: Default::default(),
            gpt: Default::default(),
            i2c: I2cMaster::default(),
            aes: aes.map(|aes| TiAes::new(aes.timing(), features)),
            trng: Trng::new(setting("trng_seed")),
            watchdog: TiWatchdog::default(),
            rtc: AonRtc::new(core_hz, low_hz.into()),
            vims: Vims::new(setting("cache_mode"), setting("line_buffer") != 0),
            iocfg: [0x6000; 32],
            edges: EdgeFlags::default(),
            prcm,
            keeps_clocks: false,
            wake_up_events: NOTHING_WAKES,
            in_standby: false,
            aon,
            temperature: Signal::constant(25_000_000),
            flash_end: core.flash_end,
            flash: core
                .flash
                .clone()
                .map(|(range, times)| Cc26x0Flash::new(range, times, core.reset_hz.whole())),
            rf: core
                .radio
                .as_ref()
                .map(|radio| Cc26x0Rf::new(radio.figures(&PHY))),
            rf_clock: false,
        }
    }

    /// Whether a chip is a `CC26x2`, which has this block.
    fn has_power_management(parameters: &Parameters) -> bool {
        let block = Block::Aon(AonBlock::PowerManagement);
        parameters.instances.base(block).is_some()
    }

    fn is_cc26x2(&self) -> bool {
        Self::has_power_management(&self.parameters)
    }

    /// Whether a register of the flash controller is only held.
    fn holds(&self, offset: u32) -> bool {
        let flash = self.flash.as_ref();
        flash.is_none_or(|flash| flash.read(offset).is_none())
    }

    /// The flash table, at an address, and the functions that it leads to.
    fn flash_rom(start: u32, erase: &[u16]) -> Vec<u8> {
        let code = start + 4 * FLASH_FUNCTIONS as u32;
        let mut functions = [LEFT_OUT; FLASH_FUNCTIONS];
        functions[FLASH_ERASE] = code | 1;
        functions[FLASH_PROGRAM] = (code + 2 * erase.len() as u32) | 1;
        let words = functions.iter().flat_map(|word| word.to_le_bytes());
        let code = erase.iter().chain(&PROGRAM_CODE);
        words
            .chain(code.flat_map(|half| half.to_le_bytes()))
            .collect()
    }

    /// The tables and emulated functions of a ROM that sets trims.
    fn setup_rom(has_flash: bool) -> (u32, Vec<u8>) {
        let setup = ROM_START + 4 * SETUP_TABLES as u32;
        let osc = setup + 4 * SETUP_FUNCTIONS;
        let others = osc + 4 * 2;
        let code = others + 4 * TABLE_FUNCTIONS;
        let flash = code + 2 * SETUP_CODE.len() as u32;
        let tables = (0..SETUP_TABLES).map(|table| match table {
            SETUP_TABLE => setup,
            OSC_TABLE => osc,
            FLASH_TABLE if has_flash => flash,
            _ => others,
        });
        let functions = (0..SETUP_FUNCTIONS).map(|function| match function {
            SET_CACHE_MODE => (code + CACHE_MODE_AT) | 1,
            _ => code | 1,
        });
        let functions = functions
            .chain([SOURCE_GET_AT, SOURCE_SET_AT].map(|at| (code + at) | 1))
            .chain((0..TABLE_FUNCTIONS).map(|_| LEFT_OUT));
        let words = tables.chain(functions).flat_map(u32::to_le_bytes);
        let code = SETUP_CODE
            .iter()
            .flat_map(|halfword| halfword.to_le_bytes());
        let mut rom: Vec<u8> = words.chain(code).collect();
        if has_flash {
            rom.extend(Self::flash_rom(flash, &ERASE_CODE_OF_CC26X2));
        }
        (ROM_START, rom)
    }

    /// Map the alias that bypasses the write buffer to the regular address.
    const fn buffered(address: u32) -> u32 {
        if *UNBUFFERED.start() <= address && address <= *UNBUFFERED.end() {
            address - UNBUFFERED_OFFSET
        } else {
            address
        }
    }

    fn read_aon(&mut self, block: AonBlock, offset: u32, time: Picoseconds) -> Option<u32> {
        let aon = self.aon.as_mut()?;
        aon.set_temperature(self.temperature.at(time));
        aon.read(block, offset)
    }

    fn write_aon(&mut self, block: AonBlock, offset: u32, value: u32, width: u32) -> bool {
        let aon = self.aon.as_mut();
        aon.is_some_and(|aon| aon.write(block, offset, value, width))
    }

    /// Refuse an access to GPRAM, which arrives here while it is not usable as memory.
    fn refuse_gpram(&self, address: u32) -> Result<(), Fault> {
        if !self.gpram.contains(&address) {
            return Ok(());
        }
        Err(Fault::new(
            FaultKind::Peripheral,
            "GPRAM is no memory while VIMS is in cache mode or off (VIMS.CTL.MODE)",
        ))
    }

    fn read_prcm(&self, offset: u32) -> Option<u32> {
        let domains = self.prcm[PDCTL1];
        Some(match offset {
            // LOAD_DONE: settings take effect at once.
            0x28 => 2,
            // Power domain status registers follow their controls at once.
            0x140..=0x14c => self.prcm[offset as usize / 4 - 5],
            0x184..=0x18c => Self::domain_1(offset - 0x184, domains),
            0x194 => domains | BUS_ON,
            0x198 => 1,
            // PDSTAT1RFC comes before PDSTAT1CPU.
            0x19c => Self::domain_1(4, domains),
            0x1a0 => Self::domain_1(0, domains),
            0x1a4 => Self::domain_1(8, domains),
            0x0c | 0x2c | 0x3c..=0x8c | 0xcc | 0x12c..=0x138 | 0x17c | 0x1d0 | 0x224 => {
                self.prcm[offset as usize / 4]
            }
            WARMRESET | PROTOCOLS => self.prcm[offset as usize / 4],
            _ => return None,
        })
    }

    /// The events that wake the core's domain.
    fn wake_up_events(&self) -> [u32; 4] {
        self.wake_up_events
            .to_le_bytes()
            .map(|event| u32::from(event & 0x3f))
    }

    /// Whether one of these events has occurred.
    fn is_woken(&self) -> bool {
        let (rtc, pins) = (self.rtc.events(), self.edges.evflags());
        self.wake_up_events().into_iter().any(|event| match event {
            0..=PAD_LAST => pins >> event & 1 != 0,
            ANY_PAD => pins != 0,
            RTC_CH0..=RTC_CH2 => rtc >> (event - RTC_CH0) & 1 != 0,
            RTC_CH0_DELAYED..=RTC_CH2_DELAYED => rtc >> (event - RTC_CH0_DELAYED) & 1 != 0,
            RTC_COMBINED => self.rtc.is_pending(),
            _ => false,
        })
    }

    /// PDCTL1's bits 1 to 3 (CPU, RF core and VIMS) as separate registers.
    const fn domain_1(offset: u32, domains: u32) -> u32 {
        domains >> (1 + offset / 4) & 1
    }

    fn write_prcm(&mut self, offset: u32, value: u32, now: Cycles, time: Picoseconds) -> bool {
        let index = offset as usize / 4;
        match offset {
            // LOAD: apply dividers and gates.
            0x28 => {
                let divider = 1 << self.prcm[GPTCLKDIV].min(8);
                for gpt in &mut self.gpt {
                    gpt.set_divider(divider, now);
                }
                self.rf_clock = self.prcm[RFCCLKG] & 1 != 0;
                self.keeps_clocks = self.prcm[SECDMACLKGDS] & DMA_AND_CRYPTO != 0
                    || self.prcm[SECDMACLKGR] & DMA_AND_CRYPTO_ALWAYS != 0;
            }
            0x0c => self.prcm[VDCTL] = value & (ULDO | MCU_VD),
            0x224 => self.prcm[RAMRETEN] = value & 7,
            // PDCTL0 also sets the registers of the single domains, in this order: RF core, serial,
            // peripherals.
            0x12c => {
                self.prcm[PDCTL0] = value & 7;
                for bit in 0..3 {
                    self.prcm[PDCTL0RFC + bit] = value >> bit & 1;
                }
            }
            0x130..=0x138 => {
                self.prcm[index] = value & 1;
                let shift = index - PDCTL0RFC;
                let all = &mut self.prcm[PDCTL0];
                *all = *all & !(1 << shift) | (value & 1) << shift;
            }
            0x17c => self.prcm[PDCTL1] = value & 0xe,
            0x184..=0x18c => {
                let shift = 1 + (offset - 0x184) / 4;
                let all = &mut self.prcm[PDCTL1];
                *all = *all & !(1 << shift) | (value & 1) << shift;
            }
            0xcc => self.prcm[index] = value & 15,
            WARMRESET => {
                self.prcm[index] = self.prcm[index] & WDT_STAT | value & WR_TO_PINRESET;
            }
            0x1d0 => self.prcm[index] = value & 7,
            0x2c | 0x3c..=0x8c => self.prcm[index] = value,
            _ => return false,
        }
        if let Some(rf) = &mut self.rf {
            let is_on = self.prcm[PDCTL0] & RFC_ON_0 != 0 || self.prcm[PDCTL1] & RFC_ON_1 != 0;
            rf.set_power(is_on && self.rf_clock, time);
        }
        true
    }
}

impl Peripherals for Cc26x0 {
    fn serial_ports(&self) -> &'static [&'static str] {
        &["UART0"]
    }

    fn spi_buses(&self) -> &'static [&'static str] {
        &["SSI0", "SSI1"][..self.parameters.instances.run(Block::Ssi)]
    }

    fn rom(&self) -> Vec<(u32, Vec<u8>)> {
        if self.aon.is_none() {
            return Vec::new();
        }
        let hapi_code = HAPI_START + 4 * HAPI_FUNCTIONS;
        let hapi = (0..HAPI_FUNCTIONS).map(|function| match function {
            HF_SOURCE_SAFE_SWITCH => hapi_code | 1,
            _ => LEFT_OUT,
        });
        let hapi = hapi.flat_map(u32::to_le_bytes).chain(RETURN.to_le_bytes());
        let hapi = (HAPI_START, hapi.collect());
        if self.is_cc26x2() {
            return vec![hapi, Self::setup_rom(self.flash.is_some())];
        }
        let table = ROM_START + 4 * TABLES as u32;
        let mut code = Self::flash_rom(table, &ERASE_CODE);
        code.resize(code.len().next_multiple_of(4), 0);
        let others = table + code.len() as u32;
        let mut tables = [others; TABLES];
        tables[FLASH_TABLE] = table;
        tables[AUX_TABLE] = AUX_START;
        let words = tables.iter().flat_map(|word: &u32| word.to_le_bytes());
        let missing = (0..TABLE_FUNCTIONS).flat_map(|_| LEFT_OUT.to_le_bytes());
        let code = code.into_iter().chain(missing);
        let aux_code = AUX_START + 4 * AUX_FUNCTIONS;
        let aux = (0..AUX_FUNCTIONS).map(|function| match function {
            AUX_POWER => aux_code | 1,
            _ => LEFT_OUT,
        });
        let code_of_aux = AUX_CODE.iter().flat_map(|halfword| halfword.to_le_bytes());
        let aux = aux.flat_map(u32::to_le_bytes).chain(code_of_aux);
        vec![
            hapi,
            (AUX_START, aux.collect()),
            (ROM_START, words.chain(code).collect()),
        ]
    }

    fn read(&mut self, address: u32, context: &mut Context<'_>) -> Result<Option<u32>, Fault> {
        self.refuse_gpram(address)?;
        let Some((block, offset)) = self.parameters.instances.find(Self::buffered(address)) else {
            return Ok(None);
        };
        let now = context.now;
        Ok(match block {
            Block::Uart => self.uart.read(offset),
            Block::Ssi(index) => self.ssi[index].read(offset, now),
            Block::Gpt(index) => self.gpt[index].read(offset, now),
            Block::Crypto => self.aes.as_mut().and_then(|aes| aes.read(offset, now)),
            Block::Trng => self.trng.read(offset),
            Block::I2cMaster => self.i2c.read(offset - I2C_MASTER),
            Block::Watchdog => self.watchdog.read(offset, now),
            Block::AonRtc => self.rtc.read(offset, now),
            Block::Gpio(_) => match offset {
                0x80 => Some(context.pins.output[0]),
                0x90 | 0xa0 | 0xb0 => Some(0),
                0xc0 => Some(context.pins.level(0)),
                0xd0 => Some(context.pins.enabled[0]),
                0xe0 => Some(self.edges.evflags()),
                _ => None,
            },
            // Of a CC26x2, the other registers, which its start-up code sets, are held.
            Block::Flash => {
                let own = self.flash.as_ref().and_then(|flash| flash.read(offset));
                own.or_else(|| self.read_aon(AonBlock::Flash, offset, context.time))
            }
            Block::Vims => self.vims.read(offset, now),
            Block::Ioc => self.iocfg.get(offset as usize / 4).copied(),
            Block::Prcm => {
                let value = self.read_prcm(offset);
                if offset == WARMRESET {
                    self.prcm[WARMRESET as usize / 4] &= WR_TO_PINRESET;
                }
                value
            }
            Block::Rfc => match &mut self.rf {
                Some(rf) => rf.read(offset, context.time)?,
                None => None,
            },
            Block::Aon(AonBlock::Events) if offset == MCUWUSEL => Some(self.wake_up_events),
            Block::Aon(block) => self.read_aon(block, offset, context.time),
        })
    }

    fn write(
        &mut self,
        address: u32,
        value: u32,
        context: &mut Context<'_>,
    ) -> Result<bool, Fault> {
        self.refuse_gpram(address)?;
        let Some((block, offset)) = self.parameters.instances.find(Self::buffered(address)) else {
            return Ok(address == ALIAS_OF_DISDEFWBUF);
        };
        let now = context.now;
        match block {
            Block::Uart => return self.uart.write(offset, value, now),
            Block::Ssi(index) => return self.ssi[index].write(offset, value, now),
            Block::Gpt(index) => return self.gpt[index].write(offset, value, now),
            Block::Crypto => {
                let Some(aes) = &mut self.aes else {
                    return Ok(false);
                };
                return aes.write(offset, value, now);
            }
            Block::Trng => return Ok(self.trng.write(offset, value, now)),
            Block::I2cMaster => return Ok(self.i2c.write(offset - I2C_MASTER, value, now)),
            Block::Watchdog => return self.watchdog.write(offset, value, now),
            Block::AonRtc => return self.rtc.write(offset, value, now),
            Block::Gpio(_) => {
                let pins = &mut *context.pins;
                match offset {
                    0x80 => pins.output[0] = value,
                    0x90 => pins.output[0] |= value,
                    0xa0 => pins.output[0] &= !value,
                    0xb0 => pins.output[0] ^= value,
                    0xd0 => pins.enabled[0] = value,
                    0xe0 => self.edges.clear_evflags(value),
                    _ => return Ok(false),
                }
            }
            Block::Flash => {
                let flash = self.flash.as_mut();
                let is_own = flash.map_or(Ok(false), |flash| flash.write(offset, value, now))?;
                return Ok(is_own || self.write_aon(AonBlock::Flash, offset, value, 4));
            }
            Block::Vims if offset == 4 => self.vims.write_control(value, now)?,
            Block::Vims => return Ok(false),
            Block::Ioc => {
                let pin = offset as usize / 4;
                let Some(iocfg) = self.iocfg.get_mut(pin) else {
                    return Ok(false);
                };
                *iocfg = value;
                self.edges.set_iocfg(pin, value);
                for (ssi, port) in self.ssi.iter_mut().zip(SSI_INPUTS) {
                    if value & PORT_ID == port {
                        ssi.set_pull_up(value & PULL == PULL_UP);
                    }
                }
            }
            Block::Prcm => return Ok(self.write_prcm(offset, value, now, context.time)),
            Block::Rfc => {
                let Some(rf) = &mut self.rf else {
                    return Ok(false);
                };
                return rf.write(offset, value, context.time);
            }
            Block::Aon(AonBlock::Events) if offset == MCUWUSEL => {
                self.wake_up_events = value & NOTHING_WAKES;
            }
            Block::Aon(block) => return Ok(self.write_aon(block, offset, value, 4)),
        }
        Ok(true)
    }

    fn write_part(&mut self, address: u32, value: u32, width: Width) -> bool {
        let (block, offset) = match self.parameters.instances.find(Self::buffered(address)) {
            Some((Block::Aon(block), offset)) => (block, offset),
            Some((Block::Flash, offset)) if self.holds(offset) => (AonBlock::Flash, offset),
            _ => return false,
        };
        self.write_aon(block, offset, value, width.bytes())
    }

    fn set_image(&mut self, image: &Image) {
        let start = self.flash_end.saturating_sub(CCFG_BYTES);
        let mut configuration = vec![0xff; CCFG_BYTES as usize];
        for segment in &image.segments {
            for (at, &byte) in (segment.address..).zip(&segment.data) {
                let place = at
                    .checked_sub(start)
                    .and_then(|offset| configuration.get_mut(offset as usize));
                if let Some(place) = place {
                    *place = byte;
                }
            }
        }
        if let Some(aon) = &mut self.aon {
            aon.set_customer(&configuration);
        }
    }

    fn pins_changed(&mut self, _port: usize, level: u32, changed: u32) -> bool {
        self.edges.pins_changed(level, changed);
        self.edges.is_pending()
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
        self.vims.advance(now);
        self.watchdog.advance(now)
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

    fn senses(&self) -> &'static [&'static str] {
        &["temperature_c"]
    }

    fn surround(&mut self, _quantity: &str, signal: &Signal) {
        self.temperature = signal.clone();
    }

    fn set_watch_crystal(&mut self, ppb: i32, now: Cycles, _time: Picoseconds) {
        let low = FineHertz::new(self.low_hz, ppb);
        self.rtc.set_clocks(self.core_hz, low, now);
    }

    fn flow(&self, address: u32) -> Flow {
        match self.parameters.instances.find(Self::buffered(address)) {
            // DMAC_CHx_EXTADDR.
            Some((Block::Crypto, 0x04 | 0x24)) => Flow::Pointer,
            // AES_IV, which is chained, and AES_TAG_OUT.
            Some((Block::Crypto, 0x540..=0x54c | 0x570..=0x57c)) => Flow::Derived,
            _ => Flow::Register,
        }
    }

    fn transfer(
        &mut self,
        memory: &mut dyn Memories,
        now: Cycles,
        _timeline: &Timeline,
    ) -> Result<bool, Fault> {
        let aes = self.aes.as_mut();
        let by_aes = aes.map_or(Ok(false), |aes| aes.transfer(memory, now))?;
        let flash = self.flash.as_mut();
        let by_flash = flash.map_or(Ok(false), |flash| flash.transfer(memory, now))?;
        let Some(rf) = self.rf.as_mut().filter(|rf| rf.needs_memory()) else {
            return Ok(by_aes || by_flash);
        };
        let base = &|| self.parameters.instances.base(Block::Rfc).unwrap_or(0);
        let by_rf = rf.transfer(&mut Based { memory, base }, self.rtc.time(now))?;
        Ok(by_rf || by_aes || by_flash)
    }

    fn radio(&self) -> Option<&dyn Radio> {
        self.rf.as_ref().map(|rf| rf as &dyn Radio)
    }

    fn radio_mut(&mut self) -> Option<&mut dyn Radio> {
        self.rf.as_mut().map(|rf| rf as &mut dyn Radio)
    }

    fn next_event(&self) -> Cycles {
        let gpt = self.gpt.iter().map(Gpt::next_event);
        gpt.chain([
            self.uart.next_event(),
            self.ssi[0].next_event(),
            self.ssi[1].next_event(),
            self.i2c.next_event(),
            self.trng.next_event(),
            self.rtc.next_event(),
            self.vims.next_event(),
            self.watchdog.next_event(),
            self.aes.as_ref().map_or(Cycles::NEVER, TiAes::next_event),
            self.flash
                .as_ref()
                .map_or(Cycles::NEVER, Cc26x0Flash::next_event),
        ])
        .min()
        .unwrap_or(Cycles::NEVER)
    }

    fn interrupts(&self) -> [u64; 4] {
        if self.in_standby && !self.is_woken() {
            return [0; 4];
        }
        let gpt = self.gpt.each_ref().map(Gpt::pending);
        let rf = self.rf.as_ref().map_or([false; 4], Cc26x0Rf::interrupts);
        self.parameters
            .instances
            .lines(|block, number| match block {
                Block::Gpio(_) => self.edges.is_pending(),
                Block::Uart => self.uart.is_pending(),
                Block::Ssi(index) => self.ssi[index].is_pending(),
                Block::I2cMaster => self.i2c.is_pending(),
                Block::AonRtc => self.rtc.is_pending(),
                Block::Watchdog => self.watchdog.is_pending(),
                Block::Crypto => self.aes.as_ref().is_some_and(TiAes::is_pending),
                Block::Trng => self.trng.is_pending(),
                Block::Gpt(index) => gpt[index][number],
                Block::Rfc => rf[number],
                _ => false,
            })
    }

    fn memory_settings(&self) -> MemorySettings {
        MemorySettings {
            line_buffer: self.vims.line_buffer_is_on(),
            cache: self.vims.cache_is_on(),
            ..MemorySettings::default()
        }
    }

    fn cache_ram_off(&self) -> bool {
        !self.vims.is_gpram()
    }

    fn flash_state(&self) -> Option<&'static str> {
        self.flash.as_ref().and_then(Cc26x0Flash::power_state)
    }

    /// Make a warm reset. `WR_TO_PINRESET` turns it into a pin reset (`hw_prcm.h`, `WARMRESET`),
    /// which also resets the always-on domain and its real-time clock, and records the cause.
    fn reset(&mut self, anew: &Anew<'_>) {
        if let Some(rf) = &mut self.rf {
            rf.set_power(false, anew.time);
        }
        let mut fresh = Self::new(Arc::clone(&self.parameters), anew.core, anew.setting);
        fresh.rf = self.rf.take();
        fresh.trng = self.trng.after_reset();
        if self.prcm[WARMRESET as usize / 4] & WR_TO_PINRESET != 0 {
            if let (Some(fresh), Some(before)) = (&mut fresh.aon, &mut self.aon) {
                fresh.reset_by(RESET_SRC_WARMRESET, &**before);
            }
        } else {
            fresh.aon = self.aon.take();
            fresh.rtc = self.rtc.clone();
            fresh.wake_up_events = self.wake_up_events;
            if anew.cause == Reset::Watchdog {
                fresh.prcm[WARMRESET as usize / 4] = WDT_STAT;
            }
        }
        *self = fresh;
    }

    fn sleep_state(&self) -> &'static str {
        "idle"
    }

    fn deep_sleep(&mut self, _context: &mut Context<'_>) -> Result<&'static str, Fault> {
        // Conditions for the domain to release its regulator (`VDCTL` in `hw_prcm.h`).
        let asked = self.prcm[VDCTL];
        let off = self.prcm[PDCTL1] & CPU_AND_VIMS == 0
            && !self.keeps_clocks
            && (self.prcm[PDCTL0] & RFC_ON_0 == 0 && self.prcm[PDCTL1] & RFC_ON_1 == 0);
        if off && asked & MCU_VD != 0 {
            return Err(Fault::new(
                FaultKind::Absent,
                "the emulation leaves out turning the core's domain off (PRCM.VDCTL.MCU_VD), from which \
                 a reset wakes",
            ));
        }
        if !off || asked & ULDO == 0 {
            return Ok("idle");
        }
        let known = |event: &u32| matches!(*event, 0..=ANY_PAD | RTC_CH0..=RTC_COMBINED | NO_EVENT);
        let events = self.wake_up_events();
        if let Some(event) = events.iter().find(|event| !known(event)) {
            return Err(Fault::new(
                FaultKind::Absent,
                format!(
                    "the emulation leaves out waking from standby by event {event:#x} \
                     (AON_EVENT.MCUWUSEL); it has those of pins and of the real-time clock"
                ),
            ));
        }
        self.in_standby = true;
        Ok("standby")
    }

    fn wake(&mut self, _context: &mut Context<'_>) {
        self.in_standby = false;
    }
}
