//! Devices on a board: wired only by the board file, with their own time and power states.

use crate::common;

use std::sync::Arc;

use joulemark_devices::m25p80::M25p80;
use joulemark_devices::{Device, Figures, Lines, MODELS, Model, PinRole, Protocol, Wiring};
use joulemark_kernel::trace::PowerInterval;
use joulemark_kernel::{Image, Picoseconds};
use joulemark_machine::{Error, Machine, Options, Reason, Until};

const CSN: usize = 0;
const FIFOP: usize = 1;
const SFD: usize = 2;

/// The timing and pins of a simple radio. Byte n makes it send for n times 100 us; then SFD falls,
/// and FIFOP is high for 10 us. A received frame raises SFD.
struct Radio {
    is_selected: bool,
    last: u8,
    ends: Picoseconds,
    is_pulse: bool,
    on_air: Vec<(Picoseconds, u8)>,
}

const fn pin(name: &'static str, is_output: bool) -> PinRole {
    PinRole {
        name,
        is_output,
        is_needed: true,
    }
}

static RADIO: Model = Model {
    name: "radio-stub",
    protocol: Some(Protocol::Spi),
    pins: &[pin("csn", false), pin("fifop", true), pin("sfd", true)],
    senses: &[],
    states: &["idle", "sending"],
    figures: "
title = 'A radio stub'
documents = {}
[[power_state]]
name = 'idle'
current_a = { value = 426e-6, source = 'none', grade = 'inferred' }
[[power_state]]
name = 'sending'
current_a = { value = 17.4e-3, source = 'none', grade = 'inferred' }
",
    make: |_: &Figures| {
        Box::new(Radio {
            is_selected: false,
            last: 0xff,
            ends: Picoseconds::NEVER,
            is_pulse: false,
            on_air: Vec::new(),
        })
    },
};

impl Device for Radio {
    fn pin_changed(&mut self, pin: usize, high: bool, _lines: &mut Lines) {
        assert_eq!(pin, CSN);
        self.is_selected = !high;
    }

    fn exchange(&mut self, byte: u8, lines: &mut Lines) -> Option<u8> {
        if !self.is_selected {
            return None;
        }
        if byte != 0 {
            self.ends = lines.now() + Picoseconds(u64::from(byte) * 100_000_000);
            self.on_air.push((lines.now(), byte));
            lines.drive(SFD, true);
            lines.enter("sending");
            lines.tell();
        }
        Some(std::mem::replace(&mut self.last, byte).wrapping_add(1))
    }

    fn next_event(&self) -> Picoseconds {
        self.ends
    }

    fn advance(&mut self, lines: &mut Lines) {
        assert_eq!(lines.now(), self.ends);
        if std::mem::take(&mut self.is_pulse) {
            self.ends = Picoseconds::NEVER;
            lines.drive(FIFOP, false);
            return;
        }
        self.is_pulse = true;
        self.ends = lines.now() + Picoseconds(10_000_000);
        lines.drive(SFD, false);
        lines.drive(FIFOP, true);
        lines.enter("idle");
    }
}

/// Answers each byte on its serial line with the next higher one.
struct Echo;

static ECHO: Model = Model {
    name: "echo",
    protocol: Some(Protocol::Uart),
    pins: &[],
    senses: &[],
    states: &["on"],
    figures: "
title = 'An echo'
documents = {}
[[power_state]]
name = 'on'
current_a = { value = 1e-3, source = 'none', grade = 'inferred' }
",
    make: |_: &Figures| Box::new(Echo),
};

impl Device for Echo {
    fn received(&mut self, byte: u8, lines: &mut Lines) {
        lines.send(byte + 1);
    }
}

const BOARD: &str = "
[[device]]
name = 'radio'
model = 'radio-stub'
bus = 'usart0'
pins = { csn = 'P4.2', fifop = 'P1.0', sfd = 'P4.1' }
pull_ups = ['csn']
quiescent = ['idle']
source = 'none'
grade = 'inferred'

[[device]]
name = 'flash'
model = 'm25p80'
bus = 'usart0'
pins = { select = 'P4.4', hold = 'P4.7' }
pull_ups = ['select']
quiescent = ['standby', 'deep-power-down']
source = 'none'
grade = 'inferred'
";

fn wiring(text: &str) -> Result<Wiring, String> {
    let models: Vec<&Model> = MODELS.iter().copied().chain([&RADIO, &ECHO]).collect();
    Wiring::parse(text, "board.toml", &models).map_err(|error| error.0)
}

fn machine(board: &str, program: &str) -> (Machine, Arc<Image>) {
    let image = common::image(program);
    let options = Options {
        trace: true,
        marker: Some("P2.3".into()),
        ..Options::default()
    };
    let wiring = wiring(board).unwrap_or_else(|error| panic!("{error}"));
    let machine = Machine::new(&common::chip(), &wiring, &image, &options);
    (machine.unwrap_or_else(|error| panic!("{error}")), image)
}

/// USART0 is an SPI master at SMCLK / 2; P4.2 and P4.4 select, P4.7 is hold.
const SPI: &str = "
start:
    mov #0x3900, r1
    mov #0x5a80, &WDTCTL
    bis.b #8, &P2DIR
    bis.b #0x94, &P4OUT
    bis.b #0x94, &P4DIR
    mov.b #0x17, &U0CTL
    mov.b #0xa2, &U0TCTL
    mov.b #2, &U0BR0
    clr.b &U0BR1
    clr.b &U0MCTL
    bis.b #0x40, &ME1
    bic.b #1, &U0CTL
    br #main
exchange:
    mov.b r12, &U0TXBUF
wait:
    bit.b #0x40, &IFG1
    jz wait
    mov.b &U0RXBUF, r12
    ret
main:
";

fn track(machine: &Machine, part: &str) -> Vec<PowerInterval> {
    let tracks = machine.power_tracks();
    let found = tracks.into_iter().find(|track| track.part == part);
    found.unwrap_or_else(|| panic!("no {part}")).intervals
}

/// Time in a state, in ps; also checks that the states cover all of the time.
fn times(machine: &Machine, part: &str, state: &str) -> u64 {
    let intervals = track(machine, part);
    let length = |i: &PowerInterval| i.end.0 - i.start.0;
    assert!(
        intervals
            .windows(2)
            .all(|pair| pair[0].end == pair[1].start)
    );
    assert_eq!(intervals.iter().map(length).sum::<u64>(), machine.time().0);
    intervals
        .iter()
        .filter(|i| i.state == state)
        .map(length)
        .sum()
}

/// Sends for 500 us, sleeps in LPM4 meanwhile, and counts.
const SEND: &str = "
    bis.b #1, &P1IE
    bic.b #1, &P1IES
    mov.b #2, &P4SEL
    mov #0x4900, &TBCCTL1
    mov #0x0220, &TBCTL
    bic.b #4, &P4OUT
    mov #5, r12
    call #exchange
    bis.b #4, &P4OUT
    bis #0xf8, r2
    nop
done:
    jmp done
ready:
    clr.b &P1IFG
    bis.b #8, &P2OUT
    bic #0xf0, 0(r1)
    reti
    .section .vector.PORT1,\"a\"
    .word ready
";

#[test]
fn a_device_acts_at_its_own_time_and_wakes_the_chip() {
    let (mut machine, image) = machine(BOARD, &format!("{SPI}{SEND}"));
    let until = Until {
        device: true,
        ..Until::default()
    };
    assert_eq!(common::run(&mut machine, until).reason, Reason::Device);
    let begin = machine
        .with_device("radio", |radio: &mut Radio, _| radio.on_air.clone())
        .expect("it is there");
    let [(begin, 5)] = begin[..] else {
        panic!("{begin:?}");
    };
    // Nothing else is due until it wakes the chip.
    let due = Picoseconds(begin.0 + 500_000_000);
    while machine.next_event() == Some(machine.time()) {
        common::run_for(&mut machine, 1);
    }
    let event = machine.next_event().expect("the radio will be ready");
    let cycle = 1_000_000_000_000 / u64::from(machine.clock_hz());
    assert!(
        (due.0..due.0 + 2 * cycle).contains(&event.0),
        "{event} {due}"
    );
    common::run_to(&mut machine, &image, "done");
    // Six cycles of interrupt entry, and two instructions.
    let [edge] = machine.marker_edges() else {
        panic!("{:?}", machine.marker_edges());
    };
    let woken = edge.time.0 - due.0;
    assert!(woken < 30 * cycle, "{woken} ps");
    common::run_for(&mut machine, 1000);
    assert_eq!(times(&machine, "radio", "sending"), 500_000_000);
    assert_eq!(times(&machine, "flash", "standby"), machine.time().0);
    assert!(times(&machine, "mcu", "lpm4") > 400_000_000);
    let fifop: Vec<bool> = machine
        .pin_edges()
        .iter()
        .filter(|edge| edge.pin == "P1.0")
        .map(|edge| edge.high)
        .collect();
    assert_eq!(fifop, [true, false]);
}

#[test]
fn slices_of_time_change_nothing_with_devices_either() {
    let state = |machine: &Machine| {
        let pins = machine.pin_edges().to_vec();
        (
            machine.cycles(),
            pins,
            machine.power_tracks(),
            machine.registers(),
        )
    };
    let program = format!("{SPI}{SEND}");
    let end = 2_000_000_000;
    let run = |machine: &mut Machine, time: u64| {
        let until = Until {
            time: Some(Picoseconds(time)),
            ..Until::default()
        };
        common::run(machine, until);
    };
    let (mut whole, _) = machine(BOARD, &program);
    run(&mut whole, end);
    for slice in [777_777, 3_141_592, 100_000_000] {
        let (mut sliced, _) = machine(BOARD, &program);
        for time in (0..end).step_by(slice).skip(1) {
            run(&mut sliced, time);
        }
        run(&mut sliced, end);
        assert_eq!(state(&sliced), state(&whole), "slices of {slice} ps");
    }
}

#[test]
fn an_edge_of_a_device_is_captured_in_its_own_cycle() {
    // Timer B counts SMCLK, which is the core's clock, and captures SFD's rising edge on P4.1.
    let (mut machine, image) = machine(
        BOARD,
        &format!(
            "{SPI}
    mov.b #2, &P4SEL
    mov #0x4900, &TBCCTL1
    mov #0x0220, &TBCTL
    bic.b #4, &P4OUT
    mov #9, r12
    call #exchange
    mov &TBCCR1, r13
done:
    jmp done
"
        ),
    );
    let begin = image.resolve("main").expect("it is there");
    let until = Until {
        address: Some(begin),
        max_cycles: Some(10_000),
        ..Until::default()
    };
    common::run(&mut machine, until);
    common::run_to(&mut machine, &image, "done");
    let sfd = machine.pin_edges().iter().find(|edge| edge.pin == "P4.1");
    let sfd = sfd.expect("it has risen").time;
    let on_air = machine
        .with_device("radio", |radio: &mut Radio, _| radio.on_air[0].0)
        .expect("it is there");
    assert_eq!(sfd, on_air);
    // From the timer's start: BIC.B #,& 4; MOV #,Rn 2; CALL 5; MOV.B Rn,& 4; 16 cycles for eight
    // bits, and one or two until the shift register has the byte.
    let captured = machine.registers()[13].1;
    assert!((31..=34).contains(&captured), "{captured}");
}

#[test]
fn the_outside_delivers_to_a_device_and_the_chip_wakes() {
    let (mut machine, image) = machine(
        BOARD,
        &format!(
            "{SPI}
    bis.b #1, &P1IE
    bis #0xf8, r2
    nop
done:
    jmp done
ready:
    clr.b &P1IFG
    bic #0xf0, 0(r1)
    reti
    .section .vector.PORT1,\"a\"
    .word ready
"
        ),
    );
    let sleep = common::run(&mut machine, Until::default());
    assert_eq!(sleep.reason, Reason::Asleep);
    assert_eq!(machine.next_event(), None);
    let until = Until {
        time: Some(Picoseconds(1_000_000_000_000)),
        ..Until::default()
    };
    common::run(&mut machine, until);
    machine
        .with_device("radio", |_: &mut Radio, lines| lines.drive(FIFOP, true))
        .expect("it is there");
    assert_eq!(machine.next_event(), Some(machine.time()));
    common::run_to(&mut machine, &image, "done");
    let missing = machine.with_device("modem", |_: &mut Radio, _| ());
    let message = missing.expect_err("there is none").to_string();
    assert!(message.contains("radio, flash"), "{message}");
    let other = machine.with_device("flash", |_: &mut Radio, _| ());
    assert!(other.is_err());
}

#[test]
fn devices_share_a_bus_and_only_who_is_selected_answers() {
    let select = |mask: u8| {
        format!(
            "{SPI}
    bic.b #{mask}, &P4OUT
    mov #5, r12
    call #exchange
    clr r12
    call #exchange
    mov r12, r13
done:
    jmp done
"
        )
    };
    // Nobody; the radio, which answers with the previous byte plus one; the flash with its status.
    for (mask, answer) in [(0_u8, 0xff), (4, 6), (0x10, 0)] {
        let (mut machine, image) = machine(BOARD, &select(mask));
        common::run_to(&mut machine, &image, "done");
        assert_eq!(machine.registers()[13].1, answer, "P4OUT without {mask:#x}");
    }
    let (mut machine, _) = machine(BOARD, &select(0x14));
    let stop = common::run_for(&mut machine, 10_000);
    let fault = stop.fault.expect("both answer");
    assert_eq!(fault.kind, "peripheral");
    assert!(
        fault
            .message
            .contains("radio and flash both answer on the SPI bus USART0"),
        "{}",
        fault.message
    );
}

#[test]
fn a_device_on_a_serial_line_is_sent_to_and_answers() {
    let (mut machine, image) = machine(
        "
[[device]]
name = 'echo'
model = 'echo'
bus = 'USART1'
quiescent = []
source = 'none'
grade = 'inferred'
",
        "
start:
    mov #0x3900, r1
    mov #0x5a80, &WDTCTL
    mov.b #0x11, &U1CTL
    mov.b #0x20, &U1TCTL
    mov.b #10, &U1BR0
    clr.b &U1BR1
    clr.b &U1MCTL
    bis.b #0x30, &ME2
    bic.b #1, &U1CTL
    mov.b #'A', &U1TXBUF
wait:
    bit.b #0x10, &IFG2
    jz wait
    mov.b &U1RXBUF, r10
done:
    jmp done
",
    );
    common::run_to(&mut machine, &image, "done");
    assert_eq!(machine.registers()[10].1, u32::from(b'B'));
    assert_eq!(machine.serial_read("USART1").expect("a port")[0].0, b'A');
}

/// Erases a sector, programs two bytes, polls the status register after each, reads them back.
const FLASH: &str = "
    mov #erase, r8
    mov #4, r9
    call #write
    mov #program, r8
    mov #6, r9
    call #write
    mov #read, r8
    mov #4, r9
    call #begin
    call #exchange
    mov.b r12, r10
    call #exchange
    mov.b r12, r11
    bis.b #0x10, &P4OUT
    mov.b #0xb9, r12
    bic.b #0x10, &P4OUT
    call #exchange
    bis.b #0x10, &P4OUT
    mov #1000, r15
pause:
    dec r15
    jnz pause
done:
    jmp done
begin:
    bic.b #0x10, &P4OUT
next:
    mov.b @r8+, r12
    call #exchange
    dec r9
    jnz next
    ret
write:
    bic.b #0x10, &P4OUT
    mov.b #6, r12
    call #exchange
    bis.b #0x10, &P4OUT
    call #begin
    bis.b #0x10, &P4OUT
poll:
    bic.b #0x10, &P4OUT
    mov.b #5, r12
    call #exchange
    call #exchange
    bis.b #0x10, &P4OUT
    bit.b #1, r12
    jnz poll
    ret
    .section .rodata
erase:
    .byte 0xd8, 3, 0, 0
program:
    .byte 2, 3, 0x12, 0x34, 0xab, 0xcd
read:
    .byte 3, 3, 0x12, 0x34
";

#[test]
fn the_flash_of_a_telosb_is_wired_by_the_boards_file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../boards/telosb.toml");
    let board = std::fs::read_to_string(path).expect("it is there");
    let (mut machine, image) = machine(&board, &format!("{SPI}{FLASH}"));
    let done = Until {
        address: Some(image.resolve("done").expect("it is there")),
        max_cycles: Some(20_000_000),
        ..Until::default()
    };
    assert_eq!(common::run(&mut machine, done).reason, Reason::Address);
    let registers = machine.registers();
    assert_eq!((registers[10].1, registers[11].1), (0xab, 0xcd));
    // A sector erase takes 1 s and a page program 1.4 ms, to the picosecond.
    assert_eq!(times(&machine, "flash", "write"), 1_001_400_000_000);
    assert!(times(&machine, "flash", "deep-power-down") > 0);
    assert!(times(&machine, "flash", "selected") > 0);
    assert_eq!(times(&machine, "mcu", "active"), machine.time().0);
    let byte = machine.with_device("flash", |flash: &mut M25p80, _| flash.byte(0x31234));
    assert_eq!(byte, Ok(0xab));
    machine.clear_observations();
    common::run_for(&mut machine, 1000);
    let [interval] = &track(&machine, "flash")[..] else {
        panic!("it is at rest");
    };
    assert_eq!(interval.state, "deep-power-down");
}

#[test]
fn wrong_wiring_is_one_error_that_names_file_and_key() {
    let chip = common::chip();
    let image = common::image("start:\n jmp start\n");
    let error = |board: &str| -> String {
        let wiring = match wiring(board) {
            Ok(wiring) => wiring,
            Err(error) => return error,
        };
        match Machine::new(&chip, &wiring, &image, &Options::default()) {
            Err(Error::Board(error)) => error,
            Err(error) => panic!("another error: {error}"),
            Ok(_) => panic!("it is taken: {board}"),
        }
    };
    for (from, to, key, what) in [
        (
            "model = 'm25p80'",
            "model = 'm25p81'",
            "device[1].model",
            "no model 'm25p81'; there are",
        ),
        (
            "bus = 'usart0'\npins = { select",
            "pins = { select",
            "device[1].bus",
            "SPI",
        ),
        (
            "bus = 'usart0'\npins = { s",
            "bus = 'usart2'\npins = { s",
            "device[1].bus",
            "USART0, USART1",
        ),
        ("select = 'P4.4', ", "", "device[1].pins.select", "needs it"),
        (
            "select = 'P4.4'",
            "select = 'P9.4'",
            "device[1].pins.select",
            "P1.0 to P6.7",
        ),
        ("hold =", "holds =", "device[1].pins.holds", "select, hold"),
        (
            "name = 'flash'",
            "name = 'radio'",
            "device[1].name",
            "rename",
        ),
        ("name = 'flash'", "name = 'mcu'", "device[1].name", "rename"),
        (
            "pull_ups = ['select']",
            "pull_ups = ['fifop']",
            "device[1].pull_ups",
            "fifop",
        ),
        (
            "['standby',",
            "['asleep',",
            "device[1].quiescent",
            "standby, deep-power-down",
        ),
        (
            "quiescent = ['idle']",
            "quiescent = ['idle']\nspeed = 4",
            "device[0]",
            "speed",
        ),
        ("quiescent = ['idle']\n", "", "device[0]", "quiescent"),
        (
            "source = 'none'",
            "source = ' '",
            "device[0].source",
            "empty",
        ),
        (
            "grade = 'inferred'",
            "grade = 'sure'",
            "device[0].grade",
            "measured",
        ),
        (
            "grade = 'inferred'\n",
            "grade = 'inferred'\n[[device.current]]\nstate = 'off'\nampere = 1\nsource = 'x'\ngrade = 'inferred'\n",
            "device[0].current",
            "idle, sending",
        ),
    ] {
        assert!(BOARD.contains(from), "{from}");
        let message = error(&BOARD.replacen(from, to, 1));
        assert!(message.starts_with("board.toml: key '"), "{message}");
        assert!(message.contains(key) && message.contains(what), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
    let twice = BOARD
        .replace(
            "pins = { select = 'P4.4', hold = 'P4.7' }\npull_ups = ['select']",
            "",
        )
        .replace("'m25p80'", "'radio-stub'")
        .replace("['standby', 'deep-power-down']", "[]")
        + "pins = { csn = 'P4.3', fifop = 'P1.0', sfd = 'P4.0' }\n";
    let message = error(&twice);
    assert!(
        message.contains("P1.0 is driven by radio already"),
        "{message}"
    );
    assert!(error("[[device]").contains("not valid TOML"));
}
