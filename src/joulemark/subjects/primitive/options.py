"""Campaigns: the cases to run, from a TOML file, the command line, or the defaults."""

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from joulemark import project
from joulemark.campaign.case import Build, Case, Conditions
from joulemark.campaign.job import LOCAL, Firmware, Setup
from joulemark.catalogue import boards, datafile, instruction_sets
from joulemark.catalogue.boards import Board
from joulemark.catalogue.near import near
from joulemark.catalogue.primitives import Algorithm, Implementation, Library
from joulemark.errors import InputError
from joulemark.images import toolchain
from joulemark.subjects.primitive import PrimitiveSubject
from joulemark.words import counted


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


Names = Annotated[tuple[str, ...], BeforeValidator(_as_list), Field(min_length=1)]
Bytes = Annotated[
    tuple[Annotated[int, Field(strict=True, ge=0, le=65535)], ...],
    BeforeValidator(_as_list),
    Field(min_length=1),
]


DEFAULT_SIZES = (1, 8, 16, 24, 48, 64, 96, 128, 512)


class Campaign(BaseModel):
    """The cases to measure. Each field is one name or number, or a list of them.

    Names of primitives, implementations and operations may be globs. The keys are the names of the
    command line's options, which override the file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    board: Names = ("telosb", "sensortag-cc2650", "openmote-cc2538")
    clock: Names = ()
    """Clock profiles; the board's default one if empty."""
    kind: Names = ()
    """Kinds of primitives; all if empty."""
    primitive: Names = ()
    """Primitives; all if empty, compositions only over their default partners."""
    implementation: Names = ()
    """Implementations. If empty: all if kinds or primitives are named, otherwise those of
    `Library.implementations_by_default`."""
    library: Names = ()
    """Libraries to measure on the machine that this runs on, instead of primitives."""
    algorithm: Names = ()
    """Algorithms of the libraries; all if empty."""
    operation: Names = ("*",)
    size: Bytes | None = None
    """Message sizes; sizes that a primitive or an image cannot take are left out. If not given,
    those of the kind's file, or DEFAULT_SIZES."""
    ad_size: Bytes = (0, 16)
    """Sizes of associated data, for AEADs."""
    compiler: Names = ()
    """Compilers; the default of each board's core if empty."""
    opt: Names = ("O3",)
    repetitions: Annotated[int, Field(strict=True, ge=1, le=2**32 - 1)] = 1
    trials: Annotated[int, Field(strict=True, ge=1, le=100_000)] | None = None
    """Executions of each case, each with its own random keys and messages. If not given, the plan
    chooses a number for each case."""
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**53)] | None = None
    """Seed of the random inputs; drawn anew if not given."""


def load_campaign(path: Path | None, overrides: dict[str, Any]) -> Campaign:
    """Load a campaign from a file and overrides.

    Args:
        path: a TOML file, or None for the default campaign.
        overrides: values by key; None overrides nothing.

    Raises:
        InputError: the file cannot be read, or a key or value is invalid.
    """
    values = {} if path is None else datafile.table(path)
    values.update({k: v for k, v in overrides.items() if v is not None})
    try:
        return Campaign.model_validate(values)
    except ValidationError as error:
        path_of_key, what = datafile.wrong(error)
        key = path_of_key.partition(".")[0]
        overridden = overrides.get(key) is not None
        where = f"--{key.replace('_', '-')}" if overridden or path is None else f"{path}: {key}"
        mend = f"the keys are: {', '.join(Campaign.model_fields)}"
        raise InputError(what, where, mend if what == datafile.UNKNOWN else None) from error


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


def _sizes(algorithm: Algorithm, campaign: Campaign) -> list[int]:
    """Return the campaign's message sizes that a primitive takes."""
    default = algorithm.contract.file.default
    wanted = campaign.size or (default.message_bytes if default else DEFAULT_SIZES)
    return [s for s in wanted if algorithm.takes_message(s)]


def _need_sizes(algorithms: Sequence[Algorithm], campaign: Campaign) -> None:
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
    campaign: Campaign,
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


def _targets(
    campaign: Campaign, setup: Setup
) -> Iterator[tuple[Board | None, str, Sequence[str], str]]:
    """Yield the board, its name, its clock profiles and its instruction set, per target."""
    if setup.runner == LOCAL:
        yield None, LOCAL, (LOCAL,), "host"
        return
    for name in campaign.board:
        board = boards.load_board(name)
        clocks = campaign.clock or (board.default_clock,)
        for clock in clocks:
            board.clock_profile(clock)
        yield board, name, clocks, board.instruction_set


def expand(
    campaign: Campaign,
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
    own = bool(project.sources()) and not (campaign.primitive or campaign.implementation)
    algorithms = [
        a
        for a in library.algorithms.values()
        if (
            _matches(a.name, campaign.primitive)
            if campaign.primitive
            else any(not part.is_shipped for part in a.primitive.parts)
            if own
            else a.is_default and (campaign.kind or not a.contract.file.on_request)
        )
    ]
    _need(algorithms, campaign.primitive, "--primitive", library.algorithms)
    if campaign.kind:
        kinds_there = {a.kind for a in algorithms}
        algorithms = [a for a in algorithms if _matches(a.kind, campaign.kind)]
        _need(algorithms, campaign.kind, "--kind", kinds_there)
    _need_sizes(algorithms, campaign)
    wanted = campaign.implementation or ("*",)
    names = {i.name for a in algorithms for i in library.implementations(a)}
    _need([name for name in names if _matches(name, wanted)], wanted, "--implementation", names)
    running: list[Implementation] = []
    for board, name, clocks, core in _targets(campaign, setup):
        family = core if board is None else board.core
        beside = () if board is None else board.accelerators
        compilers = campaign.compiler or (instruction_sets.compilers(family).default,)
        implementations = [
            (a, i)
            for a in algorithms
            for i in (
                library.implementations(a)
                if own or campaign.kind or campaign.primitive or campaign.implementation
                else library.implementations_by_default(a, core, beside)
            )
            if _matches(i.name, wanted) and i.runs_on(core, beside) and able(i)
            if not (own and i.parts[0].is_shipped)
        ]
        running += [i for _, i in implementations]
        for clock, compiler, opt, (algorithm, implementation) in itertools.product(
            clocks, compilers, campaign.opt, implementations
        ):
            firmware = Firmware(
                board=board,
                board_name=name,
                clock=clock,
                kind=algorithm.kind,
                primitive=algorithm.name,
                implementation=implementation.name,
                build=Build(compiler=compiler, optimisation=opt),
            )
            cases = list(_cases(firmware, implementation, campaign, setup, beyond))
            if cases:
                result[firmware] = cases
    if campaign.implementation and not running:
        where = ", ".join(campaign.board if setup.runner != LOCAL else (LOCAL,))
        what = f"{', '.join(wanted)} does not run on {where}"
        mend = "its implementation.toml names the cores and the hardware that it needs"
        raise InputError(what, "--implementation", mend)
    if beyond and not result:
        raise InputError("nothing is left to measure", "--size, --ad-size", left_out(beyond)[0])
    names = {name for a in algorithms for name in a.contract.measured}
    _need(result, campaign.operation, "--operation", names)
    return result
