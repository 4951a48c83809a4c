//! ADC12 (chapter 17): conversions started by software. Triggers from timer outputs are left out.

use joulemark_kernel::{Cycles, Fault, FaultKind, Picoseconds, Signal};

use crate::basic_clock::{BasicClock, Source};

/// ADC12CTL0.
const SC: u16 = 1 << 0;
const ENC: u16 = 1 << 1;
const TOVIE: u16 = 1 << 2;
const OVIE: u16 = 1 << 3;
const ON: u16 = 1 << 4;
const REFON: u16 = 1 << 5;
const REF2_5V: u16 = 1 << 6;
const MSC: u16 = 1 << 7;
/// Bits of ADC12CTL0 and ADC12CTL1 that can be changed with ENC = 1 (section 17.3).
const CTL0_ALWAYS: u16 = 0x000f;
const CTL1_ALWAYS: u16 = 0x0006;
/// ADC12CTL1: busy, pulse sample mode, and the source of the sample signal.
const BUSY: u16 = 1 << 0;
const CONSEQ: u16 = 3 << 1;
const SHP: u16 = 1 << 9;
const SHS: u16 = 3 << 10;
/// `ADC12MCTLx`: end of sequence.
const EOS: u8 = 1 << 7;

/// `ADC12CLK` periods of sampling, by `SHTx` (section 17.3, `ADC12CTL0`).
const SAMPLE: [u16; 16] = [
    4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1024, 1024, 1024,
];
/// `ADC12CLK` periods of a conversion (section 17.2.5).
const CONVERSION: u16 = 13;
/// ADC12OSC: the middle of 3.7 to 6.3 MHz (SLAS368G, 12-bit ADC, timing parameters), inferred.
const OSCILLATOR: Picoseconds = Picoseconds(200_000);

/// The temperature sensor at 0 degrees Celsius, and per degree (SLAS368G, 12-bit ADC, temperature
/// sensor and built-in V(MID), typical).
const SENSOR_UV: i64 = 986_000;
const SENSOR_UV_PER_DEGREE: i64 = 3_550;

/// External inputs.
const EXTERNAL: usize = 8;

/// Quantities that [`Adc12::surround`] takes: the temperature, and voltages at the inputs.
pub const SENSES: [&str; 1 + EXTERNAL] = [
    "temperature_c",
    "A0_v",
    "A1_v",
    "A2_v",
    "A3_v",
    "A4_v",
    "A5_v",
    "A6_v",
    "A7_v",
];

/// What the converter measures.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// `AVcc` in millivolt.
    supply_mv: u32,
    /// The chip's temperature, then the voltages at the external inputs.
    sensed: [Signal; 1 + EXTERNAL],
}

impl Inputs {
    /// Constant inputs, the external ones at 0 V.
    pub fn new(supply_mv: u32, temperature_c: i32) -> Self {
        let mut sensed = std::array::from_fn(|_| Signal::constant(0));
        sensed[0] = Signal::constant(i64::from(temperature_c) * 1_000_000);
        Self { supply_mv, sensed }
    }
}

/// When a conversion ends, by its clock.
#[derive(Clone, Copy, Debug)]
enum End {
    Tick(Source, u64),
    Cycle(Cycles),
    Time(Picoseconds),
}

/// The converter.
#[derive(Clone, Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the module's own"
)]
pub struct Adc12 {
    inputs: Inputs,
    ctl0: u16,
    ctl1: u16,
    ifg: u16,
    ie: u16,
    mctl: [u8; 16],
    /// A reset leaves it unchanged; here, power-up zeroes it.
    mem: [u16; 16],
    /// Unread results.
    unread: u16,
    /// Conditions in ADC12IV: a result was overwritten; a conversion was requested too early.
    is_overflow: bool,
    is_time_overflow: bool,
    /// The next conversion memory.
    pointer: usize,
    /// A sequence is in progress.
    is_in_sequence: bool,
    /// With SHP = 0, the sample signal is high.
    is_sampling: bool,
    end: Option<End>,
    /// The conversion that triggers a DMA channel has ended since the last clear.
    has_ended: bool,
}

impl Adc12 {
    /// The state after a power-up clear.
    pub fn new(inputs: Inputs) -> Self {
        Self {
            inputs,
            ctl0: 0,
            ctl1: 0,
            ifg: 0,
            ie: 0,
            mctl: [0; 16],
            mem: [0; 16],
            unread: 0,
            is_overflow: false,
            is_time_overflow: false,
            pointer: 0,
            is_in_sequence: false,
            is_sampling: false,
            end: None,
            has_ended: false,
        }
    }

    /// Take one of [`SENSES`].
    pub fn surround(&mut self, quantity: &str, signal: &Signal) {
        if let Some(index) = SENSES.iter().position(|&name| name == quantity) {
            self.inputs.sensed[index] = signal.clone();
        }
    }

    /// `ADC12MCTLx`.
    pub fn mctl(&self, index: usize) -> u8 {
        self.mctl[index]
    }

    /// Write `ADC12MCTLx`.
    pub fn set_mctl(&mut self, index: usize, value: u8) {
        if self.ctl0 & ENC == 0 {
            self.mctl[index] = value;
        }
    }

    /// Read a 16-bit register; `None` if the module does not have it.
    pub fn read(&mut self, address: u16) -> Option<u16> {
        Some(match address {
            0x0140..=0x015e => {
                let index = usize::from(address - 0x0140) / 2;
                // Any access resets the flag (section 17.2.10).
                self.ifg &= !(1 << index);
                self.unread &= !(1 << index);
                self.mem[index]
            }
            0x01a0 => self.ctl0,
            0x01a2 => self.ctl1 & !BUSY | u16::from(self.is_busy()),
            0x01a4 => self.ifg,
            0x01a6 => self.ie,
            0x01a8 => self.iv(),
            _ => return None,
        })
    }

    /// `CONSEQx`: bit 0 for sequences, bit 1 for repetition.
    const fn mode(&self) -> u16 {
        (self.ctl1 & CONSEQ) >> 1
    }

    fn is_busy(&self) -> bool {
        self.end.is_some() || self.is_sampling || self.is_in_sequence
    }

    /// Return the highest enabled source. An access resets the overflow conditions, but not the
    /// flags (section 17.2.10).
    fn iv(&mut self) -> u16 {
        if self.ctl0 & OVIE != 0 && std::mem::take(&mut self.is_overflow) {
            return 2;
        }
        if self.ctl0 & TOVIE != 0 && std::mem::take(&mut self.is_time_overflow) {
            return 4;
        }
        match self.ifg & self.ie {
            0 => 0,
            pending => 6 + 2 * pending.trailing_zeros() as u16,
        }
    }

    /// Write a 16-bit register; false if the module does not have it.
    ///
    /// # Errors
    /// The value selects a timer to start conversions.
    pub fn write(
        &mut self,
        address: u16,
        value: u16,
        clock: &BasicClock,
        now: Cycles,
    ) -> Result<bool, Fault> {
        match address {
            0x0140..=0x015e => {
                let index = usize::from(address - 0x0140) / 2;
                self.ifg &= !(1 << index);
                self.mem[index] = value & 0x0fff;
            }
            0x01a0 => {
                let change = self.changeable(CTL0_ALWAYS);
                let control = self.ctl0 & !change | value & change;
                if control & (ON | ENC) == ON | ENC && self.ctl1 & SHS != 0 {
                    let what = "ADC12 waits for a timer to start a conversion (SHSx in ADC12CTL1), \
                                which the emulation leaves out";
                    return Err(Fault::new(FaultKind::Absent, what));
                }
                let was_enabled = self.ctl0 & ENC != 0;
                self.ctl0 = control;
                self.signal(was_enabled, clock, now);
            }
            0x01a2 => {
                let change = self.changeable(CTL1_ALWAYS) & !BUSY;
                self.ctl1 = self.ctl1 & !change | value & change;
            }
            0x01a4 => self.ifg = value,
            0x01a6 => self.ie = value,
            0x01a8 => {
                self.iv();
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Act on ENC and ADC12SC after a write to ADC12CTL0.
    fn signal(&mut self, was_enabled: bool, clock: &BasicClock, now: Cycles) {
        let is_enabled = self.ctl0 & ENC != 0;
        let is_pulse = self.ctl1 & SHP != 0;
        let is_started = self.ctl0 & SC != 0;
        if is_pulse || !is_enabled || self.ctl0 & ON == 0 {
            // The hardware resets it.
            self.ctl0 &= !SC;
        }
        if !is_enabled {
            // In single-channel single-conversion mode, the conversion stops at once (section
            // 17.2.7).
            if self.mode() == 0 || self.ctl0 & ON == 0 {
                self.end = None;
                self.is_sampling = false;
                self.is_in_sequence = false;
            }
            return;
        }
        if self.ctl0 & ON == 0 {
            return;
        }
        if !was_enabled && !self.is_in_sequence {
            self.pointer = usize::from(self.ctl1 >> 12);
        }
        if self.end.is_some() {
            self.is_time_overflow |= is_started;
        } else if is_pulse && is_started {
            let sample = self.sample_periods();
            self.begin(sample + CONVERSION, clock, now);
        } else if !is_pulse && is_started {
            self.is_sampling = true;
        } else if self.is_sampling {
            self.is_sampling = false;
            self.begin(CONVERSION, clock, now);
        }
    }

    fn sample_periods(&self) -> u16 {
        let shift = if self.pointer < 8 { 8 } else { 12 };
        SAMPLE[usize::from(self.ctl0 >> shift & 15)]
    }

    /// Sample and convert for `periods` of ADC12CLK, from its next edge on.
    fn begin(&mut self, periods: u16, clock: &BasicClock, now: Cycles) {
        self.is_in_sequence = self.mode() != 0;
        let ticks = u64::from(periods) * u64::from((self.ctl1 >> 5 & 7) + 1);
        let after = |source| End::Tick(source, clock.rate(source).ticks(now) + 1 + ticks);
        self.end = Some(match self.ctl1 >> 3 & 3 {
            0 => End::Time(clock.time(now) + Picoseconds(ticks * OSCILLATOR.0)),
            1 => after(Source::Aclk),
            2 => End::Cycle(now + Cycles(1 + ticks)),
            _ => after(Source::Smclk),
        });
    }

    /// When the conversion ends.
    pub fn next_event(&self, clock: &BasicClock) -> Cycles {
        match self.end {
            None => Cycles::NEVER,
            Some(End::Tick(source, tick)) => clock.rate(source).cycle_of(tick),
            Some(End::Cycle(cycle)) => cycle,
            Some(End::Time(time)) => clock.timeline().cycle_of(time),
        }
    }

    /// Bring the converter up to `now`.
    pub fn advance(&mut self, clock: &BasicClock, now: Cycles) {
        while self.end.is_some() && self.next_event(clock) <= now {
            let at = self.next_event(clock);
            self.end = None;
            self.finish(clock, at);
        }
    }

    fn finish(&mut self, clock: &BasicClock, now: Cycles) {
        let index = self.pointer;
        let bit = 1 << index;
        self.is_overflow |= self.unread & bit != 0;
        self.mem[index] = self.result(index, clock.time(now));
        self.ifg |= bit;
        self.unread |= bit;
        let mode = self.mode();
        let is_sequence = mode & 1 != 0;
        let is_last = !is_sequence || self.mctl[index] & EOS != 0;
        self.has_ended |= is_last;
        if is_last {
            self.pointer = usize::from(self.ctl1 >> 12);
        } else {
            self.pointer = (index + 1) % 16;
        }
        let goes_on = if is_last {
            mode & 2 != 0 && self.ctl0 & ENC != 0
        } else {
            true
        };
        self.is_in_sequence = goes_on && mode != 0;
        if goes_on && mode != 0 && self.ctl0 & MSC != 0 && self.ctl1 & SHP != 0 {
            let sample = self.sample_periods();
            self.begin(sample + CONVERSION, clock, now);
        }
    }

    /// The result of a conversion that ends at a time (section 17.2.1).
    fn result(&self, index: usize, now: Picoseconds) -> u16 {
        let supply_uv = i64::from(self.inputs.supply_mv) * 1000;
        let control = self.mctl[index];
        let reference_uv = match control >> 4 & 3 {
            1 if self.ctl0 & REFON == 0 => 0,
            1 if self.ctl0 & REF2_5V != 0 => 2_500_000,
            1 => 1_500_000,
            // An external reference is assumed to be connected to AVcc.
            _ => supply_uv,
        };
        let sensed = |index: usize| self.inputs.sensed[index].at(now);
        let input_uv = match control & 15 {
            10 => SENSOR_UV + SENSOR_UV_PER_DEGREE * sensed(0) / 1_000_000,
            11..=15 => supply_uv / 2,
            8 => supply_uv,
            input @ 0..=7 => sensed(1 + usize::from(input)),
            _ => 0,
        };
        if reference_uv == 0 {
            // Without a reference, any positive input is full scale.
            return if input_uv > 0 { 0x0fff } else { 0 };
        }
        ((4095 * input_uv + reference_uv / 2) / reference_uv).clamp(0, 4095) as u16
    }

    /// Whether a conversion that triggers a DMA channel has ended.
    pub const fn has_trigger(&self) -> bool {
        self.has_ended
    }

    /// Clear the trigger: it was taken, or no channel uses it.
    pub const fn clear_trigger(&mut self) {
        self.has_ended = false;
    }

    /// Whether an enabled flag requests the module's interrupt.
    pub fn is_pending(&self) -> bool {
        self.ifg & self.ie != 0
            || self.is_overflow && self.ctl0 & OVIE != 0
            || self.is_time_overflow && self.ctl0 & TOVIE != 0
    }

    fn changeable(&self, always: u16) -> u16 {
        if self.ctl0 & ENC == 0 {
            u16::MAX
        } else {
            always
        }
    }
}
