//! Generated programs, for comparison with another implementation of the core.
//!
//! `write FIRST COUNT` writes programs to standard output; `compare FIRST COUNT` reads from standard
//! input what another implementation made of them, and says where this one differs; `counts FIRST
//! COUNT` makes the tests' data of it, and `trace NUMBER 1` lists the instructions of a program.
//! `write-each` and `compare-each` take the programs among them that take interrupts, and each once
//! for every cycle that its interrupt may come in.
//! `docs/riscv.md` describes the formats.

#[allow(dead_code)]
#[path = "../tests/it/programs/mod.rs"]
mod programs;

use std::collections::BTreeMap;
use std::io::{Read, Write};

use programs::{LONGEST, Outcome, Program, generate, run, trace};

/// Return a program with its number; or, for each cycle up to its end, with an interrupt in it.
fn asked(number: u64, is_each: bool) -> Vec<(u64, Program)> {
    let program = generate(number);
    if !is_each {
        return vec![(number, program)];
    }
    let is_interrupted = program.interrupt != 0;
    let end = match run(&program) {
        Ok(Outcome {
            cycles: Some(end), ..
        }) if is_interrupted => end,
        _ => 0,
    };
    let with = |interrupt| Program {
        interrupt,
        ..program.clone()
    };
    (1..=end).map(|cycle| (number, with(cycle))).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, first, count] = &arguments[..] else {
        return Err("give write or compare, the first program's number, and how many".into());
    };
    let (first, count): (u64, u64) = (first.parse()?, count.parse()?);
    if what == "trace" {
        for (cycle, pc) in trace(&generate(first)) {
            println!("{cycle} {pc:08x}");
        }
        return Ok(());
    }
    let programs = || (first..first + count).flat_map(|n| asked(n, what.ends_with("-each")));
    if what.starts_with("write") {
        let mut output = std::io::BufWriter::new(std::io::stdout().lock());
        for (_, program) in programs() {
            let head = [
                program.code.len() as u32,
                program.interrupt,
                program.waits,
                LONGEST,
            ];
            for word in head.iter().chain(&program.registers).chain(&program.code) {
                output.write_all(&word.to_le_bytes())?;
            }
        }
        return Ok(());
    }
    let mut input = std::io::BufReader::new(std::io::stdin().lock());
    let (mut runs, mut different, mut unfinished, mut cycles) = (0, 0, 0, 0_u64);
    let mut faults = BTreeMap::new();
    for (number, program) in programs() {
        runs += 1;
        let mut words = [0_u32; 34];
        for word in &mut words {
            let mut bytes = [0; 4];
            input.read_exact(&mut bytes)?;
            *word = u32::from_le_bytes(bytes);
        }
        let theirs = Outcome {
            cycles: (words[0] != 0).then_some(words[1]),
            registers: std::array::from_fn(|index| words[2 + index]),
            memory: words[33],
        };
        if what == "counts" {
            let state = theirs.state();
            println!(
                "{} {state:08x}",
                theirs.cycles.map_or("-".into(), |c| c.to_string())
            );
            continue;
        }
        let ours = match run(&program) {
            Ok(ours) => ours,
            Err(fault) => {
                *faults
                    .entry((fault.kind.name(), fault.message))
                    .or_insert(0) += 1;
                continue;
            }
        };
        if theirs.cycles.is_none() && ours.cycles.is_none() {
            unfinished += 1;
        } else if ours != theirs {
            different += 1;
            if different <= 10 {
                let registers = (0..31).filter(|&x| ours.registers[x] != theirs.registers[x]);
                let registers: Vec<String> = registers
                    .map(|x| {
                        format!(
                            "x{}: {:x} {:x}",
                            x + 1,
                            ours.registers[x],
                            theirs.registers[x]
                        )
                    })
                    .collect();
                println!(
                    "program {number}, interrupt {}: cycles {:?} {:?}, memory {}, {}",
                    program.interrupt,
                    ours.cycles,
                    theirs.cycles,
                    ours.memory == theirs.memory,
                    registers.join(", ")
                );
            }
        }
        cycles += u64::from(theirs.cycles.unwrap_or(0));
    }
    if what == "counts" {
        return Ok(());
    }
    for ((kind, message), count) in faults {
        println!("{count} end with an error: {kind}: {message}");
    }
    println!("{runs} runs, {cycles} cycles: {different} differ, {unfinished} do not end");
    Ok(())
}
