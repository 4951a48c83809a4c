"""Claims of secret-independent time and addresses hold in the emitted code.

Compilers introduce and remove such leaks, so each build is checked by itself: keys and messages
change, everything public stays, and neither cycles nor the digest of all addresses may change. A
branch that goes the other way once in 65536 times escapes that, even though all-zero and all-one
secrets are among those tried; so nothing that decides a branch may depend on secrets either.
"""

from build_checks import Build, check
from emulated import BOARD, BuildOf
from joulemark.measure.branches import WatchedBoard, deciders
from joulemark.measure.following import leaking
from joulemark.measure.leaks import follow, observe, on_secrets, refusals, trials
from joulemark.runners.protocol import Device

ENOUGH_CYCLES = 50_000_000
"""Of one operation: where a trial takes long, there are fewer, though never fewer than six."""


def _claims(build: BuildOf) -> bool:
    return build.implementation.secret_independent and not build.implementation.accelerators


def leaks(build: Build) -> list[str]:
    """Return the operations whose time or addresses depend on secrets, and how."""
    found = [
        observe(
            build.way,
            build.board,
            build.made,
            operation,
            enough_cycles=ENOUGH_CYCLES,
            following=False,
        )
        for operation in on_secrets(build.algorithm)
        if build.way.has(operation)
    ]
    return [str(leak) for leak in found if leak.any]


def branches_on_secrets(build: Build) -> list[str]:
    """Return instructions that decide a branch by different values when only secrets differ."""
    found = []
    candidates = deciders(build.made.path, build.board.core)
    for operation in filter(build.way.has, on_secrets(build.algorithm)):
        # A board for each: what one operation declares public is not what another does.
        board = WatchedBoard(build.image, build.board)
        device = Device(board, attempts=1)
        first, second = list(trials(build.algorithm, operation))[-2:]
        seen = board.watch(device, operation, first, candidates)
        again = board.watch(device, operation, second, seen)
        found += [f"{operation}: {d}" for d in seen if seen[d] != again[d]]
    return found


@check(_claims)
def claims_hold(build: Build) -> None:
    assert leaks(build) == []


def _is_followed(build: BuildOf) -> bool:
    """Return whether secrets are followed: in one build of each implementation for the MSP430."""
    one = (build.compiler, build.optimisation) == ("clang", "Os")
    return _claims(build) and build.board is BOARD and one


@check(_is_followed)
def secrets_decide_nothing(build: Build) -> None:
    for operation in on_secrets(build.algorithm):
        puts = list(trials(build.algorithm, operation, special=True))
        found = follow(
            build.board,
            build.made,
            operation,
            puts,
            refused=list(refusals(build.algorithm, operation)),
            budget_cycles=build.algorithm.contract.operation(operation).cycles_max,
        )
        assert leaking(found.uses) == []


@check(lambda build: _claims(build) and build.board is BOARD and not _is_followed(build))
def no_branch_looks_at_secrets(build: Build) -> None:
    assert branches_on_secrets(build) == []
