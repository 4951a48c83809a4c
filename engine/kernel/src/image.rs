//! Images: programs as linkers and programmers produce them.

use std::path::Path;

use object::elf;
use object::read::elf::{ElfFile, FileHeader, ProgramHeader, SectionHeader};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind, SymbolSection};
use sha2::{Digest, Sha256};

use crate::chip::hex;
use crate::symbols::Symbols;
use crate::uf2;

/// An image's file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Executable and Linkable Format, 32 bits.
    Elf,
    /// Intel HEX.
    IntelHex,
    /// UF2.
    Uf2,
    /// Raw bytes.
    Raw,
}

impl Format {
    /// The name that users see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Elf => "elf",
            Self::IntelHex => "ihex",
            Self::Uf2 => "uf2",
            Self::Raw => "raw",
        }
    }
}

/// Contiguous bytes of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address of the first byte.
    pub address: u32,
    /// The bytes.
    pub data: Vec<u8>,
}

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First address.
    pub start: u32,
    /// Bytes.
    pub size: u32,
}

/// Bytes that a program finds at one address and that the image holds at another, from which its
/// start-up code copies them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Where the program finds them.
    pub to: Range,
    /// Where the image has them.
    pub from: u32,
}

/// Returns the bytes of an ELF file's section by name.
pub type Sections<'a> = dyn Fn(&str) -> Option<Vec<u8>> + 'a;

/// What a core declares of the programs that are built for it.
#[derive(Debug)]
pub struct Target {
    /// The core's name in chip files.
    pub core: &'static str,
    /// The number of its machine in ELF files (`e_machine`).
    pub elf_machine: u16,
    /// Bits of a function symbol that are not part of its address.
    pub symbol_flags: u32,
    /// Says why the core cannot execute an ELF file of its machine, given `e_flags` and sections.
    pub refuse: fn(u32, &Sections<'_>) -> Option<String>,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Image {
    /// The file's format.
    pub format: Format,
    /// The cores that it was compiled for, if the file says so.
    pub cores: Option<Vec<&'static str>>,
    /// The family of chips that it is for, in UF2's numbers, if the file says so.
    pub uf2_family: Option<u32>,
    /// The entry point, if the file states one.
    pub entry: Option<u32>,
    /// Loaded segments, by ascending address, without overlaps.
    pub segments: Vec<Segment>,
    /// Loaded bytes that are not code, if the file says so.
    pub data: Vec<Range>,
    /// Variables: what the linker placed in writable memory, except the stack's section.
    pub variables: Vec<Range>,
    /// What has initial values, if the file says so.
    pub copied: Vec<Copied>,
    /// The symbol table.
    pub symbols: Symbols,
}

/// An unusable image: the fault, its location and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ImageError(pub String);

/// A larger file is not a microcontroller's image.
const LARGEST_FILE: u64 = 64 << 20;

/// Say what the system says, without its number.
fn unreadable(path: &Path, error: &std::io::Error) -> ImageError {
    let text = error.to_string();
    let why = text.split(" (os error").next().unwrap_or_default();
    ImageError(format!("{}: cannot be read: {why}", path.display()))
}

impl Image {
    /// Read an image for one of `targets` and detect its format; with `raw_address`, read raw bytes.
    ///
    /// # Errors
    /// The file cannot be read, has an unknown format, or is for another machine.
    pub fn load(
        path: &Path,
        raw_address: Option<u32>,
        targets: &[&'static Target],
    ) -> Result<Self, ImageError> {
        let name = path.display();
        let size = std::fs::metadata(path)
            .map_err(|error| unreadable(path, &error))?
            .len();
        if size > LARGEST_FILE {
            return Err(ImageError(format!(
                "{name}: {size} bytes are too many for an image; give an ELF, Intel HEX, UF2 or raw file"
            )));
        }
        let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
        Self::parse(&bytes, raw_address, targets)
            .map_err(|ImageError(message)| ImageError(format!("{name}: {message}")))
    }

    /// Read an image for one of `targets` from memory.
    ///
    /// # Errors
    /// The bytes have an unknown format, or are for another machine.
    pub fn parse(
        bytes: &[u8],
        raw_address: Option<u32>,
        targets: &[&'static Target],
    ) -> Result<Self, ImageError> {
        if let Some(address) = raw_address {
            return Self::raw(bytes, address);
        }
        if bytes.is_empty() {
            return Err(ImageError("the file is empty".into()));
        }
        if bytes.starts_with(&elf::ELFMAG) {
            return Self::elf(bytes, targets);
        }
        if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':') {
            return Self::intel_hex(bytes);
        }
        if uf2::is_uf2(bytes) {
            return Self::uf2(bytes);
        }
        Err(ImageError("neither ELF, Intel HEX nor UF2".into()))
    }

    fn uf2(bytes: &[u8]) -> Result<Self, ImageError> {
        let read = uf2::read(bytes);
        let (segments, uf2_family) = read.map_err(|why| ImageError(format!("UF2: {why}")))?;
        let image = Self {
            uf2_family,
            ..Self::of(Format::Uf2, segments)
        };
        image.tidy()
    }

    /// An image of which nothing more is known.
    fn of(format: Format, segments: Vec<Segment>) -> Self {
        Self {
            format,
            cores: None,
            uf2_family: None,
            entry: None,
            segments,
            data: Vec::new(),
            variables: Vec::new(),
            copied: Vec::new(),
            symbols: Symbols::default(),
        }
    }

    fn raw(bytes: &[u8], address: u32) -> Result<Self, ImageError> {
        if bytes.is_empty() {
            return Err(ImageError("the file is empty".into()));
        }
        let data = bytes.to_vec();
        Self::of(Format::Raw, vec![Segment { address, data }]).tidy()
    }

    fn intel_hex(bytes: &[u8]) -> Result<Self, ImageError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            ImageError(format!(
                "Intel HEX: byte {} is not text; the file is damaged",
                error.valid_up_to()
            ))
        })?;
        let mut segments = Vec::new();
        let mut entry = None;
        let mut base = 0_u32;
        let mut ended = false;
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let at = |what: String| ImageError(format!("Intel HEX: line {}: {what}", number + 1));
            let record = ihex::Record::from_record_string(line.trim())
                .map_err(|error| at(format!("{error}; the file is damaged")))?;
            // Old mspgcc's objcopy writes the entry point in a record of type end-of-file, then the
            // real end-of-file record.
            if ended && record != ihex::Record::EndOfFile {
                return Err(at(
                    "data after the end-of-file record; the file is damaged".into()
                ));
            }
            match record {
                ihex::Record::Data { offset, value } => {
                    let address = base
                        .checked_add(u32::from(offset))
                        .ok_or_else(|| at("address beyond 32 bits".into()))?;
                    segments.push(Segment {
                        address,
                        data: value,
                    });
                }
                ihex::Record::EndOfFile => ended = true,
                ihex::Record::ExtendedSegmentAddress(segment) => base = u32::from(segment) << 4,
                ihex::Record::ExtendedLinearAddress(high) => base = u32::from(high) << 16,
                ihex::Record::StartSegmentAddress { cs, ip } => {
                    entry = Some((u32::from(cs) << 4) + u32::from(ip));
                }
                ihex::Record::StartLinearAddress(address) => entry = Some(address),
            }
        }
        if !ended {
            return Err(ImageError(
                "Intel HEX: the end-of-file record is missing; the file is truncated".into(),
            ));
        }
        let image = Self {
            entry,
            ..Self::of(Format::IntelHex, segments)
        };
        image.tidy()
    }

    fn elf(bytes: &[u8], targets: &[&'static Target]) -> Result<Self, ImageError> {
        let damaged = |error: object::Error| ImageError(format!("ELF: damaged: {error}"));
        if bytes.get(4) != Some(&elf::ELFCLASS32) || bytes.get(5) != Some(&elf::ELFDATA2LSB) {
            return Err(ImageError(
                "ELF: not 32-bit little-endian, so not for a chip of ours; build it for the chip"
                    .into(),
            ));
        }
        let file =
            ElfFile::<elf::FileHeader32<object::Endianness>>::parse(bytes).map_err(damaged)?;
        let endian = file.endian();
        let header = file.elf_header();
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            section.data().ok().map(<[u8]>::to_vec)
        };
        let (machine, flags) = (header.e_machine(endian), header.e_flags(endian));
        let targets = suitable(targets, machine, |target| (target.refuse)(flags, &section))?;
        if header.e_type(endian) != elf::ET_EXEC {
            return Err(ImageError(
                "ELF: not an executable but an object or a library; link it first".into(),
            ));
        }
        let (mut segments, mut copied) = (Vec::new(), Vec::new());
        let contents = loaded_sections(&file);
        for (number, program) in file.elf_program_headers().iter().enumerate() {
            if program.p_type(endian) != elf::PT_LOAD {
                continue;
            }
            let size = program.p_filesz(endian);
            let data = program.data(endian, bytes).map_err(|()| {
                ImageError(format!(
                    "ELF: segment {number} wants {size} bytes at offset {:#x} and the file has {}; \
                     the file is truncated",
                    program.p_offset(endian),
                    bytes.len()
                ))
            })?;
            // Bytes outside the sections are the linker's padding or the file's headers.
            let (offset, address) = (program.p_offset(endian), program.p_paddr(endian));
            for &(start, size) in &contents {
                let Some(skip) = start
                    .checked_sub(offset)
                    .filter(|&skip| skip < length(data))
                else {
                    continue;
                };
                let end = skip.saturating_add(size).min(length(data));
                copied.push(Copied {
                    to: Range {
                        start: program.p_vaddr(endian).wrapping_add(skip),
                        size: end - skip,
                    },
                    from: address.wrapping_add(skip),
                });
                segments.push(Segment {
                    address: address.wrapping_add(skip),
                    data: data[skip as usize..end as usize].to_vec(),
                });
            }
            if contents.is_empty() && !data.is_empty() {
                segments.push(Segment {
                    address,
                    data: data.to_vec(),
                });
            }
        }
        let (mut data, mut variables) = (Vec::new(), Vec::new());
        for section in file.sections() {
            let object::SectionFlags::Elf { sh_flags } = section.flags() else {
                continue;
            };
            let (Ok(start), Ok(size)) = (
                u32::try_from(section.address()),
                u32::try_from(section.size()),
            ) else {
                continue;
            };
            let has = |flag: u32| sh_flags & u64::from(flag) != 0;
            let range = Range { start, size };
            if !has(elf::SHF_ALLOC) || size == 0 {
                continue;
            }
            if has(elf::SHF_WRITE) {
                let is_stack = section.name().is_ok_and(|name| name.contains("stack"));
                if !is_stack {
                    variables.push(range);
                }
            } else if !has(elf::SHF_EXECINSTR) {
                data.push(range);
            }
        }
        let mut symbols = Symbols::default();
        for symbol in file.symbols() {
            let (Ok(name), Ok(address)) = (symbol.name(), u32::try_from(symbol.address())) else {
                continue;
            };
            let named = !name.is_empty() && !name.starts_with('$') && !name.starts_with(".L");
            if !named || symbol.is_undefined() {
                continue;
            }
            let function = symbol.kind() == SymbolKind::Text;
            if function
                || matches!(
                    symbol.kind(),
                    SymbolKind::Data | SymbolKind::Label | SymbolKind::Unknown
                )
            {
                if symbol.section() == SymbolSection::Absolute && !function {
                    symbols.insert_number(name, address);
                    continue;
                }
                let flags = targets.first().map_or(0, |target| target.symbol_flags);
                let address = if function { address & !flags } else { address };
                // A routine may be a constant: Zephyr's busy wait is an array of instructions.
                let is_constant = symbol.kind() == SymbolKind::Data
                    && symbol.size() > 0
                    && data
                        .iter()
                        .any(|range| address.wrapping_sub(range.start) < range.size);
                symbols.insert(name, address, symbol.size() as u32, function || is_constant);
            }
            if symbol.kind() == SymbolKind::Data {
                symbols.insert_variable(name, address, symbol.size() as u32);
            }
        }
        symbols.finish();
        let image = Self {
            cores: Some(targets.iter().map(|target| target.core).collect()),
            entry: Some(header.e_entry(endian)),
            data,
            variables,
            copied,
            symbols,
            ..Self::of(Format::Elf, segments)
        };
        image.tidy()
    }

    /// Sort and join the segments, and reject those that conflict.
    fn tidy(mut self) -> Result<Self, ImageError> {
        self.segments.sort_by_key(|segment| segment.address);
        let mut joined: Vec<Segment> = Vec::new();
        for segment in self.segments.drain(..) {
            let (address, size) = (segment.address, segment.data.len());
            if u64::from(address) + size as u64 > 1 << 32 {
                return Err(ImageError(format!(
                    "{size} bytes at {address:#x} go beyond 32 bits of address"
                )));
            }
            match joined.last_mut() {
                Some(last)
                    if u64::from(last.address) + last.data.len() as u64 > u64::from(address) =>
                {
                    return Err(ImageError(format!(
                        "two parts of the image both have bytes for address {address:#x}"
                    )));
                }
                Some(last) if last.address as usize + last.data.len() == address as usize => {
                    last.data.extend_from_slice(&segment.data);
                }
                _ => joined.push(segment),
            }
        }
        if joined.iter().all(|segment| segment.data.is_empty()) {
            return Err(ImageError("holds nothing to load".into()));
        }
        self.segments = joined;
        Ok(self)
    }

    /// Hash the loaded contents with SHA-256: each segment's address and length (both 32 bits,
    /// little-endian) and its bytes.
    pub fn digest(&self) -> String {
        let mut sha = Sha256::new();
        for segment in &self.segments {
            sha.update(segment.address.to_le_bytes());
            sha.update((segment.data.len() as u32).to_le_bytes());
            sha.update(&segment.data);
        }
        hex(&sha.finalize())
    }

    /// Give a variable another initial value, as testbeds set the numbers of their motes.
    ///
    /// # Errors
    /// There is no such variable, it has no initial value, or the value does not fit.
    pub fn set_variable(&mut self, name: &str, value: i64) -> Result<(), ImageError> {
        let wrong = |what: String| Err(ImageError(format!("variable '{name}': {what}")));
        let Some(variable) = self.symbols.variable(name) else {
            self.resolve(name)?;
            return wrong("this symbol is no variable".into());
        };
        let size = variable.size;
        if variable.is_shared {
            return wrong("several have this name; one of another name can be set".into());
        }
        if !matches!(size, 1 | 2 | 4 | 8) {
            return wrong(format!(
                "it has {size} bytes; numbers of 1, 2, 4 or 8 bytes can be set"
            ));
        }
        let bits = 8 * size;
        let is_low = bits < 64 && value < -(1 << (bits - 1));
        if is_low || bits < 64 && value >= 1 << bits {
            return wrong(format!("{value} does not fit its {size} bytes"));
        }
        let holds = |range: &Range| {
            let offset = variable.address.wrapping_sub(range.start);
            offset
                .checked_add(size)
                .is_some_and(|end| end <= range.size)
        };
        let Some(copied) = self.copied.iter().find(|copied| holds(&copied.to)) else {
            return wrong(
                "it has no initial value in this image, and the start-up code clears it; initialise it \
                 in the program"
                    .into(),
            );
        };
        let at = copied.from + (variable.address - copied.to.start);
        let bytes = &value.to_le_bytes()[..size as usize];
        let place = self.segments.iter_mut().find_map(|segment| {
            let offset = at.checked_sub(segment.address)? as usize;
            segment.data.get_mut(offset..offset + bytes.len())
        });
        match place {
            Some(place) => place.copy_from_slice(bytes),
            None => return wrong("the image lacks its initial value".into()),
        }
        Ok(())
    }

    /// Resolve a number (decimal or `0x...`) or a symbol to an address.
    ///
    /// # Errors
    /// The symbol does not exist; the message suggests similar ones.
    pub fn resolve(&self, text: &str) -> Result<u32, ImageError> {
        let text = text.trim();
        if text.starts_with(|first: char| first.is_ascii_digit()) {
            let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
            let number = match hexadecimal {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => text.parse(),
            };
            return number.map_err(|_| {
                ImageError(format!(
                    "'{text}' is no address: use decimal or 0x with hexadecimal digits"
                ))
            });
        }
        self.symbols.address(text).ok_or_else(|| {
            if self.symbols.is_empty() {
                return ImageError(format!(
                    "no symbol '{text}': this image ({}) has no symbols; give a number",
                    self.format.name()
                ));
            }
            let near = self.symbols.near(text);
            ImageError(if near.is_empty() {
                format!("no symbol '{text}' in this image")
            } else {
                format!(
                    "no symbol '{text}' in this image; did you mean {}?",
                    near.join(", ")
                )
            })
        })
    }
}

/// Return the file offset and size of each section that is loaded with contents.
fn loaded_sections(file: &ElfFile<'_, elf::FileHeader32<object::Endianness>>) -> Vec<(u32, u32)> {
    let sections = file.elf_section_table().iter();
    let endian = file.endian();
    sections
        .filter(|section| {
            section.sh_flags(endian) & elf::SHF_ALLOC != 0
                && section.sh_type(endian) != elf::SHT_NOBITS
                && section.sh_size(endian) != 0
        })
        .map(|section| (section.sh_offset(endian), section.sh_size(endian)))
        .collect()
}

fn length(data: &[u8]) -> u32 {
    data.len() as u32
}

/// The targets of an ELF file's machine that do not refuse it.
fn suitable(
    targets: &[&'static Target],
    machine: u16,
    refusal: impl Fn(&Target) -> Option<String>,
) -> Result<Vec<&'static Target>, ImageError> {
    let of_machine = targets
        .iter()
        .filter(|target| target.elf_machine == machine);
    let (mut suitable, mut refused) = (Vec::new(), None);
    for &target in of_machine {
        match refusal(target) {
            None => suitable.push(target),
            Some(reason) => refused = Some(reason),
        }
    }
    if !suitable.is_empty() {
        return Ok(suitable);
    }
    Err(ImageError(refused.map_or_else(
        || {
            let known: Vec<String> = targets
                .iter()
                .map(|target| format!("{} ({})", target.core, target.elf_machine))
                .collect();
            format!(
                "ELF: for machine number {machine}, which no emulated core is; there are {}; build \
                 it for the chip",
                known.join(", ")
            )
        },
        |reason| format!("ELF: {reason}"),
    )))
}
