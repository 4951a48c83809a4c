"""The store keeps what was written, whatever happens next: in SQLite and in PostgreSQL."""

import dataclasses
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from command import joulemark
from joulemark.errors import StoreError
from joulemark.records.record import DECIDED, DEPENDENT, Quantity, number, quantity
from joulemark.records.store import Served, Store
from joulemark.records.tables import SCHEMA_VERSION
from made import made
from servers import new_database, postgresql

RECORD = made(cycles=5, time_ps=625_000, energy_net_nj=1.5, trials=2, addresses_equal=True)
FAILED = made(key="f", message_bytes=8, status="failed", failure="wrong output")


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with postgresql() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "s.db")
    return new_database(request.getfixturevalue("server"), uuid4().hex)


numbers = st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    values=st.lists(numbers, max_size=4),
    bounds=st.none() | st.tuples(numbers, numbers),
    samples=st.lists(st.dictionaries(texts, st.integers(0, 2**53) | texts)),
    notes=st.lists(texts),
    equal=st.none() | st.booleans(),
)
def test_a_record_comes_back_as_it_went_in(  # noqa: PLR0917
    location: str,
    values: list[float],
    bounds: tuple[float, float] | None,
    samples: list[dict[str, int | str]],
    notes: list[str],
    equal: bool | None,
) -> None:
    low, high = (None, None) if bounds is None else map(number, bounds)
    quantities = tuple(
        Quantity("mcu", f"n{i}", "nJ", number(v), low, high, bounds and "range", "inferred", True)
        for i, v in enumerate(values)
    )
    record = made(samples=tuple(samples), notes=tuple(notes), addresses_equal=equal)
    record = dataclasses.replace(record, quantities=quantities)
    with Store(location) as store:
        store.append(record)
        assert store.records() == [record]
        (kept,) = store.records()
        assert [type(q.value) for q in kept.quantities] == [type(number(v)) for v in values]


def test_whole_numbers_stay_whole(location: str) -> None:
    wide = 2**62 + 1  # A float would lose the last digit.
    record = made(quantities=[Quantity("", "n", "ps", wide), Quantity("", "m", "nJ", 0.1)])
    with Store(location) as store:
        store.append(record)
        (kept,) = store.records()
    assert (kept.value("n"), kept.value("m")) == (wide, 0.1)
    assert isinstance(kept.value("n"), int)


def test_what_is_changed_back_is_the_last_of_its_case_again(location: str) -> None:
    with Store(location) as store:
        store.append(made(key="before", cycles=1), made(key="else", message_bytes=1, cycles=5))
        store.append(made(key="changed", cycles=2))
        served = store.served({"before": None, "else": None})
        store.renew(one.id for one in served.values())
        assert {r.key: r.cycles for r in store.records()} == {"before": 1, "else": 5}
        # What is the last already is not written again.
        assert [r.key for r in store.records(history=True)] == [
            "before",
            "else",
            "changed",
            "before",
        ]
        store.renew(one.id for one in store.served({"before": None, "else": None}).values())
        assert len(store.records(history=True)) == 4


def test_the_last_record_of_a_case_counts_and_history_keeps_all(location: str) -> None:
    with Store(location) as store:
        for key, size, cycles in [("a", 8, 1), ("b", 1, 2), ("c", 8, 3)]:
            store.append(made(key=key, message_bytes=size, cycles=cycles))
        # Sorted by subject, not by time.
        assert [r.cycles for r in store.records()] == [2, 3]
        assert [r.cycles for r in store.records(history=True)] == [1, 2, 3]


def test_the_order_of_records_does_not_depend_on_when_they_were_made(location: str) -> None:
    cases = [
        made(key=f"{board}{size}{how}", board=board, message_bytes=size, optimisation=how)
        for board in ("b", "a")
        for size in (100, 20)
        for how in ("Os", "O3")
    ]
    orders = []
    for some in (cases, cases[::-1]):
        with Store(location) as store:
            for record in some:
                store.append(record)
            orders.append([r.key for r in store.records()])
    assert orders[0] == orders[1]
    assert orders[0][:3] == ["a20O3", "a20Os", "a100O3"]


def test_a_failed_record_is_never_served(location: str) -> None:
    leaky = made(
        key="l", cycles=5, trials=2, addresses_equal=False, secret_independent=True, primitive="x"
    )
    with Store(location) as store:
        for record in (RECORD, FAILED, leaky):
            store.append(record)
        served = store.served(dict.fromkeys(("k", "f", "l", "absent")))
        assert set(served) == {"k", "l"}
        assert store.load([served["k"].id]) == [RECORD]
        good, leaking = served["k"], served["l"]
        assert good == Served(good.id, False, False, RECORD.trials or 0)
        assert leaking == Served(leaking.id, True, True, 2)
        asked_for = RECORD.provenance.seed
        assert set(store.served({"k": asked_for, "l": asked_for + 1})) == {"k"}


def test_thousands_of_keys_are_looked_up(location: str) -> None:
    with Store(location) as store:
        store.append(RECORD)
        assert set(store.served(dict.fromkeys([*map(str, range(40_000)), "k"]))) == {"k"}


def test_failed_records_can_be_pruned(location: str) -> None:
    with Store(location) as store:
        for record in (RECORD, FAILED):
            store.append(record)
        assert store.prune() == 1
        assert store.records(history=True) == [RECORD]
        assert store.prune() == 0


def test_quantities_are_rows_that_sql_finds(location: str) -> None:
    with Store(location) as store:
        store.append(RECORD)
        with store._engine.connect() as connection:
            found = connection.execute(
                sa.text(
                    "SELECT r.title, q.value FROM records r JOIN quantities q ON q.record = r.id "
                    "WHERE q.name = 'energy_net' AND q.value > 1"
                )
            ).all()
    assert [(title, float(value)) for title, value in found] == [("", 1.5)]


OPEN = "import sys; from joulemark.records.store import Store; Store(sys.argv[1]).close()"


def test_many_open_a_new_store_at_once(location: str) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", OPEN, location], stderr=subprocess.PIPE)
        for _ in range(8)
    ]
    errors = [process.communicate()[1].decode() for process in processes]
    assert [p.returncode for p in processes] == [0] * len(processes), errors


def count(path: Path) -> int:
    with Store(path) as store:
        return len(store.records(history=True))


def test_writers_and_readers_do_not_disturb_each_other(location: str) -> None:
    each, writers = 20, 4
    Store(location).close()

    def write(number: int) -> None:
        with Store(location) as store:
            for i in range(each):
                store.append(made(key=f"{number} {i}", message_bytes=i, cycles=i))

    threads = [threading.Thread(target=write, args=(n,)) for n in range(writers)]
    for thread in threads:
        thread.start()
    with Store(location, "read") as store:
        while any(t.is_alive() for t in threads):
            assert all(r.cycles == r.subject.order[4] for r in store.records(history=True))
    for thread in threads:
        thread.join()
    with Store(location) as store:
        assert len(store.records(history=True)) == each * writers


READ = """
import sys
from joulemark.records.store import Store
with Store(sys.argv[1], "read") as store:
    print(len(store.records()))
"""


@pytest.mark.parametrize("left_open", [False, True])
def test_a_store_that_may_not_be_written_can_be_read(left_open: bool) -> None:
    # pytest's folders are private to its user.
    folder = Path(tempfile.mkdtemp())
    path = folder / "s.db"
    writer = Store(path)
    try:
        writer.append(RECORD)
        if not left_open:
            writer.close()
        path.chmod(0o444)
        folder.chmod(0o555)
        # Root may write everywhere, unless it gives up that capability.
        as_user = ["setpriv", "--bounding-set", "-dac_override"] if os.geteuid() == 0 else []
        done = subprocess.run(
            [*as_user, sys.executable, "-c", READ, str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr
    finally:
        writer.close()
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_full_disk_loses_nothing_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.append(RECORD)
        with store._engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")
        big = made(key="big", notes=("x" * 50_000,))
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
            for i in range(50):
                store.append(dataclasses.replace(RECORD, key=str(i)))
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
    "damage",
    [
        "UPDATE records SET samples = '{broken'",
        "UPDATE records SET notes = '{\"a\": 1}'",
        "UPDATE records SET notes = '[1]'",
        "UPDATE records SET samples = '[[]]'",
        "UPDATE records SET subject = '[]'",
        'UPDATE records SET subject = \'{"type": "spell"}\'',
        'UPDATE records SET subject = \'{"type": "primitive", "kind": "hash"}\'',
        "UPDATE records SET status = 'fine'",
        "UPDATE records SET clock_hz = 'fast'",
        "UPDATE records SET board = x'ff'",
        "UPDATE records SET host = CAST(x'c328' AS TEXT)",
        "UPDATE records SET trials = 1.5",
        "UPDATE quantities SET value = 'many'",
        "UPDATE quantities SET value = x'00'",
        "UPDATE quantities SET unit = x'00'",
        "UPDATE quantities SET grade = 'guessed'",
        "UPDATE quantities SET bounds = 'vague'",
        "UPDATE joulemark_schema SET version = 'new'",
        "DELETE FROM joulemark_schema",
        "DROP TABLE quantities",
        "ALTER TABLE records DROP COLUMN host",
    ],
)
def test_whatever_is_wrong_in_a_store_is_a_stores_error(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.append(RECORD)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage)
    connection.close()

    def use() -> None:
        with Store(path, "read") as store:
            store.records()

    with pytest.raises(StoreError, match=r"damaged|cannot be|something else"):
        use()


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        ("UPDATE quantities SET value = -5 WHERE name = 'cycles'", "the whole cycles is -5 cycles"),
        ("UPDATE quantities SET unit = 'parsec' WHERE name = 'time'", "time is 'parsec'"),
        ("UPDATE records SET clock_hz = 0", "clock_hz is 0"),
        ("UPDATE records SET clock_hz = -1, runner = 'local'", "clock_hz is -1"),
        ("UPDATE records SET measured_at = 'yesterday'", "measured_at is 'yesterday'"),
        ("UPDATE records SET measured_at = '2026-01-02'", "measured_at is '2026-01-02'"),
        ("UPDATE records SET trials = -1", "trials is -1"),
        ("UPDATE records SET repetitions = 0", "repetitions is 0"),
        ("UPDATE records SET status = 'fine'", "status is 'fine'"),
    ],
)
def test_what_cannot_be_is_refused_by_row_and_column(
    tmp_path: Path, damage: str, named: str
) -> None:
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.append(FAILED, RECORD)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage)
        connection.execute("DELETE FROM records WHERE id = 1")
    connection.close()
    with Store(path, "read") as store, pytest.raises(StoreError) as caught:
        store.records()
    assert "record 2: " in str(caught.value)
    assert named in str(caught.value)


def test_what_cannot_be_is_not_written(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        with pytest.raises(StoreError, match=r"cannot be kept: value of the whole cycles is -5"):
            store.append(RECORD, made(key="n", cycles=-5))
        assert store.is_empty
        # The clock of this machine varies, and what is net of idle may be less than nothing.
        store.append(made(runner="local", clock_hz=0, energy_net_nj=-1.5))
        assert len(store.records()) == 1


def test_what_is_made_again_is_kept_once(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        store.append_new(RECORD, FAILED)
        store.append_new(RECORD, FAILED, made(key="new", message_bytes=9))
        kept = [record.key for record in store.records(history=True)]
    assert kept == ["k", "f", "f", "new"]


@pytest.mark.parametrize("command", [("report",), ("export", "--format", "csv"), ("prune",)])
def test_commands_say_that_a_store_is_damaged(tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.append(FAILED)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE records SET samples = '{broken'")
        connection.execute("ALTER TABLE quantities RENAME TO q")
    connection.close()
    done = joulemark(*command, "--store", str(path), code=9, folder=tmp_path)
    assert str(path) in done.stderr


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), value=st.integers(1, 255))
def test_a_flipped_byte_is_a_stores_error_or_none(
    tmp_path_factory: pytest.TempPathFactory, place: float, value: int
) -> None:
    path = tmp_path_factory.mktemp("flip") / "s.db"
    with Store(path) as store:
        for i in range(20):
            store.append(dataclasses.replace(RECORD, key=str(i)))
    data = bytearray(path.read_bytes())
    data[int(place * len(data))] ^= value
    path.write_bytes(data)
    try:
        with Store(path) as store:
            store.records()
            store.served({"1": None})
            store.append(RECORD)
    except StoreError:
        pass


DECIDES_NOTHING, DECIDES_SOMETHING = (
    (quantity(DECIDED, "instructions", [count], exact=True),) for count in (0, 3)
)


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({}, "independent of data"),
        ({"cycles_max": 6}, "time depends on data"),
        ({"addresses_equal": False}, "addresses depend on data"),
        ({"cycles_max": 6, "addresses_equal": False}, "time depends on data"),
        # The state of a cache decides the time too, so only the addresses count.
        ({"memories_keep_state": True}, "independent of data"),
        ({"memories_keep_state": True, "cycles_cold": 5}, "independent of data"),
        ({"memories_keep_state": True, "cycles_cold": 9}, "addresses independent of data"),
        ({"memories_keep_state": True, "cycles_max": 6}, "addresses independent of data"),
        (
            {"memories_keep_state": True, "cycles_max": 6, "addresses_equal": False},
            "addresses depend on data",
        ),
        ({"trials": 1}, None),
        ({"addresses_equal": None}, None),
        ({"cycles_max": 6, "secret_independent": None}, "handles none"),
        ({"quantities": DECIDES_NOTHING}, "independent of data"),
        ({"quantities": DECIDES_NOTHING, "addresses_equal": None}, "independent of data"),
        ({"quantities": DECIDES_NOTHING, "cycles_max": 6}, "time depends on data"),
        ({"quantities": DECIDES_SOMETHING}, "secrets decide"),
        ({"quantities": DECIDES_SOMETHING, "trials": 1}, "secrets decide"),
        ({"quantities": DECIDES_SOMETHING, "addresses_equal": False}, "addresses depend on data"),
    ],
)
def test_what_trials_and_following_show_about_secrets(
    changes: dict[str, object], finding: str | None
) -> None:
    values: dict[str, object] = {"trials": 2, "cycles": 5, "addresses_equal": True}
    record = made(**({"secret_independent": True} | values | changes))
    assert record.finding == finding
    assert record.contradicts == (finding in DEPENDENT)


@pytest.mark.parametrize("version", [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])
def test_another_schema_version_is_refused(tmp_path: Path, version: int) -> None:
    path = tmp_path / "s.db"
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE joulemark_schema SET version = ?", (version,))
    with pytest.raises(StoreError, match=f"schema version {version}"):
        Store(path)


def test_somebody_elses_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    with pytest.raises(StoreError, match="something else"):
        Store(path)


@pytest.mark.parametrize("access", ["read", "write"])
def test_a_store_that_must_exist_and_does_not(tmp_path: Path, access: str) -> None:
    with pytest.raises(StoreError, match="no store"):
        Store(tmp_path / "s.db", access)  # type: ignore[arg-type]
    assert not (tmp_path / "s.db").exists()


@pytest.mark.parametrize(
    "url",
    [
        *("postgresql+nodriver://h/n", "nonsense://x", "::://", "postgresql://[::1/db"),
        *("postgresql+psycopg://u@[::1/db", "sqlite://host/x", "postgresql+psycopg://h:port/n"),
        "postgresql+psycopg://nobody@127.0.0.1:1/none",
    ],
)
def test_a_bad_url_is_one_clear_error(url: str) -> None:
    with pytest.raises(StoreError):
        Store(url)


@pytest.mark.parametrize(
    "path", ["x" * 300, "a" * 300 + "/s.db", "with\0zero"], ids=["name", "folder", "zero"]
)
def test_a_path_that_cannot_be_is_one_clear_error(tmp_path: Path, path: str) -> None:
    with pytest.raises(StoreError):
        Store(tmp_path / path)


@pytest.mark.parametrize("name", ["s?x=1#%41.db", "a b.db", os.fsdecode(b"\xff\xfe.db")])
def test_a_path_may_have_any_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with Store(path) as store:
        store.append(RECORD)
        assert "\udcff" not in store.name
    assert path.exists()
    with Store(path, "read") as store:
        assert store.records() == [RECORD]
