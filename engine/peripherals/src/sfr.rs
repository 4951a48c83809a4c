//! Special function registers: interrupt enables and flags, module enables (section 1.4.4; bits in
//! SLAS368G, special function registers).

/// IE1 and IFG1: watchdog.
pub const WDT: u8 = 1 << 0;
/// IE1 and IFG1: oscillator fault.
pub const OF: u8 = 1 << 1;
/// IE1 and IFG1: NMI pin.
pub const NMI: u8 = 1 << 4;
/// IE1: flash access violation.
pub const ACCV: u8 = 1 << 5;
/// IE1, IFG1 and ME1: USART0 receive; its SPI enable.
pub const URX0: u8 = 1 << 6;
/// IE1, IFG1 and ME1: USART0 transmit.
pub const UTX0: u8 = 1 << 7;
/// IE2, IFG2 and ME2: USART1 receive; its SPI enable.
pub const URX1: u8 = 1 << 4;
/// IE2, IFG2 and ME2: USART1 transmit.
pub const UTX1: u8 = 1 << 5;

/// The six registers; index 0 is IE1, IFG1, ME1 and index 1 is IE2, IFG2, ME2.
#[derive(Clone, Debug)]
pub struct Sfr {
    /// Interrupt enables.
    pub ie: [u8; 2],
    /// Interrupt flags.
    pub ifg: [u8; 2],
    /// Module enables.
    pub me: [u8; 2],
}

impl Default for Sfr {
    fn default() -> Self {
        Self {
            ie: [0; 2],
            ifg: [OF | UTX0, UTX1],
            me: [0; 2],
        }
    }
}
