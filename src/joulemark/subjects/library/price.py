"""A library's price in common units: work per second, and energy per MiB or operation."""

from dataclasses import dataclass

from joulemark.records.record import Quantity, Record
from joulemark.subjects.library import LibrarySubject

MIB = 1 << 20
NJ_PER_UWH = 3.6e6


@dataclass(frozen=True)
class Price:
    """Price of a MiB if the algorithm takes messages, else of an operation."""

    per: str
    """`MiB` or `operation`."""
    per_second: float
    cycles: float
    """Cycles per byte, or per operation."""
    gross_uj: float | None
    net_uj: float | None
    half_width: float | None
    """Half width of the gross energy's 95% interval, as a fraction."""

    @property
    def gross_uwh(self) -> float | None:
        """Gross energy in microwatt-hours."""
        return None if self.gross_uj is None else self.gross_uj * 1e3 / NJ_PER_UWH


def price(record: Record[LibrarySubject]) -> Price:
    """Return the price in a good record."""
    size = record.subject.message_bytes
    parts = MIB / size if size else 1.0
    time_s = (record.value("time") or 0) * 1e-12
    gross = record.quantity("energy_gross")

    def micro(found: Quantity | None) -> float | None:
        return None if found is None else found.value * parts / 1e3

    return Price(
        per="MiB" if size else "operation",
        per_second=1 / (time_s * parts),
        cycles=(record.value("cycles") or 0) / (size or 1),
        gross_uj=micro(gross),
        net_uj=micro(record.quantity("energy_net")),
        half_width=None
        if gross is None or not gross.half_width
        else gross.half_width / gross.value,
    )
