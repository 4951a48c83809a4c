//! Devices on the I2C bus of Cortex-M chips: an OPT3001, wired by a board's file, measures light for
//! a small program.

use crate::common;

use std::fmt::Write;
use std::sync::Arc;

use joulemark_devices::Wiring;
use joulemark_kernel::{Chip, Image, Picoseconds, Signal};
use joulemark_machine::{Error, Machine, Options, Reason, Until};

/// Chips, and where their I2C masters are.
const CHIPS: [(&str, u32); 3] = [
    ("cc2538", 0x4002_0000),
    ("cc2650", 0x4000_2800),
    ("cc2652r", 0x4000_2800),
];

/// Nine bits of 20 times 8 cycles.
const BYTE: u64 = 9 * 160;

/// Operations of the master: address, data, control. They write 0xc210 to the configuration
/// register, which starts a conversion of 100 ms; read the register until the conversion is ready;
/// read the result; and address a device that is not there.
const PROGRAM: &str = "
    movs r0, #16
    str r0, [r4, #32]
    movs r0, #7
    str r0, [r4, #12]
configure:
    op 0x8a, 1, 3
    op 0x8a, 0xc2, 1
    op 0x8a, 0x10, 5
configured:
poll:
    op 0x8a, 1, 3
    op 0x8b, 0, 11
    op 0x8b, 0, 5
    tst r0, #0x80
    beq poll
    op 0x8a, 0, 3
    op 0x8b, 0, 11
    mov r10, r0
    op 0x8b, 0, 5
    mov r11, r0
    op 0x88, 0, 7
    mov r9, r3
done:
    b done
operate:
    str r0, [r4]
    str r1, [r4, #8]
    str r2, [r4, #4]
wait:
    ldr r3, [r4, #4]
    tst r3, #1
    bne wait
    ldr r0, [r4, #8]
    bx lr
";

fn image(chip: &Chip, master: u32) -> Arc<Image> {
    let mut source = String::from(
        ".macro op address, data, control\nmovs r0, #\\address\n\
         movs r1, #\\data\nmovs r2, #\\control\nbl operate\n.endm\nstart:\n",
    );
    let _ = writeln!(source, "ldr r4, ={master:#x}");
    source += PROGRAM;
    common::image_of(chip, &source)
}

fn sensor(name: &str, keys: &str) -> String {
    format!(
        "[[device]]\nname = '{name}'\nmodel = 'opt3001'\n{keys}\nquiescent = ['shutdown']\n\
         source = 'none'\ngrade = 'inferred'\n"
    )
}

fn made(name: &str, master: u32, board: &str) -> Result<(Machine, Arc<Image>), String> {
    let chip = common::chip_of(name);
    let image = image(&chip, master);
    let light = Signal::constant(123_450_000);
    let is_there = board.contains("model = 'opt3001'");
    let options = Options {
        trace: true,
        surroundings: is_there
            .then(|| ("light_lux".into(), light))
            .into_iter()
            .collect(),
        ..Options::default()
    };
    let wiring = Wiring::parse(board, "board.toml", joulemark_devices::MODELS);
    let wiring = wiring.map_err(|error| error.to_string())?;
    match Machine::new(&chip, &wiring, &image, &options) {
        Ok(machine) => Ok((machine, image)),
        Err(Error::Board(error)) => Err(error),
        Err(error) => panic!("another error: {error}"),
    }
}

#[test]
fn a_sensor_on_a_cortex_m_board_is_configured_and_read() {
    for (name, master) in CHIPS {
        let board = sensor("light", "bus = 'i2c0'\naddress = 0x45");
        let (mut machine, image) = made(name, master, &board).expect("a right board");
        let mut run = |symbol: &str| {
            let until = Until {
                address: Some(image.resolve(symbol).expect("it is there")),
                max_cycles: Some(20_000_000),
                ..Until::default()
            };
            let stop = common::run(&mut machine, until);
            assert_eq!(stop.reason, Reason::Address, "{name}: {:?}", stop.fault);
            machine.cycles()
        };
        let begun = run("configure");
        // Four bytes, and the loops that wait for them.
        let took = run("configured") - begun;
        assert!((4 * BYTE..4 * BYTE + 150).contains(&took), "{name}: {took}");
        run("done");
        let registers = machine.registers();
        // 123.45 lux are 3086 steps of 0.04 lux; nobody has the other address.
        let values = [10, 11, 9].map(|number| registers[number].1);
        assert_eq!(values, [0x2c, 0x0e, 0x26], "{name}");
        let tracks = machine.power_tracks();
        let track = tracks.iter().find(|track| track.part == "light");
        let intervals = &track.expect("it is there").intervals;
        let [_, active, _] = &intervals[..] else {
            panic!("{name}: {intervals:?}");
        };
        assert_eq!(active.state, "active");
        assert_eq!(
            active.end - active.start,
            Picoseconds(100_000_000_000),
            "{name}"
        );
    }
}

#[test]
fn wrong_addresses_and_buses_are_one_error_that_names_the_key() {
    let here = "bus = 'i2c0'\naddress = 0x45";
    let two = sensor("light", here) + &sensor("other", here);
    let of = |keys: &str| sensor("light", keys);
    let spi = of(here).replace("opt3001", "m25p80\npins = { select = 'DIO1' }");
    let spi = spi
        .replace("model = 'm25p80", "model = 'm25p80'")
        .replace("}'", "}");
    for (board, key, what) in [
        (of("bus = 'i2c0'"), "device[0].address", "0x08 to 0x77"),
        (
            of("bus = 'i2c0'\naddress = 3"),
            "device[0].address",
            "0x08 to 0x77",
        ),
        (of("bus = 'i2c1'\naddress = 0x45"), "device[0].bus", "I2C0"),
        (
            of("bus = 'ssi0'\naddress = 0x45"),
            "device[0].bus",
            "speaks I2C; there are I2C0",
        ),
        (two, "device[1].address", "light has this address"),
        (spi, "device[0].address", "not on I2C"),
    ] {
        let (name, master) = CHIPS[1];
        let Err(message) = made(name, master, &board) else {
            panic!("it is taken: {board}");
        };
        assert!(message.contains(key) && message.contains(what), "{message}");
    }
}
