"""A user's own code, boards and chips, outside of the tree, as they would type it."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from command import joulemark
from joulemark.catalogue import chips, kinds
from joulemark.catalogue.primitives import Library
from joulemark.errors import InputError
from joulemark.project import FIRMWARE

AES = FIRMWARE / "primitives/block-cipher/aes"


@pytest.fixture(autouse=True)
def _no_sources_afterwards(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("JOULEMARK_SOURCE", "")
    yield
    chips.load_chip.cache_clear()


@pytest.fixture
def library_code(tmp_path: Path) -> Path:
    """An AES library somewhere, with the folder that describes it."""
    code = tmp_path / "library"
    (code / "src").mkdir(parents=True)
    shutil.copy(AES / "ref/aes.c", code / "src/core.c")
    shutil.copy(AES / "ref/aes.h", code / "src/aes.h")
    return code


def describe(code: Path, **more: object) -> Path:
    folder = code / "joulemark"
    joulemark("new", "primitive", "block-cipher/aes/mine", "--out", str(folder))
    mine = folder / "block-cipher/aes/mine"
    for skeleton in ("aes.c", "aes.h"):
        (mine / skeleton).unlink()
    keys = {"sources": ["../../../../src/*.c"], "include": ["../../../../src"], **more}
    with (mine / "implementation.toml").open("a") as file:
        file.writelines(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    return folder


def measure(folder: Path, store: Path, *more: str) -> dict[str, int]:
    asked = ("--board", "telosb", "--size", "16", "--trials", "2", "--seed", "1")
    joulemark("run", "--source", str(folder), *asked, *more, "--store", str(store))
    rows = json.loads(joulemark("export", "--format", "json", "--store", str(store)).stdout)
    return {f"{r['primitive']}/{r['implementation']} {r['operation']}": r["cycles"] for r in rows}


def test_code_that_lies_elsewhere_costs_what_it_costs_in_the_tree(
    library_code: Path, tmp_path: Path
) -> None:
    folder = describe(library_code, variants=["aes-128"])
    own = measure(folder, tmp_path / "own.db")
    assert set(own) == {f"aes-128/mine {o}" for o in ("init", "encrypt", "decrypt")}
    both = ("--primitive", "aes-128", "--implementation", "ref", "--implementation", "mine")
    found = measure(folder, tmp_path / "both.db", *both)
    for operation in ("init", "encrypt", "decrypt"):
        assert found[f"aes-128/mine {operation}"] == found[f"aes-128/ref {operation}"]
        assert found[f"aes-128/mine {operation}"] == own[f"aes-128/mine {operation}"]


def test_it_is_what_modes_are_composed_with(library_code: Path) -> None:
    folder = describe(library_code, variants=["aes-128"])
    library = Library.load(sources=[folder])

    def ways(name: str) -> set[str]:
        return {i.name for i in library.implementations(library[name])}

    assert "mine" in ways("aes-128-ccm")
    assert "mine" not in ways("aes-256-ccm")
    shipped = Library.load(sources=[])
    assert "mine" not in {i.name for i in shipped.implementations(shipped["aes-128"])}


def test_a_build_does_not_depend_on_where_the_folder_lies(
    library_code: Path, tmp_path: Path
) -> None:
    shutil.copytree(library_code, tmp_path / "deep/er/library")
    digests = []
    for n, code in enumerate((library_code, tmp_path / "deep/er/library")):
        store = tmp_path / f"{n}.db"
        measure(describe(code, variants=["aes-128"]), store, "--operation", "init")
        rows = json.loads(joulemark("export", "--format", "json", "--store", str(store)).stdout)
        digests.append({r["image_digest"] for r in rows})
    assert digests[0] == digests[1]


def test_a_change_of_the_code_is_another_image(library_code: Path, tmp_path: Path) -> None:
    folder = describe(library_code, variants=["aes-128"])
    before = measure(folder, tmp_path / "s.db")
    code = library_code / "src/core.c"
    code.write_text(code.read_text().replace("void aes_init(", "void aes_started(", 1))
    start = (
        "void aes_started(aes_ctx *ctx, const uint8_t *key);\n"
        "void aes_init(aes_ctx *ctx, const uint8_t *key) {\n"
        "    for (volatile int i = 0; i < 100; i++) {}\n    aes_started(ctx, key);\n}\n"
    )
    code.write_text(code.read_text() + start)
    after = measure(folder, tmp_path / "s.db")
    assert after["aes-128/mine init"] > before["aes-128/mine init"] + 100


def test_every_kind_has_a_skeleton_that_is_read_and_refused(tmp_path: Path) -> None:
    for kind in kinds.titles():
        folder = tmp_path / kind
        joulemark("new", "primitive", f"{kind}/newcomer/first", "--out", str(folder))
        with pytest.raises(InputError):
            # A composition needs a partner, and a vector a value: what to fill in is named.
            _all_of(folder)


def _all_of(folder: Path) -> None:
    library = Library.load(sources=[folder])
    primitive = next(p for p in library.primitives.values() if p.name == "newcomer")
    library.vectors(primitive)


def test_a_skeleton_is_wrong_until_it_is_filled_in(tmp_path: Path) -> None:
    joulemark("new", "primitive", "hash/sha-256/first", "--out", str(tmp_path))
    asked = ("run", "--source", str(tmp_path), "--board", "telosb", "--size", "16", "--trials", "1")
    done = joulemark(*asked, "--operation", "hash", "--store", str(tmp_path / "s.db"), code=6)
    assert "fill in sha256.h and sha256.c, then remove this line" in done.stderr


@pytest.mark.parametrize(("what", "like"), [("board", "telosb"), ("chip", "msp430f1611")])
def test_a_copy_of_a_file_is_refused_until_it_was_gone_through(
    tmp_path: Path, what: str, like: str
) -> None:
    joulemark("new", what, "mine", "--like", like, "--out", str(tmp_path))
    path = tmp_path / f"{what}s/mine.toml"
    asked = ("list", f"{what}s", "--source", str(tmp_path))
    done = joulemark(*asked, code=3)
    assert "not_yet_checked" in done.stderr
    lines = path.read_text().splitlines()
    path.write_text("\n".join(x for x in lines if not x.startswith("not_yet_checked")))
    assert "mine" in joulemark(*asked).stdout


def test_a_board_of_ones_own_is_measured(tmp_path: Path) -> None:
    joulemark("new", "board", "mine", "--like", "telosb", "--out", str(tmp_path))
    path = tmp_path / "boards/mine.toml"
    path.write_text(path.read_text().replace("not_yet_checked", "# ", 1))
    asked = ("run", "--source", str(tmp_path), "--board", "mine", "--board", "telosb")
    chosen = ("--primitive", "xtea", "--implementation", "ref", "--operation", "init")
    store = str(tmp_path / "s.db")
    joulemark(*asked, *chosen, "--seed", "1", "--trials", "1", "--store", store)
    rows = json.loads(joulemark("export", "--format", "json", "--store", store).stdout)
    assert {r["board"] for r in rows} == {"mine", "telosb"}
    assert len({r["cycles"] for r in rows}) == 1


def test_an_instrument_and_a_campaign_are_read_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    joulemark("new", "instrument", "my-meter", "--out", str(tmp_path))
    text = (tmp_path / "meters/my_meter.py").read_text()
    compile(text, "my_meter.py", "exec")
    joulemark("new", "campaign", "mine", "--out", str(tmp_path))
    from joulemark.campaign.options import read
    from joulemark.subjects.primitive.options import PrimitiveOptions

    (campaign,) = read(tmp_path / "mine.toml", {})
    assert isinstance(campaign, PrimitiveOptions)
    assert campaign.seed == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("primitive", "aes"), "write KIND/NAME/IMPLEMENTATION"),
        (("primitive", "hush/x/y"), "did you mean hash?"),
        (("primitive", "block-cipher/aes/ref"), "already"),
        (("board", "mine"), "a new board begins as a copy of another; give one of "),
        (("board", "mine", "--like", "telosc"), "did you mean telosb?"),
        (("chip", "A B", "--like", "cc2650"), "is no name"),
        (("campaign", "x", "--like", "y"), "leave it out"),
        (("campaign", "x", "--out", "/proc/none"), "cannot be written"),
    ],
)
def test_bad_input_of_new(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    assert message in joulemark("new", *arguments, code=3, folder=tmp_path).stderr


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    joulemark("new", "campaign", "x", folder=tmp_path)
    (tmp_path / "x.toml").write_text("mine")
    assert "is there already" in joulemark("new", "campaign", "x", folder=tmp_path, code=3).stderr
    assert (tmp_path / "x.toml").read_text() == "mine"


def test_wrong_folders_of_sources_are_named(library_code: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for folder, message in (
        (empty, "has nothing that Joulemark knows"),
        (tmp_path / "no", "is no folder"),
    ):
        done = joulemark("list", "primitives", "--source", str(folder), code=3)
        assert message in done.stderr
    folder = describe(library_code, variants=["aes-129"])
    done = joulemark("list", "primitives", "--source", str(folder), code=3)
    assert "no variant aes-129; did you mean" in done.stderr
    other = describe(tmp_path / "other", sources=["../nothing.c"])
    asked = ("run", "--source", str(other), "--board", "telosb", "--size", "16")
    done = joulemark(*asked, "--store", str(tmp_path / "s.db"), code=3)
    assert "matches no file" in done.stderr
    with pytest.raises(InputError, match="kind"):
        Library.load(sources=[_of_no_kind(tmp_path)])


def _of_no_kind(tmp_path: Path) -> Path:
    folder = tmp_path / "strange"
    (folder / "hush/x/y").mkdir(parents=True)
    (folder / "hush/x/y/implementation.toml").write_text("")
    return folder


@pytest.mark.parametrize(
    ("name", "family"),
    [("block-cipher/speck-64-128", "block-cipher/speck"), ("aead/aes-128-ccm", "aead/ccm")],
)
def test_a_variant_is_begun_in_its_family(tmp_path: Path, name: str, family: str) -> None:
    done = joulemark("new", "primitive", f"{name}/mine", "--out", str(tmp_path), code=3)
    variant = name.partition("/")[2]
    assert f"{variant} is a variant of {family}; write {family}/mine, with variants" in done.stderr
    assert not list(tmp_path.iterdir())


def test_what_is_known_of_a_primitive_is_filled_in(tmp_path: Path) -> None:
    for name in ("signature/ed25519", "aead/ccm", "block-cipher/aes"):
        joulemark("new", "primitive", f"{name}/mine", "--out", str(tmp_path))
    ed25519 = (tmp_path / "signature/ed25519/mine/ed25519.h").read_text()
    assert "ED25519_SECRET_BYTES = 32," in ed25519
    assert "ED25519_SIGNATURE_BYTES = 64," in ed25519
    assert "} ed25519_ctx;" in ed25519
    assert "CCM_TAG_BYTES = 16," in (tmp_path / "aead/ccm/mine/ccm.h").read_text()
    aes = (tmp_path / "block-cipher/aes/mine/aes.h").read_text()
    assert "AES_BLOCK_BYTES = 16," in aes
    assert "AES_KEY_BYTES = 0, // fill in: 16 of aes-128, 24 of aes-192, 32 of aes-256" in aes


def test_a_study_of_ones_own_is_judged(tmp_path: Path) -> None:
    joulemark("new", "study", "me-2026", "--out", str(tmp_path))
    asked = ("study", "me-2026", "--source", str(tmp_path), "--store", str(tmp_path / "s.db"))
    assert "nobody can tell what came of it" in joulemark(*asked, code=3).stderr
    path = tmp_path / "studies/me-2026/study.toml"
    path.write_text(path.read_text().replace("# ours", "ours"))
    (item,) = json.loads(joulemark(*asked, "--json").stdout)["results"]
    assert item["verdict"] in {"reproduced", "differs"}
    assert item["ours"] > 0
    assert "me-2026: " in joulemark("study", "list", "--source", str(tmp_path)).stdout
    wrong = joulemark("study", "me-2027", "--source", str(tmp_path), code=3).stderr
    assert "me-2027: no such study; did you mean me-2026?" in wrong


def test_a_scenario_of_ones_own_is_found_by_its_name(tmp_path: Path) -> None:
    joulemark("new", "scenario", "mine", "--out", str(tmp_path))
    asked = ("budget", "mine", "--source", str(tmp_path), "--stored", "--store", "none.db")
    assert "key battery.source" in joulemark(*asked, code=3).stderr
    path = tmp_path / "scenarios/mine.toml"
    path.write_text(path.read_text().replace('source = ""', 'source = "assumed"'))
    assert "What the device does" in joulemark("list", "scenarios", *asked[2:4]).stdout
    assert "aes-128-ccm encrypt" in joulemark(*asked, code=3).stderr


def test_a_part_of_ones_own_is_a_motes_program(tmp_path: Path) -> None:
    joulemark("new", "part", "mine", "--out", str(tmp_path))
    network = tmp_path / "networks/own.toml"
    network.parent.mkdir()
    network.write_text(
        'title = "own"\n[[mote]]\nname = "one"\nboard = "telosb"\nprogram = "mine"\n'
    )
    asked = ("network", "own", "--source", str(tmp_path), "--for", "400ms")
    assert "part.toml, key role" in joulemark(*asked, code=3).stderr
    part = tmp_path / "mine/part.toml"
    part.write_text(part.read_text().replace('role = ""', 'role = "application"'))
    assert "one| fill in" in joulemark(*asked).stdout


def test_a_kind_of_ones_own_has_primitives(tmp_path: Path) -> None:
    joulemark("new", "kind", "mine", "--out", str(tmp_path))
    both = ("--source", str(tmp_path), "--out", str(tmp_path))
    joulemark("new", "primitive", "mine/first/ref", *both)
    assert "BLOCK_BYTES" in (tmp_path / "mine/first/ref/first.h").read_text()
    assert "void first_compute(" in (tmp_path / "mine/first/ref/first.c").read_text()
    taken = joulemark("new", "kind", "hash", "--out", str(tmp_path), code=3).stderr
    assert "there is a kind hash already" in taken
