//! The bus matrix, its ports, and the memories behind them.
//!
//! The core has two masters, instruction fetch and load/store. Both follow AHB: an address phase,
//! then a data phase in which the next address may already be out. Unlike AHB-Lite a master can also
//! be refused: its address then stays, and nothing advances (seen wherever fetches and loads meet).

use crate::bus::{MemorySettings, Width};
use crate::cache::Cache;
use crate::memory::{Region, RegionKind};

/// What a fetched word is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FetchUse {
    /// The prefetch queue; the first halfword is left out where `skip`.
    Queue { skip: bool },
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
    const fn is_aligned(self) -> bool {
        self.address & (self.width.bytes() - 1) == 0
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

/// What answers: transfers to different ones do not overlap.
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
    /// What is on the bus of it: of an unaligned access, one part.
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
                self.next_part = part_end(request.address, request.end());
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Who {
    Fetch,
    Data,
}

/// All that buses and memories remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools)] // one flip-flop each
pub struct Buses {
    pub fetch: Master,
    pub data: Master,
    /// A fetch from the system bus waits one cycle in a register (TRM, section 12.5.6).
    registered: bool,
    ports: [PortState; 3],
    /// An unaligned access came to its data phase in this cycle, or in the one before.
    pub unaligned_now: bool,
    pub unaligned_before: bool,
    /// A fetch address that waits for the bus may be taken back.
    takes_back: bool,
}

impl Default for Buses {
    fn default() -> Self {
        let master = Master {
            ready: true,
            ..Master::default()
        };
        let port = PortState {
            was_ready: true,
            ..PortState::default()
        };
        Self {
            fetch: master,
            data: master,
            registered: false,
            ports: [port; 3],
            unaligned_now: false,
            unaligned_before: false,
            takes_back: false,
        }
    }
}

/// What came of a cycle on the buses.
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

/// What an access to memory with a history cost: to a buffered or cached line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Of a fetch, where; of a load, how far behind its first address.
    pub address: u32,
    by: By,
    /// Cycles since the instruction was issued.
    pub at: u8,
    pub wait: u8,
}

/// Who accesses memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum By {
    #[default]
    Fetch,
    /// The load that entered execute last.
    Load,
    /// The one before it, which was unaligned and is not done yet.
    EarlierLoad,
}

/// The most queries of one instruction that are remembered.
pub const QUERIES: usize = 3;

/// Where the memories are and what they are.
#[derive(Debug)]
struct Map {
    regions: Vec<Region>,
    /// First region of each megabyte; `NO_REGION` where there is none.
    pages: Vec<u8>,
}

const NO_REGION: u8 = 0xff;

/// How long the memories take.
#[derive(Debug)]
pub struct MemoryTiming {
    pub settings: MemorySettings,
    pub write_buffer: bool,
    map: Map,
    /// The line in the flash's buffer.
    line: Option<u32>,
    cache: Cache,
    /// What the accesses of this instruction cost, the first `known` of them found out before.
    pub log: Vec<Query>,
    known: usize,
    asked: usize,
    /// The cycle in which the instruction was issued.
    since: u64,
    /// The first address of the load or store that entered execute last, and what stands for it in
    /// the pipeline; and the same of the one before.
    base: (u32, u32),
    earlier_base: (u32, u32),
}

/// What a look ahead must leave as it was.
pub struct Snapshot {
    line: Option<u32>,
    cache: Option<Cache>,
}

impl MemoryTiming {
    pub fn new(regions: &[Region]) -> Self {
        let mut pages = vec![NO_REGION; 4096];
        for (number, region) in regions.iter().enumerate() {
            for page in region.start >> 20..=(region.start + (region.size - 1)) >> 20 {
                let first = &mut pages[page as usize];
                if *first == NO_REGION {
                    *first = number as u8;
                }
            }
        }
        Self {
            settings: MemorySettings::default(),
            write_buffer: true,
            map: Map {
                regions: regions.to_vec(),
                pages,
            },
            line: None,
            cache: Cache::new(),
            log: Vec::new(),
            known: 0,
            asked: 0,
            since: 0,
            base: (0, 0),
            earlier_base: (0, 0),
        }
    }

    /// True where something changed.
    pub fn set(&mut self, settings: MemorySettings) -> bool {
        if self.settings == settings {
            return false;
        }
        if self.settings.cache != settings.cache {
            self.cache.clear();
        }
        if self.settings.line_buffer != settings.line_buffer {
            self.line = None;
        }
        self.settings = settings;
        true
    }

    fn region(&self, address: u32) -> Option<&Region> {
        let first = self.map.pages[(address >> 20) as usize];
        if first == NO_REGION {
            return None;
        }
        let inside = |region: &&Region| address.wrapping_sub(region.start) < region.size;
        Some(&self.map.regions[first as usize])
            .filter(inside)
            .or_else(|| self.map.regions.iter().find(inside))
    }

    const fn has_history(&self, region: &Region) -> bool {
        (region.cached && self.settings.cache)
            || (region.line_bytes != 0 && self.settings.line_buffer)
    }

    /// An address in the same memory, aligned alike: to the pipeline both are the same.
    pub fn representative(&self, address: u32) -> u32 {
        self.region(address)
            .map_or(address & 0xfff0_0000, |region| region.start)
            | (address & 3)
    }

    /// A load or store enters execute.
    pub fn enters(&mut self, address: u32, representative: u32) {
        self.earlier_base = self.base;
        self.base = (address, representative);
    }

    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            line: self.line,
            cache: self.settings.cache.then(|| self.cache.clone()),
        }
    }

    pub fn restore(&mut self, snapshot: Snapshot) {
        self.line = snapshot.line;
        if let Some(cache) = snapshot.cache {
            self.cache = cache;
        }
    }

    /// A new instruction begins, and the first of its accesses cost this.
    pub fn begin(&mut self, now: u64, known: &[Query]) {
        self.log.clear();
        self.log.extend_from_slice(known);
        self.known = known.len();
        self.asked = 0;
        self.since = now;
    }

    /// Wait states of an access whose address is taken in cycle `now`.
    fn wait(&mut self, address: u32, write: bool, by: By, now: u64) -> u8 {
        let Some(region) = self.region(address) else {
            return 0;
        };
        let wait_states = region.wait_states;
        if write || region.kind == RegionKind::Ram || !self.has_history(region) {
            return wait_states;
        }
        self.asked += 1;
        if self.asked <= self.known {
            return self.log[self.asked - 1].wait;
        }
        let mut query = Query {
            address: match by {
                By::Fetch => address,
                By::Load => address.wrapping_sub(self.base.1),
                By::EarlierLoad => address.wrapping_sub(self.earlier_base.1),
            },
            by,
            at: (now - self.since).min(255) as u8,
            wait: 0,
        };
        query.wait = self.ask(query, self.since);
        self.log.push(query);
        query.wait
    }

    /// Wait states of a read of memory with a history, by an instruction that was issued at `since`.
    #[inline]
    pub fn ask(&mut self, query: Query, since: u64) -> u8 {
        let address = match query.by {
            By::Fetch => query.address,
            By::Load => self.base.0.wrapping_add(query.address),
            By::EarlierLoad => self.earlier_base.0.wrapping_add(query.address),
        };
        let Some(region) = self.region(address) else {
            return 0;
        };
        let wait_states = region.wait_states;
        if region.cached && self.settings.cache {
            return self
                .cache
                .access(address, wait_states, since + u64::from(query.at));
        }
        let wanted = Some(address & !(u32::from(region.line_bytes) - 1));
        if self.line == wanted {
            return 0;
        }
        self.line = wanted;
        wait_states
    }
}

impl Buses {
    /// Nothing under way.
    pub fn new(takes_back: bool) -> Self {
        Self {
            takes_back,
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

    /// What is fetched is of no use any more; its transfers go on.
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
        if self.takes_back {
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
    pub fn tock(&mut self, memory: &mut MemoryTiming, now: u64) -> Outcome {
        let mut outcome = Outcome::default();
        let done = |phase: Option<DataPhase>| phase.is_some_and(|phase| phase.wait == 0);
        let (mut data_done, fetch_done) = (done(self.data.phase), done(self.fetch.phase));

        // What each master puts on the bus.
        let mut data_address = self.data_presents();
        let mut fetch_address = None;
        let mut registering = false;
        if self.registered {
            fetch_address = self.fetch.data.map(|request| request.address);
        } else if let Some(request) = self.fetch.address {
            if place(request.address).outlet == Outlet::System {
                // Not while the last fetch from elsewhere is in its data phase (seen in
                // control_flow/bx_seq_memory_types).
                registering = self
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
        let data_asks = data_address.filter(|&(at, ..)| !elsewhere(self.data.phase, at));
        let fetch_asks = fetch_address.filter(|&at| !elsewhere(self.fetch.phase, at));

        for outlet in [Outlet::Code, Outlet::System, Outlet::Private] {
            let wants_data = data_asks.filter(|&(at, ..)| place(at).outlet == outlet);
            let wants_fetch = fetch_asks.filter(|&at| place(at).outlet == outlet);
            let at_port =
                |phase: Option<DataPhase>| phase.filter(|phase| phase.place.outlet == outlet);
            let data_phase = at_port(self.data.phase);
            let fetch_phase = at_port(self.fetch.phase);
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
            let choice = if port.owner.is_some() && (port.locked || !port.was_ready) {
                port.owner
            } else if outlet == Outlet::System {
                wants_fetch
                    .map(|_| Who::Fetch)
                    .or(wants_data.map(|_| Who::Data))
            } else {
                wants_data
                    .map(|_| Who::Data)
                    .or(wants_fetch.map(|_| Who::Fetch))
            };
            let choice = choice.filter(|who| match who {
                Who::Data => wants_data.is_some(),
                Who::Fetch => wants_fetch.is_some(),
            });
            let reads = match choice {
                Some(Who::Data) => wants_data.is_some_and(|(_, write, _)| !write),
                _ => true,
            };
            // A read does not follow a write at once on the system bus (memory/ldr_str_timing).
            let after_write = outlet == Outlet::System
                && reads
                && choice.is_some()
                && phase.is_some_and(|phase| phase.write);
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
            port.owner = if after_write { None } else { choice };
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
        self.data.refused = data_address.is_some() && !is_part && !data_granted;
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

        // What advances at the ports.
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
                phase.wait -= 1;
            }
        }
        // A read that follows a write on the code bus waits a cycle in the write buffer's place
        // (memory/ldr_str_timing).
        let begin = |address: u32, write: bool, by: By, memory: &mut MemoryTiming| {
            let place = place(address);
            let idle = u8::from(code_write_ends && !write && place.outlet == Outlet::Code);
            DataPhase {
                place,
                write,
                wait: memory.wait(address, write, by, now + u64::from(idle)) + idle,
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
                self.data.next_part = part_end(address, request.end());
            }
        }
        if fetch_advances && let Some(address) = fetch_address {
            self.fetch.phase = Some(begin(address, false, By::Fetch, memory));
            self.registered = false;
        }
        outcome
    }
}
