"""A profile as a flame graph: speedscope's JSON, a zoomable page, or an SVG."""

import html
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from joulemark.errors import InputError
from joulemark.report import page

_FORMS = {".json", ".svg", ".html", ".htm"}
_WIDTH = 1200
_ROW = 18
_LETTER = 6.6
"""Width of a letter of the font in use, in the SVG's units."""

Paths = Iterable[tuple[list[str], int]]
"""Call paths, outermost first, and the cycles spent at their ends."""


@dataclass(frozen=True)
class InOrder:
    """Call paths in chronological order."""

    parts: Sequence[str] = ()
    """Parts of the board."""
    turns: Sequence[tuple[list[str], int, Sequence[float]]] = ()
    """Paths, with the picoseconds and each part's nanojoules spent at their ends."""

    @property
    def drawing(self) -> list[tuple[int, str]]:
        """Parts that draw current of their own, with their indices; empty if there is only one."""
        drawing = [n for n in range(len(self.parts)) if any(nj[n] for _, _, nj in self.turns)]
        return [(n, self.parts[n]) for n in drawing] if len(drawing) > 1 else []


_NOT_FOLLOWED = InOrder()


@dataclass
class _Node:
    name: str
    cycles: int = 0
    children: dict[str, "_Node"] = field(default_factory=dict)


def _tree(paths: Paths) -> _Node:
    root = _Node("all")
    for path, cycles in paths:
        root.cycles += cycles
        node = root
        for name in path:
            node = node.children.setdefault(name, _Node(name))
            node.cycles += cycles
    return root


def speedscope(paths: Paths, name: str, errors: str, in_order: InOrder = _NOT_FOLLOWED) -> str:
    """Return the file format of https://www.speedscope.app, with "sampled" profiles.

    Args:
        paths: of a profile with weights in cycles.
        name: of the program.
        errors: how far the figures may be off.
        in_order: further profiles, with weights in nanoseconds and in nanojoules (in all and for
            each part), which speedscope's view "Time Order" shows chronologically.
    """
    frames: dict[str, int] = {}

    def sampled(
        what: str, unit: str, spent: Iterable[tuple[list[str], float]]
    ) -> dict[str, object]:
        samples: list[list[int]] = []
        weights: list[float] = []
        for path, weight in spent:
            sample = [frames.setdefault(f, len(frames)) for f in path]
            if samples and samples[-1] == sample:
                weights[-1] += weight
            elif weight:
                samples.append(sample)
                weights.append(weight)
        return {
            "type": "sampled",
            "name": f"{name} ({what})",
            "unit": unit,
            "startValue": 0,
            "endValue": sum(weights),
            "samples": samples,
            "weights": weights,
        }

    turns = in_order.turns
    profiles = [sampled("cycles", "none", paths)]
    if turns:
        profiles.append(sampled("time", "nanoseconds", ((p, ps * 1e-3) for p, ps, _ in turns)))
        profiles.append(sampled("energy in nJ", "none", ((p, sum(nj)) for p, _, nj in turns)))
    for place, part in in_order.drawing:
        spent = ((p, nj[place]) for p, _, nj in turns)
        profiles.append(sampled(f"energy of {part} in nJ", "none", spent))
    return json.dumps(
        {
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "name": f"{name} (errors, {errors})",
            "exporter": "joulemark",
            "shared": {"frames": [{"name": f} for f in frames]},
            "profiles": profiles,
        }
    )


def svg(paths: Paths, name: str, errors: str) -> str:
    """Return an icicle graph: callers above callees, widths in proportion to cycles."""
    root = _tree(paths)
    boxes: list[str] = []
    rows = 1
    # Programs may nest calls deeper than Python's recursion limit: use an explicit stack.
    left: list[tuple[_Node, float, int]] = [(root, 0.0, 0)]
    while left:
        node, x, row = left.pop()
        width = _WIDTH * node.cycles / max(root.cycles, 1)
        if width < 0.3:
            continue
        rows = max(rows, row + 1)
        share = 100 * node.cycles / max(root.cycles, 1)
        # Derive the hue from the name, so that a function keeps its colour from run to run.
        hue = zlib.crc32(node.name.encode()) % 60
        label = html.escape(node.name)
        fits = int((width - 6) / _LETTER)
        shown = (
            label if len(node.name) <= fits else html.escape(node.name[: max(fits - 1, 0)]) + "…"
        )
        text = f'<text x="{x + 3:.2f}" y="{row * _ROW + 37}">{shown}</text>' if fits >= 3 else ""
        boxes.append(
            f"<g><title>{label}: {node.cycles:,} cycles, {share:.2f}%</title>"
            f'<rect x="{x:.2f}" y="{row * _ROW + 24}" width="{max(width - 0.5, 0.3):.2f}" '
            f'height="{_ROW - 1}" fill="hsl({hue},75%,68%)"/>{text}</g>'
        )
        for child in sorted(node.children.values(), key=lambda c: -c.cycles):
            left.append((child, x, row + 1))
            x += _WIDTH * child.cycles / max(root.cycles, 1)

    height = rows * _ROW + 46
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'font-family="monospace" font-size="11"><title>{html.escape(name)}</title>'
        f'<text x="3" y="15" font-size="13">{html.escape(name)}: {root.cycles:,} cycles</text>'
        f'<text x="3" y="{height - 8}">errors, {html.escape(errors)}</text>'
        f"{''.join(boxes)}</svg>"
    )


def zoomable(paths: Paths, name: str, errors: str, in_order: InOrder = _NOT_FOLLOWED) -> str:
    """Return a zoomable page of the same: by cycles, time, energy, and energy of each part."""
    units = {"cycles": "cycles"}
    if in_order.turns:
        units |= {"time": "s", "energy": "J"}
    units |= {f"energy of {part}": "J" for _, part in in_order.drawing}
    nodes: list[list[float]] = [[-1, 0, *(0 for _ in units)]]
    names: dict[str, int] = {"all": 0}
    known: dict[tuple[int, int], int] = {}

    def spend(path: Sequence[str], *weights: float) -> None:
        at = 0
        for called in path:
            key = at, names.setdefault(called, len(names))
            if key not in known:
                known[key] = len(nodes)
                nodes.append([*key, *(0 for _ in units)])
            at = known[key]
        for column, weight in enumerate(weights, 2):
            nodes[at][column] += weight

    for path, cycles in paths:
        spend(path, cycles)
    for path, ps, parts_nj in in_order.turns:
        each = [parts_nj[place] for place, _ in in_order.drawing]
        spend(path, 0, ps * 1e-3, sum(parts_nj), *each)
    data = {
        "names": list(names),
        "units": list(units.values()),
        "nodes": [[round(x, 3) for x in node] for node in nodes],
    }
    script = page.asset("flame.js")
    packed = page.packed(json.dumps(data))
    return page.render(
        "flame.html.jinja",
        name=name,
        errors=errors,
        data=packed,
        weights=list(units),
        script=script,
    )


def check_flame(path: Path) -> None:
    """Refuse a file whose suffix is not a known form.

    Raises:
        InputError: the suffix is unknown.
    """
    if path.suffix not in _FORMS:
        raise InputError(
            "the ending says no form of flame graph",
            str(path),
            "end it in .svg, .html or .speedscope.json",
        )


def write_flame(
    paths: Paths, name: str, path: Path, errors: str, in_order: InOrder = _NOT_FOLLOWED
) -> None:
    """Write a flame graph in the form that the file's suffix names.

    Args:
        paths: of a profile.
        name: of the program.
        path: the file.
        errors: how far the figures may be off, as `bounds` says it.
        in_order: the same in chronological order, if that was followed.

    Raises:
        InputError: the suffix is not a known form, or the file cannot be written.
    """
    check_flame(path)
    if path.suffix == ".json":
        text = speedscope(paths, name, errors, in_order)
    elif path.suffix == ".svg":
        text = svg(paths, name, errors)
    else:
        text = zoomable(paths, name, errors, in_order)
    page.write(text, path)
