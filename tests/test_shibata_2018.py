"""The SensorTag of shibata-2018: tables I, II and VIII from its data, as boards hold it."""

import pytest

from joulemark import datafile
from joulemark.boards import Activity, Load, Radio
from joulemark.project import ROOT


class Sections(datafile.DataModel):
    radio: Radio
    load: list[Load]
    activity: list[Activity]


DATA = datafile.read(ROOT / "studies/shibata-2018/sensortag.toml", Sections)
LOADS = {load.name: load for load in DATA.load}
ACTIVITIES = {activity.name: activity for activity in DATA.activity}

# Typed off the paper's tables, apart from the data: mA.
TABLE_I = """
idle            0.0258 0.0009
busy            8.56   0.03
mpu9250-on      0.181  0.003
serial-on       0.105  0.002
buzzer-625hz    44.9   0.1
buzzer-2500hz   22.31  0.01
buzzer-5000hz   22.35  0.01
buzzer-10000hz  22.33  0.01
buzzer-20000hz  21.94  0.01
red-led         1.402  0.009
green-led       2.72   0.01
both-leds       4.100  0.009
"""
# ms, mJ, executions
TABLE_II = """
battery-voltage     13.0    0.3  0.111 0.003 16000
ntc-temperature     25.1    0.3  0.207 0.002 16000
mpu9250-cold-start  92.2    0.1  0.851 0.004 1
tmp007              282     2    0.20  0.03  1
hdc1000-measurement 2468.05 0.03 9.7   0.7   100
hdc1000-read        216.8   0.5  0.156 0.003 1000
"""
# ms, uJ
TABLE_VIII = """
transmit          111.986 0.008 3320 10
rx                3.9     0.2   84   5
rx-just-receiving 5       1     100  30
"""


def lines(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()]


@pytest.mark.parametrize("row", lines(TABLE_I), ids=lambda r: r[0])
def test_table_i(row: list[str]) -> None:
    load = LOADS[row[0]]
    assert load.source == "shibata-2018, table I"
    assert load.grade == "measured"
    assert load.uncertainty_a is not None
    assert (load.ampere * 1e3, load.uncertainty_a * 1e3) == pytest.approx(
        (float(row[1]), float(row[2]))
    )


@pytest.mark.parametrize(
    ("table", "row"),
    [("II", row) for row in lines(TABLE_II)] + [("VIII", [*r, "1"]) for r in lines(TABLE_VIII)],
    ids=lambda v: v if isinstance(v, str) else v[0],
)
def test_tables_ii_and_viii(table: str, row: list[str]) -> None:
    activity = ACTIVITIES[row[0]]
    assert activity.source == f"shibata-2018, table {table}"
    assert activity.executions == int(row[5])
    per_joule = 1e3 if table == "II" else 1e6
    assert activity.time_uncertainty_s is not None
    assert activity.energy_uncertainty_j is not None
    found = (
        activity.time_s * 1e3,
        activity.time_uncertainty_s * 1e3,
        activity.energy_j * per_joule,
        activity.energy_uncertainty_j * per_joule,
    )
    assert found == pytest.approx(tuple(map(float, row[1:5])))


def test_names_are_stated_once() -> None:
    assert len(LOADS) == len(DATA.load)
    assert len(ACTIVITIES) == len(DATA.activity)
