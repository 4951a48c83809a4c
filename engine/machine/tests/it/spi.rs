//! Devices on the SPI buses of Cortex-M chips: the M25P80, wired by a board's file, is written
//! and read by a small program.

use crate::common;

use std::fmt::Write;
use std::sync::Arc;

use joulemark_devices::Wiring;
use joulemark_devices::m25p80::M25p80;
use joulemark_kernel::{Chip, Image};
use joulemark_machine::{Error, Machine, Options, Reason, Until};

/// A chip, a pin that selects the flash, and how a program sets it.
struct Case {
    chip: &'static str,
    bus: &'static str,
    ssi: u32,
    pin: &'static str,
    /// Makes the pin an output.
    output: (u32, u32),
    high: (u32, u32),
    low: (u32, u32),
}

/// DIO14, which selects the `SensorTag`'s flash.
const DIO14: Case = Case {
    chip: "cc2650",
    bus: "SSI0",
    ssi: 0x4000_0000,
    pin: "DIO14",
    output: (0x4002_20d0, 1 << 14),
    high: (0x4002_2090, 1 << 14),
    low: (0x4002_20a0, 1 << 14),
};

const CASES: [Case; 4] = [
    DIO14,
    Case {
        chip: "cc2652r",
        ..DIO14
    },
    Case {
        bus: "SSI1",
        ssi: 0x4000_8000,
        ..DIO14
    },
    Case {
        chip: "cc2538",
        bus: "SSI1",
        ssi: 0x4000_9000,
        pin: "PB5",
        output: (0x400d_a400, 1 << 5),
        high: (0x400d_a080, 1 << 5),
        low: (0x400d_a080, 0),
    },
];

/// CR0, CR1 and CPSR: frames of eight bits of four cycles, on.
const SSI_ON: [(u32, u32); 3] = [(0x00, 7), (0x10, 4), (0x04, 2)];
const FRAME: u64 = 8 * 4;

const PROGRAM: &str = "
    bl high
    ldr r9, =program
    movs r12, #6
    bl write
    ldr r9, =read
    movs r12, #4
    bl begin
    bl exchange
    mov r10, r0
    bl exchange
    mov r11, r0
    bl high
    bl low
burst:
    movs r0, #0xb9
    .rept 8
    str r0, [r4, #8]
    .endr
busy:
    ldr r0, [r4, #12]
    tst r0, #16
    bne busy
burst_end:
    bl high
done:
    b done
high:
    str r6, [r5]
    bx lr
low:
    str r8, [r7]
    bx lr
exchange:
    str r0, [r4, #8]
wait:
    ldr r1, [r4, #12]
    tst r1, #4
    beq wait
    ldr r0, [r4, #8]
    bx lr
begin:
    mov r3, lr
    bl low
next:
    ldrb r0, [r9], #1
    bl exchange
    subs r12, #1
    bne next
    bx r3
write:
    mov r2, lr
    bl low
    movs r0, #6
    bl exchange
    bl high
    bl begin
    bl high
poll:
    bl low
    movs r0, #5
    bl exchange
    bl exchange
    bl high
    tst r0, #1
    bne poll
    bx r2
program: .byte 2, 3, 0x12, 0x34, 0xab, 0xcd
read: .byte 3, 3, 0x12, 0x34
    .align 2
";

fn image(chip: &Chip, case: &Case, stores: &[(u32, u32)]) -> Arc<Image> {
    let mut source = String::from("start:\n");
    for (address, value) in stores {
        let _ = writeln!(
            source,
            "ldr r0, ={address:#x}\nldr r1, ={value:#x}\nstr r1, [r0]"
        );
    }
    let pins = [case.high, case.low];
    let pins = pins.iter().flat_map(|&(address, value)| [address, value]);
    for (register, value) in (4..).zip([case.ssi].into_iter().chain(pins)) {
        let _ = writeln!(source, "ldr r{register}, ={value:#x}");
    }
    source += PROGRAM;
    common::image_of(chip, &source)
}

fn board(bus: &str, pin: &str) -> String {
    format!(
        "[[device]]\nname = 'flash'\nmodel = 'm25p80'\nbus = '{bus}'\npins = {{ select = '{pin}' }}\n\
         pull_ups = ['select']\nquiescent = ['standby', 'deep-power-down']\nsource = 'none'\n\
         grade = 'inferred'\n"
    )
}

fn machine(case: &Case, mode: u32) -> (Machine, Arc<Image>) {
    let chip = common::chip_of(case.chip);
    let on = SSI_ON.map(|(offset, value)| {
        let value = if offset == 0 { value | mode } else { value };
        (case.ssi + offset, value)
    });
    let stores: Vec<(u32, u32)> = [case.high, case.output].into_iter().chain(on).collect();
    let image = image(&chip, case, &stores);
    let options = Options {
        trace: true,
        ..Options::default()
    };
    let wiring = Wiring::parse(
        &board(case.bus, case.pin),
        "board.toml",
        joulemark_devices::MODELS,
    );
    let wiring = wiring.unwrap_or_else(|error| panic!("{error}"));
    let machine = Machine::new(&chip, &wiring, &image, &options);
    (machine.unwrap_or_else(|error| panic!("{error}")), image)
}

fn until(image: &Image, symbol: &str) -> Until {
    Until {
        address: Some(image.resolve(symbol).expect("it is there")),
        max_cycles: Some(1_000_000),
        ..Until::default()
    }
}

#[test]
fn a_flash_on_a_cortex_m_board_is_written_and_read() {
    for case in &CASES {
        let name = case.chip;
        let (mut machine, image) = machine(case, 0);
        let mut run = |symbol: &str| {
            let stop = common::run(&mut machine, until(&image, symbol));
            assert_eq!(stop.reason, Reason::Address, "{name}: {:?}", stop.fault);
            machine.cycles()
        };
        let begun = run("burst");
        // Eight frames, and the loop that waits for them.
        let burst = run("burst_end") - begun;
        assert!(
            (8 * FRAME..8 * FRAME + 40).contains(&burst),
            "{name}: {burst}"
        );
        run("done");
        let registers = machine.registers();
        assert_eq!((registers[10].1, registers[11].1), (0xab, 0xcd), "{name}");
        let byte = machine.with_device("flash", |flash: &mut M25p80, _| flash.byte(0x31234));
        assert_eq!(byte, Ok(0xab), "{name}");
        // A page program takes 1.4 ms, to the picosecond.
        let tracks = machine.power_tracks();
        let track = tracks.iter().find(|track| track.part == "flash");
        let intervals = &track.expect("it is there").intervals;
        let written = intervals.iter().filter(|i| i.state == "write");
        let written: u64 = written.map(|i| i.end.0 - i.start.0).sum();
        assert_eq!(written, 1_400_000_000, "{name}");
        let whole: u64 = intervals.iter().map(|i| i.end.0 - i.start.0).sum();
        assert_eq!(whole, machine.time().0, "{name}");
    }
}

#[test]
fn an_answer_in_another_spi_mode_is_a_fault_that_says_so() {
    for case in &CASES {
        let (mut machine, image) = machine(case, 1 << 6);
        let stop = common::run(&mut machine, until(&image, "done"));
        let fault = stop.fault.expect("a fault");
        assert!(fault.message.contains("modes 0 and 3"), "{}", fault.message);
    }
}

#[test]
fn a_bus_that_the_chip_has_not_is_one_error_that_names_those_it_has() {
    let error = |name: &str| {
        let case = &DIO14;
        let chip = common::chip_of(name);
        let image = image(&chip, case, &[]);
        let wiring = Wiring::parse(
            &board("SSI2", "DIO14"),
            "board.toml",
            joulemark_devices::MODELS,
        );
        match Machine::new(&chip, &wiring.unwrap(), &image, &Options::default()) {
            Err(Error::Board(error)) => error,
            _ => panic!("it is taken"),
        }
    };
    let message = error("cc2650");
    assert!(
        message.contains("device[0].bus") && message.contains("SSI0, SSI1"),
        "{message}"
    );
}
