//! The RF core of `CC26x0` chips by its command interface: doorbell, radio timer, and command
//! execution by the radio CPU, for IEEE 802.15.4 (SWCU117, chapter Radio).
//!
//! Numbers, structures and registers are those of TI's headers (`rf_mailbox.h`, `rf_common_cmd.h`,
//! `rf_ieee_cmd.h`, `rf_data_entry.h`, `hw_rfc_*.h`). Command behaviour follows SWCU185F, the guide
//! of a sibling with the same interface; section numbers refer to it.
//!
//! The radio CPU reads and writes the chip's memory. Work that needs memory is queued as an
//! [`Event`], and [`Cc26x0Rf::transfer`] must handle it before anything else happens.

mod commands;
mod csma;
mod entries;
mod operations;
mod rat;
mod receiver;
mod structures;

use std::collections::VecDeque;

use joulemark_kernel::{Fault, FaultKind, Memories, Picoseconds};
use joulemark_radio::{Antenna, Figures, Radio, Start, oqpsk_2450::PHY};

use operations::Operation;
use rat::Rat;
use receiver::{Cca, CcaSettings, Frame, NO_RSSI, Settings, Verdict, correlation};
use structures::{Level, irq};

/// Offsets of register blocks.
const PWR: u32 = 0x0000;
const DBELL: u32 = 0x1000;
const RAT: u32 = 0x3000;

/// Clocks in PWMCLKEN; RFC is always on.
const CLOCK_RFC: u32 = 1;
const CLOCK_CPE: u32 = 1 << 1;
const CLOCK_CPERAM: u32 = 1 << 2;
const CLOCKS: u32 = 0x7ff;
/// RFCPEISL after a reset: errors and some other interrupts are on line 1.
const RESET_SELECT: u32 = 0xffff_0000;
/// Bit of channel 0 of the radio timer in RFHWIFG.
const RATCH0: u32 = 12;
const HARDWARE_FLAGS: u32 = 0x000f_ff7e;

/// RSSI averages over this time: 8 symbols (IEEE Std 802.15.4-2006, 6.9.9).
const RSSI_SPAN: Picoseconds = PHY.span(4);

/// Output power in dBm and the name of its power state by `txPower`: values of `SmartRF` Studio in
/// Contiki-NG's drivers.
const POWERS: [(u16, i8, &str); 13] = [
    (0x9330, 5, "tx-plus-5dbm"),
    (0x9324, 4, "tx-plus-4dbm"),
    (0x5a1c, 3, "tx-plus-3dbm"),
    (0x4e18, 2, "tx-plus-2dbm"),
    (0x4214, 1, "tx-plus-1dbm"),
    (0x3161, 0, "tx-0dbm"),
    (0x2558, -3, "tx-3dbm"),
    (0x1d52, -6, "tx-6dbm"),
    (0x194e, -9, "tx-9dbm"),
    (0x144b, -12, "tx-12dbm"),
    (0x0ccb, -15, "tx-15dbm"),
    (0x0cc9, -18, "tx-18dbm"),
    (0x0cc7, -21, "tx-21dbm"),
];

/// Work for which the radio CPU needs memory.
#[derive(Clone, Debug)]
enum Event {
    /// CMDR was written.
    Command(u32),
    /// An operation's start trigger occurred.
    Start(Level),
    /// An operation's end trigger occurred.
    End(Level),
    /// The synthesizer is locked.
    Locked,
    /// A frame was received.
    Frame(Box<Frame>),
    /// A frame or an acknowledgment was sent.
    Sent,
    /// CSMA-CA continues.
    Backoff,
}

/// The frequency synthesizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Synthesizer {
    Off,
    /// Powered, but not tuned to a frequency.
    On,
    /// Locked to this frequency in MHz.
    Locked(u16),
}

/// Activity at the antenna.
#[derive(Clone, Debug)]
enum Phy {
    Idle,
    /// The synthesizer is being tuned until this time; the flag says whether reception follows.
    Calibrating(Picoseconds, bool),
    Listening,
    Receiving(Box<Frame>),
    /// A frame is announced or on the air.
    Sending(Sending),
}

#[derive(Clone, Copy, Debug)]
struct Sending {
    begin: Picoseconds,
    delimiter: Picoseconds,
    end: Picoseconds,
    /// Whether transmission has begun.
    is_on_air: bool,
    is_acknowledgment: bool,
}

/// A receiver run by a background operation.
#[derive(Clone, Debug)]
struct Receiver {
    settings: Settings,
    /// Whether it takes frames: true for `CMD_IEEE_RX`, false for `CMD_IEEE_ED_SCAN`.
    takes_frames: bool,
    max_rssi: i8,
    /// If set, the receiver stops with this status after the current frame.
    stops: Option<u16>,
}

/// The mode set by `CMD_RADIO_SETUP`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Setup {
    mode: u8,
    is_differential: bool,
}

/// The RF core.
#[derive(Debug)]
pub struct Cc26x0Rf {
    antenna: Antenna,
    // ---- Registers.
    is_powered: bool,
    clocks: u32,
    is_booted: bool,
    cmdr: u32,
    cmdsta: u32,
    hardware_flags: u32,
    hardware_enable: u32,
    flags: u32,
    enable: u32,
    select: u32,
    is_acknowledged: bool,
    gpo: u32,
    // ---- The radio CPU.
    events: VecDeque<(Picoseconds, Event)>,
    rat: Rat,
    setup: Option<Setup>,
    tx_power: u16,
    operations: [Option<Operation>; 2],
    receiver: Option<Receiver>,
    // ---- The radio hardware.
    synthesizer: Synthesizer,
    phy: Phy,
    /// When the receiver started to listen.
    hears_since: Picoseconds,
}

fn absent(what: &str) -> Fault {
    let message = format!("the emulation leaves out the CC26x0 RF core's {what}");
    Fault::new(FaultKind::Absent, message)
}

impl Cc26x0Rf {
    /// The unpowered state.
    pub fn new(figures: Figures) -> Self {
        Self {
            antenna: Antenna::new(figures),
            is_powered: false,
            clocks: CLOCK_RFC,
            is_booted: false,
            cmdr: 0,
            cmdsta: 0,
            hardware_flags: 0,
            hardware_enable: 0,
            flags: 0,
            enable: u32::MAX,
            select: RESET_SELECT,
            is_acknowledged: false,
            gpo: 0,
            events: VecDeque::new(),
            rat: Rat::default(),
            setup: None,
            tx_power: 0,
            operations: [None, None],
            receiver: None,
            synthesizer: Synthesizer::Off,
            phy: Phy::Idle,
            hears_since: Picoseconds::NEVER,
        }
    }

    /// Switch the RF core's power domain and clock on or off; switching off loses all state.
    pub fn set_power(&mut self, is_on: bool, now: Picoseconds) {
        if self.is_powered == is_on {
            return;
        }
        if !is_on {
            self.silence(now);
            let figures = *self.antenna.figures();
            let antenna = std::mem::replace(&mut self.antenna, Antenna::new(figures));
            *self = Self {
                antenna,
                ..Self::new(figures)
            };
        }
        self.is_powered = is_on;
    }

    // ---- Antenna.

    /// Stop any transmission and reception.
    fn silence(&mut self, now: Picoseconds) {
        if matches!(self.phy, Phy::Sending(_)) && self.antenna.is_sending(now) {
            self.antenna.end(now);
        }
        self.antenna.deafen(now);
        self.hears_since = Picoseconds::NEVER;
        self.phy = Phy::Idle;
    }

    fn turnaround(&self) -> Picoseconds {
        self.antenna.figures().turnaround
    }

    /// Tune the synthesizer, and receive afterwards if asked.
    fn tune(&mut self, frequency_mhz: u16, receives: bool, now: Picoseconds) {
        self.silence(now);
        self.synthesizer = Synthesizer::Locked(frequency_mhz);
        self.phy = Phy::Calibrating(now + self.turnaround(), receives);
    }

    fn frequency_mhz(&self) -> Option<u16> {
        match self.synthesizer {
            Synthesizer::Locked(frequency) => Some(frequency),
            _ => None,
        }
    }

    fn listen(&mut self, now: Picoseconds) {
        let Some(frequency) = self.frequency_mhz() else {
            return;
        };
        if self.hears_since == Picoseconds::NEVER {
            self.hears_since = now;
        }
        self.antenna.listen(now, frequency);
        self.phy = Phy::Listening;
    }

    /// After a transmission, return to the receiver if one is running.
    fn resume(&mut self, now: Picoseconds) {
        match (&self.receiver, self.frequency_mhz()) {
            (Some(_), Some(frequency)) => self.tune(frequency, true, now),
            _ => self.silence(now),
        }
    }

    fn power(&self) -> (i8, &'static str) {
        // A value missing from the table has the power of the next higher entry, at most the
        // highest.
        let mut powers = POWERS.iter().rev();
        let found = powers.find(|(value, ..)| *value >= self.tx_power);
        let &(_, dbm, name) = found.unwrap_or(&POWERS[0]);
        (dbm, name)
    }

    /// Send bytes, starting with the length.
    fn send(&mut self, bytes: &[u8], is_acknowledgment: bool, now: Picoseconds) {
        let Some(frequency_mhz) = self.frequency_mhz() else {
            return;
        };
        self.silence(now);
        let begin = now + self.turnaround();
        let start = Start::of_frame(&PHY, begin, frequency_mhz, self.power().0.into());
        let delimiter = start.delimiter;
        let end = delimiter + PHY.span(bytes.len());
        self.antenna.transmit(now, start);
        self.antenna.put(0, bytes);
        self.antenna.end(end);
        self.phy = Phy::Sending(Sending {
            begin,
            delimiter,
            end,
            is_on_air: false,
            is_acknowledgment,
        });
    }

    fn is_sending_acknowledgment(&self) -> bool {
        matches!(&self.phy, Phy::Sending(sending) if sending.is_acknowledgment)
    }

    /// The next byte of a frame that decides something.
    fn next_place(&self, frame: &Frame) -> usize {
        let filters = self
            .receiver
            .as_ref()
            .is_some_and(|receiver| receiver.settings.filters());
        match frame.length() {
            Some(length) if !filters || frame.verdict != Verdict::Open => length,
            _ => frame.bytes.len(),
        }
    }

    /// Take the bytes received until now.
    fn take_bytes(&mut self, now: Picoseconds) {
        let Phy::Receiving(mut frame) = std::mem::replace(&mut self.phy, Phy::Listening) else {
            return;
        };
        while !frame.is_whole() {
            let place = frame.bytes.len();
            if frame.byte_end(place) > now {
                self.phy = Phy::Receiving(frame);
                return;
            }
            frame.bytes.push(self.antenna.byte(place));
            let settings = self.receiver.as_ref().map(|receiver| &receiver.settings);
            let Some(settings) = settings.filter(|settings| settings.filters()) else {
                frame.verdict = Verdict::Accepted;
                continue;
            };
            if frame.verdict == Verdict::Open {
                frame.verdict = match settings.judge(&frame.bytes) {
                    None => Verdict::Open,
                    Some(true) => Verdict::Accepted,
                    Some(false) => Verdict::Ignored,
                };
            }
            // CMD_IEEE_RX_ACK may be waiting for this acknowledgment.
            let may_be_awaited =
                self.operations[1].is_some() && frame.bytes.len() > 1 && frame.bytes[1] & 7 == 2;
            if frame.verdict == Verdict::Ignored
                && settings.stops_ignored()
                && frame.bytes.len() > 1
                && !may_be_awaited
            {
                self.antenna.release(now);
                self.listen(now);
                return;
            }
        }
        if frame.verdict == Verdict::Open {
            frame.verdict = Verdict::Ignored;
        }
        let from = frame.delimiter;
        frame.rssi_dbm = self.rssi_of(from, Picoseconds(from.0 + RSSI_SPAN.0));
        frame.correlation = correlation(self.antenna.margin_db());
        self.antenna.release(now);
        self.listen(now);
        self.events.push_back((now, Event::Frame(frame)));
    }

    // ---- Channel power.

    fn rssi_of(&self, from: Picoseconds, to: Picoseconds) -> i8 {
        let Some(frequency) = self.frequency_mhz() else {
            return NO_RSSI;
        };
        let power = self.antenna.power_dbm(frequency, from, to);
        power.round().clamp(-127.0, 127.0) as i8
    }

    /// The power on the channel in dBm; [`NO_RSSI`] until it is known.
    fn rssi(&self, now: Picoseconds) -> i8 {
        let hears = matches!(self.phy, Phy::Listening | Phy::Receiving(_));
        if !hears || now < self.rssi_valid_from() {
            return NO_RSSI;
        }
        self.rssi_of(Picoseconds(now.0 - RSSI_SPAN.0), now)
    }

    fn rssi_valid_from(&self) -> Picoseconds {
        Picoseconds(self.hears_since.0.saturating_add(RSSI_SPAN.0))
    }

    /// Return the channel's overall state, those by energy and by correlation, and the RSSI.
    fn cca(&mut self, settings: CcaSettings, now: Picoseconds) -> ([Cca; 3], i8) {
        if matches!(self.phy, Phy::Sending(_)) {
            // Contiki-NG's driver detects a transmission by this.
            return ([Cca::Busy; 3], NO_RSSI);
        }
        let rssi = self.rssi(now);
        if let Some(receiver) = &mut self.receiver {
            receiver.max_rssi = receiver.max_rssi.max(rssi);
        }
        if rssi == NO_RSSI {
            return ([Cca::Invalid; 3], rssi);
        }
        let or_idle = |busy: bool| if busy { Cca::Busy } else { Cca::Idle };
        let energy = or_idle(rssi > settings.threshold_dbm);
        let is_receiving = matches!(self.phy, Phy::Receiving(_));
        let correlation = or_idle(is_receiving);
        let all = settings.combine(energy, correlation, is_receiving);
        ([all, energy, correlation], rssi)
    }

    // ---- Registers.

    /// Whether each interrupt is asserted: lines 0 and 1 of the radio CPU, hardware,
    /// acknowledgment.
    pub const fn interrupts(&self) -> [bool; 4] {
        let flags = self.flags & self.enable;
        [
            flags & !self.select != 0,
            flags & self.select != 0,
            self.hardware_flags & self.hardware_enable != 0,
            self.is_acknowledged,
        ]
    }

    fn check_power(&self) -> Result<(), Fault> {
        if self.is_powered {
            return Ok(());
        }
        Err(Fault::new(
            FaultKind::Peripheral,
            "the RF core is touched while its power domain (PRCM.PDCTL0RFC or PDCTL1RFC) or its clock \
             (PRCM.RFCCLKG, after CLKLOADCTL) is off",
        ))
    }

    /// Read the register at an offset into the RF core; `None` if there is none.
    ///
    /// # Errors
    /// The RF core is off.
    pub fn read(&mut self, offset: u32, now: Picoseconds) -> Result<Option<u32>, Fault> {
        self.check_power()?;
        Ok(Some(match offset {
            PWR => self.clocks,
            0x1000 => self.cmdr,
            0x1004 => self.cmdsta,
            0x1008 => self.hardware_flags,
            0x100c => self.hardware_enable,
            0x1010 => self.flags,
            0x1014 => self.enable,
            0x1018 => self.select,
            0x101c => self.is_acknowledged.into(),
            0x1020 => self.gpo,
            0x3004 => self.rat.count(now),
            0x3080..=0x309c => self.rat.compare((offset - RAT - 0x80) as usize / 4),
            _ => return Ok(None),
        }))
    }

    /// Write the register at an offset into the RF core; false if there is none.
    ///
    /// # Errors
    /// The RF core is off.
    pub fn write(&mut self, offset: u32, value: u32, now: Picoseconds) -> Result<bool, Fault> {
        self.check_power()?;
        match offset {
            PWR => {
                self.clocks = value & CLOCKS | CLOCK_RFC;
                self.boot(now);
            }
            // Writes are ignored while a command is pending (section 26.3.1).
            DBELL => {
                if self.cmdr == 0 && value != 0 {
                    (self.cmdr, self.cmdsta) = (value, 0);
                    if self.is_booted {
                        self.events.push_back((now, Event::Command(value)));
                    }
                }
            }
            0x1004 | 0x3004 => {}
            // Writing 0 clears a flag.
            0x1008 => self.hardware_flags &= value,
            0x100c => self.hardware_enable = value & HARDWARE_FLAGS,
            0x1010 => self.flags &= value,
            0x1014 => self.enable = value,
            0x1018 => self.select = value,
            0x101c => self.is_acknowledged &= value & 1 != 0,
            0x1020 => self.gpo = value & 0xffff,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Boot the radio CPU once it has its clocks; this takes no time here.
    fn boot(&mut self, now: Picoseconds) {
        let needed = CLOCK_CPE | CLOCK_CPERAM;
        if self.is_booted || self.clocks & needed != needed {
            return;
        }
        self.is_booted = true;
        self.flags |= irq::MODULES_UNLOCKED | irq::BOOT_DONE;
        if self.cmdr != 0 {
            self.events.push_back((now, Event::Command(self.cmdr)));
        }
    }

    /// Handle the queued events; return whether there were any. `rtc` is the real-time clock in
    /// units of 2^-32 s.
    ///
    /// # Errors
    /// A command uses a feature that the emulation leaves out.
    pub fn transfer(&mut self, memory: &mut dyn Memories, rtc: u64) -> Result<bool, Fault> {
        let mut is_done = false;
        while let Some((time, event)) = self.events.pop_front() {
            self.handle(event, memory, rtc, time)?;
            is_done = true;
        }
        Ok(is_done)
    }
}

impl Radio for Cc26x0Rf {
    fn antenna(&mut self) -> &mut Antenna {
        &mut self.antenna
    }

    fn next_event(&self) -> Picoseconds {
        if let Some(&(time, _)) = self.events.front() {
            return time;
        }
        let at_antenna = match &self.phy {
            Phy::Idle => Picoseconds::NEVER,
            Phy::Calibrating(until, _) => *until,
            Phy::Listening => self.antenna.next_event(),
            Phy::Receiving(frame) => frame.byte_end(self.next_place(frame)),
            Phy::Sending(sending) if !sending.is_on_air => sending.begin,
            Phy::Sending(sending) => sending.end,
        };
        let of_operations = self.operations.iter().flatten().map(Operation::next);
        let next = of_operations.chain([at_antenna, self.rat.next_compare()]);
        next.min().unwrap_or(Picoseconds::NEVER)
    }

    fn needs_memory(&self) -> bool {
        !self.events.is_empty()
    }

    fn advance(&mut self, now: Picoseconds) {
        if self.needs_memory() {
            return;
        }
        let channels = self.rat.take_due(now);
        self.hardware_flags |= channels << RATCH0;
        match &mut self.phy {
            Phy::Calibrating(until, receives) if *until <= now => {
                if *receives {
                    self.listen(now);
                } else {
                    self.phy = Phy::Idle;
                    self.events.push_back((now, Event::Locked));
                }
            }
            Phy::Listening if self.antenna.next_event() <= now => {
                if let Some(found) = self.antenna.advance(now) {
                    let takes = self.receiver.as_ref().is_some_and(|rx| rx.takes_frames);
                    if takes {
                        self.phy = Phy::Receiving(Box::new(Frame {
                            delimiter: found.delimiter,
                            byte: found.byte,
                            bytes: Vec::with_capacity(128),
                            verdict: Verdict::Open,
                            rssi_dbm: NO_RSSI,
                            correlation: 0,
                        }));
                    } else {
                        self.antenna.release(now);
                    }
                }
            }
            Phy::Receiving(_) => self.take_bytes(now),
            Phy::Sending(sending) if !sending.is_on_air && sending.begin <= now => {
                sending.is_on_air = true;
            }
            Phy::Sending(sending) if sending.is_on_air && sending.end <= now => {
                self.events.push_back((now, Event::Sent));
            }
            _ => {}
        }
        self.advance_operations(now);
    }

    fn state(&self) -> &'static str {
        if !self.is_powered {
            return "off";
        }
        let is_differential = self.setup.is_some_and(|setup| setup.is_differential);
        match (&self.phy, self.synthesizer) {
            (Phy::Sending(sending), _) if sending.is_on_air => self.power().1,
            (Phy::Listening | Phy::Receiving(_), _) if is_differential => "rx-differential",
            (Phy::Listening | Phy::Receiving(_), _) => "rx",
            (Phy::Idle, Synthesizer::Off | Synthesizer::On) => "idle",
            _ => "calibrate",
        }
    }
}
