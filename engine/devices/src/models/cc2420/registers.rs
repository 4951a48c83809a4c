//! Addresses, bits and reset values (SWRS041B, section 37 and tables 6 and 11).

/// Command strobes, by address.
pub mod strobe {
    pub const SXOSCON: u8 = 0x01;
    pub const STXCAL: u8 = 0x02;
    pub const SRXON: u8 = 0x03;
    pub const STXON: u8 = 0x04;
    pub const STXONCCA: u8 = 0x05;
    pub const SRFOFF: u8 = 0x06;
    pub const SXOSCOFF: u8 = 0x07;
    pub const SFLUSHRX: u8 = 0x08;
    pub const SFLUSHTX: u8 = 0x09;
    pub const SACK: u8 = 0x0a;
    pub const SACKPEND: u8 = 0x0b;
    pub const SRXDEC: u8 = 0x0c;
    pub const STXENC: u8 = 0x0d;
    pub const SAES: u8 = 0x0e;
}

/// The first address that is not a strobe's.
pub const REGISTERS: u8 = 0x0f;
pub const MAIN: u8 = 0x10;
pub const MDMCTRL0: u8 = 0x11;
pub const RSSI: u8 = 0x13;
pub const SYNCWORD: u8 = 0x14;
pub const TXCTRL: u8 = 0x15;
pub const FSCTRL: u8 = 0x18;
pub const SECCTRL0: u8 = 0x19;
pub const SECCTRL1: u8 = 0x1a;
pub const BATTMON: u8 = 0x1b;
pub const IOCFG0: u8 = 0x1c;
pub const IOCFG1: u8 = 0x1d;
pub const MANFIDL: u8 = 0x1e;
pub const MANFIDH: u8 = 0x1f;
pub const AGCCTRL: u8 = 0x23;
pub const FSTST0: u8 = 0x27;
pub const FSTST1: u8 = 0x28;
pub const FSTST2: u8 = 0x29;
pub const RXBPFTST: u8 = 0x2b;
pub const FSMSTATE: u8 = 0x2c;
pub const ADCTST: u8 = 0x2d;
pub const TXFIFO: u8 = 0x3e;
pub const RXFIFO: u8 = 0x3f;

/// MAIN.
pub const RESET_N: u16 = 1 << 15;

/// MDMCTRL0.
pub const RESERVED_FRAME_MODE: u16 = 1 << 13;
pub const PAN_COORDINATOR: u16 = 1 << 12;
pub const ADR_DECODE: u16 = 1 << 11;
pub const AUTOCRC: u16 = 1 << 5;
pub const AUTOACK: u16 = 1 << 4;

/// TXCTRL.
pub const TX_TURNAROUND: u16 = 1 << 13;

/// FSCTRL.
pub const CAL_DONE: u16 = 1 << 13;
pub const CAL_RUNNING: u16 = 1 << 12;
pub const LOCK_STATUS: u16 = 1 << 10;

/// FSTST1.
pub const VCO_ARRAY_CAL_LONG: u16 = 1 << 14;

/// SECCTRL0.
pub const RXFIFO_PROTECTION: u16 = 1 << 9;

/// IOCFG0.
pub const BCN_ACCEPT: u16 = 1 << 11;
pub const FIFO_POLARITY: u16 = 1 << 10;
pub const FIFOP_POLARITY: u16 = 1 << 9;
pub const SFD_POLARITY: u16 = 1 << 8;
pub const CCA_POLARITY: u16 = 1 << 7;

/// The status byte (table 5).
pub mod status {
    pub const XOSC16M_STABLE: u8 = 1 << 6;
    pub const TX_UNDERFLOW: u8 = 1 << 5;
    pub const ENC_BUSY: u8 = 1 << 4;
    pub const TX_ACTIVE: u8 = 1 << 3;
    pub const LOCK: u8 = 1 << 2;
    pub const RSSI_VALID: u8 = 1 << 1;
}

/// RAM (table 6).
pub mod ram {
    pub const TXFIFO: usize = 0x000;
    pub const RXFIFO: usize = 0x080;
    pub const KEY0: usize = 0x100;
    pub const RXNONCE: usize = 0x110;
    pub const SABUF: usize = 0x120;
    pub const KEY1: usize = 0x130;
    pub const TXNONCE: usize = 0x140;
    pub const IEEEADR: usize = 0x160;
    pub const PANID: usize = 0x168;
    pub const SHORTADR: usize = 0x16a;
    pub const BYTES: usize = 0x170;
}

/// Reset values of the registers from MAIN on.
pub const RESET: [u16; 0x40 - MAIN as usize] = {
    let mut reset = [0; 0x40 - MAIN as usize];
    let known = [
        0xf800, 0x0ae2, 0x0500, 0xe080, 0xa70f, 0xa0ff, 0x12e5, 0x0a56, 0x4165, 0x03c4, 0x0000,
        0x0040, 0x0040, 0x0000, 0x233d, 0x3000, 0x7a94, 0xffff, 0x0000, 0x07f3, 0x3649, 0x0854,
        0x012a, 0x0210, 0x5002, 0x0620, 0x82dd, 0x0000, 0x0000, 0x0000, 0x0000, 0x0010, 0x0000,
    ];
    let mut number = 0;
    while number < known.len() {
        reset[number] = known[number];
        number += 1;
    }
    reset
};

/// The writable bits of a register.
pub const fn writable(address: u8) -> u16 {
    match address {
        RSSI => 0xff00,
        FSCTRL => !(CAL_DONE | CAL_RUNNING | LOCK_STATUS),
        BATTMON => !(1 << 6),
        // Addresses from 0x31 on are unused.
        MANFIDL | MANFIDH | FSMSTATE | ADCTST | 0x31..=0x3d => 0,
        AGCCTRL => !3,
        FSTST0 => !0x1f,
        FSTST2 => !0x3f,
        RXBPFTST => !0x7f,
        _ => u16::MAX,
    }
}
