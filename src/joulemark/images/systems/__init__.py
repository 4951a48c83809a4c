"""Find the threads of an operating system in a run's memory, by its lists and the image's DWARF.

Each module is a system: `LISTS`, the variable by which it is known, `UNITS`, the ends of the names
of the sources that have its structures, and `threads(memory)`.
"""

import importlib
import pkgutil
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from joulemark.errors import JoulemarkError
from joulemark.images.lines import unreadable

MOST_THREADS = 1024
"""More are taken for a list that the program has overwritten."""


class UnlistedError(JoulemarkError):
    """What is asked for is not in the image or in memory; the message says what is missing."""


class Thread(NamedTuple):
    """A thread that is in its kernel's lists."""

    name: str
    stack_start: int
    """Lowest address of its stack."""
    stack_bytes: int
    untouched_bytes: int
    """From there on, what still holds what the kernel filled it with; 0 if it fills no stacks."""

    def used_bytes(self, stack_pointers: Sequence[int]) -> int:
        """Return the most of its stack that was used.

        A kernel that saves a thread's registers may write below the stack pointer without moving
        it, and a filled stack may have been left with what it was filled with. So the larger holds.

        Args:
            stack_pointers: values that stack pointers had, ascending.
        """
        end = self.stack_start + self.stack_bytes
        # At its lowest address it may as well be at the end of the stack below, which is empty.
        index = bisect_right(stack_pointers, self.stack_start)
        lowest = stack_pointers[index] if index < len(stack_pointers) else end
        filled = self.stack_bytes - self.untouched_bytes if self.untouched_bytes else 0
        return max(0, end - lowest, filled)


@dataclass(frozen=True)
class Threads:
    """What a kernel's lists say."""

    system: str
    threads: Sequence[Thread]
    notes: Sequence[str]
    """What they do not say."""


class Member(NamedTuple):
    """A member of a structure."""

    offset: int
    size: int


class Symbol(NamedTuple):
    """A variable."""

    address: int
    size: int


class Memory:
    """Variables and structures of an image, and the memory that it left.

    Args:
        path: the ELF file.
        read: returns bytes of memory from an address on.
    """

    def __init__(self, path: Path, read: Callable[[int, int], bytes]) -> None:
        from elftools.elf.elffile import ELFFile

        self._read = read
        self._file = path.open("rb")
        self._elf = ELFFile(self._file)
        self._units: Sequence[str] = ()
        self._structures: dict[str, Mapping[str, Member]] = {}

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @cached_property
    def symbols(self) -> Mapping[str, Symbol]:
        """Variables by name."""
        table: Any = self._elf.get_section_by_name(".symtab")
        if table is None:
            return {}
        return {
            one.name: Symbol(one["st_value"], one["st_size"])
            for one in table.iter_symbols()
            if one["st_info"]["type"] == "STT_OBJECT"
        }

    def address(self, name: str) -> int:
        """Return a variable's address.

        Raises:
            UnlistedError: there is none.
        """
        if name not in self.symbols:
            raise UnlistedError(f"has no variable {name}")
        return self.symbols[name].address

    def look_in(self, units: Sequence[str]) -> None:
        """Look for structures in sources whose names end so: parsing all takes minutes."""
        self._units = units

    def structure(self, *names: str) -> Mapping[str, Member]:
        """Return the members of a structure that has one of these names; `a.b` is nested.

        Raises:
            UnlistedError: the debug information has none.
        """
        for name in names:
            if found := self._structures.get(name) or self._find(name):
                self._structures[name] = found
                return found
        raise UnlistedError(f"has no debug information of struct {names[0]}; compile it with -g")

    def member(self, of: Sequence[str], name: str, why: str) -> Member:
        """Return a member of a structure.

        Args:
            of: names that the structure has had.
            name: the member.
            why: what an image lacks that does not have it.

        Raises:
            UnlistedError: it is not there.
        """
        if (found := self.structure(*of).get(name)) is None:
            raise UnlistedError(why)
        return found

    def _find(self, name: str) -> Mapping[str, Member] | None:
        dwarf: Any = self._elf.get_dwarf_info() if self._elf.has_dwarf_info() else None
        for unit in dwarf.iter_CUs() if dwarf is not None else ():
            top = unit.get_top_DIE()
            named = top.attributes.get("DW_AT_name")
            if named is None or not named.value.decode().endswith(tuple(self._units)):
                continue
            for entry in top.iter_children():
                known = entry.attributes.get("DW_AT_name")
                is_it = entry.tag == "DW_TAG_structure_type" and known is not None
                if is_it and known.value == name.encode() and entry.has_children:
                    return dict(_members(entry, "", 0))
        return None

    def read(self, address: int, length: int) -> bytes:
        """Return bytes of memory.

        Raises:
            UnlistedError: it is no memory.
        """
        from joulemark._engine import EngineError

        try:
            return self._read(address, length)
        except (EngineError, OverflowError) as error:
            raise UnlistedError(f"has a list that leads to {address:#x}, no memory") from error

    def number(self, address: int, size: int = 4) -> int:
        """Return a little-endian number in memory."""
        return int.from_bytes(self.read(address, size), "little")

    def text(self, address: int, most: int = 32) -> str:
        """Return a text in memory that ends with a zero, or after `most` bytes."""
        found = b""
        while len(found) < most and (one := self.read(address + len(found), 1)) != b"\0":
            found += one
        return found.decode("ascii", errors="replace")

    def filled(self, start: int, length: int, word: int | None) -> int:
        """Return how many bytes from an address on hold a word over and over.

        Args:
            start: the address.
            length: how many there may be.
            word: the word; None if each word holds its own address.
        """
        data = self.read(start, length & ~3)
        for at in range(0, len(data), 4):
            if int.from_bytes(data[at : at + 4], "little") != (
                start + at if word is None else word
            ):
                return at
        return len(data)


def _members(structure: Any, before: str, base: int) -> Iterator[tuple[str, Member]]:
    """Yield the members of a structure, and those of structures in it."""
    for entry in structure.iter_children():
        if entry.tag != "DW_TAG_member":
            continue
        offset = entry.attributes.get("DW_AT_data_member_location")
        at = base + (offset.value if offset is not None else 0)
        kind = _plain(entry)
        named = entry.attributes.get("DW_AT_name")
        if named is not None:
            yield before + named.value.decode(), Member(at, _size(kind))
        if kind is not None and kind.tag in {"DW_TAG_structure_type", "DW_TAG_union_type"}:
            # Members of a nameless structure are as those of the one around it.
            inner = before if named is None else f"{before}{named.value.decode()}."
            yield from _members(kind, inner, at)


def _plain(entry: Any) -> Any:
    """Return an entry's type without typedefs and qualifiers; None if it has none."""
    while "DW_AT_type" in entry.attributes:
        entry = entry.get_DIE_from_attribute("DW_AT_type")
        if entry.tag not in {"DW_TAG_typedef", "DW_TAG_volatile_type", "DW_TAG_const_type"}:
            return entry
    return None


def _size(kind: Any) -> int:
    if kind is None:
        return 0
    if kind.tag == "DW_TAG_array_type":
        bounds = (one.attributes for one in kind.iter_children())
        count = 1
        for one in bounds:
            if "DW_AT_count" in one:
                count *= one["DW_AT_count"].value
            elif "DW_AT_upper_bound" in one:
                count *= one["DW_AT_upper_bound"].value + 1
        return count * _size(_plain(kind))
    size = kind.attributes.get("DW_AT_byte_size")
    return int(size.value) if size is not None else 0


def threads_of(path: Path, read: Callable[[int, int], bytes]) -> Threads | None:
    """Return the threads in the lists of an image's kernel; None if it has no system known here.

    Args:
        path: the image.
        read: returns bytes of the memory that a run left, from an address on.
    """
    try:
        memory = Memory(path, read)
    except unreadable():
        return None
    try:
        for name in sorted(module.name for module in pkgutil.iter_modules(__path__)):
            system: Any = importlib.import_module(f"{__name__}.{name}")
            if system.LISTS in memory.symbols:
                memory.look_in(system.UNITS)
                return _listed(system, memory)
    except unreadable():
        return None
    finally:
        memory.close()
    return None


def _listed(system: Any, memory: Memory) -> Threads:
    found: list[Thread] = []
    notes: list[str] = []
    try:
        for one in system.threads(memory):
            if isinstance(one, Thread):
                found.append(one)
            else:
                notes.append(one)
            if len(found) > MOST_THREADS:
                raise UnlistedError("has a list of threads without an end")
    except UnlistedError as error:
        notes.append(f"stack per thread: the image {error.what}")
    except unreadable():
        notes.append("stack per thread: the image's debug information cannot be read")
    return Threads(system.NAME, found, notes)
