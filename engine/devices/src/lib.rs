//! Wired by a board to its chip: devices with time, pins and power states of their own.
//!
//! A model of a device is a file in `src/models`, with its figures in a file of the same name
//! beside it. A board's file wires devices of these models to the buses and pins of its chip.

mod device;
mod models {
    //! One file a model.
    include!(concat!(env!("OUT_DIR"), "/models.rs"));
}
mod wiring;

pub use device::{Device, Figures, Lines, Model, PinRole, PowerState, Protocol};
pub use models::*;
pub use wiring::{Placement, Wiring, WiringError};
