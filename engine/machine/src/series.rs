//! The emulated series, one file each: chips that share a core and peripherals.

use std::path::Path;
use std::sync::Arc;

use joulemark_kernel::image::Target;
use joulemark_kernel::{Chip, ChipError, Image};

use crate::cores::targets;
use crate::system::System;
use crate::{Error, Options};

include!(concat!(env!("OUT_DIR"), "/series.rs"));

/// Makes a chip with an image.
type Make = fn(&Arc<Chip>, &Image, &Options) -> Result<Box<dyn System>, Error>;

/// A series.
pub struct Series {
    /// Its name in chip files.
    pub name: &'static str,
    /// Its core.
    pub core: &'static Target,
    /// Checks the chip file's sections that the series adds.
    pub check: fn(&Chip) -> Result<(), ChipError>,
    /// Makes a chip with an image.
    pub make: Make,
}

impl Series {
    /// Find a chip's series.
    ///
    /// # Errors
    /// No emulated core, or no emulated series with this core, has this name.
    pub fn of(chip: &Chip) -> Result<&'static Self, ChipError> {
        let (core, name) = (&chip.core, &chip.series);
        if !targets().iter().any(|target| target.core == core) {
            let names: Vec<&str> = targets().iter().map(|target| target.core).collect();
            return Err(chip.error(&format!(
                "key 'core': no core '{core}' is emulated; there is {}",
                names.join(", ")
            )));
        }
        let mut known = FOUND.iter().copied();
        let found = known.find(|known| known.core.core == core && known.name == name);
        found.ok_or_else(|| {
            let known = FOUND.iter().filter(|known| known.core.core == core);
            let names: Vec<&str> = known.map(|known| known.name).collect();
            chip.error(&format!(
                "key 'series': no series '{name}' with an {core} core; there is {}",
                names.join(", ")
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
