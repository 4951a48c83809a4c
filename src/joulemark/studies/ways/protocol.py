"""Bytes of a secure protocol's flights, between two emulated boards."""

from collections.abc import Iterator, Sequence

from joulemark.campaign.options import checked
from joulemark.catalogue import boards, datafile
from joulemark.conduct import Means, conduct, plan
from joulemark.images import toolchain
from joulemark.images.toolchain import Need
from joulemark.records.record import of_type
from joulemark.studies.ways import Answer, Bench
from joulemark.subjects.handshake.flights import Priced
from joulemark.subjects.protocol import ProtocolSubject
from joulemark.subjects.protocol.measure import priced_of
from joulemark.subjects.protocol.options import ProtocolOptions


class Asked(datafile.DataModel):
    """The protocol's bytes in a flight."""

    board: str
    protocol: str
    flight: str
    """As `joulemark handshake --protocol` names it."""
    record: bool = False
    """Of an exchange after the first."""
    opt: str = "Os"


def needs(asked: Sequence[Asked], bench: Bench) -> Iterator[Need]:
    """Yield finders of compilers and linkers."""
    for name in sorted({a.board for a in asked}):
        board = boards.load_board(name)
        yield from toolchain.needs(board.compiler, board.core)


def best(asked: Asked) -> None:
    """Return None: bytes are those of the protocol."""


def obtain(asked: Sequence[Asked], bench: Bench) -> dict[Asked, Answer]:
    """Run each protocol once per board and build."""
    runs: dict[tuple[str, ...], Priced] = {}
    answers = {}
    for a in asked:
        key = (a.protocol, a.board, a.opt)
        if key not in runs:
            runs[key] = _run(a, bench)
        answers[a] = _answer(a, runs[key])
    return answers


def _run(asked: Asked, bench: Bench) -> Priced:
    values = {"protocol": asked.protocol, "board": asked.board, "opt": asked.opt}
    work = plan(checked(ProtocolOptions, values), Means(workers=bench.workers))
    found = conduct(work, bench.store)
    for error in work.errors.values():
        raise error
    return priced_of(of_type(found.records(bench.store), ProtocolSubject))


def _answer(asked: Asked, run: Priced) -> Answer:
    named = f"{asked.protocol}, {asked.flight}"
    some = [f for f in run.flights if f.record == asked.record]
    for flight in some:
        if flight.name == asked.flight:
            source = f"on the air between two of {asked.board}; each byte is the oracle's"
            return Answer(value=flight.protocol, how=named, source=source, errors="exact")
    flights = ", ".join(f.name for f in some)
    return Answer(value=None, how=f"{named}: there is no such flight; there are {flights}")
