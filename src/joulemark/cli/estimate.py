"""`joulemark estimate`: estimate primitives on a Linux board that is not at hand.

joulemark estimate raspberry-pi-3b --primitive sha-256
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.cli import app
from joulemark.cli._grouped import grouped
from joulemark.cli._options import DEFAULT_STORE, StoreOption
from joulemark.cli._output import Form, FormOption, table
from joulemark.cli.run import CampaignOptions
from joulemark.errors import InputError, VerificationError
from joulemark.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from joulemark.campaign.options import Options
    from joulemark.catalogue.machines import Machine
    from joulemark.conduct import Records, Work
    from joulemark.records.record import Record
    from joulemark.records.store import Store
    from joulemark.subjects.library.options import LibraryOptions
    from joulemark.subjects.primitive import PrimitiveSubject
    from joulemark.subjects.primitive.options import PrimitiveOptions


@app.command()
@grouped
def estimate(
    machine: Annotated[
        str, typer.Argument(metavar="MACHINE", help="Machine; see `joulemark list machines`.")
    ],
    options: CampaignOptions,
    campaign: Annotated[
        Path | None, typer.Argument(metavar="CAMPAIGN.toml", help="TOML file.")
    ] = None,
    made_for: Annotated[
        str | None,
        typer.Option(
            "--architecture",
            help="Instruction set, where the machine has several, such as aarch64.",
        ),
    ] = None,
    library_source: Annotated[
        str | None,
        typer.Option(
            "--library-source",
            metavar="debian|tag:TAG|FOLDER",
            help="Build the library for the machine's own processor, from Debian's source package, "
            "from a tag of its repository or from the folder of an unpacked release.",
        ),
    ] = None,
    library_flag: Annotated[
        list[str] | None,
        typer.Option(
            "--library-flag",
            help="With --library-source: a further flag of its compiler. Repeatable.",
        ),
    ] = None,
    library_compiler: Annotated[
        str | None,
        typer.Option(
            "--library-compiler",
            metavar="gcc-6|gcc-9",
            help="With --library-source: an earlier GCC, of Debian or Ubuntu.",
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    form: FormOption = Form.TEXT,
) -> None:
    """Compile primitives for a Linux board, run them under QEMU, verify them and estimate cycles.

    With --library: the algorithms of a library, of that board's Debian packages.

    Every number is an estimate by a model of the board's core, and says how far off such
    estimates were.
    """
    from joulemark.catalogue.machines import load_machine
    from joulemark.images import toolchain
    from joulemark.images.architectures import architecture
    from joulemark.images.from_source import Source
    from joulemark.measure import estimated
    from joulemark.measure.estimated import model
    from joulemark.records.store import Store
    from joulemark.subjects.library.measure import estimated as work_of
    from joulemark.subjects.library.options import LibraryOptions
    from joulemark.subjects.library.plan import estimates, refuse_empty
    from joulemark.subjects.primitive import estimated as primitives

    chosen, found = _one(options.asked(campaign)), load_machine(machine)
    names = [str(name) for name in found.architectures]
    if made_for is not None and made_for not in names:
        raise InputError(
            f"the {found.title} does not execute {made_for}",
            "--architecture",
            f"it executes {', '.join(names)}",
        )
    if library_source is not None and not isinstance(chosen, LibraryOptions):
        raise InputError("is of a library", "--library-source", "give --library")
    for name, given in (("flag", library_flag), ("compiler", library_compiler)):
        if given and library_source is None:
            what = "is of a library's source"
            raise InputError(what, f"--library-{name}", "give --library-source")
    source = None
    if library_source is not None:
        source = Source(library_source, tuple(library_flag or ()), library_compiler or "")
    target = architecture(made_for or names[0])
    # Fail before anything is built.
    model(found.core, target.name)
    with Store(store) as opened:
        if isinstance(chosen, LibraryOptions):
            compiler = partial(toolchain.find, "clang", "host")
            toolchain.refuse_missing([compiler, *primitives.needs(found, target)])
            planned = list(estimates(chosen, found, target, estimated.method(), source))
            refuse_empty(planned, chosen)
            _libraries(work_of(planned, found, target), found, target.name, opened, form)
            return
        wanted = primitives.Wanted(chosen, found, target.name)
        (records,) = primitives.records([wanted], opened)
    good = [record for record in records if record.status == "ok"]
    if good or form is Form.JSON:
        typer.echo(table([_row(r) for r in sorted(good, key=lambda r: r.order)], form))
    if good:
        _explain(found, target.name, form)
    _refuse_failed(records)


def _one(asked: "Sequence[Options]") -> "LibraryOptions | PrimitiveOptions":
    """Return the only table of a campaign.

    Raises:
        InputError: it has others, or is of neither primitives nor libraries.
    """
    from joulemark.subjects.library.options import LibraryOptions
    from joulemark.subjects.primitive.options import PrimitiveOptions

    one, *more = asked
    if more or not isinstance(one, LibraryOptions | PrimitiveOptions):
        what = "one table of primitives or of a library is estimated at a time"
        raise InputError(what, ", ".join(dict.fromkeys(a.type for a in asked)))
    return one


def _libraries(
    work: "Work", found: "Machine", architecture: str, store: "Store", form: Form
) -> None:
    """Estimate rows of libraries, and show them."""
    from joulemark.conduct import conduct
    from joulemark.report import rows

    def made(records: "Records") -> None:
        for record in records:
            typer.echo(rows.line(record), err=True)

    conducted = conduct(work, store, made=made)
    good = [record for record in conducted.records(store) if record.status == "ok"]
    tables = list(rows.tables(good))
    if form is Form.JSON:
        typer.echo(table([row for _, some, _ in tables for row in some], form))
    for title, some, _ in tables if form is not Form.JSON else ():
        typer.echo(f"{title}\n{table(some, form)}\n")
    if good:
        _explain(found, architecture, form)
    _refuse_failed(conducted.measured)


def _explain(found: "Machine", architecture: str, form: Form) -> None:
    from joulemark.measure.estimated import ERROR

    if form in (Form.TEXT, Form.MARKDOWN):
        core = f"{found.core} ({architecture}) at {found.nominal_hz / 1e6:g} MHz"
        typer.echo(f"\n{found.title}, {core}; {ERROR}")


def _refuse_failed(records: "Sequence[Record[Any]]") -> None:
    if failed := [record for record in records if record.status != "ok"]:
        raise VerificationError(f"{counted(len(failed), 'case')} failed: {failed[0].failure}")


def _row(record: "Record[PrimitiveSubject]") -> dict[str, object]:
    subject = record.subject
    cycles, energy = record.cycles or 0, record.energy_gross_nj
    return {
        "primitive": subject.primitive,
        "implementation": subject.implementation,
        "operation": subject.operation,
        "bytes": subject.message_bytes,
        "cycles": round(cycles),
        "instructions": round(record.instructions or 0),
        "µs": (record.time_ps or 0) / 1e6,
        "µJ": None if energy is None else energy / 1e3,
        "grade": "estimated",
    }
