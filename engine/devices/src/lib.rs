//! Devices that a board wires to its chip, with their own time, pins and power states.
//!
//! A device model is a file in `src/models`, next to a file of the same name with its figures. A
//! board file wires devices of these models to its chip's buses and pins.

mod device;
mod models {
    //! One file per model.
    include!(concat!(env!("OUT_DIR"), "/models.rs"));
}
mod wiring;

pub use device::{Device, Figures, Lines, Model, PinRole, PowerState, Protocol};
pub use models::*;
pub use wiring::{Placement, Wiring, WiringError};
