//! The tree of calls of a program, kept from what can be seen between instructions.

use std::collections::HashMap;

use joulemark_kernel::Symbols;

use crate::profile::Node;

/// A function that waits for the one that it called.
struct Activation {
    node: usize,
    entry: u32,
    low: u32,
}

/// Cycles, instructions and stack by path of calls.
pub struct CallTree {
    nodes: Vec<Node>,
    children: HashMap<(usize, Option<usize>), usize>,
    waiting: Vec<Activation>,
    /// Calls that have not returned.
    depth: usize,
    node: usize,
    /// The stack pointer at the node's entry, and the lowest since.
    entry: u32,
    low: u32,
    /// Counters up to which everything has been charged.
    cycles: u64,
    instructions: u64,
    /// The last instruction called.
    called: bool,
    /// The function that the last instruction was in, and its addresses.
    function: (Option<usize>, u32, u32),
}

impl CallTree {
    /// Nothing is known of the calls that have led here.
    pub fn new(depth: usize, cycles: u64, instructions: u64, sp: u32) -> Self {
        let root = Node {
            parent: None,
            function: None,
            calls: 0,
            self_cycles: 0,
            self_instructions: 0,
            stack_bytes: 0,
        };
        Self {
            nodes: vec![root],
            children: HashMap::new(),
            waiting: Vec::new(),
            depth,
            node: 0,
            entry: sp,
            low: sp,
            cycles,
            instructions,
            called: false,
            function: (None, 1, 0),
        }
    }

    fn child(&mut self, parent: usize, function: Option<usize>) -> usize {
        let nodes = &mut self.nodes;
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

    fn find(&mut self, pc: u32, symbols: &Symbols) -> Option<usize> {
        let (known, start, end) = self.function;
        if (start..end).contains(&pc) {
            return known;
        }
        let functions = symbols.functions();
        let after = functions.partition_point(|function| function.start <= pc);
        let index = after
            .checked_sub(1)
            .filter(|&index| pc < functions[index].end);
        self.function = match index {
            Some(index) => (Some(index), functions[index].start, functions[index].end),
            None => (None, pc, pc + 1),
        };
        index
    }

    /// The instruction at `pc` is about to execute.
    pub fn before(&mut self, pc: u32, symbols: &Symbols) {
        let function = self.find(pc, symbols);
        if std::mem::take(&mut self.called) {
            self.node = self.child(self.node, function);
            self.nodes[self.node].calls += 1;
        } else if self.node == 0 || self.nodes[self.node].function != function {
            // A jump: the function takes the place of the one that jumped.
            self.note_stack();
            let parent = self.nodes[self.node].parent.unwrap_or(0);
            self.node = self.child(parent, function);
            if pc == self.function.1 {
                self.nodes[self.node].calls += 1;
            }
        }
    }

    fn note_stack(&mut self) {
        let node = &mut self.nodes[self.node];
        node.stack_bytes = node.stack_bytes.max(self.entry.saturating_sub(self.low));
    }

    /// It has executed, and this is what the counters, the stack pointer and the calls are now.
    pub fn after(&mut self, depth: usize, cycles: u64, instructions: u64, sp: u32) {
        let node = &mut self.nodes[self.node];
        node.self_cycles += cycles - self.cycles;
        node.self_instructions += instructions - self.instructions;
        (self.cycles, self.instructions) = (cycles, instructions);
        self.low = self.low.min(sp);
        if depth > self.depth {
            self.waiting.push(Activation {
                node: self.node,
                entry: self.entry,
                low: self.low,
            });
            (self.entry, self.low) = (sp, sp);
            self.called = true;
        }
        for _ in depth..self.depth {
            self.note_stack();
            let Some(activation) = self.waiting.pop() else {
                // A return out of what was running when this tree began.
                self.node = 0;
                (self.entry, self.low) = (sp, sp);
                continue;
            };
            self.node = activation.node;
            self.entry = activation.entry;
            self.low = self.low.min(activation.low);
        }
        self.depth = depth;
    }

    /// What has been counted.
    pub fn nodes(&self) -> Vec<Node> {
        let mut nodes = self.nodes.clone();
        let mut low = self.low;
        let running = self.waiting.iter().rev().map(|a| (a.node, a.entry, a.low));
        let mut seen = (self.node, self.entry);
        for (node, entry, next) in running.chain([(0, 0, 0)]) {
            let bytes = &mut nodes[seen.0].stack_bytes;
            *bytes = (*bytes).max(seen.1.saturating_sub(low));
            low = low.min(next);
            seen = (node, entry);
        }
        nodes
    }
}
