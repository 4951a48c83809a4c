//! Small MSP430 programs, assembled and linked by clang-19 and lld-19, and machines that run them.

#![allow(dead_code, reason = "each test file uses a part")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use joulemark_devices::Wiring;
use joulemark_kernel::{Chip, Image};
use joulemark_machine::{Machine, Options, Profiling, Reason, Stop, Until, load_chip, parse_image};

/// The chip under test.
pub fn chip() -> Arc<Chip> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips/msp430f1611.toml");
    Arc::new(Chip::load(&path).unwrap_or_else(|error| panic!("{error}")))
}

/// Assemble a program. It can use the chip's register names, has `start` as its reset vector, and
/// has a section `.vector.NAME` for each other interrupt vector that it uses.
pub fn elf(source: &str) -> Vec<u8> {
    let chip = chip();
    let mut text = String::new();
    for (name, register) in &chip.registers.table {
        let _ = writeln!(text, ".equ {name}, {:#x}", register.address);
    }
    text +=
        ".section .vector.RESET,\"a\"\n.word start\n.text\n.globl start\n.type start,@function\n";
    text += source;
    let mut script = String::from(
        "ENTRY(start)\nSECTIONS {\n.text 0x4000 : { *(.text*) }\n.rodata : { *(.rodata*) }\n\
         .data 0x1100 : AT(0x9000) { *(.data*) }\n.bss 0x1200 : { *(.bss*) }\n",
    );
    let mut vectors: Vec<(&String, &u32)> = chip.vectors.table.iter().collect();
    vectors.sort_by_key(|&(_, &address)| address);
    for (name, address) in vectors {
        let _ = writeln!(
            script,
            ".vector.{name} {address:#x} : {{ KEEP(*(.vector.{name})) }}"
        );
    }
    script += "}\n";

    link("msp430", &text, &script)
}

/// Assemble and link a program for a target.
pub fn link(target: &str, text: &str, script: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str| -> PathBuf { folder.path().join(name) };
    std::fs::write(file("program.S"), text).expect("writes");
    std::fs::write(file("link.ld"), script).expect("writes");
    let run = |command: &mut Command| {
        let output = command
            .output()
            .unwrap_or_else(|error| panic!("{command:?}: {error}; install clang-19 and lld-19"));
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}:\n{complaints}");
    };
    run(Command::new("clang-19")
        .arg(format!("--target={target}"))
        .args(["-c", "-o"])
        .args([file("program.o"), file("program.S")]));
    run(Command::new("ld.lld-19")
        .arg("-T")
        .args([file("link.ld"), file("program.o")])
        .arg("-o")
        .arg(file("program.elf")));
    std::fs::read(file("program.elf")).expect("the linker wrote it")
}

/// A Cortex-M3 with simple memories.
pub fn arm_chip() -> Arc<Chip> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips/stm32f100rb.toml");
    Arc::new(Chip::load(&path).unwrap_or_else(|error| panic!("{error}")))
}

/// Assemble a program for [`arm_chip`]; `start` is the reset vector, `tick` that of `SysTick`.
pub fn arm_image(source: &str) -> Arc<Image> {
    let text = format!(
        ".syntax unified\n.thumb\n.section .vectors,\"a\"\n.word 0x20002000, start\n.space 52\n\
         .word tick\n.text\n.globl start\n.type start,%function\n.type tick,%function\n{source}"
    );
    let script = "ENTRY(start)\nSECTIONS {\n. = 0x08000000;\n.vectors : { KEEP(*(.vectors)) }\n\
                  .text : { *(.text*) }\n.bss 0x20000000 : { *(.bss*) }\n}\n";
    let elf = link("thumbv7m-none-eabi", &text, script);
    Arc::new(parse_image(&elf, None).unwrap_or_else(|error| panic!("{error}")))
}

/// A chip by the name of its file.
pub fn chip_of(name: &str) -> Arc<Chip> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../chips/{name}.toml"));
    Arc::new(load_chip(&path).unwrap_or_else(|error| panic!("{error}")))
}

/// Assemble a program for a Cortex-M chip of any series; `start` is the reset vector, and the stack
/// begins 4 KB after the start of RAM.
pub fn image_of(chip: &Chip, source: &str) -> Arc<Image> {
    let text = format!(
        ".syntax unified\n.thumb\n.section .vectors,\"a\"\n.word 0x20001000, start\n.text\n\
         .globl start\n.type start,%function\n{source}"
    );
    let table = chip.vectors.table["RESET"] - 4;
    let script = format!(
        "ENTRY(start)\nSECTIONS {{\n. = {table:#x};\n.vectors : {{ KEEP(*(.vectors)) }}\n\
         . = {:#x};\n.text : {{ *(.text*) }}\n}}\n",
        table + 0x200
    );
    let elf = link("thumbv7m-none-eabi", &text, &script);
    Arc::new(parse_image(&elf, None).unwrap_or_else(|error| panic!("{error}")))
}

/// Assemble a program into an image.
pub fn image(source: &str) -> Arc<Image> {
    Arc::new(parse_image(&elf(source), None).unwrap_or_else(|error| panic!("{error}")))
}

/// Make a machine after reset.
pub fn machine_with(source: &str, options: &Options) -> (Machine, Arc<Image>) {
    let image = image(source);
    let machine = Machine::new(&chip(), &Wiring::default(), &image, options)
        .unwrap_or_else(|error| panic!("{error}"));
    (machine, image)
}

/// Make a machine with marker pin P2.3 that records everything.
pub fn machine(source: &str) -> (Machine, Arc<Image>) {
    let options = Options {
        marker: Some("P2.3".into()),
        profile: Profiling::Functions,
        trace: true,
        ..Options::default()
    };
    machine_with(source, &options)
}

/// Run to a symbol, within a million cycles.
pub fn run_to(machine: &mut Machine, image: &Image, symbol: &str) {
    let stop = run(
        machine,
        Until {
            address: Some(image.resolve(symbol).expect("the symbol is there")),
            max_cycles: Some(1_000_000),
            ..Until::default()
        },
    );
    assert_eq!(stop.reason, Reason::Address, "{stop:?}");
}

/// Run for some cycles.
pub fn run_for(machine: &mut Machine, cycles: u64) -> Stop {
    run(
        machine,
        Until {
            max_cycles: Some(cycles),
            ..Until::default()
        },
    )
}

/// Run until a condition holds.
pub fn run(machine: &mut Machine, until: Until) -> Stop {
    machine.run(until).unwrap_or_else(|error| panic!("{error}"))
}

/// Run until a fault of this kind, and return its message.
pub fn fault(source: &str, kind: &str) -> String {
    let (mut machine, _) = machine(source);
    let stop = run_for(&mut machine, 1_000_000);
    let fault = stop
        .fault
        .unwrap_or_else(|| panic!("no fault but {:?}", stop.reason));
    assert_eq!(fault.kind, kind, "{}", fault.message);
    fault.message
}

/// Read a word of memory at a symbol.
pub fn word(machine: &Machine, image: &Image, symbol: &str, index: u32) -> u16 {
    let address = image.resolve(symbol).expect("the symbol is there") + 2 * index;
    let bytes = machine.read_memory(address, 2).expect("it is memory");
    u16::from_le_bytes([bytes[0], bytes[1]])
}
