//! A memory that answers late, and what hides that: the line that was read last, a cache of lines, and
//! reading the next line ahead.
//!
//! Documents give the parts and their sizes. When they work is inferred: an access that finds its line
//! takes no wait state; reading ahead begins when a line has come and takes as long as any access; a
//! load that has to read memory itself goes first, and reading ahead begins again after it.

use std::ops::Range;

/// What a chip has set of such a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The cache is on.
    pub cache: bool,
    /// The next line is read ahead.
    pub prefetch: bool,
    /// Wait states, where the chip has a setting of them.
    pub wait_states: Option<u8>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cache: true,
            prefetch: false,
            wait_states: None,
        }
    }
}

/// A memory that is read by lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// Its addresses.
    pub range: Range<u32>,
    /// Wait states of an access, where the chip has no setting of them.
    pub wait_states: u8,
    /// Bytes of a line.
    pub line_bytes: u32,
    /// Sets and ways of a cache; 0 sets where there is none.
    pub sets: usize,
    /// Lines that are in a set.
    pub ways: usize,
    /// Loads do not go through the cache.
    pub only_fetches: bool,
}

/// What is known of such a memory's lines.
#[derive(Clone, Debug)]
pub struct Reader {
    lines: Lines,
    settings: Settings,
    /// The line of the last fetch.
    last: u32,
    /// The next line, and when it will have come.
    ahead: Option<(u32, u64)>,
    /// Lines in the cache plus one, by set, the one used last in front.
    tags: Vec<u32>,
}

/// No line has this number: lines have more bytes than one.
const NONE: u32 = u32::MAX;

impl Reader {
    /// Nothing has been read.
    pub fn new(lines: &Lines, settings: Settings) -> Self {
        Self {
            lines: lines.clone(),
            settings,
            last: NONE,
            ahead: None,
            tags: vec![0; lines.sets * lines.ways],
        }
    }

    /// Take over settings. A cache that is turned off forgets its lines.
    pub fn set(&mut self, settings: Settings) {
        if settings != self.settings {
            *self = Self::new(&self.lines, settings);
        }
    }

    fn wait_states(&self) -> u64 {
        let set = self.settings.wait_states;
        set.unwrap_or(self.lines.wait_states).into()
    }

    /// Whether an address is in it.
    #[inline]
    pub fn has(&self, address: u32) -> bool {
        self.lines.range.contains(&address)
    }

    /// Whether anything takes longer than in other memory.
    pub fn is_slow(&self) -> bool {
        self.wait_states() != 0
    }

    /// Look a line up in the cache, and keep it there.
    fn is_cached(&mut self, line: u32) -> bool {
        if !self.settings.cache || self.lines.sets == 0 {
            return false;
        }
        let set = line as usize % self.lines.sets * self.lines.ways;
        let ways = &mut self.tags[set..set + self.lines.ways];
        let found = ways.iter().position(|&tag| tag == line + 1);
        // The line that has not been used for longest makes way.
        let place = found.unwrap_or(ways.len() - 1);
        ways[..=place].rotate_right(1);
        ways[0] = line + 1;
        found.is_some()
    }

    /// Wait states of a fetch in the cycle `now`.
    #[inline]
    pub fn fetch(&mut self, address: u32, now: u64) -> u64 {
        let line = address / self.lines.line_bytes;
        if line == self.last || !self.lines.range.contains(&address) {
            return 0;
        }
        self.fetch_line(line, now)
    }

    fn fetch_line(&mut self, line: u32, now: u64) -> u64 {
        let is_cached = self.is_cached(line);
        let waits = match self.ahead {
            _ if is_cached => 0,
            Some((ahead, ready)) if ahead == line => ready.saturating_sub(now),
            _ => self.wait_states(),
        };
        self.last = line;
        self.ahead = self
            .settings
            .prefetch
            .then(|| (line + 1, now + waits + 1 + self.wait_states()));
        waits
    }

    /// Wait states of a load in the cycle `now`.
    pub fn load(&mut self, address: u32, now: u64) -> u64 {
        let line = address / self.lines.line_bytes;
        if line == self.last || !self.lines.range.contains(&address) {
            return 0;
        }
        if !self.lines.only_fetches && self.is_cached(line) {
            return 0;
        }
        let waits = self.wait_states();
        if let Some((_, ready)) = &mut self.ahead
            && *ready > now
        {
            *ready = now + 2 * (1 + waits);
        }
        waits
    }
}
