"""The report: one HTML file that needs nothing else, made from a store's records."""

import datetime
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from joulemark.analysis.advice import Lead, Service, costs, leads, services
from joulemark.catalogue import kinds
from joulemark.catalogue.primitives import Library
from joulemark.errors import JoulemarkError
from joulemark.records.record import Record
from joulemark.records.store import Store
from joulemark.report import charts, page
from joulemark.report.comparison import compare

_UNSAFE = {"deprecated", "broken"}
_COLUMNS = (
    ("board", "board"),
    ("primitive", "primitive"),
    ("implementation", "implementation"),
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


@dataclass(frozen=True)
class Advice:
    """The cheapest choices for one service, by message size."""

    service: Service
    leads: list[Lead]
    standards: list[Lead]
    """The cheapest among standards alone, where that is another choice."""
    security_bits: dict[str, int | None]
    left_out: list[str]


@dataclass(frozen=True)
class Finding:
    """What the trials of one build showed about secrets, over all its operations."""

    primitive: str
    implementation: str
    build: str
    claim: bool
    time_varies_in: list[str]
    addresses_vary_in: list[str]
    largest_spread_cycles: float
    trials: int

    @property
    def contradicts(self) -> bool:
        """The implementation claims independence and the trials show otherwise."""
        return self.claim and bool(self.time_varies_in or self.addresses_vary_in)


@dataclass(frozen=True)
class Section:
    """One board at one clock."""

    board: str
    clock: str
    clock_hz: int
    chip: str
    conditions: dict[str, list[str]]
    advice: list[Advice]
    plots: list[tuple[str, str, str]] = field(default_factory=list)
    memory: str | None = None
    findings: list[Finding] = field(default_factory=list)
    memories_keep_state: bool = False
    notes: list[str] = field(default_factory=list)
    first_row: int = 0


def write_report(store: Store, path: Path) -> None:
    """Write the report of all last records in a store.

    Args:
        store: where the records are.
        path: the HTML file to write; it appears whole or not at all.

    Raises:
        JoulemarkError: there is nothing to report, or the file cannot be written.
    """
    records = [r for r in store.records() if kinds.is_result(r.kind)]
    if not records:
        raise JoulemarkError("nothing was measured", store.name, "give `joulemark run` first")
    page.write(render(records), path)


def render(records: Sequence[Record]) -> str:
    """The report as HTML."""
    specifications: dict[str, Any] = {}
    sections = []
    good = [r for r in records if r.status == "ok"]
    for board, clock in sorted({(r.board, r.clock) for r in good}):
        chosen = [r for r in good if (r.board, r.clock) == (board, clock)]
        sections.append(_section(chosen, specifications))
    comparison = compare(good)
    if comparison:
        specifications["plot-boards"] = charts.comparison_chart(comparison, kinds.titles())
    rows = [_row(r) for r in good]
    return page.render(
        "report.html.jinja",
        sections=sections,
        comparison=comparison,
        kinds=kinds.titles(),
        columns=_COLUMNS,
        rows=page.script_json([list(row.values()) for row in rows]),
        specifications=page.script_json(specifications),
        failures=[r for r in records if r.status != "ok"],
        verified=sum(r.trials or 0 for r in good),
        count=len(good),
        primitives=len({r.primitive for r in good}),
        written=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        script=(resources.files(__package__) / "report.js").read_text("utf-8"),
        exact=all(r.exact for r in good),
        digest=hashlib.sha256("".join(sorted(r.key for r in good)).encode()).hexdigest()[:12],
    )


def _row(record: Record) -> dict[str, Any]:
    def micro(value: float | None, per: float, digits: int) -> float | None:
        return None if value is None else round(value / per, digits)

    values = {
        "board": record.board,
        "clock": record.clock,
        "kind": record.kind,
        "build": f"{record.compiler} -{record.optimisation}",
        "time_us": micro(record.time_ps, 1e6, 3),
        "energy_net_uj": micro(record.energy_net_nj, 1e3, 4),
        "energy_gross_uj": micro(record.energy_gross_nj, 1e3, 4),
        "finding": record.finding,
    }
    shown = {
        name: values[name] if name in values else getattr(record, name) for name, _ in _COLUMNS
    }
    return {"clock": record.clock, "kind": record.kind} | shown


def _section(records: list[Record], specifications: dict[str, Any]) -> Section:
    first = records[0]
    prefix = f"{first.board}-{first.clock}"
    plots = []
    for kind, title in kinds.titles().items():
        for metric, spec in charts.cost_charts(records, kind).items():
            name = f"plot-{prefix}-{kind}-{metric}"
            specifications[name] = spec
            plots.append((title, metric, name))
    memory = charts.memory_chart(records)
    if memory:
        specifications[f"plot-{prefix}-memory"] = memory
    return Section(
        board=first.board,
        clock=first.clock,
        clock_hz=first.clock_hz,
        chip=first.chip,
        conditions=_conditions(records),
        advice=_advice(records),
        plots=plots,
        memory=f"plot-{prefix}-memory" if memory else None,
        findings=_findings(records),
        memories_keep_state=any(r.memories_keep_state for r in records),
        notes=[text for text, _ in Counter(n for r in records for n in r.notes).most_common()],
    )


def _conditions(records: Sequence[Record]) -> dict[str, list[str]]:
    def distinct(values: Sequence[str | None]) -> list[str]:
        return sorted({v for v in values if v})

    return {
        "Chip": distinct([r.chip for r in records]),
        "Runner": distinct([r.runner for r in records]),
        "Unit": distinct([r.unit for r in records]),
        "Meter": distinct([r.meter for r in records]),
        "Weakest grade of a current": distinct([r.energy_grade for r in records]),
        "Compiler": distinct([r.compiler_version for r in records]),
        "Flags": distinct([r.flags for r in records]),
        "Engine": distinct([r.engine_version for r in records]),
        "Project commit": distinct([r.project_commit for r in records]),
        "Host": distinct([r.host for r in records]),
        "Measured": distinct([r.measured_at[:10] for r in records]),
    }


def _advice(records: Sequence[Record]) -> list[Advice]:
    library = Library.load().algorithms
    known = [r for r in records if r.primitive in library]
    unsafe = {r.primitive for r in known if library[r.primitive].status in _UNSAFE}
    standard = {r.primitive for r in known if library[r.primitive].status == "standard"}
    result = []
    for service in services():
        able = [r for r in records if r.kind in service.operations]
        any_status = leads(
            costs([r for r in able if r.primitive not in unsafe], service, "energy_net_nj")
        )
        standards = leads(
            costs([r for r in able if r.primitive in standard], service, "energy_net_nj")
        )
        if any_status:
            left_out = sorted({r.primitive for r in able} & unsafe)
            same = standards == any_status
            security = {
                lead.build.primitive: library[lead.build.primitive].sizes.get("security_bits")
                for lead in (*any_status, *standards)
                if lead.build.primitive in library
            }
            result.append(
                Advice(service, any_status, [] if same else standards, security, left_out)
            )
    return result


def _findings(records: Sequence[Record]) -> list[Finding]:
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for r in records:
        if r.finding is not None:
            build = f"{r.compiler} -{r.optimisation}"
            groups.setdefault((r.primitive, r.implementation, build), []).append(r)
    result = []
    for (primitive, implementation, build), group in groups.items():
        time = sorted({r.operation for r in group if r.finding == "time depends on data"})
        addresses = sorted({r.operation for r in group if r.addresses_equal is False})
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
                claim=group[0].secret_independent_claim is True,
                time_varies_in=time,
                addresses_vary_in=addresses,
                largest_spread_cycles=max(spreads, default=0.0),
                trials=sum(r.trials or 0 for r in group),
            )
        )
    return sorted(result, key=lambda f: (not f.contradicts, f.primitive, f.implementation, f.build))
