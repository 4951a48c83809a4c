//! The receiver: parameters of `CMD_IEEE_RX`, received frames, frame filtering, source matching,
//! acknowledgment, and clear channel assessment (SWCU185F, section 26.5.4.1).

use joulemark_kernel::{Memories, Picoseconds};
use joulemark_radio::oqpsk_2450::PHY;

use super::entries::Queue;
use super::structures::Fields;
use crate::ieee802154::Header;

/// frameFiltOpt.
const FILTER: u16 = 1;
const FILTER_STOP: u16 = 1 << 1;
const AUTO_ACK: u16 = 1 << 2;
pub(super) const SLOTTED_ACK: u16 = 1 << 3;
const AUTO_PEND: u16 = 1 << 4;
const DEFAULT_PEND: u16 = 1 << 5;
const PEND_REQUESTS_ONLY: u16 = 1 << 6;
const COORDINATOR: u16 = 1 << 7;
const STRICT_ACK_LENGTH: u16 = 1 << 15;
/// rxConfig.
const FLUSH_CRC: u8 = 1;
const FLUSH_IGNORED: u8 = 1 << 1;
const INCLUDE_HEADER: u8 = 1 << 2;
const INCLUDE_CRC: u8 = 1 << 3;
const APPEND_RSSI: u8 = 1 << 4;
const APPEND_STATUS: u8 = 1 << 5;
const APPEND_SOURCE: u8 = 1 << 6;
const APPEND_TIME: u8 = 1 << 7;
/// Index for "no match" in the source lists.
const NO_SOURCE: u8 = 0xff;
/// RSSI when unknown.
pub(super) const NO_RSSI: i8 = -128;

/// Clear channel assessment states, as `CMD_IEEE_CCA_REQ` returns them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cca {
    Idle = 0,
    Busy = 1,
    Invalid = 2,
}

/// Clear channel assessment: its sources, and the threshold in dBm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CcaSettings {
    pub options: u8,
    pub threshold_dbm: i8,
}

impl CcaSettings {
    /// Combine the sources: energy, correlation, SFD (`ccaOpt` of `CMD_IEEE_RX` in TI's header).
    pub fn combine(self, energy: Cca, correlation: Cca, sync: bool) -> Cca {
        let enabled = |bit: u8| self.options & bit != 0;
        let mut sources = Vec::with_capacity(2);
        if enabled(1) {
            sources.push(energy);
        }
        if enabled(2) {
            sources.push(correlation);
        }
        if sources.contains(&Cca::Invalid) {
            return Cca::Invalid;
        }
        let is_busy = |cca: &Cca| *cca == Cca::Busy;
        let others = if enabled(8) {
            !sources.is_empty() && sources.iter().all(is_busy)
        } else {
            sources.iter().any(is_busy)
        };
        let busy = match (enabled(4), enabled(16)) {
            (false, _) => others,
            (true, false) => others || sync,
            (true, true) => sync && (others || sources.is_empty()),
        };
        if busy { Cca::Busy } else { Cca::Idle }
    }
}

/// Filter result of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Open,
    Accepted,
    Ignored,
}

/// A frame being received, or received.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The end of its SFD, and the duration of a byte.
    pub delimiter: Picoseconds,
    pub byte: Picoseconds,
    /// Received bytes, starting with the length.
    pub bytes: Vec<u8>,
    pub verdict: Verdict,
    pub rssi_dbm: i8,
    pub correlation: u8,
}

impl Frame {
    pub fn length(&self) -> Option<usize> {
        Some(PHY.sent_bytes(&self.bytes)? - 1)
    }

    /// When the byte at an index has been received.
    pub const fn byte_end(&self, place: usize) -> Picoseconds {
        Picoseconds(self.delimiter.0 + self.byte.0 * (place as u64 + 1))
    }

    pub fn is_whole(&self) -> bool {
        self.length()
            .is_some_and(|length| self.bytes.len() > length)
    }

    /// Whether the FCS is correct.
    pub fn is_right(&self) -> bool {
        let psdu = &self.bytes[1..];
        let Some(payload) = psdu.len().checked_sub(2) else {
            return false;
        };
        psdu[payload..] == PHY.check.of(&psdu[..payload])
    }

    /// The header, if the frame has a frame control field.
    pub fn header(&self) -> Option<Header> {
        (self.bytes.len() >= 3 + 2).then(|| Header::of(&self.bytes))
    }

    /// Sequence number and pending bit, if the frame is an acknowledgment.
    pub fn as_acknowledgment(&self) -> Option<(u8, bool)> {
        let header = self.header()?;
        (header.frame_type == 2 && self.bytes.len() >= 6)
            .then(|| (self.bytes[3], self.bytes[1] & 0x10 != 0))
    }
}

/// Parameters of `CMD_IEEE_RX`.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub config: u8,
    pub queue: Queue,
    /// Address for results; 0 for none.
    pub output: u32,
    pub filter: u16,
    pub types: u8,
    pub cca: CcaSettings,
    extended_sources: (u32, u8),
    short_sources: (u32, u8),
    extended: [u8; 8],
    short: [u8; 2],
    pan: [u8; 2],
}

impl Settings {
    pub fn of(fields: &Fields) -> Self {
        Self {
            config: fields.byte(15),
            queue: Queue(fields.word(16)),
            output: fields.word(20),
            filter: fields.half(24),
            types: fields.byte(26),
            cca: CcaSettings {
                options: fields.byte(27),
                threshold_dbm: fields.byte(28) as i8,
            },
            extended_sources: (fields.word(32), fields.byte(30)),
            short_sources: (fields.word(36), fields.byte(31)),
            extended: fields.bytes(40),
            short: fields.bytes(48),
            pan: fields.bytes(50),
        }
    }

    /// The settings of a receiver that takes no frames.
    pub const fn none() -> Self {
        Self {
            config: 0,
            queue: Queue(0),
            output: 0,
            filter: 0,
            types: 0,
            cca: CcaSettings {
                options: 0,
                threshold_dbm: 0,
            },
            extended_sources: (0, 0),
            short_sources: (0, 0),
            extended: [0; 8],
            short: [0; 2],
            pan: [0; 2],
        }
    }

    /// Whether reception of a frame for another device stops early.
    pub const fn stops_ignored(&self) -> bool {
        self.filter & FILTER_STOP != 0
    }

    pub const fn filters(&self) -> bool {
        self.filter & FILTER != 0
    }

    /// Whether to keep a frame with this FCS and filter result.
    pub const fn keeps(&self, is_right: bool, is_ignored: bool) -> bool {
        (is_right || self.config & FLUSH_CRC == 0)
            && (!is_ignored || self.config & FLUSH_IGNORED == 0)
    }

    /// The queue element for a frame.
    pub fn element(&self, frame: &Frame, is_right: bool, source: u8, timestamp: u32) -> Vec<u8> {
        let has = |bit: u8| self.config & bit != 0;
        let psdu = &frame.bytes[1..];
        let payload = psdu.len().saturating_sub(2);
        let mut element = Vec::with_capacity(psdu.len() + 8);
        if has(INCLUDE_HEADER) {
            element.push(frame.bytes[0]);
        }
        element.extend_from_slice(if has(INCLUDE_CRC) {
            psdu
        } else {
            &psdu[..payload]
        });
        if has(APPEND_RSSI) {
            element.push(frame.rssi_dbm as u8);
        }
        if has(APPEND_STATUS) {
            let is_ignored = frame.verdict == Verdict::Ignored;
            element.push(
                frame.correlation & 0x3f | u8::from(is_ignored) << 6 | u8::from(!is_right) << 7,
            );
        }
        if has(APPEND_SOURCE) {
            element.push(source);
        }
        if has(APPEND_TIME) {
            element.extend(timestamp.to_le_bytes());
        }
        element
    }

    /// Whether a frame is for this device, once that is known; `bytes` starts with the length.
    pub fn judge(&self, bytes: &[u8]) -> Option<bool> {
        let length = PHY.sent_bytes(bytes)? - 1;
        if length < 3 + 2 {
            return Some(false);
        }
        if bytes.len() < 3 {
            return None;
        }
        let header = Header::of(bytes);
        let control = u16::from_le_bytes([bytes[1], bytes[2]]);
        if u16::from(header.version) > self.filter >> 8 & 3
            || control >> 7 & self.filter >> 10 & 7 != 0
        {
            return Some(false);
        }
        let frame_type = match self.filter >> 13 & 3 {
            0 => header.frame_type,
            1 => header.frame_type ^ 4,
            2 => header.frame_type & 3,
            _ => header.frame_type | 4,
        };
        if self.types >> frame_type & 1 == 0 || header.to_mode == 1 || header.from_mode == 1 {
            return Some(false);
        }
        if frame_type == 2 {
            return Some(length == 5 || self.filter & STRICT_ACK_LENGTH == 0);
        }
        if length < header.source_ends() - 1 + 2 {
            return Some(false);
        }
        let pan_is_ours = |at: usize| {
            let pan = &bytes[at..at + 2];
            pan == [0xff, 0xff] || pan == self.pan
        };
        if header.to_mode >= 2 {
            let ends = header.to_ends();
            if bytes.len() < ends {
                return None;
            }
            let own: &[u8] = if header.to_mode == 2 {
                &self.short
            } else {
                &self.extended
            };
            let address = &bytes[6..ends];
            let is_broadcast = header.to_mode == 2 && address == [0xff, 0xff];
            return Some(pan_is_ours(4) && (is_broadcast || address == own) && frame_type != 0);
        }
        if header.from_mode == 0 || frame_type != 0 && self.filter & COORDINATOR == 0 {
            return Some(false);
        }
        if bytes.len() < 6 {
            return None;
        }
        // A device without a PAN accepts all beacons.
        let any = frame_type == 0 && self.pan == [0xff, 0xff];
        Some(any || pan_is_ours(4) && (frame_type == 0 || bytes[4..6] == self.pan))
    }

    /// Find a frame's source in the source lists: its index, and whether data are pending for it.
    pub fn match_source(&self, frame: &Frame, memory: &dyn Memories) -> (u8, bool) {
        let none = (NO_SOURCE, false);
        let Some(header) = frame.header() else {
            return none;
        };
        let ends = header.source_ends();
        if header.from_mode < 2 || frame.bytes.len() < ends {
            return none;
        }
        let is_short = header.from_mode == 2;
        let width = if is_short { 2 } else { 8 };
        let address = &frame.bytes[ends - width..ends];
        let pan_at = if header.has_source_pan() {
            ends - width - 2
        } else {
            4
        };
        let key: Vec<u8> = if is_short {
            [address, &frame.bytes[pan_at..pan_at + 2]].concat()
        } else {
            address.to_vec()
        };
        let (list, count) = if is_short {
            self.short_sources
        } else {
            self.extended_sources
        };
        let words = u32::from(count).div_ceil(32);
        let size = key.len() as u32;
        for entry in 0..count {
            let bit = |first: u32| {
                let word = memory.read(list.wrapping_add(first + u32::from(entry) / 32 * 4), 4);
                word.is_some_and(|word| word[usize::from(entry) / 8 % 4] >> (entry % 8) & 1 != 0)
            };
            let at = list.wrapping_add(8 * words + size * u32::from(entry));
            if bit(0) && memory.read(at, size).is_some_and(|other| other == key) {
                return (entry, bit(4 * words));
            }
        }
        none
    }

    /// `CMD_IEEE_MOD_SRC_MATCH`; false if there is no such entry.
    pub fn set_source(&self, memory: &mut dyn Memories, options: u8, entry: u8) -> bool {
        let (list, count) = if options & 4 == 0 {
            self.extended_sources
        } else {
            self.short_sources
        };
        let words = u32::from(count).div_ceil(32);
        let mut set = |first: u32, on: bool| {
            let at = list.wrapping_add(first + u32::from(entry) / 8);
            let mask = 1 << (entry % 8);
            let byte = memory.read(at, 1).map(|byte| byte[0]);
            byte.is_some_and(|byte| {
                memory.write(at, &[if on { byte | mask } else { byte & !mask }])
            })
        };
        entry < count && set(4 * words, options & 2 != 0) && set(0, options & 1 != 0)
    }

    /// Whether to acknowledge an accepted, correct frame, and the pending bit if so.
    pub fn acknowledges(&self, frame: &Frame, is_pending: bool) -> Option<bool> {
        let header = frame.header()?;
        let to_all = header.to_mode == 2 && frame.bytes.get(6..8) == Some(&[0xff, 0xff]);
        let asked = self.filter & (AUTO_ACK | FILTER) == AUTO_ACK | FILTER
            && header.wants_acknowledgment
            && matches!(header.frame_type, 1 | 3)
            && !to_all;
        if !asked {
            return None;
        }
        let is_request = header.frame_type == 3
            && !header.is_secured
            && frame.bytes.get(header.source_ends()) == Some(&4);
        let is_subject =
            self.filter & AUTO_PEND != 0 && (self.filter & PEND_REQUESTS_ONLY == 0 || is_request);
        Some(if is_subject {
            is_pending
        } else {
            self.filter & DEFAULT_PEND != 0
        })
    }
}

/// 6-bit correlation, linear from worst to best over an assumed 10 dB above sensitivity.
pub(super) fn correlation(margin_db: f64) -> u8 {
    (63.0 * (margin_db / 10.0).clamp(0.0, 1.0)).round() as u8
}
