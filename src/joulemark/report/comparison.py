"""Boards side by side: the cost of each primitive's cheapest build on each board."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from joulemark.records import bounds
from joulemark.records.record import PrimitiveRecord

_SIZE_BYTES = 64


@dataclass(frozen=True)
class Row:
    """One operation of a primitive, on every board where it was measured."""

    kind: str
    primitive: str
    operation: str
    message_bytes: int
    cells: dict[str, PrimitiveRecord]
    """By board and clock."""

    def least(self, metric: str) -> float:
        """Return the smallest value of a quantity among the boards."""
        values = (record.value(metric) for record in self.cells.values())
        return min(value for value in values if value is not None)


@dataclass(frozen=True)
class Comparison:
    """The boards, and the cost of each primitive on them."""

    places: list[str]
    rows: list[Row]

    @property
    def errors(self) -> list[str]:
        """How far the figures may be off, in lines."""
        shown = (record for row in self.rows for record in row.cells.values())
        return sorted(bounds.lines(map(bounds.of_record, shown)))


def place(record: PrimitiveRecord) -> str:
    """Return a name for board and clock of a record, and for the meter unless it was emulated."""
    where, hz = record.conditions, record.provenance.clock_hz
    name = f"{where.board}, {hz / 1e6:.4g} MHz" if hz else where.board
    return name if where.runner == "emulator" else f"{name} ({where.meter}, {where.unit})"


def compare(records: Sequence[PrimitiveRecord]) -> Comparison | None:
    """Compare boards by the build that takes the least net energy on each.

    Each primitive is compared at the size nearest to 64 bytes that was measured on all boards that
    have it, without associated data.

    Returns:
        None if nothing was measured on more than one board or clock.
    """
    places = sorted({place(r) for r in records})
    if len(places) < 2:
        return None
    best: dict[tuple[str, str, str], dict[int, dict[str, PrimitiveRecord]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for r in records:
        what = r.subject
        if not r.about.main or what.ad_bytes or not r.energy_net_nj or not r.cycles:
            continue
        cells = best[what.kind, what.primitive, what.operation][what.message_bytes]
        known = cells.get(place(r))
        if known is None or r.energy_net_nj < (known.energy_net_nj or 0):
            cells[place(r)] = r
    rows = []
    for (kind, primitive, operation), sizes in best.items():
        most = max(len(cells) for cells in sizes.values())
        shared = [size for size, cells in sizes.items() if len(cells) == most]
        size = min(shared, key=lambda size: (abs(size - _SIZE_BYTES), size))
        if most > 1:
            rows.append(Row(kind, primitive, operation, size, sizes[size]))
    if not rows:
        return None
    return Comparison(places, sorted(rows, key=lambda r: (r.kind, r.primitive, r.operation)))
