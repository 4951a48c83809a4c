//! Chips whose files say only what differs from another one report what they are, run, and name
//! what they lack.

use std::path::Path;
use std::sync::Arc;

use joulemark_devices::Wiring;
use joulemark_machine::{Machine, Options, Stop, Until, load_chip, parse_image};

/// Run a program that reads the words at `base`, `base` + 12, `base` + 16 and `last` into r1 to r4,
/// and then loops.
fn run(chip: &str, base: u32, last: u32) -> (Vec<u32>, Stop) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../chips/{chip}.toml"));
    let chip = Arc::new(load_chip(&path).unwrap_or_else(|error| panic!("{error}")));
    let words = [
        0x2000_1000,
        9,
        // ldr r0, base; ldr r1, [r0]; ldr r2, [r0, #12]; ldr r3, [r0, #16]
        0x6801_4803,
        0x6903_68c2,
        // ldr r4, last; ldr r4, [r4]; 1: b 1b
        0x6824_4c02,
        0x0000_e7fe,
        base,
        last,
    ];
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let mut memories = chip.memory.iter();
    let flash = memories
        .find(|memory| memory.name == "flash")
        .expect("flash");
    let image = Arc::new(parse_image(&bytes, Some(flash.start)).expect("raw"));
    let options = Options {
        entry: Some(flash.start + 8),
        ..Options::default()
    };
    let made = Machine::new(&chip, &Wiring::default(), &image, &options);
    let mut machine = made.unwrap_or_else(|error| panic!("{error}"));
    let stop = machine.run(Until {
        max_cycles: Some(1000),
        ..Until::default()
    });
    let registers = machine.registers().into_iter().map(|register| register.1);
    (registers.skip(1).take(4).collect(), stop.expect("runs"))
}

fn fault(stop: Stop) -> (&'static str, String) {
    let fault = stop.fault.expect("a fault");
    (fault.kind, fault.message)
}

#[test]
fn an_nrf52_reports_its_own_part_and_sizes_and_lacks_what_it_lacks() {
    const PART: u32 = 0x1000_0100;
    const ROM_TABLE: u32 = 0xf000_0fe0;
    const CRYPTOCELL: u32 = 0x5002_a500;
    const NFCT: u32 = 0x4000_5500;
    for (chip, told, at, lacks) in [
        (
            "nrf52833",
            [0x52833, 128, 512, 0xd],
            CRYPTOCELL,
            "CryptoCell: this chip has none",
        ),
        ("nrf52840", [0x52840, 256, 1024, 8], NFCT, "NFC tag (NFCT)"),
    ] {
        let (words, stop) = run(chip, PART, ROM_TABLE);
        assert_eq!((words, stop.fault), (told.to_vec(), None), "{chip}");
        let (kind, message) = fault(run(chip, PART, at).1);
        let told = format!("the emulation of {chip} leaves out {lacks}");
        assert!(kind == "absent" && message.contains(&told), "{message}");
    }
    // The second half of the larger chip's RAM, and beyond the smaller one's flash.
    for beyond in [0x2002_0000, 0x0008_0000] {
        assert_eq!(run("nrf52840", PART, beyond).1.fault, None);
        let (_, message) = fault(run("nrf52833", PART, beyond).1);
        assert!(message.contains(&format!("{beyond:#010x}")), "{message}");
    }
}

/// An access to what the silicon has is never called the program's fault: each peripheral of each
/// chip's map is emulated, or said to be left out.
#[test]
fn whatever_silicon_has_is_emulated_or_said_to_be_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips");
    let mut blocks = 0;
    for name in [
        "cc2538",
        "cc2642r",
        "cc2650",
        "cc2652r",
        "nrf52833",
        "nrf52840",
        "stm32f100rb",
        "stm32f207zg",
        "stm32l4r5zi",
    ] {
        let chip = load_chip(&folder.join(format!("{name}.toml"))).expect("loads");
        let map = chip.map.as_ref().expect("has a map");
        for (block, peripheral) in &chip.peripherals.as_ref().expect("has peripherals").table {
            assert!(
                chip.block_at(peripheral.base + 0x7f).is_some() || peripheral.pins.is_some(),
                "{block}"
            );
        }
        for (block, &[first, last]) in &map.table {
            assert!(first % 4 == 0 && first < last, "{name}: {block}");
            let (_, stop) = run(name, first, last & !3);
            let kind = stop.fault.as_ref().map_or("", |fault| fault.kind);
            assert_ne!(kind, "unmapped", "{name}: {block}: {:?}", stop.fault);
            blocks += 1;
        }
    }
    assert!(blocks > 200, "{blocks}");
}

#[test]
fn a_cc26x2_reports_its_own_protocols() {
    const USER_ID: u32 = 0x5000_1294;
    const PROTOCOLS: u32 = 0x4008_21d4;
    const RFC: u32 = 0x4004_1000;
    for (chip, user_id, protocols, lacks) in [
        (
            "cc2642r",
            0x29000,
            0xa,
            "RF core (RFC), which in this chip knows no IEEE 802.15.4",
        ),
        ("cc2652r", 0x2f000, 0xe, "RF core (RFC)"),
    ] {
        let (words, stop) = run(chip, USER_ID, PROTOCOLS);
        assert_eq!(
            (words[0], words[3], stop.fault),
            (user_id, protocols, None),
            "{chip}"
        );
        let (kind, message) = fault(run(chip, USER_ID, RFC).1);
        let told = format!("the emulation of {chip} leaves out {lacks}");
        assert!(kind == "absent" && message.contains(&told), "{message}");
    }
}

#[test]
fn a_pin_that_a_sibling_lacks_is_refused_with_those_it_has() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips/nrf52833.toml");
    let chip = Arc::new(load_chip(&path).expect("loads"));
    let image = Arc::new(parse_image(&[0; 4], Some(0)).expect("raw"));
    let options = Options {
        marker: Some("P1.10".into()),
        entry: Some(0),
        ..Options::default()
    };
    let Err(error) = Machine::new(&chip, &Wiring::default(), &image, &options) else {
        panic!("there is no such pin");
    };
    let told = "no pin 'P1.10'; pins are P0.00 to P1.09";
    assert!(error.to_string().contains(told), "{error}");
}
