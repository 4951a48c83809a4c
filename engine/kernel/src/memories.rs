//! A chip's memories, as bus masters other than the core see them.

/// Memory as a DMA controller reads and writes it. Accesses cost the core no time.
pub trait Memories {
    /// Read bytes; `None` unless all of them are memory.
    fn read(&self, address: u32, length: u32) -> Option<Vec<u8>>;

    /// Write bytes; false, with nothing written, unless all of them are RAM.
    fn write(&mut self, address: u32, data: &[u8]) -> bool;

    /// Set flash contents on behalf of the flash controller; false, with nothing set, unless all of
    /// it is flash.
    fn write_flash(&mut self, address: u32, data: &[u8]) -> bool {
        let _ = (address, data);
        false
    }

    /// The error correction of the double word of flash at this address does not fit its bits any
    /// more, until it is set again: a read of it is reported to the chip.
    fn tear(&mut self, address: u32) {
        let _ = address;
    }
}
