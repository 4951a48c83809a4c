//! The SPI bus: strobes, registers, FIFOs and RAM.

use joulemark_kernel::Picoseconds;

use super::registers::{self, MAIN, ram, status};
use super::{Cc2420, fifo};

/// Duration of the calibration's first part (`FSTST1.VCO_ARRAY_CAL_LONG`).
const VCO_CALIBRATION: [Picoseconds; 2] = [Picoseconds(37_000_000), Picoseconds(57_000_000)];

/// The meaning of the next byte on the SPI bus.
#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    Address,
    /// A register's high byte, or its low byte after the high byte.
    Write(u8, Option<u8>),
    Read(u8, Option<u8>),
    TxFifo,
    RxFifo {
        is_read: bool,
    },
    /// The second byte of a RAM address.
    RamAddress(u8),
    Ram {
        address: usize,
        is_read: bool,
    },
}

impl Cc2420 {
    pub(super) fn status(&self, now: Picoseconds) -> u8 {
        let bit = |is_set, bit| if is_set { bit } else { 0 };
        bit(self.is_crystal_stable(), status::XOSC16M_STABLE)
            | bit(self.is_underflown, status::TX_UNDERFLOW)
            | bit(self.operation.is_some(), status::ENC_BUSY)
            | bit(self.state.is_tx(), status::TX_ACTIVE)
            | bit(self.is_locked(), status::LOCK)
            | bit(self.is_rssi_valid(now), status::RSSI_VALID)
    }

    pub(super) fn read_register(&self, address: u8, now: Picoseconds) -> u16 {
        if address < MAIN {
            return 0;
        }
        let value = self.register(address);
        match address {
            registers::RSSI => value & 0xff00 | u16::from(self.rssi(now) as u8),
            registers::FSCTRL => {
                let is_long = self.has(registers::FSTST1, registers::VCO_ARRAY_CAL_LONG);
                let vco = VCO_CALIBRATION[usize::from(is_long)];
                let is_running =
                    self.state.is_calibrating() && !self.is_locked() && now < self.since + vco;
                value
                    | if is_running {
                        registers::CAL_RUNNING
                    } else {
                        0
                    }
                    | if self.is_locked() {
                        registers::CAL_DONE | registers::LOCK_STATUS
                    } else {
                        0
                    }
            }
            registers::FSMSTATE => self.state.number(),
            _ => value,
        }
    }

    pub(super) fn write_register(&mut self, address: u8, value: u16, now: Picoseconds) {
        if address < MAIN {
            return;
        }
        let mask = registers::writable(address);
        let register = &mut self.registers[usize::from(address - MAIN)];
        *register = *register & !mask | value & mask;
        match address {
            MAIN if value & registers::RESET_N == 0 => self.reset(now),
            // The data sheet does not say what a frequency change does to a running receiver: here
            // it is on the new frequency at once, and loses any incoming frame.
            registers::FSCTRL if self.state.is_hearing() => self.search(now),
            registers::MDMCTRL0 => self.refresh(now),
            _ => {}
        }
    }

    /// Read a byte of RAM; 0 for an invalid address or without a stable clock.
    pub(super) fn ram(&self, address: usize) -> u8 {
        if !self.is_crystal_stable() {
            return 0;
        }
        self.memory.get(address).copied().unwrap_or(0)
    }

    pub(super) fn write_ram(&mut self, address: usize, byte: u8, now: Picoseconds) {
        if !self.is_crystal_stable() {
            return;
        }
        if let Some(place) = self.memory.get_mut(address) {
            *place = byte;
        }
        if address < ram::RXFIFO {
            self.refresh(now);
        }
    }

    pub(super) fn write_tx(&mut self, byte: u8, now: Picoseconds) {
        if !self.is_crystal_stable() {
            return;
        }
        if self.is_sent {
            self.is_sent = false;
            self.tx_bytes = 0;
        }
        self.memory[ram::TXFIFO + self.tx_bytes % fifo::BYTES] = byte;
        self.tx_bytes += 1;
        self.poll_operation(now);
        self.refresh(now);
    }

    /// Exchange a byte on the bus.
    pub(super) fn access(&mut self, byte: u8, now: Picoseconds) -> u8 {
        let status = self.status(now);
        match self.access {
            Access::Address => {
                let address = byte & 0x3f;
                let is_read = byte & 0x40 != 0;
                self.access = match address {
                    _ if byte & 0x80 != 0 => Access::RamAddress(byte & 0x7f),
                    registers::TXFIFO if !is_read => Access::TxFifo,
                    registers::RXFIFO => Access::RxFifo { is_read },
                    _ if is_read => Access::Read(address, None),
                    _ if address < registers::REGISTERS => {
                        self.strobe(address, now);
                        Access::Address
                    }
                    _ => Access::Write(address, None),
                };
                status
            }
            Access::Write(address, None) => {
                self.access = Access::Write(address, Some(byte));
                (self.read_register(address, now) >> 8) as u8
            }
            Access::Write(address, Some(high)) => {
                self.access = Access::Address;
                let before = self.read_register(address, now) as u8;
                self.write_register(address, u16::from_be_bytes([high, byte]), now);
                before
            }
            Access::Read(address, None) => {
                let [high, low] = self.read_register(address, now).to_be_bytes();
                self.access = Access::Read(address, Some(low));
                high
            }
            Access::Read(_, Some(low)) => {
                self.access = Access::Address;
                low
            }
            Access::TxFifo => {
                self.write_tx(byte, now);
                status
            }
            Access::RxFifo { is_read: true } if self.is_crystal_stable() => {
                let is_protected = self.has(registers::SECCTRL0, registers::RXFIFO_PROTECTION);
                self.fifo.pop(&self.memory, is_protected)
            }
            Access::RxFifo { is_read: false } if self.is_crystal_stable() => {
                if self.fifo.room() > 0 {
                    self.fifo.push(&mut self.memory, byte);
                    self.poll_operation(now);
                }
                status
            }
            Access::RxFifo { .. } => 0,
            Access::RamAddress(low) => {
                self.access = Access::Ram {
                    address: usize::from(byte >> 6) << 7 | usize::from(low),
                    is_read: byte & 0x20 != 0,
                };
                status
            }
            Access::Ram { address, is_read } => {
                self.access = Access::Ram {
                    address: (address + 1) & 0x1ff,
                    is_read,
                };
                let before = self.ram(address);
                if !is_read {
                    self.write_ram(address, byte, now);
                }
                before
            }
        }
    }
}
