"""Instruments are found, not listed: what each declares, and a lab's own from a folder."""

import importlib
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import pytest

from command import Printed, by_itself, joulemark
from joulemark import found, meters
from joulemark.meters import scpi
from joulemark.simulated import instruments

UNITS = ("_a", "_v", "_s", "_ms", "_hz", "_ohm", "_w", "_j", "_bytes")
NO_SUFFIX = {
    *("accuracy", "of_reading", "of_range", "noise_of_range"),
    *("volt", "ampere", "seconds"),
    *("resolution", "digits"),
}
"""Fractions; the unit itself as the name; the display's own unit."""


def modules() -> Iterator[str]:
    for package in (meters, scpi, instruments):
        for name in found.modules(package.__path__, package.__name__).values():
            if {"open_meter", "plug_in"} & set(vars(importlib.import_module(name))):
                yield name


@pytest.mark.parametrize("name", meters.names())
def test_a_meter_says_what_it_has_to_be_told(name: str) -> None:
    assert meters.summary(name)
    for one in meters.options(name):
        option = one.option
        assert re.fullmatch(r"--[a-z][a-z-]+", option.flag)
        assert option.help.endswith("."), option
        assert option.example
        if one.kind is float:
            assert option.unit, f"{name} {option.flag} has no unit"
            option.check(float(option.example))
        # Nothing is guessed that the meter could get wrong.
        assert one.kind in {str, float, int}


def numbers(function: object) -> list[str]:
    hints = get_type_hints(function)
    return [
        parameter
        for parameter, kind in hints.items()
        if parameter != "return" and re.search(r"\bfloat\b|Floats|ndarray", str(kind))
    ]


@pytest.mark.parametrize("name", list(modules()))
def test_every_quantity_of_an_instrument_has_a_unit(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    own = {n: v for n, v in vars(module).items() if getattr(v, "__module__", "") == name}
    for kind in (v for n, v in own.items() if not n.startswith("_")):
        functions = [kind] if inspect.isfunction(kind) else []
        if inspect.isclass(kind):
            assert kind.__doc__, kind
            functions = [f for f in vars(kind).values() if inspect.isfunction(f)]
        for function in functions:
            if function.__name__.startswith("_") and function.__name__ != "__init__":
                continue
            if function.__name__ != "__init__":
                assert function.__doc__, function
            for parameter in numbers(function):
                assert parameter.endswith(UNITS) or parameter in NO_SUFFIX, (
                    f"{function.__qualname__}: {parameter} has no unit"
                )


def test_simulated_instruments_name_the_meters_that_read_them() -> None:
    usages = []
    for module in found.modules(instruments.__path__, instruments.__name__).values():
        plug_in = getattr(importlib.import_module(module), "plug_in", None)
        if plug_in is not None:
            source = inspect.getsource(inspect.getmodule(plug_in) or plug_in)
            usages += re.findall(r"--meter ([a-z0-9-]+)", source)
    assert len(usages) >= 4
    assert set(usages) <= set(meters.names())


METER = '''"""A lab's own meter: half of the time on, half off."""

from typing import Annotated

import numpy as np

from joulemark.closes import Closes
from joulemark.meters import Specification
from joulemark.meters.options import Option, StatedAccuracy
from joulemark.meters.samples import Accuracy, Samples


class Square(Closes):
    """One specimen."""

    specification = Specification("square", "this test", 1000, "1 mA")

    def __init__(self, supply_v, accuracy, high_a):
        self._supply_v, self._accuracy, self._high_a = supply_v, accuracy, high_a

    def start(self, seconds):
        self._seconds = seconds

    def finish(self):
        at_s = np.arange(round(self._seconds * 1000)) / 1000
        middle = abs(at_s - self._seconds / 2) < self._seconds / 4
        current_a = np.where(middle, self._high_a, 0.001)
        return Samples(at_s, current_a, 1e-3, self._supply_v, Accuracy(self._accuracy, 0.0))


High = Annotated[float, Option("--high", "Its current when on.", "0.1", unit="A", low=0, high=1)]


def open_meter(supply_v: float, accuracy: StatedAccuracy, high_a: High = 0.1) -> Square:
    """One specimen."""
    return Square(supply_v, accuracy, high_a)
'''


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (tmp_path / "meters").mkdir()
    (tmp_path / "simulated").mkdir()
    (tmp_path / "meters" / "square_wave.py").write_text(METER)
    return tmp_path


def at(lab: Path, *arguments: str, code: int = 0) -> Printed:
    return by_itself(*arguments, code=code, folder=lab, JOULEMARK_INSTRUMENTS=str(lab))


def test_a_meter_is_one_file_of_a_lab(lab: Path) -> None:
    listed = at(lab, "list", "meters").stdout
    (row,) = (line for line in listed.splitlines() if line.startswith("square-wave "))
    assert row.split()[1:3] == ["--accuracy", "--high"]
    told = at(lab, "energy", "--meter", "square-wave", "--help").stdout
    assert "--high A" in told
    assert "Its current when on." in told
    measure = ("energy", "--meter", "square-wave", "--supply-v", "2", "--accuracy", "0.01")
    measured = at(lab, *measure, "--runs", "2", "--high", "0.101").stdout
    # 2 V x 100 mA x 5 s
    assert re.search(r"^net: 99\d{4} uJ \+- |^net: 1e\+06 uJ \+- ", measured, re.MULTILINE)
    refused = at(lab, *measure, "--high", "2", code=3).stderr
    assert "--high: 2 is out of range; such as 0.1" in refused
    # It does not have another meter's options.
    assert "No such option: --range" in at(lab, *measure, "--range", "1", code=2).stderr
    assert "no such meter: square-wave" in joulemark(*measure, code=3).stderr


def test_a_lab_s_file_or_folder_that_is_wrong(lab: Path) -> None:
    (lab / "meters" / "broken.py").write_text("def open_meter(:\n")
    refused = at(lab, "energy", "--meter", "broken", code=3).stderr
    assert re.search(r"meters/broken.py: cannot be loaded: SyntaxError: .*; mend it", refused)
    nowhere = str(lab / "nowhere")
    refused = by_itself("energy", "--meter", "ppk2", code=3, JOULEMARK_INSTRUMENTS=nowhere).stderr
    assert "nowhere: is no folder; name a folder" in refused


DRIVER = '''"""Drives the lab's multimeter."""

from joulemark.meters import CurrentRange, Specification
from joulemark.meters.options import Resource
from joulemark.meters.scpi.multimeter import Multimeter
from joulemark.meters.scpi.session import Session


class LabMeter(Multimeter):
    """One specimen."""

    most = 50_000
    interval_s = 2e-3

    def __init__(self, resource, supply_v):
        session = Session(resource, "LM1")
        chosen = CurrentRange(10e-3, 0.05e-2, 0.02e-2, 5.0)
        super().__init__(session, supply_v, 10e-3, chosen.accuracy)
        self.specification = Specification("LM1", "this test", 500, "4.5 digits")
        session.command("*RST", "CONF:CURR:DC 0.01", "CURR:DC:NPLC 0.02", "ZERO:AUTO OFF")

    def _trigger(self):
        self._session.write("READ?")

    def _readings(self, count):
        return self._session.read(count * self.interval_s * 1e3 + 5000)


def open_meter(resource: Resource, supply_v: float) -> LabMeter:
    """One specimen."""
    return LabMeter(resource, supply_v)
'''

TWIN = '''"""Simulates the lab's multimeter."""

from joulemark.simulated.instruments.agilent_34401a import SimulatedAgilent34401A
from joulemark.simulated.instruments.scpi import ScpiServer


class SimulatedLabMeter(SimulatedAgilent34401A):
    """One specimen."""

    identity = "LAB,LM1,0,1"


def plug_in(line, seed):
    """One specimen on a TCP port."""
    return ScpiServer(SimulatedLabMeter(line, seed), "lab", "LM1, --meter lab-meter")
'''


@pytest.mark.slow
def test_an_instrument_and_its_simulation_are_a_file_each(lab: Path) -> None:
    """The bench plugs in the simulation, and the driver measures with it."""
    (lab / "meters" / "lab_meter.py").write_text(DRIVER)
    (lab / "simulated" / "lab_meter.py").write_text(TWIN)
    image = ("--primitive", "aes-128", "--implementation", "msp430", "--board", "telosb")
    bench = subprocess.Popen(
        [
            *(sys.executable, "-uc", "from joulemark.cli import main; main()", "bench", *image),
            *("--seconds", "300"),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "JOULEMARK_INSTRUMENTS": str(lab)},
    )
    try:
        assert bench.stdout is not None
        shown: dict[str, str] = {}
        for line in bench.stdout:
            role, _, rest = line.partition(":")
            shown[role] = rest.split()[0]
            if role == "lab":
                break
        assert shown["lab"].startswith("TCPIP::127.0.0.1::")
        done = at(
            lab,
            *("run", "--runner", "serial", "--port", shown["serial"], "--meter", "lab-meter"),
            *("--resource", shown["lab"], *image, "--opt", "O3", "--operation", "encrypt"),
            *("--size", "16", "--runs", "2"),
        )
    finally:
        bench.kill()
        bench.wait()
    assert "measured 1, served from the store: 0 of 1" in done.stdout
    assert re.search(r"aes-128/msp430 encrypt 16 B: gross: [0-9.]+ uJ \+- ", done.stdout)
