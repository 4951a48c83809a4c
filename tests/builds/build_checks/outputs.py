"""Outputs are those of the standards and of the oracle."""

from build_checks import Build, check
from emulated import COMPILERS, BuildOf
from vectors import CHECKS, applicable, check_published_vector


def _only_here(build: BuildOf) -> bool:
    """Return whether a build is of code that runs on boards only, and is chosen for this.

    What test_vectors.py checks on the host is checked of such code here: mostly assembly, for which
    one compiler is enough.
    """
    how = (build.compiler, build.optimisation)
    own = build.implementation.parts[0].file
    is_here = own.accelerator is not None or "host" not in (own.cores or {"host"})
    # One that only names its parts is C that runs on the host, over parts that are tested here.
    only_names = own.accelerator is None and bool(own.uses)
    return how == (COMPILERS[build.board.core][0], "Os") and is_here and not only_names


@check(lambda build: bool(build.implementation.algorithm.vectors))
def published_vectors(build: Build) -> None:
    """All of them; only one for slow operations, except at -Os."""
    subject = build.subject
    is_long = subject.contract.file.default is not None and build.of.optimisation != "Os"
    for vector in subject.algorithm.vectors[: 1 if is_long else None]:
        check_published_vector(subject, vector)


@check(_only_here)
def properties(build: Build) -> None:
    """Random inputs, any split, in place, repeated, forged: whatever applies to the kind."""
    for name in applicable(build.way):
        CHECKS[name](build.subject)
