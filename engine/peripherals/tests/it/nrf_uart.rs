//! The nRF52840's UART: one event per byte, and bits of whole 16-MHz cycles.

use crate::memory::Memory;
use joulemark_kernel::{Cycles, FaultKind};
use joulemark_peripherals::{Nrf, NrfUart};

const STARTRX: u32 = 0x000;
const STARTTX: u32 = 0x008;
const RXDRDY: u32 = 0x108;
const TXDRDY: u32 = 0x11c;
const ERROR: u32 = 0x124;
const INTENSET: u32 = 0x304;
const ERRORSRC: u32 = 0x480;
const ENABLE: u32 = 0x500;
const RXD: u32 = 0x518;
const TXD: u32 = 0x51c;
const BAUDRATE: u32 = 0x524;
const CONFIG: u32 = 0x56c;

/// At 230,400 baud a bit takes 69 cycles of 16 MHz (actual rate: 231,884) of 4 core cycles each.
const CHARACTER: u64 = 10 * 69 * 4;

fn started() -> NrfUart {
    let mut uart = NrfUart::default();
    for (offset, value) in [
        (BAUDRATE, 0x03af_b000),
        (ENABLE, 4),
        (STARTRX, 1),
        (STARTTX, 1),
    ] {
        assert_eq!(uart.write(offset, value, Cycles(0)), Ok(true));
    }
    uart
}

#[test]
fn a_byte_goes_out_in_ten_bits_and_then_tells() {
    let mut uart = started();
    uart.write(INTENSET, 1 << 7, Cycles(0)).unwrap();
    uart.write(TXD, 0x5a, Cycles(100)).unwrap();
    assert_eq!(uart.next_event(), Cycles(100 + CHARACTER));
    uart.advance(Cycles(100 + CHARACTER - 1)).unwrap();
    assert!(uart.take_sent().is_empty() && !uart.events().is_pending());
    uart.advance(Cycles(100 + CHARACTER)).unwrap();
    assert_eq!(uart.take_sent(), [(0x5a, Cycles(100 + CHARACTER))]);
    assert!(uart.events().is_pending());
    assert_eq!(uart.read(TXDRDY, Cycles(0)), Some(1));
    uart.write(TXDRDY, 0, Cycles(5000)).unwrap();
    assert!(!uart.events().is_pending());
}

#[test]
fn each_byte_that_comes_to_rxd_tells_once() {
    let mut uart = started();
    uart.put(&[1, 2]);
    uart.advance(Cycles(0)).unwrap();
    uart.advance(Cycles(10 * CHARACTER)).unwrap();
    assert_eq!(uart.read(RXDRDY, Cycles(0)), Some(1));
    uart.write(RXDRDY, 0, Cycles(0)).unwrap();
    uart.advance(Cycles(20 * CHARACTER)).unwrap();
    assert_eq!(
        uart.read(RXDRDY, Cycles(0)),
        Some(0),
        "the second waits behind the first"
    );
    assert_eq!(uart.read(RXD, Cycles(0)), Some(1));
    assert_eq!(uart.read(RXDRDY, Cycles(0)), Some(1));
    assert_eq!(uart.read(RXD, Cycles(0)), Some(2));
}

#[test]
fn what_is_lost_or_left_out_is_told() {
    let mut uart = started();
    uart.put(&[0; 9]);
    for character in 0..20 {
        uart.advance(Cycles(character * CHARACTER)).unwrap();
    }
    assert_eq!(uart.read(ERROR, Cycles(0)), Some(1));
    assert_eq!(uart.read(ERRORSRC, Cycles(0)), Some(1), "an overrun");
    let kind = |result: Result<bool, joulemark_kernel::Fault>| result.unwrap_err().kind;
    assert_eq!(
        kind(uart.write(ENABLE, 3, Cycles(0))),
        FaultKind::Peripheral
    );
    uart.write(TXD, 1, Cycles(0)).unwrap();
    uart.write(TXD, 2, Cycles(0)).unwrap();
    assert_eq!(kind(uart.write(TXD, 3, Cycles(0))), FaultKind::Peripheral);
    let mut off = NrfUart::default();
    assert_eq!(kind(off.write(TXD, 1, Cycles(0))), FaultKind::Peripheral);
}

const RAM: u32 = 0x2000_0000;

fn ram(bytes: Vec<u8>) -> Memory {
    Memory {
        start: RAM,
        bytes,
        is_flash: false,
    }
}

const STOPRX: u32 = 0x004;
const ENDRX: u32 = 0x110;
const ENDTX: u32 = 0x120;
const RXTO: u32 = 0x144;
const SHORTS: u32 = 0x200;
const RXD_PTR: u32 = 0x534;
const RXD_MAXCNT: u32 = 0x538;
const RXD_AMOUNT: u32 = 0x53c;
const TXD_PTR: u32 = 0x544;
const TXD_MAXCNT: u32 = 0x548;
const TXD_AMOUNT: u32 = 0x54c;

fn with_dma(values: &[(u32, u32)]) -> NrfUart {
    let mut uart = NrfUart::default();
    for &(offset, value) in [(BAUDRATE, 0x03af_b000), (ENABLE, 8)].iter().chain(values) {
        assert_eq!(uart.write(offset, value, Cycles(0)), Ok(true));
    }
    uart
}

/// Advance character by character.
fn run(uart: &mut NrfUart, ram: &mut Memory, characters: u64) {
    for character in 0..=characters {
        let now = Cycles(character * CHARACTER);
        uart.advance(now).unwrap();
        uart.transfer(ram, now).unwrap();
    }
}

#[test]
fn dma_sends_a_buffer_and_tells_at_its_end() {
    let mut ram = ram((0..64).collect());
    let sends = [(TXD_PTR, RAM + 10), (TXD_MAXCNT, 3), (STARTTX, 1)];
    // Two stop bits and parity make 12-bit characters.
    for (config, bits) in [(0, 10), (0x1e, 12)] {
        let mut uart = with_dma(&[(CONFIG, config)]);
        for (offset, value) in sends {
            uart.write(offset, value, Cycles(0)).unwrap();
        }
        assert_eq!(uart.transfer(&mut ram, Cycles(0)), Ok(true));
        let character = CHARACTER / 10 * bits;
        uart.advance(Cycles(3 * character - 1)).unwrap();
        assert_eq!(uart.read(ENDTX, Cycles(0)), Some(0));
        uart.advance(Cycles(3 * character)).unwrap();
        assert_eq!(uart.read(ENDTX, Cycles(0)), Some(1));
        assert_eq!(uart.read(TXD_AMOUNT, Cycles(0)), Some(3));
        let times = [character, 2 * character, 3 * character].map(Cycles);
        let expected: Vec<_> = [10, 11, 12].into_iter().zip(times).collect();
        assert_eq!(uart.take_sent(), expected);
    }
    let mut uart = with_dma(&[(TXD_PTR, 0x100), (TXD_MAXCNT, 1), (STARTTX, 1)]);
    let refused = uart.transfer(&mut ram, Cycles(0)).unwrap_err();
    assert_eq!(refused.kind, FaultKind::Peripheral, "flash is not reached");
}

#[test]
fn dma_receives_buffer_after_buffer() {
    let mut ram = ram(vec![0; 64]);
    let begin = [
        (RXD_PTR, RAM),
        (RXD_MAXCNT, 2),
        (SHORTS, 1 << 5),
        (STARTRX, 1),
    ];
    let mut uart = with_dma(&begin);
    // The next buffer follows the first.
    uart.write(RXD_PTR, RAM + 2, Cycles(0)).unwrap();
    uart.put(&[1, 2, 3]);
    run(&mut uart, &mut ram, 4);
    assert_eq!(ram.bytes[..4], [1, 2, 3, 0]);
    assert_eq!(uart.read(ENDRX, Cycles(0)), Some(1));
    assert_eq!(
        uart.read(RXD_AMOUNT, Cycles(0)),
        Some(2),
        "of the buffer that ended"
    );
    uart.write(ENDRX, 0, Cycles(0)).unwrap();
    // For as long as four bytes take the receiver goes on.
    let stopped = Cycles(4 * CHARACTER);
    uart.write(STOPRX, 1, stopped).unwrap();
    let off = Cycles(8 * CHARACTER);
    assert_eq!(uart.next_event(), off);
    uart.advance(Cycles(off.0 - 1)).unwrap();
    assert_eq!(uart.read(RXTO, off), Some(0));
    uart.advance(off).unwrap();
    assert_eq!(uart.read(ENDRX, off), Some(1));
    assert_eq!(uart.read(RXTO, off), Some(1));
    assert_eq!(uart.read(RXD_AMOUNT, off), Some(1));
}
