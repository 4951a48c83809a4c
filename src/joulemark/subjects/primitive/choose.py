"""Answers what serves a need best on boards, and measures what nobody has measured of it."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import NamedTuple

from joulemark.analysis.advice import service_of
from joulemark.analysis.choice import Answer, Demands, Option, Question, lacking
from joulemark.campaign.options import checked
from joulemark.catalogue import boards, instruction_sets, kinds
from joulemark.catalogue.kinds import Kind
from joulemark.catalogue.near import near
from joulemark.catalogue.primitives import Algorithm, Implementation, library
from joulemark.conduct import Means, Work, joined
from joulemark.errors import InputError, ToolError
from joulemark.images import toolchain
from joulemark.records.record import PrimitiveRecord, of_primitives
from joulemark.records.store import Store
from joulemark.subjects.primitive.measure import plan
from joulemark.subjects.primitive.options import PrimitiveOptions

USUAL_BYTES = 64
"""Default size of a message, where its kind has none of its own, such as a hash to be signed."""

CONSTANT_TIME_TRIALS = 8
"""Where something is demanded of secrets: `run` makes only two for long messages."""


def message_bytes(kind: Kind, operations: Sequence[str], asked: int | None) -> int:
    """Return the size in bytes of the message that operations take; 0 if they take none.

    Args:
        kind: of the operations.
        operations: the operations that serve one message.
        asked: what a user asked for.

    Raises:
        InputError: there is no such operation, it is not measured, or a size is given for
            operations without a message.
    """
    for name in operations:
        if kind.operation(name).split:
            mend = f"those that are: {', '.join(kind.measured)}"
            raise InputError(f"{name} of {kind.name} is not measured", "--operation", mend)
    if kind.sized(operations):
        own = kind.file.default
        usual = own.message_bytes[0] if own else USUAL_BYTES
        return usual if asked is None else asked
    if asked:
        what = f"{' and '.join(operations)} of {kind.name} takes no message"
        raise InputError(what, "--size", "leave it out")
    return 0


def question(
    board: str,
    kind: str,
    *,
    size: int | None = None,
    ad_size: int = 0,
    clock: str | None = None,
    operation: Sequence[str] = (),
    primitive: Sequence[str] = (),
    implementation: Sequence[str] = (),
    hardware: bool = True,
) -> Question:
    """Return a question from what a user gives.

    Args:
        board: its board.
        kind: name of a kind; others that provide the same service are considered, too.
        size: size of the message.
        ad_size: size of its associated data.
        clock: clock profile; the board's first if not given.
        operation: operations that serve one message; the kind's if empty.
        primitive: names or globs; all if empty.
        implementation: names or globs; all if empty.
        hardware: whether accelerators may do it.

    Raises:
        InputError: a name is unknown, a size is below 0, or one is given where there is no message.
    """
    for option, given in (("--size", size), ("--ad-size", ad_size)):
        if given is not None and (not isinstance(given, int) or given < 0):
            raise InputError(f"{given!r} is no number of bytes", option, "give 0 or more")
    described = boards.load_board(board)
    described.clock_profile(clock)
    known = {k: v for k, v in kinds.known().items() if not v.file.baseline}
    if kind not in known:
        raise InputError(f"no such kind: {kind}", "--kind", near(kind, [*known, "update"]))
    service = service_of(known[kind], operation)
    return Question(
        board=described,
        clock=clock or described.default_clock,
        kind=known[kind],
        service=service,
        message_bytes=message_bytes(known[kind], service.operations[kind], size),
        ad_bytes=ad_size,
        primitives=tuple(primitive),
        implementations=tuple(implementation),
        hardware=hardware,
    )


def check(asked: Question, demands: Demands) -> None:
    """Check that the demands can be met on the board.

    Raises:
        InputError: the chip's memories keep state, so that addresses decide its time.
    """
    if demands.time_alone and asked.board.keeps_state(asked.clock):
        what = f"{asked.board.chip} has a cache or line buffers: addresses decide its time"
        raise InputError(what, "--time-alone", "give --constant-time")


def answer(asked: Question, demands: Demands, store: Store, wanted: "Wanted | None") -> Answer:
    """Answer from a store.

    Args:
        asked: the question.
        demands: the demands.
        store: has the records; what was measured for the question is among them.
        wanted: what was measured; None if only the store was asked.

    Raises:
        InputError: there is nothing to answer from.
    """
    records = _records(asked, store)
    if wanted is None:
        check_possible(asked)
    found = asked.options(records)
    unmeasured = {} if wanted is None else wanted.refused
    failed = _failed(asked, records, found)
    if not found and not unmeasured and not failed:
        what = f"nothing of this was measured: {asked}"
        mend = "leave --stored out, and it is" if wanted is None else "nothing serves it"
        raise InputError(what, store.name, mend)
    return Answer(
        question=asked,
        demands=demands,
        found=found,
        unmeasured=unmeasured,
        failed=failed,
        lacking=lacking(asked.board, _elsewhere(asked, failed, store)) if failed else {},
    )


def _records(asked: Question, store: Store) -> list[PrimitiveRecord]:
    kinds_of = set(asked.service.operations)
    return of_primitives(store.of_board(asked.board.name, asked.clock, kind=kinds_of))


def _failed(
    asked: Question, records: Sequence[PrimitiveRecord], found: Sequence[Option]
) -> dict[str, str]:
    """Return why each primitive in question failed that has no build here."""
    have = {option.build.primitive for option in found}
    operations = asked.service.operations
    return {
        r.subject.primitive: r.failure or "it failed"
        for r in records
        if r.status == "failed"
        and r.subject.primitive not in have
        and r.subject.operation in operations[r.subject.kind]
        and asked.allows(r.subject.primitive, r.subject.implementation, accelerated=False)
    }


def _elsewhere(
    asked: Question, primitives: Collection[str], store: Store
) -> dict[str, list[Option]]:
    """Return the builds of primitives on other boards of the same instruction set."""
    found = {}
    for name in boards.names():
        board = boards.load_board(name)
        if board.instruction_set == asked.board.instruction_set and name != asked.board.name:
            there = replace(asked, board=board, clock=board.default_clock)
            some = there.options(_records(there, store))
            found[name] = [o for o in some if o.build.primitive in primitives]
    return found


class Wanted(NamedTuple):
    """What has to be measured for an answer."""

    work: Callable[[Means], Work] | None
    """None if nothing can meet the demands."""
    refused: dict[Implementation, list[str]]
    """What cannot meet the demands, whatever it costs, and why."""


def wanted(asked: Question, demands: Demands) -> Wanted:
    """Return the cases of all that may meet the demands, by every compiler and optimisation.

    What is measured on request only is left out where neither primitives nor implementations are
    named.

    Raises:
        InputError: nothing serves it.
    """
    ways = check_possible(asked)
    every = [way for some in ways.values() for way in some]
    objections = {way: demands.objects_unmeasured(way) for way in every}
    refused = {way: reasons for way, reasons in objections.items() if reasons}
    able = {str(way) for way in every} - {str(way) for way in refused}

    def work(means: Means) -> Work:
        return joined(
            [
                plan(_campaign(asked, demands, size, some), means, lambda way: str(way) in able)
                for size, some in ways.items()
                if any(str(way) in able for way in some)
            ]
        )

    return Wanted(work if able else None, refused)


def check_possible(asked: Question) -> Mapping[int, Sequence[Implementation]]:
    """Return the implementations that serve a question, by the message that they are measured with.

    Raises:
        InputError: nothing serves it; the error says which of its parts nothing satisfies.
    """
    named = bool(asked.primitives or asked.implementations)
    core, accelerators = asked.board.instruction_set, asked.board.accelerators
    by_size: dict[int, list[Algorithm]] = defaultdict(list)
    for algorithm, size in _sized(asked):
        by_size[size].append(algorithm)
    there = {
        size: [
            way
            for algorithm in some
            for way in library().implementations(algorithm)
            if way.runs_on(core, accelerators)
            and (named or not way.is_on_request(core))
            and (asked.implementations or way.is_main)
        ]
        for size, some in by_size.items()
    }
    ways = {
        size: [
            way
            for way in some
            if way.takes(size, asked.ad_bytes)
            and asked.allows(way.algorithm.name, way.name, accelerated=bool(way.accelerators))
        ]
        for size, some in there.items()
    }
    if not any(ways.values()):
        known = sorted({way.name for some in there.values() for way in some})
        if not known:
            raise InputError(f"nothing runs there that does this: {asked}", "--primitive, --board")
        if not any(fnmatchcase(name, p) for p in asked.implementations or "*" for name in known):
            what = f"{', '.join(asked.implementations)} matches nothing that runs there"
            raise InputError(what, "--implementation", near(asked.implementations[0], known))
        raise InputError(f"nothing runs there that does this: {asked}", "--hardware, --size")
    return ways


def _campaign(
    asked: Question, demands: Demands, size: int, ways: Sequence[Implementation]
) -> PrimitiveOptions:
    judged = demands.constant_time or demands.time_alone
    return checked(
        PrimitiveOptions,
        {
            "board": [asked.board.name],
            "clock": [asked.clock],
            "primitive": sorted({way.algorithm.name for way in ways}),
            # Other operations may not accept a message of 0 bytes.
            "size": [size] if asked.sized else None,
            "ad_size": [asked.ad_bytes],
            "compiler": _compilers(asked.board.core),
            "opt": list(toolchain.OPTIMISATIONS),
            "trials": CONSTANT_TIME_TRIALS if judged else None,
        },
    )


def _sized(asked: Question) -> list[tuple[Algorithm, int]]:
    """Return the algorithms that are considered, and the message that each is measured with."""
    named = asked.algorithms()
    if not named:
        of_kinds = [a for a in library().algorithms.values() if a.kind in asked.service.operations]
        names = [a.name for a in of_kinds]
        if not asked.primitives:
            what = f"nothing of kind {asked.kind.name} is considered unless it is named"
            raise InputError(what, "--primitive", f"there are {', '.join(names)}")
        what = f"{', '.join(asked.primitives)} matches nothing of kind {asked.kind.name}"
        raise InputError(what, "--primitive", near(asked.primitives[0], names))
    most = max(a.room("ad") for a in named)
    if asked.ad_bytes > most:
        what = f"a {asked.kind.name} takes no associated data"
        if most:
            what = f"none takes associated data of {asked.ad_bytes} bytes"
        raise InputError(what, "--ad-size", f"give 0 to {most}" if most else "leave it out")
    if not asked.sized:
        return [(algorithm, 0) for algorithm in named]
    sizes = [(a, a.message_that_holds(asked.message_bytes)) for a in named]
    able = [(algorithm, size) for algorithm, size in sizes if size is not None]
    if not able:
        taken = " or ".join(sorted({a.messages_taken for a in named}))
        what = f"none takes a message of {asked.message_bytes} bytes"
        raise InputError(what, "--size", f"give {taken}")
    return able


def _compilers(core: str) -> list[str]:
    """Return the installed compilers, and the default one in any case."""
    default: str = instruction_sets.compilers(core).default
    found = [default]
    for name in ("clang", "gcc"):
        try:
            toolchain.find(name, core)
        except ToolError:
            continue
        if name != default:
            found.append(name)
    return found
