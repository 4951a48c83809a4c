"""`joulemark architecture`: price each module of a security architecture.

joulemark architecture plasa --board telosb
"""

import itertools
from typing import TYPE_CHECKING, Any

import typer

from joulemark.cli import app
from joulemark.cli._grouped import grouped
from joulemark.cli._options import DEFAULT_STORE, SourceOption, StoreOption
from joulemark.cli._output import Form, FormOption, figures, table
from joulemark.subjects.architecture.options import ArchitectureOptions

if TYPE_CHECKING:
    from joulemark.records.record import Record
    from joulemark.subjects.architecture import ArchitectureSubject

_LIST = "list"
_PS_TO_US = 1e-6
_NJ_TO_UJ = 1e-3


@app.command()
@grouped
def architecture(
    asked: ArchitectureOptions,
    source: SourceOption = None,
    form: FormOption = Form.TEXT,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Price an architecture's modules: memory, processing, communication, energy, attacks.

    Builds every wiring, executes every operation on the emulated board with its output verified,
    runs its network, and keeps the results in the store. A stored table is not measured again if
    nothing has changed. Policies and modules of your own are in a folder of --source
    (`joulemark new policy NAME`). The method is that of daidone-2014, section IV. An attack that
    succeeds ends it with exit code 6.
    """
    from joulemark.catalogue.architectures import load_architecture, names
    from joulemark.conduct import Means, conduct, plan
    from joulemark.measure.pool import Processes
    from joulemark.records.record import of_type
    from joulemark.records.store import Store
    from joulemark.subjects.architecture import ArchitectureSubject

    if asked.architecture == (_LIST,):
        for known in names():
            typer.echo(f"{known}  {load_architecture(known).title}")
        return
    work = plan(asked, Means(workers=Processes(1)))
    with Store(store) as opened:
        found = of_type(conduct(work, opened).records(opened), ArchitectureSubject)
    for error in work.errors.values():
        raise error
    if form in {Form.CSV, Form.JSON}:
        _show(found, form)
        return
    for _, some in itertools.groupby(
        found, lambda record: (record.subject.architecture, record.conditions.board)
    ):
        _show(list(some), form)


def _show(records: "list[Record[ArchitectureSubject]]", form: Form) -> None:
    from joulemark.records import bounds

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
                "error": bounds.of_quantity(r, q),
            }
            for r in records
            for q in r.quantities
        ]
        typer.echo(table(rows, form))
        return
    first = records[0]
    where = f"{first.conditions.board} at {first.provenance.clock_hz / 1e6:g} MHz, {first.build}"
    if first.subject.wiring:
        where += f", {', '.join(first.subject.wiring)}"
    for title, aspects, row in (
        ("Memory, by wiring each module in (bytes)", {"memory"}, _memory),
        ("Processing", {"processing"}, _processing),
        ("Communication: computed, and as seen on the air", {"communication"}, _communication),
        (
            "Energy (µJ): one power by time; and by the parts' states",
            {"processing", "communication"},
            _energy,
        ),
        ("Attacks, of which none succeeded: what each costs its victim", {"attack"}, _attack),
    ):
        some = [r for r in records if r.subject.aspect in aspects]
        if some:
            typer.echo(f"{title}: {where}\n")
            shown = [{"": r.subject.row, **row(_Values(r))} for r in some]
            errors = list(map(bounds.of_record, some))
            typer.echo(
                (table(shown, form) if aspects == {"memory"} else figures(shown, errors, form))
                + "\n"
            )


class _Values:
    """Quantities of a record by their columns; None for a missing one."""

    def __init__(self, record: "Record[ArchitectureSubject]") -> None:
        self._of = {q.column(): q for q in record.quantities}

    def __call__(self, column: str, scale: float | None = None) -> Any:
        found = self._of.get(column)
        if found is None:
            return None
        return found.value if scale is None else found.value * scale

    def half_width(self, column: str, scale: float) -> Any:
        found = self._of.get(column)
        half = None if found is None else found.half_width
        return None if half is None else half * scale


def _memory(value: _Values) -> dict[str, Any]:
    return {
        "flash": value("flash_bytes"),
        "RAM": value("ram_bytes"),
        "flash with all": value("with_all_flash_bytes"),
        "RAM with all": value("with_all_ram_bytes"),
        "flash given back": value("given_back_flash_bytes"),
    }


def _processing(value: _Values) -> dict[str, Any]:
    return {
        "cycles": value("cycles"),
        "µs": value("time_ps", _PS_TO_US),
        "µs by its timer": value("timer_time_ps", _PS_TO_US),
        "± 95%": value.half_width("timer_time_ps", _PS_TO_US),
        "stack": value("stack_bytes"),
    }


def _communication(value: _Values) -> dict[str, Any]:
    return {
        "bytes": value("on_air_bytes"),
        "µs": value("time_ps", _PS_TO_US),
        "frames seen": value("seen_frames"),
        "µs on air": value("seen_time_ps", _PS_TO_US),
    }


def _energy(value: _Values) -> dict[str, Any]:
    formula = value("power_by_time_nj", _NJ_TO_UJ)
    states = value("energy_gross_nj", _NJ_TO_UJ)
    return {
        "µJ": value("radio_energy_nj", _NJ_TO_UJ) if formula is None else formula,
        "µJ by states": value("seen_energy_nj", _NJ_TO_UJ) if states is None else states,
    }


def _attack(value: _Values) -> dict[str, Any]:
    seconds = value("time_ps", 1e-12)
    more = value("energy_more_nj", _NJ_TO_UJ)
    frames = value("attacker_frames")
    return {
        "frames": frames,
        "µJ a frame": more / frames if frames else None,
        "mW more": more / seconds * 1e-3,
        "mW before": value("energy_before_nj", _NJ_TO_UJ) / seconds * 1e-3,
        "of it MCU": value("mcu_energy_more_nj", _NJ_TO_UJ) / seconds * 1e-3,
        "of it radio": value("radio_energy_more_nj", _NJ_TO_UJ) / seconds * 1e-3,
    }
