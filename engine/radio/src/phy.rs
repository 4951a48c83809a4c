//! PHYs: how a radio puts bytes on the air.
//!
//! A PHY is a value: a file in `src/phy`. A transmission carries it, and a receiver is told which
//! one it receives; whatever needs a time or a length on the air asks it.

use joulemark_kernel::Picoseconds;

/// Symbol error rates below this count as zero.
pub const NEGLIGIBLE: f64 = 1e-12;

include!(concat!(env!("OUT_DIR"), "/phy.rs"));

/// How a radio puts bytes on the air: preamble, synchronisation word, then bytes, the first of
/// which tell how many there are, and the last of which are the check sequence. All bytes go low
/// bit first.
pub struct Phy {
    /// The name that users see.
    pub name: &'static str,
    /// Duration of a byte.
    pub byte: Picoseconds,
    /// Bits of a symbol, which is received rightly or wrongly as a whole.
    pub symbol_bits: u32,
    /// Length of the preamble.
    pub preamble_bytes: usize,
    /// Length of the word that ends the preamble, such as a start-of-frame delimiter or an access
    /// address.
    pub sync_bytes: usize,
    /// How much of preamble and synchronisation word a receiver must hear to find a frame.
    pub acquisition_bytes: usize,
    /// Bytes after the synchronisation word that belong to the PHY and not to the frame.
    pub header_bytes: usize,
    /// The rule for the number of bytes.
    pub length: Length,
    /// The check sequence at the end of a frame.
    pub check: Check,
    /// The first channel; the others follow it.
    pub first_channel: u8,
    /// Centre frequency of each channel.
    pub frequencies_mhz: &'static [u16],
    /// The probability that a symbol is wrong at a signal-to-noise ratio.
    pub error_rate: fn(f64) -> f64,
    /// The signal-to-noise ratio at the sensitivity that data sheets state.
    pub threshold: f64,
    /// A signal-to-noise ratio above which errors are negligible.
    pub clear: f64,
    /// How much stronger than the received frame a frame on another channel may be, by its offset
    /// in MHz, for the same effect as noise at the threshold.
    pub rejection_db: &'static [(i32, f64)],
    /// The same for all other offsets.
    pub further_db: f64,
}

/// Where a transmission tells its length.
pub struct Length {
    /// Index of the length byte after the synchronisation word.
    pub at: usize,
    /// The bits of it that count.
    pub mask: u8,
    /// Bytes after the synchronisation word that it does not count.
    pub uncounted: usize,
}

/// A cyclic redundancy check over the bytes of a frame, low bit first.
pub struct Check {
    /// Its length.
    pub bytes: usize,
    /// The polynomial without its highest term; the lowest bit is the second highest term.
    pub polynomial: u32,
    /// The remainder before the first byte.
    pub initial: u32,
}

impl Check {
    /// Continue a remainder with more bytes.
    pub fn update(&self, remainder: u32, bytes: &[u8]) -> u32 {
        bytes.iter().fold(remainder, |remainder, &byte| {
            (0..8).fold(remainder ^ u32::from(byte), |remainder, _| {
                remainder >> 1
                    ^ if remainder & 1 == 0 {
                        0
                    } else {
                        self.polynomial
                    }
            })
        })
    }

    /// The check sequence of a frame, as it is sent.
    pub fn of(&self, frame: &[u8]) -> Vec<u8> {
        self.update(self.initial, frame).to_le_bytes()[..self.bytes].to_vec()
    }
}

impl Phy {
    /// Find a PHY by its name.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn named(name: &str) -> Result<&'static Self, String> {
        let found = PHYS.iter().find(|phy| phy.name == name);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = PHYS.iter().map(|phy| phy.name).collect();
            format!("no PHY '{name}'; there are {}", names.join(", "))
        })
    }

    /// Duration of a symbol.
    pub const fn symbol(&self) -> Picoseconds {
        Picoseconds(self.byte.0 * self.symbol_bits as u64 / 8)
    }

    /// Duration of this many bytes.
    pub const fn span(&self, bytes: usize) -> Picoseconds {
        Picoseconds(self.byte.0 * bytes as u64)
    }

    /// From the start of a transmission to the end of its synchronisation word.
    pub const fn synchronisation(&self) -> Picoseconds {
        self.span(self.preamble_bytes + self.sync_bytes)
    }

    /// Bytes on the air besides the frame.
    pub const fn overhead_bytes(&self) -> usize {
        self.preamble_bytes + self.sync_bytes + self.header_bytes
    }

    /// The longest frame, with its check sequence.
    pub const fn frame_bytes_max(&self) -> usize {
        self.length.mask as usize + self.length.uncounted - self.header_bytes
    }

    /// The number of bytes after the synchronisation word, from the first of them; `None` until the
    /// length byte is there.
    pub fn sent_bytes(&self, bytes: &[u8]) -> Option<usize> {
        let length = bytes.get(self.length.at)?;
        Some(usize::from(length & self.length.mask) + self.length.uncounted)
    }

    /// The bytes after the synchronisation word for a frame with its check sequence.
    ///
    /// # Errors
    /// The frame is too long or too short, or tells another length than it has.
    pub fn sent(&self, frame: &[u8]) -> Result<Vec<u8>, String> {
        let mut bytes = vec![frame.len() as u8; self.header_bytes];
        bytes.extend(frame);
        if frame.len() > self.frame_bytes_max()
            || frame.len() < self.check.bytes
            || self.sent_bytes(&bytes) != Some(bytes.len())
        {
            return Err(format!(
                "a frame of {} has {} to {} bytes, and tells its length; not so one of {} bytes",
                self.name,
                self.check.bytes,
                self.frame_bytes_max(),
                frame.len()
            ));
        }
        Ok(bytes)
    }

    /// The centre frequency of a channel; `None` if there is no such channel.
    pub fn frequency_mhz(&self, channel: u8) -> Option<u16> {
        let index = channel.checked_sub(self.first_channel)?;
        self.frequencies_mhz.get(usize::from(index)).copied()
    }

    /// The channel with this centre frequency; `None` between channels.
    pub fn channel(&self, frequency_mhz: u16) -> Option<u8> {
        let mut all = self.frequencies_mhz.iter();
        let index = all.position(|&of_channel| of_channel == frequency_mhz)?;
        Some(self.first_channel + index as u8)
    }

    /// The probability that a symbol is wrong at a signal-to-noise ratio.
    pub fn symbol_error_rate(&self, ratio: f64) -> f64 {
        if ratio >= self.clear {
            return 0.0;
        }
        (self.error_rate)(ratio)
    }
}

/// Each PHY is one value.
impl PartialEq for Phy {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl std::fmt::Debug for Phy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_noise_is_said_to_harm_nothing_it_is_negligible() {
        for phy in PHYS {
            let below = phy.symbol_error_rate(phy.clear - 1e-9);
            assert!((0.0..NEGLIGIBLE).contains(&below), "{phy:?}: {below}");
            assert!(
                phy.symbol_error_rate(phy.clear - 1.0) > NEGLIGIBLE,
                "{phy:?}"
            );
            assert!(phy.symbol_error_rate(0.0) >= 0.5, "{phy:?}");
        }
    }
}
