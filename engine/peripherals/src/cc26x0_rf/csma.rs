//! CSMA-CA as a foreground operation (SWCU185F, section 26.5.4.4).

use joulemark_kernel::{Fault, Memories, Picoseconds};

use super::receiver::Cca;
use super::structures::Level::Foreground;
use super::structures::{Fields, status};
use super::{Cc26x0Rf, absent};

/// aUnitBackoffPeriod, 20 symbols (IEEE Std 802.15.4-2006, 7.4.1).
const BACKOFF: Picoseconds = Picoseconds(320_000_000);
/// The largest backoff exponent (IEEE Std 802.15.4-2006, table 86: macMaxBE).
const MOST_BE: u8 = 8;

/// CSMA-CA (IEEE Std 802.15.4-2006, 7.5.1.4).
#[derive(Clone, Copy, Debug)]
pub(super) struct Csma {
    random: u16,
    window: u8,
    backoffs: u8,
    exponent: u8,
    pub next: Picoseconds,
}

impl Csma {
    /// Draw a number of backoff periods. TI's generator is unknown; this is a 16-bit xorshift
    /// (Marsaglia, Xorshift RNGs, 2003).
    fn draw(&mut self, now: Picoseconds) {
        let mut random = self.random;
        random ^= random << 7;
        random ^= random >> 9;
        random ^= random << 8;
        self.random = random;
        let periods = u64::from(random) & ((1 << self.exponent) - 1);
        self.next = now + Picoseconds(BACKOFF.0 * periods);
    }
}

impl Cc26x0Rf {
    pub(super) fn start_csma(
        &mut self,
        fields: &Fields,
        now: Picoseconds,
    ) -> Result<Option<u16>, Fault> {
        if self.receiver.is_none() {
            return Ok(Some(status::ERROR_WRONG_BG));
        }
        let config = fields.byte(18);
        if config >> 6 != 0 {
            return Err(absent(
                "receiver that is off in backoffs (csmaConfig.rxOffMode)",
            ));
        }
        let (window, exponent) = (config & 0x1f, fields.byte(20));
        if window == 0 || exponent > MOST_BE || fields.byte(16) > MOST_BE {
            return Ok(Some(status::IEEE_ERROR_PAR));
        }
        if let Some(error) = self.set_end(Foreground, 23, 28, now)? {
            return Ok(Some(error));
        }
        let mut csma = Csma {
            random: fields.half(14).max(1),
            window,
            backoffs: fields.byte(19),
            exponent,
            next: now,
        };
        match fields.byte(21) {
            0 => csma.draw(now),
            periods => csma.next = now + Picoseconds(BACKOFF.0 * u64::from(periods)),
        }
        if let Some(operation) = &mut self.operations[Foreground as usize] {
            operation.csma = Some(csma);
        }
        Ok(None)
    }

    pub(super) fn back_off(
        &mut self,
        memory: &mut dyn Memories,
        now: Picoseconds,
    ) -> Result<(), Fault> {
        let Some(settings) = self.receiver.as_ref().map(|rx| rx.settings.cca) else {
            return Ok(());
        };
        let ([channel, ..], rssi) = self.cca(settings, now);
        let valid_from = self.rssi_valid_from();
        let count = self.rat.count(now);
        let Some(operation) = &mut self.operations[Foreground as usize] else {
            return Ok(());
        };
        let fields = &operation.fields;
        let (most_exponent, most_backoffs) = (fields.byte(16), fields.byte(17));
        let (first_window, is_slotted) = (fields.byte(18) & 0x1f, fields.byte(18) & 0x20 != 0);
        let Some(csma) = &mut operation.csma else {
            return Ok(());
        };
        let mut ended = None;
        match channel {
            Cca::Invalid if is_slotted || valid_from <= now || valid_from == Picoseconds::NEVER => {
                csma.next = now + BACKOFF;
            }
            Cca::Invalid => csma.next = valid_from,
            Cca::Idle => {
                csma.window -= 1;
                if csma.window == 0 {
                    ended = Some(status::IEEE_DONE_OK);
                } else {
                    csma.next = now + BACKOFF;
                }
            }
            Cca::Busy => {
                csma.backoffs = csma.backoffs.saturating_add(1);
                csma.exponent = (csma.exponent + 1).min(most_exponent);
                csma.window = first_window;
                if csma.backoffs > most_backoffs {
                    ended = Some(status::IEEE_DONE_BUSY);
                } else {
                    csma.draw(now);
                }
            }
        }
        let csma = *csma;
        self.put(Foreground, 22, &[rssi as u8], memory);
        self.put_word(Foreground, 24, count, memory);
        match ended {
            Some(value) => {
                self.put_csma(csma, 0, memory);
                self.finish(Foreground, value, memory, now)
            }
            None => Ok(()),
        }
    }

    /// Write back CSMA-CA's progress.
    fn put_csma(&self, csma: Csma, remaining: u8, memory: &mut dyn Memories) {
        self.put(Foreground, 14, &csma.random.to_le_bytes(), memory);
        let state = [csma.backoffs, csma.exponent, remaining];
        self.put(Foreground, 19, &state, memory);
    }
}
