//! The UART of nRF52 chips, with or without DMA (nRF52840 product specification, chapters UART and
//! UARTE). Register offsets and fields were compared with Nordic's `nrf52840.svd`. CTS is always
//! asserted: no one holds back the transmitter.

use std::mem;

use joulemark_kernel::{Cycles, Fault, FaultKind, Memories};

use crate::nrf::{CYCLES_OF_16_MHZ, Nrf, NrfEvents};
use crate::serial_line::SerialLine;

/// The receiver is on for as long as so many bytes take after it was told to stop.
const BYTES_AFTER_STOP: u64 = 4;
/// Capacity of the receiver in bytes, including RXD.
const RECEIVED: usize = 6;
/// The longest DMA transfer in bytes.
const LONGEST: u32 = 0xffff;
/// The lowest address that DMA can access: RAM.
const RAM: u32 = 0x2000_0000;

/// ENABLE: without DMA, and with DMA.
const UART_ENABLED: u32 = 4;
const UARTE_ENABLED: u32 = 8;

const START_RX: u32 = 0;
const STOP_RX: u32 = 1;
const START_TX: u32 = 2;
const STOP_TX: u32 = 3;
const SUSPEND: u32 = 7;
const FLUSH_RX: u32 = 11;

const CTS: u32 = 0;
const NCTS: u32 = 1;
const RXDRDY: u32 = 2;
const ENDRX: u32 = 4;
const TXDRDY: u32 = 7;
const ENDTX: u32 = 8;
const ERROR: u32 = 9;
const RXTO: u32 = 17;
const RXSTARTED: u32 = 19;
const TXSTARTED: u32 = 20;
const TXSTOPPED: u32 = 22;
const EVENTS: [u32; 11] = [
    CTS, NCTS, RXDRDY, ENDRX, TXDRDY, ENDTX, ERROR, RXTO, RXSTARTED, TXSTARTED, TXSTOPPED,
];

const OVERRUN: u32 = 1;
/// SHORTS: after a full buffer, start the next one or stop.
const ENDRX_STARTRX: u32 = 1 << 5;
const ENDRX_STOPRX: u32 = 1 << 6;
/// The register that holds where the DMA fetches.
const TXD_PTR: u32 = 0x544;
/// CONFIG: parity, and two stop bits.
const PARITY: u32 = 7 << 1;
const TWO_STOP_BITS: u32 = 1 << 4;

/// A DMA transfer: PTR and MAXCNT as written, and the transfer in progress.
#[derive(Clone, Copy, Debug, Default)]
struct Buffer {
    next: [u32; 2],
    start: u32,
    length: u32,
    moved: u32,
    is_moving: bool,
    /// AMOUNT: bytes that the last transfer moved.
    amount: u32,
}

impl Buffer {
    const fn begin(&mut self) {
        [self.start, self.length] = self.next;
        (self.moved, self.is_moving) = (0, true);
    }

    const fn is_over(&self) -> bool {
        self.moved >= self.length
    }

    /// End the transfer; return whether there was one.
    const fn end(&mut self) -> bool {
        let was_moving = self.is_moving;
        if was_moving {
            self.amount = self.moved;
        }
        self.is_moving = false;
        was_moving
    }
}

/// A UART.
#[derive(Clone, Debug)]
pub struct NrfUart {
    line: SerialLine,
    /// Bytes sent.
    sent: Vec<(u8, Cycles)>,
    events: NrfEvents,
    shorts: u32,
    receives: bool,
    /// When the receiver that was told to stop is off.
    stops_at: Option<Cycles>,
    transmits: bool,
    /// Waiting bytes that were already signalled; without DMA, the one in RXD.
    told: usize,
    rx: Buffer,
    tx: Buffer,
    /// Whether the bytes of `tx` must be fetched.
    has_to_fetch: bool,
    error: u32,
    enable: u32,
    /// PSEL: RTS, TXD, CTS, RXD.
    pins: [u32; 4],
    baud_rate: u32,
    config: u32,
}

impl Default for NrfUart {
    fn default() -> Self {
        Self {
            line: SerialLine::new(1, RECEIVED),
            sent: Vec::new(),
            events: NrfEvents::new(EVENTS.iter().fold(0, |bits, number| bits | 1 << number)),
            shorts: 0,
            receives: false,
            stops_at: None,
            transmits: false,
            told: 0,
            rx: Buffer::default(),
            tx: Buffer::default(),
            has_to_fetch: false,
            error: 0,
            enable: 0,
            pins: [u32::MAX; 4],
            baud_rate: 0x0400_0000,
            config: 0,
        }
    }
}

impl NrfUart {
    /// Queue bytes that arrive at the chip.
    pub fn put(&mut self, bytes: &[u8]) {
        self.line.put(bytes);
    }

    /// Take the bytes sent since the last call, with the end of each stop bit.
    pub fn take_sent(&mut self) -> Vec<(u8, Cycles)> {
        mem::take(&mut self.sent)
    }

    /// BAUDRATE holds bits per 16-MHz cycle, times 2^32; a bit takes a whole number of cycles.
    fn character(&self) -> Cycles {
        let bit = (1 << 32) / u64::from(self.baud_rate.max(1));
        let parity = u64::from(self.config & PARITY != 0);
        let stop = u64::from(self.config & TWO_STOP_BITS != 0);
        Cycles((10 + parity + stop) * CYCLES_OF_16_MHZ * bit.max(1))
    }

    const fn has_dma(&self) -> bool {
        self.enable == UARTE_ENABLED
    }

    /// Signal received bytes: without DMA the one in RXD, with DMA each of them.
    fn tell(&mut self) {
        let waiting = self.line.waiting();
        if self.has_dma() {
            if waiting > self.told {
                self.events.happen(RXDRDY);
            }
            self.told = waiting;
        } else if self.told == 0 && waiting > 0 {
            self.told = 1;
            self.events.happen(RXDRDY);
        }
    }

    fn stop_receiving(&mut self, now: Cycles) {
        let character = self.character();
        self.stops_at = Some(Cycles(now.0 + BYTES_AFTER_STOP * character.0));
    }

    fn has_stopped(&mut self) {
        if self.rx.end() {
            self.events.happen(ENDRX);
        }
        (self.receives, self.stops_at) = (false, None);
        self.events.happen(RXTO);
    }

    fn start_receiving(&mut self) {
        (self.receives, self.stops_at) = (true, None);
        self.rx.begin();
        self.events.happen(RXSTARTED);
    }

    /// Fetch the bytes to send and store received ones; return whether there were any.
    ///
    /// # Errors
    /// The buffer is not in RAM.
    pub fn transfer(&mut self, memory: &mut dyn Memories, now: Cycles) -> Result<bool, Fault> {
        if !self.has_dma() {
            return Ok(false);
        }
        let missing = |what: &str, at: u32| {
            let message = format!("the DMA of the UART (UARTE.{what}) reaches RAM only");
            Fault::new(FaultKind::Peripheral, message).at(at)
        };
        let fetches = mem::take(&mut self.has_to_fetch);
        if fetches {
            let Buffer { start, length, .. } = self.tx;
            let bytes = Some(start).filter(|&at| at >= RAM || length == 0);
            let bytes = bytes.and_then(|at| memory.read(at, length));
            memory.leaves_by(TXD_PTR);
            let character = self.character();
            for byte in bytes.ok_or_else(|| missing("TXD", start))? {
                self.line.send(byte, now, character);
            }
        }
        let mut stores = false;
        while self.rx.is_moving && (self.rx.is_over() || self.line.waiting() > 0) {
            stores = true;
            if !self.rx.is_over() {
                let at = self.rx.start.wrapping_add(self.rx.moved);
                let byte = self.line.take().unwrap_or(0);
                if !memory.write(at, &[byte]) {
                    return Err(missing("RXD", at));
                }
                self.rx.moved += 1;
            }
            if self.rx.is_over() && self.rx.end() {
                self.events.happen(ENDRX);
                if self.shorts & ENDRX_STARTRX != 0 && self.rx.next[1] != 0 {
                    self.start_receiving();
                } else if self.shorts & ENDRX_STOPRX != 0 {
                    self.stop_receiving(now);
                }
            }
        }
        self.told = self.line.waiting();
        Ok(fetches || stores)
    }
}

impl Nrf for NrfUart {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn shorts(&mut self) -> Option<&mut u32> {
        Some(&mut self.shorts)
    }

    fn task(&mut self, number: u32, now: Cycles) -> bool {
        match number {
            START_RX if self.has_dma() => self.start_receiving(),
            START_RX => (self.receives, self.stops_at) = (true, None),
            STOP_RX => self.stop_receiving(now),
            START_TX if self.has_dma() => {
                self.transmits = true;
                self.tx.begin();
                self.has_to_fetch = true;
                self.events.happen(TXSTARTED);
                if self.tx.is_over() && self.tx.end() {
                    self.events.happen(ENDTX);
                }
            }
            START_TX => self.transmits = true,
            STOP_TX if self.has_dma() => {
                self.line.drop_queued();
                if self.tx.end() {
                    self.events.happen(ENDTX);
                }
                self.transmits = false;
                self.events.happen(TXSTOPPED);
            }
            STOP_TX => self.transmits = false,
            SUSPEND => (self.receives, self.transmits) = (false, false),
            // Waiting bytes move to the buffer, which then ends.
            FLUSH_RX => {
                self.rx.begin();
                self.rx.length = self.rx.length.min(self.line.waiting() as u32);
            }
            _ => return false,
        }
        true
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        Some(match offset {
            0x480 => self.error,
            0x500 => self.enable,
            0x508..=0x514 => self.pins[(offset as usize - 0x508) / 4],
            0x518 => {
                let byte = self.line.take().unwrap_or(0);
                self.told = 0;
                self.tell();
                u32::from(byte)
            }
            0x524 => self.baud_rate,
            0x534 | 0x538 => self.rx.next[(offset as usize - 0x534) / 4],
            0x53c => self.rx.amount,
            0x544 | 0x548 => self.tx.next[(offset as usize - 0x544) / 4],
            0x54c => self.tx.amount,
            0x56c => self.config,
            _ => return None,
        })
    }

    fn set_own(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        match offset {
            0x480 => self.error &= !value,
            0x500 if matches!(value, 0 | UART_ENABLED | UARTE_ENABLED) => {
                self.enable = value;
                if value == 0 {
                    self.stops_at = None;
                }
                let depth = if self.has_dma() { LONGEST as usize } else { 1 };
                self.line.set_depths(depth, RECEIVED);
            }
            0x500 => {
                return Err(Fault::new(
                    FaultKind::Peripheral,
                    "UART.ENABLE is neither 0 nor 4 (UART) nor 8 (UARTE)",
                ));
            }
            0x508..=0x514 => self.pins[(offset as usize - 0x508) / 4] = value,
            0x51c => {
                if !self.transmits || self.enable != UART_ENABLED {
                    return Err(Fault::new(
                        FaultKind::Peripheral,
                        "a byte is written to a UART that is off or whose transmitter was not started",
                    ));
                }
                let character = self.character();
                if !self.line.send(value as u8, now, character) {
                    return Err(Fault::new(
                        FaultKind::Peripheral,
                        "a byte is written to a UART that is still sending; it is lost",
                    ));
                }
            }
            0x524 => self.baud_rate = value,
            0x534 => self.rx.next[0] = value,
            0x538 => self.rx.next[1] = value & LONGEST,
            0x544 => self.tx.next[0] = value,
            0x548 => self.tx.next[1] = value & LONGEST,
            0x56c => self.config = value & 0x1f,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        let on = self.receives && self.enable != 0;
        let (character, sent) = (self.character(), &mut self.sent);
        let before = sent.len();
        self.line
            .advance(now, character, on, |byte, at| sent.push((byte, at)));
        let count = self.sent.len() - before;
        if count > 0 {
            self.events.happen(TXDRDY);
        }
        if self.tx.is_moving {
            self.tx.moved += count as u32;
            if self.tx.is_over() && self.tx.end() {
                self.events.happen(ENDTX);
            }
        }
        if mem::take(&mut self.line.overrun) {
            self.error |= OVERRUN;
            self.events.happen(ERROR);
        }
        self.tell();
        if self.stops_at.is_some_and(|at| at <= now) {
            self.has_stopped();
        }
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        let waits = self.rx.is_moving && (self.rx.is_over() || self.line.waiting() > 0);
        if self.has_dma() && (self.has_to_fetch || waits) {
            return Cycles(0);
        }
        let stops_at = self.stops_at.unwrap_or(Cycles::NEVER);
        self.line.next_event().min(stops_at)
    }
}
