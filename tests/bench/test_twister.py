"""The power monitor for Zephyr's test runner, beside its interface and a computed current."""

import inspect
import subprocess
import sys
from abc import ABC, abstractmethod
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.signal import find_peaks

from joulemark.catalogue import boards, chips
from joulemark.errors import FaultError, InputError
from joulemark.twister import EmulatedPowerMonitor, plugin

BOARD = "nrf52840-dk"
PROGRAM = Path(__file__).parents[1] / "chips/power_phases.c"
HZ = 250
"""A sample is one period of the program's."""


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build folder of Zephyr's layout."""
    folder = tmp_path_factory.mktemp("build")
    (folder / "zephyr").mkdir()
    subprocess.run(
        [
            *("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-Os", "-ffreestanding"),
            *("-Wall", "-Wextra", "-Werror", "-nostdlib", "-Wl,-e,start", "-Wl,-Ttext=0x100"),
            *("-Wl,--section-start=.vectors=0", "-Wl,-Tbss=0x20000000", str(PROGRAM)),
            *("-o", str(folder / "zephyr/zephyr.elf")),
        ],
        check=True,
    )
    return folder


class PowerMonitor(ABC):
    """Twister's interface (scripts/pylib/power-twister-harness/abstract/PowerMonitor.py)."""

    @abstractmethod
    def init(self, device_id: str) -> bool: ...

    @abstractmethod
    def measure(self, duration: int) -> None: ...

    @abstractmethod
    def get_data(self, duration: int) -> list[float]: ...


def test_it_has_the_interfaces_methods() -> None:
    for name in PowerMonitor.__abstractmethods__:
        ours = inspect.signature(getattr(EmulatedPowerMonitor, name)).parameters
        assert list(inspect.signature(getattr(PowerMonitor, name)).parameters)[1] in ours
        # Callers of some versions leave a parameter out.
        assert all(p.default is not p.empty for n, p in ours.items() if n != "self")


def rms_by_phase(
    samples: list[float], *, peaks: int, height: float, distance: int, padding: int
) -> list[float]:
    """Return the RMS of what is between peaks, as Twister's documentation describes it."""
    found = find_peaks(samples, height=height, distance=distance)[0][:peaks]
    assert len(found) == peaks
    edges = [0, *(int(at) for at in found), len(samples)]
    pieces = [samples[a + padding : b - padding] for a, b in pairwise(edges)]
    return [float(np.sqrt(np.mean(np.square(piece)))) for piece in pieces]


def test_each_phases_rms_is_the_computed_one(build: Path) -> None:
    described = boards.load_board(BOARD)
    chip, volt = chips.load_chip(described.chip), described.supply_v.value
    active, asleep = (chip.current_a(s, 64_000_000, volt).value for s in ("active", "sleep"))
    monitor = EmulatedPowerMonitor(BOARD, sample_hz=HZ)
    assert monitor.connect(SimpleNamespace(device_config=SimpleNamespace(build_dir=str(build))))
    assert monitor.init("probe")
    monitor.measure(duration=1)
    samples = monitor.get_data()
    assert len(samples) == HZ
    assert monitor.get_data(0.5) == samples[: HZ // 2]
    found = rms_by_phase(samples, peaks=3, height=0.95 * active, distance=10, padding=4)
    # Awake for 1, 32 and 98 of 131 ticks.
    expected = [asleep + part * (active - asleep) for part in (1 / 131, 32 / 131, 98 / 131, 0)]
    assert found[1:] == pytest.approx(expected[1:], rel=0.01)
    # To wake up and fall asleep takes some 3% of a tick's 1,953 cycles.
    assert found[0] == pytest.approx(expected[0], rel=0.05)
    # It goes on where it was, asleep but for waking up four times a second.
    monitor.measure(time=1)
    assert np.mean(monitor.get_data()) == pytest.approx(asleep, rel=0.05)
    monitor.init()
    monitor.measure(0.2)
    assert monitor.get_data() == samples[: HZ // 5]
    monitor.disconnect()
    with pytest.raises(InputError, match="call init"):
        monitor.measure(1)


def test_samples_keep_the_charge_at_any_rate(build: Path) -> None:
    charges = []
    for hz in (10, 1000, 5000):
        monitor = EmulatedPowerMonitor(BOARD, build / "zephyr/zephyr.elf", sample_hz=hz)
        monitor.init()
        monitor.measure(0.4)
        charges.append(np.mean(monitor.get_data()))
    assert charges == pytest.approx([charges[0]] * 3, rel=1e-6)


def test_wrong_use_is_told(tmp_path: Path, build: Path) -> None:
    with pytest.raises(InputError, match=r"zephyr\.elf or \.hex"):
        EmulatedPowerMonitor(BOARD).connect(tmp_path)
    with pytest.raises(InputError, match="has no image"):
        EmulatedPowerMonitor(BOARD).init()
    with pytest.raises(InputError, match="sample_hz"):
        EmulatedPowerMonitor(BOARD, sample_hz=0)
    monitor = EmulatedPowerMonitor(BOARD, build / "zephyr/zephyr.elf")
    monitor.init()
    for wrong in (0, -1, 1e-9, float("nan"), 1e9):
        with pytest.raises(InputError, match="is no duration"):
            monitor.measure(wrong)
    broken = tmp_path / "broken.hex"
    broken.write_text(":0400000000000120DB\n:0400040001F00020E7\n:00000001FF\n")
    monitor = EmulatedPowerMonitor(BOARD, broken)
    monitor.init()
    with pytest.raises(FaultError, match="faulted"):
        monitor.measure(1)


HARNESS = """
import types
import pytest

@pytest.fixture
def dut():
    return types.SimpleNamespace(device_config=types.SimpleNamespace(build_dir={build!r}))

@pytest.fixture
def probe_class(request, dut):
    pytest.fail("this needs a probe")
"""
"""As much of the power harness's conftest.py as its test sees."""
TESTS = """
import pytest

@pytest.mark.parametrize("probe_class", ["stm_powershield"], indirect=True)
def test_power_harness(probe_class, dut):
    probe_class.measure(0.1)
    assert 0 < max(probe_class.get_data()) < 0.0002

def test_own(power_monitor):
    power_monitor.measure(0.1)
    assert min(power_monitor.get_data()) < 0.0001
"""


def test_the_harnesss_tests_run_on_the_emulated_board(tmp_path: Path, build: Path) -> None:
    (tmp_path / "conftest.py").write_text(HARNESS.format(build=str(build)))
    (tmp_path / "test_power.py").write_text(TESTS)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-p", "joulemark.twister.plugin", "--emulated-board", BOARD),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_a_monitor_needs_an_image_or_a_device(tmp_path: Path) -> None:
    (tmp_path / "test_power.py").write_text("def test_own(power_monitor): pass")
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    run += ["-p", "joulemark.twister.plugin", "--emulated-board", BOARD]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "--emulated-image says which image is measured" in done.stdout


def test_a_monitor_needs_a_board() -> None:
    without: Any = SimpleNamespace(config=SimpleNamespace(getoption=lambda _: None))
    with pytest.raises(pytest.UsageError, match="--emulated-board says which"):
        plugin._monitor(without)
