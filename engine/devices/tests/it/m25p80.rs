//! The M25P80 against its data sheet, one byte and one pin at a time.

use joulemark_devices::m25p80::{M25p80, MODEL};
use joulemark_devices::{Device, Lines};
use joulemark_kernel::Picoseconds;

const SELECT: usize = 0;
const WRITE_PROTECT: usize = 2;
const MS: u64 = 1_000_000_000;

struct Bench {
    flash: M25p80,
    now: u64,
    state: &'static str,
}

impl Bench {
    fn new() -> Self {
        let figures = MODEL.figures().expect("the model's file is right");
        let mut bench = Self {
            flash: M25p80::new(&figures),
            now: 0,
            state: MODEL.states[0],
        };
        bench.pin(SELECT, true);
        bench
    }

    fn with<R>(&mut self, act: impl FnOnce(&mut M25p80, &mut Lines) -> R) -> R {
        let mut lines = Lines::new(Picoseconds(self.now));
        let result = act(&mut self.flash, &mut lines);
        self.state = lines.state.unwrap_or(self.state);
        result
    }

    fn pin(&mut self, pin: usize, high: bool) {
        self.with(|flash, lines| flash.pin_changed(pin, high, lines));
    }

    /// Select, exchange, deselect; return the answers, with 0x5a where nothing drove the line.
    fn command(&mut self, bytes: &[u8], more: usize) -> Vec<u8> {
        self.pin(SELECT, false);
        let mut answers = Vec::new();
        for &byte in bytes.iter().chain(std::iter::repeat_n(&0, more)) {
            self.now += 16_000_000;
            answers.push(
                self.with(|flash, lines| flash.exchange(byte, lines))
                    .unwrap_or(0x5a),
            );
        }
        self.pin(SELECT, true);
        answers.split_off(bytes.len())
    }

    fn status(&mut self) -> u8 {
        self.command(&[5], 1)[0]
    }

    fn read(&mut self, address: [u8; 3], length: usize) -> Vec<u8> {
        let [a, b, c] = address;
        self.command(&[3, a, b, c], length)
    }

    /// Handle all due events, and return how long they took.
    fn wait(&mut self) -> u64 {
        let begin = self.now;
        let end = self.flash.next_event();
        assert_ne!(end, Picoseconds::NEVER, "it is not busy");
        self.now = end.0;
        self.with(Device::advance);
        assert_eq!(self.flash.next_event(), Picoseconds::NEVER);
        self.now - begin
    }

    fn write(&mut self, bytes: &[u8]) {
        self.command(&[6], 0);
        self.command(bytes, 0);
    }
}

#[test]
fn a_page_is_programmed_in_its_time_and_only_from_ones_to_zeros() {
    let mut bench = Bench::new();
    assert_eq!(bench.read([1, 2, 3], 2), [0xff, 0xff]);
    bench.command(&[2, 1, 2, 3, 0x0f], 0);
    assert_eq!(bench.flash.next_event(), Picoseconds::NEVER, "not enabled");
    bench.write(&[2, 1, 2, 3, 0x0f, 0x33]);
    assert_eq!(bench.state, "write");
    assert_eq!(bench.status(), 3);
    assert_eq!(bench.read([1, 2, 3], 2), [0x5a, 0x5a], "it is busy");
    let after_status = 8 * 16_000_000;
    assert_eq!(bench.wait(), 14 * MS / 10 - after_status);
    assert_eq!((bench.status(), bench.state), (0, "standby"));
    assert_eq!(bench.read([1, 2, 3], 2), [0x0f, 0x33]);
    bench.write(&[2, 1, 2, 3, 0xfc]);
    bench.wait();
    // A fast read has a dummy byte between address and data.
    assert_eq!(bench.command(&[0x0b, 1, 2, 3, 0], 2), [0x0c, 0x33]);
}

#[test]
fn a_loss_of_power_leaves_a_mix_of_old_and_new_bits() {
    let mut bench = Bench::new();
    bench.write(&[2, 1, 0, 0, 0x0f, 0x0f, 0x0f, 0x0f]);
    bench.wait();
    let left = |bench: &Bench, ms: u64| {
        let now = Picoseconds(bench.now + ms * MS);
        bench.flash.after_power_loss(now)[0x1_0000..0x1_0008].to_vec()
    };
    let ones = |bytes: &[u8]| bytes.iter().map(|byte| byte.count_ones()).sum::<u32>();
    assert_eq!(left(&bench, 0), [15, 15, 15, 15, 255, 255, 255, 255]);
    bench.command(&[6], 0);
    bench.command(&[0xd8, 1, 0, 0], 0);
    let during: Vec<u32> = [0, 300, 600, 900, 1100]
        .map(|ms| ones(&left(&bench, ms)))
        .to_vec();
    assert_eq!((during[0], during[4]), (48, 64));
    assert!(during.is_sorted() && during[1] > 48 && during[3] < 64);
    bench.wait();
    assert_eq!(left(&bench, 0), [0xff; 8]);
    bench.command(&[6], 0);
    bench.command(&[2, 1, 0, 0, 0, 0, 0, 0], 0);
    assert_eq!(left(&bench, 0), [0xff; 8]);
    let half = ones(&left(&bench, 1));
    assert!(32 < half && half < 64);
}

#[test]
fn a_page_comes_round_and_keeps_its_last_256_bytes() {
    let mut bench = Bench::new();
    let mut bytes = vec![2, 0, 7, 0xfe];
    bytes.extend((0..=255).chain([0x77, 0x78]));
    bench.write(&bytes);
    bench.wait();
    // Of 258 bytes from offset 0xfe on, the last one written to each offset stays.
    assert_eq!(bench.read([0, 7, 0xfe], 2), [0x77, 0x78]);
    assert_eq!(bench.read([0, 7, 0], 2), [2, 3]);
    assert_eq!(bench.read([0, 7, 0xfd], 1), [255]);
    assert_eq!(bench.read([0, 8, 0], 1), [0xff]);
}

#[test]
fn sectors_and_all_are_erased_where_they_are_not_protected() {
    let mut bench = Bench::new();
    for sector in [0, 14, 15] {
        bench.write(&[2, sector, 0, 0, sector]);
        bench.wait();
    }
    // BP0 alone protects the last sector.
    bench.write(&[1, 1 << 2]);
    assert_eq!(bench.wait(), 5 * MS);
    assert_eq!(bench.status(), 1 << 2);
    bench.write(&[0xd8, 15, 1, 2]);
    bench.command(&[4], 0);
    bench.write(&[0xc7]);
    assert_eq!(bench.flash.next_event(), Picoseconds::NEVER);
    assert_eq!(
        bench.status(),
        1 << 2 | 2,
        "what is refused leaves the latch"
    );
    bench.write(&[2, 15, 0, 0, 0]);
    assert_eq!(bench.flash.next_event(), Picoseconds::NEVER);
    bench.write(&[0xd8, 14, 1, 2]);
    assert_eq!(bench.wait(), 1000 * MS);
    let firsts = [0, 14, 15].map(|sector| bench.read([sector, 0, 0], 1)[0]);
    assert_eq!(firsts, [0, 0xff, 15]);
    bench.write(&[1, 0]);
    bench.wait();
    bench.write(&[0xc7]);
    assert_eq!(bench.wait(), 10_000 * MS);
    assert_eq!(bench.read([15, 0, 0], 1), [0xff]);
}

#[test]
fn an_instruction_that_is_too_long_or_too_short_is_not_executed() {
    let mut bench = Bench::new();
    for bytes in [
        &[0xd8, 1, 2][..],
        &[0xd8, 1, 2, 3, 4],
        &[0xc7, 0],
        &[2, 1, 2, 3],
        &[1],
        &[1, 0, 0],
        &[0xb9, 0],
        &[0x9f],
    ] {
        bench.write(bytes);
        assert_eq!(bench.flash.next_event(), Picoseconds::NEVER, "{bytes:x?}");
    }
    bench.command(&[4], 0);
    bench.command(&[6, 0], 0);
    assert_eq!(bench.status(), 0);
}

#[test]
fn deep_power_down_hears_its_release_alone() {
    let mut bench = Bench::new();
    bench.command(&[0xb9], 0);
    assert_eq!(bench.wait(), 3_000_000);
    assert_eq!(bench.state, "deep-power-down");
    assert_eq!(bench.command(&[5], 1), [0x5a]);
    assert_eq!(bench.state, "deep-power-down");
    // Three dummy bytes, then the signature.
    assert_eq!(bench.command(&[0xab, 0, 0, 0], 2), [0x13, 0x13]);
    assert_eq!(bench.wait(), 1_800_000);
    assert_eq!((bench.state, bench.status()), ("standby", 0));
    bench.command(&[0xb9], 0);
    bench.wait();
    bench.command(&[0xab], 0);
    assert_eq!(bench.wait(), 3_000_000);
    assert_eq!(bench.status(), 0);
}

#[test]
fn the_status_register_is_locked_by_its_pin_and_bit_together() {
    let mut bench = Bench::new();
    bench.write(&[1, 0x80 | 7 << 2]);
    bench.wait();
    assert_eq!(bench.status(), 0x80 | 7 << 2);
    bench.pin(WRITE_PROTECT, false);
    bench.write(&[1, 0]);
    assert_eq!(bench.flash.next_event(), Picoseconds::NEVER);
    bench.pin(WRITE_PROTECT, true);
    bench.write(&[1, 0]);
    bench.wait();
    assert_eq!(bench.status(), 0);
}

#[test]
fn the_figures_of_every_model_are_there() {
    for model in joulemark_devices::MODELS {
        model.figures().unwrap_or_else(|error| panic!("{error}"));
    }
}
