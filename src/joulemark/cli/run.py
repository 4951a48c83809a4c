"""`joulemark run`: measure a campaign.

joulemark run
joulemark run --primitive "*ccm*" --board openmote-cc2538 --size 40
"""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.cli import app
from joulemark.cli._grouped import grouped
from joulemark.cli._instruments import MeasuringCommand, arguments, given
from joulemark.cli._measuring import conducted, means
from joulemark.cli._options import (
    DEFAULT_STORE,
    AlgorithmOption,
    LayoutOption,
    OptimisationsOption,
    SourceOption,
    StoreOption,
    complete_board,
    complete_kind,
    complete_primitive,
    default_report,
    refuse_left_out,
)
from joulemark.cli._output import Form, table
from joulemark.errors import ClaimError, InputError, VerificationError
from joulemark.words import counted

if TYPE_CHECKING:
    from joulemark.campaign.job import Point
    from joulemark.campaign.options import Options
    from joulemark.conduct import Found, Records
    from joulemark.measure.bench import Bench
    from joulemark.records.store import Store


def _names(option: str, text: str, complete: Any = None) -> Any:
    return typer.Option(
        option, metavar="NAME", help=text + "; repeatable.", autocompletion=complete
    )


def _numbers(texts: list[str] | None, option: str) -> list[int] | None:
    """Return the sizes from an option given once or several times."""
    if not texts:
        return None
    try:
        return [int(part) for text in texts for part in text.split(",")]
    except ValueError:
        what = f"{','.join(texts)!r} is not a list of sizes"
        raise InputError(what, option, "write 16,32,64") from None


class Runner(StrEnum):
    """Runners of images."""

    EMULATOR = "emulator"
    SERIAL = "serial"
    LOCAL = "local"


@dataclass(frozen=True, kw_only=True)
class CampaignOptions:
    """Options that override the campaign file."""

    board: Annotated[list[str] | None, _names("--board", "Board", complete_board)] = None
    clock: Annotated[list[str] | None, _names("--clock", "Clock profile of the board")] = None
    kind: Annotated[list[str] | None, _names("--kind", "Kind of primitive", complete_kind)] = None
    primitive: Annotated[
        list[str] | None, _names("--primitive", "Primitive, or a glob", complete_primitive)
    ] = None
    implementation: Annotated[
        list[str] | None, _names("--implementation", "Implementation, or a glob")
    ] = None
    library: Annotated[
        list[str] | None,
        _names("--library", "With --runner local: a library that is installed, or a glob"),
    ] = None
    algorithm: Annotated[
        list[str] | None, _names("--algorithm", "The library's algorithm, or a glob")
    ] = None
    operation: Annotated[list[str] | None, _names("--operation", "Operation, or a glob")] = None
    size: Annotated[
        list[str] | None,
        typer.Option("--size", metavar="BYTES,...", help="Message sizes; repeatable."),
    ] = None
    ad_size: Annotated[
        list[str] | None,
        typer.Option(
            "--ad-size", metavar="BYTES,...", help="Sizes of associated data (AEAD); repeatable."
        ),
    ] = None
    compiler: Annotated[list[str] | None, _names("--compiler", "Compiler")] = None
    opt: OptimisationsOption = None
    placements: Annotated[
        int | None,
        typer.Option(
            "--placements",
            help="Places in flash, 4 bytes apart, where time depends on them: for `compare`.",
        ),
    ] = None
    repetitions: Annotated[
        int | None, typer.Option("--repetitions", help="Executions in one window.")
    ] = None
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            help="Executions with random keys and messages; 8, or 2 of long messages and with "
            "associated data, when not given.",
        ),
    ] = None
    seed: Annotated[int | None, typer.Option("--seed", help="Seed for the random inputs.")] = None

    def asked(self, path: Path | None) -> "list[Options]":
        """Return the tables of a campaign with these options.

        Raises:
            InputError: the file cannot be read, or a value is wrong.
        """
        from joulemark.campaign.options import read

        changed = asdict(self) | {
            "size": _numbers(self.size, "--size"),
            "ad_size": _numbers(self.ad_size, "--ad-size"),
        }
        if self.algorithm and not self.library and path is None:
            raise InputError("it is a library's", "--algorithm", "give --library")
        if self.library and (self.primitive or self.implementation):
            what = "a campaign is of libraries or of primitives"
            raise InputError(what, "--library, --primitive")
        given = {name: value for name, value in changed.items() if value not in (None, [])}
        return read(path, given)


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """Options that say what runs the images, and what measures them."""

    runner: Annotated[
        Runner,
        typer.Option("--runner", help="Emulated, a board on a serial line, or this machine."),
    ] = Runner.EMULATOR
    port: Annotated[str | None, typer.Option("--port", help="Serial port of the board.")] = None
    meter: Annotated[
        str | None,
        typer.Option(
            "--meter",
            help="Instrument on the board's supply; its options are in `joulemark list meters`.",
        ),
    ] = None
    runs: Annotated[
        int, typer.Option("--runs", min=2, help="Independent runs of a case with an instrument.")
    ] = 5
    supply_v: Annotated[
        float | None, typer.Option("--supply-v", help="Supply voltage; the board's if not given.")
    ] = None
    supply: Annotated[
        str | None, typer.Option("--supply", help="VISA resource of an E3631A that feeds it.")
    ] = None
    unit: Annotated[str, typer.Option("--unit", help="Name of this specimen of the board.")] = (
        "unnamed"
    )
    flash: Annotated[
        bool,
        typer.Option(
            "--flash", help="Flash each image to the board, with the command in the board's file."
        ),
    ] = False

    marker: Annotated[
        str | None,
        typer.Option(
            "--marker-pin",
            metavar="CHIP:LINE",
            help="With --runner local: a pin that is high while a window lasts, for an instrument "
            "beside the machine; /dev/gpiochip0:17, or a file that 0 and 1 are written to.",
        ),
    ] = None
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            help="Length of a window of a library; if not given 0.5 s, with a meter what makes "
            "one of its steps 1%.",
        ),
    ] = None

    def bench(self, told: dict[str, object]) -> "Bench":
        """Return what runs and measures.

        Args:
            told: the meter's options, by parameter.
        """
        from joulemark.measure.bench import Bench

        return Bench(**{**vars(self), "runner": self.runner.value, "told": told})


@app.command(cls=MeasuringCommand)
@grouped
def run(
    ctx: typer.Context,
    options: CampaignOptions,
    on: BenchOptions,
    campaign: Annotated[
        Path | None,
        typer.Argument(
            metavar="CAMPAIGN.toml", help="TOML file; the default campaign when not given."
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Number of processes; one per core if not given."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="Use Dask workers: a scheduler's address (tcp://HOST:8786), or local:N.",
        ),
    ] = None,
    source: SourceOption = None,
    layout: LayoutOption = None,
    as_algorithm: AlgorithmOption = None,
    store: StoreOption = DEFAULT_STORE,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="The HTML report; beside the store if not given."),
    ] = None,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Measure everything again, even what the store already has."),
    ] = False,
    host: Annotated[
        str | None,
        typer.Option(
            "--host",
            metavar="USER@ADDRESS",
            help="With --runner local: the machine that measures itself, over SSH; the records "
            "come into the store here.",
        ),
    ] = None,
    host_command: Annotated[
        str, typer.Option("--host-command", help="Command that starts Joulemark there.")
    ] = "joulemark",
) -> None:
    """Build firmware, run it on an emulated board, verify every output, and keep what it cost.

    What the store already has is served from there. Options override the campaign file. Stopped
    at any moment, the same command goes on where it stopped.

    With --runner serial a real board runs its image, with --runner local this machine does, and
    an instrument measures it. With --runner local --library NAME this machine runs the algorithms
    of a library that is installed, with or without an instrument.
    """
    from joulemark.conduct import plan
    from joulemark.measure.cluster import workers_of
    from joulemark.records.store import Store

    refuse_left_out(layout, ctx.params.get("primitive"))
    asked = options.asked(campaign)
    bench = on.bench(given(ctx))
    for one in asked:
        bench.check(type(one))
    if host is not None:
        from joulemark.cli._remote import run_there
        from joulemark.runners.remote import Host

        if on.runner is not Runner.LOCAL:
            raise InputError("only a machine measures itself", "--host", "give --runner local")
        run_there(Host(host, host_command), arguments(ctx), campaign, store)
        return
    bench.check_marker()
    if cluster is not None and on.runner is not Runner.EMULATOR:
        raise InputError("workers emulate", "--cluster", "leave --runner out")
    with Store(store) as opened, workers_of(cluster, jobs) as workers:
        with means(bench, workers, opened) as used:
            works = [plan(one, used) for one in asked]
        told = partial(_tell, is_emulated=bench.runner == Runner.EMULATOR)
        shown = bench.runner == Runner.EMULATOR
        found = [conducted(opened, w, fresh=fresh, shown=shown, told=told) for w in works]
        measured, served = (sum(len(getattr(f, n)) for f in found) for n in ("measured", "served"))
        typer.echo(
            f"measured {measured}, served from the store: {served} of "
            f"{sum(len(work.points) for work in works)}"
            + ("; --fresh measures again" if served else "")
        )
        for notice in dict.fromkeys(notice for work in works for notice in work.notices):
            typer.echo(notice)
        for result in found:
            _show(opened, result)
        _report(opened, report, found)
    _complain(found)


def _tell(records: "Records", count: str, *, is_emulated: bool) -> None:
    """Print the outcome of cases as soon as it is known, where a case takes long."""
    from joulemark.report import rows
    from joulemark.subjects.primitive import PrimitiveSubject

    for record in records:
        if not isinstance(record.subject, PrimitiveSubject):
            typer.echo(f"{count} {rows.line(record)}", err=True)
        elif not is_emulated:
            failed = [f"failed: {record.failure}"] if record.status == "failed" else []
            for note in (*failed, *record.notes[:2]):
                typer.echo(f"{record.subject}: {note}")


def _show(store: "Store", found: "Found") -> None:
    """Print a table of what was found; load only the records that it shows."""
    from joulemark.records import bounds
    from joulemark.report import rows
    from joulemark.subjects.primitive import PrimitiveSubject

    if any(isinstance(point.case.subject, PrimitiveSubject) for point in found.work.points):
        _show_primitives(store, found)
        return
    good = [r for r in found.records(store) if r.status == "ok"]
    for title, some, _ in rows.tables(good):
        typer.echo(f"{title}\n{table(some, Form.TEXT)}\n")
    for line in bounds.lines(map(bounds.of_record, good)):
        typer.echo(line)


def _show_primitives(store: "Store", found: "Found") -> None:
    from joulemark.cli import _table as best
    from joulemark.records.record import DEPENDENT, of_primitives

    points = found.work.points
    good = {r.key for r in found.measured if r.status == "ok"}
    dependent = {k for k, s in found.served.items() if s.dependent}
    dependent |= {r.key for r in found.measured if r.status == "ok" and r.finding in DEPENDENT}
    has_number = {*found.served, *good}
    wanted = [p.key for p in best.shown(points, has_number)]
    builds = {best.build_of(p) for p in points if p.key in dependent}
    cases = sum(p.key in has_number for p in points)
    best.show(of_primitives(found.records(store, wanted)), builds, cases)


def _report(store: "Store", path: Path | None, found: "Sequence[Found]") -> None:
    """Write the report if there is something new, and say where things are."""
    if path is None:
        path = default_report(store.path)
    new = [r for f in found for r in f.measured if r.status == "ok" and not r.about.baseline]
    if new or (any(f.served for f in found) and not path.exists()):
        from joulemark.report import write_report

        write_report(store, path)
    typer.echo(f"store:  {store.name}")
    if path.exists():
        typer.echo(f"report: {os.fsencode(path).decode('utf-8', 'backslashreplace')}")


def _complain(found: "Sequence[Found]") -> None:
    """Report what failed, and which claims the trials contradict.

    Raises:
        VerificationError: a case failed.
        ClaimError: an implementation claims to be independent of secrets and is not.
    """
    measured = [record for one in found for record in one.measured]
    contradicted = {k for one in found for k, s in one.served.items() if s.contradicts}
    contradicted |= {r.key for r in measured if r.contradicts}
    false: dict[str, set[str]] = {}
    for point in (point for one in found for point in one.work.points):
        if point.key in contradicted:
            subject = point.case.subject
            false.setdefault(_build(point), set()).add(vars(subject)["operation"])
    lines = [f"{build}: {', '.join(sorted(some))}" for build, some in sorted(false.items())]
    claims = (
        "claimed to be independent of secrets, and found to leak:\n" + _list(lines) if lines else ""
    )
    failed = [r for r in measured if r.status == "failed"]
    if failed:
        first = {str(r.failure): str(r.case) for r in reversed(failed)}
        kinds = Counter(str(r.failure) for r in failed)
        lines = [
            f"{count} x {why}\n    {'first: ' * (count > 1)}{first[why]}"
            for why, count in kinds.most_common()
        ]
        what = f"{counted(len(failed), 'case')} failed, without a number:\n" + _list(lines)
        raise VerificationError(f"{what}\n{claims}" if claims else what)
    if claims:
        raise ClaimError(claims)


def _build(point: "Point") -> str:
    subject, where = vars(point.case.subject), point.case.conditions
    named = f"{subject['primitive']}/{subject['implementation']}, {point.case.build}"
    return f"{named}, on {where.board}"


def _list(lines: Sequence[str], most: int = 10) -> str:
    rest = [f"and {len(lines) - most} more, all in the store"] if len(lines) > most else []
    return "\n".join(f"  {line}" for line in (*lines[:most], *rest))
