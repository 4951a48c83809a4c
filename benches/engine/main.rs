//! Speed of an emulated MSP430F1611: the same ELF on this engine and on mspdebug's simulator.
//!
//! `cargo bench -p joulemark-machine`. Prints emulated MHz (emulated cycles per microsecond of
//! processor time, with this engine's cycle count for both) and their ratio, for straight code and
//! for loops that poll a register, which this engine skips where it can, and checks that both
//! computed the same. The two take turns, and the ratio is the median of the turns' own. Needs
//! clang-19, lld-19 and mspdebug.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use joulemark_devices::Wiring;
use joulemark_kernel::{Chip, Image};
use joulemark_machine::{Machine, Options, Reason, Until};

/// Where a program begins, and what it does.
const PROGRAMS: [(&str, &str); 5] = [
    (
        "start",
        "straight code: AES-128, SHA-256, ChaCha20 by clang -O2",
    ),
    (
        "poll_counter",
        "polls a counter: TAR, from the core's clock",
    ),
    (
        "poll_slow_counter",
        "polls a counter: TAR, from the 32 kHz crystal",
    ),
    ("poll_uart", "polls a flag: UART receive"),
    (
        "poll_and_count",
        "polls the flag and counts in memory: no iteration is skipped",
    ),
];
const TURNS: usize = 5;

struct Elf {
    path: PathBuf,
    image: Arc<Image>,
    chip: Arc<Chip>,
}

/// What a run took of the processor, and what the program left in memory.
struct Outcome {
    time: Duration,
    state: Vec<u8>,
}

fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}; install its Debian package"));
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn compile() -> Elf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/engine");
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let mut objects = Vec::new();
    for source in ["program.c", "start.S"] {
        let object = out.join(source).with_extension("o");
        let flags = "--target=msp430 -mmcu=msp430f1611 -O2 -std=c11 -ffreestanding -fno-builtin -c";
        run(Command::new("clang-19")
            .args(flags.split(' '))
            .arg(sources.join(source))
            .arg("-o")
            .arg(&object));
        objects.push(object);
    }
    let path = out.join("program.elf");
    run(Command::new("ld.lld-19")
        .arg("-T")
        .arg(sources.join("link.ld"))
        .args(&objects)
        .arg("-o")
        .arg(&path));
    let chip = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips/msp430f1611.toml");
    Elf {
        image: Arc::new(
            joulemark_machine::load_image(&path, None).unwrap_or_else(|error| panic!("{error}")),
        ),
        chip: Arc::new(Chip::load(&chip).unwrap_or_else(|error| panic!("{error}"))),
        path,
    }
}

impl Elf {
    fn address(&self, symbol: &str) -> u32 {
        self.image.resolve(symbol).expect("the program defines it")
    }

    /// Where the program leaves its results.
    fn state(&self) -> (u32, usize) {
        let start = self.address("state");
        let end = self.address("bss_end");
        (start, (end - start) as usize)
    }
}

/// Processor time of this thread, which other programs on the host do not lengthen.
fn own_time() -> Duration {
    // The kernel adds up what it has given a thread when the thread gives the processor back.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("this is Linux");
    let nanoseconds = text.split(' ').next().and_then(|field| field.parse().ok());
    Duration::from_nanos(nanoseconds.expect("proc(5): the first field is time on the processor"))
}

/// Processor time of the child processes that have ended.
fn children_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").expect("this is Linux");
    // proc(5): fields 16 and 17 are cutime and cstime, in ticks of 10 ms; 2 may hold spaces.
    let (_, fields) = text.rsplit_once(')').expect("field 2 is in brackets");
    let fields = fields.split_whitespace().skip(13).take(2);
    let ticks = fields.map(|field| field.parse::<u64>().expect("a number"));
    Duration::from_millis(10 * ticks.sum::<u64>())
}

/// Run a program here; its cycles and instructions too.
fn run_here(elf: &Elf, entry: &str) -> (u64, u64, Outcome) {
    let options = Options {
        entry: Some(elf.address(entry)),
        ..Options::default()
    };
    let mut machine = Machine::new(&elf.chip, &Wiring::default(), &elf.image, &options)
        .unwrap_or_else(|error| panic!("{error}"));
    let until = Until {
        address: Some(elf.address("done")),
        ..Until::default()
    };
    let start = own_time();
    let stop = machine.run(until).unwrap_or_else(|error| panic!("{error}"));
    let time = own_time().saturating_sub(start);
    assert_eq!(stop.reason, Reason::Address, "{stop:?}");
    let (address, size) = elf.state();
    let state = machine.read_memory(address, size).expect("it is in RAM");
    let outcome = Outcome { time, state };
    (machine.cycles(), machine.instructions(), outcome)
}

fn run_mspdebug(elf: &Elf, entry: &str) -> Outcome {
    let (address, size) = elf.state();
    let mspdebug = |commands: &[String]| {
        let start = children_time();
        let output = run(Command::new("mspdebug").args(["-q", "sim"]).args(commands));
        (children_time().saturating_sub(start), output)
    };
    let load = format!("prog {}", elf.path.display());
    let place = format!("set pc {:#x}", elf.address(entry));
    let stop = format!("setbreak {:#x}", elf.address("done"));
    let dump = format!("md {address:#x} {size}");
    let idle = mspdebug(&[load.clone(), dump.clone()]).0;
    let (time, output) = mspdebug(&[load, place, stop, "run".into(), dump]);
    let state = output
        .lines()
        .filter_map(|line| {
            let (address, rest) = line.trim().split_once(':')?;
            usize::from_str_radix(address, 16).ok()?;
            Some(rest.split('|').next()?.to_owned())
        })
        .flat_map(|line| {
            let bytes = line
                .split_whitespace()
                .map(|byte| u8::from_str_radix(byte, 16));
            bytes.collect::<Result<Vec<_>, _>>().unwrap_or_default()
        })
        .collect();
    Outcome {
        time: time.saturating_sub(idle),
        state,
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let elf = compile();
    for (entry, title) in PROGRAMS {
        let (cycles, instructions, _) = run_here(&elf, entry);
        println!("{title}: {cycles} cycles, {instructions} instructions");
        let (mut here, mut there, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..TURNS {
            let ours = run_here(&elf, entry).2;
            let theirs = run_mspdebug(&elf, entry);
            assert_eq!(
                ours.state, theirs.state,
                "the two engines computed different results"
            );
            let kilocycles = u32::try_from(cycles / 1000).expect("the program is short");
            let mhz = |time: Duration| f64::from(kilocycles) / 1000.0 / time.as_secs_f64();
            here.push(mhz(ours.time));
            there.push(mhz(theirs.time));
            ratios.push(mhz(ours.time) / mhz(theirs.time));
        }
        println!("  joulemark: {:8.1} emulated MHz", median(here));
        println!("  mspdebug:  {:8.1} emulated MHz", median(there));
        println!("  ratio:     {:8.1}", median(ratios));
    }
}
