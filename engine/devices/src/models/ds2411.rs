//! Maxim DS2411, a 64-bit serial number on a 1-Wire bus.
//!
//! Reset, presence and time slots follow the data sheet. The only command is Read ROM; others get
//! no answer until the next reset.

use joulemark_kernel::Picoseconds;

use crate::{Device, Figures, Lines, Model, PinRole};

/// The wire as the master drives it, and the device's pull-down: both are the same pin of the chip.
const WIRE: usize = 0;
const PULL: usize = 1;

const ON: &str = "on";

const FAMILY: u8 = 0x01;
const READ_ROM: u8 = 0x33;

/// The model, for board files.
pub static MODEL: Model = Model {
    name: "ds2411",
    protocol: None,
    pins: &[
        PinRole {
            name: "wire",
            is_output: false,
            is_needed: true,
        },
        PinRole {
            name: "pull",
            is_output: true,
            is_needed: true,
        },
    ],
    senses: &[],
    states: &[ON],
    figures: include_str!("ds2411.toml"),
    make: |figures| Box::new(Ds2411::new(figures)),
};

/// The meaning of the next time slots.
#[derive(Clone, Copy, Debug)]
enum Slots {
    /// Ignored until a reset.
    None,
    /// Receive a command.
    Command { bits: u32, command: u8 },
    /// Send the number.
    Number { bits: u32 },
}

/// The device's next action on the wire.
#[derive(Clone, Copy, Debug)]
enum Act {
    Pull,
    Release,
}

/// The device.
pub struct Ds2411 {
    number: u64,
    slots: Slots,
    /// When the master pulled the wire low.
    fell: Option<Picoseconds>,
    is_pulling: bool,
    due: Option<(Act, Picoseconds)>,
    reset: Picoseconds,
    presence_wait: Picoseconds,
    presence: Picoseconds,
    sample: Picoseconds,
}

/// The CRC byte: x^8 + x^5 + x^4 + 1, least significant bit first.
fn check(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |mut check, byte| {
        check ^= byte;
        for _ in 0..8 {
            check = check >> 1 ^ if check & 1 != 0 { 0x8c } else { 0 };
        }
        check
    })
}

impl Ds2411 {
    /// Make a device with serial number 0.
    pub fn new(figures: &Figures) -> Self {
        let mut device = Self {
            number: 0,
            slots: Slots::None,
            fell: None,
            is_pulling: false,
            due: None,
            reset: figures.time("reset"),
            presence_wait: figures.time("presence_wait"),
            presence: figures.time("presence"),
            sample: figures.time("sample"),
        };
        device.set_serial(0);
        device
    }

    /// Set a 48-bit serial number.
    pub fn set_serial(&mut self, serial: u64) {
        let mut bytes = [0; 8];
        bytes[0] = FAMILY;
        bytes[1..7].copy_from_slice(&serial.to_le_bytes()[..6]);
        bytes[7] = check(&bytes[..7]);
        self.number = u64::from_le_bytes(bytes);
    }

    /// All eight bytes in the order of transmission: the family comes first.
    pub const fn number(&self) -> [u8; 8] {
        self.number.to_le_bytes()
    }

    fn pull(&mut self, down: bool, lines: &mut Lines) {
        self.is_pulling = down;
        lines.drive(PULL, !down);
    }

    /// Handle the master pulling the wire low.
    fn fall(&mut self, lines: &mut Lines) {
        self.fell = Some(lines.now());
        if let Slots::Number { bits } = self.slots {
            self.slots = if bits < 63 {
                Slots::Number { bits: bits + 1 }
            } else {
                Slots::None
            };
            if self.number >> bits & 1 == 0 {
                self.pull(true, lines);
                self.due = Some((Act::Release, lines.now() + self.sample));
            }
        }
    }

    /// Handle the master releasing the wire.
    fn rise(&mut self, fell: Picoseconds, now: Picoseconds) {
        let low = Picoseconds(now.0 - fell.0);
        if low >= self.reset {
            self.slots = Slots::Command {
                bits: 0,
                command: 0,
            };
            self.due = Some((Act::Pull, now + self.presence_wait));
            return;
        }
        if let Slots::Command { bits, command } = self.slots {
            let bit = u8::from(low < self.sample);
            let command = command | bit << bits;
            self.slots = match (bits, command) {
                (7, READ_ROM) => Slots::Number { bits: 0 },
                (7, _) => Slots::None,
                _ => Slots::Command {
                    bits: bits + 1,
                    command,
                },
            };
        }
    }
}

impl Device for Ds2411 {
    fn power_up(&mut self, lines: &mut Lines) {
        // A resistor pulls the wire high.
        lines.drive(PULL, true);
    }

    fn pin_changed(&mut self, pin: usize, high: bool, lines: &mut Lines) {
        if pin != WIRE {
            return;
        }
        match (high, self.fell) {
            // Ignore the device's own edges, and the master's within a bit that the device sends.
            (false, _) if self.is_pulling => {}
            (false, None) => self.fall(lines),
            (true, Some(fell)) => {
                self.fell = None;
                self.rise(fell, lines.now());
            }
            _ => {}
        }
    }

    fn next_event(&self) -> Picoseconds {
        self.due.map_or(Picoseconds::NEVER, |(_, time)| time)
    }

    fn advance(&mut self, lines: &mut Lines) {
        match self.due.take() {
            Some((Act::Pull, _)) => {
                self.pull(true, lines);
                self.due = Some((Act::Release, lines.now() + self.presence));
            }
            Some((Act::Release, _)) => self.pull(false, lines),
            None => {}
        }
    }
}
