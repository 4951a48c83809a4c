"""Settings and fixtures for all tests."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from joulemark.images import started

# How long an example may take is no property of the code, but of the machine and what else it does.
settings.register_profile("joulemark", deadline=None)
settings.load_profile("joulemark")

# pytest says there which test runs; compilers that wait for work need not be started anew for it.
started.unseen.add("PYTEST_CURRENT_TEST")

CHECKS_OF_BUILDS = "checks of builds"
"""Property of a test: how many checks it ran, and how many it knew to pass."""
MOST_LEFT_OPEN = 100
"""Files that a test may leave open, for what a session shares and what is collected later."""


pytest.register_assert_rewrite("build_checks", "vectors")


def pytest_addoption(parser: pytest.Parser) -> None:
    what = "run checks of builds that have passed before with the same image, engine and check, too"
    parser.addoption("--again", action="store_true", help=what)
    what = "make sweeps as long as their pages say, which takes minutes each"
    parser.addoption("--full", action="store_true", help=what)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many checks of builds ran, and how many were known to pass."""
    counted = Counter[str]()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            counted.update(dict(report.user_properties).get(CHECKS_OF_BUILDS, {}))
    if counted:
        text = f"checks of builds: {counted['ran']:,} ran, {counted['known']:,} passed before"
        terminalreporter.write_line(f"{text} with the same image, engine and check")


@pytest.fixture(autouse=True)
def files_are_closed() -> Iterator[None]:
    """No test leaves many files open: what runs after it in the same process would lack them."""
    before = _open_files()
    yield
    left = _open_files() - before
    assert left <= MOST_LEFT_OPEN, f"the test left {left} files open"


def _open_files() -> int:
    here = Path("/proc/self/fd")
    return len(list(here.iterdir())) if here.is_dir() else 0
