"""A comparison as text, Markdown, JSON and JUnit XML."""

import json
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import get_args

from joulemark import words
from joulemark.analysis.changes import Change, Compared, State, summary
from joulemark.records import bounds

_MOST_LINES = 20
_MOST_ROWS = 200


def counted(found: Sequence[Compared], limits: Sequence[str]) -> str:
    """Return the number of cases in each state, in words, and how many are beyond the limits."""
    states = Counter(c.state for c in found)
    broken = sum(bool(c.broken) for c in found)
    shown = [f"{states[s]:,} {s}" for s in get_args(State) if states[s]]
    verdict = f"{broken or 'none'} beyond the limits ({', '.join(limits)})"
    verdict = verdict if limits else "no limits given: --fail"
    return f"{words.counted(len(found), 'case')}: {', '.join(shown) or 'none'}; {verdict}"


def _layout(found: Sequence[Compared]) -> list[str]:
    """Say how much of a change may be code that only moved."""
    compared = [c for c in found if c.state in {"same", "changed"}]
    placed = [c.spread for c in compared if c.how == "placements" and c.spread is not None]
    lines = []
    if placed:
        spread = f"up to {max(placed) * 100:.2g}%"
        lines.append(
            f"layout: with the code's place in flash alone, cycles of a case lie {spread} apart; "
            "compared are means over the places"
        )
    movable = [c for c in compared if c.operation]  # What `run` builds; an image is as it comes.
    if any(c.spread is None and c.how != "placements" and c.changes for c in movable):
        lines.append(
            "layout: not varied; on a chip with line buffers or a cache a change may be code that "
            "moved (`run --placements 4` tells)"
        )
    return lines


def _errors(found: Sequence[Compared]) -> list[str]:
    return bounds.lines(c.errors for c in found if c.errors)


def text(found: Sequence[Compared], base: str, head: str, limits: Sequence[str]) -> str:
    """Format for a terminal."""
    lines = [f"{base} -> {head}: {counted(found, limits)}", *_limited(summary(found), _MOST_LINES)]
    broken = [c for c in found if c.broken]
    if broken:
        lines += ["", "beyond the limits:"]
        lines += _limited([f"{c.name}, {c.place}: {'; '.join(c.broken)}" for c in broken])
    hows = {c.how for c in found if c.state in {"same", "changed"}} - {"exact"}
    if "ranges" in hows:
        lines += ["", "compared by ranges: other random inputs; --seed gives both the same"]
    if told := [*_layout(found), *_errors(found)]:
        lines += ["", *told]
    return "\n".join(lines)


def markdown(found: Sequence[Compared], base: str, head: str, limits: Sequence[str]) -> str:
    """Format as a comment on a change: a summary, and a table to unfold."""
    mark = "❌ " if any(c.broken for c in found) else "✅ " if limits else ""
    lines = [f"### {mark}Joulemark: {base} → {head}", "", counted(found, limits), ""]
    lines += _limited([f"- `{line}`" for line in summary(found)], _MOST_LINES)
    changed = [c for c in found if c.state != "same"]
    if changed:
        lines += ["", "<details><summary>All changes</summary>", ""]
        lines += ["| case | board | change | beyond |", "|---|---|---|---|"]
        for c in changed[:_MOST_ROWS]:
            what = [*_moved(c.changes), *(t for t in (c.secrets, c.failure) if t)]
            cells = (c.name, c.place, "; ".join(what) or c.state, "; ".join(c.broken))
            lines.append("| " + " | ".join(x.replace("|", "\\|") for x in cells) + " |")
        if len(changed) > _MOST_ROWS:
            lines.append(f"\n{len(changed) - _MOST_ROWS} more: `--format json` has all.")
        lines += ["", "</details>"]
    for line in (*_layout(found), *_errors(found)):
        lines += ["", f"<sub>{line}</sub>"]
    return "\n".join(lines)


def as_json(found: Sequence[Compared], base: str, head: str, limits: Sequence[str]) -> str:
    """Format everything as JSON, for programs."""
    cases = [
        asdict(c) | {"changes": [{**asdict(x), "fraction": _finite(x.fraction)} for x in c.changes]}
        for c in found
    ]
    whole = {
        "base": base,
        "head": head,
        "limits": list(limits),
        "failed": any(c.broken for c in found),
        "summary": summary(found),
        "layout": _layout(found),
        "errors": _errors(found),
        "cases": cases,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False)


def junit(found: Sequence[Compared], base: str, head: str, limits: Sequence[str]) -> str:
    """Format as a JUnit test suite: each case is a test, which fails beyond a limit."""
    suite = ET.Element(
        "testsuite",
        name=f"joulemark {base} {head}",
        tests=str(len(found)),
        failures=str(sum(bool(c.broken) for c in found)),
        errors="0",
        skipped="0",
    )
    properties = ET.SubElement(suite, "properties")
    for limit in limits:
        ET.SubElement(properties, "property", name="limit", value=limit)
    for line in _errors(found):
        ET.SubElement(properties, "property", name="errors", value=line)
    for c in found:
        case = ET.SubElement(suite, "testcase", classname=c.place.replace(" ", "."), name=c.name)
        if c.broken:
            failure = ET.SubElement(case, "failure", message="; ".join(c.broken))
            failure.text = "\n".join(
                f"{x.measure}: {_value(x.base)} -> {_value(x.head)} {x.unit} ({x.text})"
                for x in c.changes
            )
        elif c.state != "same":
            ET.SubElement(case, "system-out").text = ", ".join(
                [c.state, *(f"{x.measure} {x.text}" for x in c.changes)]
            )
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _moved(changes: Sequence[Change]) -> list[str]:
    """Return the changes in words, with units; those of one percentage together."""
    found: dict[str, list[str]] = {}
    for change in changes:
        unit = "" if change.unit == change.measure else f" {change.unit}"
        values = f"{change.measure} {_value(change.base)} → {_value(change.head)}{unit}"
        found.setdefault(change.text, []).append(values)
    return [f"{text}: {', '.join(values)}" for text, values in found.items()]


def _value(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) or abs(value) >= 1000 else f"{value:,.4g}"


def _finite(value: float) -> float | None:
    return value if abs(value) != float("inf") else None


def _limited(lines: Sequence[str], most: int = 50) -> list[str]:
    more = [f"and {len(lines) - most} more"] if len(lines) > most else []
    return [*lines[:most], *more]
