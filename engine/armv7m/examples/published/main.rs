//! Other people's hand-written assembly, and the cycles that its author published for it.
//!
//! The routines are those of `cortexm-AES` (github.com/jnk0le/cortexm-AES, as of 2026-04-06), whose
//! `doc/aes/CM3_CM4_details.md` says how many cycles they take on an STM32F1 without wait states.
//! They are assembled from a checkout, run on the STM32F100's model (an STM32F103 has the same core
//! and, without wait states, the same flash), checked against FIPS 197, and timed.
//!
//! `JOULEMARK_CORTEXM_AES=FOLDER cargo run --release -p joulemark-armv7m --example published --
//! [--markdown FILE]`. Needs arm-none-eabi-gcc.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use joulemark_armv7m::{Bus, Config, Core, Exit, Limits, Region, RegionKind, Timing, Width};
use joulemark_kernel::{Cycles, Fault};
use object::{Object, ObjectSymbol};

/// Published figures in the order of `harness.c`.
const PUBLISHED: [(&str, u32); 12] = [
    ("AES-128 key schedule", 302),
    ("AES-128 encryption", 627),
    ("AES-128 encryption, unrolled", 599),
    ("AES-128 key schedule for decryption", 813),
    ("AES-128 decryption", 629),
    ("AES-128 decryption, unrolled", 600),
    ("AES-256 key schedule", 378),
    ("AES-256 encryption", 859),
    ("AES-256 encryption, unrolled", 819),
    ("AES-256 key schedule for decryption", 1163),
    ("AES-256 decryption", 861),
    ("AES-256 decryption, unrolled", 820),
];

/// FIPS 197, appendices C.1 and C.3: ciphertexts, and the plaintext.
const AES_128: u128 = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a;
const AES_256: u128 = 0x8ea2_b7ca_5167_45bf_eafc_4990_4b49_6089;
const PLAIN: u128 = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff;
const OUTPUTS: [u128; 8] = [
    AES_128, AES_128, PLAIN, PLAIN, AES_256, AES_256, PLAIN, PLAIN,
];

struct Nothing;

impl Bus for Nothing {
    fn read(&mut self, _: u32, _: Width, _: Cycles) -> Result<u32, Fault> {
        Ok(0)
    }

    fn write(&mut self, _: u32, _: u32, _: Width, _: Cycles) -> Result<(), Fault> {
        Ok(())
    }

    fn reset_requested(&mut self, _: Cycles) -> Result<(), Fault> {
        Ok(())
    }
}

/// The linked file, and what of it is in flash.
fn build(checkout: &Path) -> Result<(Vec<u8>, Vec<u8>), String> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/published");
    let elf = std::env::temp_dir().join(format!("joulemark-published-{}.elf", std::process::id()));
    let folder = checkout.join("aes/target/CM3_1T");
    let mut sources: Vec<PathBuf> = std::fs::read_dir(&folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "S"))
        .collect();
    sources.sort();
    run(Command::new("arm-none-eabi-gcc")
        .args("-mcpu=cortex-m3 -mthumb -O2 -std=c11 -ffreestanding -nostdlib".split(' '))
        .args(["-Wl,--build-id=none", "-Wl,--no-warn-rwx-segments", "-T"])
        .arg(own.join("link.ld"))
        .arg("-I")
        .arg(checkout)
        .args([own.join("start.S"), own.join("harness.c")])
        .args(sources)
        .arg(checkout.join("aes/lookup_tables.c"))
        .arg("-o")
        .arg(&elf))?;
    let binary = elf.with_extension("bin");
    run(Command::new("arm-none-eabi-objcopy")
        .args(["-O", "binary"])
        .args([&elf, &binary]))?;
    let take = |path: &Path| {
        let data = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        let _ = std::fs::remove_file(path);
        data
    };
    Ok((take(&elf)?, take(&binary)?))
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}; install Debian's gcc-arm-none-eabi"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

fn measure(elf: &[u8], image: &[u8]) -> Result<Vec<u32>, String> {
    let file = object::File::parse(elf).map_err(|error| error.to_string())?;
    let symbol = |name: &str| {
        file.symbol_by_name(name)
            .map(|symbol| symbol.address() as u32 & !1)
            .ok_or_else(|| format!("no symbol {name}"))
    };
    let mut core = Core::new(
        Nothing,
        &Config {
            regions: vec![
                Region::new(RegionKind::Flash, 0x0800_0000, 0x10000),
                Region::new(RegionKind::Ram, 0x2000_0000, 0x5000),
            ],
            interrupts: 60,
            priority_bits: 4,
            cpuid: 0x411f_c231,
            timing: Timing::CORTEX_M3_R1,
            device_waits: Vec::new(),
            systick_calibration: 0,
            mpu_regions: 0,
            stop_on_fault: true,
        },
    );
    let nowhere = |at: u32| format!("no memory at {at:#010x}");
    core.load_image(0x0800_0000, image).map_err(nowhere)?;
    core.reset(0x0800_0000).map_err(nowhere)?;
    let done = symbol("done")?;
    core.set_breakpoint(done);
    let exit = core.run(Limits {
        until: Some(Cycles(1_000_000)),
        step_first: false,
    });
    if exit != Exit::Breakpoint(done) {
        return Err(format!("it did not end: {exit:?}"));
    }
    let out = core.read_memory(symbol("out")?, 128).map_err(nowhere)?;
    for (number, (actual, expected)) in out.chunks_exact(16).zip(OUTPUTS).enumerate() {
        if actual != expected.to_be_bytes() {
            return Err(format!("output {number} is wrong: {actual:02x?}"));
        }
    }
    let cycles = core.read_memory(symbol("cycles")?, 48).map_err(nowhere)?;
    Ok(cycles
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect())
}

fn table(cycles: &[u32]) -> String {
    let mut table = String::from("| routine | published | here | error |\n|---|---|---|---|\n");
    for ((name, published), actual) in PUBLISHED.iter().zip(cycles) {
        let error = 100.0 * (f64::from(*actual) - f64::from(*published)) / f64::from(*published);
        let _ = writeln!(table, "| {name} | {published} | {actual} | {error:+.2}% |");
    }
    table
}

fn page(table: &str) -> String {
    format!(
        "# The Cortex-M3 against published cycle counts\n\n\
        Generated by `engine/armv7m/examples/published`; not edited by hand.\n\n\
        The routines are the hand-written assembly of cortexm-AES (github.com/jnk0le/cortexm-AES, as of \
        2026-04-06). Its `doc/aes/CM3_CM4_details.md` gives what they take on an STM32F1 without flash \
        wait states, with input, round keys, tables and stack in RAM, the call included. Here the same \
        sources run on the model of the STM32F100: Cortex-M3 r1p1, no wait states. Each output is \
        compared with FIPS 197. The author calls through C++; what that adds to a call is not known and \
        may be the difference of some cycles in the key schedules.\n\n{table}"
    )
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let markdown = arguments
        .next()
        .filter(|argument| argument == "--markdown")
        .and_then(|_| arguments.next());
    let Ok(checkout) = std::env::var("JOULEMARK_CORTEXM_AES") else {
        eprintln!("skipped: JOULEMARK_CORTEXM_AES does not name a checkout of cortexm-AES");
        return;
    };
    let measured = std::path::absolute(checkout)
        .map_err(|error| error.to_string())
        .and_then(|checkout| build(&checkout))
        .and_then(|(elf, image)| measure(&elf, &image));
    let written = measured.and_then(|cycles| {
        let table = table(&cycles);
        print!("{table}");
        markdown.map_or(Ok(()), |path| {
            std::fs::write(&path, page(&table)).map_err(|error| format!("{path}: {error}"))
        })
    });
    if let Err(error) = written {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
