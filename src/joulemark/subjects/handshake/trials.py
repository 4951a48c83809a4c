"""Several runs of a protocol, whose losses differ."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from joulemark.analysis.budget import Interval
from joulemark.analysis.statistics import summarise
from joulemark.catalogue.protocols import Pair, Protocol
from joulemark.errors import VerificationError
from joulemark.subjects.handshake.flights import Priced, ProtocolFailedError, price


@dataclass(frozen=True, kw_only=True)
class Trials:
    """Runs of a protocol that came to their end."""

    protocol: str
    runs: Sequence[Priced]
    failed: int
    """Runs in which the client gave up."""

    def mean(self, of: Callable[[Priced], float]) -> Interval:
        """Return the mean of a figure, with half the width of its 95% interval (Student's t)."""
        values = [of(run) for run in self.runs]
        found = summarise(values, deterministic=True)
        return Interval(found.mean, found.confidence_95 or 0.0)


def trials(protocol: Protocol, board: str, conditions: Pair, runs: int) -> Trials:
    """Run a protocol several times.

    Raises:
        JoulemarkError: as `flights.price` says; that the client gave up only if it did so in all
            runs.
    """
    found: list[Priced] = []
    last: VerificationError | None = None
    for number in range(runs):
        try:
            found.append(price(protocol, board, replace(conditions, seed=conditions.seed + number)))
        except ProtocolFailedError as error:
            last = error
    if not found and last is not None:
        raise last
    return Trials(protocol=protocol.name, runs=found, failed=runs - len(found))
