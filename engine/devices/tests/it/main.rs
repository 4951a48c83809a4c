//! All tests of the crate as one program: linked, and what is generic compiled, once.

mod cc2420;
mod ds2411;
mod m25p80;
mod opt3001;
mod radios;
mod sensors;
mod sht11;
