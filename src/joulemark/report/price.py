"""A page of the cost of security on each board, from records alone."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from joulemark.analysis import price
from joulemark.analysis.price import DEMANDS, Demand, Price
from joulemark.catalogue import boards, machines
from joulemark.catalogue.boards import Board
from joulemark.catalogue.machines import Machine
from joulemark.measure.estimated import ERROR
from joulemark.records import bounds
from joulemark.records.record import PrimitiveRecord
from joulemark.report import page
from joulemark.report.charts import dashed_lines, in_lines, names_axis, names_legend, responsive

SIZES = (16, 64, 96)
_SHOWN = 64
_KEEPS = DEMANDS[2]
_TITLES = {"µJ": "energy net of idle (µJ)", "µs": "time, estimated (µs)"}


@dataclass(frozen=True)
class Place:
    """A board at a clock, with the prices from its records."""

    board: Board | Machine
    clock: str
    architecture: str
    """The architecture that a Linux board's programs are compiled for, else empty."""
    prices: Sequence[Price]
    records: int
    errors: Sequence[str]
    """How far its figures may be off."""

    @property
    def is_linux(self) -> bool:
        """Whether its numbers are estimates and its energies gross."""
        return isinstance(self.board, Machine)

    @property
    def speed(self) -> str:
        """Its clock, and what a Linux board's programs are compiled for."""
        board = self.board
        profile = (
            board.clock[self.clock]
            if isinstance(board, Machine)
            else board.clock_profile(self.clock)
        )
        made_for = f", {self.architecture}" if self.architecture else ""
        return f"{profile.hz / 1e6:.4g} MHz{made_for}"

    @property
    def name(self) -> str:
        """A name to show."""
        return f"{self.board.title}, {self.speed}"

    @property
    def anchor(self) -> str:
        """A name for links."""
        return "-".join(filter(None, (self.board.name, self.clock, self.architecture)))

    def cheapest(self, demand: Demand, size: int) -> list[Price]:
        """Return one price per service: at this size, or at the only size that the service has."""
        return [
            p
            for p in self.prices
            if p.demand is demand and (p.size_bytes == size or p.size_bytes not in SIZES)
        ]

    def services(self) -> list[str]:
        """Return the titles of the services that its records cover."""
        return list(dict.fromkeys(p.service.title for p in self.prices))

    def cell(self, service: str, demand: Demand, size: int) -> Price | None:
        """Return the choice for a service."""
        of_service = (p for p in self.cheapest(demand, size) if p.service.title == service)
        return next(of_service, None)

    def sending_j(self, size: int) -> float | None:
        """Return the energy to send this many bytes unsecured; None without a known radio."""
        return None if isinstance(self.board, Machine) else price.sending_j(self.board, size)

    def share(self, found: Price) -> str:
        """Return its energy relative to sending the message (64 bytes if it has none)."""
        sent = self.sending_j(found.size_bytes if found.size_bytes in SIZES else _SHOWN)
        if sent is None or found.energy_j is None:
            return "-"
        ratio = found.energy_j / sent
        return f"{ratio:.1%}" if ratio < 1 else f"{page.significant(ratio)} x"

    def short(self) -> list[tuple[str, str]]:
        """Summarise each service and its cost relative to sending the message, fastest first."""
        sent = self.sending_j(_SHOWN)
        lines = []
        for found in sorted(self.cheapest(_KEEPS, _SHOWN), key=lambda p: p.time_s):
            text = f"{_amount(found)} by {found.build.primitive}"
            if sent is not None and found.energy_j is not None:
                ratio = found.energy_j / sent
                times = f"{ratio:.1%} of sending" if ratio < 1 else f"{ratio:,.0f} times sending"
                text += f", {times} {_SHOWN} bytes"
            freely = self.cell(found.service.title, DEMANDS[0], found.size_bytes)
            if freely is not None and _cost(freely) < 0.8 * _cost(found):
                text += (
                    f"; without these two demands {_amount(freely)}, by {freely.build.primitive}"
                )
            lines.append((found.service.title, text))
        return lines


def _cost(found: Price) -> float:
    """Return what it was chosen by: energy, or time on a Linux board, whose power is constant."""
    return found.time_s if found.energy_j is None else found.energy_j


def _amount(found: Price) -> str:
    """Return the energy as text, or the time if no energy is known."""
    if found.energy_j is None:
        return f"{page.significant(found.time_s * 1e6)} µs"
    return f"{page.significant(found.energy_j * 1e6)} µJ"


def _chart(found: Sequence[Place], unit: str) -> dict[str, Any]:
    """Plot energy in µJ or time in µs of each service on each board, and the energy of sending."""
    rows = [
        {
            "service": in_lines(p.service.title),
            "board": in_lines(place.name),
            "cost": cost * 1e6,
            "build": f"{p.build.primitive}, {p.build.implementation}",
        }
        for place in found
        for p in place.cheapest(_KEEPS, _SHOWN)
        if (cost := p.time_s if unit == "µs" else p.energy_j) is not None
    ]
    rows += [
        {
            "service": "Sending 64 bytes once",
            "board": in_lines(place.name),
            "cost": sent * 1e6,
            "build": "radio",
        }
        for place in found
        if (sent := place.sending_j(_SHOWN)) is not None
    ]
    chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_point(filled=True, size=90)
        .encode(
            y=alt.Y("service:N", title=None, sort="x").axis(names_axis()),
            x=alt.X("cost:Q", title=_TITLES[unit]).scale(type="log", nice=False, padding=12),
            color=alt.Color("board:N", title=None).legend(names_legend()),
            shape=alt.Shape("board:N", title=None),
            tooltip=[
                "board:N",
                "service:N",
                "build:N",
                alt.Tooltip("cost:Q", title=unit, format=",.4g"),
            ],
        )
    )
    return responsive(chart, height=40 * len({row["service"] for row in rows}) + 30)


def _by_size(place: Place) -> dict[str, Any]:
    """Plot a board's services against message size, by demand."""
    unit = "µs" if place.is_linux else "µJ"
    rows = [
        {
            "service": in_lines(p.service.title),
            "bytes": p.size_bytes,
            "cost": (p.time_s if place.is_linux else p.energy_j or 0) * 1e6,
            "demand": in_lines(p.demand.title),
            "build": f"{p.build.primitive}, {p.build.implementation}",
        }
        for p in place.prices
        if p.size_bytes in SIZES and p.demand in (DEMANDS[0], _KEEPS)
    ]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("bytes:Q", title="message (bytes)"),
        y=alt.Y("cost:Q", title=_TITLES[unit]).scale(type="log", nice=False),
        color=alt.Color("service:N", title=None).legend(names_legend()),
        tooltip=[
            "service:N",
            "demand:N",
            "build:N",
            "bytes:Q",
            alt.Tooltip("cost:Q", title=unit, format=",.4g"),
        ],
    )
    dash = alt.StrokeDash("demand:N", title=None).legend(names_legend("stroke"))
    return responsive(dashed_lines(base, dash), height=300)


def gather(records: Sequence[PrimitiveRecord]) -> list[Place]:
    """Return the boards that the records belong to."""
    linux = set(machines.names())
    found = []
    for (name, clock, architecture), some in price.places(records).items():
        board = machines.load_machine(name) if name in linux else boards.load_board(name)
        errors = bounds.lines(map(bounds.of_record, some))
        found.append(
            Place(board, clock, architecture, price.prices(some, SIZES), len(some), errors)
        )
    return sorted(found, key=lambda place: place.is_linux)


def write_page(records: Sequence[PrimitiveRecord], year: int, path: Path) -> list[Place]:
    """Write the page, and return what it shows.

    Raises:
        JoulemarkError: it cannot be written.
    """
    found = [place for place in gather(records) if place.prices]
    groups = {
        "all": ("µJ", [place for place in found if not place.is_linux]),
        "linux": ("µs", [place for place in found if place.is_linux]),
    }
    plots: Mapping[str, Any] = {
        **{name: _chart(some, unit) for name, (unit, some) in groups.items() if some},
        **{
            place.anchor: _by_size(place)
            for place in found
            if any(p.size_bytes for p in place.prices)
        },
    }
    html = page.render(
        "price.html.jinja",
        places=found,
        groups={
            name: (some, list(dict.fromkeys(s for place in some for s in place.services())))
            for name, (_, some) in groups.items()
            if some
        },
        error=ERROR,
        demands=DEMANDS,
        sizes=SIZES,
        shown=_SHOWN,
        keeps=_KEEPS,
        year=year,
        drawn=list(plots),
        data=page.packed(json.dumps({"plots": plots})),
    )
    page.write(html, path)
    return found
