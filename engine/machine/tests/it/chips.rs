//! Every shipped chip file is valid, and errors in one are found and named.

use std::path::{Path, PathBuf};

use joulemark_kernel::chip::Grade;
use joulemark_machine::{load_chip, parse_chip, targets};

fn chips() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips");
    let mut chips: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("chips/ can be read")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    chips.sort();
    chips
}

/// The name of a file among the chips, which those that are like another need.
fn beside(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips");
    folder.join(name).display().to_string()
}

/// The text of a chip file with a line of another core or series.
fn with_line(text: &str, key: &str, line: &str) -> String {
    let own = format!("{key} = ");
    if !text.lines().any(|line| line.starts_with(&own)) {
        return format!("{line}\n{text}");
    }
    let lines = text.lines();
    let lines = lines.map(|old| if old.starts_with(&own) { line } else { old });
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn text_of(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a chip file can be read")
}

#[test]
fn every_chip_loads_and_bears_its_files_name() {
    assert!(!chips().is_empty());
    for path in chips() {
        let chip = load_chip(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            Some(chip.name.as_str()),
            path.file_stem().and_then(|s| s.to_str())
        );
        for region in &chip.memory {
            assert!(!region.source.is_empty());
        }
    }
}

#[test]
fn every_source_names_a_document_of_the_file() {
    for path in chips() {
        let chip = load_chip(&path).expect("loads");
        for line in text_of(&path).lines() {
            let Some((_, rest)) = line.split_once("source = \"") else {
                continue;
            };
            assert!(
                chip.documents
                    .keys()
                    .any(|document| rest.starts_with(document.as_str())),
                "{}: '{rest}' begins with none of the documents",
                path.display()
            );
        }
    }
}

#[test]
fn a_constant_without_a_source_or_grade_is_rejected_wherever_it_is() {
    for path in chips() {
        let text = text_of(&path);
        for (number, line) in text.lines().enumerate() {
            if !line.contains("value = ") {
                continue;
            }
            for (begin, end) in [(", source = \"", '"'), (", grade = \"", '"')] {
                let Some(start) = line.find(begin) else {
                    continue;
                };
                let after = start + begin.len();
                let stop = after + line[after..].find(end).expect("the string ends") + 1;
                let broken = format!("{}{}", &line[..start], &line[stop..]);
                let broken: String = text
                    .lines()
                    .enumerate()
                    .map(|(at, old)| if at == number { broken.as_str() } else { old })
                    .flat_map(|line| [line, "\n"])
                    .collect();
                let error =
                    parse_chip(&broken, &beside("broken.toml")).expect_err("it is incomplete");
                let key = begin.trim_matches([',', ' ', '"', '=']);
                assert!(
                    error.0.contains("broken.toml: key '") && error.0.contains(key),
                    "line {number}: {error}"
                );
            }
        }
    }
}

#[test]
fn an_unknown_key_is_rejected_and_named() {
    let path = &chips()[0];
    for header in [
        "",
        "[[memory]]",
        "[basic_clock]",
        "[[absent]]",
        "[registers]",
    ] {
        let text = text_of(path);
        let broken = if header.is_empty() {
            format!("voltage = 3\n{text}")
        } else if text.contains(&format!("{header}\n")) {
            text.replacen(
                &format!("{header}\n"),
                &format!("{header}\nvoltage = 3\n"),
                1,
            )
        } else {
            continue;
        };
        let error = parse_chip(&broken, &beside("broken.toml")).expect_err("the key is unknown");
        assert!(
            error.0.contains("broken.toml") && error.0.contains("voltage"),
            "{error}"
        );
    }
}

#[test]
fn damaged_files_never_panic() {
    let text = text_of(&chips()[0]);
    for cut in (0..text.len()).step_by(97) {
        let _ = parse_chip(&text[..cut], &beside("cut.toml"));
        let mut odd = text.clone();
        odd.insert(cut, '=');
        let _ = parse_chip(&odd, &beside("odd.toml"));
    }
    let error = load_chip(Path::new("nowhere.toml")).expect_err("there is none");
    assert!(error.0.contains("nowhere.toml"));
}

#[test]
fn currents_say_where_they_come_from() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips/msp430f1611.toml");
    let chip = load_chip(&path).expect("loads");
    assert_eq!(chip.core, "msp430");
    let current = |state: &str, hz, volts| chip.current_a(state, hz, volts).expect("a state");
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
    // SLAS368G p. 27: 500 uA at 1 MHz and 3 V, proportional to the clock.
    assert!(near(current("active", 8_000_000, 3.0).value, 4e-3));
    assert_eq!(current("active", 8_000_000, 3.0).grade, Grade::Datasheet);
    let between = current("active", 1_000_000, 2.6);
    assert!(near(between.value, 415e-6));
    assert_eq!(between.grade, Grade::Inferred);
    assert_eq!(current("lpm3", 4_000_000, 3.0).grade, Grade::Datasheet);
    // Stated at 1 MHz only.
    assert_eq!(current("lpm0", 4_000_000, 3.0).grade, Grade::Inferred);
    let error = chip.current_a("lpm9", 1, 3.0).expect_err("no such state");
    assert!(error.0.contains("lpm9") && error.0.contains("lpm4"));
}

#[test]
fn a_series_that_is_not_known_is_named_with_those_that_are() {
    for path in chips() {
        let text = text_of(&path);
        let broken = with_line(&text, "series", "series = \"z80\"");
        let error = parse_chip(&broken, &beside("broken.toml")).expect_err("there is none");
        assert!(
            error
                .0
                .contains("broken.toml: key 'series': no series 'z80'"),
            "{error}"
        );
        let chip = load_chip(&path).expect("loads");
        assert!(error.0.contains(&chip.series), "{error}");
    }
}

#[test]
fn a_core_that_is_not_emulated_is_named_with_those_that_are() {
    for path in chips() {
        let text = text_of(&path);
        let broken = with_line(&text, "core", "core = \"z80\"");
        let error = parse_chip(&broken, &beside("broken.toml")).expect_err("there is none");
        let cores: Vec<&str> = targets().iter().map(|target| target.core).collect();
        let told = "broken.toml: key 'core': no core 'z80' is emulated; there is";
        assert!(
            error.0.ends_with(&format!("{told} {}", cores.join(", "))),
            "{error}"
        );
    }
}

#[test]
fn a_section_that_no_chip_of_the_series_has_is_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips/stm32f100rb.toml");
    let broken = text_of(&path).replace("[cortex_m]", "[cortex_n]");
    let error = parse_chip(&broken, &beside("broken.toml")).expect_err("it is incomplete");
    assert!(error.0.contains("cortex_n"), "{error}");
}

/// A chip file, as text, that is like the nRF52840 and has these lines.
fn like_nrf52840(lines: &str) -> Result<joulemark_kernel::Chip, String> {
    let text = format!("like = \"nrf52840\"\n{lines}");
    parse_chip(&text, &beside("sibling.toml")).map_err(|error| error.0)
}

#[test]
fn a_sibling_states_what_differs_with_a_source() {
    let chip = like_nrf52840("name = \"sibling\"\n").expect("is the same but for its name");
    let nrf52840 = load_chip(Path::new(&beside("nrf52840.toml"))).expect("loads");
    assert_eq!(
        (chip.memory, chip.peripherals),
        (nrf52840.memory, nrf52840.peripherals)
    );
    for (lines, told) in [
        (
            "[[memory]]\nname = \"ram\"\nsize = 4096\n",
            "key 'memory': needs a 'source'",
        ),
        (
            "[factory]\npart = { value = 1 }\n",
            "key 'factory.part': missing field `source`",
        ),
        (
            "without = [[\"absent\", \"sun\"]]\n",
            "has no 'absent' in 'sun'",
        ),
        ("without = \"sun\"\n", "key 'without': give lists"),
        (
            "[peripherals]\nsource = \"nrfx\"\n[peripherals.table]\nP1 = { pin = 1 }\n",
            "pin",
        ),
        (
            "[peripherals]\nsource = \"nrfx\"\n[peripherals.table]\nSUN = { base = 0 }\n",
            "key 'peripherals.table.SUN': series nrf52 knows none; it knows CLOCK, RADIO, UARTE0",
        ),
        (
            "[peripherals]\nsource = \"nrfx\"\n[peripherals.table]\nWDT = { interrupts = [] }\n",
            "key 'peripherals.table.WDT': needs as many 'interrupts': 1",
        ),
        (
            "[peripherals]\nsource = \"nrfx\"\n[peripherals.table]\nWDT = { base = 0x4000c000 }\n",
            "key 'peripherals.table.WDT.base': its registers begin at 0x4000c000, among those of TEMP",
        ),
    ] {
        let error = like_nrf52840(lines).expect_err(told);
        assert!(
            error.contains("sibling.toml: ") && error.contains(told),
            "{error}"
        );
    }
    let error = parse_chip("like = \"sun\"", &beside("sibling.toml")).expect_err("there is none");
    assert!(error.0.contains("key 'like': cannot read"), "{error}");
    let error = parse_chip("like = \"cc2642r\"", &beside("sibling.toml")).expect_err("too far");
    assert!(
        error.0.contains("cc2642r is like \"cc2652r\" itself"),
        "{error}"
    );
}

/// Interrupts are stated twice, for the firmware's vectors and for the emulation.
#[test]
fn vectors_and_interrupts_of_a_name_agree() {
    let mut compared = 0;
    for path in chips() {
        let chip = load_chip(&path).expect("loads");
        let Some(peripherals) = &chip.peripherals else {
            continue;
        };
        let vectors = &chip.vectors.table;
        let line = |name: &str| Some((vectors.get(name)? - vectors["RESET"]) / 4 - 15);
        for (name, peripheral) in &peripherals.table {
            for (number, &interrupt) in peripheral.interrupts.iter().enumerate() {
                let lettered = format!("{name}{}", if number == 0 { 'A' } else { 'B' });
                if let Some(line) = line(name).or_else(|| line(&lettered)) {
                    let (chip, own) = (&chip.name, interrupt == line || number > 1);
                    let alternate = number > 0 && peripheral.interrupts[0] == line;
                    assert!(own || alternate, "{chip}: {name}: {interrupt} and {line}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 80, "{compared}");
}
