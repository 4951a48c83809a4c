//! Execution of radio operations by the radio CPU: two levels, chains and triggers (SWCU185F,
//! sections 26.3.2 and 26.5).

use joulemark_kernel::{Fault, Memories, Picoseconds};
use joulemark_radio::oqpsk_2450::PHY;

use super::csma::Csma;
use super::entries::Stored;
use super::receiver::{CcaSettings, Frame, NO_RSSI, SLOTTED_ACK, Settings, Verdict};
use super::structures::Level::{self, Background, Foreground};
use super::structures::operation_bytes;
use super::structures::{Condition, Fields, Kind, Outcome, Trigger, irq, operation};
use super::structures::{result, status};
use super::{Cc26x0Rf, DBELL, Event, Phy, Receiver, Setup, Synthesizer, absent};

/// Interval of RSSI samples in an energy-detection scan: 8 symbols.
const SCAN_STEP: Picoseconds = Picoseconds(128_000_000);
/// From the end of an operation to the next one in its chain: a tick of the radio timer. The radio
/// CPU's real delay is unknown; with none, a ring would loop for ever without advancing time.
const CHAIN_STEP: Picoseconds = Picoseconds(250_000);
/// The longest PSDU.
const PSDU: usize = 127;
/// The IEEE 802.15.4 mode in `CMD_RADIO_SETUP`, and the value that keeps the current mode.
const MODE_IEEE: u8 = 1;
const MODE_KEPT: u8 = 0xff;
/// The front end in `CMD_RADIO_SETUP`'s `config`.
const FRONT_END: u16 = 7;
const DIFFERENTIAL: u16 = 0;
/// The most operations that a chain may skip.
const MOST_SKIPS: u8 = 15;

/// Times of an operation chain, in ticks of the radio timer.
#[derive(Clone, Copy, Debug)]
struct Chain {
    submitted: u32,
    first_start: Option<u32>,
    previous_start: Option<u32>,
    previous_end: Option<u32>,
}

/// An operation that is waiting for its start or running.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    kind: Kind,
    address: u32,
    pub fields: Fields,
    chain: Chain,
    /// Its start trigger; [`Picoseconds::NEVER`] once it has started.
    pub starts: Picoseconds,
    pub is_running: bool,
    started: u32,
    /// Its end trigger.
    pub ends: Picoseconds,
    pub end_trigger: Option<Trigger>,
    pub csma: Option<Csma>,
    scans: Picoseconds,
}

impl Operation {
    fn new(kind: Kind, address: u32, fields: Fields, chain: Chain) -> Self {
        Self {
            kind,
            address,
            fields,
            chain,
            starts: Picoseconds::NEVER,
            is_running: false,
            started: 0,
            ends: Picoseconds::NEVER,
            end_trigger: None,
            csma: None,
            scans: Picoseconds::NEVER,
        }
    }

    const fn level(&self) -> Level {
        if self.kind.is_foreground() {
            Foreground
        } else {
            Background
        }
    }

    /// When the operation next acts by itself.
    pub fn next(&self) -> Picoseconds {
        let csma = self.csma.map_or(Picoseconds::NEVER, |csma| csma.next);
        self.starts.min(self.ends).min(csma).min(self.scans)
    }

    fn set_status(&self, memory: &mut dyn Memories, value: u16) {
        memory.write(self.address + 2, &value.to_le_bytes());
    }
}

/// Centre frequency in MHz for the `channel` of an IEEE operation; 0 keeps the current one.
const fn frequency_of(channel: u8) -> Option<u16> {
    match channel {
        0 => Some(0),
        11..=26 => Some(2405 + 5 * (channel as u16 - 11)),
        60..=207 => Some(2300 + channel as u16),
        _ => None,
    }
}

impl Cc26x0Rf {
    pub(super) fn handle(
        &mut self,
        event: Event,
        memory: &mut dyn Memories,
        rtc: u64,
        now: Picoseconds,
    ) -> Result<(), Fault> {
        match event {
            Event::Command(value) => {
                self.cmdsta = self.command(value, memory, now)?;
                self.cmdr = 0;
                self.is_acknowledged = true;
            }
            Event::Start(level) => self.start(level, memory, rtc, now)?,
            Event::End(level) => self.end_trigger(level, memory, now)?,
            Event::Locked => self.locked(memory, now)?,
            Event::Frame(frame) => self.take_frame(&frame, memory, now)?,
            Event::Sent => self.sent(memory, now)?,
            Event::Backoff => self.back_off(memory, now)?,
        }
        Ok(())
    }

    /// Queue events for the operations that are due, and do what needs no memory.
    pub(super) fn advance_operations(&mut self, now: Picoseconds) {
        for level in [Background, Foreground] {
            let Some(operation) = &mut self.operations[level as usize] else {
                continue;
            };
            if operation.starts <= now {
                operation.starts = Picoseconds::NEVER;
                self.events.push_back((now, Event::Start(level)));
            } else if operation.ends <= now {
                operation.ends = Picoseconds::NEVER;
                self.events.push_back((now, Event::End(level)));
            } else if let Some(csma) = &mut operation.csma
                && csma.next <= now
            {
                csma.next = Picoseconds::NEVER;
                self.events.push_back((now, Event::Backoff));
            } else if operation.scans <= now {
                operation.scans = now + SCAN_STEP;
                let rssi = self.rssi(now);
                if let Some(receiver) = &mut self.receiver {
                    receiver.max_rssi = receiver.max_rssi.max(rssi);
                }
            }
        }
    }

    // ---- Operations.

    pub(super) fn submit(
        &mut self,
        kind: Kind,
        address: u32,
        bytes: u32,
        memory: &mut dyn Memories,
        now: Picoseconds,
    ) -> Result<u32, Fault> {
        let Some(fields) = Fields::read(memory, address, bytes) else {
            return Ok(result::ILLEGAL_POINTER);
        };
        // The status is written back, so the structure must be in RAM.
        if !memory.write(address + 2, &fields.half(2).to_le_bytes()) {
            return Ok(result::ILLEGAL_POINTER);
        }
        let chain = Chain {
            submitted: self.rat.count(now),
            first_start: None,
            previous_start: None,
            previous_end: None,
        };
        let operation = Operation::new(kind, address, fields, chain);
        if self.operations[operation.level() as usize].is_some() {
            return Ok(result::SCHEDULING_ERROR);
        }
        self.schedule(operation, now, memory, now)?;
        Ok(result::DONE)
    }

    /// Queue an operation for its start, at `earliest` or later.
    fn schedule(
        &mut self,
        operation: Operation,
        earliest: Picoseconds,
        memory: &mut dyn Memories,
        now: Picoseconds,
    ) -> Result<(), Fault> {
        let level = operation.level();
        let (trigger, condition) = (operation.fields.start(), operation.fields.condition());
        operation.set_status(memory, status::PENDING);
        self.operations[level as usize] = Some(operation);
        if condition.rule > Condition::LAST_RULE {
            return self.finish(level, status::ERROR_CONDITION, memory, now);
        }
        let starts = match self.time_of(level, trigger, true, now)? {
            Ok(starts) => starts.max(earliest),
            Err(error) => return self.finish(level, error, memory, now),
        };
        if starts <= now {
            self.events.push_back((now, Event::Start(level)));
        } else if let Some(operation) = &mut self.operations[level as usize] {
            operation.starts = starts;
        }
        Ok(())
    }

    /// When a trigger of a level's operation occurs, or the status that ends the operation.
    fn time_of(
        &self,
        level: Level,
        trigger: Trigger,
        is_start: bool,
        now: Picoseconds,
    ) -> Result<Result<Picoseconds, u16>, Fault> {
        let Some(operation) = &self.operations[level as usize] else {
            return Ok(Ok(Picoseconds::NEVER));
        };
        let chain = &operation.chain;
        let from = match trigger.kind() {
            Trigger::NOW if is_start => return Ok(Ok(now)),
            Trigger::NEVER => return Ok(Ok(Picoseconds::NEVER)),
            Trigger::ABSOLUTE => Some(0),
            Trigger::AFTER_SUBMISSION => Some(chain.submitted),
            Trigger::AFTER_START if !is_start => Some(operation.started),
            Trigger::AFTER_PREVIOUS_START => chain.previous_start,
            Trigger::AFTER_FIRST_START => chain.first_start,
            Trigger::AFTER_PREVIOUS_END => chain.previous_end,
            8..=10 => {
                let what = "triggers relative to events and external ones (types 8 to 10)";
                return Err(absent(what).at(operation.address));
            }
            _ => None,
        };
        let Some(from) = from else {
            return Ok(Err(if is_start {
                status::ERROR_START_TRIG
            } else {
                status::IEEE_ERROR_PAR
            }));
        };
        Ok(
            match self.rat.time_of(from.wrapping_add(trigger.time), now) {
                Some(time) => Ok(time.max(now)),
                None if trigger.takes_past() => Ok(now),
                None if is_start => Err(status::ERROR_PAST_START),
                None => Ok(Picoseconds::NEVER),
            },
        )
    }

    /// Start a level's operation.
    fn start(
        &mut self,
        level: Level,
        memory: &mut dyn Memories,
        rtc: u64,
        now: Picoseconds,
    ) -> Result<(), Fault> {
        let count = self.rat.count(now);
        let (kind, fields) = {
            let operation = self.operations[level as usize].as_mut();
            let Some(operation) = operation.filter(|operation| !operation.is_running) else {
                return Ok(());
            };
            // An acknowledgment is sent completely first.
            if let (Kind::IeeeTx, Phy::Sending(sending)) = (operation.kind, &self.phy)
                && sending.is_acknowledgment
            {
                operation.starts = sending.end;
                return Ok(());
            }
            // Reread the structure, which may have changed while the operation waited.
            let bytes = operation_bytes(operation.kind);
            let Some(fields) = Fields::read(memory, operation.address, bytes) else {
                return self.finish(level, status::ERROR_PAR, memory, now);
            };
            operation.fields = fields.clone();
            (operation.is_running, operation.started) = (true, count);
            operation.chain.first_start.get_or_insert(count);
            operation.set_status(memory, status::ACTIVE);
            (operation.kind, fields)
        };
        let ended = match kind {
            Kind::Nop => Some(status::DONE_OK),
            Kind::RadioSetup => Some(self.set_up(&fields, memory)),
            Kind::Fs => self.program(&fields, now),
            Kind::FsOff => {
                self.silence(now);
                if self.synthesizer != Synthesizer::Off {
                    self.synthesizer = Synthesizer::On;
                }
                Some(status::DONE_OK)
            }
            Kind::FsPowerdown => {
                self.silence(now);
                self.synthesizer = Synthesizer::Off;
                Some(status::DONE_OK)
            }
            Kind::FsPowerup => {
                self.synthesizer = Synthesizer::On;
                Some(status::DONE_OK)
            }
            Kind::SyncStopRat => {
                let zero = self.rat.at_rtc_zero(now, rtc);
                self.rat.stop();
                self.put_word(level, 16, zero, memory);
                Some(status::DONE_OK)
            }
            Kind::SyncStartRat => {
                self.rat.start_at_rtc(now, rtc, fields.word(16));
                Some(status::DONE_OK)
            }
            Kind::Count => {
                let count = fields.half(14).wrapping_sub(1);
                self.put(level, 14, &count.to_le_bytes(), memory);
                Some(if count == 0 {
                    status::DONE_COUNTDOWN
                } else {
                    status::DONE_OK
                })
            }
            Kind::SchImm => {
                let value = fields.word(16);
                let number = Fields::read(memory, value, 2).map(|fields| fields.half(0));
                let is_operation = value.is_multiple_of(4) && number.and_then(operation).is_some();
                let answer = if is_operation {
                    result::SCHEDULING_ERROR
                } else {
                    self.command(value, memory, now)?
                };
                self.put_word(level, 20, answer, memory);
                Some(if answer & 0x80 == 0 {
                    status::DONE_OK
                } else {
                    status::DONE_FAILED
                })
            }
            Kind::IeeeRx | Kind::IeeeEdScan => self.start_receiver(kind, &fields, memory, now)?,
            Kind::IeeeTx => self.start_sending(&fields, memory, now)?,
            Kind::IeeeCsma => self.start_csma(&fields, now)?,
            Kind::IeeeRxAck => {
                if self.receiver.as_ref().is_some_and(|rx| rx.takes_frames) {
                    self.set_end(level, 15, 16, now)?
                } else {
                    Some(status::ERROR_WRONG_BG)
                }
            }
            Kind::IeeeAbortBg => {
                self.leave(Background, false, memory, now)?;
                Some(status::IEEE_DONE_OK)
            }
        };
        match ended {
            Some(value) => self.finish(level, value, memory, now),
            None => Ok(()),
        }
    }

    /// Take a level's end trigger from its operation's structure.
    pub(super) fn set_end(
        &mut self,
        level: Level,
        trigger_at: usize,
        time_at: usize,
        now: Picoseconds,
    ) -> Result<Option<u16>, Fault> {
        let Some(operation) = &mut self.operations[level as usize] else {
            return Ok(None);
        };
        let trigger = Trigger {
            bits: operation.fields.byte(trigger_at),
            time: operation.fields.word(time_at),
        };
        operation.end_trigger = Some(trigger);
        match self.time_of(level, trigger, false, now)? {
            Err(error) => Ok(Some(error)),
            Ok(ends) => {
                if let Some(operation) = &mut self.operations[level as usize] {
                    operation.ends = ends;
                }
                Ok(None)
            }
        }
    }

    fn set_up(&mut self, fields: &Fields, memory: &dyn Memories) -> u16 {
        let (mode, config) = (fields.byte(14), fields.half(16));
        let overrides = fields.word(20);
        if !matches!(mode, 0..=2 | 5 | MODE_KEPT)
            || overrides != 0 && Fields::read(memory, overrides, 4).is_none()
        {
            return status::ERROR_PAR;
        }
        let mode = match (mode, self.setup) {
            (MODE_KEPT, Some(setup)) => setup.mode,
            (MODE_KEPT, None) => return status::ERROR_NO_SETUP,
            _ => mode,
        };
        self.setup = Some(Setup {
            mode,
            is_differential: config & FRONT_END == DIFFERENTIAL,
        });
        self.tx_power = fields.half(18);
        let powers_up = config & 1 << 10 == 0;
        if powers_up && self.synthesizer == Synthesizer::Off {
            self.synthesizer = Synthesizer::On;
        }
        status::DONE_OK
    }

    /// `CMD_FS`.
    fn program(&mut self, fields: &Fields, now: Picoseconds) -> Option<u16> {
        if self.setup.is_none() {
            return Some(status::ERROR_NO_SETUP);
        }
        let frequency = fields.half(14);
        if !(2360..=2500).contains(&frequency) {
            return Some(status::ERROR_PAR);
        }
        self.tune(frequency, false, now);
        None
    }

    /// Handle the synthesizer's lock.
    fn locked(&mut self, memory: &mut dyn Memories, now: Picoseconds) -> Result<(), Fault> {
        let operation = self.operations[Background as usize].as_ref();
        if operation.is_some_and(|operation| operation.is_running && operation.kind == Kind::Fs) {
            return self.finish(Background, status::DONE_OK, memory, now);
        }
        Ok(())
    }

    fn is_set_up(&self) -> bool {
        self.setup.is_some_and(|setup| setup.mode == MODE_IEEE)
    }

    fn start_receiver(
        &mut self,
        kind: Kind,
        fields: &Fields,
        memory: &mut dyn Memories,
        now: Picoseconds,
    ) -> Result<Option<u16>, Fault> {
        if !self.is_set_up() {
            return Ok(Some(status::IEEE_ERROR_NO_SETUP));
        }
        let frequency = match (frequency_of(fields.byte(14)), self.frequency_mhz()) {
            (None, _) => return Ok(Some(status::IEEE_ERROR_PAR)),
            (Some(0), None) => return Ok(Some(status::IEEE_ERROR_NO_FS)),
            (Some(0), Some(set)) => set,
            (Some(frequency), _) => frequency,
        };
        let takes_frames = kind == Kind::IeeeRx;
        let settings = if takes_frames {
            let settings = Settings::of(fields);
            if settings.filter & SLOTTED_ACK != 0 {
                return Err(absent(
                    "slotted acknowledgments (frameFiltOpt.slottedAckEn)",
                ));
            }
            let output = settings.output;
            if !settings.queue.is_sound(memory)
                || output != 0 && Fields::read(memory, output, 16).is_none()
            {
                return Ok(Some(status::IEEE_ERROR_PAR));
            }
            settings.queue.begin(memory);
            settings
        } else {
            let mut settings = Settings::none();
            settings.cca = CcaSettings {
                options: fields.byte(15),
                threshold_dbm: fields.byte(16) as i8,
            };
            settings
        };
        let (trigger, time) = if takes_frames { (55, 56) } else { (19, 20) };
        if let Some(error) = self.set_end(Background, trigger, time, now)? {
            return Ok(Some(error));
        }
        if let Some(operation) = &mut self.operations[Background as usize]
            && !takes_frames
        {
            operation.scans = now + SCAN_STEP;
        }
        self.receiver = Some(Receiver {
            settings,
            takes_frames,
            max_rssi: NO_RSSI,
            stops: None,
        });
        // A transmission continues, and the receiver follows it.
        if matches!(self.phy, Phy::Sending(_)) {
            self.synthesizer = Synthesizer::Locked(frequency);
        } else {
            self.tune(frequency, true, now);
        }
        Ok(None)
    }

    fn start_sending(
        &mut self,
        fields: &Fields,
        memory: &mut dyn Memories,
        now: Picoseconds,
    ) -> Result<Option<u16>, Fault> {
        if !self.is_set_up() {
            return Ok(Some(status::IEEE_ERROR_NO_SETUP));
        }
        if self.frequency_mhz().is_none() {
            return Ok(Some(status::IEEE_ERROR_NO_FS));
        }
        let (options, length) = (fields.byte(14), u32::from(fields.byte(15)));
        if options >> 3 != 0 {
            return Err(absent(
                "frames longer than the standard's (txOpt.payloadLenMsb)",
            ));
        }
        let Some(payload) = memory.read(fields.word(16), length) else {
            return Ok(Some(status::IEEE_ERROR_PAR));
        };
        memory.leaves_by(DBELL);
        let (has_header, has_crc) = (options & 1 != 0, options & 2 != 0);
        if has_header && payload.is_empty() {
            return Ok(Some(status::IEEE_ERROR_PAR));
        }
        let mut psdu = payload[usize::from(has_header)..].to_vec();
        if !has_crc {
            psdu.extend(PHY.check.of(&psdu));
        }
        if psdu.len() > PSDU {
            return Ok(Some(status::IEEE_ERROR_PAR));
        }
        let header = if has_header {
            payload[0]
        } else {
            psdu.len() as u8
        };
        let bytes = [&[header][..], &psdu].concat();
        if self.receiver.is_some()
            && let Some(background) = &self.operations[Background as usize]
        {
            background.set_status(memory, status::IEEE_SUSPENDED);
        }
        self.send(&bytes, false, now);
        Ok(None)
    }

    /// Handle the end of a transmission.
    fn sent(&mut self, memory: &mut dyn Memories, now: Picoseconds) -> Result<(), Fault> {
        let Phy::Sending(sending) = self.phy else {
            return Ok(());
        };
        self.resume(now);
        if sending.is_acknowledgment {
            self.flags |= irq::TX_ACK;
            self.count_result(0, memory);
            return self.stop_receiver(memory, now);
        }
        self.flags |= irq::TX_DONE;
        if let (Some(background), Some(_)) = (&self.operations[Background as usize], &self.receiver)
        {
            background.set_status(memory, status::ACTIVE);
        }
        let timestamp = self.rat.count(sending.delimiter);
        self.put_word(Foreground, 20, timestamp, memory);
        self.finish(Foreground, status::IEEE_DONE_OK, memory, now)?;
        self.stop_receiver(memory, now)
    }

    // ---- Reception.

    fn take_frame(
        &mut self,
        frame: &Frame,
        memory: &mut dyn Memories,
        now: Picoseconds,
    ) -> Result<(), Fault> {
        let Some(receiver) = &mut self.receiver else {
            return Ok(());
        };
        let is_right = frame.is_right();
        let is_ignored = frame.verdict == Verdict::Ignored;
        if is_ignored && receiver.settings.stops_ignored() {
            // Reception continued only for CMD_IEEE_RX_ACK.
            if is_right {
                self.take_acknowledgment(frame, memory, now)?;
            }
            return self.stop_receiver(memory, now);
        }
        receiver.max_rssi = receiver.max_rssi.max(frame.rssi_dbm);
        let max_rssi = receiver.max_rssi;
        let settings = receiver.settings.clone();
        let timestamp = self.rat.count(frame.delimiter);
        let (source, is_pending) = if is_ignored || !is_right {
            (0xff, false)
        } else {
            settings.match_source(frame, memory)
        };
        let mut is_stored = true;
        if settings.keeps(is_right, is_ignored) {
            let element = settings.element(frame, is_right, source, timestamp);
            match settings.queue.store(memory, &element)? {
                Stored::Kept => {}
                Stored::Finished => self.flags |= irq::RX_ENTRY_DONE,
                Stored::Full => {
                    is_stored = false;
                    self.flags |= irq::RX_BUF_FULL;
                    self.count_result(8, memory);
                }
            }
        }
        if settings.output != 0 {
            let rssi = [frame.rssi_dbm as u8, max_rssi as u8];
            memory.write(settings.output + 9, &rssi);
        }
        let header = frame.header();
        if !is_right {
            self.flags |= irq::RX_NOK;
            self.count_result(6, memory);
        } else if is_ignored {
            self.flags |= irq::RX_IGNORED;
            self.count_result(7, memory);
        } else if is_stored {
            self.flags |= irq::RX_OK;
            let frame_type = header.map_or(7, |header| header.frame_type);
            self.count_result(1 + u32::from(frame_type.min(4)), memory);
            if frame_type == 0 && settings.output != 0 {
                memory.write(settings.output + 12, &timestamp.to_le_bytes());
            }
        }
        if is_right {
            self.take_acknowledgment(frame, memory, now)?;
        }
        let answer = settings.acknowledges(frame, is_pending);
        // Another operation may have begun to send a frame.
        let is_listening = matches!(self.phy, Phy::Listening);
        if let Some(pending) =
            answer.filter(|_| is_right && !is_ignored && is_stored && is_listening)
        {
            let control = if pending { 0x12 } else { 0x02 };
            let mut bytes = vec![5, control, 0, frame.bytes[3]];
            bytes.extend(PHY.check.of(&bytes[1..]));
            self.send(&bytes, true, now);
            return Ok(());
        }
        self.stop_receiver(memory, now)
    }

    /// Give the frame to `CMD_IEEE_RX_ACK` if that is waiting for it.
    fn take_acknowledgment(
        &mut self,
        frame: &Frame,
        memory: &mut dyn Memories,
        now: Picoseconds,
    ) -> Result<(), Fault> {
        let (Some(operation), Some((number, is_pending))) = (
            &self.operations[Foreground as usize],
            frame.as_acknowledgment(),
        ) else {
            return Ok(());
        };
        if operation.kind != Kind::IeeeRxAck
            || !operation.is_running
            || operation.fields.byte(14) != number
        {
            return Ok(());
        }
        let ended = if is_pending {
            status::IEEE_DONE_ACKPEND
        } else {
            status::IEEE_DONE_ACK
        };
        self.finish(Foreground, ended, memory, now)
    }

    /// Count a result of `CMD_IEEE_RX`.
    fn count_result(&self, at: u32, memory: &mut dyn Memories) {
        let output = self.receiver.as_ref().map_or(0, |rx| rx.settings.output);
        if output != 0
            && let Some(count) = memory.read(output + at, 1)
        {
            memory.write(output + at, &[count[0].wrapping_add(1)]);
        }
    }

    /// Stop a receiver that was to stop after a frame.
    fn stop_receiver(&mut self, memory: &mut dyn Memories, now: Picoseconds) -> Result<(), Fault> {
        match self.receiver.as_ref().and_then(|receiver| receiver.stops) {
            Some(value) => self.finish(Background, value, memory, now),
            None => Ok(()),
        }
    }

    // ---- The end of operations.

    /// Handle the end trigger of a level's operation.
    fn end_trigger(
        &mut self,
        level: Level,
        memory: &mut dyn Memories,
        now: Picoseconds,
    ) -> Result<(), Fault> {
        let operation = self.operations[level as usize].as_ref();
        let Some(operation) = operation.filter(|operation| operation.is_running) else {
            return Ok(());
        };
        let value = match operation.kind {
            Kind::IeeeEdScan => status::IEEE_DONE_OK,
            _ => status::IEEE_DONE_TIMEOUT,
        };
        // The current frame is received to its end and acknowledged.
        if operation.kind == Kind::IeeeRx
            && (matches!(self.phy, Phy::Receiving(_)) || self.is_sending_acknowledgment())
        {
            if let Some(receiver) = &mut self.receiver {
                receiver.stops = Some(value);
            }
            return Ok(());
        }
        self.finish(level, value, memory, now)
    }

    /// Handle `CMD_ABORT` and `CMD_STOP` for a level.
    pub(super) fn leave(
        &mut self,
        level: Level,
        is_graceful: bool,
        memory: &mut dyn Memories,
        now: Picoseconds,
    ) -> Result<(), Fault> {
        let Some(operation) = &self.operations[level as usize] else {
            return Ok(());
        };
        let kind = operation.kind;
        if is_graceful && operation.is_running {
            match kind {
                // The current transmission or reception completes first.
                Kind::IeeeTx => return Ok(()),
                Kind::IeeeRx
                    if matches!(self.phy, Phy::Receiving(_))
                        || self.is_sending_acknowledgment() =>
                {
                    if let Some(receiver) = &mut self.receiver {
                        receiver.stops = Some(kind.stopped());
                    }
                    return Ok(());
                }
                _ => {}
            }
        }
        if operation.is_running && kind == Kind::IeeeTx {
            self.resume(now);
            if let (Some(background), Some(_)) =
                (&self.operations[Background as usize], &self.receiver)
            {
                background.set_status(memory, status::ACTIVE);
            }
        }
        if operation_is_calibrating(kind, &self.phy) {
            self.silence(now);
        }
        let value = if is_graceful {
            kind.stopped()
        } else {
            kind.aborted()
        };
        self.finish(level, value, memory, now)
    }

    /// End an operation: write its status, raise interrupts and schedule the next in its chain.
    pub(super) fn finish(
        &mut self,
        level: Level,
        value: u16,
        memory: &mut dyn Memories,
        now: Picoseconds,
    ) -> Result<(), Fault> {
        let Some(operation) = self.operations[level as usize].take() else {
            return Ok(());
        };
        if level == Background
            && operation.is_running
            && let Some(receiver) = self.receiver.take()
        {
            if !matches!(&self.phy, Phy::Sending(sending) if !sending.is_acknowledgment) {
                self.silence(now);
            }
            if receiver.takes_frames {
                let output = receiver.settings.output;
                if output != 0 {
                    memory.write(output + 10, &[receiver.max_rssi as u8]);
                }
            } else {
                memory.write(operation.address + 18, &[receiver.max_rssi as u8]);
            }
            let needs_receiver = self.operations[Foreground as usize]
                .as_ref()
                .is_some_and(|fg| {
                    fg.is_running && matches!(fg.kind, Kind::IeeeCsma | Kind::IeeeRxAck)
                });
            if needs_receiver {
                self.finish(Foreground, status::IEEE_DONE_BGEND, memory, now)?;
            }
        }
        let mut value = value;
        let next = Self::next_of_chain(&operation, &mut value, memory);
        operation.set_status(memory, value);
        self.flags |= match (level, next.is_some()) {
            (Background, true) => irq::COMMAND_DONE,
            (Background, false) => irq::COMMAND_DONE | irq::LAST_COMMAND_DONE,
            (Foreground, true) => irq::FG_COMMAND_DONE,
            (Foreground, false) => irq::FG_COMMAND_DONE | irq::LAST_FG_COMMAND_DONE,
        };
        let Some((kind, address, fields)) = next else {
            return Ok(());
        };
        let chain = Chain {
            previous_start: Some(operation.started),
            previous_end: Some(self.rat.count(now)),
            ..operation.chain
        };
        let operation = Operation::new(kind, address, fields, chain);
        self.schedule(operation, now + CHAIN_STEP, memory, now)
    }

    /// Find the operation that follows one with status `value`; set `value` to an error if there
    /// should be one but is not.
    fn next_of_chain(
        operation: &Operation,
        value: &mut u16,
        memory: &mut dyn Memories,
    ) -> Option<(Kind, u32, Fields)> {
        let condition = operation.fields.condition();
        let steps = condition.follow(Outcome::of(*value))?;
        if steps == 0 {
            let fields = Fields::read(memory, operation.address, operation_bytes(operation.kind))?;
            return Some((operation.kind, operation.address, fields));
        }
        let mut address = operation.fields.next();
        for step in 1..=steps.min(MOST_SKIPS) {
            let Some(number) = Fields::read(memory, address, 14).map(|fields| fields.half(0))
            else {
                *value = status::ERROR_POINTER;
                return None;
            };
            let Some((kind, bytes)) = super::structures::operation(number) else {
                *value = status::ERROR_CMDID;
                return None;
            };
            let Some(fields) = Fields::read(memory, address, bytes) else {
                *value = status::ERROR_POINTER;
                return None;
            };
            let same_level = kind.is_foreground() == operation.kind.is_foreground();
            if step == steps && same_level {
                return Some((kind, address, fields));
            }
            if !same_level {
                *value = status::ERROR_CMDID;
                return None;
            }
            memory.write(address + 2, &status::SKIPPED.to_le_bytes());
            address = fields.next();
        }
        None
    }

    /// Write to the structure of a level's operation.
    pub(super) fn put(&self, level: Level, at: u32, bytes: &[u8], memory: &mut dyn Memories) {
        if let Some(operation) = &self.operations[level as usize] {
            memory.write(operation.address + at, bytes);
        }
    }

    pub(super) fn put_word(&self, level: Level, at: u32, word: u32, memory: &mut dyn Memories) {
        self.put(level, at, &word.to_le_bytes(), memory);
    }
}

/// Whether an operation only tunes the synthesizer.
fn operation_is_calibrating(kind: Kind, phy: &Phy) -> bool {
    kind == Kind::Fs && matches!(phy, Phy::Calibrating(_, false))
}
