//! The serial ports of the STM32L4.

use joulemark_kernel::{Cycles, FaultKind};
use joulemark_peripherals::Stm32Uart;

const CR1: u32 = 0;
const BRR: u32 = 0x0c;
const ISR: u32 = 0x1c;
const ICR: u32 = 0x20;
const RDR: u32 = 0x24;
const TDR: u32 = 0x28;
const ON: u32 = 1 | 1 << 2 | 1 << 3;
const RXNE: u32 = 1 << 5;
const TC: u32 = 1 << 6;
const TXE: u32 = 1 << 7;

/// A port that is on, with a bit of 100 bus cycles.
fn port(mut port: Stm32Uart, per_cycle: u32) -> Stm32Uart {
    let now = Cycles(0);
    assert!(port.write(BRR, 100 * per_cycle, now).unwrap());
    assert!(port.write(CR1, ON, now).unwrap());
    port
}

#[test]
fn a_character_takes_what_each_kind_of_port_says() {
    for (made, per_cycle) in [(Stm32Uart::usart(), 1), (Stm32Uart::low_power(), 256)] {
        let mut uart = port(made, per_cycle);
        uart.divider = 2;
        uart.write(TDR, 0x55, Cycles(10)).unwrap();
        assert_eq!(uart.next_event(), Cycles(10 + 10 * 100 * 2));
        let mut sent = Vec::new();
        uart.advance(Cycles(5000), |byte, at| sent.push((byte, at)));
        assert_eq!(sent, [(0x55, Cycles(2010))]);
    }
}

#[test]
fn flags_are_cleared_by_the_registers_that_say_so() {
    let mut uart = port(Stm32Uart::usart(), 1);
    assert_eq!(uart.read(ISR).unwrap() & (RXNE | TC | TXE), TC | TXE);
    uart.write(ICR, TC, Cycles(0)).unwrap();
    assert_eq!(uart.read(ISR).unwrap() & TC, 0);
    uart.write(TDR, 1, Cycles(0)).unwrap();
    uart.put(b"x");
    for now in [1, 100_000] {
        uart.advance(Cycles(now), |_, _| {});
    }
    assert_eq!(uart.read(ISR).unwrap() & (RXNE | TC | TXE), RXNE | TC | TXE);
    uart.write(CR1, ON | RXNE, Cycles(0)).unwrap();
    assert!(uart.is_pending());
    assert_eq!(uart.read(RDR), Some(u32::from(b'x')));
    assert!(!uart.is_pending());
}

#[test]
fn what_is_lost_or_left_out_is_a_fault() {
    let mut off = Stm32Uart::usart();
    let now = Cycles(0);
    assert_eq!(
        off.write(TDR, 1, now).unwrap_err().kind,
        FaultKind::Peripheral
    );
    let mut uart = port(Stm32Uart::usart(), 1);
    uart.write(TDR, 1, now).unwrap();
    uart.write(TDR, 2, now).unwrap();
    assert_eq!(
        uart.write(TDR, 3, now).unwrap_err().kind,
        FaultKind::Peripheral
    );
    for (register, value) in [(CR1, ON | 1 << 29), (0x04, 1), (0x08, 1), (0x2c, 1)] {
        assert_eq!(
            uart.write(register, value, now).unwrap_err().kind,
            FaultKind::Absent
        );
    }
    assert!(!uart.write(0x40, 0, now).unwrap());
}
