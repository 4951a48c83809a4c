"""Find primitives and their implementations; docs/adding-a-primitive.md is the contract.

A *primitive* is a folder. An *algorithm* is what users name: a variant of a primitive (`aes-128`)
or a composition with a partner (`aes-128-ctr`). An *implementation* is one way to write it.
"""

import functools
import importlib.util
import itertools
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from joulemark import project
from joulemark.catalogue import datafile, instruction_sets, kinds
from joulemark.catalogue.kinds import CASE_SIZES, SIZE, Kind, SizeName
from joulemark.catalogue.near import near
from joulemark.errors import InputError
from joulemark.oracle import Compute, Inputs, Output
from joulemark.project import FIRMWARE

NAME = r"[a-z0-9][a-z0-9-]*"

Status = Literal["standard", "finalist", "research", "deprecated", "broken"]
STATUSES: tuple[Status, ...] = get_args(Status)
"""In order, from the strongest to the weakest."""


def _hexadecimal(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return bytes.fromhex(value)
    except ValueError as error:
        raise ValueError(f"not hexadecimal: {error}") from error


Hexadecimal = Annotated[bytes, BeforeValidator(_hexadecimal)]
PartnerSize = Annotated[str, Field(pattern=rf"^([1-9][0-9]*\*)?{SIZE}$")]
Size = Annotated[int, Field(ge=0)]


class Variant(datafile.DataModel):
    """`[variant.NAME]`: a name that users type, with the macros it sets and its sizes."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)
    __pydantic_extra__: dict[str, Size | PartnerSize]

    define: dict[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")], int] = Field({})

    @property
    def sizes(self) -> dict[str, int | str]:
        """`security_bits`, and the sizes that the kind's file names."""
        return dict(self.__pydantic_extra__)

    def resolve(self, partner: Mapping[str, int], inherited: Collection[str]) -> dict[str, int]:
        """Return the sizes as numbers; `"2*key_bytes"` is twice the partner's.

        Args:
            partner: sizes of the algorithm that it is built over.
            inherited: names of the sizes that default to the partner's.
        """
        sizes = {name: size for name, size in partner.items() if name in inherited}
        for name, value in self.sizes.items():
            if isinstance(value, str):
                factor, _, of = value.rpartition("*")
                if of not in partner:
                    raise ValueError(f"{name} = {value!r}, but the partner has no {of}")
                sizes[name] = int(factor or 1) * partner[of]
            else:
                sizes[name] = value
        return sizes


class PrimitiveFile(datafile.DataModel):
    """`primitive.toml`."""

    title: str
    prefix: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    specification: str
    year: Annotated[int, Field(ge=1970, le=2100)]
    status: Status
    status_source: str
    status_reason: str | None = None
    patents: str | None = None
    missing: str | None = None
    """Parts of the specification that are not implemented, and why."""
    variant: dict[Annotated[str, Field(pattern=f"^{NAME}$")], Variant] = Field({})
    over: str | None = None
    name: str | None = None
    default_over: list[str] = Field([])
    over_requires: dict[SizeName, list[int]] = Field({})
    sizes: Variant = Variant()
    uses: list[Annotated[str, Field(pattern=f"^{NAME}/{NAME}$")]] = Field([])
    whole_blocks: bool = False
    one_time_key: bool = False
    """A key may be used for one message only."""
    refused: dict[str, list[Hexadecimal]] = Field({})
    """Public values, by slot, that are refused for every secret: points of low order."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.status in ("deprecated", "broken") and self.status_reason is None:
            raise ValueError(f'status_reason is required with status = "{self.status}"')
        if self.over is None:
            if not self.variant:
                raise ValueError("at least one [variant.NAME] is required (or over = KIND)")
            for key in ("name", "default_over", "over_requires", "sizes"):
                if key in self.model_fields_set:
                    raise ValueError(f"{key} needs over = KIND")
            for name, variant in self.variant.items():
                for size, value in variant.sizes.items():
                    if isinstance(value, str):
                        raise ValueError(f"variant.{name}.{size} must be a number without over")
        else:
            if self.variant:
                raise ValueError("a composition has sizes in [sizes], not in [variant.NAME]")
            if self.name is None or not re.fullmatch(NAME, self.name.replace("{over}", "x", 1)):
                raise ValueError('over needs name = "...{over}..." in lower case')
            if "{over}" not in self.name:
                raise ValueError("name must contain {over}")
        return self


def _not_empty(value: list[instruction_sets.Name]) -> list[instruction_sets.Name]:
    if not value:
        raise ValueError("is empty: leave the key out where the code runs anywhere")
    return value


Elsewhere = Annotated[str, Field(pattern=r"^[^/]")]
"""A relative path: an absolute one would not hold on another machine."""


class Together(datafile.DataModel):
    """`[together]`: sizes whose sum is limited by the hardware."""

    sizes: Annotated[list[str], Field(min_length=1)]
    """`message` and `ad` (of the case), or sizes of the primitive."""
    bytes_max: Annotated[int, Field(ge=1)]

    def __str__(self) -> str:
        return f"{' + '.join(self.sizes)} up to {self.bytes_max} bytes"


class ImplementationFile(datafile.DataModel):
    """`implementation.toml`."""

    description: str
    method: str
    cores: Annotated[list[instruction_sets.Name], AfterValidator(_not_empty)] | None = None
    on_request: list[instruction_sets.Name] = Field([])
    """Cores on which it is measured only if the primitive or the implementation is named."""
    accelerator: str | None = None
    """Hardware that it uses, as a board's file names it."""
    operations: Annotated[list[str], Field(min_length=1)] | None = None
    """Operations of its kind that it provides; all if not given."""
    cycles_max: Annotated[int, Field(ge=1)] | None = None
    """Cycles after which any of its operations counts as hung; as its kind says if not given."""
    partner_operations: list[str] = Field([])
    """For a composition: operations that it needs from its partner besides encryption."""
    uses: dict[str, str] = Field({})
    """Implementations that it requires of primitives under it, by KIND/NAME; primitives that are
    not listed may have any implementation."""
    secret_independent: bool
    word_bits: Literal[8, 16, 32, 64]
    variants: Annotated[list[str], Field(min_length=1)] | None = None
    """Variants of the primitive that it provides; all if not given."""
    sources: list[Elsewhere] = Field([])
    """C and assembly files outside its folder, or globs, relative to it."""
    include: list[Elsewhere] = Field([])
    """Header folders outside its folder, relative to it."""
    define: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], int | str] = Field({})
    """Macros that its sources need, and all sources that include them."""
    together: Together | None = None
    """Longer messages are not measured; if not given, the limit is the room in the image."""


class Vector(datafile.DataModel):
    """A published test vector: inputs and results, named as in the kind's file."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)
    __pydantic_extra__: dict[str, Hexadecimal]

    origin: str
    variant: str

    @property
    def values(self) -> dict[str, bytes]:
        """Inputs and results."""
        return dict(self.__pydantic_extra__)


class VectorFile(datafile.DataModel):
    """`vectors.toml`."""

    vector: Annotated[list[Vector], Field(min_length=1)]


@dataclass(frozen=True)
class Part:
    """One implementation folder."""

    primitive: "Primitive"
    name: str
    file: ImplementationFile = field(hash=False)
    folder: Path

    @classmethod
    def load(cls, primitive: "Primitive", path: Path) -> "Part":
        """Read an implementation.toml.

        Raises:
            InputError: the file is invalid.
        """
        file = datafile.read(path, ImplementationFile)
        names = list(primitive.file.variant)
        for name in file.variants or ():
            if names and name not in names:
                mend = near(name, names)
                raise InputError(f"no variant {name}", f"{path}, key variants", mend)
        sizes = (*CASE_SIZES, *primitive.contract.sizes)
        for name in file.together.sizes if file.together else ():
            if name not in sizes:
                what = f"{primitive.kind} has no size {name}"
                raise InputError(what, f"{path}, key together.sizes", near(name, sizes))
        return cls(primitive, path.parent.name, file, path.parent)

    @property
    def is_shipped(self) -> bool:
        """Whether it and all of its sources belong to the project."""
        return self.folder.is_relative_to(FIRMWARE) and not self.file.sources

    def is_on_request(self, core: str) -> bool:
        """Return whether it is measured on a core only if it is named."""
        return core in instruction_sets.with_extensions(self.file.on_request)

    @property
    def is_main(self) -> bool:
        """Whether it provides the main operation of its kind."""
        main = self.primitive.contract.file.main_operation
        return self.file.operations is None or main in self.file.operations

    def has(self, variant: str) -> bool:
        """Return whether it provides a variant of its primitive."""
        return self.file.variants is None or variant in self.file.variants

    @cached_property
    def sources(self) -> list[Path]:
        """C and assembly files of its folder, sorted, then those outside it.

        Raises:
            InputError: a pattern matches no file.
        """
        found = sorted(p for p in self.folder.iterdir() if p.suffix in (".c", ".S"))
        for pattern in self.file.sources:
            there = sorted(self.folder.glob(pattern))
            if not there:
                where = f"{self.folder / 'implementation.toml'}, key sources"
                raise InputError(f"{pattern} matches no file", where, "it is seen from this folder")
            # Not where a link leads: what a source includes is beside the link.
            found += [Path(os.path.normpath(path)) for path in there]
        return list(dict.fromkeys(found))

    @property
    def include_folders(self) -> list[Path]:
        """Folders in which its headers are searched."""
        kind = self.primitive.contract.folder
        elsewhere = [Path(os.path.normpath(self.folder / name)) for name in self.file.include]
        return [self.folder, *elsewhere, self.primitive.folder, kind, kind.parent]


@dataclass(frozen=True)
class Primitive:
    """A primitive's folder."""

    contract: Kind
    """The contract that every primitive of its kind fulfils."""
    name: str
    folder: Path
    file: PrimitiveFile = field(hash=False)
    parts: tuple[Part, ...] = field(default=(), compare=False)

    @classmethod
    def load(cls, folder: Path, contract: Kind) -> "Primitive":
        """Read a primitive's folder.

        Raises:
            InputError: one of its files is missing or invalid.
        """
        file = datafile.read(folder / "primitive.toml", PrimitiveFile)
        named = {f"variant.{name}": variant for name, variant in file.variant.items()}
        for key, variant in {**named, "sizes": file.sizes}.items():
            for name in variant.sizes:
                if name not in ("security_bits", *contract.sizes):
                    where = f"{folder / 'primitive.toml'}, key {key}.{name}"
                    mend = f"a {contract.name} has {', '.join(contract.sizes)}, security_bits"
                    raise InputError("unknown key", where, mend)
        primitive = cls(contract, folder.name, folder, file)
        parts = tuple(
            Part.load(primitive, path) for path in sorted(folder.glob("*/implementation.toml"))
        )
        object.__setattr__(primitive, "parts", parts)
        return primitive

    @property
    def kind(self) -> str:
        """Its kind: the name of its parent folder."""
        return self.contract.name

    @property
    def path(self) -> str:
        """Its path below the folder of primitives: KIND/NAME."""
        return f"{self.kind}/{self.name}"

    @cached_property
    def vectors(self) -> tuple[Vector, ...]:
        """The published vectors; none for a primitive that computes nothing (identity)."""
        path = self.folder / "vectors.toml"
        if not self.contract.results and not path.exists():
            return ()
        vectors = tuple(datafile.read(path, VectorFile).vector)
        results = self.contract.results
        known = (*self.contract.file.input, *results)
        for number, vector in enumerate(vectors):
            where = f"{path}, key vector.{number}"
            for name in vector.values:
                if name not in known:
                    raise InputError(
                        "unknown key", f"{where}.{name}", f"there are {', '.join(known)}"
                    )
            if not set(results) & set(vector.values):
                raise InputError(f"a vector needs {' or '.join(results)}", where)
        return vectors

    @cached_property
    def compute(self) -> Compute:
        """The function of its oracle."""
        try:
            compute: Compute = self._oracle.compute
        except AttributeError as error:
            raise InputError("has no function compute", str(self.folder / "oracle.py")) from error
        return compute

    @cached_property
    def compute_to_verify(self) -> Compute | None:
        """The function of its oracle that makes what is only verified, if it is cheaper."""
        return getattr(self._oracle, "compute_to_verify", None)

    @cached_property
    def _oracle(self) -> ModuleType:
        path = self.folder / "oracle.py"
        name = re.sub(r"\W", "_", f"joulemark_oracle_{self.kind}_{self.name}")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None  # noqa: S101
        assert spec.loader is not None  # noqa: S101
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except FileNotFoundError as error:
            raise InputError("is missing", str(path)) from error
        return module


@dataclass(frozen=True)
class Algorithm:
    """What users name: a variant of a primitive, or a composition."""

    name: str
    primitive: Primitive
    variant: Variant = field(hash=False)
    sizes: Mapping[str, int] = field(hash=False)
    over: "Algorithm | None" = None
    is_default: bool = True
    """Whether it is measured if no algorithm is named."""

    @property
    def kind(self) -> str:
        """Its kind: the name of its primitive's parent folder."""
        return self.primitive.kind

    @property
    def contract(self) -> Kind:
        """The contract of primitives of its kind."""
        return self.primitive.contract

    @property
    def status(self) -> Status:
        """Its standing; for a composition, the weaker of its own and its partner's."""
        own = self.primitive.file.status
        return max(own, self.over.status, key=STATUSES.index) if self.over else own

    @property
    def prefix(self) -> str:
        """Prefix of its functions' names."""
        return self.primitive.file.prefix

    @property
    def whole_blocks(self) -> bool:
        """Whether messages must be multiples of `block_bytes`."""
        return self.contract.file.whole_blocks or self.primitive.file.whole_blocks

    def takes_message(self, size: int) -> bool:
        """Return whether a message may have this many bytes."""
        block = self.sizes.get("block_bytes", 1) if self.whole_blocks else 1
        return size % block == 0 and (size > 0 or block == 1) and size <= self.room("message")

    def message_that_holds(self, size: int) -> int | None:
        """Return the smallest message of at least this many bytes, padded to whole blocks."""
        block = self.sizes.get("block_bytes", 1) if self.whole_blocks else 1
        padded = max(-(-size // block), block > 1) * block
        return padded if padded <= self.room("message") else None

    @property
    def messages_taken(self) -> str:
        """The sizes that `takes_message` accepts, in words."""
        room = self.room("message")
        if not self.whole_blocks:
            return f"0 to {room}"
        return f"multiples of {self.sizes['block_bytes']} up to {room}"

    def room(self, slot: str) -> int:
        """Return the bytes that an image reserves for an input."""
        found = self.contract.file.slot.get(slot)
        return found.room(self.sizes) if found else 0

    @property
    def defines(self) -> dict[str, int]:
        """Macros that its sources need, and all sources that include them."""
        return self.variant.define | (self.over.defines if self.over else {})

    @property
    def vectors(self) -> list[Vector]:
        """Published vectors of this algorithm."""
        return [v for v in self.primitive.vectors if v.variant == self.name]

    def oracle(self, inputs: Inputs, *, to_verify: bool = False) -> Output:
        """Compute the expected result of the forward direction with an independent library.

        Args:
            inputs: the inputs.
            to_verify: see `is_made_to_verify`.
        """
        own = self.primitive.compute_to_verify if to_verify else None
        return (own or self.primitive.compute)(self.name, inputs, self._partner_oracle())

    def is_made_to_verify(self, operations: Iterable[str]) -> bool:
        """Return whether the oracle may make results that stand only for verification.

        That is so if it can make such results more cheaply (`compute_to_verify`), and no operation
        gives results of its own.
        """
        gives = any(self.contract.operation(name).gives for name in operations)
        return self.primitive.compute_to_verify is not None and not gives

    def _partner_oracle(self) -> Compute | None:
        if self.over is None:
            return None
        partner = self.over

        def compute(_variant: str, inputs: Inputs, _over: Compute | None) -> Output:
            return partner.oracle(inputs)

        return compute

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Implementation:
    """One way to write an algorithm: its own folder first, then the folders it is built over."""

    algorithm: Algorithm
    name: str
    parts: tuple[Part, ...]
    defines: Mapping[str, int | str] = field(hash=False)

    @property
    def over(self) -> Part | None:
        """The partner's part of a composition."""
        return self.parts[-1] if self.algorithm.over else None

    @property
    def cores(self) -> frozenset[str] | None:
        """Cores that it runs on; None means any, including the host."""
        named = [p.file.cores for p in self.parts if p.file.cores is not None]
        limits = [instruction_sets.with_extensions(cores) for cores in named]
        return frozenset.intersection(*limits) if limits else None

    @property
    def accelerators(self) -> frozenset[str]:
        """Hardware that the board must have."""
        return frozenset(p.file.accelerator for p in self.parts if p.file.accelerator is not None)

    def runs_on(self, core: str, accelerators: Collection[str] = ()) -> bool:
        """Return whether it runs on a core with these accelerators; `host` is this machine."""
        able = self.cores is None or core in self.cores
        return able and self.accelerators <= set(accelerators)

    def is_on_request(self, core: str) -> bool:
        """Return whether it is measured on a core only where it is named."""
        return any(part.is_on_request(core) for part in self.parts)

    @property
    def is_main(self) -> bool:
        """Whether it has its kind's main operation; others are considered only where named."""
        return self.parts[0].is_main

    def cycles_max(self, operation: str) -> int:
        """Return the cycles after which an operation counts as hung."""
        own = self.parts[0].file.cycles_max
        return own or self.algorithm.contract.operation(operation).cycles_max

    def has(self, operation: str) -> bool:
        """Return whether it provides an operation of its kind."""
        operations = self.parts[0].file.operations
        return operations is None or operation in operations

    @property
    def together(self) -> Together | None:
        """Its limit on sizes, if that is lower than an image's room."""
        return self.parts[0].file.together

    def takes(self, message: int, ad: int) -> bool:
        """Return whether a message and its associated data may have these sizes."""
        if self.together is None:
            return True
        sizes = {**self.algorithm.sizes, "message": message, "ad": ad}
        return sum(sizes.get(name, 0) for name in self.together.sizes) <= self.together.bytes_max

    @property
    def secret_independent(self) -> bool:
        """Whether it claims that time and addresses are independent of secrets."""
        return all(p.file.secret_independent for p in self.parts)

    @property
    def is_shipped(self) -> bool:
        """Whether all of its parts and sources belong to the project."""
        return all(part.is_shipped for part in self.parts)

    def __str__(self) -> str:
        return f"{self.algorithm}/{self.name}"


class Library:
    """All primitives under a folder, and their algorithms."""

    def __init__(self, primitives: list[Primitive]) -> None:
        self.primitives = {p.path: p for p in primitives}
        self.algorithms: dict[str, Algorithm] = {}
        self._ways: dict[Algorithm, list[Implementation]] = {}
        for algorithm in itertools.chain(self._plain(), self._compositions()):
            other = self.algorithms.get(algorithm.name)
            if other is not None:
                where = f"{algorithm.primitive.folder / 'primitive.toml'}"
                what = f"{algorithm.name} is also the name of one in {other.primitive.folder}"
                raise InputError(what, where, "give one of them another name")
            self.algorithms[algorithm.name] = algorithm

    @classmethod
    def load(
        cls, folder: Path = FIRMWARE / "primitives", sources: Sequence[Path] | None = None
    ) -> "Library":
        """Find and read all primitives under a folder.

        Args:
            folder: the project's primitives.
            sources: folders of a user's kinds and primitives, and of further implementations of
                the project's primitives; `project.sources` if not given.

        Raises:
            InputError: a file is missing or invalid.
        """
        found = sorted(folder.glob("*/*/primitive.toml"))
        if not found:
            mend = "a primitive is KIND/NAME/primitive.toml"
            raise InputError("no primitives found", str(folder), mend)
        sources = project.sources() if sources is None else sources
        known = kinds.load_all(folder, sources)
        primitives = []
        for path in found:
            kind = path.parent.parent
            if kind.name not in known:
                where, mend = str(kind / "kind.toml"), "docs/adding-a-kind.md says what it holds"
                raise InputError("is missing", where, mend)
            primitives.append(Primitive.load(path.parent, known[kind.name]))
        for source in sources:
            _add(source, primitives, known)
        return cls(primitives)

    def __getitem__(self, name: str) -> Algorithm:
        """Return an algorithm by the name that users type.

        Raises:
            InputError: no algorithm has that name.
        """
        try:
            return self.algorithms[name]
        except KeyError:
            raise InputError("no such primitive", name, near(name, self.algorithms)) from None

    def _plain(self) -> Iterator[Algorithm]:
        for primitive in self.primitives.values():
            for name, variant in primitive.file.variant.items():
                sizes = variant.resolve({}, ())
                where = f"{primitive.folder / 'primitive.toml'}, key variant.{name}"
                _check_sizes(primitive.contract, sizes, where)
                yield Algorithm(name, primitive, variant, sizes)

    def _compositions(self) -> Iterator[Algorithm]:
        plain = list(self._plain())
        for primitive in self.primitives.values():
            file = primitive.file
            if file.over is None or file.name is None:
                continue
            where = str(primitive.folder / "primitive.toml")
            partners = {a.name: a for a in plain if a.kind == file.over}
            if not partners:
                raise InputError(f"there is no primitive of kind {file.over}", f"{where}, key over")
            for name in file.default_over:
                if name not in partners:
                    mend = f"there are {', '.join(sorted(partners))}"
                    raise InputError(f"no {file.over} {name}", f"{where}, key default_over", mend)
            for partner in partners.values():
                if any(partner.sizes.get(s) not in v for s, v in file.over_requires.items()):
                    if partner.name in file.default_over:
                        what = f"{partner.name} is excluded by over_requires"
                        raise InputError(what, f"{where}, key default_over")
                    continue
                try:
                    inherited = ("security_bits", *primitive.contract.sizes)
                    sizes = file.sizes.resolve(partner.sizes, inherited)
                except ValueError as error:
                    raise InputError(str(error), f"{where}, key sizes") from error
                _check_sizes(primitive.contract, sizes, f"{where}, key sizes")
                name = file.name.replace("{over}", partner.name)
                default = partner.name in file.default_over
                yield Algorithm(name, primitive, file.sizes, sizes, partner, default)

    def vectors(self, primitive: Primitive) -> tuple[Vector, ...]:
        """Return a primitive's published vectors after checking their variants.

        Raises:
            InputError: a vector names a variant that does not exist.
        """
        names = {a.name for a in self.algorithms.values() if a.primitive is primitive}
        for number, vector in enumerate(primitive.vectors, 1):
            if vector.variant not in names:
                where = f"{primitive.folder / 'vectors.toml'}, vector {number}, key variant"
                mend = f"there are {', '.join(sorted(names))}"
                raise InputError(f"no variant {vector.variant}", where, mend)
        return primitive.vectors

    def used_by(self, primitive: Primitive, users: tuple[Primitive, ...] = ()) -> list[Primitive]:
        """Return the primitives that one uses, directly or indirectly, once each.

        Args:
            primitive: the one whose `uses` is followed.
            users: the chain of primitives that leads to it, outermost first.

        Raises:
            InputError: a used primitive does not exist, needs a partner that this one does not
                have, or uses itself.
        """
        users = (*users, primitive)
        found: list[Primitive] = []
        for name in primitive.file.uses:
            where = f"{primitive.folder / 'primitive.toml'}, key uses"
            used = self.primitives.get(name)
            if used is None:
                raise InputError(f"no primitive {name}", where, "write KIND/NAME")
            if used in users:
                circle = " uses ".join(p.path for p in (*users, used))
                raise InputError(f"is a circle: {circle}", where, "let one of them use no other")
            over = used.file.over
            if over is not None and over != primitive.file.over:
                what = f"{name} is built over a {over}"
                raise InputError(what, where, f'this one needs over = "{over}" too')
            for other in (used, *self.used_by(used, users)):
                if other not in found:
                    found.append(other)
        return found

    def implementations(self, algorithm: Algorithm) -> list[Implementation]:
        """Return an algorithm's implementations: every combination of the folders it needs."""
        if algorithm not in self._ways:
            self._ways[algorithm] = self._combined(algorithm)
        return list(self._ways[algorithm])

    def _combined(self, algorithm: Algorithm) -> list[Implementation]:
        primitive = algorithm.primitive
        used = self.used_by(primitive)
        partner = [algorithm.over.primitive] if algorithm.over else []
        chain = [primitive, *used, *partner]
        defines = dict(algorithm.defines)
        for other in used:
            for variant in other.file.variant.values():
                defines |= variant.define
        result = []
        variants = {primitive: algorithm.name}
        if algorithm.over:
            variants[algorithm.over.primitive] = algorithm.over.name
        able = [[q for q in p.parts if p not in variants or q.has(variants[p])] for p in chain]
        for parts in itertools.product(*able):
            fixed = {path: name for p in parts for path, name in p.file.uses.items()}
            taken = {p.primitive.path: p.name for p in parts}
            if any(taken.get(path) != name for p in parts for path, name in p.file.uses.items()):
                continue
            named = [
                p
                for p in parts
                if p.primitive.path not in fixed
                and (p.primitive in partner or _is_a_choice(p, partner))
            ]
            name = "+".join(p.name for p in named or parts[:1])
            of_parts = {k: v for part in parts for k, v in part.file.define.items()}
            needed = {name for p in parts for name in p.file.partner_operations}
            if algorithm.over and not needed <= set(parts[-1].file.operations or needed):
                continue
            implementation = Implementation(algorithm, name, parts, defines | of_parts)
            if implementation.cores is None or implementation.cores:
                result.append(implementation)
        return result

    def implementations_by_default(
        self, algorithm: Algorithm, core: str, accelerators: Collection[str] = ()
    ) -> list[Implementation]:
        """Return the implementations that are measured on a core if none is named.

        For a primitive that uses no other, that is all of them except those that are measured on
        request there. For one that is built over others, of each part those written for the core
        are taken; portable ones only if there are no others, or if no part that is written for the
        core is independent of secrets. Then the same again with an accelerator for each part that
        it computes, and of other parts those that are independent of secrets, if there are any.
        """
        able = [
            i
            for i in self.implementations(algorithm)
            if i.runs_on(core, accelerators) and i.is_main and not i.is_on_request(core)
        ]
        if len(able) == 0 or len(able[0].parts) == 1:
            return able
        chosen: set[Part] = set()
        beside: set[Part] = set()
        for place in zip(*(i.parts for i in able), strict=True):
            hardware = {p for p in place if p.file.accelerator is not None}
            parts = set(place) - hardware
            own = {p for p in parts if p.file.cores is not None}
            independent = {p for p in parts if p.file.secret_independent}
            chosen |= own or parts
            if not own & independent:
                chosen |= independent
            beside |= hardware or independent or parts
        return [i for i in able if (beside if i.accelerators else chosen).issuperset(i.parts)]

    def implementation(self, algorithm: Algorithm, name: str) -> Implementation:
        """Return an implementation by its name.

        Raises:
            InputError: the algorithm has no implementation of that name.
        """
        found = {i.name: i for i in self.implementations(algorithm)}
        if name not in found:
            what = f"{algorithm} has no implementation {name}"
            raise InputError(what, mend=f"there are {', '.join(found)}")
        return found[name]


def _add(source: Path, primitives: list[Primitive], known: Mapping[str, Kind]) -> None:
    """Add the KIND/NAME/IMPLEMENTATION/implementation.toml of a folder outside the project.

    If KIND/NAME has no primitive.toml, it holds further implementations of the project's primitive.

    Raises:
        InputError: the folder holds nothing, or a file is invalid.
    """
    folders = sorted({path.parents[1] for path in source.glob("*/*/*/implementation.toml")})
    # NAME/part.toml, boards/NAME.toml, studies/NAME/study.toml and the like.
    if not folders and not any(
        found for at in ("*", "*/*") for found in source.glob(f"{at}/*.toml")
    ):
        what = "is no folder" if not source.is_dir() else "has nothing that Joulemark knows"
        mend = "`joulemark new` writes a primitive, a board, a study and more"
        raise InputError(what, f"--source {source}", mend)
    for folder in folders:
        kind = folder.parent.name
        if kind not in known:
            raise InputError(f"no such kind: {kind}", str(folder.parent), near(kind, known))
        if (folder / "primitive.toml").is_file():
            primitives.append(Primitive.load(folder, known[kind]))
            continue
        names = {p.name: p for p in primitives if p.kind == kind}
        if folder.name not in names:
            mend = f"write its primitive.toml, or {near(folder.name, names)}"
            raise InputError(f"no {kind} {folder.name}, and no primitive.toml", str(folder), mend)
        primitive = names[folder.name]
        have = {part.name for part in primitive.parts}
        more = [Part.load(primitive, p) for p in sorted(folder.glob("*/implementation.toml"))]
        for part in more:
            if part.name in have:
                what = f"{folder.name} has an implementation {part.name} already"
                raise InputError(what, str(part.folder), "give its folder another name")
        object.__setattr__(primitive, "parts", (*primitive.parts, *more))


@functools.lru_cache(maxsize=4)
def _loaded(_sources: tuple[Path, ...]) -> Library:
    return Library.load()


def library() -> Library:
    """Return all primitives, read once per process."""
    return _loaded(project.sources())


def _is_a_choice(part: Part, partner: Sequence[Primitive]) -> bool:
    """Return whether a name must mention a part.

    It need not if this is the only part of its primitive that accepts any partner and has its
    kind's main operation.
    """
    chosen = [
        p
        for p in part.primitive.parts
        if not any(q.path in p.file.uses for q in partner) and p.is_main
    ]
    return part not in chosen or len(chosen) > 1


def _check_sizes(contract: Kind, sizes: Mapping[str, int], where: str) -> None:
    missing = [name for name in contract.file.constants if name not in sizes]
    if missing:
        mend = f"a {contract.name} needs {', '.join(contract.file.constants)}"
        raise InputError(f"there is no {missing[0]}", where, mend)
