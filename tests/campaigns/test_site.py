"""The site: each number has an address, and its command there makes the same number again."""

import re
import shlex
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from command import joulemark
from joulemark.project import BUILD
from joulemark.records.record import of_primitives
from joulemark.records.store import Store
from joulemark.report.site import address, command
from made import made

COUNT = 20


@pytest.fixture(scope="module", autouse=True)
def no_report() -> Iterator[None]:
    """A report after each run would take most of the time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("joulemark.cli.run._report", lambda *_: None)
        yield


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Numbers of several kinds; tables make times that depend on the inputs."""
    path = tmp_path_factory.mktemp("site") / "s.db"
    some = [f"--primitive={name}" for name in ("aes-128", "sha-256")]
    built = ["--implementation=ref", "--implementation=ttable", "--opt=O3", "--size=16,64"]
    for board in ("telosb", "openmote-cc2538"):
        joulemark("run", "--board", board, *some, *built, "--store", str(path))
    return path


@pytest.fixture(scope="module")
def site(store: Path) -> Path:
    folder = BUILD / "site"  # where CI finds it
    shown = joulemark("site", "--store", str(store), "--out", str(folder)).stdout
    assert shown.endswith(f"pages: {folder / 'index.html'}\n")
    return folder


def test_numbers_are_made_again_from_their_commands(
    store: Path, site: Path, tmp_path: Path
) -> None:
    with Store(store, "read") as opened:
        records = of_primitives(opened.records())
    assert any(r.cycles_min != r.cycles_max for r in records), "some depend on their inputs"
    chosen = records[:: len(records) // COUNT][:COUNT]
    again = str(tmp_path / "again.db")
    for record in chosen:
        file, _, key = address(record.key).partition("#")
        page = (site / file).read_text()
        shown = page.split(f'id="{key}"')[1].split("<pre>")[1].split("</pre>")[0]
        checkout, made = unescape(shown).strip().splitlines()
        assert re.fullmatch(r"git checkout [0-9a-f]{40}", checkout)
        program, *arguments = shlex.split(made)
        assert program == "joulemark"
        joulemark(*arguments, "--store", again)
    with Store(again, "read") as opened:
        made_again = {r.key: r for r in opened.records()}
    for record in chosen:
        other = made_again[record.key]
        assert other.quantities == record.quantities, str(record.case)
        assert other.trials == record.trials
    assert len(made_again) == COUNT


@pytest.mark.parametrize(
    "made",
    [
        "slot --board openmote-cc2538 --level none --brief --slots 30",
        "architecture plasa --only processing --wire cipher=plasa/cipher/software "
        "--repetitions 2 --executions 3 --seed 7",
        "handshake --network edhoc-telosb",
        "network tsch-telosb --for 500ms",
    ],
)
def test_every_subjects_numbers_are_made_again(made: str, tmp_path: Path) -> None:
    first, again = str(tmp_path / "first.db"), str(tmp_path / "again.db")
    joulemark(*made.split(), "--store", first)
    with Store(first, "read") as opened:
        records = {record.key: record for record in opened.records()}
    commands = {command(record) for record in records.values()}
    for one in commands:
        program, *arguments = shlex.split(one)
        assert program == "joulemark"
        joulemark(*arguments, "--store", again)
    with Store(again, "read") as opened:
        assert {r.key: r.quantities for r in opened.records()} == {
            key: record.quantities for key, record in records.items()
        }


def test_links_lead_somewhere(site: Path) -> None:
    pages = {path: path.read_text() for path in site.rglob("*.html") if path.name != "report.html"}
    ids = {path: set(re.findall(r'id="([^"]+)"', text)) for path, text in pages.items()}
    led = 0
    for path, text in pages.items():
        for target in re.findall(r'href="([^":]+)"', text):
            file, _, anchor = target.partition("#")
            there = (path.parent / file).resolve() if file else path
            assert there.exists(), (path, target)
            if re.fullmatch("[0-9a-f]{64}", anchor):
                assert anchor in ids[there], (path, target)
                led += 1
    assert led > COUNT
    index = pages[site / "index.html"]
    for name in ("boards/telosb", "primitives/aes-128", "studies/pereira-2017", "docs/method"):
        assert f'href="{name}.html"' in index


def test_what_no_command_repeats_says_so(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as opened:
        opened.append(made(cycles=5, key="0" * 64, runner="serial", meter="usb", unit="mine"))
    joulemark("site", "--store", str(tmp_path / "s.db"), "--out", str(tmp_path / "site"))
    page = (tmp_path / "site/n/00.html").read_text()
    assert "No command repeats it" in page
    assert "<pre>" not in page


def test_an_earlier_site_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    store, out = tmp_path / "s.db", tmp_path / "site"
    with Store(store) as opened:
        opened.append(made(cycles=5, key="0" * 64))
    joulemark("site", "--store", str(store), "--out", str(out))
    (out / "docs/no-longer.html").touch()
    joulemark("site", "--store", str(store), "--out", str(out))
    assert not (out / "docs/no-longer.html").exists()
    (tmp_path / "mine").mkdir()
    kept = tmp_path / "mine/docs"
    kept.touch()
    asked = ("site", "--store", str(store), "--out", str(tmp_path / "mine"))
    assert "name a new folder" in joulemark(*asked, code=3).stderr
    assert kept.exists()
