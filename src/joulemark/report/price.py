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
from joulemark.catalogue import boards
from joulemark.catalogue.boards import Board
from joulemark.records.record import PrimitiveRecord
from joulemark.report import page
from joulemark.report.charts import dashed_lines, in_lines, names_axis, names_legend, responsive

SIZES = (16, 64, 96)
_SHOWN = 64
_KEEPS = DEMANDS[2]


@dataclass(frozen=True)
class Place:
    """A board at a clock, and what its records say."""

    board: Board
    clock: str
    prices: Sequence[Price]
    records: int

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.board.title}, {self.board.clock_profile(self.clock).hz / 1e6:.4g} MHz"

    @property
    def anchor(self) -> str:
        """For links."""
        return f"{self.board.name}-{self.clock}"

    def cheapest(self, demand: Demand, size: int) -> list[Price]:
        """One for each service: at the size, or at the only one that it has."""
        return [
            p
            for p in self.prices
            if p.demand is demand and (p.size_bytes == size or p.size_bytes not in SIZES)
        ]

    def services(self) -> list[str]:
        """Titles of what its records can give."""
        return list(dict.fromkeys(p.service.title for p in self.prices))

    def cell(self, service: str, demand: Demand, size: int) -> Price | None:
        """The choice for a service."""
        of_service = (p for p in self.cheapest(demand, size) if p.service.title == service)
        return next(of_service, None)

    def sending_j(self, size: int) -> float | None:
        """Energy to send so many bytes, unsecured."""
        return price.sending_j(self.board, size)

    def share(self, found: Price) -> str:
        """Its energy by that of sending the message, or 64 bytes where there is no message."""
        sent = self.sending_j(found.size_bytes if found.size_bytes in SIZES else _SHOWN)
        if sent is None:
            return "-"
        ratio = found.energy_j / sent
        return f"{ratio:.1%}" if ratio < 1 else f"{page.significant(ratio)} x"

    def short(self) -> list[tuple[str, str]]:
        """For a reader in a hurry: each service, and what it costs beside sending the message."""
        sent = self.sending_j(_SHOWN)
        lines = []
        for found in sorted(self.cheapest(_KEEPS, _SHOWN), key=lambda p: p.energy_j):
            text = f"{page.significant(found.energy_j * 1e6)} µJ by {found.build.primitive}"
            if sent is not None:
                ratio = found.energy_j / sent
                times = f"{ratio:.1%} of sending" if ratio < 1 else f"{ratio:,.0f} times sending"
                text += f", {times} {_SHOWN} bytes"
            freely = self.cell(found.service.title, DEMANDS[0], found.size_bytes)
            if freely is not None and freely.energy_j < 0.8 * found.energy_j:
                least = page.significant(freely.energy_j * 1e6)
                text += f"; without these two demands {least} µJ, by {freely.build.primitive}"
            lines.append((found.service.title, text))
        return lines


def _chart(found: Sequence[Place]) -> dict[str, Any]:
    """Energy of each service on each board, and of sending."""
    rows = [
        {
            "service": in_lines(p.service.title),
            "board": in_lines(place.name),
            "uJ": p.energy_j * 1e6,
            "build": f"{p.build.primitive}, {p.build.implementation}",
        }
        for place in found
        for p in place.cheapest(_KEEPS, _SHOWN)
    ]
    rows += [
        {
            "service": "Sending 64 bytes once",
            "board": in_lines(place.name),
            "uJ": sent * 1e6,
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
            x=alt.X("uJ:Q", title="energy net of idle (µJ)").scale(
                type="log", nice=False, padding=12
            ),
            color=alt.Color("board:N", title=None).legend(names_legend()),
            shape=alt.Shape("board:N", title=None),
            tooltip=["board:N", "service:N", "build:N", alt.Tooltip("uJ:Q", format=",.4g")],
        )
    )
    return responsive(chart, height=40 * len({row["service"] for row in rows}) + 30)


def _by_size(place: Place) -> dict[str, Any]:
    """A board's services against the message's size, by demand."""
    rows = [
        {
            "service": in_lines(p.service.title),
            "bytes": p.size_bytes,
            "uJ": p.energy_j * 1e6,
            "demand": in_lines(p.demand.title),
            "build": f"{p.build.primitive}, {p.build.implementation}",
        }
        for p in place.prices
        if p.size_bytes in SIZES and p.demand in (DEMANDS[0], _KEEPS)
    ]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("bytes:Q", title="message (bytes)"),
        y=alt.Y("uJ:Q", title="energy net of idle (µJ)").scale(type="log", nice=False),
        color=alt.Color("service:N", title=None).legend(names_legend()),
        tooltip=["service:N", "demand:N", "build:N", "bytes:Q", alt.Tooltip("uJ:Q", format=",.4g")],
    )
    dash = alt.StrokeDash("demand:N", title=None).legend(names_legend("stroke"))
    return responsive(dashed_lines(base, dash), height=300)


def gather(records: Sequence[PrimitiveRecord]) -> list[Place]:
    """The boards that records are of."""
    known = set(boards.names())
    return [
        Place(boards.load_board(board), clock, price.prices(some, SIZES), len(some))
        for (board, clock), some in price.places(records).items()
        if board in known
    ]


def write_page(records: Sequence[PrimitiveRecord], year: int, path: Path) -> list[Place]:
    """Write the page; what is on it.

    Raises:
        JoulemarkError: it cannot be written.
    """
    found = [place for place in gather(records) if place.prices]
    plots: Mapping[str, Any] = {
        "all": _chart(found),
        **{
            place.anchor: _by_size(place)
            for place in found
            if any(p.size_bytes for p in place.prices)
        },
    }
    html = page.render(
        "price.html.jinja",
        places=found,
        demands=DEMANDS,
        sizes=SIZES,
        shown=_SHOWN,
        keeps=_KEEPS,
        year=year,
        services=list(dict.fromkeys(s for place in found for s in place.services())),
        drawn=list(plots),
        data=page.packed(json.dumps({"plots": plots})),
    )
    page.write(html, path)
    return found
