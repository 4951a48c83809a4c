"""The table at the end of `joulemark run`: one line for each implementation."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from joulemark.cli._output import narrowest, say, wrapped
from joulemark.words import counted

if TYPE_CHECKING:
    from rich.table import Table

    from joulemark.campaign.job import Point
    from joulemark.records.record import PrimitiveRecord

NEAR_BYTES = 64
"""The table shows the message size nearest to this."""

MOST_ROWS = 40
"""A longer table is cut to the best of each kind, which a person can take in."""

_FIRST_LEFT_OUT = ("opt", "operation", "ms", "RAM", "stack", "flash", "bytes", "µJ")
"""Columns that a narrow terminal omits, in this order."""

_WRAPPED = ("implementation", "primitive", "board", "secrets")
"""Columns that are wrapped after that, in this order, before secrets are left out, too."""

_SHORTER = {
    "addresses independent of data": "addresses kept",
    "independent of data": "kept",
    "addresses depend on data": "addresses vary",
    "time depends on data": "time varies",
    "other cases depend on data": "others vary",
    "secrets decide at": "secrets decide",
    "claimed, not tried": "claimed",
    "handles none": "none",
}
"""What a narrow terminal shows of secrets, by how the wide text begins."""


def shown(points: "Sequence[Point]", good: Collection[str]) -> "list[Point]":
    """Return the cases that the table chooses from: all builds, one operation and size.

    Args:
        points: of the campaign.
        good: keys of those that have numbers.
    """
    from joulemark.catalogue.kinds import is_result
    from joulemark.subjects.primitive import PrimitiveSubject

    groups: dict[tuple[str, ...], list[tuple[tuple[int, int], bool, Point]]] = {}
    for point in points:
        subject, where = point.case.subject, point.case.conditions
        if point.key not in good or not isinstance(subject, PrimitiveSubject):
            continue
        if is_result(subject.kind):
            name = (where.board, where.clock, subject.kind, subject.primitive)
            far = (abs(subject.message_bytes - NEAR_BYTES), subject.ad_bytes)
            groups.setdefault((*name, subject.implementation), []).append(
                (far, subject.main, point)
            )
    result: list[Point] = []
    for group in groups.values():
        some = [g for g in group if g[1]] or group
        nearest = min(far for far, _, _ in some)
        result += [point for far, _, point in some if far == nearest]
    return result


def show(
    records: "Sequence[PrimitiveRecord]",
    dependent: Collection[tuple[str, ...]],
    cases: int,
) -> None:
    """Print the fastest build of each implementation, and what that leaves out.

    If that takes more than `MOST_ROWS`, print only the best of each kind on each board.

    Args:
        records: of the cases that `shown` chose.
        dependent: builds (as `build_of` names them) with an operation or size whose time or
            addresses were seen to depend on data.
        cases: number of the campaign's cases that have numbers, including those of `records`.
    """
    from rich.console import Console
    from rich.table import Table

    from joulemark.records import bounds

    rows = _fastest(records)
    if not rows:
        return
    cut = len(rows) > MOST_ROWS
    if cut:
        rows = _best_of_each_kind(rows, dependent)
    boards = len({(r.conditions.board, r.conditions.clock) for r in records}) > 1
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in (*(("board",) if boards else ()), "primitive", "implementation", "operation"):
        table.add_column(name, no_wrap=True)
    for name in ("bytes", "opt", "cycles", "ms", "µJ", "flash", "RAM", "stack"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("secrets")
    for row in rows:
        table.add_row(
            *((f"{row.conditions.board} {row.conditions.clock}",) if boards else ()),
            row.subject.primitive,
            row.subject.implementation,
            row.subject.operation,
            str(row.subject.message_bytes),
            "" if row.build is None else row.build.optimisation,
            "" if row.cycles is None else f"{row.cycles:,.0f}",
            f"{(row.time_ps or 0) / 1e9:.3f}",
            "" if row.energy_net_nj is None else f"{row.energy_net_nj / 1e3:.2f}",
            *("" if v is None else str(v) for v in _memory(row)),
            _secrets(row, dependent),
        )
    # A pipe or a file has no width to fit, and names are not markup.
    console = Console(markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 1000
    fitting, left_out = _fit(table, console.width)
    console.print(fitting)
    if left_out:
        console.print(f"too narrow for: {', '.join(left_out)}; `joulemark export` has all")
    about = (described(rows, cases, cut=cut), *_by_chance(rows))
    for line in (*about, *bounds.lines(map(bounds.of_record, rows))):
        say(line)


def _fastest(records: "Iterable[PrimitiveRecord]") -> "list[PrimitiveRecord]":
    """Return the fastest build of each implementation, sorted by board, kind and name."""
    groups: dict[tuple[str, ...], list[PrimitiveRecord]] = {}
    for r in records:
        where, what = r.conditions, r.subject
        name = (where.board, where.clock, what.kind, what.primitive, what.implementation)
        groups.setdefault(name, []).append(r)
    return [min(group, key=lambda r: r.cycles or 0) for _, group in sorted(groups.items())]


def _best_of_each_kind(
    rows: "Iterable[PrimitiveRecord]", dependent: Collection[tuple[str, ...]]
) -> "list[PrimitiveRecord]":
    """Return the row with the least energy that may be advised, for each kind on each board.

    A kind with no such row (no implementation of it is constant-time) is left out.
    """
    groups: dict[tuple[str, ...], list[PrimitiveRecord]] = {}
    for r in rows:
        groups.setdefault((r.conditions.board, r.conditions.clock, r.subject.kind), []).append(r)
    result = []
    for _, group in sorted(groups.items()):
        advised = [
            r
            for r in group
            if r.about.status == "standard" and not r.about.one_time_key
            if r.about.secret_independent is None
            or (r.about.secret_independent and build_of(r) not in dependent)
        ]
        if advised:
            result.append(min(advised, key=lambda r: (r.energy_net_nj or 0.0, r.cycles or 0)))
    return result


def described(rows: "Sequence[PrimitiveRecord]", cases: int, *, cut: bool = False) -> str:
    """Describe how the table's rows were selected, and how many cases are left out.

    Args:
        rows: the records that the table shows.
        cases: number of cases that have numbers.
        cut: only the best of each kind is shown.
    """
    if not rows:
        return f"no standard kept its secrets in any of {cases:,} cases; the report has all"
    operations = ", ".join(sorted({r.subject.operation for r in rows}))
    builds = ", ".join(sorted({str(r.build) for r in rows if r.build is not None}))
    text = f"shown: {operations}{_sizes(rows)}"
    if cut:
        text += ", of each kind the standard that keeps its secrets (or claims to, where no trial"
        text += " can tell) for the least energy"
    elif builds:
        text += f", the fastest build of each implementation ({builds})"
    hidden = cases - len(rows)
    if hidden <= 0:
        return text
    more = "1 more case" if hidden == 1 else f"{hidden:,} more cases"
    return f"{text}; {more}: --size, --ad-size, --operation, --opt choose, the report has all"


def _by_chance(rows: "Iterable[PrimitiveRecord]") -> "Iterator[str]":
    """Yield of what chance decides the attempts how many its trials took."""
    for row in rows:
        tried = sorted(int(sample["attempts"]) for sample in row.samples if "attempts" in sample)
        if tried:
            of = row.subject
            yield (
                f"{of.primitive}/{of.implementation} {of.operation}: trials of "
                f"{', '.join(map(str, tried))} attempts, which chance decides; no bound below has "
                "that in it"
            )


def _sizes(rows: "Sequence[PrimitiveRecord]") -> str:
    """Say the sizes of messages and of associated data, of the operations that take any."""
    from joulemark.catalogue.kinds import known

    def takes(row: "PrimitiveRecord") -> tuple[bool, bool]:
        kind = known().get(row.subject.kind)
        operation = None if kind is None else kind.file.operation.get(row.subject.operation)
        return (True, True) if operation is None else (operation.sized, operation.with_ad)

    messages = [r.subject.message_bytes for r in rows if takes(r)[0] or r.subject.message_bytes]
    ads = [r.subject.ad_bytes for r in rows if takes(r)[1]]
    text = f" of {_range(messages)} bytes" if messages else ""
    if ads:
        text += f", {f'{_range(ads)} bytes of' if any(ads) else 'no'} AD"
    return text


def _range(values: Iterable[int]) -> str:
    found = sorted(set(values))
    return f"{found[0]}" if len(found) == 1 else f"{found[0]} to {found[-1]}"


def _fit(table: "Table", width: int) -> "tuple[Table, list[str]]":
    """Leave columns out of a table, in a fixed order, until no cell is cut.

    Returns:
        The table, and the names of the columns that were left out.
    """
    from rich.table import Table
    from rich.text import Text

    kept = {str(c.header): c for c in table.columns}
    cells = {name: list(map(str, c.cells)) for name, c in kept.items()}

    def wide(name: str) -> int:
        lines = (line for text in (name, *cells[name]) for line in text.splitlines() or [""])
        return 2 + max(Text(line).cell_len for line in lines)

    if sum(map(wide, kept)) > width:
        cells["secrets"] = [
            next((s for t, s in _SHORTER.items() if text.startswith(t)), text)
            for text in cells["secrets"]
        ]
    left_out = []
    for name in _FIRST_LEFT_OUT:
        if sum(map(wide, kept)) <= width:
            break
        if kept.pop(name, None) is not None:
            left_out.append(name)
    for name in _WRAPPED:
        if name in kept and sum(map(wide, kept)) > width:
            rest = sum(wide(other) for other in kept if other != name)
            most = max(width - rest - 2, narrowest((name, *cells[name])))
            cells[name] = ["\n".join(wrapped(text, most)) for text in cells[name]]
    if sum(map(wide, kept)) > width and kept.pop("secrets", None) is not None:
        left_out.append("secrets")
    fitting = Table(box=None, pad_edge=False, header_style="bold")
    for name, column in kept.items():
        fitting.add_column(name, justify=column.justify, no_wrap=True)
    for row in zip(*(cells[name] for name in kept), strict=True):
        fitting.add_row(*row)
    return fitting, left_out


def build_of(record_or_point: "PrimitiveRecord | Point") -> tuple[str, ...]:
    """Return the key by which findings are collected."""
    case = record_or_point.case
    subject, where = case.subject, case.conditions
    named = (getattr(subject, "primitive", ""), getattr(subject, "implementation", ""))
    return (where.board, where.clock, *named, str(case.build))


def _secrets(record: "PrimitiveRecord", dependent: Collection[tuple[str, ...]]) -> str:
    from joulemark.records.record import DECIDED

    finding: str = record.finding or ""
    decided = record.value(DECIDED)
    if finding == "handles none":
        return finding
    if finding.startswith("independent") and build_of(record) in dependent:
        finding = "other cases depend on data"
    if finding == "secrets decide":
        return f"secrets decide at {counted(round(decided or 0), 'instruction')} (followed)"
    if finding:
        how = "" if decided is None else "followed, "
        if decided is not None and record.addresses_equal is None:
            how = "as declared, "
        return f"{finding} ({how}{record.trials} trials)"
    return "claimed, not tried" if record.about.secret_independent else ""


def _memory(record: "PrimitiveRecord") -> tuple[int | None, int | None, int | None]:
    return record.flash_bytes, record.ram_bytes, record.stack_bytes
