"""Measures handshakes: each operation of both sides on a board, or both sides over the air."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from joulemark.campaign.job import Point
from joulemark.campaign.options import checked
from joulemark.catalogue import boards, conversations
from joulemark.catalogue.conversations import Conversation
from joulemark.catalogue.networks import read_network
from joulemark.catalogue.primitives import Library
from joulemark.conduct import Means, Records, Task, Work, joined, of_tasks
from joulemark.errors import InputError
from joulemark.runners.network import RunningNetwork, refuse_unused_wiring
from joulemark.subjects.handshake.ledger import cases, ledger, records
from joulemark.subjects.handshake.options import HandshakeOptions
from joulemark.subjects.network.measure import shipped_or_given
from joulemark.subjects.primitive.measure import plan as plan_primitives
from joulemark.subjects.primitive.options import PrimitiveOptions

Sides = Mapping[str, Mapping[str, str]]
"""By role, the operations that it executes, and the message that each sends or an empty text."""


def plan(options: HandshakeOptions, means: Means) -> Work:
    """Return the work of a handshake.

    Raises:
        BuildError: a program of a network cannot be built.
        InputError: there is no such handshake, implementation, board or network.
    """
    if options.network is not None:
        if options.ad_size:
            raise InputError("is of the bench", "--ad-size", "leave out --network")
        return _on_air(shipped_or_given(options.network), means)
    return joined([_on_board(options, board, means) for board in options.board])


def sides(options: HandshakeOptions) -> Sides:
    """Return what each side executes.

    Raises:
        InputError: the primitive is of no kind that a conversation takes.
    """
    conversation = _conversation(options.primitive)
    return {
        role: {f.operation: f.sends for f in conversation.of_role(role, optional=options.optional)}
        for role in conversation.role
    }


def _conversation(primitive: str) -> Conversation:
    library = Library.load()
    kind = library[primitive].kind
    spoken = {one.kind: one for one in conversations.programs().values()}
    if kind not in spoken:
        known = [a.name for a in library.algorithms.values() if a.kind in spoken and a.is_default]
        mend = f"there are {', '.join(known)}"
        raise InputError("it is no handshake", f"--primitive {primitive}", mend)
    return spoken[kind]


def _on_board(options: HandshakeOptions, name: str, means: Means) -> Work:
    library, board = Library.load(), boards.load_board(name)
    operations = [name for some in sides(options).values() for name in some]
    algorithm = library[options.primitive]
    if options.ad_size > algorithm.room("ad"):
        mend = f"give 0 to {algorithm.room('ad')}"
        raise InputError("there is no room for so many bytes", f"--ad-size {options.ad_size}", mend)
    ways = [w.name for w in library.implementations(algorithm) if w.runs_on(board.instruction_set)]
    way = options.implementation or next(iter(ways), "")
    if way not in ways:
        mend = f"there are {', '.join(ways) or 'none'}"
        raise InputError(f"no implementation {way!r} for {name}", "--implementation", mend)
    asked = {
        "board": name,
        "primitive": options.primitive,
        "implementation": way,
        "operation": operations,
        "opt": options.opt,
        "compiler": options.compiler or board.compiler,
        "ad_size": options.ad_size,
        "trials": 2,
        "seed": 1,
    }
    return plan_primitives(checked(PrimitiveOptions, asked), means)


def _on_air(path: Path, means: Means) -> Work:
    running = RunningNetwork(read_network(path), threads=1)
    refuse_unused_wiring(running.network)
    points = tuple(Point(case=c, trials=1, key=key) for c, key in cases(running).values())
    return of_tasks([Task(points=points, measure=partial(_run, path))], means)


def _run(path: Path) -> Records:
    running = RunningNetwork(read_network(path), observe=True)
    return list(records(running, ledger(running)))
