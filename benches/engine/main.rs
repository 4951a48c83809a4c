//! Speed of the MSP430 core: the same ELF on this engine and on mspdebug's simulator.
//!
//! `cargo bench -p joulemark-msp430`. Prints emulated MHz (emulated cycles per microsecond of
//! processor time, with this engine's cycle count for both) and the ratio, and checks that both
//! computed the same. Needs clang-19, lld-19 and mspdebug.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use joulemark_kernel::{Cycles, Fault, FaultKind};
use joulemark_msp430::{Bus, Core, Exit, FlashOperation, Limits, Region, RegionKind, Width};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};

/// A chip whose peripherals do nothing: the program only holds the watchdog.
struct Nothing;

impl Bus for Nothing {
    fn read(&mut self, _: u16, _: Width, _: Cycles) -> Result<u16, Fault> {
        Ok(0)
    }
    fn write(&mut self, _: u16, _: u16, _: Width, _: Cycles) -> Result<(), Fault> {
        Ok(())
    }
    fn write_flash(
        &mut self,
        address: u16,
        _: u16,
        _: Width,
        _: Cycles,
    ) -> Result<FlashOperation, Fault> {
        Err(Fault::new(FaultKind::FlashWrite, "flash is written").at(address))
    }
    fn next_event(&self) -> Cycles {
        Cycles::NEVER
    }
    fn advance(&mut self, _: Cycles) -> Result<(), Fault> {
        Ok(())
    }
    fn pending_interrupt(&self, _: bool) -> Option<u16> {
        None
    }
    fn acknowledge(&mut self, _: u16, _: Cycles) {}
    fn power_changed(&mut self, _: u16, _: Cycles) -> Cycles {
        Cycles(0)
    }
    fn take_stop(&mut self) -> bool {
        false
    }
}

struct Program {
    elf: PathBuf,
    sections: Vec<(u16, Vec<u8>)>,
    done: u16,
    state: (u16, usize),
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

fn build() -> Program {
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
    let elf = out.join("program.elf");
    run(Command::new("ld.lld-19")
        .arg("-T")
        .arg(sources.join("link.ld"))
        .args(&objects)
        .arg("-o")
        .arg(&elf));
    let data = std::fs::read(&elf).expect("the linker wrote it");
    let file = object::File::parse(&*data).expect("the linker wrote ELF");
    let symbol = |name| {
        let symbol = file.symbol_by_name(name).expect("the program defines it");
        (symbol.address() as u16, symbol.size() as usize)
    };
    Program {
        sections: file
            .sections()
            .filter(|section| {
                matches!(
                    section.kind(),
                    SectionKind::Text | SectionKind::ReadOnlyData
                )
            })
            .filter_map(|section| Some((section.address() as u16, section.data().ok()?.to_vec())))
            .collect(),
        done: symbol("done").0,
        state: symbol("state"),
        elf,
    }
}

/// Processor time of this thread, which other programs on the host do not lengthen.
fn own_time() -> Duration {
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

/// Cycles, instructions and host time to the end, and the results.
fn run_here(program: &Program) -> (u64, u64, Duration, Vec<u8>) {
    let region = |start, size, kind| Region { start, size, kind };
    let regions = [
        region(0, 0x200, RegionKind::Peripheral),
        region(0x1100, 0x2800, RegionKind::Ram),
        region(0x4000, 0xc000, RegionKind::Flash),
    ];
    let mut core = Core::new(Nothing, &regions);
    for (address, data) in &program.sections {
        core.load(*address, data).expect("it fits the chip");
    }
    core.reset();
    core.set_breakpoint(program.done);
    let start = own_time();
    let exit = core.run(Limits::default());
    let time = own_time().saturating_sub(start);
    assert_eq!(exit, Exit::Breakpoint(program.done));
    let (address, size) = program.state;
    let state = core.read_memory(address, size).expect("it is in RAM");
    (core.cycles().0, core.instructions(), time, state)
}

fn run_mspdebug(program: &Program) -> (Duration, Vec<u8>) {
    let (address, size) = program.state;
    let mspdebug = |commands: &[String]| {
        let start = children_time();
        let output = run(Command::new("mspdebug").args(["-q", "sim"]).args(commands));
        (children_time().saturating_sub(start), output)
    };
    let load = format!("prog {}", program.elf.display());
    let stop = format!("setbreak {:#x}", program.done);
    let dump = format!("md {address:#x} {size}");
    let idle = mspdebug(&[load.clone(), dump.clone()]).0;
    let (time, output) = mspdebug(&[load, stop, "run".into(), dump]);
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
    (time.saturating_sub(idle), state)
}

fn main() {
    let program = build();
    let best = (0..5).map(|_| run_here(&program)).min_by_key(|run| run.2);
    let (cycles, instructions, here, state) = best.expect("five runs");
    let (there, reference) = run_mspdebug(&program);
    assert_eq!(
        state, reference,
        "the two engines computed different results"
    );
    let kilocycles = u32::try_from(cycles / 1000).expect("the program is short");
    let mhz = |time: Duration| f64::from(kilocycles) / 1000.0 / time.as_secs_f64();
    println!(
        "AES-128, SHA-256, ChaCha20 by clang -O2: {cycles} cycles, {instructions} instructions"
    );
    println!("joulemark: {:8.1} emulated MHz", mhz(here));
    println!("mspdebug:  {:8.1} emulated MHz", mhz(there));
    println!("ratio:     {:8.1}", mhz(here) / mhz(there));
}
