//! Observations of a running core: calls, stack use, addresses. They cost no emulated time.

use std::ops::Range;

use crate::fault::Caller;

/// A call or a trap that has not returned.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    return_address: u32,
    stack_pointer: u32,
    is_trap: bool,
}

/// Frames that are kept; deeper calls are not noted.
const DEEPEST: usize = 4096;

/// What is observed of a core.
pub struct Observer {
    frames: Vec<Frame>,
    /// The lowest address that the stack may use.
    pub stack_limit: u32,
    /// The lowest stack pointer since the last restart.
    pub stack_low: u32,
    /// The lowest one since control was last reported.
    pub control_low: u32,
    /// Whether addresses are digested.
    pub digesting: bool,
    /// The digest.
    pub digest: u64,
    /// The addresses that were digested since they were last taken, if they are kept.
    pub accesses: Option<Vec<u32>>,
    /// Whether control is reported.
    pub watching: bool,
    /// The addresses within which it need not be.
    pub range: Range<u32>,
    /// The depth when it was last reported.
    pub reported_depth: usize,
}

impl Default for Observer {
    fn default() -> Self {
        Self {
            frames: Vec::new(),
            stack_limit: 0,
            stack_low: u32::MAX,
            control_low: u32::MAX,
            digesting: false,
            digest: 0,
            accesses: None,
            watching: false,
            range: 0..0,
            reported_depth: 0,
        }
    }
}

impl Observer {
    /// Calls and traps that have not returned.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// A call, or an exception's entry.
    pub fn call(&mut self, return_address: u32, stack_pointer: u32, is_trap: bool) {
        // Frames below this stack pointer were left without a return.
        while let Some(top) = self.frames.last()
            && top.stack_pointer < stack_pointer
            && !top.is_trap
        {
            self.frames.pop();
        }
        if self.frames.len() < DEEPEST {
            self.frames.push(Frame {
                return_address,
                stack_pointer,
                is_trap,
            });
        }
    }

    /// Control returns to an address; it is no return if no call waits for it.
    pub fn returned(&mut self, target: u32, from_trap: bool) {
        let mut waiting = self
            .frames
            .iter()
            .rev()
            .take_while(|frame| from_trap || !frame.is_trap);
        let found = waiting.position(|frame| {
            frame.is_trap == from_trap && (from_trap || frame.return_address == target)
        });
        if let Some(inner) = found {
            self.frames.truncate(self.frames.len() - 1 - inner);
        }
    }

    /// The stack pointer moves. It does not, and nothing is noted, where the stack would grow past its
    /// limit.
    #[inline]
    pub fn moves_stack(&mut self, before: u32, sp: u32) -> bool {
        if sp < self.stack_low {
            if sp < self.stack_limit && before >= self.stack_limit {
                return false;
            }
            self.stack_low = sp;
        }
        self.control_low = self.control_low.min(sp);
        true
    }

    /// Forget all calls.
    pub fn forget(&mut self) {
        self.frames.clear();
    }

    /// The frames, innermost first.
    pub fn callers(&self) -> Vec<Caller> {
        let caller = |frame: &Frame| {
            if frame.is_trap {
                Caller::Interrupted(frame.return_address)
            } else {
                Caller::Call(frame.return_address)
            }
        };
        self.frames.iter().rev().map(caller).collect()
    }

    /// Mix an address into the digest.
    #[inline]
    pub fn touch(&mut self, address: u32) {
        self.digest = mixed(self.digest, address);
        if let Some(accesses) = &mut self.accesses {
            accesses.push(address);
        }
    }
}

/// A digest of addresses with one more in it.
#[inline]
pub const fn mixed(digest: u64, address: u32) -> u64 {
    // Multiplication by an odd constant is a bijection, so no address is lost; the constant is 2^64
    // over the golden ratio (Knuth, TAOCP 3, section 6.4).
    (digest.rotate_left(23) ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
