"""All builds that are tested, and the checks that each must pass."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from build_checks import Check, all_checks
from emulated import ARM, BOARD, COMPILERS, DSP, PICO, PICO_2, BuildOf, board_for, is_for, is_large
from joulemark.catalogue import boards
from joulemark.catalogue.primitives import Implementation
from joulemark.images.toolchain import OPTIMISATIONS
from vectors import IMPLEMENTATIONS


def _is_made(build: BuildOf) -> bool:
    """Return whether a build is tested: all are, but only two of portable code on ARM.

    Of what takes long, two are on ARM and one on the TelosB; one of further variants, and of what
    runs on the host. A cipher that is measured on request is tested alone, not under each mode;
    what lacks its kind's main operation (SLH-DSA's signer) has tests of its own.
    """
    way = build.implementation
    how = (build.compiler, build.optimisation)
    twice = how in {("gcc", "O3"), ("clang", "Os")}
    if any(part.is_on_request(build.board.core) for part in way.parts[1:]) or not way.is_main:
        return False
    if is_large(way):
        variants = way.algorithm.primitive.file.variant
        first = way.algorithm.name == next(iter(variants), way.algorithm.name)
        if first and not way.runs_on("host"):
            return twice
        return how == ("gcc", "O3") and (first or not way.runs_on("host"))
    return build.board is BOARD or way.cores is not None or twice


def _is_plain_composition(way: Implementation) -> bool:
    """Return whether it is portable code over a part that is tested by itself, such as a mode."""
    own = way.parts[0].file
    return len(way.parts) > 1 and own.cores is None and own.accelerator is None


def _spread(found: Iterable[BuildOf]) -> Iterator[BuildOf]:
    """Yield all builds, but of a portable composition only some on each board.

    Its own code and its part's are separate objects, so how they are optimised together makes no
    difference that how each is optimised does not. Its own code is built in every way over some
    part, and over every part in some way; the part is tested in every way by itself.
    """
    groups = defaultdict[tuple[str, str, str], list[BuildOf]](list)
    for build in found:
        way = build.implementation
        if _is_plain_composition(way):
            own = way.parts[0]
            groups[own.primitive.name, own.name, build.board.name].append(build)
        else:
            yield build
    for builds_of_one in groups.values():
        yield from _covering(builds_of_one)


def _covering(found: list[BuildOf]) -> list[BuildOf]:
    """Return builds of one mode in which each implementation occurs, and each way to build it."""
    by_way = defaultdict[Implementation, list[BuildOf]](list)
    for build in found:
        by_way[build.implementation].append(build)
    kept = [ways[i % len(ways)] for i, ways in enumerate(by_way.values())]
    covered = {(build.compiler, build.optimisation) for build in kept}
    for build in found:
        if (build.compiler, build.optimisation) not in covered:
            kept.append(build)
            covered.add((build.compiler, build.optimisation))
    return kept


def is_slow(build: BuildOf) -> bool:
    """Return whether it is slow: all but one per implementation, on ARM per one for its core."""
    how = (build.compiler, build.optimisation)
    if build.implementation.accelerators:
        return False
    if build.board is BOARD:
        return how != ("clang", "Os") or is_large(build.implementation)
    return how != ("gcc", "Os") or build.implementation.parts[0].file.cores is None


def _with_accelerators(ways: Iterable[Implementation]) -> Iterator[BuildOf]:
    """Yield one build for each board that has the implementation's accelerators."""
    known = [boards.load_board(name) for name in boards.names()]
    for way in ways:
        for board in known if way.accelerators else ():
            if way.runs_on(board.core, board.accelerators):
                yield BuildOf(way, COMPILERS[board.core][0], "Os", board)


def builds() -> list[BuildOf]:
    """Return all builds that can be made here."""
    found = [
        BuildOf(way, compiler, optimisation, board_for(way, board))
        for way in IMPLEMENTATIONS
        for board in (BOARD, ARM, DSP, PICO, PICO_2)
        if is_for(way, board)
        for compiler in COMPILERS[board.core]
        for optimisation in OPTIMISATIONS
    ]
    return [*_spread(filter(_is_made, found)), *_with_accelerators(IMPLEMENTATIONS)]


def matrix() -> list[tuple[BuildOf, tuple[Check, ...]]]:
    """Return builds and their checks; builds without any are left out."""
    checks = all_checks()
    every = ((build, tuple(c for c in checks if c.applies(build))) for build in builds())
    return [(build, found) for build, found in every if found]
