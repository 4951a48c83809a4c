"""Find the source lines of an image's instructions, from its DWARF or from a twin built with -g."""

import json
import re
import shutil
import subprocess
import tempfile
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from joulemark._engine import Image
from joulemark.errors import InputError, ToolError
from joulemark.project import ROOT, sources

_NEEDED = "compile it with -g, and do not strip it"


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


def lines_of(path: Path) -> Lines:
    """Return the lines of an ELF file; for one of our images, those of a twin with debug info.

    Raises:
        InputError: the file has no debug information, or the sources have changed.
        ToolError: a compiler that built the image is missing.
    """
    found = None
    # Debug information in one of our images comes from libraries alone.
    if not (path.parent / "commands.json").is_file():
        found = _read(path)
    else:
        with tempfile.TemporaryDirectory(prefix="joulemark-") as folder:
            found = _read(_twin(path, Path(folder)))
    if found is None:
        raise InputError("has no debug information", str(path), _NEEDED)
    return found


def _twin(path: Path, folder: Path) -> Path:
    """Rebuild one of our images with debug information; its code must be the same to the byte."""
    *compiled, link = json.loads((path.parent / "commands.json").read_text(encoding="utf-8"))
    names = [word for word in link if re.fullmatch(r"\d\d-.+\.o", word)]
    for script in path.parent.glob("*.ld"):
        shutil.copy(script, folder)
    commands = [
        ([*command[: command.index("-o")], "-g", "-o", str(folder / name)], ROOT)
        for command, name in zip(compiled, names, strict=True)
    ]
    for command, where in (*commands, (link, folder)):
        try:
            done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
        except OSError as error:
            raise ToolError(f"cannot be run: {error.strerror}", command[0]) from error
        if done.returncode != 0:
            what = f"the sources are not those of the image: {done.stderr.strip()[:200]}"
            raise InputError(what, str(path), "build it again with `joulemark run`")
    twin = folder / "image.elf"
    if Image.load(twin).digest != Image.load(path).digest:
        what = "the sources have changed since it was built"
        raise InputError(what, str(path), "build it again with `joulemark run`")
    return twin


def _read(path: Path) -> Lines | None:
    from elftools.common.exceptions import ELFError
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
                    _add(rows, program, unit.get_top_DIE().attributes)
    except (OSError, ELFError, UnicodeDecodeError):
        return None
    return Lines(sorted(rows.items(), key=lambda row: row[0])) if rows else None


def _add(rows: dict[int, Line | None], program: Any, of_unit: Any) -> None:
    """Add the line table of a compilation unit (DWARF 5, section 6.2)."""
    header = program.header
    made_in = of_unit["DW_AT_comp_dir"].value.decode() if "DW_AT_comp_dir" in of_unit else "."
    # Version 5 counts files and folders from 0, and folder 0 is the compilation directory.
    base = 0 if header["version"] >= 5 else 1
    folders = [folder.decode() for folder in header["include_directory"]]
    if base:
        folders.insert(0, made_in)
    files: dict[int, Path] = {}
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if state.end_sequence:
            rows.setdefault(state.address, None)
            continue
        if state.file not in files:
            named = header["file_entry"][state.file - base]
            files[state.file] = _here(made_in, folders[named["dir_index"]], named["name"].decode())
        rows[state.address] = Line(files[state.file], state.line) if state.line else None


def _here(made_in: str, folder: str, name: str) -> Path:
    """Locate a source file where the compiler found it, or in the project's tree or a user's."""
    for place in (Path(made_in), ROOT, *sources()):
        path = place / folder / name
        if path.is_file():
            return path.resolve()
    return Path(folder) / name
