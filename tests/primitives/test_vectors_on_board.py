"""Every implementation agrees with the standards on emulated boards, in each build.

An implementation with code for this core only does not run on the host, so what test_vectors.py
checks of the others there is checked of it here.
"""

import pytest

from emulated import BuildOf, builds
from vectors import CHECKS, IMPLEMENTATIONS, Subject, applicable, check_published_vector

NOT_ON_THE_HOST = [
    way
    for way in IMPLEMENTATIONS
    if "host" not in (way.parts[0].file.cores or {"host"})
    # One that only names its parts is C that runs on the host, over parts that are tested here.
    and not way.parts[0].file.uses
]


def subject_of(build: BuildOf) -> Subject:
    return Subject(build.implementation, build.start()[1])


@pytest.mark.parametrize("build", builds(way for way in IMPLEMENTATIONS if way.algorithm.vectors))
def test_published_vectors(build: BuildOf) -> None:
    """All of them; only one for slow operations, except at -Os."""
    subject = subject_of(build)
    is_long = subject.contract.file.default is not None and build.optimisation != "Os"
    for vector in subject.algorithm.vectors[: 1 if is_long else None]:
        check_published_vector(subject, vector)


@pytest.mark.parametrize("build", builds(NOT_ON_THE_HOST, ["Os"]))
def test_properties(build: BuildOf) -> None:
    subject = subject_of(build)
    for check in applicable(build.implementation):
        CHECKS[check](subject)
