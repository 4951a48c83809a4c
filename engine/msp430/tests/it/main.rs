//! All tests of the crate as one program: linked, and what is generic compiled, once.

mod behaviour;
mod common;
mod instructions;
mod sequences;
