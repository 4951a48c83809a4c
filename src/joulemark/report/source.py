"""Source files with the cost of each line, as a page."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from joulemark.project import ROOT
from joulemark.report import page

if TYPE_CHECKING:
    from joulemark.analysis.spending import Spent
    from joulemark.images.lines import Line


def text_of(line: "Line") -> str:
    """Return the line's text; empty if its file is not here."""
    lines = _lines(line.file)
    return lines[line.number - 1].strip() if 0 < line.number <= len(lines) else ""


def name_of(path: Path) -> str:
    """Return a source file's name, as short as possible."""
    for folder in (ROOT, Path.cwd()):
        if path.is_relative_to(folder):
            return str(path.relative_to(folder))
    return str(path)


@dataclass(frozen=True)
class _Row:
    number: int
    text: str
    spent: "Spent | None"
    share: float
    """Energy as a share of the costliest line's."""


def write_source(spent: "Mapping[Line | None, Spent]", name: str, path: Path, errors: str) -> None:
    """Write the source files in which anything was spent, the costliest first.

    Args:
        spent: by line.
        name: of the program.
        path: an .html file.
        errors: how far the figures may be off, as `bounds` says it.

    Raises:
        InputError: it cannot be written.
    """
    files: dict[Path, dict[int, Spent]] = defaultdict(dict)
    for line, cost in spent.items():
        if line is not None:
            files[line.file][line.number] = cost
    most = max((cost.energy_nj for cost in spent.values()), default=0.0) or 1.0
    energies = {file: sum(cost.energy_nj for cost in own.values()) for file, own in files.items()}
    shown = [
        (name_of(file), energies[file], _rows(file, files[file], most))
        for file in sorted(files, key=lambda file: -energies[file])
    ]
    rest = spent.get(None)
    html = page.render(
        "source.html.jinja",
        name=name,
        errors=errors,
        files=shown,
        total_nj=sum(cost.energy_nj for cost in spent.values()),
        rest_nj=0.0 if rest is None else rest.energy_nj,
    )
    page.write(html, path)


def _rows(file: Path, spent: "Mapping[int, Spent]", most: float) -> Sequence[_Row]:
    lines = _lines(file)
    if not lines:
        return [_Row(n, "", s, s.energy_nj / most) for n, s in sorted(spent.items())]
    rows = []
    for number, text in enumerate(lines, 1):
        cost = spent.get(number)
        rows.append(_Row(number, text, cost, cost.energy_nj / most if cost else 0.0))
    return rows


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
