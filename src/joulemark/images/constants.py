"""Patch constants in an image, as one would in a flash page of settings."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from joulemark.errors import InputError
from joulemark.images import cache
from joulemark.images.built import BuiltImage


def with_constants(image: BuiltImage, values: Mapping[str, bytes]) -> BuiltImage:
    """Return an image with other bytes in objects that its code rereads (`const volatile`).

    Building it anew would give the same bytes but take much longer. The image's description of
    itself is unchanged.

    Raises:
        InputError: the image has no such object, or its size differs.
    """
    parts = [str(image.path.parent), *(part for item in sorted(values.items()) for part in item)]
    with cache.entry("changed", cache.digest(parts)) as (folder, work):
        if work is not None:
            data = bytearray(image.path.read_bytes())
            for name, value in values.items():
                at = _place(image.path, name, len(value))
                data[at : at + len(value)] = value
            (work / "image.elf").write_bytes(data)
    return replace(image, path=folder / "image.elf")


def _place(path: Path, name: str, size: int) -> int:
    """Return an object's offset in an ELF file."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        table = elf.get_section_by_name(".symtab")
        found = table.get_symbol_by_name(name) if isinstance(table, SymbolTableSection) else None
        if not found:
            raise InputError(f"no object {name}", str(path))
        if len(found) > 1 or found[0]["st_size"] != size:
            there = " and ".join(str(symbol["st_size"]) for symbol in found)
            raise InputError(f"{name} has {there} bytes, not {size}", str(path))
        section = elf.get_section(found[0]["st_shndx"])
        return int(section["sh_offset"] + found[0]["st_value"] - section["sh_addr"])
