"""Exports: whole files, stable columns, nothing that a spreadsheet would execute."""

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from command import joulemark
from joulemark.errors import InputError
from joulemark.records.export import Format, export, flat_frame, long_frame
from joulemark.records.record import Quantity
from joulemark.records.store import Store
from made import made

EVIL = ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "\t=1", "\r=1"]
PLAIN = "-O3 -mcpu=cortex-m3"
FORMATS: tuple[Format, ...] = ("csv", "json", "parquet")
COLUMNS = (
    *("key", "case_digest", "measured_at", "status", "failure", "board", "clock", "clock_hz"),
    *("chip", "kind", "primitive", "implementation", "operation", "message_bytes", "ad_bytes"),
    *("tag_bytes", "compiler", "optimisation", "repetitions", "samples", "exact"),
    *("window_cycles", "empty_cycles", "cycles", "cycles_min", "cycles_max"),
    *("window_instructions", "empty_instructions", "instructions", "time_ps", "timer_time_ps"),
    *("energy_gross_nj", "energy_gross_half_width_nj", "energy_net_nj"),
    *("energy_net_half_width_nj", "energy_grade", "flash_bytes", "ram_bytes"),
    *("flash_wiring_bytes", "ram_wiring_bytes", "stack_bytes", "stack_painted_bytes", "trials"),
    *("addresses_equal", "memories_keep_state", "secret_independent_claim", "notes", "seed"),
    *("unit", "runner", "meter", "board_digest", "chip_digest", "compiler_version", "flags"),
    *("image_digest", "build_id", "project_commit", "engine_version", "host", "finding"),
)
"""Columns from before quantities were rows: what users have written for them stays right."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "s.db")
    opened.append(
        made(
            key="a",
            cycles=5,
            cycles_cold=9,
            energy_net_nj=1.5,
            energy_gross_nj=2.5,
            energy_grade="datasheet",
            flags=PLAIN,
            samples=({"window_cycles": 7},),
            notes=("a note",),
        )
    )
    opened.append(made(key="b", message_bytes=8, status="failed", failure="wrong output"))
    interval = Quantity("", "energy_gross", "nJ", 10, 8, 12, "interval", "measured")
    opened.append(made(key="c", message_bytes=9, cycles=5.5, quantities=[interval]))
    for i, text in enumerate(EVIL):
        opened.append(made(key=text, message_bytes=100 + i, host=text))
    yield opened
    opened.close()


def read(path: Path, form: Format) -> pd.DataFrame:
    frame: pd.DataFrame = getattr(pd, f"read_{form}")(path)
    return frame


@pytest.mark.parametrize("form", FORMATS)
def test_a_row_is_a_record_and_columns_keep_their_names(
    store: Store, tmp_path: Path, form: Format
) -> None:
    path = tmp_path / "folder" / f"records.{form}"
    assert export(store, form, path) == len(store.records())
    frame = read(path, form)
    assert set(COLUMNS) <= set(frame.columns)
    by_key = frame.set_index("key")
    assert by_key.loc["a", "cycles"] == 5
    assert by_key.loc["a", "cycles_cold"] == 9
    assert by_key.loc["a", "energy_net_nj"] == 1.5
    assert by_key.loc["a", "energy_grade"] == "datasheet"
    assert by_key.loc["c", "energy_gross_half_width_nj"] == 2
    assert frame[frame["key"] == "b"]["cycles"].isna().all()
    assert by_key.loc["b", "failure"] == "wrong output"
    samples = by_key.loc["a", "samples"]
    assert (samples if form == "json" else json.loads(str(samples))) == [{"window_cycles": 7}]


@pytest.mark.parametrize("form", FORMATS)
def test_whole_numbers_are_written_whole(tmp_path: Path, form: Format) -> None:
    path = tmp_path / f"records.{form}"
    with Store(tmp_path / "s.db") as store:
        store.append(made(key="a", cycles=2**40, time_ps=2**55 + 1))
        store.append(made(key="b", message_bytes=1, status="failed", failure="no"))
        export(store, form, path)
    if form == "parquet":
        assert str(read(path, form)["time_ps"].max()) == str(2**55 + 1)
    else:
        assert str(2**55 + 1) in path.read_text()
        assert f"{2**40}.0" not in path.read_text()


@pytest.mark.parametrize("form", FORMATS)
def test_in_the_long_form_a_row_is_a_quantity(store: Store, tmp_path: Path, form: Format) -> None:
    path = tmp_path / f"long.{form}"
    count = export(store, form, path, long=True)
    frame = read(path, form)
    assert count == len(frame) == sum(len(r.quantities) for r in store.records())
    row = frame[(frame["key"] == "c") & (frame["name"] == "energy_gross")].iloc[0]
    assert (row["value"], row["lower"], row["upper"], row["unit"]) == (10, 8, 12, "nJ")
    assert (row["bounds"], row["grade"]) == ("interval", "measured")
    assert row["subject"] == "sha-256/ref hash 9 B"


@pytest.mark.parametrize("long", [False, True])
def test_a_spreadsheet_finds_no_formula(store: Store, tmp_path: Path, long: bool) -> None:
    path = tmp_path / "records.csv"
    export(store, "csv", path, long=long)
    cells = pd.read_csv(path, dtype=str, keep_default_na=False).to_numpy().ravel()
    assert not [cell for cell in cells if cell.startswith(("=", "@", "+", "\t", "\r"))]
    if not long:
        assert PLAIN in cells
        assert {f"'{text}".replace("\r", "\n") for text in EVIL} <= set(cells)
    # Other formats get the text unchanged.
    export(store, "json", path, long=False)
    assert {row["host"] for row in json.loads(path.read_text())} >= set(EVIL)


@pytest.mark.parametrize("long", [False, True])
def test_a_terminal_finds_nothing_to_obey(tmp_path: Path, long: bool) -> None:
    with Store(tmp_path / "c.db") as store:
        evil = made(key="\x1b]0;title\x07\x9b\x7f\tµ\n", cycles=5)
        store.append(evil)
        export(store, "csv", tmp_path / "c.csv", long=long)
    text = (tmp_path / "c.csv").read_text()
    assert "\\x1b]0;title\\x07\\x9b\\x7f\tµ\n" in text
    assert not [c for c in text if c < " " and c not in "\t\n"]


@pytest.mark.parametrize("form", FORMATS)
def test_an_export_is_written_whole_or_not_at_all(
    store: Store, tmp_path: Path, form: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out" / "records"
    export(store, form, path)
    before = path.read_bytes()

    def full(target: Path, data: bytes) -> int:
        with target.open("wb") as file:
            file.write(data[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match=r"records: the export cannot be written: No space"):
        export(store, form, path)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["records"]


def test_a_folder_is_not_replaced(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a file"):
        export(store, "csv", tmp_path)


def test_a_store_without_records_has_columns() -> None:
    assert "cycles" in flat_frame([]).columns
    assert "value" in long_frame([]).columns


def test_failed_records_are_pruned_at_a_command(store: Store, tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    assert "1 failed record deleted" in joulemark("prune", "--store", path).stdout
    text = joulemark("export", "--format", "json", "--store", path).stdout
    assert {row["status"] for row in json.loads(text)} == {"ok"}
    joulemark("prune", "--store", str(tmp_path / "none.db"), code=9)


def test_an_architectures_wiring_is_exported(tmp_path: Path) -> None:
    store = str(tmp_path / "s.db")
    joulemark("architecture", "link-security", "--only", "memory", "--store", store)
    paths = [tmp_path / f"out.{form}" for form in ("csv", "json", "parquet")]
    for path in paths:
        form = path.suffix.removeprefix(".")
        joulemark("export", "--store", store, "--format", form, "--out", str(path))
        assert "nothing changed" not in joulemark("compare", store, str(path)).stderr
    (first, *_) = json.loads(paths[1].read_text())
    assert first["wiring"] is None or isinstance(first["wiring"], list)
