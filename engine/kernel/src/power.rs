//! Switching activity of a core, cycle by cycle: what power is modelled from.
//!
//! A core says what its next instruction puts on its buses and into its registers ([`Glimpse`]).
//! What toggles there is counted in bits: weights (ones) and distances (bits that differ from what
//! was there before). How much each counts is for others to say.

/// Counts of a cycle; see [`COMPONENTS`].
pub type Row = [u8; COMPONENTS.len()];

/// The names of what is counted, in the order of a [`Row`].
pub const COMPONENTS: [&str; 14] = [
    "operand 1 weight",
    "operand 2 weight",
    "result weight",
    "operand 1 distance",
    "operand 2 distance",
    "result distance",
    "register distance",
    "address distance",
    "bus weight",
    "bus distance",
    "memory weight",
    "memory distance",
    "loaded weight",
    "loaded register distance",
];

const ADDRESS: usize = 7;
const BUS_WEIGHT: usize = 8;
const BUS_DISTANCE: usize = 9;
const MEMORY_WEIGHT: usize = 10;
const MEMORY_DISTANCE: usize = 11;
const LOADED_WEIGHT: usize = 12;
const LOADED_DISTANCE: usize = 13;

/// Consecutive transfers of data between the core and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfers {
    /// The first one's address.
    pub address: u32,
    /// Bytes of each.
    pub bytes: u8,
    /// How many.
    pub count: u8,
    /// Whether they are stores.
    pub store: bool,
}

/// What an instruction will do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glimpse {
    /// Its address.
    pub address: u32,
    /// The cycle in which it begins; `None` where that is known once it has been issued.
    pub begins: Option<u64>,
    /// What it puts on the operand buses; those without a value keep what they had.
    pub operands: [Option<u32>; 2],
    /// A bit for each register that it computes.
    pub computes: u32,
    /// What it transfers, one after the other.
    pub transfers: [Transfers; 3],
    /// A bit for each register that it loads, which come in ascending order.
    pub loads: u32,
}

/// The core's registers and memory, as far as they are looked at.
pub trait Held {
    /// A register.
    fn register(&self, number: usize) -> u32;
    /// A word, or a halfword on a bus of 16 bits; `None` where there is no memory.
    fn word(&self, address: u32) -> Option<u32>;
}

/// The counts of a stretch of cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Counts, a row each cycle.
    pub rows: Vec<Row>,
    /// The instruction that executes, by its first cycle; 0 where none begins.
    pub executes: Vec<u32>,
    /// The instruction whose data are on the memory bus; 0 where there are none.
    pub transfers: Vec<u32>,
}

/// Counts what toggles.
#[derive(Debug)]
pub struct Recorder {
    /// Whether anything is counted.
    pub is_on: bool,
    /// Bytes that the memory bus is wide.
    bus_bytes: u32,
    begin: Option<u64>,
    done: Activity,
    operands: [u32; 2],
    result: u32,
    address: u32,
    bus: u32,
    /// What a memory read last.
    word: u32,
    glimpse: Option<Glimpse>,
    registers: [u32; 32],
}

impl Recorder {
    /// Nothing was on any bus yet.
    #[must_use]
    pub fn new(bus_bytes: u32, is_on: bool) -> Self {
        Self {
            is_on,
            bus_bytes,
            begin: None,
            done: Activity::default(),
            operands: [0; 2],
            result: 0,
            address: 0,
            bus: 0,
            word: 0,
            glimpse: None,
            registers: [0; 32],
        }
    }

    /// Note what the next instruction will do, and what it will overwrite.
    pub fn before(&mut self, glimpse: Option<Glimpse>, held: &(impl Held + ?Sized)) {
        self.glimpse = glimpse;
        if let Some(glimpse) = &self.glimpse {
            for number in numbers(glimpse.computes | glimpse.loads) {
                self.registers[number] = held.register(number);
            }
        }
    }

    /// Count what it did; `now` is the cycle that the core has come to.
    pub fn after(&mut self, now: u64, held: &(impl Held + ?Sized)) {
        let Some(glimpse) = self.glimpse.take() else {
            return;
        };
        let begins = glimpse.begins.unwrap_or(now);
        let first = *self.begin.get_or_insert(begins);
        let Some(cycle) = begins.checked_sub(first) else {
            return;
        };
        let cycle = cycle as usize;
        self.reach(cycle);
        self.done.executes[cycle] = glimpse.address;
        for (number, operand) in glimpse.operands.into_iter().enumerate() {
            if let Some(value) = operand {
                let before = std::mem::replace(&mut self.operands[number], value);
                self.add(cycle, number, value);
                self.add(cycle, 3 + number, before ^ value);
            }
        }
        for number in numbers(glimpse.computes) {
            let value = held.register(number);
            let before = std::mem::replace(&mut self.result, value);
            self.add(cycle, 2, value);
            self.add(cycle, 5, before ^ value);
            self.add(cycle, 6, self.registers[number] ^ value);
        }
        self.transfer(cycle, &glimpse, held);
    }

    fn transfer(&mut self, cycle: usize, glimpse: &Glimpse, held: &(impl Held + ?Sized)) {
        let mut loaded = numbers(glimpse.loads);
        let mut cycle = cycle;
        for transfers in &glimpse.transfers {
            for number in 0..u32::from(transfers.count) {
                let bytes = u32::from(transfers.bytes);
                let at = transfers.address.wrapping_add(number * bytes);
                // The address goes out a cycle before the data.
                self.reach(cycle + 1);
                let before = std::mem::replace(&mut self.address, at);
                self.add(cycle, ADDRESS, before ^ at);
                cycle += 1;
                self.done.transfers[cycle] = glimpse.address;
                self.data(cycle, at, bytes, transfers.store, held);
                if let Some(register) = loaded.next() {
                    let value = held.register(register);
                    self.add(cycle, LOADED_WEIGHT, value);
                    self.add(cycle, LOADED_DISTANCE, self.registers[register] ^ value);
                }
            }
        }
    }

    fn data(
        &mut self,
        cycle: usize,
        address: u32,
        bytes: u32,
        store: bool,
        held: &(impl Held + ?Sized),
    ) {
        let lane = address & (self.bus_bytes - 1);
        let Some(word) = held.word(address - lane) else {
            return;
        };
        // Bytes that are not transferred stay as they were.
        let driven = lanes(lane, bytes, self.bus_bytes);
        let value = self.bus & !driven | word & driven;
        let before = std::mem::replace(&mut self.bus, value);
        self.add(cycle, BUS_WEIGHT, word & driven);
        self.add(cycle, BUS_DISTANCE, before ^ value);
        if !store {
            // A memory reads all of a word.
            let before = std::mem::replace(&mut self.word, word);
            self.add(cycle, MEMORY_WEIGHT, word);
            self.add(cycle, MEMORY_DISTANCE, before ^ word);
        }
    }

    fn reach(&mut self, cycle: usize) {
        if self.done.rows.len() <= cycle {
            self.done.rows.resize(cycle + 1, Row::default());
            self.done.executes.resize(cycle + 1, 0);
            self.done.transfers.resize(cycle + 1, 0);
        }
    }

    fn add(&mut self, cycle: usize, component: usize, bits: u32) {
        let count = &mut self.done.rows[cycle][component];
        *count = count.saturating_add(bits.count_ones() as u8);
    }

    /// Take what was counted so far; what is on the buses stays there.
    pub fn take(&mut self) -> Activity {
        self.begin = None;
        self.glimpse = None;
        std::mem::take(&mut self.done)
    }
}

/// The bits of a bus that a transfer drives.
const fn lanes(lane: u32, bytes: u32, bus_bytes: u32) -> u32 {
    if bytes >= bus_bytes {
        return u32::MAX;
    }
    ((1 << (8 * bytes)) - 1) << (8 * lane)
}

/// The numbers of the bits that are set.
fn numbers(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let number = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (number < 32).then_some(number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Core {
        registers: [u32; 32],
        memory: u32,
    }

    impl Held for Core {
        fn register(&self, number: usize) -> u32 {
            self.registers[number]
        }

        fn word(&self, _: u32) -> Option<u32> {
            Some(self.memory)
        }
    }

    fn one(address: u32, bytes: u8, store: bool) -> [Transfers; 3] {
        let transfers = Transfers {
            address,
            bytes,
            count: 1,
            store,
        };
        [transfers, Transfers::default(), Transfers::default()]
    }

    #[test]
    fn one_share_over_the_other_shows_what_they_hide() {
        let mut core = Core {
            registers: [0; 32],
            memory: 0x1234_5678,
        };
        core.registers[1] = 0xff;
        let mut recorder = Recorder::new(4, true);
        let load = Glimpse {
            address: 0x100,
            operands: [Some(0x2000_0000), None],
            transfers: one(0x2000_0000, 4, false),
            loads: 1 << 1,
            ..Glimpse::default()
        };
        recorder.before(Some(load), &core);
        core.registers[1] = core.memory;
        recorder.after(10, &core);
        core.memory ^= 0b101 << 8; // The other share, in the second byte.
        let store = Glimpse {
            address: 0x102,
            transfers: one(0x2000_0001, 1, true),
            loads: 0,
            ..load
        };
        recorder.before(Some(store), &core);
        recorder.after(12, &core);
        let found = recorder.take();
        assert_eq!(found.executes, [0x100, 0, 0x102, 0]);
        assert_eq!(found.transfers, [0, 0x100, 0, 0x102]);
        let row = |cycle: usize, name: &str| {
            found.rows[cycle][COMPONENTS
                .iter()
                .position(|&each| each == name)
                .unwrap_or(99)]
        };
        assert_eq!(row(0, "operand 1 weight"), 1);
        assert_eq!(row(1, "bus weight"), 13);
        assert_eq!(row(1, "memory distance"), 13);
        assert_eq!(
            row(1, "loaded register distance"),
            (0x1234_5678_u32 ^ 0xff).count_ones() as u8
        );
        assert_eq!(row(2, "operand 1 distance"), 0);
        assert_eq!(row(2, "address distance"), 1);
        assert_eq!(row(3, "bus distance"), 2);
        assert_eq!(row(3, "memory distance"), 0);
        assert_eq!(row(3, "bus weight"), (0x56_u8 ^ 0b101).count_ones() as u8);
    }
}
