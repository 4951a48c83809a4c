"""Budgets: papers' figures from board data, arithmetic against closed forms, errors."""

import math
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from command import joulemark
from joulemark.analysis import scenario
from joulemark.analysis.budget import (
    DAY_S,
    Costs,
    Interval,
    ProtocolCost,
    Variant,
    airtime_s,
    best,
    budget,
    flash_size,
    key_of,
    lifetime_s,
    variants,
    warnings,
)
from joulemark.analysis.scenario import Battery, Scenario, Step
from joulemark.catalogue import boards, datafile
from joulemark.catalogue.boards import MCU
from joulemark.errors import InputError
from joulemark.meters.model import ModelMeter
from joulemark.project import ROOT
from joulemark.records.record import IN_STATE, PrimitiveRecord, Quantity
from made import made

SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
NO_STORE = Costs([], "no store")
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


# daidone-2014, tables III and IV: extra bytes, microseconds, and nanojoules at 31.32 mW, which is
# the CC2420's 17.4 mA at 1.8 V.
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


@pytest.mark.parametrize(("extra_bytes", "microseconds", "nanojoule"), DAIDONE)
def test_a_budgets_messages_cost_what_daidone_2014_says(
    extra_bytes: int, microseconds: float, nanojoule: float
) -> None:
    """At the board's 3.0 V instead of 1.8 V."""
    message = {"every_s": 60.0, "payload_bytes": 8, "security_bytes": extra_bytes}
    base = budget(make(radio={"transmit": "tx-0dbm"}, message=[message]), NO_STORE)
    (cost,) = base.messages
    assert cost.air_s * 1e6 == pytest.approx(microseconds)
    assert cost.air_j.value * 1e9 * 1.8 / 3.0 == pytest.approx(nanojoule)
    assert cost.processing_s == 0
    expected_a = cost.air_j.value / 3.0 / 60
    assert base.parts_a["security bytes"].value == pytest.approx(expected_a)


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
    """The bounds of the battery and of the sleep current combine as GUM 5.1.2 says."""
    battery = {**NOMINAL["battery"], "capacity_tolerance": 0.1}  # type: ignore[dict-item]
    base = budget(make(tolerance=0.2, battery=battery), NO_STORE)
    relative = base.lifetime_days.half_width_95 / base.lifetime_days.value
    assert relative == pytest.approx(1.95996 * math.hypot(0.1, 0.2) / math.sqrt(3), rel=1e-4)


def test_self_discharge_alone_takes_the_stated_fraction_a_year() -> None:
    """The closed form, against a summation in small steps."""
    battery = Battery.model_validate({**NOMINAL["battery"], "self_discharge_per_year": 0.4})  # type: ignore[dict-item]
    ampere = 50e-6
    left_c, days = 3600.0, 0
    rate = -math.log1p(-0.4) / 365.25
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
    by_label = {v.label: v.budget.parts_a for v in variants(chosen, NO_STORE, base)[0]}
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


def measured(primitive: str, time_ps: int, **changes: Any) -> PrimitiveRecord:
    """Make a record of 8 bytes without associated data on a TelosB."""
    values: dict[str, Any] = {
        **{"kind": "block-cipher", "operation": "encrypt", "message_bytes": 8},
        "energy_gross_nj": 1.0,
        "quantities": [Quantity(MCU, f"{IN_STATE}active", "ps", time_ps)],
    }
    return made(**{**values, "primitive": primitive, "time_ps": time_ps, **changes})


STEP = {"primitive": "skipjack", "operation": "encrypt", "message_bytes": 8}
SECURED = {
    "radio": {"transmit": "tx-0dbm"},
    "message": [{"every_s": 10.0, "payload_bytes": 8, "protection": [STEP]}],
}


def test_processing_is_time_at_the_currents_of_the_boards_file() -> None:
    """Of the fastest implementation; a record's energy from older currents is not used."""
    costs = Costs([measured("skipjack", 9 * 10**9), measured("skipjack", 2 * 10**9)], "store")
    base = budget(make(**SECURED), costs)
    active_a = ModelMeter(TELOSB).current("active", 8_000_000).ampere
    expected_a = (active_a - 5.1e-6) * 2e-3 / 10
    assert base.parts_a["security processing"].value == pytest.approx(expected_a)


def test_an_instruments_energy_is_taken_as_it_is() -> None:
    record = measured("skipjack", 2 * 10**9, meter="ppk2", energy_gross_nj=30_000.0)
    base = budget(make(**SECURED), Costs([record], "store"))
    expected_w = (30e-6 - 3.0 * 5.1e-6 * 2e-3) / 10
    assert base.parts_a["security processing"].value == pytest.approx(expected_w / 3.0)


def test_a_life_beyond_the_batterys_own_is_in_years_and_warned_of() -> None:
    capacity = NOMINAL["battery"] | {"capacity_ah": 2.0}  # type: ignore[operator]
    short, long = (budget(make(battery=b), NO_STORE) for b in (NOMINAL["battery"], capacity))
    assert short.lifetime_days.value > 20 * 365.25
    assert short.lifetime_text.startswith(f"{short.lifetime_days.value / 365.25:.4g} years")
    (warning,) = warnings(short, [Variant("more", long, 1.0)])
    assert "as the scenario says, more" in warning
    small = budget(make(battery=capacity | {"capacity_ah": 0.01}), NO_STORE)
    assert not warnings(small, [])
    assert "days" in small.lifetime_text
    assert "e+" not in short.lifetime_text


def test_a_build_that_does_not_fit_the_chips_flash_is_not_chosen() -> None:
    step = Step.model_validate(STEP)
    size = flash_size(TELOSB)
    assert 48 * 1024 <= size <= 49 * 1024
    store = Costs(
        [
            measured("skipjack", 1_000_000, implementation="large", flash_bytes=size + 1),
            measured("skipjack", 2_000_000, implementation="small", flash_bytes=size),
        ],
        "made",
    )
    assert store.find(step, TELOSB, "max").subject.implementation == "small"


def test_everything_that_was_not_measured_is_named_at_once() -> None:
    asked = make(
        **SECURED,
        handshake={"every_s": 60.0, "processing": [{"primitive": "sha-1", "operation": "hash"}]},
        what_if={"primitive": ["xtea", "aes-*", "skip*"]},
    )
    Costs([], "store").require(make())
    with pytest.raises(InputError) as caught:
        Costs([measured("skipjack", 1)], "the store").require(asked)
    assert caught.value.args
    message = str(caught.value)
    assert (
        "the store: not measured on telosb (max) by a build that keeps its secrets: aes-* encrypt, "
        "sha-1 hash, xtea encrypt" in (message)
    )
    start = "`joulemark run --board telosb --clock max "
    assert f"{start}--primitive sha-1 --operation hash --size 0 --ad-size 0`" in message
    both = "--primitive xtea --primitive 'aes-*' --operation encrypt --size 8 --ad-size 0`"
    assert start + both in message


@pytest.mark.parametrize(
    ("value", "half_width", "shown"),
    [
        (484.5, 113.0, ("480", "110")),
        (3884.0, 96.0, ("3884", "96")),
        (25.8, 0.9, ("25.80", "0.90")),
        (0.04133, 0.0099, ("0.0413", "0.0099")),
        (5.1, 0.0, ("5.1", "0")),
    ],
)
def test_figures_have_as_many_digits_as_are_known(
    value: float, half_width: float, shown: tuple[str, str]
) -> None:
    assert Interval(value, half_width).rounded() == shown
    assert Interval(value * 1e-6, half_width * 1e-6).rounded(1e6) == shown


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
        "was not measured on telosb.*keeps its secrets.*joulemark run --board telosb --clock max "
        "--primitive skipjack --operation encrypt --size 8",
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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "capacity_ah = 2.0",
            "capacity_ah = -2.0",
            "key battery.capacity_ah: must be at least 1e-09",
        ),
        ("capacity_ah = 2.0", "capacity_ah = inf", "key battery.capacity_ah: .*"),
        (
            "capacity_ah = 2.0",
            "capacity_ah = 1e308",
            "key battery.capacity_ah: must be at most 1000",
        ),
        ("check_s = ", "check_s = inf # ", "key radio.check_s: "),
        ("message_every_s = [", "message_every_s = [1e-308, ", "key what_if.message_every_s.0: "),
        ("cutoff_v = 2.1", "cutoff_v = 1.0", "key battery: .*below capacity_to_v"),
        ("curve = ", "# curve = ", "key battery: .*curve has to say how much is left"),
        ("[1.6, 1.0]]", "[1.6, 1.7]]", "key battery: .*rise within 0 to 1"),
        ("every_s = 600.0", "every_s = 0.0", "key sense.0.every_s: must be at least 1e-09"),
        ("every_s = 600.0", 'every_s = "often"', "key sense.0.every_s: must be a number"),
        ("payload_bytes = 40", "payload_bytes = 99999", "key message.0.payload_bytes"),
        ('operation = "encrypt"\n', "", "key message.0.protection.0: .*needs an operation"),
        ('primitive = "aes-128-ccm"\n', "", "key message.0.protection.0: .*one of them"),
        ("retransmissions = 0.1", "retries = 0.1", "key message.0.retries: unknown key"),
        ('board = "telosb"\n', "", "key board: this key is missing"),
        ("tolerance = 0.2", "tolerance = 2", "key tolerance: .*less than 1"),
        ("[radio]", "[radio", "is not TOML"),
    ],
)
def test_wrong_scenarios_name_the_file_and_the_key(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    text = (ROOT / "scenarios" / "telosb-aead.toml").read_text()
    assert old in text
    path = tmp_path / "wrong.toml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message) as caught:
        scenario.read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_one_clear_error(tmp_path: Path, text: bytes | None) -> None:
    path = tmp_path / "scenario.toml"
    if text is not None:
        path.write_bytes(text)
    shown = joulemark("budget", str(path), folder=tmp_path, code=3).stderr
    assert re.search(r"scenario.toml: (cannot be read: No such file|is not UTF-8 text)", shown)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [path for path in SCENARIOS if scenario.read(path).protocol is None],
    ids=lambda p: p.stem,
)
def test_shipped_scenarios_measure_what_they_need(path: Path, tmp_path: Path) -> None:
    asked = ["budget", path.stem]
    shown = joulemark(*asked, "--stored", folder=tmp_path, code=3).stderr
    assert re.findall(r"`joulemark (run [^`]*)`", shown)
    printed = joulemark(*asked, folder=tmp_path).stdout
    assert joulemark(*asked, "--stored", folder=tmp_path).stdout == printed
    chosen = datafile.read(path, Scenario)
    assert printed.startswith(f"{chosen.title} ({chosen.board})")
    table = printed.partition("share")[2].partition("average")[0]
    parts = [float(s) for s in re.findall(r"([\d.]+)%", table)]
    assert sum(parts) == pytest.approx(100, abs=0.05)
    for word in ("no security", "security processing", "security bytes", "lifetime: "):
        assert word in printed
    for value in (*chosen.what_if.primitive, *chosen.what_if.transmit):
        assert value in printed


def _masked(text: str) -> list[str]:
    """Return the lines without numbers that depend on the firmware, and without column widths."""
    text = re.sub(r"\(\S+, \w+ -O\w; emulated\)", "(emulated)", text)
    lines = [re.sub(r"[-+]?[\d.,]+(e[-+]?\d+)?", "#", line) for line in text.splitlines()]
    return [" ".join(line.split()) for line in lines if line.strip()]


def _holds_what_the_page_says_of_it(printed: str) -> None:
    share = {
        part: float(percent)
        for part, percent in re.findall(r"^([a-z ]+?) +[\d.]+ +[\d.]+ +([\d.]+)%$", printed, re.M)
    }
    assert share["radio"] > 50
    assert share["loads"] > 0.8 * (100 - share["radio"])
    assert share["security processing"] + share["security bytes"] + share["handshake"] < 0.1


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
        if "sensortag" in command and shown:
            _holds_what_the_page_says_of_it(printed)
    page = (tmp_path / "results/budget-telosb-aead.html").read_text()
    assert "security processing" in page
    assert "vegaEmbed(" in page


def test_what_a_step_demands_of_its_build(tmp_path: Path) -> None:
    def cost(**given: object) -> PrimitiveRecord:
        values: dict[str, object] = {
            "primitive": "aes-128",
            "kind": "block-cipher",
            "operation": "encrypt",
        }
        values |= {"message_bytes": 16, "energy_gross_nj": 1, "trials": 8, "addresses_equal": True}
        return made(**(values | {"cycles": 1, "secret_independent": True} | given))

    costs = Costs(
        [
            cost(time_ps=1, flash_bytes=9000, implementation="fast", secret_independent=False),
            cost(time_ps=2, flash_bytes=5000, implementation="leaky", addresses_equal=False),
            cost(time_ps=3, flash_bytes=4000, implementation="safe"),
            cost(time_ps=4, flash_bytes=2000, implementation="safe", optimisation="Os"),
        ],
        "store",
    )

    def taken(**demands: object) -> tuple[str, str | None]:
        step = Step(primitive="aes-128", operation="encrypt", message_bytes=16, **demands)  # type: ignore[arg-type]
        found = costs.find(step, TELOSB, "max")
        return found.subject.implementation, found.build.optimisation if found.build else None

    assert taken() == ("safe", "O3")
    assert taken(secret_independent=False) == ("fast", "O3")
    assert taken(optimisation="Os") == ("safe", "Os")
    assert taken(max_flash_bytes=5000, secret_independent=False) == ("leaky", "O3")
    assert taken(max_flash_bytes=3000) == ("safe", "Os")
    with pytest.raises(InputError, match=r"within 100 bytes of flash.*--opt O3 --opt O2 --opt Os"):
        taken(max_flash_bytes=100)
    with pytest.raises(ValueError, match="how it is built is a primitive's to say"):
        Step(activity="light", secret_independent=True)


def test_a_scenario_of_no_name_says_what_there_is(tmp_path: Path) -> None:
    shown = joulemark("budget", "telosb-aed", folder=tmp_path, code=3).stderr
    assert "did you mean telosb-aead" in shown


def test_a_protocol_is_paid_for_by_its_handshakes_and_records() -> None:
    speaks = {"name": "p", "handshakes_per_day": 2.0, "records_per_hour": 6.0}
    asked = make(
        protocol=speaks,
        what_if={"protocol": ["q"], "loss": [0.2], "records_per_hour": [60.0]},
    )
    cost = ProtocolCost(0.5, Interval(3e-3, 0.0), 0.01, Interval(2e-4, 0.0))
    dear = ProtocolCost(0.5, Interval(6e-3, 0.0), 0.01, Interval(4e-4, 0.0))
    costs = {
        key_of(use): dear if use.name == "q" or use.loss else cost for use in asked.protocols()
    }
    known = Costs([], "no store", costs)
    base = budget(asked, known)
    idle_w = 5.1e-6 * 3.0
    watt = 2 / DAY_S * (3e-3 - 0.5 * idle_w) + 6 / 3600 * (2e-4 - 0.01 * idle_w)
    assert base.parts_a["protocol"].value == pytest.approx(watt / 3.0)
    assert base.current_a.value == pytest.approx(5.1e-6 + watt / 3.0)
    labels = {variant.label: variant.budget for variant in variants(asked, known, base)[0]}
    assert set(labels) == {"q for p", "20% of the frames lost", "60 records an hour"}
    watt = 2 / DAY_S * (3e-3 - 0.5 * idle_w) + 60 / 3600 * (2e-4 - 0.01 * idle_w)
    assert labels["60 records an hour"].parts_a["protocol"].value == pytest.approx(watt / 3.0)
    assert labels["q for p"].parts_a["protocol"].value > base.parts_a["protocol"].value


def test_changes_of_a_protocol_need_one() -> None:
    with pytest.raises(ValueError, match=r"need \[protocol\]"):
        make(what_if={"loss": [0.2]})


def test_a_shipped_scenario_runs_its_protocol(tmp_path: Path) -> None:
    text = (ROOT / "scenarios/nrf52840-protocol.toml").read_text()
    text = text[: text.index("[what_if]")]
    (tmp_path / "short.toml").write_text(text)
    page = str(tmp_path / "page.html")
    shown = joulemark("budget", str(tmp_path / "short.toml"), "--out", page).stdout
    assert re.search(r"^protocol +0\.(09|1)", shown, re.M), shown
    assert "client's record, 0% lost" in shown
    refused = joulemark("budget", str(tmp_path / "short.toml"), "--stored", code=3)
    assert "a protocol is run each time" in refused.stderr


OFTEN = {"transmit": "tx-0dbm", "checks_per_s": 1e4, "check_s": 1e-3}
SENDS = {"transmit": "tx-0dbm"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"message": [{"every_s": 0.002, "payload_bytes": 100}], "radio": SENDS},
            r"its radio would take 1\d\d%",
        ),
        ({"sense": [{"activity": "temperature", "every_s": 0.01}]}, "temperature would take"),
        ({"radio": OFTEN}, "its radio would take 1000%"),
        (
            {"handshake": {"every_s": 0.001, "sent_bytes": [100]}, "radio": SENDS},
            r"its radio would take 3\d\d%",
        ),
    ],
)
def test_what_there_is_no_time_for_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        budget(make(**changes), NO_STORE)


def test_a_variant_that_there_is_no_time_for_is_left_out_and_named() -> None:
    message = {"every_s": 10.0, "payload_bytes": 8}
    asked = {"message_every_s": [0.0001, 60.0]}
    chosen = make(message=[message], radio=SENDS, what_if=asked)
    base = budget(chosen, NO_STORE)
    others, left_out = variants(chosen, NO_STORE, base)
    assert "a message every 60 s" in {v.label for v in others}
    (reason,) = left_out
    assert reason.startswith("a message every 0.0001 s does not fit: its radio would take ")
    assert f"left out: {reason}" in warnings(base, others, left_out)


def test_an_error_beyond_the_files_form_names_the_file_and_the_key(tmp_path: Path) -> None:
    path = tmp_path / "often.toml"
    text = (ROOT / "scenarios" / "telosb-aead.toml").read_text()
    path.write_text(text.replace("every_s = 600.0", "every_s = 0.01"))
    with pytest.raises(InputError, match=r"often\.toml, key sense\.every_s: does not fit"):
        budget(scenario.read(path), NO_STORE)
    path.write_text(f'{text}\n[sleep]\nstate = "lpm9"\n')
    with pytest.raises(InputError, match=r"often\.toml, key sleep\.state: .* no power state"):
        budget(scenario.read(path), NO_STORE)


def test_sleep_from_which_no_timer_may_wake_is_told() -> None:
    for board, deep, kept in (("nrf52840-dk", "system-off", "sleep"), ("telosb", "lpm4", "lpm3")):
        told = warnings(budget(make(board=board, sleep={"state": deep}), NO_STORE), [])
        assert any(f"it sleeps in {deep}, below {kept}, in which a timer" in line for line in told)
        told = warnings(budget(make(board=board, sleep={"state": kept}), NO_STORE), [])
        assert not any("sleeps in" in line for line in told)
