"""A slot's record as text, as a row, and as a page with the waterfall of its time and energy."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from joulemark import words
from joulemark.battery import DEFAULT_MAH, DEFAULT_V
from joulemark.records import bounds
from joulemark.records.record import Record
from joulemark.report import page
from joulemark.report.charts import responsive
from joulemark.report.rows import Table
from joulemark.subjects.slot import LEVELS, SlotSubject
from joulemark.subjects.slot.template import SLOT_END, TX_ACK, TX_OFFSET

_PS_PER_US = 1e6
_PS_PER_MS = 1e9
SIDES = ("sender", "receiver")


def milliseconds(found: Record[SlotSubject], name: str, part: str = "") -> float:
    """Return a time of a record in milliseconds; the record has picoseconds."""
    return _value(found, name, part) / _PS_PER_MS


def _value(found: Record[SlotSubject], name: str, part: str = "") -> float:
    value = found.value(name, part)
    if value is None:
        raise KeyError(name, part)
    return value


def row(found: Record[SlotSubject]) -> dict[str, Any]:
    """Return a record's main numbers."""
    subject = found.subject
    tick_ms = 1000 / 32768
    return {
        "board": found.conditions.board,
        "clock": found.conditions.clock,
        "strategy": subject.strategy or "-",
        "level": LEVELS[subject.level],
        "tx-offset ms": _value(found, "tx_offset") * tick_ms,
        "tx-ack-delay ms": _value(found, "tx_ack_delay") * tick_ms,
        "slot ms": milliseconds(found, "slot"),
        "by Eq. (1) ms": milliseconds(found, "slot_by_equation"),
        "without grid ms": milliseconds(found, "slot_continuous"),
        "send uJ": _value(found, "energy_gross", "send") / 1e3,
        "receive uJ": _value(found, "energy_gross", "receive") / 1e3,
        "flash B": int(_value(found, "flash_wiring")),
        "RAM B": int(_value(found, "ram_wiring")),
        **({"motes": subject.motes, **network(found)} if subject.motes else {}),
    }


def command(record: Record[SlotSubject]) -> str:
    """Return the command that tunes the slot again."""
    what, where, build = record.subject, record.conditions, record.build
    if build is None:
        return ""
    options: dict[str, object] = {
        "board": where.board,
        "clock": where.clock,
        "strategy": what.strategy or None,
        "level": LEVELS[what.level],
        "key-id-mode": what.key_id_mode,
        "counter-carried": what.counter_carried,
        "cipher": what.cipher or None,
        "keys-stay": what.keys_stay,
        "streamed": what.streamed,
        "ahead": what.ahead or None,
        "brief": what.brief,
        "dma": what.dma,
        "plain": what.plain,
        "guard": what.guard_ticks,
        "ack-guard": what.ack_guard_ticks,
        "motes": what.motes or None,
        "compiler": build.compiler,
        "opt": build.optimisation,
        "slots": record.trials,
    }
    return words.command("slot", options=options)


def tables(records: Sequence[Record[SlotSubject]]) -> Iterator[Table]:
    """Yield tables: slots alone, and those that a network was run with."""
    for title, with_network in (("Time slots", False), ("Time slots of networks", True)):
        some = [row(one) for one in records if bool(one.subject.motes) == with_network]
        if some:
            yield Table(title, some)


def line(found: Record[SlotSubject]) -> str:
    """Return a record in a line."""
    ticks = int(_value(found, "slot_ticks"))
    return f"{found.case}: {milliseconds(found, 'slot'):.3f} ms, {ticks} ticks"


BATTERY_J = DEFAULT_MAH / 1e3 * 3600 * DEFAULT_V


def network(found: Record[SlotSubject]) -> dict[str, float]:
    """Return the numbers of a network with that slot, where one was run."""
    part = "network"

    def days(who: str) -> float:
        watt = _value(found, "power_gross", f"{part}: {who}") / 1e9
        return round(BATTERY_J / watt / 86400, 1)

    return {
        "network's slot ms": round(milliseconds(found, "slot", part), 3),
        "kbit/s": round(_value(found, "throughput", part) / 1e3, 2),
        "mean latency ms": round(milliseconds(found, "latency_mean", part), 1),
        "95% latency ms": round(milliseconds(found, "latency_95", part), 1),
        "worst latency ms": round(milliseconds(found, "latency_worst", part), 1),
        "root days": days("root"),
        "leaf days": days("leaf"),
    }


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """A row of a waterfall."""

    side: str
    step: str
    work: str
    us: float
    uj: float


def waterfall(found: Record[SlotSubject]) -> list[Stretch]:
    """Return the spans of a slot from its start to its end, for its sender and its receiver."""
    rows = []
    for quantity in found.quantities:
        side, _, rest = quantity.part.partition(" ")
        if quantity.name != "time" or side not in SIDES:
            continue
        number, _, named = rest.partition(" ")
        step, _, work = named.partition(": ")
        energy = _value(found, "energy_gross", quantity.part)
        rows.append(
            (
                SIDES.index(side),
                int(number),
                Stretch(
                    side=side, step=step, work=work, us=quantity.value / _PS_PER_US, uj=energy / 1e3
                ),
            )
        )
    return [stretch for *_, stretch in sorted(rows, key=lambda one: one[:2])]


def failures(found: Record[SlotSubject]) -> Iterator[str]:
    """Yield the deadlines missed with one tick less in each part of the template."""
    for part in (TX_OFFSET, TX_ACK, SLOT_END):
        where = f"a tick less of {part}"
        missed = [
            f"{q.name.removeprefix('late ')} {'once' if q.value == 1 else f'{q.value} times'}"
            for q in found.quantities
            if q.part == where and q.name.startswith("late ")
        ]
        slots = int(_value(found, "slots", where))
        yield f"{where}: within {slots} slots it misses {', '.join(missed)}"


def certificate(found: Record[SlotSubject]) -> str:
    """State in a sentence that a slot is the shortest."""
    ticks = int(_value(found, "slot_ticks"))
    return (
        f"{milliseconds(found, 'slot'):.3f} ms ({ticks} ticks) is the shortest: "
        f"{found.trials:,} slots miss no moment, and at {ticks - 1} ticks each part fails; "
        + "; ".join(failures(found))
    )


def text(found: Record[SlotSubject]) -> str:
    """Format the answer, what it consists of, and the proof."""
    ticks = int(_value(found, "slot_ticks"))
    steps = ("sec1", "sec2+sec3", "sec4")
    lines = [
        f"{found.case}",
        f"  shortest slot {milliseconds(found, 'slot'):.3f} ms: {ticks} ticks, tx-offset "
        f"{_value(found, 'tx_offset'):g}, tx-ack-delay {_value(found, 'tx_ack_delay'):g}",
        f"  by Eq. (1), with TsMaxAck: {milliseconds(found, 'slot_by_equation'):.3f} ms; "
        f"without the crystal's grid: {milliseconds(found, 'slot_continuous'):.3f} ms",
        f"  frame {_value(found, 'frame'):g} bytes, acknowledgement "
        f"{_value(found, 'acknowledgement'):g}; "
        + "; ".join(f"{step} {milliseconds(found, 'time', step):.3f} ms" for step in steps),
        f"  security takes {_value(found, 'flash_wiring'):,} bytes of flash and "
        f"{_value(found, 'ram_wiring'):,} of RAM",
    ]
    send, receive = (
        found.quantity("energy_gross", "send"),
        found.quantity("energy_gross", "receive"),
    )
    if send is not None and receive is not None:
        lines.append(
            f"  a slot takes {send.value / 1e3:,.1f} uJ to send and {receive.value / 1e3:,.1f} uJ "
            f"to receive ({send.grade})"
        )
    if found.subject.motes:
        of = ", ".join(f"{title} {value}" for title, value in network(found).items())
        lines.append(f"  a root with {found.subject.motes - 1} leaves: {of}")
    side = ""
    for one in waterfall(found):
        if one.side != side:
            side = one.side
            lines.append(f"  {side:41}{'us':>9}{'uJ':>9}")
        lines.append(f"    {one.step:16}{one.work:23}{one.us:9,.1f}{one.uj:9,.2f}")
    lines.append(f"  {found.trials:,} slots of {ticks} ticks: no moment missed")
    lines += [f"  {failure}" for failure in failures(found)]
    lines += [f"  {line}" for line in bounds.lines([bounds.of_record(found)])]
    return "\n".join(lines)


def rows(found: Record[SlotSubject]) -> list[dict[str, Any]]:
    """Return a waterfall's rows with their start and end in microseconds."""
    placed = []
    at, side = 0.0, ""
    for one in waterfall(found):
        if one.side != side:
            at, side = 0.0, one.side
        placed.append({**vars(one), "from": at, "to": at + one.us})
        at += one.us
    return placed


Named = tuple[str, Record[SlotSubject]]
"""A slot, and its name in a plot or a table."""


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """A slot and its variants."""

    slot: Record[SlotSubject]
    others: Sequence[Named]

    @property
    def all(self) -> list[Named]:
        """The slot, followed by its variants."""
        return [("as it is", self.slot), *self.others]

    def rows(self) -> list[dict[str, Any]]:
        """Return what each variant would gain."""
        was = milliseconds(self.slot, "slot")
        return [
            {
                "what if": name,
                "slot ms": milliseconds(one, "slot"),
                "change ms": milliseconds(one, "slot") - was,
                **{
                    f"{kind} uJ": _value(one, "energy_gross", kind) / 1e3
                    for kind in ("send", "receive")
                },
                "flash B": int(_value(one, "flash_wiring")),
                "RAM B": int(_value(one, "ram_wiring")),
            }
            for name, one in self.all
        ]


def chart(done: Sequence[Named]) -> dict[str, Any]:
    """Plot two bars per slot."""
    frame = pd.DataFrame(
        [
            {**placed, "slot": f"{name}, {placed['side']}"}
            for name, one in done
            for placed in rows(one)
        ]
    )
    bars = (
        alt.Chart(frame)
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("from:Q", title="time in the slot (µs)"),
            x2="to:Q",
            y=alt.Y("slot:N", title=None, sort=None, axis=alt.Axis(labelLimit=300)),
            color=alt.Color("work:N", title=None, sort=None).scale(scheme="tableau20"),
            tooltip=[
                "step:N",
                "work:N",
                alt.Tooltip("us:Q", format=",.1f", title="µs"),
                alt.Tooltip("uj:Q", format=",.2f", title="µJ"),
            ],
        )
    )
    return responsive(bars, height=60 + 44 * len(done))


def _short(found: Record[SlotSubject]) -> str:
    subject = found.subject
    return f"{found.conditions.board}, {subject.strategy or 'none'}, {LEVELS[subject.level]}"


def write_page(
    done: Sequence[Record[SlotSubject]], path: Path, what_ifs: Sequence[WhatIf] = ()
) -> None:
    """Write the page.

    Raises:
        InputError: it cannot be written.
    """
    plots = {"waterfall": chart([(_short(one), one) for one in done])}
    plots |= {f"what-if-{number}": chart(one.all) for number, one in enumerate(what_ifs, 1)}
    html = page.render(
        "slot.html.jinja",
        slots=[(one, row(one), certificate(one), rows(one)) for one in done],
        what_ifs=what_ifs,
        errors=bounds.lines(map(bounds.of_record, done)),
        data=page.packed(json.dumps({"plots": plots})),
    )
    page.write(html, path)
