"""`joulemark update`: does a secure firmware update fit a board, and what does it cost?

joulemark update --board nrf52840-dk --image 64K --signature lms
"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.battery import DEFAULT_MAH
from joulemark.cli import app
from joulemark.cli._grouped import grouped
from joulemark.cli._options import DEFAULT_STORE, StoreOption
from joulemark.cli._output import Form, FormOption, figures, say, table
from joulemark.errors import UnsatisfiedError
from joulemark.subjects.update.options import UpdateOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from joulemark.records.record import Record
    from joulemark.subjects import Subject
    from joulemark.subjects.update import UpdateSubject

_SECONDS_PER_HOUR = 3600


@app.command()
@grouped
def update(
    asked: UpdateOptions,
    per_year: Annotated[float, typer.Option("--per-year", min=0, help="Updates a year.")] = 12.0,
    battery_mah: Annotated[
        float, typer.Option("--battery-mah", min=1, help="Capacity of the battery.")
    ] = DEFAULT_MAH,
    store: StoreOption = DEFAULT_STORE,
    form: FormOption = Form.TEXT,
) -> None:
    """Price a signed firmware update: what its bootloader needs, and what each stage takes.

    A bootloader with two slots is built and emulated. It receives an update over the serial line,
    hashes, verifies and writes it, and starts it. Receiving it by radio comes beside that: emulated
    where the firmware drives the board's radio, computed where it does not; energy of an update
    and a year is by radio where the board has one. Without a signature all are compared, and what
    does not fit is told with the bytes that are missing.
    """
    from joulemark.conduct import Means, conduct, plan
    from joulemark.measure.pool import Processes
    from joulemark.records.record import of_type
    from joulemark.records.store import Store
    from joulemark.report import rows
    from joulemark.subjects.update import UpdateSubject, page

    work = plan(asked, Means(workers=Processes(1)))
    with Store(store) as kept:
        found = sorted(conduct(work, kept).records(kept), key=lambda record: record.order)
    good = of_type([record for record in found if record.status == "ok"], UpdateSubject)
    failed = [record for record in found if record.status == "failed"]
    if form in {Form.JSON, Form.CSV} and good:
        typer.echo(_flat(good, failed, per_year, battery_mah, form))
        return
    for name in dict.fromkeys(asked.board):
        here = [record for record in good if record.conditions.board == name]
        tables = [one[:2] for one in rows.tables(here)]
        for title, some in [*tables, *_years(here, per_year, battery_mah)]:
            typer.echo(f"{title}\n{table(some, form, _FIRST_LEFT_OUT)}\n")
        if here:
            say("\n".join([_SUM, *page.errors(here), ""]))
    if good or len(failed) > 1:
        for record in failed:
            say(f"{record.subject.tagged['signature']} does not fit: {record.failure}")
    if not good:
        errors = list(work.errors.values())
        if len(errors) == 1:
            raise errors[0]
        where = ", ".join(dict.fromkeys(asked.board))
        what = f"none of {len(errors)} signatures fits an image of {asked.image_bytes:,} bytes"
        raise UnsatisfiedError(what, where, "give a smaller --image, or another --board")


_SUM = (
    "update mJ: reception (radio mJ, or receive mJ where the board has no radio), hash, verify and "
    "flash mJ; a year is of updates, without starts"
)
_FIRST_LEFT_OUT = (
    *("slots B", "keys B", "build", "manifest B", "frames", "on air B"),
    *("erase ms", "write ms", "receive ms", "hash ms", "radio ms"),
)
"""Columns that a narrow terminal omits, in this order."""


def _flat(
    good: "list[Record[UpdateSubject]]",
    failed: "Sequence[Record[Subject]]",
    per_year: float,
    battery_mah: float,
    form: Form,
) -> str:
    """Return one row an update, of all tables' columns; what does not fit has its reason alone."""
    from joulemark.catalogue import boards
    from joulemark.report import rows as tabled
    from joulemark.subjects.update import page

    rows: list[dict[str, Any]] = []
    errors = []
    for record in good:
        board = boards.load_board(record.conditions.board)
        row: dict[str, Any] = {
            "board": board.name,
            "image B": record.subject.image_bytes,
            "updates a year": per_year,
            "battery mAh": battery_mah,
            "supply V": board.supply_v.value,
        }
        of_stages = [one[:2] for one in tabled.tables([record])]
        for _, some in [*of_stages, *_years([record], per_year, battery_mah)]:
            row |= some[0]
        rows.append({**row, "does not fit": None})
        errors.append("; ".join(page.of_record(record)))
    names = dict.fromkeys(name for row in rows for name in row)
    for lacking in failed:
        rows.append(
            {
                "board": lacking.conditions.board,
                "image B": lacking.subject.tagged["image_bytes"],
                "signature": lacking.subject.tagged["signature"],
                "does not fit": lacking.failure,
            }
        )
        errors.append("")
    return figures([{name: row.get(name) for name in names} for row in rows], errors, form)


def _years(
    records: "list[Record[UpdateSubject]]", per_year: float, battery_mah: float
) -> "list[tuple[str, list[dict[str, Any]]]]":
    """Return what a year of updates takes of a battery, by board."""
    from joulemark.catalogue import boards
    from joulemark.subjects.update.choose import energy_nj

    found: dict[str, list[dict[str, Any]]] = {}
    supplies: dict[str, float] = {}
    for record in records:
        board = boards.load_board(record.conditions.board)
        nj, by_radio = energy_nj(record)
        joule = nj * 1e-9
        capacity_j = battery_mah / 1000 * _SECONDS_PER_HOUR * board.supply_v.value
        supplies[board.name] = board.supply_v.value
        found.setdefault(board.name, []).append(
            {
                "signature": record.subject.signature,
                "received by": "radio" if by_radio else "serial line",
                "update mJ": round(1e3 * joule, 2),
                "year J": round(per_year * joule, 3),
                "% of battery": round(100 * per_year * joule / capacity_j, 4),
            }
        )
    title = f"{per_year:g} updates a year from {battery_mah:g} mAh"
    return [(f"{title} at {supplies[on]:g} V, {on}", rows) for on, rows in found.items()]
