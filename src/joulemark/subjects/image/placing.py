"""Places an image's functions in its parts: kernel, network stack, cryptography and so on.

Rules of `parts.toml` say where a function belongs, by the path of its source in the debug
information or by its name; a user's rules come before them.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import translate
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from joulemark.catalogue import datafile
from joulemark.images.lines import compiled_lines

if TYPE_CHECKING:
    from joulemark._engine import FunctionCost

Part = Literal["idle", "cryptography", "network", "kernel", "application"]
OTHER = "other"
"""The part of what no rule places."""
IDLE = "idle"
"""The part of sleep, too."""
BUILT_IN = Path(__file__).with_name("parts.toml")
_UNPLACED_SHOWN = 5


class Rule(datafile.DataModel):
    """What belongs to a part: it suffices that one pattern matches."""

    part: Part
    files: list[str] = Field(default_factory=list)
    """Patterns of paths of sources."""
    functions: list[str] = Field(default_factory=list)
    """Patterns of functions' names."""
    beside_main: bool = False
    """What is in the folder of the source that defines `main`, unless an earlier rule places it."""

    @model_validator(mode="after")
    def _has_patterns(self) -> "Rule":
        if not self.files and not self.functions and not self.beside_main:
            raise ValueError("a rule needs files, functions or beside_main")
        return self

    @cached_property
    def _of_files(self) -> re.Pattern[str]:
        return _any_of(self.files)

    @cached_property
    def _of_functions(self) -> re.Pattern[str]:
        return _any_of(self.functions)

    def holds(self, file: str | None, function: str, home: str | None) -> bool:
        """Return whether a function belongs to the part.

        Args:
            file: path of its source, if known.
            function: its name.
            home: folder of the source that defines `main`, if known.
        """
        if file is not None:
            if self._of_files.match(file):
                return True
            if self.beside_main and home == str(PurePosixPath(file).parent):
                return True
        # Copies that a compiler makes have endings: `.part.0`, `.constprop.0`, `.isra.0`.
        return bool(self._of_functions.match(function.partition(".")[0]))


class Rules(datafile.DataModel):
    """A file of rules; the first that matches holds."""

    rule: list[Rule] = Field(min_length=1)


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)) or r"(?!)")


def rules_of(own: Path | None) -> tuple[Rule, ...]:
    """Return the rules: a user's, if any, before the built-in ones.

    Raises:
        InputError: the user's file is no file of rules.
    """
    first = datafile.read(own, Rules).rule if own is not None else []
    return (*first, *datafile.read(BUILT_IN, Rules).rule)


class Placing:
    """The parts of an image's functions.

    Args:
        path: the image.
        rules: the first that holds says the part.
        symbols: the image's symbols.
    """

    def __init__(self, path: Path, rules: Sequence[Rule], symbols: Mapping[str, int]) -> None:
        self._rules = rules
        self._used: set[int] = set()
        self._lines = compiled_lines(path)
        self._home = None
        if "main" in symbols and (file := self._file(symbols["main"] & ~1)) is not None:
            self._home = str(PurePosixPath(file).parent)

    def _file(self, address: int) -> str | None:
        line = self._lines[address] if self._lines is not None else None
        return None if line is None else line.file.as_posix()

    def of(self, name: str, address: int) -> str:
        """Return the part of a function."""
        file = self._file(address)
        for number, rule in enumerate(self._rules):
            if rule.holds(file, name, self._home):
                self._used.add(number)
                return rule.part
        return OTHER

    def unused(self) -> Iterator[str]:
        """Yield a note of each rule of a user's file that has placed nothing so far."""
        own = len(self._rules) - len(rules_of(None))
        for number in sorted(set(range(own)) - self._used):
            part = self._rules[number].part
            yield f"rule {number + 1} of --parts, {part}, places nothing that ran"


class ByPart:
    """Finds the part of an instruction, by the function that it is in.

    Args:
        functions: the functions that ran.
        placing: their parts.
    """

    def __init__(self, functions: Sequence["FunctionCost"], placing: Placing) -> None:
        known = sorted((one for one in functions if one.end), key=lambda one: one.address)
        self._starts = [one.address for one in known]
        self._ends = [one.end for one in known]
        self._parts = [placing.of(one.name, one.address) for one in known]
        self._all_cycles = sum(one.self_cycles for one in known)
        self._cycles: dict[str, int] = defaultdict(int)
        for one, part in zip(known, self._parts, strict=True):
            if part == OTHER:
                self._cycles[one.name] += one.self_cycles

    def __getitem__(self, address: int) -> str:
        """Return the part of the instruction at an address."""
        index = bisect_right(self._starts, address) - 1
        return self._parts[index] if index >= 0 and address < self._ends[index] else OTHER

    @property
    def note(self) -> str | None:
        """What no rule places, those that take the most cycles first; None if all are placed."""
        named = sorted(self._cycles, key=lambda name: (-self._cycles[name], name))
        if not named:
            return None
        more = len(named) - _UNPLACED_SHOWN
        shown = ", ".join(named[:_UNPLACED_SHOWN]) + (f" and {more} more" if more > 0 else "")
        share = 100 * sum(self._cycles.values()) / self._all_cycles if self._all_cycles else 0
        return (
            f"no rule places {shown}: they are the part {OTHER}, {share:.3g}% of the cycles; "
            "--parts FILE places them"
        )
