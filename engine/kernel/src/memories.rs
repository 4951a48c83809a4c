//! A chip's memories, as bus masters other than the core see them.

/// Memory as a DMA controller reads and writes it. Accesses cost the core no time.
pub trait Memories {
    /// Read bytes; `None` unless all of them are memory.
    fn read(&self, address: u32, length: u32) -> Option<Vec<u8>>;

    /// What was read last goes out by a device, at whose register its address stands: what becomes
    /// of it is not followed, where secrets are.
    fn leaves_by(&self, register: u32) {
        let _ = register;
    }

    /// What was read last says where a transfer goes, or how much it moves.
    fn directs(&self) {}

    /// Write what a device has made of what it read last, of which it keeps nothing.
    fn write_made(&mut self, address: u32, data: &[u8]) -> bool {
        self.write(address, data)
    }

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

/// Memory as a device sees it that names its registers by their offset.
pub struct Based<'a> {
    /// The memory.
    pub memory: &'a mut dyn Memories,
    /// Where the device's registers begin.
    pub base: &'a dyn Fn() -> u32,
}

impl Memories for Based<'_> {
    fn read(&self, address: u32, length: u32) -> Option<Vec<u8>> {
        self.memory.read(address, length)
    }

    fn leaves_by(&self, register: u32) {
        self.memory.leaves_by((self.base)().wrapping_add(register));
    }

    fn directs(&self) {
        self.memory.directs();
    }

    fn write_made(&mut self, address: u32, data: &[u8]) -> bool {
        self.memory.write_made(address, data)
    }

    fn write(&mut self, address: u32, data: &[u8]) -> bool {
        self.memory.write(address, data)
    }

    fn write_flash(&mut self, address: u32, data: &[u8]) -> bool {
        self.memory.write_flash(address, data)
    }

    fn tear(&mut self, address: u32) {
        self.memory.tear(address);
    }
}
