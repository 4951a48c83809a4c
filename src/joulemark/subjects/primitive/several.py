"""Answers a question on several boards: what fits each, what it costs, and what is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from joulemark.analysis.choice import Answer, Demands, Metric, Option, Question, ranked
from joulemark.conduct import Means, Work, joined
from joulemark.errors import InputError
from joulemark.records.store import Store
from joulemark.subjects.primitive import choose as choosing

MEMORIES = ("flash", "RAM")


@dataclass(frozen=True, kw_only=True)
class Several:
    """A question on several boards."""

    demands: Demands
    wanted: Mapping[str, tuple[Question, choosing.Wanted | None]]
    """By board; nothing is measured where only the store is asked."""
    unable: Mapping[str, str]
    """Why a board has no answer, whatever is measured."""

    @classmethod
    def of(cls, asked: Sequence[Question], demands: Demands, *, stored: bool) -> Self:
        """Find what has to be measured.

        Args:
            asked: the question, once for each board.
            demands: the demands.
            stored: only the store is asked.

        Raises:
            InputError: nothing serves it on any of the boards.
        """
        wanted: dict[str, tuple[Question, choosing.Wanted | None]] = {}
        unable: dict[str, InputError] = {}
        for one in asked:
            choosing.check(one, demands)
            try:
                able = None if stored else choosing.wanted(one, demands)
            except InputError as error:
                unable[one.board.name] = error
            else:
                wanted[one.board.name] = one, able
        if not wanted:
            raise next(iter(unable.values()))
        return cls(
            demands=demands,
            wanted=wanted,
            unable={name: error.what for name, error in unable.items()},
        )

    def work(self, means: Means) -> Work:
        """Return the work of measuring what may meet the demands."""
        every = [wanted for _, wanted in self.wanted.values() if wanted is not None]
        return joined([one.work(means) for one in every if one.work is not None])

    def answered(self, store: Store) -> "SeveralAnswered":
        """Answer from a store.

        Raises:
            InputError: there is nothing to answer from for any of the boards.
        """
        answers: dict[str, Answer] = {}
        unable: dict[str, InputError] = {}
        for name, (one, wanted) in self.wanted.items():
            try:
                answers[name] = choosing.answer(one, self.demands, store, wanted)
            except InputError as error:
                unable[name] = error
        if not answers:
            raise next(iter(unable.values()))
        told = {name: error.what for name, error in unable.items()}
        return SeveralAnswered(answers=answers, unable={**self.unable, **told})


@dataclass(frozen=True, kw_only=True)
class SeveralAnswered:
    """What answers a question on several boards."""

    answers: Mapping[str, Answer]
    unable: Mapping[str, str]
    """Why other boards have no answer."""

    @property
    def good(self) -> bool:
        """Whether something meets all demands on some board."""
        return any(answer.good for answer in self.answers.values())

    def rows(self, by: Metric, every_s: float | None = None) -> list[dict[str, Any]]:
        """Return the best build of each primitive on each board, and what each lacks.

        What does not fit has no costs: those of another board are none of this one.

        Args:
            by: the quantity that says which is best.
            every_s: seconds between messages, for the charge of a year.
        """
        return [
            row
            for name, answer in self.answers.items()
            for row in (*_fitting(name, answer, by, every_s), *_misfits(name, answer, every_s))
        ]


def _fitting(board: str, answer: Answer, by: Metric, every_s: float | None) -> list[dict[str, Any]]:
    best: dict[str, Option] = {}
    for option in ranked(answer.good, by):
        best.setdefault(option.build.primitive, option)
    return [
        {**_row(board, answer, option, every_s), **dict.fromkeys(_MISSING), "errors": option.errors}
        for option in best.values()
    ]


def _misfits(board: str, answer: Answer, every_s: float | None) -> list[dict[str, Any]]:
    found: dict[str, tuple[Option, Mapping[str, int]]] = {**answer.too_large()}
    found |= {name: (one.option, one.missing) for name, one in answer.lacking.items()}
    rows = []
    for option, missing in sorted(found.values(), key=lambda one: sum(one[1].values())):
        row = _row(board, answer, option, every_s)
        kept = {name: row[name] if name in _NAMES else None for name in row}
        flash = missing.get("flash")
        ram = max((value for name, value in missing.items() if name != "flash"), default=None)
        if missing:
            rows.append({**kept, **dict(zip(_MISSING, (flash, ram), strict=True)), "errors": ""})
    return rows


_NAMES = ("board", "primitive", "implementation", "build")
_MISSING = tuple(f"missing {name}" for name in MEMORIES)


def _row(board: str, answer: Answer, option: Option, every_s: float | None) -> dict[str, Any]:
    row = answer.row(option, every_s) | {"in all": option.memory_bytes}
    del row["front"]
    return {"board": board, **row}
