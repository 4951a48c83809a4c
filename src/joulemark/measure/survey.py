"""What builds reveal of their secrets: each build of implementations, operation by operation."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from joulemark.catalogue.boards import Board, load_board
from joulemark.catalogue.near import near
from joulemark.catalogue.primitives import Implementation, Library
from joulemark.errors import (
    BudgetError,
    BuildError,
    FaultError,
    InputError,
    JoulemarkError,
    LinkError,
    VerificationError,
)
from joulemark.images import BuiltImage, build_image, toolchain
from joulemark.measure.leaks import Leak, observe, on_secrets

if TYPE_CHECKING:
    from joulemark.measure.power import Modelled

BOARDS = ("telosb", "stm32vldiscovery")
"""Where builds are looked at if nothing is said."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Operations of builds: see `survey`; empty stands for the default."""

    primitive: Sequence[str]
    implementation: Sequence[str] = ()
    operation: Sequence[str] = ()
    board: Sequence[str] = ()
    compiler: Sequence[str] = ()
    opt: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Surveyed:
    """An operation of a build, and what it reveals."""

    board: Board
    implementation: Implementation
    build: str
    leak: Leak
    one_way: bool = False
    """Whether the row names the branches that went one way."""

    @property
    def contradicts(self) -> bool:
        """Whether it leaks what its implementation claims to keep."""
        return self.leak.any and self.implementation.secret_independent

    @property
    def row(self) -> dict[str, Any]:
        """Names and numbers."""
        leak = self.leak
        return {
            "board": self.board.name,
            "implementation": str(self.implementation),
            "build": self.build,
            "operation": leak.operation,
            "claims_independence": self.implementation.secret_independent,
            "trials": leak.trials,
            "cycles": leak.cycles_min,
            "spread": leak.cycles_max - leak.cycles_min,
            "message_bytes": leak.message_bytes,
            "ad_bytes": leak.ad_bytes,
            "address_traces": leak.address_traces,
            "refusals": leak.refusals,
            "refused_spread": leak.refused_spread,
            "refused_traces": leak.refused_traces,
            "declared_public": [*map(str, leak.declared), *map(str, leak.followed.verdicts)],
            "branches": [asdict(branch) for branch in leak.branches],
            "decided_by_secrets": [use.row for use in leak.followed.uses],
            "agreement": leak.agreement,
            "followed_runs": leak.followed.runs,
            "reached": leak.followed.reached,
            "one_way": [branch.row for branch in leak.followed.one_way] if self.one_way else [],
            "one_way_branches": len(leak.followed.one_way),
            "widened": list(leak.followed.widened),
            "devices": list(leak.followed.devices),
            "lost": len(leak.followed.lost),
        }


@contextmanager
def _named(where: str, failed: list[JoulemarkError] | None) -> Iterator[None]:
    """Say of which build an error is; keep it, where there is a list, and go on with the others."""
    try:
        yield
    except (BuildError, FaultError, BudgetError, LinkError, VerificationError) as error:
        named = type(error)(str(error), where)
        if failed is None:
            raise named from error
        failed.append(named)


def survey(
    primitive: Sequence[str],
    *,
    implementation: Sequence[str] = (),
    operation: Sequence[str] = (),
    board: Sequence[str] = (),
    compiler: Sequence[str] = (),
    opt: Sequence[str] = (),
    branches: bool = False,
    one_way: bool = False,
    following: bool = True,
    cover: bool = False,
    failed: list[JoulemarkError] | None = None,
) -> Iterator[Surveyed]:
    """Build and observe; an empty argument stands for the default.

    Args:
        primitive: names or globs.
        implementation: names or globs; all with their kind's main operation if not given.
        operation: names; all that handle a secret if not given.
        board: `BOARDS` if not given.
        compiler: the core's first if not given.
        opt: optimisations; all if not given.
        branches: whether to look at what decides branches, which is slow.
        one_way: whether rows name the branches that went one way.
        following: whether secrets are followed too.
        cover: whether they are followed through other inputs too, for the code that these reach.
        failed: takes the errors of builds and operations that have no result; without it, the
            first is raised.

    Raises:
        InputError: a name matches nothing.
        ToolError: a tool is missing.
        JoulemarkError: an output was wrong, or there was none.
    """
    wanted = Wanted(
        primitive=primitive,
        implementation=implementation,
        operation=operation,
        board=board,
        compiler=compiler,
        opt=opt,
    )
    for where, way, tool, flag, image, names in _builds(wanted, failed, branches=branches):
        for name in names:
            with _named(f"{way}, {tool} -{flag}, on {where.name}: {name}", failed):
                yield Surveyed(
                    board=where,
                    implementation=way,
                    build=f"{tool} -{flag}",
                    leak=observe(
                        way,
                        where,
                        image,
                        name,
                        special=True,
                        branches=branches,
                        following=following,
                        cover=cover,
                    ),
                    one_way=one_way,
                )


def survey_power(
    wanted: Wanted,
    *,
    traces: int,
    weights: str | Path,
    save: Path | None = None,
    failed: list[JoulemarkError] | None = None,
) -> Iterator[tuple[dict[str, str], "Modelled"]]:
    """Build, and model power; yields the names of a build and what its power says.

    Args:
        wanted: which operations of which builds.
        traces: traces of each.
        weights: a name, or a file of recorded traces.
        save: a file for the modelled traces, of one operation of one build.
        failed: as in `survey`.

    Raises:
        InputError: a name matches nothing.
        ToolError: a tool is missing.
        JoulemarkError: an output was wrong, or there was none.
    """
    from joulemark.measure.power import OfPrimitive, model

    saved = False
    for where, way, tool, flag, image, names in _builds(wanted, failed):
        for name in names:
            if save is not None and saved:
                what = "holds the traces of one operation of one build, and more were chosen"
                raise InputError(what, "--save", "give --operation, --board and --opt too")
            saved = True
            build = f"{tool} -{flag}"
            with _named(f"{way}, {build}, on {where.name}: {name}", failed):
                found = model(
                    OfPrimitive(way, where, image, name),
                    name,
                    traces=traces,
                    weights=weights,
                    save=save,
                )
                yield {"board": where.name, "implementation": str(way), "build": build}, found


def _builds(
    wanted: Wanted, failed: list[JoulemarkError] | None, *, branches: bool = False
) -> Iterator[tuple[Board, Implementation, str, str, BuiltImage, list[str]]]:
    """Yield builds: board, implementation, compiler, optimisation, image, operations on secrets."""
    for flag in wanted.opt:
        toolchain.check_optimisation(flag)
    chosen = list(_chosen(wanted.primitive, wanted.implementation, wanted.board or BOARDS))
    toolchain.refuse_missing(
        need
        for where in {where.name: where for where, _ in chosen}.values()
        for tool in wanted.compiler or [where.compiler]
        for need in (
            *toolchain.needs(tool, where.core),
            *([toolchain.find_disassembler] if branches else []),
        )
    )
    found = False
    for where, way in chosen:
        able = [name for name in on_secrets(way.algorithm) if way.has(name)]
        names = [name for name in able if not wanted.operation or name in wanted.operation]
        for tool in wanted.compiler or [where.compiler]:
            for flag in wanted.opt or toolchain.OPTIMISATIONS:
                found = found or bool(names)
                with _named(f"{way}, {tool} -{flag}, on {where.name}", failed):
                    image = build_image(way, where, compiler=tool, optimisation=flag)
                    yield where, way, tool, flag, image, names
    if not found:
        known = {name for _, way in chosen for name in on_secrets(way.algorithm)}
        if chosen and wanted.operation and known.isdisjoint(wanted.operation):
            first = wanted.operation[0]
            what = f"{first}: no such operation on secrets"
            raise InputError(what, "--operation", near(first, known))
        what = "no implementation of that name, for these boards, with such operations on secrets"
        raise InputError(what, mend="`joulemark list primitives` names implementations")


def _chosen(
    primitives: Sequence[str], implementations: Sequence[str], boards: Sequence[str]
) -> Iterator[tuple[Board, Implementation]]:
    """Yield boards, and the implementations that run on each."""
    library = Library.load()
    for pattern in primitives:
        if not any(fnmatchcase(name, pattern) for name in library.algorithms):
            mend = near(pattern, library.algorithms)
            raise InputError(f"{pattern} matches nothing", "--primitive", mend)
    for board in map(load_board, boards):
        for name, algorithm in library.algorithms.items():
            if not any(fnmatchcase(name, pattern) for pattern in primitives):
                continue
            for way in library.implementations(algorithm):
                named = any(fnmatchcase(way.name, wanted) for wanted in implementations)
                meant = named if implementations else way.is_main
                if meant and way.runs_on(board.instruction_set, board.accelerators):
                    yield board, way
