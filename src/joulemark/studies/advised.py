"""A paper's advice, derived again: the cheapest of all primitives, under growing demands."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from joulemark.analysis.advice import services
from joulemark.analysis.price import Price, prices
from joulemark.catalogue import boards, machines
from joulemark.errors import InputError
from joulemark.images import toolchain
from joulemark.images.toolchain import Need
from joulemark.studies.study import Advice, Study
from joulemark.studies.ways import Bench
from joulemark.studies.ways.campaign import SEED, TRIALS, measured
from joulemark.subjects.primitive import estimated
from joulemark.subjects.primitive.options import PrimitiveOptions


@dataclass(frozen=True)
class Advised:
    """Advice from a board's records beside the paper's."""

    advice: Advice
    primitives: int
    """Number of primitives to choose from."""
    prices: Sequence[Price]

    @property
    def is_estimated(self) -> bool:
        """Whether it is a Linux machine: then the choice is by time and energies are gross."""
        return self.advice.board in machines.names()

    @property
    def title(self) -> str:
        """The board's title."""
        name = self.advice.board
        found = machines.load_machine(name) if self.is_estimated else boards.load_board(name)
        return found.title

    def sizes(self, service: str) -> list[int]:
        """Return message sizes in bytes, with 0 for no message."""
        return sorted({price.size_bytes for price in self.of(service)}) or [*self.advice.size]

    def of(self, service: str) -> list[Price]:
        """Return the cheapest choices for a service, by demand and size."""
        return [price for price in self.prices if price.service.title == service]


def advised(study: Study, bench: Bench) -> list[Advised]:
    """Measure all candidates on the boards that the paper advises for.

    Raises:
        InputError: there is no such service.
    """
    return [_advised(advice, study, bench) for advice in study.file.advice]


def needs(study: Study) -> Iterator[Need]:
    """Yield a finder for each tool that `advised` needs."""
    for advice in study.file.advice:
        if advice.board in machines.names():
            yield from _estimates(advice, PrimitiveOptions()).needs()
        else:
            yield from toolchain.needs("", boards.load_board(advice.board).core)


def _estimates(advice: Advice, campaign: PrimitiveOptions) -> estimated.Wanted:
    return estimated.Wanted(campaign, machines.load_machine(advice.board))


def _advised(advice: Advice, study: Study, bench: Bench) -> Advised:
    there = {service.title: service for service in services()}
    for title in advice.paper:
        if title not in there:
            mend = f"there are {', '.join(there)}"
            raise InputError(f"no such service: {title}", f"{study.path}, advice, paper", mend)
    wanted = [there[title] for title in advice.paper]
    kinds = {kind for service in wanted for kind in service.operations}
    campaign = PrimitiveOptions(
        kind=tuple(sorted(kinds)),
        operation=tuple({o for s in wanted for some in s.operations.values() for o in some}),
        size=tuple(advice.size),
        ad_size=tuple(advice.ad_size),
        seed=SEED,
        trials=TRIALS,
    )
    if advice.board in machines.names():
        (records,) = estimated.records([_estimates(advice, campaign)], bench.store)
    else:
        placed = {"board": (advice.board,), "clock": (advice.clock,) if advice.clock else ()}
        records = measured([campaign.model_copy(update=placed)], bench)
    found = [p for p in prices(records, advice.size) if p.service.title in advice.paper]
    return Advised(advice, len({r.subject.primitive for r in records}), found)
