//! Rules of a network that hold in all of its cells.

/// How far motes run ahead of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// As far as the radios and the motes that sleep allow.
    Full,
    /// A fraction of what the radios allow, and those that sleep run too. It costs time and changes
    /// nothing else: for tests.
    Part(u64),
}

/// Settings of all cells.
#[derive(Clone, Copy)]
pub struct Rules {
    pub seed: u64,
    pub ahead: Ahead,
}
