//! Address recognition (SWRS041B, section 18).

use super::registers::{self, ram};

/// The result of address recognition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It depends on the bytes up to this index; the length byte has index 0.
    Needs(usize),
    Accepted,
    Rejected,
}

/// Where the addresses begin: after length, frame control and sequence number.
const ADDRESSES: usize = 4;
const BROADCAST: [u8; 2] = [0xff; 2];

/// Judge a frame by the bytes received so far, starting with the length.
pub fn recognise(
    frame: &[u8],
    memory: &[u8; ram::BYTES],
    registers: &[u16; registers::RESET.len()],
) -> Verdict {
    let has = |address: u8, bits| registers[usize::from(address - registers::MAIN)] & bits != 0;
    let verdict = |is_ours| {
        if is_ours {
            Verdict::Accepted
        } else {
            Verdict::Rejected
        }
    };
    let Some(&[low, high]) = frame.get(1..3) else {
        return Verdict::Needs(2);
    };
    let control = u16::from_le_bytes([low, high]);
    let kind = control & 7;
    if kind > 3 {
        return verdict(has(registers::MDMCTRL0, registers::RESERVED_FRAME_MODE));
    }
    // Bytes of an address by its mode; `None` for the reserved mode, for which the data sheet does
    // not say what happens to the frame.
    let bytes = |mode| match mode {
        2 => Some(2),
        3 => Some(8),
        0 => Some(0),
        _ => None,
    };
    let (Some(destination), Some(source)) = (bytes(control >> 10 & 3), bytes(control >> 14)) else {
        return Verdict::Rejected;
    };
    let mut at = ADDRESSES;
    if destination > 0 {
        let end = at + 2 + destination;
        let Some(field) = frame.get(at..end) else {
            return Verdict::Needs(end - 1);
        };
        let (pan, address) = field.split_at(2);
        let ours = if destination == 2 {
            ram::SHORTADR
        } else {
            ram::IEEEADR
        };
        let is_our_pan = *pan == memory[ram::PANID..ram::PANID + 2] || *pan == BROADCAST;
        let is_our_address = *address == memory[ours..ours + destination]
            || destination == 2 && *address == BROADCAST;
        if !is_our_pan || !is_our_address {
            return Verdict::Rejected;
        }
        at = end;
    }
    let is_beacon = kind == 0;
    let is_anyones = is_beacon && has(registers::IOCFG0, registers::BCN_ACCEPT);
    let asks_source = is_beacon || matches!(kind, 1 | 3) && destination == 0 && source > 0;
    if is_anyones || !asks_source {
        return Verdict::Accepted;
    }
    let is_intra_pan = control & 0x40 != 0 && destination > 0;
    if source == 0 || is_intra_pan {
        return Verdict::Rejected;
    }
    let Some(pan) = frame.get(at..at + 2) else {
        return Verdict::Needs(at + 1);
    };
    let is_our_pan = *pan == memory[ram::PANID..ram::PANID + 2];
    let is_taken = is_beacon || has(registers::MDMCTRL0, registers::PAN_COORDINATOR);
    verdict(is_our_pan && is_taken)
}
