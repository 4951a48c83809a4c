"""A site of static files over results, boards, primitives, studies and method.

Each number has a permanent address, `n/AB.html#KEY`: the key is the digest of everything that the
number depends on, and AB are its first digits. There stand its conditions, how far it may be off,
and the command that makes it again.
"""

import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from markdown_it import MarkdownIt

from joulemark import project, subjects
from joulemark.analysis.advice import needs
from joulemark.analysis.choice import Answer, Demands
from joulemark.catalogue import boards
from joulemark.catalogue.primitives import library
from joulemark.errors import InputError, JoulemarkError
from joulemark.records import bounds
from joulemark.records.record import PrimitiveRecord, Record, of_primitives
from joulemark.records.store import Store
from joulemark.report import page, write_report
from joulemark.studies import pins
from joulemark.studies.output import heads
from joulemark.studies.study import load, names
from joulemark.subjects import Subject
from joulemark.subjects.primitive.choose import question
from joulemark.wholefile import write_whole
from joulemark.words import counted


@dataclass(frozen=True)
class Link:
    """A cell that leads somewhere."""

    text: str
    to: str


Cell = str | int | float | Link | None
Rows = Sequence[dict[str, Cell]]


@dataclass(frozen=True)
class Part:
    """A part of a page: text or a table below a heading."""

    title: str
    rows: Rows = ()
    lines: Sequence[str] = ()
    html: str = ""
    facts: dict[str, Cell] = field(default_factory=dict)
    anchor: str = ""


def address(key: str) -> str:
    """Return where in a site a number's page is."""
    return f"n/{key[:2]}.html#{key}"


def command(record: Record[Subject]) -> str:
    """Return the command that makes a record's numbers again; empty if its type has none."""
    try:
        made = getattr(subjects.module(record.subject.type, "page"), "command", None)
    except ModuleNotFoundError:
        return ""
    return str(made(record)) if made else ""


def write_site(store: Store, folder: Path) -> int:
    """Write the site of a store's last good records.

    Args:
        store: the store.
        folder: where; an earlier site there is replaced.

    Returns:
        The number of pages.

    Raises:
        InputError: the folder has other files, or a file cannot be written.
        JoulemarkError: there is nothing to show.
    """
    records = [r for r in store.records() if r.status == "ok" and not r.about.baseline]
    if not records:
        raise JoulemarkError("nothing was measured", store.name, "give `joulemark run` first")
    _empty(folder)
    write_report(store, folder / "report.html")
    site = _Site(records, folder)
    for write in (site.boards, site.primitives, site.studies, site.method, site.numbers):
        write()
    site.index()
    return site.pages + 1


_MARK = ".joulemark-site"


def _empty(folder: Path) -> None:
    """Remove an earlier site, and nothing else.

    Raises:
        InputError: the folder has other files.
    """
    if folder.exists() and not (folder / _MARK).exists():
        if not folder.is_dir() or any(folder.iterdir()):
            raise InputError(
                "has other files than a site's", f"--out {folder}", "name a new folder"
            )
    else:
        shutil.rmtree(folder, ignore_errors=True)
    write_whole(folder / _MARK, b"", "the site")


class _Site:
    def __init__(self, records: Sequence[Record[Subject]], folder: Path) -> None:
        self._records, self._folder = records, folder
        self._of_primitives = of_primitives(records)
        self.pages = 0
        self._known: dict[str, Rows] = {}

    def _write(self, path: str, title: str, parts: Iterable[Part], lead: str = "") -> None:
        up = "../" * path.count("/")
        html = page.render("site.html.jinja", title=title, lead=lead, parts=list(parts), up=up)
        page.write(html, self._folder / path)
        self.pages += 1

    def index(self) -> None:
        """Write the page that leads to all others."""
        boards_there = {r.conditions.board for r in self._records}
        lead = (
            f"{counted(len(self._records), 'case')} on {counted(len(boards_there), 'board')}; "
            "each number has an address of its own, with its conditions, how far it may be off and "
            "the command that makes it again."
        )
        ask = Link("What costs least on your board?", "report.html")
        answer = Part("Ask", rows=[{"": ask}])
        parts = [Part(title, rows) for title, rows in self._known.items()]
        self._write("index.html", "What security costs", [answer, *parts], lead)

    @cached_property
    def _by_board(self) -> dict[tuple[str, str], list[PrimitiveRecord]]:
        found: dict[tuple[str, str], list[PrimitiveRecord]] = defaultdict(list)
        for record in self._of_primitives:
            found[record.conditions.board, record.conditions.clock].append(record)
        return dict(sorted(found.items()))

    def boards(self) -> None:
        """Write a page for each board."""
        rows: list[dict[str, Cell]] = []
        counts = Counter(r.conditions.board for r in self._records)
        for name in boards.names():
            board = boards.load_board(name)
            parts = [
                Part(
                    "What it is",
                    facts={
                        "chip": board.chip,
                        "supply": f"{board.supply_v.value} V ({board.supply_v.source})",
                        "clocks": ", ".join(
                            f"{clock} {board.clock_profile(clock).hz / 1e6:.6g} MHz"
                            for clock in board.clock
                        ),
                        "errors": bounds.of_board(board, None),
                    },
                ),
                *(
                    Part(f"What each need costs at clock {clock}", *self._answers(name, clock))
                    for there, clock in self._by_board
                    if there == name
                ),
                Part(
                    "Currents beside the chip's",
                    [
                        {"what": x.name, "mA": x.ampere * 1e3, "grade": x.grade, "source": x.source}
                        for x in board.load
                    ],
                ),
            ]
            self._write(f"boards/{name}.html", board.title, parts)
            cases: Cell = counts[name] or None
            link = Link(name, f"boards/{name}.html")
            rows.append({"board": link, "title": board.title, "chip": board.chip, "cases": cases})
        self._known["Boards"] = rows

    def _answers(self, board: str, clock: str) -> tuple[Rows, list[str]]:
        """Return what `choose --stored` answers for each need, and how far that may be off."""
        there = [r for r in self._by_board[board, clock] if r.conditions.runner == "emulator"]
        rows: list[dict[str, Cell]] = []
        errors: list[str] = []
        for service in needs():
            kind, operations = next(iter(service.operations.items()))
            asked = question(board, kind, clock=clock, operation=operations)
            answer = Answer(question=asked, demands=Demands(), found=asked.options(there))
            if answer.good:
                first = answer.first("energy")
                errors.append(first.errors)
                rows.append(
                    {
                        "need": service.title,
                        "bytes": first.message_bytes or None,
                        "first": Link(
                            f"{first.build.primitive}, {first.build.implementation}",
                            f"../primitives/{first.build.primitive}.html",
                        ),
                        "µJ": first.energy_j * 1e6,
                        "µs": first.time_s * 1e6,
                        "flash B": first.flash_bytes,
                    }
                )
        return rows, bounds.lines(errors)

    def primitives(self) -> None:
        """Write a page for each primitive."""
        by_name: dict[str, list[PrimitiveRecord]] = defaultdict(list)
        for record in self._of_primitives:
            by_name[record.subject.primitive].append(record)
        rows: list[dict[str, Cell]] = []
        for name, algorithm in sorted(library().algorithms.items()):
            if algorithm.contract.file.baseline or not (name in by_name or algorithm.is_default):
                continue
            facts: dict[str, Cell] = {
                "kind": algorithm.contract.title,
                "status": algorithm.status,
                "security": f"{algorithm.sizes.get('security_bits', '?')} bits",
                "implementations": ", ".join(w.name for w in library().implementations(algorithm)),
            }
            some = [_row(r) for r in sorted(by_name[name], key=lambda r: r.order)]
            errors = bounds.lines(map(bounds.of_record, by_name[name]))
            parts = [Part("What it is", facts=facts), Part("Numbers", some, errors)]
            self._write(f"primitives/{name}.html", name, parts)
            link = Link(name, f"primitives/{name}.html")
            cases: Cell = len(some) or None
            rows.append({"primitive": link, "kind": facts["kind"], "cases": cases})
        self._known["Primitives"] = rows

    def studies(self) -> None:
        """Write a page for each study, with its pinned verdicts."""
        rows: list[dict[str, Cell]] = []
        for name in names():
            study = load(name)
            pinned = pins.read(pins.path(study))
            told = heads(pinned.values()) if pinned else "no verdict is pinned"
            items: list[dict[str, Cell]] = [
                {
                    "item": i.id,
                    "section": i.section.name,
                    "what": i.what,
                    "verdict": pinned.get(i.id),
                }
                for i in study.items
            ]
            parts = [
                Part("The paper", lines=[f"{study.file.authors}. {study.file.published}"]),
                Part("About", lines=study.file.about.split("\n\n")),
                Part("Made again by", html=f"<pre>joulemark study {name}</pre>"),
                Part("Verdicts", items),
            ]
            self._write(f"studies/{name}.html", study.file.title, parts, told)
            link = Link(name, f"studies/{name}.html")
            rows.append({"study": link, "title": study.file.title, "verdicts": told})
        self._known["Studies"] = rows

    def method(self) -> None:
        """Write the pages that say how numbers are made; none where docs/ is not there."""
        paths = sorted((project.ROOT / "docs").glob("*.md"))
        known = {path.stem for path in paths}

        def leads(found: re.Match[str]) -> str:
            stem = found[1].removesuffix(".md")
            return f'href="{stem}.html' if stem in known else f'title="{found[1]}'

        rows: list[dict[str, Cell]] = []
        for path in paths:
            title, _, text = path.read_text(encoding="utf-8").partition("\n")
            html = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
            title = title.removeprefix("# ")
            linked = re.sub(r'href="([^":#]+)', leads, html)
            # Columns of output stay in line, and can be moved by keyboard.
            linked = linked.replace(_OUTPUT, f'<pre class="output" tabindex="0">{_OUTPUT[5:]}')
            self._write(f"docs/{path.stem}.html", title, [Part("", html=linked)])
            rows.append({"page": Link(title, f"docs/{path.stem}.html")})
        if rows:
            self._known["How numbers are made, and how to make them"] = rows

    def numbers(self) -> None:
        """Write the addresses of all numbers: a page for each two digits that keys begin with."""
        shards: dict[str, list[Record[Subject]]] = defaultdict(list)
        for record in self._records:
            shards[record.key[:2]].append(record)
        for digits, some in shards.items():
            parts = [_number(r) for r in sorted(some, key=lambda r: r.key)]
            title = f"Numbers whose key begins with {digits}"
            self._write(f"n/{digits}.html", title, parts)


_OUTPUT = '<pre><code class="language-text">'
"""How what a command prints begins in a page."""


def _row(record: PrimitiveRecord) -> dict[str, Cell]:
    what, where = record.subject, record.conditions
    return {
        "board": f"{where.board} {where.clock}",
        "implementation": what.implementation,
        "operation": what.operation,
        "bytes": what.message_bytes,
        "AD": what.ad_bytes or None,
        "build": str(record.build or ""),
        "cycles": Link(f"{record.cycles or 0:,.0f}", f"../{address(record.key)}"),
        "µs": None if record.time_ps is None else record.time_ps / 1e6,
        "net µJ": None if record.energy_net_nj is None else record.energy_net_nj / 1e3,
        "flash B": record.flash_bytes,
        "stack B": record.stack_bytes,
        "secrets": record.finding,
    }


def _made_by(record: Record[Subject]) -> str:
    if record.conditions.runner in {"emulator", "network"}:
        made = f"Made by `joulemark {record.subject.type}`"
        digest = record.provenance.image_digest
        from_what = f"an image whose SHA-256 is {digest}" if digest else "a file"
        return f"{made} from {from_what}, which is not shipped."
    return "No command repeats it: an instrument or a machine is a part of it."


def _number(record: Record[Subject]) -> Part:
    where, how = record.conditions, record.provenance
    again = command(record)
    commit = (how.project_commit or "").removesuffix("+dirty")
    made = f"git checkout {commit}\n" if commit else ""
    facts: dict[str, Cell] = {
        "key": record.key,
        "board": f"{where.board}, clock {where.clock}"
        + (f" ({how.clock_hz / 1e6:.6g} MHz)" if how.clock_hz else ""),
        "build": f"{record.build or ''} ({how.compiler_version or 'no compiler'})",
        "flags": how.flags,
        "measured by": f"{where.runner}, {where.meter}, {where.unit}; engine {how.engine_version}",
        "measured": record.measured_at,
        "commit": how.project_commit,
        "trials": str(record.trials),
        "seed": str(how.seed),
        "secrets": record.finding,
        "errors": bounds.of_record(record),
        "notes": "; ".join(record.notes) or None,
    }
    rows: Rows = [
        {
            "quantity": f"{q.part} {q.name}".strip().replace("_", " "),
            "value": f"{q.value:,.10g}",
            "unit": q.unit,
            "range": None
            if q.lower is None or q.lower == q.upper
            else f"{q.lower:,} to {q.upper:,}",
        }
        for q in record.quantities
    ]
    lines = [] if again else [_made_by(record)]
    return Part(
        str(record.subject),
        rows,
        lines,
        f"<pre>{page.escaped(made + again)}</pre>" if again else "",
        {name: value for name, value in facts.items() if value is not None},
        record.key,
    )
