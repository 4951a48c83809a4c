//! What TI's start-up code of the `CC26x2` sets up (SWCU185, chapters AON, AUX, DDI and ADI, device
//! configuration). The analogue domain and the interfaces are those of
//! [`Cc26x0Aon`](crate::Cc26x0Aon); the power management and sensor controller registers differ.
//! Addresses and fields were compared with this family's TI headers `hw_memmap.h`,
//! `hw_aon_pmctl.h`, `hw_aux_sysif.h`, `hw_ddi_0_osc.h`, `hw_fcfg1.h` and `hw_ccfg.h`.

use crate::cc26x0_aon::{AlwaysOn, Battery, Common};

const PMCTL: u32 = 0x4009_0000;
const EVENT: u32 = 0x4009_3000;
const IOC: u32 = 0x4009_4000;
const BATMON: u32 = 0x4009_5000;
const EVCTL: u32 = 0x400c_5000;
const SYSIF: u32 = 0x400c_6000;
const ANAIF: u32 = 0x400c_9000;
const FLASH: u32 = 0x4003_0000;
const FLASH_LAST: u32 = 0x4003_2000;
const FCFG1: u32 = 0x5000_1000;
/// CCFG is at the end of the last 8-KiB flash sector.
const CCFG: u32 = 0x5000_4000;

/// `PWRSTAT`: JTAG is on, AUX and its bus are out of reset.
const PWRSTAT: u32 = 0x14;
const POWER: u32 = 7;
/// `SLEEPCTL` with the pads awake, as start-up code finds it after a cold reset.
const SLEEPCTL: usize = 0x2c / 4;
/// `AON_PMCTL_RESETCTL`.
const RESETCTL: usize = 0x28 / 4;
const IOCLATCH: usize = 3;

/// `STAT0` of the oscillators.
const STAT0: u32 = 0x3c;
/// The flash controller: registers without effect, except the one that starts an erase or
/// programming, which is left out.
const FSM_EXECUTE: u32 = 0x22b4;

/// First and last offset of documented words of FCFG1.
const FACTORY: (u32, u32) = (0x0a0, 0x42c);
const REVISION: u32 = 0x2c;

/// The always-on and analogue domains, the device configuration, and the flash controller's set-up.
#[derive(Clone, Debug)]
pub struct Cc26x2Aon {
    power: [u32; 0x40 / 4],
    events: [u32; 4],
    pads: [u32; 6],
    battery: Battery<{ 0x60 / 4 }>,
    /// `AUX_SYSIF`, `AUX_EVCTL` and `AUX_ANAIF`.
    system: [u32; 0xb8 / 4],
    event_control: [u32; 0x60 / 4],
    analogue: [u32; 0x60 / 4],
    flash: Vec<u32>,
    common: Common<128>,
}

impl Cc26x2Aon {
    /// Mask and value of the device identity bits (the wafer number) that mark this family.
    pub const FAMILY: (u32, u32) = (0x0fff_f000, 0x0bb4_1000);

    /// The state after a cold reset of a device of this identity and number.
    pub fn new(device_id: u32, number: u32) -> Self {
        let mut power = [0; 0x40 / 4];
        power[SLEEPCTL] = 1;
        let mut pads = [0; 6];
        pads[IOCLATCH] = 1;
        Self {
            power,
            events: [0; 4],
            pads,
            battery: Battery::default(),
            system: [0; 0xb8 / 4],
            event_control: [0; 0x60 / 4],
            analogue: [0; 0x60 / 4],
            flash: vec![0; 0x2400 / 4],
            common: Common::new(STAT0, CCFG, device_id, REVISION, number),
        }
    }

    fn factory(&self, offset: u32) -> Option<u32> {
        let (first, last) = FACTORY;
        (first..=last)
            .contains(&offset)
            .then(|| self.common.factory(offset))
    }

    fn read_system(&self, offset: u32) -> Option<u32> {
        let held = |offset: u32| self.system.get(offset as usize / 4).copied();
        match offset {
            // OPMODEACK and TIMER2CLKSTAT take the values of the registers before them at once.
            0x04 | 0x60 => held(offset - 4),
            // Converter clocks and the increment of the real-time clock: bit 1 acknowledges bit 0.
            0x50..=0x58 | 0x84 => held(offset).map(|value| value & 1 | (value & 1) << 1),
            0x94 => self.battery.read(0x28),
            0x9c => self.battery.read(0x30),
            _ => held(offset),
        }
    }
}

impl AlwaysOn for Cc26x2Aon {
    fn customer(&self, number: usize) -> u32 {
        self.common.customer[number]
    }

    fn set_reset_source(&mut self, source: u32) {
        self.power[RESETCTL] = source;
    }

    fn set_customer(&mut self, configuration: &[u8]) {
        self.common.set_customer(configuration);
    }

    fn read(&mut self, address: u32) -> Option<u32> {
        let offset = address & 0xfff;
        let index = offset as usize / 4;
        match address & !0xfff {
            FLASH..=FLASH_LAST => self.flash.get((address - FLASH) as usize / 4).copied(),
            PMCTL if offset == PWRSTAT => Some(POWER),
            PMCTL => self.power.get(index).copied(),
            EVENT => self.events.get(index).copied(),
            IOC => self.pads.get(index).copied(),
            BATMON => self.battery.read(offset),
            EVCTL => self.event_control.get(index).copied(),
            SYSIF => self.read_system(offset),
            ANAIF => self.analogue.get(index).copied(),
            FCFG1 => self.factory(offset),
            _ => self.common.read(address),
        }
    }

    fn write(&mut self, address: u32, value: u32, width: u32) -> bool {
        let offset = address & 0xfff;
        let index = offset as usize / 4;
        let block = match address & !0xfff {
            BATMON => return width == 4 && self.battery.write(offset, value),
            FLASH..=FLASH_LAST if address - FLASH != FSM_EXECUTE => {
                let register = self.flash.get_mut((address - FLASH) as usize / 4);
                return register.map(|register| *register = value).is_some();
            }
            PMCTL if offset != PWRSTAT => &mut self.power[..],
            EVENT => &mut self.events,
            IOC => &mut self.pads,
            EVCTL => &mut self.event_control,
            SYSIF => &mut self.system,
            ANAIF => &mut self.analogue,
            _ => return self.common.write(address, value, width),
        };
        let register = block.get_mut(index);
        width == 4 && register.map(|register| *register = value).is_some()
    }
}
