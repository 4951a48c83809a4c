//! The SPI and I2C masters of nRF52 chips, with and without DMA (nRF52840 product specification,
//! chapters SPI, SPIM, TWI and TWIM), on buses without devices: SPI reads ones, and nobody
//! acknowledges an I2C address. Register offsets and fields were compared with Nordic's
//! `nrf52840.svd`.

use joulemark_kernel::{Cycles, Fault, FaultKind, Memories};

use crate::nrf::{CYCLES_OF_16_MHZ, Nrf, NrfEvents};

/// ENABLE.
const SPI: u32 = 1;
const TWI: u32 = 5;
const TWIM: u32 = 6;
const SPIM: u32 = 7;

/// Tasks of I2C, of SPI and of both.
const START_RX: u32 = 0;
const START_TX: u32 = 2;
const START: u32 = 4;
const STOP: u32 = 5;
const SUSPEND: u32 = 7;
const RESUME: u32 = 8;

const STOPPED: u32 = 1;
/// SPI's byte without DMA (READY); I2C has RXDREADY there.
const READY: u32 = 2;
const ENDRX: u32 = 4;
const END: u32 = 6;
const ENDTX: u32 = 8;
const ERROR: u32 = 9;
const SUSPENDED: u32 = 18;
/// SPIM's STARTED; I2C has RXSTARTED there.
const STARTED: u32 = 19;
const TXSTARTED: u32 = 20;
/// RXDREADY, TXDSENT, BB, LASTRX and LASTTX do not occur without devices.
const EVENTS: u32 = 1 << STOPPED
    | 1 << READY
    | 1 << ENDRX
    | 1 << END
    | 1 << 7
    | 1 << ENDTX
    | 1 << ERROR
    | 1 << 14
    | 1 << SUSPENDED
    | 1 << STARTED
    | 1 << TXSTARTED
    | 1 << 23
    | 1 << 24;
/// SHORTS: SPIM's END to START.
const END_START: u32 = 1 << 17;
/// ERRORSRC: an address was not acknowledged.
const ANACK: u32 = 1 << 1;

const ERRORSRC: u32 = 0x4c4;
const ENABLE: u32 = 0x500;
const RXD: u32 = 0x518;
const TXD: u32 = 0x51c;
const FREQUENCY: u32 = 0x524;
const RX_PTR: u32 = 0x534;
const RX_MAXCNT: u32 = 0x538;
const RX_AMOUNT: u32 = 0x53c;
const TX_PTR: u32 = 0x544;
const TX_MAXCNT: u32 = 0x548;
const TX_AMOUNT: u32 = 0x54c;

/// A master of one of the two kinds.
#[derive(Clone, Debug)]
pub struct NrfSerial {
    events: NrfEvents,
    shorts: u32,
    error: u32,
    /// Registers from 0x500 on.
    held: [u32; 0x40],
    /// The end of a byte, a transfer or an address.
    due: Cycles,
    /// Bytes to store in RAM, and to fetch from there.
    wanted: u32,
    sent: u32,
}

impl Default for NrfSerial {
    fn default() -> Self {
        let mut held = [0; 0x40];
        held[(FREQUENCY as usize - 0x500) / 4] = 0x0400_0000;
        Self {
            events: NrfEvents::new(EVENTS),
            shorts: 0,
            error: 0,
            held,
            due: Cycles::NEVER,
            wanted: 0,
            sent: 0,
        }
    }
}

impl NrfSerial {
    fn register(&self, offset: u32) -> u32 {
        self.held[(offset as usize - 0x500) / 4]
    }

    fn set(&mut self, offset: u32, value: u32) {
        self.held[(offset as usize - 0x500) / 4] = value;
    }

    fn is_spi(&self) -> bool {
        matches!(self.register(ENABLE), SPI | SPIM)
    }

    fn is_i2c(&self) -> bool {
        matches!(self.register(ENABLE), TWI | TWIM)
    }

    /// Core cycles of this many bits. FREQUENCY holds bits per 16-MHz cycle, times 2^32, but for
    /// SPI's two highest rates.
    fn bits(&self, count: u64) -> u64 {
        let bit = match u64::from(self.register(FREQUENCY)) {
            // 16 and 32 MHz.
            0x0a00_0000 if self.is_spi() => CYCLES_OF_16_MHZ,
            0x1400_0000 if self.is_spi() => CYCLES_OF_16_MHZ / 2,
            rate => (CYCLES_OF_16_MHZ << 32) / rate.max(1),
        };
        count * bit.max(1)
    }

    fn start_transfer(&mut self, now: Cycles) {
        let [received, sent] = [RX_MAXCNT, TX_MAXCNT].map(|offset| self.register(offset));
        self.events.happen(STARTED);
        self.sent = sent;
        self.due = Cycles(now.0 + self.bits(8 * u64::from(received.max(sent)).max(1)));
    }

    fn end_transfer(&mut self, now: Cycles) {
        let [received, sent] = [RX_MAXCNT, TX_MAXCNT].map(|offset| self.register(offset));
        self.wanted = received;
        self.set(RX_AMOUNT, received);
        self.set(TX_AMOUNT, sent);
        for event in [ENDRX, ENDTX, END] {
            self.events.happen(event);
        }
        if self.shorts & END_START != 0 {
            self.start_transfer(now);
        }
    }

    /// Fetch what a DMA transfer sends, and store what it received; return whether there was
    /// anything. Nothing is there to take what is sent.
    ///
    /// # Errors
    /// The buffer is not in RAM.
    pub fn transfer(&mut self, memory: &mut dyn Memories) -> Result<bool, Fault> {
        let sent = std::mem::take(&mut self.sent);
        if sent > 0 && memory.read(self.register(TX_PTR), sent).is_some() {
            memory.leaves_by(TX_PTR);
        }
        let count = std::mem::take(&mut self.wanted);
        let at = self.register(RX_PTR);
        if count == 0 {
            return Ok(sent > 0);
        }
        if memory.write(at, &vec![0xff; count as usize]) {
            return Ok(true);
        }
        let what = "the DMA of the SPI master (SPIM.RXD) reaches RAM only";
        Err(Fault::new(FaultKind::Peripheral, what).at(at))
    }
}

impl Nrf for NrfSerial {
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
            START if self.is_spi() => self.start_transfer(now),
            // A start condition, an address of 8 bits, and the acknowledgment that does not come.
            START_RX | START_TX if self.is_i2c() => {
                let sends = number == START_TX;
                self.events.happen(if sends { TXSTARTED } else { STARTED });
                if sends && self.register(ENABLE) == TWIM {
                    self.sent = self.register(TX_MAXCNT);
                }
                self.due = Cycles(now.0 + self.bits(10));
            }
            STOP => {
                self.due = Cycles::NEVER;
                self.events.happen(STOPPED);
            }
            SUSPEND => self.events.happen(SUSPENDED),
            START_RX | START_TX | START | RESUME => {}
            _ => return false,
        }
        true
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        match offset {
            0x400 => Some(0),
            ERRORSRC => Some(self.error),
            RXD => Some(0xff),
            0x500..0x600 => Some(self.register(offset)),
            _ => None,
        }
    }

    fn set_own(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        match offset {
            ERRORSRC => self.error &= !value,
            ENABLE if !matches!(value, 0 | SPI | TWI | TWIM | SPIM) => {
                return Err(Fault::new(
                    FaultKind::Absent,
                    "the emulation leaves out SPI and I2C slaves (SPIS and TWIS)",
                ));
            }
            TXD => {
                let bits = if self.is_spi() { 8 } else { 10 };
                self.due = Cycles(now.0 + self.bits(bits));
            }
            0x400 => {}
            0x500..0x600 => self.set(offset, value),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        if self.due > now {
            return Ok(());
        }
        let at = std::mem::replace(&mut self.due, Cycles::NEVER);
        match self.register(ENABLE) {
            SPI => self.events.happen(READY),
            SPIM => self.end_transfer(at),
            TWI | TWIM => {
                self.error |= ANACK;
                self.events.happen(ERROR);
            }
            _ => {}
        }
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        // What is fetched may wait for the end.
        if self.wanted > 0 || self.sent > 0 && self.due == Cycles::NEVER {
            return Cycles(0);
        }
        self.due
    }
}
