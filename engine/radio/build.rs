//! Finds the PHYs: every file in `src/phy`.

use std::fmt::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=src/phy");
    let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("src/phy");
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(&folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    let (mut text, mut phys) = (String::new(), String::new());
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let literal = path.to_string_lossy().escape_default().to_string();
        writeln!(text, "#[path = \"{literal}\"]\npub mod {name};")?;
        write!(phys, "&{name}::PHY, ")?;
    }
    writeln!(
        text,
        "/// All PHYs, by name.\npub static PHYS: &[&Phy] = &[{phys}];"
    )?;
    let output = Path::new(&std::env::var("OUT_DIR")?).join("phys.rs");
    std::fs::write(output, text)?;
    Ok(())
}
