//! Images from disk: good ones load the same from every format, bad ones give an error.

use crate::common;

use std::sync::Arc;

use joulemark_devices::Wiring;
use joulemark_kernel::image::{Format, Target};
use joulemark_kernel::{Chip, Image, ImageError};
use joulemark_machine::{Machine, Options, Profiling, Until, parse_image, targets};
use proptest::prelude::*;

const PROGRAM: &str = "
start:
    mov #0x3900, r1
    mov #0x5a80, &WDTCTL
    call #work
end:
    jmp end
    .size start, . - start
    .globl work
    .type work, @function
work:
    mov #table, r12
    add @r12+, r13
    ret
    .size work, . - work
    .section .rodata,\"a\"
table:
    .word 1, 2, 3, 4
";

fn hex_of(image: &Image) -> String {
    let mut records = Vec::new();
    for segment in &image.segments {
        for (index, chunk) in segment.data.chunks(16).enumerate() {
            records.push(ihex::Record::Data {
                offset: (segment.address as usize + 16 * index) as u16,
                value: chunk.to_vec(),
            });
        }
    }
    records.push(ihex::Record::EndOfFile);
    ihex::create_object_file_representation(&records).expect("can be written")
}

fn run(
    chip: &Arc<Chip>,
    image: &Image,
    options: &Options,
) -> Result<(u64, Vec<(String, u32)>), String> {
    let image = Arc::new(image.clone());
    let mut machine = Machine::new(chip, &Wiring::default(), &image, options)
        .map_err(|error| error.to_string())?;
    let until = Until {
        max_cycles: Some(5000),
        ..Until::default()
    };
    machine.run(until).map_err(|error| error.to_string())?;
    let _ = machine.profile();
    Ok((machine.cycles(), machine.registers()))
}

#[test]
fn elf_and_hex_run_alike() {
    let chip = common::chip();
    let elf = common::image(PROGRAM);
    let hex = parse_image(hex_of(&elf).as_bytes(), None).expect("Intel HEX");
    assert_eq!((elf.format, hex.format), (Format::Elf, Format::IntelHex));
    assert_eq!(elf.digest(), hex.digest());
    let options = Options::default();
    assert_eq!(run(&chip, &elf, &options), run(&chip, &hex, &options));
}

#[test]
fn data_that_is_executed_is_a_fault() {
    let source = PROGRAM.replace("call #work", "br #table");
    let (mut machine, _) = common::machine(&source);
    let fault = common::run_for(&mut machine, 1000).fault.expect("a fault");
    assert_eq!(fault.kind, "execute-data", "{}", fault.message);
}

#[test]
fn a_raw_image_starts_where_it_is_told() {
    let chip = common::chip();
    // mov #5, r10; jmp $
    let image = parse_image(&[0x3a, 0x40, 5, 0, 0xff, 0x3f], Some(0x5000)).expect("raw");
    let error = run(&chip, &image, &Options::default()).expect_err("there is no vector");
    assert!(
        error.contains("reset vector") && error.contains("where to start"),
        "{error}"
    );
    let options = Options {
        entry: Some(0x5000),
        ..Options::default()
    };
    let (_, registers) = run(&chip, &image, &options).expect("runs");
    assert_eq!(registers[10], ("r10".into(), 5));
}

#[test]
fn images_for_other_chips_are_refused_by_name() {
    let chip = common::chip();
    let mut elf = common::elf(PROGRAM);
    let error = |bytes: &[u8]| -> String {
        parse_image(bytes, None).map_or_else(
            |ImageError(message)| message,
            |image| run(&chip, &image, &Options::default()).expect_err("it is refused"),
        )
    };
    // e_flags of binutils: 45 is MSP430X.
    elf[0x24] = 45;
    assert!(error(&elf).contains("MSP430X"), "{}", error(&elf));
    elf[0x24] = 0;
    // e_machine: 40 is Arm, 62 is x86-64.
    elf[0x12] = 40;
    assert!(error(&elf).contains("armv7m") && error(&elf).contains("msp430f1611"));
    elf[0x12] = 62;
    assert!(error(&elf).contains("machine number 62"), "{}", error(&elf));
    for target in targets() {
        let listed = format!("{} ({})", target.core, target.elf_machine);
        assert!(error(&elf).contains(&listed), "{}", error(&elf));
    }
    elf[0x12] = 105;
    // e_type: 1 is an object file.
    elf[0x10] = 1;
    assert!(error(&elf).contains("link"), "{}", error(&elf));
    elf[0x10] = 2;
    elf[4] = 2;
    assert!(error(&elf).contains("32-bit"), "{}", error(&elf));
    let far = parse_image(&[0; 16], Some(0xfffa)).expect("raw");
    assert!(
        run(&chip, &far, &Options::default())
            .expect_err("too large")
            .contains("0x10000")
    );
    assert!(error(b"").contains("empty"));
}

/// A core that is not emulated; function symbols have two bits that are not part of the address.
static MADE_UP: Target = Target {
    core: "made-up",
    elf_machine: 0xfeed,
    symbol_flags: 3,
    refuse: |flags, _| (flags != 0).then(|| format!("for a made-up core with flags {flags}")),
};

#[test]
fn a_made_up_core_is_taken_for_no_other() {
    let mut elf = common::elf(PROGRAM);
    elf[0x12..0x14].copy_from_slice(&MADE_UP.elf_machine.to_le_bytes());
    let error = parse_image(&elf, None).expect_err("no emulated core has this number");
    assert!(error.0.contains("machine number 65261"), "{error}");

    let image = Image::parse(&elf, None, &[&MADE_UP]).expect("is for it");
    assert_eq!(image.cores.as_deref(), Some(&["made-up"][..]));
    let work = image.symbols.addresses()["work"];
    assert_eq!(
        work,
        common::image(PROGRAM).symbols.addresses()["work"] & !3
    );
    for chip in [common::chip(), common::arm_chip()] {
        let error = run(&chip, &image, &Options::default()).expect_err("it is refused");
        let (name, core) = (&chip.name, &chip.core);
        let told = format!("for the made-up core and chip {name} has an {core} core");
        assert!(error.contains(&told), "{error}");
    }
    elf[0x24] = 7;
    let error = Image::parse(&elf, None, &[&MADE_UP]).expect_err("its own check refuses it");
    assert!(
        error.0.contains("ELF: for a made-up core with flags 7"),
        "{error}"
    );

    let mut chip = (*common::chip()).clone();
    chip.core = "made-up".into();
    let error = run(&Arc::new(chip), &image, &Options::default()).expect_err("is not emulated");
    assert!(
        error.contains("no core 'made-up' is emulated; there is armv6m, armv7m, msp430"),
        "{error}"
    );
}

#[test]
fn variables_get_other_initial_values_by_symbol() {
    let object = |section: &str, name: &str, size: u32, what: &str| {
        format!(".section {section}\n.type {name}, @object\n.size {name}, {size}\n{name}: {what}\n")
    };
    let source = PROGRAM.to_owned()
        + &object(".data", "TOS_NODE_ID", 2, ".word 1")
        + &object(".data", "addresses", 6, ".space 6")
        + &object(".bss", "node_id", 2, ".space 2");
    let image = common::image(&source);
    let initial = |image: &Image| {
        let mut segments = image.segments.iter();
        let data = segments.find_map(|segment| {
            let offset = 0x9000_u32.checked_sub(segment.address)? as usize;
            segment.data.get(offset..offset + 2)
        });
        data.expect("the initial value").to_vec()
    };
    assert_eq!(initial(&image), [1, 0]);
    for (value, bytes) in [(3, [3, 0]), (-2, [0xfe, 0xff]), (0xffff, [0xff, 0xff])] {
        let mut other = Image::clone(&image);
        other.set_variable("TOS_NODE_ID", value).expect("is set");
        assert_eq!(initial(&other), bytes);
        assert_eq!(other.digest() == image.digest(), bytes == [1, 0]);
    }
    for (name, value, told) in [
        ("TOS_NODE_ID", 0x10000, "65536 does not fit its 2 bytes"),
        ("TOS_NODE_ID", -0x8001, "-32769 does not fit its 2 bytes"),
        ("TOS_NODE", 1, "did you mean TOS_NODE_ID?"),
        ("addresses", 1, "it has 6 bytes"),
        ("node_id", 1, "no initial value"),
        ("work", 1, "no variable"),
    ] {
        let error = Image::clone(&image).set_variable(name, value);
        let error = error.expect_err(told).to_string();
        assert!(error.contains(told), "{error}");
    }
    let mut hex = parse_image(hex_of(&image).as_bytes(), None).expect("is read");
    let error = hex.set_variable("TOS_NODE_ID", 3).expect_err("no symbols");
    assert!(error.to_string().contains("has no symbols"), "{error}");
}

#[test]
fn damaged_hex_names_the_line() {
    let hex = hex_of(&common::image(PROGRAM));
    let parse = |text: &str| {
        parse_image(text.as_bytes(), None)
            .expect_err("it is damaged")
            .0
    };
    let mut lines: Vec<String> = hex.lines().map(String::from).collect();
    let last = lines[1].pop().expect("a digit");
    lines[1].push(if last == '0' { '1' } else { '0' });
    assert!(
        parse(&lines.join("\n")).contains("line 2"),
        "{}",
        parse(&lines.join("\n"))
    );
    let cut = hex.lines().take(1).collect::<String>();
    assert!(parse(&cut).contains("truncated"));
    let twice = format!("{}\n{hex}", hex.lines().next().expect("a line"));
    assert!(parse(&twice).contains("two parts"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Loading any file, and running what loads, never panics.
    #[test]
    fn damaged_images_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        length in any::<Option<prop::sample::Index>>(),
        hex in any::<bool>(),
    ) {
        use std::sync::OnceLock;
        static FILES: OnceLock<(Vec<u8>, Vec<u8>, Arc<Chip>)> = OnceLock::new();
        let (elf, text, chip) = FILES.get_or_init(|| {
            let elf = common::elf(PROGRAM);
            let hex = hex_of(&parse_image(&elf, None).expect("loads")).into_bytes();
            (elf, hex, common::chip())
        });
        let mut bytes = if hex { text.clone() } else { elf.clone() };
        for (index, byte) in changes {
            let size = bytes.len();
            // Half of the changes go to the headers, where they have more effect.
            let limit = if byte & 1 == 0 { size.min(0x200) } else { size };
            bytes[index.index(limit)] = byte;
        }
        if let Some(index) = length {
            let size = bytes.len();
            bytes.truncate(index.index(size + 1));
        }
        match parse_image(&bytes, None) {
            Err(ImageError(message)) => prop_assert!(!message.is_empty()),
            Ok(image) => {
                let options = Options { profile: Profiling::Functions, ..Options::default() };
                let _ = run(chip, &image, &options);
            }
        }
    }
}
