//! `Timer_A` (chapter 11) and `Timer_B` (chapter 12).

use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::basic_clock::{BasicClock, Source};
use crate::rate::Ticks;

/// `TxCTL`.
const TXIFG: u16 = 1 << 0;
const TXIE: u16 = 1 << 1;
const TXCLR: u16 = 1 << 2;
const CLGRP: u16 = 0x6000;

/// `TxCCTLn`.
const CCIFG: u16 = 1 << 0;
const COV: u16 = 1 << 1;
const OUT: u16 = 1 << 2;
const CCI: u16 = 1 << 3;
const CCIE: u16 = 1 << 4;
const CAP: u16 = 1 << 8;
/// When a `Timer_B` compare latch is loaded.
const CLLD: u16 = 3 << 9;
const SCCI: u16 = 1 << 10;

/// Which of the two timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Compare values take effect at once.
    A,
    /// Compare values go through latches, and the counter may be shorter than 16 bits.
    B,
}

/// What a capture input is connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A level that the machine updates with [`Timer::set_pin`].
    Pin,
    /// The auxiliary clock.
    Aclk,
    /// A source that the emulation leaves out.
    Absent,
}

#[derive(Clone, Debug)]
struct Channel {
    control: u16,
    value: u16,
    /// Compare value; in `Timer_A` it always equals `value`.
    latch: u16,
    inputs: [Input; 2],
    pin: bool,
    out: bool,
}

/// A change of an output, for its pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputChange {
    /// The channel.
    pub channel: usize,
    /// Its new level.
    pub high: bool,
}

/// A timer's forecast, for programs that poll it. By default, nothing is known.
///
/// It runs ahead of the timer itself, which is where it was last brought up to date: edges that
/// channels capture without an interrupt are looked at when those channels are.
#[derive(Clone, Debug, Default)]
struct Quiet {
    /// Until this source tick, the timer only counts.
    until: u64,
    /// Change of the counter per count.
    stride: u16,
    /// The timer's state at `from`.
    counter: u16,
    phase: u64,
    seen: u64,
    /// From this cycle until the other, the counter is a linear function of time.
    from: Cycles,
    end: Cycles,
    /// Source edges per cycle, and those in the current count before `from`.
    per_cycle: u64,
    passed: u64,
    /// The tick at `end`, if that is the next one.
    next: Option<Ticks>,
}

/// A timer with its capture/compare channels.
#[derive(Clone, Debug)]
pub struct Timer {
    kind: Kind,
    name: &'static str,
    control: u16,
    counter: u16,
    down: bool,
    /// Source ticks into the current divider period.
    phase: u64,
    /// Source ticks that the counter has processed.
    seen: u64,
    /// Edges of ACLK have been captured up to this cycle.
    looked: Cycles,
    quiet: Quiet,
    channels: Vec<Channel>,
    /// Channels whose output is visible on a pin, where changes must be timely.
    watched: u8,
    outputs: Vec<OutputChange>,
}

impl Channel {
    fn is_capture(&self) -> bool {
        self.control & CAP != 0
    }

    fn output_mode(&self) -> u16 {
        self.control >> 5 & 7
    }

    fn edges(&self) -> u16 {
        self.control >> 14
    }

    fn input(&self) -> Option<Input> {
        let select = self.control >> 12 & 3;
        self.inputs.get(usize::from(select)).copied()
    }

    /// The input's level (CCIS 2 is ground, 3 is the supply).
    fn input_level(&self, clock: &BasicClock, now: Cycles) -> bool {
        match self.input() {
            Some(Input::Pin) => self.pin,
            Some(Input::Aclk) => clock.rate(Source::Aclk).is_high(now),
            Some(Input::Absent) => false,
            None => self.control >> 12 & 1 != 0,
        }
    }

    /// The control register with the input's level.
    fn control_at(&self, clock: &BasicClock, now: Cycles) -> u16 {
        let level = if self.input_level(clock, now) { CCI } else { 0 };
        self.control & !CCI | level
    }

    fn capture(&mut self, rising: bool, counter: u16) {
        let wanted = if rising { 1 } else { 2 };
        if self.is_capture() && self.edges() & wanted != 0 {
            if self.control & CCIFG != 0 {
                self.control |= COV;
            }
            self.value = counter;
            self.latch = counter;
            self.control |= CCIFG;
        }
    }
}

impl Timer {
    /// The state after a power-up clear. `inputs` are `CCIxA` and `CCIxB` of each channel.
    pub fn new(kind: Kind, name: &'static str, inputs: &[[Input; 2]]) -> Self {
        let channel = |&inputs: &[Input; 2]| Channel {
            control: 0,
            value: 0,
            latch: 0,
            inputs,
            pin: false,
            out: false,
        };
        Self {
            kind,
            name,
            control: 0,
            counter: 0,
            down: false,
            phase: 0,
            seen: 0,
            looked: Cycles(0),
            quiet: Quiet::default(),
            channels: inputs.iter().map(channel).collect(),
            watched: 0,
            outputs: Vec::new(),
        }
    }

    fn source(&self) -> Option<Source> {
        match self.control >> 8 & 3 {
            1 => Some(Source::Aclk),
            2 => Some(Source::Smclk),
            _ => None,
        }
    }

    fn divider(&self) -> u64 {
        1 << (self.control >> 6 & 3)
    }

    fn mode(&self) -> u16 {
        self.control >> 4 & 3
    }

    /// The highest count for the counter's length (`Timer_B`: section 12.2.1).
    fn longest(&self) -> u16 {
        match (self.kind, self.control >> 11 & 3) {
            (Kind::A, _) | (Kind::B, 0) => 0xffff,
            (Kind::B, 1) => 0x0fff,
            (Kind::B, 2) => 0x03ff,
            (Kind::B, _) => 0x00ff,
        }
    }

    /// The count at which the counter wraps or turns.
    fn limit(&self) -> u16 {
        if self.mode() == 2 {
            self.longest()
        } else {
            self.channels[0].latch.min(self.longest())
        }
    }

    fn is_counting(&self) -> bool {
        self.source().is_some() && self.mode() != 0 && self.limit() != 0
    }

    /// Counts until the counter reaches `value`; `None` if it never does.
    fn distance(&self, value: u16) -> Option<u64> {
        let limit = u64::from(self.limit());
        let (counter, value) = (u64::from(self.counter), u64::from(value));
        if self.mode() == 3 && counter > limit {
            // The counter is counting down to the new limit.
            return counter.checked_sub(value).filter(|&distance| distance > 0);
        }
        if value > limit {
            return None;
        }
        if self.mode() == 3 {
            let period = 2 * limit;
            let here = if self.down {
                (period - counter) % period
            } else {
                counter
            };
            let ahead = |position: u64| match (position + period - here) % period {
                0 => period,
                distance => distance,
            };
            return Some(ahead(value).min(ahead((period - value) % period)));
        }
        if counter > limit {
            // "The timer immediately restarts counting from zero" (section 11.2.3, up mode).
            return Some(1 + value);
        }
        Some(if value > counter {
            value - counter
        } else {
            limit - counter + 1 + value
        })
    }

    /// Counts until something happens.
    fn distance_to_next(&self) -> u64 {
        let latches = self.channels.iter().filter(|c| !c.is_capture());
        latches
            .map(|channel| channel.latch)
            .chain([0, self.limit()])
            .filter_map(|value| self.distance(value))
            .min()
            .unwrap_or(u64::MAX)
    }

    /// In up/down mode, whether the next count is down.
    fn next_is_down(&self) -> bool {
        self.counter >= self.limit() || self.down && self.counter != 0
    }

    /// Advance by `steps` counts; nothing may happen before the last one.
    fn count(&mut self, steps: u64) {
        let limit = u64::from(self.limit());
        let counter = u64::from(self.counter);
        let next = if self.mode() == 3 {
            self.down = self.next_is_down();
            if self.down {
                counter - steps
            } else {
                counter + steps
            }
        } else if counter >= limit {
            steps - 1
        } else {
            counter + steps
        };
        self.counter = next as u16;
    }

    /// Apply the effects of reaching the counter's value.
    fn arrive(&mut self) {
        let limit = self.limit();
        let at_zero = self.counter == 0;
        let at_limit = self.counter == limit;
        if at_zero {
            self.control |= TXIFG;
            self.down = false;
        } else if at_limit && self.mode() == 3 {
            self.down = true;
        }
        let counter = self.counter;
        let equal_0 = !self.channels[0].is_capture() && self.channels[0].latch == counter;
        for index in 0..self.channels.len() {
            let channel = &mut self.channels[index];
            if channel.is_capture() {
                continue;
            }
            let equal = channel.latch == counter;
            if equal {
                channel.control |= CCIFG;
                // A compare latches the input (SCCI, section 11.2.4).
                let input = channel.control & CCI != 0;
                channel.control = channel.control & !SCCI | if input { SCCI } else { 0 };
            }
            let out = match (channel.output_mode(), equal, equal_0 && index != 0) {
                (1 | 3, true, _) | (7, false, true) | (6, _, true) => true,
                (5 | 7, true, _) | (3, false, true) | (2, _, true) => false,
                (4, true, _) | (2 | 6, true, false) => !channel.out,
                _ => channel.out,
            };
            self.set_output(index, out);
            if self.kind == Kind::B {
                self.load_latch(index, at_zero, at_limit, equal);
            }
        }
    }

    fn set_output(&mut self, index: usize, out: bool) {
        let channel = &mut self.channels[index];
        if channel.out != out {
            channel.out = out;
            if self.watched & 1 << index != 0 {
                self.outputs.push(OutputChange {
                    channel: index,
                    high: out,
                });
            }
        }
    }

    /// Load `TBCLx` from `TBCCRx` when CLLD says so (section 12.2.4).
    fn load_latch(&mut self, index: usize, at_zero: bool, at_limit: bool, equal: bool) {
        let up_down = self.mode() == 3;
        let channel = &mut self.channels[index];
        let load = match channel.control >> 9 & 3 {
            0 => true,
            1 => at_zero,
            2 => at_zero || up_down && at_limit,
            _ => equal,
        };
        if load {
            channel.latch = channel.value;
        }
    }

    /// Bring the counter up to `now`.
    fn synchronize(&mut self, clock: &BasicClock, now: Cycles) {
        let Some(source) = self.source() else {
            return;
        };
        let ticks = clock.rate(source).ticks(now);
        let passed = ticks - self.seen;
        self.seen = ticks;
        if !self.is_counting() {
            return;
        }
        let total = self.phase + passed;
        self.phase = total % self.divider();
        let mut steps = total / self.divider();
        // Whole periods that no one observed repeat their neighbours and are skipped, in pairs so
        // that a toggling output ends at the same level.
        let period = if self.mode() == 3 {
            4 * u64::from(self.limit())
        } else {
            2 * (u64::from(self.limit()) + 1)
        };
        if steps > 4 * period && self.counter <= self.limit() {
            steps -= (steps - 3 * period) / period * period;
        }
        while steps > 0 {
            let distance = self.distance_to_next();
            if distance > steps {
                self.count(steps);
                break;
            }
            self.count(distance);
            self.arrive();
            steps -= distance;
            if !self.is_counting() {
                break;
            }
        }
    }

    fn captures_aclk(channel: &Channel) -> bool {
        channel.is_capture() && channel.edges() != 0 && channel.input() == Some(Input::Aclk)
    }

    /// Bring the timer up to `now` before reading.
    pub fn look(&mut self, clock: &BasicClock, now: Cycles) {
        if !self.channels.iter().any(Self::captures_aclk) && self.look_quietly(clock, now) {
            return;
        }
        self.advance(clock, now);
        // A capture by channel 0 may change the limit.
        if self.source().is_none() || Self::captures_aclk(&self.channels[0]) {
            return;
        }
        (self.quiet.counter, self.quiet.phase, self.quiet.seen) =
            (self.counter, self.phase, self.seen);
        self.quiet.until = u64::MAX;
        if self.is_counting() {
            let ticks = self.distance_to_next().saturating_mul(self.divider());
            self.quiet.until = self.seen.saturating_add(ticks - self.phase);
            let down = self.mode() == 3 && self.next_is_down();
            self.quiet.stride = if down { 1_u16.wrapping_neg() } else { 1 };
        }
        self.foresee(clock, now);
    }

    /// Bring the forecast up to `now` for reading, except what [`Timer::is_deferred`], if the timer
    /// only counts until then and [`Timer::look`] has found that out; false if nothing was done.
    #[inline]
    pub fn look_quietly(&mut self, clock: &BasicClock, now: Cycles) -> bool {
        now < self.quiet.end || self.foresee(clock, now)
    }

    /// Count up to `now` and find the linear forecast of the next counts: to the end of the quiet
    /// period if every cycle has the same number of source edges, else to the next tick.
    fn foresee(&mut self, clock: &BasicClock, now: Cycles) -> bool {
        if let Some(next) = &mut self.quiet.next {
            next.advance();
            let (ticks, end) = (next.tick() - 1, next.cycle());
            if now < end && self.count_quietly(2 * ticks, now) {
                self.quiet.end = end;
                return true;
            }
            self.quiet.next = None;
        }
        let Some(source) = self.source() else {
            return false;
        };
        let rate = clock.rate(source);
        let edges = rate.edges(now);
        if !self.count_quietly(edges, now) {
            return false;
        }
        if let Some(per_cycle) = rate.per_cycle() {
            self.quiet.per_cycle = per_cycle;
            self.quiet.end = rate.cycle_of(self.quiet.until);
        } else {
            let next = edges / 2 + 1;
            self.quiet.per_cycle = 0;
            self.quiet.next = Ticks::new(rate, next);
            let ticks = self.quiet.next.as_ref();
            self.quiet.end = ticks.map_or_else(|| rate.cycle_of(next), Ticks::cycle);
        }
        true
    }

    /// Count up to `now`, at which `edges` source edges have passed; false, with nothing done, if
    /// something else happens on the way.
    fn count_quietly(&mut self, edges: u64, now: Cycles) -> bool {
        let ticks = edges / 2;
        if ticks >= self.quiet.until {
            return false;
        }
        let divider = self.divider();
        let quiet = &mut self.quiet;
        let total = quiet.phase + (ticks - quiet.seen);
        quiet.seen = ticks;
        if quiet.stride != 0 {
            quiet.phase = total & (divider - 1);
            let counts = (total >> divider.trailing_zeros()) as u16;
            let change = counts.wrapping_mul(quiet.stride);
            quiet.counter = quiet.counter.wrapping_add(change);
        }
        quiet.from = now;
        quiet.passed = 2 * quiet.phase + edges % 2;
        true
    }

    /// The counter at `now`, how it goes on (up, or not at all), and until when, as far as
    /// [`Timer::look`] has found out; `None` where it has not.
    pub fn forecast(&self, clock: &BasicClock, now: Cycles) -> Option<(u16, bool, Cycles)> {
        let quiet = &self.quiet;
        let rate = clock.rate(self.source()?);
        let ticks = rate.ticks(now);
        if ticks >= quiet.until || quiet.stride > 1 {
            return None;
        }
        let until = if quiet.until == u64::MAX {
            Cycles::NEVER
        } else {
            rate.cycle_of(quiet.until)
        };
        let counts = (quiet.phase + (ticks - quiet.seen)) >> self.divider().trailing_zeros();
        let counter = quiet.counter.wrapping_add(counts as u16 * quiet.stride);
        Some((counter, quiet.stride != 0, until))
    }

    /// By when the counter has counted more than `counts` since `now`, as long as it only counts.
    pub fn counted(&self, clock: &BasicClock, now: Cycles, counts: u64) -> Cycles {
        let Some(source) = self.source() else {
            return Cycles::NEVER;
        };
        let rate = clock.rate(source);
        let (quiet, divider) = (&self.quiet, self.divider());
        let before = (quiet.phase + (rate.ticks(now) - quiet.seen)) / divider;
        rate.cycle_of(quiet.seen + (before + counts + 1) * divider - quiet.phase)
    }

    /// Bring the timer up to `now`, stopping at each edge of ACLK if a channel captures it;
    /// [`Timer::take_outputs`] returns the outputs that changed.
    pub fn advance(&mut self, clock: &BasicClock, now: Cycles) {
        // The caller may change what happens next.
        self.quiet = Quiet::default();
        self.pass_over_captures(clock, now);
        while self.channels.iter().any(Self::captures_aclk) {
            let (edge, rising) = clock.rate(Source::Aclk).next_edge(self.looked);
            if edge > now {
                break;
            }
            self.synchronize(clock, edge);
            self.looked = edge;
            let counter = self.counter;
            for channel in &mut self.channels {
                if Self::captures_aclk(channel) {
                    channel.capture(rising, counter);
                }
            }
        }
        self.looked = now;
        self.synchronize(clock, now);
    }

    /// Skip edges of ACLK whose captures are overwritten by later ones. Of the last four edges,
    /// each capturing channel captures at least two, which is all that its flags can show.
    fn pass_over_captures(&mut self, clock: &BasicClock, now: Cycles) {
        const EDGES: u64 = 4;
        // Channel 0 may set the limit, so that its captures change the count.
        if Self::captures_aclk(&self.channels[0]) {
            return;
        }
        let rate = clock.rate(Source::Aclk);
        let Some(edge) = rate.edges(now).checked_sub(EDGES) else {
            return;
        };
        let before = rate.cycle_of_edge(edge);
        // If edges are at least two cycles apart, each falls in a different cycle.
        if before > self.looked && now.0 - before.0 > 2 * (EDGES + 1) {
            self.looked = before;
        }
    }

    /// Take the changes of watched outputs since the last call, in order.
    pub fn take_outputs(&mut self) -> Vec<OutputChange> {
        std::mem::take(&mut self.outputs)
    }

    /// Set which outputs are visible on pins.
    pub fn watch(&mut self, channels: u8) {
        self.watched = channels;
    }

    /// The level of an output.
    pub fn output(&self, channel: usize) -> bool {
        self.channels[channel].out
    }

    /// Set the level of a channel's input pin.
    pub fn set_pin(&mut self, channel: usize, high: bool, clock: &BasicClock, now: Cycles) {
        self.advance(clock, now);
        let counter = self.counter;
        let channel = &mut self.channels[channel];
        let changed = channel.pin != high;
        channel.pin = high;
        if changed && channel.input() == Some(Input::Pin) {
            channel.capture(high, counter);
        }
    }

    /// When the timer next needs attention.
    pub fn next_event(&self, clock: &BasicClock) -> Cycles {
        let mut next = Cycles::NEVER;
        // A capture without an interrupt is processed when the timer is next accessed.
        let interrupts = |c: &Channel| c.control & (CCIE | CCIFG) == CCIE && Self::captures_aclk(c);
        if self.channels.iter().any(interrupts) {
            next = clock.rate(Source::Aclk).next_edge(self.looked).0;
        }
        let Some(source) = self.source() else {
            return next;
        };
        if !self.is_counting() {
            return next;
        }
        let mut steps = u64::MAX;
        let mut consider = |distance: Option<u64>| {
            steps = steps.min(distance.unwrap_or(u64::MAX));
        };
        if self.control & (TXIE | TXIFG) == TXIE {
            consider(self.distance(0));
        }
        for (index, channel) in self.channels.iter().enumerate() {
            let compares = !channel.is_capture();
            if compares && channel.control & (CCIE | CCIFG) == CCIE {
                consider(self.distance(channel.latch));
            }
            if compares && self.watched & 1 << index != 0 && channel.output_mode() != 0 {
                consider(self.distance(channel.latch));
                consider(self.distance(self.channels[0].latch));
            }
        }
        if steps == u64::MAX {
            return next;
        }
        let tick = self.seen + steps * self.divider() - self.phase;
        next.min(clock.rate(source).cycle_of(tick))
    }

    /// `TxCTL`, as of the last [`Timer::look`], like all read-only accessors.
    pub fn txctl(&self) -> u16 {
        self.control
    }

    /// Write `TxCTL`.
    ///
    /// # Errors
    /// The value selects a clock from a pin, or grouped latches.
    pub fn set_txctl(&mut self, value: u16, clock: &BasicClock, now: Cycles) -> Result<(), Fault> {
        self.advance(clock, now);
        let absent = |what: String| Err(Fault::new(FaultKind::Absent, what));
        if value >> 4 & 3 != 0 && !matches!(value >> 8 & 3, 1 | 2) {
            return absent(format!(
                "{} counts a clock from a pin, which the emulation leaves out",
                self.name
            ));
        }
        if self.kind == Kind::B && value & CLGRP != 0 {
            return absent(format!(
                "{} groups its compare latches, which the emulation leaves out",
                self.name
            ));
        }
        let mask = match self.kind {
            Kind::A => 0x03f3,
            Kind::B => 0x1bf3,
        };
        self.control = value & mask;
        if value & TXCLR != 0 {
            // The counter, the divider and the direction (section 11.3).
            self.counter = 0;
            self.phase = 0;
            self.down = false;
        }
        if self.mode() != 3 {
            self.down = false;
        }
        self.phase %= self.divider();
        self.counter &= self.longest();
        if let Some(source) = self.source() {
            self.seen = clock.rate(source).ticks(now);
        }
        Ok(())
    }

    /// `TxR`, the counter; call [`Timer::look`] first.
    #[inline]
    pub fn txr(&self, now: Cycles) -> u16 {
        self.foreseen(now).unwrap_or(self.counter)
    }

    /// The counter, if the forecast covers `now`.
    #[inline]
    fn foreseen(&self, now: Cycles) -> Option<u16> {
        let quiet = &self.quiet;
        (now < quiet.end).then(|| {
            let edges = quiet.passed + (now.0 - quiet.from.0) * quiet.per_cycle;
            let counts = edges >> (1 + (self.control >> 6 & 3));
            quiet
                .counter
                .wrapping_add((counts as u16).wrapping_mul(quiet.stride))
        })
    }

    /// Write `TxR`.
    pub fn set_txr(&mut self, value: u16, clock: &BasicClock, now: Cycles) {
        self.advance(clock, now);
        self.counter = value & self.longest();
    }

    /// Whether a channel captures edges that only [`Timer::look`] brings up to date.
    #[inline]
    pub fn is_deferred(&self, channel: usize) -> bool {
        self.channels.get(channel).is_some_and(Self::captures_aclk)
    }

    /// Whether the timer has this channel.
    pub fn has_channel(&self, channel: usize) -> bool {
        channel < self.channels.len()
    }

    /// `TxCCTLn`.
    pub fn txcctl(&mut self, channel: usize, clock: &BasicClock, now: Cycles) -> u16 {
        let channel = &mut self.channels[channel];
        channel.control = channel.control_at(clock, now);
        channel.control
    }

    /// `TxCCTLn`, if its input is no clock, so that it stays so.
    pub fn still_txcctl(&self, channel: usize, clock: &BasicClock, now: Cycles) -> Option<u16> {
        let channel = &self.channels[channel];
        let is_still = channel.input() != Some(Input::Aclk);
        is_still.then(|| channel.control_at(clock, now))
    }

    /// Write `TxCCTLn`.
    ///
    /// # Errors
    /// The value captures an input that the emulation leaves out.
    pub fn set_txcctl(
        &mut self,
        index: usize,
        value: u16,
        clock: &BasicClock,
        now: Cycles,
    ) -> Result<(), Fault> {
        self.advance(clock, now);
        let keep = CCI | SCCI;
        let latch_now = self.kind == Kind::A || value & CLLD == 0;
        let channel = &mut self.channels[index];
        let was_capture = channel.is_capture();
        let old_level = channel.input_level(clock, now);
        // Bits 9 and 10 are CLLD in Timer_B; Timer_A has SCCI in bit 10.
        channel.control = match self.kind {
            Kind::A => value & !keep | channel.control & keep,
            Kind::B => value & !CCI | channel.control & CCI,
        };
        if channel.is_capture() && channel.edges() != 0 && channel.input() == Some(Input::Absent) {
            return Err(Fault::new(
                FaultKind::Absent,
                format!(
                    "{} captures the output of Comparator_A, which the emulation leaves out",
                    self.name
                ),
            ));
        }
        let counter = self.counter;
        let level = channel.input_level(clock, now);
        // Software capture: CCIS switches between ground and supply while CAP is set (section
        // 11.2.4). Switching between other inputs captures nothing here.
        if level != old_level && was_capture && channel.input().is_none() {
            channel.capture(level, counter);
        }
        if latch_now {
            channel.latch = channel.value;
        }
        if channel.output_mode() == 0 {
            let out = value & OUT != 0;
            self.set_output(index, out);
        }
        Ok(())
    }

    /// `TxCCRn`.
    pub fn txccr(&self, channel: usize) -> u16 {
        self.channels[channel].value
    }

    /// Write `TxCCRn`.
    pub fn set_txccr(&mut self, channel: usize, value: u16, clock: &BasicClock, now: Cycles) {
        self.advance(clock, now);
        let at_once = self.kind == Kind::A || self.channels[channel].control & CLLD == 0;
        let channel = &mut self.channels[channel];
        channel.value = value;
        if at_once {
            channel.latch = value;
        }
    }

    /// The `TxIV` number of the highest pending source of the shared vector; 0 for none.
    fn pending(&self) -> u16 {
        let enabled = |control: u16| control & (CCIE | CCIFG) == CCIE | CCIFG;
        let shared = self.channels.iter().enumerate().skip(1);
        for (index, channel) in shared {
            if enabled(channel.control) {
                return 2 * index as u16;
            }
        }
        if self.control & (TXIE | TXIFG) == TXIE | TXIFG {
            // TAIFG is 0x0a although Timer_A3 has only two channels in TAIV (section 11.3); TBIFG
            // is 0x0e.
            return match self.kind {
                Kind::A => 0x0a,
                Kind::B => 0x0e,
            };
        }
        0
    }

    /// Whether channel 0 requests its vector.
    pub fn is_channel_0_pending(&self) -> bool {
        self.channels[0].control & (CCIE | CCIFG) == CCIE | CCIFG
    }

    /// Whether another source requests the shared vector.
    pub fn is_shared_pending(&self) -> bool {
        self.pending() != 0
    }

    /// Accept channel 0's interrupt, which clears its flag (section 11.2.6).
    pub fn acknowledge_channel_0(&mut self) {
        self.channels[0].control &= !CCIFG;
    }

    /// `TxIV`: any access clears the flag that it reports (section 11.2.6).
    pub fn txiv(&mut self, clock: &BasicClock, now: Cycles) -> u16 {
        self.advance(clock, now);
        let pending = self.pending();
        let overflow = match self.kind {
            Kind::A => 0x0a,
            Kind::B => 0x0e,
        };
        if pending == overflow {
            self.control &= !TXIFG;
        } else if pending != 0 {
            self.channels[usize::from(pending / 2)].control &= !CCIFG;
        }
        pending
    }
}
