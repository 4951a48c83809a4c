//! Every shipped chip file is valid, and errors in one are found and named.

use std::path::{Path, PathBuf};

use joulemark_kernel::chip::Grade;
use joulemark_machine::{load_chip, parse_chip};

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
                let error = parse_chip(&broken, "broken.toml").expect_err("it is incomplete");
                let key = begin.trim_matches([',', ' ', '"', '=']);
                assert!(
                    error.0.starts_with("broken.toml: key '") && error.0.contains(key),
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
        let error = parse_chip(&broken, "broken.toml").expect_err("the key is unknown");
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
        let _ = parse_chip(&text[..cut], "cut.toml");
        let mut odd = text.clone();
        odd.insert(cut, '=');
        let _ = parse_chip(&odd, "odd.toml");
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
        let broken: String = text
            .lines()
            .map(|line| {
                if line.starts_with("series = ") {
                    "series = \"z80\""
                } else {
                    line
                }
            })
            .flat_map(|line| [line, "\n"])
            .collect();
        let error = parse_chip(&broken, "broken.toml").expect_err("there is none");
        assert!(
            error
                .0
                .starts_with("broken.toml: key 'series': no series 'z80'"),
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
        let chip = load_chip(&path).expect("loads");
        let broken = text.replace(&format!("core = \"{}\"", chip.core), "core = \"z80\"");
        let error = parse_chip(&broken, "broken.toml").expect_err("there is none");
        assert_eq!(
            error.0,
            "broken.toml: key 'core': no core 'z80' is emulated; there is armv7m, msp430"
        );
    }
}

#[test]
fn a_section_that_no_chip_of_the_series_has_is_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips/stm32f100rb.toml");
    let broken = text_of(&path).replace("[cortex_m]", "[cortex_n]");
    let error = parse_chip(&broken, "broken.toml").expect_err("it is incomplete");
    assert!(error.0.contains("cortex_n"), "{error}");
}
