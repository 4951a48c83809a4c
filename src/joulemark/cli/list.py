"""`joulemark list`: list what there is to choose from.

joulemark list primitives
joulemark list boards
"""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from joulemark.catalogue.near import near
from joulemark.cli import app
from joulemark.cli._options import SourceOption, complete_kind
from joulemark.cli._output import Form, FormOption, table
from joulemark.errors import InputError

if TYPE_CHECKING:
    from joulemark.catalogue.primitives import Algorithm, Library


class What(StrEnum):
    """Things that `list` lists."""

    BOARDS = "boards"
    CHIPS = "chips"
    PRIMITIVES = "primitives"
    COMPILERS = "compilers"
    METERS = "meters"
    MACHINES = "machines"
    LIBRARIES = "libraries"
    ALGORITHMS = "algorithms"
    NETWORKS = "networks"
    SCENARIOS = "scenarios"
    KINDS = "kinds"
    STUDIES = "studies"


@app.command("list")
def list_(
    what: Annotated[What, typer.Argument(metavar="WHAT", help=f"What to list: {', '.join(What)}.")],
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="Primitives of this kind.", autocompletion=complete_kind),
    ] = None,
    sort: Annotated[
        str | None, typer.Option("--sort", metavar="COLUMN", help="Column to sort by.")
    ] = None,
    form: FormOption = Form.TEXT,
    source: SourceOption = None,
) -> None:
    """List what there is to choose from: boards, primitives, compilers, networks and the like."""
    heads, *rows = {
        What.BOARDS: _boards,
        What.CHIPS: _chips,
        What.PRIMITIVES: _primitives,
        What.COMPILERS: _compilers,
        What.METERS: _meters,
        What.MACHINES: _machines,
        What.LIBRARIES: _libraries,
        What.ALGORITHMS: _algorithms,
        What.NETWORKS: _networks,
        What.SCENARIOS: _scenarios,
        What.KINDS: _kinds,
        What.STUDIES: _studies,
    }[what]()
    found = [dict(zip(heads, row, strict=True)) for row in rows]
    if kind is not None:
        if "kind" not in heads:
            raise InputError(f"{what.value} have no kind", "--kind", "leave it out")
        kinds = {row["kind"] for row in found}
        if kind not in kinds:
            raise InputError(f"no such kind: {kind}", "--kind", near(kind, kinds))
        found = [row for row in found if row["kind"] == kind]
    if sort is not None:
        if sort not in heads:
            raise InputError(f"no column {sort}", "--sort", near(sort, heads))
        found.sort(key=lambda row: row[sort])
    typer.echo(table(found or [dict.fromkeys(heads, "")], form))


def _boards() -> list[tuple[str, ...]]:
    from joulemark.catalogue import boards

    rows: list[tuple[str, ...]] = [("board", "chip", "clocks (first: default)", "title")]
    for board in map(boards.load_board, boards.names()):
        names = sorted(board.clock, key=lambda name: name != board.default_clock)
        clocks = ", ".join(f"{n} ({board.clock[n].hz / 1e6:g} MHz)" for n in names)
        rows.append((board.name, board.chip, clocks, board.title))
    return rows


def _chips() -> list[tuple[str, ...]]:
    from joulemark.catalogue import chips

    known = map(chips.load_chip, chips.names())
    return [
        ("chip", "core", "description", "absent from the emulation"),
        *((c.name, c.core, c.description, ", ".join(c.absent)) for c in known),
    ]


def _primitives() -> list[tuple[str, ...]]:
    from joulemark.catalogue import boards
    from joulemark.catalogue.primitives import Library

    library = Library.load()
    cores = sorted({boards.load_board(name).instruction_set for name in boards.names()})
    rows: list[tuple[str, ...]] = [("primitive", "kind", "status", "measured", "implementations")]
    for a in sorted(library.algorithms.values(), key=lambda a: (a.kind, a.name)):
        names = ", ".join(i.name for i in library.implementations(a))
        rows.append((a.name, a.kind, a.status, _measured(library, a, cores), names))
    return rows


def _measured(library: "Library", algorithm: "Algorithm", cores: list[str]) -> str:
    """Say where `run` measures an algorithm if nothing is named."""
    if not algorithm.is_default or algorithm.contract.file.on_request:
        return "if named"
    ways = [i for i in library.implementations(algorithm) if i.is_main]
    able = [core for core in cores if any(i.runs_on(core, i.accelerators) for i in ways)]
    named = [
        c for c in able if all(i.is_on_request(c) for i in ways if i.runs_on(c, i.accelerators))
    ]
    if not named:
        return "by default"
    return "if named" if named == able else f"by default; on {', '.join(named)} if named"


def _compilers() -> list[tuple[str, ...]]:
    from joulemark.errors import ToolError
    from joulemark.images import families, toolchain

    rows: list[tuple[str, ...]] = [("compiler", "for", "version", "path")]
    for family in families.names():
        for name in ("clang", "gcc"):
            try:
                found = toolchain.find(name, family)
            except ToolError as error:
                rows.append((name, family, "missing", error.mend or ""))
            else:
                rows.append((name, family, found.version, found.path))
    return rows


def _meters() -> list[tuple[str, ...]]:
    from joulemark import meters

    rows: list[tuple[str, ...]] = [("meter", "needs", "takes", "instrument")]
    for name in meters.names():
        options = meters.options(name)
        needs = " ".join(o.option.flag for o in options if o.needed)
        takes = " ".join(o.option.flag for o in options if not o.needed)
        rows.append((name, needs, takes, meters.summary(name)))
    return rows


def _machines() -> list[tuple[str, ...]]:
    from joulemark.catalogue import machines

    here = machines.recognised()
    return [
        ("machine", "core", "cores", "clock", "title"),
        *(
            (m.name, m.core, str(m.cores), f"{m.nominal_hz / 1e6:g} MHz", f"{m.title}{this}")
            for m in map(machines.load_machine, machines.names())
            for this in [" (this machine)" if m is here else ""]
        ),
    ]


def _networks() -> list[tuple[str, ...]]:
    from joulemark.catalogue import files
    from joulemark.catalogue.networks import names, read_network
    from joulemark.project import NETWORKS

    rows: list[tuple[str, ...]] = [("network", "boards", "motes", "title")]
    for name in names():
        network = read_network(files.given(name, NETWORKS, [name]))
        boards = ", ".join(sorted({mote.board for mote in network.mote}))
        rows.append((name, boards, str(len(network.seats())), network.title))
    return rows


def _scenarios() -> list[tuple[str, ...]]:
    from joulemark.analysis.scenario import read
    from joulemark.catalogue import files
    from joulemark.project import SCENARIOS

    paths = [files.given(name, SCENARIOS, [name]) for name in files.names(SCENARIOS)]
    return [
        ("scenario", "board", "title"),
        *((path.stem, s.board, s.title) for path in paths for s in [read(path)]),
    ]


def _kinds() -> list[tuple[str, ...]]:
    from joulemark.catalogue import kinds
    from joulemark.catalogue.primitives import library

    known = [kind for kind in kinds.known().values() if not kind.file.baseline]
    primitives = [algorithm.kind for algorithm in library().algorithms.values()]
    return [
        ("kind", "primitives", "operations", "title"),
        *(
            (k.name, str(primitives.count(k.name)), ", ".join(k.measured), k.title)
            for k in sorted(known, key=lambda kind: kind.name)
        ),
    ]


def _studies() -> list[tuple[str, ...]]:
    from joulemark.studies import study
    from joulemark.studies.output import head_count

    return [
        ("study", "items", "title"),
        *(
            (name, str(head_count(s)), s.file.title)
            for name in study.names()
            for s in [study.load(name)]
        ),
    ]


def _libraries() -> list[tuple[str, ...]]:
    from joulemark.catalogue import libraries

    return [
        ("library", "Debian package", "title"),
        *((x.name, x.package, x.title) for x in map(libraries.load_library, libraries.names())),
    ]


def _algorithms() -> list[tuple[str, ...]]:
    from joulemark import oracles

    return [
        ("algorithm", "operations", "price of", "title"),
        *(
            (a.name, ", ".join(a.operations), "a byte" if a.sized else "an operation", a.title)
            for _, a in sorted(oracles.algorithms().items())
        ),
    ]
