//! Reception by an antenna: single frames, overlapping frames, frames while nobody listens.

use std::sync::Arc;

use joulemark_kernel::Picoseconds;
use joulemark_radio::{
    Antenna, Arrival, Emission, Figures, Outcome, Reception, Start, oqpsk_2450::PHY,
};

const FIGURES: Figures = Figures {
    phy: &PHY,
    sensitivity_dbm: -95.0,
    capture_db: 3.0,
    turnaround: Picoseconds(128_000_000),
};
const MHZ: u16 = 2405;

const fn us(microseconds: u64) -> Picoseconds {
    Picoseconds(microseconds * 1_000_000)
}

fn listening() -> Antenna {
    let mut antenna = Antenna::new(FIGURES);
    antenna.listen(us(0), MHZ);
    antenna
}

/// A frame with `length` bytes after its length byte.
fn frame(id: u64, begin: Picoseconds, power_dbm: f64, length: u8) -> Arrival {
    let bytes: Vec<u8> = [length]
        .into_iter()
        .chain((0..length).map(|n| n ^ id as u8))
        .collect();
    let start = Start::of_frame(&PHY, begin, MHZ, power_dbm);
    Arrival {
        id,
        start,
        byte: PHY.byte,
        end: start.delimiter + PHY.span(bytes.len()),
        bytes: Arc::new(bytes),
        is_lost: false,
        seed: id,
    }
}

/// Receive one frame as a radio does, and return it with its bytes.
fn receive(antenna: &mut Antenna) -> Option<(Reception, Vec<u8>)> {
    let reception = loop {
        let due = antenna.next_event();
        if due == Picoseconds::NEVER {
            return None;
        }
        if let Some(reception) = antenna.advance(due) {
            break reception;
        }
    };
    let length = usize::from(antenna.byte(0) & 0x7f);
    let bytes = (0..=length).map(|place| antenna.byte(place)).collect();
    antenna.release(reception.byte_end(length));
    Some((reception, bytes))
}

fn outcomes(antenna: &mut Antenna) -> Vec<(u64, Outcome)> {
    antenna.take_outcomes(us(1_000_000))
}

#[test]
fn a_frame_alone_comes_in_as_it_was_sent_at_its_time() {
    let mut antenna = listening();
    let sent = frame(7, us(1000), -60.0, 20);
    antenna.arrive(sent.clone());
    assert_eq!(antenna.next_event(), us(1160));
    let (reception, bytes) = receive(&mut antenna).unwrap();
    assert_eq!(reception.delimiter, us(1160));
    assert_eq!(reception.byte_end(20), sent.end);
    assert_eq!(bytes, *sent.bytes);
    assert_eq!(outcomes(&mut antenna), [(7, Outcome::Received)]);
}

#[test]
fn whoever_is_not_there_for_the_delimiter_hears_nothing() {
    for (since, outcome) in [(us(1096), Outcome::Received), (us(1097), Outcome::Late)] {
        let mut antenna = Antenna::new(FIGURES);
        antenna.arrive(frame(1, us(1000), -60.0, 5));
        antenna.listen(since, MHZ);
        receive(&mut antenna);
        assert_eq!(outcomes(&mut antenna), [(1, outcome)]);
    }
    let mut off = Antenna::new(FIGURES);
    off.arrive(frame(1, us(1000), -60.0, 5));
    assert_eq!(off.next_event(), Picoseconds::NEVER);
    assert_eq!(outcomes(&mut off), [(1, Outcome::Deaf)]);
    let mut elsewhere = Antenna::new(FIGURES);
    elsewhere.listen(us(0), MHZ + 5);
    elsewhere.arrive(frame(1, us(1000), -60.0, 5));
    assert_eq!(outcomes(&mut elsewhere), [(1, Outcome::OtherChannel)]);
}

#[test]
fn a_frame_on_another_channel_disturbs_from_its_rejection_on() {
    // CC2420, SWRS041C, section 6.3: at these ratios 1% of packets are lost.
    for (offset, rejection_db) in [(5, 45.0), (-5, 30.0), (10, 54.0), (-10, 53.0), (15, 62.0)] {
        let lost = |stronger_db: f64| {
            let is_lost = |id: &u64| {
                let mut antenna = listening();
                antenna.arrive(frame(2 * id, us(1000), -82.0, 20));
                let mut other = frame(2 * id + 1, us(900), -82.0 + stronger_db, 120);
                other.start.frequency_mhz = MHZ.wrapping_add_signed(offset);
                antenna.arrive(other);
                receive(&mut antenna);
                let heard = outcomes(&mut antenna);
                !heard.contains(&(2 * id, Outcome::Received))
            };
            (0..1000).filter(is_lost).count()
        };
        assert_eq!(lost(rejection_db - 3.0), 0, "{offset} MHz");
        let at = lost(rejection_db);
        assert!((3..40).contains(&at), "{offset} MHz: {at} of 1000");
        assert_eq!(lost(rejection_db + 10.0), 1000, "{offset} MHz");
    }
}

#[test]
fn power_on_other_channels_is_seen_behind_the_filter() {
    let mut antenna = listening();
    antenna.arrive(frame(1, us(1000), -20.0, 120));
    let power =
        |offset: i16| antenna.power_dbm(MHZ.wrapping_add_signed(offset), us(1100), us(1200)) + 20.0;
    assert!(power(0).abs() < 0.01);
    // The frame is on a channel above the receiver's: its rejection, plus the co-channel rejection.
    assert!((power(-5) + 45.0 + 3.0).abs() < 0.1, "{}", power(-5));
    assert!((power(5) + 30.0 + 3.0).abs() < 0.1, "{}", power(5));
    assert_eq!(antenna.next_change(MHZ + 5, us(0)), us(1000));
    let mut far = listening();
    far.arrive(frame(1, us(1000), -85.0, 120));
    assert_eq!(
        far.next_change(MHZ + 5, us(0)),
        Picoseconds::NEVER,
        "nobody can see it"
    );
}

#[test]
fn the_stronger_of_two_is_captured_and_the_weaker_is_not_even_noticed() {
    let mut antenna = listening();
    antenna.arrive(frame(1, us(1000), -70.0, 20));
    antenna.arrive(frame(2, us(1010), -60.0, 20));
    assert_eq!(receive(&mut antenna).unwrap().0.id, 2);
    assert_eq!(receive(&mut antenna), None);
    let heard = outcomes(&mut antenna);
    assert_eq!(heard, [(1, Outcome::Collided), (2, Outcome::Received)]);
}

#[test]
fn two_as_strong_destroy_each_other_where_they_overlap() {
    let mut antenna = listening();
    let first = frame(1, us(1000), -60.0, 60);
    antenna.arrive(first.clone());
    antenna.arrive(frame(2, us(1500), -55.0, 20));
    let (_, bytes) = receive(&mut antenna).unwrap();
    let wrong: Vec<usize> = (0..bytes.len())
        .filter(|&n| bytes[n] != first.bytes[n])
        .collect();
    // 500 us to 1332 us after the start, less 160 us of preamble and SFD.
    assert!(wrong.len() > 15, "{wrong:?}");
    assert!(wrong.iter().all(|n| (10..=36).contains(n)), "{wrong:?}");
    assert_eq!(
        outcomes(&mut antenna),
        [(2, Outcome::Busy), (1, Outcome::Corrupted)]
    );
}

#[test]
fn packets_are_lost_as_the_data_sheet_says_at_sensitivity_and_at_the_capture_ratio() {
    let lost_of = |prepare: &dyn Fn(&mut Antenna, u64)| {
        let right = (0..10_000).filter(|&id| {
            let mut antenna = listening();
            prepare(&mut antenna, id);
            receive(&mut antenna).is_some_and(|(_, bytes)| {
                bytes[1..]
                    .iter()
                    .zip(0_u8..)
                    .all(|(&byte, n)| byte == n ^ id as u8)
            })
        });
        10_000 - right.count()
    };
    let weak = lost_of(&|antenna, id| antenna.arrive(frame(id, us(1000), -94.99, 20)));
    assert!((70..150).contains(&weak), "{weak} of 10000");
    let drowned = lost_of(&|antenna, id| {
        antenna.arrive(frame(id, us(1000), -50.0, 20));
        let mut other = frame(id | 1 << 40, us(0), -53.0, 125);
        // Otherwise it would be the one received.
        other.is_lost = true;
        antenna.arrive(other);
    });
    assert!((70..150).contains(&drowned), "{drowned} of 10000");
}

#[test]
fn power_is_averaged_over_the_span() {
    let mut antenna = listening();
    antenna.arrive(frame(1, us(1000), -60.0, 5));
    let near = |power: f64, expected: f64| (power - expected).abs() < 0.01;
    assert!(near(antenna.power_dbm(MHZ, us(1000), us(1128)), -60.0));
    assert!(near(antenna.power_dbm(MHZ, us(936), us(1064)), -63.01));
    assert!(antenna.power_dbm(MHZ, us(0), us(128)) < -95.0);
    assert!(antenna.power_dbm(MHZ + 15, us(1000), us(1128)) < -95.0);
    assert_eq!(antenna.next_change(MHZ, us(0)), us(1000));
    assert_eq!(antenna.next_change(MHZ, us(1000)), us(1352));
}

#[test]
fn what_its_sender_stops_ends_in_noise() {
    let mut antenna = listening();
    let mut cut = frame(1, us(1000), -60.0, 100);
    cut.end = us(2000);
    antenna.arrive(cut.clone());
    let (_, bytes) = receive(&mut antenna).unwrap();
    let whole = (2000 - 1160) / 32;
    assert_eq!(bytes[..whole], cut.bytes[..whole]);
    assert_ne!(bytes[whole..], cut.bytes[whole..]);
    assert_eq!(outcomes(&mut antenna), [(1, Outcome::Corrupted)]);
}

#[test]
fn emissions_are_for_whoever_takes_them() {
    let mut antenna = Antenna::new(FIGURES);
    let start = frame(0, us(192), 0.0, 5).start;
    antenna.transmit(us(0), start);
    assert_eq!(antenna.take_emissions(), []);
    antenna.attach();
    antenna.end(us(10));
    antenna.transmit(us(20), start);
    antenna.put(0, &[5, 1]);
    antenna.end(us(500));
    assert!(antenna.is_sending(us(499)) && !antenna.is_sending(us(500)));
    let emitted = antenna.take_emissions();
    let expected = [
        Emission::End(us(10)),
        Emission::Start(start),
        Emission::Bytes(0, vec![5, 1]),
        Emission::End(us(500)),
    ];
    assert_eq!(emitted, expected);
}
