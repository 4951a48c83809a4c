//! Memory for tests.

use joulemark_kernel::Memories;

/// RAM or flash from an address on.
pub struct Memory {
    pub start: u32,
    pub bytes: Vec<u8>,
    pub is_flash: bool,
}

impl Memory {
    fn put(&mut self, address: u32, data: &[u8]) -> bool {
        let start = address.wrapping_sub(self.start) as usize;
        let place = self.bytes.get_mut(start..start.saturating_add(data.len()));
        place.map(|place| place.copy_from_slice(data)).is_some()
    }
}

impl Memories for Memory {
    fn read(&self, address: u32, length: u32) -> Option<Vec<u8>> {
        let start = address.checked_sub(self.start)? as usize;
        Some(self.bytes.get(start..start + length as usize)?.to_vec())
    }

    fn write(&mut self, address: u32, data: &[u8]) -> bool {
        !self.is_flash && self.put(address, data)
    }

    fn write_flash(&mut self, address: u32, data: &[u8]) -> bool {
        self.is_flash && self.put(address, data)
    }
}
