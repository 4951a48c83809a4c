"""Claims of secret-independent time and addresses hold in the emitted code.

Compilers introduce and remove such leaks, so each build is checked by itself: its secrets are
followed through an execution, and may decide nothing. In one build of each implementation for each
core they are tried as well: keys and messages change, everything public stays, and neither cycles
nor the digest of all addresses may change.
"""

from build_checks import Build, check
from emulated import BuildOf
from joulemark.measure.following import leaking
from joulemark.measure.leaks import at_random, follow, observe, on_secrets, refusals

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


def _is_tried(build: BuildOf) -> bool:
    """Return whether secrets are tried: in one build for each core."""
    return _claims(build) and (build.compiler, build.optimisation) == ("clang", "Os")


@check(_is_tried)
def claims_hold(build: Build) -> None:
    assert leaks(build) == []


@check(_claims)
def secrets_decide_nothing(build: Build) -> None:
    for operation in on_secrets(build.algorithm):
        if not build.way.has(operation):
            continue
        found = follow(
            build.board,
            build.made,
            operation,
            at_random(build.algorithm, operation, 2),
            refused=list(refusals(build.algorithm, operation)),
            budget_cycles=build.algorithm.contract.operation(operation).cycles_max,
        )
        assert found.runs
        assert leaking(found.uses) == []
