//! For build scripts: makes modules of all files in a folder, and a list of what each declares.
//!
//! What is in the folder is there, and nothing else names it: another core, series, model or PHY is
//! one more file.

use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A folder whose files are found.
pub struct Folder<'a> {
    /// The folder, in the crate; its name is that of the file to include.
    pub path: &'a str,
    /// The static that each file declares.
    pub declared: &'a str,
    /// The list of them, with visibility and documentation.
    pub list: &'a str,
    /// The type of its items.
    pub item: &'a str,
}

impl Folder<'_> {
    /// Write `OUT_DIR/NAME.rs`, to be included: the modules, by name, and the list.
    ///
    /// # Errors
    ///
    /// When a folder cannot be read or the file cannot be written.
    pub fn find(&self) -> Result<(), Box<dyn Error>> {
        println!("cargo::rerun-if-changed={}", self.path);
        let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join(self.path);
        let mut files = fs::read_dir(&folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<Vec<_>, std::io::Error>>()?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
        files.sort();
        let (mut modules, mut list) = (String::new(), String::new());
        for file in files {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            let literal = file.to_string_lossy().escape_default().to_string();
            writeln!(modules, "#[path = \"{literal}\"]\npub mod {name};")?;
            write!(list, "&{name}::{}, ", self.declared)?;
        }
        writeln!(modules, "{}: &[{}] = &[{list}];", self.list, self.item)?;
        let name = folder.file_name().unwrap_or_default();
        let output = Path::new(&env::var("OUT_DIR")?).join(name);
        Ok(fs::write(output.with_extension("rs"), modules)?)
    }
}
