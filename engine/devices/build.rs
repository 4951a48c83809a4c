//! Finds the models: every file in `src/models`, which gives its model its name.

use std::fmt::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=src/models");
    let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("src/models");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let stem = path.file_stem().unwrap_or_default();
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    let mut text = String::new();
    let mut models = String::new();
    for name in names {
        let path = folder.join(format!("{name}.rs"));
        let literal = path.to_string_lossy().escape_default().to_string();
        writeln!(text, "#[path = \"{literal}\"]\npub mod {name};")?;
        write!(models, "&{name}::MODEL, ")?;
    }
    writeln!(
        text,
        "/// All models, by name.\npub static MODELS: &[&crate::Model] = &[{models}];"
    )?;
    let output = Path::new(&std::env::var("OUT_DIR")?).join("models.rs");
    std::fs::write(output, text)?;
    Ok(())
}
