"""Migrate older stores to the present schema without losing anything that they hold.

Schemas 1 to 3 had one table with a column for each number; later versions of it had more columns.
Schema 4 did not record which keys may be used for one message only.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from joulemark import subjects
from joulemark.campaign.case import Build, Conditions
from joulemark.catalogue import boards, chips
from joulemark.catalogue.boards import MCU
from joulemark.errors import InputError
from joulemark.records import tables
from joulemark.records.record import (
    IN_STATE,
    Provenance,
    Quantity,
    Record,
    number,
)
from joulemark.subjects import About, Subject
from joulemark.subjects.primitive import PrimitiveSubject

_OLD = "records_before_4"
_AT_ONCE = 500
_SUBJECT = ("kind", "primitive", "implementation", "operation")
_SIZES = ("message_bytes", "ad_bytes", "tag_bytes")
_PLAIN = (
    # column, name, unit
    ("window_cycles", "window_cycles", "cycles"),
    ("empty_cycles", "empty_cycles", "cycles"),
    ("instructions", "instructions", "instructions"),
    ("window_instructions", "window_instructions", "instructions"),
    ("empty_instructions", "empty_instructions", "instructions"),
    ("time_ps", "time", "ps"),
    ("timer_time_ps", "timer_time", "ps"),
    ("flash_bytes", "flash", "B"),
    ("ram_bytes", "ram", "B"),
    ("flash_wiring_bytes", "flash_wiring", "B"),
    ("ram_wiring_bytes", "ram_wiring", "B"),
    ("stack_bytes", "stack", "B"),
    ("stack_painted_bytes", "stack_painted", "B"),
)


def migrate(connection: sa.Connection, version: int) -> None:
    """Migrate a store from an older schema to the present one, within a transaction."""
    if version < 4:
        _from_one_table(connection)
    else:
        _add_one_time_key(connection)
    connection.execute(tables.schema.update().values(version=tables.SCHEMA_VERSION))


def _add_one_time_key(connection: sa.Connection) -> None:
    connection.execute(sa.text("ALTER TABLE records ADD COLUMN one_time_key BOOLEAN"))
    columns = tables.records.c
    known: dict[bool, list[int]] = {True: [], False: []}
    for identity, tagged in connection.execute(sa.select(columns.id, columns.subject)):
        subject = subjects.subject(tagged)
        answer = _about(subject).one_time_key
        if answer is not None:
            known[answer].append(identity)
    for answer, identities in known.items():
        for start in range(0, len(identities), _AT_ONCE):
            some = columns.id.in_(identities[start : start + _AT_ONCE])
            connection.execute(tables.records.update().where(some).values(one_time_key=answer))


def _from_one_table(connection: sa.Connection) -> None:
    for index in sa.inspect(connection).get_indexes("records"):
        connection.execute(sa.text(f'DROP INDEX "{index["name"]}"'))
    connection.execute(sa.text(f"ALTER TABLE records RENAME TO {_OLD}"))
    tables.metadata.create_all(connection, tables=[tables.records, tables.quantities])
    old = sa.Table(_OLD, sa.MetaData(), autoload_with=connection)
    for name in ("samples", "notes", "power_states_ps"):
        if name in old.c:
            old.c[name].type = sa.JSON()
    last = 0
    while True:
        query = sa.select(old).where(old.c.id > last).order_by(old.c.id).limit(_AT_ONCE)
        rows = connection.execute(query).mappings().all()
        if not rows:
            break
        last = rows[-1]["id"]
        made = [
            (row["id"], _record({k: v for k, v in row.items() if v is not None})) for row in rows
        ]
        connection.execute(
            tables.records.insert(), [{"id": i, **tables.record_row(r)} for i, r in made]
        )
        numbers = [row for i, r in made for row in tables.quantity_rows(r, i)]
        if numbers:
            connection.execute(tables.quantities.insert(), numbers)
    if connection.dialect.name == "postgresql":
        connection.execute(
            sa.text(
                "SELECT setval(pg_get_serial_sequence('records', 'id'),"
                " (SELECT coalesce(max(id), 0) + 1 FROM records), false)"
            )
        )
    connection.execute(sa.text(f"DROP TABLE {_OLD}"))


def _record(old: Mapping[str, Any]) -> Record[PrimitiveSubject]:
    """Convert a row without its missing values to a record."""
    row = defaultdict(lambda: None, old)
    subject = PrimitiveSubject(**{n: row[n] for n in (*_SUBJECT, *_SIZES)})
    board_title, timing_note = _board(row["board"])
    claim = old.get("secret_independent_claim")
    about = _about(subject)
    return Record(
        key=row["key"],
        measured_at=row["measured_at"],
        status=row["status"],
        failure=row["failure"],
        subject=subject,
        build=Build(compiler=row["compiler"], optimisation=row["optimisation"]),
        conditions=Conditions(
            board=row["board"],
            clock=row["clock"],
            runner=row["runner"],
            meter=row["meter"],
            unit=row["unit"],
            repetitions=_asked(row),
        ),
        about=About(**{**vars(about), "secret_independent": claim}),
        provenance=Provenance(
            **{n: row[n] for n in ("seed", "host", "clock_hz", "chip")},
            **{n: row[n] for n in ("board_digest", "chip_digest", "compiler_version", "flags")},
            **{n: row[n] for n in ("image_digest", "build_id", "project_commit")},
            engine_version=row["engine_version"],
            board_title=board_title,
            timing_note=timing_note,
            memories_keep_state=old.get("memories_keep_state"),
        ),
        repetitions=row["repetitions"],
        trials=row["trials"],
        addresses_equal=row["addresses_equal"],
        quantities=tuple(_quantities(old)),
        samples=tuple(old.get("samples", ())),
        notes=tuple(old.get("notes", ())),
    )


def _quantities(old: Mapping[str, Any]) -> Iterator[Quantity]:
    exact = bool(old.get("exact"))
    if "cycles" in old:
        yield Quantity(
            "",
            "cycles",
            "cycles",
            number(old["cycles"]),
            number(old["cycles_min"]),
            number(old["cycles_max"]),
            "range",
            None,
            exact,
        )
    for column, name, unit in _PLAIN:
        if column in old:
            yield Quantity("", name, unit, number(old[column]))
    for name in ("energy_gross", "energy_net"):
        if f"{name}_nj" in old:
            value, half = old[f"{name}_nj"], old.get(f"{name}_half_width_nj")
            yield Quantity(
                "",
                name,
                "nJ",
                number(value),
                None if half is None else number(value - half),
                None if half is None else number(value + half),
                None if half is None else "interval",
                old.get("energy_grade"),
            )
    for state, picoseconds in old.get("power_states_ps", {}).items():
        yield Quantity(MCU, IN_STATE + state, "ps", picoseconds)


def _asked(row: Mapping[str, Any]) -> int:
    """Return the requested repetitions: a runner with an instrument chose as many as it needed.

    They are found from the case's digest, which was computed from the requested number.
    """
    names = (*_SUBJECT, *_SIZES, "board", "clock", "compiler", "optimisation")
    for asked in (row["repetitions"], 1):
        values = {**{n: row[n] for n in names}, "repetitions": asked}
        text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        digest = hashlib.sha256(text.encode()).hexdigest()
        if row["runner"] != "emulator":
            told = f"{row['runner']}/{row['meter']}/{row['unit']}/{digest}"
            digest = hashlib.sha256(told.encode()).hexdigest()
        if digest == row["case_digest"]:
            return asked
    return int(row["repetitions"])


@lru_cache(maxsize=4096)
def _about(subject: Subject) -> About:
    """Return the description from today's files, which is what reports of older stores used."""
    try:
        return subject.about()
    except InputError:
        return About()


@lru_cache
def _board(name: str) -> tuple[str, str]:
    try:
        board = boards.load_board(name)
        return board.title, chips.load_chip(board.chip).timing_note
    except InputError:
        return "", ""
