//! Shared by the tests of radios in chips: frames, transmissions, arrivals.

use std::sync::Arc;

use joulemark_kernel::Picoseconds;
use joulemark_radio::{Antenna, Arrival, Emission, Start, oqpsk_2450::PHY};

/// A microsecond in picoseconds.
pub const US: u64 = 1_000_000;

/// A transmission: its start, its bytes with the length, its end.
pub type Sent = (Start, Vec<u8>, Picoseconds);

/// Collect what a radio has sent.
pub fn take_sent(antenna: &mut Antenna, sent: &mut Vec<Sent>) {
    for emission in antenna.take_emissions() {
        match emission {
            Emission::Start(start) => sent.push((start, Vec::new(), Picoseconds::NEVER)),
            Emission::Bytes(place, bytes) => {
                let frame = &mut sent.last_mut().unwrap().1;
                frame.truncate(place);
                frame.extend(bytes);
            }
            Emission::End(end) => sent.last_mut().unwrap().2 = end,
        }
    }
}

/// Let a frame arrive on channel 11, given its bytes with the length; it begins in 10 us.
pub fn arrive(antenna: &mut Antenna, now: u64, bytes: &[u8], power_dbm: f64) -> Arrival {
    let begin = Picoseconds(now + 10 * US);
    let start = Start::of_frame(&PHY, begin, 2405, power_dbm);
    let arrival = Arrival {
        id: now,
        start,
        byte: PHY.byte,
        bytes: Arc::new(bytes.to_vec()),
        end: start.delimiter + PHY.span(bytes.len()),
        is_lost: false,
        seed: 1,
    };
    antenna.arrive(arrival.clone());
    arrival
}

/// A frame with its length and FCS (IEEE Std 802.15.4-2006, 7.2.1.9, bit by bit).
pub fn with_crc(frame: &[u8]) -> Vec<u8> {
    let mut remainder = 0_u16;
    let bits = |byte: &u8| {
        let byte = *byte;
        (0..8).map(move |bit| byte >> bit & 1)
    };
    for bit in frame.iter().flat_map(bits) {
        let feedback = remainder & 1 ^ u16::from(bit);
        remainder >>= 1;
        if feedback == 1 {
            remainder ^= 0x8408;
        }
    }
    let mut bytes = vec![frame.len() as u8 + 2];
    bytes.extend(frame);
    bytes.extend(remainder.to_le_bytes());
    bytes
}
