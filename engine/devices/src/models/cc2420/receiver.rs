//! Reception: delimiters, bytes, power, clear channel assessment.

use joulemark_kernel::Picoseconds;
use joulemark_radio::oqpsk_2450::PHY;

use super::addresses::{self, Verdict};
use super::engine::Operation;
use super::registers;
use super::{CALIBRATION, Cc2420, State, bytes, symbols};

/// `RSSI_OFFSET`, approximately (section 23).
const RSSI_OFFSET_DB: f64 = -45.0;
/// Averaging time of RSSI (section 6.4).
const RSSI_AVERAGE: Picoseconds = symbols(8);

/// The correlation reported for the weakest and the best frames (section 24), and, inferred, its
/// increase per dB.
const CORRELATION_MIN: f64 = 50.0;
const CORRELATION_MAX: f64 = 110.0;
const CORRELATION_PER_DB: f64 = 6.0;

/// The longest header that address recognition examines: length, frame control, sequence number,
/// two PAN identifiers, two extended addresses.
const HEADER_BYTES: usize = 24;

/// An incoming frame. Pins and FIFO see its bytes `latency` after they were sent.
#[derive(Debug)]
pub(super) struct Incoming {
    /// The end of the SFD, as the receiver signals it.
    pub(super) delimiter: Picoseconds,
    pub(super) byte: Picoseconds,
    /// Bytes received, including the length byte.
    pub(super) received: usize,
    pub(super) length: usize,
    /// The bytes that address recognition needs.
    pub(super) header: Vec<u8>,
    pub(super) verdict: Verdict,
    pub(super) crc: u32,
    pub(super) rssi: u8,
    pub(super) correlation: u8,
    /// SACK or SACKPEND was strobed during reception.
    pub(super) is_acknowledged: bool,
}

impl Incoming {
    fn byte_end(&self, place: usize) -> Picoseconds {
        Picoseconds(self.delimiter.0 + self.byte.0 * (place as u64 + 1))
    }
}

impl Cc2420 {
    pub(super) fn is_rssi_valid(&self, now: Picoseconds) -> bool {
        self.state.is_hearing() && now >= self.rx_since + RSSI_AVERAGE
    }

    /// The end of the last whole symbol since the receiver was turned on.
    pub(super) fn last_symbol(&self, now: Picoseconds) -> Picoseconds {
        Picoseconds(now.0 - (now.0 - self.rx_since.0) % PHY.symbol().0)
    }

    pub(super) fn rssi_over(&self, from: Picoseconds, to: Picoseconds) -> i8 {
        let dbm = self.antenna.power_dbm(self.frequency_mhz(), from, to);
        (dbm - RSSI_OFFSET_DB).round() as i8
    }

    /// `RSSI_VAL`, updated with each symbol.
    pub(super) fn rssi(&self, now: Picoseconds) -> i8 {
        if !self.is_rssi_valid(now) {
            return i8::MIN;
        }
        let to = self.last_symbol(now);
        self.rssi_over(to - RSSI_AVERAGE, to)
    }

    /// Update clear channel assessment (section 25).
    pub(super) fn assess(&mut self, now: Picoseconds) {
        if !self.is_rssi_valid(now) {
            self.is_clear = false;
            return;
        }
        let control = self.register(registers::MDMCTRL0);
        let mode = control >> 6 & 3;
        let threshold = i16::from((self.register(registers::RSSI) >> 8) as i8);
        let hysteresis = (control >> 8 & 7) as i16;
        let is_idle = self.state != State::RxFrame;
        if mode == 2 {
            self.is_clear = is_idle;
            return;
        }
        let rssi = i16::from(self.rssi(now));
        let is_receiving = mode == 3 && !is_idle;
        if rssi >= threshold || is_receiving {
            self.is_clear = false;
        } else if rssi < threshold - hysteresis {
            self.is_clear = true;
        }
    }

    /// When clear channel assessment may next change: at the next symbol, if the power changed
    /// within the averaging time.
    pub(super) fn next_assessment(&self, now: Picoseconds) -> Picoseconds {
        if !self.state.is_hearing() {
            return Picoseconds::NEVER;
        }
        let valid = self.rx_since + RSSI_AVERAGE;
        if now < valid {
            return valid;
        }
        let last = self.last_symbol(now);
        let change = self
            .antenna
            .next_change(self.frequency_mhz(), last - RSSI_AVERAGE);
        if change == Picoseconds::NEVER {
            return change;
        }
        let symbols = change
            .0
            .saturating_sub(self.rx_since.0)
            .div_ceil(PHY.symbol().0);
        let after = Picoseconds(self.rx_since.0 + symbols * PHY.symbol().0);
        after.max(last + PHY.symbol())
    }

    /// Search for frames, unless the FIFO must be flushed first.
    pub(super) fn search(&mut self, now: Picoseconds) {
        self.incoming = None;
        self.is_sfd = false;
        if self.is_overflown {
            self.antenna.deafen(now);
            self.enter(State::RxOverflow, now);
        } else {
            self.antenna.listen(now, self.frequency_mhz());
            self.enter(State::RxSearch, now);
        }
    }

    pub(super) fn calibrate_rx(&mut self, now: Picoseconds) {
        self.enter(State::RxCalibrate, now);
        self.due = now + CALIBRATION;
    }

    /// Handle the end of an SFD, if one ends now.
    pub(super) fn find_delimiter(&mut self, now: Picoseconds) {
        let Some(reception) = self.antenna.advance(now) else {
            return;
        };
        if !self.is_compliant() {
            self.antenna.release(now);
            return;
        }
        self.incoming = Some(Incoming {
            delimiter: reception.delimiter + self.latency,
            byte: reception.byte,
            received: 0,
            length: 0,
            header: Vec::new(),
            verdict: Verdict::Needs(2),
            crc: 0,
            rssi: 0,
            correlation: 0,
            is_acknowledged: false,
        });
    }

    /// Start to receive a frame after its SFD.
    pub(super) fn begin_frame(&mut self, now: Picoseconds) {
        let is_decoded = self.has(registers::MDMCTRL0, registers::ADR_DECODE);
        if let Some(incoming) = self.incoming.as_mut().filter(|_| !is_decoded) {
            incoming.verdict = Verdict::Accepted;
        }
        self.fifo.begin(!is_decoded);
        // SACK and SACKPEND apply to the last frame, even if that is for another device.
        self.acknowledgeable = None;
        self.is_sfd = true;
        self.enter(State::RxFrame, now);
    }

    /// Whether the synchronisation word is the standard's (section 16.1).
    pub(super) const fn is_compliant(&self) -> bool {
        let word = self.register(registers::SYNCWORD);
        word >> 8 == 0xa7 && matches!(word & 15, 0 | 15) && matches!(word >> 4 & 15, 0 | 15)
    }

    /// When the incoming frame next changes a pin or a state.
    pub(super) fn next_byte(&self) -> Picoseconds {
        let Some(incoming) = &self.incoming else {
            return Picoseconds::NEVER;
        };
        if self.state == State::RxSearch {
            return incoming.delimiter;
        }
        if self.state != State::RxFrame {
            return Picoseconds::NEVER;
        }
        let received = incoming.received;
        if received == 0 {
            return incoming.byte_end(0);
        }
        let operation = self.operation.as_ref();
        if operation.is_some_and(Operation::receives) {
            // Each byte undergoes the operation as it arrives.
            return incoming.byte_end(received);
        }
        let mut place = incoming.length.min(received + self.fifo.room());
        match incoming.verdict {
            Verdict::Needs(needed) => place = place.min(needed),
            Verdict::Accepted => {
                let missing = self.fifo.missing(self.threshold());
                if missing > 0 {
                    place = place.min(received + missing - 1);
                }
            }
            Verdict::Rejected => {}
        }
        incoming.byte_end(place.max(received))
    }

    /// Take the bytes received until now.
    pub(super) fn take_bytes(&mut self, now: Picoseconds) {
        while self.state == State::RxFrame
            && let Some(incoming) = &self.incoming
            && incoming.byte_end(incoming.received) <= now
        {
            self.take_byte(now);
        }
    }

    pub(super) fn take_byte(&mut self, now: Picoseconds) {
        let has_check = self.has(registers::MDMCTRL0, registers::AUTOCRC);
        let Some(incoming) = &mut self.incoming else {
            return;
        };
        let place = incoming.received;
        let byte = self.antenna.byte(place);
        if self.fifo.room() == 0 {
            self.is_overflown = true;
            self.search(now);
            return;
        }
        incoming.received += 1;
        if place == 0 {
            incoming.length = usize::from(byte & PHY.length.mask);
        } else {
            incoming.crc = PHY.check.update(incoming.crc, &[byte]);
        }
        let length = incoming.length;
        // Both are measured over the first eight symbols after the SFD (sections 16.4 and 24).
        if place == 3.min(length.saturating_sub(1)) {
            let from = incoming.delimiter - self.latency;
            let to = from + bytes(place + 1);
            let correlation = CORRELATION_MIN + CORRELATION_PER_DB * self.antenna.margin_db();
            let correlation = correlation.clamp(CORRELATION_MIN, CORRELATION_MAX) as u8;
            let rssi = self.rssi_over(from, to) as u8;
            if let Some(incoming) = &mut self.incoming {
                (incoming.rssi, incoming.correlation) = (rssi, correlation);
            }
        }
        let Some(incoming) = &mut self.incoming else {
            return;
        };
        let is_right = incoming.crc == 0 && length >= 2;
        let stored = match length - place.min(length) {
            0 if has_check && place > 0 => incoming.correlation | u8::from(is_right) << 7,
            1 if has_check && place > 0 => incoming.rssi,
            _ => byte,
        };
        self.fifo.push(&mut self.memory, stored);
        if incoming.header.len() < HEADER_BYTES && (place == 0 || place + 2 <= length) {
            incoming.header.push(byte);
        }
        if let Verdict::Needs(needed) = incoming.verdict
            && incoming.header.len() > needed
        {
            incoming.verdict =
                addresses::recognise(&incoming.header, &self.memory, &self.registers);
        }
        if place >= length && matches!(incoming.verdict, Verdict::Needs(_)) {
            // It ended before its addresses.
            incoming.verdict = Verdict::Rejected;
        }
        match incoming.verdict {
            Verdict::Needs(_) => {}
            Verdict::Accepted => self.fifo.accept(),
            Verdict::Rejected => return self.reject(now),
        }
        if place >= length {
            self.finish_frame(now, is_right);
        }
        self.poll_stream(now);
    }

    /// Ignore the rest of a frame for another device (section 18).
    pub(super) fn reject(&mut self, now: Picoseconds) {
        let incoming = self.incoming.take();
        let end = incoming.map_or(now, |incoming| incoming.byte_end(incoming.length));
        self.fifo.reject();
        if end > now {
            self.is_sfd = false;
            self.enter(State::RxWait, now);
            self.due = end;
        } else {
            self.search(now);
        }
    }

    pub(super) fn finish_frame(&mut self, now: Picoseconds, is_right: bool) {
        let Some(incoming) = self.incoming.take() else {
            return;
        };
        self.fifo.finish();
        let control = self.register(registers::MDMCTRL0);
        let is_right = is_right && control & registers::AUTOCRC != 0;
        self.acknowledgeable = incoming.header.get(3).copied().filter(|_| is_right);
        let is_asked = incoming.header.get(1).is_some_and(|byte| byte & 0x20 != 0);
        let is_automatic = control & registers::AUTOACK != 0 && is_asked;
        self.poll_operation(now);
        self.search(now);
        if is_automatic || incoming.is_acknowledged {
            self.acknowledge(now);
        }
    }
}
