//! Peripherals, one file each, with methods named after registers.
//!
//! An access brings a peripheral up to the current cycle, and each peripheral says when it next
//! needs attention: idle cycles cost nothing.
//!
//! Section numbers without a document are those of the MSP430x1xx Family User's Guide, SLAU049F:
//! chapter 2 System Resets, Interrupts, and Operating Modes; 4 Basic Clock Module; 5 Flash Memory
//! Controller; 7 Hardware Multiplier; 8 DMA Controller; 9 Digital I/O; 10 Watchdog Timer;
//! 11 `Timer_A`; 12 `Timer_B`; 13 USART, UART Mode; 14 USART, SPI Mode; 17 ADC12.

pub mod adc12;
pub mod aon_rtc;
pub mod basic_clock;
pub mod cc2538_flash;
pub mod cc2538_rf;
pub mod cc26x0_aon;
pub mod cc26x0_flash;
pub mod cc26x0_rf;
pub mod cc26x2_aon;
pub mod dma;
pub mod flash;
pub mod flash_cells;
pub mod gpt;
pub mod i2c_master;
mod ieee802154;
pub mod mac_timer;
pub mod multiplier;
pub mod nrf;
pub mod nrf_cryptocell;
pub mod nrf_gpiote;
pub mod nrf_nvmc;
pub mod nrf_radio;
pub mod nrf_rtc;
pub mod nrf_serial;
pub mod nrf_simple;
pub mod nrf_timer;
pub mod nrf_uart;
pub mod pin_interrupts;
pub mod pl011;
pub mod pl022;
pub mod port;
pub mod rate;
pub mod rp2;
pub mod rp2040_rom;
pub mod rp2350_rom;
pub mod rp2350_sha256;
pub mod rp2350_trng;
pub mod serial_line;
pub mod sfr;
pub mod smwdthrosc;
pub mod soc_adc;
pub mod stm32_flash;
pub mod stm32_rtc;
pub mod stm32_tim;
pub mod stm32_uart;
pub mod stm32_usart;
pub mod stm32_watchdogs;
pub mod stm32l4_flash;
pub mod ti_aes;
pub mod ti_watchdog;
pub mod timer;
pub mod trng;
pub mod udma;
pub mod usart;
pub mod vims;
pub mod watchdog;

pub use adc12::Adc12;
pub use aon_rtc::AonRtc;
pub use basic_clock::{BasicClock, Source};
pub use cc26x0_aon::{AlwaysOn, AonBlock, Cc26x0Aon, Identity};
pub use cc26x0_flash::Cc26x0Flash;
pub use cc26x0_rf::Cc26x0Rf;
pub use cc26x2_aon::Cc26x2Aon;
pub use cc2538_flash::Cc2538Flash;
pub use cc2538_rf::Cc2538Rf;
pub use dma::Dma;
pub use flash::Flash;
pub use gpt::Gpt;
pub use i2c_master::I2cMaster;
pub use mac_timer::MacTimer;
pub use multiplier::Multiplier;
pub use nrf::{Nrf, NrfEvents};
pub use nrf_cryptocell::NrfCryptoCell;
pub use nrf_gpiote::NrfGpiote;
pub use nrf_nvmc::NrfNvmc;
pub use nrf_radio::NrfRadio;
pub use nrf_rtc::NrfRtc;
pub use nrf_serial::NrfSerial;
pub use nrf_simple::{
    NrfEcb, NrfEgu, NrfIdle, NrfPpi, NrfQspi, NrfRng, NrfSaadc, NrfTemp, NrfWatchdog,
};
pub use nrf_timer::NrfTimer;
pub use nrf_uart::NrfUart;
pub use pin_interrupts::{EdgeFlags, Exti, ExtiByEdge, Pl061Interrupts};
pub use pl011::Pl011;
pub use pl022::Pl022;
pub use port::Port;
pub use rate::Rate;
pub use serial_line::SerialLine;
pub use sfr::Sfr;
pub use smwdthrosc::Smwdthrosc;
pub use soc_adc::SocAdc;
pub use stm32_flash::Stm32Flash;
pub use stm32_rtc::Stm32Rtc;
pub use stm32_tim::Stm32Tim;
pub use stm32_uart::Stm32Uart;
pub use stm32_usart::Stm32Usart;
pub use stm32_watchdogs::{Iwdg, Wwdg};
pub use stm32l4_flash::Stm32l4Flash;
pub use ti_aes::TiAes;
pub use ti_watchdog::TiWatchdog;
pub use timer::Timer;
pub use trng::Trng;
pub use udma::Udma;
pub use usart::Usart;
pub use vims::Vims;
pub use watchdog::Watchdog;
