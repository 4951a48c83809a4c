//! A CC2420 driven by lines on standard input; `tests/networks/cc2420_beside_mspsim.py` gives the
//! same lines to this one and to `MSPSim`'s.
//!
//! `V 0|1` sets the regulator, `X HEX` exchanges bytes on the bus, `T US` lets microseconds pass,
//! and `F HEX` delivers a frame that begins with its length. The answer to each is the bytes
//! received, the levels of FIFO, FIFOP, SFD and CCA, and FSMSTATE.

use std::io::BufRead;
use std::sync::Arc;

use joulemark_devices::Device;
use joulemark_kernel::Picoseconds;
use joulemark_radio::{Arrival, Start, oqpsk_2450::PHY};
use radios::{CCA, FIFO, FIFOP, RESET, Radio, SFD, US, hex};

#[path = "../tests/it/radios/mod.rs"]
#[allow(dead_code)]
mod radios;

const FSMSTATE: u8 = 0x2c;
const CHANNEL_11_MHZ: u16 = 2405;
/// Preamble and SFD.
const HEADER_US: u64 = 160;
const BYTE_US: u64 = 32;

/// Deliver a frame.
fn receive(radio: &mut Radio, bytes: Vec<u8>, id: u64) {
    let delimiter = radio.now + HEADER_US * US;
    let air_us = HEADER_US + BYTE_US * bytes.len() as u64;
    let arrival = Arrival {
        id,
        start: Start {
            phy: &PHY,
            begin: Picoseconds(radio.now),
            delimiter: Picoseconds(delimiter),
            frequency_mhz: CHANNEL_11_MHZ,
            power_dbm: -60.0,
            sync: 0,
        },
        byte: PHY.byte,
        end: Picoseconds(radio.now + air_us * US),
        bytes: Arc::new(bytes),
        is_lost: false,
        seed: id,
    };
    if let Some(antenna) = radio.device.antenna() {
        antenna.arrive(arrival);
    }
    radio.run(air_us * US);
}

fn main() {
    let mut radio = Radio::new();
    radio.pin(RESET, true);
    for (id, line) in (0..).zip(std::io::stdin().lock().lines()) {
        let line = line.expect("a line");
        let (what, value) = line.split_once(' ').expect("what and a value");
        let mut answer = Vec::new();
        match what {
            "V" => radio.regulator(value == "1"),
            "X" => answer = radio.try_command(&hex(value)),
            "T" => radio.run(value.parse::<u64>().expect("microseconds") * US),
            _ => receive(&mut radio, hex(value), id),
        }
        let state = if radio.state == "off" {
            0
        } else {
            radio.register(FSMSTATE)
        };
        let levels: String = [FIFO, FIFOP, SFD, CCA]
            .iter()
            .map(|&pin| if radio.level(pin) { '1' } else { '0' })
            .collect();
        for byte in answer {
            print!("{:02x}", byte.unwrap_or(0));
        }
        println!("|{levels}|{state}");
        let now = Picoseconds(radio.now);
        if let Some(antenna) = radio.device.antenna() {
            antenna.take_outcomes(now);
            antenna.take_emissions();
        }
    }
}
