//! What series of STM32 have in common: the fields of a clock tree, ports with MODER, and flash that
//! is read without wait states.

use joulemark_kernel::{Fault, FaultKind};

use super::Pins;

/// HPRE, how far the core's clock is divided, as a shift: 0xxx none, 1000 to 1011 by 2 to 16, 1100 to
/// 1111 by 64 to 512.
pub const fn hpre_shift(cfgr: u32) -> u32 {
    let prescaler = cfgr >> 4 & 15;
    match prescaler {
        0..=7 => 0,
        8..=11 => prescaler - 7,
        _ => prescaler - 6,
    }
}

/// PPRE of a bus, which is at this bit of `RCC_CFGR`: 0xx none, 100 to 111 by 2 to 16.
pub const fn ppre_divider(cfgr: u32, shift: u32) -> u32 {
    let field = cfgr >> shift & 7;
    if field < 4 { 1 } else { 1 << (field - 3) }
}

/// The fault of a system clock that is off.
pub fn clock_is_off(name: &str) -> Fault {
    let text = format!("RCC_CFGR selects {name} as the system clock while it is off");
    Fault::new(FaultKind::Peripheral, text)
}

/// Check that flash is read without wait states, and that it can be.
///
/// # Errors
/// It has wait states, which are left out, or would need them.
pub fn without_wait_states(latency: u32, hz: u32, most_hz: u32) -> Result<(), Fault> {
    if latency != 0 {
        let text = "the emulation leaves out wait states of this chip's flash (FLASH_ACR.LATENCY), \
                    and what its caches hide of them";
        return Err(Fault::new(FaultKind::Absent, text));
    }
    if hz > most_hz {
        let most = most_hz / 1_000_000;
        let text = format!("flash is read without wait states at {hz} Hz: up to {most} MHz it can");
        return Err(Fault::new(FaultKind::Peripheral, text));
    }
    Ok(())
}

/// A port: MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR, LCKR, AFRL, AFRH and, on some, BRR.
#[derive(Clone, Debug)]
pub struct Port {
    words: [u32; 10],
    has_brr: bool,
}

const MODER: usize = 0;
const IDR: u32 = 0x10;
const ODR: u32 = 0x14;
const BSRR: u32 = 0x18;
const BRR: u32 = 0x28;

impl Port {
    /// Make a port.
    ///
    /// # Arguments
    /// - `moder`: MODER after reset.
    /// - `has_brr`: whether it has BRR.
    pub fn new(moder: u32, has_brr: bool) -> Self {
        let mut words = [0; 10];
        words[MODER] = moder;
        Self { words, has_brr }
    }

    /// Read the register at an offset of the port with this number; `None` if there is none.
    pub fn read(&self, offset: u32, number: usize, pins: &Pins) -> Option<u32> {
        match offset {
            IDR => Some(pins.level(number)),
            ODR => Some(pins.output[number]),
            BSRR => Some(0),
            BRR => self.has_brr.then_some(0),
            _ => self.words.get(offset as usize / 4).copied(),
        }
    }

    /// Write the register at an offset of the port with this number; false if there is none.
    pub fn write(&mut self, offset: u32, value: u32, number: usize, pins: &mut Pins) -> bool {
        let output = &mut pins.output[number];
        match offset {
            IDR => {}
            ODR => *output = value & 0xffff,
            // Set takes precedence over reset.
            BSRR => *output = *output & !(value >> 16) | value & 0xffff,
            BRR if self.has_brr => *output &= !(value & 0xffff),
            _ => match self.words.get_mut(offset as usize / 4) {
                Some(held) => {
                    *held = value;
                    pins.enabled[number] = outputs(self.words[MODER]);
                }
                None => return false,
            },
        }
        true
    }
}

/// The pins that are outputs: MODE is 1.
fn outputs(modes: u32) -> u32 {
    (0..16).fold(0, |outputs, pin| {
        outputs | u32::from(modes >> (2 * pin) & 3 == 1) << pin
    })
}
