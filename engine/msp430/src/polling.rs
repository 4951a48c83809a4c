//! Loops that poll a register: what they would only repeat is skipped, exact to the cycle.
//!
//! When the fast loop has come to the same polling instruction a few times, one iteration from
//! there is rehearsed on values that say how they go on. A value is a line (as it is now, and how
//! much it grows with each iteration; constants do not), a count of a peripheral, or unknown. The
//! rehearsal holds if it comes back to the instruction with all that it had read before writing it
//! on these lines. It also finds for how many iterations each register reads and each condition
//! decides as now. All but the last of these iterations are skipped: the cycle and instruction
//! counters and the lines move on, and nothing else differs. The last one is executed, because it
//! leaves what the iteration writes before it reads.

use joulemark_kernel::Cycles;

use crate::alu::{Double, Flags, Single};
use crate::bus::{Bus, Width};
use crate::core::Core;
use crate::decode::{Action, Condition, Destination, Instruction, Source};
use crate::registers::{CG, PC, SP, SR};
use crate::timing;

/// Visits before a loop is rehearsed, at least; failure doubles them.
const PATIENCE: u32 = 2;
const LONGEST_PATIENCE: u32 = 1 << 12;
/// Visits of other polling instructions until another loop is looked at.
const OTHERS: u32 = 8;
/// The longest iteration, in instructions.
const LONGEST: u32 = 48;
/// Iterations whose skipping is worth a rehearsal.
const WORTH: u64 = 8;

/// The polling instruction that is looked at.
pub(crate) struct Polls {
    slot: usize,
    visits: u32,
    patience: u32,
    others: u32,
    /// Whether the loop that begins here is to be rehearsed now.
    pub is_due: bool,
}

impl Polls {
    pub const fn new() -> Self {
        Self {
            slot: 0,
            visits: 0,
            patience: PATIENCE,
            others: 0,
            is_due: false,
        }
    }

    /// Note that the instruction in this slot polls; whether its loop is due for a rehearsal.
    pub fn visit(&mut self, slot: usize) -> bool {
        if slot != self.slot {
            self.others += 1;
            if self.others > OTHERS {
                *self = Self::new();
                self.slot = slot;
            }
            return false;
        }
        self.others = 0;
        self.visits += 1;
        self.is_due = self.visits >= self.patience;
        self.is_due
    }

    /// Note how many iterations were skipped.
    fn rehearsed(&mut self, skipped: u64) {
        self.is_due = false;
        self.visits = 0;
        self.patience = if skipped >= WORTH {
            PATIENCE
        } else {
            LONGEST_PATIENCE.min(2 * self.patience)
        };
    }
}

/// A value in the first iteration, and how it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    now: u16,
    course: Course,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// It changes by this with each iteration.
    Line(u16),
    /// The count of the peripheral register at this address, read at this time, plus a constant; or
    /// a constant less the count.
    Count {
        address: u16,
        at: u64,
        falls: bool,
    },
    Unknown,
}

impl Value {
    const fn constant(now: u16) -> Self {
        Self {
            now,
            course: Course::Line(0),
        }
    }

    const fn unknown(now: u16) -> Self {
        Self {
            now,
            course: Course::Unknown,
        }
    }

    fn is_constant(self) -> bool {
        self.course == Course::Line(0)
    }

    /// The sum with, or difference from, another, whose value in the first iteration is known.
    fn combined(self, other: Self, subtract: bool, now: u16) -> Self {
        use Course::{Count, Line, Unknown};
        let course = match (self.course, other.course) {
            (Line(slope), Line(more)) if subtract => Line(slope.wrapping_sub(more)),
            (Line(slope), Line(more)) => Line(slope.wrapping_add(more)),
            (count @ Count { .. }, Line(0)) => count,
            (Line(0), Count { address, at, falls }) => Count {
                address,
                at,
                falls: falls != subtract,
            },
            _ => Unknown,
        };
        Self { now, course }
    }
}

/// The flags in the first iteration, and how they go on.
#[derive(Clone, Copy)]
enum Decided {
    /// As they are when the iteration begins.
    Before,
    Constant,
    /// By these operands and their result.
    By([Value; 3]),
    Unknown,
}

/// Bytes of memory that the iteration wrote.
struct Written {
    address: u16,
    byte: bool,
    value: Value,
    /// Whether the iteration read them before, so that they have to be as before in the end.
    is_read: bool,
}

/// An iteration that cannot be foreseen.
struct Unforeseen;

struct Rehearsal<'a, B: Bus> {
    core: &'a Core<B>,
    /// How much each register grows with each iteration, and how long that takes; in the first
    /// rehearsal neither is known.
    slopes: [u16; 16],
    period: Option<u64>,
    registers: [Value; 16],
    /// Registers that were read before they were written, one bit each, and those that were written.
    read: u16,
    written: u16,
    flags: Flags,
    decided: Decided,
    are_flags_read: bool,
    memory: Vec<Written>,
    read_memory: Vec<(u16, bool)>,
    cycles: u64,
    instructions: u64,
    /// Iterations that go as the first one, with it.
    alike: u64,
}

impl<'a, B: Bus> Rehearsal<'a, B> {
    fn new(core: &'a Core<B>, slopes: [u16; 16], period: Option<u64>) -> Self {
        let registers = core.state.registers;
        Self {
            core,
            slopes,
            period,
            registers: std::array::from_fn(|number| Value {
                now: registers[number],
                course: Course::Line(slopes[number]),
            }),
            read: 0,
            written: 0,
            flags: Flags::from_status(registers[SR]),
            decided: Decided::Before,
            are_flags_read: false,
            memory: Vec::new(),
            read_memory: Vec::new(),
            cycles: core.cycles,
            instructions: 0,
            alike: u64::MAX,
        }
    }

    /// Go through one iteration.
    fn run(mut self) -> Result<Self, Unforeseen> {
        let start = self.core.state.registers[PC];
        let mut pc = start;
        for _ in 0..LONGEST {
            if self.core.state.is_breakpoint(pc) {
                break;
            }
            let instruction = self.core.fetch(pc).map_err(|_| Unforeseen)?;
            self.cycles += u64::from(instruction.cycles);
            self.instructions += 1;
            pc = self.execute(&instruction, pc.wrapping_add(instruction.length))?;
            if pc == start {
                return self.returns().then_some(self).ok_or(Unforeseen);
            }
        }
        Err(Unforeseen)
    }

    /// Whether all that was read before it was written is on its line again.
    fn returns(&self) -> bool {
        let begin = &self.core.state.registers;
        let moved = self.read & self.written;
        let registers = (1..16).filter(|number| moved >> number & 1 != 0);
        let mut on_line = registers.filter(|&number| number != SR).map(|number| {
            let slope = self.slopes[number];
            let next = Value {
                now: begin[number].wrapping_add(slope),
                course: Course::Line(slope),
            };
            // Where the slopes are not known yet, any will do.
            let Value { now, course } = self.registers[number];
            matches!(course, Course::Line(_)) && self.period.is_none()
                || Value { now, course } == next
        });
        let flags = !self.are_flags_read
            || matches!(self.decided, Decided::Before | Decided::Constant)
                && self.flags.into_status(0) == Flags::from_status(begin[SR]).into_status(0);
        let memory = self.memory.iter().all(|written| {
            !written.is_read
                || written.value
                    == Value::constant(self.core.state.load(written.address, written.byte))
        });
        flags && memory && on_line.all(|on_line| on_line)
    }

    /// What is so at `time` holds before `end`: as often as the iterations since then.
    fn holds_until(&mut self, time: u64, end: Cycles) {
        if let Some(period) = self.period {
            let times = end.0.saturating_sub(time).div_ceil(period);
            self.alike = self.alike.min(times);
        }
    }

    /// Stay with the iterations in which a value does not leave its half of all numbers, by sign,
    /// or in which it is not zero.
    fn keep(&mut self, value: Value, is_sign: bool) -> Result<(), Unforeseen> {
        let Value { now, course } = value;
        if self.period.is_none() && course != Course::Unknown {
            return Ok(());
        }
        // How far it can go up and down.
        let (bottom, top) = match (is_sign, now) {
            (_, 0) => (0, 0),
            (false, _) => (1, 0xffff),
            (true, 0x8000..) => (0x8000, 0xffff),
            (true, _) => (1, 0x7fff),
        };
        let (up, down) = (top - now, now - bottom);
        match course {
            Course::Line(0) => {}
            Course::Line(slope) => {
                let slope = slope as i16;
                let room = if slope > 0 { up } else { down };
                let steps = room / slope.unsigned_abs();
                self.alike = self.alike.min(u64::from(steps) + 1);
            }
            Course::Count { address, at, falls } => {
                let room = if falls { down } else { up };
                let end = self.core.bus.counted(address, Cycles(at), room.into());
                self.holds_until(at, end);
            }
            Course::Unknown => return Err(Unforeseen),
        }
        Ok(())
    }

    /// The flags are needed; all of them, or zero alone.
    fn decide(&mut self, is_zero: bool) -> Result<(), Unforeseen> {
        match self.decided {
            Decided::Before => self.are_flags_read = true,
            Decided::Constant => {}
            Decided::By([_, _, result]) if is_zero => self.keep(result, false)?,
            Decided::By(values) => {
                for value in values {
                    self.keep(value, true)?;
                }
            }
            Decided::Unknown => return Err(Unforeseen),
        }
        Ok(())
    }

    fn register(&mut self, number: u8) -> Result<Value, Unforeseen> {
        let bit = 1 << number;
        match usize::from(number) {
            PC | SR => Err(Unforeseen),
            CG => Ok(Value::constant(0)),
            number => {
                if self.written & bit == 0 {
                    self.read |= bit;
                }
                Ok(self.registers[number])
            }
        }
    }

    fn set(&mut self, number: u8, value: Value) -> Result<(), Unforeseen> {
        match usize::from(number) {
            PC | SR | CG => Err(Unforeseen),
            SP if !value.is_constant() || value.now < self.core.observer.low() => Err(Unforeseen),
            number => {
                self.written |= 1 << number;
                self.registers[number] = value;
                Ok(())
            }
        }
    }

    /// An address that does not change.
    fn address(&mut self, base: u8, offset: u16) -> Result<u16, Unforeseen> {
        let base = self.register(base)?;
        if base.is_constant() {
            Ok(base.now.wrapping_add(offset))
        } else {
            Err(Unforeseen)
        }
    }

    fn load(&mut self, address: u16, byte: bool, before_end: u64) -> Result<Value, Unforeseen> {
        let state = &self.core.state;
        let bytes = |address: u16, byte: bool| address..=address + u16::from(!byte);
        if state.is_peripheral(address) && (byte || address & 1 == 0) {
            let at = self.cycles.saturating_sub(before_end);
            let forecast = self
                .core
                .bus
                .forecast(address, Width::of(byte), Cycles(at))
                .ok_or(Unforeseen)?;
            self.holds_until(at, forecast.until);
            let course = if forecast.counts {
                Course::Count {
                    address,
                    at,
                    falls: false,
                }
            } else {
                Course::Line(0)
            };
            return Ok(Value {
                now: forecast.value,
                course,
            });
        }
        if !state.may(address, byte, false) {
            return Err(Unforeseen);
        }
        for written in &self.memory {
            if (written.address, written.byte) == (address, byte) {
                return Ok(written.value);
            }
            let other = bytes(written.address, written.byte);
            if bytes(address, byte).any(|at| other.contains(&at)) {
                return Err(Unforeseen);
            }
        }
        self.read_memory.push((address, byte));
        Ok(Value::constant(state.load(address, byte)))
    }

    fn store(&mut self, address: u16, byte: bool, value: Value) -> Result<(), Unforeseen> {
        if !self.core.state.may(address, byte, true) {
            return Err(Unforeseen);
        }
        let bytes = |address: u16, byte: bool| address..=address + u16::from(!byte);
        let overlaps = |other: u16, is_byte: bool| {
            let other = bytes(other, is_byte);
            bytes(address, byte).any(|at| other.contains(&at))
        };
        for written in &mut self.memory {
            if (written.address, written.byte) == (address, byte) {
                written.value = value;
                return Ok(());
            }
            if overlaps(written.address, written.byte) {
                return Err(Unforeseen);
            }
        }
        let is_read = self
            .read_memory
            .iter()
            .any(|&(other, is_byte)| overlaps(other, is_byte));
        self.memory.push(Written {
            address,
            byte,
            value,
            is_read,
        });
        Ok(())
    }

    fn source(&mut self, source: Source, byte: bool, before_end: u64) -> Result<Value, Unforeseen> {
        let address = match source {
            Source::Constant(value) => return Ok(Value::constant(value)),
            Source::Register(number) => return Ok(narrowed(self.register(number)?, byte)),
            Source::Indexed(base, offset) => self.address(base, offset)?,
            Source::Absolute(address) => address,
            Source::Indirect(base) | Source::Autoincrement(base, _) => self.address(base, 0)?,
        };
        let value = self.load(address, byte, before_end)?;
        if let Source::Autoincrement(base, step) = source {
            self.set(base, Value::constant(address.wrapping_add(step)))?;
        }
        Ok(value)
    }

    fn double(
        &mut self,
        operation: Double,
        byte: bool,
        source: Value,
        destination: Value,
    ) -> Result<Value, Unforeseen> {
        if matches!(operation, Double::Addc | Double::Subc | Double::Dadd) {
            self.decide(false)?;
        }
        let mut flags = self.flags;
        let (s, d) = (u32::from(source.now), u32::from(destination.now));
        let now = flags.double(operation, byte, s, d) as u16;
        let is_constant = source.is_constant() && destination.is_constant();
        let result = match operation {
            Double::Mov => source,
            _ if is_constant => Value::constant(now),
            Double::Add if !byte => destination.combined(source, false, now),
            Double::Sub | Double::Cmp if !byte => destination.combined(source, true, now),
            _ => Value::unknown(now),
        };
        if operation.sets_flags() {
            self.flags = flags;
            self.decided = match result.course {
                _ if is_constant => Decided::Constant,
                Course::Unknown => Decided::Unknown,
                _ => Decided::By([source, destination, result]),
            };
        }
        Ok(result)
    }

    /// Execute one instruction, and return where the next one is.
    fn execute(&mut self, instruction: &Instruction, next: u16) -> Result<u16, Unforeseen> {
        let byte = instruction.byte;
        let first = u64::from(instruction.cycles) - 1;
        match instruction.action {
            Action::Jump(condition, target) => {
                if condition != Condition::Always {
                    let is_zero = matches!(condition, Condition::Zero | Condition::NotZero);
                    self.decide(is_zero)?;
                }
                return Ok(if condition.holds(self.flags) {
                    target
                } else {
                    next
                });
            }
            action if action == Action::RETURN && !byte => {
                let target = self.source(Source::Autoincrement(SP as u8, 2), false, 0)?;
                return if target.is_constant() {
                    Ok(target.now)
                } else {
                    Err(Unforeseen)
                };
            }
            Action::Double(Double::Mov, Source::Constant(target), Destination::Register(0))
                if !byte =>
            {
                return Ok(target);
            }
            Action::Double(operation, source, Destination::Register(2)) => {
                // CLRC and SETC.
                let carry = match (operation, source) {
                    (Double::Bic, Source::Constant(1)) => false,
                    (Double::Bis, Source::Constant(1)) => true,
                    _ => return Err(Unforeseen),
                };
                self.decide(false)?;
                self.flags.set_carry(carry);
                self.decided = Decided::Constant;
            }
            Action::Double(operation, source, destination) => {
                let is_memory = !matches!(destination, Destination::Register(_));
                let value = self.source(source, byte, timing::read_before_end(is_memory))?;
                let reads = operation.reads_destination();
                let address = match destination {
                    Destination::Register(number) => {
                        let before = if reads { self.register(number)? } else { value };
                        let result = self.double(operation, byte, value, narrowed(before, byte))?;
                        if operation.writes() && number != CG as u8 {
                            self.set(number, result)?;
                        }
                        return Ok(next);
                    }
                    Destination::Indexed(base, offset) => self.address(base, offset)?,
                    Destination::Absolute(address) => address,
                };
                let before = if reads {
                    self.load(address, byte, timing::READ_BACK_BEFORE_END)?
                } else {
                    value
                };
                let result = self.double(operation, byte, value, before)?;
                if operation.writes() {
                    self.store(address, byte, result)?;
                }
            }
            Action::Single(operation, source) => {
                if operation == Single::Rrc {
                    self.decide(false)?;
                }
                let value = self.source(source, byte, 0)?;
                let now = self.flags.single(operation, byte, u32::from(value.now)) as u16;
                let (result, decided) = if value.is_constant() {
                    (Value::constant(now), Decided::Constant)
                } else {
                    (Value::unknown(now), Decided::Unknown)
                };
                if operation != Single::Swpb {
                    self.decided = decided;
                }
                match source {
                    Source::Register(number) => self.set(number, result)?,
                    Source::Indexed(base, offset) => {
                        let address = self.address(base, offset)?;
                        self.store(address, byte, result)?;
                    }
                    Source::Absolute(address) => self.store(address, byte, result)?,
                    _ => return Err(Unforeseen),
                }
            }
            Action::Push(source) if !byte => {
                let sp = self.make_room()?;
                let value = self.source(source, byte, first)?;
                self.store(sp, byte, value)?;
            }
            Action::Call(Source::Constant(target)) => {
                let sp = self.make_room()?;
                self.store(sp, false, Value::constant(next))?;
                return Ok(target);
            }
            _ => return Err(Unforeseen),
        }
        Ok(next)
    }

    fn make_room(&mut self) -> Result<u16, Unforeseen> {
        let sp = self.address(SP as u8, 2_u16.wrapping_neg())?;
        self.set(SP as u8, Value::constant(sp))?;
        Ok(sp)
    }
}

/// A register as an operand: of a byte instruction, its low half.
fn narrowed(value: Value, byte: bool) -> Value {
    match (byte, value.is_constant()) {
        (false, _) => value,
        (true, true) => Value::constant(value.now & 0xff),
        (true, false) => Value::unknown(value.now & 0xff),
    }
}

impl<B: Bus> Core<B> {
    /// Rehearse the loop of the polling instruction that comes next, and skip what it repeats
    /// before `until`.
    pub(crate) fn skip_polling(&mut self, until: u64) {
        let skipped = self.skip_iterations(until).unwrap_or(0);
        self.polls.rehearsed(skipped);
    }

    fn skip_iterations(&mut self, until: u64) -> Result<u64, Unforeseen> {
        let begin = self.state.registers;
        let first = Rehearsal::new(self, [0; 16], None).run()?;
        let moves = first.read & first.written & !(1 << SP);
        let slopes = std::array::from_fn(|number| {
            let moves = moves >> number & 1 != 0;
            let change = first.registers[number].now.wrapping_sub(begin[number]);
            if moves { change } else { 0 }
        });
        let period = first.cycles - self.cycles;
        let second = Rehearsal::new(self, slopes, Some(period)).run()?;
        let instructions = second.instructions;
        let left = (until - self.cycles) / period;
        let skipped = second.alike.min(left).saturating_sub(1);
        self.cycles += skipped * period;
        self.instructions += skipped * instructions;
        for (register, slope) in self.state.registers.iter_mut().zip(slopes) {
            *register = register.wrapping_add(slope.wrapping_mul(skipped as u16));
        }
        Ok(skipped)
    }
}
