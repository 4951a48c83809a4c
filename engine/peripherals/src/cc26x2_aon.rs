//! What TI's start-up code of the `CC26x2` sets up (SWCU185, chapters AON, AUX, DDI and ADI, device
//! configuration). The analogue domain and the interfaces are those of
//! [`Cc26x0Aon`](crate::Cc26x0Aon); the power management and sensor controller registers differ.
//! Addresses and fields were compared with this family's TI headers `hw_memmap.h`,
//! `hw_aon_pmctl.h`, `hw_aux_sysif.h`, `hw_ddi_0_osc.h`, `hw_fcfg1.h` and `hw_ccfg.h`.

use crate::cc26x0_aon::{AlwaysOn, AonBlock, Battery, CCFG_BYTES, Common, Identity};

/// CCFG is at the end of the last 8-KiB flash sector.
const CCFG_FIRST: u32 = 0x2000 - CCFG_BYTES;

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
    /// The state after a cold reset of a device of this identity.
    pub fn new(identity: Identity) -> Self {
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
            common: Common::new(STAT0, CCFG_FIRST, identity, REVISION),
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
    fn set_temperature(&mut self, microdegrees: i64) {
        self.battery.set_temperature(microdegrees);
    }

    fn customer(&self, number: usize) -> u32 {
        self.common.customer[number]
    }

    fn set_reset_source(&mut self, source: u32) {
        self.power[RESETCTL] = source;
    }

    fn set_customer(&mut self, configuration: &[u8]) {
        self.common.set_customer(configuration);
    }

    fn read(&mut self, block: AonBlock, offset: u32) -> Option<u32> {
        let index = offset as usize / 4;
        match block {
            AonBlock::Flash => self.flash.get(index).copied(),
            AonBlock::PowerManagement if offset == PWRSTAT => Some(POWER),
            AonBlock::PowerManagement => self.power.get(index).copied(),
            AonBlock::Events => self.events.get(index).copied(),
            AonBlock::Pads => self.pads.get(index).copied(),
            AonBlock::Battery => self.battery.read(offset),
            AonBlock::AuxEvents => self.event_control.get(index).copied(),
            AonBlock::AuxSystem => self.read_system(offset),
            AonBlock::AuxAnalogue => self.analogue.get(index).copied(),
            AonBlock::Factory => self.factory(offset),
            _ => self.common.read(block, offset),
        }
    }

    fn write(&mut self, block: AonBlock, offset: u32, value: u32, width: u32) -> bool {
        let index = offset as usize / 4;
        let held = match block {
            AonBlock::Battery => return width == 4 && self.battery.write(offset, value),
            AonBlock::Flash if offset != FSM_EXECUTE => {
                let register = self.flash.get_mut(index);
                return register.map(|register| *register = value).is_some();
            }
            AonBlock::PowerManagement if offset != PWRSTAT => &mut self.power[..],
            AonBlock::Events => &mut self.events,
            AonBlock::Pads => &mut self.pads,
            AonBlock::AuxEvents => &mut self.event_control,
            AonBlock::AuxSystem => &mut self.system,
            AonBlock::AuxAnalogue => &mut self.analogue,
            _ => return self.common.write(block, offset, value, width),
        };
        let register = held.get_mut(index);
        width == 4 && register.map(|register| *register = value).is_some()
    }
}
