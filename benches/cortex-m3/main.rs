//! Speed of the Cortex-M3 with all of its timing, in each configuration of memory.
//!
//! `cargo bench -p joulemark-armv7m`. Prints emulated MHz (emulated cycles per microsecond of
//! processor time), also of runs of a million cycles with the core's making in them, and checks that
//! each configuration computed what this machine computes natively.
//! Needs arm-none-eabi-gcc and cc.

#![allow(clippy::cast_precision_loss)] // counts, for rates

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use joulemark_armv7m::{
    Bus, Config, Core, Exit, Limits, MemorySettings, Region, RegionKind, Timing, Width,
};
use joulemark_kernel::{Cycles, Fault};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};

/// A chip whose peripherals do nothing.
struct Nothing(MemorySettings);

impl Bus for Nothing {
    fn read(&mut self, _: u32, _: Width, _: Cycles) -> Result<u32, Fault> {
        Ok(0)
    }
    fn write(&mut self, _: u32, _: u32, _: Width, _: Cycles) -> Result<(), Fault> {
        Ok(())
    }
    fn memory_settings(&self) -> MemorySettings {
        self.0
    }
    fn reset_requested(&mut self, _: Cycles) -> Result<(), Fault> {
        Ok(())
    }
}

struct Program {
    sections: Vec<(u32, Vec<u8>)>,
    done: u32,
    state: (u32, u32),
    /// What the work leaves, computed natively.
    expected: Vec<u8>,
}

fn run(command: &mut Command) -> Vec<u8> {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}; install its Debian package"));
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

fn build() -> Program {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/cortex-m3");
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let native = out.join("program");
    run(Command::new("cc")
        .args(["-O1", "-std=c11"])
        .arg(sources.join("host.c"))
        .arg("-o")
        .arg(&native));
    let elf = out.join("program-arm.elf");
    let flags = "-mcpu=cortex-m3 -mthumb -O2 -std=c11 -ffreestanding -fno-builtin -nostdlib \
                 -fno-tree-loop-distribute-patterns -Wl,--build-id=none";
    run(Command::new("arm-none-eabi-gcc")
        .args(flags.split_whitespace())
        .arg("-T")
        .arg(sources.join("link.ld"))
        .arg(sources.join("start.S"))
        .arg(sources.join("../engine/program.c"))
        .arg("-o")
        .arg(&elf));
    let data = std::fs::read(&elf).expect("the linker wrote it");
    let file = object::File::parse(&*data).expect("the linker wrote ELF");
    let symbol = |name| {
        let symbol = file.symbol_by_name(name).expect("the program defines it");
        (symbol.address() as u32 & !1, symbol.size() as u32)
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
            .filter_map(|section| Some((section.address() as u32, section.data().ok()?.to_vec())))
            .collect(),
        done: symbol("done").0,
        state: symbol("state"),
        expected: run(&mut Command::new(native)),
    }
}

/// Processor time of this thread, which other programs on the host do not lengthen.
fn own_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("this is Linux");
    let nanoseconds = text.split(' ').next().and_then(|field| field.parse().ok());
    Duration::from_nanos(nanoseconds.expect("proc(5): the first field is time on the processor"))
}

fn configuration(flash: Region, timing: Timing) -> Config {
    Config {
        regions: vec![flash, Region::new(RegionKind::Ram, 0x2000_0000, 0x5000)],
        interrupts: 32,
        priority_bits: 3,
        cpuid: 0,
        timing,
        device_waits: Vec::new(),
        systick_calibration: 0,
        mpu_regions: 0,
        stop_on_fault: true,
    }
}

/// Cycles of a program that is so short that what is met for the first time weighs.
const SHORT: u64 = 1_000_000;
/// Cores that run so long: the host's clock ticks in milliseconds.
const SHORT_RUNS: u32 = 25;

/// A core at the start of the program.
fn load(
    program: &Program,
    config: &Config,
    settings: MemorySettings,
    write_buffer: bool,
) -> Core<Nothing> {
    let mut core = Core::new(Nothing(settings), config);
    for (address, data) in &program.sections {
        core.load_image(*address, data).expect("it fits the chip");
    }
    core.reset(0).expect("there are vectors");
    core.debug_write(0xe000_e008, if write_buffer { 0 } else { 2 })
        .expect("ACTLR");
    core.set_breakpoint(program.done);
    core
}

/// Cycles, instructions and host time to the end.
fn measure(
    program: &Program,
    config: &Config,
    settings: MemorySettings,
    write_buffer: bool,
) -> (u64, u64, Duration) {
    let mut core = load(program, config, settings, write_buffer);
    let start = own_time();
    let exit = core.run(Limits::default());
    let time = own_time().saturating_sub(start);
    assert_eq!(exit, Exit::Breakpoint(program.done));
    let (address, size) = program.state;
    let state = core.read_memory(address, size).expect("it is in RAM");
    assert!(state == program.expected, "{settings:?}: wrong results");
    (core.cycles().0, core.instructions(), time)
}

fn main() {
    let program = build();
    let flash = Region::new(RegionKind::Flash, 0, 0x20000);
    let buffered = Region {
        wait_states: 2,
        line_bytes: 8,
        cached: true,
        ..flash
    };
    let mut cases = Vec::new();
    for cache in [false, true] {
        for line_buffer in [false, true] {
            for write_buffer in [false, true] {
                let on = |on| if on { "on" } else { "off" };
                cases.push((
                    format!(
                        "CC2650, line buffer {}, cache {}, write buffer {}",
                        on(line_buffer),
                        on(cache),
                        on(write_buffer)
                    ),
                    configuration(buffered, Timing::CORTEX_M3),
                    MemorySettings {
                        line_buffer,
                        cache,
                        ..MemorySettings::default()
                    },
                    write_buffer,
                ));
            }
        }
    }
    cases.push((
        "STM32F100".to_owned(),
        configuration(flash, Timing::CORTEX_M3_R1),
        MemorySettings::default(),
        true,
    ));
    println!("AES-128, SHA-256, ChaCha20 by arm-none-eabi-gcc -O2:");
    for (name, config, settings, write_buffer) in &cases {
        let runs = (0..5).map(|_| measure(&program, config, *settings, *write_buffer));
        let (cycles, instructions, time) = runs.min_by_key(|run| run.2).expect("five runs");
        let mega = |count: u64| count as f64 / time.as_secs_f64() / 1e6;
        let start = own_time();
        for _ in 0..SHORT_RUNS {
            let mut core = load(&program, config, *settings, *write_buffer);
            let exit = core.run(Limits {
                until: Some(Cycles(SHORT)),
                step_first: false,
            });
            assert_eq!(exit, Exit::Cycles);
        }
        let short = own_time().saturating_sub(start) / SHORT_RUNS;
        println!(
            "{name:52} {cycles:9} cycles {:6.1} emulated MHz {:6.1} M instructions/s, {:6.1} MHz in a run of 1 M cycles",
            mega(cycles),
            mega(instructions),
            SHORT as f64 / short.as_secs_f64() / 1e6
        );
    }
}
