"""Settings and fixtures for all tests."""

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

MOST_LEFT_OPEN = 100
"""Files that a test may leave open, for what a session shares and what is collected later."""


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
