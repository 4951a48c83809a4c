"""The cases of a campaign of primitives, by the identity of their image."""

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from joulemark import project
from joulemark.campaign.case import Build, Case, Conditions
from joulemark.campaign.job import LOCAL, Firmware, Setup
from joulemark.catalogue import boards, instruction_sets
from joulemark.catalogue.boards import Board
from joulemark.catalogue.near import near
from joulemark.catalogue.primitives import Algorithm, Implementation, Library
from joulemark.errors import InputError
from joulemark.images import toolchain
from joulemark.subjects.primitive import PrimitiveSubject
from joulemark.subjects.primitive.options import DEFAULT_SIZES, PrimitiveOptions
from joulemark.words import counted


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _need(
    found: Collection[object], patterns: Sequence[str], option: str, names: Iterable[str]
) -> None:
    if not found:
        raise InputError(
            f"{', '.join(patterns)} matches nothing",
            option,
            near(patterns[0], names),
        )


def _sizes(algorithm: Algorithm, campaign: PrimitiveOptions) -> list[int]:
    """Return the campaign's message sizes that a primitive takes."""
    default = algorithm.contract.file.default
    wanted = campaign.size or (default.message_bytes if default else DEFAULT_SIZES)
    return [s for s in wanted if algorithm.takes_message(s)]


def _need_sizes(algorithms: Sequence[Algorithm], campaign: PrimitiveOptions) -> None:
    """Check that some primitive takes some of the sizes, if its operations depend on size."""
    asked = {
        a.name: a
        for a in algorithms
        for name, operation in a.contract.measured.items()
        if operation.sized and _matches(name, campaign.operation)
    }
    if asked and not any(_sizes(a, campaign) for a in asked.values()):
        taken = ", ".join(sorted({a.messages_taken for a in asked.values()}))
        names = ", ".join(sorted(asked)[:6])
        raise InputError(f"{names} takes other sizes", "--size", f"give {taken}")
    room = max((a.room("ad") for a in asked.values()), default=0)
    if room and min(campaign.ad_size) > room:
        what = f"images have room for {room} bytes of associated data"
        raise InputError(what, "--ad-size", f"give 0 to {room}")


def _cases(
    firmware: Firmware,
    implementation: Implementation,
    campaign: PrimitiveOptions,
    setup: Setup,
    beyond: Counter[Implementation],
) -> Iterator[Case]:
    """Yield the cases of an image; count cases that the implementation cannot take in `beyond`."""
    algorithm = implementation.algorithm
    conditions = Conditions(
        board=firmware.board_name,
        clock=firmware.clock,
        runner=setup.runner,
        meter=setup.meter,
        unit=setup.unit,
        repetitions=campaign.repetitions,
    )
    for name, operation in algorithm.contract.measured.items():
        if not _matches(name, campaign.operation) or not implementation.has(name):
            continue
        for message in _sizes(algorithm, campaign) if operation.sized else [0]:
            ads = [ad for ad in campaign.ad_size if ad <= algorithm.room("ad")]
            for ad in ads if operation.with_ad else (0,):
                if not implementation.takes(message, ad):
                    beyond[implementation] += 1
                    continue
                subject = PrimitiveSubject(
                    kind=algorithm.kind,
                    primitive=algorithm.name,
                    implementation=firmware.implementation,
                    operation=name,
                    message_bytes=message,
                    ad_bytes=ad,
                    tag_bytes=algorithm.sizes.get("tag_bytes", 0),
                )
                yield Case(subject=subject, build=firmware.build, conditions=conditions)


def left_out(beyond: Mapping[Implementation, int]) -> list[str]:
    """Describe the implementations for which longer cases were left out."""
    return [
        f"{way} takes {way.together}: {counted(cases, 'longer case')} left out"
        for way, cases in sorted(beyond.items(), key=lambda item: str(item[0]))
    ]


@dataclass(frozen=True, kw_only=True)
class _Target:
    """Where images run."""

    board: Board | None
    """None for this machine."""
    name: str
    clocks: Sequence[str]
    core: str
    """The instruction set."""

    @property
    def family(self) -> str:
        """The family of its compilers."""
        return self.core if self.board is None else self.board.core

    def is_placed(self, clock: str) -> bool:
        """Return whether its time depends on where in flash code lies."""
        return self.board is not None and self.board.keeps_state(clock)

    @property
    def beside(self) -> Collection[str]:
        """Its accelerators."""
        return () if self.board is None else self.board.accelerators


def _targets(campaign: PrimitiveOptions, setup: Setup) -> Iterator[_Target]:
    if setup.runner == LOCAL:
        yield _Target(board=None, name=LOCAL, clocks=(LOCAL,), core="host")
        return
    for name in campaign.board:
        board = boards.load_board(name)
        clocks = campaign.clock or (board.default_clock,)
        for clock in clocks:
            board.clock_profile(clock)
        yield _Target(board=board, name=name, clocks=clocks, core=board.instruction_set)


def _only_own(campaign: PrimitiveOptions) -> bool:
    """Return whether a campaign that names nothing has a user's own sources, and means those."""
    return bool(project.sources()) and not (campaign.primitive or campaign.implementation)


def _algorithms(campaign: PrimitiveOptions, library: Library) -> list[Algorithm]:
    """Return the algorithms that a campaign names or means.

    Raises:
        InputError: a name matches nothing, or no algorithm takes the sizes.
    """

    def is_meant(algorithm: Algorithm) -> bool:
        if campaign.primitive:
            return _matches(algorithm.name, campaign.primitive)
        if _only_own(campaign):
            return any(not part.is_shipped for part in algorithm.primitive.parts)
        on_request = algorithm.contract.file.on_request
        return algorithm.is_default and bool(campaign.kind or not on_request)

    found = [a for a in library.algorithms.values() if is_meant(a)]
    _need(found, campaign.primitive, "--primitive", library.algorithms)
    if campaign.kind:
        kinds_there = {a.kind for a in found}
        found = [a for a in found if _matches(a.kind, campaign.kind)]
        _need(found, campaign.kind, "--kind", kinds_there)
    _need_sizes(found, campaign)
    return found


def _implementations(
    campaign: PrimitiveOptions, library: Library, algorithm: Algorithm, target: _Target
) -> list[Implementation]:
    """Return the implementations of an algorithm that a campaign names or means on a target."""
    own = _only_own(campaign)
    if own or campaign.kind or campaign.primitive or campaign.implementation:
        every = library.implementations(algorithm)
    else:
        every = library.implementations_by_default(algorithm, target.core, target.beside)
    return [
        i
        for i in every
        if (_matches(i.name, campaign.implementation) if campaign.implementation else i.is_main)
        and i.runs_on(target.core, target.beside)
        and not (own and i.parts[0].is_shipped)
    ]


def expand(
    campaign: PrimitiveOptions,
    library: Library,
    setup: Setup,
    able: Callable[[Implementation], bool] = lambda _: True,
    beyond: Counter[Implementation] | None = None,
) -> dict[Firmware, list[Case]]:
    """Expand a campaign to all of its cases, by the identity of their image.

    Args:
        campaign: the campaign.
        library: all primitives.
        setup: how the cases are measured; the local runner ignores the campaign's boards.
        able: filters implementations.
        beyond: counts, per implementation, cases that are left out because they are too long.

    Raises:
        InputError: a name matches nothing, or an optimisation level does not exist.
    """
    for opt in campaign.opt:
        toolchain.check_optimisation(opt)
    beyond = Counter() if beyond is None else beyond
    result: dict[Firmware, list[Case]] = {}
    algorithms = _algorithms(campaign, library)
    wanted = campaign.implementation or ("*",)
    names = {i.name for a in algorithms for i in library.implementations(a)}
    _need([name for name in names if _matches(name, wanted)], wanted, "--implementation", names)
    runs = False
    for target in _targets(campaign, setup):
        compilers = campaign.compiler or (instruction_sets.compilers(target.family).default,)
        implementations = [
            (a, i)
            for a in algorithms
            for i in _implementations(campaign, library, a, target)
            if able(i)
        ]
        runs = runs or bool(implementations)
        for clock, compiler, opt, number, (algorithm, implementation) in itertools.product(
            target.clocks, compilers, campaign.opt, range(campaign.placements), implementations
        ):
            if number and not target.is_placed(clock):
                continue
            variant = f"+{4 * number}" if number else ""
            firmware = Firmware(
                board=target.board,
                board_name=target.name,
                clock=clock,
                kind=algorithm.kind,
                primitive=algorithm.name,
                implementation=implementation.name,
                build=Build(compiler=compiler, optimisation=opt, variant=variant),
            )
            cases = list(_cases(firmware, implementation, campaign, setup, beyond))
            if cases:
                result[firmware] = cases
    if campaign.implementation and not runs:
        where = ", ".join(campaign.board if setup.runner != LOCAL else (LOCAL,))
        what = f"{', '.join(wanted)} does not run on {where}"
        mend = "its implementation.toml names the cores and the hardware that it needs"
        raise InputError(what, "--implementation", mend)
    if beyond and not result:
        raise InputError("nothing is left to measure", "--size, --ad-size", left_out(beyond)[0])
    names = {name for a in algorithms for name in a.contract.measured}
    if not result and any(_matches(name, campaign.operation) for name in names):
        having = {
            way.name
            for algorithm in algorithms
            for way in library.implementations(algorithm)
            if any(way.has(name) and _matches(name, campaign.operation) for name in names)
        }
        if not runs:
            where = ", ".join(campaign.board if setup.runner != LOCAL else (LOCAL,))
            what = f"no implementation of {', '.join(a.name for a in algorithms)} is for {where}"
            raise InputError(
                what, "--primitive", "`joulemark choose` says for each board what runs on it"
            )
        what = f"none of the implementations has {', '.join(campaign.operation)}"
        raise InputError(what, "--operation", f"{', '.join(sorted(having)[:6]) or 'none'} have it")
    _need(result, campaign.operation, "--operation", names)
    return result
