//! The bus matrix, its ports, and the memories behind them.
//!
//! The core has two masters, instruction fetch and load/store. Both follow AHB: an address phase,
//! then a data phase in which the next address may already be out. Unlike AHB-Lite a master can
//! also be refused: its address then stays, and nothing advances (seen wherever fetches and loads
//! meet).

use std::hash::{Hash, Hasher};

use crate::bus::{MemorySettings, Width};
use crate::cache::{Cache, LINE_BYTES as CACHE_LINE_BYTES};
use crate::memory::{DeviceWait, Region, RegionKind};

/// Purpose of a fetched word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FetchUse {
    /// The prefetch queue; the first halfword is left out where `skip`.
    Queue { skip: bool },
    /// The address of an exception's handler.
    Vector,
    /// Nothing any more; it lost its use in the address phase, or in the data phase.
    Nothing { in_data: bool },
}

/// One transfer of a master.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    pub address: u32,
    pub width: Width,
    pub write: bool,
    pub purpose: FetchUse,
}

impl Request {
    /// It is one transfer. The private bus is taken to accept any address at once: so says
    /// `misc/large_tests_extract/last_narrow_ablation_corectness`, but for 3,168 of its 168,000 times,
    /// which are a cycle longer for a reason that is not known.
    fn is_aligned(self) -> bool {
        self.address & (self.width.bytes() - 1) == 0
            || place(self.address).outlet == Outlet::Private
    }

    /// Where the part that begins at `address` ends.
    fn part_end(self, address: u32) -> u32 {
        if self.is_aligned() {
            self.end()
        } else {
            part_end(address, self.end())
        }
    }

    /// It takes more than one transfer, and fetches stay off the system bus meanwhile: it is split,
    /// or goes through a bit-band alias.
    fn is_locked(self) -> bool {
        !self.is_aligned() || is_bit_band_alias(self.address)
    }

    const fn end(self) -> u32 {
        self.address.wrapping_add(self.width.bytes())
    }
}

/// A port of the bus matrix. Devices on the system bus are behind a decoder of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
enum Outlet {
    Code,
    System,
    Private,
}

/// Bus slaves: transfers to different ones do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    outlet: Outlet,
    /// Behind the system bus: memory, or devices.
    device: bool,
}

fn place(address: u32) -> Place {
    let outlet = match address >> 28 {
        0 | 1 => Outlet::Code,
        14 if address >> 20 == 0xe00 => Outlet::Private,
        _ => Outlet::System,
    };
    Place {
        outlet,
        device: outlet == Outlet::System && address >> 28 != 2,
    }
}

/// Whether an access goes out on the system bus.
pub fn is_system(address: u32) -> bool {
    place(address).outlet == Outlet::System
}

/// A data phase at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct DataPhase {
    place: Place,
    write: bool,
    /// Cycles until the last one.
    wait: u8,
}

/// One of the core's two masters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Master {
    pub address: Option<Request>,
    pub data: Option<Request>,
    /// The data phase began in this cycle.
    pub advanced: bool,
    ready: bool,
    refused: bool,
    /// Its transfer on the bus: of an unaligned access, one part.
    phase: Option<DataPhase>,
    /// Where the next part of an unaligned access begins.
    next_part: u32,
}

impl Master {
    fn tick(&mut self) {
        self.advanced = false;
        if self.ready && !self.refused {
            self.data = self.address.take();
            self.advanced = self.data.is_some();
            if let Some(request) = self.data {
                self.next_part = request.part_end(request.address);
            }
        }
    }

    pub fn is_free(&self) -> bool {
        self.ready && self.data.is_none()
    }
}

/// The end of the largest aligned part of an access that begins here.
fn part_end(address: u32, end: u32) -> u32 {
    let left = end.wrapping_sub(address);
    if left >= 4 && address.is_multiple_of(4) {
        address.wrapping_add(4)
    } else if left >= 2 && address.is_multiple_of(2) {
        address.wrapping_add(2)
    } else {
        address.wrapping_add(1)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct PortState {
    /// Who had the address in the last cycle, when one was out.
    owner: Option<Who>,
    was_ready: bool,
    locked: bool,
}

impl PortState {
    /// No address and no transfer in the last cycle.
    const IDLE: Self = Self {
        owner: None,
        was_ready: true,
        locked: false,
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Who {
    Fetch,
    Data,
}

/// All that buses and memories remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // one flip-flop each
pub struct Buses {
    pub fetch: Master,
    pub data: Master,
    /// A fetch from the system bus waits one cycle in a register (TRM, section 12.5.6).
    registered: bool,
    /// Of the two buses that both masters use.
    ports: [PortState; 2],
    /// An unaligned access came to its data phase in this cycle, or in the one before.
    pub unaligned_now: bool,
    pub unaligned_before: bool,
    /// The last part of an unaligned store that had left execute was in its data phase in the cycle
    /// before.
    split_store_ended: bool,
    /// A store that is none of a bit was in its data phase on the system bus in the cycle before, as
    /// far as that makes a difference.
    stored_before: bool,
    /// The core is of revision 1: a fetch address that waits for the bus may be taken back, and the
    /// address of a load does not wait for a buffered store.
    first_revision: bool,
}

impl Hash for Buses {
    /// Of what tells most states apart.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        for master in [&self.fetch, &self.data] {
            let address = |request: Option<Request>| request.map_or(1, |request| request.address);
            let wait = master.phase.map_or(u8::MAX, |phase| phase.wait);
            (address(master.address), address(master.data), wait).hash(hasher);
        }
    }
}

impl Default for Buses {
    fn default() -> Self {
        let master = Master {
            ready: true,
            ..Master::default()
        };
        Self {
            fetch: master,
            data: master,
            registered: false,
            ports: [PortState::IDLE; 2],
            unaligned_now: false,
            unaligned_before: false,
            split_store_ended: false,
            stored_before: false,
            first_revision: false,
        }
    }
}

/// Outcome of a cycle on the buses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// A fetch is done.
    pub fetched: Option<(u32, FetchUse)>,
    /// A load's or store's data phase is done.
    pub transferred: bool,
    /// The address of a load or store was accepted.
    pub address_taken: bool,
    /// It goes on to its data phase in the next cycle.
    pub address_advances: bool,
}

/// The line that a buffer between a bus and its memory holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Held {
    #[default]
    Nothing,
    Line(u32),
    /// The line of the last load whose address is not known beforehand:
    /// [`MemoryTiming::loaded_line`].
    Loaded,
}

/// State of buffered and cached memory between cycles, apart from the cache's tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct History {
    held: Held,
    /// What flash's line buffer holds behind the cache, where its lines are longer than the cache's.
    buffered: Held,
    /// Cycles until the last line has come from behind the cache; negative afterwards.
    until_done: i8,
    /// Cycles since the cache's RAM was asked, while that still matters.
    since_asked: i8,
    /// The load or store that entered execute last, and the one before, have addresses with a
    /// history that are not known beforehand.
    dynamic: [bool; 2],
}

impl History {
    /// Nothing of the last line's coming matters any more.
    const LONG_AGO: i8 = -4;

    pub const fn new() -> Self {
        Self {
            held: Held::Nothing,
            buffered: Held::Nothing,
            until_done: Self::LONG_AGO,
            since_asked: 2,
            dynamic: [false; 2],
        }
    }

    /// The same a long time later, with nothing under way.
    pub const fn settled(self) -> Self {
        Self {
            held: self.held,
            buffered: self.buffered,
            ..Self::new()
        }
    }

    pub fn tick(&mut self) {
        if self.until_done > Self::LONG_AGO {
            self.until_done -= 1;
            self.since_asked = (self.since_asked + 1).min(2);
        }
        if self.until_done == Self::LONG_AGO {
            self.since_asked = 2;
        }
    }

    /// A load or store enters execute.
    pub fn enters(&mut self, dynamic: bool) {
        self.dynamic = [dynamic, self.dynamic[0]];
    }

    /// A tag that was looked up ahead is not used two cycles after a line came from flash, nor
    /// three where the cache's RAM was asked in between (`flash/cache/instructions/`).
    ///
    /// `idle` cycles from now.
    const fn lookup_is_late(&self, idle: i8) -> bool {
        let since_done = idle - self.until_done;
        since_done == 2 || (since_done == 3 && self.since_asked + idle == 1)
    }
}

/// How an access stands to the line that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Same,
    /// It is in the line after.
    Next,
    Other,
}

/// Answer of memory with a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    relation: Relation,
    /// The cache's tags have it.
    cached: bool,
    /// Flash's line buffer behind the cache has it.
    buffered: bool,
}

impl Answer {
    const SAME: Self = Self {
        relation: Relation::Same,
        cached: false,
        buffered: false,
    };
}

/// An access to buffered or cached memory whose cost is not known beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Where; or, where `age` says which load it is, how far behind the beginning of the memory
    /// that stands for its address.
    address: u32,
    /// [`KNOWN`], or how many loads with such addresses were issued after it.
    age: u8,
    /// Cycles since the first instruction was issued.
    at: u16,
    held: Held,
    buffered: Held,
    /// A tag that was looked up ahead could not be used.
    late: bool,
    pub answer: Answer,
}

/// The age of an access whose address is known beforehand.
const KNOWN: u8 = u8::MAX;

impl Query {
    /// It asks for nothing but a tag that was there.
    pub fn is_plain_hit(&self) -> bool {
        self.age == KNOWN && self.held != Held::Loaded && self.answer.cached
    }
}

/// Who accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Fetch,
    /// The load that entered execute last.
    Load,
    /// The one before it, which was unaligned and is not done yet.
    EarlierLoad,
}

/// Where the memories are and what they are.
#[derive(Debug)]
struct Map {
    regions: Vec<Region>,
    /// Their numbers follow those of `regions`.
    devices: Vec<DeviceWait>,
    /// Kind of each megabyte: a region's number, one of the kinds below, or `SEVERAL`.
    kinds: Box<[u8; 4096]>,
}

/// Addresses outside regions, by their bus.
const NO_CODE: u8 = 12;
const NO_RAM: u8 = 13;
const DEVICES: u8 = 14;
const PRIVATE: u8 = 15;
const SEVERAL: u8 = 16;
/// The most regions of a chip, late registers and bit-band aliases included.
const MOST_REGIONS: usize = NO_CODE as usize;

/// A load through a bit-band alias takes as long as one of the word. A store reads the word, asks
/// for the write a cycle later, and writes in two (misc/bitbanding).
const BIT_BAND_ALIASES: [DeviceWait; 2] =
    [bit_band_alias(0x2200_0000), bit_band_alias(0x4200_0000)];

const fn bit_band_alias(start: u32) -> DeviceWait {
    DeviceWait {
        start,
        size: 0x0200_0000,
        read: 0,
        write: 3,
    }
}

/// An address through which one bit is accessed (TRM, section 3.7).
pub const fn is_bit_band_alias(address: u32) -> bool {
    matches!(address >> 25, 0x11 | 0x21)
}

const LOADS: usize = 16;

/// How long the memories take.
#[derive(Debug)]
pub struct MemoryTiming {
    pub settings: MemorySettings,
    pub write_buffer: bool,
    /// Of a Cortex-M4: the store of a bit does not follow another access at once.
    pub bit_stores_wait: bool,
    map: Map,
    /// Kinds of memory that are buffered or cached now, one bit each.
    with_history: u16,
    cache: Cache,
    /// See [`Held::Loaded`]: the line that [`History::held`] means, and the one that
    /// [`History::buffered`] means.
    loaded_line: u32,
    loaded_buffer: u32,
    /// The addresses of the last loads from memory with a history, as far as they were not known
    /// beforehand, and how many there were.
    loads: [u32; LOADS],
    issued: usize,
    /// Of these, those that entered execute as far as is simulated.
    pub entered: usize,
    /// Cost of the accesses since `since`, as far as it was not known beforehand; the first `known`
    /// were found out before.
    pub log: Vec<Query>,
    known: Vec<Answer>,
    since: u64,
}

/// State that a look ahead must not change.
pub struct Snapshot {
    loaded_line: u32,
    loaded_buffer: u32,
    cache: Option<Cache>,
}

/// Number of a region of memory, or of a bus without memory, in [`Map::kinds`].
fn kind_of_nothing(address: u32) -> u8 {
    match place(address) {
        Place {
            outlet: Outlet::Code,
            ..
        } => NO_CODE,
        Place {
            outlet: Outlet::Private,
            ..
        } => PRIVATE,
        Place { device: true, .. } => DEVICES,
        Place { .. } => NO_RAM,
    }
}

impl MemoryTiming {
    pub fn new(regions: &[Region], waits: &[DeviceWait]) -> Self {
        let devices: Vec<DeviceWait> = waits.iter().copied().chain(BIT_BAND_ALIASES).collect();
        assert!(
            regions.len() + devices.len() <= MOST_REGIONS,
            "too many memories"
        );
        let mut kinds = Box::new(std::array::from_fn(|page| {
            kind_of_nothing((page as u32) << 20)
        }));
        let memories = regions.iter().map(|region| (region.start, region.size));
        let late = devices.iter().map(|device| (device.start, device.size));
        for (number, (start, size)) in memories.chain(late).enumerate() {
            for page in start >> 20..=(start + (size - 1)) >> 20 {
                let kind: &mut u8 = &mut kinds[page as usize];
                *kind = if *kind >= NO_CODE && *kind != SEVERAL {
                    number as u8
                } else {
                    SEVERAL
                };
            }
        }
        let mut timing = Self {
            settings: MemorySettings::default(),
            write_buffer: true,
            bit_stores_wait: false,
            map: Map {
                regions: regions.to_vec(),
                devices,
                kinds,
            },
            with_history: 0,
            cache: Cache::new(),
            loaded_line: 0,
            loaded_buffer: 0,
            loads: [0; LOADS],
            issued: 0,
            entered: 0,
            log: Vec::new(),
            known: Vec::new(),
            since: 0,
        };
        timing.find_history();
        timing
    }

    fn find_history(&mut self) {
        self.with_history = 0;
        for (number, region) in self.map.regions.iter().enumerate() {
            let has = region.kind != RegionKind::Ram && self.has_history(region);
            self.with_history |= u16::from(has) << number;
        }
    }

    pub fn settings(&self) -> MemorySettings {
        self.settings
    }

    /// Caches and line buffers are empty, and the pseudo-random sequence begins anew.
    pub fn forget(&mut self, history: &mut History) {
        let version = self.cache.version + 1;
        self.cache = Cache::new();
        self.cache.version = version;
        *history = History::new();
    }

    pub fn set(&mut self, settings: MemorySettings, history: &mut History) {
        if self.settings == settings {
            return;
        }
        if self.settings.cache != settings.cache {
            self.cache.clear();
        }
        if self.settings.line_buffer != settings.line_buffer
            || self.settings.cache != settings.cache
        {
            history.held = Held::Nothing;
            history.buffered = Held::Nothing;
        }
        self.settings = settings;
        self.find_history();
    }

    /// The kind of memory at an address, which is all that the pipeline sees of it besides
    /// alignment.
    #[inline]
    pub fn kind(&self, address: u32) -> u8 {
        let kind = self.map.kinds[(address >> 20) as usize];
        if kind == SEVERAL {
            return self.kind_in_shared_page(address);
        }
        kind
    }

    #[cold]
    fn kind_in_shared_page(&self, address: u32) -> u8 {
        let Map {
            regions, devices, ..
        } = &self.map;
        let memories = regions.iter().map(|region| (region.start, region.size));
        let late = devices.iter().map(|device| (device.start, device.size));
        memories
            .chain(late)
            .position(|(start, size)| address.wrapping_sub(start) < size)
            .map_or_else(|| kind_of_nothing(address), |number| number as u8)
    }

    /// The late device at this address.
    fn device(&self, address: u32) -> Option<&DeviceWait> {
        let number = (self.kind(address) as usize).checked_sub(self.map.regions.len())?;
        let device = self.map.devices.get(number)?;
        (address.wrapping_sub(device.start) < device.size).then_some(device)
    }

    fn region(&self, address: u32) -> Option<&Region> {
        self.map
            .regions
            .get(self.kind(address) as usize)
            .filter(|region| address.wrapping_sub(region.start) < region.size)
    }

    const fn has_history(&self, region: &Region) -> bool {
        (region.cached && self.settings.cache)
            || (region.line_bytes != 0 && self.settings.line_buffer)
    }

    /// Whether accesses to this kind of memory have a history.
    #[inline]
    pub const fn is_dynamic(&self, kind: u8) -> bool {
        self.with_history >> kind & 1 != 0
    }

    /// The address that stands for all of this kind and alignment.
    pub fn representative(&self, kind: u8, low_bits: u32) -> u32 {
        let start = match kind {
            NO_CODE => 0x1ff0_0000,
            NO_RAM => 0x2ff0_0000,
            DEVICES => 0x4000_0000,
            PRIVATE => 0xe000_0000,
            _ => match self.map.regions.get(kind as usize) {
                Some(region) => region.start,
                None => self.map.devices[kind as usize - self.map.regions.len()].start,
            },
        };
        start | low_bits
    }

    /// A load of memory with a history is issued, from an address that is not known beforehand.
    #[inline]
    pub fn issue_load(&mut self, address: u32) {
        self.loads[self.issued % LOADS] = address;
        self.issued += 1;
    }

    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            loaded_line: self.loaded_line,
            loaded_buffer: self.loaded_buffer,
            cache: self.settings.cache.then(|| self.cache.clone()),
        }
    }

    pub fn restore(&mut self, snapshot: Snapshot) {
        self.loaded_line = snapshot.loaded_line;
        self.loaded_buffer = snapshot.loaded_buffer;
        if let Some(cache) = snapshot.cache {
            self.cache = cache;
        }
    }

    /// A new log begins, and the first accesses in it got these answers.
    ///
    /// `to_enter` loads that are issued did not enter execute yet.
    pub fn begin(&mut self, now: u64, to_enter: usize, known: &[Answer]) {
        self.entered = self.issued - to_enter;
        self.log.clear();
        self.known.clear();
        self.known.extend_from_slice(known);
        self.since = now;
    }

    /// The number of the cache's contents while nothing is on its way into it.
    #[inline]
    pub fn settled_cache(&mut self, now: u64) -> Option<u64> {
        self.cache.settled(now)
    }

    /// Wait states of an access whose address is taken `idle` cycles after `now`.
    fn wait(
        &mut self,
        (address, write, by): (u32, bool, By),
        history: &mut History,
        now: u64,
        idle: u8,
    ) -> u8 {
        let Some(region) = self.region(address) else {
            let device = self.device(address);
            return device.map_or(0, |device| if write { device.write } else { device.read });
        };
        let wait_states = region.wait_states;
        if self.settings.fetches_at_once && by == By::Fetch && region.kind == RegionKind::Flash {
            return 0;
        }
        if write && region.kind == RegionKind::Ram {
            return wait_states + region.store_wait_states;
        }
        if write || region.kind == RegionKind::Ram || !self.has_history(region) {
            if region.jump_wait_states == 0 || by != By::Fetch {
                return wait_states;
            }
            let size = u32::from(region.jump_line_bytes);
            let line = address & !(size - 1);
            let before = std::mem::replace(&mut history.held, Held::Line(line));
            let jumps = relation(before, 0, line, size) == Relation::Other;
            return wait_states + if jumps { region.jump_wait_states } else { 0 };
        }
        let start = region.start;
        let cached = region.cached && self.settings.cache;
        let age = match by {
            By::Load if history.dynamic[0] => 0,
            By::EarlierLoad if history.dynamic[1] => u8::from(history.dynamic[0]),
            _ => KNOWN,
        };
        let mut query = Query {
            address: if age == KNOWN {
                address
            } else {
                address - start
            },
            age: if age == KNOWN {
                KNOWN
            } else {
                age + (self.issued - self.entered) as u8
            },
            at: (now + u64::from(idle) - self.since) as u16,
            held: history.held,
            buffered: history.buffered,
            late: history.lookup_is_late(idle as i8),
            answer: Answer::SAME,
        };
        let size = held_bytes(region, cached);
        let line = address & !(size - 1);
        let buffer = self.bytes_behind_cache(region);
        let known_relation = (age == KNOWN && history.held != Held::Loaded)
            .then(|| relation(history.held, 0, line, size));
        if known_relation == Some(Relation::Same) {
            return 0;
        }
        if cached || known_relation.is_none() {
            query.answer = match self.known.get(self.log.len()) {
                Some(&answer) => answer,
                None => self.ask(&query, self.since),
            };
            self.log.push(query);
        } else if let Some(relation) = known_relation {
            query.answer.relation = relation;
        }
        let Answer {
            relation,
            cached: hits,
            buffered,
        } = query.answer;
        if age == KNOWN {
            history.held = Held::Line(line);
        } else if relation != Relation::Same {
            history.held = Held::Loaded;
        }
        if relation == Relation::Same {
            return 0;
        }
        if !cached {
            return wait_states;
        }
        let ahead = relation == Relation::Next && !query.late;
        let delay = u8::from(!ahead);
        if hits {
            if history.until_done > History::LONG_AGO {
                history.since_asked = -((delay + idle) as i8);
            }
            return delay;
        }
        let wait = if buffered { delay } else { delay + wait_states };
        if !buffered && buffer != 0 {
            history.buffered = if age == KNOWN {
                Held::Line(address & !(buffer - 1))
            } else {
                Held::Loaded
            };
        }
        history.until_done = 1 + (wait + idle) as i8;
        wait
    }

    /// Bytes of the line buffer that flash fills behind the cache; 0 where a line of the cache is as long.
    ///
    /// The `CC26x2`'s flash is read 128 bits at a time (SWCU192, VIMS, flash line buffers), while its
    /// cache looks up the next 64 (ibid., tag prefetch), as the `CC26x0`'s does. That lines of the cache
    /// are of 64 bits too, that one comes at a time, without wait states where the line buffer has it,
    /// and that the buffer stays as it is while the cache answers: `instructions/control_flow/`
    /// `tbb_tbh_after_ldr` and `misc/speculative_fetch_after_not_taken_decode_time_branch` of the CC2652.
    const fn bytes_behind_cache(&self, region: &Region) -> u32 {
        if self.settings.line_buffer && region.line_bytes as u32 > CACHE_LINE_BYTES {
            region.line_bytes as u32
        } else {
            0
        }
    }

    /// Ask again what was asked when the instructions were issued first; they begin at `since` now.
    #[inline]
    pub fn ask(&mut self, query: &Query, since: u64) -> Answer {
        let address = if query.age == KNOWN {
            query.address
        } else {
            let load = self.loads[(self.issued - 1 - query.age as usize) % LOADS];
            (load & !3).wrapping_add(query.address)
        };
        let Some(region) = self.region(address) else {
            return Answer::SAME;
        };
        let wait_states = region.wait_states;
        let cached = region.cached && self.settings.cache;
        let size = held_bytes(region, cached);
        let line = address & !(size - 1);
        let buffer = self.bytes_behind_cache(region);
        let relation = relation(query.held, self.loaded_line, line, size);
        if query.age != KNOWN {
            self.loaded_line = line;
        }
        let mut answer = Answer {
            relation,
            ..Answer::SAME
        };
        if cached && relation != Relation::Same {
            let ahead = relation == Relation::Next && !query.late;
            let at = since + u64::from(query.at);
            let buffered = match query.buffered {
                Held::Nothing => None,
                Held::Line(buffered) => Some(buffered),
                Held::Loaded => Some(self.loaded_buffer),
            };
            let line_in_flash = address & !buffer.wrapping_sub(1);
            answer.buffered = buffer != 0 && buffered == Some(line_in_flash);
            let flash_wait_states = if answer.buffered { 0 } else { wait_states };
            answer.cached = self.cache.access(line, flash_wait_states, ahead, at);
            if answer.cached {
                answer.buffered = false; // It makes no difference.
            } else if query.age != KNOWN && !answer.buffered {
                self.loaded_buffer = line_in_flash;
            }
        }
        answer
    }
}

/// The lines that an access is buffered by: the cache's, or those of flash's line buffer.
const fn held_bytes(region: &Region, cached: bool) -> u32 {
    if cached || region.line_bytes == 0 {
        CACHE_LINE_BYTES
    } else {
        region.line_bytes as u32
    }
}

fn relation(held: Held, loaded_line: u32, line: u32, line_bytes: u32) -> Relation {
    let before = match held {
        Held::Nothing => return Relation::Other,
        Held::Line(before) => before,
        Held::Loaded => loaded_line,
    };
    match line.wrapping_sub(before) {
        0 => Relation::Same,
        after if after == line_bytes => Relation::Next,
        _ => Relation::Other,
    }
}

impl Buses {
    /// Nothing under way.
    pub fn new(first_revision: bool) -> Self {
        Self {
            first_revision,
            ..Self::default()
        }
    }

    /// A new cycle: what was ready advances.
    pub fn tick(&mut self) {
        let fetch_advances = self.fetch.ready && !self.fetch.refused;
        self.fetch.tick();
        if fetch_advances {
            self.registered = self
                .fetch
                .data
                .is_some_and(|request| place(request.address).outlet == Outlet::System);
        }
        self.data.tick();
        self.unaligned_before = self.unaligned_now;
        self.unaligned_now =
            self.data.advanced && self.data.data.is_some_and(|request| !request.is_aligned());
    }

    /// The store of a bit has one cycle of its data phase left.
    pub fn has_stored_bit(&self) -> bool {
        let stores = self
            .data
            .phase
            .is_some_and(|phase| phase.write && phase.wait == 0);
        let of_bit = |request: Request| is_bit_band_alias(request.address);
        stores && self.data.data.is_some_and(of_bit)
    }

    /// Fetch a word. False where another address still waits for the bus.
    pub fn ask_for_fetch(&mut self, address: u32, purpose: FetchUse) -> bool {
        match &mut self.fetch.address {
            Some(waiting) => {
                let usable = waiting.address == address
                    && waiting.purpose == (FetchUse::Nothing { in_data: false });
                if usable {
                    waiting.purpose = purpose;
                }
                usable
            }
            address_phase @ None => {
                *address_phase = Some(Request {
                    address,
                    width: Width::Word,
                    write: false,
                    purpose,
                });
                true
            }
        }
    }

    /// Fetched words are of no more use; its transfers go on.
    pub fn drop_fetches(&mut self) {
        self.drop_fetch_address();
        Self::drop_data(&mut self.fetch);
    }

    fn drop_data(master: &mut Master) {
        if let Some(data) = &mut master.data
            && matches!(data.purpose, FetchUse::Queue { .. })
        {
            data.purpose = FetchUse::Nothing { in_data: true };
        }
    }

    /// The address that waits for the bus is of no use any more. Returns it, and whether its first
    /// halfword was not wanted.
    pub fn drop_fetch_address(&mut self) -> Option<(u32, bool)> {
        let waiting = self.fetch.address.as_mut()?;
        let FetchUse::Queue { skip } = waiting.purpose else {
            return None;
        };
        waiting.purpose = FetchUse::Nothing { in_data: false };
        let address = waiting.address;
        if self.first_revision {
            self.fetch.address = None;
        }
        Some((address, skip))
    }

    /// The fetch that was asked for in the last cycle is of no use any more.
    pub fn drop_latest_fetch(&mut self) {
        if self.fetch.advanced {
            Self::drop_data(&mut self.fetch);
        } else {
            self.drop_fetch_address();
        }
    }

    /// The fetch in its data phase is of no use any more, where it did not begin just now.
    pub fn drop_stalled_fetch(&mut self) {
        if !self.fetch.advanced {
            Self::drop_data(&mut self.fetch);
        }
    }

    /// The address that the load/store master puts on the bus: the next part of an unaligned access
    /// before anything new.
    fn data_presents(&self) -> Option<(u32, bool, bool)> {
        if let Some(request) = self.data.data
            && self.data.next_part != request.end()
        {
            return Some((self.data.next_part, request.write, true));
        }
        self.data
            .address
            .map(|request| (request.address, request.write, false))
    }

    /// The rest of the cycle, after the core has asked for what it wants.
    ///
    /// `buffered` says that a store in its data phase left execute before.
    pub fn tock(
        &mut self,
        memory: &mut MemoryTiming,
        history: &mut History,
        now: u64,
        buffered: bool,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let done = |phase: Option<DataPhase>| phase.is_some_and(|phase| phase.wait == 0);
        let (mut data_done, fetch_done) = (done(self.data.phase), done(self.fetch.phase));

        // An access that is split, wherever it goes, or that goes through a bit-band alias, and fetches
        // from the system bus shut each other out: its first address waits for one that is on the bus,
        // none is registered from then on, and what is registered goes out when the last part is done
        // (memory/ldr_str_unaligned, control_flow/tbb_tbh_after_ldr and misc/bitbanding with code in
        // SRAM).
        let split = self.data.data.filter(|request| request.is_locked());
        let more = split.is_some_and(|request| self.data.next_part != request.end());
        let last = split.is_some() && !more;
        let begins = !more && self.data.address.is_some_and(Request::is_locked);
        let fetches_from_system = self.registered
            || self
                .fetch
                .phase
                .is_some_and(|phase| phase.place.outlet == Outlet::System);
        let waits_for_fetch = begins && fetches_from_system;
        let stores_bit =
            split.is_some_and(|request| request.write && is_bit_band_alias(request.address));

        // What each master puts on the bus. With the write buffer of revision 2, a load's address does
        // not go out in the cycle after the last part of a buffered store. That is inferred from how long
        // whole programs take on a CC2650; on the STM32F100 it is not so (memory/ldr_str_unaligned).
        let mut data_address = self.data_presents();
        let after_store = std::mem::replace(
            &mut self.split_store_ended,
            last && buffered
                && !self.first_revision
                && split.is_some_and(|request| request.write && !request.is_aligned()),
        );
        let behind_split_store = after_store && data_address.is_some_and(|(_, write, _)| !write);
        if behind_split_store || waits_for_fetch {
            data_address = None;
        }
        let mut fetch_address = None;
        let mut registering = false;
        if self.registered {
            fetch_address = self
                .fetch
                .data
                .map(|request| request.address)
                .filter(|_| split.is_none());
        } else if let Some(request) = self.fetch.address {
            if place(request.address).outlet == Outlet::System {
                // Not while the last fetch from elsewhere is in its data phase (seen in
                // control_flow/bx_seq_memory_types), nor while a transfer on the system bus waits, as a
                // load behind a split store or behind that of a bit does (memory/ldr_str_unaligned and
                // misc/bitbanding/ldr_str_pipelining), nor while a store that left execute is in its
                // data phase (memory/str_imm and strb_strh on the STM32F100; that it is so on revision
                // 2 too was seen in whole programs with code and data in SRAM).
                let keeps_out = self.ports[Outlet::System as usize].locked
                    || self.data.phase.is_some_and(|phase| {
                        phase.place.outlet == Outlet::System
                            && (phase.wait != 0 || (buffered && phase.write))
                    });
                registering = split.is_none()
                    && !begins
                    && !keeps_out
                    && self
                        .fetch
                        .phase
                        .is_none_or(|phase| phase.place == place(request.address));
            } else {
                fetch_address = Some(request.address);
            }
        }

        // An address for another port than the data phase's does not go out (seen in
        // memory/ldr_two_memories and str_two_memories).
        let elsewhere = |phase: Option<DataPhase>, address: u32| {
            phase.is_some_and(|phase| phase.place != place(address))
        };
        let mut data_granted = false;
        let mut fetch_granted = false;
        let mut load_waits = false;
        let data_asks = data_address.filter(|&(at, ..)| !elsewhere(self.data.phase, at));
        let fetch_asks = fetch_address.filter(|&at| !elsewhere(self.fetch.phase, at));

        // The private bus has no other master.
        data_granted |= data_asks.is_some_and(|(at, ..)| place(at).outlet == Outlet::Private);
        for outlet in [Outlet::Code, Outlet::System] {
            let wants_data = data_asks.filter(|&(at, ..)| place(at).outlet == outlet);
            let wants_fetch = fetch_asks.filter(|&at| place(at).outlet == outlet);
            let at_port =
                |phase: Option<DataPhase>| phase.filter(|phase| phase.place.outlet == outlet);
            let data_phase = at_port(self.data.phase);
            let fetch_phase = at_port(self.fetch.phase);
            if wants_data.is_none()
                && wants_fetch.is_none()
                && data_phase.is_none()
                && fetch_phase.is_none()
            {
                self.ports[outlet as usize] = PortState::IDLE;
                continue;
            }
            let owner = if data_phase.is_some() {
                Some(Who::Data)
            } else {
                fetch_phase.map(|_| Who::Fetch)
            };
            let phase = data_phase.or(fetch_phase);
            let ready = phase.is_none_or(|phase| phase.wait == 0);
            let port = self.ports[outlet as usize];
            // A waiting address is not replaced by another (AHB); otherwise loads and stores win on
            // the code bus, and fetches on the system bus (TRM, section 12.5.6 and
            // memory/ldr_str_timing with code in SRAM).
            let wants = |who: Who| match who {
                Who::Data => wants_data.is_some(),
                Who::Fetch => wants_fetch.is_some(),
            };
            let waiting = port
                .owner
                .filter(|&who| !port.was_ready || (port.locked && wants(who)));
            let choice = if waiting.is_some() {
                waiting
            } else if outlet == Outlet::System {
                wants_fetch
                    .map(|_| Who::Fetch)
                    .or(wants_data.map(|_| Who::Data))
            } else {
                wants_data
                    .map(|_| Who::Data)
                    .or(wants_fetch.map(|_| Who::Fetch))
            };
            let choice = choice.filter(|&who| wants(who));
            // A store of a bit begins with a read.
            let reads = match choice {
                Some(Who::Data) => {
                    wants_data.is_some_and(|(at, write, _)| !write || is_bit_band_alias(at))
                }
                _ => true,
            };
            // A read of the same slave does not follow a write at once on the system bus
            // (memory/ldr_str_timing): its address waits. Behind the store of a bit, and on revision 1
            // behind any store that left execute, the address of a load goes out, and its data comes a
            // cycle later: what follows can pair with it a cycle sooner, and not after that
            // (misc/bitbanding/ldr_str_pipelining; control_flow/it_pipeline on the STM32F100).
            let turns = outlet == Outlet::System
                && reads
                && choice.is_some()
                && phase.is_some_and(|phase| {
                    phase.write && (choice == Some(Who::Data) || !phase.place.device)
                });
            let behind_bit = stores_bit && ready;
            let is_taken = turns
                && choice == Some(Who::Data)
                && (behind_bit || (self.first_revision && buffered));
            load_waits |= is_taken;
            let after_write = turns && !is_taken;
            if after_write && choice == Some(Who::Fetch) && data_done && !memory.write_buffer {
                // A fetch that has to wait so holds an unbuffered write up, too (memory/str with
                // code in SRAM; not on the STM32F100, whose write buffer is always on).
                data_done = false;
                if let Some(phase) = &mut self.data.phase {
                    phase.write = false;
                    phase.wait = 1;
                }
            }
            let port = &mut self.ports[outlet as usize];
            port.was_ready = ready;
            port.locked = after_write;
            port.owner = choice;
            if !after_write && (ready || owner == choice) {
                match choice {
                    Some(Who::Data) => data_granted = true,
                    Some(Who::Fetch) => fetch_granted = true,
                    None => {}
                }
            }
        }

        // The end of this cycle, seen from the masters.
        let data_has_more = self
            .data
            .data
            .is_some_and(|request| self.data.next_part != request.end());
        let data_ready = self.data.data.is_none() || (data_done && !data_has_more);
        let is_part = data_address.is_some_and(|(.., part)| part);
        self.data.refused = behind_split_store
            || waits_for_fetch
            || (data_address.is_some() && !is_part && !data_granted);
        self.data.ready = data_ready;
        outcome.address_taken = data_granted && !is_part;
        outcome.address_advances = outcome.address_taken && data_ready;
        if data_ready && self.data.data.is_some() {
            self.data.data = None;
            outcome.transferred = true;
        }
        let fetch_ready = self.fetch.data.is_none() || (!self.registered && fetch_done);
        self.fetch.refused = if self.registered {
            true
        } else {
            self.fetch.address.is_some() && !registering && !fetch_granted
        };
        self.fetch.ready = fetch_ready;
        if fetch_ready && let Some(request) = self.fetch.data.take() {
            outcome.fetched = Some((request.address, request.purpose));
        }

        // What advances at the ports. A transfer on the system bus right behind one of another slave,
        // be it of the other master, waits a cycle for its data (misc/mocked_addrs with code in SRAM).
        let on_system = |phase: &DataPhase| phase.place.outlet == Outlet::System;
        let before = self.data.phase.or(self.fetch.phase).filter(on_system);
        // On a Cortex-M4, the store of a bit does so behind any other, and in the cycle after a store
        // (misc/bitbanding/ldr_str_pipelining on the CC2652).
        let stores = before.is_some_and(|phase| phase.write);
        let bit_store_waits =
            memory.bit_stores_wait && !stores_bit && (before.is_some() || self.stored_before);
        self.stored_before = memory.bit_stores_wait && stores && !stores_bit;
        let code_write_ends = self.data.phase.is_some_and(|phase| {
            phase.write && phase.place.outlet == Outlet::Code && phase.wait == 0
        });
        if !data_granted || (self.data.phase.is_some() && !data_done) {
            data_address = None;
        }
        let fetch_advances = fetch_granted && (self.fetch.phase.is_none() || fetch_done);
        for (master, ends) in [(&mut self.data, data_done), (&mut self.fetch, fetch_done)] {
            if ends {
                master.phase = None;
            } else if let Some(phase) = &mut master.phase {
                phase.wait = phase.wait.saturating_sub(1);
            }
        }
        // A read that follows a write on the code bus waits a cycle in the write buffer's place
        // (memory/ldr_str_timing).
        let mut begin = |address: u32, write: bool, by: By, memory: &mut MemoryTiming| {
            let place = place(address);
            let idle = u8::from(match place.outlet {
                Outlet::Code => code_write_ends && !write,
                Outlet::System => {
                    let of_bit = write && is_bit_band_alias(address);
                    before.is_some_and(|before| before.place != place)
                        || (stores_bit && (!write || of_bit))
                        || (bit_store_waits && of_bit)
                        || (load_waits && by != By::Fetch)
                }
                Outlet::Private => false,
            });
            DataPhase {
                place,
                write,
                wait: memory.wait((address, write, by), history, now, idle) + idle,
            }
        };
        if let Some((address, write, part)) = data_address {
            let by = if part && self.data.address.is_some() {
                By::EarlierLoad
            } else {
                By::Load
            };
            self.data.phase = Some(begin(address, write, by, memory));
            if part && let Some(request) = self.data.data {
                self.data.next_part = request.part_end(address);
            }
        }
        if fetch_advances && let Some(address) = fetch_address {
            self.fetch.phase = Some(begin(address, false, By::Fetch, memory));
            self.registered = false;
        }
        outcome
    }
}
