//! Shared by the tests: a chip that is all RAM, the manual's tables, and mspdebug's simulator.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod slau049;

use std::io::Write;
use std::process::{Command, Stdio};

use joulemark_kernel::{Cycles, Fault, FaultKind};
use joulemark_msp430::{Bus, Core, FlashOperation, Region, RegionKind, Width};

pub const PC: usize = 0;
pub const SP: usize = 1;
pub const SR: usize = 2;

/// A chip without peripherals.
pub struct Bare;

impl Bus for Bare {
    fn read(&mut self, address: u16, _: Width, _: Cycles) -> Result<u16, Fault> {
        Err(Fault::new(FaultKind::Unmapped, "no peripheral").at(address))
    }
    fn write(&mut self, address: u16, _: u16, _: Width, _: Cycles) -> Result<(), Fault> {
        Err(Fault::new(FaultKind::Unmapped, "no peripheral").at(address))
    }
    fn write_flash(
        &mut self,
        address: u16,
        _: u16,
        _: Width,
        _: Cycles,
    ) -> Result<FlashOperation, Fault> {
        Err(Fault::new(FaultKind::FlashWrite, "flash").at(address))
    }
    fn next_event(&self) -> Cycles {
        Cycles::NEVER
    }
    fn advance(&mut self, _: Cycles) -> Result<(), Fault> {
        Ok(())
    }
    fn pending_interrupt(&self, _: bool) -> Option<u16> {
        None
    }
    fn acknowledge(&mut self, _: u16, _: Cycles) {}
    fn power_changed(&mut self, _: u16, _: Cycles) -> Cycles {
        Cycles(0)
    }
    fn take_stop(&mut self) -> bool {
        false
    }
}

/// First address of RAM in [`all_ram`]; mspdebug has its own peripherals below it.
pub const RAM: u16 = 0x0200;

/// A core with only RAM, all of it written once.
pub fn all_ram() -> Core<Bare> {
    let region = Region {
        start: RAM,
        size: 0x10000 - u32::from(RAM),
        kind: RegionKind::Ram,
    };
    let mut core = Core::new(Bare, &[region]);
    core.load(RAM, &vec![0; 0x10000 - usize::from(RAM)])
        .expect("it is RAM");
    core
}

pub fn words(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

pub fn registers<B: Bus>(core: &Core<B>) -> [u16; 16] {
    std::array::from_fn(|number| core.register(number))
}

pub fn word<B: Bus>(core: &Core<B>, address: u16) -> u16 {
    let bytes = core.read_memory(address, 2).expect("it is memory");
    u16::from_le_bytes([bytes[0], bytes[1]])
}

/// Random numbers that are the same on every machine (xorshift64*; Vigna 2016).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        ((self.next() >> 32) * limit) >> 32
    }

    pub fn word(&mut self) -> u16 {
        // Corner cases are as likely as all other values.
        const CORNERS: [u16; 10] = [
            0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xfffe, 0xffff,
        ];
        let index = self.below(20) as usize;
        CORNERS.get(index).copied().unwrap_or(self.next() as u16)
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// A script for mspdebug's simulator.
#[derive(Default)]
pub struct Oracle {
    script: String,
}

/// Output of a `step`, `run` or `md` in a script.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    Registers([u16; 16]),
    Memory(Vec<u8>),
}

impl Oracle {
    pub fn new() -> Self {
        let mut oracle = Self::default();
        oracle.line(&format!("fill {RAM:#x} {:#x} 0", 0x10000 - u32::from(RAM)));
        oracle
    }

    pub fn line(&mut self, line: &str) {
        self.script.push_str(line);
        self.script.push('\n');
    }

    pub fn write(&mut self, address: u16, data: &[u8]) {
        for (offset, chunk) in data.chunks(96).enumerate() {
            let bytes: Vec<String> = chunk.iter().map(|byte| format!("{byte:02x}")).collect();
            let at = usize::from(address) + 96 * offset;
            self.line(&format!("mw {at:#x} {}", bytes.join(" ")));
        }
    }

    /// Gives one `Registers` answer.
    pub fn set(&mut self, register: usize, value: u16) {
        self.line(&format!("set {register} {value:#x}"));
    }

    /// Gives one `Registers` answer, after the last step.
    pub fn step(&mut self, count: usize) {
        self.line(&format!("step {count}"));
    }

    /// Gives one `Memory` answer.
    pub fn dump(&mut self, address: u16, size: usize) {
        self.line(&format!("md {address:#x} {size}"));
    }

    /// Run the script.
    pub fn answers(&self) -> Vec<Answer> {
        // A separate file per thread, because tests run in parallel.
        let name = format!(
            "oracle-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        );
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::File::create(&path)
            .and_then(|mut file| file.write_all(self.script.as_bytes()))
            .expect("the target directory can be written");
        let output = Command::new("mspdebug")
            .args(["-q", "sim", &format!("read {}", path.display())])
            .stdin(Stdio::null())
            .output()
            .expect("these tests need mspdebug 0.22; install the Debian package mspdebug");
        std::fs::remove_file(&path).ok();
        parse(&String::from_utf8_lossy(&output.stdout))
    }
}

fn parse(output: &str) -> Vec<Answer> {
    let mut answers = Vec::new();
    let mut registers = [0; 16];
    for line in output.lines().map(str::trim) {
        if let Some(first) = line.strip_prefix("( ") {
            // Four lines of "( PC: 05000)  ( R4: 01234)  ( R8: 0ffff)  (R12: 0ffff)".
            let row = ["PC", "SP", "SR", "R3"]
                .iter()
                .position(|name| first.starts_with(name));
            let row = row.expect("a row starts with one of the first four registers");
            for (column, cell) in line.split(')').take(4).enumerate() {
                let value = cell.rsplit(' ').next().expect("a value");
                registers[row + 4 * column] =
                    u16::from_str_radix(value, 16).expect("a hexadecimal value");
            }
            if row == 3 {
                answers.push(Answer::Registers(registers));
            }
        } else if line.ends_with('|')
            && let Some((_, rest)) = line.split_once(": ")
            && let Some((bytes, _)) = rest.split_once('|')
        {
            let bytes = bytes.split_whitespace();
            let bytes = bytes.map(|byte| u8::from_str_radix(byte, 16).expect("a byte"));
            match answers.last_mut() {
                Some(Answer::Memory(memory)) => memory.extend(bytes),
                _ => answers.push(Answer::Memory(bytes.collect())),
            }
        } else if line.starts_with("=>") && line.contains(" md ") {
            // Two consecutive dumps are two answers.
            answers.push(Answer::Memory(Vec::new()));
        }
    }
    answers
}
