//! Finds the cores and the series: every file in `src/cores` and `src/series`.

use std::fmt::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    found("cores", "&crate::Target", "TARGET")?;
    found("series", "&crate::series::Series", "SERIES")
}

/// Write the modules of a folder, and the list of what each declares by this name.
fn found(folder: &str, item: &str, declared: &str) -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=src/{folder}");
    let path = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?)
        .join("src")
        .join(folder);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&path)? {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "rs") {
            let stem = file.file_stem().unwrap_or_default();
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    let (mut modules, mut list) = (String::new(), String::new());
    for name in names {
        let file = path.join(format!("{name}.rs"));
        let literal = file.to_string_lossy().escape_default().to_string();
        writeln!(modules, "#[path = \"{literal}\"]\npub mod {name};")?;
        write!(list, "&{name}::{declared}, ")?;
    }
    writeln!(modules, "static FOUND: &[{item}] = &[{list}];")?;
    let output = Path::new(&std::env::var("OUT_DIR")?).join(format!("{folder}.rs"));
    std::fs::write(output, modules)?;
    Ok(())
}
