//! Whatever motes do, neither the threads nor the look-ahead is visible in the results.

use std::hash::{DefaultHasher, Hash, Hasher};

use joulemark_kernel::Picoseconds;
use joulemark_network::{Ahead, Clock, Crystal, Link, Mote, Network, Transmission};
use joulemark_radio::{Antenna, Figures, Reception, Start, oqpsk_2450::PHY};
use proptest::prelude::*;

const TURNAROUND: Picoseconds = Picoseconds(128_000_000);

fn frequency_mhz(channel: u8) -> u16 {
    PHY.frequency_mhz(channel).expect("a channel")
}

const fn us(microseconds: u64) -> Picoseconds {
    Picoseconds(microseconds * 1_000_000)
}

/// A mote that acts at random; its digest covers what it observes.
struct Wild {
    random: u64,
    time: Picoseconds,
    wakes: Picoseconds,
    antenna: Antenna,
    /// When its receiver is ready, and the frequency.
    ready: Option<(Picoseconds, u16)>,
    /// The frame, and the index of the byte whose end is awaited.
    receives: Option<(Reception, usize)>,
    sends: Option<Sending>,
    seen: DefaultHasher,
    received: u32,
    acknowledges: bool,
    is_listening: bool,
    /// Its crystal is off.
    is_off: bool,
}

/// Start-up time of the crystal.
const START_UP: Picoseconds = us(1000);

#[derive(Clone, Copy)]
struct Sending {
    delimiter: Picoseconds,
    length: u8,
    end: Picoseconds,
}

impl Wild {
    fn new(seed: u64, acknowledges: bool) -> Self {
        Self {
            random: seed,
            time: us(0),
            wakes: us(0),
            antenna: Antenna::new(Figures {
                phy: &PHY,
                sensitivity_dbm: -95.0,
                capture_db: 3.0,
                turnaround: TURNAROUND,
            }),
            ready: None,
            receives: None,
            sends: None,
            seen: DefaultHasher::new(),
            received: 0,
            acknowledges,
            is_listening: false,
            is_off: false,
        }
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.random >> 33) % below
    }

    fn radio_event(&self) -> Picoseconds {
        let ready = self.ready.map_or(Picoseconds::NEVER, |(time, _)| time);
        let byte = |(frame, place): (Reception, usize)| frame.byte_end(place);
        let received = self.receives.map_or(Picoseconds::NEVER, byte);
        let sent = self.sends.map_or(Picoseconds::NEVER, |sending| sending.end);
        ready.min(received).min(sent).min(self.antenna.next_event())
    }

    /// The radio's own action at a time.
    fn radio(&mut self, now: Picoseconds) {
        if self.sends.is_some_and(|sending| sending.end == now) {
            self.sends = None;
            // Return to reception after the turnaround.
            self.ready = Some((now + TURNAROUND, frequency_mhz(15)));
            ("sent", now.0).hash(&mut self.seen);
        }
        if let Some((at, frequency)) = self.ready
            && at == now
        {
            self.ready = None;
            self.antenna.listen(now, frequency);
            self.is_listening = true;
        }
        if let Some((frame, place)) = self.receives
            && frame.byte_end(place) == now
        {
            // The length byte tells where the frame ends; unsent bytes are not read.
            let length = usize::from(self.antenna.byte(0) & 0x7f);
            self.receives = Some((frame, length));
            if place == length {
                self.end_of_frame(now, length);
            }
        }
        if let Some(frame) = self.antenna.advance(now) {
            self.receives = Some((frame, 0));
            (frame.id, now.0).hash(&mut self.seen);
        }
    }

    fn end_of_frame(&mut self, now: Picoseconds, length: usize) {
        for place in 0..=length {
            self.antenna.byte(place).hash(&mut self.seen);
        }
        let from = Picoseconds(now.0 - us(128).0);
        let power = self.antenna.power_dbm(frequency_mhz(15), from, now);
        power.to_bits().hash(&mut self.seen);
        self.received += 1;
        self.receives = None;
        self.antenna.release(now);
        if self.acknowledges && self.antenna_free(now) {
            self.transmit(now, 5);
        }
    }

    fn antenna_free(&self, now: Picoseconds) -> bool {
        let is_still = self.sends.is_none() && self.ready.is_none() && !self.is_off;
        is_still && !self.antenna.is_sending(now)
    }

    fn transmit(&mut self, now: Picoseconds, length: u8) {
        let begin = now + TURNAROUND;
        let delimiter = begin + PHY.synchronisation();
        let power_dbm = -f64::from(self.draw(10) as u32);
        self.receives = None;
        self.is_listening = false;
        self.antenna.transmit(
            now,
            Start {
                phy: &PHY,
                begin,
                delimiter,
                frequency_mhz: frequency_mhz(15),
                power_dbm,
                sync: 0,
            },
        );
        let bytes: Vec<u8> = (0..=length)
            .map(|n| {
                if n == 0 {
                    length
                } else {
                    n ^ self.random as u8
                }
            })
            .collect();
        self.antenna.put(0, &bytes);
        let end = delimiter + Picoseconds(PHY.byte.0 * bytes.len() as u64);
        self.antenna.end(end);
        self.sends = Some(Sending {
            delimiter,
            length,
            end,
        });
    }

    /// One instruction.
    fn step(&mut self) {
        let now = self.time;
        (now.0, self.received).hash(&mut self.seen);
        match self.draw(40) {
            0..=2 => self.wakes = now + us(self.draw(6000)),
            3 => self.wakes = now + us(self.draw(60_000)),
            4..=7 if self.is_listening => {
                let power = self.antenna.power_dbm(
                    frequency_mhz(15),
                    Picoseconds(now.0.saturating_sub(us(8).0)),
                    now,
                );
                power.to_bits().hash(&mut self.seen);
            }
            8..=9 if self.antenna_free(now) => {
                let length = self.draw(60) as u8 + 1;
                self.transmit(now, length);
            }
            10..=11 => {
                // Another byte for the frame being sent, ahead of what is on the air.
                if let Some(Sending {
                    delimiter, length, ..
                }) = self.sends
                {
                    let gone = now.0.saturating_sub(delimiter.0).div_ceil(PHY.byte.0) as usize;
                    if gone > 0 && gone <= usize::from(length) {
                        let byte = self.draw(256) as u8;
                        self.antenna.put(gone, &[byte]);
                    }
                }
            }
            12 if self.sends.is_some() => {
                self.sends = None;
                self.antenna.end(now);
                self.ready = Some((now + TURNAROUND, frequency_mhz(15)));
            }
            13 if self.antenna_free(now) => {
                self.receives = None;
                self.antenna.deafen(now);
                self.is_listening = false;
                self.is_off = self.draw(2) == 0;
                self.antenna
                    .needs(if self.is_off { START_UP } else { us(0) });
            }
            14..=19 if self.is_off => {
                self.is_off = false;
                self.antenna.needs(us(0));
                self.ready = Some((now + START_UP, frequency_mhz(15)));
            }
            14..=17 if self.antenna_free(now) => {
                self.receives = None;
                let channel = 15 + self.draw(8) as u8 / 7;
                self.antenna.deafen(now);
                self.is_listening = false;
                self.ready = Some((now + us(192), frequency_mhz(channel)));
            }
            _ => {}
        }
        self.time = now + Picoseconds(self.draw(3_000_000) + 1);
    }
}

impl Mote for Wild {
    fn time(&self) -> Picoseconds {
        self.time
    }

    fn next_event(&self) -> Picoseconds {
        if self.wakes > self.time {
            self.wakes.min(self.radio_event())
        } else {
            self.time.min(self.radio_event())
        }
    }

    fn run(&mut self, until: Picoseconds) -> bool {
        loop {
            // Handle the radio's events until now, each at its own time.
            let is_asleep = self.wakes > self.time;
            let to = if is_asleep {
                self.wakes.min(until.max(self.time))
            } else {
                self.time
            };
            let due = self.radio_event();
            if due <= to {
                self.radio(due);
                if is_asleep {
                    self.time = self.time.max(due);
                    // Received frames may wake it.
                    if self.receives.is_none() && self.draw(2) == 0 {
                        self.wakes = self.time;
                    }
                }
            } else if self.time >= until || self.antenna.take_telling() {
                return true;
            } else if is_asleep {
                self.time = to;
            } else {
                self.step();
            }
        }
    }

    fn longest_step(&self) -> Picoseconds {
        us(3)
    }

    fn with_antenna(&mut self, act: &mut dyn FnMut(&mut Antenna)) -> bool {
        act(&mut self.antenna);
        true
    }
}

#[derive(Clone, Debug)]
struct Town {
    seed: u64,
    motes: Vec<(Clock, bool)>,
    links: Vec<(usize, Link)>,
}

fn towns() -> impl Strategy<Value = Town> {
    (2_usize..6, any::<u64>()).prop_flat_map(|(count, seed)| {
        let clock = (
            0_u64..20_000_000_000,
            -200_000_i32..200_000,
            -50_000_i32..50_000,
        );
        let mote = (clock, any::<bool>()).prop_map(|((start, ppb, drift), acknowledges)| {
            let start = Picoseconds(start);
            (
                Clock {
                    start,
                    crystal: Crystal {
                        ppb,
                        drift_ppb_per_hour: drift,
                    },
                },
                acknowledges,
            )
        });
        let ends = (0..count, 0..count, 30_u32..110, 0_u32..3);
        let link = ends.prop_map(|(from, to, attenuation, loss)| {
            let link = Link {
                to,
                attenuation_db: f64::from(attenuation),
                loss: f64::from(loss) / 10.0,
            };
            (from, link)
        });
        let motes = prop::collection::vec(mote, count);
        let links = prop::collection::vec(link, 1..count * count * 2);
        (motes, links).prop_map(move |(motes, links)| Town { seed, motes, links })
    })
}

/// Everyone's observations, the number of received frames, and the network's digest.
fn run(town: &Town, threads: usize, ahead: Ahead, slices: u64) -> (Vec<u64>, u32, String) {
    let mut network = Network::new(town.seed, threads, ahead).unwrap();
    for (number, &(clock, acknowledges)) in town.motes.iter().enumerate() {
        let seed = town.seed ^ (number as u64) << 32;
        network.add(Wild::new(seed, acknowledges), clock);
    }
    for &(from, link) in town.links.iter().filter(|(from, link)| *from != link.to) {
        network.link(from, link);
    }
    let length = us(300_000);
    for slice in 1..=slices {
        network.run(Picoseconds(length.0 / slices * slice));
        network.take_transmissions(false);
    }
    network.run(length);
    network.take_transmissions(true);
    assert_eq!(network.late(), 0);
    let seen = network.motes().map(|mote| mote.seen.finish()).collect();
    (
        seen,
        network.motes().map(|mote| mote.received).sum(),
        network.digest(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn neither_threads_nor_look_ahead_can_be_seen(town in towns()) {
        let whole = run(&town, 1, Ahead::Full, 1);
        for (threads, ahead, slices) in [
            (2, Ahead::Full, 1),
            (3, Ahead::Part(2), 1),
            (1, Ahead::Part(8), 1),
            (1, Ahead::Part(40), 1),
            (1, Ahead::Full, 7),
        ] {
            let other = run(&town, threads, ahead, slices);
            prop_assert_eq!(&other, &whole, "{} threads, {:?}, {} slices", threads, ahead, slices);
        }
    }
}

#[test]
fn they_do_hear_each_other() {
    let link = |from, to| {
        (
            from,
            Link {
                to,
                attenuation_db: 60.0,
                loss: 0.0,
            },
        )
    };
    let town = Town {
        seed: 1,
        motes: vec![(Clock::default(), true); 3],
        links: vec![link(0, 1), link(1, 0), link(1, 2), link(2, 1)],
    };
    let (_, received, _) = run(&town, 1, Ahead::Full, 1);
    assert!(received > 10, "{received}");
}

#[test]
fn what_is_on_the_air_may_be_taken_at_any_time() {
    // Within frames, which take up to 2 ms, and before announced ones.
    let run = |takes: bool| {
        let mut network = Network::new(1, 2, Ahead::Full).unwrap();
        for seed in 0..3 {
            network.add(Wild::new(seed, true), Clock::default());
        }
        for (from, to) in [(0, 1), (1, 0), (1, 2)] {
            let (attenuation_db, loss) = (60.0, 0.0);
            let link = Link {
                to,
                attenuation_db,
                loss,
            };
            network.link(from, link);
        }
        let (mut taken, mut open) = (Vec::new(), 0);
        for millisecond in 1..400 {
            network.run(us(1000 * millisecond));
            if takes {
                let now = network.take_transmissions(true);
                open += now
                    .iter()
                    .filter(|t| t.end > us(1000 * millisecond))
                    .count();
                taken.extend(now);
            }
        }
        taken.extend(network.take_transmissions(true));
        let mut ids: Vec<u64> = taken.iter().map(Transmission::id).collect();
        ids.sort_unstable();
        let seen: Vec<u64> = network.motes().map(|mote| mote.seen.finish()).collect();
        (seen, ids, open)
    };
    let (seen, ids, _) = run(false);
    let (seen_too, ids_too, open) = run(true);
    assert!(open > 0, "some were taken before their end");
    assert_eq!(seen_too, seen, "nobody who hears it notices");
    assert_eq!(ids_too, ids, "each is taken once");
}

/// A mote that listens from the start, and whose core sleeps until a frame begins.
struct Sleeper {
    time: Picoseconds,
    antenna: Antenna,
    /// Its own time when it noticed the beginning of each frame.
    noticed: Vec<Picoseconds>,
}

impl Sleeper {
    fn new() -> Self {
        let mut antenna = Antenna::new(Figures {
            phy: &PHY,
            sensitivity_dbm: -95.0,
            capture_db: 3.0,
            turnaround: TURNAROUND,
        });
        antenna.listen(us(0), frequency_mhz(15));
        Self {
            time: us(0),
            antenna,
            noticed: Vec::new(),
        }
    }
}

impl Mote for Sleeper {
    fn time(&self) -> Picoseconds {
        self.time
    }

    fn next_event(&self) -> Picoseconds {
        self.antenna.next_event()
    }

    fn run(&mut self, until: Picoseconds) -> bool {
        while self.time < until {
            let due = self.antenna.next_event();
            self.time = self.time.max(due.min(until));
            if due <= self.time && self.antenna.advance(due).is_some() {
                self.noticed.push(self.time);
                self.antenna.release(self.time);
            }
        }
        true
    }

    fn longest_step(&self) -> Picoseconds {
        us(3)
    }

    fn with_antenna(&mut self, act: &mut dyn FnMut(&mut Antenna)) -> bool {
        act(&mut self.antenna);
        true
    }
}

#[test]
fn a_recording_wakes_motes_that_all_sleep() {
    for ahead in [Ahead::Full, Ahead::Part(2)] {
        let mut network = Network::new(1, 1, ahead).unwrap();
        let hearer = network.add(Sleeper::new(), Clock::default());
        let sender = network.add(Sleeper::new(), Clock::default());
        network.link(
            sender,
            Link {
                to: hearer,
                attenuation_db: 60.0,
                loss: 0.0,
            },
        );
        let delimiters = [us(40_000), us(70_000), us(140_000)];
        for delimiter in delimiters {
            let begin = Picoseconds(delimiter.0 - PHY.synchronisation().0);
            let start = Start::of_frame(&PHY, begin, frequency_mhz(15), 0.0);
            network.inject(sender, start, &[5, 1, 2, 3, 4, 5]);
        }
        network.run(us(100_000));
        network.run(us(200_000));
        assert_eq!(network.late(), 0);
        let noticed: Vec<Picoseconds> = network.motes().flat_map(|m| m.noticed.clone()).collect();
        assert_eq!(noticed, delimiters, "{ahead:?}");
    }
}
