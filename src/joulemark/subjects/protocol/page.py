"""Secure protocols as a table, and how a number of one is made again."""

from collections.abc import Iterator, Sequence
from typing import Any

from joulemark import words
from joulemark.records import bounds
from joulemark.records.record import Record
from joulemark.report.rows import Table
from joulemark.subjects.protocol import ProtocolSubject

_HOW = ("build", "lost", "seed")


def tables(records: Sequence[Record[ProtocolSubject]]) -> Iterator[Table]:
    """Yield a table of each board."""
    good = [record for record in records if record.status == "ok"]
    for board in dict.fromkeys(record.conditions.board for record in good):
        some = [record for record in good if record.conditions.board == board]
        errors = bounds.lines(map(bounds.of_record, some))
        rows = [*map(_row, some)]
        # Builds and losses are shown where they differ.
        same = {name for name in _HOW if len({row[name] for row in rows}) == 1}
        shown = [{name: row[name] for name in row if name not in same} for row in rows]
        yield Table(f"Secure protocols between two of {board}", shown, errors)


def _row(record: Record[ProtocolSubject]) -> dict[str, Any]:
    what = record.subject
    return {
        "protocol": what.protocol,
        "side": what.side,
        "build": str(record.build or what.image),
        "lost": f"{what.loss_ppm / 1e4:g}%",
        "seed": what.seed,
        "ms": _scaled(record, "time", 1e9),
        "mJ": _scaled(record, "energy_gross", 1e6),
        "each ms": _scaled(record, "time", 1e9, "each"),
        "each µJ": _scaled(record, "energy_gross", 1e3, "each"),
        "flash": record.flash_bytes,
        "RAM": record.ram_bytes,
        "stack": record.stack_bytes,
    }


def _scaled(record: Record[ProtocolSubject], name: str, by: float, part: str = "") -> float | None:
    value = record.value(name, part)
    return None if value is None else round(value / by, 2)


def command(record: Record[ProtocolSubject]) -> str:
    """Return the command that runs the protocol again; empty for images, whose files are theirs."""
    what, build = record.subject, record.build
    if what.for_ms:
        return ""
    return words.command(
        "handshake",
        options={
            "protocol": what.protocol,
            "board": record.conditions.board,
            "opt": build.optimisation if build else None,
            "records": what.records,
            "request-size": what.request_bytes,
            "response-size": what.response_bytes,
            "loss": what.loss_ppm / 1e6 if what.loss_ppm else None,
            "runs": 1 if what.loss_ppm else None,
            "seed": what.seed if what.loss_ppm else None,
        },
    )
