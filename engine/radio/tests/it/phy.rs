//! PHYs: their figures, and that radios of different PHYs do not hear each other's frames.

use std::sync::Arc;

use joulemark_kernel::Picoseconds;
use joulemark_radio::{Antenna, Arrival, Figures, Outcome, PHYS, Phy, Start, gfsk_1m, oqpsk_2450};

/// A frequency that is a channel of both.
const MHZ: u16 = 2480;
const BEGIN: Picoseconds = Picoseconds(1_000_000_000);

const fn us(microseconds: u64) -> Picoseconds {
    Picoseconds(microseconds * 1_000_000)
}

fn antenna(phy: &'static Phy) -> Antenna {
    let mut antenna = Antenna::new(Figures {
        phy,
        sensitivity_dbm: -95.0,
        capture_db: 3.0,
        turnaround: us(128),
    });
    antenna.listen(us(0), MHZ);
    antenna
}

/// A frame of 20 bytes with its check sequence, which is also one with its length by either rule.
fn frame(phy: &Phy) -> Vec<u8> {
    let length = 20 - (phy.length.uncounted - phy.header_bytes);
    let data = [2, length as u8].into_iter().chain(2..);
    let mut frame: Vec<u8> = data.take(20 - phy.check.bytes).collect();
    frame.extend(phy.check.of(&frame));
    frame
}

fn arrival(phy: &'static Phy, id: u64, power_dbm: f64) -> Arrival {
    let bytes = phy.sent(&frame(phy)).expect("a right frame");
    let start = Start::of_frame(phy, BEGIN, MHZ, power_dbm);
    Arrival {
        id,
        start,
        byte: phy.byte,
        end: start.delimiter + phy.span(bytes.len()),
        bytes: Arc::new(bytes),
        is_lost: false,
        seed: id,
    }
}

/// Receive what there is, as a radio does: when its last byte was in, and the bytes.
fn receive(antenna: &mut Antenna, phy: &Phy) -> Option<(Picoseconds, Vec<u8>)> {
    let reception = loop {
        let due = antenna.next_event();
        if due == Picoseconds::NEVER {
            return None;
        }
        if let Some(reception) = antenna.advance(due) {
            break reception;
        }
    };
    let first: Vec<u8> = (0..2).map(|place| antenna.byte(place)).collect();
    let sent = phy.sent_bytes(&first).expect("the length is there");
    let bytes = (0..sent).map(|place| antenna.byte(place)).collect();
    let end = reception.byte_end(sent - 1);
    antenna.release(end);
    Some((end, bytes))
}

fn outcome(antenna: &mut Antenna, id: u64) -> Outcome {
    let outcomes = antenna.take_outcomes(us(1_000_000));
    let found = outcomes.into_iter().find(|&(of, _)| of == id);
    found.expect("it has an outcome").1
}

#[test]
fn a_frame_is_received_by_its_phy_alone() {
    for sender in PHYS {
        for receiver in PHYS {
            let mut antenna = antenna(receiver);
            antenna.arrive(arrival(sender, 1, -60.0));
            let received = receive(&mut antenna, receiver);
            let outcome = outcome(&mut antenna, 1);
            if sender == receiver {
                assert_eq!(outcome, Outcome::Received, "{sender:?}");
                assert_eq!(received.unwrap().1, sender.sent(&frame(sender)).unwrap());
            } else {
                assert_eq!(outcome, Outcome::OtherPhy, "{sender:?} at {receiver:?}");
                assert_eq!(received, None);
            }
        }
    }
}

#[test]
fn times_on_the_air_are_those_of_the_phy() {
    // Preamble, delimiter, length and 20 bytes of 32 us; preamble, access address and 20 bytes of
    // 8 us.
    for (phy, on_air) in [(&oqpsk_2450::PHY, us(26 * 32)), (&gfsk_1m::PHY, us(25 * 8))] {
        let mut antenna = antenna(phy);
        antenna.arrive(arrival(phy, 1, -60.0));
        let (end, _) = receive(&mut antenna, phy).expect("it is received");
        assert_eq!(end, BEGIN + on_air, "{phy:?}");
        assert_eq!(phy.span(phy.overhead_bytes() + 20), on_air, "{phy:?}");
    }
}

#[test]
fn another_phy_disturbs_all_the_same() {
    for (received, other) in [(0, 1), (1, 0)] {
        let mut antenna = antenna(PHYS[received]);
        antenna.arrive(arrival(PHYS[received], 1, -80.0));
        antenna.arrive(arrival(PHYS[other], 2, -70.0));
        receive(&mut antenna, PHYS[received]);
        assert_ne!(outcome(&mut antenna, 1), Outcome::Received);
    }
}

#[test]
fn a_receiver_must_hear_what_its_phy_needs_of_the_preamble() {
    for phy in PHYS {
        let latest = BEGIN + phy.synchronisation() - phy.span(phy.acquisition_bytes);
        for (late, expected) in [(0, Outcome::Received), (1, Outcome::Late)] {
            let mut antenna = antenna(phy);
            antenna.deafen(us(0));
            antenna.arrive(arrival(phy, 1, -60.0));
            antenna.listen(latest + Picoseconds(late), MHZ);
            receive(&mut antenna, phy);
            assert_eq!(outcome(&mut antenna, 1), expected, "{phy:?}");
        }
    }
}

/// Lost frames of 20 bytes at the sensitivity, by the error rates that define it: 1% of packets,
/// and 0.1% of bits.
#[test]
fn at_the_sensitivity_as_many_are_lost_as_it_is_defined_by() {
    let oqpsk = 1.0 - (1.0 - oqpsk_2450::PHY.symbol_error_rate(oqpsk_2450::PHY.threshold)).powi(40);
    assert!((oqpsk - 0.01).abs() < 0.0001, "{oqpsk}");
    let gfsk = gfsk_1m::PHY.symbol_error_rate(gfsk_1m::PHY.threshold);
    assert!((gfsk - 0.001).abs() < 0.00001, "{gfsk}");
    // 32 bits of the access address and 160 of the frame: 17.5% have a wrong one.
    let is_lost = |id: &u64| {
        let mut antenna = antenna(&gfsk_1m::PHY);
        antenna.arrive(arrival(&gfsk_1m::PHY, *id, -95.0));
        receive(&mut antenna, &gfsk_1m::PHY);
        outcome(&mut antenna, *id) != Outcome::Received
    };
    let lost = (0..2000).filter(is_lost).count();
    assert!((290..410).contains(&lost), "{lost} of 2000");
}

#[test]
fn check_sequences_are_those_of_the_catalogue() {
    // G. Cook, Catalogue of parametrised CRC algorithms: CRC-16/KERMIT and CRC-24/BLE.
    let checks = [
        (&oqpsk_2450::PHY, vec![0x89, 0x21]),
        (&gfsk_1m::PHY, vec![0x56, 0x5a, 0xc2]),
    ];
    for (phy, check) in checks {
        assert_eq!(phy.check.of(b"123456789"), check, "{phy:?}");
    }
}

#[test]
fn channels_and_frequencies_are_those_of_the_standards() {
    for channel in 0..=255_u8 {
        let oqpsk = (11..=26)
            .contains(&channel)
            .then(|| 2405 + 5 * (u16::from(channel) - 11));
        assert_eq!(oqpsk_2450::PHY.frequency_mhz(channel), oqpsk);
        let place = u16::from(channel);
        let gfsk = match place {
            0..=10 => Some(2404 + 2 * place),
            11..=36 => Some(2406 + 2 * place),
            37 => Some(2402),
            38 => Some(2426),
            39 => Some(2480),
            _ => None,
        };
        assert_eq!(gfsk_1m::PHY.frequency_mhz(channel), gfsk);
        for phy in PHYS {
            if let Some(frequency_mhz) = phy.frequency_mhz(channel) {
                assert_eq!(phy.channel(frequency_mhz), Some(channel));
            }
        }
    }
    assert_eq!(oqpsk_2450::PHY.channel(2406), None);
}

#[test]
fn a_frame_of_the_wrong_length_is_not_sent() {
    assert_eq!(oqpsk_2450::PHY.frame_bytes_max(), 127);
    assert_eq!(gfsk_1m::PHY.frame_bytes_max(), 260);
    assert!(oqpsk_2450::PHY.sent(&[0; 127]).is_ok());
    let wrong = oqpsk_2450::PHY.sent(&[0; 128]).unwrap_err();
    assert!(
        wrong.contains("2 to 127 bytes") && wrong.contains("128"),
        "{wrong}"
    );
    let mut frame = vec![0; 260];
    frame[1] = 255;
    assert!(gfsk_1m::PHY.sent(&frame).is_ok());
    frame[1] = 254;
    assert!(gfsk_1m::PHY.sent(&frame).is_err());
    let unknown = Phy::named("lora").unwrap_err();
    assert!(unknown.contains("gfsk-1m, oqpsk-2450"), "{unknown}");
}
