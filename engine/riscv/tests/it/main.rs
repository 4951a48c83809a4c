//! All tests of the crate as one program: linked, and what is generic compiled, once.

mod behaviour;
mod hazard3;
#[allow(dead_code)] // what an example uses
mod programs;
