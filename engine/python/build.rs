//! Gives the engine the digest of what it computes.

use std::path::Path;

use joulemark_meaning as meaning;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let own = std::env::var("CARGO_MANIFEST_DIR")?;
    let engine = Path::new(&own).join("..");
    let lock = engine.join("../Cargo.lock");
    println!("cargo::rerun-if-changed={}", engine.display());
    println!("cargo::rerun-if-changed={}", lock.display());
    let digest = meaning::of_engine(&engine, &lock)?;
    println!("cargo::rustc-env=JOULEMARK_ENGINE_DIGEST={digest}");
    Ok(())
}
