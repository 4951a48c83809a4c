//! A program's call tree, built from its control flow.

use std::collections::HashMap;
use std::ops::Range;

use joulemark_armv7m::Control;
use joulemark_kernel::Symbols;

use crate::profile::Node;

/// A function that waits for its callee.
struct Activation {
    node: usize,
    entry: u32,
    low: u32,
}

/// Cycles, instructions and stack by call path.
pub struct CallTree {
    nodes: Vec<Node>,
    children: HashMap<(usize, Option<usize>), usize>,
    waiting: Vec<Activation>,
    node: usize,
    /// The stack pointer at the node's entry, and the lowest one since.
    entry: u32,
    low: u32,
    /// The last control event; everything until then has been charged.
    last: Option<Control>,
    symbols: Symbols,
}

impl CallTree {
    /// Make a tree that begins at the first control event.
    pub fn new(symbols: Symbols) -> Self {
        Self {
            nodes: vec![Node::root()],
            children: HashMap::new(),
            waiting: Vec::new(),
            last: None,
            node: 0,
            entry: 0,
            low: 0,
            symbols,
        }
    }

    fn child(&mut self, parent: usize, function: Option<usize>) -> usize {
        let nodes = &mut self.nodes;
        *self.children.entry((parent, function)).or_insert_with(|| {
            nodes.push(Node {
                parent: Some(parent),
                function,
                ..Node::root()
            });
            nodes.len() - 1
        })
    }

    /// Find the function at an address, and the range around it in which no other one begins.
    fn find(&self, pc: u32) -> (Option<usize>, Range<u32>) {
        let functions = self.symbols.functions();
        let after = functions.partition_point(|function| function.start <= pc);
        let index = after
            .checked_sub(1)
            .filter(|&index| pc < functions[index].end);
        let next = functions.get(after).map_or(u32::MAX, |next| next.start);
        match index {
            Some(index) => (Some(index), functions[index].start..functions[index].end),
            None => (None, pc..next),
        }
    }

    /// Follow control to an address. Return the range within which it need not be followed.
    pub fn control(&mut self, at: &Control) -> Range<u32> {
        let last = self.last.replace(*at).unwrap_or_else(|| {
            (self.entry, self.low) = (at.stack_pointer, at.stack_pointer);
            *at
        });
        let node = &mut self.nodes[self.node];
        node.self_cycles += at.busy_cycles - last.busy_cycles;
        node.self_instructions += at.instructions - last.instructions;
        self.low = self.low.min(at.stack_low);
        let (function, range) = self.find(at.pc);
        if at.depth > last.depth {
            self.waiting.push(Activation {
                node: self.node,
                entry: self.entry,
                low: self.low,
            });
            (self.entry, self.low) = (at.stack_pointer, at.stack_pointer);
            self.node = self.child(self.node, function);
            self.nodes[self.node].calls += 1;
            return range;
        }
        for _ in at.depth..last.depth {
            self.note_stack();
            let Some(activation) = self.waiting.pop() else {
                // A return from the function that was running when this tree began.
                self.node = 0;
                (self.entry, self.low) = (at.stack_pointer, at.stack_pointer);
                continue;
            };
            self.node = activation.node;
            self.entry = activation.entry;
            self.low = self.low.min(activation.low);
        }
        if self.node == 0 || self.nodes[self.node].function != function {
            // A jump: the target function replaces the one that jumped.
            self.note_stack();
            let parent = self.nodes[self.node].parent.unwrap_or(0);
            self.node = self.child(parent, function);
            self.nodes[self.node].calls += u64::from(at.pc == range.start);
        }
        range
    }

    fn note_stack(&mut self) {
        let node = &mut self.nodes[self.node];
        node.stack_bytes = node.stack_bytes.max(self.entry.saturating_sub(self.low));
    }

    /// The current node.
    pub const fn node(&self) -> usize {
        self.node
    }

    /// The counters of all nodes.
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
