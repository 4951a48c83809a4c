"""Every build is right: outputs, independence of secrets, residue.

A build is an implementation compiled for a board by a compiler at an optimisation. It is made once,
and all of its checks use that image; `build_checks` has them. What has passed on this machine with
the same image, engine and check is not run again unless `--again` is given; the summary says how
much that was.
"""

from collections.abc import Callable

import pytest
from conftest import CHECKS_OF_BUILDS

from build_checks import Build, Check, all_checks
from emulated import BuildOf
from joulemark.images import Sources
from matrix import is_slow, matrix
from passed import Passed

MATRIX = matrix()
SOURCES = Sources()


@pytest.fixture
def passed(request: pytest.FixtureRequest) -> Passed:
    return Passed(again=request.config.getoption("again"))


@pytest.mark.parametrize(
    ("build", "checks"),
    [
        pytest.param(build, checks, id=str(build), marks=[pytest.mark.slow] * is_slow(build))
        for build, checks in MATRIX
    ],
)
def test_build(
    build: BuildOf,
    checks: tuple[Check, ...],
    passed: Passed,
    subtests: pytest.Subtests,
    record_property: Callable[[str, object], None],
) -> None:
    made = Build(build, SOURCES)
    for check in checks:
        with subtests.test(check.name):
            passed.run(made, check)
    record_property(CHECKS_OF_BUILDS, {"ran": passed.ran, "known": passed.known})


def test_every_check_is_of_some_build() -> None:
    used = {check for _, checks in MATRIX for check in checks}
    assert used == set(all_checks())
