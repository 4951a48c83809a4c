"""The SensorTag of shibata-2018: its tables, from the data of the board's file and of the study."""

from statistics import fmean, stdev

import pytest

from joulemark.analysis.budget import best
from joulemark.catalogue import boards, datafile
from joulemark.catalogue.boards import Activity, Load, StatedCurrent
from joulemark.project import ROOT


class Sections(datafile.DataModel):
    activity: list[Activity]


BOARD = boards.load_board("sensortag-cc2650")
STUDY = datafile.read(ROOT / "studies/shibata-2018/sensortag.toml", Sections)
CURRENTS: dict[str, StatedCurrent | Load] = {
    **{c.state: c for c in BOARD.current if c.source.endswith("table I")},
    **{load.name: load for load in BOARD.load if load.grade == "measured"},
}
MEASURED = [a for a in (*BOARD.activity, *STUDY.activity) if a.grade == "measured"]
ACTIVITIES = {activity.name: activity for activity in MEASURED}

# Typed off the paper's tables, apart from the data: mA.
TABLE_I = """
standby         0.0258 0.0009
active          8.56   0.03
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
# ms, mJ, executions
TABLE_III = """
hash-80                      111.998 0.006 1.1552 0.004 1000
point-addition-80            115.2   0.1   1.1843 0.005 200
point-multiplication-80      241     1     2.48   0.01  1
generator-multiplication-80  114     5     1.17   0.05  1
hash-128                     137.4   0.6   1.4168 0.005 1000
point-addition-128           1800    12    18.5   0.1   200
point-multiplication-128     2193    7     22.5   0.1   1
generator-multiplication-128 1072    43    11.0   0.5   1
"""
# ms, uJ
TABLE_VIII = """
transmit          111.986 0.008 3320 10
rx                3.9     0.2   84   5
rx-just-receiving 5       1     100  30
"""
# us, uJ
TABLES_IV_TO_VII = """
IV  aes-init           21.5    0.2   0.224  0.001
IV  aes-encrypt        102.1   0.1   1.071  0.001
IV  aes-decrypt        102.2   0.2   1.073  0.001
IV  curupira-2-init    48.5    0.2   0.523  0.002
IV  curupira-2-encrypt 468     1     4.872  0.008
IV  curupira-2-decrypt 483.9   0.1   5.034  0.008
V   blake2s-init       23.2    0.2   0.241  0.001
V   blake2s-update     54.8    0.2   0.617  0.001
V   blake2s-final      60.4    0.2   0.6810 0.0007
V   keccak-init        109.9   0.2   1.034  0.003
V   keccak-update      991.4   0.2   10.38  0.02
V   keccak-final       1.31    0.01  0.0127 0.0001
VI  lettersoup-init    191     2     2.00   0.02
VI  lettersoup-encrypt 867.99  0.01  9.07   0.01
VI  lettersoup-decrypt 867.96  0.04  9.08   0.01
VI  ocb-init           199     2     2.03   0.02
VI  ocb-encrypt        985     2     10.13  0.02
VI  ocb-decrypt        987     2     10.15  0.02
VII marvin-init        294.4   0.3   2.857  0.005
VII marvin-update      417.993 0.003 4.063  0.004
VII marvin-final       370.654 0.007 3.589  0.003
VII hmac-init          204.3   0.3   2.153  0.003
VII hmac-update        88.5    0.3   0.924  0.003
VII hmac-final         240.1   0.3   2.504  0.003
"""


def lines(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()]


# Table, name, four figures, executions; and how many of its units are a second and a joule.
ROWS = [
    *(("II", *r, 1e3, 1e3) for r in lines(TABLE_II)),
    *(("III", *r, 1e3, 1e3) for r in lines(TABLE_III)),
    *((*r, "1", 1e6, 1e6) for r in lines(TABLES_IV_TO_VII)),
    *(("VIII", *r, "1", 1e3, 1e6) for r in lines(TABLE_VIII)),
]


@pytest.mark.parametrize("row", lines(TABLE_I), ids=lambda r: r[0])
def test_table_i(row: list[str]) -> None:
    current = CURRENTS[row[0]]
    assert current.source == "shibata-2018, table I"
    assert current.grade == "measured"
    assert current.uncertainty_a is not None
    found = current.ampere * 1e3, current.uncertainty_a * 1e3
    assert found == pytest.approx((float(row[1]), float(row[2])))


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r[0]}-{r[1]}")
def test_tables_ii_to_viii(row: tuple[str, str, str, str, str, str, str, float, float]) -> None:
    table, name, *figures, executions, per_second, per_joule = row
    activity = ACTIVITIES[name]
    assert activity.source == f"shibata-2018, table {table}"
    assert activity.executions == int(executions)
    assert activity.time_uncertainty_s is not None
    assert activity.energy_uncertainty_j is not None
    found = (
        activity.time_s * per_second,
        activity.time_uncertainty_s * per_second,
        activity.energy_j * per_joule,
        activity.energy_uncertainty_j * per_joule,
    )
    assert found == pytest.approx(tuple(map(float, figures)))


def test_nothing_else_is_said_to_be_the_papers() -> None:
    sources = [c.source for c in CURRENTS.values()] + [a.source for a in MEASURED]
    of_tables = [s for s in sources if s.startswith("shibata-2018, table")]
    assert len(of_tables) == len(lines(TABLE_I)) + len(ROWS)
    assert len(ACTIVITIES) == len(MEASURED)


def test_sending_costs_366_times_as_much_as_encrypting() -> None:
    ratio = ACTIVITIES["transmit"].energy_j / ACTIVITIES["lettersoup-encrypt"].energy_j
    assert round(ratio) == 366


def test_the_current_while_computing_is_that_of_its_energies() -> None:
    """Table I's busy current would make every operation of tables III to VII 2.5 times as dear."""
    computing = BOARD.current[0]
    (asleep,) = (c for c in BOARD.current if c.state == "standby")
    net_a = [a.energy_j / a.time_s / BOARD.supply_v.value for a in MEASURED if a.kind == "security"]
    assert len(net_a) == 32
    assert computing.state == "active"
    assert computing.ampere == pytest.approx(fmean(net_a) + asleep.ampere, rel=1e-3)
    assert computing.uncertainty_a is not None
    assert computing.uncertainty_a == pytest.approx(1.96 * stdev(net_a), rel=0.03)
    assert CURRENTS["active"].ampere > 2.2 * max(net_a)


def test_measured_figures_go_before_those_of_data_sheets() -> None:
    """The multimeter saw the whole board at work: 15 times what the sensor's maker states."""
    measured = best(BOARD.activity, "hdc1000-measurement", "activity", BOARD)
    (stated,) = (a for a in BOARD.activity if a.name == measured.name and a.grade == "datasheet")
    assert measured.grade == "measured"
    ratio = measured.energy_j / measured.executions / stated.energy_j
    assert 14 < ratio < 16


def test_nothing_is_called_a_conversion_that_is_faster_than_the_adc() -> None:
    conversion_s = 1 / 200e3  # swrs158b, section 1.1: 200 ksamples/s
    for activity in BOARD.activity:
        if activity.description.endswith("by the ADC"):
            assert activity.time_s / activity.executions >= conversion_s, activity.name
