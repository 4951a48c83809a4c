//! A radio's interface to the medium.

use std::sync::Arc;

use joulemark_kernel::Picoseconds;

use crate::phy::NEGLIGIBLE;
use crate::{Arrival, Emission, Outcome, Phy, Start};

/// Properties of a receiver that its antenna needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// The PHY that it receives.
    pub phy: &'static Phy,
    /// The lowest power that counts as received, as data sheets state it for the PHY: where 1% of
    /// packets are lost, or 0.1% of bits.
    pub sensitivity_dbm: f64,
    /// How much stronger than another frame on its channel a frame must be for the same
    /// errors. Data sheets state it with the opposite sign, as co-channel rejection.
    pub capture_db: f64,
    /// The synthesizer's shortest turnaround: the least time from a radio's action to its effect on
    /// the air, and from the end of transmission to reception.
    pub turnaround: Picoseconds,
}

/// Power leaking from other channels is noticed from this fraction of the noise on.
const NOTICEABLE: f64 = 0.01;

/// How long an antenna remembers ended transmissions, for averages.
pub const MEMORY: Picoseconds = Picoseconds(1_000_000_000);

/// Tolerance between the end of a transmission and that of its last byte, which are converted
/// separately from the sender's time.
const ROUNDING: Picoseconds = Picoseconds(1000);

/// A frame being received.
#[derive(Clone, Copy, Debug)]
struct Lock {
    id: u64,
    since: Picoseconds,
}

/// The state of a frame being received.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reception {
    /// The transmission.
    pub id: u64,
    /// The end of its delimiter.
    pub delimiter: Picoseconds,
    /// Duration of a byte.
    pub byte: Picoseconds,
    /// Its power at the antenna.
    pub power_dbm: f64,
}

impl Reception {
    /// When the byte at an index after the delimiter is complete.
    pub const fn byte_end(&self, place: usize) -> Picoseconds {
        Picoseconds(self.delimiter.0 + self.byte.0 * (place as u64 + 1))
    }
}

/// An arrival, and whether its outcome is known.
#[derive(Clone, Debug)]
struct Heard {
    arrival: Arrival,
    power_mw: f64,
    is_decided: bool,
}

/// A radio's interface to the medium.
///
/// The radio calls [`Antenna::transmit`], [`Antenna::listen`] and the like; the medium calls
/// [`Antenna::take_emissions`], [`Antenna::arrive`] and the like.
#[derive(Debug)]
pub struct Antenna {
    figures: Figures,
    noise_mw: f64,
    capture_mw: f64,
    /// Power on another channel as a fraction of the equivalent power on the receiver's own: for
    /// the offsets of [`Phy::rejection_db`], then for all others.
    leaks: Vec<f64>,
    is_attached: bool,
    /// It was told to send, and the machine has not been told that.
    is_telling: bool,
    start_up: Picoseconds,
    emissions: Vec<Emission>,
    /// The end of its own transmission.
    sending: Option<Picoseconds>,
    /// The frequency that it is tuned to, and since when it listens.
    tuned: Option<(u16, Picoseconds)>,
    /// The synchronisation word that it looks for, as in [`Start::sync`].
    sync: u32,
    lock: Option<Lock>,
    /// Frames whose delimiter ended before this can no longer be found.
    searched: Picoseconds,
    heard: Vec<Heard>,
    outcomes: Vec<(u64, Outcome)>,
}

/// Convert a span of at most a few milliseconds, for averages.
fn milliseconds(from: Picoseconds, to: Picoseconds) -> f64 {
    f64::from(u32::try_from((to - from).0 / 1000).unwrap_or(u32::MAX)) / 1e6
}

fn milliwatts(dbm: f64) -> f64 {
    libm::pow(10.0, dbm / 10.0)
}

fn dbm(milliwatts: f64) -> f64 {
    10.0 * libm::log10(milliwatts)
}

/// A pseudo-random 64-bit number: the finalizer of `SplitMix64` (Steele, Lea and Flood, Fast
/// splittable pseudorandom number generators, 2014).
fn mix(seed: u64, number: u64) -> u64 {
    let mut x = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// A number from 0 (inclusive) to 1 (exclusive).
fn fraction(bits: u64) -> f64 {
    f64::from((bits >> 32) as u32) / (f64::from(u32::MAX) + 1.0)
}

/// A receiver's noise, the strength by which a frame captures it, and what leaks from other
/// channels.
fn strengths(figures: &Figures) -> (f64, f64, Vec<f64>) {
    let leak = |rejection_db: f64| milliwatts(-rejection_db - figures.capture_db);
    let phy = figures.phy;
    let rejections = phy
        .rejection_db
        .iter()
        .map(|&(_, rejection_db)| rejection_db);
    (
        milliwatts(figures.sensitivity_dbm) / phy.threshold,
        milliwatts(figures.capture_db),
        rejections.chain([phy.further_db]).map(leak).collect(),
    )
}

impl Antenna {
    /// Make an antenna without arrivals, not attached to a medium.
    pub fn new(figures: Figures) -> Self {
        let (noise_mw, capture_mw, leaks) = strengths(&figures);
        Self {
            figures,
            noise_mw,
            capture_mw,
            leaks,
            is_attached: false,
            is_telling: false,
            start_up: Picoseconds(0),
            emissions: Vec::new(),
            sending: None,
            tuned: None,
            sync: 0,
            lock: None,
            searched: Picoseconds(0),
            heard: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    /// Its parameters.
    pub const fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Change its parameters, for a radio that knows several PHYs and is not listening.
    pub fn set_figures(&mut self, figures: Figures) {
        debug_assert!(self.tuned.is_none(), "a receiver keeps its PHY");
        if figures != self.figures {
            (self.noise_mw, self.capture_mw, self.leaks) = strengths(&figures);
            self.figures = figures;
        }
    }

    /// Look for this synchronisation word, as in [`Start::sync`].
    pub const fn set_sync(&mut self, sync: u32) {
        self.sync = sync;
    }

    // ---- For the radio.

    /// Declare how long the radio must start up before it can be told to send, for example while
    /// its crystal is off. This holds until the next call, and lets the network leave the radio
    /// alone for longer.
    pub const fn needs(&mut self, start_up: Picoseconds) {
        self.start_up = start_up;
    }

    /// Announce a transmission, when the radio is told to send. It must begin at least
    /// [`Figures::turnaround`] from now. The radio hears nothing until it ends.
    pub fn transmit(&mut self, now: Picoseconds, start: Start) {
        debug_assert!(start.begin >= now + self.look_ahead(), "sent too soon");
        self.deafen(now);
        self.sending = Some(Picoseconds::NEVER);
        self.emit(Emission::Start(start));
        self.is_telling = self.is_attached;
    }

    /// Supply the transmission's bytes after the delimiter, from an index on. The radio appends
    /// the check sequence. A byte must be supplied by the time its first symbol is sent, and may be
    /// replaced until then.
    pub fn put(&mut self, place: usize, bytes: &[u8]) {
        self.emit(Emission::Bytes(place, bytes.to_vec()));
    }

    /// End the transmission at a time that is not in the past: after its last byte, as soon as the
    /// length is known, or earlier if it is stopped. A transmission stopped before it begins ends
    /// at the time of the stop.
    pub fn end(&mut self, at: Picoseconds) {
        self.sending = Some(at);
        self.emit(Emission::End(at));
    }

    /// Whether a transmission is announced or on the air.
    pub fn is_sending(&self, now: Picoseconds) -> bool {
        self.sending.is_some_and(|end| end > now)
    }

    /// Listen on a frequency from now on. On the same frequency as before, this only abandons a
    /// frame being received.
    pub fn listen(&mut self, now: Picoseconds, frequency_mhz: u16) {
        debug_assert!(
            !self.is_sending(now),
            "a radio hears nothing while it sends"
        );
        self.leave(now);
        let since = match self.tuned {
            Some((tuned, since)) if tuned == frequency_mhz => since,
            _ => now,
        };
        self.tuned = Some((frequency_mhz, since));
    }

    /// Stop listening.
    pub fn deafen(&mut self, now: Picoseconds) {
        self.leave(now);
        self.tuned = None;
    }

    /// When the next delimiter may be found; the radio then calls [`Antenna::advance`].
    pub fn next_event(&self) -> Picoseconds {
        let Some((frequency, since)) = self.tuned.filter(|_| self.lock.is_none()) else {
            return Picoseconds::NEVER;
        };
        let arrivals = self.heard.iter().filter(|heard| !heard.is_decided);
        arrivals
            .map(|heard| &heard.arrival.start)
            .filter(|start| start.frequency_mhz == frequency && start.phy == self.figures.phy)
            .filter(|start| start.sync == self.sync)
            .filter(|start| start.delimiter != Picoseconds::NEVER)
            .filter(|start| start.delimiter >= (since + self.acquisition()).max(self.searched))
            .map(|start| start.delimiter)
            .min()
            .unwrap_or(Picoseconds::NEVER)
    }

    /// Look for a delimiter that ends now. If one is found, its frame is being received until
    /// [`Antenna::release`], [`Antenna::listen`] or [`Antenna::deafen`].
    pub fn advance(&mut self, now: Picoseconds) -> Option<Reception> {
        let (frequency, since) = self.tuned.filter(|_| self.lock.is_none())?;
        if now < since + self.acquisition() {
            return None;
        }
        for number in 0..self.heard.len() {
            let Heard {
                arrival,
                is_decided,
                ..
            } = &self.heard[number];
            let start = arrival.start;
            if *is_decided
                || start.delimiter != now
                || start.frequency_mhz != frequency
                || start.phy != self.figures.phy
                || start.sync != self.sync
            {
                continue;
            }
            let from = Picoseconds(now.0 - self.acquisition().0);
            let outcome = if arrival.end < now {
                // Its sender stopped during the preamble.
                Some(Outcome::Deaf)
            } else if arrival.is_lost {
                Some(Outcome::Lost)
            } else if !self.is_found(number, self.noise_mw) {
                Some(Outcome::Weak)
            } else {
                let is_found = self.is_found(number, self.noise_at(number, from, now));
                (!is_found).then_some(Outcome::Collided)
            };
            let id = arrival.id;
            if let Some(outcome) = outcome {
                self.decide(number, outcome);
                continue;
            }
            self.heard[number].is_decided = true;
            self.lock = Some(Lock { id, since: now });
            break;
        }
        self.searched = Picoseconds(now.0 + 1);
        self.reception()
    }

    /// The frame being received.
    pub fn reception(&self) -> Option<Reception> {
        let heard = &self.heard[self.locked()?];
        Some(Reception {
            id: heard.arrival.id,
            delimiter: heard.arrival.start.delimiter,
            byte: heard.arrival.byte,
            power_dbm: heard.arrival.start.power_dbm,
        })
    }

    /// A byte of the frame being received, by its index after the delimiter. After the end of the
    /// transmission there is noise.
    ///
    /// # Panics
    /// Nothing is being received.
    pub fn byte(&self, place: usize) -> u8 {
        let Some(number) = self.locked() else {
            panic!("nothing is being received");
        };
        self.byte_of(number, place)
    }

    /// The signal to noise and interference ratio in dB of the frame being received, over the first
    /// four bytes after the delimiter; 0 dB is at the sensitivity.
    ///
    /// # Panics
    /// Nothing is being received.
    pub fn margin_db(&self) -> f64 {
        let Some(number) = self.locked() else {
            panic!("nothing is being received");
        };
        let arrival = &self.heard[number].arrival;
        let (from, to) = (arrival.byte_begin(0), arrival.byte_begin(4));
        10.0 * libm::log10(self.ratio(number, from, to) / self.figures.phy.threshold)
    }

    /// Stop receiving a frame, because its last byte is in or the radio gives it up, and look for
    /// the next.
    pub fn release(&mut self, now: Picoseconds) {
        self.leave(now);
    }

    /// The mean power of everything on a frequency, including noise, over a span from a microsecond
    /// to a second. It is not meaningful for a radio that is sending, or has sent within its
    /// turnaround.
    pub fn power_dbm(&self, frequency_mhz: u16, from: Picoseconds, to: Picoseconds) -> f64 {
        let span = milliseconds(from, to);
        let on_air = self.heard.iter().filter_map(|heard| {
            let Arrival { start, end, .. } = heard.arrival;
            let (begin, end) = (start.begin.max(from), end.min(to));
            let power_mw = self.power_on(heard, frequency_mhz);
            (end > begin).then(|| power_mw * milliseconds(begin, end) / span)
        });
        dbm(self.noise_mw + on_air.sum::<f64>())
    }

    /// When a transmission on a frequency next begins or ends, for a radio that shows the power on
    /// a pin; [`Picoseconds::NEVER`] if none does.
    pub fn next_change(&self, frequency_mhz: u16, after: Picoseconds) -> Picoseconds {
        let on = self.heard.iter().filter(|heard| {
            heard.arrival.start.frequency_mhz == frequency_mhz
                || self.power_on(heard, frequency_mhz) > self.noise_mw * NOTICEABLE
        });
        on.flat_map(|heard| [heard.arrival.start.begin, heard.arrival.end])
            .filter(|&time| time > after)
            .min()
            .unwrap_or(Picoseconds::NEVER)
    }

    // ---- For the medium.

    /// Collect emissions from now on.
    pub const fn attach(&mut self) {
        self.is_attached = true;
    }

    /// The time before which no action from now on is on the air.
    pub const fn look_ahead(&self) -> Picoseconds {
        Picoseconds(self.figures.turnaround.0 + self.start_up.0)
    }

    /// Whether its radio is not listening, so that arrivals do not affect it.
    pub const fn is_deaf(&self) -> bool {
        self.tuned.is_none()
    }

    /// Whether the radio was told to send since [`Antenna::take_emissions`].
    pub fn has_announced(&self) -> bool {
        let is_start = |emission: &Emission| matches!(emission, Emission::Start(_));
        self.emissions.iter().any(is_start)
    }

    /// Whether the radio was told to send, for the machine that it is in: its run ends then, so that
    /// others can answer. This clears the mark.
    pub const fn take_telling(&mut self) -> bool {
        std::mem::replace(&mut self.is_telling, false)
    }

    /// Take the radio's actions since the last call, in order.
    pub fn take_emissions(&mut self) -> Vec<Emission> {
        std::mem::take(&mut self.emissions)
    }

    /// Add a transmission that this antenna may hear.
    pub fn arrive(&mut self, arrival: Arrival) {
        // Keep a fixed order, so that sums of powers do not depend on the order of calls.
        let order = |arrival: &Arrival| (arrival.start.begin, arrival.id);
        let place = self
            .heard
            .iter()
            .rposition(|heard| order(&heard.arrival) < order(&arrival));
        let heard = Heard {
            power_mw: milliwatts(arrival.start.power_dbm),
            arrival,
            is_decided: false,
        };
        self.heard.insert(place.map_or(0, |place| place + 1), heard);
    }

    /// Update a transmission's bytes and end.
    pub fn amend(&mut self, id: u64, bytes: &Arc<Vec<u8>>, end: Picoseconds) {
        let mut all = self.heard.iter_mut().map(|heard| &mut heard.arrival).rev();
        if let Some(arrival) = all.find(|arrival| arrival.id == id) {
            arrival.bytes = Arc::clone(bytes);
            arrival.end = end;
        }
    }

    /// Take the outcomes known at a time until which the radio has run: transmission ids and
    /// outcomes.
    pub fn take_outcomes(&mut self, now: Picoseconds) -> Vec<(u64, Outcome)> {
        self.settle(now);
        // Keep what overlaps the frame being received, because it affects that frame's bytes.
        let begin = self
            .locked()
            .map(|number| self.heard[number].arrival.start.begin);
        let since = begin.map_or(now, |begin| begin.min(now));
        self.heard.retain(|heard| {
            !heard.is_decided || heard.arrival.end.0.saturating_add(MEMORY.0) > since.0
        });
        std::mem::take(&mut self.outcomes)
    }

    // ---- Internal.

    /// How long a receiver must have listened before a delimiter ends.
    const fn acquisition(&self) -> Picoseconds {
        let phy = self.figures.phy;
        phy.span(phy.acquisition_bytes)
    }

    fn emit(&mut self, emission: Emission) {
        if self.is_attached {
            self.emissions.push(emission);
        }
    }

    fn decide(&mut self, number: usize, outcome: Outcome) {
        self.heard[number].is_decided = true;
        self.outcomes.push((self.heard[number].arrival.id, outcome));
    }

    /// Determine the outcomes of frames whose delimiters have passed; the radio's state has been
    /// the same since the last change.
    fn settle(&mut self, now: Picoseconds) {
        for number in 0..self.heard.len() {
            let Heard {
                arrival,
                is_decided,
                ..
            } = &self.heard[number];
            let start = arrival.start;
            // A carrier without frames has no delimiter: its end decides.
            let decisive = match start.delimiter {
                Picoseconds::NEVER => arrival.end,
                delimiter => delimiter,
            };
            if *is_decided || decisive >= now {
                continue;
            }
            let outcome = match self.tuned {
                None => Outcome::Deaf,
                Some((frequency, _)) if frequency != start.frequency_mhz => Outcome::OtherChannel,
                Some(_) if start.phy != self.figures.phy => Outcome::OtherPhy,
                Some(_) if start.sync != self.sync => Outcome::OtherSync,
                Some((_, since)) if start.delimiter < since + self.acquisition() => Outcome::Late,
                Some(_) if self.lock.is_some_and(|lock| lock.since <= start.delimiter) => {
                    Outcome::Busy
                }
                Some(_) => Outcome::Late,
            };
            self.decide(number, outcome);
        }
    }

    /// Stop receiving, before the radio's state changes.
    fn leave(&mut self, now: Picoseconds) {
        self.settle(now);
        let locked = self.locked();
        if let (Some(number), Some(lock)) = (locked, self.lock.take()) {
            let arrival = &self.heard[number].arrival;
            let sent = self.figures.phy.sent_bytes(&arrival.bytes).unwrap_or(1);
            // Bytes that have not arrived may still change.
            let is_in = |&place: &usize| arrival.byte_begin(place + 1) <= now;
            let mut places = (0..sent).take_while(is_in);
            let is_right = |place| arrival.bytes.get(place) == Some(&self.byte_of(number, place));
            let outcome = if !places.all(is_right) {
                Outcome::Corrupted
            } else if arrival.byte_begin(sent) <= now {
                Outcome::Received
            } else {
                Outcome::Abandoned
            };
            self.outcomes.push((lock.id, outcome));
        }
        self.searched = self.searched.max(now);
    }

    fn locked(&self) -> Option<usize> {
        let id = self.lock?.id;
        self.heard.iter().position(|heard| heard.arrival.id == id)
    }

    /// A frame's effective power on a frequency.
    fn power_on(&self, heard: &Heard, frequency_mhz: u16) -> f64 {
        let above = i32::from(heard.arrival.start.frequency_mhz) - i32::from(frequency_mhz);
        if above == 0 {
            return heard.power_mw;
        }
        let mut offsets = self.figures.phy.rejection_db.iter();
        let place = offsets.position(|&(offset, _)| offset == above);
        heard.power_mw * self.leaks[place.unwrap_or(self.leaks.len() - 1)]
    }

    /// Noise plus interference to an arrival over a span, with interference weighted as noise of
    /// the same effect.
    fn noise_at(&self, number: usize, from: Picoseconds, to: Picoseconds) -> f64 {
        let frequency = self.heard[number].arrival.start.frequency_mhz;
        let others = self.heard.iter().enumerate().filter(|&(other, heard)| {
            let Arrival { start, end, .. } = heard.arrival;
            other != number && start.begin < to && end > from
        });
        let interference: f64 = others
            .map(|(_, heard)| self.power_on(heard, frequency))
            .sum();
        self.noise_mw + interference * self.capture_mw / self.figures.phy.threshold
    }

    fn ratio(&self, number: usize, from: Picoseconds, to: Picoseconds) -> f64 {
        self.heard[number].power_mw / self.noise_at(number, from, to)
    }

    /// Whether the synchronisation symbols are received correctly in this noise.
    fn is_found(&self, number: usize, noise_mw: f64) -> bool {
        let Heard {
            arrival, power_mw, ..
        } = &self.heard[number];
        let phy = self.figures.phy;
        let error = phy.symbol_error_rate(power_mw / noise_mw);
        let symbols = self.acquisition().0 / phy.symbol().0;
        let mut draws = (0..symbols).map(|symbol| fraction(mix(!arrival.seed, symbol)));
        error < NEGLIGIBLE || draws.all(|draw| draw >= error)
    }

    fn byte_of(&self, number: usize, place: usize) -> u8 {
        let arrival = &self.heard[number].arrival;
        let begin = arrival.byte_begin(place);
        let end = arrival.byte_begin(place + 1);
        let sent = arrival
            .bytes
            .get(place)
            .copied()
            .filter(|_| end.0 <= arrival.end.0.saturating_add(ROUNDING.0));
        let Some(sent) = sent else {
            return mix(arrival.seed, place as u64) as u8;
        };
        let bits = self.figures.phy.symbol_bits as usize;
        let symbols = 8 / bits;
        let at =
            |symbol: usize| Picoseconds(begin.0 + arrival.byte.0 * symbol as u64 / symbols as u64);
        (0..symbols).fold(0, |byte, symbol| {
            let sent = sent >> (bits * symbol) & ((1 << bits) - 1) as u8;
            let number_of_symbol = symbols * place + symbol;
            let received = self.symbol(number, number_of_symbol, sent, at(symbol), at(symbol + 1));
            byte | received << (bits * symbol)
        })
    }

    /// A symbol as received.
    fn symbol(
        &self,
        number: usize,
        place: usize,
        sent: u8,
        from: Picoseconds,
        to: Picoseconds,
    ) -> u8 {
        let error = self
            .figures
            .phy
            .symbol_error_rate(self.ratio(number, from, to));
        let bits = mix(self.heard[number].arrival.seed, place as u64);
        if error < NEGLIGIBLE || fraction(bits) >= error {
            return sent;
        }
        // One of the others.
        let last = (1 << self.figures.phy.symbol_bits) - 1;
        (sent + 1 + (mix(bits, 0) % last) as u8) & last as u8
    }
}
