//! The emulated cores, one file each: the shell's view of a core's crate, and its [`Target`].

use std::path::Path;

use joulemark_kernel::image::Target;
use joulemark_kernel::{Image, ImageError};

include!(concat!(env!("OUT_DIR"), "/cores.rs"));

/// The targets of all emulated cores, by name.
pub const fn targets() -> &'static [&'static Target] {
    FOUND
}

/// Read an image for an emulated core; with `raw_address`, read raw bytes.
///
/// # Errors
/// The file cannot be read, has an unknown format, or is for another machine.
pub fn load_image(path: &Path, raw_address: Option<u32>) -> Result<Image, ImageError> {
    Image::load(path, raw_address, FOUND)
}

/// Read an image for an emulated core from memory.
///
/// # Errors
/// The bytes have an unknown format, or are for another machine.
pub fn parse_image(bytes: &[u8], raw_address: Option<u32>) -> Result<Image, ImageError> {
    Image::parse(bytes, raw_address, FOUND)
}
