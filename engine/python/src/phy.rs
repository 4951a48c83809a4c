//! PHYs.

use joulemark_radio as radio;
use pyo3::prelude::*;

use super::EngineError;

/// How a radio puts bytes on the air.
#[pyclass(frozen, module = "joulemark._engine")]
#[derive(Clone)]
pub struct Phy {
    pub phy: &'static radio::Phy,
}

#[pymethods]
impl Phy {
    #[new]
    fn new(name: &str) -> PyResult<Self> {
        let phy = radio::Phy::named(name).map_err(EngineError::new_err)?;
        Ok(Self { phy })
    }

    #[staticmethod]
    fn names() -> Vec<&'static str> {
        radio::PHYS.iter().map(|phy| phy.name).collect()
    }

    #[getter]
    const fn name(&self) -> &'static str {
        self.phy.name
    }

    #[getter]
    const fn byte_ps(&self) -> u64 {
        self.phy.byte.0
    }

    #[getter]
    const fn synchronisation_ps(&self) -> u64 {
        self.phy.synchronisation().0
    }

    #[getter]
    const fn overhead_bytes(&self) -> usize {
        self.phy.overhead_bytes()
    }

    #[getter]
    const fn check_bytes(&self) -> usize {
        self.phy.check.bytes
    }

    #[getter]
    const fn frame_bytes_max(&self) -> usize {
        self.phy.frame_bytes_max()
    }

    fn check_sequence(&self, frame: &[u8]) -> Vec<u8> {
        self.phy.check.of(frame)
    }

    fn channel(&self, frequency_mhz: u16) -> Option<u8> {
        self.phy.channel(frequency_mhz)
    }

    fn frequency_mhz(&self, channel: u8) -> Option<u16> {
        self.phy.frequency_mhz(channel)
    }
}
