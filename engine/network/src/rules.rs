//! Rules that apply to all cells of a network.

/// How far motes run ahead of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// As far as radios and sleeping motes allow.
    Full,
    /// A fraction of what radios allow, and sleeping motes run too. For tests: this costs time and
    /// changes nothing else.
    Part(u64),
}

/// Settings shared by all cells.
#[derive(Clone, Copy)]
pub struct Rules {
    pub seed: u64,
    pub ahead: Ahead,
}
