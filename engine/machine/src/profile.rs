//! Profiles with symbols: each function's cost, and the call paths to it.

use std::collections::BTreeMap;

use joulemark_kernel::Symbols;

/// The cost of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCost {
    /// Its name.
    pub name: String,
    /// Its first address.
    pub address: u32,
    /// The address behind its last byte; 0 for code without a symbol.
    pub end: u32,
    /// Number of entries.
    pub calls: u64,
    /// Cycles in the function itself.
    pub self_cycles: u64,
    /// Cycles in the function and its callees; recursion is counted once.
    pub total_cycles: u64,
    /// Instructions in the function itself.
    pub self_instructions: u64,
    /// The most stack that the function and its callees used, from its entry.
    pub stack_bytes: u32,
}

/// A call path, and the cycles spent in its last function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPath {
    /// Names, outermost first.
    pub path: Vec<String>,
    /// Cycles in the last function.
    pub self_cycles: u64,
}

/// Cycles and instructions by function and by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The most costly first.
    pub functions: Vec<FunctionCost>,
    /// In order of first occurrence.
    pub paths: Vec<CallPath>,
}

/// A function reached over one call path; a node comes after its parent.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The caller's index; `None` for the root, which is not a function.
    pub parent: Option<usize>,
    /// Index into [`Symbols::functions`]; `None` for code without a symbol.
    pub function: Option<usize>,
    /// Number of entries over this path.
    pub calls: u64,
    /// Cycles in the function itself.
    pub self_cycles: u64,
    /// Instructions in the function itself.
    pub self_instructions: u64,
    /// The most stack used, from its entry.
    pub stack_bytes: u32,
}

impl Node {
    /// The cost of code outside functions, without a caller.
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

/// Return the call path of each node, outermost first; the root's is empty.
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

/// Summarise a call tree by function and path.
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
        let cost = functions.entry(node.function).or_insert_with(|| {
            let known = node.function.and_then(|i| symbols.functions().get(i));
            FunctionCost {
                name: name(node.function).to_owned(),
                address: known.map_or(0, |function| function.start),
                end: known.map_or(0, |function| function.end),
                calls: 0,
                self_cycles: 0,
                total_cycles: 0,
                self_instructions: 0,
                stack_bytes: 0,
            }
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
