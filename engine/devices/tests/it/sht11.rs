//! The SHT11 as a master sees it that drives its two wires bit by bit.

use joulemark_devices::sht11::{MODEL, Sht11};
use joulemark_devices::{Device, Lines};
use joulemark_kernel::{Picoseconds, Signal};

const MS: u64 = 1_000_000_000;
const MICROSECOND: u64 = 1_000_000;

const CLOCK: usize = 0;
const DATA: usize = 1;
const POWER: usize = 3;

const TEMPERATURE: u8 = 0b00011;
const HUMIDITY: u8 = 0b00101;
const READ_STATUS: u8 = 0b00111;
const WRITE_STATUS: u8 = 0b00110;
const RESET: u8 = 0b11110;

struct Bench {
    sensor: Sht11,
    now: Picoseconds,
    state: &'static str,
    /// The line as the master and the device drive it.
    master: bool,
    device: bool,
    level: bool,
}

impl Bench {
    fn new() -> Self {
        let figures = MODEL.figures().expect("the model's file is right");
        let mut bench = Self {
            sensor: Sht11::new(&figures),
            now: Picoseconds(0),
            state: MODEL.states[0],
            master: true,
            device: true,
            level: true,
        };
        bench.touch(Device::power_up);
        bench
    }

    fn touch(&mut self, act: impl FnOnce(&mut Sht11, &mut Lines)) {
        let mut lines = Lines::new(self.now);
        act(&mut self.sensor, &mut lines);
        self.state = lines.state.unwrap_or(self.state);
        for (_, high) in lines.driven {
            self.device = high;
        }
        self.settle();
    }

    /// Tell the device of a new level of the line, as the chip's pin does.
    fn settle(&mut self) {
        let level = self.master && self.device;
        if level != self.level {
            self.level = level;
            self.touch(|sensor, lines| sensor.pin_changed(DATA, level, lines));
        }
    }

    fn data(&mut self, high: bool) {
        self.now += Picoseconds(MICROSECOND);
        self.master = high;
        self.settle();
    }

    fn clock(&mut self, high: bool) {
        self.now += Picoseconds(MICROSECOND);
        self.touch(|sensor, lines| sensor.pin_changed(CLOCK, high, lines));
    }

    fn surround(&mut self, quantity: &str, value: f64) {
        let signal = Signal::constant((value * 1e6) as i64);
        self.sensor.surround(quantity, &signal);
    }

    /// A transmission start: data falls, the clock falls and rises, data rises.
    fn start(&mut self) {
        self.data(true);
        self.clock(true);
        self.data(false);
        self.clock(false);
        self.clock(true);
        self.data(true);
        self.clock(false);
    }

    /// Send a byte; return whether it was acknowledged.
    fn send(&mut self, byte: u8) -> bool {
        for bit in (0..8).rev() {
            self.data(byte >> bit & 1 != 0);
            self.clock(true);
            self.clock(false);
        }
        self.data(true);
        self.clock(true);
        let is_acknowledged = !self.level;
        self.clock(false);
        is_acknowledged
    }

    fn receive(&mut self, goes_on: bool) -> u8 {
        let mut byte = 0;
        for _ in 0..8 {
            self.clock(true);
            byte = byte << 1 | u8::from(self.level);
            self.clock(false);
        }
        self.data(!goes_on);
        self.clock(true);
        self.clock(false);
        self.data(true);
        byte
    }

    /// Measure, and return how long it took and the answer with its checksum.
    fn measure(&mut self, command: u8) -> (u64, [u8; 3]) {
        self.start();
        assert!(self.send(command));
        assert_eq!((self.state, self.level), ("measuring", true));
        let begun = self.now;
        self.now = self.sensor.next_event();
        self.touch(Device::advance);
        assert_eq!((self.state, self.level), ("sleep", false));
        let took = self.now.0 - begun.0;
        let answer = [self.receive(true), self.receive(true), self.receive(false)];
        assert!(self.level, "the line is free");
        (took, answer)
    }

    fn count(&mut self, command: u8) -> u16 {
        let (_, [high, low, _]) = self.measure(command);
        u16::from_be_bytes([high, low])
    }

    fn status(&mut self) -> u8 {
        self.start();
        assert!(self.send(READ_STATUS));
        let status = self.receive(true);
        self.receive(false);
        status
    }
}

#[test]
fn a_temperature_is_what_the_data_sheet_s_formula_gives() {
    let mut bench = Bench::new();
    for (celsius, count) in [(25.0, 6460), (-40.0, 0), (0.0, 3960), (123.8, 16340)] {
        bench.surround("temperature_c", celsius);
        assert_eq!(bench.count(TEMPERATURE), count, "{celsius}");
    }
}

#[test]
fn a_humidity_is_within_a_step_of_what_surrounds_it() {
    for (celsius, percent) in [
        (25.0, 50.0),
        (0.0, 10.0),
        (60.0, 90.0),
        (-20.0, 99.0),
        (25.0, 0.0),
    ] {
        let mut bench = Bench::new();
        bench.surround("temperature_c", celsius);
        bench.surround("humidity_percent", percent);
        let count = f64::from(bench.count(HUMIDITY));
        let linear = -2.0468 + 0.0367 * count - 1.5955e-6 * count * count;
        let read = (celsius - 25.0) * (0.01 + 0.00008 * count) + linear;
        assert!(
            (read - percent).abs() < 0.02,
            "{celsius} C, {percent}%: {read}"
        );
    }
}

/// Example 2 of Sensirion's application note on the checksum: a humidity of 0x0931 leaves 0x58 in the
/// register, which is sent in reverse.
#[test]
fn a_checksum_is_the_application_note_s() {
    let mut bench = Bench::new();
    bench.surround("temperature_c", 25.0);
    bench.surround(
        "humidity_percent",
        -2.0468 + 0.0367 * 2353.0 - 1.5955e-6 * 2353.0 * 2353.0,
    );
    assert_eq!(
        bench.measure(HUMIDITY).1,
        [0x09, 0x31, 0x58_u8.reverse_bits()]
    );
}

#[test]
fn a_measurement_takes_longer_the_finer_it_is() {
    let mut bench = Bench::new();
    assert_eq!(bench.measure(TEMPERATURE).0 / MS, 320);
    assert_eq!(bench.measure(HUMIDITY).0 / MS, 80);
    bench.start();
    assert!(bench.send(WRITE_STATUS) && bench.send(0xff));
    assert_eq!(bench.status(), 0b111);
    assert_eq!(bench.measure(TEMPERATURE).0 / MS, 80);
    assert_eq!(bench.measure(HUMIDITY).0 / MS, 20);
    bench.surround("temperature_c", 25.0);
    assert_eq!(bench.count(TEMPERATURE), 1615);
    bench.start();
    assert!(bench.send(RESET));
    assert_eq!(bench.status(), 0);
}

#[test]
fn nothing_answers_without_a_supply_or_to_another_address() {
    let mut bench = Bench::new();
    bench.start();
    assert!(!bench.send(0b001_00011));
    bench.touch(|sensor, lines| sensor.pin_changed(POWER, false, lines));
    assert_eq!(bench.state, "off");
    bench.start();
    assert!(!bench.send(TEMPERATURE));
    bench.touch(|sensor, lines| sensor.pin_changed(POWER, true, lines));
    assert_eq!(bench.count(TEMPERATURE), 6460);
}

#[test]
fn a_measurement_ends_where_another_transmission_starts() {
    let mut bench = Bench::new();
    bench.start();
    assert!(bench.send(TEMPERATURE));
    bench.start();
    assert_eq!(
        (bench.state, bench.sensor.next_event()),
        ("sleep", Picoseconds::NEVER)
    );
    assert!(bench.send(READ_STATUS));
    assert_eq!(bench.receive(false), 0);
}
