"""The report: one self-contained HTML file, made from a store's records."""

import datetime
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from altair.utils import schemapi

from joulemark.analysis.advice import Candidate, left_out, needs, unsized
from joulemark.analysis.choice import is_accelerated
from joulemark.campaign.estimates import ESTIMATE
from joulemark.catalogue import boards, kinds
from joulemark.catalogue.primitives import library
from joulemark.errors import JoulemarkError
from joulemark.records import bounds
from joulemark.records.record import DECIDED, DEPENDENT, PrimitiveRecord, of_primitives
from joulemark.records.store import Store
from joulemark.report import charts, page, rows
from joulemark.report.comparison import compare
from joulemark.subjects.library.page import Place, places

ESTIMATED = "estimated"
"""Runner of a case that ran in an emulator of its processor that counts no cycles."""

_COLUMNS = (
    ("primitive", "primitive"),
    ("implementation", "implementation"),
    ("board", "board"),
    ("operation", "operation"),
    ("message_bytes", "message (B)"),
    ("ad_bytes", "AD (B)"),
    ("build", "compiler"),
    ("cycles", "cycles"),
    ("instructions", "instructions"),
    ("time_us", "time (µs)"),
    ("energy_net_uj", "net (µJ)"),
    ("energy_gross_uj", "gross (µJ)"),
    ("flash_bytes", "flash (B)"),
    ("ram_bytes", "RAM (B)"),
    ("stack_bytes", "stack (B)"),
    ("finding", "secrets"),
)
_AT_FIRST_HIDDEN = {"instructions", "energy_gross_uj"}
_FILTERS = (
    ("board", "Board"),
    ("clock", "Clock"),
    ("kind", "Kind"),
    ("message_bytes", "Message (B)"),
    ("ad_bytes", "AD (B)"),
    ("constant_time", "Constant time"),
)
_BUDGETS = (
    ("flash_bytes", "Flash to spare (B)"),
    ("ram_bytes", "RAM to spare (B)"),
    ("stack_bytes", "Stack at most (B)"),
    ("time_us", "Time at most (µs)"),
)
_LIMITS = (("flash_bytes", "Flash at most (B)"), ("ram_bytes", "RAM at most (B)"))


@dataclass(frozen=True)
class Finding:
    """What was found about secrets in one build, over all its operations."""

    primitive: str
    implementation: str
    build: str
    claim: bool
    time_varies_in: list[str]
    addresses_vary_in: list[str]
    secrets_decide_in: list[str]
    """Operations in which secrets decide something, found by following them."""
    followed: bool
    """Whether secrets were followed in any."""
    largest_spread_cycles: float
    trials: int

    @property
    def contradicts(self) -> bool:
        """Whether the implementation claims independence and is found to leak."""
        leaks = self.time_varies_in or self.addresses_vary_in or self.secrets_decide_in
        return self.claim and bool(leaks)


@dataclass(frozen=True)
class Section:
    """One board at one clock, and what its cases were measured with."""

    anchor: str
    board: str
    title: str
    how: str
    """Empty if it was emulated."""
    clock: str
    clock_hz: int
    chip: str
    conditions: dict[str, list[str]]
    plots: list[tuple[str, str, str]] = field(default_factory=list)
    memory: str | None = None
    findings: list[Finding] = field(default_factory=list)
    memories_keep_state: bool = False
    notes: list[str] = field(default_factory=list)
    first_row: int = 0


def write_report(store: Store, path: Path) -> None:
    """Write the report of the last records in a store.

    Args:
        store: the store.
        path: the HTML file to write, whole or not at all.

    Raises:
        JoulemarkError: there is nothing to report, or the file cannot be written.
    """
    last = list(store.records())
    of_kinds = of_primitives(last)
    records = [r for r in of_kinds if not r.about.baseline]
    baselines = sum(r.status == "ok" for r in of_kinds) - sum(r.status == "ok" for r in records)
    libraries = places(last)
    own_page = ("primitive", "library")
    good = [r for r in last if r.status == "ok" and r.subject.type not in own_page]
    tables = list(rows.tables(good))
    if records:
        # Validating each piece of each chart takes longer than all the rest; the tests do it.
        with schemapi.debug_mode(arg=False):
            page.write(render(records, libraries, tables, baselines), path)
    elif libraries or tables:
        values = {"libraries": libraries, "tables": tables}
        page.write(page.render("others.html.jinja", **values), path)
    else:
        raise JoulemarkError("nothing was measured", store.name, "give `joulemark run` first")


def render(
    records: Sequence[PrimitiveRecord],
    libraries: Sequence[Place] = (),
    tables: Sequence[rows.Table] = (),
    baselines: int = 0,
) -> str:
    """Render the report as HTML.

    Args:
        records: of primitives.
        libraries: what was measured of libraries.
        tables: what was measured of other subjects.
        baselines: number of cases of harnesses alone, which have no row.
    """
    specifications: dict[str, Any] = {}
    sections = []
    good = [r for r in records if r.status == "ok"]
    titles = _titles(good)
    for where in sorted({_where(r) for r in good}):
        chosen = [r for r in good if _where(r) == where]
        sections.append(_section(chosen, specifications))
    comparison = compare(good)
    if comparison:
        specifications["plot-boards"] = charts.comparison_chart(comparison, titles)
    needed = _needs(good)
    listed = _with_constant_time([_row(r) for r in good])
    return page.render(
        "report.html.jinja",
        sections=sections,
        estimated=ESTIMATED,
        libraries=libraries,
        tables=tables,
        comparison=comparison,
        kinds=titles,
        columns=_COLUMNS,
        at_first_hidden=_AT_FIRST_HIDDEN,
        filters=[f for f in _FILTERS if len({row[f[0]] for row in listed}) > 1],
        limits=_LIMITS,
        data=page.packed(
            json.dumps(
                {
                    "plots": specifications,
                    "columns": _columns(listed),
                    "choice": {"needs": needed, "places": _places(good, needed)},
                }
            )
        ),
        answers=bool(good),
        budgets=_BUDGETS,
        failures=[r for r in records if r.status != "ok"],
        verified=sum(r.trials or 0 for r in good),
        count=len(good),
        baselines=baselines,
        primitives=len({r.subject.primitive for r in good}),
        written=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        script=page.asset("report.js") + page.asset("choose.js") + page.asset("start.js"),
        exact=all(r.exact for r in good),
        digest=hashlib.sha256("".join(sorted(r.key for r in good)).encode()).hexdigest()[:12],
    )


def _where(record: PrimitiveRecord) -> tuple[str, str, str, str, str]:
    c = record.conditions
    return c.board, c.clock, c.runner, c.meter, c.unit


def _row(record: PrimitiveRecord) -> dict[str, Any]:
    def micro(value: float | None, per: float) -> float | None:
        return None if value is None else value / per

    values = {
        **vars(record.subject),
        "board": _place(record).removesuffix(f", {record.conditions.clock}"),
        "clock": record.conditions.clock,
        "build": str(record.build or ""),
        "time_us": micro(record.time_ps, 1e6),
        "energy_net_uj": micro(record.energy_net_nj, 1e3),
        "energy_gross_uj": micro(record.energy_gross_nj, 1e3),
        "finding": record.finding,
    }
    shown = {
        name: values[name] if name in values else getattr(record, name) for name, _ in _COLUMNS
    }
    return {
        "clock": record.conditions.clock,
        "kind": record.subject.kind,
        "status": record.about.status,
        "claim": "no" if record.about.secret_independent is False else "yes",
        "place": _place(record),
        "one_time_key": "yes" if record.about.one_time_key else "no",
        "hardware": "yes" if is_accelerated(Candidate.of(record)) else "no",
    } | shown


def _needs(records: Sequence[PrimitiveRecord]) -> list[dict[str, Any]]:
    """Return what the records' kinds are needed for, as `choose.js` takes it."""
    present = {r.subject.kind for r in records}
    known = kinds.known()
    return [
        {
            "title": service.title,
            "kinds": {
                name: {"operations": list(names), "fixed": sorted(unsized(name) & set(names))}
                for name, names in service.operations.items()
            },
            "sized": any(known[name].sized(names) for name, names in service.operations.items()),
            "own_size": next(
                (d.message_bytes[0] for n in service.operations if (d := known[n].file.default)),
                None,
            ),
            "with_ad": any(
                known[name].operation(operation).with_ad
                for name, names in service.operations.items()
                for operation in names
            ),
        }
        for service in needs()
        if present & set(service.operations)
    ]


def _places(
    records: Sequence[PrimitiveRecord], needed: Sequence[dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return what is known of each place, as `choose.js` takes it."""
    groups: dict[str, list[PrimitiveRecord]] = defaultdict(list)
    for r in records:
        groups[_place(r)].append(r)
    found = {}
    for name, some in sorted(groups.items()):
        first = some[0]
        known = first.conditions.board in boards.names()
        board = boards.load_board(first.conditions.board) if known else None
        have = {(r.subject.primitive, r.subject.implementation) for r in some}
        default = [a for a in library().algorithms.values() if a.is_default]
        found[name] = {
            "supply_v": None if board is None else board.supply_v.value,
            "error": bounds.of_record(first).partition(": ")[2],
            "time": bounds.interval_of_time(first),
            "keeps_state": any(r.provenance.memories_keep_state for r in some),
            "left_out": {
                n: told
                for n, need in enumerate(needed)
                if board is not None
                and (told := left_out(have, board, (a for a in default if a.kind in need["kinds"])))
            },
        }
    return found


def _place(record: PrimitiveRecord) -> str:
    board, how = record.conditions.board, _how(record)
    return f"{board}{f' ({how})' if how else ''}, {record.conditions.clock}"


def _titles(records: Sequence[PrimitiveRecord]) -> dict[str, str]:
    """Return the titles of the kinds by name, sorted by title."""
    found = {r.subject.kind: r.about.group or r.subject.kind for r in records}
    return dict(sorted(found.items(), key=lambda item: item[1]))


def _how(record: PrimitiveRecord) -> str:
    """Return runner, meter and unit of a case measured on hardware, or that it was estimated."""
    c = record.conditions
    if c.runner == ESTIMATE:
        return ESTIMATED
    return "" if c.runner == "emulator" else f"{c.runner}, {c.meter}, {c.unit}"


def _with_constant_time(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mark each row with the finding on its whole build, and sort the rows."""
    named = ("board", "clock", "kind", "primitive", "implementation", "build")
    found: dict[tuple[Any, ...], set[str | None]] = {}
    for row in rows:
        found.setdefault(tuple(row[n] for n in named), set()).add(row["finding"])

    def of(findings: set[str | None]) -> str:
        if findings & DEPENDENT:
            return "no"
        return "not tried" if None in findings else "yes"

    order = ("board", "clock", "kind", "primitive", "implementation", "operation", "message_bytes")
    return sorted(
        (row | {"constant_time": of(found[tuple(row[n] for n in named)])} for row in rows),
        key=lambda row: tuple(row[name] for name in (*order, "ad_bytes", "build")),
    )


def _columns(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows as columns: numbers as they are; words as a sorted list and a code per row."""
    result = []
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        words = sorted({v for v in values if isinstance(v, str)})
        if words:
            codes = {word: code for code, word in enumerate(words)}
            result.append(
                {"name": name, "words": words, "values": [codes.get(v, -1) for v in values]}
            )
        else:
            result.append({"name": name, "values": values})
    return result


def _section(records: list[PrimitiveRecord], specifications: dict[str, Any]) -> Section:
    first = records[0]
    words = [first.conditions.board, first.conditions.clock, *re.findall(r"\w+", _how(first))]
    prefix = "-".join(words)
    plots = []
    for kind, title in _titles(records).items():
        for metric, spec in charts.cost_charts(records, kind).items():
            name = f"plot-{prefix}-{kind}-{metric}"
            specifications[name] = spec
            plots.append((title, metric, name))
    memory = charts.memory_chart(records)
    if memory:
        specifications[f"plot-{prefix}-memory"] = memory
    return Section(
        anchor=prefix,
        board=first.conditions.board,
        title=first.provenance.board_title,
        how=_how(first),
        clock=first.conditions.clock,
        clock_hz=first.provenance.clock_hz,
        chip=first.provenance.chip,
        conditions=_conditions(records),
        plots=plots,
        memory=f"plot-{prefix}-memory" if memory else None,
        findings=_findings(records),
        memories_keep_state=any(r.provenance.memories_keep_state for r in records),
        notes=[text for text, _ in Counter(n for r in records for n in r.notes).most_common()],
    )


def _conditions(records: Sequence[PrimitiveRecord]) -> dict[str, list[str]]:
    def distinct(values: Sequence[str | None]) -> list[str]:
        return sorted({v for v in values if v})

    where, how = [r.conditions for r in records], [r.provenance for r in records]
    return {
        "Chip": distinct([p.chip for p in how]),
        "Runner": distinct([c.runner for c in where]),
        "Unit": distinct([c.unit for c in where]),
        "Meter": distinct([c.meter for c in where]),
        "Errors": distinct([bounds.of_record(r) for r in records]),
        "Compiler": distinct([p.compiler_version for p in how]),
        "Flags": distinct([p.flags for p in how]),
        "Engine": distinct([p.engine_version for p in how]),
        "Project commit": distinct([p.project_commit for p in how]),
        "Host": distinct([p.host for p in how]),
        "Measured": distinct([r.measured_at[:10] for r in records]),
    }


def _findings(records: Sequence[PrimitiveRecord]) -> list[Finding]:
    groups: dict[tuple[str, str, str], list[PrimitiveRecord]] = {}
    for r in records:
        if r.finding not in (None, "handles none"):
            what = r.subject
            groups.setdefault((what.primitive, what.implementation, str(r.build)), []).append(r)
    result = []
    for (primitive, implementation, build), group in groups.items():
        time = {r.subject.operation for r in group if r.finding == "time depends on data"}
        addresses = {r.subject.operation for r in group if r.addresses_equal is False}
        spreads = [
            r.cycles_max - r.cycles_min
            for r in group
            if r.cycles_max is not None and r.cycles_min is not None
        ]
        result.append(
            Finding(
                primitive=primitive,
                implementation=implementation,
                build=build,
                claim=group[0].about.secret_independent is True,
                time_varies_in=sorted(time),
                addresses_vary_in=sorted(addresses),
                secrets_decide_in=sorted({r.subject.operation for r in group if r.value(DECIDED)}),
                followed=any(r.value(DECIDED) is not None for r in group),
                largest_spread_cycles=max(spreads, default=0.0),
                trials=sum(r.trials or 0 for r in group),
            )
        )
    return sorted(result, key=lambda f: (not f.contradicts, f.primitive, f.implementation, f.build))
