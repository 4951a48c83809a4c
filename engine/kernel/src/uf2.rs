//! UF2, the files that are dropped on a board's USB drive (github.com/microsoft/uf2, README).

use crate::image::Segment;

const BLOCK: usize = 512;
const START: [u32; 2] = [0x0a32_4655, 0x9e5d_5157];
const END: u32 = 0x0ab1_6f30;
/// Flags: the block is not for the chip's memory; it holds a part of a file; it says for which family
/// of chips it is.
const NOT_MEMORY: u32 = 1;
const FILE: u32 = 0x1000;
const HAS_FAMILY: u32 = 0x2000;
/// Where a block's contents begin, and their most bytes.
const CONTENTS: usize = 32;
const MOST: usize = 476;
/// Blocks for any chip, by which files for the RP2350 go round its erratum E10 (Pico SDK, `boot/uf2.h`).
const ABSOLUTE: u32 = 0xe48b_ff57;

/// A block that is loaded.
struct Block {
    place: usize,
    family: Option<u32>,
    number: u32,
    count: u32,
    segment: Segment,
}

/// Whether bytes begin as such a file does.
pub fn is_uf2(bytes: &[u8]) -> bool {
    bytes.starts_with(&START[0].to_le_bytes())
}

fn word(block: &[u8], at: usize) -> u32 {
    block[at..]
        .first_chunk()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Read a block; `None` if it is none that is loaded.
fn block(place: usize, block: &[u8]) -> Result<Option<Block>, String> {
    if [word(block, 0), word(block, 4)] != START || word(block, BLOCK - 4) != END {
        return Err(format!(
            "block {place} does not begin and end as one; the file is damaged"
        ));
    }
    let (flags, size) = (word(block, 8), word(block, 16) as usize);
    if flags & NOT_MEMORY != 0 {
        return Ok(None);
    }
    if flags & FILE != 0 {
        return Err(format!(
            "block {place} holds a file, not a program; give the program's own UF2 file"
        ));
    }
    if size > MOST {
        return Err(format!(
            "block {place} says that it has {size} bytes of {MOST}; the file is damaged"
        ));
    }
    Ok(Some(Block {
        place,
        family: (flags & HAS_FAMILY != 0).then(|| word(block, 28)),
        number: word(block, 20),
        count: word(block, 24),
        segment: Segment {
            address: word(block, 12),
            data: block[CONTENTS..CONTENTS + size].to_vec(),
        },
    }))
}

/// Read a file: its contents, and the family of chips that it is for, if it says so.
///
/// # Errors
/// The file is damaged or truncated, or for several families.
pub fn read(bytes: &[u8]) -> Result<(Vec<Segment>, Option<u32>), String> {
    if !bytes.len().is_multiple_of(BLOCK) {
        return Err(format!(
            "{} bytes are no whole blocks of {BLOCK}; the file is truncated",
            bytes.len()
        ));
    }
    let mut blocks = Vec::new();
    for (place, bytes) in bytes.chunks_exact(BLOCK).enumerate() {
        blocks.extend(block(place, bytes)?);
    }
    if blocks.iter().any(|block| block.family != Some(ABSOLUTE)) {
        blocks.retain(|block| block.family != Some(ABSOLUTE));
    }
    let family = blocks.first().and_then(|block| block.family);
    if let Some(other) = blocks.iter().find(|block| block.family != family) {
        let name = |family: Option<u32>| family.map_or("none".into(), |id| format!("{id:#010x}"));
        return Err(format!(
            "it is for several families of chips, {} and {}; give a file for one",
            name(family),
            name(other.family)
        ));
    }
    let count = blocks.len() as u32;
    if let Some(first) = blocks.first()
        && first.count > count
    {
        return Err(format!(
            "it has {count} of its {} blocks; the file is truncated",
            first.count
        ));
    }
    for (number, block) in (0..).zip(&blocks) {
        if block.number != number || block.count != count {
            return Err(format!(
                "block {} is number {} of {}, and should be number {number} of {count}; the file is \
                 truncated or damaged",
                block.place, block.number, block.count
            ));
        }
    }
    let segments = blocks.into_iter().map(|block| block.segment).collect();
    Ok((segments, family))
}
