"""shibata-2018's SensorTag: its tables, typed again, in the study and in the board's file."""

from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

import pytest

from joulemark.analysis.budget import best
from joulemark.catalogue import boards
from joulemark.catalogue.boards import Load, StatedCurrent
from joulemark.measure.pool import Processes
from joulemark.records.store import Store
from joulemark.studies.study import load
from joulemark.studies.ways import Bench, program

BOARD = boards.load_board("sensortag-cc2650")
ITEMS = {item.id: item for item in load("shibata-2018").items}
CURRENTS: dict[str, StatedCurrent | Load] = {
    **{c.state: c for c in BOARD.current if c.source.endswith("table I")},
    **{load.name: load for load in BOARD.load if load.grade == "measured"},
}
ACTIVITIES = {a.name: a for a in BOARD.activity if a.grade == "measured"}

# Typed from the paper's tables, independently of the data: mA.
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


ROWS_I = dict(
    zip(
        (name for name in ITEMS if name.endswith("_current")),
        lines(TABLE_I),
        strict=True,
    )
)


class Row(NamedTuple):
    """A row of tables II to VIII: seconds and joules, each with its interval."""

    table: str
    name: str
    figures: list[float]
    executions: int


def rows(table: str, name: str, per_second: float, per_joule: float) -> list[Row]:
    """Return the rows of a table that is typed above; without a name, each row has its own."""
    factors = (per_second, per_second, per_joule, per_joule)
    found = []
    for line in lines(table):
        own, row, *rest = line if not name else [name, *line]
        figures = [float(f) / factor for f, factor in zip(rest[:4], factors, strict=True)]
        found.append(Row(own, row, figures, int(rest[4]) if len(rest) > 4 else 1))
    return found


ROWS = [
    *rows(TABLE_II, "II", 1e3, 1e3),
    *rows(TABLE_III, "III", 1e3, 1e3),
    *rows(TABLES_IV_TO_VII, "", 1e6, 1e6),
    *rows(TABLE_VIII, "VIII", 1e3, 1e6),
]
IN_BOARD = [row for row in ROWS if row.table in ("II", "III", "VIII")]


@pytest.mark.parametrize("item", ROWS_I)
def test_table_i(item: str) -> None:
    name, *figures = ROWS_I[item]
    current = CURRENTS[name]
    assert current.source == "shibata-2018, table I"
    assert current.grade == "measured"
    ampere = [float(figure) / 1e3 for figure in figures]
    assert [current.ampere, current.uncertainty_a] == pytest.approx(ampere)
    assert [ITEMS[item].value, ITEMS[item].uncertainty] == pytest.approx(ampere)


def cells(table: str) -> list[str]:
    """Return the study's rows of a table, in order."""
    section = f"table-{table.lower()}"
    names = [n for n, i in ITEMS.items() if i.section.name == section and not i.beyond]
    return [n.removesuffix("_time") for n in names if n.endswith("_time")]


@pytest.mark.parametrize("table", ["II", "III", "IV", "V", "VI", "VII", "VIII"])
def test_tables_ii_to_viii(table: str) -> None:
    of_table = [row for row in ROWS if row.table == table]
    for name, row in zip(cells(table), of_table, strict=True):
        time, energy = ITEMS[f"{name}_time"], ITEMS[f"{name}_energy"]
        assert time.executions == energy.executions == row.executions
        found = [time.value, time.uncertainty, energy.value, energy.uncertainty]
        assert found == pytest.approx(row.figures), name


@pytest.mark.parametrize("row", IN_BOARD, ids=lambda r: r.name)
def test_the_boards_file_has_what_other_parts_use(row: Row) -> None:
    activity = ACTIVITIES[row.name]
    assert activity.source == f"shibata-2018, table {row.table}"
    assert activity.executions == row.executions
    found = [
        activity.time_s,
        activity.time_uncertainty_s,
        activity.energy_j,
        activity.energy_uncertainty_j,
    ]
    assert found == pytest.approx(row.figures)


def test_nothing_else_is_said_to_be_the_papers() -> None:
    sources = [c.source for c in CURRENTS.values()] + [a.source for a in ACTIVITIES.values()]
    of_tables = [s for s in sources if s.startswith("shibata-2018, table")]
    assert len(of_tables) == len(lines(TABLE_I)) + len(IN_BOARD)


def test_sending_costs_366_times_as_much_as_encrypting() -> None:
    sending, encrypting = ITEMS["tx_energy"].value, ITEMS["lettersoup_encrypt_energy"].value
    assert sending is not None
    assert encrypting is not None
    assert round(sending / encrypting) == 366


def test_the_current_while_computing_is_that_of_its_energies() -> None:
    """Table I's busy current would make every operation of tables III to VII 2.5 times as dear."""
    computing = BOARD.current[0]
    (asleep,) = (c for c in BOARD.current if c.state == "standby")
    operations = [name for table in ("III", "IV", "V", "VI", "VII") for name in cells(table)]
    net_a = [
        (ITEMS[f"{n}_energy"].value or 0) / (ITEMS[f"{n}_time"].value or 1) / BOARD.supply_v.value
        for n in operations
    ]
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


@pytest.mark.parametrize(
    ("sensing", "ticks", "sensor_j"),
    [
        (1, 8 + 5, 3.0 * 3.4e-3 * 35e-3),
        (3, 36, 3.0 * 270e-6 * 0.26),
        (4, 3, 3.0 * 155e-6 * 12.85e-3),
    ],
)
def test_a_sensor_takes_as_long_as_its_driver_waits_and_what_it_draws(
    sensing: int, ticks: int, sensor_j: float, tmp_path: Path
) -> None:
    time, energy = (
        program.Asked(
            board="sensortag-cc2650",
            program="sensing",
            define=f"SENSING={sensing}",
            compiler="gcc",
            opt="Os",
            metric=metric,
        )
        for metric in ("time", "energy_net")
    )
    with Store(tmp_path / "store.db") as store:
        answers = program.obtain([time, energy], Bench(store=store, workers=Processes(1)))
    time_s, energy_j = answers[time].value, answers[energy].value
    assert time_s is not None, answers[time].how
    assert energy_j is not None, answers[energy].how
    # The transfers behind the last tick take some tenths of a millisecond.
    assert ticks / 128 < time_s < ticks / 128 + 1e-3
    assert energy_j > sensor_j
