//! What TI's driver library does to a UART before it is set up.

use joulemark_kernel::{Cycles, FaultKind};
use joulemark_peripherals::Pl011;

const LCRH: u32 = 0x2c;
const CTL: u32 = 0x30;
const EIGHT_BITS: u32 = 0x60;
const ENABLE: u32 = 0x301;

#[test]
fn a_format_is_refused_where_the_uart_is_enabled_with_it() {
    let now = Cycles(0);
    let mut uart = Pl011::new(16);
    // UARTDisable() clears FEN of a register that is 0: five data bits.
    uart.write(LCRH, 0, now).unwrap();
    uart.write(LCRH, EIGHT_BITS, now).unwrap();
    uart.write(CTL, ENABLE, now).unwrap();
    assert_eq!(
        uart.write(LCRH, 0, now).unwrap_err().kind,
        FaultKind::Absent
    );

    let mut uart = Pl011::new(16);
    uart.write(LCRH, 0, now).unwrap();
    assert_eq!(
        uart.write(CTL, ENABLE, now).unwrap_err().kind,
        FaultKind::Absent
    );
}
