//! Observations of a running core: calls, stack use, addresses, cycles by function.
//!
//! None of this costs emulated time. Calls and the lowest stack pointer are always recorded,
//! because that only costs host time when the stack pointer moves; the rest costs host time only
//! when enabled.

use std::collections::HashMap;

use joulemark_kernel::{Fault, FaultKind};

/// A call or interrupt without a return yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The callee.
    pub target: u16,
    /// The return address.
    pub return_address: u16,
    /// The return address's location on the stack.
    pub stack_pointer: u16,
}

/// A function reached over one call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The caller's index; `None` for the root, which is not a function.
    pub parent: Option<usize>,
    /// The function's number, as given to [`crate::Core::start_profile`].
    pub function: u16,
    /// Number of entries over this path.
    pub calls: u64,
    /// Cycles in the function itself, without callees and without sleep.
    pub self_cycles: u64,
    /// Instructions in the function itself.
    pub self_instructions: u64,
    /// The most stack that the function and its callees used, from its entry, in bytes.
    pub stack_bytes: u16,
}

/// The call tree, with the cost at each node. A node comes after its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// All nodes; the first is the root.
    pub nodes: Vec<Node>,
}

/// A function that waits for its callee.
struct Activation {
    node: usize,
    entry: u16,
    low: u16,
}

struct Profiler {
    functions: Box<[u16; 0x8000]>,
    children: HashMap<(usize, u16), usize>,
    profile: Profile,
    waiting: Vec<Activation>,
    /// The current node, and its stack pointer at entry.
    node: usize,
    entry: u16,
    /// Counters up to which everything has been charged.
    cycles: u64,
    instructions: u64,
}

pub(crate) struct Observer {
    calls: Vec<Call>,
    pub stack_limit: u16,
    low: u16,
    digesting: bool,
    digest: u64,
    accesses: Option<Vec<u32>>,
    profiler: Option<Box<Profiler>>,
}

impl Profiler {
    fn function(&self) -> u16 {
        self.profile.nodes[self.node].function
    }

    fn charge(&mut self, cycles: u64, instructions: u64) {
        let node = &mut self.profile.nodes[self.node];
        node.self_cycles += cycles - self.cycles;
        node.self_instructions += instructions - self.instructions;
        (self.cycles, self.instructions) = (cycles, instructions);
    }

    fn child(&mut self, parent: usize, function: u16) -> usize {
        let nodes = &mut self.profile.nodes;
        *self.children.entry((parent, function)).or_insert_with(|| {
            nodes.push(Node {
                parent: Some(parent),
                function,
                calls: 0,
                self_cycles: 0,
                self_instructions: 0,
                stack_bytes: 0,
            });
            nodes.len() - 1
        })
    }

    fn note_stack(&mut self, low: u16) {
        let node = &mut self.profile.nodes[self.node];
        node.stack_bytes = node.stack_bytes.max(self.entry.saturating_sub(low));
    }
}

impl Observer {
    pub fn new() -> Self {
        Self {
            calls: Vec::with_capacity(256),
            stack_limit: 0,
            low: u16::MAX,
            digesting: false,
            digest: 0,
            accesses: None,
            profiler: None,
        }
    }

    /// Whether every instruction must be observed.
    pub fn is_profiling(&self) -> bool {
        self.profiler.is_some()
    }

    /// Whether jumps and data addresses must be observed.
    pub fn is_digesting(&self) -> bool {
        self.digesting
    }

    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The stack pointer below which [`Observer::stack_grows`] must act.
    #[inline]
    pub fn low(&self) -> u16 {
        self.low
    }

    pub fn stack_low(&self) -> u16 {
        let waiting = self.profiler.iter().flat_map(|profiler| &profiler.waiting);
        waiting
            .map(|activation| activation.low)
            .fold(self.low, u16::min)
    }

    pub fn reset_stack_low(&mut self, sp: u16) {
        self.low = sp;
        for activation in self
            .profiler
            .iter_mut()
            .flat_map(|profiler| &mut profiler.waiting)
        {
            activation.low = sp;
        }
    }

    /// Note that the stack pointer goes down from `old` to `new`.
    pub fn stack_grows(&mut self, old: u16, new: u16) -> Result<(), Box<Fault>> {
        if new < self.low && old >= self.stack_limit {
            if new < self.stack_limit {
                let limit = self.stack_limit;
                let message = format!("the stack grows into data: it may use {limit:#06x} and up");
                return Err(Box::new(
                    Fault::new(FaultKind::StackOverflow, message).at(new),
                ));
            }
            self.low = new;
        }
        Ok(())
    }

    /// Note that the stack pointer is loaded.
    pub fn stack_set(&mut self, new: u16) {
        if new < self.low && new >= self.stack_limit {
            self.low = new;
        }
    }

    pub fn call(&mut self, call: Call, cycles: u64, instructions: u64) {
        // Calls at or below this stack slot were abandoned without a return.
        while let Some(top) = self.calls.last()
            && top.stack_pointer <= call.stack_pointer
        {
            self.calls.pop();
            self.leave(cycles, instructions);
        }
        self.calls.push(call);
        if let Some(profiler) = &mut self.profiler {
            profiler.charge(cycles, instructions);
            profiler.waiting.push(Activation {
                node: profiler.node,
                entry: profiler.entry,
                low: self.low,
            });
            let function = profiler.functions[usize::from(call.target >> 1)];
            profiler.node = profiler.child(profiler.node, function);
            profiler.profile.nodes[profiler.node].calls += 1;
            profiler.entry = call.stack_pointer;
            self.low = call.stack_pointer;
        }
    }

    /// Note that a return address was popped; the stack pointer is now `sp`.
    pub fn returned(&mut self, sp: u16, cycles: u64, instructions: u64) {
        while let Some(top) = self.calls.last()
            && top.stack_pointer < sp
        {
            self.calls.pop();
            self.leave(cycles, instructions);
        }
    }

    /// Return from the current function to the one that waits for it.
    fn leave(&mut self, cycles: u64, instructions: u64) {
        if let Some(profiler) = &mut self.profiler
            && let Some(activation) = profiler.waiting.pop()
        {
            profiler.charge(cycles, instructions);
            profiler.note_stack(self.low);
            profiler.node = activation.node;
            profiler.entry = activation.entry;
            self.low = self.low.min(activation.low);
        }
    }

    /// Charge the cost so far, before time that belongs elsewhere.
    pub fn charge(&mut self, cycles: u64, instructions: u64) {
        if let Some(profiler) = &mut self.profiler {
            profiler.charge(cycles, instructions);
        }
    }

    /// Note that control is at `pc`, where a jump may have entered a function.
    #[inline]
    pub fn at(&mut self, pc: u16, sp: u16, cycles: u64, instructions: u64) {
        if let Some(profiler) = &mut self.profiler
            && profiler.functions[usize::from(pc >> 1)] != profiler.function()
        {
            self.jumped(pc, sp, cycles, instructions);
        }
    }

    #[cold]
    fn jumped(&mut self, pc: u16, sp: u16, cycles: u64, instructions: u64) {
        let Some(profiler) = &mut self.profiler else {
            return;
        };
        profiler.charge(cycles, instructions);
        profiler.note_stack(self.low);
        let index = usize::from(pc >> 1);
        let function = profiler.functions[index];
        // The target function replaces the one that jumped.
        let parent = profiler.profile.nodes[profiler.node].parent.unwrap_or(0);
        profiler.node = profiler.child(parent, function);
        if index == 0 || profiler.functions[index - 1] != function {
            profiler.profile.nodes[profiler.node].calls += 1;
            profiler.entry = sp;
            if let Some(activation) = profiler.waiting.last_mut() {
                activation.low = activation.low.min(self.low);
                self.low = sp;
            }
        }
    }

    /// Whether a function starts here, at which a decoded run must end.
    pub fn function_starts(&self, address: u16) -> bool {
        let index = usize::from(address >> 1);
        self.profiler.as_ref().is_some_and(|profiler| {
            index > 0 && profiler.functions[index] != profiler.functions[index - 1]
        })
    }

    pub fn forget_calls(&mut self, cycles: u64, instructions: u64) {
        while self.calls.pop().is_some() {
            self.leave(cycles, instructions);
        }
    }

    pub fn start_profile(
        &mut self,
        functions: Box<[u16; 0x8000]>,
        cycles: u64,
        instructions: u64,
        sp: u16,
    ) {
        let low = self.stack_low();
        let root = Node {
            parent: None,
            function: u16::MAX,
            calls: 0,
            self_cycles: 0,
            self_instructions: 0,
            stack_bytes: 0,
        };
        self.low = low;
        self.profiler = Some(Box::new(Profiler {
            functions,
            children: HashMap::new(),
            profile: Profile { nodes: vec![root] },
            waiting: Vec::new(),
            node: 0,
            entry: sp,
            cycles,
            instructions,
        }));
    }

    pub fn profile(&mut self, cycles: u64, instructions: u64) -> Option<&Profile> {
        let low = self.low;
        let profiler = self.profiler.as_mut()?;
        profiler.charge(cycles, instructions);
        profiler.note_stack(low);
        Some(&profiler.profile)
    }

    pub fn profile_node(&self) -> Option<usize> {
        self.profiler.as_ref().map(|profiler| profiler.node)
    }

    pub fn start_digest(&mut self) {
        self.digesting = true;
        self.digest = 0;
    }

    pub fn keep_accesses(&mut self, on: bool) {
        self.digesting = on;
        self.accesses = on.then(Vec::new);
    }

    pub fn take_accesses(&mut self) -> Vec<u32> {
        let kept = self.accesses.as_mut();
        kept.map(std::mem::take).unwrap_or_default()
    }

    pub fn stop_digest(&mut self) {
        self.digesting = false;
    }

    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Mix an address into the digest.
    #[inline]
    pub fn touch(&mut self, address: u16) {
        if self.digesting {
            // Multiplication by an odd constant is a bijection, so no address is lost; the constant
            // is 2^64 over the golden ratio (Knuth, TAOCP 3, section 6.4).
            self.digest = (self.digest.rotate_left(23) ^ u64::from(address))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15);
            if let Some(accesses) = &mut self.accesses {
                accesses.push(u32::from(address));
            }
        }
    }
}
