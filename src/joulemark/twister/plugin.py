"""The pytest plugin: `pytest -p joulemark.twister.plugin --emulated-board NAME`.

It gives tests the fixture `power_monitor`, and takes the place of the fixture `probe_class` of
Twister's power harness, whose tests then run as they are.
"""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from joulemark.twister.monitor import SAMPLE_HZ, EmulatedPowerMonitor

_OF_HARNESS = "probe_class"
"""The fixture by which Twister's power harness gives its tests a monitor."""
_DEVICE = "dut"
"""Twister's fixture of the device under test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("joulemark", "power of an emulated board")
    group.addoption("--emulated-board", help="Board whose current is measured: `joulemark list`.")
    group.addoption("--emulated-image", help="Image; that of the device's build if not given.")
    group.addoption("--emulated-sample-hz", type=int, default=SAMPLE_HZ, help="Samples per second.")


def _monitor(request: pytest.FixtureRequest) -> EmulatedPowerMonitor:
    option = request.config.getoption
    if option("--emulated-board") is None:
        raise pytest.UsageError("--emulated-board says which board's current is measured")
    image = option("--emulated-image")
    monitor = EmulatedPowerMonitor(
        option("--emulated-board"), image, option("--emulated-sample-hz")
    )
    try:
        monitor.connect(None if image else request.getfixturevalue(_DEVICE))
    except pytest.FixtureLookupError as error:
        what = "--emulated-image says which image is measured; without it Twister's device does"
        raise pytest.UsageError(what) from error
    monitor.init()
    return monitor


@pytest.fixture
def power_monitor(request: pytest.FixtureRequest) -> Iterator[EmulatedPowerMonitor]:
    """Yield a monitor that is connected and initialised."""
    monitor = _monitor(request)
    yield monitor
    monitor.close()


def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> EmulatedPowerMonitor | None:
    """Put the emulated board in the place of the harness's probe."""
    board = request.config.getoption("--emulated-board")
    if fixturedef.argname != _OF_HARNESS or board is None:
        return None
    monitor = _monitor(request)
    fixturedef.addfinalizer(monitor.close)
    # The result, the key of its parameter, and no error, as pytest's own set-up leaves them.
    key = fixturedef.cache_key(cast("Any", request))
    fixturedef.cached_result = (monitor, key, None)
    return monitor
