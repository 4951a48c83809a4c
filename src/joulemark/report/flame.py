"""A profile as a flame graph: speedscope's JSON, or an SVG that needs no program to look at."""

import html
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from joulemark.errors import InputError

_WIDTH = 1200
_ROW = 18
_LETTER = 6.6
"""Width of a letter of the font in use, in the SVG's units."""

Paths = Iterable[tuple[list[str], int]]
"""Call paths, outermost first, and the cycles spent at their ends."""


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


def speedscope(paths: Paths, name: str) -> str:
    """The file format of https://www.speedscope.app, "sampled" profile, weights in cycles."""
    frames: dict[str, int] = {}
    samples: list[list[int]] = []
    weights: list[int] = []
    for path, cycles in paths:
        if cycles:
            samples.append([frames.setdefault(f, len(frames)) for f in path])
            weights.append(cycles)
    return json.dumps(
        {
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "name": name,
            "exporter": "joulemark",
            "shared": {"frames": [{"name": f} for f in frames]},
            "profiles": [
                {
                    "type": "sampled",
                    "name": f"{name} (cycles)",
                    "unit": "none",
                    "startValue": 0,
                    "endValue": sum(weights),
                    "samples": samples,
                    "weights": weights,
                }
            ],
        }
    )


def svg(paths: Paths, name: str) -> str:
    """An icicle: callers above callees, widths in proportion to cycles."""
    root = _tree(paths)
    boxes: list[str] = []
    rows = 1
    # Programs call deeper than Python does: what is still to draw is a list.
    left: list[tuple[_Node, float, int]] = [(root, 0.0, 0)]
    while left:
        node, x, row = left.pop()
        width = _WIDTH * node.cycles / max(root.cycles, 1)
        if width < 0.3:
            continue
        rows = max(rows, row + 1)
        share = 100 * node.cycles / max(root.cycles, 1)
        # A function keeps its colour from run to run.
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

    height = rows * _ROW + 30
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'font-family="monospace" font-size="11"><title>{html.escape(name)}</title>'
        f'<text x="3" y="15" font-size="13">{html.escape(name)}: {root.cycles:,} cycles</text>'
        f"{''.join(boxes)}</svg>"
    )


def write_flame(paths: Paths, name: str, path: Path) -> None:
    """Write a flame graph; the file's ending says in which form.

    Raises:
        InputError: the ending is of no known form, or the file cannot be written.
    """
    if path.suffix == ".json":
        text = speedscope(paths, name)
    elif path.suffix == ".svg":
        text = svg(paths, name)
    elif path.suffix in {".html", ".htm"}:
        text = (
            '<!doctype html><html lang="en"><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(name)}</title>{svg(paths, name)}</html>"
        )
    else:
        raise InputError(
            "the ending says no form of flame graph",
            str(path),
            "end it in .svg, .html or .speedscope.json",
        )
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(path)) from error
