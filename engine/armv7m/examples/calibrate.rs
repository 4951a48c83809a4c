//! Replays programs that were measured on real Cortex-M3 chips and compares every word of their
//! results: cycles, counters, registers, flags, memory.
//!
//! The measurements are those published with `CMEmu` (`cmemu-tests/tests/` of
//! github.com/mimuw-distributed-systems-group/cmemu): archives of flash images with the memory that
//! the chip held afterwards. The folders named in [`FOLDERS`] belong to the calibration set; those
//! in [`HELD_OUT`] are kept for acceptance and are never opened here.
//!
//! `JOULEMARK_CMEMU_TESTS=FOLDER cargo run --release -p joulemark-armv7m --example calibrate --
//! [--verbose] [--markdown FILE] [FILTER...]`

#![allow(clippy::cast_precision_loss)] // counts, for percentages

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use joulemark_armv7m::{
    Bus, Config, Core, DeviceWait, Exit, Limits, MemorySettings, Region, RegionKind, Timing, Width,
};
use joulemark_kernel::{Cycles, Fault};
use joulemark_peripherals::Vims;

/// Folders with programs that the timing is calibrated with, the innermost first.
const FOLDERS: [&str; 5] = [
    "instructions",
    "interrupts",
    "memory_tests",
    "misc",
    "cache",
];
/// Programs that stay unseen, by part of their path.
const HELD_OUT: [&str; 3] = ["benchmarks", "large-tests", "fred"];

/// The chip around the core, as far as these programs touch it.
struct Chip {
    /// Of the CC2650 and the CC2652.
    vims: Option<Vims>,
    /// The levels of the pins on the board that was measured.
    pins: u32,
}

const VIMS_STAT: u32 = 0x4003_4000;
const VIMS_CTL: u32 = 0x4003_4004;
const GPIO_DIN31_0: u32 = 0x4002_20c0;
const GPIO_EVFLAGS31_0: u32 = 0x4002_20e0;

impl Bus for Chip {
    fn read(&mut self, address: u32, _width: Width, now: Cycles) -> Result<u32, Fault> {
        Ok(match (address, &mut self.vims) {
            (VIMS_STAT | VIMS_CTL, Some(vims)) => vims.read(address & 4, now).unwrap_or(0),
            (GPIO_DIN31_0, Some(_)) => self.pins,
            _ => 0,
        })
    }

    fn write(&mut self, address: u32, value: u32, _: Width, now: Cycles) -> Result<(), Fault> {
        match &mut self.vims {
            Some(vims) if address == VIMS_CTL => vims.write_control(value, now),
            _ => Ok(()),
        }
    }

    fn next_event(&self) -> Cycles {
        self.vims.as_ref().map_or(Cycles::NEVER, Vims::next_event)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        if let Some(vims) = &mut self.vims {
            vims.advance(now);
        }
        Ok(())
    }

    fn memory_settings(&self) -> MemorySettings {
        let vims = self.vims.as_ref();
        MemorySettings {
            line_buffer: vims.is_some_and(Vims::line_buffer_is_on),
            cache: vims.is_some_and(Vims::cache_is_on),
            ..MemorySettings::default()
        }
    }

    fn reset_requested(&mut self, _now: Cycles) -> Result<(), Fault> {
        Ok(())
    }
}

/// The chips that were measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measured {
    Cc2650,
    Stm32f100,
    Cc2652,
}

impl Measured {
    fn of(path: &str) -> Self {
        if path.contains("stm32") {
            Self::Stm32f100
        } else if path.contains("cc2652") {
            Self::Cc2652
        } else {
            Self::Cc2650
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Cc2650 => "CC2650",
            Self::Stm32f100 => "STM32F100",
            Self::Cc2652 => "CC2652",
        }
    }

    /// Where an image begins.
    const fn base(self) -> u32 {
        match self {
            Self::Stm32f100 => 0x0800_0000,
            Self::Cc2650 | Self::Cc2652 => 0,
        }
    }

    const fn has_vims(self) -> bool {
        !matches!(self, Self::Stm32f100)
    }

    fn regions(self) -> Vec<Region> {
        let vims = |flash, line_bytes, ram| {
            vec![
                Region {
                    wait_states: 2,
                    line_bytes,
                    cached: true,
                    ..Region::new(RegionKind::Flash, 0, flash)
                },
                Region {
                    cache_ram: true,
                    ..Region::new(RegionKind::Ram, 0x1100_0000, 0x2000)
                },
                Region::new(RegionKind::Ram, 0x2000_0000, ram),
            ]
        };
        match self {
            Self::Cc2650 => vims(0x20000, 8, 0x5000),
            Self::Cc2652 => vims(0x58000, 16, 0x14000),
            Self::Stm32f100 => vec![
                Region::new(RegionKind::Flash, 0x0800_0000, 0x20000),
                Region {
                    alias_of: Some(0x0800_0000),
                    ..Region::new(RegionKind::Flash, 0, 0x20000)
                },
                Region::new(RegionKind::Ram, 0x2000_0000, 0x2000),
            ],
        }
    }

    /// As the chip files say.
    fn config(self) -> Config {
        let device_waits = [
            (GPIO_DIN31_0, 3, 3),
            (GPIO_EVFLAGS31_0, 4, 7),
            (VIMS_STAT, 1, 1),
        ]
        .map(|(start, read, write)| DeviceWait {
            start,
            size: 4,
            read,
            write,
        });
        Config {
            regions: self.regions(),
            interrupts: match self {
                Self::Cc2650 => 34,
                Self::Stm32f100 => 56,
                Self::Cc2652 => 38,
            },
            priority_bits: if self.has_vims() { 3 } else { 4 },
            cpuid: if self == Self::Cc2652 {
                0x410f_c241
            } else {
                0x412f_c231
            },
            timing: match self {
                Self::Cc2650 => Timing::CORTEX_M3,
                Self::Stm32f100 => Timing::CORTEX_M3_R1,
                Self::Cc2652 => Timing::CORTEX_M4F,
            },
            device_waits: if self.has_vims() {
                device_waits.to_vec()
            } else {
                Vec::new()
            },
            systick_calibration: if self.has_vims() { 0xc007_5300 } else { 0 },
            mpu_regions: 0,
            stop_on_fault: true,
        }
    }
}

struct Expected {
    symbol: String,
    address: u32,
    content: Vec<u8>,
}

struct Case {
    number: usize,
    image: Vec<u8>,
    entry: u32,
    exit: u32,
    configuration: String,
    expected: Vec<Expected>,
    write_buffer_is_off: bool,
}

fn field<'a>(map: &'a rmpv::Value, name: &str) -> Option<&'a rmpv::Value> {
    map.as_map()?
        .iter()
        .find(|(key, _)| key.as_str() == Some(name))
        .map(|(_, value)| value)
}

fn number(map: &rmpv::Value, name: &str) -> Option<u32> {
    field(map, name)?.as_u64().map(|value| value as u32)
}

fn bytes(value: &rmpv::Value) -> Option<Vec<u8>> {
    match value {
        rmpv::Value::Binary(bytes) => Some(bytes.clone()),
        rmpv::Value::Array(items) => items
            .iter()
            .map(|item| item.as_u64().map(|byte| byte as u8))
            .collect(),
        _ => None,
    }
}

fn describe(number_of_case: usize, image: Vec<u8>, dump: &[u8]) -> Option<Case> {
    let map = rmpv::decode::read_value(&mut &dump[..]).ok()?;
    let expected = field(&map, "mem_dump")?
        .as_array()?
        .iter()
        .map(|chunk| {
            Some(Expected {
                symbol: field(chunk, "symbol_name")?.as_str()?.to_owned(),
                address: number(chunk, "addr")?,
                content: bytes(field(chunk, "content")?)?,
            })
        })
        .collect::<Option<Vec<_>>>()?;
    Some(Case {
        number: number_of_case,
        image,
        entry: number(&map, "emulator_main_addr")?,
        exit: number(&map, "emulator_exit_addr")?,
        configuration: field(&map, "configuration_name")?.as_str()?.to_owned(),
        expected,
        write_buffer_is_off: false,
    })
}

fn cases(path: &Path) -> Result<Vec<Case>, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let stream = ruzstd::decoding::StreamingDecoder::new(std::io::BufReader::new(file))
        .map_err(|error| error.to_string())?;
    let mut files = BTreeMap::new();
    let mut archive = tar::Archive::new(stream);
    for entry in archive.entries().map_err(|error| error.to_string())? {
        let mut entry = entry.map_err(|error| error.to_string())?;
        let name = entry
            .path()
            .map_err(|error| error.to_string())?
            .to_path_buf();
        let mut data = Vec::new();
        entry
            .read_to_end(&mut data)
            .map_err(|error| error.to_string())?;
        files.insert(name, data);
    }
    let mut found = Vec::new();
    for (name, dump) in &files {
        if name
            .extension()
            .is_some_and(|extension| extension == "dump")
        {
            let stem = name.file_stem().and_then(|stem| stem.to_str());
            let index = stem.and_then(|stem| stem.parse().ok());
            let image = files.get(&name.with_extension("flash"));
            let case = index
                .zip(image)
                .and_then(|(index, image)| describe(index, image.clone(), dump));
            found.push(case.ok_or_else(|| format!("{}: not understood", name.display()))?);
        }
    }
    found.sort_by_key(|case| case.number);
    let source = std::fs::read_to_string(path.with_extension("asm")).unwrap_or_default();
    for case in &mut found {
        case.write_buffer_is_off = source.contains("device:write_buffer_enabled = False");
    }
    Ok(found)
}

struct Difference {
    symbol: String,
    index: usize,
    expected: u32,
    actual: u32,
}

struct Outcome {
    /// Words that differ, `Err` where the program did not reach its end.
    differences: Result<Vec<Difference>, String>,
    cycles: u64,
    seconds: f64,
}

fn words(data: &[u8]) -> impl Iterator<Item = u32> + '_ {
    data.chunks(4).map(|chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    })
}

fn replay(chip: Measured, case: &Case) -> Outcome {
    let mut core = Core::new(
        Chip {
            vims: chip.has_vims().then(|| Vims::new(0, true)),
            // DIO29 was high, on the CC2652's board DIO2 and DIO17 (misc/mocked_addrs).
            pins: if chip == Measured::Cc2652 {
                0x0002_0004
            } else {
                0x2000_0000
            },
        },
        &chip.config(),
    );
    let outcome = |differences, cycles, seconds| Outcome {
        differences,
        cycles,
        seconds,
    };
    let mut image = case.image.clone();
    image.truncate(if chip == Measured::Cc2652 {
        0x58000
    } else {
        0x20000
    });
    if let Err(at) = core
        .load_image(chip.base(), &image)
        .and_then(|()| core.reset(chip.base()))
    {
        return outcome(Err(format!("no memory at {at:#x}")), 0, 0.0);
    }
    core.set_register(15, case.entry);
    // The oldest programs expect that a debugger has turned the DWT's counters on, and the write
    // buffer off where their source says that it is.
    let disabled = if case.write_buffer_is_off { 2 } else { 0 };
    for (register, value) in [(0xe000_1000, 0x003e_0001), (0xe000_e008, disabled)] {
        if let Err(at) = core.debug_write(register, value) {
            return outcome(Err(format!("nothing at {at:#x}")), 0, 0.0);
        }
    }
    core.set_breakpoint(case.exit);
    let started = std::time::Instant::now();
    let exit = core.run(Limits {
        until: Some(Cycles(2_000_000_000)),
        step_first: true,
    });
    let seconds = started.elapsed().as_secs_f64();
    let cycles = core.cycles().0;
    match exit {
        Exit::Breakpoint(_) => {}
        Exit::Fault(fault) => return outcome(Err(fault.to_string()), cycles, seconds),
        other => return outcome(Err(format!("{other:?}")), cycles, seconds),
    }
    let mut differences = Vec::new();
    for chunk in &case.expected {
        let length = chunk.content.len() as u32;
        match core.read_memory(chunk.address, length) {
            Ok(actual) => {
                for (index, (expected, actual)) in
                    words(&chunk.content).zip(words(&actual)).enumerate()
                {
                    if expected != actual {
                        differences.push(Difference {
                            symbol: chunk.symbol.clone(),
                            index,
                            expected,
                            actual,
                        });
                    }
                }
            }
            Err(at) => return outcome(Err(format!("no memory at {at:#x}")), cycles, seconds),
        }
    }
    outcome(Ok(differences), cycles, seconds)
}

#[derive(Default, Clone, Copy)]
struct Tally {
    cases: usize,
    exact: usize,
    times: usize,
    times_exact: usize,
    relative_error: f64,
    worst: f64,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.cases += other.cases;
        self.exact += other.exact;
        self.times += other.times;
        self.times_exact += other.times_exact;
        self.relative_error += other.relative_error;
        self.worst = self.worst.max(other.worst);
    }

    fn mean(&self) -> f64 {
        100.0 * self.relative_error / self.times.max(1) as f64
    }
}

fn is_time(symbol: &str) -> bool {
    symbol.contains("time") || symbol.starts_with("cyccnt")
}

/// The value of a key in the configuration, which is a Python dictionary's text.
fn setting<'a>(configuration: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = configuration.split_once(&format!("'{key}': "))?;
    let end = rest.find([',', '}']).unwrap_or(rest.len());
    Some(rest[..end].trim().trim_matches('\''))
}

fn kind_of(chip: Measured, configuration: &str) -> String {
    let on = |keys: &[&str]| {
        keys.iter()
            .find_map(|key| setting(configuration, key))
            .is_some_and(|value| value.eq_ignore_ascii_case("true"))
    };
    let code = setting(configuration, "code").unwrap_or("flash");
    if chip.has_vims() {
        let buffer = if on(&["lbEn"]) { "on" } else { "off" };
        let cache = if on(&["cache_enabled", "cacheEn"]) {
            "on"
        } else {
            "off"
        };
        let writes = if on(&["wbEn"]) { "on" } else { "off" };
        format!("{} | {buffer} | {cache} | {writes} | {code}", chip.name())
    } else {
        format!("{} | - | - | on | {code}", chip.name())
    }
}

/// The calibration folder that a program belongs to.
fn folder(path: &str) -> Option<&'static str> {
    FOLDERS
        .into_iter()
        .find(|name| path.split('/').any(|part| part == *name))
}

fn archives(root: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(root) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            archives(&path, into);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "tzst")
        {
            into.push(path);
        }
    }
}

fn main() {
    let mut filters = Vec::new();
    let (mut verbose, mut markdown) = (false, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--verbose" => verbose = true,
            "--markdown" => markdown = arguments.next(),
            _ => filters.push(argument),
        }
    }
    let Ok(root) = std::env::var("JOULEMARK_CMEMU_TESTS") else {
        eprintln!("skipped: JOULEMARK_CMEMU_TESTS does not name the folder with the measurements");
        return;
    };
    let mut paths = Vec::new();
    archives(Path::new(&root), &mut paths);
    paths.retain(|path| {
        let text = path.to_string_lossy();
        !HELD_OUT.iter().any(|part| text.contains(part))
            && folder(&text).is_some()
            && filters.iter().all(|filter| text.contains(filter.as_str()))
    });
    paths.sort();
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<String, Replayed>> = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) else {
                        return;
                    };
                    let (text, tallies, cycles, seconds) = one_archive(path, verbose);
                    let name = path
                        .strip_prefix(&root)
                        .unwrap_or(path)
                        .display()
                        .to_string();
                    if let Ok(mut results) = results.lock() {
                        results.insert(name, (text, tallies, cycles, seconds));
                    }
                }
            });
        }
    });
    let Ok(results) = results.into_inner() else {
        return;
    };
    let mut instructions: BTreeMap<String, Tally> = BTreeMap::new();
    let mut folders: BTreeMap<String, Tally> = BTreeMap::new();
    let (mut cycles, mut seconds) = (0, 0.0);
    for (name, (text, tallies, archive_cycles, archive_seconds)) in &results {
        let mut sum = Tally::default();
        for (kind, tally) in tallies {
            sum.add(tally);
            let folder = folder(name).unwrap_or_default();
            if folder == "instructions" {
                instructions.entry(kind.clone()).or_default().add(tally);
            }
            let mut settings = kind.split(" | ");
            let (chip, writes) = (settings.next(), settings.nth(2));
            let row = format!(
                "`{folder}` | {} | {}",
                chip.unwrap_or_default(),
                writes.unwrap_or_default()
            );
            folders.entry(row).or_default().add(tally);
        }
        cycles += archive_cycles;
        seconds += archive_seconds;
        println!(
            "{} {name}: {}/{} cases exact, {}/{} times, worst {:.2}%",
            if sum.exact == sum.cases {
                "  ok"
            } else {
                "DIFF"
            },
            sum.exact,
            sum.cases,
            sum.times_exact,
            sum.times,
            100.0 * sum.worst
        );
        print!("{text}");
    }
    let tables = [
        table(
            "chip | line buffer | cache | write buffer | code in",
            &instructions,
        ),
        table("folder | chip | write buffer", &folders),
    ];
    println!("\n{}\n{}", tables[0], tables[1]);
    println!(
        "{cycles} cycles in {seconds:.2} s: {:.1} M cycles/s",
        cycles as f64 / seconds / 1e6
    );
    if let Some(path) = markdown {
        let page = page(&tables, &results);
        if let Err(error) = std::fs::write(&path, page) {
            eprintln!("{path}: {error}");
            std::process::exit(1);
        }
    }
}

/// Rows of tallies under these columns, and their sum.
fn table(columns: &str, rows: &BTreeMap<String, Tally>) -> String {
    let figures = "cases | exact | times | exact | mean error | worst";
    let count = columns.split(" | ").count();
    let mut text = format!("| {columns} | {figures} |\n|{}\n", "---|".repeat(count + 6));
    let mut total = Tally::default();
    for (kind, tally) in rows {
        total.add(tally);
        text += &row(kind, tally);
    }
    text + &row(&format!("all{}", " | ".repeat(count - 1)), &total)
}

/// How the model did on [`HELD_OUT`], as it was on a day.
const PREDICTED: &str = "\
## Programs that the model was not made with

Whole programs of the same project that are kept apart (its folders `benchmarks`, `large-tests` and \
`fred_extract`), replayed once by others at commit 8c3ad53, 2026-11-25. They are predictions, where the \
tables above are calibration.

| chip | line buffer and cache | write buffer | programs | exact | mean error | worst |
|---|---|---|---|---|---|---|
| CC2650 | every setting | off | 274 | 100% | 0 | 0 |
| CC2650 | every setting | on | 295 | 91.2% | 0.034% | 1.85% |
| CC2652 | not both | off | 175 | 100% | 0 | 0 |
| CC2652 | both | off | 61 | 34.4% | 0.12% | 1.35% |
| CC2652 | not both | on | 178 | 94.9% | 0.025% | 1.59% |
| CC2652 | both, as its board starts | on | 60 | 35.0% | 0.18% | 1.85% |
| STM32F100 | - | on | 88 | 95.5% | 0.0001% | 0.004% |

One rule came from what they showed, and is in the model since: no fetch from SRAM is registered while \
a store that left execute is in its data phase, on either revision. Another would explain most of what \
is off where the CC2652 has both on: a line that flash's line buffer gives, asked for in the cycle in \
which the one before came, takes a cycle more. It is not in the model, because it makes 17 measured \
times of `tbb_tbh_after_ldr` and `speculative_fetch_after_not_taken_decode_time_branch` wrong, and \
what tells these from the others is not known. A rule of `misc/large_tests_extract` is new, too: the \
private bus takes an unaligned access at once, which is right of most and not of all (see below). The \
programs were not replayed since, so the table says how far the model was off, not how far it is.

";

/// The page for docs/.
fn page([instructions, folders]: &[String; 2], results: &BTreeMap<String, Replayed>) -> String {
    let mut inexact = String::from(
        "| program | chip and settings | cases | exact | times | exact | worst |\n|---|---|---|---|---|---|---|\n",
    );
    for (name, (_, tallies, _, _)) in results {
        let mut kinds: BTreeMap<&str, Tally> = BTreeMap::new();
        for (kind, tally) in tallies {
            kinds.entry(kind).or_default().add(tally);
        }
        for (kind, tally) in kinds {
            if tally.exact != tally.cases {
                let _ = writeln!(
                    inexact,
                    "| {} | {} | {} | {} | {} | {} | {:.2}% |",
                    name.trim_end_matches(".tzst"),
                    kind.replace(" | ", ", "),
                    tally.cases,
                    tally.exact,
                    tally.times,
                    tally.times_exact,
                    100.0 * tally.worst
                );
            }
        }
    }
    format!(
        "# How exact the Cortex-M3 and the Cortex-M4 are\n\n\
        Generated by `engine/armv7m/examples/calibrate.rs`; not edited by hand.\n\n\
        The programs are tests of CMEmu (github.com/mimuw-distributed-systems-group/cmemu), each measured \
        on a real chip: a TI CC2650 (Cortex-M3 r2p1, 48 MHz, flash of 64 bits with two wait states), an \
        STM32F100RB (r1p1, 24 MHz, no wait states) and a TI CC2652R (Cortex-M4, 48 MHz, flash of 128 bits). \
        The timing model was calibrated with them, so these tables say how well it describes them, not how \
        well it predicts other programs.\n\n\
        Nearly all of the CC2650's programs turn its write buffer off (ACTLR.DISDEFWBUF); the STM32F100's \
        is always on. Images for the SensorTag run with cache, line buffer and write buffer on. With the \
        write buffer on, loads behind buffered stores wait on a CC2650 as they do with it off; the STM32F100 \
        shows another rule, which is taken to be its revision's.\n\n\
        On the CC2652, core, flash, line buffer and cache rest on measurement. Its cache is the CC2650's in \
        front of the line buffer; the few programs that show it are exact. No program measures DSP or \
        floating-point instructions: they take the cycles of ARM DDI 0439B, tables 3-1 and 7-1.\n\n\
        A case is exact if every word that the program left agrees: all times, the other DWT counters, \
        registers and flags. A time is one difference of CYCCNT, mostly of 5 to 100 cycles; errors are \
        relative to it. [accuracy-cortex-m3-published.md](accuracy-cortex-m3-published.md) compares \
        published cycle counts of other people's assembly.\n\n\
        ## Single instructions and their neighbours\n\n\
        The folders named `instructions`.\n\n{instructions}\n\
        ## Everything, by folder\n\n\
        `memory_tests` times single accesses by the arrival of SysTick, `interrupts` exceptions, `cache` the \
        cache's replacement; `misc` holds whole programs, devices and everything else, without the \
        programs `it_skipped_chain` and `it_tainted_distance`, which were not at hand.\n\n\
        {folders}\n\
        {PREDICTED}\
        ## What is not exact\n\n{inexact}"
    )
}

fn row(kind: &str, tally: &Tally) -> String {
    format!(
        "| {kind} | {} | {:.2}% | {} | {:.3}% | {:.4}% | {:.2}% |\n",
        tally.cases,
        100.0 * tally.exact as f64 / tally.cases.max(1) as f64,
        tally.times,
        100.0 * tally.times_exact as f64 / tally.times.max(1) as f64,
        tally.mean(),
        100.0 * tally.worst
    )
}

/// Printed figures of an archive, its cases by kind, emulated cycles, and seconds.
type Replayed = (String, Vec<(String, Tally)>, u64, f64);

fn one_archive(path: &Path, verbose: bool) -> Replayed {
    let mut text = String::new();
    let mut tallies = Vec::new();
    let (mut cycles, mut seconds) = (0, 0.0);
    let all = match cases(path) {
        Ok(all) => all,
        Err(error) => return (format!("     {error}\n"), tallies, 0, 0.0),
    };
    for case in &all {
        let chip = Measured::of(&path.to_string_lossy());
        let outcome = replay(chip, case);
        cycles += outcome.cycles;
        seconds += outcome.seconds;
        let times: usize = case
            .expected
            .iter()
            .filter(|chunk| is_time(&chunk.symbol))
            .map(|chunk| chunk.content.len() / 4)
            .sum();
        let mut tally = Tally {
            cases: 1,
            times,
            times_exact: times,
            ..Tally::default()
        };
        match outcome.differences {
            Err(error) => {
                let _ = writeln!(
                    text,
                    "     case {}: {error} {}",
                    case.number, case.configuration
                );
                tally.times_exact = 0;
                tally.relative_error = times as f64;
                tally.worst = 1.0;
            }
            Ok(differences) => {
                tally.exact = usize::from(differences.is_empty());
                for difference in differences.iter().filter(|d| is_time(&d.symbol)) {
                    tally.times_exact -= 1;
                    let off = f64::from(difference.actual) - f64::from(difference.expected);
                    let relative = off.abs() / f64::from(difference.expected.max(1));
                    tally.relative_error += relative;
                    tally.worst = tally.worst.max(relative);
                }
                if !differences.is_empty() {
                    let _ = writeln!(
                        text,
                        "     case {}: {} words differ {}",
                        case.number,
                        differences.len(),
                        case.configuration
                    );
                    if verbose {
                        for d in &differences {
                            let _ = writeln!(
                                text,
                                "          {}[{}]: {:#x} measured, {:#x} here ({:+})",
                                d.symbol,
                                d.index,
                                d.expected,
                                d.actual,
                                i64::from(d.actual) - i64::from(d.expected)
                            );
                        }
                    }
                }
            }
        }
        tallies.push((kind_of(chip, &case.configuration), tally));
    }
    (text, tallies, cycles, seconds)
}
