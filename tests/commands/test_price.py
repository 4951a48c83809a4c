"""What security costs on each board: the choice under each demand, and the page from records."""

from pathlib import Path

import pytest

from command import joulemark
from joulemark.analysis.price import DEMANDS, prices, sending_j
from joulemark.catalogue import boards
from joulemark.images.architectures import ARCHITECTURES
from joulemark.records.record import PrimitiveRecord
from joulemark.records.store import Store
from joulemark.report.price import gather, write_page
from made import made


def record(
    primitive: str, status: str, energy_nj: float, flash: int, **more: object
) -> PrimitiveRecord:
    return made(
        key=f"{primitive}{more}",
        primitive=primitive,
        subject_status=status,
        energy_net_nj=energy_nj,
        time_ps=int(energy_nj * 1e6),
        cycles=1000,
        flash_bytes=flash,
        secret_independent=more.pop("secret_independent", True),
        trials=2,
        addresses_equal=True,
        **more,
    )


RECORDS = [
    record("broken", "broken", 1.0, 100),
    record("research", "research", 2.0, 200),
    record("leaking", "standard", 3.0, 300, secret_independent=False),
    record("large", "standard", 4.0, 5000),
    record("small", "standard", 5.0, 500),
    record("small", "standard", 7.0, 500, message_bytes=128),
]


def test_each_demand_has_its_choice() -> None:
    found = {p.demand.title: p for p in prices(RECORDS, [64])}
    chosen = [found[demand.title].build.primitive for demand in DEMANDS]
    assert chosen == ["research", "leaking", "large", "small"]
    keeps = found[DEMANDS[2].title]
    assert (keeps.energy_j, keeps.time_s) == pytest.approx((4e-9, 4e-6))


def test_a_larger_size_stands_for_one_that_was_not_measured() -> None:
    found = [p for p in prices(RECORDS, [16, 96, 500]) if p.demand is DEMANDS[2]]
    assert [(p.size_bytes, p.build.primitive) for p in found] == [(16, "large"), (96, "small")]


def test_sending_is_bits_by_the_radios_current() -> None:
    board = boards.load_board("telosb")
    assert sending_j(board, 64) == pytest.approx(3.0 * 17.4e-3 * 8 * (64 + 17) / 250e3)
    assert sending_j(boards.load_board("stm32vldiscovery"), 64) is None


def test_the_page_has_no_real_boards(tmp_path: Path) -> None:
    real = record("real", "standard", 0.1, 10, runner="serial")
    (place,) = gather([*RECORDS, real])
    assert place.records == len(RECORDS)
    page = tmp_path / "page.html"
    write_page(RECORDS, 2031, page)
    text = page.read_text(encoding="utf-8")
    assert "on this device in 2031?" in text
    assert "large" in text


ESTIMATES = [
    record("quick", "standard", 2.0, 100, runner="estimate", board=board, flags=" ".join(flags))
    for board, name in (
        ("intel-edison", "i686"),
        ("raspberry-pi-3b", "armv6"),
        ("raspberry-pi-3b", "armv8"),
        ("raspberry-pi-3b", "aarch64"),
    )
    # For GCC and for clang: only clang's flags name the target.
    for flags in (ARCHITECTURES[name].flags, ("--target=x", *ARCHITECTURES[name].flags))
]


def test_linux_boards_stand_apart_and_are_chosen_for_by_time(tmp_path: Path) -> None:
    """Estimates have no net energy, and code for another instruction set is not compared."""
    slow, quick = (
        made(
            key=name, primitive=name, subject_status="standard", runner="estimate",
            board="raspberry-pi-3b", time_ps=time_ps, energy_gross_nj=time_ps / 1e3,
            flags=" ".join(ARCHITECTURES["armv7"].flags),
        )
        for name, time_ps in (("slow", 3_000_000), ("quick", 2_000_000))
    )  # fmt: skip
    (chosen,) = [p for p in prices([slow, quick], [64]) if p.demand is DEMANDS[1]]
    assert chosen.build.primitive == "quick"
    assert (chosen.time_s, chosen.energy_j) == pytest.approx((2e-6, 2e-6))
    places = write_page([*ESTIMATES, *RECORDS], 2031, tmp_path / "page.html")
    names = [place.name for place in places]
    assert names[0].startswith("TelosB")
    assert names[1:] == [
        "Intel Edison, 500 MHz, i686",
        "Raspberry Pi 3 Model B, 1200 MHz, aarch64",
        "Raspberry Pi 3 Model B, 1200 MHz, armv6",
        "Raspberry Pi 3 Model B, 1200 MHz, armv8",
    ]
    assert [place.records for place in places[1:]] == [2, 2, 2, 2]
    # These records have no power of theirs.
    assert {p.energy_j for place in places[1:] for p in place.prices} == {None}
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "worst 32%" in text
    assert "worst 32%" not in _written(RECORDS, tmp_path)


def _written(records: list[PrimitiveRecord], folder: Path) -> str:
    write_page(records, 2031, folder / "other.html")
    return (folder / "other.html").read_text(encoding="utf-8")


def test_the_command_needs_records(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    with Store(store) as opened:
        for each in RECORDS:
            opened.append(each)
    done = joulemark("study", "today", "--store", str(store))
    assert "6 records, 1 service\n  errors, telosb: time exact" in done.stdout
    assert (tmp_path / "today.html").is_file()
    with Store(tmp_path / "empty.db"):
        pass
    failed = joulemark("study", "today", "--store", str(tmp_path / "empty.db"), code=3)
    assert "there is no record of a primitive; give `joulemark run`" in failed.stderr
