"""The store keeps what was written, whatever happens next."""

import dataclasses
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from joulemark.errors import StoreError
from joulemark.records.record import Record
from joulemark.records.store import Store

RECORD = Record(
    key="k",
    case_digest="c",
    measured_at="2026-01-01T00:00:00+00:00",
    status="ok",
    board="telosb",
    clock="max",
    clock_hz=8_000_000,
    chip="msp430f1611",
    kind="hash",
    primitive="sha-256",
    implementation="ref",
    operation="hash",
    message_bytes=64,
    ad_bytes=0,
    tag_bytes=0,
    compiler="clang",
    optimisation="O3",
    repetitions=1,
    seed=1,
    unit="emulated",
    runner="emulator",
    meter="model",
    board_digest="b",
    chip_digest="d",
    host="test",
)


@settings(max_examples=25, deadline=None)
@given(
    cycles=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    samples=st.lists(st.dictionaries(st.text(), st.integers(0, 2**53))),
    notes=st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
    equal=st.none() | st.booleans(),
)
def test_a_record_comes_back_as_it_went_in(
    tmp_path_factory: pytest.TempPathFactory,
    cycles: float | None,
    samples: list[dict[str, int]],
    notes: list[str],
    equal: bool | None,
) -> None:
    record = dataclasses.replace(
        RECORD, cycles=cycles, samples=samples, notes=notes, addresses_equal=equal
    )
    with Store(tmp_path_factory.mktemp("store") / "s.db") as store:
        store.append(record)
        assert store.records() == [record]


def test_the_last_record_of_a_case_counts_and_history_keeps_all(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        for key, case, cycles in [("a", "1", 1.0), ("b", "2", 2.0), ("c", "1", 3.0)]:
            store.append(dataclasses.replace(RECORD, key=key, case_digest=case, cycles=cycles))
        assert [r.cycles for r in store.records()] == [2.0, 3.0]
        assert [r.cycles for r in store.records(history=True)] == [1.0, 2.0, 3.0]
        assert len(store.frame()) == 2


def test_a_failed_record_is_never_served(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        store.append(RECORD)
        store.append(dataclasses.replace(RECORD, key="f", status="failed", failure="wrong output"))
        assert store.find(["k", "f", "absent"]) == {"k": RECORD}


def test_a_full_disk_loses_nothing_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.append(RECORD)
        with store._engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")
        big = dataclasses.replace(RECORD, notes=["x" * 50_000])
        with pytest.raises(StoreError, match=r"full.*free some space.*nothing recorded is lost"):
            store.append(big)
        assert store.records(history=True) == [RECORD]
    with Store(path) as store:
        store.append(big)
        assert store.records(history=True) == [RECORD, big]


@pytest.mark.parametrize("damage", ["text", "truncated"])
def test_a_damaged_store_is_one_clear_error(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "s.db"
    if damage == "text":
        path.write_text("these are my notes, not a database " * 40)
        before = path.read_bytes()
    else:
        with Store(path) as store:
            for _ in range(50):
                store.append(RECORD)
        path.write_bytes(path.read_bytes()[:5000] + b"\xff" * 500)
        before = path.read_bytes()

    def use() -> None:
        with Store(path) as store:
            store.append(RECORD)
            store.records()

    with pytest.raises(StoreError, match=str(path)):
        use()
    assert path.read_bytes()[: len(before)] == before


@pytest.mark.parametrize(
    ("cycles_max", "same", "keeps_state", "finding"),
    [
        (5, True, False, "independent of data"),
        (6, True, False, "time depends on data"),
        (5, False, False, "addresses depend on data"),
        (6, False, False, "time depends on data"),
        # What a cache holds decides the time too: only the addresses tell.
        (5, True, True, "independent of data"),
        (6, True, True, "addresses independent of data"),
        (6, False, True, "addresses depend on data"),
    ],
)
def test_what_trials_show_about_secrets(
    cycles_max: float, same: bool, keeps_state: bool, finding: str
) -> None:
    record = dataclasses.replace(
        RECORD,
        trials=2,
        cycles_min=5.0,
        cycles_max=cycles_max,
        addresses_equal=same,
        memories_keep_state=keeps_state,
    )
    assert record.finding == finding


def test_an_older_store_is_kept_and_gains_the_fields_that_came_later(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.append(RECORD)
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE records DROP COLUMN memories_keep_state")
        connection.execute("UPDATE joulemark_schema SET version = 1")
    with Store(path) as store:
        (kept,) = store.records()
        assert kept == RECORD
        store.append(dataclasses.replace(RECORD, memories_keep_state=True))
    with Store(path) as store:
        assert store.records()[-1].memories_keep_state


def test_another_schema_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE joulemark_schema SET version = 999")
    with pytest.raises(StoreError, match="schema version 999"):
        Store(path)


def test_somebody_elses_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    with pytest.raises(StoreError, match="something else"):
        Store(path)


def test_a_store_that_must_exist_and_does_not(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store"):
        Store(tmp_path / "s.db", create=False)
    assert not (tmp_path / "s.db").exists()


@pytest.mark.parametrize("url", ["postgresql+nodriver://h/n", "nonsense://x", "::://"])
def test_a_bad_url_is_one_clear_error(url: str) -> None:
    with pytest.raises(StoreError):
        Store(url)
