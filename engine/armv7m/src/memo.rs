//! The pipeline as the core uses it: what was simulated once is looked up the next time.
//!
//! The core runs a block of instructions, up to the next branch, and notes of each what its time
//! depends on besides the code itself: whether it was skipped, which memory it accessed with what
//! alignment, how long it multiplies, where it branches. Then the whole block is timed at once:
//! from the same state of the pipeline, with the same notes, it always takes as long and leads to
//! the same next state, as long as accesses to buffered and cached lines that are not known
//! beforehand cost the same; those are asked again each time, in the same order. So a loop is
//! simulated a few times and then only counted.

use joulemark_kernel::numbers::NONE;
use joulemark_kernel::{Map, Numbers};

use crate::bus::MemorySettings;
use crate::buses::{Answer, MemoryTiming, Query};
use crate::memory::{DeviceWait, Entry, Memory, Region};
use crate::op::Kind;
use crate::pipeline::{Coming, Exchange, Exchanged, GIVEN_UP, Issue, Simulation, State};
use crate::registers::literal;
use crate::system::Events;
use crate::timing::Timing;
use crate::traits::Traits;

/// Everything that the way of a block through the pipeline depends on, besides memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    from: u32,
    /// Its first instruction.
    pc: u32,
    /// Where the branch at its end goes, or would go.
    target: u32,
    /// Instructions, ITSTATE before them, whether the last is a branch and whether it is taken.
    bits: u32,
    notes: u64,
}

/// Its fate.
#[derive(Clone, Debug)]
struct Way {
    key: Key,
    to: u32,
    cycles: u32,
    cpi: u32,
    lsu: u32,
    folds: u32,
    exception: u32,
    /// Its queries.
    first: u32,
    asks: u32,
    /// The cache's version when all of the queries were hits.
    version: u64,
    /// All of the queries ask for cached lines, no matter what was accessed.
    plain: bool,
    /// The ways that were taken after this one.
    next: [u32; 2],
    /// Another way with the same key, where memory answered otherwise.
    sibling: u32,
}

const STATES: usize = 1 << 16;
const WAYS: usize = 1 << 17;

/// Instructions of a block. With the most cycles that one can take they bound how long it is.
const LONGEST_BLOCK: u8 = 32;
/// A block of the most instructions, each with 16 accesses of 4 cycles; one with more counts twice.
pub const MOST_CYCLES: u64 = 64 * LONGEST_BLOCK as u64;

/// Instructions that are decoded together: up to a branch, or as many as can be timed at once.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// In [`Pipeline::entries`].
    pub first: u32,
    pub count: u32,
}

/// Instructions that ran and are not timed yet.
#[derive(Debug, Default)]
struct Pending {
    pc: u32,
    it: u8,
    first: u32,
    count: u32,
    notes: u64,
    /// Bits of the notes.
    length: u32,
    /// Loads from memory with a history, of addresses that are not known beforehand.
    dynamic: usize,
    branch: bool,
    taken: bool,
    target: u32,
}

impl Pending {
    #[inline]
    fn note(&mut self, value: u64, bits: u32) {
        self.notes |= value << self.length;
        self.length += bits;
    }
}

/// Notes on instructions while they run.
pub struct Notes<'a> {
    pending: &'a mut Pending,
    memory: &'a mut MemoryTiming,
}

impl Notes<'_> {
    /// See [`MemoryTiming::kind`].
    #[inline]
    pub fn kind(&self, address: u32) -> u8 {
        self.memory.kind(address)
    }

    /// An access to this kind of memory. Of an aligned one the low bits of the address do not
    /// matter, and are taken as 0.
    #[inline]
    pub fn access(&mut self, kind: u8, address: u32, low_bits: u32) {
        self.pending
            .note(u64::from(kind) << 2 | u64::from(low_bits), ACCESS);
        if self.memory.is_dynamic(kind) {
            self.memory.issue_load(address);
            self.pending.dynamic += 1;
        }
    }

    /// Cycles in execute.
    #[inline]
    pub fn time(&mut self, cycles: u8) {
        self.pending.note(u64::from(cycles), TIME);
    }

    /// So many instructions are issued.
    #[inline]
    pub fn issued(&mut self, count: u32) {
        self.pending.count += count;
    }
}

/// The number of an instruction that is not in memory as it is executed: part of an LDM or STM, or
/// one that was overwritten.
const APART: u32 = 0;

/// Bits of a note: of a skip, an access, a time.
const SKIP: u32 = 1;
const ACCESS: u32 = 6;
const TIME: u32 = 4;

/// The pipeline and its clock.
pub struct Pipeline {
    simulation: Simulation,
    /// Look nothing up, for comparison.
    plain: bool,
    blocks: Vec<Block>,
    entries: Vec<Entry>,
    pending: Pending,
    /// The number of the state, `NONE` where it has none yet.
    state: u32,
    /// The simulation is in that state; otherwise it has to be put there first.
    fresh: bool,
    /// The way that was taken last.
    current: u32,
    /// Memory's answers to the block that is being looked up.
    answers: Vec<Answer>,
    found: Findings,
    /// What was found under conditions that may come back.
    set_aside: Vec<(Conditions, Findings)>,
}

/// Ways of blocks through the pipeline: they hold for the code that there is, under some conditions.
#[derive(Default)]
struct Findings {
    states: Numbers<State>,
    ways: Vec<Way>,
    index: Map<Key, u32>,
    queries: Vec<Query>,
}

/// What a program can change of how long its code takes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Conditions {
    memory: MemorySettings,
    write_buffer: bool,
    folding: bool,
}

/// Conditions of which findings are set aside.
const CONDITIONS: usize = 4;

impl Findings {
    /// The cache's contents are others than those of these numbers.
    fn outdate(&mut self) {
        for way in &mut self.ways {
            way.version = u64::MAX;
        }
    }
}

impl Pipeline {
    pub fn new(regions: &[Region], waits: &[DeviceWait], timing: Timing) -> Self {
        Self {
            simulation: Simulation::new(regions, waits, timing),
            plain: false,
            blocks: Vec::new(),
            entries: vec![Entry::NONE],
            pending: Pending::default(),
            state: NONE,
            fresh: true,
            current: NONE,
            answers: Vec::new(),
            found: Findings::default(),
            set_aside: Vec::new(),
        }
    }

    /// From now on simulate everything.
    #[cfg(test)]
    pub fn look_nothing_up(&mut self) {
        self.plain = true;
    }

    #[cfg(test)]
    pub fn events(&self) -> Events {
        self.simulation.events
    }

    /// How many ways are known.
    #[cfg(test)]
    pub fn ways(&self) -> usize {
        self.found.ways.len()
    }

    pub fn set_memory(&mut self, settings: MemorySettings) {
        self.change(|simulation| {
            let Simulation { memory, state, .. } = simulation;
            memory.set(settings, &mut state.history);
        });
    }

    pub fn forget_memory(&mut self) {
        self.leave_way();
        let Simulation { memory, state, .. } = &mut self.simulation;
        memory.forget(&mut state.history);
    }

    pub fn set_write_buffer(&mut self, on: bool) {
        self.change(|simulation| simulation.memory.write_buffer = on);
    }

    pub fn set_folding(&mut self, on: bool) {
        self.change(|simulation| simulation.folding = on);
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            memory: self.simulation.memory.settings(),
            write_buffer: self.simulation.memory.write_buffer,
            folding: self.simulation.folding,
        }
    }

    /// Change conditions. What was found under others is set aside, and what was under these before
    /// holds again.
    fn change(&mut self, change: impl FnOnce(&mut Simulation)) {
        self.put_in_state();
        let before = self.conditions();
        change(&mut self.simulation);
        let after = self.conditions();
        if before != after {
            self.leave_way();
            let mut known = self.set_aside.iter().position(|(c, _)| *c == after);
            if known.is_none() && self.set_aside.len() == CONDITIONS {
                self.set_aside.remove(0);
                known = None;
            }
            let mut found = known.map_or_else(Findings::default, |at| self.set_aside.remove(at).1);
            found.outdate();
            let left = std::mem::replace(&mut self.found, found);
            self.set_aside.push((before, left));
        }
    }

    /// The state has no number any more.
    fn leave_way(&mut self) {
        self.put_in_state();
        self.state = NONE;
        self.current = NONE;
    }

    /// Take over what an earlier pipeline of the same kind found out of the same code, whose blocks
    /// `memory` has taken over. It has to find it out anew.
    pub fn learn_from(&mut self, earlier: &mut Self) {
        earlier.leave_way();
        self.leave_way();
        self.blocks = std::mem::take(&mut earlier.blocks);
        self.entries = std::mem::replace(&mut earlier.entries, vec![Entry::NONE]);
        self.set_aside = std::mem::take(&mut earlier.set_aside);
        let found = std::mem::take(&mut earlier.found);
        self.set_aside.push((earlier.conditions(), found));
        let now = self.conditions();
        let known = self.set_aside.iter().position(|(c, _)| *c == now);
        self.found = known.map_or_else(Findings::default, |at| self.set_aside.remove(at).1);
        self.found.outdate();
    }

    pub fn now(&self) -> u64 {
        self.simulation.now
    }

    pub fn pass_time(&mut self, cycles: u64) {
        self.simulation.now += cycles;
    }

    /// Empty the pipeline and fetch from `pc` after `wait` cycles.
    pub fn restart(&mut self, pc: u32, wait: u64) {
        self.put_in_state();
        self.simulation.now += wait;
        let history = self.simulation.state.history.settled();
        self.simulation.state = State::at(pc, self.simulation.first_revision, history);
        self.state = NONE;
        self.current = NONE;
    }

    /// An exception is entered or left: see [`Simulation::begin_exchange`].
    pub fn begin_exchange(&mut self, enters: bool, memory: &Memory) {
        self.flush(memory);
        self.put_in_state();
        self.simulation.begin_exchange(enters);
        self.state = NONE;
        self.current = NONE;
    }

    /// See [`Simulation::exchange_cycle`].
    pub fn exchange_cycle(&mut self, exchange: &mut Exchange, memory: &Memory) -> Exchanged {
        self.simulation.exchange_cycle(exchange, memory)
    }

    /// See [`Simulation::change_vector`].
    pub fn change_vector(&mut self, exchange: &mut Exchange, vector: u32) {
        self.simulation.change_vector(exchange, vector);
    }

    /// See [`Simulation::fetch_from`].
    pub fn fetch_from(&mut self, pc: u32) {
        self.simulation.fetch_from(pc);
    }

    /// Whether the next instruction is an IT that was done with the one before.
    pub fn it_is_folded(&mut self, memory: &Memory) -> bool {
        self.flush(memory);
        self.put_in_state();
        self.simulation.state.it_is_folded()
    }

    /// See [`Simulation::coming`].
    pub fn coming(&mut self, entry: &Entry, in_it: bool, skipped: bool, memory: &Memory) -> Coming {
        self.flush(memory);
        self.put_in_state();
        let issue = Issue::of(entry, in_it, skipped);
        self.simulation.coming(entry, &issue, memory)
    }

    /// See [`Simulation::drain`].
    pub fn drain(&mut self, at: u64, memory: &Memory) {
        self.leave_states(memory);
        self.simulation.drain(at, memory);
    }

    /// See [`Simulation::make_way`].
    pub fn make_way(&mut self, at: u64, next: Option<(&Entry, bool, bool)>, memory: &Memory) {
        self.leave_states(memory);
        let issue = next.map_or_else(Issue::default, |(entry, in_it, skipped)| Issue {
            cycles: GIVEN_UP,
            ..Issue::of(entry, in_it, skipped)
        });
        let entry = next.map(|(entry, ..)| entry);
        self.simulation.make_way(at, entry, &issue, memory);
    }

    /// The simulation goes on by itself, from where the instructions have led it.
    fn leave_states(&mut self, memory: &Memory) {
        self.flush(memory);
        self.put_in_state();
        self.state = NONE;
        self.current = NONE;
    }

    /// When the load or store that was issued last has its data on the bus, and the events before.
    pub fn access(&mut self, memory: &Memory) -> (u64, Events) {
        self.flush(memory);
        self.put_in_state();
        self.simulation.access(memory)
    }

    fn put_in_state(&mut self) {
        if !self.fresh {
            self.simulation.state = self.found.states.value(self.state);
            self.fresh = true;
        }
    }

    /// See [`Simulation::fetched`].
    pub fn fetched(&mut self, memory: &Memory) -> u32 {
        self.flush(memory);
        self.put_in_state();
        self.simulation.fetched(memory)
    }

    /// Earlier findings no longer hold.
    #[cold]
    pub fn forget(&mut self) {
        self.leave_way();
        self.found = Findings::default();
    }

    /// Forget what was decoded.
    #[cold]
    pub fn forget_code(&mut self, memory: &mut Memory) {
        self.forget();
        self.set_aside.clear();
        memory.forget_blocks();
        self.blocks.clear();
        self.entries.truncate(APART as usize + 1);
    }

    // Blocks.

    /// The block that begins at an even address; `None` where there is no memory.
    #[inline]
    pub fn block(
        &mut self,
        pc: u32,
        memory: &mut Memory,
        is_end: impl Fn(u32) -> bool,
    ) -> Option<Block> {
        if let Some(number) = memory.block(pc) {
            return Some(self.blocks[number as usize]);
        }
        self.decode_block(pc, memory, is_end)
    }

    #[cold]
    fn decode_block(
        &mut self,
        pc: u32,
        memory: &mut Memory,
        is_end: impl Fn(u32) -> bool,
    ) -> Option<Block> {
        let first = self.entries.len();
        let (mut at, mut length) = (pc, 0);
        // Instructions that can be in an IT block: the first may be in one that began before.
        let mut conditional = 4;
        let mut count = 0;
        while count < LONGEST_BLOCK {
            if count != 0 && is_end(at) {
                break;
            }
            let Some(entry) = memory.decode(at) else {
                break;
            };
            let traits = &entry.traits;
            if conditional != 0 {
                conditional -= 1;
                length += SKIP;
            }
            if entry.op.kind == Kind::It {
                conditional = 4;
            }
            if traits.is_lsu() && !traits.is(Traits::LITERAL) {
                length += ACCESS;
            }
            if traits.is(Traits::TIMED) {
                length += TIME;
            }
            count += 1 + u8::from(traits.transfers > 16);
            if length > u64::BITS || count > LONGEST_BLOCK {
                break;
            }
            self.entries.push(entry);
            if traits.is(Traits::ENDS_BLOCK) {
                break;
            }
            at = at.wrapping_add(u32::from(entry.op.length));
        }
        if self.entries.len() == first {
            return None;
        }
        let block = Block {
            first: first as u32,
            count: (self.entries.len() - first) as u32,
        };
        memory.set_block(pc, self.blocks.len() as u32);
        self.blocks.push(block);
        Some(block)
    }

    /// Instructions, and where to note what they do while they run.
    #[inline]
    pub fn running(&mut self, first: u32, end: u32) -> (&[Entry], Notes<'_>) {
        let notes = Notes {
            pending: &mut self.pending,
            memory: &mut self.simulation.memory,
        };
        (&self.entries[first as usize..end as usize], notes)
    }

    #[inline]
    pub fn entry(&self, number: u32) -> Entry {
        self.entries[number as usize]
    }

    // Notes.

    /// Instructions from here on will be issued; the first one is this entry.
    #[inline]
    pub fn begin(&mut self, pc: u32, it: u8, first: u32) {
        self.pending = Pending {
            pc,
            it,
            first,
            ..Pending::default()
        };
    }

    /// Only this instruction will be issued, which is not in memory so.
    pub fn begin_apart(&mut self, pc: u32, it: u8, entry: Entry) {
        self.entries[APART as usize] = entry;
        self.begin(pc, it, APART);
    }

    /// Part of an LDM or STM is issued, with so many transfers before an exception.
    pub fn issue_part(&mut self, entry: &Entry, address: u32, transfers: u8) {
        self.issue_access(entry, address);
        // Nothing reads this; it tells one part from another.
        self.pending.note(u64::from(transfers), TIME);
    }

    /// See [`Simulation::presented`].
    pub fn presented(
        &mut self,
        entry: &Entry,
        in_it: bool,
        address: u32,
        memory: &Memory,
    ) -> Vec<u64> {
        self.flush(memory);
        self.put_in_state();
        let issue = Issue {
            address,
            ..Issue::of(entry, in_it, false)
        };
        self.simulation.presented(entry, &issue, memory)
    }

    fn notes(&mut self) -> Notes<'_> {
        Notes {
            pending: &mut self.pending,
            memory: &mut self.simulation.memory,
        }
    }

    /// The instruction that will be issued next is in an IT block.
    #[inline]
    pub fn conditional(&mut self, skipped: bool) {
        self.pending.note(u64::from(skipped), SKIP);
    }

    /// An instruction is issued of which nothing more is to be known.
    #[inline]
    pub fn issue(&mut self) {
        self.pending.count += 1;
    }

    /// An instruction is issued that takes this long in execute.
    #[inline]
    pub fn issue_timed(&mut self, cycles: u8) {
        self.notes().time(cycles);
        self.issue();
    }

    /// A load or store is issued.
    #[inline]
    pub fn issue_access(&mut self, entry: &Entry, address: u32) {
        if !entry.traits.is(Traits::LITERAL) {
            let mut notes = self.notes();
            let kind = notes.kind(address);
            let unaligned = address & (entry.op.kind.width().bytes() - 1) != 0;
            notes.access(kind, address, if unaligned { address & 3 } else { 0 });
        }
        self.issue();
    }

    /// The instruction that was issued last is a branch.
    #[inline]
    pub fn branches(&mut self, taken: bool, target: u32) {
        self.pending.branch = true;
        self.pending.taken = taken;
        self.pending.target = target;
    }

    // Time.

    /// Let time pass until the last instruction that was issued enters execute.
    #[inline]
    pub fn flush(&mut self, memory: &Memory) {
        let pending = &self.pending;
        if pending.count == 0 {
            return;
        }
        let key = Key {
            from: self.state,
            pc: pending.pc,
            target: pending.target,
            bits: pending.count
                | u32::from(pending.it) << 8
                | u32::from(pending.branch) << 16
                | u32::from(pending.taken) << 17,
            notes: pending.notes,
        };
        self.answers.clear();
        if self.current != NONE {
            for (place, way) in self.found.ways[self.current as usize]
                .next
                .into_iter()
                .enumerate()
            {
                if way != NONE && self.found.ways[way as usize].key == key {
                    if self.holds(way) {
                        if place == 1 {
                            self.found.ways[self.current as usize].next.swap(0, 1);
                        }
                        self.take(way);
                    } else {
                        self.search(key, memory);
                    }
                    return;
                }
            }
        }
        self.search(key, memory);
    }

    /// Whether memory answers as it did on this way. What it answered is added to `answers`.
    #[inline]
    fn holds(&mut self, number: u32) -> bool {
        let Self {
            simulation: Simulation { memory, now, .. },
            found: Findings { ways, queries, .. },
            answers,
            ..
        } = self;
        let way = &mut ways[number as usize];
        if way.asks == 0 {
            return true;
        }
        let settled = if way.plain && answers.is_empty() {
            memory.settled_cache(*now)
        } else {
            None
        };
        if settled == Some(way.version) {
            return true;
        }
        let queries = &queries[way.first as usize..][..way.asks as usize];
        let agrees = answers
            .iter()
            .zip(queries)
            .all(|(answer, query)| *answer == query.answer);
        if !agrees || answers.len() > queries.len() {
            return false;
        }
        for query in &queries[answers.len()..] {
            let answer = memory.ask(query, *now);
            answers.push(answer);
            if answer != query.answer {
                return false;
            }
        }
        if let Some(version) = settled {
            way.version = version;
        }
        true
    }

    /// Go where the block went before.
    #[inline]
    fn take(&mut self, number: u32) {
        let way = &self.found.ways[number as usize];
        self.simulation.now += u64::from(way.cycles);
        self.simulation.events.cpi += u64::from(way.cpi);
        self.simulation.events.lsu += u64::from(way.lsu);
        self.simulation.events.fold += u64::from(way.folds);
        self.simulation.events.exception += u64::from(way.exception);
        self.state = way.to;
        self.fresh = false;
        self.current = number;
        self.pending.count = 0;
    }

    #[cold]
    fn search(&mut self, key: Key, memory: &Memory) {
        let mut way = if self.plain || key.from == NONE {
            NONE
        } else {
            self.found.index.get(&key).copied().unwrap_or(NONE)
        };
        while way != NONE {
            if self.holds(way) {
                self.follow(way);
                self.take(way);
                return;
            }
            way = self.found.ways[way as usize].sibling;
        }
        self.simulate(key, memory);
    }

    /// This way comes after the current one.
    fn follow(&mut self, way: u32) {
        if let Some(current) = self.found.ways.get_mut(self.current as usize) {
            current.next = [way, current.next[0]];
        }
    }

    fn simulate(&mut self, mut key: Key, memory: &Memory) {
        self.put_in_state();
        if self.found.states.count() + 2 > STATES || self.found.ways.len() == WAYS {
            self.forget();
        }
        if self.state == NONE {
            key.from = self.found.states.number(&self.simulation.state);
        }
        let (now, events) = (self.simulation.now, self.simulation.events);
        self.simulation
            .memory
            .begin(now, self.pending.dynamic, &self.answers);
        let pending = std::mem::take(&mut self.pending);
        let mut reader = Reader::new(&pending);
        for entry in &self.entries[pending.first as usize..][..pending.count as usize] {
            let issue = reader.next(entry, &self.simulation);
            self.simulation.issue(entry, &issue, memory);
        }
        if self.plain {
            self.state = NONE;
            return;
        }
        self.state = self.found.states.number(&self.simulation.state);
        let log = &self.simulation.memory.log;
        let number = self.found.ways.len() as u32;
        self.found.ways.push(Way {
            key,
            to: self.state,
            cycles: (self.simulation.now - now) as u32,
            cpi: (self.simulation.events.cpi - events.cpi) as u32,
            lsu: (self.simulation.events.lsu - events.lsu) as u32,
            folds: (self.simulation.events.fold - events.fold) as u32,
            exception: (self.simulation.events.exception - events.exception) as u32,
            first: self.found.queries.len() as u32,
            asks: log.len() as u32,
            version: u64::MAX,
            plain: log.iter().all(Query::is_plain_hit),
            next: [NONE; 2],
            sibling: self.found.index.get(&key).copied().unwrap_or(NONE),
        });
        self.found.queries.extend_from_slice(log);
        self.found.index.insert(key, number);
        self.follow(number);
        self.current = number;
    }
}

/// Notes on each instruction.
struct Reader<'a> {
    pending: &'a Pending,
    notes: u64,
    pc: u32,
    it: u8,
    left: u32,
}

impl<'a> Reader<'a> {
    fn new(pending: &'a Pending) -> Self {
        Self {
            pending,
            notes: pending.notes,
            pc: pending.pc,
            it: pending.it,
            left: pending.count,
        }
    }

    fn take(&mut self, bits: u32) -> u32 {
        let value = self.notes & ((1 << bits) - 1);
        self.notes >>= bits;
        value as u32
    }

    fn next(&mut self, entry: &Entry, simulation: &Simulation) -> Issue {
        let Entry { op, traits, .. } = entry;
        let pc = self.pc;
        self.pc = pc.wrapping_add(u32::from(op.length));
        self.left -= 1;
        let in_it = is_it(self.it);
        let skipped = in_it && self.take(SKIP) != 0;
        self.it = advance_it(self.it);
        let mut issue = Issue {
            pc,
            target: self.pc,
            skipped,
            in_it,
            width: op.kind.width(),
            cycles: traits.cycles(),
            ..Issue::default()
        };
        if self.left == 0 && self.pending.branch {
            issue.taken = self.pending.taken;
            issue.target = self.pending.target;
        }
        if skipped {
            return issue;
        }
        if op.kind == Kind::It {
            self.it = op.imm as u8;
        }
        if traits.is(Traits::TIMED) {
            issue.cycles = self.take(TIME) as u8;
        }
        if traits.is(Traits::LITERAL) {
            issue.address = literal(pc, op);
        } else if traits.is_lsu() {
            let note = self.take(ACCESS);
            let kind = (note >> 2) as u8;
            issue.address = simulation.memory.representative(kind, note & 3);
            issue.dynamic = simulation.memory.is_dynamic(kind);
        }
        issue
    }
}

/// Whether this ITSTATE is that of an IT block.
pub const fn is_it(state: u8) -> bool {
    state & 15 != 0
}

/// ITSTATE after an instruction (ARM DDI 0403E.e, A7.3.3).
pub const fn advance_it(it: u8) -> u8 {
    if it.is_multiple_of(8) {
        0
    } else {
        (it & 0xe0) | (it << 1 & 0x1f)
    }
}
