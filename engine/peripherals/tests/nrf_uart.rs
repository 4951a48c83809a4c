//! The nRF52840's UART: one event for each byte, and bits of whole cycles of 16 MHz.

use joulemark_kernel::{Cycles, FaultKind};
use joulemark_peripherals::NrfUart;

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

/// 230,400 baud, of which a bit takes 69 cycles of 16 MHz (actual rate: 231,884), and the core 4 for each.
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
    let mut sent = Vec::new();
    uart.advance(Cycles(100 + CHARACTER - 1), |byte, at| {
        sent.push((byte, at));
    });
    assert!(sent.is_empty() && !uart.is_pending());
    uart.advance(Cycles(100 + CHARACTER), |byte, at| sent.push((byte, at)));
    assert_eq!(sent, [(0x5a, Cycles(100 + CHARACTER))]);
    assert!(uart.is_pending());
    assert_eq!(uart.read(TXDRDY), Some(1));
    uart.write(TXDRDY, 0, Cycles(5000)).unwrap();
    assert!(!uart.is_pending());
}

#[test]
fn each_byte_that_comes_to_rxd_tells_once() {
    let mut uart = started();
    uart.put(&[1, 2]);
    uart.advance(Cycles(0), |_, _| {});
    uart.advance(Cycles(10 * CHARACTER), |_, _| {});
    assert_eq!(uart.read(RXDRDY), Some(1));
    uart.write(RXDRDY, 0, Cycles(0)).unwrap();
    uart.advance(Cycles(20 * CHARACTER), |_, _| {});
    assert_eq!(
        uart.read(RXDRDY),
        Some(0),
        "the second waits behind the first"
    );
    assert_eq!(uart.read(RXD), Some(1));
    assert_eq!(uart.read(RXDRDY), Some(1));
    assert_eq!(uart.read(RXD), Some(2));
}

#[test]
fn what_is_lost_or_left_out_is_told() {
    let mut uart = started();
    uart.put(&[0; 9]);
    for character in 0..20 {
        uart.advance(Cycles(character * CHARACTER), |_, _| {});
    }
    assert_eq!(uart.read(ERROR), Some(1));
    assert_eq!(uart.read(ERRORSRC), Some(1), "an overrun");
    let kind = |result: Result<bool, joulemark_kernel::Fault>| result.unwrap_err().kind;
    assert_eq!(kind(uart.write(ENABLE, 8, Cycles(0))), FaultKind::Absent);
    assert_eq!(kind(uart.write(CONFIG, 1, Cycles(0))), FaultKind::Absent);
    uart.write(TXD, 1, Cycles(0)).unwrap();
    uart.write(TXD, 2, Cycles(0)).unwrap();
    assert_eq!(kind(uart.write(TXD, 3, Cycles(0))), FaultKind::Peripheral);
    let mut off = NrfUart::default();
    assert_eq!(kind(off.write(TXD, 1, Cycles(0))), FaultKind::Peripheral);
}
