//! The code cache of the CC2650 and the CC2652: 8 KiB, four ways of lines of 8 bytes (SWCU117, section
//! 7.2).
//!
//! The manual gives the geometry and that replacement is pseudo-random and that the tag of the next
//! line is looked up ahead. What exactly happens was measured by others (the cache programs
//! published with `CMEmu`, and M. Matraszek's thesis that they cite); the rules below carry the
//! facts, and `flash/cache/instructions/` agrees with them.

/// Bytes of a line.
pub const LINE_BYTES: u32 = 8;
const SETS: usize = 256;
const WAYS: usize = 4;

/// A line that came from flash and is not in the tags yet.
#[derive(Clone, Copy, Debug)]
struct Fill {
    line: u32,
    /// Its tag was looked up ahead.
    ahead: bool,
    /// The set was full when the tag was looked up.
    was_full: bool,
    /// The cycle in which the tags are written.
    due: u64,
}

/// State that the last write of the tags left for the next.
#[derive(Clone, Copy, Debug)]
struct Update {
    at: u64,
    set: usize,
    /// One of a series of misses in quick succession was looked up ahead.
    series_ahead: bool,
    reused: bool,
}

/// Tags, replacement, and when what happened.
#[derive(Clone, Debug)]
pub struct Cache {
    /// Line addresses plus one; 0 where the way is empty.
    tags: Box<[[u32; WAYS]; SETS]>,
    /// The way that is filled next while a set is not full.
    next_way: Box<[u8; SETS]>,
    /// A tag was written to the set while it was full.
    filled_full: Box<[bool; SETS]>,
    /// The last eight bits of a linear feedback shift register with taps 8, 6, 5 and 4.
    random: u8,
    last: Option<Update>,
    /// In the order of their coming.
    fills: [Option<Fill>; 2],
    /// Changes with the tags.
    pub version: u64,
}

impl Cache {
    pub fn new() -> Self {
        Self {
            tags: Box::new([[0; WAYS]; SETS]),
            next_way: Box::new([0; SETS]),
            filled_full: Box::new([false; SETS]),
            random: 0x34,
            version: 0,
            last: None,
            fills: [None; 2],
        }
    }

    /// Forget everything but the place in the pseudo-random sequence, once the tags of the lines
    /// that came are written (`flash/cache/rng_variants`, where the mode changes right after
    /// misses).
    pub fn clear(&mut self) {
        self.write_tags(u64::MAX);
        *self = Self {
            random: self.random,
            version: self.version + 1,
            ..Self::new()
        };
    }

    const fn set_of(line: u32) -> usize {
        (line / LINE_BYTES) as usize % SETS
    }

    /// An access whose address is taken in cycle `now`, to a line that is not in the buffer between
    /// bus and cache. Whether it is cached.
    pub fn access(&mut self, line: u32, flash_wait_states: u8, ahead: bool, now: u64) -> bool {
        let delay = u64::from(!ahead);
        self.write_tags(now + delay);
        let set = Self::set_of(line);
        if self.tags[set].contains(&(line + 1)) {
            return true;
        }
        let done = now + 1 + delay + u64::from(flash_wait_states);
        let free = usize::from(self.fills[0].is_some());
        self.fills[free] = Some(Fill {
            line,
            ahead,
            was_full: self.tags[set][WAYS - 1] != 0,
            due: done + 2,
        });
        false
    }

    /// The version of the tags where nothing is on its way to them.
    #[inline]
    pub fn settled(&mut self, now: u64) -> Option<u64> {
        if self.fills[0].is_some() {
            self.write_tags(now);
        }
        self.fills[0].is_none().then_some(self.version)
    }

    /// Write the tags of lines whose time has come before cycle `now`.
    fn write_tags(&mut self, now: u64) {
        while let Some(fill) = self.fills[0].filter(|fill| fill.due < now) {
            self.fills = [self.fills[1], None];
            self.write_tag(fill);
        }
    }

    fn write_tag(&mut self, fill: Fill) {
        let set = Self::set_of(fill.line);
        let series = self.last.filter(|last| fill.due - last.at <= 5);
        let same_set = series.filter(|last| last.set == set);
        let series_ahead = series.is_some_and(|last| last.series_ahead);
        let reuses = !fill.was_full && series_ahead && same_set.is_some_and(|last| !last.reused);
        let way = if fill.was_full {
            let plain = self.random & 3;
            if same_set.is_some() && self.filled_full[set] && !series_ahead && !fill.ahead {
                (plain + 1) & 3
            } else {
                plain
            }
        } else if reuses {
            (self.next_way[set] + 3) & 3
        } else {
            let way = self.next_way[set];
            self.next_way[set] = (way + 1) & 3;
            way
        };
        if !fill.ahead {
            let r = self.random;
            self.random = r << 1 | ((r >> 3 ^ r >> 4 ^ r >> 5 ^ r >> 7) & 1);
        }
        if self.tags[set][WAYS - 1] != 0 && !reuses {
            self.filled_full[set] = true;
        }
        self.last = Some(Update {
            at: fill.due,
            set,
            series_ahead: fill.ahead || series_ahead,
            reused: reuses,
        });
        self.tags[set][way as usize] = fill.line + 1;
        self.version += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_on_its_way_moves_the_random_sequence_before_the_mode_changes() {
        let mut settled = Cache::new();
        settled.access(0x100, 2, false, 10);
        assert_eq!(settled.settled(100), Some(1));
        settled.clear();
        let mut hurried = Cache::new();
        hurried.access(0x100, 2, false, 10);
        hurried.clear();
        assert_ne!(hurried.random, Cache::new().random);
        assert_eq!(hurried.random, settled.random);
        assert!(!hurried.access(0x100, 2, false, 20), "the tags are clear");
    }
}
