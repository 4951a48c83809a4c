"""Conducts a study: obtains our values in all variants, and judges each item."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from joulemark.catalogue.datafile import DataModel
from joulemark.errors import ToolError
from joulemark.images import toolchain
from joulemark.studies import advised, expressions, ways
from joulemark.studies.advised import Advised
from joulemark.studies.expressions import MissingError, Value
from joulemark.studies.study import Asked, Change, Item, Study, contradiction, evaluated, select
from joulemark.studies.verdict import (
    SEEN,
    Cause,
    Tried,
    Verdict,
    explains,
    fulfils,
    gap,
    judge,
    share,
)
from joulemark.studies.ways import Answer, Bench

BASIS, BEST = "", "best"
"""Variants beside a study's changes: as inferred from the paper, and the least known."""
Question = tuple[str, DataModel]
"""A way, and what it is asked."""


@dataclass(frozen=True, kw_only=True)
class Ours:
    """Our value of an item, in SI units."""

    value: Value | None
    how: tuple[str, ...] = ()
    """How it was obtained, or what is missing."""
    sources: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    """How far what was measured for it may be off."""

    @property
    def low(self) -> float | None:
        """The least of a series."""
        return None if self.value is None else float(np.min(self.value))

    @property
    def high(self) -> float | None:
        """The greatest of a series."""
        return None if self.value is None else float(np.max(self.value))


@dataclass(frozen=True, kw_only=True)
class Result:
    """An item with its verdict."""

    item: Item
    paper: float | None
    """In SI units; for a sentence, what the paper's own figures give."""
    ours: Ours
    best: Ours
    tried: Sequence[Tried] = ()
    """What each change does that touches it."""
    verdict: Verdict
    reason: str
    cause: Cause | None
    """Cause of a difference; None where none was looked for."""

    @property
    def outcome(self) -> str:
        """The verdict as pinned, including how far it is known why ours differs."""
        if self.cause is None:
            return str(self.verdict)
        known = Cause.UNKNOWN if self.cause is Cause.UNTRIED else self.cause
        return f"{self.verdict}, {known}"

    @property
    def explained_by(self) -> list[Tried]:
        """What explains that ours differs, or a part of it."""
        if self.cause not in (Cause.EXPLAINED, Cause.IN_PART):
            return []
        return [each for each in self.tried if explains(self.item, each) is self.cause]

    @property
    def ratio(self) -> float | None:
        """Ours divided by the paper's; for a series, the ratio farthest from 1."""
        return ratio(self.ours, self.paper)


def ratio(ours: Ours, paper: float | None) -> float | None:
    """Return ours divided by the paper's; for a series, the ratio farthest from 1."""
    if ours.value is None or not paper:
        return None
    ratios = [float(r) for r in np.atleast_1d(ours.value) / paper]
    return max(ratios, key=lambda r: abs(np.log(r)) if r > 0 else np.inf)


class Conducted:
    """A study with its items judged, and the values of its quantities.

    Args:
        study: the study to conduct.
        items: those of its items to judge.
        bench: the means to obtain our values.
        short: whether to leave out today's best.

    Causes are looked for where all items are judged: a cause is held against every row that it
    touches, which a part of a study does not have.

    Raises:
        ToolError: nothing can be judged for tools that are missing.
    """

    def __init__(
        self,
        study: Study,
        items: Sequence[Item],
        bench: Bench,
        *,
        short: bool,
    ) -> None:
        self.study = study
        self._items = {item.id: item for item in study.items}
        self._paper = study.paper
        self._asked = study.quantities
        self._answers: dict[Question, Answer] = {}
        whole = not short and len(items) == len(study.items)
        self._causes = whole
        self.changes: Mapping[str, Change] = study.changes if whole else {}
        """Causes that are tried."""
        # Nothing of ours is needed to judge what the paper itself contradicts.
        measured = [i for i in items if not (short and contradiction(i, self._paper))]
        needed = {name for item in measured for name in self._needed(item)}
        if not short:
            shown = {item.section.name for item in items}
            needed |= {
                name
                for section in study.file.section
                if section.name in shown
                for plot in section.plot
                for name in plot.quantities
            }
        for change in self.changes.values():
            for text in change.replace.values():
                needed |= self._named(text)
        asked = self._all_questions(needed, short=short)
        lacking: dict[Question, str] = {}
        for way, questions in asked.items():
            module, able = ways.load(way), []
            for question in questions:
                told = toolchain.missing(module.needs([question], bench))
                if told:
                    lacking[way, question] = told
                else:
                    able.append(question)
            for question, answer in (module.obtain(able, bench) if able else {}).items():
                self._answers[way, question] = answer
        lacks = {item.id: self._lacks(item, lacking) for item in measured}
        self.left_out = Counter(told for told in lacks.values() if told)
        """The number of items that were not judged, by the tools that they need."""
        judged = [item for item in items if not lacks.get(item.id)]
        if self.left_out:
            # Some of the rows that a cause is held against are not there.
            self.changes, self._causes = {}, False
        if self.left_out and not judged:
            raise ToolError("; ".join(self.left_out), f"study {study.name}")
        basis = {item.id: self.ours(item) for item in measured}
        self.reach: dict[str, dict[str, Tried]] = {
            name: self._reach(change, [i for i in judged if i.id in basis], basis)
            for name, change in self.changes.items()
        }
        """What each change does to each item that it touches."""
        self.results = tuple(
            self._result(item, basis.get(item.id, Ours(value=None)), short=short) for item in judged
        )

    def _lacks(self, item: Item, lacking: Mapping[Question, str]) -> str:
        """Return the tools that our value of an item needs and that are missing."""
        names = self._needed(item)
        asked = (q for name in sorted(names) for _, q in self._questions(name, BASIS))
        return "; ".join(dict.fromkeys(lacking[q] for q in asked if q in lacking))

    def series(self, name: str, variant: str = BASIS) -> Ours:
        """Return the value of a quantity."""
        return self._quantity(name, variant)

    # What has to be asked.

    def _needed(self, item: Item) -> set[str]:
        """Return the names of the quantities that our value of an item depends on."""
        if item.needs is not None and item.ours is None:
            return set()
        found = {item.id} if isinstance(item.ours, dict) else set()
        if isinstance(item.ours, str):
            found |= self._named(item.ours) - {item.id}
        return found

    def _named(self, text: str) -> set[str]:
        """Return the names of the quantities that an expression depends on."""
        found: set[str] = set()
        for of_paper, name in expressions.names(text):
            if not of_paper and name in self._asked:
                found.add(name)
            elif not of_paper:
                found |= self._needed(self._items[name])
        return found

    def _variant_of(self, asked: Asked, variant: str) -> Asked:
        change = self.changes.get(variant)
        if change is None or not {*change.asked} <= {*ways.fields(asked)}:
            return asked
        return change.applied(asked)

    def _questions(self, name: str, variant: str) -> list[tuple[Asked, Question]]:
        """Return the questions for a quantity: one for each combination of its lists' values."""
        asked = self._variant_of(self._asked[name], variant)
        lists = {key: value for key, value in asked.items() if isinstance(value, list)}
        result = []
        for values in itertools.product(*lists.values()):
            one = {**asked, **dict(zip(lists, values, strict=True))}
            way, question = ways.question(one, f"{self.study.path}, {name}")
            if variant == BEST:
                better = ways.load(way).best(question)
                question = question if better is None else better
            result.append((one, (way, question)))
        return result

    def _all_questions(
        self, names: Iterable[str], *, short: bool
    ) -> Mapping[str, Iterable[DataModel]]:
        """Return what to ask each way."""
        names = sorted(names)
        wanted = [(name, BASIS) for name in names]
        if not short:
            wanted += [(name, BEST) for name in names]
        wanted += [(name, c.name) for c in self.changes.values() if c.asked for name in names]
        by_way: dict[str, dict[DataModel, None]] = defaultdict(dict)
        for name, variant in wanted:
            for _, (way, question) in self._questions(name, variant):
                by_way[way][question] = None
        return by_way

    # What the answers give.

    def _replaced(self, name: str, variant: str) -> str | None:
        """Return what a name stands for under a change instead; None if it stays."""
        change = self.changes.get(variant)
        return None if change is None else change.replace.get(name)

    def _quantity(self, name: str, variant: str) -> Ours:
        if (text := self._replaced(name, variant)) is not None:
            return self._computed(text, BASIS)
        asked = [question for _, question in self._questions(name, variant)]
        answers = [self._answers[q] for q in asked if q in self._answers]
        if len(answers) < len(asked):
            return Ours(value=None, how=("not asked",))
        missing = [a.how for a in answers if a.value is None]
        if missing:
            return Ours(value=None, how=tuple(dict.fromkeys(missing)))
        values = np.array([a.value for a in answers], dtype=float)
        return Ours(
            value=float(values[0]) if len(values) == 1 else values,
            how=tuple(dict.fromkeys(a.how for a in answers)),
            sources=tuple(dict.fromkeys(a.source for a in answers if a.source)),
            errors=tuple(dict.fromkeys(a.errors for a in answers if a.errors)),
        )

    def ours(self, item: Item, variant: str = BASIS) -> Ours:
        """Return our value of an item under a variant."""
        if (text := self._replaced(item.id, variant)) is not None:
            return self._computed(text, BASIS)
        if item.ours is None:
            return Ours(value=None)
        if isinstance(item.ours, dict):
            found = self._quantity(item.id, variant)
            if found.value is None:
                return found
            return replace(found, value=found.value * item.executions)
        found = self._computed(item.ours, variant)
        if found.value is None:
            return found
        return replace(found, value=found.value * item.executions)

    def _computed(self, text: str, variant: str) -> Ours:
        """Return an expression's value."""
        parts: dict[str, Ours] = {}
        for of_paper, name in expressions.names(text):
            if not of_paper:
                parts[name] = (
                    self._quantity(name, variant)
                    if name in self._asked and name not in self._items
                    else self.ours(self._items[name], variant)
                )
        known = {name: part.value for name, part in parts.items() if part.value is not None}
        missing = [how for part in parts.values() if part.value is None for how in part.how]
        try:
            value = expressions.evaluate(text, known, self._paper)
        except MissingError as error:
            return Ours(value=None, how=tuple(dict.fromkeys(missing)) or (str(error),))
        value = value if isinstance(value, np.ndarray) and value.ndim else float(value)
        return Ours(
            value=value,
            how=tuple(dict.fromkeys(how for part in parts.values() for how in part.how)),
            sources=tuple(dict.fromkeys(s for part in parts.values() for s in part.sources)),
            errors=tuple(dict.fromkeys(e for part in parts.values() for e in part.errors)),
        )

    def _theirs(self, item: Item) -> float | None:
        if item.value is not None:
            return item.value
        theirs = None if item.theirs is None else evaluated(item.theirs, self._paper)
        # Of several, the one that is farthest from what the sentence says.
        return None if theirs is None else max(theirs, key=lambda v: gap(item, v, item.value))

    def _best(self, item: Item) -> Ours:
        """Return the least known today; no value where the question is the same as ours."""
        questions = [
            self._questions(name, variant)
            for variant in (BASIS, BEST)
            for name in sorted(self._needed(item))
        ]
        half = len(questions) // 2
        return Ours(value=None) if questions[:half] == questions[half:] else self.ours(item, BEST)

    def _reach(
        self, change: Change, items: Sequence[Item], basis: Mapping[str, Ours]
    ) -> dict[str, Tried]:
        """Return what a change does to each item that it touches, held against all of them."""
        found: dict[str, Tried] = {}
        counts, worse = Counter[str](), []
        for item in items:
            before, after = basis[item.id], self.ours(item, change.name)
            if before.value is None or np.array_equal(before.value, after.value):  # type: ignore[arg-type]
                continue
            told = Tried(name=change.name, what=change.what, cites=change.cites, value=after.value)
            if after.value is not None and (item.value is not None or item.is_claim):
                was, now = (gap(item, v, item.value) for v in (before.value, after.value))
                told = replace(told, share=share(was, now) if was else None)
                if _is_independent(item, self._paper):
                    agreed, agrees = (fulfils(item, v) for v in (before.value, after.value))
                    counts["nearer"] += was - now > SEEN or (agrees and not agreed)
                    is_further = now - was > SEEN or (agreed and not agrees)
                    counts["further"] += is_further
                    if is_further and not agrees:
                        worse.append(item.id)
            found[item.id] = told
        return {
            name: replace(
                each,
                nearer=counts["nearer"],
                further=counts["further"],
                worse=tuple(worse),
            )
            for name, each in found.items()
        }

    def _result(self, item: Item, ours: Ours, *, short: bool) -> Result:
        contradicted = contradiction(item, self._paper)
        tried = [of[item.id] for of in self.reach.values() if item.id in of]
        paper = self._theirs(item)
        judgement = judge(
            item,
            paper,
            ours.value,
            contradiction=contradicted,
            missing=ours.how,
            tried=tried if self._causes else None,
        )
        return Result(
            item=item,
            paper=paper,
            ours=ours,
            best=self._best(item) if not short else Ours(value=None),
            tried=tried if judgement.verdict is Verdict.DIFFERS else (),
            verdict=judgement.verdict,
            reason=judgement.reason,
            cause=judgement.cause,
        )


def _is_independent(item: Item, paper: Mapping[str, Value]) -> bool:
    """Whether an item is a row that a cause is held against."""
    if item.circular is not None or item.arithmetic is not None or item.beyond:
        return False
    return contradiction(item, paper) is None


def judged(
    study: Study, wanted: Sequence[str], bench: Bench, *, short: bool
) -> tuple[Conducted, list[Advised]]:
    """Judge a study's items, and derive the paper's advice again where the whole study is judged.

    Args:
        study: the study.
        wanted: sections or items; all if none is given.
        bench: obtains ours.
        short: only the items marked for the short form, without causes and today's best.

    Raises:
        InputError: there is no such section or item.
        ToolError: a tool is missing.
    """
    items, with_advice = select(study, wanted, short=short), not short and not wanted
    conducted = Conducted(study, items, bench, short=short)
    if not with_advice:
        return conducted, []
    if told := toolchain.missing(advised.needs(study)):
        conducted.left_out[told] += 1
        return conducted, []
    return conducted, list(advised.advised(study, bench))
