//! Transmission of frames and acknowledgements.

use joulemark_kernel::Picoseconds;

use joulemark_radio::{Start, oqpsk_2450::PHY};

use super::registers::{self, ram};
use super::{Cc2420, State, bytes, fifo, symbols};

/// From the end of the last received symbol to the start of the acknowledgement (section 19).
const ACKNOWLEDGEMENT: Picoseconds = symbols(12);

/// An outgoing frame.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) delimiter: Picoseconds,
    /// Its known bytes, including the length byte and the FCS.
    pub(super) air: Vec<u8>,
    /// Whether it is an acknowledgement, which does not come from the FIFO.
    pub(super) is_acknowledgement: bool,
}

impl Outgoing {
    /// The number of bytes whose transmission has begun.
    fn begun(&self, now: Picoseconds) -> usize {
        let since = now.0.checked_sub(self.delimiter.0);
        since.map_or(0, |since| (since / PHY.byte.0) as usize + 1)
    }

    fn is_whole(&self) -> bool {
        PHY.sent_bytes(&self.air)
            .is_some_and(|sent| self.air.len() >= sent)
    }

    /// The end of the last byte, or when the first missing byte is due.
    pub(super) fn end(&self) -> Picoseconds {
        self.delimiter + bytes(self.air.len())
    }
}

impl Cc2420 {
    /// Send the contents of the TXFIFO.
    pub(super) fn transmit(&mut self, now: Picoseconds) {
        self.start_operation(now, true);
        let turnaround = if self.has(registers::TXCTRL, registers::TX_TURNAROUND) {
            symbols(12)
        } else {
            symbols(8)
        };
        self.send(now, now + turnaround, None);
    }

    /// Send an acknowledgement, if the last frame's FCS was correct (section 19).
    pub(super) fn acknowledge(&mut self, now: Picoseconds) {
        let Some(sequence) = self.acknowledgeable else {
            return;
        };
        let control = 2 | u8::from(self.is_pending) << 4;
        let mut frame = vec![5, control, 0, sequence];
        frame.extend(PHY.check.of(&frame[1..]));
        self.send(now, now + ACKNOWLEDGEMENT, Some(frame));
    }

    pub(super) fn send(
        &mut self,
        now: Picoseconds,
        begin: Picoseconds,
        acknowledgement: Option<Vec<u8>>,
    ) {
        self.incoming = None;
        self.is_sfd = false;
        // The synchronisation word holds two more zero bytes' worth of preamble and the SFD (figure
        // 18).
        let preamble = usize::from(self.register(registers::MDMCTRL0) & 15) + 1;
        let delimiter = begin + bytes(preamble + 2);
        let start = Start {
            phy: &PHY,
            begin,
            delimiter: if self.is_compliant() {
                delimiter
            } else {
                Picoseconds::NEVER
            },
            frequency_mhz: self.frequency_mhz(),
            power_dbm: self.output().0,
            sync: 0,
        };
        self.antenna.transmit(now, start);
        let is_acknowledgement = acknowledgement.is_some();
        self.enter(
            if is_acknowledgement {
                State::AckCalibrate
            } else {
                State::TxCalibrate
            },
            now,
        );
        self.due = begin;
        let outgoing = Outgoing {
            delimiter,
            air: acknowledgement.unwrap_or_default(),
            is_acknowledgement,
        };
        if is_acknowledgement {
            self.antenna.put(0, &outgoing.air);
            self.antenna.end(outgoing.end());
        }
        self.outgoing = Some(outgoing);
        self.refresh(now);
    }

    /// Apply a change of the TXFIFO to the bytes that are not on air yet.
    pub(super) fn refresh(&mut self, now: Picoseconds) {
        let has_check = self.has(registers::MDMCTRL0, registers::AUTOCRC);
        let Some(outgoing) = &mut self.outgoing else {
            return;
        };
        if outgoing.is_acknowledgement {
            return;
        }
        let before = outgoing.air.clone();
        let begun = outgoing.begun(now);
        outgoing.air.truncate(begun);
        while !outgoing.is_whole() {
            let place = outgoing.air.len();
            let length = PHY.sent_bytes(&outgoing.air).map_or(0, |sent| sent - 1);
            let byte = if place > 0 && has_check && place + 1 >= length {
                let data = &outgoing.air[1..(length.max(2) - 1).min(place)];
                PHY.check.of(data)[1 - (length - place).min(1)]
            } else if place < self.tx_bytes.min(fifo::BYTES) {
                self.memory[ram::TXFIFO + place]
            } else {
                break;
            };
            outgoing.air.push(byte);
        }
        if outgoing.air != before {
            let first = begun.min(outgoing.air.len());
            self.antenna.put(first, &outgoing.air[first..]);
            if outgoing.is_whole() {
                self.antenna.end(outgoing.end());
            }
        }
        if self.state == State::TxFrame {
            self.due = outgoing.end().max(now);
        }
    }

    /// Finish after the last byte, or after a TXFIFO underflow.
    pub(super) fn finish_sending(&mut self, now: Picoseconds) {
        if let Some(outgoing) = self.outgoing.take() {
            if outgoing.is_whole() {
                self.is_sent |= !outgoing.is_acknowledgement;
            } else {
                self.is_underflown = true;
                self.antenna.end(now);
            }
        }
        self.is_sfd = false;
        // It is too late for an acknowledgement.
        self.acknowledgeable = None;
        if self.is_overflown {
            self.search(now);
        } else {
            self.calibrate_rx(now);
        }
    }
}
