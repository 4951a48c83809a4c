//! HDC1000, TMP007 and MPU-9250 by their registers.

use joulemark_devices::{Device, Lines, Model, hdc1000, mpu9250, tmp007};
use joulemark_kernel::{I2c, Picoseconds, Signal};

const MICROSECOND: u64 = 1_000_000;
const MILLISECOND: u64 = 1_000 * MICROSECOND;

struct Bench {
    sensor: Box<dyn Device>,
    now: u64,
    state: &'static str,
}

impl Bench {
    fn new(model: &Model) -> Self {
        let figures = model.figures().expect("the model's file is right");
        Self {
            sensor: (model.make)(&figures),
            now: 0,
            state: model.states[0],
        }
    }

    fn touch<R>(&mut self, act: impl FnOnce(&mut dyn Device, &mut Lines) -> R) -> R {
        let mut lines = Lines::new(Picoseconds(self.now));
        let result = act(&mut *self.sensor, &mut lines);
        self.state = lines.state.unwrap_or(self.state);
        result
    }

    fn surround(&mut self, quantity: &str, micro: i64) {
        self.sensor.surround(quantity, &Signal::constant(micro));
    }

    /// Whether it acknowledges a start.
    fn start(&mut self, is_read: bool) -> bool {
        let start = I2c::Start {
            address: 0x40,
            is_read,
        };
        self.i2c(start).is_some()
    }

    fn i2c(&mut self, what: I2c) -> Option<u8> {
        self.touch(|sensor, lines| sensor.i2c(what, lines))
    }

    fn write(&mut self, bytes: &[u8]) {
        assert!(self.start(false), "it answers");
        for &byte in bytes {
            self.i2c(I2c::Write(byte)).expect("it acknowledges");
        }
        self.i2c(I2c::Stop);
    }

    fn read<const BYTES: usize>(&mut self) -> [u8; BYTES] {
        assert!(self.start(true), "it answers");
        let bytes = [(); BYTES].map(|()| self.i2c(I2c::Read).expect("it sends"));
        self.i2c(I2c::Stop);
        bytes
    }

    fn word(&mut self, register: u8) -> u16 {
        self.write(&[register]);
        u16::from_be_bytes(self.read())
    }

    /// Let all events up to a time happen.
    fn wait_until(&mut self, time: u64) {
        while self.sensor.next_event().0 <= time {
            self.now = self.sensor.next_event().0;
            self.touch(Device::advance);
        }
        self.now = time;
    }
}

#[test]
fn the_hdc1000_measures_both_in_sequence() {
    let mut bench = Bench::new(&hdc1000::MODEL);
    assert_eq!([bench.word(0xfe), bench.word(0xff)], [0x5449, 0x1000]);
    assert_eq!(bench.word(2), 0x1000);
    bench.surround("temperature_c", 25_000_000);
    bench.surround("humidity_percent", 40_000_000);
    bench.write(&[0]);
    assert_eq!(bench.state, "measuring-temperature");
    bench.wait_until(6_350 * MICROSECOND - 1);
    assert!(!bench.start(true), "it is not ready");
    bench.wait_until(6_350 * MICROSECOND);
    assert_eq!(bench.state, "measuring-humidity");
    assert!(!bench.start(true), "it is not ready");
    bench.wait_until(12_850 * MICROSECOND);
    assert_eq!(bench.state, "sleep");
    // (25 + 40) / 165 and 40 / 100 of 2^16, without two bits.
    assert_eq!(bench.read(), [0x64, 0xd8, 0x66, 0x64]);
    assert_eq!(
        bench.sensor.next_event(),
        Picoseconds::NEVER,
        "reading starts nothing"
    );
}

#[test]
fn the_hdc1000_measures_one_alone_in_the_time_of_its_resolution() {
    let times = [
        (0x0000, 0, 6_350),
        (0x0400, 0, 3_650),
        (0x0000, 1, 6_500),
        (0x0100, 1, 3_850),
        (0x0200, 1, 2_500),
    ];
    for (configuration, register, microseconds) in times {
        let mut bench = Bench::new(&hdc1000::MODEL);
        let [high, low] = u16::to_be_bytes(configuration);
        bench.write(&[2, high, low]);
        bench.write(&[register]);
        assert_eq!(bench.sensor.next_event().0, microseconds * MICROSECOND);
        bench.wait_until(microseconds * MICROSECOND);
        assert_eq!(
            (bench.state, bench.sensor.next_event()),
            ("sleep", Picoseconds::NEVER)
        );
    }
}

#[test]
fn the_hdc1000_forgets_by_a_reset_what_it_measured() {
    let mut bench = Bench::new(&hdc1000::MODEL);
    bench.write(&[2, 0x02, 0x00]);
    bench.write(&[0]);
    bench.write(&[2, 0x80, 0x00]);
    assert_eq!((bench.state, bench.word(2)), ("sleep", 0x1000));
    assert_eq!(bench.sensor.next_event(), Picoseconds::NEVER);
}

#[test]
fn the_tmp007_converts_until_it_is_shut_down() {
    let mut bench = Bench::new(&tmp007::MODEL);
    assert_eq!((bench.word(0x1f), bench.state), (0x0078, "shutdown"));
    bench.surround("temperature_c", -25_000_000);
    bench.surround("object_temperature_c", 37_500_000);
    bench.write(&[2, 0x10, 0x00]);
    assert_eq!(bench.state, "active");
    bench.wait_until(260 * MILLISECOND - 1);
    assert_eq!([bench.word(4), bench.word(1), bench.word(3)], [0, 0, 0]);
    bench.wait_until(260 * MILLISECOND);
    assert_eq!(bench.word(4), 0x4000);
    assert_eq!(bench.word(4), 0, "it is said once");
    // Steps of 1/32 degree, above two bits of 0.
    assert_eq!(
        [bench.word(1), bench.word(3)],
        [(-800_i16 << 2) as u16, 1200 << 2]
    );
    // Writing the same again does not begin anew.
    bench.wait_until(300 * MILLISECOND);
    bench.write(&[2, 0x10, 0x00]);
    assert_eq!(bench.sensor.next_event().0, 520 * MILLISECOND);
    bench.write(&[2, 0x00, 0x00]);
    assert_eq!(
        (bench.state, bench.sensor.next_event()),
        ("shutdown", Picoseconds::NEVER)
    );
    bench.write(&[2, 0x80, 0x00]);
    assert_eq!(
        [bench.word(1), bench.word(3), bench.word(2)],
        [0, 0, 0x0440]
    );
}

fn power(bench: &mut Bench, high: bool) {
    bench.touch(|sensor, lines| sensor.pin_changed(0, high, lines));
}

#[test]
fn the_mpu9250_starts_up() {
    let mut bench = Bench::new(&mpu9250::MODEL);
    assert!(!bench.start(false), "it has no power");
    power(&mut bench, true);
    assert_eq!(bench.state, "both", "all axes are on at power-up");
    bench.wait_until(11 * MILLISECOND - 1);
    assert!(!bench.start(false), "it has no registers yet");
    bench.wait_until(11 * MILLISECOND);
    bench.write(&[0x75]);
    assert_eq!(bench.read(), [0x71]);
    bench.wait_until(35 * MILLISECOND - 1);
    bench.write(&[0x3a]);
    assert_eq!(bench.read(), [0], "no results");
    bench.wait_until(35 * MILLISECOND);
    bench.write(&[0x3a]);
    assert_eq!(bench.read::<1>(), [1]);
    bench.write(&[0x3a]);
    assert_eq!(bench.read(), [0], "the next are a millisecond later");
    bench.write(&[0x3b]);
    assert_eq!(bench.read(), [0, 0, 0, 0, 0x40, 0], "it lies still: one g");
    bench.wait_until(36 * MILLISECOND);
    bench.write(&[0x3a]);
    assert_eq!(bench.read(), [1]);
}

#[test]
fn the_mpu9250s_axes_and_sleep_decide_what_it_draws() {
    let mut bench = Bench::new(&mpu9250::MODEL);
    power(&mut bench, true);
    bench.wait_until(50 * MILLISECOND);
    let states = [
        (0x6c, 0x3f, "standby"),
        (0x6c, 0x07, "accelerometer"),
        (0x6c, 0x38, "gyroscope"),
        (0x6b, 0x4f, "sleep"),
        (0x6b, 0x09, "gyroscope"),
        (0x6b, 0x80, "both"),
    ];
    for (register, value, state) in states {
        bench.write(&[register, value]);
        assert_eq!(bench.state, state);
    }
    bench.write(&[0x1c, 0x10, 0]);
    bench.wait_until(90 * MILLISECOND);
    bench.write(&[0x3f]);
    assert_eq!(bench.read(), [0x10, 0], "one g at a range of 8 g");
    power(&mut bench, false);
    assert_eq!(
        (bench.state, bench.sensor.next_event()),
        ("off", Picoseconds::NEVER)
    );
}
