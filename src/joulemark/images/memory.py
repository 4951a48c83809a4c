"""What a part takes of an image's flash and RAM, found in two ways that must agree.

By sections: its own sections that are in the image, and those of the runtime (`memcpy`, multiply,
divide, ...) that nothing but this part refers to; and a primitive's context, which the harness
keeps for it. By wiring (daidone-2014, section IV-A): the image less the same image without the
part; a primitive, which the harness cannot do without, is replaced by functions that do nothing,
and what those take is added.
Initialised data counts as flash and as RAM. The two may differ by the padding at a section's end,
one byte each.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from joulemark.errors import InputError

if TYPE_CHECKING:
    from joulemark.images.program import BuiltImage

FLASH = (".text", ".rodata", ".data")
RAM = (".data", ".bss")
_CONTEXT = ".bss.primitive_context"
_ROOT = ".text.start"
PRIMITIVE = "primitive"
"""The part that the harness is around."""
RUNTIME = "runtime"

Section = tuple[str, str]
"""Object and section name."""


@dataclass(frozen=True)
class Memory:
    """Bytes that a primitive takes."""

    flash_bytes: int
    """By sections: code, constants and initial values."""
    ram_bytes: int
    """By sections: its context and its variables; its stack is not among them."""
    flash_wiring_bytes: int
    ram_wiring_bytes: int
    context_bytes: int
    helpers: tuple[str, ...]
    """Sections of the runtime that only the primitive needs."""


@dataclass(frozen=True)
class Difference:
    """What a program takes more than another."""

    flash_bytes: int
    ram_bytes: int


@dataclass(frozen=True)
class PartMemory:
    """Sections that are in an image for one of its parts."""

    flash_bytes: int
    ram_bytes: int
    helpers: tuple[str, ...]
    """Sections of the runtime that only this part needs."""


@dataclass(frozen=True)
class Attribution:
    """An image's sections, by which part they are there for."""

    parts: dict[str, PartMemory]
    context_bytes: int
    """Of the primitive, which the harness keeps for it; counted as the primitive's."""
    total_flash_bytes: int
    total_ram_bytes: int
    library_bytes: int
    """Flash that is in no object: GCC's own runtime, from its library."""

    def save(self, folder: Path) -> None:
        """Keep it beside the image."""
        (folder / "memory.json").write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, folder: Path) -> "Attribution":
        """Read what was kept."""
        values = json.loads((folder / "memory.json").read_text())
        parts = {
            name: PartMemory(**{**part, "helpers": tuple(part["helpers"])})
            for name, part in values["parts"].items()
        }
        return cls(**{**values, "parts": parts})


def _kind(name: str) -> str:
    """Output section that an input section goes to."""
    return next((k for k in (*FLASH, ".bss") if name == k or name.startswith(f"{k}.")), "")


class _Objects:
    """Sections of all objects of an image: sizes, and which refers to which."""

    def __init__(self, folder: Path, owners: Mapping[str, str]) -> None:
        self.owners = owners
        self.sizes: dict[Section, int] = {}
        self._needs: dict[Section, set[str | Section]] = {}
        self._defined: dict[str, Section] = {}
        for name in owners:
            with (folder / name).open("rb") as stream:
                self._read(name, ELFFile(stream))

    def _read(self, name: str, elf: ELFFile) -> None:
        sections = list(elf.iter_sections())
        for each in sections:
            self.sizes[name, each.name] = each["sh_size"]
            self._needs.setdefault((name, each.name), set())
        table = next(s for s in sections if isinstance(s, SymbolTableSection))
        symbols: list[str | Section] = []
        for symbol in table.iter_symbols():
            index = symbol["st_shndx"]
            if not isinstance(index, int):
                symbols.append(symbol.name)
                continue
            place: Section = (name, sections[index].name)
            symbols.append(place)
            if symbol["st_info"]["bind"] != "STB_LOCAL":
                self._defined[symbol.name] = place
        for each in sections:
            if isinstance(each, RelocationSection):
                target = (name, sections[each["sh_info"]].name)
                needs = {symbols[r["r_info_sym"]] for r in each.iter_relocations()}
                self._needs[target] |= needs

    def reachable(self, without: str | None = None) -> set[Section]:
        """Sections that the image needs, all of them or without those of one part's objects."""
        found: set[Section] = set()
        waiting = [s for s in self.sizes if s[1] == _ROOT]
        while waiting:
            section = waiting.pop()
            if section in found or self.owners[section[0]] == without:
                continue
            found.add(section)
            for need in self._needs[section]:
                target = self._defined.get(need) if isinstance(need, str) else need
                if target is not None:
                    waiting.append(target)
        return found


def attribute(
    folder: Path, image: Path, owners: Mapping[str, str], *, library: bool
) -> Attribution:
    """Find what in an image is there for which of its parts.

    Args:
        folder: where the objects are.
        image: the linked image.
        owners: names of the objects' parts, by the objects' names; one is `runtime`.
        library: whether a library was linked that the objects do not show.
    """
    objects = _Objects(folder, owners)
    everything = objects.reachable()
    context = sum(size for s, size in objects.sizes.items() if s[1] == _CONTEXT)
    parts = {}
    for part in dict.fromkeys(owners.values()):
        if part in (RUNTIME, "harness"):
            continue
        own = {s for s in everything - objects.reachable(without=part) if _kind(s[1])}
        parts[part] = PartMemory(
            flash_bytes=sum(objects.sizes[s] for s in own if _kind(s[1]) in FLASH),
            ram_bytes=sum(objects.sizes[s] for s in own if _kind(s[1]) in RAM)
            + (context if part == PRIMITIVE else 0),
            helpers=tuple(sorted(name for obj, name in own if owners[obj] == RUNTIME)),
        )
    with image.open("rb") as stream:
        elf = ELFFile(stream)
        sizes = {s.name: s["sh_size"] for s in elf.iter_sections()}
    total_flash = sum(sizes.get(name, 0) for name in FLASH)
    total_ram = sum(sizes.get(name, 0) for name in RAM)
    known = sum(objects.sizes[s] for s in everything if _kind(s[1]) in FLASH)
    in_library = total_flash - known if library else 0
    return Attribution(parts, context, total_flash, total_ram, in_library)


def difference(image: "BuiltImage", without: "BuiltImage") -> Difference:
    """What an image takes more than the same one without a part: the part's price.

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


def measure(built: "BuiltImage") -> Memory:
    """Find what an image's primitive takes.

    Raises:
        InputError: the image is a program for this machine, or around no primitive.
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
