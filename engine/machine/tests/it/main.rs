//! All tests of the crate as one program: linked, and what is generic compiled, once.

mod chips;
mod common;
mod devices;
mod i2c;
mod images;
mod peripherals;
mod quiet_accesses;
mod resets;
mod rp2040;
mod rp2350;
mod siblings;
mod spi;
mod stm32g0;
mod time;
