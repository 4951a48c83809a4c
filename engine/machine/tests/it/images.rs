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

const UF2_BLOCK: usize = 512;
const RP2040: u32 = 0xe48b_ff56;
const ABSOLUTE: u32 = 0xe48b_ff57;
const RP2350_RISCV: u32 = 0xe48b_ff5a;

/// A file of UF2 of parts at addresses, up to 256 bytes a block.
fn uf2_of<'a>(parts: impl Iterator<Item = (u32, &'a [u8])>, family: Option<u32>) -> Vec<u8> {
    let blocks: Vec<(u32, &[u8])> = parts
        .flat_map(|(address, bytes)| (address..).step_by(256).zip(bytes.chunks(256)))
        .collect();
    let mut file = Vec::new();
    for (number, &(address, bytes)) in (0..).zip(&blocks) {
        let mut block = vec![0; UF2_BLOCK];
        let flags = if family.is_some() { 0x2000 } else { 0 };
        let head = [
            0x0a32_4655,
            0x9e5d_5157,
            flags,
            address,
            bytes.len() as u32,
            number,
            blocks.len() as u32,
            family.unwrap_or(0),
        ];
        for (place, word) in block.chunks_exact_mut(4).zip(head) {
            place.copy_from_slice(&u32::to_le_bytes(word));
        }
        block[32..32 + bytes.len()].copy_from_slice(bytes);
        block[UF2_BLOCK - 4..].copy_from_slice(&0x0ab1_6f30_u32.to_le_bytes());
        file.extend(block);
    }
    file
}

fn uf2_of_image(image: &Image) -> Vec<u8> {
    let segments = image.segments.iter();
    uf2_of(segments.map(|s| (s.address, &s.data[..])), None)
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
fn elf_and_uf2_run_alike() {
    let chip = common::chip();
    let elf = common::image(PROGRAM);
    let uf2 = parse_image(&uf2_of_image(&elf), None).expect("UF2");
    assert_eq!((uf2.format, uf2.uf2_family), (Format::Uf2, None));
    assert_eq!(elf.digest(), uf2.digest());
    let options = Options::default();
    assert_eq!(run(&chip, &elf, &options), run(&chip, &uf2, &options));
}

#[test]
fn a_damaged_uf2_file_says_where() {
    let part = |at: u32, bytes: &'static [u8]| [(at, bytes)].into_iter();
    let long = |family| uf2_of(part(0x4000, &[7; 600]), Some(family));
    let good = long(RP2040);
    let with = |at: usize, byte: u8| {
        let mut changed = good.clone();
        changed[at] = byte;
        changed
    };
    let without = |block: usize| {
        let mut cut = good.clone();
        cut.drain(block * UF2_BLOCK..(block + 1) * UF2_BLOCK);
        cut
    };
    let cases = [
        (good[..700].to_vec(), "700 bytes are no whole blocks"),
        (without(2), "it has 2 of its 3 blocks"),
        (without(0), "it has 2 of its 3 blocks"),
        (with(UF2_BLOCK + 20, 2), "block 1 is number 2 of 3"),
        (with(UF2_BLOCK + 4, 0), "block 1 does not begin and end"),
        (with(2 * UF2_BLOCK - 1, 9), "block 1 does not begin and end"),
        (with(2 * UF2_BLOCK + 17, 2), "block 2 says that it has"),
        (with(9, 0x30), "block 0 holds a file"),
        (
            [good.clone(), long(RP2350_RISCV)].concat(),
            "for several families of chips, 0xe48bff56 and 0xe48bff5a",
        ),
        (with(UF2_BLOCK + 13, 0x40), "bytes for address 0x4000"),
    ];
    for (file, told) in cases {
        let error = parse_image(&file, None).expect_err(told).0;
        assert!(error.contains(told), "{error}, not {told}");
    }
    assert_eq!(parse_image(&good, None).expect("is good").segments.len(), 1);
}

#[test]
fn a_uf2_file_in_flash_starts_as_the_boot_rom_starts_it() {
    const FLASH: u32 = 0x1000_0000;
    // li a0, 5; j .; and a block that says that this is a program for RISC-V cores.
    let code = [
        0x0050_0513,
        0x0000_006f,
        0xffff_ded3,
        0x1101_0142,
        0x0000_01ff,
        0,
        0xab12_3579_u32,
    ];
    let code: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    let program = |family| uf2_of([(FLASH, &code[..])].into_iter(), Some(family));
    let chip = common::chip_of("rp2350");
    // What tools put in front because of erratum RP2350-E10.
    let absolute = uf2_of(
        [(0x10ff_ff00, &[0xef; 256][..])].into_iter(),
        Some(ABSOLUTE),
    );
    let file = [absolute, program(RP2350_RISCV)].concat();
    let image = parse_image(&file, None).expect("UF2");
    let (_, registers) = run(&chip, &image, &Options::default()).expect("it runs");
    assert!(registers.contains(&("a0".into(), 5)), "{registers:?}");
    let other = parse_image(&program(RP2040), None).expect("UF2");
    let error = run(&chip, &other, &Options::default()).expect_err("another chip's");
    let told = "for chips of family 0xe48bff56, and rp2350 is 0xe48bff5a";
    assert!(error.contains(told), "{error}");
    let error = run(&common::chip(), &other, &Options::default()).expect_err("another chip's");
    assert!(error.contains("msp430f1611 is of no family"), "{error}");
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
        format in 0..3_usize,
    ) {
        use std::sync::OnceLock;
        static FILES: OnceLock<([Vec<u8>; 3], Arc<Chip>)> = OnceLock::new();
        let (files, chip) = FILES.get_or_init(|| {
            let elf = common::elf(PROGRAM);
            let image = parse_image(&elf, None).expect("loads");
            ([elf, hex_of(&image).into_bytes(), uf2_of_image(&image)], common::chip())
        });
        let mut bytes = files[format].clone();
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
