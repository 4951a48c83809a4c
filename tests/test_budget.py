"""Budgets: papers' figures from board data, arithmetic against closed forms, errors."""

import math
import re
import shlex
from pathlib import Path

import pytest

from command import joulemark
from joulemark import boards, datafile, scenario
from joulemark.budget import DAY_S, Store, airtime_s, best, budget, lifetime_s, variants
from joulemark.errors import InputError
from joulemark.project import ROOT
from joulemark.scenario import Battery, Scenario

SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
NO_STORE = Store([], "no store")
TELOSB = boards.load_board("telosb")
NOMINAL = {
    "title": "test",
    "board": "telosb",
    "tolerance": 0.0,
    "battery": {
        "capacity_ah": 1.0,
        "capacity_tolerance": 0.0,
        "capacity_to_v": 2.1,
        "cutoff_v": 2.1,
        "self_discharge_per_year": 0.0,
        "source": "none: a round number",
    },
}


def make(**changes: object) -> Scenario:
    return Scenario.model_validate(NOMINAL | changes)


# daidone-2014, table III and IV: extra bytes, microseconds, nanojoule at 31.32 mW, which is the
# CC2420's 17.4 mA at 1.8 V.
DAIDONE = [
    (93, 2976, 93208.32),
    (1, 32, 1002.24),
    (8, 256, 8017.92),
    (20, 640, 20044.8),
    (28, 896, 28062.72),
    (16, 512, 16035.84),
    (47, 1504, 47105.28),
]


@pytest.mark.parametrize(("extra_bytes", "microseconds", "nanojoule"), DAIDONE)
def test_communication_cost_is_that_of_daidone_2014(
    extra_bytes: int, microseconds: float, nanojoule: float
) -> None:
    assert TELOSB.radio is not None
    seconds = airtime_s(extra_bytes, TELOSB.radio.bit_rate_hz.value)
    transmitting = best(TELOSB.radio.state, "tx-0dbm", "radio state", TELOSB)
    assert seconds * 1e6 == pytest.approx(microseconds)
    assert 1.8 * transmitting.ampere * seconds * 1e9 == pytest.approx(nanojoule)


def test_an_idle_device_lives_as_long_as_its_charge_lasts_asleep() -> None:
    base = budget(make(), NO_STORE)
    assert base.current_a.value == pytest.approx(5.1e-6)
    assert base.lifetime_days.value == pytest.approx(1.0 / 5.1e-6 / 24)
    assert base.lifetime_days.half_width_95 == 0


def test_parts_are_power_times_time_and_add_up() -> None:
    radio = {"transmit": "tx-0dbm", "listen_s": 2e-3}
    message = {"every_s": 10.0, "payload_bytes": 8, "security_bytes": 28, "retransmissions": 0.5}
    base = budget(
        make(radio=radio, message=[message], sense=[{"activity": "humidity", "every_s": 60.0}]),
        NO_STORE,
    )
    plain_c = 17.4e-3 * 8 * (17 + 8) / 250e3 + 18.8e-3 * 2e-3
    assert base.parts_a["radio"].value == pytest.approx(1.5 * plain_c / 10)
    extra_c = 17.4e-3 * 8 * 28 / 250e3
    assert base.parts_a["security bytes"].value == pytest.approx(1.5 * extra_c / 10)
    assert base.parts_a["sensing"].value == pytest.approx(132e-6 / 3.0 / 60)
    assert base.current_a.value == pytest.approx(sum(p.value for p in base.parts_a.values()))
    assert sum(base.share(p) for p in base.parts_a) == pytest.approx(1.0)


def test_what_is_uncertain_twice_counts_once() -> None:
    """The battery's and the sleep current's bounds combine as GUM 5.1.2 says."""
    battery = {**NOMINAL["battery"], "capacity_tolerance": 0.1}  # type: ignore[dict-item]
    base = budget(make(tolerance=0.2, battery=battery), NO_STORE)
    relative = base.lifetime_days.half_width_95 / base.lifetime_days.value
    assert relative == pytest.approx(1.95996 * math.hypot(0.1, 0.2) / math.sqrt(3), rel=1e-4)


def test_self_discharge_alone_takes_the_stated_fraction_a_year() -> None:
    """The closed form against a summation in small steps."""
    battery = Battery.model_validate({**NOMINAL["battery"], "self_discharge_per_year": 0.05})  # type: ignore[dict-item]
    ampere = 50e-6
    left_c, days = 3600.0, 0
    rate = -math.log1p(-0.05) / 365.25
    while left_c > 0:
        left_c -= ampere * DAY_S + rate * left_c
        days += 1
    assert lifetime_s(battery, ampere) / DAY_S == pytest.approx(days, abs=2)


def test_a_cut_off_above_the_stated_end_leaves_charge_behind() -> None:
    curve = [[3.0, 0.0], [2.0, 1.0]]
    values = {**NOMINAL["battery"], "capacity_to_v": 2.0, "cutoff_v": 2.25, "curve": curve}  # type: ignore[dict-item]
    assert Battery.model_validate(values).usable_ah == pytest.approx(0.75)


def test_variants_change_one_thing_at_a_time() -> None:
    chosen = make(
        radio={"transmit": "tx-0dbm"},
        message=[{"every_s": 10.0, "payload_bytes": 8, "security_bytes": 28}],
        what_if={"security_bytes": [8], "transmit": ["tx-25dbm"], "message_every_s": [20.0]},
    )
    base = budget(chosen, NO_STORE)
    by_label = {v.label: v.budget.parts_a for v in variants(chosen, NO_STORE, base)}
    assert list(by_label) == [
        "no security",
        "8 security bytes",
        "a message every 20 s",
        "radio: tx-25dbm",
    ]
    extra = base.parts_a["security bytes"].value
    assert by_label["no security"]["security bytes"].value == 0
    assert by_label["8 security bytes"]["security bytes"].value == pytest.approx(extra * 8 / 28)
    assert by_label["a message every 20 s"]["radio"].value == pytest.approx(
        base.parts_a["radio"].value / 2
    )
    assert by_label["radio: tx-25dbm"]["radio"].value == pytest.approx(
        base.parts_a["radio"].value * 8.5 / 17.4
    )


WRONG = [
    ({"sense": [{"activity": "humdity", "every_s": 1.0}]}, "has no activity humdity.*humidity"),
    ({"load": [{"name": "led"}]}, "has no load led; there are sht11-standby"),
    ({"sleep": {"state": "lpm9"}}, "has no power state lpm9; it has"),
    (
        {
            "radio": {"transmit": "tx-0dbm"},
            "message": [{"every_s": 1.0, "payload_bytes": 100, "security_bytes": 17}],
        },
        "at most 116 bytes of payload and security, not 117",
    ),
    ({"radio": {"transmit": "tx-0dbm", "checks_per_s": 2.0}}, "without check_s"),
    (
        {
            "radio": {"transmit": "tx-0dbm"},
            "message": [
                {
                    "every_s": 1.0,
                    "payload_bytes": 8,
                    "protection": [
                        {"primitive": "skipjack", "operation": "encrypt", "message_bytes": 8}
                    ],
                }
            ],
        },
        "was not measured on telosb.*joulemark run --board telosb --clock max --primitive skipjack "
        "--operation encrypt --size 8",
    ),
]


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_what_does_not_exist_is_one_clear_error(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        budget(make(**changes), NO_STORE)


def test_a_wrong_key_names_the_file_and_the_key(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(SCENARIOS[0].read_text() + "\n[what_if_not]\n")
    with pytest.raises(InputError, match=r"wrong\.toml, key what_if_not: unknown key"):
        scenario.read(path)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda p: p.stem)
def test_shipped_scenarios_are_right(path: Path) -> None:
    datafile.read(path, Scenario)


def _masked(text: str) -> list[str]:
    """Lines without their numbers, which follow the firmware, and without the width of columns."""
    lines = [re.sub(r"[-+]?[\d.,]+(e[-+]?\d+)?", "#", line) for line in text.splitlines()]
    return [" ".join(line.split()) for line in lines if line.strip()]


def test_the_page_of_the_docs_shows_what_its_commands_print(tmp_path: Path) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / "docs/budget.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        command, _, shown = block.partition("\n")
        program, *arguments = shlex.split(command.removeprefix("$ "))
        assert program == "joulemark"
        printed = joulemark(*arguments, folder=tmp_path).stdout
        if shown:
            assert _masked(printed) == _masked(shown)
    page = (tmp_path / "results/budget-telosb-aead.html").read_text()
    assert "security processing" in page
    assert "vegaEmbed(" in page
