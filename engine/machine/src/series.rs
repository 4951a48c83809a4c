//! The emulated series: chips that share a core and peripherals.

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

/// A series.
pub struct Series {
    /// Its name in chip files.
    name: &'static str,
    core: CoreKind,
    /// Checks the chip file's sections that the series adds.
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
    /// Find a chip's series.
    ///
    /// # Errors
    /// No emulated series has this name and core.
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

/// Read a chip file, and check it including the sections that its series adds.
///
/// # Errors
/// The file cannot be read or has an error.
pub fn load_chip(path: &Path) -> Result<Chip, ChipError> {
    check(Chip::load(path)?)
}

/// Check a chip file's text; errors call it `file`.
///
/// # Errors
/// The text has an error.
pub fn parse_chip(text: &str, file: &str) -> Result<Chip, ChipError> {
    check(Chip::parse(text, file)?)
}

fn check(chip: Chip) -> Result<Chip, ChipError> {
    (Series::of(&chip)?.check)(&chip)?;
    Ok(chip)
}
