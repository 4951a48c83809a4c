"""Values derived from a secret that the code declares public (`crypto_public`).

The first trial's values are kept. Each later trial gets them at the same declarations, so that what
depends on them is equal in all trials, and what still differs depends on a secret.
"""

from bisect import bisect_right
from dataclasses import dataclass

from joulemark._engine import EngineError, Image, Machine
from joulemark.catalogue import instruction_sets
from joulemark.errors import InputError
from joulemark.words import counted

FUNCTION = "crypto_public"


@dataclass(frozen=True)
class Declared:
    """A declaration that a run came by."""

    function: str
    """The function that declares it."""
    length: int
    times: int = 1
    """How often a run declared so."""

    def __str__(self) -> str:
        often = f", {self.times} times" if self.times > 1 else ""
        return f"{counted(self.length, 'byte')} in {self.function}{often}"


class Declarations:
    """Watches the declarations of an image.

    Args:
        image: the image.
        core: the core that it is for.
    """

    def __init__(self, image: Image, core: str) -> None:
        symbol = image.symbols.get(FUNCTION)
        self.address = None if symbol is None else symbol & ~1
        """The address to stop at; None if the image declares nothing."""
        self._calls = instruction_sets.calls(core)
        self._starts = sorted((address & ~1, name) for name, address in image.symbols.items())
        self._first: list[bytes] | None = None
        self._now: list[bytes] = []
        self._found: dict[tuple[str, int], int] = {}

    def begin(self) -> None:
        """Begin a trial; the first one's values are those of all others."""
        if self._now and self._first is None:
            self._first = self._now
        self._now = []

    def meet(self, machine: Machine) -> None:
        """Keep the value that is declared, or put the first trial's in its place.

        Call it when the machine stopped at `address`.
        """
        registers = {name.upper(): value for name, value in machine.registers.items()}
        address, length = (registers[name] for name in self._calls.arguments[:2])
        number = len(self._now)
        self._now.append(machine.read_memory(address, length))
        if self._first is None:
            place = (self._caller(machine, registers), length)
            self._found[place] = self._found.get(place, 0) + 1
        elif number < len(self._first) and len(self._first[number]) == length:
            machine.write_memory(address, self._first[number])

    def release(self, machine: Machine) -> None:
        """Note a declaration, and follow the declared value as a secret no more.

        Call it when the machine stopped at `address`.
        """
        registers = {name.upper(): value for name, value in machine.registers.items()}
        address, length = (registers[name] for name in self._calls.arguments[:2])
        place = (self._caller(machine, registers), length)
        self._found[place] = self._found.get(place, 0) + 1
        try:
            machine.declare_public(address, length)
        except EngineError as error:
            what = f"{counted(length, 'byte')} at {address:#x} are not all memory"
            mend = "declare what is there"
            raise InputError(what, f"{FUNCTION}() in {place[0]}", mend) from error

    def _caller(self, machine: Machine, registers: dict[str, int]) -> str:
        if self._calls.returns_to is None:
            back = int.from_bytes(machine.read_memory(registers["SP"], 2), "little")
        else:
            back = registers[self._calls.returns_to]
        index = bisect_right(self._starts, (back & ~1, "\uffff")) - 1
        return self._starts[index][1] if index >= 0 else f"{back:#x}"

    @property
    def found(self) -> tuple[Declared, ...]:
        """The declarations of the first trial, by function."""
        return tuple(Declared(name, size, n) for (name, size), n in sorted(self._found.items()))
