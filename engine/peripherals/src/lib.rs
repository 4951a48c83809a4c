//! Peripherals, one file each, with methods named after registers.
//!
//! A peripheral is brought up to the current cycle when it is touched, and says when it has to be
//! looked at again: nothing is done for cycles in which nothing happens. Section numbers without a
//! document are those of the MSP430x1xx Family User's Guide, SLAU049F.

pub mod basic_clock;
pub mod flash;
pub mod multiplier;
pub mod pl011;
pub mod port;
pub mod rate;
pub mod serial_line;
pub mod sfr;
pub mod stm32_usart;
pub mod timer;
pub mod usart;
pub mod watchdog;

pub use basic_clock::{BasicClock, Source};
pub use flash::Flash;
pub use multiplier::Multiplier;
pub use pl011::Pl011;
pub use port::Port;
pub use rate::Rate;
pub use serial_line::SerialLine;
pub use sfr::Sfr;
pub use stm32_usart::Stm32Usart;
pub use timer::Timer;
pub use usart::{SpiDevice, Usart};
pub use watchdog::Watchdog;
