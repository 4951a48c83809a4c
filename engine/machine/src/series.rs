//! The series of chips that the emulation knows: chips that share a core and their peripherals.

use std::path::Path;
use std::sync::Arc;

use joulemark_kernel::chip::CoreKind;
use joulemark_kernel::{Chip, ChipError, Image};

use crate::armv7m::Armv7m;
use crate::cortex_m::{self, cc26x0, cc2538, nrf52, stm32f1};
use crate::msp430::Msp430;
use crate::system::System;
use crate::{Error, Options, msp430x1xx};

/// Makes a chip with an image.
type Make = fn(&Arc<Chip>, &Image, &Options) -> Result<Box<dyn System>, Error>;

/// One series.
pub struct Series {
    /// As chip files call it.
    name: &'static str,
    core: CoreKind,
    /// Checks what the chip file has beyond every chip's.
    check: fn(&Chip) -> Result<(), ChipError>,
    /// Makes a chip with an image.
    pub make: Make,
}

static SERIES: [Series; 5] = [
    Series {
        name: "msp430x1xx",
        core: CoreKind::Msp430,
        check: |chip| msp430x1xx::Sections::of(chip).map(drop),
        make: |chip, image, options| Ok(Box::new(Msp430::new(chip, image, options)?)),
    },
    cortex_m("cc26x0", |chip, image, options| {
        Ok(Box::new(Armv7m::new(chip, image, options, cc26x0::make)?))
    }),
    cortex_m("cc2538", |chip, image, options| {
        Ok(Box::new(Armv7m::new(chip, image, options, cc2538::make)?))
    }),
    cortex_m("nrf52", |chip, image, options| {
        Ok(Box::new(Armv7m::new(chip, image, options, nrf52::make)?))
    }),
    cortex_m("stm32f1", |chip, image, options| {
        Ok(Box::new(Armv7m::new(chip, image, options, stm32f1::make)?))
    }),
];

const fn cortex_m(name: &'static str, make: Make) -> Series {
    Series {
        name,
        core: CoreKind::Armv7m,
        check: |chip| cortex_m::sections::Core::of(chip).map(drop),
        make,
    }
}

impl Series {
    /// The series of a chip.
    ///
    /// # Errors
    /// The emulation knows none of this name with the chip's core.
    pub fn of(chip: &Chip) -> Result<&'static Self, ChipError> {
        let mut known = SERIES.iter().filter(|series| series.core == chip.core);
        let found = known.clone().find(|series| series.name == chip.series);
        found.ok_or_else(|| {
            let first = known.next().map_or("none", |series| series.name);
            let names = known.fold(first.to_owned(), |names, series| {
                format!("{names}, {}", series.name)
            });
            let (core, name) = (chip.core, &chip.series);
            chip.error(&format!(
                "key 'series': no series '{name}' with an {core} core; there is {names}"
            ))
        })
    }
}

/// Read a chip's file, and check it with what its series adds.
///
/// # Errors
/// The file cannot be read, or something in it is wrong.
pub fn load_chip(path: &Path) -> Result<Chip, ChipError> {
    check(Chip::load(path)?)
}

/// The same from its text; `file` is what errors call it.
///
/// # Errors
/// Something in it is wrong.
pub fn parse_chip(text: &str, file: &str) -> Result<Chip, ChipError> {
    check(Chip::parse(text, file)?)
}

fn check(chip: Chip) -> Result<Chip, ChipError> {
    (Series::of(&chip)?.check)(&chip)?;
    Ok(chip)
}
