//! The pipeline: fetch, decode, execute, and the load/store unit, cycle by cycle.
//!
//! Instructions run in order outside; each one is then *issued* here, with what was found out about
//! it (where it branches, what it accesses, how long it takes), and the pipeline goes on until that
//! instruction enters the execute stage. What happens in the same cycle happens in this order:
//! fetched words move up the prefetch queue, execute, decode, fetch, buses.
//!
//! Sources. "TRM": *Cortex-M3 Technical Reference Manual* r1p1 (ARM DDI 0337G), whose chapters 1,
//! 15 and 18 describe the prefetch unit, the branch status interface and instruction timing. Where
//! it is silent, a rule cites the calibration programs that show it, measured on a CC2650 and an
//! STM32F100 (`CMEmu`'s `instructions/` tests: see `examples/calibrate.rs`), as "seen in NAME".

use std::hash::{Hash, Hasher};

use crate::bus::Width;
use crate::buses::{Buses, FetchUse, History, MemoryTiming, Request, is_system};
use crate::fpu::DIVISION_CYCLES;
use crate::memory::{DeviceWait, Entry, Memory, Region};
use crate::op::{Kind, Op};
use crate::prefetch::{Prefetch, Shift, Word};
use crate::system::Events;
use crate::timing::Timing;
use crate::traits::{Class, Traits};

/// One instruction as it enters the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools)]
pub struct Issue {
    /// Its address.
    pub pc: u32,
    /// The next instruction's address; of a conditional branch, where it would go.
    pub target: u32,
    /// It branches.
    pub taken: bool,
    /// Its IT condition fails.
    pub skipped: bool,
    /// It is in an IT block.
    pub in_it: bool,
    /// The first address that it accesses, or one that stands for all of the same memory and
    /// alignment.
    pub address: u32,
    /// Its cost depends on where in its memory it is.
    pub dynamic: bool,
    /// The size of each access.
    pub width: Width,
    /// Cycles in execute, of what is neither load nor store nor branch.
    pub cycles: u8,
}

impl Issue {
    /// Of an instruction of which nothing is known but whether it is conditional, and skipped.
    pub fn of(entry: &Entry, in_it: bool, skipped: bool) -> Self {
        Self {
            pc: entry.address,
            target: entry.address,
            skipped,
            in_it,
            width: entry.op.kind.width(),
            ..Self::default()
        }
    }
}

impl Default for Issue {
    fn default() -> Self {
        Self {
            pc: 0,
            target: 0,
            taken: false,
            skipped: false,
            in_it: false,
            address: 0,
            dynamic: false,
            width: Width::Word,
            cycles: 1,
        }
    }
}

/// Whose pipeline it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Core {
    M3,
    M4,
}

/// When a branch is resolved (TRM, table 15-3), and how it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Branch {
    /// No branch, or one that is not taken.
    #[default]
    None,
    /// Decoded as conditional; the target is fetched before the condition is known.
    Speculative,
    /// Resolved in decode, and taken.
    Decode,
    /// Resolved in execute, and taken.
    Execute,
}

/// An instruction in the execute stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools)]
struct Slot {
    traits: Traits,
    skipped: bool,
    first: bool,
    finished: bool,
    /// It entered while its predecessor was still executing.
    paired: bool,
    folded: bool,
    branch: Branch,
    cycle: u8,
    cycles: u8,
    dirty: u16,
    next_dirty: u16,
    target: u32,
    address: u32,
    width: Width,
    requested: u8,
    done: u8,
    /// Loaded registers that are still to come, lowest first.
    registers: u16,
    /// The register that comes first of LDRD; 16 where the lowest does.
    first_register: u8,
    /// The base register that is written back.
    base: u8,
}

impl Slot {
    /// Whether it goes through the load/store unit: a skipped instruction is a NOP.
    const fn is_lsu(&self) -> bool {
        self.traits.is_lsu() && !self.skipped
    }

    const fn is(&self, flag: u32) -> bool {
        self.traits.is(flag) && !self.skipped
    }

    /// Its data register is SP or PC.
    const fn data_is_special(&self) -> bool {
        matches!(self.traits.data, 13 | 15)
    }
}

/// Decode's action on an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Its halfwords are not all there.
    Waiting,
    /// The address unit waits for registers.
    Address,
    /// A branch that decode has not passed on yet.
    Branch,
    /// It can enter execute.
    Ready,
}

/// The decode stage, which holds the instruction that is being issued.
#[derive(Clone, Copy, Debug)]
struct Decode {
    stage: Stage,
    /// Execute held the head of the prefetch queue when this was decoded.
    held: bool,
    folded: bool,
    length: u8,
    branch: Branch,
    lr_written: bool,
    dirty: u16,
}

impl Decode {
    const WAITING: Self = Self {
        stage: Stage::Waiting,
        held: false,
        folded: false,
        length: 0,
        branch: Branch::None,
        lr_written: false,
        dirty: 0,
    };
}

/// Signals from execute to decode in a cycle.
#[derive(Clone, Copy, Debug)]
struct Trigger {
    /// A branch is on its way: decode nothing.
    ignore: bool,
    dirty: u16,
    held: bool,
}

/// The instruction that just moved from decode to execute, for the prefetch queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Moved {
    held: bool,
    /// A NOP or a skipped instruction that the fetch unit takes for a multi-cycle one.
    looks_long: bool,
    branch: Branch,
    length: u8,
}

/// Next action of the fetch unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fetch {
    Idle,
    Request(u32),
    /// The target of a branch came too late in the last cycle.
    Delayed(u32),
    /// A request that is only right if decode goes as expected.
    Speculate {
        at: u32,
        if_right: u32,
        if_wrong: u32,
        presented: bool,
        branch: bool,
    },
}

/// Everything that one cycle leaves to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub struct State {
    main: Option<Slot>,
    paired: Option<Slot>,
    /// The instruction that finished last.
    last: Option<Slot>,
    /// Cycles with nothing in execute, up to 2.
    idle: u8,
    /// Nothing was in execute when the cycle began.
    execute_was_free: bool,
    counts_as_lsu: bool,
    lr_written: bool,
    multiply_flags: bool,
    moved: Option<Moved>,
    verdict: Option<bool>,
    /// Stores that left execute before their data phase.
    buffered: u8,
    fetch: Fetch,
    late_fetch: Option<Fetch>,
    prefetch: Prefetch,
    branching: bool,
    long_in_execute: bool,
    decode_stalled: bool,
    arrived: Option<(u32, FetchUse)>,
    buses: Buses,
    pub history: History,
    /// The IT instruction that comes next is done already.
    it_is_folded: bool,
    /// The next instruction is a handler's first: until it enters, the exception is being entered.
    entering_handler: bool,
    /// An exception's entry or return moves its frame in this cycle, or did in the one before: 2, 1.
    in_exchange: u8,
    /// Cycles until the floating-point unit is done with a division or root.
    float_busy: u8,
}

impl Hash for State {
    /// Of what tells most states apart: hashing everything takes longer than comparing two.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.fetch.hash(hasher);
        self.prefetch.hash(hasher);
        self.buses.hash(hasher);
        if let Some(main) = &self.main {
            let Slot {
                target,
                address,
                next_dirty,
                cycle,
                ..
            } = *main;
            (target, address, next_dirty, cycle).hash(hasher);
        }
    }
}

/// Requests of the stages to fetch within a cycle.
#[derive(Clone, Copy, Debug, Default)]
struct Signals {
    branch: Option<u32>,
    speculative_branch: Option<u32>,
    verdict: Option<bool>,
    disable: bool,
}

/// Words of an exception's frame (ARM DDI 0403E.e, B1.5.6).
const FRAME_WORDS: u8 = 8;
/// Words of it whose addresses go out before the vector's where that comes from the same bus
/// (`interrupts/interrupt_handler_different_mem`).
const WORDS_BEFORE_VECTOR: u8 = 2;
/// Cycles after which a vector is used at the earliest, as one that comes from the system bus is:
/// with them a tail-chain takes the TRM's 6 cycles from whatever memory (section 5.6,
/// `interrupts/tail_chain`).
const VECTOR_CYCLES: u64 = 2;

/// The transfers of an exception's entry or return.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    frame: u32,
    write: bool,
    words: u8,
    requested: u8,
    done: u8,
    /// The vector's address until the bus takes it.
    vector: Option<u32>,
    /// The same until its word comes, and the cycle before which that is not used.
    awaited: Option<(u32, u64)>,
    /// The word has come.
    has_vector: bool,
}

/// Outcome of a cycle of an exchange.
#[derive(Clone, Copy, Debug)]
pub struct Exchanged {
    /// A word of the frame.
    pub transferred: bool,
    /// The vector.
    pub vector: bool,
    /// The cycle that begins is the last one: the next instruction may be decoded in it.
    pub ends: bool,
}

impl Exchange {
    /// Entry: the frame goes to this address with so many words of floating point, unless it is there already.
    pub const fn entry(frame: Option<(u32, u8)>, vector: u32) -> Self {
        let (frame, words) = match frame {
            Some((frame, floats)) => (frame, FRAME_WORDS + floats),
            None => (0, 0),
        };
        Self {
            frame,
            write: true,
            words,
            requested: 0,
            done: 0,
            vector: Some(vector),
            awaited: None,
            has_vector: false,
        }
    }

    /// Return: the frame comes from this address with so many words of floating point.
    pub const fn exit(frame: u32, floats: u8) -> Self {
        Self {
            frame,
            write: false,
            words: FRAME_WORDS + floats,
            requested: 0,
            done: 0,
            vector: None,
            awaited: None,
            has_vector: false,
        }
    }

    /// Words of the frame that were transferred.
    pub const fn done(&self) -> u8 {
        self.done
    }

    /// The vector is there, and what is left of the frame is the last data phase.
    const fn is_ending(&self) -> bool {
        self.done + 1 >= self.words && self.vector.is_none() && self.awaited.is_none()
    }

    fn next_transfer(&self) -> Option<Request> {
        (self.requested < self.words).then(|| Request {
            address: self.frame.wrapping_add(4 * u32::from(self.requested)),
            width: Width::Word,
            write: self.write,
            purpose: FetchUse::Nothing { in_data: true },
        })
    }
}

/// The pipeline as it is simulated, cycle by cycle, and its clock.
#[allow(clippy::struct_excessive_bools)]
pub struct Simulation {
    pub now: u64,
    pub events: Events,
    pub state: State,
    pub memory: MemoryTiming,
    pub folding: bool,
    /// An exception is about to be entered: nothing is asked for.
    fetches_nothing: bool,
    /// A core of revision 0 or 1.
    pub first_revision: bool,
    core: Core,
}

/// How an instruction comes to execute.
#[derive(Clone, Copy, Debug)]
pub struct Coming {
    /// The cycle after which decode has done its part.
    pub decoded: u64,
    /// The cycle in which it enters execute.
    pub enters: u64,
    /// The one before is still there then.
    pub paired: bool,
    /// That one is an unaligned access.
    pub behind_unaligned: bool,
}

/// Cycles in execute of an instruction that never ends there.
pub const GIVEN_UP: u8 = u8::MAX;

/// More cycles than any instruction waits to enter execute.
const LONGEST: u32 = 4096;

impl State {
    /// An empty pipeline that fetches from here.
    ///
    /// On the STM32F100 a fetch address that waits for the bus is taken back when a branch makes it
    /// useless; on the CC2650 it stays until it is accepted (seen in `control_flow/bx` with code in
    /// SRAM).
    pub fn at(pc: u32, first_revision: bool, history: History) -> Self {
        Self {
            main: None,
            paired: None,
            last: None,
            idle: 0,
            execute_was_free: true,
            counts_as_lsu: false,
            lr_written: false,
            multiply_flags: false,
            moved: None,
            verdict: None,
            buffered: 0,
            fetch: Fetch::Delayed(pc),
            late_fetch: None,
            prefetch: Prefetch::default(),
            branching: false,
            long_in_execute: false,
            decode_stalled: false,
            arrived: None,
            buses: Buses::new(first_revision),
            history,
            it_is_folded: false,
            entering_handler: false,
            in_exchange: 0,
            float_busy: 0,
        }
    }

    /// The IT instruction that comes next is done already.
    pub const fn it_is_folded(&self) -> bool {
        self.it_is_folded
    }

    fn most_recent(&self) -> Option<&Slot> {
        self.paired
            .as_ref()
            .or(self.main.as_ref())
            .or(self.last.as_ref())
    }

    /// The next cycle begins: finished instructions leave execute.
    fn advance_execute(&mut self) {
        if self.main.is_none() && self.paired.is_none() {
            self.idle = (self.idle + 1).min(2);
        } else {
            self.idle = 0;
        }
        if let Some(slot) = &mut self.main {
            if slot.finished {
                self.last = self.main.take().map(Slot::retired);
            } else {
                slot.next_cycle();
            }
        }
        if let Some(slot) = &mut self.paired {
            if slot.finished && self.main.is_none() {
                self.last = self.paired.take().map(Slot::retired);
            } else {
                slot.next_cycle();
            }
        }
        if self.main.is_none() {
            self.main = self.paired.take();
        }
        self.execute_was_free = self.main.is_none();
    }

    /// Whether execute holds the head of the prefetch queue.
    fn head_is_held(&self) -> bool {
        self.main.is_some_and(|slot| slot.is(Traits::HOLDS_HEAD))
    }

    /// Whether the load/store unit can take an address that overlaps the transfer under way.
    ///
    /// An unaligned access takes it one cycle later than an aligned one (seen in
    /// `memory/ldr_str_unaligned`).
    fn unit_accepts(&self) -> bool {
        if self.buses.unaligned_now {
            false
        } else if self.buses.unaligned_before {
            true
        } else {
            self.buses.data.advanced
                || (self.buses.data.is_free() && self.buses.data.address.is_none())
        }
    }

    /// Whether an instruction may begin while the one before it executes (TRM, section 18.3: loads
    /// and stores pipeline; the details are those of memory/*_pipelining and `control_flow/it`_*).
    ///
    /// `late` asks what would have been had the predecessor not just finished; `folds` says that
    /// what follows looks as if it folded. A Cortex-M4 does not wait with a single load or store that
    /// writes its base back (`memory/ldr_writeback_pipelining` on the CC2652).
    fn pairs(
        &self,
        before: &Slot,
        next: &Traits,
        skipped: bool,
        late: bool,
        folds: bool,
        core: Core,
    ) -> bool {
        if !before.is_lsu() || before.traits.class == Class::Multiple || !self.unit_accepts() {
            return false;
        }
        let store = before.is(Traits::STORE);
        let special = before.data_is_special();
        let store_back = store && before.is(Traits::WRITEBACK);
        let store_offset = store && before.is(Traits::REGISTER_OFFSET);
        let is_nop = next.is(Traits::NOP);
        let does_nothing = is_nop || skipped;
        let dependent = !next.is_lsu()
            || next.class == Class::Multiple
            || (next.is(Traits::WRITEBACK) && !(core == Core::M4 && next.class == Class::Single))
            || next.address & before.dirty != 0;
        let usual = store_back || store_offset || (!store && special) || dependent;
        if (!is_nop && store_offset)
            || (store_back && self.buses.unaligned_before)
            || (usual && folds && !(late && next.is_lsu()))
            || (late && does_nothing && store && special && dependent)
        {
            return false;
        }
        if late && does_nothing && !is_nop && store {
            return self.idle == 0;
        }
        !(usual && (special || !does_nothing))
    }

    /// UMULL or SMULL, then MLA that accumulates its high half, overlap by a cycle; and one more
    /// MLA after that (seen in `data_processing/xmull_mla`).
    fn multiply_pairs(&self, before: &Slot, accumulates: u16, operands: u16) -> bool {
        if before.is(Traits::MULL) {
            let high = before.high_result();
            return high == accumulates
                && high & operands == 0
                && before.cycle + 1 == before.cycles;
        }
        let after_long = self.last.is_some_and(|slot| slot.is(Traits::MULL));
        after_long
            && before.is(Traits::MLA)
            && before.paired
            && before.traits.writes == accumulates
            && accumulates & operands == 0
            && !before.finished
    }

    fn can_enter(
        &self,
        next: &Traits,
        op: &Op,
        skipped: bool,
        first_revision: bool,
        core: Core,
    ) -> bool {
        if self.paired.is_some() {
            return false;
        }
        let Some(main) = &self.main else {
            return true;
        };
        if main.folded {
            return false;
        }
        if !skipped && next.is(Traits::MLA) {
            let operands = 1 << op.rn | 1 << op.rm;
            if self.multiply_pairs(main, 1 << op.ra, operands) {
                return true;
            }
        }
        // Behind a buffered store an address may still wait for the bus.
        let waits = self.buffered != 0 && self.buses.data.address.is_some();
        let folds = self.prefetch.tainted() && !first_revision;
        !waits && self.pairs(main, next, skipped, false, folds, core)
    }
}

impl Slot {
    /// It is a table branch that knows where to go.
    const fn has_table_target(&self) -> bool {
        matches!(self.traits.class, Class::Table) && self.requested == 2
    }

    /// State still needed after it left execute.
    const fn retired(self) -> Self {
        Self {
            target: 0,
            address: 0,
            cycle: 0,
            cycles: 0,
            requested: 0,
            done: 0,
            base: 0,
            registers: 0,
            ..self
        }
    }

    fn next_cycle(&mut self) {
        if matches!(self.traits.class, Class::Alu) {
            self.cycle += 1;
        }
        self.first = false;
        self.dirty = self.next_dirty;
    }

    /// Of UMULL and SMULL: the bit of the high half's register. `registers` keeps the low one's.
    fn high_result(&self) -> u16 {
        self.traits.writes & !self.registers
    }
}

impl Simulation {
    pub fn new(regions: &[Region], waits: &[DeviceWait], timing: Timing) -> Self {
        let first_revision = timing.revision < 2;
        let mut memory = MemoryTiming::new(regions, waits);
        memory.bit_stores_wait = timing.cortex_m4;
        Self {
            now: 0,
            first_revision,
            core: if timing.cortex_m4 { Core::M4 } else { Core::M3 },
            events: Events::default(),
            state: State::at(0, first_revision, History::new()),
            memory,
            folding: true,
            fetches_nothing: false,
        }
    }

    /// The cycle in which the data of the load or store that was issued last is on the bus, and the
    /// events counted before it.
    ///
    /// Only devices see it. What follows in the pipeline is not known yet and cannot change it.
    pub fn access(&mut self, memory: &Memory) -> (u64, Events) {
        let (now, events, _) = self.look_at_access(memory);
        (now, events)
    }

    /// The bytes behind the load or store that was issued last which have been fetched when its data
    /// is on the bus.
    pub fn fetched(&mut self, memory: &Memory) -> u32 {
        let (_, _, state) = self.look_at_access(memory);
        let arrived = match state.arrived {
            Some((_, FetchUse::Queue { skip })) => 2 - u8::from(skip),
            _ => 0,
        };
        2 * u32::from(state.prefetch.filled() + arrived)
    }

    fn look_at_access(&mut self, memory: &Memory) -> (u64, Events, State) {
        let saved = (self.now, self.events, self.state);
        let snapshot = self.memory.snapshot();
        self.memory.begin(self.now, 0, &[]);
        let mut to_come = 1 + u8::from(self.state.paired.is_some()) + self.state.buffered;
        let mut before = self.events;
        for _ in 0..LONGEST {
            before = self.events;
            to_come -= u8::from(self.rest_of_cycle(None, memory));
            if to_come == 0 {
                break;
            }
            self.begin_cycle(memory);
            self.count();
        }
        let found = (self.now, before, self.state);
        self.memory.restore(snapshot);
        (self.now, self.events, self.state) = saved;
        found
    }

    /// How an instruction would come to execute.
    pub fn coming(&mut self, entry: &Entry, issue: &Issue, memory: &Memory) -> Coming {
        let saved = (self.now, self.events, self.state);
        let snapshot = self.memory.snapshot();
        self.memory.begin(self.now, 0, &[]);
        let mut coming = Coming {
            decoded: u64::MAX,
            enters: self.now,
            paired: false,
            behind_unaligned: false,
        };
        if !(self.state.it_is_folded && entry.op.kind == Kind::It) {
            let mut decode = Decode::WAITING;
            for _ in 0..LONGEST {
                self.rest_of_cycle(Some((&mut decode, entry, issue)), memory);
                self.begin_cycle(memory);
                if decode.stage == Stage::Ready {
                    coming.decoded = coming.decoded.min(self.now);
                    if self.can_enter(entry, issue) {
                        break;
                    }
                }
            }
            coming.enters = self.now;
            coming.paired = self.state.main.is_some();
            coming.behind_unaligned = self.state.buses.unaligned_before;
        }
        self.memory.restore(snapshot);
        (self.now, self.events, self.state) = saved;
        coming
    }

    /// When the addresses of this LDM or STM would go out.
    pub fn presented(&mut self, entry: &Entry, issue: &Issue, memory: &Memory) -> Vec<u64> {
        let saved = (self.now, self.events, self.state);
        let snapshot = self.memory.snapshot();
        self.memory.begin(self.now, 0, &[]);
        self.issue(entry, issue, memory);
        let mut cycles = Vec::new();
        for _ in 0..LONGEST {
            self.rest_of_cycle(None, memory);
            let requested = self.state.main.map_or(0, |main| main.requested);
            cycles.resize(usize::from(requested), self.now);
            if requested == entry.traits.transfers {
                break;
            }
            self.begin_cycle(memory);
        }
        self.memory.restore(snapshot);
        (self.now, self.events, self.state) = saved;
        cycles
    }

    /// Let time pass until execute is empty, and until this cycle at least. A fetch that waits for the
    /// bus in the last one is of no use any more (`interrupts/it_curse_svc` without the line buffer).
    pub fn drain(&mut self, at: u64, memory: &Memory) {
        self.memory.begin(self.now, 0, &[]);
        for _ in 0..LONGEST {
            self.rest_of_cycle(None, memory);
            if self.now + 1 >= at {
                self.state.buses.drop_fetch_address();
            }
            self.begin_cycle(memory);
            if self.now >= at && self.state.main.is_none() {
                break;
            }
            self.count();
        }
    }

    /// The same before an exception is entered, with what would be executed next in decode; it
    /// may have come to execute, to be given up there. In the last of these cycles nothing more is
    /// asked for (`memory_tests/branch_after_narrow_mul`), but while the address of a load or store
    /// waits for the bus (`memory_tests/flags_dep_after_pipelined_skipped`).
    pub fn make_way(&mut self, at: u64, next: Option<&Entry>, issue: &Issue, memory: &Memory) {
        self.memory.begin(self.now, 0, &[]);
        let mut decode = Decode::WAITING;
        let mut given_up = false;
        for _ in 0..LONGEST {
            let near = self.now + 1 >= at;
            self.fetches_nothing = near && self.state.buses.data.address.is_none();
            let view = next.filter(|_| !near && !given_up);
            let view = view.map(|entry| (&mut decode, entry, issue));
            self.rest_of_cycle(view, memory);
            self.begin_cycle(memory);
            let is_free = self.state.main.is_none_or(|main| main.cycles == GIVEN_UP);
            if self.now >= at && is_free {
                break;
            }
            let enters = !given_up
                && self.now < at
                && decode.stage == Stage::Ready
                && next.is_some_and(|entry| self.can_enter(entry, issue));
            if enters && let Some(entry) = next {
                given_up = true;
                // The address of a load or store does not go out.
                if !entry.traits.is_lsu() {
                    self.enter(decode, entry, issue);
                }
            } else {
                self.count();
            }
        }
        self.fetches_nothing = false;
        self.state.main = None;
    }

    fn can_enter(&self, entry: &Entry, issue: &Issue) -> bool {
        let waits = entry.traits.is(Traits::FLOAT) && !issue.skipped && self.state.float_busy != 0;
        !waits
            && self.state.can_enter(
                &entry.traits,
                &entry.op,
                issue.skipped,
                self.first_revision,
                self.core,
            )
    }

    /// An exception is entered or left: what was fetched is of no use any more.
    ///
    /// EXCCNT counts from this cycle on; on entry, until the handler's first instruction enters
    /// execute (`interrupts/tail_chain`).
    pub fn begin_exchange(&mut self, enters: bool) {
        self.memory.begin(self.now, 0, &[]);
        self.events.exception += 1;
        self.state.entering_handler = enters;
        self.abandon_fetches();
    }

    /// Another exception is taken than the one that is being entered: its vector is fetched anew.
    pub fn change_vector(&mut self, exchange: &mut Exchange, vector: u32) {
        exchange.vector = Some(vector);
        exchange.awaited = None;
        exchange.has_vector = false;
        self.abandon_fetches();
    }

    fn abandon_fetches(&mut self) {
        self.drop_fetches();
        self.state.prefetch.abandon();
        self.state.branching = false;
        self.state.fetch = Fetch::Idle;
        self.state.late_fetch = None;
    }

    /// One cycle of an exception's entry or return, in which the load/store unit moves the frame
    /// while the fetch unit gets the vector, and then what it leads to.
    pub fn exchange_cycle(&mut self, exchange: &mut Exchange, memory: &Memory) -> Exchanged {
        let data = &mut self.state.buses.data;
        if data.address.is_none()
            && let Some(request) = exchange.next_transfer()
        {
            data.address = Some(request);
            exchange.requested += 1;
        }
        if let Some(vector) = exchange.vector
            && (!is_system(vector)
                || exchange.words == 0
                || exchange.requested > WORDS_BEFORE_VECTOR)
            && self
                .state
                .buses
                .ask_for_fetch(vector & !3, FetchUse::Vector)
        {
            exchange.vector = None;
            exchange.awaited = Some((vector & !3, self.now + VECTOR_CYCLES));
        }
        let buffered = self.state.buffered;
        let transferred = self.rest_of_cycle(None, memory) && self.state.buffered == buffered;
        // A load of a return that was given up may still end here.
        exchange.done += u8::from(transferred && exchange.done < exchange.requested);
        let mut arrived = false;
        if let Some((address, due)) = exchange.awaited {
            exchange.has_vector |=
                matches!(self.state.arrived, Some((at, FetchUse::Vector)) if at == address);
            if exchange.has_vector && self.now >= due {
                arrived = true;
                exchange.awaited = None;
            }
        }
        self.begin_cycle(memory);
        self.events.exception += 1;
        self.state.in_exchange = 2;
        let buses = &self.state.buses;
        let in_last_data_phase = exchange.done == exchange.words || buses.data.data.is_some();
        Exchanged {
            transferred,
            vector: arrived,
            ends: exchange.is_ending() && in_last_data_phase,
        }
    }

    /// The place where execution goes on is known: it is fetched from the next cycle on.
    pub fn fetch_from(&mut self, pc: u32) {
        self.state.fetch = Fetch::Delayed(pc);
    }

    /// Let time pass until this instruction enters execute; none where it is an IT that was done
    /// with the instruction before.
    pub fn issue(&mut self, entry: &Entry, issue: &Issue, memory: &Memory) {
        if std::mem::take(&mut self.state.it_is_folded) && entry.op.kind == Kind::It {
            return;
        }
        let mut decode = Decode::WAITING;
        for _ in 0..LONGEST {
            self.rest_of_cycle(Some((&mut decode, entry, issue)), memory);
            self.begin_cycle(memory);
            if decode.stage == Stage::Ready && self.can_enter(entry, issue) {
                self.enter(decode, entry, issue);
                return;
            }
            self.count();
        }
        debug_assert!(false, "the pipeline stalls for ever before {:#x}", issue.pc);
        self.enter(decode, entry, issue);
    }

    /// DWT: a cycle in which no instruction begins (ARM DDI 0403E.e, C1.8.4).
    fn count(&mut self) {
        if self.state.entering_handler {
            self.events.exception += 1;
            return;
        }
        let lsu = if self.first_revision {
            // Not the last cycle of a table branch, but the one after a load of PC (seen in
            // control_flow/tbb_tbh and ldr_pc on the STM32F100).
            let state = &self.state;
            state.main.map_or_else(
                || {
                    matches!(state.fetch, Fetch::Delayed(_))
                        && state.last.is_some_and(|slot| slot.is_lsu())
                },
                |slot| slot.is_lsu() && !slot.has_table_target(),
            )
        } else {
            self.state.counts_as_lsu
        };
        if lsu {
            self.events.lsu += 1;
        } else {
            self.events.cpi += 1;
        }
    }

    fn begin_cycle(&mut self, memory: &Memory) {
        self.now += 1;
        let state = &mut self.state;
        if let Some(fetch) = state.late_fetch.take() {
            state.fetch = fetch;
        }
        state.advance_execute();
        state.float_busy = state.float_busy.saturating_sub(1);
        state.buses.tick();
        state.history.tick();
        if let Some((address, purpose)) = state.arrived.take() {
            let word = || {
                Word::of(
                    memory.halfword(address & !3).unwrap_or(0),
                    memory.halfword((address & !3) + 2).unwrap_or(0),
                )
            };
            match purpose {
                FetchUse::Queue { skip } => state.prefetch.arrive(word(), skip),
                FetchUse::Nothing { in_data: true } => state.prefetch.arrive_stale(word()),
                FetchUse::Vector | FetchUse::Nothing { in_data: false } => {}
            }
        }
    }

    /// Decode passes its instruction to execute.
    fn enter(&mut self, decode: Decode, entry: &Entry, issue: &Issue) {
        let state = &mut self.state;
        state.entering_handler = false;
        let traits = &entry.traits;
        let mut branch = decode.branch;
        let mut verdict = None;
        if branch == Branch::Speculative {
            branch = if issue.taken {
                Branch::Decode
            } else {
                Branch::None
            };
            verdict = Some(issue.taken);
        }
        // The fetch unit takes a NOP, or a skipped instruction, for a multi-cycle one where it could
        // have paired (seen in control_flow/it_pipeline and other/nop).
        let late = state.main.is_none();
        let foldable = state.prefetch.second_looks_like_it();
        let could_pair =
            |before: &Slot| state.pairs(before, traits, issue.skipped, late, foldable, self.core);
        let looks_long = state.most_recent().is_some_and(could_pair);
        let does_nothing = traits.is(Traits::NOP) || issue.skipped;
        // That of revision 1 goes by what the one before is, skipped or not (seen in
        // control_flow/it_pipeline on the STM32F100).
        let seems_long = self.first_revision
            && late
            && does_nothing
            && state.last.is_some_and(|before| {
                could_pair(&Slot {
                    skipped: false,
                    ..before
                })
            });
        if !looks_long {
            state.lr_written = false;
            state.multiply_flags = false;
        }
        if !issue.skipped && !traits.is(Traits::LINK) && traits.writes & 1 << 14 != 0 {
            state.lr_written = true;
        }
        if traits.is(Traits::MULS) {
            state.multiply_flags = true;
        }
        state.moved = Some(Moved {
            held: decode.held,
            looks_long: does_nothing && (looks_long || seems_long),
            branch,
            length: decode.length,
        });
        state.verdict = verdict;
        let not_taken = traits.is_branch() && !issue.taken;
        let mut dirty = if issue.skipped || not_taken {
            0
        } else {
            traits.writes
        };
        if self.core == Core::M4
            && state.main.is_some()
            && traits.is(Traits::WRITEBACK)
            && traits.class == Class::Single
        {
            // Behind another one, what a Cortex-M4 writes back is there for the next address at once
            // (memory/ldr_imm_index, ldm_ldmdb on the CC2652).
            dirty &= !(1 << entry.op.rn);
        }
        let registers = match traits.class {
            _ if traits.is(Traits::FLOAT) => 0,
            Class::Multiple if !traits.is(Traits::STORE) => {
                if matches!(entry.op.kind, Kind::Ldmia | Kind::Ldmdb) {
                    entry.op.imm as u16
                } else {
                    1 << entry.op.rd | 1 << entry.op.ra
                }
            }
            Class::Alu if traits.is(Traits::HOLDS_HEAD) => 1 << entry.op.rd,
            Class::Single if !traits.is(Traits::STORE) => 1 << entry.op.rd,
            _ => 0,
        };
        let mut traits_of_slot = *traits;
        if self.first_revision && traits.class == Class::CompareBranch {
            // control_flow/cbz, cbz_deps
            traits_of_slot.flags &= !Traits::HOLDS_HEAD;
        }
        if self.core == Core::M4 && traits.is(Traits::MULTIPLIES) {
            // One cycle, as of what only adds (misc/widths on the CC2652).
            traits_of_slot.flags &= !Traits::HOLDS_HEAD;
        }
        let slot = Slot {
            traits: traits_of_slot,
            skipped: issue.skipped,
            first: true,
            finished: false,
            paired: state.main.is_some(),
            folded: decode.folded,
            branch: if branch == Branch::None && issue.taken {
                Branch::Execute
            } else {
                branch
            },
            cycle: 0,
            cycles: if traits.is(Traits::DIVIDES) {
                1
            } else {
                issue.cycles
            },
            dirty,
            next_dirty: dirty,
            target: if traits.is_branch() || traits.class == Class::Barrier {
                issue.target
            } else {
                0
            },
            address: issue.address,
            width: if traits.class == Class::Multiple {
                Width::Word
            } else {
                issue.width
            },
            requested: 0,
            done: 0,
            registers,
            first_register: if matches!(entry.op.kind, Kind::Ldrd | Kind::LdrdLit) {
                entry.op.rd
            } else {
                16
            },
            base: entry.op.rn,
        };
        state.counts_as_lsu = slot.is_lsu() || slot.is(Traits::COUNTS_AS_LSU);
        state.it_is_folded = decode.folded;
        if decode.folded {
            self.events.fold += 1;
        }
        if slot.is_lsu() {
            state.history.enters(issue.dynamic);
            self.memory.entered += usize::from(issue.dynamic);
        }
        if slot.is(Traits::DIVIDES) {
            state.float_busy = DIVISION_CYCLES + issue.cycles - 1;
        }
        if state.main.is_none() {
            state.main = Some(slot);
        } else {
            state.paired = Some(slot);
        }
    }

    /// Prefetch queue, execute, decode, fetch and buses of this cycle. True where a transfer of the
    /// load/store unit is done.
    fn rest_of_cycle(
        &mut self,
        decode: Option<(&mut Decode, &Entry, &Issue)>,
        memory: &Memory,
    ) -> bool {
        let _ = memory;
        let mut signals = Signals {
            verdict: self.state.verdict.take(),
            ..Signals::default()
        };
        let agu_stalled = decode
            .as_ref()
            .is_some_and(|(decode, ..)| decode.stage == Stage::Address);
        self.shift_prefetch(agu_stalled);
        let trigger = self.execute(&mut signals);
        let mut view = decode;
        if let Some((decode, entry, issue)) = &mut view {
            self.decode(decode, entry, issue, trigger, &mut signals);
        }
        let size = view.as_ref().map_or(0, |(decode, ..)| {
            decode.length - u8::from(decode.folded && decode.length > 1)
        });
        // What is decoded in the last cycle of an exchange, and in the one after, leaves no room for
        // fetches yet (interrupts/interrupt_handler_different_mem with code in SRAM,
        // memory_tests/pipelining_it_skipped_lsu).
        let in_exchange = self.state.in_exchange != 0;
        self.state.in_exchange = self.state.in_exchange.saturating_sub(1);
        self.fetch(&signals, if in_exchange { 0 } else { size });
        // A store that leaves execute in this cycle has its data phase in the next one at the
        // earliest: what is done now is older.
        let was_buffered = self.state.buffered != 0;
        let outcome = {
            let State { buses, history, .. } = &mut self.state;
            buses.tock(&mut self.memory, history, self.now, was_buffered)
        };
        self.state.arrived = outcome.fetched;
        if outcome.address_advances && self.memory.write_buffer {
            self.release_store();
        }
        self.release_bit_store();
        if outcome.address_taken
            && let Some(main) = &mut self.state.main
            && main.is(Traits::WRITEBACK)
            && main.traits.class == Class::Single
        {
            // The base is written once the address is out.
            main.next_dirty &= !(1 << main.base);
        }
        if outcome.transferred && was_buffered {
            self.state.buffered -= 1;
        } else if outcome.transferred {
            self.transfer_done(view.map(|(decode, entry, _)| (decode, entry)));
        }
        outcome.transferred
    }

    /// With the write buffer on, a store with an immediate offset leaves execute when its address
    /// is out (TRM, section 18.3: "always one cycle"; seen in `memory/mov_str_imm_deps` on the
    /// STM32F100).
    fn release_store(&mut self) {
        let State {
            main,
            paired,
            buffered,
            ..
        } = &mut self.state;
        let slot = if paired.is_some_and(|slot| slot.is_lsu()) {
            paired
        } else {
            main
        };
        if let Some(slot) = slot
            && slot.is(Traits::STORE)
            && slot.traits.class == Class::Single
            && !slot.is(Traits::REGISTER_OFFSET)
            && !slot.finished
        {
            slot.finish();
            *buffered += 1;
        }
    }

    /// The store of a bit leaves execute a cycle before its data is written, write buffer or not
    /// (seen in `misc/bitbanding/ldr_str_pipelining`).
    fn release_bit_store(&mut self) {
        let State {
            main,
            buffered,
            buses,
            ..
        } = &mut self.state;
        if *buffered == 0
            && let Some(main) = main
            && main.is(Traits::STORE)
            && main.traits.class == Class::Single
            && !main.finished
            && buses.has_stored_bit()
        {
            main.finish();
            *buffered += 1;
        }
    }

    fn shift_prefetch(&mut self, agu_stalled: bool) {
        let state = &mut self.state;
        state.long_in_execute = state.head_is_held();
        state.decode_stalled = false;
        let shift = if let Some(moved) = state.moved.take() {
            let resolved = moved.branch == Branch::Decode;
            let shift = if moved.held && resolved {
                Shift::Hold { waiting: false }
            } else if state.branching {
                Shift::Branch
            } else if moved.length == 1 {
                Shift::One
            } else {
                Shift::Two
            };
            state.branching = resolved;
            if moved.looks_long {
                state.long_in_execute = true;
            }
            shift
        } else if state.execute_was_free {
            let shift = if state.branching {
                Shift::Branch
            } else {
                Shift::Fill
            };
            state.branching = false;
            state.decode_stalled = agu_stalled;
            shift
        } else if state.branching {
            Shift::Hold { waiting: true }
        } else {
            Shift::Fill
        };
        state.prefetch.shift(shift);
    }
}

impl Simulation {
    /// The execute stage in this cycle.
    fn execute(&mut self, signals: &mut Signals) -> Trigger {
        let mut trigger = Trigger {
            ignore: false,
            dirty: 0,
            held: false,
        };
        let State {
            main,
            paired,
            buses,
            late_fetch,
            ..
        } = &mut self.state;
        for slot in [main, paired].into_iter().flatten() {
            if slot.finished {
                continue;
            }
            let held = slot.is(Traits::HOLDS_HEAD);
            let dirty = slot.dirty;
            let ignore = slot.run(buses, late_fetch, signals);
            trigger.ignore |= ignore;
            trigger.held |= held;
            let nothing = slot.skipped || (slot.traits.is_branch() && slot.finished && !ignore);
            if !nothing {
                trigger.dirty |= dirty;
            }
        }
        trigger
    }

    /// The decode stage in this cycle.
    fn decode(
        &mut self,
        decode: &mut Decode,
        entry: &Entry,
        issue: &Issue,
        trigger: Trigger,
        signals: &mut Signals,
    ) {
        let state = &mut self.state;
        let traits = &entry.traits;
        if trigger.ignore {
            *decode = Decode::WAITING;
            state.multiply_flags = false;
            return;
        }
        if decode.stage == Stage::Address && issue.skipped {
            // It does not need the address (seen in control_flow/it_pipeline).
            decode.stage = Stage::Ready;
        }
        if decode.stage == Stage::Ready {
            if decode.branch == Branch::Speculative {
                decode.branch = if issue.taken {
                    Branch::Decode
                } else {
                    Branch::None
                };
                signals.verdict = Some(issue.taken);
            }
            self.fold(decode, traits, issue);
            return;
        }
        if decode.stage == Stage::Waiting {
            if state.prefetch.head() < traits.halves {
                return;
            }
            decode.length = traits.halves;
            decode.held = trigger.held;
            decode.branch = Branch::None;
            // A skipped load or store waits for its address only where the flags that skip it come
            // from the instruction in execute, or where it looks folded after a writeback (seen in
            // control_flow/it_pipeline).
            let flags_are_late = state
                .main
                .is_some_and(|slot| slot.is(Traits::FLAGS) || slot.folded);
            let looks_folded = state
                .most_recent()
                .is_some_and(|slot| slot.is_lsu() && slot.is(Traits::WRITEBACK))
                && state.prefetch.tainted();
            decode.stage = if traits.is(Traits::ADDRESS_UNIT) {
                if !issue.skipped || flags_are_late || looks_folded {
                    Stage::Address
                } else {
                    Stage::Ready
                }
            } else if traits.class == Class::BranchImmediate
                || (traits.class == Class::BranchRegister && traits.is(Traits::FROM_LR))
            {
                decode.lr_written = state.lr_written;
                Stage::Branch
            } else {
                Stage::Ready
            };
        }
        self.fold(decode, traits, issue);
        match decode.stage {
            Stage::Address => {
                decode.dirty = trigger.dirty;
                if traits.address & trigger.dirty == 0 {
                    decode.stage = Stage::Ready;
                }
            }
            Stage::Branch => self.decode_branch(decode, traits, issue, signals),
            Stage::Waiting | Stage::Ready => {}
        }
    }

    /// Branches that decode resolves (TRM, table 15-3).
    fn decode_branch(
        &mut self,
        decode: &mut Decode,
        traits: &Traits,
        issue: &Issue,
        signals: &mut Signals,
    ) {
        let state = &self.state;
        let busy = state.main.is_some() || state.paired.is_some();
        if traits.is(Traits::CONDITIONAL) && state.multiply_flags && busy {
            // The flags of MULS come too late (seen in data_processing/mla_mls_b and
            // control_flow/mull_and_b_seq).
            return;
        }
        decode.stage = Stage::Ready;
        if decode.lr_written && traits.is(Traits::FROM_LR) {
            return; // LR is written by the instruction before: execute resolves the branch.
        }
        if issue.in_it || traits.is(Traits::CONDITIONAL) {
            decode.branch = Branch::Speculative;
            signals.speculative_branch = Some(issue.target);
        } else {
            decode.branch = Branch::Decode;
            signals.branch = Some(issue.target);
        }
    }

    /// An IT that follows folds into a 16-bit instruction (TRM, section 18.1); on a Cortex-M4 not
    /// into MULS (seen in `control_flow/it_fold` on the CC2652).
    fn fold(&self, decode: &mut Decode, traits: &Traits, issue: &Issue) {
        if self.folding
            && !decode.folded
            && decode.stage != Stage::Waiting
            && decode.length == 1
            && !issue.in_it
            && self.state.prefetch.head() == 2
            && traits.is(if self.first_revision {
                Traits::FOLDABLE_R1
            } else {
                Traits::FOLDABLE
            })
            && !(self.core == Core::M4 && traits.is(Traits::MULS))
            && traits.is(Traits::IT_FOLLOWS)
        {
            decode.folded = true;
            decode.length = 2;
        }
    }

    /// A data phase of the load/store unit is done: it belongs to the older instruction.
    fn transfer_done(&mut self, decode: Option<(&mut Decode, &Entry)>) {
        let State {
            main,
            paired,
            late_fetch,
            ..
        } = &mut self.state;
        let Some(main) = main else {
            return;
        };
        main.done += 1;
        if main.traits.class == Class::Table {
            return;
        }
        if !main.is(Traits::STORE) {
            let register = if main.first_register < 16 && main.done == 1 {
                u32::from(main.first_register)
            } else {
                main.registers.trailing_zeros()
            };
            let bit = 1_u16.checked_shl(register).unwrap_or(0);
            main.registers &= !bit;
            main.next_dirty &= !bit;
            if bit == 1 << 15 {
                *late_fetch = Some(Fetch::Delayed(main.target));
            }
            // The value goes straight to the address unit, unless a base is written back too (seen
            // in memory/ldr_imm_index_deps, ldr_ldm_ldmdb_ldrd_deps): its own where it is alone, that
            // of the next one where that is on its way (seen in
            // memory/ldr_ldm_ldmdb_ldrd_same_args_and_rings on the CC2652).
            let back = paired.as_ref().map_or_else(
                || main.is(Traits::WRITEBACK) || main.is(Traits::NARROW_LDM),
                |next| next.is(Traits::WRITEBACK),
            );
            let overwritten = paired.is_some_and(|slot| slot.dirty & bit != 0);
            if !overwritten
                && !back
                && let Some((decode, entry)) = decode
                && decode.stage == Stage::Address
                && entry.traits.address & decode.dirty & !bit == 0
            {
                decode.stage = Stage::Ready;
            }
        }
        if main.done == main.traits.transfers {
            main.finished = true;
            main.next_dirty = 0;
        }
    }

    // Fetch.

    fn should_speculate(&self, decoded: u8) -> bool {
        let state = &self.state;
        let shift = match decoded {
            0 => Shift::Fill,
            1 => Shift::One,
            _ => Shift::Two,
        };
        !state.long_in_execute
            && !state.branching
            && !state.decode_stalled
            && !state.prefetch.would_fit(Shift::Hold { waiting: true })
            && state.prefetch.would_fit(shift)
    }

    /// The fetch stage in this cycle; `decoded` is the length of the instruction in decode.
    fn fetch(&mut self, signals: &Signals, decoded: u8) {
        if self.fetches_nothing {
            return;
        }
        if let Some(target) = signals.branch {
            self.fetch_branch(target);
            return;
        }
        if let Some(target) = signals.speculative_branch {
            self.speculate(target, true, decoded);
            return;
        }
        if signals.verdict == Some(false)
            && let Fetch::Speculate {
                if_wrong,
                presented,
                branch: true,
                ..
            } = self.state.fetch
        {
            if presented {
                self.state.buses.drop_latest_fetch();
                self.state.prefetch.unreserve();
            }
            self.go_on(if_wrong, decoded);
            return;
        }
        if signals.disable {
            self.drop_fetches();
            self.state.prefetch.block();
            self.state.fetch = Fetch::Idle;
            return;
        }
        match self.state.fetch {
            Fetch::Idle => {}
            Fetch::Request(address) => self.go_on(address, decoded),
            Fetch::Delayed(target) => self.fetch_branch(target),
            Fetch::Speculate {
                if_right,
                if_wrong,
                presented,
                branch,
                ..
            } => {
                if branch {
                    let held = self.state.long_in_execute;
                    self.state.prefetch.confirm(held);
                    if presented {
                        self.state.buses.drop_stalled_fetch();
                        self.state.prefetch.reserve();
                    } else {
                        self.drop_fetches();
                    }
                    self.state.branching = true;
                }
                if presented && self.state.prefetch.overfull() {
                    // Asked for too early: it has to be asked for again, unless its data is under way
                    // (seen in control_flow/b_after_ldr and memory/add_ldr_deps).
                    self.state.fetch = if self.state.buses.drop_fetch_address().is_some() {
                        self.state.prefetch.unreserve();
                        Fetch::Request(if_wrong)
                    } else {
                        Fetch::Request(if_right)
                    };
                } else {
                    self.go_on(if_right, decoded);
                }
            }
        }
    }

    fn go_on(&mut self, address: u32, decoded: u8) {
        if self.should_speculate(decoded) {
            self.speculate(address, false, decoded);
        } else {
            self.request(address);
        }
    }

    fn drop_fetches(&mut self) {
        self.state.buses.drop_fetches();
        self.state.arrived = None;
    }

    fn fetch_branch(&mut self, target: u32) {
        self.drop_fetches();
        self.state.branching = true;
        self.state.prefetch.branch();
        self.request(target);
    }

    fn request(&mut self, address: u32) {
        let next = if self.state.prefetch.has_room() {
            self.try_fetch(address)
        } else {
            address
        };
        self.state.fetch = Fetch::Request(next);
    }

    /// Ask the bus for a word; returns what to ask for next.
    fn try_fetch(&mut self, address: u32) -> u32 {
        if address >> 28 == 15 {
            return address; // Nothing is executed there: it stands for an exception return.
        }
        let word = address & !3;
        let purpose = FetchUse::Queue {
            skip: address & 2 != 0,
        };
        if self.state.buses.ask_for_fetch(word, purpose) {
            self.state.prefetch.reserve();
            word.wrapping_add(4)
        } else {
            address
        }
    }

    fn speculate(&mut self, address: u32, branch: bool, decoded: u8) {
        let if_wrong = match self.state.fetch {
            Fetch::Request(next) if branch => self.withdraw().unwrap_or(next),
            Fetch::Speculate {
                if_wrong,
                if_right,
                presented,
                branch: was_branch,
                ..
            } if branch => {
                if presented && was_branch {
                    self.state.buses.drop_latest_fetch();
                    self.state.prefetch.unreserve();
                    if_wrong
                } else {
                    let next = if presented { if_right } else { if_wrong };
                    self.withdraw().unwrap_or(next)
                }
            }
            Fetch::Request(next) => next,
            Fetch::Speculate {
                if_wrong,
                if_right,
                branch: was_branch,
                ..
            } => {
                if was_branch {
                    if_wrong
                } else {
                    if_right
                }
            }
            Fetch::Idle | Fetch::Delayed(_) => address,
        };
        let if_right = if branch || self.should_speculate(decoded) {
            self.try_fetch(address)
        } else {
            address
        };
        self.state.fetch = Fetch::Speculate {
            at: address,
            if_right,
            if_wrong,
            presented: if_right != address,
            branch,
        };
    }

    /// Give up the address that waits for the bus; returns where to go on without it.
    fn withdraw(&mut self) -> Option<u32> {
        let (address, skip) = self.state.buses.drop_fetch_address()?;
        self.state.prefetch.unreserve();
        Some(address.wrapping_add(if skip { 2 } else { 0 }))
    }
}

impl Slot {
    fn finish(&mut self) {
        self.finished = true;
        self.next_dirty = 0;
    }

    fn transfer(&self, number: u8) -> Request {
        Request {
            address: self.address.wrapping_add(4 * u32::from(number)),
            width: self.width,
            write: self.traits.is(Traits::STORE),
            purpose: FetchUse::Nothing { in_data: true },
        }
    }

    /// One cycle of execute. True where decode has to wait for a branch.
    fn run(
        &mut self,
        buses: &mut Buses,
        late_fetch: &mut Option<Fetch>,
        signals: &mut Signals,
    ) -> bool {
        if self.skipped {
            self.finish();
            return false;
        }
        match self.traits.class {
            Class::Alu => {
                if self.cycle + 1 >= self.cycles {
                    self.finish();
                } else if self.cycle + 2 == self.cycles && self.traits.writes.count_ones() == 2 {
                    // The low half of a long product is written a cycle before the high half
                    // (seen in data_processing/smull_umull_smlal_umlal_dependencies).
                    self.next_dirty &= !self.registers;
                }
                false
            }
            Class::Single => {
                if self.first {
                    buses.data.address = Some(self.transfer(0));
                    signals.disable |= self.traits.is_branch();
                }
                self.traits.is_branch()
            }
            Class::Multiple => {
                if self.first {
                    signals.disable |= self.traits.is_branch();
                    if self.traits.is(Traits::WRITEBACK) {
                        self.next_dirty &= !(1 << self.base);
                    }
                }
                if self.requested < self.traits.transfers && buses.data.address.is_none() {
                    buses.data.address = Some(self.transfer(self.requested));
                    self.requested += 1;
                }
                self.traits.is_branch()
            }
            Class::Table => {
                if self.first {
                    buses.data.address = Some(self.transfer(0));
                    signals.disable = true;
                    self.requested = 1;
                } else if self.requested == 2 {
                    signals.branch = Some(self.target);
                    self.finish();
                } else if self.done == 1 {
                    self.requested = 2;
                }
                true
            }
            Class::BranchLate => {
                signals.disable = true;
                *late_fetch = Some(Fetch::Delayed(self.target));
                self.finish();
                true
            }
            Class::BranchImmediate
            | Class::BranchRegister
            | Class::CompareBranch
            | Class::Barrier => {
                self.finish();
                match self.branch {
                    Branch::Execute => {
                        signals.branch = Some(self.target);
                        true
                    }
                    Branch::Decode => true,
                    Branch::None | Branch::Speculative => false,
                }
            }
        }
    }
}
