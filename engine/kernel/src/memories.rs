//! A chip's memories, as its other bus masters than the core see them.

/// Memory as a DMA controller reads and writes it. Such an access takes no time of the core's.
pub trait Memories {
    /// Copy bytes out; `None` where not all of them are memory.
    fn read(&self, address: u32, length: u32) -> Option<Vec<u8>>;

    /// Copy bytes in; false, and nothing is written, where not all of them are RAM.
    fn write(&mut self, address: u32, data: &[u8]) -> bool;

    /// Set flash to what its controller has made of it; false, and nothing is set, where not all of
    /// it is flash.
    fn write_flash(&mut self, address: u32, data: &[u8]) -> bool {
        let _ = (address, data);
        false
    }
}
