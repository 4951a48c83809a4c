//! Profiles with names: what each function cost, and over which calls it was reached.

use std::collections::BTreeMap;

use joulemark_kernel::Symbols;

/// Cost of one function of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCost {
    /// Its name.
    pub name: String,
    /// Its first address.
    pub address: u32,
    /// How often it was entered.
    pub calls: u64,
    /// Cycles in itself.
    pub self_cycles: u64,
    /// Cycles in itself and everything that it called; recursion is counted once.
    pub total_cycles: u64,
    /// Instructions in itself.
    pub self_instructions: u64,
    /// The most stack that it and everything it called took, from its entry.
    pub stack_bytes: u32,
}

/// One path of calls and the cycles spent at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPath {
    /// Names, outermost first.
    pub path: Vec<String>,
    /// Cycles in the last of them.
    pub self_cycles: u64,
}

/// Cycles and instructions by function and by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The most costly first.
    pub functions: Vec<FunctionCost>,
    /// In the order in which they were first taken.
    pub paths: Vec<CallPath>,
}

/// One function as it was reached over one path; a node comes after its parent.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Index of the caller's node; `None` for the root, which is no function.
    pub parent: Option<usize>,
    /// Index into [`Symbols::functions`]; `None` for code that belongs to none.
    pub function: Option<usize>,
    /// How often it was entered over this path.
    pub calls: u64,
    /// Cycles in itself.
    pub self_cycles: u64,
    /// Instructions in itself.
    pub self_instructions: u64,
    /// The most stack from its entry.
    pub stack_bytes: u32,
}

impl Node {
    /// Cost outside functions, without a caller.
    pub const fn root() -> Self {
        Self {
            parent: None,
            function: None,
            calls: 0,
            self_cycles: 0,
            self_instructions: 0,
            stack_bytes: 0,
        }
    }
}

/// The path of calls of each node, outermost first; the root's is empty.
pub fn paths(nodes: &[Node], symbols: &Symbols) -> Vec<Vec<String>> {
    let mut paths: Vec<Vec<String>> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let mut path = node
            .parent
            .map_or_else(Vec::new, |parent| paths[parent].clone());
        if node.parent.is_some() {
            path.push(name_of(node.function, symbols).to_owned());
        }
        paths.push(path);
    }
    paths
}

fn name_of(function: Option<usize>, symbols: &Symbols) -> &str {
    function
        .and_then(|index| symbols.functions().get(index))
        .map_or(NO_SYMBOL, |function| &function.name)
}

/// Name of code without a symbol.
const NO_SYMBOL: &str = "(no symbol)";

/// Put names to a tree of calls.
pub fn summarise(nodes: &[Node], symbols: &Symbols) -> Profile {
    let mut totals: Vec<u64> = nodes.iter().map(|node| node.self_cycles).collect();
    for (index, node) in nodes.iter().enumerate().rev() {
        if let Some(parent) = node.parent {
            totals[parent] += totals[index];
        }
    }
    let name = |function: Option<usize>| name_of(function, symbols);
    let mut functions: BTreeMap<Option<usize>, FunctionCost> = BTreeMap::new();
    let mut paths = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        if node.parent.is_none() && node.self_cycles == 0 {
            continue;
        }
        let ancestors = || {
            std::iter::successors(node.parent, |&parent| nodes[parent].parent)
                .filter(|&parent| nodes[parent].parent.is_some())
                .map(|parent| nodes[parent].function)
        };
        let cost = functions
            .entry(node.function)
            .or_insert_with(|| FunctionCost {
                name: name(node.function).to_owned(),
                address: node
                    .function
                    .and_then(|index| symbols.functions().get(index))
                    .map_or(0, |function| function.start),
                calls: 0,
                self_cycles: 0,
                total_cycles: 0,
                self_instructions: 0,
                stack_bytes: 0,
            });
        cost.calls += node.calls;
        cost.self_cycles += node.self_cycles;
        cost.self_instructions += node.self_instructions;
        cost.stack_bytes = cost.stack_bytes.max(node.stack_bytes);
        if node.parent.is_none() {
            cost.total_cycles += node.self_cycles;
        } else if ancestors().all(|function| function != node.function) {
            cost.total_cycles += totals[index];
        }
        if node.self_cycles > 0 {
            let mut path: Vec<String> = ancestors().map(|f| name(f).to_owned()).collect();
            path.reverse();
            path.push(name(node.function).to_owned());
            paths.push(CallPath {
                path,
                self_cycles: node.self_cycles,
            });
        }
    }
    let mut functions: Vec<FunctionCost> = functions.into_values().collect();
    functions.sort_by(|a, b| (b.self_cycles, &a.name).cmp(&(a.self_cycles, &b.name)));
    Profile { functions, paths }
}
