"""The kinds of primitives, as defined by firmware/primitives/KIND/kind.toml.

docs/adding-a-kind.md explains the file, docs/image-protocol.md the firmware's side of it.
"""

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from joulemark import project
from joulemark.catalogue import datafile
from joulemark.errors import InputError
from joulemark.oracle import Inputs, Output
from joulemark.project import FIRMWARE

SIZE = r"[a-z][a-z0-9_]*_(?:bytes|bits)"
_TERM = rf"(?:[1-9][0-9]*|(?:[1-9][0-9]*\*)?{SIZE})"
_ROOM = rf"^{_TERM}(?: \+ {_TERM})*$"
CASE_SIZES = ("message", "ad")
"""Sizes that belong to a case, not to a primitive."""
BUDGET_CYCLES = 200_000_000
"""Cycles after which an emulated image is stuck, where an operation's file says no other: 25 s at
8 MHz."""
CLEARED_SLOTS_MAX = 16
"""The harness keeps one bit of a 16-bit word for each."""

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
SizeName = Annotated[str, Field(pattern=f"^{SIZE}$")]
Room = Annotated[str, Field(pattern=_ROOM)]
Prototype = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]* \*?p_[a-z][a-z0-9_]*\([^()]+\)$")]


def _term(text: str, sizes: Mapping[str, int]) -> int:
    factor, _, name = text.rpartition("*")
    return int(text) if text.isdecimal() else int(factor or 1) * sizes.get(name, 0)


def _sum(text: str, sizes: Mapping[str, int]) -> int:
    return sum(_term(term.strip(), sizes) for term in text.split("+"))


def _same_names(value: Any) -> Any:
    """Expand a list to a table in which each slot's value has the slot's name."""
    return {name: name for name in value} if isinstance(value, list) else value


Wiring = Annotated[dict[Identifier, Identifier], BeforeValidator(_same_names)]


class Slot(datafile.DataModel):
    """A buffer of the image."""

    bytes: (
        Annotated[int, Field(ge=1, le=1 << 24)] | Room | Annotated[list[Room], Field(min_length=1)]
    )
    """A number, or what the variant needs: one of its sizes, a multiple, or a sum of such; the
    largest of several."""
    cleared: bool = False
    """The image clears it before each operation."""

    def room(self, sizes: Mapping[str, int]) -> int:
        """Return its bytes in the image of a variant with these sizes; at least one."""
        if isinstance(self.bytes, int):
            return self.bytes
        return max(1, *(_sum(each, sizes) for each in self.needs))

    @property
    def needs(self) -> list[str]:
        """What it must hold, each at a time; nothing where its bytes are a number."""
        if isinstance(self.bytes, int):
            return []
        return [self.bytes] if isinstance(self.bytes, str) else self.bytes


class Input(datafile.DataModel):
    """An input that is drawn at random and passed to the oracle."""

    size: str
    """`message` or `ad` (of the case), or a size of the primitive."""
    secret: bool = False
    """Drawn anew in each trial; otherwise the same in all trials."""


class Operation(datafile.DataModel):
    """An operation that an image executes on command."""

    takes: Wiring
    """Slots that are written before it, each with an input or a result of the oracle."""
    gives: Wiring
    """Slots that are compared after it, each with an input or a result of the oracle."""
    refuses: list[Identifier] = Field([])
    """Slots in which any changed bit makes the operation fail without releasing output."""
    sized: bool = False
    """Its cost depends on the message's length; otherwise it is measured once."""
    with_ad: bool = False
    """It takes associated data."""
    public: bool = False
    """It handles no secret, so nothing is claimed about its time."""
    cycles_max: int = Field(BUDGET_CYCLES, ge=1)
    """An emulated image that takes longer is stuck."""
    attempts: Identifier | None = None
    """What the oracle calls the number of attempts that it takes, four bytes: its time is a first
    attempt's and so much for each other one."""
    split: bool = False
    """It takes its message in pieces, whose lengths are in the slot `pieces`; it is not
    measured."""


class Service(datafile.DataModel):
    """What a user needs, and the operations that provide it once."""

    title: str
    operations: list[Name]
    with_ad: bool = False
    """The message has associated data."""


class Default(datafile.DataModel):
    """Defaults of a campaign: smaller for kinds whose operations take long."""

    message_bytes: Annotated[list[Annotated[int, Field(ge=0, le=0xFFFF)]], Field(min_length=1)]
    trials: Annotated[int, Field(ge=1)]


class KindFile(datafile.DataModel):
    """`kind.toml`."""

    title: str
    functions: Annotated[list[Prototype], Field(min_length=1)]
    """Functions that every primitive provides, written with the prefix `p`."""
    optional_functions: list[Prototype] = Field([])
    """Functions that some primitives provide, for compositions built over them."""
    constants: list[SizeName] = Field([])
    """Sizes that every variant states and its header defines as P_NAME."""
    sizes: list[SizeName] = Field([])
    """Further sizes that a variant may state."""
    main_operation: Name
    """Operation that is shown first."""
    whole_blocks: bool = False
    """Message lengths are multiples of `block_bytes`."""
    baseline: bool = False
    """Not a result: it measures the cost of an empty window."""
    on_request: bool = False
    """It is measured only if the kind or one of its primitives is named."""
    slot: dict[Identifier, Slot]
    """In the order of their numbers."""
    input: dict[Identifier, Input] = Field({})
    """In the order in which they are drawn."""
    operation: Annotated[dict[Name, Operation], Field(min_length=1)]
    """In the order of their numbers."""
    service: list[Service] = Field([])
    default: Default | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for name, given in self.input.items():
            known = (*CASE_SIZES, *self.constants, *self.sizes)
            if given.size not in known:
                raise ValueError(f"input.{name}.size: there are {', '.join(known)}")
        for name, slot in self.slot.items():
            used = re.findall(SIZE, " ".join(slot.needs))
            if unknown := set(used) - {*self.constants, *self.sizes}:
                there = ", ".join((*self.constants, *self.sizes))
                raise ValueError(f"slot.{name}.bytes: no size {min(unknown)}; there are {there}")
        for name, operation in self.operation.items():
            for key in ("takes", "gives", "refuses"):
                unknown = set(getattr(operation, key)) - set(self.slot)
                if unknown:
                    raise ValueError(f"operation.{name}.{key}: no slot {min(unknown)}")
            if set(operation.refuses) - set(operation.takes):
                raise ValueError(f"operation.{name}.refuses: a slot that it does not take")
            if operation.split and "pieces" not in self.slot:
                raise ValueError(f"operation.{name}.split needs a slot pieces")
        measured = [name for name, o in self.operation.items() if not o.split]
        for service in self.service:
            if set(service.operations) - set(measured):
                raise ValueError(f"service: there are the operations {', '.join(measured)}")
        if self.main_operation not in measured:
            raise ValueError(f"main_operation: there are {', '.join(measured)}")
        return self

    @field_validator("slot")
    @classmethod
    def _few_slots(cls, value: dict[str, Slot]) -> dict[str, Slot]:
        if not 1 <= len(value) <= 32:
            raise ValueError("1 to 32 slots")
        late = [name for name in list(value)[CLEARED_SLOTS_MAX:] if value[name].cleared]
        if late:
            raise ValueError(f"{late[0]} is cleared: put it among the first {CLEARED_SLOTS_MAX}")
        return value


@dataclass(frozen=True)
class Exchange:
    """Contents of an image's slots before an operation and after it."""

    inputs: Mapping[str, bytes]
    expected: Mapping[str, bytes]
    attempts: int | None = None
    """How many it takes, where an operation's file and its oracle count them."""


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of primitive: a folder."""

    name: str
    folder: Path
    file: KindFile

    @property
    def title(self) -> str:
        """Its name for readers, in the plural."""
        return self.file.title

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of the functions that every primitive provides, without their prefix."""
        return _names(self.file.functions)

    @property
    def optional_functions(self) -> tuple[str, ...]:
        """Names of the optional functions, without their prefix."""
        return _names(self.file.optional_functions)

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of all sizes that a variant may state."""
        return (*self.file.constants, *self.file.sizes)

    @property
    def measured(self) -> Mapping[str, Operation]:
        """The operations that are measured, by name."""
        return {name: o for name, o in self.file.operation.items() if not o.split}

    @property
    def results(self) -> tuple[str, ...]:
        """Names of the oracle's results."""
        named: dict[str, None] = {}
        for operation in self.file.operation.values():
            named |= dict.fromkeys((*operation.takes.values(), *operation.gives.values()))
        return tuple(name for name in named if name not in self.file.input)

    def operation(self, name: str) -> Operation:
        """Return an operation by its name.

        Raises:
            InputError: no operation has that name.
        """
        found = self.file.operation.get(name)
        if found is None:
            mend = f"there are {', '.join(self.measured)}"
            raise InputError(f"{self.name} has no operation {name}", mend=mend)
        return found

    def sized(self, operations: Iterable[str]) -> bool:
        """Return whether the cost of any of these operations depends on the message's length.

        Raises:
            InputError: an operation does not exist.
        """
        found = [self.operation(name) for name in operations]
        return any(operation.sized for operation in found)

    def buffers_bytes(self, name: str, sizes: Mapping[str, int]) -> int:
        """Return what a caller of an operation holds in RAM: keys, messages and results.

        Args:
            name: name of the operation.
            sizes: sizes of the primitive in bytes, and of the case: `message`, `ad`.

        Raises:
            InputError: no operation has that name.
        """
        operation = self.operation(name)
        held: dict[str, int] = {}
        for slot, value in (*operation.takes.items(), *operation.gives.items()):
            given = self.file.input.get(value)
            other = "public_bytes" if value.endswith("_key") else "message"
            named = (given.size,) if given else (f"{value}_bytes", f"{value[:-4]}_bytes", other)
            size = next((sizes[each] for each in named if each in sizes), 0)
            held[slot] = max(size, held.get(slot, 0))
        return sum(held.values())

    def exchange(
        self,
        name: str,
        *,
        sizes: Mapping[str, int],
        forward: Callable[[Inputs], Output],
        secret: Callable[[int], bytes],
        public: Callable[[int], bytes],
    ) -> Exchange:
        """Draw inputs for an operation and let the oracle compute the expected outputs.

        Args:
            name: name of the operation.
            sizes: sizes of the primitive in bytes, and of the case: `message`, `ad`.
            forward: the oracle.
            secret: draws random bytes that are new in each trial.
            public: draws random bytes that are the same in all trials, so that a difference
                between trials is due to secrets.
        """
        drawn = {
            each: (secret if given.secret else public)(sizes.get(given.size, 0))
            for each, given in self.file.input.items()
        }
        output = forward(Inputs(tag_bytes=sizes.get("tag_bytes", 0), **drawn))
        return self.put(name, {**output, **drawn})

    def put(self, name: str, values: Mapping[str, bytes]) -> Exchange:
        """Return an operation's exchange for inputs and the oracle's results.

        A slot that the operation only gives, and that the image does not clear, is filled with
        zeros: no earlier contents can be mistaken for its result, and its length tells the image
        how long a result is wanted.
        """
        operation = self.operation(name)
        write = {slot: values[value] for slot, value in operation.takes.items()}
        expected = {slot: values[value] for slot, value in operation.gives.items()}
        for slot, value in expected.items():
            if slot not in write and not self.file.slot[slot].cleared:
                write[slot] = bytes(len(value))
        counted = values.get(operation.attempts or "")
        return Exchange(write, expected, int.from_bytes(counted, "big") if counted else None)


def _names(prototypes: Iterable[str]) -> tuple[str, ...]:
    return tuple(re.findall(r"\bp_(\w+)\(", " ".join(prototypes)))


def load(folder: Path) -> Kind:
    """Read a kind's folder.

    Raises:
        InputError: its file is missing or invalid.
    """
    return Kind(folder.name, folder, datafile.read(folder / "kind.toml", KindFile))


def load_all(
    folder: Path = FIRMWARE / "primitives", sources: Iterable[Path] = ()
) -> dict[str, Kind]:
    """Read all kinds under a folder and in a user's, by name, in the order of their titles.

    Raises:
        InputError: a file is invalid, or two kinds have the same name.
    """
    found: dict[str, Kind] = {}
    for place in (folder, *sources):
        for path in sorted(place.glob("*/kind.toml")):
            kind = load(path.parent)
            if kind.name in found:
                what = f"{kind.name} is also the name of the kind in {found[kind.name].folder}"
                raise InputError(what, str(path), "give its folder another name")
            found[kind.name] = kind
    return dict(sorted(found.items(), key=lambda item: item[1].title))


def known() -> Mapping[str, Kind]:
    """Return the project's kinds and a user's, for callers that know only a kind's name."""
    return _known(project.sources())


@functools.lru_cache(maxsize=4)
def _known(sources: tuple[Path, ...]) -> Mapping[str, Kind]:
    return load_all(sources=sources)


def is_result(name: str) -> bool:
    """Return whether a kind's measurements are results; a kind that no longer exists counts."""
    kind = known().get(name)
    return kind is None or not kind.file.baseline


def titles() -> dict[str, str]:
    """Return the titles of all kinds but baselines, by name, in their order."""
    return {kind.name: kind.title for kind in known().values() if not kind.file.baseline}


def main_operation(name: str) -> str | None:
    """Return the operation of a kind that is shown first; None for a kind that does not exist."""
    kind = known().get(name)
    return None if kind is None else kind.file.main_operation
