//! Instructions that were overwritten when the prefetch unit had them: they are executed as they were
//! until a branch or ISB (ARM DDI 0403E.e, A3.8.3; `misc/pfu_overwrite_extended`).

use crate::bus::Bus;
use crate::core::Core;
use crate::exec::Done;
use crate::memory::Entry;
use crate::traits::Class;

/// What the prefetch unit still has.
#[derive(Debug, Default)]
pub struct Stale {
    /// The next instruction, and the end of what was fetched.
    next: u32,
    end: u32,
    /// Bytes that have changed meanwhile: where they are in memory, and what they were.
    old: Vec<(usize, u8)>,
}

impl Stale {
    pub const fn is_there(&self) -> bool {
        !self.old.is_empty()
    }
}

impl<B: Bus> Core<B> {
    /// The last instruction was a store to decoded instructions.
    #[cold]
    pub(crate) fn code_was_overwritten(&mut self) {
        let old = self.memory.take_overwritten();
        if !old.is_empty() && self.pc == self.fall_through {
            let end = self.pc.wrapping_add(self.pipe.fetched(&self.memory));
            if self.stale.next != self.pc {
                self.stale.old.clear();
            }
            self.stale.next = self.pc;
            self.stale.end = end;
            self.stale.old.extend(old);
        }
        self.pipe.forget_code(&mut self.memory);
    }

    /// The next instruction as the prefetch unit has it, if it has one that was overwritten.
    pub(crate) fn stale_entry(&mut self) -> Option<Entry> {
        let Stale { next, end, ref old } = self.stale;
        let ahead = next == self.pc && end.wrapping_sub(next).wrapping_sub(1) < 16;
        let entry = ahead.then(|| self.memory.decode_old(next, old)).flatten();
        if entry.is_none() {
            self.stale.old.clear();
        }
        entry
    }

    /// Execute it.
    #[cold]
    pub(crate) fn run_stale(&mut self, entry: &Entry) -> Done {
        self.pipe.begin_apart(self.pc, self.it, *entry);
        self.step(entry)?;
        self.pipe.flush(&self.memory);
        self.pipe.forget();
        if entry.traits.class == Class::Barrier {
            self.stale.old.clear();
        }
        self.stale.next = self.fall_through;
        Ok(())
    }
}
