"""A study's file: every table, figure and checkable sentence of a paper as items."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from joulemark.catalogue import datafile, files
from joulemark.catalogue.near import near
from joulemark.errors import InputError
from joulemark.project import STUDIES
from joulemark.studies import expressions
from joulemark.studies.expressions import MissingError, Value
from joulemark.studies.units import UNITS, si

Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Text = Annotated[str, Field(min_length=1)]
Unit = Annotated[str, Field(pattern="^(" + "|".join(map(str, UNITS)) + ")$")]
Asked = dict[str, Any]
"""A question to a way; a list in it asks for each of its values in turn."""


class Tolerance(datafile.DataModel):
    """How far ours may be from the paper's and still agree with it; stated before it is run."""

    factor: Annotated[float, Field(gt=1)]
    """Ours is at most the paper's times this, and at least the paper's divided by it."""
    rounded: Annotated[float, Field(gt=0)] | None = None
    """Step to which the paper rounds, in the item's unit: any number that rounds so is its."""
    rounded_inverse: Annotated[float, Field(gt=0)] | None = None
    """The same of a number that is printed as the inverse of a rounded one, in the inverse of
    the item's unit."""
    both_have: Annotated[float, Field(gt=0)] | None = None
    """What ours and the paper's have of one definition, in the item's unit: the factor is of the
    rest."""
    reason: Text


class Inferred(datafile.DataModel):
    """A condition that the paper does not state."""

    what: Text
    evidence: Text


class Conditions(datafile.DataModel):
    """Conditions under which the paper measured."""

    stated: list[Text] = Field([])
    inferred: list[Inferred] = Field([])

    def with_(self, other: "Conditions") -> "Conditions":
        """Return the union of both."""
        return Conditions(
            stated=[*self.stated, *other.stated], inferred=[*self.inferred, *other.inferred]
        )


class Change(datafile.DataModel):
    """A cause to try: ours again with one thing changed, in all rows that it touches.

    It either asks something else, or replaces what a name stands for.
    """

    name: Identifier
    what: Text
    """The change, as worded in the reason of a verdict."""
    cites: Text
    """What in the paper, its code or its documents says so, or in another paper of its authors."""
    asked: Asked = Field({})
    """The key of questions that is changed, and its value."""
    where: Asked = Field({})
    """Only questions with these values are changed; all of them if empty."""
    replace: dict[Identifier, Text] = Field({})
    """What quantities and items stand for instead; in it, names are as they were."""

    @model_validator(mode="after")
    def _one_change(self) -> "Change":
        if bool(self.asked) == bool(self.replace):
            raise ValueError(f"change {self.name} has `asked` or `replace`")
        if len(self.asked) > 1:
            raise ValueError(f"change {self.name} changes {' and '.join(self.asked)}: try one")
        sides = sorted({*self.where} - PLACES)
        if sides and BUILDS & {*self.asked}:
            raise ValueError(
                f"change {self.name} builds one side of comparisons anew, by {', '.join(sides)}"
            )
        return self

    def applied(self, asked: Asked) -> Asked:
        """Return the changed question."""
        same = all(asked.get(key) == value for key, value in self.where.items())
        return {**asked, **self.asked} if same else asked


BUILDS = frozenset({"opt", "compiler", "architecture", "source", "flags"})
"""Keys of questions that say how code is built."""
PLACES = frozenset({"way", "board", "machine", "clock", "library"})
"""Keys of questions that say where it runs: a change there has all sides of a comparison."""


class _Expected(datafile.DataModel):
    """Keys of an item, of a column (for all its cells) or of a row."""

    ours: Asked | str | None = None
    """How to obtain ours: a question to a way, or an expression over quantities and items."""
    check: str | None = None
    """Condition on the paper's own figures: an expression over its items."""
    says: str | None = None
    """What it means that they do not fulfil it."""
    needs: str | None = None
    """What cannot be had and is missing to obtain ours."""
    unbuilt: str | None = None
    """What could be built to obtain ours, and is not."""
    circular: str | None = None
    """Why ours is not an independent figure."""
    untranscribed: str | None = None
    """Where the number stands that nobody has put in here."""
    arithmetic: str | None = None
    """Why nothing of ours is measured for it alone."""
    would_tell: str | None = None
    """The experiment that would show why ours differs."""
    tolerance: Tolerance | None = None
    short: bool | None = None
    """Whether it belongs to the study's short form."""
    note: str | None = None


class Column(_Expected):
    """A column of a table; `{row}` in its expressions stands for a row's id."""

    name: Identifier
    title: Text
    unit: Unit


class Row(_Expected):
    """A row of a table: a value for each column."""

    id: Identifier
    what: Text
    cell: dict[Identifier, _Expected] = Field({})
    """Keys of single cells, by column: they go before the row's and the column's."""
    values: list[float]
    uncertainties: list[float] = Field([])
    executions: Annotated[int, Field(ge=1)] = 1
    """How many executions of what is asked the figures are for."""
    repeats: dict[Identifier, Identifier] = Field({})
    """Columns with a number of another column again, which is one measurement."""


class Single(_Expected):
    """A number in a sentence or figure, or a sentence that a ratio decides."""

    id: Identifier
    what: Text
    unit: Unit = "x"
    value: float | None = None
    uncertainty: float | None = None
    more_than: float | None = None
    less_than: float | None = None
    theirs: str | None = None
    """The same from the paper's own figures: an expression over its items."""
    beyond: bool = False
    """Ours only, to explain others: the paper states no such thing, and it is not counted."""

    @model_validator(mode="after")
    def _bound_without_tolerance(self) -> "Single":
        if self.value is None and self.tolerance is not None:
            raise ValueError(f"item {self.id} is no number: a bound has no `tolerance`")
        return self


class Plot(datafile.DataModel):
    """A figure: quantities as lines, or items as points, the paper's beside ours."""

    title: Text
    quantities: list[Identifier] = Field([])
    """The question for each has one list, such as message sizes: the axis."""
    items: list[Identifier] = Field([])
    unit: Unit

    @model_validator(mode="after")
    def _one_of_both(self) -> "Plot":
        if bool(self.quantities) == bool(self.items):
            raise ValueError("a plot has quantities or items")
        return self


class Section(datafile.DataModel):
    """A table, a figure, or the sentences of a section."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    title: Text
    about: str | None = None
    """Introduction for the reader."""
    conditions: Conditions = Conditions()
    defaults: Asked = Field({})
    tolerance: Tolerance | None = None
    needs: str | None = None
    unbuilt: str | None = None
    untranscribed: str | None = None
    """Where its numbers stand, if nobody has put them in here."""
    would_tell: str | None = None
    short: bool = False
    """Whether its items belong to the study's short form, unless they say otherwise."""
    column: list[Column] = Field([])
    row: list[Row] = Field([])
    item: list[Single] = Field([])
    quantity: dict[Identifier, Asked] = Field({})
    plot: list[Plot] = Field([])

    @model_validator(mode="after")
    def _rectangular(self) -> "Section":
        for row in self.row:
            if len(row.values) != len(self.column):
                raise ValueError(
                    f"row {row.id} has {len(row.values)} values for {len(self.column)} columns"
                )
            if row.uncertainties and len(row.uncertainties) != len(self.column):
                raise ValueError(f"row {row.id} has {len(row.uncertainties)} uncertainties")
            values = dict(zip((c.name for c in self.column), row.values, strict=True))
            for again, first in row.repeats.items():
                if first in row.repeats or values.get(again, 0) != values.get(first, 1):
                    raise ValueError(f"row {row.id} has in {again} not the number of {first}")
            for column in {*row.cell} - {*values}:
                raise ValueError(f"row {row.id} has no cell {column}")
        return self


class Cells(datafile.DataModel):
    """Items that expressions name together: a column's cells, in some rows or in all."""

    section: Text
    column: Identifier
    rows: list[Identifier] = Field([])


class Advice(datafile.DataModel):
    """The paper's advice for a board, to be derived again from all available primitives."""

    board: Text
    clock: str = ""
    size: Annotated[list[int], Field(min_length=1)]
    """Message sizes in bytes."""
    ad_size: list[int] = Field([0])
    paper: Annotated[dict[str, Text], Field(min_length=1)]
    """The paper's advice, by the service's title."""


class StudyFile(datafile.DataModel):
    """Contents of `studies/AUTHOR-YEAR/study.toml`."""

    title: Text
    authors: Text
    published: Text
    about: Text
    """For a reader who does not know the paper: what it measured, and what we found."""
    conditions: Conditions = Conditions()
    defaults: Asked = Field({})
    tolerance: Tolerance
    quantity: dict[Identifier, Asked] = Field({})
    cells: dict[Identifier, Cells] = Field({})
    """In an expression, such a name stands for the list of its items."""
    change: list[Change] = Field([])
    would_tell: Text
    """The experiment that would show why ours differs, where an item names no other."""
    advice: list[Advice] = Field([])
    section: Annotated[list[Section], Field(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class Item:
    """One number or checkable sentence of a paper; values are in SI units."""

    id: str
    section: Section
    what: str
    unit: str
    value: float | None
    uncertainty: float | None
    more_than: float | None
    less_than: float | None
    ours: Asked | str | None
    theirs: str | None
    check: str | None
    says: str
    needs: str | None
    unbuilt: str | None
    circular: str | None
    untranscribed: str | None
    beyond: bool
    tolerance: Tolerance
    arithmetic: str | None
    would_tell: str
    short: bool
    note: str | None
    executions: int
    conditions: Conditions

    @property
    def is_claim(self) -> bool:
        """Whether it is a sentence that sets a bound, not a number."""
        return self.more_than is not None or self.less_than is not None

    def rest(self, value: Value) -> Value:
        """Return a number, in SI units, without what ours and the paper's both have."""
        return value - si(self.tolerance.both_have or 0, self.unit)

    def within(self, ratio_or_value: float, value: float | None) -> bool:
        """Return whether a number agrees with what the paper says.

        Args:
            ratio_or_value: in SI units.
            value: the paper's number; None for a bound.
        """
        if value is None:
            return (self.more_than is None or ratio_or_value > self.more_than) and (
                self.less_than is None or ratio_or_value < self.less_than
            )
        ratio_or_value, value = float(self.rest(ratio_or_value)), float(self.rest(value))
        if value == 0 or ratio_or_value / value <= 0:
            return ratio_or_value == value
        least, most = self._rounding_to(value)
        factor = self.tolerance.factor
        low, high = sorted((least / factor, most * factor))
        return low <= ratio_or_value <= high

    def _rounding_to(self, value: float) -> tuple[float, float]:
        """Return the least and the most, in SI units, that round to a number of the paper's."""
        if self.tolerance.rounded_inverse:
            half = self.tolerance.rounded_inverse / si(1, self.unit) / 2
            return 1 / (1 / value + half), 1 / (1 / value - half)
        half = si(self.tolerance.rounded or 0, self.unit) / 2
        return value - half, value + half


def _merged(*asked: Asked) -> Asked:
    """Merge questions: a later one overrides an earlier one; a different way starts anew."""
    found: Asked = {}
    for each in asked:
        found = (
            dict(each) if each.get("way", found.get("way")) != found.get("way") else found | each
        )
    return found


def _expressions(item: Item) -> Iterator[tuple[str, str]]:
    """Yield an item's expressions, each with its key."""
    for key, text in (("ours", item.ours), ("theirs", item.theirs), ("check", item.check)):
        if isinstance(text, str):
            yield key, text


def _of_ours(text: str) -> list[str]:
    return [name for of_paper, name in expressions.names(text) if not of_paper]


def _named(text: str, lists: Mapping[str, Sequence[str]]) -> str:
    """Return an expression with names of lists expanded, or as it is if it is none."""
    try:
        return expressions.expanded(text, lists)
    except InputError:
        return text  # Its place is reported when names are checked.


class Study:
    """A paper's items, and how to obtain our values."""

    def __init__(self, name: str, file: StudyFile, path: Path) -> None:
        self.name = name
        self.file = file
        self.path = path
        self.items = tuple(self._listed(self._items()))
        self._check()

    @cached_property
    def quantities(self) -> dict[str, Asked]:
        """Questions of quantities, and of items that ask directly, by name."""
        found = {name: _merged(self.file.defaults, q) for name, q in self.file.quantity.items()}
        for section in self.file.section:
            for name, asked in section.quantity.items():
                found[name] = _merged(self.file.defaults, section.defaults, asked)
        for item in self.items:
            if isinstance(item.ours, dict):
                found[item.id] = item.ours
        return found

    @cached_property
    def changes(self) -> dict[str, Change]:
        """The causes to try, by name; each list in their expressions expanded to its cells."""
        lists = dict(self._lists())
        return {
            change.name: change.model_copy(
                update={"replace": {k: _named(text, lists) for k, text in change.replace.items()}}
            )
            for change in self.file.change
        }

    @cached_property
    def paper(self) -> dict[str, Value]:
        """The paper's numbers in SI, by item."""
        return {item.id: item.value for item in self.items if item.value is not None}

    def where(self, item: Item) -> str:
        """Return an item's place in the file, for messages."""
        return f"{self.path}, {item.section.name}, item {item.id}"

    def _lists(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each list's name and the items in it.

        Raises:
            InputError: there is no such section, column or row.
        """
        sections = {section.name: section for section in self.file.section}
        for name, cells in self.file.cells.items():
            where = f"{self.path}, cells.{name}"
            section = sections.get(cells.section)
            if section is None:
                raise InputError(f"there is no {cells.section}", where, "give a section's name")
            rows = [row.id for row in section.row]
            columns = [column.name for column in section.column]
            for wanted in {cells.column} - {*columns} | {*cells.rows} - {*rows}:
                what = f"there is no {wanted} in {cells.section}"
                raise InputError(what, where, f"there are {', '.join([*columns, *rows])}")
            yield name, [f"{row}_{cells.column}" for row in cells.rows or rows]

    def _listed(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield items with each list in their expressions expanded to its cells."""
        lists = dict(self._lists())

        def named(text: str) -> str:
            return _named(text, lists)

        for item in items:
            yield replace(
                item,
                ours=named(item.ours) if isinstance(item.ours, str) else item.ours,
                theirs=item.theirs and named(item.theirs),
                check=item.check and named(item.check),
            )

    def _items(self) -> Iterator[Item]:
        for section in self.file.section:
            conditions = self.file.conditions.with_(section.conditions)
            for row in section.row:
                for index, column in enumerate(section.column):
                    yield self._cell(section, row, column, index, conditions)
            for single in section.item:
                yield self._single(section, single, conditions)

    def _cell(
        self, section: Section, row: Row, column: Column, index: int, conditions: Conditions
    ) -> Item:
        own = row.cell.get(column.name, _Expected())

        def first(name: str) -> Any:
            values = (getattr(own, name), getattr(row, name), getattr(column, name))
            return next((v for v in values if v is not None), None)

        def of_row(text: str) -> str:
            return text.replace("{row}", row.id)

        def text(name: str) -> str | None:
            found = first(name)
            return of_row(found) if isinstance(found, str) else None

        ours: Asked | str | None = None
        if isinstance(row.ours, dict):
            of_column = column.ours if isinstance(column.ours, dict) else {}
            ours = _merged(self.file.defaults, section.defaults, row.ours, of_column)
        elif isinstance(column.ours, str):
            ours = of_row(column.ours)
        elif isinstance(row.ours, str):
            ours = of_row(row.ours)
        uncertainty = row.uncertainties[index] if row.uncertainties else None
        check, arithmetic = text("check"), text("arithmetic")
        if column.name in row.repeats:
            titles = {c.name: c.title for c in section.column}
            arithmetic = f"again the number of {titles[row.repeats[column.name]]}"
        return Item(
            id=f"{row.id}_{column.name}",
            section=section,
            what=f"{row.what}: {column.title}",
            unit=column.unit,
            value=si(row.values[index], column.unit),
            uncertainty=None if uncertainty is None else si(uncertainty, column.unit),
            more_than=None,
            less_than=None,
            ours=ours,
            theirs=None,
            check=check,
            says=text("says") or "",
            needs=first("needs") or section.needs,
            unbuilt=first("unbuilt") or (None if first("needs") else section.unbuilt),
            circular=first("circular"),
            untranscribed=first("untranscribed"),
            beyond=False,
            tolerance=first("tolerance") or section.tolerance or self.file.tolerance,
            arithmetic=arithmetic,
            would_tell=first("would_tell") or section.would_tell or self.file.would_tell,
            short=section.short if first("short") is None else first("short"),
            note=first("note"),
            executions=row.executions,
            conditions=conditions,
        )

    def _single(self, section: Section, single: Single, conditions: Conditions) -> Item:
        ours = single.ours
        if isinstance(ours, dict):
            ours = _merged(self.file.defaults, section.defaults, ours)

        def in_si(value: float | None) -> float | None:
            return None if value is None else si(value, single.unit)

        return Item(
            id=single.id,
            section=section,
            what=single.what,
            unit=single.unit,
            value=in_si(single.value),
            uncertainty=in_si(single.uncertainty),
            more_than=in_si(single.more_than),
            less_than=in_si(single.less_than),
            ours=ours,
            theirs=single.theirs,
            check=single.check,
            says=single.says or "",
            needs=single.needs or section.needs,
            unbuilt=single.unbuilt or (None if single.needs else section.unbuilt),
            circular=single.circular,
            untranscribed=single.untranscribed or section.untranscribed,
            beyond=single.beyond,
            tolerance=single.tolerance or section.tolerance or self.file.tolerance,
            arithmetic=single.arithmetic,
            would_tell=single.would_tell or section.would_tell or self.file.would_tell,
            short=section.short if single.short is None else single.short,
            note=single.note,
            executions=1,
            conditions=conditions,
        )

    def _check(self) -> None:
        """Refuse duplicate names and unknown ones.

        Raises:
            InputError: names the item.
        """
        seen: set[str] = set()
        named = [*self.file.cells, *self.file.quantity]
        named += [name for section in self.file.section for name in section.quantity]
        for name in (*named, *(item.id for item in self.items)):
            if name in seen:
                raise InputError("is there twice", f"{self.path}, {name}", "give it another name")
            seen.add(name)
        ids = {item.id for item in self.items}
        for item in self.items:
            self._check_item(item)
            for field, text in _expressions(item):
                self._check_names(text, f"{self.where(item)}, {field}", seen, ids, field)
        self._check_changes(seen, ids)
        for section in self.file.section:
            where = f"{self.path}, {section.name}, plot"
            for plot in section.plot:
                for name in {*plot.quantities} - {*self.quantities}:
                    raise InputError(f"no such quantity: {name}", where)
                for name in {*plot.items} - ids:
                    raise InputError(f"no such item: {name}", where)

    def _check_item(self, item: Item) -> None:
        """Refuse an item whose outcome could not be determined."""
        where = self.where(item)
        if not (item.ours or item.needs or item.unbuilt or item.circular or item.untranscribed):
            mend = "give `ours`, or what it `needs`"
            raise InputError("nobody can tell what came of it", where, mend)
        if item.check is not None and not item.says:
            raise InputError("it is not said what a failed check means", where, "give `says`")
        if item.value is not None and item.is_claim:
            raise InputError("is a number and a bound", where, "give one of them")

    def _check_changes(self, known: set[str], ids: set[str]) -> None:
        """Refuse a cause that is no single change of what both sides of a comparison have."""
        names = [change.name for change in self.file.change]
        for change in self.changes.values():
            where = f"{self.path}, change {change.name}"
            if names.count(change.name) > 1:
                raise InputError("is there twice", where, "give it another name")
            for name, text in change.replace.items():
                if name not in self.quantities and name not in ids:
                    raise InputError(f"there is no {name}", where, "correct its spelling")
                self._check_names(text, where, known, ids, "ours")
                before, after = self._builds([name]), self._builds(_of_ours(text))
                anew = {key for key in before if not after.get(key, set()) <= before[key]}
                if anew:
                    what = f"{name} is also built anew ({', '.join(sorted(anew))})"
                    mend = "a cause is one change: build both sides of a comparison alike"
                    raise InputError(what, where, mend)

            self._check_sides(change, where)

    def _check_sides(self, change: Change, where: str) -> None:
        """Refuse a change that one place of a comparison has, and the other could have as well."""
        anywhere = change.model_copy(
            update={"where": {k: v for k, v in change.where.items() if k not in PLACES}}
        )
        for item in self.items:
            if not isinstance(item.ours, str):
                continue
            asked = [self.quantities[name] for name in self._asked_by(_of_ours(item.ours))]
            changed = [anywhere.applied(one) != one for one in asked]
            here = [change.applied(one) != one for one in asked]
            if any(here) and here != changed:
                what = f"{item.id} would have one of its sides changed alone"
                raise InputError(what, where, "leave the place out of `where`")

    def _asked_by(self, names: Iterable[str]) -> Iterator[str]:
        """Yield the quantities, and items that ask, that names stand for."""
        items = {item.id: item for item in self.items}
        for name in names:
            if name in self.quantities:
                yield name
            elif name in items and isinstance(ours := items[name].ours, str):
                yield from self._asked_by(_of_ours(ours))

    def _builds(self, names: Iterable[str]) -> dict[str, set[str]]:
        """Return how what names stand for is built: values by key of a question."""
        found: dict[str, set[str]] = {}
        for name in self._asked_by(names):
            asked = self.quantities[name]
            # To the way `architecture` it names what is priced, not an instruction set.
            for key in (BUILDS & {*asked}) - {asked["way"]}:
                found.setdefault(key, set()).add(str(asked[key]))
        return found

    def _check_names(
        self, text: str, where: str, known: set[str], ids: set[str], field: str
    ) -> None:
        try:
            found = list(expressions.names(text))
        except InputError as error:
            raise InputError(error.what, f"{where}: {text}", error.mend) from error
        for of_paper, name in found:
            there = ids if of_paper or field != "ours" else known
            if name not in there:
                raise InputError(f"there is no {name}", f"{where}: {text}", "correct its spelling")


def names() -> list[str]:
    """Return the names of all studies, the user's included."""
    return sorted(
        {path.parent.name for place in files.places(STUDIES) for path in place.glob("*/study.toml")}
    )


def load(name: str) -> Study:
    """Read a study.

    Raises:
        InputError: there is none of that name, or its file is wrong.
    """
    for place in files.places(STUDIES):
        path = place / name / "study.toml"
        if "/" not in name and path.is_file():
            return read(path)
    raise InputError("no such study", name, near(name, names()))


def read(path: Path) -> Study:
    """Read a study's file.

    Raises:
        InputError: it is wrong; the message names the file and the key.
    """
    return Study(path.parent.name, datafile.read(path, StudyFile), path)


def evaluated(text: str, paper: Mapping[str, Value]) -> list[float] | None:
    """Return the values of an expression over the paper's figures; None if one is missing."""
    try:
        return [float(value) for value in np.atleast_1d(expressions.evaluate(text, paper, paper))]
    except MissingError:
        return None


def contradiction(item: Item, paper: Mapping[str, Value]) -> str | None:
    """Return what the paper's own figures say against an item; None if nothing."""
    if item.check is not None and not np.all(expressions.evaluate(item.check, paper, paper)):
        return item.says
    if item.theirs is None:
        return None
    theirs = evaluated(item.theirs, paper)
    if theirs is None or all(item.within(value, item.value) for value in theirs):
        return None
    return item.says or "its own figures say otherwise"


def select(study: Study, wanted: Sequence[str], *, short: bool) -> list[Item]:
    """Return the items of sections or of names; all if none is given.

    The short form has the items marked for it, and all that the paper itself contradicts, which
    cost nothing to judge.

    Raises:
        InputError: there is no such name.
    """
    known: Mapping[str, str] = {item.id: item.section.name for item in study.items}
    for name in wanted:
        if name not in known and name not in known.values():
            sections = ", ".join(section.name for section in study.file.section)
            raise InputError(
                f"there is no {name} in {study.name}", "--item", f"there are {sections}"
            )
    return [
        item
        for item in study.items
        if (not wanted or item.id in wanted or item.section.name in wanted)
        and (not short or item.short or contradiction(item, study.paper) is not None)
    ]
