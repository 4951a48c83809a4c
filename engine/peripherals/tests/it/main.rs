//! All tests of the crate as one program: linked, and what is generic compiled, once.

mod cc2538_rf;
mod cc26x0_aon;
mod cc26x0_rf;
mod cortex_m;
mod flash_controllers;
mod gpt;
mod ieee802154;
mod memory;
mod multiplier;
mod nrf;
mod nrf_radio;
mod nrf_uart;
mod pl011;
mod pl022;
mod stm32_uart;
mod ti_aes;
mod timer;
mod udma;
