"""Find changes between two sets of results, and those beyond limits.

Cases are matched by subject, build and conditions. Deterministic results for the same inputs are
compared exactly, those of instruments by their 95% intervals, and those for other random inputs by
their observed ranges. A change that such bounds could explain does not count.

With line buffers or a cache, time depends on where code lies. A case that was measured with its
code at several places, which together are all alignments to a line, is compared by the mean over
them: if each function's time depends on its own alignment, the mean is the same wherever functions
lie, so that it changes with work alone.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from joulemark.errors import InputError
from joulemark.records.record import DEPENDENT

Row = Mapping[str, object]
"""A record as in an export; missing values are None."""


class Measure(NamedTuple):
    """A quantity that is compared."""

    column: str
    """Its column in an export."""
    unit: str
    per: float = 1.0
    """Number of the column's units per unit."""


MEASURES: Mapping[str, Measure] = {
    "cycles": Measure("cycles", "cycles"),
    "time": Measure("time_ps", "µs", 1e6),
    "energy": Measure("energy_net_nj", "nJ"),
    "energy-gross": Measure("energy_gross_nj", "nJ"),
    "instructions": Measure("instructions", "instructions"),
    "flash": Measure("flash_bytes", "B"),
    "ram": Measure("ram_bytes", "B"),
    "stack": Measure("stack_bytes", "B"),
}
SECRETS, MISSING = "secrets", "missing"
_IDENTITY = "case_digest"


@dataclass(frozen=True)
class Limit:
    """The largest allowed change: an amount, or a fraction of the earlier value."""

    measure: str
    amount: float
    relative: bool
    part: str = ""
    """Pattern of the parts of a case that it is for; empty for the whole case."""

    def __str__(self) -> str:
        before = f"{self.part}:" if self.part else ""
        if self.relative:
            return f"{before}{self.measure}={self.amount * 100:g}%"
        return f"{before}{self.measure}={self.amount:g}"

    def is_of(self, column: str) -> bool:
        """Return whether it is for a column of an export: `thread_worker_stack_bytes`."""
        wanted = "_".join([*self.part.split(), MEASURES[self.measure].column])
        return fnmatchcase(column, wanted)


@dataclass(frozen=True)
class Limits:
    """What makes a comparison fail, besides newly failed cases."""

    of: tuple[Limit, ...] = ()
    secrets: bool = False
    """Fail if a case that was independent of secrets no longer is."""
    missing: bool = False
    """Fail if a case is missing."""

    @classmethod
    def parse(cls, texts: Iterable[str]) -> "Limits":
        """Parse limits as users write them: `cycles=5%`, `stack=32`, `secrets`, `missing`.

        A part of a case is written before: `part network:energy-gross=5%`, `thread *:stack=0`.

        Raises:
            InputError: a text is not a limit.
        """
        found: list[Limit] = []
        words = set()
        for text in texts:
            whole, equals, amount = text.rpartition("=")
            part, _, name = whole.rpartition(":") if equals else ("", "", amount)
            if not equals and name in (SECRETS, MISSING):
                words.add(name)
                continue
            matched = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", amount)
            if name not in MEASURES or matched is None:
                mend = (
                    "write secrets, missing, NAME=5% or NAME=32, or of a part PART:NAME=5%; "
                    f"NAME is one of {', '.join(MEASURES)}"
                )
                raise InputError(f"{text!r} is no limit", "--fail", mend)
            relative = bool(matched[2])
            value = float(matched[1]) / (100 if relative else 1)
            found.append(Limit(name, value, relative, part.strip()))
        return cls(tuple(found), SECRETS in words, MISSING in words)


@dataclass(frozen=True)
class Change:
    """A changed quantity of a case."""

    measure: str
    unit: str
    base: float
    head: float
    least: float
    """The smallest change that the bounds of both values allow; signed, in the unit."""
    column: str = ""
    """Its column, if it is that of a part of the case."""

    @property
    def fraction(self) -> float:
        """The change as a fraction of the earlier value."""
        if self.base == 0:
            return math.copysign(math.inf, self.head)
        return (self.head - self.base) / abs(self.base)

    @property
    def text(self) -> str:
        """The change in words: `+5.5%`, or `+96 B` for memory."""
        if self.unit == "B" or math.isinf(self.fraction):
            return f"{self.head - self.base:+,g} {self.unit}"
        percent = self.fraction * 100
        return f"{percent:+,.0f}%" if abs(percent) >= 999.5 else f"{percent:+.3g}%"

    def exceeds(self, limit: Limit) -> bool:
        """Return whether it certainly grew by more than a limit."""
        if not limit.is_of(self.column) if limit.part else limit.measure != self.measure:
            return False
        allowed = limit.amount * (abs(self.base) if limit.relative else 1.0)
        return self.least > allowed


State = Literal["same", "changed", "new", "missing", "failed", "mended"]


@dataclass(frozen=True)
class Compared:
    """A case in either or both sets."""

    name: str
    place: str
    subject: str
    """Primitive and implementation, if it has them."""
    operation: str
    state: State
    changes: tuple[Change, ...] = ()
    secrets: str | None = None
    """Change of its independence of secrets, if any."""
    failure: str | None = None
    broken: tuple[str, ...] = ()
    """The limits that it exceeds, in words."""
    how: str = "exact"
    """Method of comparison: exact, intervals, ranges or placements."""
    spread: float | None = None
    """How far cycles lie apart with the code's place alone, as a fraction; None if unknown."""
    errors: str = ""
    """How far its figures may be off, as the records say it."""


def compare(base: Sequence[Row], head: Sequence[Row], limits: Limits) -> list[Compared]:
    """Compare two sets of records; cases that exceed a limit come first.

    Args:
        base: the last record of each case, before.
        head: the last record of each case, after.
        limits: the limits on changes.

    Raises:
        InputError: a limit is for a part that no case has.
    """
    for limit in limits.of:
        if limit.part and not any(
            map(limit.is_of, {name for row in (*base, *head) for name in row})
        ):
            what = f"no case has {limit.measure} of {limit.part!r}"
            mend = "`joulemark export --format csv --long` names the parts"
            raise InputError(what, f"--fail {limit}", mend)
    before, after = _merged(base), _merged(head)
    found = [
        _one(before.get(key), after.get(key), limits) for key in dict.fromkeys([*before, *after])
    ]
    return sorted(found, key=lambda c: (not c.broken, c.state == "same", c.place, c.name))


_PLACED = (
    *("subject_type", "subject", "tag_bytes", "compiler", "optimisation"),
    *("board", "clock", "runner", "meter", "unit", "repetitions"),
)
"""Columns that the placements of a case share."""


def _merged(rows: Sequence[Row]) -> dict[str, Row]:
    """Return rows by their case, with the placements of a case as one row of their means."""
    if not any(str(row.get("variant") or "").startswith("+") for row in rows):
        return {str(row[_IDENTITY]): row for row in rows}
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        variant = str(row.get("variant") or "")
        own = (variant,) if variant and not variant.startswith("+") else ()
        groups.setdefault((*(row.get(name) for name in _PLACED), *own), []).append(row)
    return {str(row[_IDENTITY]): row for row in map(_mean, groups.values())}


def _mean(group: Sequence[Row]) -> Row:
    first = min(group, key=lambda row: int(str(row.get("variant") or "") or 0))
    failed = [row for row in group if row["status"] != "ok"]
    if len(group) == 1 or failed:
        return {**first, **failed[0], _IDENTITY: first[_IDENTITY]} if failed else first
    merged = {**first, "placements": len(group)}
    for measure in MEASURES.values():
        values = [v for row in group if (v := _number(row.get(measure.column))) is not None]
        if len(values) == len(group):
            merged[measure.column] = sum(values) / len(values)
    cycles = [v for row in group if (v := _number(row.get("cycles"))) is not None]
    if cycles and min(cycles) > 0:
        merged["spread"] = max(cycles) / min(cycles) - 1
    dependent = [row for row in group if row.get("finding") in DEPENDENT]
    return {**merged, "finding": dependent[0]["finding"]} if dependent else merged


def _one(base: Row | None, head: Row | None, limits: Limits) -> Compared:
    row = head or base
    assert row is not None  # noqa: S101
    state: State = "same"
    changes: tuple[Change, ...] = ()
    broken: list[str] = []
    secrets = failure = None
    how = "exact"
    if base is None:
        state = "new"
    elif head is None:
        state = "missing"
        if limits.missing:
            broken.append("is missing")
    elif head["status"] != "ok":
        state = "failed" if base["status"] == "ok" else "same"
        failure = str(head["failure"])
        if state == "failed":
            broken.append(f"failed: {failure}")
    elif base["status"] != "ok":
        state = "mended"
    else:
        how = _how(base, head)
        changes = (*_changes(base, head, how), *_of_parts(base, head, how, limits))
        secrets = _secrets(base, head)
        state = "changed" if changes or secrets else "same"
        for change in changes:
            broken += [
                f"{change.measure} {change.text} (limit {limit})"
                for limit in limits.of
                if change.exceeds(limit)
            ]
        if limits.secrets and secrets == "no longer independent of secrets":
            broken.append(secrets)
    if base is None and head is not None and head["status"] != "ok":
        state, failure = "failed", str(head["failure"])
        broken.append(f"failed: {failure}")
    return Compared(
        name=_name(row),
        place=f"{row['board']} {row['clock']}",
        subject="/".join(str(row[n]) for n in ("primitive", "implementation") if row.get(n))
        or str(row.get("subject") or ""),
        operation=str(row.get("operation") or ""),
        state=state,
        changes=changes,
        secrets=secrets,
        failure=failure,
        broken=tuple(broken),
        how=how,
        spread=_spread(base, head),
        errors=_errors(row),
    )


def _spread(base: Row | None, head: Row | None) -> float | None:
    """Return the larger spread of a case over its placements; 0 where time knows no place."""
    rows = [row for row in (base, head) if row is not None and row.get("cycles") is not None]
    if not rows or not all(row.get("memories_keep_state") for row in rows):
        return (
            0.0 if rows and all(row.get("memories_keep_state") is False for row in rows) else None
        )
    found = [_number(row.get("spread")) for row in rows]
    return None if None in found else max(spread for spread in found if spread is not None)


def _errors(row: Row) -> str:
    """Return how far a row's figures may be off; empty in exports of versions that do not say."""
    told = {"time": row.get("time_error"), "energy:": row.get("energy_error")}
    parts = [f"{name} {text}" for name, text in told.items() if text]
    return f"{row['board']}: {'; '.join(parts)}" if parts else ""


def _name(row: Row) -> str:
    named = [str(row[n]) for n in ("primitive", "implementation") if row.get(n)]
    built = [f"{row['compiler']} -{row['optimisation']}"] if row.get("compiler") else []
    if not named:
        return " ".join([str(row.get("subject") or row.get("subject_type") or "case"), *built])
    words = ["/".join(named)]
    words += [str(row["operation"])] if row.get("operation") else []
    size, ad = row.get("message_bytes"), row.get("ad_bytes")
    words += [f"{size} B" + (f" + {ad} B" if ad else "")] if size is not None else []
    return " ".join([*words, *built])


def _how(base: Row, head: Row) -> str:
    if any(row.get("energy_net_half_width_nj") is not None for row in (base, head)):
        return "intervals"
    if all(row.get("placements") for row in (base, head)):
        return "placements"
    alike = all(base.get(n) == head.get(n) for n in ("seed", "trials"))
    return "exact" if alike or (base.get("exact") and head.get("exact")) else "ranges"


def _changes(base: Row, head: Row, how: str) -> Iterable[Change]:
    for name, measure in MEASURES.items():
        old, new = (_bounds(row, measure, how) for row in (base, head))
        if old is None or new is None:
            continue
        if new[0] > old[2]:
            least = new[0] - old[2]
        elif new[2] < old[0]:
            least = new[2] - old[0]
        else:
            continue
        per = measure.per
        yield Change(name, measure.unit, old[1] / per, new[1] / per, least / per)


def _of_parts(base: Row, head: Row, how: str, limits: Limits) -> Iterable[Change]:
    """Yield the changes of parts that limits are for; a part that is not there takes nothing."""
    nothing = (0.0, 0.0, 0.0)
    for column in dict.fromkeys((*base, *head)):
        of = next((limit for limit in limits.of if limit.part and limit.is_of(column)), None)
        if of is None:
            continue
        whole = MEASURES[of.measure]
        measure = whole._replace(column=column)
        sides = [_bounds(row, measure, how) for row in (base, head)]
        if all(side is None for side in sides):
            continue
        old, new = (side or nothing for side in sides)
        least = max(new[0] - old[2], 0.0) or min(new[2] - old[0], 0.0)
        if least:
            part = column.removesuffix(f"_{whole.column}").replace("_", " ")
            per = measure.per
            yield Change(
                f"{part} {of.measure}",
                measure.unit,
                old[1] / per,
                new[1] / per,
                least / per,
                column,
            )


def _bounds(row: Row, measure: Measure, how: str) -> tuple[float, float, float] | None:
    """Return a quantity's lower bound, value and upper bound."""
    value = _number(row.get(measure.column))
    if value is None:
        return None
    stem, _, unit = measure.column.rpartition("_")
    stem, unit = (stem, f"_{unit}") if stem else (unit, "")
    if how == "intervals":
        half = _number(row.get(f"{stem}_half_width{unit}")) or 0.0
        return value - half, value, value + half
    if how == "ranges":
        low, high = (_number(row.get(f"{stem}_{end}{unit}")) for end in ("min", "max"))
        return value if low is None else low, value, value if high is None else high
    return value, value, value


def _number(value: object) -> float | None:
    if value is None or not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(value)


def _secrets(base: Row, head: Row) -> str | None:
    was, now = (str(row.get("finding") or "") for row in (base, head))
    judged = "" not in (was, now) and "handles none" not in (was, now)
    if not judged or (was in DEPENDENT) == (now in DEPENDENT):
        return None
    return "no longer independent of secrets" if now in DEPENDENT else "now independent of secrets"


def summary(found: Sequence[Compared]) -> list[str]:
    """Summarise each changed operation in a line with its largest change of each kind.

    For example `aes-128/ref encrypt +5.5%, stack +96 B`; the first number is of cycles, or else of
    time or energy.
    """
    groups: dict[tuple[str, str, str], list[Compared]] = {}
    for c in found:
        if c.state != "same":
            groups.setdefault((c.place, c.subject, c.operation), []).append(c)
    lines = []
    places = {place for place, _, _ in groups}
    for (place, subject, operation), group in groups.items():
        texts = [*_largest(group), *sorted({c.secrets for c in group if c.secrets})]
        for state in ("failed", "missing", "new", "mended"):
            count = sum(c.state == state for c in group)
            texts += [f"{count} {state}"] if count else []
        where = f" on {place}" if len(places) > 1 else ""
        lines.append(f"{subject} {operation}{where} {', '.join(texts)}")
    return lines


def _largest(group: Sequence[Compared]) -> list[str]:
    furthest: dict[str, Change] = {}
    for change in (change for c in group for change in c.changes):
        known = furthest.get(change.measure)
        if known is None or _far(change) > _far(known):
            furthest[change.measure] = change
    texts = []
    main = next((m for m in ("cycles", "time", "energy", "energy-gross") if m in furthest), None)
    if main:
        texts.append(furthest[main].text + ("" if main == "cycles" else f" {main}"))
    texts += [f"{m} {furthest[m].text}" for m in ("flash", "ram", "stack") if m in furthest]
    return texts


def _far(change: Change) -> float:
    return abs(change.head - change.base if change.unit == "B" else change.fraction)
