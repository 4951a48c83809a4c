"""Updates as tables: what is needed, what it takes, and what each stage takes."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from joulemark.records import bounds
from joulemark.records.record import Record
from joulemark.report.rows import Table
from joulemark.subjects.update import UpdateSubject
from joulemark.subjects.update.signatures import signature

STAGES = ("receive", "hash", "verify", "erase", "write", "read", "install")
_OF_FLASH = ("erase", "write", "read", "install")


def _ms(record: Record[UpdateSubject], part: str) -> float | None:
    ps = record.value("time", part)
    return None if ps is None else round(ps / 1e9, 1)


def _mj(record: Record[UpdateSubject], part: str) -> float | None:
    nj = record.value("energy_gross", part)
    return None if nj is None else round(nj / 1e6, 2)


def of_record(record: Record[UpdateSubject]) -> list[str]:
    """Return how far a record's figures may be off, and what another image would change."""
    return [bounds.of_record(record), *of_images([record.subject.signature])]


def errors(records: Sequence[Record[UpdateSubject]]) -> list[str]:
    """Return the same of some records, as the lines that stand below their tables."""
    names = [record.subject.signature for record in records]
    return [*bounds.lines(map(bounds.of_record, records)), *of_images(names)]


def of_images(names: Iterable[str]) -> Iterator[str]:
    """Yield what verifications of other images take, by signature, where the image decides it."""
    by_spread: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        if (spread := signature(name).spread) is not None:
            low, high = (100 * (share - 1) for share in spread)
            by_spread.setdefault(f"{low:+.0f}% to {high:+.0f}%", []).append(name)
    if by_spread:
        each = "; ".join(f"{', '.join(names)} {told}" for told, names in by_spread.items())
        yield (
            "verification and start are of one image, whose digest decides how many hashes they "
            f"take; of the mean, 95% of images take: {each}; this one may be any of them"
        )


def line(record: Record[UpdateSubject]) -> str:
    """Describe an update in a line."""
    return (
        f"{record.subject} on {record.conditions.board}: {record.value('flash'):,} B flash, "
        f"{record.value('ram'):,} B RAM, {_ms(record, '')} ms, {_mj(record, '')} mJ; boot "
        f"{_ms(record, 'boot')} ms"
    )


def tables(records: Sequence[Record[UpdateSubject]]) -> Iterator[Table]:
    """Yield the tables, each of one board and size of image."""
    groups = dict.fromkeys((r.conditions.board, r.subject.image_bytes) for r in records)
    for board, size in groups:
        some = [
            r
            for r in records
            if r.status == "ok" and (r.conditions.board, r.subject.image_bytes) == (board, size)
        ]
        if some:
            title = f"{size:,} bytes on {board}"
            errors_here = errors(some)
            yield Table(f"Bootloaders for updates of {title}", [*map(_needs, some)], errors_here)
            rows = [_takes(one) for one in some]
            if len({one.subject.signature for one in some}) < len(some):
                # A signature by several implementations or builds is told apart, as above.
                which = [
                    {name: needs[name] for name in ("signature", "implementation", "build")}
                    for needs in map(_needs, some)
                ]
                rows = [ways | row for ways, row in zip(which, rows, strict=True)]
            # A board without a radio in its file has none of its columns.
            used = [name for name in rows[0] if any(row[name] is not None for row in rows)]
            shown = [{name: row[name] for name in used} for row in rows]
            yield Table(f"Updates of {title}", shown, errors_here)


def _needs(record: Record[UpdateSubject]) -> dict[str, Any]:
    return {
        "signature": record.subject.signature,
        "implementation": record.subject.implementation,
        "build": str(record.build),
        "flash B": record.value("flash"),
        "keys B": record.value("flash_keys"),
        "slots B": record.value("flash_slots"),
        "RAM B": record.value("ram"),
        "manifest B": record.value("manifest"),
        "boot ms": _ms(record, "boot"),
        "boot mJ": _mj(record, "boot"),
    }


def _takes(record: Record[UpdateSubject]) -> dict[str, Any]:
    stages = {f"{stage} ms": _ms(record, stage) for stage in STAGES}
    return {
        "signature": record.subject.signature,
        "frames": record.value("frames", "radio"),
        "on air B": record.value("air", "radio"),
        "radio ms": _ms(record, "radio"),
        "radio mJ": _mj(record, "radio"),
        **stages,
        "receive mJ": _mj(record, "receive"),
        "hash mJ": _mj(record, "hash"),
        "verify mJ": _mj(record, "verify"),
        "flash mJ": round(sum(_mj(record, stage) or 0 for stage in _OF_FLASH), 2),
    }
