//! What TI's start-up code of the `CC26x0` sets up (SWCU117, chapters AON, AUX, DDI and ADI, device
//! configuration): the always-on domain; the analogue domain's clocks, oscillators and references;
//! and the factory and customer configuration. Registers hold what is written; clocks, power
//! domains and oscillators respond at once. Addresses and fields were compared with TI's headers
//! `hw_memmap.h`, `hw_aon_*.h`, `hw_aux_*.h`, `hw_ddi*.h`, `hw_adi*.h` and `hw_fcfg1.h`.

/// The blocks of registers; each family has some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AonBlock {
    /// `AON_SYSCTL`.
    SystemControl,
    /// `AON_WUC`.
    WakeUp,
    /// `AON_PMCTL`.
    PowerManagement,
    /// `AON_EVENT`.
    Events,
    /// `AON_IOC`.
    Pads,
    /// `AON_BATMON`.
    Battery,
    /// `AUX_WUC`.
    AuxWakeUp,
    /// `AUX_EVCTL`.
    AuxEvents,
    /// `AUX_SYSIF`.
    AuxSystem,
    /// `AUX_ANAIF`.
    AuxAnalogue,
    /// `AUX_SMPH`.
    Semaphores,
    /// `AUX_DDI0_OSC`.
    Oscillators,
    /// `ADI2`, `ADI3` and `AUX_ADI4`: references and converters.
    References(usize),
    /// `FCFG1`.
    Factory,
    /// `CCFG`.
    Customer,
    /// The flash controller's set-up.
    Flash,
}

/// What the factory configuration says of a device.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// `ICEPICK_DEVICE_ID`.
    pub device_id: u32,
    /// `USER_ID`, by which programs tell the members of a family.
    pub user_id: u32,
    /// The last word of its addresses.
    pub number: u32,
}

/// `SLEEPCTL` with the pads awake, as TI's start-up code finds it after a cold reset.
const SLEEPCTL: usize = 2;
const IO_PAD_SLEEP_DIS: u32 = 1;
/// `AON_SYSCTL_RESETCTL`.
const RESETCTL: usize = 1;
const IOCLATCH: usize = 3;

/// `AON_WUC_PWRSTAT` and its fields: AUX in power-down; domains powered on; AUX bus connected and
/// AUX out of reset.
const PWRSTAT: u32 = 0x14;
const AUX_PWR_DWN: u32 = 1 << 9;
const JTAG_PD_ON: u32 = 1 << 6;
const AUX_PD_ON: u32 = 1 << 5;
const MCU_PD_ON: u32 = 1 << 4;
const AUX_CONNECTED: u32 = 1 << 2 | 1 << 1;
/// Requests to keep AUX and JTAG on (`AUXCTL`, `JTAGCFG`), and to turn AUX off or power it down.
const AUXCTL: usize = 0x10 / 4;
const AUX_FORCE_ON: u32 = 1;
const JTAGCFG: usize = 0x40 / 4;
const JTAG_PD_FORCE_ON: u32 = 1 << 8;
const PWROFFREQ: usize = 1;
const PWRDWNREQ: usize = 2;

/// `STAT0` of the oscillators, and its fields.
const STAT0: u32 = 0x34;
const LF_SOURCE_SHIFT: u32 = 29;
const HF_SOURCE_SHIFT: u32 = 28;
/// The high-frequency clock can be switched.
const SWITCH_READY: u32 = 1;

/// The battery monitor's supply voltage in units of 1/256 V.
const SUPPLY: u32 = 3 << 8;

/// First and last offset of documented words of FCFG1 (`hw_fcfg1.h`), plus one between them that
/// RIOT reads as part of the address (`cpuid`, cc2650).
const FACTORY: [(u32, u32); 13] = [
    (0x0a0, 0x0a4),
    (0x0c4, 0x108),
    (0x118, 0x124),
    (0x138, 0x13c),
    (0x164, 0x164),
    (0x16c, 0x198),
    (0x294, 0x294),
    (0x2b0, 0x2bc),
    (0x2e4, 0x2f4),
    (0x308, 0x320),
    (0x344, 0x344),
    (0x34c, 0x380),
    (0x388, 0x3b8),
];
const TRIM_CAL_REVISION: u32 = 0x314;
/// From this trim revision on, start-up code leaves the trims unchanged.
const TRIMMED: u32 = 527;
/// FCFG1 words that identify the device, in both families.
const USER_ID: u32 = 0x294;
const MAC_BLE: u32 = 0x2e8;
const MAC_BLE_HIGH: u32 = 0x2ec;
const MAC_15_4: u32 = 0x2f0;
const MAC_15_4_HIGH: u32 = 0x2f4;
const ICEPICK_DEVICE_ID: u32 = 0x318;
const FCFG1_REVISION: u32 = 0x31c;
/// Not from a document: TI's code tests only for 0xffffffff and values below 0x13.
const REVISION: u32 = 0x22;
const IEEE_PREFIX: u32 = 0x0012_4b00;

/// The customer configuration (CCFG) is at the end of the last flash sector.
pub const CCFG_BYTES: u32 = 88;
const CCFG_FIRST: u32 = 0x1000 - CCFG_BYTES;

/// The registers that start-up code sets up, for either family.
pub trait AlwaysOn: Send + Sync {
    /// Set the customer configuration to the image's bytes at the end of flash.
    fn set_customer(&mut self, configuration: &[u8]);

    /// Return a word of the customer configuration by number.
    fn customer(&self, number: usize) -> u32;

    /// Set the temperature that the battery monitor reads, in millionths of a degree Celsius.
    fn set_temperature(&mut self, microdegrees: i64);

    /// Set the reset source that `RESETCTL` reports.
    fn set_reset_source(&mut self, source: u32);

    /// Keep the flash contents of the state before a reset, and set the reset's source.
    fn reset_by(&mut self, source: u32, before: &dyn AlwaysOn) {
        let words = (0..CCFG_BYTES as usize / 4).map(|number| before.customer(number));
        self.set_customer(&words.flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
        self.set_reset_source(source);
    }

    /// Read the word at an offset in a block; `None` if there is none.
    fn read(&mut self, block: AonBlock, offset: u32) -> Option<u32>;

    /// Write `width` bytes; false if there is no such register.
    fn write(&mut self, block: AonBlock, offset: u32, value: u32, width: u32) -> bool;
}

/// The battery monitor, with a constant supply.
#[derive(Clone, Debug)]
pub(crate) struct Battery<const WORDS: usize> {
    held: [u32; WORDS],
    /// In units of 1/256 degree, with 9 bits before the point.
    temperature: u32,
}

impl<const WORDS: usize> Default for Battery<WORDS> {
    fn default() -> Self {
        Self {
            held: [0; WORDS],
            temperature: 25 << 8,
        }
    }
}

impl<const WORDS: usize> Battery<WORDS> {
    pub(crate) fn read(&self, offset: u32) -> Option<u32> {
        match offset {
            0x28 => Some(SUPPLY),
            0x30 => Some(self.temperature),
            0x2c | 0x34 => Some(1),
            _ => self.held.get(offset as usize / 4).copied(),
        }
    }

    pub(crate) fn set_temperature(&mut self, microdegrees: i64) {
        self.temperature = (microdegrees * 256).div_euclid(1_000_000) as u32 & 0x1_ffff;
    }

    pub(crate) fn write(&mut self, offset: u32, value: u32) -> bool {
        let register = self.held.get_mut(offset as usize / 4);
        register.map(|register| *register = value).is_some()
    }
}

/// Semaphores of the sensor controller's domain: reading a free one takes it.
#[derive(Clone, Debug)]
pub(crate) struct Semaphores {
    free: [bool; 8],
}

impl Default for Semaphores {
    fn default() -> Self {
        Self { free: [true; 8] }
    }
}

impl Semaphores {
    pub(crate) fn take(&mut self, index: usize) -> Option<u32> {
        let free = self.free.get_mut(index)?;
        Some(std::mem::replace(free, false).into())
    }

    pub(crate) fn set(&mut self, index: usize, is_free: bool) -> bool {
        let free = self.free.get_mut(index);
        free.map(|free| *free = is_free).is_some()
    }
}

/// Registers behind a serial interface: bytes that can be written, set, cleared and masked.
#[derive(Clone, Debug)]
pub(crate) struct Slave<const BYTES: usize> {
    bytes: [u8; BYTES],
}

impl<const BYTES: usize> Slave<BYTES> {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; BYTES] }
    }

    /// `STAT0` of the oscillators: the clocks are always those that `CTL0` selects, and can be
    /// switched.
    pub(crate) fn status(&self) -> Option<u32> {
        let control = self.word(0)?;
        let (low, high) = (control >> 2 & 3, control & 1);
        Some(low << LF_SOURCE_SHIFT | high << HF_SOURCE_SHIFT | SWITCH_READY)
    }

    pub(crate) fn word(&self, offset: u32) -> Option<u32> {
        let at = offset as usize;
        let bytes = self.bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    fn put(&mut self, at: usize, mask: u8, bits: u8) -> bool {
        let byte = self.bytes.get_mut(at);
        byte.map(|byte| *byte = *byte & !mask | bits & mask)
            .is_some()
    }

    /// Write `width` bytes of `value`; false if there is no such register.
    pub(crate) fn write(&mut self, offset: u32, value: u32, width: u32) -> bool {
        let (value, width) = (value.to_le_bytes(), width as usize);
        let (window, at) = (offset as usize / BYTES, offset as usize % BYTES);
        // A masked window spans two or more of the other windows.
        let doubled = offset as usize % (2 * BYTES);
        let mut each = (0..width).map(|index| (index, value[index]));
        match window {
            0 => each.all(|(index, byte)| self.put(at + index, 0xff, byte)),
            1 => each.all(|(index, byte)| self.put(at + index, byte, byte)),
            2 => each.all(|(index, byte)| self.put(at + index, byte, 0)),
            // The interface's own status and configuration.
            3 => true,
            // A 4-bit mask and 4 bits of data, for the lower or the upper half of a byte.
            4 | 5 => each.all(|(index, byte)| {
                let place = doubled + index;
                let (mask, bits) = (byte >> 4, byte & 15);
                let shift = 4 * (place % 2);
                self.put(place / 2, mask << shift, bits << shift)
            }),
            // An 8-bit mask and 8 bits of data.
            6 | 7 if width >= 2 => (0..width / 2)
                .all(|pair| self.put(doubled / 2 + pair, value[2 * pair + 1], value[2 * pair])),
            // A 16-bit mask and 16 bits of data.
            8 | 9 if width == 4 => {
                (0..2).all(|byte| self.put(doubled / 2 + byte, value[2 + byte], value[byte]))
            }
            _ => false,
        }
    }
}

/// What both families have at the same place, or differing only in one number: AUX's semaphores;
/// the oscillators, and the references and converters, behind its master; device identification;
/// and the customer configuration. The oscillators have `OSCILLATORS` bytes of registers.
#[derive(Clone, Debug)]
pub(crate) struct Common<const OSCILLATORS: usize> {
    /// Offset of the oscillators' `STAT0`, and of the customer configuration in CCFG.
    stat0: u32,
    ccfg: u32,
    semaphores: Semaphores,
    oscillators: Slave<OSCILLATORS>,
    references: [Slave<16>; 3],
    identity: Identity,
    revision: u32,
    pub(crate) customer: [u32; CCFG_BYTES as usize / 4],
}

impl<const OSCILLATORS: usize> Common<OSCILLATORS> {
    /// A device of this identity and revision.
    pub(crate) fn new(stat0: u32, ccfg: u32, identity: Identity, revision: u32) -> Self {
        Self {
            stat0,
            ccfg,
            semaphores: Semaphores::default(),
            oscillators: Slave::new(),
            references: [Slave::new(), Slave::new(), Slave::new()],
            identity,
            revision,
            customer: [u32::MAX; CCFG_BYTES as usize / 4],
        }
    }

    /// Set the customer configuration to the image's bytes at the end of flash.
    pub(crate) fn set_customer(&mut self, configuration: &[u8]) {
        for (word, bytes) in self.customer.iter_mut().zip(configuration.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
    }

    /// Return an existing word of FCFG1.
    pub(crate) const fn factory(&self, offset: u32) -> u32 {
        match offset {
            MAC_BLE | MAC_15_4 => self.identity.number,
            MAC_BLE_HIGH | MAC_15_4_HIGH => IEEE_PREFIX,
            ICEPICK_DEVICE_ID => self.identity.device_id,
            USER_ID => self.identity.user_id,
            FCFG1_REVISION => self.revision,
            // Trim values, which no document states.
            _ => 0,
        }
    }

    /// Read the word at an offset in a block; `None` if there is none.
    pub(crate) fn read(&mut self, block: AonBlock, offset: u32) -> Option<u32> {
        match block {
            AonBlock::References(which) => self.references[which].word(offset),
            AonBlock::Semaphores => self.semaphores.take(offset as usize / 4),
            AonBlock::Oscillators if offset == self.stat0 => self.oscillators.status(),
            AonBlock::Oscillators => self.oscillators.word(offset),
            AonBlock::Customer => {
                let word = offset.checked_sub(self.ccfg)? / 4;
                self.customer.get(word as usize).copied()
            }
            _ => None,
        }
    }

    /// Write `width` bytes; false if there is no such register.
    pub(crate) fn write(&mut self, block: AonBlock, offset: u32, value: u32, width: u32) -> bool {
        match block {
            AonBlock::References(which) => self.references[which].write(offset, value, width),
            AonBlock::Semaphores => self.semaphores.set(offset as usize / 4, value & 1 != 0),
            AonBlock::Oscillators => self.oscillators.write(offset, value, width),
            _ => false,
        }
    }
}

/// The always-on and analogue domains and the device configuration.
#[derive(Clone, Debug)]
pub struct Cc26x0Aon {
    system: [u32; 3],
    wake_up: [u32; 0x48 / 4],
    /// The first one, which wakes the core's domain, is kept elsewhere, with the sleep state.
    events: [u32; 4],
    pads: [u32; 5],
    battery: Battery<{ 0x38 / 4 }>,
    aux: [u32; 0x60 / 4],
    common: Common<64>,
}

impl Cc26x0Aon {
    /// The state after a cold reset of a device of this identity.
    pub fn new(identity: Identity) -> Self {
        let mut system = [0; 3];
        system[SLEEPCTL] = IO_PAD_SLEEP_DIS;
        let mut wake_up = [0; 0x48 / 4];
        wake_up[JTAGCFG] = JTAG_PD_FORCE_ON;
        let mut pads = [0; 5];
        pads[IOCLATCH] = 1;
        Self {
            system,
            wake_up,
            events: [0x3f3f_3f3f, 0x003f_3f3f, 0x002b_2b2b, 0x3f],
            pads,
            battery: Battery::default(),
            aux: [0; 0x60 / 4],
            common: Common::new(STAT0, CCFG_FIRST, identity, REVISION),
        }
    }

    fn factory(&self, offset: u32) -> Option<u32> {
        let mut words = FACTORY.iter();
        words.find(|(first, last)| (*first..=*last).contains(&offset))?;
        Some(match offset {
            TRIM_CAL_REVISION => TRIMMED,
            _ => self.common.factory(offset),
        })
    }

    /// `PWRSTAT`.
    const fn power(&self) -> u32 {
        let forced = self.wake_up[AUXCTL] & AUX_FORCE_ON != 0;
        let aux = if forced {
            AUX_PD_ON | AUX_CONNECTED
        } else if self.aux[PWROFFREQ] & 1 != 0 {
            0
        } else if self.aux[PWRDWNREQ] & 1 != 0 {
            AUX_PD_ON | AUX_CONNECTED | AUX_PWR_DWN
        } else {
            AUX_PD_ON | AUX_CONNECTED
        };
        let has_jtag = self.wake_up[JTAGCFG] & JTAG_PD_FORCE_ON != 0;
        MCU_PD_ON | aux | if has_jtag { JTAG_PD_ON } else { 0 }
    }
}

impl AlwaysOn for Cc26x0Aon {
    fn set_temperature(&mut self, microdegrees: i64) {
        self.battery.set_temperature(microdegrees);
    }

    fn customer(&self, number: usize) -> u32 {
        self.common.customer[number]
    }

    fn set_reset_source(&mut self, source: u32) {
        self.system[RESETCTL] = source;
    }

    fn set_customer(&mut self, configuration: &[u8]) {
        self.common.set_customer(configuration);
    }

    fn read(&mut self, block: AonBlock, offset: u32) -> Option<u32> {
        let index = offset as usize / 4;
        match block {
            AonBlock::SystemControl => self.system.get(index).copied(),
            AonBlock::WakeUp if offset == PWRSTAT => Some(self.power()),
            AonBlock::WakeUp => self.wake_up.get(index).copied(),
            AonBlock::Events => self.events.get(index).copied(),
            AonBlock::Pads => self.pads.get(index).copied(),
            AonBlock::Battery => self.battery.read(offset),
            AonBlock::AuxWakeUp => match offset {
                // Acknowledgements of PWRDWNREQ and CLKLFREQ.
                0x0c | 0x14 => Some(self.aux[index - 1]),
                // Requests, and their acknowledgements one bit higher.
                0x30..=0x38 | 0x44 => Some(self.aux[index] & 1 | (self.aux[index] & 1) << 1),
                // MCUBUSSTAT: disconnection requests are acknowledged at once.
                0x4c => Some((self.aux[index - 1] & 1) * 3),
                _ => self.aux.get(index).copied(),
            },
            AonBlock::Factory => self.factory(offset),
            _ => self.common.read(block, offset),
        }
    }

    fn write(&mut self, block: AonBlock, offset: u32, value: u32, width: u32) -> bool {
        let held = match block {
            AonBlock::Battery => return width == 4 && self.battery.write(offset, value),
            AonBlock::SystemControl => &mut self.system[..],
            AonBlock::WakeUp if offset != PWRSTAT => &mut self.wake_up,
            AonBlock::Events => &mut self.events,
            AonBlock::Pads => &mut self.pads,
            AonBlock::AuxWakeUp => &mut self.aux,
            _ => return self.common.write(block, offset, value, width),
        };
        let register = held.get_mut(offset as usize / 4);
        width == 4 && register.map(|register| *register = value).is_some()
    }
}
