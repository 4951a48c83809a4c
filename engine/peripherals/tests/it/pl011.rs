//! UART set-up as by TI's driver library.

use joulemark_kernel::{Cycles, FaultKind, Hertz};
use joulemark_peripherals::Pl011;

const IBRD: u32 = 0x24;
const FBRD: u32 = 0x28;
const LCRH: u32 = 0x2c;
const CTL: u32 = 0x30;
const IMSC: u32 = 0x38;
const ICR: u32 = 0x44;
const TX: u32 = 1 << 5;
const EOT: u32 = 1 << 4;
const EIGHT_BITS: u32 = 0x60;
const ENABLE: u32 = 0x301;

#[test]
fn a_format_is_refused_where_a_character_has_it() {
    let now = Cycles(0);
    let mut uart = Pl011::new(16);
    // UARTDisable() clears FEN in a register that is 0, which means five data bits; RIOT enables
    // the UART with it.
    for (register, value) in [(LCRH, 0), (IBRD, 1), (CTL, ENABLE)] {
        uart.write(register, value, now).unwrap();
    }
    assert_eq!(
        uart.write(0, 0x55, now).unwrap_err().kind,
        FaultKind::Absent
    );
    uart.write(LCRH, EIGHT_BITS, now).unwrap();
    uart.write(0, 0x55, now).unwrap();
}

#[test]
fn a_divisor_counts_in_the_clock_that_it_divides() {
    // 115,200 baud from 16 MHz: 8 44/64. 10 bits of 16 clocks.
    for (core, clock, cycles) in [(16, 16, 1390), (32, 16, 2780), (8, 16, 695), (32, 32, 1390)] {
        let mut uart = Pl011::new(16);
        uart.set_clocks(Hertz(core * 1_000_000), Hertz(clock * 1_000_000));
        for (register, value) in [(IBRD, 8), (FBRD, 44), (LCRH, EIGHT_BITS), (CTL, ENABLE)] {
            uart.write(register, value, Cycles(0)).unwrap();
        }
        uart.write(0, 0x55, Cycles(100)).unwrap();
        let mut sent = Vec::new();
        uart.advance(Cycles(100_000), |byte, at| sent.push((byte, at.0 - 100)));
        assert_eq!(sent, [(0x55, cycles)]);
    }
}

#[test]
fn a_transmitter_without_fifo_asks_for_each_byte() {
    // With CTL.EOT the interrupt comes after the stop bit, otherwise when the holding register is
    // free.
    for (end_of_transmission, lone, second) in [(true, 160, 320), (false, 0, 160)] {
        let mut uart = Pl011::new(16);
        uart.set_clocks(Hertz(1), Hertz(1));
        let control = ENABLE | if end_of_transmission { EOT } else { 0 };
        for (register, value) in [(IBRD, 1), (LCRH, EIGHT_BITS), (CTL, control), (IMSC, TX)] {
            uart.write(register, value, Cycles(0)).unwrap();
        }
        assert!(!uart.is_pending());
        // One byte; then, with the flag cleared, two bytes of which one is held.
        for (start, bytes, expected) in [(0, 1, lone), (1000, 2, second)] {
            for _ in 0..bytes {
                uart.write(0, 0x55, Cycles(start)).unwrap();
            }
            let first = (0..=400).find(|&after| {
                uart.advance(Cycles(start + after), |_, _| ());
                uart.is_pending()
            });
            assert_eq!(first, Some(expected));
            uart.advance(Cycles(start + 500), |_, _| ());
            uart.write(ICR, TX, Cycles(start + 500)).unwrap();
            assert!(!uart.is_pending());
        }
    }
}
