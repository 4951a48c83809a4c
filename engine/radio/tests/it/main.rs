//! All tests of the crate as one program: linked, and what is generic compiled, once.

mod antenna;
mod phy;
