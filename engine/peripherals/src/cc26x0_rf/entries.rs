//! The queue of data entries for received frames (SWCU185F, section 26.3.2.7; layouts of
//! `rf_data_entry.h`).

use joulemark_kernel::{Fault, FaultKind, Memories};

use super::structures::Fields;

/// An entry's `status` field.
const PENDING: u8 = 0;
const ACTIVE: u8 = 1;
const FINISHED: u8 = 3;

/// Bytes before an entry's data.
const HEADER: u32 = 8;
/// Bytes of the count and index at the start of a multi-element entry's data.
const MULTI_HEADER: u32 = 4;
/// A longer queue is treated as invalid.
const MOST_ENTRIES: usize = 64;

/// An entry.
struct Entry {
    address: u32,
    next: u32,
    status: u8,
    /// 0 general, 1 multi-element, 2 pointer, 3 partial read.
    kind: u8,
    /// Size of the length field before each element.
    length_bytes: u32,
    length: u32,
}

impl Entry {
    fn read(memory: &dyn Memories, address: u32) -> Option<Self> {
        let fields = Fields::read(memory, address, HEADER)?;
        Some(Self {
            address,
            next: fields.word(0),
            status: fields.byte(4),
            kind: fields.byte(5) & 3,
            length_bytes: u32::from(fields.byte(5) >> 2 & 3),
            length: u32::from(fields.half(6)),
        })
    }

    const fn is_free(&self) -> bool {
        self.status == PENDING || self.status == ACTIVE
    }

    fn set_status(&self, memory: &mut dyn Memories, status: u8) {
        memory.write(self.address + 4, &[status]);
    }
}

/// A queue by its address: a pointer to the current entry, then one to the last entry, 0 for a
/// ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Queue(pub u32);

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// Stored; its entry has room for more.
    Kept,
    /// Stored; its entry is finished.
    Finished,
    /// Dropped for lack of room.
    Full,
}

impl Queue {
    fn current(self, memory: &dyn Memories) -> Option<u32> {
        Some(Fields::read(memory, self.0, 8)?.word(0))
    }

    /// Whether the queue and its current entry, if any, are readable.
    pub fn is_sound(self, memory: &dyn Memories) -> bool {
        match self.current(memory) {
            None => false,
            Some(0) => true,
            Some(entry) => Entry::read(memory, entry).is_some(),
        }
    }

    /// Mark the current entry active when the receiver starts.
    pub fn begin(self, memory: &mut dyn Memories) {
        let entry = self.current(memory).and_then(|at| Entry::read(memory, at));
        if let Some(entry) = entry.filter(|entry| entry.status == PENDING) {
            entry.set_status(memory, ACTIVE);
        }
    }

    /// Finish an entry, and make the next one current.
    fn finish(self, memory: &mut dyn Memories, entry: &Entry) {
        entry.set_status(memory, FINISHED);
        memory.write(self.0, &entry.next.to_le_bytes());
        self.begin(memory);
    }

    /// Add an element to the queue.
    ///
    /// # Errors
    /// The entry's type is one that the emulation leaves out.
    pub fn store(self, memory: &mut dyn Memories, element: &[u8]) -> Result<Stored, Fault> {
        // A full multi-element entry gives way to the next one.
        for _ in 0..2 {
            let current = self.current(memory).filter(|&at| at != 0);
            let Some(entry) = current.and_then(|at| Entry::read(memory, at)) else {
                return Ok(Stored::Full);
            };
            if !entry.is_free() {
                return Ok(Stored::Full);
            }
            let needed = entry.length_bytes + element.len() as u32;
            let mut bytes = match entry.length_bytes {
                0 => Vec::new(),
                1 => vec![element.len() as u8],
                2 => (element.len() as u16).to_le_bytes().to_vec(),
                _ => return Ok(Stored::Full),
            };
            bytes.extend_from_slice(element);
            match entry.kind {
                0 | 2 => {
                    let data = entry.address + HEADER;
                    let data = if entry.kind == 0 {
                        Some(data)
                    } else {
                        Fields::read(memory, data, 4).map(|fields| fields.word(0))
                    };
                    let fits = needed <= entry.length;
                    if !fits || !data.is_some_and(|at| memory.write(at, &bytes)) {
                        return Ok(Stored::Full);
                    }
                    self.finish(memory, &entry);
                    return Ok(Stored::Finished);
                }
                1 => {
                    let Some(header) = Fields::read(memory, entry.address + HEADER, MULTI_HEADER)
                    else {
                        return Ok(Stored::Full);
                    };
                    let (count, index) = (header.half(0), u32::from(header.half(2)));
                    let room = entry.length.saturating_sub(MULTI_HEADER + index);
                    if needed > room {
                        if count == 0 {
                            return Ok(Stored::Full);
                        }
                        self.finish(memory, &entry);
                        continue;
                    }
                    let data = entry.address + HEADER + MULTI_HEADER + index;
                    if !memory.write(data, &bytes) {
                        return Ok(Stored::Full);
                    }
                    let header = [count.wrapping_add(1), (index + needed) as u16];
                    let header: Vec<u8> =
                        header.iter().flat_map(|half| half.to_le_bytes()).collect();
                    memory.write(entry.address + HEADER, &header);
                    return Ok(Stored::Kept);
                }
                _ => {
                    return Err(Fault::new(
                        FaultKind::Absent,
                        "the emulation leaves out data entries for partial reads (type 3), which IEEE \
                         802.15.4 operations do not use",
                    )
                    .at(entry.address));
                }
            }
        }
        Ok(Stored::Full)
    }

    /// `CMD_ADD_DATA_ENTRY`: append an entry; false if the queue is a ring, which has no end.
    pub fn add(self, memory: &mut dyn Memories, entry: u32) -> Option<bool> {
        let queue = Fields::read(memory, self.0, 8)?;
        Entry::read(memory, entry)?;
        let (current, last) = (queue.word(0), queue.word(4));
        if current != 0 && last == 0 {
            return Some(false); // a ring has no end
        }
        let pointer = entry.to_le_bytes();
        if current == 0 {
            memory.write(self.0, &pointer);
        } else if !memory.write(last, &pointer) {
            return None;
        }
        memory.write(self.0 + 4, &pointer);
        Some(true)
    }

    /// `CMD_FLUSH_QUEUE`: empty the queue and return its first entry; `None` if the queue is
    /// unreadable.
    pub fn flush(self, memory: &mut dyn Memories) -> Option<u32> {
        let first = self.current(memory)?;
        memory.write(self.0, &[0; 8]);
        Some(first)
    }

    /// `CMD_CLEAR_RX`: reset all entries.
    pub fn clear(self, memory: &mut dyn Memories) -> bool {
        let Some(first) = self.current(memory) else {
            return false;
        };
        let mut at = first;
        for _ in 0..MOST_ENTRIES {
            if at == 0 {
                break;
            }
            let Some(entry) = Entry::read(memory, at) else {
                return false;
            };
            entry.set_status(memory, PENDING);
            if entry.kind == 1 {
                memory.write(at + HEADER, &[0; MULTI_HEADER as usize]);
            }
            at = entry.next;
            if at == first {
                break;
            }
        }
        true
    }
}
