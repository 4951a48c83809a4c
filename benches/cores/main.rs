//! Speed of the emulated cores side by side: the same work, compiled for each, on a chip of each.
//!
//! `cargo bench -p joulemark-machine --bench cores`. Prints emulated MHz (emulated cycles per
//! microsecond of processor time), the median of turns that the cores take, and its ratio to the
//! Cortex-M3's of the same turn; checks that each computed what this machine computes. Needs
//! arm-none-eabi-gcc, riscv64-unknown-elf-gcc and cc.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use joulemark_devices::Wiring;
use joulemark_kernel::{Chip, Image};
use joulemark_machine::{Machine, Options, Reason, Until};

const ARM: &str = "arm-none-eabi-gcc";
const RISCV: &str = "riscv64-unknown-elf-gcc";

/// What a core's work is compiled by, for and into, the one to compare with first.
const CORES: [Core; 4] = [
    Core {
        title: "Cortex-M3, STM32F100, from flash",
        chip: "stm32f100rb",
        compiler: ARM,
        target: "-mcpu=cortex-m3 -mthumb",
        memory: [0x0800_0100, 0x2000_0000, 0x2000_2000],
    },
    Core {
        title: "Cortex-M0+, RP2040, from SRAM",
        chip: "rp2040",
        compiler: ARM,
        target: "-mcpu=cortex-m0plus -mthumb",
        memory: [0x2000_0100, 0x2001_0000, 0x2002_0000],
    },
    Core {
        title: "Cortex-M0+, STM32G0, from flash without wait states",
        chip: "stm32g071rb",
        compiler: ARM,
        target: "-mcpu=cortex-m0plus -mthumb",
        memory: [0x0800_0100, 0x2000_0000, 0x2000_2000],
    },
    Core {
        title: "Hazard3, RP2350, from SRAM",
        chip: "rp2350",
        compiler: RISCV,
        target: "-march=rv32imac_zba_zbb -mabi=ilp32",
        memory: [0x2004_0000, 0x2000_0000, 0x2002_0000],
    },
];
const TURNS: usize = 7;

struct Core {
    title: &'static str,
    chip: &'static str,
    compiler: &'static str,
    target: &'static str,
    /// Where code and data are, and where the stack begins.
    memory: [u32; 3],
}

struct Program {
    chip: Arc<Chip>,
    image: Arc<Image>,
    stack: u32,
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

impl Core {
    fn build(&self) -> Program {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let [code, data, stack] = self.memory;
        let script = out.join(format!("{}.ld", self.chip));
        let text = format!(
            "ENTRY(work)\nSECTIONS {{ .text {code:#x} : {{ *(.text*) *(.rodata*) *(.srodata*) }}\n\
             .bss {data:#x} (NOLOAD) : {{ *(.data* .sdata* .bss* .sbss* COMMON) }}\n\
             /DISCARD/ : {{ *(.comment) *(.note*) *(.ARM.*) *(.riscv*) }} }}\n"
        );
        std::fs::write(&script, text).expect("cargo made the folder");
        let elf = out.join(format!("{}.elf", self.chip));
        let flags = "-O2 -std=c11 -ffreestanding -fno-builtin -nostdlib \
                     -fno-tree-loop-distribute-patterns -Wl,--build-id=none";
        run(Command::new(self.compiler)
            .args(self.target.split_whitespace())
            .args(flags.split_whitespace())
            .arg("-T")
            .arg(script)
            .arg(root.join("benches/engine/program.c"))
            .arg("-lgcc")
            .arg("-o")
            .arg(&elf));
        let chip = root.join("chips").join(self.chip).with_extension("toml");
        Program {
            chip: Arc::new(Chip::load(&chip).unwrap_or_else(|error| panic!("{error}"))),
            image: Arc::new(
                joulemark_machine::load_image(&elf, None).unwrap_or_else(|error| panic!("{error}")),
            ),
            stack,
        }
    }
}

/// Processor time of this thread, which other programs on the host do not lengthen.
fn own_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("this is Linux");
    let nanoseconds = text.split(' ').next().and_then(|field| field.parse().ok());
    Duration::from_nanos(nanoseconds.expect("proc(5): the first field is time on the processor"))
}

impl Program {
    /// Emulated MHz of a run; what the work leaves must be as expected.
    fn measure(&self, expected: &[u8]) -> f64 {
        let address = |symbol| self.image.resolve(symbol).expect("the program defines it");
        let entry = address("work");
        let options = Options {
            entry: Some(entry),
            ..Options::default()
        };
        let mut machine = Machine::new(&self.chip, &Wiring::default(), &self.image, &options)
            .unwrap_or_else(|error| panic!("{error}"));
        // It returns to a place of RAM that it does not use.
        let end = self.stack + 0x100;
        let back = if self.chip.core == "riscv" {
            ("ra", 0)
        } else {
            ("lr", 1)
        };
        for (name, value) in [("sp", self.stack), (back.0, end | back.1)] {
            let set = machine.set_register(name, value);
            set.unwrap_or_else(|error| panic!("{error}"));
        }
        let until = Until {
            address: Some(end),
            ..Until::default()
        };
        let (before, start) = (machine.cycles(), own_time());
        let stop = machine.run(until).unwrap_or_else(|error| panic!("{error}"));
        let time = own_time().saturating_sub(start);
        assert_eq!(stop.reason, Reason::Address, "{stop:?}");
        let state = machine.read_memory(address("state"), expected.len());
        assert!(
            state.expect("it is in RAM") == expected,
            "{}: wrong results",
            self.chip.name
        );
        let kilocycles = (machine.cycles() - before) / 1000;
        f64::from(u32::try_from(kilocycles).expect("the program is short"))
            / 1000.0
            / time.as_secs_f64()
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let native = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("work");
    run(Command::new("cc")
        .args(["-O1", "-std=c11"])
        .arg(root.join("benches/cortex-m3/host.c"))
        .arg("-o")
        .arg(&native));
    let expected = run(&mut Command::new(native));
    let programs = CORES.map(|core| core.build());
    let turns: Vec<Vec<f64>> = (0..TURNS)
        .map(|_| {
            programs
                .iter()
                .map(|program| program.measure(&expected))
                .collect()
        })
        .collect();
    println!("AES-128, SHA-256, ChaCha20 by GCC -O2:");
    for (number, core) in CORES.iter().enumerate() {
        let mhz = median(turns.iter().map(|turn| turn[number]).collect());
        let ratio = median(turns.iter().map(|turn| turn[number] / turn[0]).collect());
        println!(
            "{:52} {mhz:6.1} emulated MHz, {ratio:4.2} of the first's",
            core.title
        );
    }
}
