"""Find the source lines of an image's instructions, from its DWARF or from a twin built with -g."""

import json
import posixpath
import re
import shutil
import tempfile
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from joulemark._engine import Image
from joulemark.errors import BuildError, InputError, ToolError
from joulemark.images import cache, toolchain
from joulemark.images.sources import Sources
from joulemark.project import ROOT, sources

_NEEDED = "compile it with -g, and do not strip it"
_LINES = "-g1"
"""Line numbers alone: with -g, clang 19 makes other code of some sources."""


@dataclass(frozen=True)
class Line:
    """A line of a source file."""

    file: Path
    """Absolute path, or the path in the debug information if there is no such file here."""
    number: int


class Lines:
    """The source line of each instruction.

    Args:
        rows: ascending addresses at which lines begin; None if no line follows.
    """

    def __init__(self, rows: list[tuple[int, Line | None]]) -> None:
        self._starts = [start for start, _ in rows]
        self._lines = [line for _, line in rows]

    def __getitem__(self, address: int) -> Line | None:
        """Return the line of an instruction, or None if it is not known."""
        index = bisect_right(self._starts, address) - 1
        return self._lines[index] if index >= 0 else None

    def ranges(self) -> Iterator[tuple[int, int, Line]]:
        """Yield the code of each line: its first address, the one behind it, and the line."""
        for (start, end), line in zip(pairwise(self._starts), self._lines, strict=False):
            if line is not None:
                yield start, end, line


def commands_of(path: Path) -> Path:
    """Return the file with the commands that built one of our images."""
    return path.parent / "commands.json"


def is_ours(path: Path) -> bool:
    """Return whether an ELF file is one of our images, which can be compiled again with lines."""
    return commands_of(path).is_file()


def lines_of(path: Path, saying: re.Pattern[str] | None = None) -> Lines:
    """Return the lines of an ELF file; for one of our images, those of a twin with debug info.

    Args:
        path: the ELF file.
        saying: of our images, only lines of sources that have such a text, or include it.

    Raises:
        InputError: the file has no debug information, or the sources have changed.
        ToolError: a compiler that built the image is missing.
    """
    found = None
    # Debug information in one of our images comes from libraries alone.
    if not is_ours(path):
        found = _read(path)
    else:
        with tempfile.TemporaryDirectory(prefix="joulemark-") as folder:
            found = _read(_twin(path, Path(folder), saying))
        if found is None and saying is not None:
            return Lines([])
    if found is None:
        raise InputError("has no debug information", str(path), _NEEDED)
    return found


def _twin(path: Path, folder: Path, saying: re.Pattern[str] | None) -> Path:
    """Rebuild one of our images with debug information; its code must be the same to the byte."""
    *compiled, link = json.loads(commands_of(path).read_text(encoding="utf-8"))
    names = [word for word in link if re.fullmatch(r"\d\d-.+\.o", word)]
    for script in path.parent.glob("*.ld"):
        shutil.copy(script, folder)
    found = Sources()
    try:
        for command, name in zip(compiled, names, strict=True):
            shutil.copyfile(_with_lines(command, found, saying), folder / name)
        toolchain.run(link, "linking", folder)
    except OSError as error:
        raise ToolError(f"cannot be run: {error.strerror}", str(error.filename)) from error
    except BuildError as error:
        what = f"the sources are not those of the image: {error.what}"
        raise InputError(what, str(path), "build it again with `joulemark run`") from error
    twin = folder / "image.elf"
    if Image.load(twin).digest != Image.load(path).digest:
        what = "its sources have changed since, or its compiler makes other code with line numbers"
        raise InputError(what, str(path), "build it again with `joulemark run`")
    return twin


def _with_lines(command: list[str], found: Sources, saying: re.Pattern[str] | None) -> Path:
    """Compile a source of an image with debug information; images share such objects."""
    at = command.index("-o")
    made, without = command[:at], ROOT / command[at + 1]
    source = made[made.index("-c") + 1]
    includes = tuple(ROOT / word[2:] for word in made if word.startswith("-I"))
    if saying and without.is_file() and not found.say(ROOT / source, includes, saying):
        return without
    contents = [word for pair in found.closure(ROOT / source, includes) for word in pair]
    key = cache.digest([_LINES, toolchain.version(made[0]), *made, *contents])
    with cache.entry("objects", key) as (folder, work):
        if work is not None:
            output = cache.relative(work / "with-lines.o", ROOT)
            toolchain.run([*made, _LINES, "-o", output], f"compiling {source}")
    return folder / "with-lines.o"


def compiled_lines(path: Path) -> Lines | None:
    """Return the lines of an ELF file with its sources where they were compiled.

    That is the same on every machine. Of several lines at an address, the first is kept: that of
    the function that begins there, before those of functions inlined into it. None if the file has
    no debug information.
    """
    return _read(path, there=True)


@dataclass(frozen=True)
class Named:
    """What an ELF file says of the symbols of one name."""

    is_function: bool
    is_variable: bool
    largest_bytes: int
    """Size of the largest variable of the name; 0 if it is not known."""
    others: tuple[str, ...] = ()
    """Where static namesakes are, each with its source file, if no one symbol is meant."""


def named(path: Path, name: str) -> Named:
    """Return what an ELF file says of the symbols of a name; namesakes may be both."""
    from elftools.elf.elffile import ELFFile

    kinds, sizes, source = [], [0], ""
    places: dict[int, str] = {}
    with suppress(*unreadable()), path.open("rb") as file:
        table: Any = ELFFile(file).get_section_by_name(".symtab")
        for one in () if table is None else table.iter_symbols():
            if one["st_info"]["type"] == "STT_FILE":
                source = one.name
            elif one.name == name:
                kinds.append(one["st_info"]["type"])
                sizes += [one["st_size"]] if kinds[-1] == "STT_OBJECT" else []
                is_static = one["st_info"]["bind"] == "STB_LOCAL"
                # The lowest bit of a Thumb function's symbol is not part of its address.
                at = one["st_value"] & (~1 if kinds[-1] == "STT_FUNC" else ~0)
                places[at] = source if is_static else ""
    others = [f"{at:#x} ({source})" for at, source in sorted(places.items())]
    is_one = len(places) < 2 or "" in places.values()
    kind = ("STT_FUNC" in kinds, "STT_OBJECT" in kinds, max(sizes))
    return Named(*kind, () if is_one else tuple(others))


def unreadable() -> tuple[type[Exception], ...]:
    """Return what reading an ELF file with damaged or unknown debug information raises."""
    from elftools.common.exceptions import DWARFError, ELFError
    from elftools.construct import ConstructError

    # pyelftools looks up what it reads in tables, and asserts what it expects.
    of_tables = (LookupError, AssertionError, AttributeError, TypeError, ValueError, OverflowError)
    return (OSError, ELFError, DWARFError, ConstructError, MemoryError, *of_tables)


def _read(path: Path, *, there: bool = False) -> Lines | None:
    from elftools.elf.elffile import ELFFile

    rows: dict[int, Line | None] = {}
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            if not elf.has_dwarf_info():
                return None
            dwarf = elf.get_dwarf_info()
            for unit in dwarf.iter_CUs():
                program = dwarf.line_program_for_CU(unit)
                if program is not None:
                    _add(rows, program, unit.get_top_DIE().attributes, there)
    except unreadable():
        return None
    return Lines(sorted(rows.items(), key=lambda row: row[0])) if rows else None


def _add(rows: dict[int, Line | None], program: Any, of_unit: Any, there: bool) -> None:
    """Add the line table of a compilation unit (DWARF 5, section 6.2)."""
    header = program.header
    made_in = of_unit["DW_AT_comp_dir"].value.decode() if "DW_AT_comp_dir" in of_unit else "."
    # Version 5 counts files and folders from 0, and folder 0 is the compilation directory.
    base = 0 if header["version"] >= 5 else 1
    folders = [folder.decode() for folder in header["include_directory"]]
    if base:
        folders.insert(0, made_in)
    files: dict[int, Path] = {}
    place = _there if there else _here
    begins, is_kept = True, True
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if begins:
            # Linkers leave the lines of functions that they discard, at 0, where no code is.
            is_kept = state.address != 0
        begins = bool(state.end_sequence)
        if not is_kept:
            continue
        if state.end_sequence:
            rows.setdefault(state.address, None)
            continue
        if state.file not in files:
            named = header["file_entry"][state.file - base]
            files[state.file] = place(made_in, folders[named["dir_index"]], named["name"].decode())
        if not there or rows.get(state.address) is None:
            rows[state.address] = Line(files[state.file], state.line) if state.line else None


def _there(made_in: str, folder: str, name: str) -> Path:
    """Return a source file's path where it was compiled."""
    return Path(posixpath.normpath(posixpath.join(made_in, folder, name)))


def _here(made_in: str, folder: str, name: str) -> Path:
    """Locate a source file where the compiler found it, or in the project's tree or a user's."""
    for place in (Path(made_in), ROOT, *sources()):
        path = place / folder / name
        if path.is_file():
            return path.resolve()
    return Path(folder) / name
