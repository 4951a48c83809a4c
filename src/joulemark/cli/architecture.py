"""`joulemark architecture`: what each module of a security architecture costs."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.cli import app
from joulemark.cli._options import DEFAULT_STORE, StoreOption
from joulemark.cli._output import Form, FormOption, table

if TYPE_CHECKING:
    from joulemark.campaign.subjects.architecture import ArchitectureSubject
    from joulemark.records.record import Record

_LIST = "list"
_TITLES = {
    "memory": "Memory, by wiring each module in (bytes)",
    "processing": "Processing",
    "communication": "Communication, and energy of the radio at full power",
}
_US = 1e6
_NJ_TO_UJ = 1e-3


@app.command()
def architecture(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="`list` lists them.", show_default=False)
    ],
    board: Annotated[str, typer.Option("--board", metavar="NAME")] = "telosb",
    clock: Annotated[
        str | None, typer.Option("--clock", metavar="NAME", help="The board's first if not given.")
    ] = None,
    compiler: Annotated[str, typer.Option("--compiler", metavar="NAME")] = "clang",
    opt: Annotated[str, typer.Option("--opt", metavar="NAME", help="O3, O2 or Os.")] = "Os",
    trials: Annotated[int, typer.Option("--trials", min=1, max=1000)] = 10,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of keys, nonces, payloads.")] = 1,
    form: FormOption = Form.TEXT,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Price an architecture's modules: memory, processing, communication, energy.

    Builds every wiring, executes every operation on the emulated board with its output verified,
    and keeps the results in the store. The method is that of daidone-2014, section IV.
    """
    from joulemark.campaign.case import Build
    from joulemark.catalogue import boards
    from joulemark.catalogue.architectures import load_architecture, names
    from joulemark.measure.architecture import Pricing
    from joulemark.records.store import Store

    if name == _LIST:
        for known in names():
            typer.echo(f"{known}  {load_architecture(known).title}")
        return
    where = boards.load_board(board)
    pricing = Pricing(
        architecture=load_architecture(name),
        board=where,
        clock=clock or where.default_clock,
        build=Build(compiler=compiler, optimisation=opt),
        trials=trials,
        seed=seed,
    )
    found = []
    with Store(store) as opened:
        for record in pricing.records():
            opened.append(record)
            found.append(record)
    _show(found, form)


def _show(records: "list[Record[ArchitectureSubject]]", form: Form) -> None:
    if form in {Form.CSV, Form.JSON}:
        rows = [
            {
                "aspect": r.subject.aspect,
                "row": r.subject.row,
                "quantity": q.column(),
                "value": q.value,
                "lower": q.lower,
                "upper": q.upper,
                "grade": q.grade,
            }
            for r in records
            for q in r.quantities
        ]
        typer.echo(table(rows, form))
        return
    first = records[0]
    where = f"{first.conditions.board} at {first.provenance.clock_hz / 1e6:g} MHz, {first.build}"
    for aspect, title in _TITLES.items():
        some = [r for r in records if r.subject.aspect == aspect]
        if some:
            typer.echo(f"{title}: {where}\n")
            typer.echo(table([_row(r) for r in some], form) + "\n")


def _row(record: "Record[ArchitectureSubject]") -> dict[str, Any]:
    values = {q.column(): q for q in record.quantities}
    row: dict[str, Any] = {"": record.subject.row}
    if record.subject.aspect == "memory":
        with_all = {name: values.get(f"with_all_{name}_bytes") for name in ("flash", "ram")}
        return row | {
            "flash": values["flash_bytes"].value,
            "RAM": values["ram_bytes"].value,
            "flash with all": None if with_all["flash"] is None else with_all["flash"].value,
            "RAM with all": None if with_all["ram"] is None else with_all["ram"].value,
        }
    time_us = values["time_ps"].value / _US
    if record.subject.aspect == "communication":
        energy = values["radio_energy_nj"].value * _NJ_TO_UJ
        return row | {"bytes": values["on_air_bytes"].value, "µs": time_us, "µJ": energy}
    timer = values.get("timer_time_ps")
    return row | {
        "cycles": values["cycles"].value,
        "µs": time_us,
        "µs by its timer": None if timer is None else timer.value / _US,
        "µJ": values["energy_gross_nj"].value * _NJ_TO_UJ,
        "stack": values["stack_bytes"].value,
    }
