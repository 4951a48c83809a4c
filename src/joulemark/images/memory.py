"""Attribute an image's flash and RAM to its parts, in two ways that must agree.

By sections: the part's own sections in the image, the sections of the runtime (`memcpy`, multiply,
divide, ...) that only this part refers to, and for a primitive its context, which the harness
allocates. By wiring (daidone-2014, section IV-A): the image minus the same image without the part.
The harness needs a primitive, so a primitive is replaced by functions that do nothing, whose size
is added. Initialised data counts both as flash and as RAM. The two results may differ by the
padding at the ends of sections, one byte each.
"""

import functools
import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from elftools.elf.constants import SHN_INDICES
from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_ST_INFO_BIND
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from joulemark.errors import InputError
from joulemark.images.built import BuiltImage

FLASH = (".text", ".rodata", ".data")
RAM = (".data", ".bss")
_CONTEXT = ".bss.primitive_context"
_ROOT = ".text.start"
_REGISTRY = "registry_"
"""Prefix of sections of constants that the linker gathers from all objects, and that are kept even
if nothing refers to them."""
_WRAP, _REAL = "__wrap_", "__real_"
"""Prefixes of the linker's `--wrap`: calls of a function go to `__wrap_`, `__real_` is the
function itself."""
PRIMITIVE = "primitive"
"""Name of the part that the harness measures."""
RUNTIME = "runtime"

# Elf32_Sym, Elf32_Rel and Elf32_Rela (System V ABI, generic part, chapter 4). Unpacked here, as
# there are tens of thousands of them, and pyelftools takes 0.1 ms for each.
_SYMBOL = struct.Struct("<IIIBBH")
_RELOCATION = struct.Struct("<II")
_RELOCATION_ADDEND = struct.Struct("<IIi")

Section = tuple[str, str]
"""Names of an object and of a section in it."""


@dataclass(frozen=True)
class Memory:
    """Bytes that a primitive takes."""

    flash_bytes: int
    """By sections: code, constants and initial values."""
    ram_bytes: int
    """By sections: its context and variables, without its stack."""
    flash_wiring_bytes: int
    ram_wiring_bytes: int
    context_bytes: int
    helpers: tuple[str, ...]
    """Sections of the runtime that only the primitive needs."""


@dataclass(frozen=True)
class Difference:
    """Flash and RAM of a program, or the difference between two programs."""

    flash_bytes: int
    ram_bytes: int

    def less(self, *others: "Difference") -> "Difference":
        """Return this minus others."""
        return Difference(
            self.flash_bytes - sum(o.flash_bytes for o in others),
            self.ram_bytes - sum(o.ram_bytes for o in others),
        )


@dataclass(frozen=True)
class PartMemory:
    """Memory of the sections that are in an image because of one part."""

    flash_bytes: int
    ram_bytes: int
    helpers: tuple[str, ...]
    """Sections of the runtime that only this part needs."""


@dataclass(frozen=True)
class Attribution:
    """An image's memory by part."""

    parts: dict[str, PartMemory]
    context_bytes: int
    """The primitive's context, which the harness allocates; counted as the primitive's."""
    total_flash_bytes: int
    total_ram_bytes: int
    library_bytes: int
    """Flash that comes from no object: the runtime in GCC's library."""

    def save(self, folder: Path) -> None:
        """Write it beside the image."""
        (folder / "memory.json").write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, folder: Path) -> "Attribution":
        """Read it from beside the image."""
        values = json.loads((folder / "memory.json").read_text())
        parts = {
            name: PartMemory(**{**part, "helpers": tuple(part["helpers"])})
            for name, part in values["parts"].items()
        }
        return cls(**{**values, "parts": parts})


def _kind(name: str) -> str:
    """Return the output section that an input section goes to; empty if none counts."""
    if name.startswith(_REGISTRY):
        return ".rodata"
    return next((k for k in (*FLASH, ".bss") if name == k or name.startswith(f"{k}.")), "")


@dataclass(frozen=True)
class _Object:
    """An object's sections: their sizes, and the object's sections and outside symbols they use."""

    sizes: Mapping[str, int]
    own: Mapping[str, frozenset[str]]
    others: Mapping[str, frozenset[str]]
    defined: Mapping[str, str]
    """Sections of its global symbols."""


@functools.lru_cache(maxsize=8192)
def _read(path: Path) -> _Object:
    """Read an object of the build cache, in which a path always has the same contents."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        sections = list(elf.iter_sections())
        table = next(s for s in sections if isinstance(s, SymbolTableSection))
        symbols: list[tuple[str | None, str]] = []
        defined = {}
        for at, _value, _size, info, _other, index in _SYMBOL.iter_unpack(table.data()):
            name = table.stringtable.get_string(at)
            section = sections[index].name if 0 < index < SHN_INDICES.SHN_LORESERVE else None
            symbols.append((section, name))
            if section is not None and info >> 4 != ENUM_ST_INFO_BIND["STB_LOCAL"]:
                defined[name] = section
        own: dict[str, set[str]] = {s.name: set() for s in sections}
        others: dict[str, set[str]] = {s.name: set() for s in sections}
        for each in sections:
            if isinstance(each, RelocationSection):
                target = sections[each["sh_info"]].name
                entry = _RELOCATION_ADDEND if each.is_RELA() else _RELOCATION
                for number in {info >> 8 for _, info, *_ in entry.iter_unpack(each.data())}:
                    section, name = symbols[number]
                    if section is not None:
                        own[target].add(section)
                    else:
                        others[target].add(name)
        return _Object(
            {s.name: s["sh_size"] for s in sections},
            {name: frozenset(found) for name, found in own.items()},
            {name: frozenset(found) for name, found in others.items()},
            defined,
        )


class _Objects:
    """The sections of all objects of an image: their sizes, and which refers to which."""

    def __init__(self, objects: Mapping[str, tuple[str, Path]]) -> None:
        self.owners = {name: owner for name, (owner, _) in objects.items()}
        self._objects = {name: _read(path) for name, (_, path) in objects.items()}
        self.sizes = {
            (name, section): size
            for name, each in self._objects.items()
            for section, size in each.sizes.items()
        }
        self._defined = {
            symbol: (name, section)
            for name, each in self._objects.items()
            for symbol, section in each.defined.items()
        }

    def _meant(self, symbol: str) -> Section | None:
        """Return the section that a reference to another object's symbol resolves to."""
        if symbol.startswith(_REAL):
            return self._defined.get(symbol.removeprefix(_REAL))
        return self._defined.get(_WRAP + symbol) or self._defined.get(symbol)

    def reachable(self, without: str | None = None) -> set[Section]:
        """Return the sections that the image needs, in total or without one part's objects."""
        found: set[Section] = set()
        waiting = [s for s in self.sizes if s[1] == _ROOT or s[1].startswith(_REGISTRY)]
        while waiting:
            section = waiting.pop()
            if section in found or self.owners[section[0]] == without:
                continue
            found.add(section)
            name, place = section
            waiting += ((name, own) for own in self._objects[name].own[place])
            others = self._objects[name].others[place]
            waiting += (meant for symbol in others if (meant := self._meant(symbol)))
        return found


def attribute(image: Path, linked: Mapping[str, tuple[str, Path]], *, library: bool) -> Attribution:
    """Attribute an image's sections to its parts.

    Args:
        image: the linked image.
        linked: for each object, by its name in the image, its part (one is `runtime`) and its path
            in the build cache.
        library: whether a library was linked that is not among the objects.
    """
    objects = _Objects(linked)
    everything = objects.reachable()
    context = sum(size for s, size in objects.sizes.items() if s[1] == _CONTEXT)
    parts = {}
    for part in dict.fromkeys(objects.owners.values()):
        if part in (RUNTIME, "harness"):
            continue
        own = {s for s in everything - objects.reachable(without=part) if _kind(s[1])}
        parts[part] = PartMemory(
            flash_bytes=sum(objects.sizes[s] for s in own if _kind(s[1]) in FLASH),
            ram_bytes=sum(objects.sizes[s] for s in own if _kind(s[1]) in RAM)
            + (context if part == PRIMITIVE else 0),
            helpers=tuple(sorted(name for obj, name in own if objects.owners[obj] == RUNTIME)),
        )
    with image.open("rb") as stream:
        elf = ELFFile(stream)
        sizes = {s.name: s["sh_size"] for s in elf.iter_sections()}
    total_flash = sum(size for name, size in sizes.items() if _kind(name) in FLASH)
    total_ram = sum(sizes.get(name, 0) for name in RAM)
    known = sum(objects.sizes[s] for s in everything if _kind(s[1]) in FLASH)
    in_library = total_flash - known if library else 0
    return Attribution(parts, context, total_flash, total_ram, in_library)


def total(image: BuiltImage) -> Difference:
    """Return the flash and RAM of an image.

    Raises:
        InputError: the image is a program for this machine.
    """
    found = _attribution(image.path)
    return Difference(found.total_flash_bytes, found.total_ram_bytes)


def difference(image: BuiltImage, without: BuiltImage) -> Difference:
    """Return an image's memory minus that of the same image without a part: the part's price.

    Raises:
        InputError: an image is a program for this machine.
    """
    with_part, rest = _attribution(image.path), _attribution(without.path)
    return _difference(with_part, rest)


def _difference(image: Attribution, without: Attribution) -> Difference:
    return Difference(
        flash_bytes=image.total_flash_bytes - without.total_flash_bytes,
        ram_bytes=image.total_ram_bytes - without.total_ram_bytes,
    )


def _attribution(image: Path) -> Attribution:
    if not (image.parent / "memory.json").exists():
        raise InputError("memory is not attributed in a program for this machine", str(image))
    return Attribution.load(image.parent)


def measure(built: BuiltImage) -> Memory:
    """Return the memory of an image's primitive.

    Raises:
        InputError: the image is a program for this machine, or has no primitive.
    """
    if built.stand_in is None:
        raise InputError("memory is not attributed in a program for this machine", str(built.path))
    image = _attribution(built.path)
    stand_in = _attribution(built.stand_in)
    wired = _difference(image, stand_in)
    own, replaced = image.parts[PRIMITIVE], stand_in.parts[PRIMITIVE]
    return Memory(
        flash_bytes=own.flash_bytes + image.library_bytes - stand_in.library_bytes,
        ram_bytes=own.ram_bytes,
        flash_wiring_bytes=wired.flash_bytes + replaced.flash_bytes,
        ram_wiring_bytes=wired.ram_bytes + replaced.ram_bytes,
        context_bytes=image.context_bytes,
        helpers=own.helpers,
    )
