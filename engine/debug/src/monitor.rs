//! What `monitor` answers in GDB.

use std::fmt::Write;

use gdbstub::outputln;
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd};
use joulemark_machine::Error;

use crate::{Debugged, Position};

const HELP: &str = "\
monitor registers       the core's registers
monitor cycles          cycles, instructions and time since the start
monitor energy          what the board has drawn since the start, and draws now
monitor snapshot NAME   remember this point
monitor restore NAME    go back to it; then `maintenance flush register-cache`
monitor snapshots       the points that are remembered";

impl MonitorCmd for Debugged<'_> {
    fn handle_monitor_cmd(
        &mut self,
        command: &[u8],
        mut out: ConsoleOutput<'_>,
    ) -> Result<(), Error> {
        let text = String::from_utf8_lossy(command).into_owned();
        let words: Vec<&str> = text.split_whitespace().collect();
        // An error of a command is an answer: it ends no session.
        let answer = self
            .answer(&words)
            .unwrap_or_else(|error| error.to_string());
        outputln!(out, "{answer}");
        Ok(())
    }
}

impl Debugged<'_> {
    fn answer(&mut self, words: &[&str]) -> Result<String, Error> {
        Ok(match words {
            ["registers"] => self.register_lines(),
            ["cycles"] => {
                let (machine, time) = (&*self.machine, self.machine.time());
                format!(
                    "{} cycles, {} of them asleep; {} instructions; {} ps",
                    machine.cycles(),
                    machine.sleep_cycles(),
                    machine.instructions(),
                    time.0
                )
            }
            ["energy"] => (self.energy)(self.machine)
                .unwrap_or_else(|| "no currents are known: run it with --board".into()),
            ["snapshot", name] => {
                let here = Position::of(self.machine);
                self.snapshots.insert((*name).to_owned(), here);
                format!("{name}: cycle {}, pc {:#x}", here.cycles, here.pc)
            }
            ["restore", name] => {
                let Some(&to) = self.snapshots.get(*name) else {
                    return Ok(format!(
                        "no snapshot {name}; `monitor snapshots` lists them"
                    ));
                };
                self.known.clear();
                self.go_back(to)?;
                format!("{name}: cycle {}, pc {:#x}", to.cycles, to.pc)
            }
            ["snapshots"] => {
                let lines = self.snapshots.iter();
                let lines = lines.map(|(name, at)| format!("{name}: cycle {}", at.cycles));
                lines.collect::<Vec<_>>().join("\n")
            }
            [] | ["help"] => HELP.into(),
            _ => format!("unknown: {}\n{HELP}", words.join(" ")),
        })
    }

    fn register_lines(&self) -> String {
        let mut text = String::new();
        for (number, (name, value)) in self.machine.registers().into_iter().enumerate() {
            let end = if number % 4 == 3 { "\n" } else { "  " };
            // Writing to a string cannot fail.
            let _ = write!(text, "{name:>5} {value:08x}{end}");
        }
        text.trim_end().to_owned()
    }
}
