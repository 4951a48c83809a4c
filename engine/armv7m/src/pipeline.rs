//! stub
use crate::bus::{MemorySettings, Width};
use crate::memory::{Entry, Memory, Region};
use crate::system::Events;
#[derive(Clone, Copy, Debug)]
pub struct Issue {
    pub pc: u32,
    pub target: u32,
    pub taken: bool,
    pub skipped: bool,
    pub in_it: bool,
    pub last_in_it: bool,
    pub address: u32,
    pub width: Width,
    pub cycles: u8,
}
impl Default for Issue {
    fn default() -> Self {
        Self {
            pc: 0,
            target: 0,
            taken: false,
            skipped: false,
            in_it: false,
            last_in_it: false,
            address: 0,
            width: Width::Word,
            cycles: 1,
        }
    }
}
pub struct Pipeline {
    now: u64,
    events: Events,
    settings: MemorySettings,
}
impl Pipeline {
    pub fn new(_: &[Region]) -> Self {
        Self {
            now: 0,
            events: Events::default(),
            settings: MemorySettings::default(),
        }
    }
    pub fn set_memory(&mut self, s: MemorySettings) {
        self.settings = s;
    }
    pub fn set_write_buffer(&mut self, _: bool) {}
    pub fn set_folding(&mut self, _: bool) {}
    pub fn cache_on(&self) -> bool {
        self.settings.cache
    }
    pub fn restart(&mut self, _pc: u32, wait: u64) {
        self.now += wait;
    }
    pub fn pass_time(&mut self, wait: u64) {
        self.now += wait;
    }
    pub fn now(&self) -> u64 {
        self.now
    }
    pub fn access_time(&self) -> u64 {
        self.now
    }
    pub fn events(&self) -> Events {
        self.events
    }
    pub fn issue(&mut self, e: &Entry, i: Issue, _m: &Memory) {
        self.now += u64::from(i.cycles) + u64::from(i.taken) * 2 + u64::from(e.traits.transfers);
    }
}
