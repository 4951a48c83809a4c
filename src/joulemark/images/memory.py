"""What a primitive takes of an image's flash and RAM, found in two ways that must agree.

By sections: its own sections that are in the image, and those of the runtime (`memcpy`, multiply,
divide, ...) that nothing but the primitive refers to; and its context, which the harness keeps for
it. By wiring: the image less the same image around functions that do nothing, plus what those take.
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
class Attribution:
    """An image's sections, by whom they are there for."""

    flash_bytes: int
    ram_bytes: int
    context_bytes: int
    helpers: tuple[str, ...]
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
        return cls(**{**values, "helpers": tuple(values["helpers"])})


def _kind(name: str) -> str:
    """Output section that an input section goes to."""
    return next((k for k in (*FLASH, ".bss") if name == k or name.startswith(f"{k}.")), "")


class _Objects:
    """Sections of all objects of an image: sizes, and which refers to which."""

    def __init__(self, folder: Path, roles: Mapping[str, str]) -> None:
        self.roles = roles
        self.sizes: dict[Section, int] = {}
        self._needs: dict[Section, set[str | Section]] = {}
        self._defined: dict[str, Section] = {}
        for name in roles:
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
        """Sections that the image needs, all of them or without those of objects of one role."""
        found: set[Section] = set()
        waiting = [s for s in self.sizes if s[1] == _ROOT]
        while waiting:
            section = waiting.pop()
            if section in found or self.roles[section[0]] == without:
                continue
            found.add(section)
            for need in self._needs[section]:
                target = self._defined.get(need) if isinstance(need, str) else need
                if target is not None:
                    waiting.append(target)
        return found


def attribute(folder: Path, image: Path, roles: Mapping[str, str], *, library: bool) -> Attribution:
    """Find what in an image is there for the primitive.

    Args:
        folder: where the objects are.
        image: the linked image.
        roles: of the objects by their names: `runtime`, `harness` or `primitive`.
        library: whether a library was linked that the objects do not show.
    """
    objects = _Objects(folder, roles)
    everything = objects.reachable()
    rest = objects.reachable(without="primitive")
    own = {s for s in everything - rest if _kind(s[1])}
    context = sum(size for s, size in objects.sizes.items() if s[1] == _CONTEXT)
    flash = sum(objects.sizes[s] for s in own if _kind(s[1]) in FLASH)
    ram = sum(objects.sizes[s] for s in own if _kind(s[1]) in RAM)
    helpers = sorted(name for obj, name in own if roles[obj] == "runtime")
    with image.open("rb") as stream:
        elf = ELFFile(stream)
        sizes = {s.name: s["sh_size"] for s in elf.iter_sections()}
    total_flash = sum(sizes.get(name, 0) for name in FLASH)
    total_ram = sum(sizes.get(name, 0) for name in RAM)
    known = sum(objects.sizes[s] for s in everything if _kind(s[1]) in FLASH)
    in_library = total_flash - known if library else 0
    return Attribution(
        flash, ram + context, context, tuple(helpers), total_flash, total_ram, in_library
    )


def measure(built: "BuiltImage") -> Memory:
    """Find what an image's primitive takes.

    Raises:
        InputError: the image is a program for this machine.
    """
    if built.wired is None:
        raise InputError("memory is not attributed in a program for this machine", str(built.path))
    image = Attribution.load(built.path.parent)
    wired = Attribution.load(built.wired.parent)
    return Memory(
        flash_bytes=image.flash_bytes + image.library_bytes - wired.library_bytes,
        ram_bytes=image.ram_bytes,
        flash_wiring_bytes=image.total_flash_bytes - wired.total_flash_bytes + wired.flash_bytes,
        ram_wiring_bytes=image.total_ram_bytes - wired.total_ram_bytes + wired.ram_bytes,
        context_bytes=image.context_bytes,
        helpers=image.helpers,
    )
