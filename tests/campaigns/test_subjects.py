"""Subjects as rooms: one is added as a folder, an image is guarded, a campaign asks for any."""

import ast
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from command import joulemark
from joulemark import project, subjects
from joulemark.campaign.options import read
from joulemark.catalogue import boards, conversations, datafile
from joulemark.catalogue.networks import Mote
from joulemark.errors import BudgetError, InputError
from joulemark.images import build_program
from joulemark.project import FIRMWARE, ROOT
from joulemark.records.store import Store
from joulemark.subjects.image.options import ImageOptions

SPELL = {
    "__init__.py": """
from dataclasses import dataclass
from joulemark.subjects import About, Subject

@dataclass(frozen=True, kw_only=True)
class SpellSubject(Subject):
    words: int

    def __str__(self):
        return f"spell of {self.words}"

    def about(self):
        return About(title=str(self), group="Spells", main=True)
""",
    "options.py": """
from joulemark.campaign.options import Names, Options

class SpellOptions(Options):
    words: int
    board: Names = ("telosb",)
""",
    "measure.py": """
from functools import partial
from joulemark.campaign.case import Case, Conditions
from joulemark.campaign.job import Point
from joulemark.catalogue.boards import load_board
from joulemark.conduct import Task, of_tasks
from joulemark.errors import VerificationError
from joulemark.measure.recorded import Outcome, key_of, on_board, recorded
from joulemark.records.record import Quantity
from joulemark.subjects.spell import SpellSubject

def plan(options, means):
    tasks = []
    for name in options.board:
        case = Case(
            subject=SpellSubject(words=options.words),
            build=None,
            conditions=Conditions(
                board=name, clock="max", runner="emulator", meter="model", unit="emulated"
            ),
        )
        point = Point(case=case, trials=1, key=key_of(case))
        tasks.append(Task(points=(point,), measure=partial(cast, point)))
    return of_tasks(tasks, means)

def cast(point):
    words = point.case.subject.words
    if words > 9:
        raise VerificationError("nobody can say that")
    where = on_board(load_board(point.case.conditions.board), "max", 0, None)
    outcome = Outcome(quantities=[Quantity("", "cycles", "cycles", 100 * words, exact=True)])
    return [recorded(point.key, point.case.subject, point.case, where, outcome)]
""",
}


@pytest.fixture
def spells(tmp_path: Path) -> Path:
    """A folder of sources with a made-up subject."""
    folder = tmp_path / "own" / "subjects" / "spell"
    folder.mkdir(parents=True)
    for name, text in SPELL.items():
        (folder / name).write_text(text)
    return tmp_path / "own"


def test_a_subject_is_added_as_one_folder(
    spells: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is run, in any process too, served, exported, compared and reported."""
    campaign, store = tmp_path / "spells.toml", tmp_path / "s.db"
    campaign.write_text("[[spell]]\nwords = 3\nboard = ['telosb', 'nrf52840-dk']\n")
    run = ("run", str(campaign), "--source", str(spells), "--store", str(store))
    told = joulemark(*run, "--jobs", "2")
    assert "measured 2, served from the store: 0 of 2" in told.stdout
    assert "spell of 3" in told.stdout
    assert "served from the store: 2 of 2" in joulemark(*run).stdout
    assert "Spells" in (tmp_path / "s-report.html").read_text()
    monkeypatch.setenv("JOULEMARK_SOURCE", str(spells))
    rows = json.loads(joulemark("export", "--format", "json", "--store", str(store)).stdout)
    assert {(row["subject"], row["words"], row["cycles"]) for row in rows} == {
        ("spell of 3", 3, 300)
    }
    campaign.write_text("[[spell]]\nwords = 12\n")
    told = joulemark(*run, code=6)
    assert "nobody can say that" in told.stderr
    other = tmp_path / "t.db"
    campaign.write_text("[[spell]]\nwords = 3\n")
    measure = spells / "subjects/spell/measure.py"
    measure.write_text(SPELL["measure.py"].replace("100 *", "120 *"))
    # Python knows what it compiled by seconds and length, and this is done within a second.
    os.utime(measure, (time.time() + 2,) * 2)
    del sys.modules["joulemark.subjects.spell.measure"]  # as in another process
    joulemark("run", str(campaign), "--source", str(spells), "--store", str(other))
    told = joulemark("compare", str(store), str(other), "--fail", "cycles=5%", code=14)
    assert "spell of 3" in told.stderr


def test_a_spell_is_done_by_a_clusters_workers(spells: Path, tmp_path: Path) -> None:
    campaign, store = tmp_path / "spells.toml", tmp_path / "s.db"
    campaign.write_text("[[spell]]\nwords = 2\n[[spell]]\nwords = 4\n")
    told = joulemark(
        *("run", str(campaign), "--source", str(spells), "--store", str(store)),
        *("--cluster", "local:1"),
    )
    assert "measured 2" in told.stdout


def test_tables_of_an_architecture_are_made_in_other_processes(tmp_path: Path) -> None:
    campaign = tmp_path / "c.toml"
    campaign.write_text(
        "[[architecture]]\narchitecture = 'plasa'\nonly = ['memory', 'processing']\n"
        "repetitions = 1\nexecutions = 1\n"
    )
    run = ("run", str(campaign), "--store", str(tmp_path / "s.db"), "--jobs", "2")
    assert "served from the store: 0 of" in joulemark(*run).stdout
    assert "measured 0," in joulemark(*run).stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[slots]]\nboard = 'telosb'", r"slots: unknown key.*\[\[slot\]\]"),
        ("[[slot]]\nbord = 'telosb'", r"\[\[slot\]\] 1, board: this key is missing"),
        ("[[slot]]\nboard = 'telosb'\nlevel = 'mic-33'", r"\[\[slot\]\] 1, level"),
        ("[[image]]\npath = 'a.elf'\nboard = 'telosb'", "for .--for. or stop_at"),
        ("[[network]]\nnetwork = 'x'\nfor_ms = 0", "for_ms.*must be at least 1"),
    ],
)
def test_a_wrong_table_is_one_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read(path, {})
    assert str(path) in str(caught.value)


def test_options_override_the_tables_that_have_them(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(
        "primitive = 'aes-128'\n[[slot]]\nboard = 'telosb'\n"
        "[[image]]\npath = 'a.elf'\nboard = 'telosb'\nfor = '1ms'\n"
    )
    asked = read(path, {"opt": ["Os"], "board": ["nrf52840-dk"]})
    assert [one.type for one in asked] == ["primitive", "slot", "image"]
    assert all(one.model_dump()["board"] == ("nrf52840-dk",) for one in asked)
    assert isinstance(asked[2], ImageOptions)
    assert asked[2].path == tmp_path / "a.elf"
    with pytest.raises(InputError, match="--key: it is no option of primitive and slot and image"):
        read(path, {"key": "x"})


def _image(folder: Path, work: int) -> Path:
    """Build a program whose work a comparison notices, under the same name."""
    folder.mkdir()
    image = build_program(
        "net/tsch-ping",
        boards.load_board("telosb"),
        define={"MOTE": 1, "SECURITY_DEVICES": work},
        wiring={
            "ccm-star": "net/ccm-star/software",
            "boots": "boots/none",
            "block-cipher": "primitives/block-cipher/aes/ref",
        },
        optimisation="Os",
    )
    path = folder / "app.elf"
    path.write_bytes(image.path.read_bytes())
    return path


def test_somebodys_image_is_guarded(tmp_path: Path) -> None:
    """Its bytes are its key; its functions add up; a comparison finds what grew."""
    stores = []
    for number, work in enumerate((10, 60)):
        path = _image(tmp_path / str(number), work)
        campaign = path.with_name("c.toml")
        campaign.write_text("[[image]]\npath = 'app.elf'\nboard = 'telosb'\nfor = '400ms'\n")
        stores.append(str(path.with_name("s.db")))
        run = ("run", str(campaign), "--store", stores[-1])
        assert "measured 1," in joulemark(*run).stdout
        assert "served from the store: 1 of 1" in joulemark(*run).stdout
    with Store(stores[0], "read") as opened:
        (record,) = opened.records()
    functions = [q for q in record.quantities if q.part.startswith("function ")]
    cycles = [q.value for q in functions if q.name == "cycles"]
    assert sum(cycles) == record.cycles
    energy = [
        q.value
        for q in record.quantities
        if q.name == "energy_gross" and q.part.partition(" ")[0] in {"function", "asleep"}
    ]
    assert sum(energy) == pytest.approx(record.energy_gross_nj, rel=1e-3)
    assert record.time_ps is not None
    assert record.time_ps == pytest.approx(400e9, rel=1e-3)
    told = joulemark("compare", *stores, "--fail", "cycles=0", code=14)
    assert "app for 400 ms" in told.stderr
    joulemark("compare", stores[0], stores[0], "--fail", "cycles=0", "--fail", "missing")


def test_an_image_that_does_not_get_there_fails_and_is_kept(tmp_path: Path) -> None:
    path = _image(tmp_path / "0", 10)
    store = str(tmp_path / "s.db")
    image = ("image", str(path), "--board", "telosb", "--store", store)
    told = joulemark(*image, "--stop-at", "tsch_init", "--max-cycles", "9", code=8)
    assert "it did not get to tsch_init" in told.stderr
    assert "--max-cycles" in told.stderr
    assert BudgetError.exit_code == 8
    joulemark(*image, "--stop-at", "no_such_symbol", code=3)
    with Store(store, "read") as opened:
        assert [record.status for record in opened.records()] == ["failed"]
    assert "tsch_init" in joulemark(*image, "--stop-at", "tsch_init").stdout


def test_a_file_that_is_no_image_is_a_mistake_and_no_case(tmp_path: Path) -> None:
    path = tmp_path / "app.elf"
    path.write_text("no image")
    store = tmp_path / "s.db"
    asked = ("image", str(path), "--board", "telosb", "--store", str(store), "--for", "1ms")
    assert "app.elf: neither ELF, Intel HEX nor UF2" in joulemark(*asked, code=3).stderr
    assert not store.exists()


TWO = """
title = "Two messages"
kind = "handshake"
interface = "handshake"
key = "key"
optional = "WITH_LAST"

[role.asker]
renews = ["initiator_ephemeral"]

[role.answerer]
define = { ANSWERS = 1 }

[[flight]]
role = "asker"
does = "ask"
sends = "question"
byte = 7

[[flight]]
role = "answerer"
does = "answer"
sends = "reply"
byte = 9

[[flight]]
role = "asker"
does = "check_reply"
optional = true
"""


def test_a_conversation_is_declared_beside_its_program(tmp_path: Path) -> None:
    """Roles and flights of a protocol of two messages are all that the ledger needs of it."""
    from joulemark.catalogue.networks import read_network
    from joulemark.subjects.handshake.ledger import parties

    folder = tmp_path / "firmware" / "net" / "two"
    folder.mkdir(parents=True)
    (folder / "conversation.toml").write_text(TWO)
    two = datafile.read(folder / "conversation.toml", conversations.Conversation)
    assert [f.operation for f in two.of_role("asker", optional=True)] == ["ask", "check-reply"]
    assert [f.sends for f in two.flights(optional=False)] == ["question", "reply"]
    assert two.first == "asker"
    answerer = Mote(name="b", board="telosb", program="net/two", define={"ANSWERS": 1})
    assert two.role_of(answerer) == "answerer"
    assert two.role_of(answerer.model_copy(update={"define": {}})) == "asker"
    wired = 'wiring = { handshake = "primitives/handshake/edhoc-3-2/portable" }'
    network = tmp_path / "two.toml"
    network.write_text(
        "title = 'Two'\n[everyone]\nattenuation_db = 60\n"
        f"[[mote]]\nname = 'a'\nboard = 'telosb'\nprogram = 'net/two'\n{wired}\n"
        "define = { WITH_LAST = 1 }\n"
        f"[[mote]]\nname = 'b'\nboard = 'telosb'\nprogram = 'net/two'\n{wired}\n"
        "define = { ANSWERS = 1 }\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conversations, "FIRMWARE", tmp_path / "firmware")
        conversations.of_program.cache_clear()
        talk = parties(read_network(network))
        assert talk.sides == {"asker": 0, "answerer": 1}
        assert talk.optional
        assert talk.implementations == {"asker": "portable", "answerer": "portable"}
        lonely = read_network(network)
        lonely.mote.pop()
        with pytest.raises(InputError, match="no mote is Two messages's answerer"):
            parties(lonely)
    conversations.of_program.cache_clear()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("byte = 9\n", "", "sends and byte belong together"),
        ('role = "answerer"', 'role = "asker"', "two roles, and flights of both"),
        ("define = { ANSWERS = 1 }", "", "define must tell its roles apart"),
    ],
)
def test_a_wrong_conversation_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "conversation.toml"
    path.write_text(TWO.replace(old, new))
    with pytest.raises(InputError, match=message):
        datafile.read(path, conversations.Conversation)


def test_nothing_outside_its_folder_knows_a_conversations_messages() -> None:
    for program, conversation in conversations.programs().items():
        names = {flight.does for flight in conversation.flight} - {"finish", "confirm"}
        for path in (ROOT / "src/joulemark").rglob("*.py"):
            text = path.read_text(encoding="utf-8").replace("--message-4", "")
            text = text.replace("message_4: Annotated", "").replace('"optional": message_4', "")
            assert not [name for name in names if f'"{name}"' in text], (program, path)


_STAGES = (
    ("project", "errors", "words", "oracle", "catalogue"),
    ("images", "oracles"),
    ("campaign", "subjects"),
    ("records", "meters", "runners", "analysis"),
    ("measure",),
    ("conduct",),
    ("report", "studies", "simulated"),
    ("interface", "cli", "twister"),
)
"""Rooms in the order of the data flow; a subject's own modules are where `_stage` says."""
_OF_SUBJECTS = {"measure": "conduct", "page": "report", "options": "campaign"}


def _stage(module: str) -> int | None:
    """Return the stage of a module; None where it has none, or its subject says it."""
    words = module.split(".")[1:]
    room = words[0] if words else ""
    if room == "subjects" and len(words) > 2:
        if words[2] not in _OF_SUBJECTS:
            return None
        room = _OF_SUBJECTS[words[2]]
    return next((n for n, rooms in enumerate(_STAGES) if room in rooms), None)


def _imports(path: Path) -> Iterator[str]:
    """Yield the modules that a module imports when it is imported itself."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_imports_follow_the_data() -> None:
    source, wrong = ROOT / "src", []
    for path in sorted((source / "joulemark").rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        here = _stage(module)
        for imported in _imports(path) if here is not None else ():
            there = _stage(imported) if imported.startswith("joulemark.") else None
            if there is not None and here is not None and there > here:
                wrong.append(f"{module} imports {imported}")
    assert not wrong


def test_no_room_but_its_own_names_a_subject_that_could_be_found() -> None:
    """What runs, stores, exports, compares and reports any subject names none."""
    general = ("conduct.py", "records/store.py", "records/tables.py", "records/export.py")
    for name in (*general, "records/sides.py", "report/rows.py", "campaign/options.py"):
        text = (ROOT / "src/joulemark" / name).read_text(encoding="utf-8")
        assert not [t for t in subjects.types() if f"joulemark.subjects.{t}" in text], name


def test_all_shipped_subjects_have_their_modules() -> None:
    assert FIRMWARE.is_dir()
    for name in subjects.types():
        for stage in ("options", "measure"):
            assert subjects.module(name, stage), (name, stage)


def test_sources_hold_subjects_only_while_they_are_named(spells: Path) -> None:
    before = project.sources()
    assert "spell" not in subjects.types()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JOULEMARK_SOURCE", str(spells))
        assert "spell" in subjects.types()
    assert project.sources() == before
    assert "spell" not in subjects.types()
